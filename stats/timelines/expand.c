/* expand.c - a heap of what has begun and not ended: a few records for each task, and the messages under way.
 *
 * Where several end at one instant, messages are received before waits end, and these before their calls.
 */
#include "stats/timelines/expand.h"

#include <stdlib.h>

static int end_class(const struct line_record *r)
{
    static const int class[LINE_KINDS] = {
        [LINE_MESSAGE] = 0, [LINE_WAIT] = 1, [LINE_COMPUTE] = 2, [LINE_CALL] = 3, [LINE_STATE] = 3};
    return class[r->kind];
}

static bool ends_before(const struct line_record *a, const struct line_record *b)
{
    if (a->end != b->end)
        return a->end < b->end;
    if (end_class(a) != end_class(b))
        return end_class(a) < end_class(b);
    return line_before(a, b);
}

static void open_push(struct line_expansion *e, const struct line_record *r)
{
    KER_RESERVE(e->open, e->room, e->opens + 1);
    size_t place = e->opens++;
    for (; place && ends_before(r, &e->open[(place - 1) / 2]); place = (place - 1) / 2)
        e->open[place] = e->open[(place - 1) / 2];
    e->open[place] = *r;
}

static struct line_record open_pop(struct line_expansion *e)
{
    struct line_record first = e->open[0], last = e->open[--e->opens];
    size_t place = 0;
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= e->opens)
            break;
        child += child + 1 < e->opens && ends_before(&e->open[child + 1], &e->open[child]);
        if (!ends_before(&e->open[child], &last))
            break;
        e->open[place] = e->open[child];
        place = child;
    }
    e->open[place] = last;
    return first;
}

/* What ends before this time. */
static void open_end(struct line_expansion *e, int64_t time)
{
    while (e->opens && e->open[0].end < time) {
        struct line_record r = open_pop(e);
        e->format->point(e->writer, &r, true);
    }
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
    while (e->opens) {
        struct line_record r = open_pop(e);
        e->format->point(e->writer, &r, true);
    }
    free(e->open);
}
