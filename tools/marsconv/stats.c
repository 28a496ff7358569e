/* stats.c - sums over a trace, in one pass.
 *
 * What is kept grows with tasks, functions, communicators and pairs of tasks that exchange messages, not with
 * calls. A message counts at the task that sends it: when the call is made, or, of a persistent request, when
 * it is started. What collectives send depends on how the MPI library does them and is not in the matrix.
 */
#include "tools/marsconv/stats.h"

#include <stdlib.h>
#include <string.h>

struct started { /* what a persistent send sends */
    uint32_t to;
    uint64_t bytes;
    bool sends;
};

struct gather { /* of a task */
    struct stats *stats;
    struct conv_walk at;
    const struct mars_function **function; /* of stats->function[first + i] */
    size_t first, count, room;
    struct ker_table pairs;
    uint32_t *comm; /* 1 + place in stats->comm, by the task's numbers */
    uint32_t comms;
    struct started *request; /* by number */
    size_t requests;
};

struct place_entry {
    uint64_t key; /* 1 + task, or a communicator's id */
    size_t place;
};

static const struct ker_table_kind place_kind = KER_TABLE_U64(struct place_entry);

static void message_count(struct gather *g, uint32_t to, uint64_t bytes)
{
    struct stats *s = g->stats;
    unsigned size = bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
    uint64_t key = 1ull + to;
    bool is_new;
    struct place_entry *entry = ker_table_add(&place_kind, &g->pairs, &key, &is_new);
    if (is_new) {
        *entry = (struct place_entry){key, s->pairs};
        *KER_PUSH(s->pair, s->pairs, s->pair_room) = (struct stats_pair){g->at.task.about->number, to, 0, 0};
    }
    s->pair[entry->place].messages++;
    s->pair[entry->place].bytes += bytes;
    s->messages[size]++;
    s->bytes[size] += bytes;
}

static struct started *started_of(struct gather *g, int64_t number)
{
    return CONV_REQUEST_AT(g->request, g->requests, number);
}

static void start_count(struct gather *g, int64_t number)
{
    struct started *s = started_of(g, number);
    if (s && s->sends)
        message_count(g, s->to, s->bytes);
}

static void messages_gather(struct gather *g, const struct mars_record *r, const struct conv_function *is)
{
    int64_t started;
    if (is->sort == CONV_START) {
        for (uint32_t i = 0; conv_walk_started(&g->at, &i, &started);)
            start_count(g, started);
        return;
    }
    bool sends = is->sort == CONV_SEND || is->sort == CONV_EXCHANGE;
    struct started *made = is->persistent ? started_of(g, mars_number(r, MARS_FIELD_request, 0)) : NULL;
    const struct mars_comm *comm = mars_comm_at(g->at.task.about, mars_number(r, MARS_FIELD_comm, 0));
    int64_t bytes = mars_number(r, MARS_FIELD_bytes, 0), to = -1;
    if (made)
        made->sends = false;
    if (sends && comm)
        to = conv_task_of(g->stats->source, comm, mars_number(r, MARS_FIELD_dest, MARS_PROC_NULL));
    if (to < 0)
        return;
    if (made)
        *made = (struct started){(uint32_t)to, bytes > 0 ? (uint64_t)bytes : 0, true};
    else if (!is->persistent)
        message_count(g, (uint32_t)to, bytes > 0 ? (uint64_t)bytes : 0);
}

/* Refused calls are of functions of their own, with the same names. */
static bool same_name(const struct mars_function *one, const struct mars_function *other)
{
    return one == other ||
           (one->at[MARS_FIELD_error] != other->at[MARS_FIELD_error] && strcmp(one->name, other->name) == 0);
}

static void function_gather(struct gather *g, const struct mars_record *r)
{
    size_t i = 0;
    while (i < g->count && !same_name(g->function[i], r->function))
        i++;
    if (i == g->count) {
        *KER_PUSH(g->function, g->count, g->room) = r->function;
        *KER_PUSH(g->stats->function, g->stats->functions, g->stats->function_room) = (struct stats_function){
            .task = g->at.task.about->number, .name = ker_format("%s", r->function->name)};
    }
    struct stats_function *f = &g->stats->function[g->first + i];
    f->calls += r->polls;
    f->bytes += r->polls * mars_record_bytes(r);
    f->time_ns += r->duration_ns;
}

static struct mars_ranks ranks_copy(const struct mars_ranks *ranks)
{
    struct mars_ranks copy = *ranks;
    copy.run = ker_alloc(ranks->runs * sizeof *copy.run);
    memcpy(copy.run, ranks->run, ranks->runs * sizeof *copy.run);
    return copy;
}

