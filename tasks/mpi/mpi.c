/* mpi.c - set-up of the MPI model, and what it is to a node: a service.
 *
 * Each call of the node changes the state of requests, which may make tasks ready; a step runs the first
 * ready task. The node is brought up to date after every call (nodes/nodes.h), so what happens there in one
 * instant is a function of the order of its calls, which is the same on any number of ranks.
 */
#include "tasks/mpi/state.h"

#include <stdlib.h>
#include <string.h>

const struct ker_option mpi_options[] = {
    {"mpi.eager_limit", KER_TYPE_BYTES, "8 KiB", NULL, NULL, NULL,
     "Messages up to this size are sent at once; larger ones wait until they are matched (rendezvous). "
     "With mpi.overheads = \"loggops\" loggops.S takes its place.",
     "jobs & network.model=@nodes & mpi.overheads!=loggops"},
    {"mpi.eager_completion", KER_TYPE_CHOICE, "sent", NULL, NULL, "sent|buffered|delivered",
     "When an eager send is complete: when its last byte has left the adapter; at once (copied to a "
     "buffer); or, to another node, when the adapter there has said that it is there (FIN), as Slingshot's "
     "adapters report it, messages up to mpi.inject_limit at once.",
     "jobs"},
    {"mpi.inject_limit", KER_TYPE_BYTES, "0 B", NULL, NULL, NULL,
     "Eager messages up to this size are handed over to the adapter whole, and complete then.",
     "mpi.eager_completion=delivered"},
    {"mpi.rendezvous", KER_TYPE_CHOICE, "read", NULL, NULL, "read|write|instant",
     "How a message above mpi.eager_limit moves once it is matched: the receiver reads it from the sender's "
     "memory, and notifies the sender when it has (RTS, READ, data, FIN); or the sender writes it when the "
     "receiver says so (RTS, CTS, data). With network.model = \"loggops\" also as LogGOPSim has it, for "
     "results equal to its: the message comes at once, and the sender continues in the instant in which it "
     "is matched; one rank simulates then.",
     "jobs"},
    {"mpi.partitioned", KER_TYPE_CHOICE, "each", NULL, NULL, "each|whole",
     "What a partitioned send (MPI_Psend_init) moves: each partition as a message of its own, as soon as it "
     "is ready and the receiver has started; or all of them as one, when the last is ready.",
     "jobs"},
    {"mpi.copies", KER_TYPE_CHOICE, "none", NULL, NULL, "none|unexpected|buffered|collectives|all",
     "Which copies of messages take processor time, bytes / node.memory_bandwidth: of eager messages that "
     "arrived before their receive was posted, by the call that takes them; of buffered sends (MPI_Bsend, "
     "and eager ones with mpi.eager_completion = \"buffered\"), before they leave; of what collectives copy "
     "in a task's own memory (its own block, the vector that a result is made in, Bruck's rotation and "
     "packing); or all of these.",
     "jobs"},
    {"mpi.reduce_rate", KER_TYPE_STRING | KER_TYPE_LIST, NULL, NULL, NULL, NULL,
     "Bytes per second that a task combines with what it has received, in reductions: a list of "
     "RATE[:SIZE][:OPERATION][:DATATYPE], the first for all, the last fitting one counts. SIZE is the least "
     "of the whole vector of the reduction, as large ones are in slower memory. OPERATION is sum, prod, min, "
     "max, logical, bitwise, loc or own, DATATYPE integer, real, complex, pair or derived; own and derived "
     "ones want an entry that names them. Processor time, and three bytes to and from memory for each. "
     "Measured: 8.5 GB/s on Leonardo, 7.7 on LUMI, 12 to 14 on Fugaku. Absent: no time.",
     "jobs"},
    {"mpi.match_time", KER_TYPE_TIME, "0 ns", NULL, "1 ms", NULL,
     "Time for each entry that is looked at when a receive looks for its message among those that have "
     "arrived, or a message for its receive: from the queue's beginning, as MPI libraries do. One after the "
     "other at each task.",
     "jobs"},
    {"mpi.progress", KER_TYPE_CHOICE, "adapter", NULL, NULL, "adapter|calls|thread",
     "Who advances rendezvous, with collectives that do not block, and with accumulates at their target: the "
     "adapter, whatever the task does; the task, while it is in a call of MPI; or a thread beside it, which "
     "takes mpi.progress_cost from its computation.",
     "jobs"},
    {"mpi.progress_cost", KER_TYPE_TIME, "0 ns", NULL, "1 s", NULL,
     "Processor time that the thread takes each time it acts while the task computes.",
     "mpi.progress=thread"},
    {"mpi.overheads", KER_TYPE_CHOICE, "node", NULL, NULL, "node|loggops",
     "What messages cost at their two ends: node.send_overhead and node.receive_overhead; or by LogGOPS: "
     "loggops.o, g, G, O and S in the place of these and of mpi.eager_limit, while the network takes the "
     "place of L. See docs/loggops.md.",
     "jobs & network.model=@nodes"},
    {"mpi.control_priority", KER_TYPE_INT, NULL, "0", "15", NULL,
     "Priority class (switch.classes) of MPI's control messages: RTS, CTS, READ, FIN, ACK. Absent: that of "
     "their job.",
     "jobs & network.model=@nodes"},
    {"mpi.collectives.rules", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "Rule file of Open MPI's component tuned, of four columns (versions 4 and 5): which algorithms the "
     "collectives take that have no key of their own here. See docs/mpi-model.md.",
     "jobs"},
    {"mpi.collectives.latency", KER_TYPE_TIME, NULL, "2 ps", "1000 s", NULL,
     "Latency of a step of the algorithms analytic_constant, analytic_log and analytic_linear. Absent: "
     "network.latency or loggops.L, where there is one.",
     "jobs"},
    {"mpi.collectives.bandwidth", KER_TYPE_RATE, NULL, "1 kB/s", NULL, NULL,
     "Bandwidth of such a step. Absent: network.bandwidth, where there is one.", "jobs"},
    {"mpi.collectives.table", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "How long collectives with the algorithm analytic_table take: a file with lines of collective, bytes, "
     "tasks and time, \"allreduce 65536 32 41.5 us\". See docs/mpi-model.md.",
     "jobs"},
#define COLLECTIVE_KEY(collective, name, call)                                                               \
    {"mpi.collectives." name,                                                                                \
     KER_TYPE_STRING | KER_TYPE_LIST,                                                                        \
     "auto",                                                                                                 \
     .kinds = &task_collectives,                                                                             \
     .meaning = "Algorithm of this collective: \"auto\" (the built-in rules), or a list of "                 \
                "ALGORITHM[:SIZE[:TASKS]], each from a "                                                     \
                "size and number of tasks on, the last fitting one counts. ALGORITHM may have parameters, "  \
                "\"knomial(radix=8, segment=64 KiB)\", or be several, "                                      \
                "NODE/BETWEEN or SOCKET/NODE/BETWEEN: inside nodes, and between them. See "                  \
                "docs/mpi-model.md.",                                                                        \
     .belongs = "jobs"},
    TASK_COLLECTIVES(COLLECTIVE_KEY)
#undef COLLECTIVE_KEY
        {0},
};

