/* window.c - the work of one window, block by block; see engine.h.
 *
 * The records of a window and block become items, ordered by (cell, time, component, kind, port, channel):
 * brought to their cells by a counting sort, then inserted in their order; a few are inserted at once. One
 * loop runs through them, merging in what a component posts to itself inside the window, and fetches ahead of
 * itself what the items after the next ones will need. Invariant: when a window ends, everything before its
 * end has been handled, and nothing any cell posted to another cell lies before it (checked in debug builds).
 *
 * The loops are compiled twice: for cells of one component each that run in the order of their indices, which
 * is nearly always so, and for any. Loops over the records of one cell would cost a mispredicted branch or
 * two for each cell: there are none.
 */
#include "kernel/base/array.h"
#include "kernel/base/random.h"
#include "kernel/engine/items.h"

#include <stdlib.h>
#include <string.h>

#define PREPARE_AHEAD 4 /* items before they are handled */
#define FETCH_AHEAD 10
#define FEW 24 /* records of a block that are inserted, not counted */
#define INLINE static inline __attribute__((always_inline))

static inline uint32_t item_rank(unsigned kind, uint16_t port, uint8_t channel)
{
    return (uint32_t)kind << 28 | (uint32_t)port << 8 | channel;
}

static inline void *record_at(const struct ker_engine *e, uint32_t reference)
{
    return e->wheel.arena + (size_t)reference * WHEEL_UNIT;
}

static inline uint32_t record_reference(const struct ker_engine *e, const void *record)
{
    return (uint32_t)((size_t)((const char *)record - e->wheel.arena) / WHEEL_UNIT);
}

/* The first component of a component's cell. */
static inline uint32_t cell_of(const struct engine_private *p, uint32_t component)
{
    while (!p->begins[component])
        component--;
    return component;
}

/* ---- what a cell posts to itself inside the window ---- */

static void inner_put(struct ker_engine *e, struct ker_item item)
{
    KER_RESERVE(e->inner, e->inner_room, e->inner_count + (size_t)1);
    uint32_t i = e->inner_count++;
    for (; i > 0 && item_before(e->inner[i - 1], item); i--)
        e->inner[i] = e->inner[i - 1];
    e->inner[i] = item;
}

static uint64_t inner_key(const struct ker_engine *e, ker_time time, uint32_t component)
{
    ker_check(time >= e->window_start);
    return e->running >> ITEM_PLACE << ITEM_PLACE | (uint64_t)(time - e->window_start) << 16 |
           (component - cell_of(e->private, component));
}

struct ker_event *ker_inner_event(struct ker_engine *e, ker_time time, uint32_t component, uint16_t port,
                                  uint8_t channel)
{
    if (e->inner_chunk == 0 || e->inner_used == WHEEL_CHUNK_EVENTS) {
        e->inner_chunk = wheel_chunk_new(&e->wheel, e->inner_chunk);
        e->inner_used = 0;
    }
    struct ker_event *event =
        (struct ker_event *)(void *)(wheel_chunk(&e->wheel, e->inner_chunk) + 64) + e->inner_used++;
    inner_put(e, (struct ker_item){inner_key(e, time, component), item_rank(KER_ARRIVAL, port, channel),
                                   record_reference(e, event)});
    return event;
}

void ker_inner_note(struct ker_engine *e, ker_time time, uint32_t component, enum ker_record_kind kind,
                    uint16_t port, uint8_t channel, uint32_t amount)
{
    inner_put(e, (struct ker_item){inner_key(e, time, component), item_rank(kind, port, channel), amount});
}

static void bucket_free(struct ker_engine *e, uint32_t chunk)
{
    while (chunk) {
        uint32_t next = *(uint32_t *)(void *)wheel_chunk(&e->wheel, chunk);
        wheel_chunk_free(&e->wheel, chunk);
        chunk = next;
    }
}

/* ---- items: which cell's they are ---- */

/* Which of its block's cells a cell is in this window, and back. */
static inline uint32_t cell_place(const struct engine_private *p, uint32_t in_block, uint32_t mask)
{
    return (in_block ^ p->turn.flip) * p->turn.factor & mask;
}

