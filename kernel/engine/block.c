/* block.c - brings the records of a window and block into their order; see block.h.
 *
 * A counting sort on the cell, then items are inserted in their order; a few records are inserted at once.
 */
#include "kernel/engine/block.h"

#include <string.h>

#define FEW 24 /* records of a block that are inserted, not counted */
/* Arrivals of a block that are prepared as they become items; of more, the first would have left the cache
 * when they are handled. */
#define EARLY_MOST 1024
#define EARLY_FETCH 6 /* arrivals ahead of the one that is prepared */

/* The cells of a block run in any order. */
static void turn_begin(struct engine_private *p, uint32_t mask)
{
    p->turn.flip = p->setup.order == KER_ORDER_BACKWARD ? mask : 0;
    p->turn.factor = p->turn.inverse = 1;
    if (p->setup.order != KER_ORDER_SHUFFLED)
        return;
    const struct ker_bits draw = ker_random_bits(p->setup.seed, KER_PURPOSE_ENGINE, 0, p->shuffles++);
    p->turn.flip = draw.word[0] & mask;
    p->turn.factor = draw.word[1] | 1;
    for (int i = 0; i < 5; i++) /* Newton: the inverse modulo 2, 8 and so on */
        p->turn.inverse *= 2 - p->turn.factor * p->turn.inverse;
}

/* Counts the items of each cell. */
INLINE void block_count(struct ker_engine *e, const struct wheel_bucket *bucket, struct block *b, bool plain)
{
    const struct engine_private *p = e->private;
    uint32_t *count = p->count, mask = b->mask;
    const ker_time end = e->window_end;
    const bool early = b->early;
    memset(p->count, 0, sizeof *p->count * (b->mask + 1));
    FOR_EVENTS(e, bucket, event)
    {
        if (early)
            __builtin_prefetch(e->component[event->component].state);
        count[item_key(p, plain, event->component, mask, 0) >> ITEM_PLACE] += event->time < end;
    }
    FOR_NOTES(e, bucket, note)
    {
        count[item_key(p, plain, note->component, mask, 0) >> ITEM_PLACE] += note_due(e, note);
    }
}

/* Turns counts into starts. Returns the largest count. */
static uint32_t block_starts(struct engine_private *p, struct block *b)
{
    uint32_t at = 0, most = 0, cells = 0;
    for (uint32_t c = 0; c <= b->mask; c += 8) {
        uint64_t pair[4];
        memcpy(pair, &p->count[c], sizeof pair);
        if (!(pair[0] | pair[1] | pair[2] | pair[3]))
            continue;
        for (uint32_t i = c; i < c + 8; i++) {
            uint32_t n = p->count[i];
            p->count[i] = at;
            at += n;
            cells += n != 0;
            most = n > most ? n : most;
        }
    }
    b->total = at;
    b->cells = cells;
    return most;
}

/* How items come into their order: a few are inserted as they come. Of others the place is known from
 * counting: where their cell's are, which are then sorted, or ranked by numbers. */
enum way { FEW_INSERTED, CELLS_SORTED, CELLS_RANKED };

/* Where items are written: kept in registers, as what is written could change it in memory. */
struct places {
    struct ker_item *item;
    int64_t *order;
    uint32_t *next; /* of each cell, or (few) of all */
};

/* place: of the cell; offset: in the window. */
INLINE void item_add(const struct places *to, uint32_t place_at, enum way way, struct ker_item item,
                     uint64_t place, uint64_t offset)
{
    uint32_t at = to->next[way == FEW_INSERTED ? 0 : place]++;
    to->item[at] = item;
    if (way == CELLS_RANKED)
        to->order[at] = (int64_t)(place << place_at | offset << ORDER_RANK | item.rank);
}

/* What preparing reads; the state's beginning was fetched when the arrival was counted. */
static inline void arrival_fetch(const struct ker_component *c, const struct ker_event *event)
{
    const char *state = c->state;
    __builtin_prefetch(state + 64, 1);
    __builtin_prefetch(state + c->class->head_bytes + (size_t)event->port * c->class->port_stride, 1);
}

