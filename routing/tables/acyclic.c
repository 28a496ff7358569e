/* acyclic.c - dependencies of links without circles.
 *
 * The links of a layer are in a list in topological order; labels that rise along it say which of two comes
 * first. A dependency that agrees with the order costs nothing. Else two searches take turns, from `next`
 * ahead and from `link` back, each only as far as the other's beginning in the order: where one meets the
 * other there is a circle; when one has found all, what it has found moves, in its old order, to the other
 * side of the other's beginning (two-way search: Bender, Fineman, Gilbert and Tarjan, 2016). On networks one
 * side is small nearly always, while the other is a good part of all links. Most circles need no search: they
 * are known by hubs (hubs.c).
 *
 * Where there is no room for labels, those around are spread: the smallest range of labels, a power of two,
 * that holds no more than the square root of it (Bender et al., 2002).
 */
#include "routing/tables/acyclic.h"
#include "routing/tables/hubs.h"

#include <stdlib.h>
#include <string.h>

#define LABEL_BITS 62

/* The directions of the searches. */
enum way { AHEAD, BACK, WAYS };

struct layer {
    uint64_t *label;
    uint32_t *after, *before; /* the list, in a ring through the number behind the last link */
    uint64_t *leads[WAYS]; /* per link `words`. Ahead: which of those of the switch it leads to it waits for;
                              back: which of its own switch's links have a reverse that waits for it */
    struct route_hubs hubs;
};

struct found { /* by one search */
    struct place {
        uint64_t label;
        uint32_t link;
    } * place;
    uint32_t count, done; /* done: what these lead to is found, too */
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
    uint32_t words, layers;
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
    for (enum way way = 0; way < WAYS; way++)
        a->found[way].place = ker_alloc(links * sizeof *a->found[way].place);
    a->ends = ker_alloc(links * sizeof *a->ends);
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
        free(a->layer[i].label);
        free(a->layer[i].after);
        free(a->layer[i].before);
        free(a->layer[i].leads[AHEAD]);
        free(a->layer[i].leads[BACK]);
        route_hubs_release(&a->layer[i].hubs);
    }
    free(a->layer);
    free(a->found[AHEAD].place);
    free(a->found[BACK].place);
    free(a->ends);
    free(a->marks);
    free(a);
}

