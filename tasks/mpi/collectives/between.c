/* between.c - collectives between the two groups of an intercommunicator, as Open MPI's libnbc does them:
 * straight between tasks of different groups, without trees.
 *
 * Ranks are those of all tasks, the first group's before the second's. With a root: one message for each task
 * of the other group. Barrier, Allreduce, Reduce_scatter: all send to the other group's first task, its
 * leader; the leaders exchange what they have collected (of Reduce_scatter there is no need), and each sends
 * it to the other group, or scatters it in its own. The others: a message from each task of one group to each
 * of the other.
 */
#include "tasks/mpi/collectives/collective.h"

#define COLLECTED 0 /* tags */
#define EXCHANGED 1
#define SPREAD 2

static void receive(struct task_coll_round *r, int32_t from, int32_t tag, uint64_t bytes)
{
    r->receive_from = from;
    r->receive_tag = tag;
    r->receive_bytes = bytes;
}

static void send(struct task_coll_round *r, int32_t to, int32_t tag, uint64_t bytes)
{
    r->send_to = to;
    r->send_tag = tag;
    r->send_bytes = bytes;
}

/* ---- with a root ---- */

static bool goes_down(unsigned collective)
{
    return collective == TASK_COLL_BCAST || collective == TASK_COLL_SCATTER ||
           collective == TASK_COLL_SCATTERV;
}

static bool rooted(const struct task_coll_view *v, const struct task_coll_sides *s, uint32_t round,
                   struct task_coll_round *r)
{
    bool down = goes_down(v->collective), root = v->root == v->rank,
         aside = !root && v->root >= s->here && v->root < s->here + s->own;
    if (aside || round >= (root ? (uint32_t)s->other : 1))
        return false;
    int32_t peer = root ? s->there + (int32_t)round : v->root;
    uint64_t bytes = v->collective == TASK_COLL_SCATTERV ? v->bytes2 : v->bytes;
    if (root && v->collective == TASK_COLL_SCATTERV)
        bytes = v->send_bytes ? v->send_bytes[round] : 0;
    if (root && v->collective == TASK_COLL_GATHERV)
        bytes = v->receive_bytes ? v->receive_bytes[round] : 0;
    if (down == root)
        send(r, peer, SPREAD, bytes);
    else
        receive(r, peer, SPREAD, bytes);
    r->combines = v->collective == TASK_COLL_REDUCE;
    return true;
}

/* ---- by the leaders ---- */

/* The leader's: collects from `other` tasks, exchanges, and spreads. */
static bool led(const struct task_coll_view *v, const struct task_coll_sides *s, uint32_t round,
                struct task_coll_round *r)
{
    uint32_t tasks = (uint32_t)s->other;
    uint64_t bytes = v->collective == TASK_COLL_BARRIER ? 0 : v->bytes;
    if (round < tasks) { /* the other leader's contribution comes first, and ours goes there */
        receive(r, s->there + (int32_t)round, COLLECTED, bytes);
        if (round == 0)
            send(r, s->there, COLLECTED, bytes);
        r->fence = round == tasks - 1;
        r->combines = round > 0;
        return true;
    }
    if (round == tasks) {
        task_coll_round_exchange(r, s->there, bytes, s->there, bytes, EXCHANGED);
        return true;
    }
    if (round >= 2 * tasks)
        return false;
    send(r, s->there + (int32_t)(round - tasks), SPREAD, bytes);
    return true;
}

static uint64_t part_of(const struct task_coll_view *v, int32_t task)
{
    if (v->collective == TASK_COLL_REDUCE_SCATTER_BLOCK)
        return v->bytes;
    return v->receive_bytes ? v->receive_bytes[task] : 0;
}

static bool led_scatter(const struct task_coll_view *v, const struct task_coll_sides *s, uint32_t round,
                        struct task_coll_round *r, uint64_t vector)
{
    uint32_t other = (uint32_t)s->other;
    if (round < other) {
        receive(r, s->there + (int32_t)round, COLLECTED, vector);
        if (round == 0)
            send(r, s->there, COLLECTED, vector);
        r->fence = round == other - 1;
        r->combines = round > 0;
        return true;
    }
    int32_t task = (int32_t)(round - other) + 1;
    if (task >= s->own)
        return false;
    send(r, s->here + task, SPREAD, part_of(v, task));
    return true;
}

static bool by_leaders(const struct task_coll_view *v, const struct task_coll_sides *s, uint32_t round,
                       struct task_coll_round *r)
{
    bool scatters =
        v->collective == TASK_COLL_REDUCE_SCATTER || v->collective == TASK_COLL_REDUCE_SCATTER_BLOCK;
    uint64_t bytes = v->collective == TASK_COLL_BARRIER ? 0 : v->bytes, vector = 0;
    for (int32_t i = 0; scatters && i < s->own; i++)
        vector += part_of(v, i);
    if (s->mine == 0)
        return scatters ? led_scatter(v, s, round, r, vector) : led(v, s, round, r);
    if (round > 0)
        return false;
    send(r, s->there, COLLECTED, scatters ? vector : bytes);
    if (scatters)
        receive(r, s->here, SPREAD, part_of(v, s->mine));
    else
        receive(r, s->there, SPREAD, bytes);
    return true;
}

/* ---- all to all ---- */

/* In each step one message out and one in; the larger group decides how many steps there are. */
static bool pairwise(const struct task_coll_view *v, const struct task_coll_sides *s, uint32_t round,
                     struct task_coll_round *r)
{
    int32_t steps = s->own > s->other ? s->own : s->other, step = (int32_t)round;
    if (step >= steps)
        return false;
    int32_t to = (s->mine + step) % steps, from = (s->mine + steps - step) % steps;
    if (to < s->other)
        send(r, s->there + to, COLLECTED, v->send_bytes ? v->send_bytes[to] : v->bytes);
    if (from < s->other)
        receive(r, s->there + from, COLLECTED, v->receive_bytes ? v->receive_bytes[from] : v->bytes2);
    return true;
}

static bool task_coll_between(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    struct task_coll_sides s = task_coll_sides_of(v);
    task_coll_round_clear(r);
    switch (v->collective) {
    case TASK_COLL_BCAST:
    case TASK_COLL_REDUCE:
    case TASK_COLL_GATHER:
    case TASK_COLL_GATHERV:
    case TASK_COLL_SCATTER:
    case TASK_COLL_SCATTERV:
        return rooted(v, &s, round, r);
    case TASK_COLL_BARRIER:
    case TASK_COLL_ALLREDUCE:
    case TASK_COLL_REDUCE_SCATTER:
    case TASK_COLL_REDUCE_SCATTER_BLOCK:
        return by_leaders(v, &s, round, r);
    default:
        return pairwise(v, &s, round, r);
    }
}

const struct ker_kind task_coll_kind_between = {
    .name = "between", .meaning = "between two groups", .operations = TASK_COLL_ALGORITHM(task_coll_between)};
