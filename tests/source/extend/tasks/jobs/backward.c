/* backward.c - a placement: from the last node of the range to the first. */
#include "tasks/jobs/placement.h"

static uint32_t backward(const struct task_placement *p, uint32_t seat)
{
    return p->nodes - 1 - seat;
}

const struct ker_kind task_placement_backward = {.name = "backward",
                                                 .meaning = "from the last node to the first",
                                                 .operations =
                                                     &(const struct task_placement_law){backward, backward},
                                                 .options = KER_OPTIONS(task_range_options)};
