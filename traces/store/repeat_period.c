/* repeat_period.c - the shortest period of what a task posts.
 *
 * It is looked for in a window from the middle of the trace on, by its Z-function: how far what follows
 * agrees with what follows a number of calls later. The one counts that covers most, of equal ones the
 * shortest. Then all of the trace is gone through, of which as much is kept as a period has, for the longest
 * part that repeats: its steps begin wherever a period is over, in the first place of it at which no request
 * is open.
 */
#include "traces/store/repeat_walk.h"

#include <stdlib.h>

#define WINDOW ((uint32_t)1 << 17) /* calls */
#define MORE 1.02                  /* a longer period covers this much more than a shorter one */

/* What is compared from the middle of the trace on, by all sorts. */
struct window {
    uint64_t *hash[REPEAT_SORTS]; /* malloc'ed */
    size_t room[REPEAT_SORTS];
    uint32_t count[REPEAT_SORTS];
};

static void window_read(struct window *window, const struct trace_repeat *r,
                        const struct trace_repeat_task *task, const struct task_comm *comms, uint32_t all)
{
    struct trace_walk w;
    trace_walk_begin(&w, r, task, comms, all);
    while (window->count[REPEAT_CALLS] < WINDOW && trace_walk_next(&w))
        for (enum trace_repeat_sort sort = 0; sort < REPEAT_SORTS; sort++) {
            if (w.before.at < task->total / 2 || !trace_walk_counts(&w, sort))
                continue;
            KER_RESERVE(window->hash[sort], window->room[sort], window->count[sort] + 1u);
            window->hash[sort][window->count[sort]++] = trace_walk_hash(&w, sort);
        }
    trace_walk_end(&w);
}

/* 0: nothing repeats. */
static uint32_t period_of(const uint64_t *hash, uint32_t count)
{
    uint32_t *z = ker_alloc((count + 1u) * sizeof *z), left = 0, right = 0, period = 0;
    double most = 0;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t same = i < right ? z[i - left] : 0;
        same = i < right && same > right - i ? right - i : same;
        while (i + same < count && hash[same] == hash[i + same])
            same++;
        z[i] = same;
        if (i + same > right) {
            left = i;
            right = i + same;
        }
        if (same >= i && (double)same + i > MORE * most) {
            most = (double)same + i;
            period = i;
        }
    }
    free(z);
    return period;
}

void trace_places_add(struct trace_places *p, struct trace_place place)
{
    KER_RESERVE(p->place, p->room, p->count + (size_t)2);
    p->place[++p->count] = place;
}

static void longest_keep(struct trace_places *longest, struct trace_places *now)
{
    if (now->count > longest->count) {
        struct trace_places other = *longest;
        *longest = *now;
        *now = other;
    }
    now->count = 0;
}

static struct trace_places longest_find(struct trace_walk *w, enum trace_repeat_sort sort, uint32_t period)
{
    uint64_t *last = ker_alloc(period * sizeof *last), number = 0, next = 0;
    struct trace_places longest = {0}, now = {0};
    uint32_t open = 0;
    for (; trace_walk_next(w); open = w->open) {
        if (!trace_walk_counts(w, sort))
            continue;
        uint64_t hash = trace_walk_hash(w, sort);
        bool same = number >= period && last[number % period] == hash;
        if (!same) {
            longest_keep(&longest, &now);
            next = 0;
        } else if (next == 0 && open == 0) {
            next = number;
        }
        if (same && number == next) {
            trace_places_add(&now, w->before);
            next += period;
        }
        last[number++ % period] = hash;
    }
    longest_keep(&longest, &now);
    free(now.place);
    free(last);
    return longest;
}

void trace_periods_find(const struct trace_repeat *r, const struct trace_repeat_task *task,
                        const struct task_comm *comms, uint32_t all, uint32_t period[REPEAT_SORTS])
{
    struct window window = {.room = {0}};
    window_read(&window, r, task, comms, all);
    for (enum trace_repeat_sort sort = 0; sort < REPEAT_SORTS; sort++) {
        period[sort] = period_of(window.hash[sort], window.count[sort]);
        free(window.hash[sort]);
    }
}

struct trace_places trace_period_places(const struct trace_repeat *r, const struct trace_repeat_task *task,
                                        const struct task_comm *comms, uint32_t all,
                                        enum trace_repeat_sort sort, uint32_t period)
{
    struct trace_walk w;
    trace_walk_begin(&w, r, task, comms, all);
    struct trace_places longest = longest_find(&w, sort, period);
    trace_walk_end(&w);
    return longest;
}
