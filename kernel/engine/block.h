/* block.h - the records of one window and block of components as items; private to kernel/engine.
 *
 * Items are ordered by (cell, time, component, kind, port, channel). A cell has a place in its block: its
 * number there, or, where cells run backward or shuffled, another.
 *
 * What every item passes through is compiled twice, by the constant `plain`: for cells of one component each
 * that run in the order of their indices, which is nearly always so, and for any. A loop over the records of
 * one cell would cost a mispredicted branch or two for each cell: there is none.
 */
#pragma once

#include "kernel/engine/items.h"

#define INLINE static inline __attribute__((always_inline))

struct block {
    struct engine_private *private;
    const struct ker_component *component; /* the first */
    uint32_t mask;                         /* of a component's place in the block */
    uint32_t total, cells;                 /* items, and of how many cells they are */
    bool plain;                            /* cells of one component, in the order of their indices */
    bool early;                            /* arrivals are prepared when they become items */
    bool foresees;                         /* notes are foreseen */
};

static inline uint32_t item_rank(unsigned kind, uint16_t port, uint8_t channel)
{
    return (uint32_t)kind << 28 | (uint32_t)port << 8 | channel;
}

static inline void *record_at(const struct ker_engine *e, uint32_t reference)
{
    return e->wheel.arena + (size_t)reference * WHEEL_UNIT;
}

static inline uint32_t reference_in(const char *arena, const void *record)
{
    return (uint32_t)((size_t)((const char *)record - arena) / WHEEL_UNIT);
}

static inline uint32_t record_reference(const struct ker_engine *e, const void *record)
{
    return reference_in(e->wheel.arena, record);
}

/* One more of what a window that is run as one posts inside itself: see whole.c. False: engine_whole_heap has
 * to take it. */
static inline bool engine_whole_put(struct ker_engine *e, struct ker_item item)
{
    struct engine_private *p = e->private;
    if (__builtin_expect(e->inner_count >= p->list_most, 0))
        return false;
    p->first = ++e->inner_count;
    struct ker_item *at = &e->inner[p->first];
    for (; item_before(at[-1], item); at--)
        *at = at[-1];
    *at = item;
    return true;
}

/* The first component of a component's cell. */
static inline uint32_t cell_of(const struct engine_private *p, uint32_t component)
{
    while (p->begins && !p->begins[component])
        component--;
    return component;
}

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

/* The place of its cell. */
INLINE uint64_t item_place(bool plain, uint32_t component, uint32_t mask, uint64_t key)
{
    return plain ? component & mask : key >> ITEM_PLACE;
}

static inline void event_prepare(const struct ker_component *c, struct ker_event *event)
{
    if (c->class->prepare)
        c->class->prepare(c->state, event);
}

/* inner: the item of a note holds its amount, not where it lies. */
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

/* Two records of one component, instant and key, notes with their amounts: arrivals must not exist (but of a
 * class that says so), timers must be identical, so that nobody can observe which comes first; all others
 * commute. */
static inline void item_repeat_check(const struct ker_component *c, struct ker_item a, struct ker_item b)
{
    if (a.rank != b.rank)
        return;
    ker_check(a.rank >> 28 != KER_ARRIVAL || c->class->repeats);
    ker_check(a.rank >> 28 != KER_TIMER || a.reference == b.reference);
}

static inline void bucket_free(struct ker_engine *e, uint32_t chunk)
{
    while (chunk) {
        uint32_t next = wheel_head(&e->wheel, chunk)->next;
        wheel_chunk_free(&e->wheel, chunk);
        chunk = next;
    }
}

static inline bool note_due(const struct ker_engine *e, const struct wheel_note *n)
{
    return n->offset < (uint64_t)(e->window_end - e->window_start);
}

