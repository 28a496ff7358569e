/* convert.c - a trace from one format into another: task by task, record by record. */
#include "tools/marsconv/conv.h"

#include "kernel/kernel.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool thread_copy(struct conv_task *task, struct conv_sink *sink, uint32_t thread,
                        struct mars_error *error)
{
    struct conv_record record;
    if (!conv_thread_open(task, thread, error) || !sink->format->begin(sink, task->about, thread, error))
        return false;
    while (conv_next(task, &record, error))
        if (!sink->format->put(sink, task->about, &record, error))
            return false;
    return !error->text[0];
}

static bool task_copy(struct conv_source *source, struct conv_sink *sink, uint32_t number,
                      struct mars_error *error)
{
    struct conv_task task;
    bool fine = conv_task_open(&task, source, number, error);
    for (uint32_t i = 0; fine && (i == 0 || i < task.about->threads); i++)
        fine = thread_copy(&task, sink, i, error);
    fine = fine && sink->format->end(sink, task.about, error);
    conv_task_close(&task);
    return fine;
}

static bool all_copy(struct conv_source *source, struct conv_sink *sink, struct mars_error *error)
{
    bool fine = sink->format->create(sink, error);
    for (uint32_t i = 0; fine && i < source->tasks; i++)
        fine = task_copy(source, sink, i, error);
    return fine;
}

void conv_write(struct conv_source *source, struct conv_sink *sink, const char *cut, struct mars_error *error)
{
    struct stat stat_;
    if (stat(sink->path, &stat_) == 0) {
        mars_fail(error, "%s: it is there already; a trace is written to a new place", sink->path);
        return;
    }
    bool fine = cut                       ? conv_cut(source, sink, cut, error)
                : sink->options->no_waits ? conv_no_waits(source, sink, error)
                                          : all_copy(source, sink, error);
    sink->format->finish(sink, fine, error);
}

int conv_convert(const char *from, const char *to, const struct conv_format *format, const char *cut,
                 const struct conv_options *options)
{
    struct mars_error error = {0};
    struct conv_source source = {0};
    struct conv_losses losses = {0};
    struct conv_sink sink = {.path = to, .options = options, .losses = &losses};
    if (conv_open(&source, from, options, &error)) {
        sink.format = format ? format : source.format;
        sink.tasks = source.tasks;
        conv_write(&source, &sink, cut, &error);
    }
    conv_losses_tell(&losses, to);
    conv_close(&source);
    if (!error.text[0])
        return 0;
    fprintf(stderr, "marsconv: error: %s\n", error.text);
    return 2;
}