/* -- set-up -- */

static enum ker_status protocol_read(struct task_mpi *mpi, const struct ker_config *config,
                                     struct ker_error *error)
{
    mpi->eager_limit = ker_config_bytes(config, mpi->outside.posted ? "loggops.S" : "mpi.eager_limit");
    mpi->copies_unexpected =
        ker_config_is(config, "mpi.copies", "unexpected") || ker_config_is(config, "mpi.copies", "all");
    mpi->copies_buffered =
        ker_config_is(config, "mpi.copies", "buffered") || ker_config_is(config, "mpi.copies", "all");
    mpi->copies_collectives =
        ker_config_is(config, "mpi.copies", "collectives") || ker_config_is(config, "mpi.copies", "all");
    enum ker_status status = task_combine_read(&mpi->combine, config, error);
    mpi->local_work = mpi->copies_collectives || mpi->combine.count;
    if (status != KER_OK)
        return status;
    mpi->match_time = ker_config_time(config, "mpi.match_time");
    mpi->eager_buffered = ker_config_is(config, "mpi.eager_completion", "buffered");
    mpi->eager_delivered = ker_config_is(config, "mpi.eager_completion", "delivered");
    mpi->inject_limit = ker_config_bytes(config, "mpi.inject_limit");
    if (ker_config_is(config, "mpi.rendezvous", "instant"))
        return ker_config_fail(config, error, "mpi.rendezvous",
                               "\"instant\" is for schedules in GOAL with network.model = \"loggops\": in "
                               "MPI a message takes time");
    mpi->rendezvous =
        ker_config_is(config, "mpi.rendezvous", "read") ? TASK_RENDEZVOUS_READ : TASK_RENDEZVOUS_WRITE;
    mpi->parting = ker_config_is(config, "mpi.partitioned", "whole") ? TASK_PARTING_WHOLE : TASK_PARTING_EACH;
    mpi->progress = ker_config_is(config, "mpi.progress", "adapter") ? TASK_PROGRESS_ADAPTER
                    : ker_config_is(config, "mpi.progress", "calls") ? TASK_PROGRESS_CALLS
                                                                     : TASK_PROGRESS_THREAD;
    if (mpi->progress == TASK_PROGRESS_THREAD)
        mpi->progress_cost = ker_config_time(config, "mpi.progress_cost");
    mpi->control_priority = -1;
    if (!ker_config_has(config, "mpi.control_priority"))
        return KER_OK;
    uint8_t class;
    status = net_class_read(&class, config, "mpi.control_priority", error);
    mpi->control_priority = class;
    return status;
}

