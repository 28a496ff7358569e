/* op.c - communicators of a job, and which calls are counted.
 *
 * A task's rank is searched as if the members ascended, which they nearly always do; when that fails, one by
 * one.
 */
#include "traces/op.h"

#include "stats/stats.h"

int32_t task_comm_rank(const struct task_comm *comm, int32_t task)
{
    if (!comm->member)
        return task >= 0 && task < comm->size ? task : -1;
    int32_t low = KER_BISECT(i, 0, comm->size, comm->member[i] < task);
    if (low < comm->size && comm->member[low] == task)
        return low;
    for (int32_t rank = 0; rank < comm->size; rank++)
        if (comm->member[rank] == task)
            return rank;
    return -1;
}

static bool in_periods(const struct ker_config *config, const char *key)
{
    return ker_config_means_key(config, key) && stats_collects_periods(config, key);
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
    for (int i = 0; i < jobs && !any; i++)
        any = task_calls_traced(config, KER_KEY("jobs[%d].calls", i));
    return any;
}
