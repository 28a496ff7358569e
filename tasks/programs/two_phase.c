/* two_phase.c - the operations of a task in a collective access of a file: see two_phase.h. */
#include "tasks/programs/two_phase.h"

#include "tasks/programs/programs.h"

#include <stdlib.h>

#define OFFSET_BYTES 8 /* of a file's offset, in the messages that say where a task begins and ends */
#define COUNT_BYTES 4  /* of how much comes, in each round */

const struct ker_option task_two_phase_options[] = {
    {"storage.collective.aggregators", KER_TYPE_INT, "0", "0", "1000000000", NULL,
     "Tasks that access the file for all in collective calls (ROMIO's cb_nodes); 0: one on each node.",
     .belongs = "storage.servers.nodes or storage.servers.count"},
    {"storage.collective.buffer", KER_TYPE_BYTES, "16 MiB", "1 B", NULL, NULL,
     "What such a task accesses in a round (cb_buffer_size).",
     .belongs = "storage.servers.nodes or storage.servers.count"},
    {0},
};

enum ker_status task_two_phase_init(struct task_two_phase *two, const struct ker_config *config,
                                    uint32_t tasks, uint32_t per_node, struct ker_error *error)
{
    uint32_t nodes = (tasks + per_node - 1) / per_node;
    int64_t wanted = ker_config_int(config, "storage.collective.aggregators");
    if (wanted > tasks)
        return ker_config_fail(config, error, "storage.collective.aggregators",
                               "%lld of %u tasks: at most all of them can be aggregators", (long long)wanted,
                               tasks);
    two->tasks = tasks;
    two->aggregators = wanted ? (uint32_t)wanted : nodes;
    two->every = two->aggregators <= nodes ? per_node : 1;
    two->buffer = ker_config_bytes(config, "storage.collective.buffer");
    two->requests = ker_alloc(((size_t)tasks + two->aggregators) * sizeof *two->requests);
    for (uint32_t i = 0; i < tasks + two->aggregators; i++)
        two->requests[i] = i + 1;
    return KER_OK;
}

void task_two_phase_release(struct task_two_phase *two)
{
    free(two->requests);
}

/* How many of the run's bytes lie before x. */
static uint64_t run_below(const struct store_run *run, uint64_t x)
{
    if (x <= run->offset)
        return 0;
    uint64_t off = x - run->offset, stride = run->count > 1 ? run->stride : run->bytes,
             pieces = stride ? off / stride : run->count;
    if (pieces >= run->count)
        return run->count * run->bytes;
    uint64_t rest = off - pieces * stride;
    return pieces * run->bytes + (rest < run->bytes ? rest : run->bytes);
}

struct window {
    uint64_t from, to;
};

/* Bytes of an aggregator. */
static uint64_t domain_of(const struct task_two_phase_call *call)
{
    return (call->high - call->low + call->shared->aggregators - 1) / call->shared->aggregators;
}

/* Where an aggregator is in this round. */
static struct window window_of(const struct task_two_phase_call *call, const struct task_two_phase_at *at,
                               uint32_t i)
{
    const struct task_two_phase *two = call->shared;
    uint64_t domain = domain_of(call), begin = call->low + i * domain, end = begin + domain,
             from = begin + at->round * two->buffer, to = from + two->buffer;
    end = end < call->high ? end : call->high;
    from = from < end ? from : end;
    to = to < end ? to : end;
    return (struct window){from, to > from ? to : from};
}

static uint64_t bytes_in(const struct task_two_phase_call *call, uint32_t task, struct window w)
{
    struct store_run run = call->run(call->context, task);
    return run_below(&run, w.to) - run_below(&run, w.from);
}

static bool is_aggregator(const struct task_two_phase *two, uint32_t task, uint32_t *i)
{
    *i = task / two->every;
    return task % two->every == 0 && *i < two->aggregators;
}

