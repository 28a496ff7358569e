/* allprof_write.c - writes traces of liballprof.
 *
 * Times are microseconds of one line of time, rounded without drift. It has one clock: of two, what the CPU's
 * says (or with options.wall the wall's). What a trace of one clock has as time away was left out by the
 * rules of docs/traces.md, and will be again. Readers leave out the time before MPI_Finalize: where there is
 * computation, an MPI_Wtime stands behind it.
 *
 * A communicator has a handle of its own. How many others could a handle be that is used first? Readers must
 * find out; so that there is one only, a communicator that has not been used is named by an MPI_Comm_size
 * before the next is made. Those that other calls make than Comm_split and Comm_dup, whose members do not
 * show, are written as an MPI_Comm_split with the members' lowest rank as colour.
 */
#define _GNU_SOURCE
#include "tools/marsconv/allprof_write.h"
#include "tools/marsconv/allprof_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define POLL_GAP_NS 10000 /* longer ones are computation to readers */
#define UNDEFINED (-32766)

static bool system_fail(const char *path, struct mars_error *error)
{
    return mars_fail(error, "%s: %s", path, strerror(errno));
}

bool apw_create(struct conv_sink *sink, struct mars_error *error)
{
    struct apw *w = ker_alloc(sizeof *w);
    sink->own = w;
    w->losses = sink->losses;
    w->wall = sink->options->wall;
    return mkdir(sink->path, 0777) == 0 || system_fail(sink->path, error);
}

static char *path_of(const struct conv_sink *sink, uint32_t task)
{
    return ker_format("%s/pmpi-trace-rank-%u.txt", sink->path, task);
}

bool apw_begin(struct conv_sink *sink, const struct mars_task *about, uint32_t thread,
               struct mars_error *error)
{
    struct apw *w = sink->own;
    const char *clock = mars_task_info(about, "clock");
    if (thread > 0)
        return true;
    if (mars_task_info(about, "first"))
        return mars_fail(error,
                         "task %u is of a world of its own (spawned, or connected), which the format has not",
                         about->number);
    free(w->path);
    free(w->comm);
    w->comm = NULL;
    w->comms = 0;
    w->path = path_of(sink, about->number);
    w->to = fopen(w->path, "w");
    if (!w->to)
        return system_fail(w->path, error);
    w->begun = about->number + 1;
    w->one_clock = clock && strcmp(clock, "wall") == 0;
    w->initialised = w->finalised = w->polled = false;
    w->time_ns = 0;
    if (w->requests)
        memset(w->active, 0, w->requests * sizeof *w->active);
    memset(w->known, 0, sizeof w->known);
    w->functions = (struct conv_functions){0};
    fprintf(w->to, "# htor's PMPI Tracer 1.0 Output File\n# written by marsconv\n\n");
    return true;
}

/* ---- lines ---- */

static void line_put(const struct apw_line *l, const struct allprof_call *call, const char *name,
                     uint64_t request, int64_t count)
{
    struct apw *w = l->w;
    struct apw_line line = *l;
    line.call = call;
    fprintf(w->to, "%s:%llu", name, (unsigned long long)w->start_us);
    apw_args(&line, request, count);
    fprintf(w->to, ":%llu\n", (unsigned long long)w->end_us);
    w->start_us = w->end_us;
}

/* The call's name; the format has none of large counts. */
static const char *own_name(const struct apw_line *l)
{
    const char *name = l->record->function->name;
    size_t length = strlen(l->call->name);
    bool large = strncmp(name, l->call->name, length) == 0 && strcmp(name + length, "_c") == 0;
    return large ? l->call->name : name;
}

void apw_put(const struct apw_line *l, const char *name, uint64_t request, int64_t count)
{
    bool own = !name || strcmp(name, l->call->name) == 0;
    line_put(l, own ? l->call : allprof_call_find(name, strlen(name)), own ? own_name(l) : name, request,
             count);
}

void apw_polls_put(const struct apw_line *l, const char *name, uint64_t request, int64_t count)
{
    struct apw *w = l->w;
    const struct mars_record *r = l->record;
    if (r->polls <= 1) {
        apw_put(l, name, request, count);
        return;
    }
    uint64_t between = r->rest_ns / (r->polls - 1), each = r->duration_ns / r->polls;
    uint64_t at = w->time_ns - r->duration_ns;
    if (between > POLL_GAP_NS) {
        conv_lost(w->losses, 1, "time between polls of more than 10 us each is shortened");
        between = POLL_GAP_NS;
    }
    for (uint64_t i = 0; i < r->polls; i++) {
        w->start_us = at / 1000;
        at += each;
        w->end_us = at / 1000;
        apw_put(l, name, request, count);
        at += i + 1 < r->polls ? between : 0;
    }
    w->time_ns = at;
}

/* ---- communicators ---- */

static uint64_t variable_of(int64_t number)
{
    return APW_VARIABLES + 8 * (uint64_t)number;
}

