/* window.c - the work of one window, block by block; see engine.h.
 *
 * One loop runs through the items of a block (block.h) in their order, merging in what a component posts to
 * itself inside the window, and fetches ahead of itself what the items after the next ones will need.
 * Invariant: when a window ends, everything before its end has been handled, and nothing any cell posted to
 * another cell lies before it (checked in debug builds).
 */
#include "kernel/engine/block.h"

#define PREPARE_AHEAD 8 /* items before they are handled */
#define FETCH_AHEAD 16
#define THIN 4 /* records for each window of time: little happens */

/* ---- what a cell posts to itself inside the window ---- */

static inline uint64_t inner_offset(const struct ker_engine *e, ker_time time)
{
    ker_check(time >= e->window_start);
    return (uint64_t)(time - e->window_start) << 16;
}

/* In a window of cells. Apart, so that those that are run as one need no room for what it calls. */
static __attribute__((noinline)) void cell_put(struct ker_engine *e, uint32_t component, struct ker_item item)
{
    item.key |= e->running >> ITEM_PLACE << ITEM_PLACE | (component - cell_of(e->private, component));
    KER_RESERVE(e->inner, e->inner_room, e->inner_count + (size_t)1);
    uint32_t i = e->inner_count++;
    for (; i > 0 && item_before(e->inner[i - 1], item); i--)
        e->inner[i] = e->inner[i - 1];
    e->inner[i] = item;
}

static __attribute__((noinline)) struct ker_event *cell_event(struct ker_engine *e, uint32_t component,
                                                              struct ker_item item)
{
    cell_put(e, component, item);
    return record_at(e, item.reference);
}

static __attribute__((noinline)) struct ker_event *
chunk_event(struct ker_engine *e, ker_time time, uint32_t component, uint16_t port, uint8_t channel)
{
    e->inner_chunk = wheel_chunk_new(&e->wheel, e->inner_chunk);
    e->inner_used = 0;
    return ker_inner_event(e, time, component, port, channel);
}

struct ker_event *ker_inner_event(struct ker_engine *e, ker_time time, uint32_t component, uint16_t port,
                                  uint8_t channel)
{
    if (__builtin_expect(e->inner_chunk == 0 || e->inner_used == WHEEL_CHUNK_EVENTS, 0))
        return chunk_event(e, time, component, port, channel);
    struct ker_event *event =
        (struct ker_event *)(void *)(wheel_chunk(&e->wheel, e->inner_chunk) + 64) + e->inner_used++;
    struct ker_item item = {inner_offset(e, time), item_rank(KER_ARRIVAL, port, channel),
                            record_reference(e, event)};
    if (!e->private->whole)
        return cell_event(e, component, item);
    item.key |= component;
    return engine_whole_put(e, item) ? event : engine_whole_heap(e, item);
}

void ker_inner_note(struct ker_engine *e, ker_time time, uint32_t component, enum ker_record_kind kind,
                    uint16_t port, uint8_t channel, uint32_t amount)
{
    struct ker_item item = {inner_offset(e, time), item_rank(kind, port, channel), amount};
    if (!e->private->whole) {
        cell_put(e, component, item);
        return;
    }
    item.key |= component;
    if (!engine_whole_put(e, item))
        engine_whole_heap(e, item);
}

/* ---- one item ---- */

/* With a note's amount in place of where it lies. */
static inline struct ker_item item_valued(const struct ker_engine *e, struct ker_item item, bool inner)
{
    if (!inner && item.rank >> 28 != KER_ARRIVAL)
        item.reference = ((struct wheel_note *)record_at(e, item.reference))->amount;
    return item;
}

/* ---- fetching ahead ---- */

/* The item's record, and what it needs of its component. */
static inline void component_fetch(const struct ker_engine *e, const struct ker_component *c,
                                   struct ker_item item)
{
    const char *state = c->state;
    const struct ker_class *class = c->class;
    __builtin_prefetch(record_at(e, item.reference));
    __builtin_prefetch(state, 1);
    __builtin_prefetch(state + 64, 1);
    if (class->port_stride) {
        const char *port =
            state + class->head_bytes + (size_t)((item.rank >> 8) & 0xffff) * class->port_stride;
        __builtin_prefetch(port, 1);
        __builtin_prefetch(port + (item.rank >> 28 == KER_ARRIVAL ? 40 : 64), 1);
    } else {
        for (uint32_t at = 128; at < class->head_bytes; at += 64)
            __builtin_prefetch(state + at, 1);
    }
}

