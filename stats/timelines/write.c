/* write.c - the files, format by format.
 *
 * A level is tried: all its records are read, and what does not fit into the budget any more is only counted.
 * If there was such, the next level is one at which this many bytes a record would fit.
 */
#include "stats/timelines/expand.h"
#include "stats/timelines/merge.h"
#include "stats/timelines/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct line_group *line_group_of(const struct line_plan *plan, uint32_t task)
{
    return &plan->group[KER_BISECT(i, 1, plan->groups, plan->group[i].first <= task) - 1];
}

char *line_plan_note(const struct line_plan *plan)
{
    char text[32];
    if (plan->records == plan->of)
        return ker_format("complete: %llu records", (unsigned long long)plan->of);
    return ker_format("sampled: %llu of %llu records: all that last %s or longer, of shorter ones a share in "
                      "proportion to their duration",
                      (unsigned long long)plan->records, (unsigned long long)plan->of,
                      plan->level < 63 ? ker_print_time(text, (ker_time)1 << plan->level) : "292 years");
}

/* What is the same for all formats. */
struct writing {
    struct stats_timeline *t;
    struct ker_comm *comm;
    struct line_plan plan;
    uint64_t held[LINE_LEVELS]; /* records by level, of all ranks; below `least` not all */
    uint8_t least;
    uint16_t *rename;
    char **name;
    struct ker_error *error;
};

static uint64_t records_from(const struct writing *w, uint8_t level)
{
    uint64_t sum = 0;
    for (int at = level; at < LINE_LEVELS; at++)
        sum += w->held[at];
    return sum;
}

static void writing_begin(struct writing *w, const char *folder, ker_time end)
{
    const struct line_settings *set = &w->t->set;
    int64_t most[3] = {w->t->store.level, w->t->store.why, w->t->streams};
    memcpy(w->held, w->t->store.held, sizeof w->held);
    w->plan = (struct line_plan){.group = set->group,
                                 .groups = set->groups,
                                 .tasks = set->tasks,
                                 .chosen = set->chosen,
                                 .from = set->from < end ? set->from : end,
                                 .to = set->to < end ? set->to : end,
                                 .end = end,
                                 .of = w->t->records,
                                 .folder = folder,
                                 .bytes = set->bytes};
    w->name = line_names_share(&w->t->names, w->comm, &w->plan.names, &w->rename);
    w->plan.name = w->name;
    ker_comm_sum_u64(w->comm, w->held, LINE_LEVELS);
    ker_comm_sum_u64(w->comm, &w->plan.of, 1);
    ker_comm_max_i64(w->comm, most, 3);
    w->plan.streams = most[2] ? (uint32_t)most[2] : 1;
    w->least = line_level_fitting(w->held, (uint8_t)most[0], line_records_most(set->bytes));
    if (most[1] && ker_comm_rank(w->comm) == 0)
        ker_fail(
            w->error, KER_RUN_FAILED,
            "the timeline is not whole: its records cannot be written to a temporary file: %s; TMPDIR can "
            "name a folder with more room, output.timeline_bytes asks for less",
            strerror((int)most[1]));
}

static void writing_end(struct writing *w)
{
    ker_free_all(w->name, w->plan.names);
    free(w->rename);
}

static void record_visit(void *context, const struct line_record *record)
{
    line_expand(context, record);
}

/* Collective. Returns, on rank 0, how many bytes the files have or would have; 0: they could not be made. */
static uint64_t level_try(struct writing *w, const struct line_format *format, uint8_t level, uint64_t *head)
{
    bool control = ker_comm_rank(w->comm) == 0;
    struct line_expansion e;
    w->plan.level = level;
    w->plan.records = records_from(w, level);
    *head = control ? format->least(&w->plan) : 0;
    struct line_writer *writer = control ? format->open(&w->plan, w->error) : NULL;
    bool failed = control && !writer;
    ker_comm_broadcast(w->comm, &failed, sizeof failed);
    if (failed)
        return 0;
    line_expand_begin(&e, format, writer, w->plan.tasks);
    line_merge(&w->t->store, level, w->rename, w->comm, record_visit, &e);
    line_expand_end(&e);
    return control ? format->close(writer, w->error) : 0;
}

/* The next level after one that needed this many bytes. */
static uint8_t level_next(const struct writing *w, uint8_t level, uint64_t head, uint64_t bytes)
{
    uint64_t records = records_from(w, level), room = w->plan.bytes > head ? w->plan.bytes - head : 0;
    double share = bytes > head ? (double)room / (double)(bytes - head) : 0;
    uint8_t next = line_level_fitting(w->held, level, (uint64_t)((double)records * share));
    return next > level ? next : (uint8_t)(level + 1);
}

static json_t *format_write(struct writing *w, const struct ker_kind *kind)
{
    const struct line_format *format = kind->operations;
    uint8_t level = w->least;
    uint64_t bytes, head;
    bool again;
    do {
        uint8_t next = level;
        bytes = level_try(w, format, level, &head);
        again = bytes > w->plan.bytes && level + 1 < LINE_LEVELS && w->error->status == KER_OK;
        if (again)
            next = level_next(w, level, head, bytes);
        ker_comm_broadcast(w->comm, &again, sizeof again);
        ker_comm_broadcast(w->comm, &next, sizeof next);
        level = next;
    } while (again);
    if (ker_comm_rank(w->comm) != 0)
        return NULL;
    if (bytes > w->plan.bytes)
        ker_fail(w->error, KER_RUN_FAILED,
                 "output.timeline_bytes: is too little for anything: %s needs %llu bytes without any record",
                 kind->name, (unsigned long long)bytes);
    char *note = line_plan_note(&w->plan);
    json_t *said = json_pack("{s:s, s:s, s:I, s:I, s:I, s:s}", "format", kind->name, "file", format->file,
                             "bytes", (json_int_t)bytes, "records", (json_int_t)w->plan.records, "of",
                             (json_int_t)w->plan.of, "note", note);
    free(note);
    return said;
}

json_t *stats_timeline_write(struct stats_timeline *t, struct ker_comm *comm, const char *folder,
                             ker_time end, struct ker_error *error)
{
    struct writing w = {.t = t, .comm = comm, .error = error};
    json_t *list = ker_comm_rank(comm) == 0 ? json_array() : NULL;
    writing_begin(&w, folder, end);
    if (list && w.plan.of == 0)
        ker_warn("output.timeline: nothing was recorded: nothing happened in its span");
    for (int i = 0; i < t->set.formats; i++) {
        json_t *said = format_write(&w, t->set.format[i]);
        if (list)
            json_array_append_new(list, said);
    }
    writing_end(&w);
    return list;
}
