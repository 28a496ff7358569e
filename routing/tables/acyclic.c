/* acyclic.c - dependencies of links without circles.
 *
 * The links of a layer are in a list in topological order; labels that rise along it say which of two comes
 * first. A dependency that agrees with the order costs nothing. Else two searches take turns, from `next`
 * ahead and from `link` back (or from several that are to wait for `next`), the one that has looked at less
 * first, each only as far as the other's beginning in the order: where one meets the other there is a circle;
 * when one has found all, what it has found moves, in its old order, to the other side of the other's
 * beginning (two-way search: Bender, Fineman, Gilbert and Tarjan, 2016). On networks one side is small nearly
 * always, while the other is a good part of all links. Most circles need no search: they are known by hubs
 * (hubs.c).
 *
 * Where there is no room for labels, those around are spread: the smallest range of labels, a power of two,
 * that holds no more than the square root of it (Bender et al., 2002).
 */
#include "routing/tables/acyclic.h"
#include "routing/tables/hubs.h"

#include <stdlib.h>
#include <string.h>

#define LABEL_BITS 62
#define FEW 24 /* are sorted by insertion */

/* The directions of the searches. */
enum way { AHEAD, BACK, WAYS };

struct layer {
    struct route_nodes nodes;
    struct route_hubs hubs;
};

struct found { /* by one search */
    struct place {
        uint64_t label;
        uint32_t link;
    } * place;
    uint32_t count, done; /* done: what these lead to is found, too */
    uint64_t asked;       /* links that these lead to, and were not looked at before */
};

/* Where the bits of a link are among those of the switches: of `from` by its own place there, of `to` by
 * that of its reverse; and the first links of both. */
struct ends {
    uint32_t from, to;          /* the first words of marks of both switches */
    uint32_t from_first, first; /* and their first links */
    uint16_t from_bit, to_bit;  /* in these words */
};

/* Of a word of a switch's links: what a search has found. */
struct marks {
    uint64_t link[WAYS], reverse[WAYS]; /* the link, or its reverse. A search itself also marks, in
                                           link[AHEAD] and reverse[BACK], what it need not look at again */
};

struct route_acyclic {
    const struct route_wires *wires;
    uint32_t words, stride, layers;
    size_t node_bytes, label_bytes, ends_bytes; /* the first two of a layer */
    struct layer *layer;
    struct ends *ends;   /* per link */
    struct marks *marks; /* per switch `words`; all 0 between searches */
    struct found found[WAYS];
    uint32_t met; /* where the last searches have met */
};

struct route_acyclic *route_acyclic_new(const struct route_wires *wires)
{
    struct route_acyclic *a = ker_alloc(sizeof *a);
    size_t links = wires->links + (size_t)1;
    *a = (struct route_acyclic){.wires = wires, .words = wires->most / 64 + 1};
    a->stride = sizeof(struct route_node) / sizeof(uint64_t) + a->words * WAYS;
    a->node_bytes = links * a->stride * sizeof(uint64_t);
    a->label_bytes = links * sizeof(uint64_t);
    a->ends_bytes = links * sizeof *a->ends;
    for (enum way way = 0; way < WAYS; way++)
        a->found[way].place = ker_alloc(links * sizeof *a->found[way].place);
    a->ends = ker_reserve(a->ends_bytes);
    a->marks = ker_alloc((size_t)wires->switches * a->words * sizeof *a->marks);
    for (uint32_t i = 0; i < wires->links; i++) {
        uint32_t from = wires->from[i], to = wires->to[i], place = i - wires->begin[from],
                 back = wires->reverse[i] == ROUTE_NO_WIRE ? 0 : wires->reverse[i] - wires->begin[to];
        a->ends[i] = (struct ends){.from = from * a->words,
                                   .to = to * a->words,
                                   .from_first = wires->begin[from],
                                   .first = wires->begin[to],
                                   .from_bit = (uint16_t)place,
                                   .to_bit = (uint16_t)back};
    }
    return a;
}

