/* whole.c - where little happens on one rank: windows in which all components are one cell.
 *
 * Cell by cell, there is a window for each record or two, and it costs more than they do. So several windows
 * are run as one, in the order of (time, component, kind, port, channel): components may then post to each
 * other inside it. What they post lies in engine->inner, from 1 on: in order, the earliest last; when that
 * becomes long, a binary heap until it is empty. inner[first] is the earliest, or LAST in inner[0]. Where
 * much happens, cell by cell is faster: nothing is sorted but the few records of a cell. Items of notes hold
 * the amount, not a reference.
 */
#include "kernel/engine/block.h"

#define SPAN 64u     /* windows, as many as slots_busy can represent */
#define LIST_MOST 24 /* items */
static const struct ker_item LAST = {UINT64_MAX, UINT32_MAX, 0}; /* behind all others */

uint32_t engine_whole_span(const struct ker_engine_setup *setup, ker_time grid)
{
    if (ker_comm_size(setup->comm) > 1 || setup->order != KER_ORDER_FORWARD ||
        setup->components > UINT16_MAX || grid > UINT32_MAX / SPAN) /* as items have room for */
        return 0;
    return SPAN;
}

static inline void event_gather(struct ker_engine *e, const struct ker_event *event, uint32_t *n)
{
    struct engine_private *p = e->private;
    uint64_t offset = (uint64_t)(event->time - e->window_start);
    if (__builtin_expect(event->time < e->window_end, 1))
        p->item[(*n)++] = (struct ker_item){offset << 16 | event->component,
                                            item_rank(KER_ARRIVAL, event->port, event->channel),
                                            record_reference(e, event)};
    else
        *wheel_event(&e->wheel, event->time, event->component) = *event;
}

static inline void note_gather(struct ker_engine *e, const struct wheel_note *note, ker_time slot,
                               uint32_t *n)
{
    struct engine_private *p = e->private;
    uint64_t offset = (uint64_t)(slot - e->window_start) + note->offset;
    if (__builtin_expect(offset < (uint64_t)(e->window_end - e->window_start), 1))
        p->item[(*n)++] = (struct ker_item){offset << 16 | note->component,
                                            item_rank(note->kind, note->port, note->channel), note->amount};
    else
        wheel_note_put(&e->wheel, slot + note->offset, *note);
}

/* Takes what a bucket holds that is due. Its events lie where they are until the window is done, in chunks
 * that are linked with those of the window. */
static inline void bucket_gather(struct ker_engine *e, struct wheel_bucket *at, ker_time slot, uint32_t *n)
{
    const struct wheel_bucket bucket = *at;
    *at = (struct wheel_bucket){0};
    FOR_EVENTS(e, &bucket, event) event_gather(e, event, n);
    FOR_NOTES(e, &bucket, note) note_gather(e, note, slot, n);
    bucket_free(e, bucket.notes);
    for (uint32_t chunk = bucket.events, next; chunk; chunk = next) {
        next = wheel_head(&e->wheel, chunk)->next;
        wheel_head(&e->wheel, chunk)->next = e->private->whole_chunks;
        e->private->whole_chunks = chunk;
    }
}

/* The records of a slot that are due, in their order, behind the n items of those before. */
static uint32_t slot_gather(struct ker_engine *e, uint32_t s, ker_time slot, uint32_t n)
{
    struct engine_private *p = e->private;
    struct wheel *w = &e->wheel;
    uint32_t first = n;
    w->busy[s >> 6] &= ~(1ull << (s & 63));
    for (uint32_t k = 0; k < w->block_words; k++) {
        uint64_t *word = &w->busy_block[(size_t)s * w->block_words + k], bits = *word;
        *word = 0;
        for (; bits; bits &= bits - 1) {
            struct wheel_bucket *at =
                &w->bucket[(size_t)s * w->blocks + k * 64 + (uint32_t)__builtin_ctzll(bits)];
            uint32_t events, notes;
            bucket_sizes(e, at, &events, &notes);
            items_reserve(e, (size_t)n + events + notes);
            bucket_gather(e, at, slot, &n);
        }
    }
    if (n - first > 1)
        items_sort(p->item + first, n - first, p->spare, e->window_end - e->window_start);
    return n;
}

/* Which of the slots from the base on hold anything: one bit for each of the first 64. */
static uint64_t slots_busy(const struct wheel *w)
{
    uint32_t first = (uint32_t)w->base_slot & (w->slots - 1), bit = first & 63;
    uint64_t low = w->busy[first / 64] >> bit, high = w->busy[(first / 64 + 1) & (w->slots / 64 - 1)];
    return bit ? low | high << (64 - bit) : low;
}

/* Nothing is: there is only an item behind all. */
static void list_begin(struct ker_engine *e)
{
    e->private->first = e->inner_count = 0;
    e->private->list_most = LIST_MOST;
    e->inner[0] = LAST;
}

