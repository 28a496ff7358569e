/* paje.c - timeline.paje, in the format of Paje: for ViTE, pajeng and what reads its output.
 *
 * A container for the machine, in it one for each job, in it one for each thread of a task. Computations,
 * calls and waits are states, pushed and popped, so that waits stand inside their calls. Messages are links
 * from container to container, with their size, tag and communicator. Links of the network are containers in
 * one of their own, with states of their own. Times are seconds with up to twelve decimals, exact.
 */
#include "stats/timelines/format.h"
#include "stats/timelines/out.h"

#include <stdlib.h>

#define PLACE_BYTES 24 /* " t4294967295.0" has 14 */
struct place {
    char text[PLACE_BYTES - 1]; /* copied as a whole */
    uint8_t bytes;              /* 0: not made yet */
};

struct line_writer {
    struct line_out out;
    const struct line_plan *plan;
    struct line_clock clock;
    struct place *place; /* by task: the container of its first stream */
};

/* The numbers of the events; their fields stand in the head. */
enum { CREATE = 4, DESTROY, PUSH, POP, START, END };

/* Of links; their containers stand in one of their own. */
static const char links_head[] =
    "0 N M Network\n0 K N Link\n1 Q K LinkState\n3 q0 Q busy \"0.10 0.40 0.80\"\n"
    "3 q1 Q stalled \"0.90 0.50 0.10\"\n3 q2 Q down \"0.30 0.30 0.30\"\n";

static const char head[] =
    "%EventDef PajeDefineContainerType 0\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n"
    "%EventDef PajeDefineStateType 1\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n"
    "%EventDef PajeDefineLinkType 2\n% Alias string\n% Type string\n% StartContainerType string\n"
    "% EndContainerType string\n% Name string\n%EndEventDef\n"
    "%EventDef PajeDefineEntityValue 3\n% Alias string\n% Type string\n% Name string\n% Color "
    "color\n%EndEventDef\n"
    "%EventDef PajeCreateContainer 4\n% Time date\n% Alias string\n% Type string\n% Container string\n"
    "% Name string\n%EndEventDef\n"
    "%EventDef PajeDestroyContainer 5\n% Time date\n% Type string\n% Name string\n%EndEventDef\n"
    "%EventDef PajePushState 6\n% Time date\n% Type string\n% Container string\n% Value "
    "string\n%EndEventDef\n"
    "%EventDef PajePopState 7\n% Time date\n% Type string\n% Container string\n%EndEventDef\n"
    "%EventDef PajeStartLink 8\n% Time date\n% Type string\n% Container string\n% StartContainer string\n"
    "% Value string\n% Key string\n% Size int\n% Tag int\n% Comm int\n%EndEventDef\n"
    "%EventDef PajeEndLink 9\n% Time date\n% Type string\n% Container string\n% EndContainer string\n"
    "% Value string\n% Key string\n%EndEventDef\n"
    "0 M 0 Machine\n0 J M Job\n0 T J Task\n1 S T State\n2 L M T T Message\n"
    "3 c S compute \"0.20 0.60 0.30\"\n3 w S waiting \"0.80 0.15 0.15\"\n3 m L message \"0.30 0.30 0.30\"\n";

/* Quotes would end the name; readers that write tables do not quote commas. */
static void name_write(struct line_out *out, const char *before, const char *name, const char *after)
{
    line_out_text(out, before);
    for (; *name; name++)
        line_out_bytes(out, *name == '"' || *name == '\n' ? "'" : *name == ',' ? ";" : name, 1);
    line_out_text(out, after);
}

/* Events have one digit. */
static inline char *event_put(char *at, struct line_clock *clock, int event, ker_time time)
{
    *at++ = (char)('0' + event);
    *at++ = ' ';
    return line_put_s(at, clock, time);
}

static void time_write(struct line_out *out, int event, ker_time time)
{
    struct line_clock clock = {0};
    line_out_put(out, event_put(line_out_at(out), &clock, event, time));
}

static void links_write(struct line_out *out, const struct line_group *group)
{
    time_write(out, CREATE, 0);
    line_out_text(out, " n N m \"links\"\n");
    for (uint32_t i = 0; i < group->tasks; i++) {
        time_write(out, CREATE, 0);
        line_out_format(out, " t%u.0 K n ", group->first + i);
        name_write(out, "\"", group->link[i], "\"\n");
    }
}

static void containers_write(struct line_out *out, const struct line_plan *plan)
{
    char *note = line_plan_note(plan);
    time_write(out, CREATE, 0);
    name_write(out, " m M 0 \"marssim: ", note, "\"\n");
    free(note);
    for (uint32_t g = 0; g < plan->groups; g++) {
        const struct line_group *group = &plan->group[g];
        if (group->link) {
            links_write(out, group);
            continue;
        }
        time_write(out, CREATE, 0);
        line_out_format(out, " j%u J m ", g);
        name_write(out, "\"", group->name, group->traced ? " (traced)\"\n" : "\"\n");
        for (uint32_t task = 0; task < group->tasks; task++)
            for (uint32_t stream = 0; stream < plan->streams && line_chosen(plan, group->first + task);
                 stream++) {
                time_write(out, CREATE, 0);
                line_out_format(out, " t%u.%u T j%u ", group->first + task, stream, g);
                name_write(out, "\"", group->name, group->traced ? " (traced)" : "");
                line_out_format(out, " task %u", task);
                line_out_format(out, stream ? " thread %u\"\n" : "\"\n", stream);
            }
    }
}