INLINE void block_scatter(struct ker_engine *e, const struct wheel_bucket *bucket, struct block *b,
                          bool plain, enum way way)
{
    const struct engine_private *p = e->private;
    const struct places to = {p->item, way == CELLS_RANKED ? p->order + ORDER_BEFORE : NULL,
                              way == FEW_INSERTED ? &b->total : p->count};
    const ker_time start = e->window_start, end = e->window_end;
    const char *arena = e->wheel.arena;
    const uint32_t mask = b->mask, place_at = 63 - p->block_shift;
    const bool early = b->early;
    FOR_EVENTS(e, bucket, event)
    {
        if (__builtin_expect(event->time >= end, 0)) {
            *wheel_event(&e->wheel, event->time, event->component) = *event;
            continue;
        }
        uint64_t offset = (uint64_t)(event->time - start),
                 key = item_key(p, plain, event->component, mask, offset);
        const struct ker_item item = {key, item_rank(KER_ARRIVAL, event->port, event->channel),
                                      reference_in(arena, event)};
        item_add(&to, place_at, way, item, item_place(plain, event->component, mask, key), offset);
        if (early) {
            if (event + EARLY_FETCH < end_)
                arrival_fetch(&e->component[event[EARLY_FETCH].component], &event[EARLY_FETCH]);
            event_prepare(&e->component[event->component], event);
        }
    }
    FOR_NOTES(e, bucket, note)
    {
        if (__builtin_expect(!note_due(e, note), 0)) {
            wheel_note_put(&e->wheel, start + note->offset, *note);
            continue;
        }
        uint64_t key = item_key(p, plain, note->component, mask, note->offset);
        const struct ker_item item = {key, item_rank(note->kind, note->port, note->channel),
                                      reference_in(arena, note)};
        item_add(&to, place_at, way, item, item_place(plain, note->component, mask, key), note->offset);
    }
}

/* Can the items of a block be ranked? Their cell's place, their time and their rank must make one number. */
static bool cells_ranked(const struct engine_private *p, uint32_t most, ker_time window)
{
    return most <= ITEMS_RANKED && p->block_shift <= 32 && window <= (ker_time)1 << (32 - p->block_shift);
}

static void order_reserve(struct engine_private *p, uint32_t total)
{
    if (p->order_room < p->item_room + ORDER_BEFORE + ORDER_BEHIND) {
        KER_RESERVE(p->order, p->order_room, p->item_room + ORDER_BEFORE + ORDER_BEHIND);
        for (uint32_t i = 0; i < ORDER_BEFORE; i++)
            p->order[i] = INT64_MIN;
    }
    for (uint32_t i = 0; i < ORDER_BEHIND; i++)
        p->order[ORDER_BEFORE + total + i] = INT64_MAX;
}

/* Puts the counted items into order; they are with their cells, and a count is now the end of its cell, if
 * that has items. */
static void cells_sort(struct engine_private *p, const struct block *b, uint32_t most, ker_time window)
{
    if (most <= ITEMS_INSERTED) {
        items_insertion_sort(p->item, b->total);
        return;
    }
    for (uint32_t at = 0, c = 0; at < b->total; c++) {
        uint32_t n = p->count[c] > at ? p->count[c] - at : 0;
        items_sort(p->item + at, n, p->spare, window);
        at += n;
    }
}

/* A few, inserted: how many cells they are of. */
static uint32_t cells_count(const struct ker_item *item, uint32_t n)
{
    uint32_t cells = n != 0;
    for (uint32_t i = 1; i < n; i++)
        cells += (item[i].key ^ item[i - 1].key) >> ITEM_PLACE != 0;
    return cells;
}

INLINE void gather(struct ker_engine *e, const struct wheel_bucket *bucket, struct block *b, bool plain)
{
    struct engine_private *p = e->private;
    uint32_t events, notes;
    ker_time window = e->window_end - e->window_start;
    bucket_sizes(e, bucket, &events, &notes);
    /* Where notes are many, whether an item is an arrival is close to random, and is not asked once more. */
    b->early = 4 * notes > events && events <= EARLY_MOST;
    if (events + notes <= FEW) {
        items_reserve(e, FEW);
        block_scatter(e, bucket, b, plain, FEW_INSERTED);
        items_insertion_sort(p->item, b->total);
        b->cells = cells_count(p->item, b->total);
    } else {
        block_count(e, bucket, b, plain);
        uint32_t most = block_starts(p, b);
        items_reserve(e, b->total);
        if (plain && cells_ranked(p, most, window)) {
            order_reserve(p, b->total);
            block_scatter(e, bucket, b, plain, CELLS_RANKED);
            items_rank_sort(p->item, p->order + ORDER_BEFORE, b->total, most, p->spare);
            struct ker_item *sorted = p->spare;
            p->spare = p->item;
            p->item = sorted;
        } else {
            block_scatter(e, bucket, b, plain, CELLS_SORTED);
            cells_sort(p, b, most, window);
        }
    }
    p->item[b->total] = (struct ker_item){UINT64_MAX, UINT32_MAX, 0};
}

void engine_block_gather(struct ker_engine *e, const struct wheel_bucket *bucket, struct block *b)
{
    if (b->plain) {
        gather(e, bucket, b, true);
    } else {
        turn_begin(e->private, b->mask);
        gather(e, bucket, b, false);
    }
}

void engine_block_empty(struct ker_engine *e, struct block *b)
{
    items_reserve(e, 0);
    b->total = b->cells = 0;
    e->private->item[0] = (struct ker_item){UINT64_MAX, UINT32_MAX, 0};
}
