/* echo.c - MPI tasks that call services: an echo server, which handles one call after the other and answers
 * with as many bytes as it got; a desk, which hands the calls of the tasks on its node over to a server on
 * another node, and its answers back; and a program whose tasks call one of them again and again.
 */
#include <marssim/plugin.h>

#include <stdlib.h>
#include <string.h>

/* Calls that are not answered, in their order. A service hands a call on under a number of its own. */
struct call {
    struct node_caller caller;
    uint64_t number, bytes;
};
struct calls {
    struct call *call;
    uint32_t count;
};

static struct call calls_take(struct calls *calls, uint32_t i)
{
    struct call taken = calls->call[i];
    memmove(&calls->call[i], &calls->call[i + 1], (--calls->count - i) * sizeof taken);
    return taken;
}

static void calls_save(struct calls *calls, struct ker_chunk *chunk)
{
    uint32_t count = ker_chunk_count(chunk, calls->count, sizeof *calls->call);
    for (uint32_t i = 0; i < count && !chunk->bad; i++) {
        if (chunk->loads)
            *KER_APPEND(calls->call, calls->count) = (struct call){.bytes = 0};
        KER_CHUNK(chunk, calls->call[i]);
    }
}

/* ---- servers ---- */

struct servers {
    const struct node_service_setup *setup;
    ker_time time;
    int64_t answers;
};
struct server {
    const struct servers *shared;
    struct calls calls; /* the first is being handled */
    uint32_t node;
    uint64_t answered;
};

static const struct ker_option server_options[] = {
    {"services[].time", KER_TYPE_TIME, "1 us", "1 ps", "1 s", NULL, "echo: for a call."},
    {"services[].answers", KER_TYPE_INT, NULL, "0", NULL, NULL, "echo: only so many, for each node."},
    {0}};

static enum ker_status servers_read(void *shared, const struct node_service_setup *setup,
                                    struct ker_error *error)
{
    const char *most = node_service_key(setup, "answers").text;
    *(struct servers *)shared = (struct servers){
        setup, ker_config_time(setup->config, node_service_key(setup, "time").text),
        ker_config_has(setup->config, most) ? ker_config_int(setup->config, most) : INT64_MAX};
    return KER_OK;
}

static void server_init(void *state, void *shared, const struct node_service_setup *setup, uint32_t node)
{
    *(struct server *)state = (struct server){.shared = shared, .node = node};
}

static void server_next(const struct server *s, struct node *node, ker_time now)
{
    if (s->calls.count && (int64_t)s->answered < s->shared->answers)
        node_timer(node, now + s->shared->time, s->shared->setup->service, 0);
}

static void server_arrived(void *state, struct node *node, ker_time now, const struct net_message *m)
{
    struct server *s = state;
    *KER_APPEND(s->calls.call, s->calls.count) = (struct call){node_caller_of(m), 0, m->bytes};
    if (s->calls.count == 1)
        server_next(s, node, now);
}

static void server_timer(void *state, struct node *node, ker_time now, uint32_t number)
{
    struct server *s = state;
    struct call call = calls_take(&s->calls, 0);
    node_answer(node, now, s->shared->setup->service, &call.caller, call.bytes, NULL,
                s->shared->setup->priority);
    s->answered++;
    server_next(s, node, now);
}

static void server_save(void *state, struct node *node, struct ker_chunk *chunk)
{
    struct server *s = state;
    calls_save(&s->calls, chunk);
    KER_CHUNK(chunk, s->answered);
}

static void server_release(void *state)
{
    free(((struct server *)state)->calls.call);
}

#define COLUMNS(COLUMN)                                                                                      \
    COLUMN(node, "", U32, SAME, row->node, "the node")                                                       \
    COLUMN(answered, "messages", U64, SUM, row->answered, "calls that have been answered")

static uint64_t row_key(const void *row)
{
    return ((const struct server *)row)->node;
}

STATS_OWN_SCHEMA(table, struct server, COLUMNS, row_key, "service_echo", "One row per node.")

/* ---- desks ---- */

struct desks {
    const struct node_service_setup *setup, *servers;
};
struct desk {
    const struct desks *shared;
    struct calls calls;
    uint64_t number; /* of the next call */
};