void route_acyclic_free(struct route_acyclic *a)
{
    if (!a)
        return;
    for (uint32_t i = 0; i < a->layers; i++) {
        ker_release(a->layer[i].nodes.node, a->node_bytes);
        ker_release(a->layer[i].nodes.label[AHEAD], a->label_bytes);
        ker_release(a->layer[i].nodes.label[BACK], a->label_bytes);
        route_hubs_release(&a->layer[i].hubs);
    }
    free(a->layer);
    free(a->found[AHEAD].place);
    free(a->found[BACK].place);
    ker_release(a->ends, a->ends_bytes);
    free(a->marks);
    free(a);
}

static void label_set(struct route_nodes *l, uint32_t link, uint64_t label)
{
    route_node(l, link)->label = label;
    if (link == l->wires->links || l->wires->reverse[link] == ROUTE_NO_WIRE)
        return;
    l->label[AHEAD][link] = label;
    l->label[BACK][l->wires->reverse[link]] = label;
}

void route_acyclic_layer(struct route_acyclic *a)
{
    uint32_t links = a->wires->links;
    uint64_t gap = (1ull << LABEL_BITS) / (links + 2ull);
    struct layer *l = KER_APPEND(a->layer, a->layers);
    *l = (struct layer){.nodes = {a->wires,
                                  a->words,
                                  a->stride,
                                  ker_reserve(a->node_bytes),
                                  {ker_reserve(a->label_bytes), ker_reserve(a->label_bytes)}}};
    for (uint32_t i = 0; i <= links; i++) {
        struct route_node *n = route_node(&l->nodes, i);
        label_set(&l->nodes, i, i < links ? (i + 1) * gap : 0);
        n->after = i < links ? i + 1 : 0;
        n->before = i > 0 ? i - 1 : links;
    }
}

/* ---- bits ---- */

/* Both bits of a dependency. Links are alive in both directions, so that each has a reverse. */
static void bits_change(struct route_acyclic *a, uint32_t layer, uint32_t link, uint32_t next)
{
    const struct route_wires *wires = a->wires;
    ker_check(wires->reverse[link] != ROUTE_NO_WIRE);
    uint32_t on = next - wires->begin[wires->to[link]],
             back = wires->reverse[link] - wires->begin[wires->to[link]];
    route_node(&a->layer[layer].nodes, link)->leads[on / 64] ^= 1ull << on % 64;
    route_node(&a->layer[layer].nodes, next)->leads[a->words + back / 64] ^= 1ull << back % 64;
}

void route_acyclic_remove(struct route_acyclic *a, uint32_t layer, uint32_t link, uint32_t next)
{
    bits_change(a, layer, link, next);
}

/* ---- the searches ---- */

static uint64_t label_of(const struct route_nodes *l, uint32_t link)
{
    return route_node(l, link)->label;
}

/* The words of the switch to whose links, or their reverses, a link leads in this direction. */
static inline struct marks *marks_there(const struct route_acyclic *a, const struct ends *e, enum way way)
{
    return a->marks + (way == AHEAD ? e->to : e->from);
}

/* False: it leads to what the other search has found. Asked at once, not when it is its turn: nearly all
 * searches that find much end in a circle. */
static inline __attribute__((always_inline)) bool find(struct route_acyclic *a, const struct route_nodes *l,
                                                       uint32_t link, enum way way)
{
    const struct ends *e = &a->ends[link];
    const struct marks *there = marks_there(a, e, way);
    const struct route_node *n = route_node(l, link);
    const uint64_t *leads = n->leads + way * a->words;
    struct found *f = &a->found[way];
    a->marks[e->from + e->from_bit / 64].link[way] |= 1ull << e->from_bit % 64;
    a->marks[e->to + e->to_bit / 64].reverse[way] |= 1ull << e->to_bit % 64;
    f->place[f->count++] = (struct place){n->label, link};
    for (uint32_t w = 0; w < a->words; w++)
        if (leads[w] & (way == AHEAD ? there[w].link[BACK] : there[w].reverse[AHEAD])) {
            a->met = link;
            return false;
        }
    return true;
}

/* Looks at what the next link found leads to, up to the label `end`; false: the other search has found that.
 */
