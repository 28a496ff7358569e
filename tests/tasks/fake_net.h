/* fake_net.h - for tests of the MPI model: nodes on a network of constant or jittering latency, timers, and
 * programs from lists of ops.
 *
 * Events are ordered by (time, number); with jitter, messages overtake each other, with control_latency
 * control messages those before. A message takes latency + bytes x 40 ps (25 GB/s) to arrive and bytes x 40
 * ps until it has left; inside a node it takes node_copy to arrive, and has left then.
 */
#pragma once

#include "tasks/mpi/mpi.h"
#include "tests/tasks/task_rows.h"

#include <stdlib.h>
#include <string.h>

struct fake_net;

struct node { /* the test's own; the model only passes pointers on */
    struct fake_net *net;
    uint32_t id;
    struct task_mpi_node *client;
};

#define FAKE_SERVICE 3 /* the model's number among the nodes' services */

enum fake_kind { FAKE_ARRIVED, FAKE_SENT, FAKE_TIMER };

struct fake_event {
    ker_time time;
    uint64_t number;
    int kind;
    uint32_t node, timer;
    uint64_t cookie;
    struct net_message message;
};

struct fake_program {
    uint32_t tasks;
    const struct task_op **ops; /* per task, ended by FINALIZE */
    uint32_t *at;
    struct task_comm comm[4];
    int32_t comms;
    const struct task_neighbours *(*neighbours)(uint32_t task, int32_t comm);
    uint32_t streams; /* of task 0, see fake_streams */
};

/* What crossed the network, for tests that look at it. */
struct fake_sent {
    uint32_t source, destination;
    uint64_t bytes;
    ker_time time;
    struct net_envelope envelope;
};

struct fake_net {
    struct task_mpi *mpi;
    struct ker_config *config;
    struct node *node;
    struct node_model model;
    struct task_job job;
    struct fake_program program;
    uint32_t nodes, per_node;
    ker_time now, latency, jitter, touched;
    ker_time control_latency; /* of control messages, which then do not jitter; 0: like others */
    struct fake_event *event;
    size_t events, room;
    uint64_t number;
    struct fake_sent *sent;
    size_t sents, sent_room;
    void (*look)(struct fake_net *,
                 const struct net_envelope *); /* at everything that is sent; may be NULL */
};

static void fake_push(struct fake_net *net, struct fake_event event)
{
    event.number = net->number++;
    KER_RESERVE(net->event, net->room, net->events + (size_t)1);
    size_t i = net->events++;
    for (; i > 0; i = (i - 1) / 2) {
        struct fake_event *parent = &net->event[(i - 1) / 2];
        if (parent->time < event.time || (parent->time == event.time && parent->number < event.number))
            break;
        net->event[i] = *parent;
    }
    net->event[i] = event;
}

static bool fake_before(const struct fake_event *a, const struct fake_event *b)
{
    return a->time != b->time ? a->time < b->time : a->number < b->number;
}

static struct fake_event fake_pop(struct fake_net *net)
{
    struct fake_event top = net->event[0], last = net->event[--net->events];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < net->events; i = child) {
        if (child + 1 < net->events && fake_before(&net->event[child + 1], &net->event[child]))
            child++;
        if (!fake_before(&net->event[child], &last))
            break;
        net->event[i] = net->event[child];
    }
    net->event[i] = last;
    return top;
}

/* Inside a node it arrives and has left at once. */
static void fake_copy(struct node *node, ker_time now, const struct node_message *m)
{
    struct fake_event event = {.time = now + m->delay + node_copy(&node->net->model, m->bytes),
                               .kind = FAKE_ARRIVED,
                               .node = node->id,
                               .cookie = m->cookie};
    event.message = (struct net_message){.source = node->id,
                                         .destination = node->id,
                                         .bytes = m->bytes,
                                         .created = now,
                                         .service = FAKE_SERVICE,
                                         .envelope = *m->envelope};
    fake_push(node->net, event);
}