/* ---- the items of one block ---- */

INLINE const struct ker_component *item_component(const struct block *b, bool plain, uint64_t key)
{
    uint32_t place = (uint32_t)(key >> ITEM_PLACE);
    return &b->component[plain ? place : cell_at(b->private, place, b->mask) + (uint32_t)(key & 0xffff)];
}

/* The next item, of the block's or of the running cell's own; false: there is none. Those of the block end
 * with one that is behind all. */
static inline bool item_next(struct ker_engine *e, const struct ker_item **at, const struct ker_item *end,
                             struct ker_item *item)
{
    if (__builtin_expect(e->inner_count != 0, 0) && item_before(e->inner[e->inner_count - 1], **at)) {
        *item = e->inner[--e->inner_count];
        return true;
    }
    *item = **at;
    *at += *at != end;
    return false;
}

static inline bool instant_goes_on(const struct ker_engine *e, const struct ker_item *at, uint64_t key)
{
    return at->key == key ||
           (__builtin_expect(e->inner_count != 0, 0) && e->inner[e->inner_count - 1].key == key);
}

/* One instant of a component that has more than one record. Returns the next item of the block. */
static const struct ker_item *instant_run(struct ker_engine *e, const struct ker_component *c,
                                          const struct ker_item *at, const struct ker_item *end,
                                          const struct ker_item *first, bool inner)
{
    struct ker_item item = *first;
    ker_time now = e->window_start + (ker_time)(uint32_t)(item.key >> 16);
    item_handle(e, c, item, now, inner, false);
    while (instant_goes_on(e, at, item.key)) {
        struct ker_item before = item;
        bool before_inner = inner;
        inner = item_next(e, &at, end, &item);
        item_repeat_check(c, item_valued(e, before, before_inner), item_valued(e, item, inner));
        item_handle(e, c, item, now, inner, false);
    }
    c->class->act(c->state, e, now);
    return at;
}

/* Handles the first of what the running cell has posted to itself. */
__attribute__((noinline)) static const struct ker_item *
inner_run(struct ker_engine *e, const struct block *b, const struct ker_item *at, const struct ker_item *end)
{
    struct ker_item item = e->inner[--e->inner_count];
    const struct ker_component *c = item_component(b, b->plain, item.key);
    e->running = item.key;
    if (instant_goes_on(e, at, item.key))
        return instant_run(e, c, at, end, &item, true);
    item_handle(e, c, item, e->window_start + (ker_time)(uint32_t)(item.key >> 16), true, true);
    return at;
}

INLINE void item_fetch(const struct ker_engine *e, const struct block *b, bool plain, struct ker_item item)
{
    component_fetch(e, item_component(b, plain, item.key), item);
}

INLINE void item_prepare(const struct ker_engine *e, const struct block *b, bool plain, struct ker_item item)
{
    if (item.rank >> 28 == KER_ARRIVAL) {
        if (!b->early)
            event_prepare(item_component(b, plain, item.key), record_at(e, item.reference));
    } else if (b->foresees) {
        const struct ker_component *c = item_component(b, plain, item.key);
        if (c->class->foresee)
            c->class->foresee(c->class, c->state);
    }
}

/* Where fetching and preparing ends, for the item that is handled. */
struct ahead {
    const struct ker_item *fetch_end, *prepare_end;
};

static struct ahead ahead_begin(const struct ker_engine *e, const struct block *b, bool plain)
{
    const struct ker_item *item = b->private->item;
    uint32_t fetch = b->total < FETCH_AHEAD ? b->total : FETCH_AHEAD, prepare = PREPARE_AHEAD;
    prepare = b->early && !b->foresees ? 0 : b->total < prepare ? b->total : prepare;
    for (uint32_t i = 0; i < fetch; i++)
        item_fetch(e, b, plain, item[i]);
    for (uint32_t i = 0; i < prepare; i++)
        item_prepare(e, b, plain, item[i]);
    return (struct ahead){item + b->total - fetch, prepare ? item + b->total - prepare : item};
}

