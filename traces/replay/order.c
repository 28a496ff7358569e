/* order.c - do all tasks of a communicator call the same collectives, in the same order?
 *
 * Of every task and communicator one number is made of the collectives, their roots and sizes, in their
 * order; the least and the greatest of all members must be the same. Which call differs `marsconv --check`
 * finds out. Calls that do not block stand among the others, as MPI counts them. Intercommunicators are left
 * out.
 *
 * Partitioned sends and receives are paired in the order in which they are made: for each pair a number is
 * made of its communicator, tasks, tag, bytes and place in this order, which the sender adds and the receiver
 * takes away. Nothing must be left.
 */
#include "traces/replay/order.h"

#include "traces/numbered.h"

#include <stdlib.h>
#include <string.h>

void replay_order_init(struct replay_order *o, int32_t comms)
{
    o->comms = (size_t)comms;
    o->least = ker_alloc(o->comms * sizeof *o->least);
    o->most = ker_alloc(o->comms * sizeof *o->most);
    o->now = ker_alloc(o->comms * sizeof *o->now);
    o->left = ker_alloc(o->comms * sizeof *o->left);
    for (size_t i = 0; i < o->comms; i++) {
        o->least[i] = INT64_MAX;
        o->most[i] = INT64_MIN;
    }
}

void replay_order_release(struct replay_order *o)
{
    free(o->least);
    free(o->most);
    free(o->now);
    free(o->left);
    ker_table_release(&o->pairs);
    *o = (struct replay_order){0};
}

void replay_order_begin(struct replay_order *o, uint32_t task, const struct task_comm *comms)
{
    o->task = task;
    o->comm = comms;
    ker_table_release(&o->pairs);
    memset(o->now, 0, o->comms * sizeof *o->now);
}

static bool has_root(unsigned collective)
{
    static const bool rooted[TASK_COLL_COUNT] = {
        [TASK_COLL_BCAST] = true,   [TASK_COLL_REDUCE] = true,  [TASK_COLL_GATHER] = true,
        [TASK_COLL_GATHERV] = true, [TASK_COLL_SCATTER] = true, [TASK_COLL_SCATTERV] = true};
    return rooted[collective];
}

/* What all tasks of a call must give alike: the bytes of the vector or of a block, or the list of all. */
static uint64_t sizes_of(const struct task_op *op)
{
    static const bool alike[TASK_COLL_COUNT] = {
        [TASK_COLL_BCAST] = true,     [TASK_COLL_REDUCE] = true,   [TASK_COLL_ALLREDUCE] = true,
        [TASK_COLL_GATHER] = true,    [TASK_COLL_SCATTER] = true,  [TASK_COLL_REDUCE_SCATTER_BLOCK] = true,
        [TASK_COLL_ALLGATHER] = true, [TASK_COLL_ALLTOALL] = true, [TASK_COLL_SCAN] = true,
        [TASK_COLL_EXSCAN] = true};
    bool list = op->collective == TASK_COLL_ALLGATHERV || op->collective == TASK_COLL_REDUCE_SCATTER;
    uint64_t sizes = alike[op->collective] ? op->bytes : 0;
    for (uint32_t i = 0; list && op->receive_bytes && i < op->request_count; i++)
        sizes = ker_mix(sizes + op->receive_bytes[i]);
    return sizes;
}

/* ---- partitioned ---- */

/* How many a task has made, by communicator, side, other task and tag. */
struct pair {
    int32_t comm, side, peer, tag; /* side: 1 or 2, as a key is not 0 */
    uint64_t made;
};

KER_TABLE_KEY(static, pair_kind, struct pair, tag);

static void partitioned_add(struct replay_order *o, const struct task_op *op)
{
    bool send = op->kind == TASK_OP_PSEND_INIT, is_new;
    int32_t remote = o->comm[op->comm].remote;
    if (op->peer < 0)
        return;
    struct pair key = {
        .comm = remote && remote < op->comm ? remote : op->comm, .side = send ? 1 : 2, .tag = op->tag};
    key.peer = task_comm_task(&o->comm[remote ? remote : op->comm], op->peer);
    struct pair *p = ker_table_add(&pair_kind, &o->pairs, &key, &is_new);
    if (is_new)
        *p = key;
    uint64_t from = send ? o->task : (uint32_t)p->peer, to = send ? (uint32_t)p->peer : o->task;
    uint64_t number = ker_mix(ker_mix(from << 32 | to) + (uint64_t)(uint32_t)op->tag);
    number = ker_mix(ker_mix(number + op->bytes) + p->made++);
    o->left[p->comm] += send ? number : 0 - number;
}

void replay_order_add(struct replay_order *o, const struct task_op *op)
{
    if (op->kind == TASK_OP_PSEND_INIT || op->kind == TASK_OP_PRECV_INIT)
        partitioned_add(o, op);
    if (op->kind != TASK_OP_COLLECTIVE && op->kind != TASK_OP_ICOLLECTIVE &&
        op->kind != TASK_OP_COLLECTIVE_INIT)
        return;
    uint64_t root = has_root(op->collective) ? (uint32_t)op->peer + 1u : 0;
    uint64_t *now = &o->now[op->comm];
    *now = ker_mix(*now * 3 + ((uint64_t)op->collective << 33 | root) + 1);
    *now = ker_mix(*now + sizes_of(op));
}

void replay_order_end(struct replay_order *o, const struct task_comm *comms, const int32_t *comm,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        int32_t c = comm[i];
        if (c < 0 || comms[c].remote)
            continue;
        int64_t now = (int64_t)(o->now[c] >> 1);
        o->least[c] = now < o->least[c] ? now : o->least[c];
        o->most[c] = now > o->most[c] ? now : o->most[c];
    }
}

enum ker_status replay_order_agree(struct replay_order *o, const struct task_comm *comms,
                                   struct ker_comm *ranks, const char *path, const char *advice,
                                   struct ker_error *error)
{
    ker_comm_min_i64(ranks, o->least, (int)o->comms);
    ker_comm_max_i64(ranks, o->most, (int)o->comms);
    ker_comm_sum_u64(ranks, o->left, (int)o->comms);
    for (size_t i = 0; i < o->comms; i++)
        if (o->least[i] < o->most[i])
            return ker_fail(error, KER_BAD_INPUT,
                            "%s: the %d tasks of %s, of which task %d is the first, do not all call the same "
                            "collectives with the same roots and sizes in the same order; %s",
                            path, comms[i].size, i == 0 ? "the world" : "a communicator",
                            task_comm_task(&comms[i], 0), advice);
    for (size_t i = 0; i < o->comms; i++)
        if (o->left[i])
            return ker_fail(error, KER_BAD_INPUT,
                            "%s: not every MPI_Psend_init on %s, of which task %d is the first, has its "
                            "MPI_Precv_init with as many bytes, or not every MPI_Precv_init its send",
                            path, i == 0 ? "the world" : "a communicator", task_comm_task(&comms[i], 0));
    return KER_OK;
}
