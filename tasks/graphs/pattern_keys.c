/* pattern_keys.c - the keys that patterns share, and calculations. */
#include "tasks/graphs/pattern.h"

#include <math.h>

const struct ker_option graph_unit_options[] = {
    {"jobs[].time_unit", KER_TYPE_TIME, "1 ns", "1 ps", "1 s", NULL,
     "trace, schedule: of a GOAL schedule: how long a calculation of 1 takes."},
    {0},
};

const struct ker_option graph_size_options[] = {
    {"jobs[].commsize", KER_TYPE_INT, "8", "1", "2147483647", NULL,
     "schedule: number of tasks; random_bisect: of an odd number one less."},
    {0},
};

const struct ker_option graph_bytes_options[] = {
    {"jobs[].datasize", KER_TYPE_BYTES, "1", NULL, "1 TiB", NULL,
     "schedule: size of a message; of segmented ones, allreduce_ring and allreduce_recdoub of all that is "
     "divided."},
    {0},
};

const struct ker_option graph_root_options[] = {
    {"jobs[].root", KER_TYPE_INT, "0", "0", "2147483646", NULL,
     "schedule: the task from which all comes, or to which all is sent; it changes places with task 0."},
    {0},
};

const struct ker_option graph_segment_options[] = {
    {"jobs[].segmentsize", KER_TYPE_BYTES, "1", NULL, "1 TiB", NULL,
     "pipelinedring: bytes of a message; the last has what is left of jobs[].datasize."},
    {0},
};

const struct ker_option graph_front_options[] = {
    {"jobs[].nb", KER_TYPE_INT, NULL, "0", "1000000000000", NULL,
     "schedule: each task calculates besides, from the beginning, for this many jobs[].time_unit: what a "
     "non-blocking pattern overlaps with. Absent: it does not."},
    {"jobs[].nb_poll", KER_TYPE_INT, "0", "0", "1000000000000", NULL,
     "schedule: in calculations of jobs[].time_unit one after the other, between which the pattern may have "
     "the cpu, the last as long as the others; 0: in one."},
    {"jobs[].cpu", KER_TYPE_INT, "0", "0", "255", NULL,
     "schedule: the cpu of jobs[].nb; the pattern has cpu 0."},
    {0},
};

void graph_pattern_front(const struct graph_pattern *p, uint32_t number, struct graph_op *op)
{
    graph_pattern_calculation(p, op, p->piece);
    op->cpu = p->front_cpu;
    op->before = number > 0;
    op->on_done = number + 1 < p->front;
}

void graph_pattern_calculation(const struct graph_pattern *p, struct graph_op *op, uint64_t units)
{
    double time = (double)(units * p->unit) * p->factor;
    op->kind = GRAPH_CALCULATION;
    op->amount = p->factor == 1 ? units * p->unit : (uint64_t)llround(time);
}