/* The communicator of a task's number among all; NULL: there is none. */
static struct stats_comm *comm_of(struct gather *g, int64_t number)
{
    const struct mars_comm *c = mars_comm_at(g->at.task.about, number);
    struct stats *s = g->stats;
    if (!c)
        return NULL;
    uint32_t *place = TRACE_AT(g->comm, g->comms, number);
    if (*place == 0) {
        uint64_t id = c->id ? c->id : 1;
        bool is_new;
        struct place_entry *entry = ker_table_add(&place_kind, &s->comm_places, &id, &is_new);
        if (is_new) {
            *entry = (struct place_entry){id, s->comms};
            *KER_PUSH(s->comm, s->comms, s->comm_room) =
                (struct stats_comm){c->id, c->member.count, c->inter, ranks_copy(&c->member), 0, 0};
        }
        *place = (uint32_t)entry->place + 1;
    }
    return &s->comm[*place - 1];
}

static void record_gather(struct gather *g)
{
    const struct conv_record *record = &g->at.record;
    const struct mars_record *r = &record->call;
    struct stats_task *t = &g->stats->task[g->at.task.about->number];
    const struct conv_function *is = g->at.is;
    struct stats_comm *comm = comm_of(g, mars_number(r, MARS_FIELD_comm, 0));
    uint64_t gap = record->first ? 0 : r->gap_ns, away = r->away_ns < gap ? r->away_ns : gap;
    t->compute_ns += gap - away;
    t->away_ns += away;
    t->mpi_ns += r->duration_ns;
    t->polled_ns += r->rest_ns;
    if (g->at.task.thread == 0)
        t->time_ns += gap + (record->first ? 0 : r->duration_ns) + r->rest_ns;
    function_gather(g, r);
    messages_gather(g, r, is);
    if (comm) {
        comm->calls += r->polls;
        comm->bytes += r->polls * mars_record_bytes(r);
    }
    if (g->at.task.about->number == 0 && g->at.task.thread == 0)
        stats_phase_add(&g->stats->phases, record, is->quiet,
                        is->sort == CONV_COLLECTIVE && !is->request && comm && !comm->inter &&
                            comm->size == g->stats->source->tasks);
}

static bool task_gather(struct stats *stats, struct conv_source *source, uint32_t number,
                        struct mars_error *error)
{
    struct gather g = {.stats = stats, .first = stats->functions};
    bool fine = conv_walk_begin(&g.at, source, number, 0, error);
    for (uint32_t i = 0; fine && i < g.at.task.about->threads; i++) {
        fine = i == 0 || conv_thread_open(&g.at.task, i, error);
        while (fine && conv_walk_next(&g.at, error))
            record_gather(&g);
        fine = fine && !error->text[0];
    }
    for (uint32_t i = 1; fine && i < g.at.task.about->comms; i++)
        comm_of(&g, i); /* those that no call names, too */
    conv_walk_end(&g.at);
    ker_table_release(&g.pairs);
    free(g.function);
    free(g.comm);
    free(g.request);
    return fine;
}

static void stats_release(struct stats *s)
{
    for (size_t i = 0; i < s->functions; i++)
        free(s->function[i].name);
    for (size_t i = 0; i < s->comms; i++)
        free(s->comm[i].member.run);
    for (uint32_t i = 0; i < s->phases.kinds; i++)
        free(s->phases.kind[i].text);
    free(s->function);
    free(s->pair);
    ker_table_release(&s->comm_places);
    free(s->comm);
    free(s->task);
    free(s);
}

KER_ORDER_BY(pair_compare, struct stats_pair, from, to)

bool conv_stats_of(struct conv_source *source, bool json, FILE *to, struct mars_error *error)
{
    struct stats *stats = ker_alloc(sizeof *stats);
    bool fine = true;
    stats->source = source;
    stats->task = ker_alloc(source->tasks * sizeof *stats->task);
    for (uint32_t i = 0; fine && i < source->tasks; i++)
        fine = task_gather(stats, source, i, error);
    stats_phase_end(&stats->phases);
    if (stats->pairs)
        qsort(stats->pair, stats->pairs, sizeof *stats->pair, pair_compare);
    if (fine && !(json ? stats_print_json(stats, to) : stats_print(stats, to)))
        fine = mars_fail(error, "standard output: it cannot be written");
    stats_release(stats);
    return fine;
}

int conv_stats(const char *path, bool json, const struct conv_options *options)
{
    struct mars_error error = {0};
    struct conv_source source;
    bool fine = conv_open(&source, path, options, &error) && conv_stats_of(&source, json, stdout, &error);
    conv_close(&source);
    if (!fine)
        fprintf(stderr, "marsconv: error: %s\n", error.text);
    return fine ? 0 : 2;
}