INLINE void ahead_go(const struct ker_engine *e, const struct block *b, bool plain, const struct ker_item *at,
                     struct ahead ahead)
{
    if (at < ahead.fetch_end)
        item_fetch(e, b, plain, at[FETCH_AHEAD]);
    if (at < ahead.prepare_end)
        item_prepare(e, b, plain, at[PREPARE_AHEAD]);
}

INLINE void items_run(struct ker_engine *e, const struct block *of, bool plain)
{
    const struct block b = *of; /* in registers: what is called cannot change it */
    const struct ker_item *at = b.private->item, *end = at + b.total;
    const struct ahead ahead = ahead_begin(e, &b, plain);
    while (at != end) {
        const struct ker_item *next;
        if (__builtin_expect(e->inner_count != 0, 0) && item_before(e->inner[e->inner_count - 1], *at)) {
            next = inner_run(e, &b, at, end);
        } else {
            const struct ker_component *c = item_component(&b, plain, at->key);
            e->running = at->key;
            if (__builtin_expect(!instant_goes_on(e, at + 1, at->key), 1)) {
                item_handle(e, c, *at, e->window_start + (ker_time)(uint32_t)(at->key >> 16), false, true);
                ahead_go(e, &b, plain, at++, ahead);
                continue;
            }
            next = instant_run(e, c, at + 1, end, at, false);
        }
        for (; at != next; at++) /* what is handled already may be prepared, too */
            ahead_go(e, &b, plain, at, ahead);
    }
    while (e->inner_count)
        inner_run(e, &b, end, end);
    if (e->inner_chunk) {
        bucket_free(e, e->inner_chunk);
        e->inner_chunk = 0;
    }
}

/* The one record of a block has been handled: what comes of it inside the window. */
static void lone_rest(struct ker_engine *e, struct block *b)
{
    if (e->inner_count) {
        engine_block_empty(e, b);
        items_run(e, b, true);
    } else if (e->inner_chunk) {
        bucket_free(e, e->inner_chunk);
        e->inner_chunk = 0;
    }
}

/* The one record of a block. Where little happens most blocks have no more, and nothing can be fetched ahead.
 */
static void lone_run(struct ker_engine *e, struct block *b, struct ker_item item)
{
    const struct ker_component *c = item_component(b, true, item.key);
    if (item.rank >> 28 == KER_ARRIVAL)
        event_prepare(c, record_at(e, item.reference));
    e->running = item.key;
    item_handle(e, c, item, e->window_start + (ker_time)(uint32_t)(item.key >> 16), false, true);
    e->counts.cells++;
    e->counts.records++;
    if (__builtin_expect(e->inner_count != 0 || e->inner_chunk, 0))
        lone_rest(e, b);
}

static void block_run(struct ker_engine *e, const struct wheel_bucket *bucket, uint32_t block)
{
    const struct engine_private *p = e->private;
    struct block b = {
        e->private, e->component + ((size_t)block << p->block_shift), .mask = (1u << p->block_shift) - 1,
        .plain = p->setup.largest_cell == 1 && p->setup.order == KER_ORDER_FORWARD, .foresees = p->foresees};
    struct ker_item item;
    if (b.plain && engine_block_lone(e, bucket, &b, &item)) {
        lone_run(e, &b, item);
        wheel_chunk_free(&e->wheel, bucket->events | bucket->notes); /* it has one chunk */
        return;
    }
    engine_block_gather(e, bucket, &b);
    if (b.plain)
        items_run(e, &b, true);
    else
        items_run(e, &b, false);
    e->counts.records += b.total;
    e->counts.cells += b.cells;
    bucket_free(e, bucket->events);
    bucket_free(e, bucket->notes);
}

/* ---- the window ---- */