static enum ker_status shared_refuse(const struct task_mpi *mpi, const struct ker_config *config,
                                     struct ker_error *error)
{
    const char *key = KER_KEY("mpi.collectives.%s", task_coll_name((unsigned)mpi->collectives.shared));
    return ker_config_fail(
        config, error, key,
        "shared memory is for nodes with network.model = \"packet\": with \"loggops\" each "
        "task has a processor of its own; right would be an algorithm of messages");
}

enum ker_status task_mpi_new(struct task_mpi **out, const struct ker_config *config,
                             const struct task_mpi_outside *outside, struct ker_error *error)
{
    struct task_mpi *mpi = ker_alloc(sizeof *mpi);
    mpi->outside = *outside;
    mpi->waits_split = task_waits_wanted(config);
    mpi->waits = mpi->waits_split || task_any_calls_traced(config);
    const char *series = task_calls_series(config);
    mpi->calls_by_comm = series && strcmp(series, "output.series.communicators") == 0;
    task_cause_none(mpi);
    ker_chunks_init(&mpi->request, sizeof(struct task_request) + (mpi->waits ? sizeof(struct task_note) : 0));
    ker_chunks_init(&mpi->wide_name, sizeof(uint64_t));
    ker_chunks_init(&mpi->message, sizeof(struct task_message));
    ker_chunks_init(&mpi->run, sizeof(struct task_collective_run));
    ker_chunks_init(&mpi->partitioned, sizeof(struct task_partitioned));
    task_queues_init(mpi);
    enum ker_status status = protocol_read(mpi, config, error);
    status = status ?: node_model_init(&mpi->model, config, 1, error);
    if (status == KER_OK && outside->kinds)
        node_model_kinds(&mpi->model, config, outside->kinds);
    mpi->rails = mpi->model.works;
    status = status ?: task_endpoints_new(mpi, config, error);
    mpi->special_ends = mpi->endpoints || mpi->model.sized;
    mpi->charges_sends = mpi->model.send_overhead || mpi->copies_buffered || mpi->special_ends;
    mpi->plain_sends = !mpi->waits && !mpi->endpoints && !mpi->eager_buffered && !mpi->eager_delivered;
    task_foreseen_init(mpi);
    status = status ?: task_coll_table_init(&mpi->collectives, config, error);
    if (status == KER_OK && outside->posted && mpi->collectives.shared >= 0)
        status = shared_refuse(mpi, config, error);
    if (status != KER_OK) {
        task_mpi_free(mpi);
        mpi = NULL;
    }
    *out = mpi;
    return status;
}

