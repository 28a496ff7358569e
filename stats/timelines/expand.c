/* expand.c - a heap of what has begun and not ended: a few records for each task, and the messages under way.
 *
 * Where several end at one instant, messages are received before waits end, and these before their calls.
 */
#include "stats/timelines/expand.h"

#include <stdlib.h>

static uint32_t end_class(const struct line_record *r)
{
    static const uint32_t class[LINE_KINDS] = {
        [LINE_MESSAGE] = 0, [LINE_WAIT] = 1, [LINE_COMPUTE] = 2, [LINE_CALL] = 3, [LINE_STATE] = 3};
    return class[r->kind];
}

/* Of one end. Not inline: mostly the times decide. */
__attribute__((noinline)) static bool tie_before(const struct line_expansion *e, const struct line_open *a,
                                                 const struct line_open *b)
{
    if (a->class != b->class)
        return a->class < b->class;
    return line_before(&e->record[a->slot], &e->record[b->slot]);
}

static inline bool ends_before(const struct line_expansion *e, const struct line_open *a,
                               const struct line_open *b)
{
    return a->end < b->end || (__builtin_expect(a->end == b->end, 0) && tie_before(e, a, b));
}

#define CHILDREN 4u /* of a place of the heap: fewer levels than with two */

static void open_push(struct line_expansion *e, const struct line_record *r)
{
    if (e->opens == e->slots) {
        uint32_t room = e->room;
        KER_RESERVE(e->open, room, e->slots + 1u);
        e->record = ker_realloc(e->record, room * sizeof *e->record);
        e->room = room;
        e->open[e->slots].slot = e->slots;
        e->slots++;
    }
    struct line_open one = {r->end, e->open[e->opens].slot, end_class(r)};
    e->record[one.slot] = *r;
    uint32_t place = e->opens++;
    for (; place && ends_before(e, &one, &e->open[(place - 1) / CHILDREN]); place = (place - 1) / CHILDREN)
        e->open[place] = e->open[(place - 1) / CHILDREN];
    e->open[place] = one;
}

/* The record stays in its slot until the next one is pushed. */
static const struct line_record *open_pop(struct line_expansion *e)
{
    struct line_open first = e->open[0], last = e->open[--e->opens];
    uint32_t place = 0, count = e->opens;
    for (uint32_t child; (child = CHILDREN * place + 1) < count;) {
        uint32_t end = child + CHILDREN < count ? child + CHILDREN : count, least = child;
        while (++child < end)
            least = ends_before(e, &e->open[child], &e->open[least]) ? child : least;
        if (!ends_before(e, &e->open[least], &last))
            break;
        e->open[place] = e->open[least];
        place = least;
    }
    e->open[place] = last;
    e->open[count] = first; /* a free slot */
    return &e->record[first.slot];
}

/* What ends before this time. */
static void open_end(struct line_expansion *e, int64_t time)
{
    while (e->opens && e->open[0].end < time)
        e->format->point(e->writer, open_pop(e), true);
}

void line_expand(struct line_expansion *e, const struct line_record *r)
{
    if (e->format->begins) {
        e->format->point(e->writer, r, false);
        return;
    }
    bool after = r->kind == LINE_COMPUTE || r->kind == LINE_CALL || r->kind == LINE_STATE;
    open_end(e, r->begin + after);
    e->format->point(e->writer, r, false);
    open_push(e, r);
}

void line_expand_end(struct line_expansion *e)
{
    while (e->opens)
        e->format->point(e->writer, open_pop(e), true);
    free(e->open);
    free(e->record);
}
