/* between.c - collectives between the two groups of an intercommunicator: what each task does in them, one
 * operation after the other, as Open MPI 4.1 does it (coll/inter).
 *
 * A group's rank 0 is its leader. Broadcast and scatter go from the root to the other group's leader, and on
 * inside that group; reduce and gather in the opposite direction. Those without a root are collected inside
 * each group, exchanged by the leaders, and spread inside the groups. Those with counts for each task, and
 * all to all, go straight between the tasks. Messages between groups have a context of their own, the
 * communicator of all tasks of both groups, of which the program knows nothing.
 */
#include "traces/replay/arguments.h"

struct between {
    struct replay_task *t;
    struct task_op *op;
    const struct replay_wrong *wrong;
    int32_t own, other, rank; /* tasks in the groups */
    int32_t local, whole;     /* communicators */
    int32_t here, there;      /* rank of the groups' first tasks in `whole` */
    int64_t root;
};

static void between_init(struct between *b, struct replay_task *t, struct task_op *op)
{
    const struct task_comm *comm = &t->comms[op->comm];
    bool second = op->comm > comm->remote;
    b->t = t;
    b->op = op;
    b->own = comm->size;
    b->other = t->comms[comm->remote].size;
    b->rank = t->trace->comm[mars_number(&t->record, MARS_FIELD_comm, 0)]->rank;
    b->local = op->comm + REPLAY_LOCAL;
    b->whole = replay_whole(t->comms, op->comm);
    b->here = second ? b->other : 0;
    b->there = second ? 0 : b->own;
    b->root = mars_number(&t->record, MARS_FIELD_root, 0);
}

/* The sum of a number of bytes of each of `tasks` tasks. */
static enum ker_status sum_get(const struct between *b, enum mars_field field, int32_t tasks, uint64_t *sum)
{
    uint64_t bytes;
    enum ker_status status = replay_bytes_get(b->t, field, &bytes, b->wrong);
    *sum = bytes * (uint64_t)tasks;
    if (status == KER_OK && bytes > REPLAY_BYTES_MOST / (uint64_t)tasks)
        status = replay_fail(b->wrong, "%llu bytes for each of %d tasks", (unsigned long long)bytes, tasks);
    return status;
}

static enum ker_status each_at(const struct between *b, enum mars_field field, int32_t count, int32_t index,
                               uint64_t *bytes)
{
    const struct mars_value *value = mars_list(&b->t->record, field);
    if (!value || value->count != (uint32_t)count)
        return replay_fail(b->wrong, "%u counts for %d tasks", value ? value->count : 0, count);
    *bytes = (uint64_t)value->list[index];
    if (value->list[index] >= 0 && *bytes <= REPLAY_BYTES_MOST)
        return KER_OK;
    return replay_fail(b->wrong, "%lld bytes for task %d; a message can have 0 to 1 TiB",
                       (long long)value->list[index], index);
}

/* ---- operations ---- */

static void send_to(const struct between *b, int32_t peer, uint64_t bytes)
{
    b->op->kind = TASK_OP_SEND;
    b->op->comm = b->whole;
    b->op->peer = peer;
    b->op->bytes = bytes;
}

static void receive_from(const struct between *b, int32_t peer, uint64_t bytes)
{
    send_to(b, peer, bytes);
    b->op->kind = TASK_OP_RECV;
}

static void inside(const struct between *b, unsigned collective, uint64_t bytes)
{
    b->op->kind = TASK_OP_COLLECTIVE;
    b->op->collective = (uint8_t)collective;
    b->op->comm = b->local;
    b->op->peer = 0;
    b->op->bytes = b->op->bytes2 = bytes;
}

/* ---- with a root ---- */

static bool goes_down(const struct task_op *op)
{
    return op->collective == TASK_COLL_BCAST || op->collective == TASK_COLL_SCATTER;
}

static enum ker_status at_root(const struct between *b)
{
    unsigned collective = b->op->collective;
    bool down = goes_down(b->op), blocks = collective == TASK_COLL_SCATTER || collective == TASK_COLL_GATHER;
    uint64_t bytes;
    enum ker_status status =
        sum_get(b, collective == TASK_COLL_GATHER ? MARS_FIELD_recvbytes : MARS_FIELD_bytes,
                blocks ? b->other : 1, &bytes);
    if (down)
        send_to(b, b->there, bytes);
    else
        receive_from(b, b->there, bytes);
    return status;
}