static const struct ker_option desk_options[] = {
    {"services[].servers", KER_TYPE_STRING, "echo", NULL, NULL, NULL, "desk: the service that answers."},
    {0}};

static enum ker_status desks_read(void *shared, const struct node_service_setup *setup,
                                  struct ker_error *error)
{
    struct desks *d = shared;
    d->setup = setup;
    return node_service_find(&d->servers, setup, "servers", error);
}

static void desk_init(void *state, void *shared, const struct node_service_setup *setup, uint32_t node)
{
    ((struct desk *)state)->shared = shared;
}

/* A task's call goes to the server of the number that its first word says, an answer to the task. */
static void desk_arrived(void *state, struct node *node, ker_time now, const struct net_message *m)
{
    struct desk *d = state;
    const struct node_service_setup *own = d->shared->setup, *servers = d->shared->servers;
    if (node_message_from(m) == servers->service) {
        uint32_t i = 0;
        while (d->calls.call[i].number != m->envelope.word[0])
            i++;
        struct call call = calls_take(&d->calls, i);
        node_answer(node, now, own->service, &call.caller, m->bytes, NULL, own->priority);
        return;
    }
    *KER_APPEND(d->calls.call, d->calls.count) = (struct call){node_caller_of(m), d->number, m->bytes};
    struct net_envelope question = {{d->number++}};
    struct node_message to = {
        .destination = node_service_node(servers, (uint32_t)(m->envelope.word[1] % servers->members)),
        .bytes = m->bytes,
        .envelope = &question,
        .core = NODE_ANY_CORE,
        .priority = own->priority};
    node_send(node, now, NODE_TO(own->service, servers->service), &to);
}

static void desk_save(void *state, struct node *node, struct ker_chunk *chunk)
{
    struct desk *d = state;
    calls_save(&d->calls, chunk);
    KER_CHUNK(chunk, d->number);
}

static void desk_release(void *state)
{
    free(((struct desk *)state)->calls.call);
}

/* ---- tasks: a round is computation, the call, with `beside` more computation and a wait; then a barrier
 * ---- */

struct own_task {
    uint32_t task;
    uint64_t done, before; /* operations; before the last next() */
    uint64_t words[TASK_CALL_WORDS];
};
struct task_program {
    uint32_t tasks;
    uint64_t rounds, bytes;
    ker_time think, beside;
    struct task_called called;
    struct task_comm world;
    struct own_task *own;
};

static const struct ker_option caller_options[] = {
    {"jobs[].whom", KER_TYPE_STRING, "echo", NULL, NULL, NULL, "callers: the service that tasks call."},
    {"jobs[].rounds", KER_TYPE_INT, "1", "0", "1000000", NULL, "callers: calls of a task."},
    {"jobs[].call_bytes", KER_TYPE_BYTES, "64 B", NULL, NULL, NULL, "callers: of each call."},
    {"jobs[].think", KER_TYPE_TIME, "1 us", NULL, "1 s", NULL, "callers: computed before each call."},
    {"jobs[].beside", KER_TYPE_TIME, "0 ns", NULL, "1 s", NULL,
     "callers: computed between a call with a request and the wait for it; 0: calls wait."},
    {0}};

static enum ker_status callers_open(struct task_program **opened, const struct ker_config *config,
                                    const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct task_program *p = *opened = ker_alloc(sizeof *p);
    if (!ker_config_has(config, TASK_KEY(path, "tasks")))
        return ker_config_fail(config, error, TASK_KEY(path, "tasks"), "is missing");
    p->tasks = (uint32_t)ker_config_int(config, TASK_KEY(path, "tasks"));
    p->rounds = (uint64_t)ker_config_int(config, TASK_KEY(path, "rounds"));
    p->bytes = ker_config_bytes(config, TASK_KEY(path, "call_bytes"));
    p->think = ker_config_time(config, TASK_KEY(path, "think"));
    p->beside = ker_config_time(config, TASK_KEY(path, "beside"));
    p->called = (struct task_called){ker_config_string(config, TASK_KEY(path, "whom")), "whom"};
    p->world = (struct task_comm){.size = (int32_t)p->tasks};
    return KER_OK;
}

static void callers_close(struct task_program *p)
{
    if (p)
        free(p->own);
    free(p);
}