static inline uint32_t cell_at(const struct engine_private *p, uint32_t place, uint32_t mask)
{
    return (place * p->turn.inverse & mask) ^ p->turn.flip;
}

INLINE uint64_t item_key(const struct engine_private *p, bool plain, uint32_t component, uint32_t mask,
                         uint64_t offset)
{
    if (plain)
        return (uint64_t)(component & mask) << ITEM_PLACE | offset << 16;
    uint32_t cell = cell_of(p, component);
    return (uint64_t)cell_place(p, cell & mask, mask) << ITEM_PLACE | offset << 16 | (component - cell);
}

/* The cells of a block run in any order. */
static void turn_begin(struct engine_private *p, uint32_t mask)
{
    p->turn.flip = p->setup.order == KER_ORDER_BACKWARD ? mask : 0;
    p->turn.factor = p->turn.inverse = 1;
    if (p->setup.order != KER_ORDER_SHUFFLED)
        return;
    const uint32_t *draw = ker_random_bits(p->setup.seed, KER_PURPOSE_ENGINE, 0, p->shuffles++).word;
    p->turn.flip = draw[0] & mask;
    p->turn.factor = draw[1] | 1;
    for (int i = 0; i < 5; i++) /* Newton: the inverse modulo 2, 8 and so on */
        p->turn.inverse *= 2 - p->turn.factor * p->turn.inverse;
}

/* ---- one item ---- */

INLINE void item_handle(struct ker_engine *e, const struct ker_component *c, struct ker_item item,
                        ker_time now, bool inner, bool alone)
{
    unsigned kind = item.rank >> 28;
    if (kind == KER_ARRIVAL) {
        e->counts.events++;
        (alone ? c->class->arrival_alone : c->class->arrival)(c->state, e, record_at(e, item.reference));
        return;
    }
    uint32_t amount = inner ? item.reference : ((struct wheel_note *)record_at(e, item.reference))->amount;
    e->counts.notes++;
    e->counts.wakes += kind == KER_WAKE;
    (alone ? c->class->note_alone : c->class->note)(c->state, e, now, kind, (uint16_t)(item.rank >> 8),
                                                    (uint8_t)item.rank, amount);
}

/* Two records of one component, instant and key: arrivals must not exist, timers must be identical, so that
 * nobody can tell which comes first; all others commute. */
static inline void repeat_check(const struct ker_engine *e, struct ker_item a, bool a_inner,
                                struct ker_item b, bool b_inner)
{
#ifdef KER_DEBUG
    if (a.rank != b.rank)
        return;
    uint32_t of_a = a_inner ? a.reference : ((struct wheel_note *)record_at(e, a.reference))->amount;
    uint32_t of_b = b_inner ? b.reference : ((struct wheel_note *)record_at(e, b.reference))->amount;
    ker_assert(a.rank >> 28 != KER_ARRIVAL);
    ker_assert(a.rank >> 28 != KER_TIMER || of_a == of_b);
#endif
}

/* ---- fetching ahead ---- */

/* What an item needs of its component. */
static inline void component_fetch(const struct ker_component *c, struct ker_item item)
{
    const char *state = c->state;
    const struct ker_class *class = c->class;
    __builtin_prefetch(state, 1);
    __builtin_prefetch(state + 64, 1);
    if (class->port_stride) {
        const char *port =
            state + class->head_bytes + (size_t)((item.rank >> 8) & 0xffff) * class->port_stride;
        __builtin_prefetch(port, 1);
        __builtin_prefetch(port + (item.rank >> 28 == KER_ARRIVAL ? 0 : 64), 1);
    } else {
        for (uint32_t at = 128; at < class->head_bytes; at += 64)
            __builtin_prefetch(state + at, 1);
    }
}

static inline void event_prepare(const struct ker_component *c, struct ker_event *event)
{
    if (c->class->prepare)
        c->class->prepare(c->state, event);
}

/* ---- the items of one block ---- */

