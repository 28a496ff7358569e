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
 * that holds no more than the cubic root of it (Bender et al., 2002; with the square root a third more labels
 * are spread).
 */
#include "routing/tables/acyclic.h"
#include "routing/tables/hubs.h"

#include <stdlib.h>
#include <string.h>

#define LABEL_BITS 62
#define FEW 16    /* are sorted by insertion */
#define FETCHED 8 /* links that are fetched before their turn */

struct layer {
    struct route_nodes nodes;
    struct route_hubs hubs;
    uint64_t *memory; /* of the nodes */
};

struct found { /* by one search, as its direction numbers links */
    struct mark {
        uint64_t label;
        uint32_t link, to; /* to: the switch that it leads to */
    } * mark;
    uint32_t count, done; /* done: what these lead to is found, too */
    uint64_t asked;       /* links that these lead to, and were not looked at before */
};

/* Of a word of a switch's links, for each direction: what its search need not look at again, as it numbers
 * links; what it has found, as the other direction numbers them. */
struct marks {
    uint64_t seen[ROUTE_WAYS], found[ROUTE_WAYS];
};

struct route_acyclic {
    const struct route_wires *wires;
    uint32_t words, layers;
    size_t layer_bytes;
    struct layer *layer;
    struct marks *marks; /* per switch `words`; all 0 between searches */
    struct found found[ROUTE_WAYS];
    uint32_t met; /* where the last searches have met */
};

struct route_acyclic *route_acyclic_new(const struct route_wires *wires)
{
    struct route_acyclic *a = ker_alloc(sizeof *a);
    size_t links = wires->links + (size_t)1;
    *a = (struct route_acyclic){.wires = wires, .words = wires->most / 64 + 1};
    a->layer_bytes = links * sizeof(uint64_t) * (ROUTE_WAYS * (3 + a->words) + 1);
    for (enum route_way way = 0; way < ROUTE_WAYS; way++)
        a->found[way].mark = ker_alloc(links * sizeof *a->found[way].mark);
    a->marks = ker_alloc((size_t)wires->switches * a->words * sizeof *a->marks);
    for (uint32_t i = 0; i < wires->links; i++)
        ker_check(wires->reverse[i] != ROUTE_NO_WIRE); /* links are alive in both directions */
    return a;
}

void route_acyclic_free(struct route_acyclic *a)
{
    if (!a)
        return;
    for (uint32_t i = 0; i < a->layers; i++) {
        ker_release(a->layer[i].memory, a->layer_bytes);
        route_hubs_release(&a->layer[i].hubs);
    }
    KER_FREE(a->layer, a->found[ROUTE_AHEAD].mark, a->found[ROUTE_BACK].mark, a->marks, a);
}

static void label_set(struct route_nodes *l, uint32_t link, uint64_t label)
{
    l->side[ROUTE_AHEAD].label[link] = l->side[ROUTE_BACK].label[l->wires->reverse[link]] = label;
}

void route_acyclic_layer(struct route_acyclic *a)
{
    uint32_t links = a->wires->links;
    uint64_t gap = (1ull << LABEL_BITS) / (links + 2ull);
    struct layer *l = KER_APPEND(a->layer, a->layers);
    *l = (struct layer){.nodes = {.wires = a->wires, .words = a->words},
                        .memory = ker_reserve(a->layer_bytes)};
    uint64_t *memory = l->memory;
    l->nodes.place = (struct route_place *)memory;
    memory += links + 1;
    for (enum route_way way = 0; way < ROUTE_WAYS; way++) {
        l->nodes.side[way] =
            (struct route_side){memory, memory + links + 1, memory + 2 * (links + (size_t)1)};
        memory += (3 + a->words) * (links + (size_t)1);
        for (uint32_t i = 0; i < links; i++) {
            struct route_node *node = route_node_of(&l->nodes, way, i);
            node->to = a->wires->to[i];
            node->reverse = a->wires->reverse[i] - a->wires->begin[node->to];
        }
    }
    for (uint32_t i = 0; i < links; i++)
        label_set(&l->nodes, i, (i + 1) * gap);
    for (uint32_t i = 0; i <= links; i++)
        l->nodes.place[i] = (struct route_place){i > 0 ? i - 1 : links, i < links ? i + 1 : 0};
}

/* ---- bits ---- */

/* Both bits of a dependency. */
static void bits_change(struct route_acyclic *a, uint32_t layer, uint32_t link, uint32_t next)
{
    const struct route_nodes *l = &a->layer[layer].nodes;
    struct route_node *ahead = route_node_of(l, ROUTE_AHEAD, link);
    uint32_t on = next - a->wires->begin[ahead->to], back = ahead->reverse;
    ahead->leads[on / 64] ^= 1ull << on % 64;
    route_node_of(l, ROUTE_BACK, a->wires->reverse[next])->leads[back / 64] ^= 1ull << back % 64;
}

