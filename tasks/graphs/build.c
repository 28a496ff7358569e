/* Graphs put together: dependencies are counted at both ends, and sorted by the operation that is waited for
 * when the task ends; a stable counting sort, so that dependents stay in the order of the file.
 *
 * Invariant: at the end of a task, its operations' dependents lie one behind the other in the operations'
 * order; operations and dependents of tasks that are not kept are gone.
 */
#include "tasks/graphs/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 8 /* operations of a cycle */

void graph_build_begin(struct graph_build *b, const char *file, uint32_t tasks, uint32_t first,
                       uint32_t count, struct ker_error *error)
{
    ker_assert(first <= tasks && count <= tasks - first);
    *b = (struct graph_build){.file = file, .error = error, .graph = ker_alloc(sizeof *b->graph)};
    *b->graph = (struct graph){.tasks = tasks, .first = first, .count = count, .cpus = 1, .nics = 1};
    b->graph->task = ker_alloc(count * sizeof *b->graph->task);
}

/* Fills in before, first, on_begin and on_done, and the dependents behind those there are. */
static void task_sort(struct graph_build *b)
{
    struct graph_op *op = b->op + b->from;
    size_t ops = graph_build_ops(b);
    uint32_t first = 0;
    for (size_t e = 0; e < b->edges; e++) {
        op[b->edge[e].op].before++;
        op[b->edge[e].on].first++;
    }
    for (size_t i = 0; i < ops; i++) {
        uint32_t count = op[i].first;
        op[i].first = first;
        first += count;
    }
    KER_RESERVE(b->dependent, b->dependent_room, b->dependents + b->edges);
    uint32_t *dependent = b->dependent + b->dependents;
    for (size_t e = 0; e < b->edges; e++)
        if (b->edge[e].begin) {
            struct graph_op *on = &op[b->edge[e].on];
            dependent[on->first + on->on_begin++] = b->edge[e].op;
        }
    for (size_t e = 0; e < b->edges; e++)
        if (!b->edge[e].begin) {
            struct graph_op *on = &op[b->edge[e].on];
            dependent[on->first + on->on_begin + on->on_done++] = b->edge[e].op;
        }
}

/* ---- cycles ---- */

/* Operations that can run one after the other are taken away; left: of each, how many dependencies remain.
 * Returns how many operations remain. */
static size_t cycle_seek(const struct graph_build *b, uint32_t *left)
{
    const struct graph_op *op = b->op + b->from;
    const uint32_t *dependent = b->dependent + b->dependents;
    size_t ops = graph_build_ops(b), free_ops = 0;
    uint32_t *queue = ker_alloc(ops * sizeof *queue);
    for (size_t i = 0; i < ops; i++) {
        left[i] = op[i].before;
        if (!left[i])
            queue[free_ops++] = (uint32_t)i;
    }
    for (size_t at = 0; at < free_ops; at++) {
        const struct graph_op *one = &op[queue[at]];
        for (uint32_t d = one->first, end = d + one->on_begin + one->on_done; d < end; d++)
            if (--left[dependent[d]] == 0)
                queue[free_ops++] = dependent[d];
    }
    free(queue);
    return ops - free_ops;
}

/* Each operation that remains waits for one that remains: following them from any one leads into a cycle.
 * Returns one of it; waits[i]: whom i waits for. */
static uint32_t cycle_enter(const struct graph_build *b, uint32_t *left, uint32_t *waits)
{
    uint32_t at = 0;
    for (size_t e = 0; e < b->edges; e++)
        if (left[b->edge[e].on] && left[b->edge[e].op])
            waits[b->edge[e].op] = b->edge[e].on;
    while (!left[at])
        at++;
    for (; left[at]; at = waits[at])
        left[at] = 0; /* seen */
    return at;
}

static enum ker_status cycle_tell(const struct graph_build *b, const uint32_t *waits, uint32_t start)
{
    const struct graph_op *op = b->op + b->from;
    const char *word = b->graph->numbered ? "operation" : "line";
    char text[SHOWN * 64] = "", place[16] = "";
    size_t used = 0, length = 0;
    uint32_t at = start, line = UINT32_MAX;
    do {
        if (length++ < SHOWN)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %u waits for %s %u",
                                     used ? ", " : "", word, op[at].line, word, op[waits[at]].line);
        line = op[at].line < line ? op[at].line : line;
        at = waits[at];
    } while (at != start);
    if (!b->graph->numbered)
        snprintf(place, sizeof place, "%u:", line);
    return ker_fail(b->error, KER_BAD_INPUT,
                    "%s:%s operations of rank %u wait for one another, a cycle of %zu: %s%s", b->file, place,
                    b->task, length, text, length > SHOWN ? ", ..." : "");
}

static enum ker_status task_check(const struct graph_build *b)
{
    size_t ops = graph_build_ops(b);
    uint32_t *left = ker_alloc(2 * ops * sizeof *left), *waits = left + ops;
    enum ker_status status = KER_OK;
    if (cycle_seek(b, left))
        status = cycle_tell(b, waits, cycle_enter(b, left, waits));
    free(left);
    return status;
}

/* ---- tasks, and all of them ---- */

static bool task_is_kept(const struct graph_build *b)
{
    if (b->list)
        return b->kept < b->graph->count && b->list[b->kept] == b->task;
    return b->task - b->graph->first < b->graph->count; /* below first it wraps to a large number */
}

enum ker_status graph_build_task(struct graph_build *b)
{
    bool kept = task_is_kept(b);
    enum ker_status status = KER_OK;
    if (b->edges && (kept || b->backwards))
        task_sort(b);
    if (b->backwards)
        status = task_check(b);
    if (kept) {
        b->graph->task[b->kept++].ops = (uint32_t)graph_build_ops(b);
        b->from = b->ops;
        b->dependents += b->edges;
    }
    b->ops = b->from;
    b->edges = 0;
    b->backwards = false;
    b->task++;
    return status;
}

void graph_build_end(struct graph_build *b, struct graph **graph)
{
    struct graph *g = b->graph;
    if (graph && g->count) {
        struct graph_op *op = ker_realloc(b->op, b->ops * sizeof *op);
        uint32_t *dependent = ker_realloc(b->dependent, b->dependents * sizeof *dependent);
        b->op = NULL;
        b->dependent = NULL;
        for (struct graph_task *t = g->task; t < g->task + g->count; t++) {
            t->op = op;
            t->dependent = dependent;
            op += t->ops;
            for (uint32_t i = 0; i < t->ops; i++)
                dependent += t->op[i].on_begin + t->op[i].on_done;
        }
    }
    if (graph)
        *graph = g;
    else
        graph_free(g);
    free(b->op);
    free(b->dependent);
    free(b->edge);
    *b = (struct graph_build){0};
}

void graph_free(struct graph *g)
{
    if (!g)
        return;
    if (g->count) { /* the first task's are the beginning of everyone's */
        free(g->task->op);
        free(g->task->dependent);
    }
    free(g->task);
    free(g);
}
