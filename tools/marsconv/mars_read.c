/* mars_read.c - traces of marstrace, read; mars_write.c writes them. */
#include "tools/marsconv/conv.h"

#include "kernel/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool mars_open(struct conv_source *source, struct mars_error *error)
{
    struct mars_trace *trace = NULL;
    if (!mars_trace_open(&trace, source->path, error))
        return false;
    source->own = trace;
    source->tasks = mars_trace_tasks(trace);
    return true;
}

static void mars_close(struct conv_source *source)
{
    mars_trace_close(source->own);
}

static const char *mars_warning(const struct conv_source *source, uint32_t number)
{
    return mars_trace_warning(source->own, number);
}

struct reading {
    struct mars_stream *stream;  /* of one thread */
    struct mars_threads threads; /* or of all */
    uint64_t *elapsed;           /* of each thread: before its next record */
    bool assumes;                /* counts: it was converted from a format without them */
};

static bool mars_read_task(struct conv_task *task, uint32_t number, struct mars_error *error)
{
    task->own = ker_alloc(sizeof(struct reading));
    return mars_task_open(&task->about, task->source->own, number, error);
}

static void reading_reset(struct reading *r)
{
    mars_stream_close(r->stream);
    mars_threads_close(&r->threads);
    free(r->elapsed);
    *r = (struct reading){0};
}

static void mars_read_end(struct conv_task *task)
{
    if (task->own)
        reading_reset(task->own);
    mars_task_close(task->about);
    free(task->own);
}

static bool mars_read_thread(struct conv_task *task, uint32_t thread, struct mars_error *error)
{
    struct reading *r = task->own;
    reading_reset(r);
    const char *counts = mars_task_info(task->about, "counts");
    r->assumes = counts && strcmp(counts, "assumed") == 0;
    r->elapsed = ker_alloc((task->about->threads + 1ul) * sizeof *r->elapsed);
    if (thread == CONV_ALL && task->about->threads > 1)
        return mars_threads_open(&r->threads, task->about, error);
    return mars_stream_open(&r->stream, task->about, thread == CONV_ALL ? 0 : thread, error);
}

static bool mars_read_next(struct conv_task *task, struct conv_record *record, struct mars_error *error)
{
    struct reading *r = task->own;
    if (r->stream) {
        if (!mars_stream_next(r->stream, &record->call, error))
            return false;
        record->number = task->number + 1;
        record->over_ns = mars_stream_now_ns(r->stream);
    } else {
        if (!mars_threads_next(&r->threads, error))
            return false;
        const struct mars_thread *thread = &r->threads.thread[r->threads.now];
        record->call = thread->record;
        record->thread = r->threads.now;
        record->number = thread->records + 1;
        record->over_ns = thread->end_ns;
    }
    const int16_t *at = record->call.function->at;
    record->assumed = r->assumes && (at[MARS_FIELD_bytes_each] >= 0 || at[MARS_FIELD_recvbytes_each] >= 0);
    uint64_t *elapsed = &r->elapsed[record->thread];
    record->first = record->number == 1 && record->thread == 0;
    record->start_ns = *elapsed + record->call.gap_ns;
    *elapsed = record->start_ns + record->call.duration_ns + record->call.rest_ns;
    return true;
}

static void mars_place(const struct conv_task *task, uint64_t number, char *text, size_t room)
{
    if (task->about->threads > 1)
        snprintf(text, room, "%s: task %u, thread %u, call %llu", task->source->path, task->about->number,
                 task->thread, (unsigned long long)number);
    else
        snprintf(text, room, "%s: task %u, call %llu", task->source->path, task->about->number,
                 (unsigned long long)number);
}

const struct conv_format conv_mars = {
    .name = "mars",
    .open = mars_open,
    .close = mars_close,
    .warning = mars_warning,
    .task_open = mars_read_task,
    .task_close = mars_read_end,
    .thread_open = mars_read_thread,
    .next = mars_read_next,
    .place = mars_place,
};