void route_acyclic_remove(struct route_acyclic *a, uint32_t layer, uint32_t link, uint32_t next)
{
    bits_change(a, layer, link, next);
}

/* ---- the searches ---- */

static uint64_t label_of(const struct route_nodes *l, uint32_t link)
{
    return l->side[ROUTE_AHEAD].label[link];
}

/* The link number `own` of a switch. False: it leads to what the other search has found. Asked at once, not
 * when it is its turn: nearly all searches that find much end in a circle. */
static inline bool find(struct route_acyclic *a, const struct route_nodes *l, uint32_t from, uint32_t own,
                        enum route_way way)
{
    uint32_t link = a->wires->begin[from] + own;
    const struct route_node *node = route_node_of(l, way, link);
    struct marks *here = a->marks + (size_t)from * a->words, *there = a->marks + (size_t)node->to * a->words;
    struct found *f = &a->found[way];
    here[own / 64].seen[way] |= 1ull << own % 64;
    there[node->reverse / 64].found[way] |= 1ull << node->reverse % 64;
    f->mark[f->count++] = (struct mark){l->side[way].label[link], link, node->to};
    for (uint32_t w = 0; w < a->words; w++) {
        if (node->leads[w] & there[w].found[!way]) {
            a->met = way == ROUTE_AHEAD ? link : a->wires->reverse[link];
            return false;
        }
        if (node->leads[w]) /* they are looked at next */
            __builtin_prefetch(&l->side[way].label[a->wires->begin[node->to] + w * 64 +
                                                   (uint32_t)__builtin_ctzll(node->leads[w])]);
    }
    return true;
}

/* Looks at what the next link found leads to, up to the label `end`; false: the other search has found that.
 */
static inline __attribute__((always_inline)) bool step(struct route_acyclic *a, const struct route_nodes *l,
                                                       uint64_t end, enum route_way way)
{
    struct found *f = &a->found[way];
    uint32_t link = f->mark[f->done].link, to = f->mark[f->done++].to, begin = a->wires->begin[to];
    const struct route_node *node = route_node_of(l, way, link);
    for (uint32_t w = 0; w < a->words; w++) {
        uint64_t *seen = &a->marks[(size_t)to * a->words + w].seen[way], inside = 0;
        uint64_t rest = node->leads[w] & ~*seen;
        const uint64_t *label = l->side[way].label + begin + w * 64;
        f->asked += 1 + (unsigned)__builtin_popcountll(rest);
        for (*seen |= rest; rest; rest &= rest - 1) { /* without branches, which would wait for labels */
            uint32_t next = (uint32_t)__builtin_ctzll(rest);
            inside |= (uint64_t)(way == ROUTE_AHEAD ? label[next] < end : label[next] > end) << next;
        }
        for (uint64_t left = inside; left; left &= left - 1)
            __builtin_prefetch(route_node_of(l, way, begin + w * 64 + (uint32_t)__builtin_ctzll(left)));
        for (; inside; inside &= inside - 1)
            if (!find(a, l, to, w * 64 + (uint32_t)__builtin_ctzll(inside), way))
                return false;
    }
    return true;
}

static inline void switch_clear(struct route_acyclic *a, uint32_t at)
{
    for (uint32_t w = 0; w < a->words; w++)
        a->marks[(size_t)at * a->words + w] = (struct marks){0};
}

/* `from`: the switch that the first of them, or all, are of. */
static void marks_clear(struct route_acyclic *a, const struct found *f, uint32_t from)
{
    switch_clear(a, from);
    for (uint32_t i = 0; i < f->count; i++)
        switch_clear(a, f->mark[i].to);
}

/* From `next` ahead up to the label `last`, and from those links back that are behind it, until one side has
 * found all; false: they meet. */
static bool search(struct route_acyclic *a, const struct route_nodes *l, const uint32_t *link, uint32_t count,
                   uint32_t next, uint64_t last)
{
    uint64_t first = label_of(l, next);
    struct found *ahead = &a->found[ROUTE_AHEAD], *back = &a->found[ROUTE_BACK];
    ahead->count = ahead->done = back->count = back->done = 0;
    ahead->asked = back->asked = 0;
    uint32_t at = l->wires->from[next], begin = l->wires->begin[at];
    bool apart = find(a, l, at, next - begin, ROUTE_AHEAD);
    for (uint32_t i = 0; i < count && apart; i++)
        if (label_of(l, link[i]) > first)
            apart = find(a, l, at, l->wires->reverse[link[i]] - begin, ROUTE_BACK);
    while (apart && ahead->done < ahead->count && back->done < back->count)
        apart = back->asked <= ahead->asked ? step(a, l, first, ROUTE_BACK) : step(a, l, last, ROUTE_AHEAD);
    marks_clear(a, ahead, at);
    marks_clear(a, back, at);
    return apart;
}

/* ---- the order ---- */

