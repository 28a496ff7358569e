/* foreign.c - traces of other tools (SimGrid, OTF2, Dimemas), as the simulator reads them: the reader makes
 * operations of a trace, and those become records again (foreign_record.c). What a reader refuses is refused.
 *
 * The operations of all tasks are kept in a few bytes each, beyond jobs[].trace_memory in a temporary file.
 */
#include "tools/marsconv/foreign.h"
#include "traces/traces.h"

#include <stdlib.h>

static bool trace_open(struct conv_source *source, struct mars_error *error)
{
    struct conv_job *job = ker_alloc(sizeof *job);
    struct ker_error wrong = {.status = KER_OK};
    source->own = job;
    job->opened = foreign_times;
    if (conv_job_open(job, source->path, source->name, source->options, &wrong) != KER_OK) {
        source->found = job->unfit;
        return mars_fail(error, "%s", wrong.text);
    }
    source->tasks = job->class->tasks(job->program);
    return true;
}

static void trace_close(struct conv_source *source)
{
    if (source->own)
        conv_job_close(source->own);
    free(source->own);
    source->own = NULL;
}

/* The reader has told what it assumes. */
static const char *foreign_warning(const struct conv_source *source, uint32_t number)
{
    (void)source;
    (void)number;
    return NULL;
}

/* ---- a task ---- */

static bool foreign_task_open(struct conv_task *task, uint32_t number, struct mars_error *error)
{
    const struct conv_job *job = task->source->own;
    struct cfr_reading *r = ker_alloc(sizeof *r);
    int32_t comms;
    const struct task_comm *comm = job->class->comms(job->program, &comms);
    task->own = r;
    r->program = job->program;
    r->lists = task->source->foreign->lists;
    conv_about_begin(&r->about, number, task->source->tasks, comm, comms, 1, task->source->name);
    if (!r->lists)
        conv_about_info(&r->about, "counts", "assumed");
    task->about = r->about.task;
    (void)error;
    return true;
}

static void foreign_task_close(struct conv_task *task)
{
    struct cfr_reading *r = task->own;
    if (!r)
        return;
    cfr_end(r);
    conv_made_release(&r->made);
    conv_about_end(&r->about);
    mars_task_close(task->about);
    free(r);
}

static bool foreign_thread_open(struct conv_task *task, uint32_t thread, struct mars_error *error)
{
    cfr_end(task->own);
    cfr_begin(task->own);
    (void)thread; /* tasks have one */
    (void)error;
    return true;
}

static bool foreign_record_next(struct conv_task *task, struct conv_record *record, struct mars_error *error)
{
    record->number = task->number + 1;
    (void)error; /* everything was checked when it was opened */
    return cfr_next(task->own, record);
}

static void foreign_place(const struct conv_task *task, uint64_t number, char *text, size_t room)
{
    const struct cfr_reading *r = task->own;
    int length = snprintf(text, room, "%s: task %u, call %llu", task->source->path, task->about->number,
                          (unsigned long long)number);
    if (number == task->number && r->line && length > 0 && (size_t)length < room)
        snprintf(text + length, room - (size_t)length, " (line %u)", r->line);
}

const struct conv_format conv_foreign = {
    .keys = true,
    .open = trace_open,
    .close = trace_close,
    .warning = foreign_warning,
    .task_open = foreign_task_open,
    .task_close = foreign_task_close,
    .thread_open = foreign_thread_open,
    .next = foreign_record_next,
    .place = foreign_place,
};