static void fake_send(struct node *node, ker_time now, uint32_t service, const struct node_message *m)
{
    struct fake_net *net = node->net;
    ker_assert(now == net->now && m->destination < net->nodes && m->priority == 0 && service == FAKE_SERVICE);
    if (m->destination == node->id) {
        fake_copy(node, now, m);
        return;
    }
    ker_time wire = (ker_time)(m->bytes + 32) * 40, jitter = 0;
    if (net->look)
        net->look(net, m->envelope);
    if (net->jitter)
        jitter = ker_random_below(ker_random_bits(1, KER_PURPOSE_TEST, 0, net->number).word[0],
                                  (uint32_t)net->jitter);
    bool control = m->queue == NET_QUEUE_CONTROL;
    ker_time latency = control && net->control_latency ? net->control_latency : net->latency + jitter;
    ker_assert(!control || m->bytes == 0);
    now += m->delay;
    struct fake_event event = {.time = now + wire + latency, .kind = FAKE_ARRIVED, .node = m->destination};
    event.message = (struct net_message){.source = node->id,
                                         .destination = m->destination,
                                         .bytes = m->bytes,
                                         .created = now,
                                         .service = FAKE_SERVICE,
                                         .envelope = *m->envelope};
    fake_push(net, event);
    if (m->cookie)
        fake_push(net, (struct fake_event){
                           .time = now + wire, .kind = FAKE_SENT, .node = node->id, .cookie = m->cookie});
    *KER_PUSH(net->sent, net->sents, net->sent_room) =
        (struct fake_sent){node->id, m->destination, m->bytes, now, *m->envelope};
}

static void fake_timer(struct node *node, ker_time when, uint32_t service, uint32_t timer)
{
    ker_assert(when > node->net->now && timer < 65536 && service == FAKE_SERVICE);
    fake_push(node->net,
              (struct fake_event){.time = when, .kind = FAKE_TIMER, .node = node->id, .timer = timer});
}

static ker_time *fake_latest(struct node *node)
{
    return &node->net->touched;
}

static const struct task_job *fake_job(const void *jobs, uint32_t job)
{
    (void)job;
    return &((const struct fake_net *)jobs)->job;
}

static uint32_t fake_node(const void *jobs, uint32_t job, uint32_t task)
{
    const struct fake_net *net = jobs;
    (void)job;
    return task / net->per_node;
}

static bool fake_next(struct task_program *program, uint32_t own, struct task_op *op)
{
    struct fake_program *p = (void *)program;
    const struct task_op *next = &p->ops[own][p->at[own]];
    if (p->at[own] && next[-1].kind == TASK_OP_FINALIZE) {
        p->at[own] = 0; /* begins again */
        return false;
    }
    if (own >= p->tasks && next->kind == TASK_OP_FINALIZE) {
        p->at[own] = 0;
        return false;
    }
    p->at[own]++;
    *op = *next;
    return true;
}

static const struct task_comm *fake_comms(const struct task_program *program, int32_t *count)
{
    const struct fake_program *p = (const void *)program;
    *count = p->comms;
    return p->comm;
}

static const struct task_neighbours *fake_neighbours(const struct task_program *program, uint32_t own,
                                                     int32_t comm)
{
    return ((const struct fake_program *)(const void *)program)->neighbours(own, comm);
}

static uint32_t fake_streams_of(const struct task_program *program, uint32_t own, uint32_t *further)
{
    const struct fake_program *p = (const void *)program;
    *further = p->tasks;
    return own == 0 && p->streams ? p->streams : 1;
}

static const struct task_program_class fake_class = {
    .next = fake_next, .comms = fake_comms, .streams = fake_streams_of, .neighbours = fake_neighbours};

