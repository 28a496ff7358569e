/* shared.c - collectives of tasks of one node through shared memory.
 *
 * Who has data raises a flag, and whoever wants them reads them from that task's memory, one copy, and raises
 * a flag of its own, so that the owner may use its memory again. The root reads from one after the other,
 * since it is one core; the others read from the root at the same time, as far as the memory controllers can.
 *
 *   barrier            all raise a flag for rank 0, which then raises one for each
 *   bcast, scatter     the root raises a flag for each; they read, and raise one for the root
 *   reduce, gather     all raise a flag for the root, which reads from each in turn, and raises a flag for it
 *   allreduce          all raise a flag for rank 0, which reads from each in turn, and raises a flag for all;
 *                      they read the result, and raise a flag
 *   allgather,         after a barrier each reads from all others in turn what is for it (of reduce_scatter
 *   alltoall,          what is put into its part of the result), and a barrier ends it
 *   reduce_scatter
 *
 * What is there of nothing is not read; flags are raised all the same where a task does not know it of
 * others, as in the forms with counts of their own for each task.
 *
 * That is shared_memory, flat: all with the root. shared_memory_parts lets all work: after a barrier each
 * reads its part of the vector from all others and has that of the result; of reduce the root then reads the
 * parts, each behind its owner's flag, and informs all that they may leave; of allreduce all do, between two
 * barriers.
 *
 * With l the latency between two memories, t the time of a copy by itself, p tasks that come at the same
 * time, and no controller that is short: barrier 2 l; bcast 2 l + t, the root 3 l + t; reduce (p - 1) (l + t)
 * + l, its last task l more; allreduce (p - 1) (l + t) + 3 l + t, rank 0 l more. By parts: reduce 3 l + 2 (p
 * - 1) (l + t / p), the others l more; allreduce 6 l + 2 (p - 1) (l + t / p), rank 0 l less; allgather and
 * the like 4 l + (p - 1) (l + t), rank 0 l less. Sources: Graham,
 * Shipman, "MPI support for multi-core architectures: optimized shared memory collectives", EuroPVM/MPI 2008
 * (flags, and a tree of one level among those compared); single copies, and parts: Hashmi et al., "Designing
 * efficient shared address space reduction collectives for multi-/many-cores", IPDPS 2018.
 */
#include "tasks/mpi/collectives/collective.h"

enum { READY, DONE, DATA, RESULT, LEFT, MEETINGS }; /* tags */

/* The i-th other rank behind the root. */
static int32_t other(const struct task_coll_view *v, uint32_t i)
{
    return (int32_t)(((int64_t)v->root + 1 + i) % v->size);
}

static bool await(struct task_coll_round *r, int32_t with, int32_t tag, bool fence)
{
    task_coll_round_shared(r, TASK_COLL_AWAIT, with, tag);
    r->fence = fence;
    return true;
}

static bool raise_flag(struct task_coll_round *r, int32_t with, int32_t tag)
{
    task_coll_round_shared(r, TASK_COLL_RAISE, with, tag);
    return true;
}

static bool read_from(struct task_coll_round *r, int32_t with, int32_t tag, uint64_t bytes)
{
    task_coll_round_shared(r, TASK_COLL_READ, with, tag);
    r->receive_bytes = bytes;
    r->fence = true;
    return true;
}

/* Nothing for anybody, as everybody knows. */
static bool is_empty(const struct task_coll_view *v)
{
    return !v->bytes && v->collective != TASK_COLL_GATHERV && v->collective != TASK_COLL_SCATTERV;
}

/* There may be nothing. */
static bool read_some(struct task_coll_round *r, int32_t from, int32_t tag, uint64_t bytes)
{
    if (bytes)
        return read_from(r, from, tag, bytes);
    task_coll_round_clear(r);
    return true;
}

/* What the root reads of a task. */
static uint64_t bytes_up(const struct task_coll_view *v, int32_t from)
{
    if (v->collective == TASK_COLL_GATHER)
        return task_coll_blocks(v, (uint32_t)from, 1);
    return v->collective == TASK_COLL_GATHERV ? task_coll_receive_count(v, from) : v->bytes;
}

