/* service.c - the model as a service of nodes, and its set-up. */
#include "tasks/driven/model.h"

#include <stdlib.h>
#include <string.h>

/* ---- events ---- */

static void service_start(void *state, struct node *node, ker_time now)
{
    struct task_driven_node *n = state;
    struct task_driven *d = n->driven;
    n->net = node;
    for (uint32_t i = 0; i < n->cores; i++) {
        struct driven_core *core = &n->core[i];
        if (core->job->start <= now) {
            driven_start(core, node, now);
            continue;
        }
        driven_job_of(core)->open++;
        d->outside.timer(node, core->job->start, d->service, core->seat);
    }
}

static void service_timer(void *state, struct node *node, ker_time now, uint32_t number)
{
    struct task_driven_node *n = state;
    struct driven_core *core = &n->core[number];
    driven_job_of(core)->open--;
    core->granted = core->asks;
    core->asks = core->works = false;
    if (core->started)
        driven_run(core, node, now);
    else
        driven_start(core, node, now);
}

static void service_worked(void *state, struct node *node, ker_time now, uint32_t number,
                           const struct node_worked *worked)
{
    service_timer(state, node, now, number);
}

/* A message of the block that runs has left. */
static void service_sent(void *state, struct node *node, ker_time now, uint64_t cookie)
{
    struct task_driven_node *n = state;
    struct driven_core *core = &n->core[cookie - 1];
    driven_job_of(core)->open--;
    if (--core->leaving == 0 && !core->works)
        driven_run(core, node, now);
}

/* The cores of a node are ordered by (job, task). */
static struct driven_core *core_find(const struct task_driven_node *n, uint32_t job, uint32_t task)
{
    const struct driven_core *core = n->core;
    uint32_t next = KER_BISECT(
        i, 1, n->cores, core[i].job_number < job || (core[i].job_number == job && core[i].task <= task));
    return &n->core[next - 1];
}

/* A message for an object: it is here, it will come, or it has left. */
static void message_arrived(struct driven_core *core, struct node *node, ker_time now,
                            const struct driven_wire *wire, ker_time sent)
{
    struct driven_record *r = driven_record_find(core, wire->object);
    if (r && r->state == DRIVEN_AWAY && r->moves > wire->moves) {
        core->passed_on++;
        driven_post(core, node, now, wire);
        if (wire->source != r->where && wire->source != core->task)
            driven_tell(core, node, now, wire->source, r);
        return;
    }
    if (!r)
        r = driven_record_new(core, wire->object, DRIVEN_AWAITED);
    if (r->state != DRIVEN_HERE) {
        r->state = DRIVEN_AWAITED;
        r->moves = wire->moves;
    }
    if (wire->kind == DRIVEN_MESSAGE)
        driven_line_message(core, wire->source, wire->bytes, sent, now);
    core->received_messages += wire->kind == DRIVEN_MESSAGE;
    core->received_bytes += wire->kind == DRIVEN_MESSAGE ? wire->bytes : 0;
    driven_take(core, now, r, wire);
}

static void service_arrived(void *state, struct node *node, ker_time now, const struct net_message *m)
{
    struct driven_wire wire;
    driven_wire_read(&wire, m);
    struct driven_core *core = core_find(state, wire.job, wire.destination);
    driven_job_of(core)->open--;
    switch (wire.kind) {
    case DRIVEN_OBJECT:
        driven_came(core, node, now, &wire);
        break;
    case DRIVEN_LOCATION:
        driven_located(core, &wire);
        break;
    case DRIVEN_LOAD:
    case DRIVEN_COUNT:
        driven_side_heard(core, &wire);
        break;
    default:
        message_arrived(core, node, now, &wire, m->created);
    }
    driven_balance(core, node, now);
    if (!core->runs)
        driven_run(core, node, now);
}

static uint32_t service_receiver(void *state, const struct net_envelope *envelope)
{
    struct driven_wire wire;
    driven_wire_read(&wire, &(struct net_message){.envelope = *envelope});
    return core_find(state, wire.job, wire.destination)->core;
}

static uint32_t service_job(const struct net_envelope *envelope)
{
    struct driven_wire wire;
    driven_wire_read(&wire, &(struct net_message){.envelope = *envelope});
    return wire.job;
}

/* A message that a fault has taken is in flight for ever. */
const struct node_service task_driven_service = {.name = "driven",
                                                 .start = service_start,
                                                 .arrived = service_arrived,
                                                 .sent = service_sent,
                                                 .timer = service_timer,
                                                 .worked = service_worked,
                                                 .receiver = service_receiver,
                                                 .job = service_job,
                                                 .save = driven_node_save};

/* ---- set-up ---- */

void task_driven_counts(struct task_driven *d, struct task_mpi *counts)
{
    d->counts = counts;
}