struct block {
    struct engine_private *private;
    const struct ker_component *component; /* the first */
    uint32_t mask;                         /* of a component's place in the block */
    uint32_t total;                        /* items */
    bool early;                            /* arrivals are prepared when they become items */
};

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

/* One instant of a component that has more than one record. */
static void instant_run(struct ker_engine *e, const struct ker_component *c, const struct ker_item **at,
                        const struct ker_item *end, struct ker_item item, bool inner)
{
    ker_time now = e->window_start + (ker_time)(uint32_t)(item.key >> 16);
    item_handle(e, c, item, now, inner, false);
    while (instant_goes_on(e, *at, item.key)) {
        struct ker_item before = item;
        bool before_inner = inner;
        inner = item_next(e, at, end, &item);
        repeat_check(e, before, before_inner, item, inner);
        item_handle(e, c, item, now, inner, false);
    }
    c->class->act(c->state, e, now);
}

INLINE void items_run(struct ker_engine *e, const struct block *of, bool plain)
{
    const struct block b = *of; /* in registers: what is called cannot change it */
    const struct ker_item *at = b.private->item, *end = at + b.total, *fetched = at, *prepared = at,
                          *to_prepare = b.early ? at : end;
    uint64_t before = UINT64_MAX, cells = 0;
    while (at != end || e->inner_count) {
        for (; fetched < at + FETCH_AHEAD; fetched++) /* behind the end the last one is repeated */
            component_fetch(item_component(&b, plain, fetched->key), *fetched);
        for (; prepared < to_prepare && prepared < at + PREPARE_AHEAD; prepared++)
            if (prepared->rank >> 28 == KER_ARRIVAL)
                event_prepare(item_component(&b, plain, prepared->key), record_at(e, prepared->reference));
        struct ker_item item;
        bool inner = item_next(e, &at, end, &item);
        const struct ker_component *c = item_component(&b, plain, item.key);
        e->running = item.key;
        cells += (item.key ^ before) >> ITEM_PLACE != 0;
        before = item.key;
        if (__builtin_expect(instant_goes_on(e, at, item.key), 0))
            instant_run(e, c, &at, end, item, inner);
        else
            item_handle(e, c, item, e->window_start + (ker_time)(uint32_t)(item.key >> 16), inner, true);
    }
    e->counts.cells += cells;
    if (e->inner_chunk) {
        bucket_free(e, e->inner_chunk);
        e->inner_chunk = 0;
    }
}

/* ---- from records to items ---- */

static inline bool note_due(const struct ker_engine *e, const struct wheel_note *n)
{
    return n->offset < (uint64_t)(e->window_end - e->window_start);
}

/* Loops over the records of a detached bucket, whose newest chunks still have room for `left` more. */
#define FOR_EVENTS(e, bucket, event)                                                                         \
    for (uint32_t chunk_ = (bucket).events, left_ = (bucket).events_left; chunk_;                            \
         chunk_ = *(uint32_t *)(void *)wheel_chunk(&(e)->wheel, chunk_), left_ = 0)                          \
        for (struct ker_event *end_ =                                                                        \
                 (struct ker_event *)(void *)(wheel_chunk(&(e)->wheel, chunk_) + WHEEL_CHUNK) - left_,       \
                              *event = end_ + left_ - WHEEL_CHUNK_EVENTS;                                    \
             event < end_; event++)
#define FOR_NOTES(e, bucket, note)                                                                           \
    for (uint32_t chunk_ = (bucket).notes, left_ = (bucket).notes_left; chunk_;                              \
         chunk_ = *(uint32_t *)(void *)wheel_chunk(&(e)->wheel, chunk_), left_ = 0)                          \
        for (struct wheel_note *end_ =                                                                       \
                 (struct wheel_note *)(void *)(wheel_chunk(&(e)->wheel, chunk_) + WHEEL_CHUNK) - left_,      \
                               *note = end_ + left_ - WHEEL_CHUNK_NOTES;                                     \
             note < end_; note++)