/* tasks placed per_node on each node; settings: text of a configuration with mpi and node keys. */
static void fake_open(struct fake_net *net, uint32_t tasks, uint32_t per_node, const char *settings)
{
    const struct ker_option *const tables[] = {
        mpi_options,   node_options, node_rate_options, node_structure_options, node_noise_options,
        stats_options, NULL};
    struct ker_error error = {0};
    *net = (struct fake_net){
        .per_node = per_node, .nodes = (tasks + per_node - 1) / per_node, .latency = KER_US};
    net->program.tasks = tasks;
    net->program.ops = ker_alloc(tasks * sizeof *net->program.ops);
    net->program.at = ker_alloc(tasks * sizeof *net->program.at);
    net->program.comm[0] = (struct task_comm){.size = (int32_t)tasks};
    net->program.comms = 1;
    net->job = (struct task_job){.name = "test",
                                 .class = &fake_class,
                                 .program = (void *)&net->program,
                                 .tasks = tasks,
                                 .processor_factor = 1.0};
    struct task_mpi_outside outside = {.send = fake_send,
                                       .timer = fake_timer,
                                       .latest = fake_latest,
                                       .job = fake_job,
                                       .node = fake_node,
                                       .jobs = net};
    ker_assert(ker_config_parse(&net->config, "test.cfg", settings, NULL, 0, tables, &error) == KER_OK);
    ker_assert(task_mpi_new(&net->mpi, net->config, &outside, &error) == KER_OK);
    ker_assert(node_model_init(&net->model, net->config, 1, &error) == KER_OK);
    task_mpi_name(net->mpi, FAKE_SERVICE);
    net->node = ker_alloc(net->nodes * sizeof *net->node);
}

/* Task 0 has this many streams; the operations of its further ones are behind those of the tasks. They,
 * too, end by FINALIZE, which is none of their operations. */
static inline void fake_streams(struct fake_net *net, uint32_t streams)
{
    net->program.streams = streams;
    free(net->program.ops);
    free(net->program.at);
    net->program.ops = ker_alloc((net->program.tasks + streams) * sizeof *net->program.ops);
    net->program.at = ker_alloc((net->program.tasks + streams) * sizeof *net->program.at);
    net->program.comm[1] = net->program.comm[0];
    net->program.comms = 2;
}

static void fake_settle(struct node *node, ker_time now)
{
    while (task_mpi_service.step(node->client, node, now))
        ;
}

static void fake_start(struct fake_net *net)
{
    uint32_t tasks = net->program.tasks, task = 0;
    task_mpi_reserve(net->mpi, net->nodes, tasks);
    for (uint32_t i = 0; i < net->nodes; i++) {
        struct task_mpi_seat seats[64];
        uint32_t count = 0;
        for (; count < net->per_node && task < tasks; count++, task++)
            seats[count] = (struct task_mpi_seat){0, task, task, (uint16_t)count};
        net->node[i] = (struct node){net, i, task_mpi_node_new(net->mpi, i, seats, count)};
    }
    for (uint32_t i = 0; i < net->nodes; i++) {
        task_mpi_service.start(net->node[i].client, &net->node[i], 0);
        fake_settle(&net->node[i], 0);
    }
}

/* Until nothing happens any more, or this many events. */
static void fake_run(struct fake_net *net, uint64_t most)
{
    for (; net->events && most; most--) {
        struct fake_event e = fake_pop(net);
        struct node *node = &net->node[e.node];
        net->now = e.time;
        if (e.kind == FAKE_ARRIVED)
            task_mpi_service.arrived(node->client, node, e.time, &e.message);
        else if (e.kind == FAKE_TIMER)
            task_mpi_service.timer(node->client, node, e.time, e.timer);
        if (e.cookie)
            task_mpi_service.sent(node->client, node, e.time, e.cookie);
        fake_settle(node, e.time);
    }
}

/* All of these operations, a list for each task. */
static inline void fake_play(struct fake_net *net, const struct task_op *const *ops)
{
    for (uint32_t i = 0; i < net->program.tasks; i++)
        net->program.ops[i] = ops[i];
    fake_start(net);
    fake_run(net, UINT64_MAX);
}

/* What the table of tasks says of one so far. */
static inline struct task_row fake_row(const struct fake_net *net, uint32_t task)
{
    struct task_row rows[64];
    task_rows(net->mpi, net->now, rows);
    return rows[task];
}

static void fake_close(struct fake_net *net)
{
    task_mpi_free(net->mpi);
    ker_config_free(net->config);
    free(net->program.ops);
    free(net->program.at);
    free(net->node);
    free(net->event);
    free(net->sent);
}