/* What is written or read of the window: from the first byte that anybody has in it to the last. */
static bool window_call(const struct task_two_phase_call *call, const struct task_two_phase_at *at,
                        uint32_t task, uint64_t words[STORE_WORDS], struct task_op *op)
{
    uint32_t i;
    if (!is_aggregator(call->shared, task, &i))
        return false;
    struct window w = window_of(call, at, i);
    if (w.from == w.to)
        return false;
    struct store_call what = {.op = call->writes ? STORE_WRITE : STORE_READ,
                              .file = call->file,
                              .run = {w.from, w.to - w.from, 0, 1}};
    store_call_words(&what, words);
    op->kind = TASK_OP_CALL;
    op->call = call->writes ? "MPI_File_write_at_all" : "MPI_File_read_at_all";
    op->words = words;
    return true;
}

/* To or from the aggregators; from or to all tasks, by an aggregator. With itself a task exchanges nothing.
 */
static bool message(const struct task_two_phase_call *call, struct task_two_phase_at *at, uint32_t task,
                    bool with_aggregators, struct task_op *op)
{
    const struct task_two_phase *two = call->shared;
    uint32_t own, peers = with_aggregators ? two->aggregators : two->tasks;
    bool sends = with_aggregators == call->writes;
    if (!with_aggregators && !is_aggregator(two, task, &own))
        return false;
    while (at->peer < peers) {
        uint32_t i = at->peer++, peer = with_aggregators ? i * two->every : i;
        struct window w = window_of(call, at, with_aggregators ? i : own);
        uint64_t bytes = peer == task ? 0 : bytes_in(call, with_aggregators ? task : peer, w);
        if (!bytes)
            continue;
        op->kind = sends ? TASK_OP_ISEND : TASK_OP_IRECV;
        op->call = sends ? "MPI_Isend" : "MPI_Irecv";
        op->peer = (int32_t)peer;
        op->bytes = bytes;
        op->request = two->requests[at->posted++];
        return true;
    }
    at->peer = 0;
    return false;
}

static bool waits(const struct task_two_phase *two, struct task_two_phase_at *at, struct task_op *op)
{
    op->kind = TASK_OP_WAITALL;
    op->call = "MPI_Waitall";
    op->requests = two->requests;
    op->request_count = at->posted;
    at->posted = 0;
    return op->request_count > 0;
}

static bool collective(struct task_op *op, uint8_t which, const char *call, uint64_t bytes)
{
    op->kind = TASK_OP_COLLECTIVE;
    op->collective = which;
    op->call = call;
    op->bytes = bytes;
    return true;
}

/* A round: how much comes, (the aggregator reads,) receives, sends, a wait, (it writes). */
enum stage { GATHER, COUNTS, READ, RECEIVE, SEND, WAIT, WRITE };

static bool stage_op(const struct task_two_phase_call *call, struct task_two_phase_at *at, uint32_t task,
                     uint64_t words[STORE_WORDS], struct task_op *op)
{
    switch ((enum stage)at->stage) {
    case GATHER:
        return collective(op, TASK_COLL_ALLGATHER, "MPI_Allgather", 2 * OFFSET_BYTES);
    case COUNTS:
        return collective(op, TASK_COLL_ALLTOALL, "MPI_Alltoall", COUNT_BYTES);
    case READ:
        return !call->writes && window_call(call, at, task, words, op);
    case RECEIVE: /* what is read comes from aggregators */
        return message(call, at, task, !call->writes, op);
    case SEND:
        return message(call, at, task, call->writes, op);
    case WAIT:
        return waits(call->shared, at, op);
    default:
        return call->writes && window_call(call, at, task, words, op);
    }
}

bool task_two_phase_next(const struct task_two_phase_call *call, struct task_two_phase_at *at, uint32_t task,
                         uint64_t words[STORE_WORDS], struct task_op *op)
{
    for (;;) {
        if (at->stage > WRITE) {
            at->stage = COUNTS;
            at->round++;
            if (at->round * call->shared->buffer >= domain_of(call))
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

void task_two_phase_save(struct task_two_phase_at *at, struct ker_chunk *c)
{
    KER_CHUNK(c, at->round, at->stage, at->peer, at->posted);
    c->bad |= at->stage > WRITE + 1;
}
