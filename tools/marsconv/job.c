/* job.c - the job that replays a trace: see job.h. */
#include "tools/marsconv/job.h"

#include "routing/routing.h"
#include "storage/storage.h"
#include "tasks/jobs/jobs.h"
#include "tasks/mpi/mpi.h"
#include "tasks/programs/programs.h"
#include "traces/foreign/foreign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Between quotation marks in a configuration. */
static char *quoted(const char *path)
{
    char *text = ker_alloc(2 * strlen(path) + 1), *to = text;
    for (; *path; path++) {
        if (*path == '"' || *path == '\\')
            *to++ = '\\';
        *to++ = *path;
    }
    return text;
}

/* Keys that the command line decides: the clock of two, whose constants a format has that does not say it. */
static const char *decided(const char *format, const struct conv_options *options)
{
    if (strcmp(format, "mars") == 0)
        return options->wall ? "clock = \"wall\"; " : "clock = \"cpu\"; ";
    if (strcmp(format, "liballprof") == 0)
        return options->mpich ? "mpi_library = \"mpich\"; " : "mpi_library = \"openmpi\"; ";
    return "";
}

static enum ker_status config_of(struct ker_config **config, const char *path, const char *format,
                                 const struct conv_options *options, struct ker_error *error)
{
    const struct ker_option *tables[] = {task_job_options, mpi_options, store_options, route_options, NULL};
    char *full = realpath(path, NULL);
    if (!full)
        return ker_fail(error, KER_BAD_INPUT, "%s: %s", path, strerror(errno));
    char *name = quoted(full), **given = ker_alloc((options->keys + 1ul) * sizeof *given);
    for (unsigned i = 0; i < options->keys; i++)
        given[i] = ker_format("jobs[0].%s", options->key[i]);
    char *text = ker_format("jobs = ( { program = \"trace\"; trace = \"%s\"; format = \"%s\"; %s} );", name,
                            format, decided(format, options));
    enum ker_status status = ker_config_parse(config, "marsconv", text, (const char *const *)given,
                                              (int)options->keys, tables, error);
    ker_free_all(given, options->keys);
    free(text);
    free(name);
    free(full);
    return status;
}

/* The program with all tasks as its own. */
static enum ker_status program_open(struct conv_job *job, struct ker_error *error)
{
    const struct task_program_class *class = job->class;
    enum ker_status status =
        job->foreign
            ? foreign_open(&job->program, job->foreign, true, job->config, "jobs[0]", job->alone, error)
            : class->open(&job->program, job->config, "jobs[0]", job->alone, error);
    if (status != KER_OK)
        return status;
    uint32_t tasks = class->tasks(job->program), *own = ker_alloc(tasks * sizeof *own);
    for (uint32_t i = 0; i < tasks; i++)
        own[i] = i;
    if (class->hand)
        status = class->hand(job->program, own, tasks, job->alone, error);
    status = status ?: class->prepare(job->program, own, tasks, error);
    if (status == KER_OK && class->agree)
        status = class->agree(job->program, job->alone, error);
    free(own);
    return status;
}

enum ker_status conv_job_open(struct conv_job *job, const char *path, const char *format,
                              const struct conv_options *options, struct ker_error *error)
{
    job->alone = ker_comm_alone();
    enum ker_status status = config_of(&job->config, path, format, options, error);
    if (status != KER_OK)
        return status;
    job->class = task_trace_class(job->config, "jobs[0]", error);
    return job->class ? program_open(job, error) : KER_BAD_INPUT;
}

void conv_job_close(struct conv_job *job)
{
    if (job->program)
        job->class->close(job->program);
    if (job->config)
        ker_config_free(job->config);
    if (job->alone)
        ker_comm_release(job->alone);
    *job = (struct conv_job){0};
}
