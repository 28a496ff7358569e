/* expand.c - some thousand records are held back; the ends that fall between their begins are sorted and put
 * there. Of formats that want order at each task only, each task has a heap of what has begun there, mostly
 * of two or three records.
 *
 * Where several end at one instant, messages are received before waits end, and these before their calls.
 * What takes no time ends behind all others, since it may begin after them.
 */
#include "stats/timelines/expand.h"

#include "stats/timelines/sort.h"

#include <stdlib.h>

#define WINDOW 4096u /* records that are held back at least */
#define CLASS 2u     /* bits */

static uint64_t end_class(const struct line_record *r)
{
    static const uint8_t class[LINE_KINDS] = {
        [LINE_MESSAGE] = 0, [LINE_WAIT] = 1, [LINE_COMPUTE] = 2, [LINE_CALL] = 3, [LINE_STATE] = 3};
    return r->end > r->begin ? class[r->kind] : 3;
}

/* Of those that end when it begins. */
static bool ends_come_first(const struct line_record *r)
{
    return (1u << LINE_COMPUTE | 1u << LINE_CALL | 1u << LINE_STATE) >> r->kind & 1;
}

static bool has_end(const struct line_expansion *e, const struct line_record *r)
{
    return e->format->ends >> r->kind & 1;
}

/* One whose end has been written is no record any more. */
static void record_drop(struct line_record *r)
{
    r->kind = LINE_KINDS;
}
_Static_assert(LINE_ALL_END >> LINE_KINDS == 0, "what is dropped has no end");

/* Keys of those that end from `least` to `limit`, which none ends before; of fewer, where that is too long a
 * time for a key. */
static void ends_find(struct line_expansion *e, int64_t least, int64_t limit)
{
    unsigned index = line_bits(e->records), shift = index + CLASS;
    int64_t most = (INT64_C(1) << (62 - shift)) - 1;
    uint64_t *key = e->key;
    uint32_t ends = e->format->ends;
    limit = limit - least > most ? least + most : limit;
    for (uint32_t i = 0; i < e->records; i++) {
        const struct line_record *r = &e->record[i];
        if (r->end <= limit && ends >> r->kind & 1)
            *key++ = (uint64_t)(r->end - least) << shift | end_class(r) << index | i;
    }
    e->at = 0;
    e->keys = (uint32_t)(key - e->key);
    e->index = index;
    e->until = limit;
    if (e->keys)
        line_sort(e->key, e->key + e->room, e->keys, line_bits((uint64_t)(limit - least)) + shift);
}

/* When the first of those that are there ends. */
static int64_t ends_first(const struct line_expansion *e, int64_t limit)
{
    int64_t least = limit;
    for (uint32_t i = 0; i < e->records; i++)
        if (has_end(e, &e->record[i]) && e->record[i].end < least)
            least = e->record[i].end;
    return least;
}

/* Of the first `begun` records those that end before this time; `limit`: as far as the window goes. */
static inline void ends_write(struct line_expansion *e, int64_t time, uint32_t begun, int64_t limit)
{
    uint32_t mask = (1u << e->index) - 1;
    for (;;) {
        for (; e->at < e->keys; e->at++) {
            uint32_t i = (uint32_t)e->key[e->at] & mask;
            struct line_record *r = &e->record[i];
            if (r->end >= time || i >= begun)
                return;
            e->format->point(e->writer, r, true);
            record_drop(r);
        }
        if (__builtin_expect(e->until >= limit, 1))
            return;
        ends_find(e, ends_first(e, limit), limit);
    }
}

/* Those that are open stay, in their order; half of the room is free for others. */
static void window_keep(struct line_expansion *e)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < e->records; i++)
        if (has_end(e, &e->record[i]))
            e->record[kept++] = e->record[i];
    e->open = e->records = kept;
    if (kept <= e->room / 2)
        return;
    e->room *= 2;
    e->record = ker_realloc(e->record, e->room * sizeof *e->record);
    e->key = ker_realloc(e->key, 2 * (size_t)e->room * sizeof *e->key);
}

/* What has ended before the first of the window has been written. */
static void window_write(struct line_expansion *e, int64_t limit)
{
    ends_find(e, ends_first(e, limit), limit);
    for (uint32_t i = e->open; i < e->records; i++) {
        const struct line_record *r = &e->record[i];
        ends_write(e, r->begin + ends_come_first(r), i, limit);
        e->format->point(e->writer, r, false);
    }
}

/* ---- by task ---- */

struct line_open {
    struct line_record *record; /* a heap: the one that ends first at its top */
    uint32_t count, room;
};

/* Of one task. */
static bool ends_before(const struct line_record *a, const struct line_record *b)
{
    if (a->end != b->end)
        return a->end < b->end;
    uint64_t of_a = end_class(a), of_b = end_class(b);
    return of_a != of_b ? of_a < of_b : line_before(a, b);
}

static void task_end(struct line_expansion *e, uint32_t task, int64_t time)
{
    struct line_open *open = &e->task[task];
    for (; open->count && open->record[0].end < time;) {
        struct line_record ended = KER_HEAP_TAKE(open->record, open->count, ends_before);
        e->format->point(e->writer, &ended, true);
    }
}

/* ---- */

/* Where a record ends. */
static uint32_t end_task(const struct line_record *r)
{
    return r->kind == LINE_MESSAGE ? (uint32_t)r->peer : r->task;
}

void line_expand_begin(struct line_expansion *e, const struct line_format *format, struct line_writer *writer,
                       uint32_t tasks)
{
    *e = (struct line_expansion){.format = format, .writer = writer, .room = WINDOW, .tasks = tasks};
    if (!writer || !format->ends)
        return;
    if (format->by_task) {
        e->task = ker_alloc(tasks * sizeof *e->task);
        return;
    }
    e->record = ker_alloc(e->room * sizeof *e->record);
    e->key = ker_alloc(2 * (size_t)e->room * sizeof *e->key);
}

void line_expand(struct line_expansion *e, const struct line_record *r)
{
    if (e->task) {
        task_end(e, r->task, r->begin + ends_come_first(r));
        e->format->point(e->writer, r, false);
        struct line_open *open = &e->task[end_task(r)];
        KER_HEAP_PUT(open->record, open->count, open->room, *r, ends_before);
        return;
    }
    if (!e->format->ends) {
        e->format->point(e->writer, r, false);
        return;
    }
    e->record[e->records++] = *r;
    if (e->records < e->room)
        return;
    window_write(e, r->begin);
    window_keep(e);
}

void line_expand_end(struct line_expansion *e)
{
    int64_t last = 0;
    for (uint32_t i = 0; i < e->records; i++)
        last = has_end(e, &e->record[i]) && e->record[i].end > last ? e->record[i].end : last;
    window_write(e, last);
    ends_write(e, last + 1, e->records, last);
    for (uint32_t i = 0; e->task && i < e->tasks; i++) {
        task_end(e, i, INT64_MAX);
        free(e->task[i].record);
    }
    free(e->task);
    free(e->record);
    free(e->key);
}
