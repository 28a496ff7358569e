/* pattern_keys.c - the keys that patterns share, and calculations. */
#include "tasks/graphs/pattern.h"

#include <math.h>

const struct ker_option graph_unit_options[] = {
    {.key = "jobs[].time_unit",
     .type = KER_TYPE_TIME,
     .fallback = "1 ns",
     .minimum = "1 ps",
     .maximum = "1 s",
     .meaning = "trace, schedule: of a GOAL schedule: how long a calculation of 1 takes."},
    {.key = NULL},
};

const struct ker_option graph_size_options[] = {
    {.key = "jobs[].commsize",
     .type = KER_TYPE_INT,
     .fallback = "8",
     .minimum = "1",
     .maximum = "2147483647",
     .meaning = "schedule: number of tasks; random_bisect: of an odd number one less."},
    {.key = NULL},
};

const struct ker_option graph_bytes_options[] = {
    {.key = "jobs[].datasize",
     .type = KER_TYPE_BYTES,
     .fallback = "1",
     .maximum = "1 TiB",
     .meaning = "schedule: size of a message; of segmented ones, allreduce_ring and allreduce_recdoub of all "
                "that is divided."},
    {.key = NULL},
};

const struct ker_option graph_root_options[] = {
    {.key = "jobs[].root",
     .type = KER_TYPE_INT,
     .fallback = "0",
     .minimum = "0",
     .maximum = "2147483646",
     .meaning =
         "schedule: the task from which all comes, or to which all is sent; it changes places with task 0."},
    {.key = NULL},
};

const struct ker_option graph_segment_options[] = {
    {.key = "jobs[].segmentsize",
     .type = KER_TYPE_BYTES,
     .fallback = "1",
     .maximum = "1 TiB",
     .meaning = "pipelinedring: bytes of a message; the last has what is left of jobs[].datasize."},
    {.key = NULL},
};

const struct ker_option graph_front_options[] = {
    {.key = "jobs[].nb",
     .type = KER_TYPE_INT,
     .minimum = "0",
     .maximum = "1000000000000",
     .meaning =
         "schedule: each task calculates besides, from the beginning, for this many jobs[].time_unit: what a "
         "non-blocking pattern overlaps with. Absent: it does not."},
    {.key = "jobs[].nb_poll",
     .type = KER_TYPE_INT,
     .fallback = "0",
     .minimum = "0",
     .maximum = "1000000000000",
     .meaning = "schedule: in calculations of jobs[].time_unit one after the other, between which "
                "the pattern "
                "may have the cpu, the last as long as the others; 0: in one."},
    {.key = "jobs[].cpu",
     .type = KER_TYPE_INT,
     .fallback = "0",
     .minimum = "0",
     .maximum = "255",
     .meaning = "schedule: the cpu of jobs[].nb; the pattern has cpu 0."},
    {.key = NULL},
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
