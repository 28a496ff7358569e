/* foreign.c - traces of other tools (liballprof, SimGrid, OTF2, Dimemas), as the simulator reads them: the
 * reader makes operations of a trace, and those become records (foreign_record.c). What a reader refuses is
 * refused.
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
    job->foreign = source->foreign;
    if (conv_job_open(job, source->path, source->name, source->options, &wrong) != KER_OK) {
        source->found = job->program && foreign_unfit(job->program);
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

/* ---- a task ---- */

static bool foreign_task_open(struct conv_task *task, uint32_t number, struct mars_error *error)
{
    const struct conv_job *job = task->source->own;
    struct cfr_reading *r = ker_alloc(sizeof *r);
    int32_t comms;
    const struct task_comm *comm = job->class->comms(job->program, &comms);
    task->own = r;
    r->program = job->program;
    r->reader = task->source->foreign;
    r->by_line = r->reader->file;
    conv_about_begin(&r->about, number, task->source->tasks, comm, comms, r->reader->calls ? 1000 : 1,
                     task->source->name);
    if (!r->reader->lists)
        conv_about_info(r->about.task, "counts", "assumed");
    task->about = r->about.task;
    (void)error;
    return true;
}

static void foreign_task_close(struct conv_task *task)
{
    struct cfr_reading *r = task->own;
    if (!r)
        return;
    if (r->missing)
        conv_warn("%s: task %u: counts of collectives are not in the trace; they count as 0 bytes",
                  task->source->path, r->about.task->number);
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
    struct cfr_reading *r = task->own;
    (void)error; /* everything was checked when it was opened */
    if (!cfr_next(r, record))
        return false;
    record->number = r->by_line ? r->line : task->number + 1;
    return true;
}

static void foreign_place(const struct conv_task *task, uint64_t number, char *text, size_t room)
{
    const struct cfr_reading *r = task->own;
    const struct conv_job *job = task->source->own;
    char *file = foreign_file(job->program, task->about->number);
    if (file) {
        snprintf(text, room, "%s:%llu", file, (unsigned long long)number);
        free(file);
        return;
    }
    int length = snprintf(text, room, "%s: task %u, call %llu", task->source->path, task->about->number,
                          (unsigned long long)number);
    if (number == task->number && r->line && length > 0 && (size_t)length < room)
        snprintf(text + length, room - (size_t)length, " (line %u)", r->line);
}

const struct conv_format conv_foreign = {
    .keys = true,
    .open = trace_open,
    .close = trace_close,
    .task_open = foreign_task_open,
    .task_close = foreign_task_close,
    .thread_open = foreign_thread_open,
    .next = foreign_record_next,
    .place = foreign_place,
};