static inline __attribute__((always_inline)) bool step(struct route_acyclic *a, const struct route_nodes *l,
                                                       uint64_t end, enum way way)
{
    struct found *f = &a->found[way];
    uint32_t link = f->place[f->done++].link;
    const struct ends *e = &a->ends[link];
    struct marks *there = marks_there(a, e, way);
    const uint64_t *leads = route_node(l, link)->leads + way * a->words;
    uint32_t first = way == AHEAD ? e->first : e->from_first;
    for (uint32_t w = 0; w < a->words; w++) {
        uint64_t *seen = way == AHEAD ? &there[w].link[AHEAD] : &there[w].reverse[BACK];
        uint64_t rest = leads[w] & ~*seen;
        f->asked += 1 + (unsigned)__builtin_popcountll(rest);
        for (*seen |= rest; rest; rest &= rest - 1) {
            uint32_t next = first + w * 64 + (uint32_t)__builtin_ctzll(rest);
            uint64_t label = l->label[way][next];
            if ((way == AHEAD ? label < end : label > end) &&
                !find(a, l, way == AHEAD ? next : a->wires->reverse[next], way))
                return false;
        }
    }
    return true;
}

static void marks_clear(struct route_acyclic *a, const struct found *f)
{
    for (uint32_t i = 0; i < f->count; i++) {
        const struct ends *e = &a->ends[f->place[i].link];
        struct marks *from = a->marks + e->from, *to = a->marks + e->to;
        for (uint32_t w = 0; w < a->words; w++)
            from[w] = to[w] = (struct marks){0};
    }
}

/* From `next` ahead up to the label `last`, and from those links back that are behind it, until one side has
 * found all; false: they meet. */
static bool search(struct route_acyclic *a, const struct route_nodes *l, const uint32_t *link, uint32_t count,
                   uint32_t next, uint64_t last)
{
    uint64_t first = label_of(l, next);
    struct found *ahead = &a->found[AHEAD], *back = &a->found[BACK];
    ahead->count = ahead->done = back->count = back->done = 0;
    ahead->asked = back->asked = 0;
    bool apart = find(a, l, next, AHEAD);
    for (uint32_t i = 0; i < count && apart; i++)
        if (label_of(l, link[i]) > first)
            apart = find(a, l, link[i], BACK);
    while (apart && ahead->done < ahead->count && back->done < back->count)
        apart = back->asked <= ahead->asked ? step(a, l, first, BACK) : step(a, l, last, AHEAD);
    marks_clear(a, ahead);
    marks_clear(a, back);
    return apart;
}

/* ---- the order ---- */

/* Spreads the labels around a link until there is room for this many behind it. */
static void labels_spread(struct route_nodes *l, uint32_t at, uint32_t wanted)
{
    uint32_t first = at, last = at, count = 1, links = l->wires->links, other;
    for (unsigned bits = 2; bits <= LABEL_BITS; bits++) {
        uint64_t low = label_of(l, at) >> bits << bits, high = low + (1ull << bits) - 1;
        for (; (other = route_node(l, first)->before) != links && label_of(l, other) >= low; count++)
            first = other;
        for (; (other = route_node(l, last)->after) != links && label_of(l, other) <= high; count++)
            last = other;
        uint64_t gap = (high - low) / (count + 1ull);
        if ((bits < LABEL_BITS && (uint64_t)count * count > high - low) || gap <= wanted + 1ull)
            continue;
        for (uint64_t label = low + gap;; label += gap, first = route_node(l, first)->after) {
            label_set(l, first, label);
            if (first == last)
                return;
        }
    }
    ker_assert(false); /* there are far more labels than links */
}

/* How many labels there are between a link, or the beginning, and what follows. */
static uint64_t room_behind(const struct route_nodes *l, uint32_t at)
{
    uint32_t after = route_node(l, at)->after;
    return (after == l->wires->links ? 1ull << LABEL_BITS : label_of(l, after)) - label_of(l, at) - 1;
}

KER_ORDER_BY(by_label, struct place, label)

static void found_sort(struct found *f)
{
    if (f->count > FEW) {
        qsort(f->place, f->count, sizeof *f->place, by_label);
        return;
    }
    for (uint32_t i = 1, k; i < f->count; i++) {
        struct place place = f->place[i];
        for (k = i; k > 0 && f->place[k - 1].label > place.label; k--)
            f->place[k] = f->place[k - 1];
        f->place[k] = place;
    }
}

