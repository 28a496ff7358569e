/* goal.c - traces as GOAL schedules: the calls are those of the replay, so that a schedule is what marssim
 * would run. */
#include "tools/marsconv/job.h"

#include "tasks/graphs/graph.h"
#include "tasks/graphs/graphs.h"
#include "tasks/graphs/pattern.h"
#include "tasks/jobs/jobs.h"
#include "tasks/mpi/mpi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void losses_print(const struct goal_losses *lost, const char *path)
{
    struct conv_losses losses = {0};
    if (lost->synchronous)
        conv_lost(&losses, lost->synchronous, "a synchronous send is written as a standard one");
    if (lost->probes)
        conv_lost(&losses, lost->probes, "a probe is left out");
    if (lost->tests)
        conv_lost(&losses, lost->tests, "a test is left out, of which the trace does not say what it found");
    if (lost->any_tags)
        conv_lost(&losses, lost->any_tags,
                  "a receive of any tag may take messages of other communicators and of collectives");
    conv_losses_print(&losses, path);
}

/* OUT, which must be new; NULL on failure. */
static FILE *schedule_open(const char *path, struct ker_error *error)
{
    FILE *to = fopen(path, "wx");
    if (!to && errno == EEXIST)
        ker_fail(error, KER_BAD_INPUT, "%s: it is there already; a schedule is written to a new place", path);
    else if (!to)
        ker_fail(error, KER_BAD_INPUT, "%s: %s", path, strerror(errno));
    return to;
}

/* It is removed if it could not be written, or what is in it. */
static enum ker_status schedule_close(FILE *to, const char *path, enum ker_status status,
                                      struct ker_error *error)
{
    bool bad = ferror(to);
    bad |= fclose(to) != 0;
    if (status == KER_OK && bad)
        status = ker_fail(error, KER_RUN_FAILED, "%s: %s", path, strerror(errno));
    if (status != KER_OK)
        unlink(path);
    return status;
}

static enum ker_status trace_write(const char *path, const struct task_program_class *class,
                                   struct task_program *program, const struct ker_config *config,
                                   struct ker_error *error)
{
    struct task_coll_table collectives;
    struct goal_losses lost;
    enum ker_status status = task_coll_table_init(&collectives, config, error);
    FILE *to = status == KER_OK ? schedule_open(path, error) : NULL;
    if (to) {
        status = goal_write(to, class, program, &collectives, &lost, error);
        status = schedule_close(to, path, status, error);
    }
    task_coll_table_release(&collectives);
    if (to && status == KER_OK)
        losses_print(&lost, path);
    return to ? status : error->status;
}

static enum ker_status trace_convert(const char *from, const char *format, const char *path,
                                     const struct conv_options *options, struct ker_error *error)
{
    struct conv_job job = {0};
    enum ker_status status = conv_job_open(&job, from, format, options, error);
    status = status ?: trace_write(path, job.class, job.program, job.config, error);
    conv_job_close(&job);
    return status;
}

#define UNIT 1000 /* three digits of a fraction are kept */

static enum ker_status schedule_convert(const char *from, const char *path, struct ker_error *error)
{
    struct graph_form form = {.path = "jobs[0]", .unit = UNIT};
    struct graph *graph = NULL;
    uint32_t tasks;
    enum ker_status status = graph_goal_tasks(from, &tasks, error);
    status = status ?: graph_goal_read(&graph, from, &form, 0, tasks, error);
    FILE *to = status == KER_OK ? schedule_open(path, error) : NULL;
    if (to) {
        graph_goal_write(to, graph, UNIT);
        schedule_close(to, path, KER_OK, error);
    }
    graph_free(graph);
    return error->status;
}

static int status_of(const struct ker_error *error)
{
    if (error->status == KER_OK)
        return 0;
    fprintf(stderr, "marsconv: error: %s\n", error->text);
    return 2;
}

int conv_goal(const char *from, const char *to, const struct conv_options *options)
{
    struct ker_error error = {.status = KER_OK};
    struct mars_error unknown = {0};
    struct conv_source source;
    if (!conv_find(&source, from, options, &unknown))
        ker_fail(&error, KER_BAD_INPUT, "%s", unknown.text);
    else if (source.format == &conv_schedule)
        schedule_convert(from, to, &error);
    else
        trace_convert(from, source.name, to, options, &error);
    return status_of(&error);
}

/* The keys are those of a job. */
static enum ker_status pattern_config(struct ker_config **config, const char *pattern,
                                      const char *const *keys, unsigned count, struct ker_error *error)
{
    static const struct ker_option run_options[] = {{"run.seed", KER_TYPE_INT, "1", "0", NULL, NULL, "seed"},
                                                    {0}};
    const struct ker_option *tables[] = {task_job_options, run_options, NULL};
    char **given = ker_alloc((count + 1u) * sizeof *given);
    for (unsigned i = 0; i < count; i++)
        given[i] = ker_format(strncmp(keys[i], "run.", 4) == 0 ? "%s" : "jobs[0].%s", keys[i]);
    given[count] = ker_format("jobs[0].pattern=%s", pattern);
    enum ker_status status = ker_config_parse(config, "marsconv", "jobs = ( { program = \"schedule\"; } );",
                                              (const char *const *)given, (int)count + 1, tables, error);
    ker_free_all(given, count + 1u);
    return status;
}

int conv_pattern(const char *name, const char *const *keys, unsigned count, const char *path)
{
    struct ker_error error = {.status = KER_OK};
    struct ker_config *config = NULL;
    struct graph_pattern *pattern = NULL;
    enum ker_status status = pattern_config(&config, name, keys, count, &error);
    if (status == KER_OK)
        status = graph_pattern_open(&pattern, config, "jobs[0]", (uint64_t)ker_config_int(config, "run.seed"),
                                    true, &error);
    FILE *to = status == KER_OK ? schedule_open(path, &error) : NULL;
    if (to) {
        graph_pattern_write(to, pattern, UNIT);
        schedule_close(to, path, KER_OK, &error);
    }
    graph_pattern_close(pattern);
    if (config)
        ker_config_free(config);
    return status_of(&error);
}
