/* order.h - an order of a task's operations in which each is behind all that it waits for, and where all
 * before is done before anything behind begins.
 *
 * Such a place is the same in any order: what is before it has to be. So a task has passed it when as many
 * operations are done as are before it.
 */
#pragma once

#include "tasks/graphs/graph.h"

struct graph_order {
    uint32_t *op; /* all operations of the task, malloc'ed */
    bool *cut;    /* by place: all before it is done before it, or anything behind it, begins; malloc'ed */
};
/* The task has no circles. */
struct graph_order graph_order_make(const struct graph_task *);
void graph_order_release(struct graph_order *);
