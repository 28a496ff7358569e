/* between.c - collectives between the two groups of an intercommunicator, blocking or not: their roots are
 * ranks among the tasks of both groups, their lists are of the other group's tasks. Which messages they are
 * is tasks/mpi/collectives/between.c.
 */
#include "traces/replay/arguments.h"

struct between {
    struct replay_task *t;
    struct task_op *op;
    const struct replay_wrong *wrong;
    int32_t own, other, rank; /* tasks in the groups */
    int32_t here, there;      /* rank of the groups' first tasks among those of both */
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
    b->here = second ? b->other : 0;
    b->there = second ? 0 : b->own;
    b->root = mars_number(&t->record, MARS_FIELD_root, 0);
}

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

static enum ker_status with_root(const struct between *b)
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

static enum ker_status exchange(const struct between *b)
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

enum ker_status replay_between_get(struct replay_task *t, struct task_op *op, const struct replay_wrong *w)
{
    struct between b = {.wrong = w};
    between_init(&b, t, op);
    op->request = (uint64_t)mars_number(&t->record, MARS_FIELD_request, 0);
    switch (op->collective) {
    case TASK_COLL_BARRIER:
        return KER_OK;
    case TASK_COLL_BCAST:
    case TASK_COLL_REDUCE:
    case TASK_COLL_GATHER:
    case TASK_COLL_GATHERV:
    case TASK_COLL_SCATTER:
    case TASK_COLL_SCATTERV:
        return with_root(&b);
    case TASK_COLL_ALLREDUCE:
    case TASK_COLL_REDUCE_SCATTER_BLOCK:
        return replay_bytes_get(t, MARS_FIELD_bytes, &op->bytes, w);
    case TASK_COLL_REDUCE_SCATTER:
        return lists_get(&b, MARS_FIELD_bytes_each, 0, b.own, &op->receive_bytes, &op->bytes);
    case TASK_COLL_ALLGATHER:
    case TASK_COLL_ALLGATHERV:
    case TASK_COLL_ALLTOALL:
    case TASK_COLL_ALLTOALLV:
        return exchange(&b);
    default:
        return replay_fail(w, "MPI has no such call between two groups");
    }
}
