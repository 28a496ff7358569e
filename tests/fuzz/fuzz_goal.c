/* fuzz_goal.c - GOAL schedules: whatever the bytes, they are refused with a message, or become a graph that
 * can run: operations with ranks that exist, dependents that exist, dependencies counted as often as they are
 * listed, and without cycles. */
#define _GNU_SOURCE /* memfd_create */
#include "tasks/graphs/order.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void task_check(const struct graph *g, const struct graph_task *t)
{
    uint32_t *left = ker_alloc(t->ops * sizeof *left), *queue = ker_alloc(t->ops * sizeof *queue);
    uint32_t ready = 0, next = 0;
    for (uint32_t i = 0; i < t->ops; i++) {
        const struct graph_op *op = &t->op[i];
        left[i] = op->before;
        if (left[i] == 0)
            queue[ready++] = i;
        ker_assert(op->first == next && op->kind <= GRAPH_CALCULATION && op->cpu < g->cpus &&
                   op->nic < g->nics);
        next += op->on_begin + op->on_done;
        if (op->kind == GRAPH_CALCULATION)
            ker_assert(op->amount <= INT64_MAX);
        else
            ker_assert(op->amount <= g->longest &&
                       (op->peer < g->tasks || (op->peer == GRAPH_ANY && op->kind == GRAPH_RECEIVE)));
    }
    for (uint32_t i = 0; i < ready; i++) {
        const struct graph_op *op = &t->op[queue[i]];
        for (uint32_t d = 0; d < op->on_begin + op->on_done; d++) {
            uint32_t other = t->dependent[op->first + d];
            ker_assert(other < t->ops && left[other] > 0);
            if (--left[other] == 0)
                queue[ready++] = other;
        }
    }
    ker_assert(ready == t->ops);
    struct graph_order order = graph_order_make(t); /* left: where operations are in it */
    for (uint32_t i = 0; i < t->ops; i++)
        left[order.op[i]] = i;
    for (uint32_t i = 0; i < t->ops; i++)
        for (uint32_t d = 0; d < t->op[i].on_begin + t->op[i].on_done; d++)
            ker_assert(left[i] < left[t->dependent[t->op[i].first + d]]);
    graph_order_release(&order);
    free(left);
    free(queue);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file = memfd_create("goal", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    char *path = ker_format("/proc/self/fd/%d", file);
    struct ker_error error = {0};
    struct graph_form form = {.path = "jobs[0]", .unit = size % 3 ? 1000 : 1};
    struct graph *graph = NULL;
    uint32_t tasks = 0;
    enum ker_status status = graph_goal_tasks(path, &tasks, &error);
    uint32_t first = tasks / 3;
    if (status == KER_OK)
        status = graph_goal_read(&graph, path, &form, first, tasks - first - tasks / 5, &error);
    ker_assert(status == KER_OK ? graph != NULL
                                : status == KER_BAD_INPUT && graph == NULL && error.text[0] != 0);
    for (uint32_t i = 0; graph && i < graph->count; i++)
        task_check(graph, &graph->task[i]);
    graph_free(graph);
    free(path);
    close(file);
    return 0;
}
