/* traced.c - when the calls of a trace were made, for timelines: the trace is read once more.
 *
 * The beginning is when the first call of a task (MPI_Init) was over, of the earliest one, by the time of day
 * of its host: the replay gives that call no time. What lies before is cut off. Hosts whose clocks differ are
 * apart by as much. Inside a task times are those of its records, without what the tracer itself took.
 */
#include "traces/replay/program.h"

#include <stdlib.h>

struct walk {
    struct mars_trace *trace;
    const struct task_traced *to;
    uint64_t origin; /* time of day, ns */
    struct mars_error why;
};

/* Of a thread: begins and ends of its calls, by the time of day. */
struct clock {
    uint64_t elapsed, end; /* behind the last record */
};

static void clock_next(struct clock *c, const struct mars_stream *stream, const struct mars_record *r,
                       uint64_t *before, uint64_t *begin)
{
    uint64_t elapsed = mars_stream_elapsed_ns(stream), now = mars_stream_now_ns(stream),
             call = elapsed - c->elapsed - r->gap_ns;
    *begin = now > call ? now - call : 0;
    *begin = *begin > c->end ? *begin : c->end;
    *before = c->end && c->end < *begin ? c->end : *begin;
    c->end = now > *begin ? now : *begin;
    c->elapsed = elapsed;
}

/* ---- the beginning ---- */

static bool origin_look(struct walk *w, const struct mars_task *task)
{
    struct mars_stream *stream;
    struct mars_record r;
    struct clock c = {0};
    uint64_t before, begin;
    if (!mars_stream_open(&stream, task, 0, &w->why))
        return false;
    if (mars_stream_next(stream, &r, &w->why)) {
        clock_next(&c, stream, &r, &before, &begin);
        w->origin = c.end < w->origin ? c.end : w->origin;
    }
    mars_stream_close(stream);
    return !w->why.text[0];
}

/* ---- the calls ---- */

static const int64_t *field_of(const struct mars_record *r, enum mars_field field)
{
    int at = r->function->at[field];
    return at < 0 ? NULL : &r->value[at].number;
}

static ker_time since(const struct walk *w, uint64_t day_ns)
{
    return day_ns > w->origin ? (ker_time)(day_ns - w->origin) * KER_NS : 0;
}

static bool thread_show(struct walk *w, const struct mars_task *task, uint32_t thread, uint32_t *number)
{
    struct mars_stream *stream;
    struct mars_record r;
    struct clock c = {0};
    uint64_t before, begin;
    if (!mars_stream_open(&stream, task, thread, &w->why))
        return false;
    while (mars_stream_next(stream, &r, &w->why)) {
        const int64_t *peer = field_of(&r, MARS_FIELD_dest);
        peer = peer ? peer : field_of(&r, MARS_FIELD_source);
        peer = peer ? peer : field_of(&r, MARS_FIELD_root);
        clock_next(&c, stream, &r, &before, &begin);
        w->to->call(w->to->context, &(struct task_traced_call){.task = task->number,
                                                               .thread = thread,
                                                               .number = (*number)++,
                                                               .function = r.function->name,
                                                               .before = since(w, before),
                                                               .begin = since(w, begin),
                                                               .end = since(w, c.end),
                                                               .bytes = mars_record_bytes(&r),
                                                               .peer = peer,
                                                               .tag = field_of(&r, MARS_FIELD_tag),
                                                               .comm = field_of(&r, MARS_FIELD_comm)});
    }
    mars_stream_close(stream);
    return !w->why.text[0];
}

static bool task_show(struct walk *w, const struct mars_task *task)
{
    uint32_t number = 0;
    for (uint32_t thread = 0; thread < task->threads; thread++)
        if (!thread_show(w, task, thread, &number))
            return false;
    return true;
}

static bool tasks_walk(struct walk *w, uint32_t tasks, bool all,
                       bool (*each)(struct walk *, const struct mars_task *))
{
    bool good = true;
    for (uint32_t i = 0; i < tasks && good; i++) {
        struct mars_task *task;
        if (!all && !w->to->wanted(w->to->context, i))
            continue;
        good = mars_task_open(&task, w->trace, i, &w->why);
        if (good)
            good = each(w, task);
        mars_task_close(task);
    }
    return good;
}

enum ker_status replay_traced(const struct task_program *program, const struct task_traced *to,
                              struct ker_error *error)
{
    struct walk w = {.to = to, .origin = UINT64_MAX};
    bool good = mars_trace_open(&w.trace, program->path, &w.why) &&
                tasks_walk(&w, program->base.tasks, true, origin_look) &&
                tasks_walk(&w, program->base.tasks, false, task_show);
    mars_trace_close(w.trace);
    return good ? KER_OK : ker_fail(error, KER_RUN_FAILED, "the traced timeline: %s", w.why.text);
}
