/* components.c - processes as components of the engine.
 *
 * Where processes touch each other only by messages, which take time, each is a component. Where they do so
 * without delay (instant rendezvous, o + L = 0) all are one component, on one rank.
 */
#include "kernel/engine/post.h"
#include "tasks/loggops/model.h"

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

/* ---- the component ---- */

static void group_arrival(void *self, struct ker_engine *engine, const struct ker_event *event)
{
    struct loggops_group *g = self;
    struct loggops_system *s = g->system;
    uint32_t index = loggops_event_from(s, event, g->first);
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
    if (s->programs && s->resources < LOGGOPS_NEEDS)
        s->resources = LOGGOPS_NEEDS;
    s->blocked = ker_alloc(sizeof *s->blocked * ((size_t)s->count * s->resources + 1));
    for (size_t i = 0; i < (size_t)s->count * s->resources; i++)
        s->blocked[i] = (struct loggops_blocked){KER_NONE, KER_NONE};
    for (uint32_t i = 0; i < groups(s); i++)
        s->group[i] = (struct loggops_group){s, i, KER_NONE, KER_TIME_MAX};
    bool timed = s->cpus > 1 && !(s->set.faults & LOGGOPS_UNTIMED);
    size_t ops = 0;
    for (uint32_t job = 0; job < s->jobs; job++) {
        const struct graph *graph = s->job[job].graph;
        for (uint32_t i = 0; graph && timed && i < graph->count; i++)
            ops += graph->task[i].ops;
    }
    s->ready = ops ? ker_alloc(ops * sizeof *s->ready) : NULL;
    ops = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t job = loggops_job_of(s, s->first + i);
        const struct loggops_job *j = &s->job[job];
        struct loggops_process *p = &s->process[i];
        *p = (struct loggops_process){.job = job,
                                      .left = KER_NONE,
                                      .posted = {.first = KER_NONE, .last = KER_NONE},
                                      .unexpected = {.first = KER_NONE, .last = KER_NONE}};
        if (!j->graph)
            continue;
        p->task = &j->graph->task[s->first + i - j->first - j->graph->first];
        p->ready = s->ready ? s->ready + ops : NULL;
        ops += p->task->ops;
    }
}

void task_loggops_attach(struct loggops_system *s, struct ker_engine *engine)
{
    s->engine = engine;
    s->events.free = s->left.free = KER_NONE;
    loggops_match_init(s);
    processes_make(s);
    if (s->records)
        loggops_records_make(s);
    s->watched = s->records || s->noise.detours.count > 0;
    if (s->programs)
        loggops_programs_begin(s);
    for (uint32_t i = 0; i < s->count; i++)
        if (!loggops_is_program(s, &s->process[i]))
            loggops_begin(s, &s->process[i], s->job[s->process[i].job].start);
    for (uint32_t i = 0; i < groups(s); i++) {
        ker_engine_set(engine, i, &loggops_class, &s->group[i], true);
        wake(&s->group[i], i);
    }
}

void task_loggops_forked(struct loggops_system *s, ker_time at)
{
    for (uint32_t i = 0; i < s->count; i++) {
        struct loggops_process *p = &s->process[i];
        struct loggops_job *j = &s->job[p->job];
        if (s->loaded[i])
            continue;
        p->number = 0;
        j->start = loggops_later(j->start, at);
        if (loggops_is_program(s, p))
            loggops_program_begin(s, p, at);
        else
            loggops_begin(s, p, j->start);
        if (s->records && !loggops_is_program(s, p))
            loggops_record_begin(s, p);
    }
    for (uint32_t i = 0; i < groups(s); i++) {
        s->group[i].wake = KER_TIME_MAX;
        wake(&s->group[i], i);
    }
}