static uint32_t callers_tasks(const struct task_program *p)
{
    return p->tasks;
}

static const struct task_comm *callers_comms(const struct task_program *p, int32_t *count)
{
    *count = 1;
    return &p->world;
}

static bool callers_service(const struct task_program *p, uint32_t index, struct task_called *called)
{
    *called = p->called;
    return index == 0;
}

static enum ker_status callers_prepare(struct task_program *p, const uint32_t *own_tasks, uint32_t count,
                                       struct ker_error *error)
{
    p->own = ker_alloc(count * sizeof *p->own);
    for (uint32_t i = 0; i < count; i++)
        p->own[i].task = own_tasks[i];
    return KER_OK;
}

/* Four operations a round: computation, call, computation, wait. */
static bool callers_next(struct task_program *p, uint32_t number, struct task_op *op)
{
    struct own_task *own = &p->own[number];
    own->before = own->done;
    *op = (struct task_op){.kind = TASK_OP_COMPUTE, .call = "computation"};
    uint64_t round = own->done / 4;
    if (round == p->rounds) {
        op->kind = own->done % 4 ? TASK_OP_FINALIZE : TASK_OP_COLLECTIVE;
        op->collective = TASK_COLL_BARRIER;
        op->call = own->done % 4 ? "MPI_Finalize" : "MPI_Barrier";
        return own->done++ % 4 < 2;
    }
    switch (own->done++ % 4) {
    case 0:
        op->time = p->think;
        break;
    case 1:
        own->words[0] = own->task + round;
        op->kind = TASK_OP_CALL;
        op->bytes = p->bytes;
        op->words = own->words;
        op->request = p->beside ? 1 : 0;
        op->call = "echo";
        break;
    case 2:
        op->time = p->beside;
        break;
    default:
        op->kind = TASK_OP_WAIT;
        op->request = 1;
        op->call = "echo_wait";
    }
    return true;
}

static void callers_position(struct task_program *p, uint32_t number, struct ker_chunk *chunk)
{
    struct own_task *own = &p->own[number];
    KER_CHUNK(chunk, own->before);
    own->done = chunk->loads ? own->before : own->done;
    chunk->bad |= own->before > 4 * p->rounds + 2;
}

/* ---- what there is ---- */

static const struct ker_kind echo = {
    .name = "echo",
    .meaning = "answers calls with as many bytes, one after the other",
    .operations = &(const struct node_service_kind){.service = {.name = "echo",
                                                                .arrived = server_arrived,
                                                                .timer = server_timer,
                                                                .save = server_save,
                                                                .release = server_release},
                                                    .shared_bytes = sizeof(struct servers),
                                                    .state_bytes = sizeof(struct server),
                                                    .answers = true,
                                                    .read = servers_read,
                                                    .init = server_init,
                                                    .table = &table},
    .options = KER_OPTIONS(server_options)};
static const struct ker_kind desk = {
    .name = "desk",
    .meaning = "hands calls over to servers on other nodes",
    .operations =
        &(const struct node_service_kind){
            .service = {.name = "desk", .arrived = desk_arrived, .save = desk_save, .release = desk_release},
            .shared_bytes = sizeof(struct desks),
            .state_bytes = sizeof(struct desk),
            .answers = true,
            .read = desks_read,
            .init = desk_init},
    .options = KER_OPTIONS(desk_options)};
static const struct ker_kind callers = {.name = "callers",
                                        .meaning = "tasks that call a service of their nodes",
                                        .traits = "computes",
                                        .operations =
                                            &(const struct task_program_class){.open = callers_open,
                                                                               .tasks = callers_tasks,
                                                                               .comms = callers_comms,
                                                                               .prepare = callers_prepare,
                                                                               .next = callers_next,
                                                                               .close = callers_close,
                                                                               .position = callers_position,
                                                                               .service = callers_service},
                                        .options = KER_OPTIONS(caller_options)};
static const struct ker_kind *const services[] = {&echo, &desk, NULL};
static const struct ker_kind *const programs[] = {&callers, NULL};
MARSSIM_PLUGIN(MARSSIM_BRINGS("services[].kind", struct node_service_kind, services),
               MARSSIM_BRINGS("jobs[].program", struct task_program_class, programs));
