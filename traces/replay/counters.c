/* counters.c - what computations moved in memory, by hardware counters in the trace: misses times the size of
 * a line. Tasks may have recorded other counters, or in another order, so that each is asked by their names.
 */
#include "traces/replay/replay.h"

#include <stdlib.h>
#include <string.h>

void replay_counters_read(struct replay_rules *rules, const struct ker_config *config, const char *path)
{
    const char *key = TASK_KEY(path, "memory_counters");
    if (!ker_config_has(config, key))
        return;
    rules->line = ker_config_bytes(config, TASK_KEY(path, "memory_line"));
    for (int i = 0; i < ker_config_count(config, key); i++)
        *KER_APPEND(rules->counter, rules->counters) = ker_format("%s", ker_config_string_at(config, key, i));
}

void replay_counters_release(struct replay_rules *rules)
{
    ker_free_all(rules->counter, rules->counters);
}

/* The place of a name among those that commas separate; -1: it is not there. */
static int place_of(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (int place = 0; names; place++) {
        if (strcspn(names, ",") == length && memcmp(names, name, length) == 0)
            return place;
        names = strchr(names, ',');
        names += names != NULL;
    }
    return -1;
}

enum ker_status replay_counters_find(struct replay_task *t, const char *path, struct ker_error *error)
{
    const char *names = mars_task_info(t->trace, "counters");
    for (uint32_t i = 0; i < t->rules->counters; i++) {
        const char *name = t->rules->counter[i];
        int place = place_of(names, name);
        if (place < 0)
            return ker_fail(error, KER_BAD_INPUT,
                            "%s: jobs[].memory_counters: task %u has not counted %s, but %s: trace it with "
                            "MARSTRACE_COUNTERS=%s, or give jobs[].memory_bandwidth instead",
                            path, t->trace->number, name, names ? names : "nothing", name);
        t->counters |= 1u << place;
    }
    return KER_OK;
}

uint64_t replay_counters_moved(const struct replay_task *t)
{
    const uint64_t most = (uint64_t)KER_TIME_MAX / 4;
    uint64_t sum = 0;
    if (!t->counters || replay_first(t))
        return 0;
    for (uint32_t i = 0; i < t->trace->counters; i++)
        if (t->counters & 1u << i)
            sum = t->record.counted[i] < most - sum ? sum + t->record.counted[i] : most;
    return sum < most / t->rules->line ? sum * t->rules->line : most;
}