/* Moves what was found, in its order, behind `at`, which is not among it; the number behind the last link: to
 * the beginning. */
static void move_behind(struct route_nodes *l, uint32_t at, struct found *f)
{
    found_sort(f);
    for (uint32_t i = 0; i < f->count; i++) {
        const struct route_node *n = route_node(l, f->place[i].link);
        route_node(l, n->before)->after = n->after;
        route_node(l, n->after)->before = n->before;
    }
    if (room_behind(l, at) < f->count)
        labels_spread(l, at == l->wires->links ? route_node(l, at)->after : at, f->count);
    uint64_t gap = (room_behind(l, at) + 1) / (f->count + 1ull);
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t link = f->place[i].link;
        struct route_node *n = route_node(l, link), *behind = route_node(l, at);
        label_set(l, link, behind->label + gap);
        n->after = behind->after;
        n->before = at;
        route_node(l, n->after)->before = link;
        behind->after = link;
        at = link;
    }
}

bool route_acyclic_refuses(struct route_acyclic *a, uint32_t layer, uint32_t link, uint32_t next)
{
    const struct route_nodes *l = &a->layer[layer].nodes;
    return label_of(l, link) > label_of(l, next) &&
           route_hubs_know(&a->layer[layer].hubs, route_node(l, link), route_node(l, next));
}

bool route_acyclic_add(struct route_acyclic *a, uint32_t layer, const uint32_t *link, uint32_t count,
                       uint32_t next)
{
    struct route_nodes *l = &a->layer[layer].nodes;
    uint32_t last = link[0];
    for (uint32_t i = 1; i < count; i++)
        if (label_of(l, link[i]) > label_of(l, last))
            last = link[i];
    if (label_of(l, last) > label_of(l, next)) {
        struct found *ahead = &a->found[AHEAD], *back = &a->found[BACK];
        if (!search(a, l, link, count, next, label_of(l, last))) {
            route_hubs_met(&a->layer[layer].hubs, a->met, ahead->count + back->count);
            return false;
        }
        if (back->done == back->count)
            move_behind(l, route_node(l, next)->before, back);
        else
            move_behind(l, last, ahead);
    }
    for (uint32_t i = 0; i < count; i++)
        bits_change(a, layer, link[i], next);
    return true;
}

void route_acyclic_keep(struct route_acyclic *a, uint32_t layer, uint32_t link, uint32_t next)
{
    route_hubs_add(&a->layer[layer].hubs, &a->layer[layer].nodes, link, next);
}

void route_acyclic_kept(struct route_acyclic *a)
{
    for (uint32_t i = 0; i < a->layers; i++)
        route_hubs_renew(&a->layer[i].hubs, &a->layer[i].nodes);
}

void route_pass(struct ker_comm *comm, int from, void *array, size_t bytes)
{
    int size = ker_comm_size(comm), rank = ker_comm_rank(comm);
    size_t *offset = ker_alloc(((size_t)size + 1) * sizeof *offset), *at;
    void *all;
    for (int r = from + 1; rank == from && r < size; r++)
        offset[r + 1] = bytes;
    ker_comm_exchange(comm, array, offset, &all, &at);
    if (rank == from + 1 && bytes) {
        ker_assert(array && all && at[size] == bytes);
        memcpy(array, all, bytes);
    }
    free(all);
    free(at);
    free(offset);
}

void route_acyclic_pass(struct route_acyclic *a, struct ker_comm *comm, int from)
{
    int64_t layers = ker_comm_rank(comm) == from ? a->layers : 0;
    ker_comm_max_i64(comm, &layers, 1);
    while (ker_comm_rank(comm) == from + 1 && a->layers < layers)
        route_acyclic_layer(a);
    for (uint32_t i = 0; i < layers; i++) { /* of other ranks nothing is asked */
        const struct route_nodes none = {0}, *l = i < a->layers ? &a->layer[i].nodes : &none;
        route_pass(comm, from, l->node, a->node_bytes);
        route_pass(comm, from, l->label[AHEAD], a->label_bytes);
        route_pass(comm, from, l->label[BACK], a->label_bytes);
    }
}
