/* cut_write.c - the records of a task in the part.
 *
 * What is not kept leaves its computation to the next record of its thread that is. Requests that are still
 * active at the end are waited for. Calls of several threads are read in one order and keep the time of day
 * at which they were over, so that they will be read in this order again; a thread without a call in the part
 * is not there.
 */
#include "tools/marsconv/cut_write.h"

#include <stdlib.h>
#include <string.h>

/* ---- a record that is kept ---- */

/* The time of day when it is over: as it was; of one that the trace has not, behind the one before. */
static void times_set(const struct cut_writing *w, struct cut_thread *t, struct conv_record *copy)
{
    struct mars_record *r = &copy->call;
    uint64_t inside = r->gap_ns + r->duration_ns + r->rest_ns;
    copy->start_ns = t->time_ns + r->gap_ns;
    t->time_ns += inside;
    if (copy->over_ns == 0 && t->over_ns)
        copy->over_ns = t->over_ns + inside;
    if (w->threads > 1)
        r->own_ns = copy->over_ns > t->over_ns + inside ? copy->over_ns - t->over_ns - inside : 0;
    t->over_ns = copy->over_ns;
}

static bool record_put(struct cut_writing *w, const struct conv_record *record,
                       const struct mars_value *value)
{
    struct cut_thread *t = &w->thread[record->thread];
    struct conv_record copy = *record;
    cut_about_sync(w);
    if (!t->begun) {
        t->begun = true;
        t->number = w->begun++;
        if (!conv_sink_begin(w->sink, &w->about, t->number, w->error))
            return false;
    }
    copy.thread = t->number;
    copy.call.value = value;
    if (!record->first) {
        copy.call.gap_ns = t->gap_ns;
        copy.call.away_ns = t->away_ns;
    }
    copy.number = ++t->records;
    times_set(w, t, &copy);
    t->gap_ns = t->away_ns = 0;
    if (record->thread == 0)
        w->calls += record->call.polls;
    return conv_sink_put(w->sink, &w->about, &copy, w->error);
}

/* One that the trace has not. */
static bool added_put(struct cut_writing *w, const struct mars_function *f, const struct mars_value *value)
{
    static const uint64_t counted[4];
    struct conv_record record = {.call = {.function = f, .polls = 1, .counted = counted}};
    return record_put(w, &record, value);
}

static bool requests_finish(struct cut_writing *w)
{
    size_t count = 0;
    int64_t *list = cut_list_begin(w, 0, w->requests), *done = cut_list_begin(w, 1, 4 * w->requests);
    for (size_t i = 1; i < w->requests; i++)
        if (w->request[i].kept & 1) {
            done[4 * count] = (int64_t)count;
            done[4 * count + 1] = MARS_FROM_UNKNOWN;
            done[4 * count + 2] = done[4 * count + 3] = 0;
            list[count++] = (int64_t)i;
        }
    if (count == 0)
        return true;
    conv_lost(w->cut->losses, count, "a request that does not complete in the part is waited for at its end");
    const struct mars_function *f = cut_function(w, "MPI_Waitall", "requests[] done[]");
    struct mars_value value[2];
    value[f->at[MARS_FIELD_requests]] = (struct mars_value){.count = (uint32_t)count, .list = list};
    value[f->at[MARS_FIELD_done]] = (struct mars_value){.count = (uint32_t)(4 * count), .list = done};
    return added_put(w, f, value);
}

/* ---- all of them ---- */

/* What of the computation before the record, which begins at at_ns, is in the part. */
static void gap_add(struct cut_writing *w, const struct conv_record *record, uint64_t at_ns)
{
    struct cut_thread *t = &w->thread[record->thread];
    uint64_t gap = record->call.gap_ns, end = at_ns, start = end > gap ? end - gap : 0;
    if (w->cut->by_time) {
        start = start > w->cut->from_ns ? start : w->cut->from_ns;
        end = end < w->cut->to_ns ? end : w->cut->to_ns;
    }
    gap = end > start ? end - start : 0;
    t->gap_ns += gap;
    t->away_ns += record->call.away_ns < gap ? record->call.away_ns : gap;
}

/* Where the other threads begin and end among the first one's calls that are left. */
static void first_read(struct cut_writing *w, const struct conv_record *record)
{
    w->calls_read += record->call.polls;
    for (uint32_t i = 1; i < w->threads; i++) {
        struct cut_thread *t = &w->thread[i];
        if (t->after_cut == UINT64_MAX && w->calls_read >= t->after)
            t->after_cut = w->calls;
        if (t->ended_cut == UINT64_MAX && w->calls_read >= t->ended)
            t->ended_cut = w->calls;
    }
}

static bool record_write(struct cut_writing *w)
{
    const struct conv_record *record = &w->at.record;
    const struct mars_record *r = &record->call;
    uint64_t at_ns;
    enum cut_place place = cut_place_of(w->cut, &w->clock, &w->at.task, record, &at_ns);
    int64_t comm = conv_walk_comm(&w->at);
    bool last = strcmp(r->function->name, "MPI_Finalize") == 0;
    cut_about_sync(w);
    KER_RESERVE(w->value, w->values, r->function->fields + 1);
    if (r->function->fields)
        memcpy(w->value, r->value, r->function->fields * sizeof *w->value);
    if (!record->first)
        gap_add(w, record, at_ns);
    if (last && !requests_finish(w))
        return false;
    bool keep = cut_keep(w, r, &comm, place) || record->first || (last && !w->finalised);
    w->finalised = w->finalised || last;
    bool fine = !keep || record_put(w, record, w->value);
    if (record->thread == 0)
        first_read(w, record);
    return fine;
}

static bool task_end(struct cut_writing *w)
{
    if (!w->finalised && !(requests_finish(w) && added_put(w, cut_function(w, "MPI_Finalize", ""), NULL)))
        return false;
    cut_about_threads(w);
    cut_about_sync(w);
    return conv_sink_end(w->sink, &w->about, w->error);
}

/* The first thread is there whether it calls anything or not. */
static bool threads_begin(struct cut_writing *w)
{
    const struct mars_task *about = w->at.task.about;
    w->threads = about->threads ? about->threads : 1;
    w->thread = ker_alloc(w->threads * sizeof *w->thread);
    for (uint32_t i = 0; i < w->threads; i++)
        w->thread[i] = (struct cut_thread){.after = mars_thread_info(about, i, "after", 1),
                                           .ended = mars_thread_info(about, i, "ended", UINT64_MAX),
                                           .after_cut = UINT64_MAX,
                                           .ended_cut = UINT64_MAX};
    w->thread[0].begun = true;
    w->begun = 1;
    return conv_sink_begin(w->sink, &w->about, 0, w->error);
}

bool cut_task_write(struct cut *cut, struct conv_source *source, struct conv_sink *sink, uint32_t number,
                    const struct cut_kept *kept, struct mars_error *error)
{
    struct cut_writing *w = ker_alloc(sizeof *w);
    *w = (struct cut_writing){.cut = cut, .sink = sink, .kept = kept, .error = error};
    bool fine = conv_walk_begin(&w->at, source, number, CONV_ALL, error);
    if (fine) {
        cut_about_begin(w);
        fine = threads_begin(w);
    }
    while (fine && conv_walk_next(&w->at, error))
        fine = record_write(w);
    fine = fine && !error->text[0] && task_end(w);
    cut_about_end(w);
    conv_walk_end(&w->at);
    cut_windows_release(w);
    KER_FREE(w->thread, w->request, w->sum, w->value);
    for (int i = 0; i < 3; i++)
        free(w->list[i]);
    free(w);
    return fine;
}