/* Requests own runs and partitions, which have memory of their own. */
static void task_state_release(struct task_mpi *mpi, struct task_state *task)
{
    for (uint32_t i = 0; i < task->numbers; i++) {
        uint32_t index = task->request[i];
        const struct task_request *r = index & TASK_NUMBER_FREE ? NULL : task_request_at(mpi, index);
        if (r && r->peer == TASK_PEER_RUN && r->owns)
            task_run_free(mpi, r->owns);
        if (r && task_request_partitioned(r))
            task_partitions_free(mpi, (uint32_t)r->bytes);
    }
    task_queue_release(mpi, &task->posted);
    task_queue_release(mpi, &task->unexpected);
    if (task->queues) {
        task_queue_release(mpi, &task->queues->posted);
        task_queue_release(mpi, &task->queues->unexpected);
        task_queue_release(mpi, &task->queues->early);
        task_queue_release(mpi, &task->queues->held);
    }
    free(task->queues);
    free(task->sources);
    ker_table_release(&task->peers);
    task_calls_release(task);
    task_streams_release(task);
    free(task->request);
    task_onesided_release(task);
}

void task_mpi_free(struct task_mpi *mpi)
{
    if (!mpi)
        return;
    for (uint32_t i = 0; i < mpi->tasks; i++)
        task_state_release(mpi, &mpi->task[i]);
    for (uint32_t i = 0; i < mpi->nodes; i++)
        task_analytic_release(&mpi->node[i]);
    task_lines_release(mpi);
    task_waits_release(mpi);
    task_path_release(mpi);
    task_endpoints_free(mpi);
    task_works_release(mpi);
    ker_release(mpi->task, mpi->task_room * sizeof *mpi->task);
    ker_release(mpi->node, mpi->node_room * sizeof *mpi->node);
    ker_chunks_release(&mpi->request);
    ker_chunks_release(&mpi->wide_name);
    ker_chunks_release(&mpi->message);
    ker_chunks_release(&mpi->run);
    ker_chunks_release(&mpi->partitioned);
    ker_chunks_release(&mpi->lookup);
    ker_table_release(&mpi->names);
    task_layouts_release(mpi);
    task_coll_table_release(&mpi->collectives);
    ker_free_all(mpi->kept_name, mpi->kept_names);
    for (uint32_t i = 0; i < mpi->job_room; i++)
        free(mpi->job[i].io);
    free(mpi->job);
    free(mpi->sent);
    free(mpi);
}

void task_mpi_reserve(struct task_mpi *mpi, uint32_t nodes, uint32_t tasks)
{
    ker_assert(!mpi->node && !mpi->task);
    mpi->node_room = nodes ? nodes : 1;
    mpi->task_room = tasks ? tasks : 1;
    mpi->node = ker_reserve(mpi->node_room * sizeof *mpi->node);
    mpi->task = ker_reserve(mpi->task_room * sizeof *mpi->task);
    task_waits_reserve(mpi, mpi->task_room);
    task_endpoints_reserve(mpi, mpi->task_room);
    task_works_reserve(mpi, mpi->task_room);
}