static void comms_reserve(struct apw *w, const struct mars_task *about)
{
    if (about->comms <= w->comms)
        return;
    w->comm = ker_realloc(w->comm, about->comms);
    memset(w->comm + w->comms, APW_UNKNOWN, about->comms - w->comms);
    w->comms = about->comms;
}

/* Can the communicator of the record be said? */
static bool comm_is(const struct apw_line *l, enum mars_field field)
{
    int64_t number = mars_number(l->record, field, 0);
    const struct mars_comm *c =
        number > 0 && (uint64_t)number < l->about->comms ? l->about->comm[number] : NULL;
    /* The world, and MPI_COMM_SELF, are made by nothing. */
    return c && !c->inter && (l->w->comm[number] != APW_UNKNOWN || number == 1 || c->member.count == 1);
}

static void silent_name(const struct apw_line *l)
{
    struct apw *w = l->w;
    for (uint32_t i = 1; i < w->comms; i++)
        if (w->comm[i] == APW_SILENT) {
            fprintf(w->to, "MPI_Comm_size:%llu", (unsigned long long)w->start_us);
            apw_comm_put(l, i);
            fprintf(w->to, ":%llu:%llu\n", (unsigned long long)APW_STATUS, (unsigned long long)w->start_us);
            conv_lost(w->losses, 1, "MPI_Comm_size is added, so that readers know the communicator");
        }
}

static void split_put(const struct apw_line *l, const struct mars_comm *made, int64_t number)
{
    struct apw *w = l->w;
    int32_t colour = UNDEFINED;
    for (uint32_t i = 0; made && i < made->member.count; i++) {
        int32_t rank = mars_rank_at(&made->member, i);
        colour = colour < 0 || rank < colour ? rank : colour;
    }
    fprintf(w->to, "MPI_Comm_split:%llu", (unsigned long long)w->start_us);
    apw_comm_put(l, mars_number(l->record, MARS_FIELD_comm, 0));
    fprintf(w->to, ":%d:%d:%llu:%llu\n", colour, made ? made->rank : 0,
            (unsigned long long)variable_of(number), (unsigned long long)w->end_us);
}

static void create_put(const struct apw_line *l)
{
    struct apw *w = l->w;
    int64_t number = mars_number(l->record, MARS_FIELD_newcomm, 0);
    const struct mars_comm *made =
        number > 0 && (uint64_t)number < l->about->comms ? l->about->comm[number] : NULL;
    const char *name = l->record->function->name;
    silent_name(l);
    if (l->call && l->call->kind == ALLPROF_COMM_NEW &&
        (l->call->mode == ALLPROF_SPLIT || l->call->mode == ALLPROF_DUP)) {
        apw_put(l, NULL, variable_of(number), 0);
    } else {
        conv_lost(w->losses, 1, "%s is written as MPI_Comm_split", name);
        split_put(l, made, number);
    }
    if (made)
        w->comm[number] = APW_SILENT;
}

/* ---- calls ---- */

static bool is_among_all(const char *base)
{
    static const char *const others[] = {"Intercomm_create", "Comm_spawn",   "Comm_spawn_multiple",
                                         "Comm_accept",      "Comm_connect", "File_open"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(base, others[i]) == 0)
            return false;
    return strncmp(base, "Win_", 4) != 0;
}

static void request_put(const struct apw_line *l)
{
    int64_t number = mars_number(l->record, MARS_FIELD_request, 0);
    if (!apw_active(l->w, number))
        return;
    apw_put(l, NULL, apw_request(number), 1);
    if (l->call->kind == ALLPROF_REQUEST_FREE)
        apw_forgotten(l->w, number);
}

static void post_put(const struct apw_line *l)
{
    int64_t number = mars_number(l->record, MARS_FIELD_request, 0);
    apw_put(l, NULL, apw_request(number), 1);
    apw_posted(l->w, number, l->call->kind == ALLPROF_SEND_INIT || l->call->kind == ALLPROF_RECV_INIT);
}

static void alltoallw_put(const struct apw_line *l)
{
    conv_lost(l->w->losses, 1, "MPI_Alltoallw is written as MPI_Alltoallv");
    apw_put(l, "MPI_Alltoallv", 0, 0);
}

