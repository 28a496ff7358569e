/* paraver.c - timeline.prv, .pcf and .row, for Paraver (BSC): its documented trace format.
 *
 * A job is an application, a task a task, its threads are threads. There is one node, with a processor for
 * each thread: where tasks ran is not said. Times are whole nanoseconds, rounded half up, as the format has
 * them. States do not overlap: running (1), waiting (3), in a call of MPI otherwise (15); what is empty in
 * whole nanoseconds is left out. A call is an event of a type of Extrae's (point to point, collective, other)
 * whose value is the function, and one of value 0 where it ends. Messages are communications: sent and
 * received logically when the program did, physically received when they arrived. The links of the network
 * are an application behind the others, each a task with as many threads as all have, the first of which has
 * its states. The date is always the same one, so that files of equal runs are equal.
 */
#include "stats/timelines/format.h"
#include "stats/timelines/out.h"

#include <stdlib.h>
#include <string.h>

enum { RUNNING = 1, WAITING = 3, CALLING = 15, LINK = 20 /* + enum stats_link_state */ };
enum { POINT_TO_POINT = 50000001, COLLECTIVE, OTHER };

#define PLACE_BYTES 48 /* ":CPU:APPLICATION:TASK:THREAD:" has 45 at most */
struct place {
    char text[PLACE_BYTES]; /* copied as a whole */
    uint8_t bytes;          /* 0: not made yet */
};

struct line_writer {
    struct line_out prv, pcf, row;
    const struct line_plan *plan;
    uint32_t *type;               /* of each function */
    struct place *place;          /* by task: of its first thread */
    struct line_clock begin, end; /* of times */
};

/* ---- functions ---- */

/* list: "|one|another|" */
static bool word_in(const char *list, const char *word)
{
    char between[40];
    snprintf(between, sizeof between, "|%s|", word);
    return strstr(list, between);
}

/* By its name: "MPI_Iallreduce" is a collective as MPI_Allreduce is. */
static uint32_t function_type(const char *name)
{
    static const char collective[] =
        "|barrier|bcast|reduce|allreduce|gather|gatherv|scatter|scatterv|allgather|allgatherv|alltoall|"
        "alltoallv|alltoallw|scan|exscan|reduce_scatter|reduce_scatter_block|neighbor_allgather|neighbor_"
        "allgatherv|neighbor_alltoall|neighbor_alltoallv|neighbor_alltoallw|";
    static const char message[] =
        "|send|recv|bsend|ssend|rsend|sendrecv|probe|mprobe|mrecv|wait|waitall|waitany|waitsome|test|testall|"
        "testany|start|testsome|startall|request_free|cancel|sendrecv_replace|";
    char word[32];
    if (strncmp(name, "MPI_", 4) != 0)
        return OTHER;
    size_t length = strlen(name + 4) < sizeof word ? strlen(name + 4) : sizeof word - 1;
    for (size_t i = 0; i < length; i++)
        word[i] = (char)(name[4 + i] >= 'A' && name[4 + i] <= 'Z' ? name[4 + i] + 32 : name[4 + i]);
    word[length] = '\0';
    const char *rest = word[0] == 'i' ? word + 1 : word;
    if (word_in(collective, word) || word_in(collective, rest))
        return COLLECTIVE;
    return word_in(message, word) || word_in(message, rest) ? POINT_TO_POINT : OTHER;
}

/* ---- what is before the records ---- */

static uint64_t whole(ker_time time)
{
    return ((uint64_t)time + 500) / 1000;
}

static void head_write(struct line_out *out, const struct line_plan *plan)
{
    char *note = line_plan_note(plan);
    line_out_format(out, "#Paraver (01/01/1970 at 00:00):%llu_ns:1(%llu):%u",
                    (unsigned long long)whole(plan->end), (unsigned long long)plan->tasks * plan->streams,
                    plan->groups);
    for (uint32_t g = 0; g < plan->groups; g++) {
        line_out_format(out, ":%u(", plan->group[g].tasks);
        for (uint32_t task = 0; task < plan->group[g].tasks; task++)
            line_out_format(out, task ? ",%u:1" : "%u:1", plan->streams);
        line_out_text(out, ")");
    }
    line_out_format(out, "\n# marssim: %s\n", note);
    free(note);
}