void route_acyclic_layer(struct route_acyclic *a)
{
    uint32_t links = a->wires->links;
    uint64_t gap = (1ull << LABEL_BITS) / (links + 2ull);
    struct layer *l = KER_APPEND(a->layer, a->layers);
    *l = (struct layer){.label = ker_alloc((links + 1ull) * sizeof *l->label),
                        .after = ker_alloc((links + 1ull) * sizeof *l->after),
                        .before = ker_alloc((links + 1ull) * sizeof *l->before),
                        .leads = {ker_alloc((links + 1ull) * a->words * sizeof **l->leads),
                                  ker_alloc((links + 1ull) * a->words * sizeof **l->leads)}};
    route_hubs_init(&l->hubs, links);
    for (uint32_t i = 0; i <= links; i++) {
        l->label[i] = i < links ? (i + 1) * gap : 0;
        l->after[i] = i < links ? i + 1 : 0;
        l->before[i] = i > 0 ? i - 1 : links;
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
    a->layer[layer].leads[AHEAD][(size_t)link * a->words + on / 64] ^= 1ull << on % 64;
    a->layer[layer].leads[BACK][(size_t)next * a->words + back / 64] ^= 1ull << back % 64;
}

void route_acyclic_remove(struct route_acyclic *a, uint32_t layer, uint32_t link, uint32_t next)
{
    bits_change(a, layer, link, next);
}

/* ---- the searches ---- */

/* The words of the switch to whose links, or their reverses, a link leads in this direction. */
static inline struct marks *marks_there(const struct route_acyclic *a, const struct ends *e, enum way way)
{
    return a->marks + (way == AHEAD ? e->to : e->from);
}

/* False: it leads to what the other search has found. Asked at once, not when it is its turn: nearly all
 * searches that find much end in a circle. */
static inline __attribute__((always_inline)) bool find(struct route_acyclic *a, const struct layer *l,
                                                       uint32_t link, enum way way)
{
    const struct ends *e = &a->ends[link];
    const struct marks *there = marks_there(a, e, way);
    const uint64_t *leads = l->leads[way] + (size_t)link * a->words;
    struct found *f = &a->found[way];
    a->marks[e->from + e->from_bit / 64].link[way] |= 1ull << e->from_bit % 64;
    a->marks[e->to + e->to_bit / 64].reverse[way] |= 1ull << e->to_bit % 64;
    f->place[f->count++] = (struct place){l->label[link], link};
    for (uint32_t w = 0; w < a->words; w++)
        if (leads[w] & (way == AHEAD ? there[w].link[BACK] : there[w].reverse[AHEAD])) {
            a->met = link;
            return false;
        }
    return true;
}

/* Looks at what the next link found leads to, up to the label `end`; false: the other search has found that.
 */
static inline __attribute__((always_inline)) bool step(struct route_acyclic *a, const struct layer *l,
                                                       uint64_t end, enum way way)
{
    struct found *f = &a->found[way];
    uint32_t link = f->place[f->done++].link;
    const struct ends *e = &a->ends[link];
    struct marks *there = marks_there(a, e, way);
    uint32_t first = way == AHEAD ? e->first : e->from_first;
    for (uint32_t w = 0; w < a->words; w++) {
        uint64_t *seen = way == AHEAD ? &there[w].link[AHEAD] : &there[w].reverse[BACK];
        uint64_t rest = l->leads[way][(size_t)link * a->words + w] & ~*seen;
        for (*seen |= rest; rest; rest &= rest - 1) {
            uint32_t next = first + w * 64 + (uint32_t)__builtin_ctzll(rest);
            if (way == BACK)
                next = a->wires->reverse[next];
            if ((way == AHEAD ? l->label[next] < end : l->label[next] > end) && !find(a, l, next, way))
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

/* Until one side has found all; false: they meet. */
static bool search(struct route_acyclic *a, const struct layer *l, uint32_t link, uint32_t next)
{
    uint64_t first = l->label[next], last = l->label[link];
    struct found *ahead = &a->found[AHEAD], *back = &a->found[BACK];
    ahead->count = ahead->done = back->count = back->done = 0;
    bool apart = find(a, l, next, AHEAD) && find(a, l, link, BACK);
    while (apart && ahead->done < ahead->count && back->done < back->count)
        apart = step(a, l, first, BACK) && step(a, l, last, AHEAD);
    marks_clear(a, ahead);
    marks_clear(a, back);
    return apart;
}

/* ---- the order ---- */

/* Spreads the labels around a link until there is room for this many behind it. */
static void labels_spread(struct layer *l, uint32_t links, uint32_t at, uint32_t wanted)
{
    uint32_t first = at, last = at, count = 1;
    for (unsigned bits = 2; bits <= LABEL_BITS; bits++) {
        uint64_t low = l->label[at] >> bits << bits, high = low + (1ull << bits) - 1;
        for (; l->before[first] != links && l->label[l->before[first]] >= low; count++)
            first = l->before[first];
        for (; l->after[last] != links && l->label[l->after[last]] <= high; count++)
            last = l->after[last];
        uint64_t gap = (high - low) / (count + 1ull);
        if ((bits < LABEL_BITS && (uint64_t)count * count > high - low) || gap <= wanted + 1ull)
            continue;
        for (uint64_t label = low + gap;; label += gap, first = l->after[first]) {
            l->label[first] = label;
            if (first == last)
                return;
        }
    }
    ker_assert(false); /* there are far more labels than links */
}

/* How many labels there are between a link, or the beginning, and what follows. */
static uint64_t room_behind(const struct layer *l, uint32_t links, uint32_t at)
{
    uint64_t end = l->after[at] == links ? 1ull << LABEL_BITS : l->label[l->after[at]];
    return end - l->label[at] - 1;
}

static void list_remove(struct layer *l, uint32_t link)
{
    l->after[l->before[link]] = l->after[link];
    l->before[l->after[link]] = l->before[link];
}

static int by_label(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return KER_ORDER(x, y, label);
}

/* Moves what was found, in its order, behind `at`, which is not among it; `links`: to the beginning. */
static void move_behind(struct layer *l, uint32_t links, uint32_t at, struct found *f)
{
    qsort(f->place, f->count, sizeof *f->place, by_label);
    for (uint32_t i = 0; i < f->count; i++)
        list_remove(l, f->place[i].link);
    if (room_behind(l, links, at) < f->count)
        labels_spread(l, links, at == links ? l->after[links] : at, f->count);
    uint64_t gap = (room_behind(l, links, at) + 1) / (f->count + 1ull);
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t link = f->place[i].link;
        l->label[link] = l->label[at] + gap;
        l->after[link] = l->after[at];
        l->before[link] = at;
        l->before[l->after[at]] = link;
        l->after[at] = link;
        at = link;
    }
}

bool route_acyclic_add(struct route_acyclic *a, uint32_t layer, uint32_t link, uint32_t next)
{
    struct layer *l = &a->layer[layer];
    if (l->label[link] > l->label[next]) {
        if (route_hubs_know(&l->hubs, link, next))
            return false;
        if (!search(a, l, link, next)) {
            route_hubs_met(&l->hubs, a->met, a->found[AHEAD].count + a->found[BACK].count);
            return false;
        }
        struct found *back = &a->found[BACK];
        if (back->done == back->count)
            move_behind(l, a->wires->links, l->before[next], back);
        else
            move_behind(l, a->wires->links, link, &a->found[AHEAD]);
    }
    bits_change(a, layer, link, next);
    return true;
}

static struct route_hubs_layer hubs_layer(const struct route_acyclic *a, const struct layer *l)
{
    return (struct route_hubs_layer){a->wires, l->after, l->before, l->leads};
}

void route_acyclic_keep(struct route_acyclic *a, uint32_t layer, uint32_t link, uint32_t next)
{
    struct layer *l = &a->layer[layer];
    struct route_hubs_layer h = hubs_layer(a, l);
    route_hubs_add(&l->hubs, &h, link, next);
}

void route_acyclic_kept(struct route_acyclic *a)
{
    for (uint32_t i = 0; i < a->layers; i++) {
        struct route_hubs_layer h = hubs_layer(a, &a->layer[i]);
        route_hubs_renew(&a->layer[i].hubs, &h);
    }
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
    size_t links = a->wires->links + (size_t)1;
    struct layer none = {0};
    int64_t layers = ker_comm_rank(comm) == from ? a->layers : 0;
    ker_comm_max_i64(comm, &layers, 1);
    while (ker_comm_rank(comm) == from + 1 && a->layers < layers)
        route_acyclic_layer(a);
    for (uint32_t i = 0; i < layers; i++) {
        struct layer *l = i < a->layers ? &a->layer[i] : &none; /* of other ranks nothing is asked */
        route_pass(comm, from, l->label, links * sizeof *l->label);
        route_pass(comm, from, l->after, links * sizeof *l->after);
        route_pass(comm, from, l->before, links * sizeof *l->before);
        for (enum way way = 0; way < WAYS; way++)
            route_pass(comm, from, l->leads[way], links * a->words * sizeof **l->leads);
    }
}