static enum ker_status below_root(const struct between *b, bool *some)
{
    unsigned collective = b->op->collective;
    bool down = goes_down(b->op), blocks = collective == TASK_COLL_SCATTER || collective == TASK_COLL_GATHER,
         leader = b->t->part == (down ? 0 : 1);
    int32_t root = b->there + (int32_t)b->root;
    uint64_t bytes;
    enum ker_status status =
        sum_get(b, collective == TASK_COLL_SCATTER ? MARS_FIELD_recvbytes : MARS_FIELD_bytes,
                leader && blocks ? b->own : 1, &bytes);
    b->t->parts = 2;
    *some = !leader || b->rank == 0;
    if (!leader)
        inside(b, collective, bytes);
    else if (down)
        receive_from(b, root, bytes);
    else
        send_to(b, root, bytes);
    return status;
}

/* Gatherv, Scatterv: straight to the root or from it. */
static enum ker_status each_with_root(const struct between *b)
{
    bool down = b->op->collective == TASK_COLL_SCATTERV, root = b->root == MARS_ROOT;
    int32_t peer = b->there + (root ? b->t->part : (int32_t)b->root);
    uint64_t bytes = 0;
    enum ker_status status;
    if (root)
        status = each_at(b, down ? MARS_FIELD_bytes_each : MARS_FIELD_recvbytes_each, b->other, b->t->part,
                         &bytes);
    else
        status = replay_bytes_get(b->t, down ? MARS_FIELD_recvbytes : MARS_FIELD_bytes, &bytes, b->wrong);
    b->t->parts = root ? b->other : 1;
    if (status != KER_OK)
        return status;
    if (down == root)
        send_to(b, peer, bytes);
    else
        receive_from(b, peer, bytes);
    return KER_OK;
}

static enum ker_status with_root(const struct between *b, bool *some)
{
    unsigned collective = b->op->collective;
    if (b->root == MARS_PROC_NULL) {
        *some = false;
        return KER_OK;
    }
    if (b->root != MARS_ROOT && (b->root < 0 || b->root >= b->other))
        return replay_fail(b->wrong, "the root is %lld in a group of %d", (long long)b->root, b->other);
    if (collective == TASK_COLL_GATHERV || collective == TASK_COLL_SCATTERV)
        return each_with_root(b);
    return b->root == MARS_ROOT ? at_root(b) : below_root(b, some);
}

/* ---- without ---- */

/* The bytes that a group's leader sends, and those that it receives. */
static enum ker_status exchanged_get(const struct between *b, uint64_t *sent, uint64_t *received)
{
    enum ker_status status = KER_OK;
    switch (b->op->collective) {
    case TASK_COLL_ALLGATHER:
        status = sum_get(b, MARS_FIELD_bytes, b->own, sent);
        return status ? status : sum_get(b, MARS_FIELD_recvbytes, b->other, received);
    case TASK_COLL_REDUCE_SCATTER_BLOCK:
        status = sum_get(b, MARS_FIELD_bytes, b->own, sent);
        break;
    case TASK_COLL_REDUCE_SCATTER:
        *sent = 0;
        for (int32_t i = 0; i < b->own && status == KER_OK; i++) {
            uint64_t bytes = 0;
            status = each_at(b, MARS_FIELD_bytes_each, b->own, i, &bytes);
            *sent += bytes;
        }
        break;
    default:
        status = replay_bytes_get(b->t, MARS_FIELD_bytes, sent, b->wrong);
    }
    *received = *sent; /* a reduction has as many in both groups */
    return status;
}

static enum ker_status spread(const struct between *b, uint64_t bytes)
{
    enum ker_status status;
    uint64_t own;
    switch (b->op->collective) {
    case TASK_COLL_REDUCE_SCATTER:
        status = replay_each_get(b->t, MARS_FIELD_bytes_each, 0, (uint32_t)b->own, &b->op->send_bytes, &bytes,
                                 b->wrong);
        if (status != KER_OK)
            return status;
        own = b->op->send_bytes[b->rank];
        inside(b, TASK_COLL_SCATTERV, bytes);
        b->op->bytes2 = own;
        b->op->request_count = (uint32_t)b->own;
        if (b->rank != 0)
            b->op->send_bytes = NULL;
        return KER_OK;
    case TASK_COLL_REDUCE_SCATTER_BLOCK:
        inside(b, TASK_COLL_SCATTER, bytes / (uint64_t)b->own);
        return KER_OK;
    default:
        inside(b, TASK_COLL_BCAST, bytes);
        return KER_OK;
    }
}

