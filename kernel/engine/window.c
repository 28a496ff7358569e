/* window.c - the work of one window, cell by cell; see engine.h.
 *
 * A window's records of one block are brought to their cells by a counting sort on the component, each cell's
 * share is ordered by insertion on (time, component, kind, port, channel), and the cell runs through it,
 * merging in what it posts to itself inside the window. Invariant: when a window ends, everything before its
 * end has been handled, and nothing any cell posted to another cell lies before it (checked in debug builds).
 */
#include "kernel/base/array.h"
#include "kernel/base/random.h"
#include "kernel/engine/items.h"

#include <stdlib.h>
#include <string.h>

#define PREPARE_AHEAD 1
#define FEW 24 /* records of a block that are inserted, not counted */

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
    ker_check(time >= e->window_start && component >= e->cell_first);
    return (uint64_t)(time - e->window_start) << 16 | (component - e->cell_first);
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

/* ---- one cell ---- */

static void bucket_free(struct ker_engine *e, uint32_t chunk)
{
    while (chunk) {
        uint32_t next = *(uint32_t *)(void *)wheel_chunk(&e->wheel, chunk);
        wheel_chunk_free(&e->wheel, chunk);
        chunk = next;
    }
}

static inline void item_handle(struct ker_engine *e, const struct ker_component *c, struct ker_item item,
                               ker_time now, bool inner)
{
    unsigned kind = item.rank >> 28;
    if (kind == KER_ARRIVAL) {
        e->counts.events++;
        c->class->arrival(c->state, e, record_at(e, item.reference));
        return;
    }
    uint32_t amount = inner ? item.reference : ((struct wheel_note *)record_at(e, item.reference))->amount;
    e->counts.notes++;
    e->counts.wakes += kind == KER_WAKE;
    c->class->note(c->state, e, now, kind, (uint16_t)(item.rank >> 8), (uint8_t)item.rank, amount);
}

static inline void item_alone(struct ker_engine *e, const struct ker_component *c, struct ker_item item,
                              ker_time now, bool inner)
{
    unsigned kind = item.rank >> 28;
    if (kind == KER_ARRIVAL) {
        e->counts.events++;
        c->class->arrival_alone(c->state, e, record_at(e, item.reference));
        return;
    }
    uint32_t amount = inner ? item.reference : ((struct wheel_note *)record_at(e, item.reference))->amount;
    e->counts.notes++;
    e->counts.wakes += kind == KER_WAKE;
    c->class->note_alone(c->state, e, now, kind, (uint16_t)(item.rank >> 8), (uint8_t)item.rank, amount);
}

/* The next item of the running cell, from the window's or from its own. */
static inline bool cell_next(struct ker_engine *e, const struct ker_item **at, const struct ker_item *end,
                             struct ker_item *item, bool *inner)
{
    if (__builtin_expect(e->inner_count == 0, 1)) {
        *inner = false;
        if (*at == end)
            return false;
        *item = *(*at)++;
        return true;
    }
    struct ker_item top = e->inner[e->inner_count - 1];
    *inner = *at == end || item_before(top, **at);
    if (*inner) {
        *item = top;
        e->inner_count--;
    } else {
        *item = *(*at)++;
    }
    return true;
}

