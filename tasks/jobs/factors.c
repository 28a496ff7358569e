/* factors.c - tasks that differ from their job: how fast they compute, and what they move in memory.
 *
 * Every task is given an owner, a member of jobs[].task_factors or the job, while they are read. What stays
 * are runs of successive tasks of one owner, ascending, the first from task 0 on, so that a computation finds
 * its own by a binary search.
 */
#include "tasks/jobs/factors.h"
#include "tasks/programs/programs.h"

#include <stdlib.h>
#include <string.h>

#define NOBODY UINT16_MAX
#define MOST_MEMBERS 1000

struct owners {
    const struct ker_config *config;
    struct ker_error *error;
    const struct task_job *job;
    const char *path; /* "jobs[2]" */
    uint16_t *owner;  /* of each task */
    char key[80];
};

static const char *owners_key(struct owners *o, uint32_t member, const char *word)
{
    snprintf(o->key, sizeof o->key, "%s.task_factors[%u].%s", o->path, member, word);
    return o->key;
}

static enum ker_status own(struct owners *o, uint32_t member, uint32_t task)
{
    if (o->owner[task] != NOBODY)
        return ker_config_fail(o->config, o->error, o->key,
                               "task %u has factors already: %s.task_factors[%u]", task, o->path,
                               o->owner[task]);
    o->owner[task] = (uint16_t)member;
    return KER_OK;
}

static enum ker_status member_read(struct owners *o, uint32_t member)
{
    if (!ker_config_has(o->config, owners_key(o, member, "processor_factor")) &&
        !ker_config_has(o->config, owners_key(o, member, "memory_factor")))
        return ker_config_fail(o->config, o->error, owners_key(o, member, "processor_factor"),
                               "is missing, and so is memory_factor: these tasks would be like all others");
    if (!ker_config_has(o->config, owners_key(o, member, "tasks")))
        return ker_config_fail(o->config, o->error, o->key,
                               "is missing: which tasks these are, \"0-15,32,40-60:4\"");
    struct ker_ranges ranges = {o->config, o->key, "task", "the job", o->job->tasks};
    struct ker_range range;
    bool some;
    enum ker_status status = ker_ranges_next(&ranges, &range, &some, o->error);
    while (!status && some) {
        for (uint64_t task = range.first; task <= range.last && !status; task += range.step)
            status = own(o, member, (uint32_t)task);
        status = status ?: ker_ranges_next(&ranges, &range, &some, o->error);
    }
    return status;
}

/* Of a member, or of the job. */
static struct task_factors factors_of(struct owners *o, uint32_t member, uint32_t task)
{
    struct task_factors f = {task, o->job->processor_factor, o->job->memory_factor};
    if (member == NOBODY)
        return f;
    if (ker_config_has(o->config, owners_key(o, member, "processor_factor")))
        f.processor = ker_config_real(o->config, o->key);
    if (ker_config_has(o->config, owners_key(o, member, "memory_factor")))
        f.memory = ker_config_real(o->config, o->key);
    else if (o->job->moves)
        f.memory = task_memory_factor(o->config, o->path, f.processor);
    return f;
}

enum ker_status task_factors_read(struct task_job *job, const struct ker_config *config, const char *path,
                                  struct ker_error *error)
{
    struct owners o = {config, error, job, path};
    int members = ker_config_count(config, TASK_KEY(path, "task_factors"));
    if (members == 0)
        return KER_OK;
    if (members > MOST_MEMBERS)
        return ker_config_fail(config, error, TASK_KEY(path, "task_factors"), "%d members; at most %d",
                               members, MOST_MEMBERS);
    o.owner = ker_alloc(job->tasks * sizeof *o.owner);
    memset(o.owner, 0xff, job->tasks * sizeof *o.owner);
    enum ker_status status = KER_OK;
    for (int i = 0; i < members && !status; i++)
        status = member_read(&o, (uint32_t)i);
    uint32_t room = 0;
    job->runs = 0;
    for (uint32_t task = 0; task < job->tasks && !status; task++)
        if (task == 0 || o.owner[task] != o.owner[task - 1])
            *KER_PUSH(job->factors, job->runs, room) = factors_of(&o, o.owner[task], task);
    free(o.owner);
    return status;
}

const struct task_factors *task_factors_find(const struct task_job *job, uint32_t task)
{
    return &job->factors[KER_BISECT(i, 1, job->runs, job->factors[i].task <= task) - 1];
}
