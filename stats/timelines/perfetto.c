/* perfetto.c - timeline.json, the JSON of Chrome's "Trace Event Format", which Perfetto and speedscope open.
 *
 * One event a line. A job is a process, numbered from 1, a task a thread of it, numbered from 1. Times are in
 * microseconds with up to six decimals, exact. Computations, calls and waits are complete events ("X"), waits
 * inside their calls. A message is an arrow ("s" at the sender, "f" at the receiver), and what is known of it
 * is with its beginning; the arrow ends a picosecond early, so that it ends inside the call that has
 * received it, as the viewers want it. The links of the network are a process behind the jobs, a link a
 * thread.
 */
#include "stats/timelines/format.h"
#include "stats/timelines/out.h"

#include <stdlib.h>

#define PLACE_BYTES 48
#define PIECE_BYTES 64

/* Text that many events have. */
struct piece {
    char *text; /* PIECE_BYTES at least are there */
    size_t bytes;
};
struct place {
    char text[PLACE_BYTES]; /* copied as a whole */
    uint8_t bytes;          /* 0: not made yet */
};

struct line_writer {
    struct line_out out;
    const struct line_plan *plan;
    struct piece *name;  /* the beginning of a call, by function */
    struct place *place; /* by task: where it is, of its first stream */
    uint64_t messages;
};

/* Threads of tasks are numbered behind the tasks. */
static void track_write(struct line_out *out, uint32_t g, const struct line_group *group, uint32_t task,
                        uint32_t stream)
{
    line_out_format(
        out, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%llu,\"args\":{\"name\":", g + 1,
        (unsigned long long)stream * group->tasks + task + 1);
    if (group->link)
        line_out_json(out, group->link[task]);
    else
        line_out_format(out, "\"task %u", task);
    if (stream)
        line_out_format(out, ", thread %u", stream);
    line_out_text(out, group->link ? "}}" : "\"}}");
}

/* Behind the head every event begins with a comma. */
static void head_write(struct line_out *out, const struct line_plan *plan)
{
    char *note = line_plan_note(plan), at[64];
    line_out_text(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":\"marssim\",\"from_us\":");
    line_out_bytes(out, at, (size_t)(line_put_us(at, plan->from) - at));
    line_out_text(out, ",\"to_us\":");
    line_out_bytes(out, at, (size_t)(line_put_us(at, plan->to) - at));
    line_out_format(out, ",\"records\":%llu,\"of\":%llu,\"note\":\"%s\"},\n\"traceEvents\":[\n",
                    (unsigned long long)plan->records, (unsigned long long)plan->of, note);
    free(note);
    for (uint32_t g = 0; g < plan->groups; g++) {
        const struct line_group *group = &plan->group[g];
        char *name = ker_format("%s%s", group->name, group->traced ? " (traced)" : "");
        line_out_format(out, "%s{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"args\":{\"name\":",
                        g ? ",\n" : "", g + 1);
        line_out_json(out, name);
        line_out_text(out, "}}");
        free(name);
        for (uint32_t stream = 0; stream < line_streams(plan, group); stream++)
            for (uint32_t task = 0; task < group->tasks; task++)
                if (line_chosen(plan, group->first + task))
                    track_write(out, g, group, task, stream);
    }
}

static uint64_t perfetto_least(const struct line_plan *plan)
{
    return line_out_counted(head_write, plan) + 4;
}

static struct line_writer *perfetto_open(const struct line_plan *plan, struct ker_error *error)
{
    struct line_writer *w = ker_alloc(sizeof *w);
    w->plan = plan;
    if (!line_out_open(&w->out, plan->folder, "timeline.json", plan->bytes, error)) {
        free(w);
        return NULL;
    }
    w->name = ker_alloc(((size_t)plan->names + 1) * sizeof *w->name);
    w->place = ker_alloc(((size_t)plan->tasks + 1) * sizeof *w->place);
    for (uint32_t i = 0; i < plan->names; i++) {
        char *name = line_json(plan->name[i]);
        w->name[i].text = ker_format(",\n{\"ph\":\"X\",\"name\":%-*s", PIECE_BYTES, name);
        w->name[i].bytes = strlen(w->name[i].text);
        while (w->name[i].text[w->name[i].bytes - 1] == ' ')
            w->name[i].bytes--; /* a name ends with its quote */
        free(name);
    }
    head_write(&w->out, plan);
    return w;
}

static char *place_make(char *at, const struct line_plan *plan, uint32_t task, uint32_t stream)
{
    const struct line_group *group = line_group_of(plan, task);
    at = stats_put_u64(LINE_PUT(at, ",\"pid\":"), (uint64_t)(group - plan->group) + 1);
    at =
        stats_put_u64(LINE_PUT(at, ",\"tid\":"), (uint64_t)stream * group->tasks + (task - group->first) + 1);
    return LINE_PUT(at, ",\"ts\":");
}

/* ,"pid":4294967296,"tid":4294967296,"ts": has 39 bytes. */
static inline char *place_put(char *at, struct line_writer *w, uint32_t task, uint32_t stream)
{
    struct place *p = &w->place[task];
    if (__builtin_expect(stream, 0))
        return place_make(at, w->plan, task, stream);
    if (__builtin_expect(!p->bytes, 0))
        p->bytes = (uint8_t)(place_make(p->text, w->plan, task, 0) - p->text);
    memcpy(at, p->text, PLACE_BYTES);
    return at + p->bytes;
}