static inline bool cell_goes_on(const struct ker_engine *e, const struct ker_item *at,
                                const struct ker_item *end, uint64_t key)
{
    return (at != end && at->key == key) || (e->inner_count && e->inner[e->inner_count - 1].key == key);
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

/* Runs one cell through its items of the window and what it adds to them. */
static void cell_run(struct ker_engine *e, uint32_t first, const struct ker_item *at, uint32_t n)
{
    const struct ker_item *end = at + n;
    struct ker_item item;
    bool inner;
    e->cell_first = first;
    while (cell_next(e, &at, end, &item, &inner)) {
        const struct ker_component *c = &e->component[first + (item.key & 0xffff)];
        ker_time now = e->window_start + (ker_time)(item.key >> 16);
        if (!cell_goes_on(e, at, end, item.key)) {
            item_alone(e, c, item, now, inner);
            continue;
        }
        uint64_t key = item.key;
        item_handle(e, c, item, now, inner);
        while (cell_goes_on(e, at, end, key)) {
            struct ker_item before = item;
            bool before_inner = inner;
            cell_next(e, &at, end, &item, &inner);
            repeat_check(e, before, before_inner, item, inner);
            item_handle(e, c, item, now, inner);
        }
        c->class->act(c->state, e, now);
    }
    if (e->inner_chunk) {
        bucket_free(e, e->inner_chunk);
        e->inner_chunk = 0;
    }
}

/* ---- one block of one window ---- */

/* Of many items the place is known from counting; of few, each is inserted behind those of components up to
 * its own, and carries its component's place in the block. */
static inline void item_add(struct engine_private *p, bool few, uint32_t in_block, uint64_t offset,
                            uint32_t rank, uint32_t reference)
{
    if (!few) {
        p->item[p->count[in_block]++] = (struct ker_item){offset << 16, rank, reference};
        return;
    }
    uint32_t i = p->few++;
    for (; i > 0 && (p->item[i - 1].key & 0xffff) > in_block; i--)
        p->item[i] = p->item[i - 1];
    p->item[i] = (struct ker_item){offset << 16 | in_block, rank, reference};
}

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

static uint32_t block_count(struct ker_engine *e, struct wheel_bucket bucket, uint32_t mask)
{
    struct engine_private *p = e->private;
    uint32_t total = 0;
    memset(p->count, 0, sizeof *p->count * (mask + 2));
    FOR_EVENTS(e, bucket, event)
    {
        bool due = event->time < e->window_end;
        __builtin_prefetch(event + 10);
        p->count[event->component & mask] += due;
        total += due;
    }
    FOR_NOTES(e, bucket, note)
    {
        bool due = note_due(e, note);
        p->count[note->component & mask] += due;
        total += due;
    }
    return total;
}

static inline void block_scatter(struct ker_engine *e, struct wheel_bucket bucket, uint32_t mask, bool few)
{
    struct engine_private *p = e->private;
    FOR_EVENTS(e, bucket, event)
    {
        if (event->time < e->window_end)
            item_add(p, few, event->component & mask, (uint64_t)(event->time - e->window_start),
                     item_rank(KER_ARRIVAL, event->port, event->channel), record_reference(e, event));
        else
            *wheel_event(&e->wheel, event->time, event->component) = *event;
    }
    FOR_NOTES(e, bucket, note)
    {
        if (note_due(e, note))
            item_add(p, few, note->component & mask, note->offset,
                     item_rank(note->kind, note->port, note->channel), record_reference(e, note));
        else
            wheel_note_put(&e->wheel, e->window_start + note->offset, *note);
    }
}

/* n more items, from place `at` on, of a component: of the last active cell, or of a new one. Returns the
 * component's cell. */
static inline uint32_t cell_extend(struct engine_private *p, uint32_t *cells, uint32_t component, uint32_t at,
                                   uint32_t n)
{
    uint32_t cell = component;
    while (!p->begins[cell])
        cell--;
    if (*cells && p->active[*cells - 1].first == cell)
        p->active[*cells - 1].count += n;
    else
        p->active[(*cells)++] = (struct active_cell){cell, at, n};
    return cell;
}

static inline bool eight_empty(const uint32_t *count)
{
    uint64_t pair[4];
    memcpy(pair, count, sizeof pair);
    return !(pair[0] | pair[1] | pair[2] | pair[3]);
}

/* Turns counts into starts; afterwards count[c] is the end of c's items, if there are any. Returns the active
 * cells. */
static uint32_t block_cells(struct engine_private *p, uint32_t first, uint32_t mask)
{
    uint32_t at = 0, cells = 0;
    for (uint32_t c = 0; c <= mask; c++) {
        if (c % 8 == 0 && eight_empty(&p->count[c])) {
            c += 7;
            continue;
        }
        uint32_t n = p->count[c];
        if (!n)
            continue;
        cell_extend(p, &cells, first + c, at, n);
        p->count[c] = at;
        at += n;
    }
    return cells;
}

/* The same for few items, which stand in their order. */
static uint32_t few_cells(struct engine_private *p, uint32_t first)
{
    uint32_t cells = 0;
    for (uint32_t i = 0; i < p->few; i++) {
        uint32_t in_block = p->item[i].key & 0xffff;
        uint32_t cell = cell_extend(p, &cells, first + in_block, i, 1);
        p->item[i].key -= cell - first; /* now the place in the cell */
    }
    return cells;
}

/* Items of one cell carry their component's place in the cell. */
static void cell_label(struct engine_private *p, const struct active_cell *cell, uint32_t mask)
{
    uint32_t in_block = cell->first & mask, at = cell->begin;
    for (uint32_t c = 0; at < cell->begin + cell->count; c++)
        for (; at < p->count[in_block + c]; at++)
            p->item[at].key |= c;
}

static inline void state_prefetch(const struct ker_component *c)
{
    const struct ker_class *class = c->class;
    uint32_t bytes = class->small_bytes ? class->small_bytes : class->head_bytes;
    for (uint32_t at = 0; at < bytes; at += 64)
        __builtin_prefetch((const char *)c->state + at);
}

/* Items of a cell stand by component, not yet by time. */
static inline void cell_prefetch(const struct ker_engine *e, const struct active_cell *a)
{
    const struct ker_item *item = e->private->item + a->begin;
    uint32_t last = UINT32_MAX;
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t index = a->first + (uint32_t)(item[i].key & 0xffff);
        const struct ker_component *c = &e->component[index];
        if (index != last)
            state_prefetch(c);
        last = index;
        if (c->class->small_bytes || !c->class->port_stride)
            continue;
        const char *port = (const char *)c->state + c->class->head_bytes +
                           (size_t)((item[i].rank >> 8) & 0xffff) * c->class->port_stride;
        __builtin_prefetch(port);
        __builtin_prefetch(port + 64);
    }
}

