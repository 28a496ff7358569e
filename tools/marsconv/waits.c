/* waits.c - --no-waits: a trace whose calls last as long as they do by themselves, without what they waited
 * for other tasks. A replay can take such calls as they are, and find out by itself who waits for whom then
 * (jobs[].calls).
 *
 * The trace is read three times: to note when messages and collectives began and ended, to find what waited
 * for which, and to write. What is kept grows with messages and collectives: 24 bytes a message, 32 a task of
 * a collective.
 */
#include "tools/marsconv/waits.h"

#include <stdlib.h>
#include <string.h>

/* Do all tasks say the time of day? Their clocks then are those of their hosts. Threads of a task cannot be
 * told in which order they called when their calls become shorter. */
static bool tasks_look(struct conv_source *source, bool *time_of_day, struct mars_error *error)
{
    *time_of_day = true;
    for (uint32_t i = 0; i < source->tasks && !error->text[0]; i++) {
        struct conv_task task;
        struct conv_record record;
        if (conv_task_open(&task, source, i, error) && conv_thread_open(&task, CONV_ALL, error) &&
            conv_next(&task, &record, error))
            *time_of_day = *time_of_day && record.over_ns > 0;
        if (!error->text[0] && task.about->threads > 1)
            mars_fail(error, "%s: task %u has calls of %u threads, whose waits cannot be taken out",
                      source->path, i, task.about->threads);
        conv_task_close(&task);
    }
    return !error->text[0];
}

/* A task's definitions, to which the reader may add with each record, and what was done with it. */
struct about {
    struct mars_task with;
    uint32_t known; /* infos of the task's own */
};

static void about_sync(struct about *about, const struct mars_task *is)
{
    void *info = about->with.info;
    if (!info || about->known < is->infos) {
        free(info);
        info = ker_alloc((is->infos + 1ul) * sizeof *is->info);
        memcpy(info, is->info, is->infos * sizeof *is->info);
        about->known = is->infos;
    }
    about->with = *is;
    about->with.info = info;
    about->with.info[is->infos].key = (char *)"waits";
    about->with.info[is->infos].value = (char *)"removed";
    about->with.infos++;
}

static bool thread_write(struct waits *waits, struct conv_task *task, struct about *about,
                         struct conv_sink *sink, uint32_t thread, struct mars_error *error)
{
    struct conv_record record;
    bool fine = conv_thread_open(task, thread, error);
    if (fine)
        about_sync(about, task->about);
    fine = fine && sink->format->begin(sink, &about->with, thread, error);
    while (fine && conv_next(task, &record, error)) {
        uint64_t ns = waits_of(waits, thread, record.number);
        record.call.duration_ns -= ns < record.call.duration_ns ? ns : record.call.duration_ns;
        about_sync(about, task->about);
        fine = sink->format->put(sink, &about->with, &record, error);
    }
    return fine && !error->text[0];
}

static bool task_write(struct waits *waits, struct conv_source *source, struct conv_sink *sink,
                       uint32_t number, struct mars_error *error)
{
    struct conv_task task;
    struct about about = {0};
    bool fine = conv_task_open(&task, source, number, error);
    for (uint32_t i = 0; fine && (i == 0 || i < task.about->threads); i++)
        fine = thread_write(waits, &task, &about, sink, i, error);
    if (fine)
        about_sync(&about, task.about);
    fine = fine && sink->format->end(sink, &about.with, error);
    conv_task_close(&task);
    free(about.with.info);
    return fine;
}

bool conv_no_waits(struct conv_source *source, struct conv_sink *sink, struct mars_error *error)
{
    struct cut all = {.last = source->tasks - 1, .losses = sink->losses};
    struct cut_kept none = {0};
    bool known;
    if (!tasks_look(source, &known, error) || !cut_any_prepare(&all, source, error))
        return false;
    all.waits = waits_new(source->tasks, known);
    bool fine = true;
    for (uint32_t i = 0; i < source->tasks && fine; i++)
        fine = cut_walk(&all, source, i, CUT_TIMES, &none, error);
    if (fine)
        waits_align(all.waits);
    fine = fine && sink->format->create(sink, error);
    for (uint32_t i = 0; i < source->tasks && fine; i++) {
        waits_forget(all.waits);
        fine = cut_walk(&all, source, i, CUT_WAITS, &none, error) &&
               task_write(all.waits, source, sink, i, error);
    }
    waits_free(all.waits);
    cut_any_release(&all);
    cut_release(&all);
    return fine;
}