/* What a task reads of the root. */
static uint64_t bytes_down(const struct task_coll_view *v)
{
    if (v->collective == TASK_COLL_SCATTER)
        return task_coll_blocks(v, (uint32_t)v->rank, 1);
    return v->collective == TASK_COLL_SCATTERV ? v->bytes2 : v->bytes;
}

/* The root awaits a flag of each and reads what it says is there: 2 rounds for each, or 1 without bytes. */
static bool root_collects(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    if (is_empty(v))
        return await(r, other(v, round), READY, round + 2 == (uint32_t)v->size);
    int32_t from = other(v, round / 2);
    if (round % 2 == 0)
        return await(r, from, READY, true);
    read_some(r, from, DATA, bytes_up(v, from));
    r->combines = v->collective == TASK_COLL_REDUCE || v->collective == TASK_COLL_ALLREDUCE;
    return true;
}

/* From the root: it raises flags, and awaits those of who has read. */
static bool task_coll_shared_from(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    uint32_t others = (uint32_t)v->size - 1;
    if (v->rank == v->root) {
        if (round < others)
            return raise_flag(r, other(v, round), READY);
        return !is_empty(v) && round < 2 * others && await(r, other(v, round - others), LEFT, false);
    }
    if (round == 0)
        return await(r, v->root, READY, true);
    if (round > 2 || is_empty(v))
        return false;
    return round == 1 ? read_some(r, v->root, RESULT, bytes_down(v)) : raise_flag(r, v->root, LEFT);
}

/* To the root; each is notified when the root has read. */
static bool task_coll_shared_to(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    uint32_t others = (uint32_t)v->size - 1;
    if (v->rank != v->root) {
        if (round == 0)
            return raise_flag(r, v->root, READY);
        return !is_empty(v) && round == 1 && await(r, v->root, DONE, true);
    }
    if (is_empty(v))
        return round < others && root_collects(v, round, r);
    if (round >= 3 * others)
        return false;
    if (round % 3 == 2)
        return raise_flag(r, other(v, round / 3), DONE);
    return root_collects(v, round / 3 * 2 + round % 3, r);
}

/* To rank 0, and from it. */
static bool task_coll_shared_both(const struct task_coll_view *view, uint32_t round,
                                  struct task_coll_round *r)
{
    struct task_coll_view v = *view;
    v.root = 0;
    uint32_t up = v.rank ? 1 : ((uint32_t)v.size - 1) * (is_empty(&v) ? 1 : 2);
    if (round >= up)
        return task_coll_shared_from(&v, round - up, r);
    if (v.rank)
        return raise_flag(r, 0, DONE);
    root_collects(&v, round, r);
    if (r->shared == TASK_COLL_AWAIT) /* READY says that the result is */
        r->send_tag = DONE;
    return true;
}

/* ---- by parts ---- */

/* A barrier, the number-th of the call: 2 rounds, of the root 2 for each other task. */
static bool meet(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r, int32_t number)
{
    uint32_t others = (uint32_t)v->size - 1;
    int32_t tag = MEETINGS + number;
    if (v->rank != v->root)
        return round == 0 ? raise_flag(r, v->root, tag) : await(r, v->root, tag, true);
    if (round < others)
        return await(r, other(v, round), tag, round + 1 == others);
    return raise_flag(r, other(v, round - others), tag);
}

/* There may be less than a byte for each. */
static bool part_read(const struct task_coll_view *v, struct task_coll_round *r, int32_t from, int32_t part,
                      int32_t tag)
{
    return read_some(r, from, tag,
                     task_coll_span(v->bytes, (uint64_t)v->size, (uint64_t)part, (uint64_t)part + 1));
}

/* The i-th task behind this one. */
static int32_t next(const struct task_coll_view *v, uint32_t i)
{
    return (int32_t)(((int64_t)v->rank + 1 + i) % v->size);
}

/* The root awaits each task's flag and reads its part, and at last informs all. */
static bool parts_collect(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    uint32_t others = (uint32_t)v->size - 1;
    if (v->rank != v->root)
        return round == 0 ? raise_flag(r, v->root, READY) : round == 1 && await(r, v->root, DONE, true);
    if (round >= 2 * others)
        return round < 3 * others && raise_flag(r, other(v, round - 2 * others), DONE);
    int32_t from = other(v, round / 2);
    return round % 2 == 0 ? await(r, from, READY, true) : part_read(v, r, from, from, RESULT);
}