static void types_write(struct line_out *out, const struct line_plan *plan, uint32_t type, const char *title)
{
    line_out_format(out, "\n\nEVENT_TYPE\n9    %u    %s\nVALUES\n0      Outside MPI\n", type, title);
    for (uint32_t i = 0; i < plan->names; i++)
        if (function_type(plan->name[i]) == type) {
            line_out_format(out, "%u      ", i + 1);
            line_out_text(out, plan->name[i]);
            line_out_text(out, "\n");
        }
}

static void pcf_write(struct line_out *out, const struct line_plan *plan)
{
    bool links = line_has_links(plan);
    line_out_format(
        out,
        "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n"
        "LOOK_BACK           100\nSPEED               1\nFLAG_ICONS          ENABLED\n"
        "NUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37\n\n\n"
        "DEFAULT_SEMANTIC\n\nTHREAD_FUNC          State As Is\n\n\n"
        "STATES\n0    Idle\n1    Running\n3    Waiting a message\n15    In a call of MPI\n"
        "%sSTATES_COLOR\n0    {117,195,255}\n1    {0,0,255}\n3    {255,0,0}\n15    {255,144,26}\n%s",
        links ? "20    Link busy\n21    Link stalled for credits\n22    Link down\n\n\n" : "\n\n",
        links ? "20    {0,90,181}\n21    {230,130,0}\n22    {70,70,70}\n" : "");
    types_write(out, plan, POINT_TO_POINT, "MPI Point-to-point");
    types_write(out, plan, COLLECTIVE, "MPI Collective Comm");
    types_write(out, plan, OTHER, "MPI Other");
}

static void thread_write(struct line_out *out, const struct line_plan *plan, uint32_t group, uint32_t task,
                         uint32_t stream)
{
    if (plan->group[group].link && stream == 0) {
        line_out_text(out, plan->group[group].link[task]);
        line_out_text(out, "\n");
    } else
        line_out_format(out, "%u.%u.%u\n", group + 1, task + 1, stream + 1);
}

static void row_write(struct line_out *out, const struct line_plan *plan)
{
    line_out_format(out, "LEVEL APPL SIZE %u\n", plan->groups);
    for (uint32_t g = 0; g < plan->groups; g++) {
        line_out_text(out, plan->group[g].name);
        line_out_text(out, plan->group[g].traced ? " (traced)\n" : "\n");
    }
    line_out_format(out, "\nLEVEL THREAD SIZE %llu\n", (unsigned long long)plan->tasks * plan->streams);
    for (uint32_t g = 0; g < plan->groups; g++)
        for (uint32_t task = 0; task < plan->group[g].tasks; task++)
            for (uint32_t stream = 0; stream < plan->streams; stream++)
                thread_write(out, plan, g, task, stream);
}

static uint64_t paraver_least(const struct line_plan *plan)
{
    return line_out_counted(head_write, plan) + line_out_counted(pcf_write, plan) +
           line_out_counted(row_write, plan);
}

static struct line_writer *paraver_open(const struct line_plan *plan, struct ker_error *error)
{
    uint64_t pcf = line_out_counted(pcf_write, plan), row = line_out_counted(row_write, plan),
             most = plan->bytes > pcf + row ? plan->bytes - pcf - row : 0;
    struct line_writer *w = ker_alloc(sizeof *w);
    w->plan = plan;
    bool prv = line_out_open(&w->prv, plan->folder, "timeline.prv", most, error),
         named = prv && line_out_open(&w->pcf, plan->folder, "timeline.pcf", pcf, error),
         rows = named && line_out_open(&w->row, plan->folder, "timeline.row", row, error);
    if (rows) {
        w->place = ker_alloc(((size_t)plan->tasks + 1) * sizeof *w->place);
        w->type = ker_alloc(((size_t)plan->names + 1) * sizeof *w->type);
        for (uint32_t i = 0; i < plan->names; i++)
            w->type[i] = function_type(plan->name[i]);
        head_write(&w->prv, plan);
        pcf_write(&w->pcf, plan);
        row_write(&w->row, plan);
        return w;
    }
    if (prv)
        line_out_close(&w->prv, false, error);
    if (named)
        line_out_close(&w->pcf, false, error);
    free(w);
    return NULL;
}

/* ---- records ---- */