/* Counts the items of each cell. */
INLINE void block_count(struct ker_engine *e, struct wheel_bucket bucket, struct block *b, bool plain)
{
    struct engine_private *p = e->private;
    memset(p->count, 0, sizeof *p->count * (b->mask + 1));
    FOR_EVENTS(e, bucket, event)
    {
        __builtin_prefetch(event + 10);
        if (b->early)
            __builtin_prefetch(e->component[event->component].state);
        p->count[item_key(p, plain, event->component, b->mask, 0) >> ITEM_PLACE] +=
            event->time < e->window_end;
    }
    FOR_NOTES(e, bucket, note)
    {
        p->count[item_key(p, plain, note->component, b->mask, 0) >> ITEM_PLACE] += note_due(e, note);
    }
}

/* Turns counts into starts. Returns the largest count. */
static uint32_t block_starts(struct engine_private *p, struct block *b)
{
    uint32_t at = 0, most = 0;
    for (uint32_t c = 0; c <= b->mask; c += 8) {
        uint64_t pair[4];
        memcpy(pair, &p->count[c], sizeof pair);
        if (!(pair[0] | pair[1] | pair[2] | pair[3]))
            continue;
        for (uint32_t i = c; i < c + 8; i++) {
            uint32_t n = p->count[i];
            p->count[i] = at;
            at += n;
            most = n > most ? n : most;
        }
    }
    b->total = at;
    return most;
}

/* Items of which the place is known from counting, or (few) that are not yet. */
INLINE void item_add(struct engine_private *p, struct block *b, bool few, uint64_t key, uint32_t rank,
                     uint32_t reference)
{
    uint32_t at = few ? b->total++ : p->count[key >> ITEM_PLACE]++;
    p->item[at] = (struct ker_item){key, rank, reference};
}

INLINE void block_scatter(struct ker_engine *e, struct wheel_bucket bucket, struct block *b, bool plain,
                          bool few)
{
    struct engine_private *p = e->private;
    FOR_EVENTS(e, bucket, event)
    {
        if (__builtin_expect(event->time >= e->window_end, 0)) {
            *wheel_event(&e->wheel, event->time, event->component) = *event;
            continue;
        }
        item_add(p, b, few,
                 item_key(p, plain, event->component, b->mask, (uint64_t)(event->time - e->window_start)),
                 item_rank(KER_ARRIVAL, event->port, event->channel), record_reference(e, event));
        if (b->early)
            event_prepare(&e->component[event->component], event);
    }
    FOR_NOTES(e, bucket, note)
    {
        if (__builtin_expect(note_due(e, note), 1))
            item_add(p, b, few, item_key(p, plain, note->component, b->mask, note->offset),
                     item_rank(note->kind, note->port, note->channel), record_reference(e, note));
        else
            wheel_note_put(&e->wheel, e->window_start + note->offset, *note);
    }
}

/* And those behind the end. */
static void items_reserve(struct ker_engine *e, size_t total)
{
    struct engine_private *p = e->private;
    size_t spare_room = p->item_room;
    KER_RESERVE(p->item, p->item_room, total + FETCH_AHEAD);
    KER_RESERVE(p->spare, spare_room, p->item_room);
}

/* At most so many records; more than FEW: perhaps some more. */
static uint32_t bucket_most(const struct ker_engine *e, struct wheel_bucket bucket)
{
    uint32_t n = 0;
    if (bucket.events)
        n += *(uint32_t *)(void *)wheel_chunk(&e->wheel, bucket.events)
                 ? FEW + 1u
                 : WHEEL_CHUNK_EVENTS - bucket.events_left;
    if (bucket.notes)
        n += *(uint32_t *)(void *)wheel_chunk(&e->wheel, bucket.notes)
                 ? FEW + 1u
                 : WHEEL_CHUNK_NOTES - bucket.notes_left;
    return n;
}

/* Puts the counted items into order; they stand with their cells. */
static void cells_sort(struct engine_private *p, const struct block *b, uint32_t most, ker_time window)
{
    if (most <= ITEMS_INSERTED) {
        items_insertion_sort(p->item, b->total);
        return;
    }
    for (uint32_t at = 0, c = 0; at < b->total;
         c++) { /* a count is now the end of its cell, if it has items */
        uint32_t n = p->count[c] > at ? p->count[c] - at : 0;
        items_sort(p->item + at, n, p->spare, window);
        at += n;
    }
}