/* Spreads the labels around a link until there is room for this many behind it. */
static void labels_spread(struct route_nodes *l, uint32_t at, uint32_t wanted)
{
    uint32_t first = at, last = at, count = 1, links = l->wires->links, other;
    for (unsigned bits = 2; bits <= LABEL_BITS; bits++) {
        uint64_t low = label_of(l, at) >> bits << bits, high = low + (1ull << bits) - 1;
        for (; (other = l->place[first].before) != links && label_of(l, other) >= low; count++)
            first = other;
        for (; (other = l->place[last].after) != links && label_of(l, other) <= high; count++)
            last = other;
        uint64_t gap = (high - low) / (count + 1ull);
        if ((bits < LABEL_BITS && (double)count * count * count > (double)(high - low)) ||
            gap <= wanted + 1ull)
            continue;
        for (uint64_t label = low + gap;; label += gap, first = l->place[first].after) {
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
    uint32_t after = l->place[at].after;
    return (after == l->wires->links ? 1ull << LABEL_BITS : label_of(l, after)) - label_of(l, at) - 1;
}

static void marks_insert(struct mark *mark, uint32_t count)
{
    for (uint32_t i = 1, k; i < count; i++) {
        struct mark one = mark[i];
        for (k = i; k > 0 && mark[k - 1].label > one.label; k--)
            mark[k] = mark[k - 1];
        mark[k] = one;
    }
}

/* Two sorted parts in a row to one; without branches, which nobody could foresee. */
static void marks_merge(struct mark *to, const struct mark *mark, uint32_t middle, uint32_t end)
{
    uint32_t a = 0, b = middle;
    while (a < middle && b < end) {
        bool second = mark[b].label < mark[a].label;
        *to++ = mark[second ? b : a];
        b += second;
        a += !second;
    }
    memcpy(to, mark + a, (middle - a) * sizeof *mark);
    memcpy(to + (middle - a), mark + b, (end - b) * sizeof *mark);
}

/* By label. What the other search has found is of no use any more, and makes room for it. */
static void found_sort(struct found *f, struct found *other)
{
    uint32_t count = f->count;
    for (uint32_t i = 0; i < count; i += FEW)
        marks_insert(f->mark + i, count - i < FEW ? count - i : FEW);
    for (uint32_t part = FEW; part < count; part *= 2) {
        for (uint32_t i = 0; i < count; i += 2 * part) {
            uint32_t rest = count - i, end = rest < 2 * part ? rest : 2 * part;
            marks_merge(other->mark + i, f->mark + i, part < end ? part : end, end);
        }
        struct mark *mark = f->mark;
        f->mark = other->mark;
        other->mark = mark;
    }
}

/* Moves what was found, in its order, behind `at`, which is not among it; the number behind the last link: to
 * the beginning. */
static void move_behind(struct route_acyclic *a, struct route_nodes *l, uint32_t at, enum route_way way)
{
    struct route_place *place = l->place;
    struct found *f = &a->found[way];
    for (uint32_t i = 0; way == ROUTE_BACK && i < f->count; i++)
        f->mark[i].link = l->wires->reverse[f->mark[i].link];
    found_sort(f, &a->found[!way]);
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t link = f->mark[i].link;
        if (i + FETCHED < f->count)
            __builtin_prefetch(&place[f->mark[i + FETCHED].link]);
        place[place[link].before].after = place[link].after;
        place[place[link].after].before = place[link].before;
    }
    if (room_behind(l, at) < f->count)
        labels_spread(l, at == l->wires->links ? place[at].after : at, f->count);
    uint64_t gap = (room_behind(l, at) + 1) / (f->count + 1ull), label = label_of(l, at);
    uint32_t after = place[at].after;
    for (uint32_t i = 0; i < f->count; i++, at = place[at].after) {
        uint32_t link = f->mark[i].link;
        label_set(l, link, label += gap);
        place[at].after = link;
        place[link].before = at;
    }
    place[at].after = after;
    place[after].before = at;
}

bool route_acyclic_refuses(struct route_acyclic *a, uint32_t layer, uint32_t link, uint32_t next)
{
    const struct route_nodes *l = &a->layer[layer].nodes;
    return label_of(l, link) > label_of(l, next) && route_hubs_know(&a->layer[layer].hubs, l, link, next);
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
        struct found *ahead = &a->found[ROUTE_AHEAD], *back = &a->found[ROUTE_BACK];
        if (!search(a, l, link, count, next, label_of(l, last))) {
            route_hubs_met(&a->layer[layer].hubs, a->met, ahead->count + back->count);
            return false;
        }
        if (back->done == back->count)
            move_behind(a, l, l->place[next].before, ROUTE_BACK);
        else
            move_behind(a, l, last, ROUTE_AHEAD);
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
    for (uint32_t i = 0; i < layers; i++) /* of other ranks nothing is asked */
        route_pass(comm, from, i < a->layers ? a->layer[i].memory : NULL, a->layer_bytes);
}