static uint32_t slot_at(const struct wheel *w, uint32_t window)
{
    return (uint32_t)(w->base_slot + window) & (w->slots - 1);
}

/* While a block runs: where the records of the next one go on, and where those of the one behind it begin. */
static void buckets_fetch(const struct ker_engine *e, uint32_t slot, uint32_t next, uint32_t then)
{
    const struct wheel *w = &e->wheel;
    const struct wheel_bucket *bucket = &w->bucket[(size_t)slot * w->blocks];
    chunk_fetch(w, bucket[then].events);
    chunk_fetch(w, bucket[then].notes);
    if (bucket[next].events) {
        chunk_fetch(w, wheel_head(w, bucket[next].events)->next);
        chunk_fetch(w, wheel_head(w, bucket[next].events)->then);
    }
}

static void bucket_run(struct ker_engine *e, uint32_t slot, uint32_t block)
{
    struct wheel_bucket *at = &e->wheel.bucket[(size_t)slot * e->wheel.blocks + block], bucket = *at;
    *at = (struct wheel_bucket){0};
    block_run(e, &bucket, block);
}

/* All blocks of the first slot. */
static void window_run(struct ker_engine *e)
{
    struct wheel *w = &e->wheel;
    uint32_t s = slot_at(w, 0);
    w->busy[s >> 6] &= ~(1ull << (s & 63));
    uint64_t *blocks = &w->busy_block[(size_t)s * w->block_words];
    if (w->blocks == 1) { /* a small system */
        *blocks = 0;
        bucket_run(e, s, 0);
        return;
    }
    bool backward = e->private->setup.order == KER_ORDER_BACKWARD;
    for (uint32_t k = 0; k < w->block_words; k++) {
        uint32_t word = backward ? w->block_words - 1 - k : k;
        uint64_t bits = blocks[word];
        blocks[word] = 0;
        while (bits) {
            uint32_t bit = (uint32_t)(backward ? 63 - __builtin_clzll(bits) : __builtin_ctzll(bits));
            bits &= ~(1ull << bit);
            uint64_t then = bits & (bits - 1);
            if (w->block_words > 1 && then && !backward) /* a smaller system's are in a cache */
                buckets_fetch(e, s, word * 64 + (uint32_t)__builtin_ctzll(bits),
                              word * 64 + (uint32_t)__builtin_ctzll(then));
            bucket_run(e, s, word * 64 + bit);
        }
    }
}

static bool block_take(struct wheel *w, uint32_t slot, uint32_t block)
{
    uint64_t *word = &w->busy_block[(size_t)slot * w->block_words + block / 64], bit = 1ull << block % 64;
    bool busy = *word & bit;
    *word &= ~bit;
    return busy;
}

/* One window of a tile. */
static void tile_window_run(struct ker_engine *e, uint32_t slot, uint32_t tile)
{
    const struct tiles *t = &e->private->tiles;
    bool backward = e->private->setup.order == KER_ORDER_BACKWARD;
    uint32_t first = t->first[tile], count = t->first[tile + 1] - first;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = t->block[first + (backward ? count - 1 - i : i)];
        if (i + 2 < count && !backward)
            buckets_fetch(e, slot, t->block[first + i + 1], t->block[first + i + 2]);
        if (block_take(&e->wheel, slot, block))
            bucket_run(e, slot, block);
    }
}

/* What is left in a slot that has been handled is not due: it lies behind a boundary that cut the window. */
static void slot_leave(struct wheel *w, uint32_t slot, bool cut)
{
    uint64_t left = 0;
    for (uint32_t k = 0; k < w->block_words; k++)
        left |= w->busy_block[(size_t)slot * w->block_words + k];
    ker_assert(cut || !left);
    if (!left)
        w->busy[slot >> 6] &= ~(1ull << (slot & 63));
}

static void window_set(struct ker_engine *e, uint32_t window, ker_time end)
{
    e->window_start = e->wheel.base + window * e->wheel.grid;
    e->window_end = ker_time_min(e->window_start + e->wheel.grid, end);
}

