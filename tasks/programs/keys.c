/* keys.c - keys of several generators. */
#include "tasks/programs/programs.h"

#include "nodes/nodes.h"

#include <stdlib.h>
#include <string.h>

const struct ker_option task_bytes_options[] = {
    {"jobs[].bytes", KER_TYPE_BYTES | KER_TYPE_LIST, "8 KiB", NULL, "1 TiB", NULL,
     "pingpong: size of a message. stencil: likewise, one value or one for each dimension; at edges and "
     "corners the smallest of the dimensions that differ. collective: one size after the other. wavefront: "
     "of messages in rows and in columns, or of both. sparse: of each message, or the least and the most, "
     "between which all sizes are as likely."},
    {0},
};

const struct ker_option task_grid_options[] = {
    {"jobs[].grid", KER_TYPE_INT | KER_TYPE_LIST, NULL, "1", "1073741824", NULL,
     "Columns and rows of tasks; task t is in column t mod columns. weather: columns close to a ring, rows "
     "end at the poles. fft: one number for a transform of 2 dimensions."},
    {0},
};

const struct ker_option task_steps_options[] = {
    {"jobs[].steps", KER_TYPE_INT, "10", "1", "4000000000", NULL,
     "pingpong: round trips. Others: how many steps."},
    {0},
};

const struct ker_option task_compute_options[] = {
    {"jobs[].compute_time", KER_TYPE_TIME, "0 ns", NULL, "1000000 s", NULL,
     "Computation per step, on the traced machine so to say: multiplied by processor_factor."},
    {"jobs[].allreduce_every", KER_TYPE_INT, "0", "0", "4000000000", NULL,
     "An Allreduce after every n steps; 0: never."},
    {"jobs[].allreduce_bytes", KER_TYPE_BYTES, "8", NULL, "1 TiB", NULL, "Its vector.",
     .belongs = "jobs[].allreduce_every!=0"},
    {"jobs[].checkpoint_every", KER_TYPE_INT, "0", "0", "4000000000", NULL,
     "A checkpoint after every n steps, to the file servers of storage: each task writes "
     "its part of one file; 0: never.",
     .belongs = "storage.servers.nodes or storage.servers.count"},
    {"jobs[].checkpoint_bytes", KER_TYPE_BYTES, "1 MiB", "1 B", "1024 TiB", NULL,
     "What a task writes in a checkpoint.", .belongs = "jobs[].checkpoint_every!=0"},
    {0},
};

uint32_t task_file_number(const struct ker_config *config, const char *path)
{
    uint32_t own = (uint32_t)strtoul(path + strlen("jobs["), NULL, 10), job = 0;
    bool has = ker_config_is(config, TASK_KEY(path, "program"), "ior");
    const char *name = has ? ker_config_string(config, TASK_KEY(path, "path")) : "";
    for (; job < own && *name; job++) {
        char *other = ker_format("jobs[%u]", job);
        bool same = ker_config_is(config, TASK_KEY(other, "program"), "ior") &&
                    strcmp(ker_config_string(config, TASK_KEY(other, "path")), name) == 0;
        free(other);
        if (same)
            break;
    }
    return (*name ? job : own) << 20;
}

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