/* The records of the window, and an item behind all. */
static void window_gather(struct ker_engine *e)
{
    struct wheel *w = &e->wheel;
    uint32_t n = 0;
    items_reserve(e, 0);
    for (uint64_t bits = slots_busy(w); bits; bits &= bits - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(bits);
        ker_time slot = e->window_start + k * w->grid;
        if (slot >= e->window_end)
            break;
        n = slot_gather(e, (uint32_t)(w->base_slot + k) & (w->slots - 1), slot, n);
    }
    e->private->item[n] = LAST;
    KER_RESERVE(e->inner, e->inner_room, LIST_MOST + 2);
    list_begin(e);
}

/* item_before without a branch: which of two comes first is as good as random. */
static inline bool earlier(const struct ker_item *a, const struct ker_item *b)
{
    return ((unsigned __int128)a->key << 64 | a->rank) < ((unsigned __int128)b->key << 64 | b->rank);
}

static inline void heap_rise(struct ker_item *heap, uint32_t i, struct ker_item item)
{
    for (; i > 1 && earlier(&item, &heap[i / 2]); i /= 2)
        heap[i] = heap[i / 2];
    heap[i] = item;
}

struct ker_event *engine_whole_heap(struct ker_engine *e, struct ker_item item)
{
    struct engine_private *p = e->private;
    KER_RESERVE(e->inner, e->inner_room, e->inner_count + (size_t)2);
    if (p->list_most) { /* the other way round a list is a heap */
        for (uint32_t i = 1, k = e->inner_count; i < k; i++, k--) {
            struct ker_item other = e->inner[i];
            e->inner[i] = e->inner[k];
            e->inner[k] = other;
        }
        p->list_most = 0;
        p->first = 1;
    }
    heap_rise(e->inner, ++e->inner_count, item);
    return record_at(e, item.reference);
}

/* The last item takes the first one's place via a leaf, where it mostly belongs. */
static __attribute__((noinline)) void heap_drop(struct ker_engine *e)
{
    struct ker_item *heap = e->inner;
    const uint32_t n = e->inner_count--;
    uint32_t i = 1;
    for (uint32_t child = 2; child < n; child = 2 * i) {
        child += earlier(&heap[child + 1], &heap[child]); /* the last of all is no reason to look away */
        heap[i] = heap[child];
        i = child;
    }
    if (i < n)
        heap_rise(heap, i, heap[n]);
    if (n == 1)
        list_begin(e);
}

static inline const struct ker_item *inner_first(const struct ker_engine *e)
{
    return &e->inner[e->private->first];
}

/* The next item, of the window's or of what was posted since. */
static inline struct ker_item item_next(struct ker_engine *e, const struct ker_item **at)
{
    struct engine_private *p = e->private;
    struct ker_item first = *inner_first(e);
    if (!item_before(first, **at))
        return *(*at)++;
    if (__builtin_expect(p->list_most == 0, 0))
        heap_drop(e);
    else
        p->first = --e->inner_count;
    return first;
}

static inline bool instant_goes_on(const struct ker_engine *e, const struct ker_item *at, uint64_t key)
{
    return at->key == key || inner_first(e)->key == key;
}

static inline void item_run(struct ker_engine *e, const struct ker_component *c, struct ker_item item,
                            ker_time now, bool alone)
{
    e->counts.records++;
    if (item.rank >> 28 == KER_ARRIVAL)
        event_prepare(c, record_at(e, item.reference));
    item_handle(e, c, item, now, true, alone);
}

/* One instant of a component that has more than one record. */
static void instant_run(struct ker_engine *e, const struct ker_component *c, const struct ker_item **at,
                        struct ker_item item, ker_time now)
{
    item_run(e, c, item, now, false);
    do {
        struct ker_item before = item;
        item = item_next(e, at);
        item_repeat_check(c, before, item);
        item_run(e, c, item, now, false);
    } while (instant_goes_on(e, *at, item.key));
    c->class->act(c->state, e, now);
}

void engine_whole_run(struct ker_engine *e)
{
    struct engine_private *p = e->private;
    window_gather(e);
    const struct ker_item *at = p->item;
    const ker_time start = e->window_start;
    for (struct ker_item item; (item = item_next(e, &at)).key != UINT64_MAX;) {
        const struct ker_component *c = &e->component[item.key & UINT16_MAX];
        ker_time now = start + (ker_time)(item.key >> 16);
        e->running = item.key;
        if (__builtin_expect(instant_goes_on(e, at, item.key), 0))
            instant_run(e, c, &at, item, now);
        else
            item_run(e, c, item, now, true);
    }
    e->counts.cells++;
    bucket_free(e, e->inner_chunk);
    e->inner_chunk = 0;
    bucket_free(e, p->whole_chunks);
    p->whole_chunks = 0;
}