/* This many windows, the last of which may end early, tile by tile. */
static void tiles_run(struct ker_engine *e, uint32_t windows, ker_time end)
{
    const struct tiles *t = &e->private->tiles;
    bool backward = e->private->setup.order == KER_ORDER_BACKWARD;
    for (uint32_t i = 0; i < t->count; i++)
        for (uint32_t k = 0; k < windows; k++) {
            window_set(e, k, end);
            tile_window_run(e, slot_at(&e->wheel, k), backward ? t->count - 1 - i : i);
        }
    for (uint32_t k = 0; k < windows; k++)
        slot_leave(&e->wheel, slot_at(&e->wheel, k), end < e->wheel.base + (k + 1) * e->wheel.grid);
}

/* The tiles of a row so far ahead as they may be, in a wave. The slots keep what has to wait. */
static void wave_run(struct ker_engine *e, uint32_t windows)
{
    const struct tiles *t = &e->private->tiles;
    for (uint32_t s = 0; s < t->count + windows - 1; s++)
        for (uint32_t k = s < t->count ? 0 : s - t->count + 1; k < windows && k <= s; k++)
            if (k <= t->depth[s - k]) {
                window_set(e, k, KER_TIME_MAX);
                tile_window_run(e, slot_at(&e->wheel, k), s - k);
            }
    for (uint32_t k = 0; k < windows; k++)
        slot_leave(&e->wheel, slot_at(&e->wheel, k), k > 0);
}

/* Records of a window since this was last asked. */
static uint64_t window_records(struct ker_engine *e, ker_time start)
{
    struct engine_private *p = e->private;
    uint64_t windows = (uint64_t)((start - p->waves.time) / e->wheel.grid),
             records = e->counts.records - p->waves.records;
    p->waves.time = start;
    p->waves.records = e->counts.records;
    return windows ? records / windows : 0;
}

/* Is a wave to begin here? All ranks begin theirs at the same time, so that none waits for another's. */
static uint32_t wave_windows(struct ker_engine *e, ker_time start, ker_time boundary)
{
    const struct engine_private *p = e->private;
    const struct wheel *w = &e->wheel;
    if (start < p->ahead || (p->into != KER_TIME_MAX && w->base_slot % p->tiles.windows != 0) ||
        window_records(e, start) < p->tiles.least || !tiles_pay(&p->tiles, w, slot_at(w, 0)))
        return 0;
    return (uint32_t)ker_time_min(p->tiles.windows, (boundary - start) / w->grid);
}

/* This many windows may be run at once. */
static uint32_t windows_count(const struct ker_engine *e, ker_time start, ker_time limit, ker_time boundary)
{
    const struct engine_private *p = e->private;
    const struct wheel *w = &e->wheel;
    if (p->span && p->thin)
        return p->span;
    if (p->tiles.count == 0 || p->tiles.depth || !tiles_pay(&p->tiles, w, slot_at(w, 0)))
        return 1;
    ker_time windows = ker_time_min(p->tiles.windows, (limit - start) / w->grid);
    return (uint32_t)ker_time_min(windows, (boundary - start - 1) / w->grid + 1);
}

void engine_windows_run(struct ker_engine *e, ker_time start, ker_time limit, ker_time boundary)
{
    struct engine_private *p = e->private;
    struct wheel *w = &e->wheel;
    wheel_advance(w, start);
    e->handled = start;
    uint64_t before = e->counts.records;
    uint32_t windows = windows_count(e, start, limit, boundary),
             wave = p->tiles.depth ? wave_windows(e, start, boundary) : 0;
    ker_time end = ker_time_min(start + windows * w->grid, boundary);
    window_set(e, 0, end);
    p->whole = p->span && p->thin;
    if (p->whole) {
        e->window_end = end;
        engine_whole_run(e);
    } else if (windows > 1) {
        tiles_run(e, windows, end);
    } else if (wave > 1) {
        wave_run(e, wave);
        p->ahead = start + wave * w->grid;
    } else {
        window_run(e);
    }
    p->thin =
        start >= p->ahead && (ker_time)(e->counts.records - before) * w->grid / THIN <= end - p->done_until;
    e->counts.windows += p->whole ? 1 : windows;
    p->done_until = end;
}
