/* after.c - jobs that wait for others (jobs[].after): names become numbers, and what could never begin is
 * refused.
 *
 * Jobs are looked through as often as it takes: one whose jobs before it can all end can end, too. What is
 * left then waits for itself.
 */
#include "tasks/jobs/after.h"

#include <stdlib.h>
#include <string.h>

static enum ker_status before_find(struct task_job *const *job, uint32_t count, const char *name,
                                   uint32_t *found, const struct ker_config *config, const char *key,
                                   struct ker_error *error)
{
    for (*found = 0; *found < count && strcmp(job[*found]->name, name) != 0;)
        ++*found;
    if (*found == count)
        return ker_config_fail(config, error, key, "there is no job '%s'", name);
    const struct task_job *before = job[*found];
    if (before->restart)
        return ker_config_fail(config, error, key, "job '%s' starts again and again, and never ends", name);
    if (before->class->driven || before->schedule)
        return ker_config_fail(config, error, key, "job '%s' is %s, whose end is not waited for", name,
                               before->schedule ? "a schedule" : "message-driven");
    return KER_OK;
}

static enum ker_status job_read(struct task_job *const *job, uint32_t count, uint32_t own,
                                const struct ker_config *config, struct ker_error *error)
{
    const char *key = KER_KEY("jobs[%u].after", own);
    struct task_job *j = job[own];
    enum ker_status status = KER_OK;
    j->afters = (uint32_t)ker_config_count(config, key);
    if (j->afters && (j->class->driven || j->schedule))
        return ker_config_fail(config, error, key, "is possible for programs of MPI");
    j->after = j->afters ? ker_alloc(j->afters * sizeof *j->after) : NULL;
    for (uint32_t i = 0; i < j->afters && status == KER_OK; i++)
        status = before_find(job, count, ker_config_string_at(config, key, (int)i), &j->after[i], config, key,
                             error);
    return status;
}

/* All that can end; returns how many these are. */
static uint32_t ends_find(struct task_job *const *job, uint32_t count, uint8_t *ends)
{
    uint32_t found = 0;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < count; i++) {
            bool can = !ends[i];
            for (uint32_t b = 0; b < job[i]->afters; b++)
                can &= ends[job[i]->after[b]];
            ends[i] |= can;
            found += can;
            more |= can;
        }
    }
    return found;
}

enum ker_status task_after_read(struct task_job *const *job, uint32_t count, const struct ker_config *config,
                                struct ker_error *error)
{
    enum ker_status status = KER_OK;
    for (uint32_t own = 0; own < count && status == KER_OK; own++)
        status = job_read(job, count, own, config, error);
    uint8_t *ends = ker_alloc(count + 1);
    uint32_t first = 0;
    if (status == KER_OK && ends_find(job, count, ends) < count) {
        while (ends[first])
            first++;
        status = ker_config_fail(config, error, KER_KEY("jobs[%u].after", first),
                                 "job '%s' waits for itself: in the end for one that begins after it",
                                 job[first]->name);
    }
    free(ends);
    return status;
}
