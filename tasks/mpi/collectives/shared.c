/* shared.c - collectives of tasks of one node through shared memory, flat: all with the root.
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
 *
 * With l the latency between two memories, t the time of a copy by itself, p tasks that come at the same
 * time, and no controller that is short: barrier 2 l; bcast 2 l + t, the root 3 l + t; reduce (p - 1) (l + t)
 * + l, its last task l more; allreduce (p - 1) (l + t) + 3 l + t, rank 0 l more. Sources: Graham, Shipman,
 * "MPI support for multi-core architectures: optimized shared memory collectives", EuroPVM/MPI 2008 (flags,
 * and a tree of one level among those compared); single copies: Hashmi et al., "Designing efficient shared
 * address space reduction collectives for multi-/many-cores", IPDPS 2018.
 */
#include "tasks/mpi/collectives/collective.h"

enum { READY, DONE, DATA, RESULT, LEFT }; /* tags */

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

/* The root awaits a flag of each and reads what it says is there: 2 rounds for each, or 1 without bytes. */
static bool root_collects(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    if (!v->bytes)
        return await(r, other(v, round), READY, round + 2 == (uint32_t)v->size);
    if (round % 2 == 0)
        return await(r, other(v, round / 2), READY, true);
    return read_from(r, other(v, round / 2), DATA, v->bytes);
}

/* From the root: it raises flags, and awaits those of who has read. */
static bool task_coll_shared_from(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    uint32_t others = (uint32_t)v->size - 1;
    if (v->rank == v->root) {
        if (round < others)
            return raise_flag(r, other(v, round), READY);
        return v->bytes && round < 2 * others && await(r, other(v, round - others), LEFT, false);
    }
    if (round == 0)
        return await(r, v->root, READY, true);
    if (round > 2 || !v->bytes)
        return false;
    return round == 1 ? read_from(r, v->root, RESULT, v->bytes) : raise_flag(r, v->root, LEFT);
}

/* To the root; each is told when the root has read. */
static bool task_coll_shared_to(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    uint32_t others = (uint32_t)v->size - 1;
    if (v->rank != v->root) {
        if (round == 0)
            return raise_flag(r, v->root, READY);
        return v->bytes && round == 1 && await(r, v->root, DONE, true);
    }
    if (!v->bytes)
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
    uint32_t up = v.rank ? 1 : ((uint32_t)v.size - 1) * (v.bytes ? 2 : 1);
    if (round >= up)
        return task_coll_shared_from(&v, round - up, r);
    if (v.rank)
        return raise_flag(r, 0, DONE);
    root_collects(&v, round, r);
    if (r->shared == TASK_COLL_AWAIT) /* READY says that the result is */
        r->send_tag = DONE;
    return true;
}

bool task_coll_is_shared(const struct ker_kind *algorithm)
{
    return algorithm->traits && strcmp(algorithm->traits, "inside") == 0;
}

#define SHARED(NAME, OF, MEANING, FUNCTION)                                                                  \
    const struct ker_kind NAME = {.name = "shared_memory",                                                   \
                                  .of = (OF),                                                                \
                                  .meaning = (MEANING),                                                      \
                                  .traits = "inside",                                                        \
                                  .operations = TASK_COLL_ALGORITHM(FUNCTION)}
SHARED(task_coll_kind_shared_from, "bcast|scatter", "on one node: all read from the root's memory",
       task_coll_shared_from);
SHARED(task_coll_kind_shared_to, "reduce|gather", "on one node: the root reads from everybody's memory",
       task_coll_shared_to);
SHARED(task_coll_kind_shared_both, "barrier|allreduce",
       "on one node: rank 0 reads from everybody's memory, then all from its", task_coll_shared_both);