/* The item of a bucket that has only one record, which is due; false: it is none. For `plain` blocks. */
static inline bool engine_block_lone(const struct ker_engine *e, const struct wheel_bucket *bucket,
                                     const struct block *b, struct ker_item *item)
{
    if (bucket->events == 0 && bucket->notes_left == WHEEL_CHUNK_NOTES - 1) {
        const struct wheel_note *note = wheel_notes(&e->wheel, bucket->notes) + WHEEL_CHUNK_NOTES;
        *item =
            (struct ker_item){item_key(b->private, true, note->component, b->mask, note->offset),
                              item_rank(note->kind, note->port, note->channel), record_reference(e, note)};
        return wheel_head(&e->wheel, bucket->notes)->next == 0 && note_due(e, note);
    }
    if (bucket->notes == 0 && bucket->events_left == WHEEL_CHUNK_EVENTS - 1) {
        const struct ker_event *event = wheel_events(&e->wheel, bucket->events) + WHEEL_CHUNK_EVENTS;
        uint64_t offset = (uint64_t)(event->time - e->window_start);
        *item = (struct ker_item){item_key(b->private, true, event->component, b->mask, offset),
                                  item_rank(KER_ARRIVAL, event->port, event->channel),
                                  record_reference(e, event)};
        return wheel_head(&e->wheel, bucket->events)->next == 0 && event->time < e->window_end;
    }
    return false;
}

/* The records of a chunk. */
static inline void chunk_fetch(const struct wheel *w, uint32_t chunk)
{
    const char *at = wheel_chunk(w, chunk);
#pragma GCC unroll 16
    for (uint32_t i = 0; i < WHEEL_CHUNK; i += 64)
        __builtin_prefetch(at + i);
}

/* The chunk behind this one of a bucket; fetches what follows. */
static inline uint32_t chunk_after(const struct wheel *w, uint32_t chunk)
{
    const struct wheel_head *head = wheel_head(w, chunk);
    chunk_fetch(w, head->then);
    return head->next;
}

/* Loops over the records of a detached bucket, whose newest chunks still have room for `left` more. */
#define FOR_EVENTS(e, bucket, event)                                                                         \
    for (uint32_t chunk_ = (bucket)->events, left_ = (bucket)->events_left; chunk_;                          \
         chunk_ = chunk_after(&(e)->wheel, chunk_), left_ = 0)                                               \
        for (struct ker_event *event = wheel_events(&(e)->wheel, chunk_) + left_ + 1,                        \
                              *end_ = event - left_ + WHEEL_CHUNK_EVENTS;                                    \
             event < end_; event++)
#define FOR_NOTES(e, bucket, note)                                                                           \
    for (uint32_t chunk_ = (bucket)->notes, left_ = (bucket)->notes_left; chunk_;                            \
         chunk_ = chunk_after(&(e)->wheel, chunk_), left_ = 0)                                               \
        for (struct wheel_note *note = wheel_notes(&(e)->wheel, chunk_) + left_ + 1,                         \
                               *end_ = note - left_ + WHEEL_CHUNK_NOTES;                                     \
             note < end_; note++)

/* Room for this many items in private->item and ->spare, for one that ends them, and for what items_rank_sort
 * writes beside. */
static inline void items_reserve(struct ker_engine *e, size_t total)
{
    struct engine_private *p = e->private;
    size_t spare_room = p->item_room;
    KER_RESERVE(p->item, p->item_room, total + ITEMS_AT_ONCE);
    KER_RESERVE(p->spare, spare_room, p->item_room);
}

/* The records of a bucket, due or not. */
static inline void bucket_sizes(const struct ker_engine *e, const struct wheel_bucket *bucket,
                                uint32_t *events, uint32_t *notes)
{
    const struct wheel *w = &e->wheel;
    *events = bucket->events ? (wheel_head(w, bucket->events)->older + 1) * WHEEL_CHUNK_EVENTS : 0;
    *notes = bucket->notes ? (wheel_head(w, bucket->notes)->older + 1) * WHEEL_CHUNK_NOTES : 0;
    *events -= bucket->events_left;
    *notes -= bucket->notes_left;
}

/* Makes items of the records of a bucket that are due: private->item, behind whose last is one that is
 * later than all. The others go back into the wheel. */
void engine_block_gather(struct ker_engine *, const struct wheel_bucket *, struct block *);
/* Makes none. */
void engine_block_empty(struct ker_engine *, struct block *);