/* False: the format cannot say it. */
static bool call_put(const struct apw_line *l)
{
    struct apw *w = l->w;
    const struct conv_function *is = conv_function(&w->functions, l->record->function);
    bool has_comm = l->record->function->at[MARS_FIELD_comm] >= 0;
    if (is->sort == CONV_CREATE && is_among_all(is->base) && comm_is(l, MARS_FIELD_comm)) {
        create_put(l);
        return true;
    }
    if (strcmp(l->record->function->name, "MPI_Alltoallw") == 0 && comm_is(l, MARS_FIELD_comm)) {
        alltoallw_put(l);
        return true;
    }
    if (!l->call || l->call->kind == ALLPROF_UNSUPPORTED || is->sort == CONV_CREATE ||
        (has_comm && !comm_is(l, MARS_FIELD_comm)) || (strchr(l->call->layout, 'c') && !has_comm))
        return false;
    switch (l->call->kind) {
    case ALLPROF_ISEND:
    case ALLPROF_IRECV:
    case ALLPROF_SEND_INIT:
    case ALLPROF_RECV_INIT:
        post_put(l);
        return true;
    case ALLPROF_WAIT:
    case ALLPROF_WAIT_SOME:
    case ALLPROF_TEST:
    case ALLPROF_TEST_SOME:
        if (is->sort == CONV_COMPLETE)
            apw_complete(l);
        return is->sort == CONV_COMPLETE;
    case ALLPROF_START:
        apw_start(l);
        return true;
    case ALLPROF_CANCEL:
    case ALLPROF_REQUEST_FREE:
        request_put(l);
        return true;
    case ALLPROF_COMM_FREE:
        apw_put(l, NULL, variable_of(mars_number(l->record, MARS_FIELD_comm, 0)), 0);
        w->comm[mars_number(l->record, MARS_FIELD_comm, 0)] = APW_UNKNOWN;
        return true;
    default:
        apw_polls_put(l, NULL, 0, 0);
        w->polled = w->polled && (l->call->kind == ALLPROF_LOCAL || l->call->kind == ALLPROF_IPROBE);
        return true;
    }
}

static void ends_put(struct apw *w, const struct allprof_call *call, const char *name, uint64_t away_ns)
{
    if (call->kind == ALLPROF_INIT) {
        fprintf(w->to, "%s:-:%llu:%llu:%llu\n", name, (unsigned long long)APW_BUFFER,
                (unsigned long long)APW_BUFFER, (unsigned long long)w->end_us);
        w->initialised = true;
        return;
    }
    uint64_t away_us = w->one_clock && !w->wall ? away_ns / 1000 : 0;
    if (w->computed_ns > 0)
        fprintf(w->to, "MPI_Wtime:%llu:%llu\n", (unsigned long long)(w->start_us - away_us),
                (unsigned long long)(w->start_us - away_us));
    fprintf(w->to, "%s:%llu:-\n", name, (unsigned long long)w->start_us);
    w->finalised = true;
}

static const struct allprof_call *call_of(struct apw *w, const struct mars_function *f)
{
    size_t place = ker_hash((uintptr_t)f) >> 58, length = strlen(f->name); /* of 64 */
    if (w->known[place].function != f) {
        w->known[place].function = f;
        bool known = length > 5 && strncmp(f->name, "MPI_", 4) == 0 && f->at[MARS_FIELD_error] < 0;
        length -= known && strcmp(f->name + length - 2, "_c") == 0 ? 2 : 0; /* of large counts */
        w->known[place].call = known ? allprof_call_find(f->name, length) : NULL;
    }
    return w->known[place].call;
}

bool apw_record(struct conv_sink *sink, const struct mars_task *about, const struct conv_record *record,
                struct mars_error *error)
{
    struct apw *w = sink->own;
    const struct mars_record *r = &record->call;
    struct apw_line l = {w, about, r, call_of(w, r->function)};
    uint64_t gap = record->first ? 0 : r->gap_ns, away = r->away_ns < gap ? r->away_ns : gap;
    if (record->thread > 0) {
        conv_lost(w->losses, 1, "a call of another thread than the first is left out");
        return true;
    }
    comms_reserve(w, about);
    w->computed_ns = w->wall ? gap : gap - away;
    w->time_ns += w->one_clock ? gap : w->computed_ns;
    w->start_us = w->time_ns / 1000;
    w->time_ns += r->duration_ns;
    w->end_us = w->time_ns / 1000;
    bool local = l.call && l.call->kind == ALLPROF_LOCAL;
    if (l.call && !w->finalised && l.call->kind == (w->initialised ? ALLPROF_FINALIZE : ALLPROF_INIT)) {
        ends_put(w, l.call, r->function->name, away);
    } else if ((!w->initialised || w->finalised) && !local) {
        conv_lost(w->losses, 1, "%s before MPI_Init or after MPI_Finalize is left out", r->function->name);
    } else if (!call_put(&l)) {
        conv_lost(w->losses, r->polls, "%s is left out; its time is computation", r->function->name);
        w->time_ns += r->rest_ns;
        w->polled = false;
    }
    return !ferror(w->to) || system_fail(w->path, error);
}

bool apw_end(struct conv_sink *sink, const struct mars_task *about, struct mars_error *error)
{
    struct apw *w = sink->own;
    FILE *to = w->to;
    w->to = NULL;
    if (!w->finalised)
        conv_warn("%s: task %u did not come to MPI_Finalize; its file cannot be replayed", w->path,
                  about->number);
    return fclose(to) == 0 || system_fail(w->path, error);
}

bool apw_finish(struct conv_sink *sink, bool fine, struct mars_error *error)
{
    struct apw *w = sink->own;
    (void)error;
    if (!w)
        return fine;
    if (w->to)
        fclose(w->to);
    for (uint32_t i = 0; !fine && i < w->begun; i++) {
        char *path = path_of(sink, i);
        unlink(path);
        free(path);
    }
    if (!fine)
        rmdir(sink->path);
    free(w->path);
    free(w->comm);
    free(w->active);
    free(w);
    return fine;
}