struct task_mpi_node *task_mpi_node_new(struct task_mpi *mpi, uint32_t node,
                                        const struct task_mpi_seat *seats, uint32_t count)
{
    ker_assert(mpi->nodes < mpi->node_room && count <= mpi->task_room - mpi->tasks && count <= 65000);
    struct task_mpi_node *n = &mpi->node[mpi->nodes];
    n->mpi = mpi;
    n->node = node;
    n->first_task = mpi->tasks;
    n->tasks = count;
    for (uint32_t i = 0; i < count; i++) {
        struct task_state *task = &mpi->task[mpi->tasks++];
        task->job = seats[i].job;
        task->task = seats[i].task;
        task->own = seats[i].own;
        task->core = seats[i].core;
        task->node = mpi->nodes;
        task->seat = i;
        task->finish = KER_TIME_MAX;
        task_mpi_job_room(mpi, task->job);
        mpi->job[task->job].job = mpi->outside.job(mpi->outside.jobs, task->job);
        mpi->job[task->job].unfinished++;
        if (mpi->job[task->job].job->counts_calls)
            task_calls_init(task, mpi->calls_by_comm);
        task_line_init(mpi, task);
        task->special = task->line || task_job_of(mpi, task)->timed || mpi->progress == TASK_PROGRESS_CALLS;
        if (!task_job_of(mpi, task)->background)
            mpi->unfinished++;
    }
    mpi->nodes++;
    return n;
}

static void service_lost(void *shared, const struct net_envelope *envelope)
{
    struct task_mpi *mpi = shared;
    struct task_wire wire;
    memcpy(&wire, envelope, sizeof wire);
    if (wire.kind == TASK_WIRE_SERVICE) /* whose is not known: the call counts as in flight for ever */
        return;
    task_mpi_job_room(mpi, wire.job);
    mpi->job[wire.job].open--;
}

/* -- the service -- */

static inline __attribute__((always_inline)) bool step(struct task_mpi_node *node, ker_time now, bool asks)
{
    struct task_mpi *mpi = node->mpi;
    if (!node->ready_first)
        return false;
    struct task_state *task = &mpi->task[node->ready_first - 1];
    node->ready_first = task->ready_next;
    if (!node->ready_first)
        node->ready_last = 0;
    if (__builtin_expect(task->streams != NULL, 0)) {
        if (task_stream_pop(task))
            task_list(mpi, task);
        task->streams->runs = task->streams->current;
    }
    task->ready = false;
    mpi->now = now;
    if (asks)
        task_run_asking(mpi, task, now);
    else
        task_run(mpi, task, now);
    return node->ready_first != 0;
}

static bool service_step(void *state, struct node *net, ker_time now)
{
    return step(state, now, false);
}

static bool service_step_asking(void *state, struct node *net, ker_time now)
{
    return step(state, now, true);
}

static void task_begin(struct task_mpi *mpi, struct task_state *task, ker_time now, ker_time start)
{
    task->started = start > now ? start : now;
    for (uint32_t i = 0; i < task_stream_count(task); i++) {
        task_stream_select(task, i);
        if (start > now)
            task_sleep(mpi, task, start);
        else
            task_enqueue(mpi, task);
    }
}

static void service_start(void *state, struct node *net, ker_time now)
{
    struct task_mpi_node *node = state;
    struct task_mpi *mpi = node->mpi;
    node->net = net;
    mpi->latest = mpi->outside.latest(net);
    for (; node->begun < node->tasks; node->begun++) {
        struct task_state *task = &mpi->task[node->first_task + node->begun];
        const struct task_job *job = task_job_of(mpi, task);
        task_streams_make(mpi, task);
        if (!job->held) {
            task_begin(mpi, task, now, job->start);
            continue;
        }
        task->started = TASK_WAITS;
        mpi->job[task->job].waiting++;
        mpi->job[task->job].open++;
    }
}

uint64_t task_mpi_dependent(const struct task_mpi *mpi, uint32_t job)
{
    return job < mpi->job_room ? mpi->job[job].waiting : 0;
}

void task_mpi_release(struct task_mpi *mpi, uint32_t job, ker_time at)
{
    for (uint32_t i = 0; i < mpi->tasks && task_mpi_dependent(mpi, job) > 0; i++) {
        struct task_state *task = &mpi->task[i];
        if (task->job != job || task->started != TASK_WAITS)
            continue;
        ker_time start = task_job_of(mpi, task)->start;
        mpi->job[job].waiting--;
        mpi->job[job].open--;
        task_begin(mpi, task, at - 1, start > at ? start : at); /* nothing of `at` has been handled */
    }
}