static enum ker_status by_leaders(const struct between *b, bool *some)
{
    uint64_t sent, received;
    enum ker_status status = exchanged_get(b, &sent, &received);
    b->t->parts = 3;
    if (status != KER_OK)
        return status;
    if (b->t->part == 0) {
        bool gathers = b->op->collective == TASK_COLL_ALLGATHER;
        inside(b, gathers ? TASK_COLL_GATHER : TASK_COLL_REDUCE, gathers ? sent / (uint64_t)b->own : sent);
    } else if (b->t->part == 1) {
        *some = b->rank == 0;
        send_to(b, b->there, sent);
        b->op->kind = TASK_OP_SENDRECV;
        b->op->peer2 = b->there;
        b->op->bytes2 = received;
    } else {
        return spread(b, received);
    }
    return KER_OK;
}

/* All to all: in each step one message out and one in; the larger group decides how many steps there are. */
static enum ker_status pairwise(const struct between *b)
{
    int32_t steps = b->own > b->other ? b->own : b->other, step = b->t->part;
    int32_t to = (b->rank + step) % steps, from = (b->rank + steps - step) % steps;
    bool lists = b->op->collective == TASK_COLL_ALLTOALLV, lists_in = b->op->collective != TASK_COLL_ALLTOALL;
    uint64_t sent = 0, received = 0;
    enum ker_status status = KER_OK;
    if (to < b->other)
        status = lists ? each_at(b, MARS_FIELD_bytes_each, b->other, to, &sent)
                       : replay_bytes_get(b->t, MARS_FIELD_bytes, &sent, b->wrong);
    if (status == KER_OK && from < b->other)
        status = lists_in ? each_at(b, MARS_FIELD_recvbytes_each, b->other, from, &received)
                          : replay_bytes_get(b->t, MARS_FIELD_recvbytes, &received, b->wrong);
    b->t->parts = steps;
    send_to(b, to < b->other ? b->there + to : TASK_PROC_NULL, sent);
    b->op->kind = TASK_OP_SENDRECV;
    b->op->peer2 = from < b->other ? b->there + from : TASK_PROC_NULL;
    b->op->bytes2 = received;
    return status;
}

/* ---- which of them a collective is ---- */

enum sort { NEVER, BARRIER, ROOTED, LEADERS, PAIRWISE };

static enum sort sort_of(unsigned collective)
{
    static const uint8_t sorts[TASK_COLL_COUNT] = {
        [TASK_COLL_BARRIER] = BARRIER,     [TASK_COLL_BCAST] = ROOTED,
        [TASK_COLL_REDUCE] = ROOTED,       [TASK_COLL_GATHER] = ROOTED,
        [TASK_COLL_GATHERV] = ROOTED,      [TASK_COLL_SCATTER] = ROOTED,
        [TASK_COLL_SCATTERV] = ROOTED,     [TASK_COLL_ALLREDUCE] = LEADERS,
        [TASK_COLL_ALLGATHER] = LEADERS,   [TASK_COLL_REDUCE_SCATTER] = LEADERS,
        [TASK_COLL_ALLGATHERV] = PAIRWISE, [TASK_COLL_REDUCE_SCATTER_BLOCK] = LEADERS,
        [TASK_COLL_ALLTOALL] = PAIRWISE,   [TASK_COLL_ALLTOALLV] = PAIRWISE};
    return sorts[collective];
}

static enum ker_status never(const struct replay_wrong *w)
{
    return replay_fail(w, "MPI has no such call between two groups");
}

enum ker_status replay_between_get(struct replay_task *t, struct task_op *op, bool *some,
                                   const struct replay_wrong *w)
{
    struct between b = {.wrong = w};
    between_init(&b, t, op);
    switch (sort_of(op->collective)) {
    case BARRIER:
        op->comm = b.whole;
        return KER_OK;
    case ROOTED:
        return with_root(&b, some);
    case LEADERS:
        return by_leaders(&b, some);
    case PAIRWISE:
        return pairwise(&b);
    default:
        return never(w);
    }
}

/* ---- those that do not block ---- */

