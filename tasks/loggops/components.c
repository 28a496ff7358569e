/* components.c - processes as components of the engine.
 *
 * Where processes touch each other only by messages, which take time, each is a component. Where they do so
 * without delay (instant rendezvous, o + L = 0) all are one component, on one rank.
 */
#include "tasks/loggops/model.h"

/* The first process of a rank. */
static uint32_t first_of(const struct loggops_system *s, uint32_t rank)
{
    uint32_t each = s->processes / s->ranks, more = s->processes % s->ranks;
    return rank * each + (rank < more ? rank : more);
}

void loggops_spread(struct loggops_system *s, uint32_t rank, uint32_t ranks)
{
    s->ranks = ranks;
    s->first = rank < ranks ? first_of(s, rank) : s->processes;
    s->count = rank < ranks ? first_of(s, rank + 1) - s->first : 0;
}

struct ker_address loggops_address(const struct loggops_system *s, uint32_t process)
{
    if (process >= s->first && process < s->first + s->count)
        return (struct ker_address){s->together ? 0 : process - s->first, s->engine->rank};
    uint32_t each = s->processes / s->ranks, more = s->processes % s->ranks, large = more * (each + 1);
    uint32_t rank = process < large ? process / (each + 1) : more + (process - large) / each;
    return (struct ker_address){process - first_of(s, rank), rank};
}

/* What an event carries of a struct loggops_event, beside time and component; its port has the process's cpu
 * and adapter, its channel the kind. */
struct carried {
    ker_time cause[LOGGOPS_GENERATIONS];
    uint64_t bytes;
    uint32_t origin, number, op, tag; /* tag: of data the receiver's operation */
};
_Static_assert(sizeof(struct carried) == 48, "an event carries 48 bytes");

static bool has_tag(unsigned kind)
{
    return kind == LOGGOPS_MESSAGE || kind == LOGGOPS_REQUEST;
}

static void wake(struct loggops_group *g, uint32_t index)
{
    struct loggops_system *s = g->system;
    if (g->queue == KER_NONE)
        return;
    ker_time when = s->events.at[g->queue].time;
    if (when >= g->wake)
        return;
    g->wake = when;
    ker_post_note(s->engine, (struct ker_address){index, s->engine->rank}, when, KER_TIMER, 0, 0, 0);
}

void loggops_deliver(struct loggops_system *s, uint32_t index, uint32_t process)
{
    struct loggops_event *e = &s->events.at[index];
    struct ker_address to = loggops_address(s, process);
    if (to.rank == s->engine->rank && (s->together || process == e->origin)) {
        e->process = process - s->first;
        loggops_queue_put(s, &s->group[to.index].queue, index);
        return;
    }
    struct ker_event *event =
        ker_post_event(s->engine, to, e->time, (uint16_t)(e->cpu << 8 | e->nic), e->kind);
    event->flags = 0;
    struct carried *c = (struct carried *)event->payload;
    *c = (struct carried){.bytes = e->bytes, .origin = e->origin, .number = e->number, .op = e->op};
    c->tag = has_tag(e->kind) ? e->tag : e->match;
    for (unsigned i = 0; i < LOGGOPS_GENERATIONS; i++)
        c->cause[i] = e->cause[i];
    KER_POOL_GIVE(&s->events, index);
}

/* ---- the component ---- */

static void group_arrival(void *self, struct ker_engine *engine, const struct ker_event *event)
{
    struct loggops_group *g = self;
    struct loggops_system *s = g->system;
    const struct carried *c = (const struct carried *)event->payload;
    uint32_t index = KER_POOL_TAKE(&s->events, NULL);
    struct loggops_event *e = &s->events.at[index];
    *e = (struct loggops_event){.time = event->time,
                                .bytes = c->bytes,
                                .origin = c->origin,
                                .number = c->number,
                                .process = g->first,
                                .op = c->op,
                                .kind = event->channel,
                                .cpu = (uint8_t)(event->port >> 8),
                                .nic = (uint8_t)event->port};
    for (unsigned i = 0; i < LOGGOPS_GENERATIONS; i++)
        e->cause[i] = c->cause[i];
    if (has_tag(e->kind))
        e->tag = c->tag;
    else
        e->match = c->tag;
    loggops_queue_put(s, &g->queue, index);
}