static void arrival_record(struct task_mpi_node *node, ker_time now, ker_time sent,
                           const struct task_wire *wire)
{
    uint32_t receiver = wire->kind == TASK_WIRE_ANSWER ? wire->source : wire->destination;
    if (!task_wire_payload(wire) && wire->kind != TASK_WIRE_RTS && wire->kind != TASK_WIRE_EAGER)
        return;
    if (wire->kind == TASK_WIRE_DATA)
        return; /* known since its RTS */
    struct task_state *task = task_on_node(node->mpi, node, wire->job, receiver);
    if (task->line)
        task_line_arrived(node->mpi, task, now, sent, wire);
}

/* Of payload: when it was sent, and that it has come. */
static void arrival_cause(struct task_mpi_node *node, ker_time now, const struct net_message *message,
                          const struct task_wire *wire)
{
    struct task_mpi *mpi = node->mpi;
    uint32_t receiver = wire->kind == TASK_WIRE_ANSWER ? wire->source : wire->destination;
    task_cause_message(mpi, now, message, wire);
    if (task_wire_carries(wire))
        task_waits_rate(mpi, task_on_node(mpi, node, wire->job, receiver), wire->bytes,
                        now - mpi->cause.origin);
}

static void service_arrived(void *state, struct node *net, ker_time now, const struct net_message *message)
{
    struct task_mpi_node *node = state;
    struct task_wire wire;
    memcpy(&wire, &message->envelope, sizeof wire);
    if (__builtin_expect(wire.kind >= TASK_WIRE_SERVICE, 0)) {
        if (wire.kind == TASK_WIRE_SERVICE)
            task_call_answered(node->mpi, node, now, message);
        else
            task_analytic_notice(node->mpi, node, now, message->created, &wire);
        return;
    }
    if (wire.kind == TASK_WIRE_DATA)
        wire.bytes = message->bytes; /* task_wire_shorten */
    node->mpi->job[wire.job].open--;
    node->mpi->now = now;
    if (__builtin_expect(node->mpi->timeline != NULL, 0))
        arrival_record(node, now, message->created, &wire);
    if (__builtin_expect(node->mpi->waits, 0))
        arrival_cause(node, now, message, &wire);
    if (wire.kind >= TASK_WIRE_PUT)
        task_onesided_arrived(node->mpi, node, now, &wire);
    else
        task_protocol_arrived(node->mpi, node, now, &wire);
    if (__builtin_expect(node->mpi->waits, 0))
        task_cause_none(node->mpi);
}

static uint32_t service_receiver(void *state, const struct net_envelope *envelope)
{
    struct task_mpi_node *node = state;
    struct task_wire wire;
    memcpy(&wire, envelope, sizeof wire);
    if (wire.kind == TASK_WIRE_SERVICE)
        return task_call_task(node, envelope)->core;
    uint32_t task = task_wire_answers(&wire) ? wire.source : wire.destination;
    return task_on_node(node->mpi, node, wire.job, task)->core;
}

static void service_sent(void *state, struct node *net, ker_time now, uint64_t cookie)
{
    struct task_mpi_node *node = state;
    uint32_t seat = (uint32_t)(cookie >> 32) - 1;
    ker_assert(seat < node->tasks);
    struct task_state *task = &node->mpi->task[node->first_task + seat];
    node->mpi->job[task->job].open--;
    if ((uint32_t)cookie == 0) {
        task_pending_lower(node->mpi, task);
        return;
    }
    uint32_t request = task_request_numbered(task, (uint32_t)cookie);
    if (__builtin_expect(node->mpi->waits, 0))
        task_cause_left(node->mpi, task, now, request);
    if (__builtin_expect(task_request_partitioned(task_request_at(node->mpi, request)), 0))
        task_partitioned_left(node->mpi, task, request);
    else
        task_request_complete(node->mpi, task, request);
    if (__builtin_expect(node->mpi->waits, 0))
        task_cause_none(node->mpi);
}

