/* two_phase.c - the operations of a task in a collective access of a file: see files.h. */
#include "traces/files.h"

#include <stdlib.h>

#define OFFSET_BYTES 8 /* of a file's offset, in the messages that say where a task begins and ends */
#define COUNT_BYTES 4  /* of how much comes, in each round */

const struct ker_option trace_two_phase_options[] = {
    {"storage.collective.aggregators", KER_TYPE_INT, "0", "0", "1000000000", NULL,
     "Tasks that access the file for all in collective calls (ROMIO's cb_nodes); 0: one on each node.",
     .belongs = "storage.servers.nodes or storage.servers.count"},
    {"storage.collective.buffer", KER_TYPE_BYTES, "16 MiB", "1 B", NULL, NULL,
     "What such a task accesses in a round (cb_buffer_size).",
     .belongs = "storage.servers.nodes or storage.servers.count"},
    {"storage.files[].name", KER_TYPE_STRING, "", NULL, NULL, NULL,
     "A file of a trace, as the program has called it, that is otherwise as long before the job as the trace "
     "has read of it.",
     .belongs = "storage.servers.nodes or storage.servers.count"},
    {"storage.files[].bytes", KER_TYPE_BYTES, "0 B", NULL, NULL, NULL,
     "How long it is: what is read behind its end is short.",
     .belongs = "storage.servers.nodes or storage.servers.count"},
    {0},
};

enum ker_status trace_two_phase_init(struct trace_two_phase *two, const struct ker_config *config,
                                     uint32_t tasks, uint32_t per_node, struct ker_error *error)
{
    int64_t wanted = ker_config_int(config, "storage.collective.aggregators");
    if (wanted > tasks)
        return ker_config_fail(config, error, "storage.collective.aggregators",
                               "%lld of %u tasks: at most all of them can be aggregators", (long long)wanted,
                               tasks);
    trace_two_phase_set(two, tasks, per_node, (uint32_t)wanted,
                        ker_config_bytes(config, "storage.collective.buffer"), 1);
    return KER_OK;
}

void trace_two_phase_set(struct trace_two_phase *two, uint32_t tasks, uint32_t per_node, uint32_t aggregators,
                         uint64_t buffer, uint64_t first)
{
    uint32_t nodes = (tasks + per_node - 1) / per_node;
    two->tasks = tasks;
    two->aggregators = aggregators ? aggregators : nodes;
    two->every = two->aggregators <= nodes ? per_node : 1;
    two->buffer = buffer;
    two->requests = ker_alloc(((size_t)tasks + two->aggregators) * sizeof *two->requests);
    for (uint32_t i = 0; i < tasks + two->aggregators; i++)
        two->requests[i] = first + i;
}

void trace_two_phase_release(struct trace_two_phase *two)
{
    free(two->requests);
}

struct trace_window trace_two_phase_domain(const struct trace_two_phase_call *call, uint32_t i)
{
    uint64_t all = call->high - call->low, aggregators = call->shared->aggregators,
             domain = (all + aggregators - 1) / aggregators, from = i * domain, to = from + domain;
    from = from < all ? from : all;
    to = to < all ? to : all;
    return (struct trace_window){call->low + from, call->low + to};
}

static struct trace_window used_of(const struct trace_two_phase_call *call, uint32_t i)
{
    return call->used ? call->used[i] : trace_two_phase_domain(call, i);
}

/* Where an aggregator is in this round. */
static struct trace_window window_of(const struct trace_two_phase_call *call,
                                     const struct trace_two_phase_at *at, uint32_t i)
{
    struct trace_window all = used_of(call, i);
    uint64_t buffer = call->shared->buffer, size = all.to - all.from;
    if (at->round && size / at->round < buffer)
        return (struct trace_window){all.to, all.to};
    all.from += at->round * buffer;
    if (all.to - all.from > buffer)
        all.to = all.from + buffer;
    return all;
}

/* Has an aggregator something to do in this round? The first domain is the longest where all is used. */
static bool round_is(const struct trace_two_phase_call *call, const struct trace_two_phase_at *at)
{
    uint32_t aggregators = call->used ? call->shared->aggregators : 1;
    for (uint32_t i = 0; i < aggregators; i++) {
        struct trace_window w = window_of(call, at, i);
        if (w.from < w.to)
            return true;
    }
    return false;
}

static uint64_t bytes_in(const struct trace_two_phase_call *call, uint32_t task, struct trace_window w)
{
    return w.from == w.to ? 0
                          : call->below(call->context, task, w.to) - call->below(call->context, task, w.from);
}

static bool is_aggregator(const struct trace_two_phase *two, uint32_t task, uint32_t *i)
{
    *i = task / two->every;
    return task % two->every == 0 && *i < two->aggregators;
}

/* How many bytes of the window tasks access, all together: where some access the same, more than there are.
 */