static void group_note(void *self, struct ker_engine *engine, ker_time now, enum ker_record_kind kind,
                       uint16_t port, uint8_t channel, uint32_t amount)
{
}

static void group_act(void *self, struct ker_engine *engine, ker_time now)
{
    struct loggops_group *g = self;
    if (g->wake <= now)
        g->wake = KER_TIME_MAX;
    loggops_group_run(g, now);
    ker_touch(engine, now);
    wake(g, (uint32_t)(g - g->system->group));
}

static void group_arrival_alone(void *self, struct ker_engine *engine, const struct ker_event *event)
{
    group_arrival(self, engine, event);
    group_act(self, engine, event->time);
}

static void group_note_alone(void *self, struct ker_engine *engine, ker_time now, enum ker_record_kind kind,
                             uint16_t port, uint8_t channel, uint32_t amount)
{
    group_act(self, engine, now);
}

static uint32_t group_id(const void *self)
{
    const struct loggops_group *g = self;
    return g->system->first + g->first;
}

static const struct ker_class loggops_class = {
    .id = group_id,
    .name = "process",
    .arrival = group_arrival,
    .note = group_note,
    .act = group_act,
    .arrival_alone = group_arrival_alone,
    .note_alone = group_note_alone,
    .repeats = true,
};

/* ---- for the program ---- */

static uint32_t groups(const struct loggops_system *s)
{
    return s->together ? s->count > 0 : s->count;
}

uint32_t task_loggops_components(const struct loggops_system *s)
{
    return groups(s);
}

ker_time task_loggops_lookahead(const struct loggops_system *s)
{
    return s->lookahead;
}

static void processes_make(struct loggops_system *s)
{
    s->process = ker_alloc(sizeof *s->process * (s->count + 1u));
    s->group = ker_alloc(sizeof *s->group * (groups(s) + 1u));
    s->free_at = ker_alloc(sizeof *s->free_at * ((size_t)s->count * (s->cpus + 2 * s->nics) + 1));
    s->resources = s->cpus + 2 * s->cpus * s->nics + s->nics;
    s->blocked = ker_alloc(sizeof *s->blocked * ((size_t)s->count * s->resources + 1));
    for (size_t i = 0; i < (size_t)s->count * s->resources; i++)
        s->blocked[i] = (struct loggops_blocked){KER_NONE, KER_NONE};
    for (uint32_t i = 0; i < groups(s); i++)
        s->group[i] = (struct loggops_group){s, i, KER_NONE, KER_TIME_MAX};
    size_t ops = 0;
    for (uint32_t job = 0; job < s->jobs; job++) {
        const struct graph *graph = s->job[job].graph;
        for (uint32_t i = 0; s->cpus > 1 && i < graph->count; i++)
            ops += graph->task[i].ops;
    }
    s->ready = ops ? ker_alloc(ops * sizeof *s->ready) : NULL;
    ops = 0;
    for (uint32_t job = 0; job < s->jobs; job++) {
        const struct loggops_job *j = &s->job[job];
        for (uint32_t i = 0; i < j->graph->count; ops += j->graph->task[i++].ops)
            s->process[j->first + j->graph->first + i - s->first] = (struct loggops_process){
                .task = &j->graph->task[i],
                .ready = s->ready ? s->ready + ops : NULL,
                .posted = {KER_NONE, KER_NONE},
                .unexpected = {KER_NONE, KER_NONE},
            };
    }
}

void task_loggops_attach(struct loggops_system *s, struct ker_engine *engine)
{
    s->engine = engine;
    s->events.free = KER_NONE;
    processes_make(s);
    for (uint32_t i = 0; i < s->count; i++)
        loggops_begin(s, &s->process[i], s->job[loggops_job_of(s, s->first + i)].start);
    for (uint32_t i = 0; i < groups(s); i++) {
        ker_engine_set(engine, i, &loggops_class, &s->group[i], true);
        wake(&s->group[i], i);
    }
}