static void head_write(struct line_out *out, const struct line_plan *plan)
{
    line_out_text(out, head);
    if (line_has_links(plan))
        line_out_text(out, links_head);
    for (uint32_t i = 0; i < plan->names; i++) {
        uint64_t hue = ker_hash(i + 1);
        line_out_format(out, "3 f%u S ", i);
        name_write(out, "\"", plan->name[i], "\" ");
        line_out_format(out, "\"0.%02u 0.%02u 0.%02u\"\n", (unsigned)(hue >> 58) + 20,
                        (unsigned)(hue >> 52 & 63) + 20, (unsigned)(hue >> 46 & 63) + 30);
    }
    containers_write(out, plan);
}

/* Readers close the states and containers that are open by themselves, but at the time of the last event. */
static void tail_write(struct line_out *out, const struct line_plan *plan)
{
    for (uint32_t g = 0; g < plan->groups; g++) {
        const struct line_group *group = &plan->group[g];
        uint32_t streams = line_streams(plan, group);
        for (uint32_t task = group->first; task < group->first + group->tasks; task++)
            for (uint32_t stream = 0; stream < streams && line_chosen(plan, task); stream++) {
                time_write(out, DESTROY, plan->end);
                line_out_format(out, " %c t%u.%u\n", group->link ? 'K' : 'T', task, stream);
            }
    }
    for (uint32_t g = 0; g < plan->groups; g++) {
        time_write(out, DESTROY, plan->end);
        if (plan->group[g].link)
            line_out_text(out, " N n\n");
        else
            line_out_format(out, " J j%u\n", g);
    }
    time_write(out, DESTROY, plan->end);
    line_out_text(out, " M m\n");
}

static uint64_t paje_least(const struct line_plan *plan)
{
    struct line_out out;
    line_out_count(&out);
    head_write(&out, plan);
    tail_write(&out, plan);
    return line_out_close(&out, false, NULL);
}

static struct line_writer *paje_open(const struct line_plan *plan, struct ker_error *error)
{
    struct line_writer *w = ker_alloc(sizeof *w);
    w->plan = plan;
    if (line_out_open(&w->out, plan->folder, "timeline.paje", plan->bytes, error)) {
        w->place = ker_alloc(((size_t)plan->tasks + 1) * sizeof *w->place);
        head_write(&w->out, plan);
        return w;
    }
    free(w);
    return NULL;
}

static char *place_make(char *at, uint32_t task, uint32_t stream)
{
    at = LINE_PUT(at, " t");
    at = stats_put_u64(at, task);
    *at++ = '.';
    return stats_put_u64(at, stream);
}

static inline char *container_put(char *at, struct line_writer *w, uint32_t task, uint32_t stream)
{
    struct place *p = &w->place[task];
    if (__builtin_expect(stream, 0))
        return place_make(at, task, stream);
    if (__builtin_expect(!p->bytes, 0)) {
        char text[2 * STATS_MOST_DIGITS];
        p->bytes = (uint8_t)(place_make(text, task, 0) - text);
        memcpy(p->text, text, p->bytes);
    }
    memcpy(at, p, PLACE_BYTES);
    return at + p->bytes;
}

/* A message is known by its receiver and its number there. */
static char *key_put(char *at, const struct line_record *r)
{
    at = stats_put_u64(LINE_PUT(at, " m "), (uint32_t)r->peer);
    *at++ = '.';
    return stats_put_u64(at, r->number);
}

__attribute__((noinline)) static void link_write(struct line_writer *w, const struct line_record *r, bool end)
{
    char *at = event_put(line_out_at(&w->out), &w->clock, end ? END : START, end ? r->end : r->begin);
    at = container_put(LINE_PUT(at, " L m"), w, end ? (uint32_t)r->peer : r->task, 0);
    at = key_put(at, r);
    if (!end) {
        *at++ = ' ';
        at = stats_put_u64(at, r->bytes);
        *at++ = ' ';
        at = line_put_i64(at, r->tag);
        *at++ = ' ';
        at = line_put_i64(at, r->comm);
    }
    *at++ = '\n';
    line_out_put(&w->out, at);
}

static void paje_point(struct line_writer *w, const struct line_record *r, bool end)
{
    if (r->kind == LINE_MESSAGE) {
        link_write(w, r, end);
        return;
    }
    bool link = r->kind == LINE_STATE;
    char *at = event_put(line_out_at(&w->out), &w->clock, end ? POP : PUSH, end ? r->end : r->begin);
    at = container_put(link ? LINE_PUT(at, " Q") : LINE_PUT(at, " S"), w, r->task, r->stream);
    if (!end && link)
        at = stats_put_u64(LINE_PUT(at, " q"), (uint64_t)r->tag);
    else if (!end && r->kind == LINE_CALL)
        at = stats_put_u64(LINE_PUT(at, " f"), r->name);
    else if (!end)
        at = r->kind == LINE_WAIT ? LINE_PUT(at, " w") : LINE_PUT(at, " c");
    *at++ = '\n';
    line_out_put(&w->out, at);
}

static uint64_t paje_close(struct line_writer *w, struct ker_error *error)
{
    tail_write(&w->out, w->plan);
    uint64_t bytes = line_out_close(&w->out, error->status == KER_OK, error);
    free(w->place);
    free(w);
    return bytes;
}

static const struct line_format paje = {.file = "timeline.paje",
                                        .least = paje_least,
                                        .open = paje_open,
                                        .ends = LINE_ALL_END,
                                        .point = paje_point,
                                        .close = paje_close};
const struct ker_kind line_kind_paje = {"paje", "timeline.paje: for ViTE and pajeng", .operations = &paje};