static uint64_t bytes_of_all(const struct trace_two_phase_call *call, struct trace_window w)
{
    uint64_t all = 0;
    if (!call->used)
        return w.to - w.from;
    for (uint32_t task = 0; task < call->shared->tasks; task++)
        all += bytes_in(call, task, w);
    return all;
}

/* The window is written, or read: also before it is written, where it has holes. */
static bool window_call(const struct trace_two_phase_call *call, const struct trace_two_phase_at *at,
                        uint32_t task, bool writes, uint64_t words[STORE_WORDS], struct task_op *op)
{
    uint32_t i;
    if (!is_aggregator(call->shared, task, &i))
        return false;
    struct trace_window w = window_of(call, at, i);
    uint64_t all = w.from < w.to ? bytes_of_all(call, w) : 0;
    if (all == 0 || (call->writes && !writes && all >= w.to - w.from))
        return false;
    struct store_call what = {
        .op = writes ? STORE_WRITE : STORE_READ, .file = call->file, .run = {w.from, w.to - w.from, 0, 1}};
    store_call_words(&what, words);
    op->kind = TASK_OP_CALL;
    op->call = call->writes ? "MPI_File_write_at_all" : "MPI_File_read_at_all";
    op->words = words;
    return true;
}

/* To or from the aggregators; from or to all tasks, by an aggregator. With itself a task exchanges nothing.
 */
static bool message(const struct trace_two_phase_call *call, struct trace_two_phase_at *at, uint32_t task,
                    bool with_aggregators, struct task_op *op)
{
    const struct trace_two_phase *two = call->shared;
    uint32_t own, peers = with_aggregators ? two->aggregators : two->tasks;
    bool sends = with_aggregators == call->writes;
    if (!with_aggregators && !is_aggregator(two, task, &own))
        return false;
    while (at->peer < peers) {
        uint32_t i = at->peer++, peer = with_aggregators ? i * two->every : i;
        struct trace_window w = window_of(call, at, with_aggregators ? i : own);
        uint64_t bytes = peer == task ? 0 : bytes_in(call, with_aggregators ? task : peer, w);
        if (!bytes)
            continue;
        op->kind = sends ? TASK_OP_ISEND : TASK_OP_IRECV;
        op->call = sends ? "MPI_Isend" : "MPI_Irecv";
        op->peer = (int32_t)peer;
        op->comm = call->comm;
        op->bytes = bytes;
        op->request = two->requests[at->posted++];
        return true;
    }
    at->peer = 0;
    return false;
}

static bool waits(const struct trace_two_phase *two, struct trace_two_phase_at *at, struct task_op *op)
{
    op->kind = TASK_OP_WAITALL;
    op->call = "MPI_Waitall";
    op->requests = two->requests;
    op->request_count = at->posted;
    at->posted = 0;
    return op->request_count > 0;
}

static bool collective(struct task_op *op, int32_t comm, uint8_t which, const char *call, uint64_t bytes)
{
    op->kind = TASK_OP_COLLECTIVE;
    op->comm = comm;
    op->collective = which;
    op->call = call;
    op->bytes = bytes;
    return true;
}

/* A round: how much comes, (the aggregator reads,) receives, sends, a wait, (it writes). */
enum stage { GATHER, COUNTS, READ, RECEIVE, SEND, WAIT, WRITE };

static bool stage_op(const struct trace_two_phase_call *call, struct trace_two_phase_at *at, uint32_t task,
                     uint64_t words[STORE_WORDS], struct task_op *op)
{
    switch ((enum stage)at->stage) {
    case GATHER:
        return collective(op, call->comm, TASK_COLL_ALLGATHER, "MPI_Allgather", 2 * OFFSET_BYTES);
    case COUNTS:
        return collective(op, call->comm, TASK_COLL_ALLTOALL, "MPI_Alltoall", COUNT_BYTES);
    case READ:
        return window_call(call, at, task, false, words, op);
    case RECEIVE: /* what is read comes from aggregators */
        return message(call, at, task, !call->writes, op);
    case SEND:
        return message(call, at, task, call->writes, op);
    case WAIT:
        return waits(call->shared, at, op);
    default:
        return call->writes && window_call(call, at, task, true, words, op);
    }
}

bool trace_two_phase_next(const struct trace_two_phase_call *call, struct trace_two_phase_at *at,
                          uint32_t task, uint64_t words[STORE_WORDS], struct task_op *op)
{
    for (;;) {
        if (at->stage > WRITE) {
            at->stage = COUNTS;
            at->round++;
            if (!round_is(call, at))
                return false;
        }
        bool again = at->stage == RECEIVE || at->stage == SEND;
        bool found = stage_op(call, at, task, words, op);
        if (!again || !found)
            at->stage++;
        if (found)
            return true;
    }
}

void trace_two_phase_save(struct trace_two_phase_at *at, struct ker_chunk *c)
{
    KER_CHUNK(c, at->round, at->stage, at->peer, at->posted);
    c->bad |= at->stage > WRITE + 1;
}