/* Where notes are many, whether an item is an arrival is close to random, and is not asked once more. */
static bool notes_many(const struct ker_engine *e, struct wheel_bucket bucket)
{
    uint32_t events = 0, notes = 0;
    for (uint32_t chunk = bucket.events; chunk; chunk = *(uint32_t *)(void *)wheel_chunk(&e->wheel, chunk))
        events += WHEEL_CHUNK_EVENTS;
    for (uint32_t chunk = bucket.notes; chunk; chunk = *(uint32_t *)(void *)wheel_chunk(&e->wheel, chunk))
        notes += WHEEL_CHUNK_NOTES;
    return 4 * (notes - bucket.notes_left) > events - bucket.events_left;
}

INLINE void block_gather(struct ker_engine *e, struct wheel_bucket bucket, struct block *b, bool plain)
{
    struct engine_private *p = e->private;
    b->early = notes_many(e, bucket);
    if (bucket_most(e, bucket) <= FEW) {
        items_reserve(e, FEW);
        block_scatter(e, bucket, b, plain, true);
        items_insertion_sort(p->item, b->total);
    } else {
        block_count(e, bucket, b, plain);
        uint32_t most = block_starts(p, b);
        items_reserve(e, b->total);
        block_scatter(e, bucket, b, plain, false);
        cells_sort(p, b, most, e->window_end - e->window_start);
    }
    struct ker_item *end = p->item + b->total;
    for (int i = 0; i < FETCH_AHEAD && b->total; i++)
        end[i] = end[-1];
    end->key |= 0xffffffffull << 16; /* later than anything in the window */
}

static void block_run_plain(struct ker_engine *e, struct wheel_bucket bucket, struct block *b)
{
    block_gather(e, bucket, b, true);
    items_run(e, b, true);
}

static void block_run_any(struct ker_engine *e, struct wheel_bucket bucket, struct block *b)
{
    turn_begin(e->private, b->mask);
    block_gather(e, bucket, b, false);
    items_run(e, b, false);
}

static void block_run(struct ker_engine *e, struct wheel_bucket bucket, uint32_t block)
{
    const struct engine_private *p = e->private;
    struct block b = {e->private, e->component + ((size_t)block << p->block_shift),
                      .mask = (1u << p->block_shift) - 1};
    if (p->setup.largest_cell == 1 && p->setup.order == KER_ORDER_FORWARD)
        block_run_plain(e, bucket, &b);
    else
        block_run_any(e, bucket, &b);
    e->counts.records += b.total;
    bucket_free(e, bucket.events);
    bucket_free(e, bucket.notes);
}

/* ---- the window ---- */

void engine_window_run(struct ker_engine *e, ker_time start, ker_time end)
{
    struct wheel *w = &e->wheel;
    wheel_advance(w, start);
    e->window_start = start;
    e->window_end = end;
    uint32_t s = (uint32_t)w->base_slot & (w->slots - 1);
    w->busy[s >> 6] &= ~(1ull << (s & 63));
    uint64_t *blocks = &w->busy_block[(size_t)s * w->block_words];
    bool backward = e->private->setup.order == KER_ORDER_BACKWARD;
    for (uint32_t k = 0; k < w->block_words; k++) {
        uint32_t word = backward ? w->block_words - 1 - k : k;
        uint64_t bits = blocks[word];
        blocks[word] = 0;
        while (bits) {
            uint32_t bit = (uint32_t)(backward ? 63 - __builtin_clzll(bits) : __builtin_ctzll(bits));
            bits &= ~(1ull << bit);
            uint32_t block = word * 64 + bit;
            struct wheel_bucket bucket = w->bucket[(size_t)s * w->blocks + block];
            w->bucket[(size_t)s * w->blocks + block] = (struct wheel_bucket){0};
            block_run(e, bucket, block);
        }
    }
    e->counts.windows++;
    e->private->done_until = end;
}