static bool task_coll_shared_parts(const struct task_coll_view *view, uint32_t round,
                                   struct task_coll_round *r)
{
    struct task_coll_view v = *view;
    bool all = v.collective == TASK_COLL_ALLREDUCE;
    v.root = all ? 0 : v.root;
    if (!v.bytes) /* of a barrier in levels */
        return task_coll_shared_to(&v, round, r);
    uint32_t others = (uint32_t)v.size - 1, meeting = others == 0 ? 0 : v.rank == v.root ? 2 * others : 2;
    if (round < meeting)
        return meet(&v, round, r, 0);
    round -= meeting;
    if (round < others) {
        part_read(&v, r, next(&v, round), v.rank, DATA);
        r->combines = 1;
        return true;
    }
    round -= others;
    if (!all)
        return others && parts_collect(&v, round, r);
    if (round < meeting)
        return meet(&v, round, r, 1);
    round -= meeting;
    if (round < others)
        return part_read(&v, r, next(&v, round), next(&v, round), RESULT);
    round -= others;
    return round < meeting && meet(&v, round, r, 2);
}

/* What a task reads of another one, where all have something for all. */
static uint64_t bytes_across(const struct task_coll_view *v, int32_t from)
{
    switch (v->collective) {
    case TASK_COLL_REDUCE_SCATTER:
    case TASK_COLL_REDUCE_SCATTER_BLOCK:
        return task_coll_receive_count(v, v->rank);
    case TASK_COLL_ALLGATHERV:
    case TASK_COLL_ALLTOALLV:
        return task_coll_receive_count(v, from);
    default:
        return v->bytes;
    }
}

static bool task_coll_shared_across(const struct task_coll_view *view, uint32_t round,
                                    struct task_coll_round *r)
{
    struct task_coll_view v = *view;
    v.root = 0;
    uint32_t others = (uint32_t)v.size - 1, meeting = others == 0 ? 0 : v.rank == v.root ? 2 * others : 2;
    if (round < meeting)
        return meet(&v, round, r, 0);
    round -= meeting;
    if (round < others) {
        read_some(r, next(&v, round), DATA, bytes_across(&v, next(&v, round)));
        r->combines =
            v.collective == TASK_COLL_REDUCE_SCATTER || v.collective == TASK_COLL_REDUCE_SCATTER_BLOCK;
        return true;
    }
    round -= others;
    return round < meeting && meet(&v, round, r, 1);
}

bool task_coll_is_shared(const struct ker_kind *algorithm)
{
    return algorithm->traits && strcmp(algorithm->traits, "inside") == 0;
}

#define SHARED(KIND, NAME, OF, MEANING, FUNCTION)                                                            \
    const struct ker_kind KIND = {.name = (NAME),                                                            \
                                  .of = (OF),                                                                \
                                  .meaning = (MEANING),                                                      \
                                  .traits = "inside",                                                        \
                                  .operations = TASK_COLL_ALGORITHM(FUNCTION)}
SHARED(task_coll_kind_shared_from, "shared_memory", "bcast|scatter|scatterv",
       "on one node: all read from the root's memory", task_coll_shared_from);
SHARED(task_coll_kind_shared_across, "shared_memory",
       "allgather|allgatherv|alltoall|alltoallv|reduce_scatter|reduce_scatter_block|comm_create",
       "on one node: each reads from everybody's memory what is for it", task_coll_shared_across);
SHARED(task_coll_kind_shared_to, "shared_memory", "reduce|gather|gatherv",
       "on one node: the root reads from everybody's memory", task_coll_shared_to);
SHARED(task_coll_kind_shared_both, "shared_memory", "barrier|allreduce",
       "on one node: rank 0 reads from everybody's memory, then all from its", task_coll_shared_both);
SHARED(task_coll_kind_shared_parts, "shared_memory_parts", "reduce|allreduce",
       "on one node: each reads a part of the vector from everybody's memory", task_coll_shared_parts);