/* ":CPU:APPLICATION:TASK:THREAD:" */
static char *place_make(char *at, const struct line_plan *plan, uint32_t task, uint32_t stream)
{
    const struct line_group *group = line_group_of(plan, task);
    *at++ = ':';
    at = stats_put_u64(at, (uint64_t)task * plan->streams + stream + 1);
    *at++ = ':';
    at = stats_put_u64(at, (uint64_t)(group - plan->group) + 1);
    *at++ = ':';
    at = stats_put_u64(at, (uint64_t)(task - group->first) + 1);
    *at++ = ':';
    at = stats_put_u64(at, stream + 1u);
    *at++ = ':';
    return at;
}

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

static inline char *begin_put(char *at, struct line_writer *w, ker_time time)
{
    return line_put_ordered(at, &w->begin, whole(time));
}

static inline char *end_put(char *at, struct line_writer *w, ker_time time)
{
    return line_put_ordered(at, &w->end, whole(time));
}

static inline char *field_put(char *at, char before, uint64_t value)
{
    *at++ = before;
    return stats_put_u64(at, value);
}

static void state_write(struct line_writer *w, const struct line_record *r, ker_time begin, ker_time end,
                        int state)
{
    if (whole(begin) == whole(end))
        return;
    char *at = line_out_at(&w->prv);
    *at++ = '1';
    at = begin_put(place_put(at, w, r->task, r->stream), w, begin);
    *at++ = ':';
    at = end_put(at, w, end);
    at = field_put(at, ':', (uint64_t)state);
    *at++ = '\n';
    line_out_put(&w->prv, at);
}

static void event_write(struct line_writer *w, const struct line_record *r, ker_time time, uint32_t value)
{
    char *at = line_out_at(&w->prv);
    *at++ = '2';
    at = begin_put(place_put(at, w, r->task, r->stream), w, time);
    at = field_put(at, ':', w->type[r->name]);
    at = field_put(at, ':', value);
    *at++ = '\n';
    line_out_put(&w->prv, at);
}

/* The format's tags are not negative. */
__attribute__((noinline)) static void communication_write(struct line_writer *w, const struct line_record *r)
{
    char *at = line_out_at(&w->prv);
    *at++ = '3';
    at = begin_put(place_put(at, w, r->task, 0), w, r->begin);
    *at++ = ':';
    at = begin_put(at, w, r->begin);
    at = end_put(place_put(at, w, (uint32_t)r->peer, 0), w, r->end);
    *at++ = ':';
    at = end_put(at, w, r->next);
    at = field_put(at, ':', r->bytes);
    at = field_put(at, ':', r->tag < 0 ? 0 : (uint64_t)r->tag);
    *at++ = '\n';
    line_out_put(&w->prv, at);
}

static void paraver_point(struct line_writer *w, const struct line_record *r, bool end)
{
    switch (r->kind) {
    case LINE_COMPUTE:
        if (!end)
            state_write(w, r, r->begin, r->end, RUNNING);
        break;
    case LINE_CALL:
        event_write(w, r, end ? r->end : r->begin, end ? 0 : r->name + 1u);
        if (!end)
            state_write(w, r, r->begin, r->next, CALLING);
        break;
    case LINE_STATE:
        if (!end)
            state_write(w, r, r->begin, r->end, LINK + r->tag);
        break;
    case LINE_WAIT:
        state_write(w, r, end ? r->end : r->begin, end ? r->next : r->end, end ? CALLING : WAITING);
        break;
    default:
        if (!end)
            communication_write(w, r);
    }
}

static uint64_t paraver_close(struct line_writer *w, struct ker_error *error)
{
    uint64_t bytes = w->prv.bytes + w->prv.used;
    bool keep = bytes <= w->prv.most && error->status == KER_OK;
    bytes = line_out_close(&w->prv, keep, error);
    bytes += line_out_close(&w->pcf, keep, error);
    bytes += line_out_close(&w->row, keep, error);
    free(w->type);
    free(w->place);
    free(w);
    return bytes;
}

static const struct line_format paraver = {.file = "timeline.prv",
                                           .least = paraver_least,
                                           .open = paraver_open,
                                           .ends = 1u << LINE_CALL | 1u << LINE_WAIT,
                                           .point = paraver_point,
                                           .close = paraver_close};
const struct ker_kind line_kind_paraver = {"paraver", "timeline.prv, .pcf, .row: for Paraver",
                                           .operations = &paraver};
