/* even.c - equal gaps, all nodes in step. */
#include "tasks/traffic/traffic.h"

static void even_advance(const struct task_traffic *t, struct task_traffic_node *n,
                         const struct ker_bits *bits)
{
    n->next_ps += t->gap.whole_ps;
}

const struct ker_kind task_arrival_even = {.name = "even",
                                           .meaning = "equal gaps, all nodes in step",
                                           .operations =
                                               &(const struct task_traffic_arrival){.advance = even_advance}};