static bool service_leaves(void *state, struct node *net, ker_time when, uint64_t cookie)
{
    struct task_mpi_node *node = state;
    struct task_mpi *mpi = node->mpi;
    struct task_state *task = &mpi->task[node->first_task + (uint32_t)(cookie >> 32) - 1];
    uint32_t number = (uint32_t)cookie, request = number ? task_request_numbered(task, number) : 0;
    enum task_foreseen foreseen =
        task_foreseen(mpi, task, when, number ? task_request_at(mpi, request) : NULL);
    if (foreseen == TASK_FORESEEN_NOT)
        return false;
    mpi->job[task->job].open--;
    task->ready = foreseen == TASK_FORESEEN_RUNS; /* and is not put on the list */
    if (number)
        task_request_complete(mpi, task, request);
    else
        task->pending = 0;
    if (!task->ready)
        return true;
    task->ready = false;
    mpi->now = when;
    task_run(mpi, task, when);
    return true;
}

static void service_timer(void *state, struct node *net, ker_time now, uint32_t number)
{
    struct task_mpi_node *node = state;
    struct task_state *task = &node->mpi->task[node->first_task + number];
    ker_assert(number < node->tasks);
    if (task->streams)
        task_stream_due(task, now);
    ker_assert(task->busy);
    task->busy = false;
    node->mpi->job[task->job].open--;
    if (node->mpi->foresees && !node->ready_first && !task->streams && node->mpi->outside.quiet(net)) {
        node->mpi->now = now; /* as the next step would */
        task_run(node->mpi, task, now);
    } else if (!task->ready) {
        task_enqueue(node->mpi, task);
    }
}

void task_mpi_worked(struct task_mpi_node *node, ker_time now, uint32_t number,
                     const struct node_worked *worked)
{
    uint32_t seat = number >> 16, stream = number & UINT16_MAX;
    ker_assert(seat < node->tasks);
    struct task_state *task = &node->mpi->task[node->first_task + seat];
    task_stream_select(task, stream);
    if (task->streams)
        task->streams->stream[stream].until = now;
    if (__builtin_expect(node->mpi->path != NULL, 0))
        task_path_worked(node->mpi, task, worked->began, now);
    task_worked(node->mpi, task, now, worked);
    service_timer(node, node->net, now, seat);
}

static void service_worked(void *state, struct node *net, ker_time now, uint32_t number,
                           const struct node_worked *worked)
{
    (void)net;
    task_mpi_worked(state, now, number, worked);
}

static bool service_waits(void *state, uint32_t number)
{
    const struct task_mpi_node *node = state;
    const struct task_state *task = &node->mpi->task[node->first_task + (number >> 16)];
    uint32_t stream = number & UINT16_MAX;
    return stream == task_stream_current(task) ? task->blocked : task->streams->stream[stream].blocked;
}

static uint32_t service_job(const struct net_envelope *envelope)
{
    struct task_wire wire;
    memcpy(&wire, envelope, sizeof wire);
    return wire.job;
}

#define SERVICE(steps, leaving)                                                                              \
    {                                                                                                        \
        .name = "mpi", .start = service_start, .forked = service_start, .arrived = service_arrived,          \
        .sent = service_sent, .leaves = (leaving), .timer = service_timer, .receiver = service_receiver,     \
        .worked = service_worked, .waits = service_waits, .step = (steps), .save = task_mpi_save,            \
        .lost = service_lost, .job = service_job                                                             \
    }
const struct node_service task_mpi_service = SERVICE(service_step, NULL);
const struct node_service task_mpi_service_foreseeing = SERVICE(service_step, service_leaves);
const struct node_service task_mpi_service_asking = SERVICE(service_step_asking, NULL);

void task_mpi_record(struct task_mpi *mpi, struct stats_timeline *timeline)
{
    mpi->timeline = timeline;
}

void task_mpi_name(struct task_mpi *mpi, uint32_t service)
{
    mpi->service = service;
}
