/* waits.c - --no-waits: a trace whose calls last as long as they do by themselves, without what they waited
 * for other tasks. A replay can take such calls as they are, and find out by itself who waits for whom then
 * (jobs[].calls).
 *
 * The trace is read three times: to note when messages and collectives began and ended, to find what waited
 * for which, and to write. What is kept grows with messages and collectives: 24 bytes a message, 32 a task of
 * a collective.
 */
#include "tools/marsconv/waits.h"

/* Do all tasks say the time of day? Their clocks then are those of their hosts. Threads of a task cannot be
 * known in which order they called when their calls become shorter. */
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

static void record_change(void *waits, struct conv_record *record)
{
    uint64_t ns = waits_of(waits, record->thread, record->number);
    record->call.duration_ns -= ns < record->call.duration_ns ? ns : record->call.duration_ns;
}

bool conv_no_waits(struct conv_source *source, struct conv_sink *sink, struct mars_error *error)
{
    struct cut all = {.last = source->tasks - 1, .losses = sink->losses};
    struct cut_kept none = {0};
    bool known;
    if (source->untimed)
        return mars_fail(error, "%s: traces of the format %s do not say how long calls took", source->path,
                         source->name);
    if (!tasks_look(source, &known, error) || !cut_any_prepare(&all, source, error))
        return false;
    all.waits = waits_new(source->tasks, known);
    const struct conv_change change = {"waits", "removed", record_change, all.waits};
    bool fine = true;
    for (uint32_t i = 0; i < source->tasks && fine; i++)
        fine = cut_walk(&all, source, i, CUT_TIMES, &none, error);
    if (fine)
        waits_align(all.waits);
    fine = fine && conv_sink_create(sink, error);
    for (uint32_t i = 0; i < source->tasks && fine; i++) {
        waits_forget(all.waits);
        fine =
            cut_walk(&all, source, i, CUT_WAITS, &none, error) && conv_copy(source, sink, i, &change, error);
    }
    waits_free(all.waits);
    cut_any_release(&all);
    cut_release(&all);
    return fine;
}
