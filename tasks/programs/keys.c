/* keys.c - keys of several generators. */
#include "tasks/programs/programs.h"

#include "nodes/nodes.h"

const struct ker_option task_bytes_options[] = {
    {.key = "jobs[].bytes",
     .type = KER_TYPE_BYTES | KER_TYPE_LIST,
     .fallback = "8 KiB",
     .maximum = "1 TiB",
     .meaning =
         "pingpong: size of a message. stencil: likewise, one value or one for each dimension; at edges and "
         "corners the smallest of the dimensions that differ. collective: one size after the other."},
    {.key = NULL},
};

const struct ker_option task_steps_options[] = {
    {.key = "jobs[].steps",
     .type = KER_TYPE_INT,
     .fallback = "10",
     .minimum = "1",
     .maximum = "4000000000",
     .meaning = "pingpong: round trips. stencil, weather, leanmd: how many steps."},
    {.key = NULL},
};

const struct ker_option task_compute_options[] = {
    {.key = "jobs[].compute_time",
     .type = KER_TYPE_TIME,
     .fallback = "0 ns",
     .maximum = "1000000 s",
     .meaning = "stencil, weather: computation per step, on the traced machine so to say: multiplied by "
                "processor_factor."},
    {.key = "jobs[].allreduce_every",
     .type = KER_TYPE_INT,
     .fallback = "0",
     .minimum = "0",
     .maximum = "4000000000",
     .meaning = "stencil, weather: an Allreduce after every n steps; 0: never."},
    {.key = "jobs[].allreduce_bytes",
     .type = KER_TYPE_BYTES,
     .fallback = "8",
     .maximum = "1 TiB",
     .meaning = "stencil, weather: its vector.",
     .belongs = "jobs[].allreduce_every!=0"},
    {.key = NULL},
};

double task_memory_factor(const struct ker_config *config, const char *path, double processor)
{
    if (!ker_config_rate(config, TASK_KEY(path, "memory_bandwidth")) &&
        !ker_config_has(config, TASK_KEY(path, "memory_counters")))
        return 0;
    if (ker_config_has(config, TASK_KEY(path, "memory_factor")))
        return ker_config_real(config, TASK_KEY(path, "memory_factor"));
    return processor == 0 ? 0 : 1;
}

/* Does a factor leave something of the time? */
static bool leaves(ker_time time, double factor)
{
    return node_compute(&(struct node_model){0}, time, factor) > 0;
}

ker_time task_compute_time(const struct ker_config *config, const char *path)
{
    ker_time time = ker_config_time(config, TASK_KEY(path, "compute_time"));
    double processor = ker_config_real(config, TASK_KEY(path, "processor_factor"));
    bool any = leaves(time, processor) || leaves(time, task_memory_factor(config, path, processor)) ||
               ker_config_count(config, TASK_KEY(path, "task_factors")) > 0;
    return any ? time : 0;
}

bool task_compute_jitters(const struct ker_config *config, const char *path)
{
    return ker_config_time(config, TASK_KEY(path, "compute_jitter")) > 0;
}

uint32_t task_step_skip(uint32_t step, uint32_t steps, uint32_t every)
{
    uint64_t reduces =
        every ? (uint64_t)step + every - 1 - step % every : steps; /* the next that is not empty */
    return reduces < steps ? (uint32_t)reduces : steps;
}
