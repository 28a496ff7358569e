/* fork.c - a run is resumed with other values of some keys (docs/checkpoints.md, "Forks").
 *
 * What a key has already been used for stays: a key may be changed when it is said (ker_option.resume) what
 * of it counts from the fork on. A key that had no meaning in the run so far has been used for nothing. Jobs
 * may be added behind those that there are. Laws of time that were valid before the fork are kept with their
 * configurations in the checkpoint, since open-loop sources may be asked later for messages from before.
 */
#include "run/checkpoint.h"

#include <stdlib.h>
#include <string.h>

enum ker_status run_config_parse(struct run *run, const char *text, struct ker_config **config,
                                 const char *const *overrides, int count)
{
    const struct ker_option **tables = run_option_tables();
    char *name = ker_format("%s (in the checkpoint)", run_file(run)); /* files are found beside it */
    enum ker_status status =
        ker_config_parse_run(config, name, text, overrides, count, tables, run_plugin_sizes, &run->error);
    free(name);
    free(tables);
    return status;
}

/* ---- what may be changed ---- */

/* A key of a job that was not there. */
static bool is_further_job(const struct ker_config *saved, const char *key)
{
    return strncmp(key, "jobs[", 5) == 0 && atoll(key + 5) >= ker_config_count(saved, "jobs");
}

static enum ker_status key_check(struct run *run, const struct ker_config *saved, const char *key)
{
    const struct ker_option *option = ker_config_option(ker_registry_tables(ker_config_registry(saved)), key);
    if (!option)
        return ker_fail(&run->error, KER_BAD_INPUT,
                        "command line: %s: --resume changes single keys, by their present names", key);
    if (option->resume == KER_RESUME_FREE)
        return KER_OK;
    if (option->resume == KER_RESUME_FIXED && !is_further_job(saved, key) && ker_config_means_key(saved, key))
        return ker_fail(
            &run->error, KER_BAD_INPUT,
            "command line: %s: is fixed once a run has begun; --resume continues with what it was", key);
    run->resumed->forked = true;
    return KER_OK;
}

enum ker_status run_fork_check(struct run *run, const struct ker_config *saved)
{
    enum ker_status status = KER_OK;
    for (int i = 0; i < run->args->override_count && status == KER_OK; i++) {
        const char *override = run->args->overrides[i];
        char *key = ker_config_key_selected(saved, override);
        key[strcspn(key, "= \t")] = '\0';
        status = key_check(run, saved, key);
        free(key);
    }
    return status;
}

/* What is given again lies in the future. */
static enum ker_status times_check(struct run *run, const struct ker_config *saved)
{
    ker_time at = run->resumed->index.at;
    char text[32];
    if (ker_config_has(run->config, "run.end") && ker_config_time(run->config, "run.end") <= at)
        return ker_config_fail(run->config, &run->error, "run.end",
                               "comes before the time of the checkpoint, %s", ker_print_time(text, at));
    for (int job = ker_config_count(saved, "jobs"); job < ker_config_count(run->config, "jobs"); job++) {
        const char *key = KER_KEY("jobs[%d].start", job);
        if (ker_config_has(run->config, key) && ker_config_time(run->config, key) < at)
            return ker_config_fail(run->config, &run->error, key,
                                   "comes before the time of the checkpoint, %s; absent, the job starts then",
                                   ker_print_time(text, at));
    }
    return KER_OK;
}

/* Keys may have been given the values that they had: is it the same with those alone that change nothing? */
static bool changes_find(struct run *run)
{
    struct ker_config *same = NULL;
    const struct ker_option *const *tables = ker_registry_tables(ker_config_registry(run->config));
    const char **free_keys = ker_alloc(((size_t)run->args->override_count + 1) * sizeof *free_keys);
    int count = 0;
    for (int i = 0; i < run->args->override_count; i++) {
        char *key = ker_config_key_selected(run->resumed->former, run->args->overrides[i]);
        key[strcspn(key, "= \t")] = '\0';
        const struct ker_option *option = ker_config_option(tables, key);
        if (option && option->resume == KER_RESUME_FREE)
            free_keys[count++] = run->args->overrides[i];
        free(key);
    }
    bool changes = run_config_parse(run, run->resumed->index.config, &same, free_keys, count) == KER_OK;
    char *now = run_config_text(run->config), *before = changes ? run_config_text(same) : NULL;
    changes = changes && strcmp(now, before) != 0;
    free(now);
    free(before);
    free(free_keys);
    if (same)
        ker_config_free(same);
    return changes;
}

void run_fork_begin(struct run *run, struct ker_config *saved)
{
    struct run_resumed *r = run->resumed;
    if (!r->forked || times_check(run, saved) != KER_OK) {
        ker_config_free(saved);
        return;
    }
    r->former = saved;
    r->changes = changes_find(run);
    r->index.fork[r->index.forks++] = (struct run_fork){r->index.at, ker_format("%s", r->index.config)};
}

/* ---- what was valid before ---- */

void run_fork_tasks(struct run *run)
{
    const struct run_index *index = &run->resumed->index;
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; i < index->forks && status == KER_OK; i++) {
        struct ker_config *former = NULL;
        status = run_config_parse(run, index->fork[i].config, &former, NULL, 0);
        if (status != KER_OK)
            return;
        status = task_system_former(run->tasks, former, index->fork[i].until, &run->error);
        ker_config_free(former);
    }
    const char *missing = node_services_missing(&run->services);
    if (missing)
        ker_fail(&run->error, KER_BAD_INPUT, "%s: nodes had the service %s, which is not there any more",
                 run->resumed->folder, missing);
    run->resumed->renews = task_system_formers_end(run->tasks, index->at) && run->resumed->former;
}

void run_fork_state(struct run *run)
{
    const struct run_resumed *r = run->resumed;
    if (!r->former)
        return;
    run->kind->forked(run);
}