struct task_driven *task_driven_new(const struct node_model *model, const struct task_mpi_outside *outside,
                                    uint32_t jobs)
{
    struct task_driven *d = ker_alloc(sizeof *d);
    d->outside = *outside;
    d->model = *model;
    d->jobs = jobs;
    d->job = ker_alloc(jobs * sizeof *d->job);
    driven_records_init(d);
    for (uint32_t i = 0; i < jobs; i++) {
        struct driven_job *job = &d->job[i];
        job->job = outside->job(outside->jobs, i);
        if (!job->job->class->driven)
            continue;
        job->program = driven_program(job->job->program);
        job->entry = ker_alloc(job->program->entries * sizeof *job->entry);
        job->core = ker_alloc(job->program->tasks * sizeof *job->core);
    }
    return d;
}

void task_driven_free(struct task_driven *d)
{
    if (!d)
        return;
    for (uint32_t i = 0; i < d->cores; i++) {
        free(d->core[i].ready);
        free(d->core[i].sides);
    }
    for (uint32_t i = 0; i < d->jobs; i++) {
        free(d->job[i].entry);
        free(d->job[i].core);
    }
    driven_records_release(d);
    KER_FREE(d->core, d->node, d->job, d);
}

void task_driven_name(struct task_driven *d, uint32_t service)
{
    d->service = service;
}

void task_driven_reserve(struct task_driven *d, uint32_t nodes, uint32_t tasks)
{
    d->core = ker_alloc(tasks * sizeof *d->core);
    d->node = ker_alloc(nodes * sizeof *d->node);
    d->core_room = tasks;
    d->node_room = nodes;
}

static void core_init(struct driven_core *core, struct task_driven_node *n, const struct task_mpi_seat *seat,
                      uint32_t number)
{
    struct task_driven *d = n->driven;
    struct driven_job *job = &d->job[seat->job];
    *core = (struct driven_core){.driven = d,
                                 .home = n,
                                 .job = job->job,
                                 .program = job->program,
                                 .number = number,
                                 .job_number = seat->job,
                                 .task = seat->task,
                                 .core = seat->core,
                                 .seat = (uint16_t)(core - n->core),
                                 .begins = job->job->start,
                                 .finish = job->job->start};
    core->line.shown = d->timeline && stats_timeline_has(d->timeline, seat->job, seat->task);
    job->core[seat->task] = number + 1;
    if (job->program->balance_every && job->program->tasks > 1)
        core->sides = ker_alloc(sizeof *core->sides);
}

struct task_driven_node *task_driven_node_new(struct task_driven *d, uint32_t node,
                                              const struct task_mpi_seat *seats, uint32_t count)
{
    ker_assert(d->nodes < d->node_room && count <= d->core_room - d->cores);
    struct task_driven_node *n = &d->node[d->nodes++];
    *n = (struct task_driven_node){.driven = d, .core = &d->core[d->cores], .node = node, .cores = count};
    for (uint32_t i = 0; i < count; i++)
        core_init(&n->core[i], n, &seats[i], d->cores++);
    return n;
}

static void object_place(struct task_driven *d, struct driven_job *job, uint32_t object)
{
    uint32_t number = job->core[job->program->class->home(job->program, object)];
    if (!number)
        return;
    struct driven_core *core = &d->core[number - 1];
    driven_record_new(core, object, DRIVEN_HERE)->waits = true;
    core->here++;
    job->unfinished++;
    d->unfinished += !job->job->background;
}

void task_driven_place(struct task_driven *d)
{
    for (uint32_t i = 0; i < d->jobs; i++)
        for (uint32_t object = 0; d->job[i].program && object < d->job[i].program->objects; object++)
            object_place(d, &d->job[i], object);
}

uint64_t task_driven_unfinished(const struct task_driven *d)
{
    return d->unfinished;
}

void task_driven_job(const struct task_driven *d, uint32_t job, int64_t *open, uint64_t *unfinished)
{
    *open = d->job[job].open;
    *unfinished = d->job[job].unfinished;
}

/* ---- for the kinds of programs ---- */

enum ker_status driven_refuse(const struct ker_config *config, const char *path, struct ker_error *error)
{
    if (ker_config_bool(config, TASK_KEY(path, "restart")))
        return ker_config_fail(config, error, TASK_KEY(path, "restart"),
                               "a message-driven program runs once: give it more iterations instead");
    return KER_OK;
}

uint32_t driven_tasks(const struct task_program *program)
{
    return driven_program(program)->tasks;
}

const struct task_comm *driven_comms(const struct task_program *program, int32_t *count)
{
    *count = 0;
    return NULL;
}

enum ker_status driven_prepare(struct task_program *program, const uint32_t *own_tasks, uint32_t count,
                               struct ker_error *error)
{
    return KER_OK;
}