static inline void cell_prepare(const struct ker_engine *e, const struct active_cell *a)
{
    const struct ker_item *item = e->private->item + a->begin;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct ker_component *c = &e->component[a->first + (item[i].key & 0xffff)];
        if (item[i].rank >> 28 == KER_ARRIVAL && c->class->prepare)
            c->class->prepare(c->state, record_at(e, item[i].reference));
    }
}

static void cells_order(struct engine_private *p, uint32_t cells)
{
    struct active_cell *a = p->active;
    for (uint32_t i = 0; i + 1 < cells && p->setup.order != KER_ORDER_FORWARD; i++) {
        uint32_t k = cells - 1 - i;
        if (p->setup.order == KER_ORDER_SHUFFLED)
            k = i +
                ker_random_bits(p->setup.seed, KER_PURPOSE_ENGINE, 0, p->shuffles++).word[0] % (cells - i);
        else if (k <= i)
            break;
        struct active_cell t = a[i];
        a[i] = a[k];
        a[k] = t;
    }
}

static void items_reserve(struct ker_engine *e, uint32_t total)
{
    struct engine_private *p = e->private;
    uint32_t spare_room = p->item_room;
    KER_RESERVE(p->item, p->item_room, total);
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

/* Brings the items of a block to their cells. Returns the active cells. */
static uint32_t block_gather(struct ker_engine *e, struct wheel_bucket bucket, uint32_t first, uint32_t mask,
                             uint32_t *total)
{
    struct engine_private *p = e->private;
    if (bucket_most(e, bucket) <= FEW) {
        items_reserve(e, FEW);
        p->few = 0;
        block_scatter(e, bucket, mask, true);
        *total = p->few;
        return few_cells(p, first);
    }
    *total = block_count(e, bucket, mask);
    items_reserve(e, *total);
    uint32_t cells = block_cells(p, first, mask);
    block_scatter(e, bucket, mask, false);
    bool grown = p->setup.largest_cell > 1;
    for (uint32_t i = 0; grown && i < cells; i++)
        cell_label(p, &p->active[i], mask);
    return cells;
}

static void block_run(struct ker_engine *e, struct wheel_bucket bucket, uint32_t block)
{
    struct engine_private *p = e->private;
    uint32_t mask = (1u << p->block_shift) - 1, total;
    uint32_t cells = block_gather(e, bucket, block << p->block_shift, mask, &total);
    cells_order(p, cells);
    for (uint32_t i = 0; i < ENGINE_PREFETCH_AHEAD && i < cells; i++)
        cell_prefetch(e, &p->active[i]);
    for (uint32_t i = 0; i < cells; i++) {
        if (i + ENGINE_PREFETCH_AHEAD < cells)
            cell_prefetch(e, &p->active[i + ENGINE_PREFETCH_AHEAD]);
        if (i + PREPARE_AHEAD < cells)
            cell_prepare(e, &p->active[i + PREPARE_AHEAD]);
        struct active_cell a = p->active[i];
        items_sort(p->item + a.begin, a.count, p->spare, e->window_end - e->window_start);
        cell_run(e, a.first, p->item + a.begin, a.count);
    }
    e->counts.cells += cells;
    e->counts.records += total;
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
