/* op.c - communicators of a job, and what the generators share.
 *
 * A task's rank is searched as if the members ascended, which they nearly always do; when that fails, one by
 * one.
 */
#include "tasks/programs/op.h"

#include "nodes/nodes.h"

const struct ker_option task_bytes_options[] = {
    {.key = "jobs[].bytes",
     .type = KER_TYPE_BYTES | KER_TYPE_LIST,
     .fallback = "8 KiB",
     .maximum = "1 TiB",
     .meaning =
         "pingpong: size of a message. stencil: likewise, one value or one for each dimension; at edges and "
         "corners the smallest of the dimensions that differ."},
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
     .meaning = "stencil, weather: an Allreduce after every so many steps; 0: never."},
    {.key = "jobs[].allreduce_bytes",
     .type = KER_TYPE_BYTES,
     .fallback = "8",
     .maximum = "1 TiB",
     .meaning = "stencil, weather: its vector.",
     .belongs = "jobs[].allreduce_every!=0"},
    {.key = NULL},
};

int32_t task_comm_rank(const struct task_comm *comm, int32_t task)
{
    if (!comm->member)
        return task >= 0 && task < comm->size ? task : -1;
    int32_t low = 0, high = comm->size;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (comm->member[middle] == task)
            return middle;
        if (comm->member[middle] < task)
            low = middle + 1;
        else
            high = middle;
    }
    for (int32_t rank = 0; rank < comm->size; rank++)
        if (comm->member[rank] == task)
            return rank;
    return -1;
}

static bool in_periods(const struct ker_config *config, const char *key)
{
    return ker_config_means_key(config, key) && stats_collect_of(config, key) == STATS_COLLECT_PERIODS;
}

const char *task_calls_series(const struct ker_config *config)
{
    static const char *const keys[] = {"output.series.functions", "output.series.communicators"};
    return in_periods(config, keys[1]) ? keys[1] : in_periods(config, keys[0]) ? keys[0] : NULL;
}

bool task_calls_wanted(const struct ker_config *config, bool traced)
{
    const char *key = "output.calls"; /* a configuration for tests may be without output */
    return ker_config_means_key(config, key) && ker_config_has(config, key)
               ? ker_config_bool(config, key)
               : traced || task_calls_series(config);
}

bool task_calls_traced(const struct ker_config *config, const char *key)
{
    return ker_config_means_key(config, key) && ker_config_is(config, key, "traced");
}

bool task_any_calls_traced(const struct ker_config *config)
{
    bool any = false; /* a configuration for tests may be without jobs */
    int jobs = ker_config_means_key(config, "jobs[0].program") ? ker_config_count(config, "jobs") : 0;
    for (int i = 0; i < jobs && !any; i++) {
        char key[32];
        snprintf(key, sizeof key, "jobs[%d].calls", i);
        any = task_calls_traced(config, key);
    }
    return any;
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
