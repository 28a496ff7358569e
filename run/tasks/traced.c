/* traced.c - jobs as they were traced, in the timeline beside those that are simulated.
 *
 * The traces are read once more, when the run has ended and by one rank: so nothing of it has to be kept
 * during the run, handed over or saved, and the order of records does not depend on who has read them.
 */
#include "run/tasks/system.h"

#include <stdlib.h>
#include <string.h>

struct stats_group *task_system_groups(const struct task_system *system, bool traced, uint32_t *count)
{
    uint32_t jobs = task_jobs_count(system->jobs);
    struct stats_group *group = ker_alloc((2 * (size_t)jobs + 1) * sizeof *group);
    *count = 0;
    for (uint32_t i = 0; i < jobs; i++) {
        const struct task_job *job = task_jobs_get(system->jobs, i);
        group[(*count)++] = (struct stats_group){.name = job->name, .tasks = job->tasks};
    }
    for (uint32_t i = 0; i < jobs && traced; i++) {
        const struct task_job *job = task_jobs_get(system->jobs, i);
        if (job->class->traced)
            group[(*count)++] = (struct stats_group){.name = job->name, .tasks = job->tasks, .traced = true};
    }
    return group;
}

struct showing {
    struct task_system *system;
    struct stats_timeline *timeline;
    uint32_t group;
    ker_time start, end; /* of the job; of the last call */
};

static bool task_wanted(void *showing, uint32_t task)
{
    const struct showing *s = showing;
    return stats_timeline_has(s->timeline, s->group, task);
}

/* That stays where it is. */
static const char *name_keep(struct task_system *system, const char *name)
{
    for (uint32_t i = 0; i < system->traced_names; i++)
        if (strcmp(system->traced_name[i], name) == 0)
            return system->traced_name[i];
    return *KER_APPEND(system->traced_name, system->traced_names) = ker_format("%s", name);
}

static int32_t argument(const int64_t *value)
{
    return value && *value > INT32_MIN && *value <= INT32_MAX ? (int32_t)*value : STATS_CALL_NOBODY;
}

static void call_show(void *showing, const struct task_traced_call *c)
{
    struct showing *s = showing;
    struct stats_call call = {.group = s->group,
                              .task = c->task,
                              .stream = c->thread,
                              .number = c->number,
                              .function = name_keep(s->system, c->function),
                              .before = s->start + c->before,
                              .begin = s->start + c->begin,
                              .end = s->start + c->end,
                              .bytes = c->bytes,
                              .peer = STATS_CALL_NOBODY,
                              .tag = STATS_CALL_NOBODY,
                              .comm = argument(c->comm)};
    if (c->comm) {
        call.peer = argument(c->peer);
        call.tag = argument(c->tag);
    }
    stats_timeline_call(s->timeline, &call);
    s->end = call.end > s->end ? call.end : s->end;
}

enum ker_status task_system_traced(struct task_system *system, struct stats_timeline *timeline, ker_time *end,
                                   struct ker_error *error)
{
    uint32_t jobs = task_jobs_count(system->jobs);
    struct showing s = {system, timeline, jobs, 0, *end};
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; i < jobs && !status; i++) {
        const struct task_job *job = task_jobs_get(system->jobs, i);
        if (!job->class->traced)
            continue;
        s.start = job->start;
        status = job->class->traced(job->program, &(struct task_traced){task_wanted, call_show, &s}, error);
        s.group++;
    }
    *end = s.end;
    return status;
}

void task_traced_free(struct task_system *system)
{
    ker_free_all(system->traced_name, system->traced_names);
    system->traced_name = NULL;
    system->traced_names = 0;
}