__attribute__((noinline)) static void arrow_write(struct line_writer *w, const struct line_record *r)
{
    const struct line_group *group = line_group_of(w->plan, r->task);
    char *at = line_out_at(&w->out);
    uint64_t id = ++w->messages;
    at = stats_put_u64(LINE_PUT(at, ",\n{\"ph\":\"s\",\"name\":\"message\",\"cat\":\"message\",\"id\":"), id);
    at = line_put_us(place_put(at, w, r->task, 0), r->begin);
    at = line_put_i64(LINE_PUT(at, ",\"args\":{\"to\":"), (int64_t)((uint32_t)r->peer - group->first));
    at = stats_put_u64(LINE_PUT(at, ",\"bytes\":"), r->bytes);
    at = line_put_i64(LINE_PUT(at, ",\"tag\":"), r->tag);
    at = line_put_i64(LINE_PUT(at, ",\"comm\":"), r->comm);
    at = line_put_us(LINE_PUT(at, ",\"arrived\":"), r->next);
    at = line_put_us(LINE_PUT(at, ",\"received\":"), r->end);
    at = LINE_PUT(at, "}},\n{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"message\",\"cat\":\"message\",\"id\":");
    at = place_put(stats_put_u64(at, id), w, (uint32_t)r->peer, 0);
    at = line_put_us(at, r->end > r->begin ? r->end - 1 : r->end);
    line_out_put(&w->out, LINE_PUT(at, "}"));
}

/* What a call has of these. */
static char *arguments_put(char *at, const struct line_record *r)
{
    at = stats_put_u64(LINE_PUT(at, ",\"args\":{\"bytes\":"), r->bytes);
    if (r->peer != LINE_NOBODY)
        at = line_put_i64(LINE_PUT(at, ",\"peer\":"), r->peer);
    if (r->tag != LINE_NOBODY)
        at = line_put_i64(LINE_PUT(at, ",\"tag\":"), r->tag);
    at = line_put_i64(LINE_PUT(at, ",\"comm\":"), r->comm);
    return LINE_PUT(at, "}");
}

static const char *const cause_name[STATS_WAIT_CAUSES] = {
    [STATS_WAIT_LATE_SENDER] = "late sender",
    [STATS_WAIT_LATE_RECEIVER] = "late receiver",
    [STATS_WAIT_LATE_PARTICIPANTS] = "late participants",
    [STATS_WAIT_COLLECTIVE_STEPS] = "steps of a collective",
    [STATS_WAIT_HANDSHAKE] = "handshake",
    [STATS_WAIT_CONTENTION] = "contention",
    [STATS_WAIT_TRANSFER] = "transfer",
    [STATS_WAIT_SENDING] = "sending",
    [STATS_WAIT_MATCHING] = "matching",
    [STATS_WAIT_ONE_SIDED] = "one-sided",
    [STATS_WAIT_SERVICE] = "services",
};

static char *cause_put(char *at, const struct line_record *r)
{
    unsigned cause = r->bytes & 0xff;
    uint64_t task = r->bytes >> 8;
    at = line_put_text(LINE_PUT(at, ",\"args\":{\"cause\":\""), cause_name[cause - 1]);
    at = LINE_PUT(at, "\"");
    if (task)
        at = stats_put_u64(LINE_PUT(at, ",\"task\":"), task - 1);
    return LINE_PUT(at, "}");
}

static void perfetto_point(struct line_writer *w, const struct line_record *r, bool end)
{
    if (r->kind == LINE_MESSAGE) {
        arrow_write(w, r);
        return;
    }
    char *at = line_out_at(&w->out);
    if (r->kind == LINE_WAIT) {
        at = LINE_PUT(at, ",\n{\"ph\":\"X\",\"name\":\"waiting\"");
    } else if (__builtin_expect(r->kind == LINE_STATE, 0)) {
        at = line_put_text(LINE_PUT(at, ",\n{\"ph\":\"X\",\"name\":\""), stats_link_state_name[r->tag]);
        at = LINE_PUT(at, "\"");
    } else if (r->kind == LINE_COMPUTE) {
        at = LINE_PUT(at, ",\n{\"ph\":\"X\",\"name\":\"compute\"");
    } else {
        const struct piece *name = &w->name[r->name];
        if (__builtin_expect(name->bytes > PIECE_BYTES, 0)) {
            line_out_bytes(&w->out, name->text, name->bytes);
            at = line_out_at(&w->out);
        } else {
            memcpy(at, name->text, PIECE_BYTES);
            at += name->bytes;
        }
    }
    at = line_put_us(place_put(at, w, r->task, r->stream), r->begin);
    at = line_put_us(LINE_PUT(at, ",\"dur\":"), r->end - r->begin);
    if (r->kind == LINE_CALL && r->comm != LINE_NOBODY)
        at = arguments_put(at, r);
    else if (r->kind == LINE_WAIT && r->bytes)
        at = cause_put(at, r);
    line_out_put(&w->out, LINE_PUT(at, "}"));
}

static uint64_t perfetto_close(struct line_writer *w, struct ker_error *error)
{
    line_out_text(&w->out, "\n]}\n");
    uint64_t bytes = line_out_close(&w->out, error->status == KER_OK, error);
    for (uint32_t i = 0; i < w->plan->names; i++)
        free(w->name[i].text);
    free(w->name);
    free(w->place);
    free(w);
    return bytes;
}

static const struct line_format perfetto = {.file = "timeline.json",
                                            .least = perfetto_least,
                                            .open = perfetto_open,
                                            .point = perfetto_point,
                                            .close = perfetto_close};
const struct ker_kind line_kind_perfetto = {
    "perfetto", "timeline.json: JSON of trace events, for Perfetto (ui.perfetto.dev) and marsreport",
    .operations = &perfetto};