/* Among the ranks of both groups. Who has no part names another task of its own group. */
static enum ker_status joint_root(const struct between *b)
{
    int32_t own = b->here + b->rank;
    if (b->root != MARS_ROOT && b->root != MARS_PROC_NULL && (b->root < 0 || b->root >= b->other))
        return replay_fail(b->wrong, "the root is %lld in a group of %d", (long long)b->root, b->other);
    if (b->root == MARS_PROC_NULL && b->own == 1)
        return replay_fail(b->wrong, "the only task of a group says that another one is the root");
    b->op->peer = b->root == MARS_ROOT        ? own
                  : b->root == MARS_PROC_NULL ? b->here + (b->rank == 0)
                                              : b->there + (int32_t)b->root;
    return KER_OK;
}

static enum ker_status lists_get(const struct between *b, enum mars_field field, int which, int32_t count,
                                 const uint64_t **list, uint64_t *sum)
{
    enum ker_status status = replay_each_get(b->t, field, which, (uint32_t)count, list, sum, b->wrong);
    b->op->request_count = (uint32_t)count;
    if (status == KER_OK && !*list)
        status = replay_fail(b->wrong, "the counts are missing");
    return status;
}

static enum ker_status request_rooted(const struct between *b)
{
    struct task_op *op = b->op;
    bool root = b->root == MARS_ROOT;
    enum ker_status status = joint_root(b);
    if (status != KER_OK || b->root == MARS_PROC_NULL)
        return status;
    switch (op->collective) {
    case TASK_COLL_GATHER:
        return replay_bytes_get(b->t, root ? MARS_FIELD_recvbytes : MARS_FIELD_bytes, &op->bytes, b->wrong);
    case TASK_COLL_SCATTER:
        return replay_bytes_get(b->t, root ? MARS_FIELD_bytes : MARS_FIELD_recvbytes, &op->bytes, b->wrong);
    case TASK_COLL_SCATTERV:
        if (!root)
            return replay_bytes_get(b->t, MARS_FIELD_recvbytes, &op->bytes2, b->wrong);
        return lists_get(b, MARS_FIELD_bytes_each, 0, b->other, &op->send_bytes, &op->bytes);
    case TASK_COLL_GATHERV:
        if (!root)
            return replay_bytes_get(b->t, MARS_FIELD_bytes, &op->bytes, b->wrong);
        return lists_get(b, MARS_FIELD_recvbytes_each, 1, b->other, &op->receive_bytes, &op->bytes2);
    default:
        return replay_bytes_get(b->t, MARS_FIELD_bytes, &op->bytes, b->wrong);
    }
}

static enum ker_status request_exchange(const struct between *b)
{
    struct task_op *op = b->op;
    bool lists = op->collective == TASK_COLL_ALLTOALLV,
         lists_in = lists || op->collective == TASK_COLL_ALLGATHERV;
    enum ker_status status =
        lists ? lists_get(b, MARS_FIELD_bytes_each, 0, b->other, &op->send_bytes, &op->bytes)
              : replay_bytes_get(b->t, MARS_FIELD_bytes, &op->bytes, b->wrong);
    if (status != KER_OK)
        return status;
    return lists_in ? lists_get(b, MARS_FIELD_recvbytes_each, 1, b->other, &op->receive_bytes, &op->bytes2)
                    : replay_bytes_get(b->t, MARS_FIELD_recvbytes, &op->bytes2, b->wrong);
}

enum ker_status replay_between_request_get(struct replay_task *t, struct task_op *op,
                                           const struct replay_wrong *w)
{
    struct between b = {.wrong = w};
    between_init(&b, t, op);
    op->request = (uint64_t)mars_number(&t->record, MARS_FIELD_request, 0);
    switch (sort_of(op->collective)) {
    case BARRIER:
        return KER_OK;
    case ROOTED:
        return request_rooted(&b);
    case LEADERS:
        if (op->collective == TASK_COLL_ALLGATHER)
            return request_exchange(&b);
        if (op->collective == TASK_COLL_REDUCE_SCATTER)
            return lists_get(&b, MARS_FIELD_bytes_each, 0, b.own, &op->receive_bytes, &op->bytes);
        return replay_bytes_get(t, MARS_FIELD_bytes, &op->bytes, w);
    case PAIRWISE:
        return request_exchange(&b);
    default:
        return never(w);
    }
}
