/* rabenseifner.c - reductions that cut the vector in halves: reduce-scatter, then allgather or gather.
 *
 * Sizes that are no power of two are folded: with P the largest power of two <= size and rest = size - P, the
 * first 2 x rest ranks work in pairs. Both reduce a half of the vector, then the odd one gives its half to
 * the even one, which stays; virtual ranks are rank / 2 of the even ones, rank - rest of those above.
 *
 * Halving: in step s virtual rank v exchanges with v ^ 2^s what it does not keep of its part: the lower one
 * keeps the first half (rounded down). So the longest messages are sent to the nearest ranks. Allgather and
 * gather run this backwards: what was received in step s is sent, and vice versa.
 *
 * Sources: Rabenseifner, "Optimization of collective reduction operations", ICCS 2004; Thakur, Rabenseifner,
 * Gropp, IJHPCA 19(1), 2005. Pairs and bytes are those of Open MPI's algorithm of this name
 * (tests/tasks/judge.sh).
 */
#include "tasks/mpi/collectives/collective.h"

struct halves {
    uint32_t power, rest, levels;
    uint32_t virtual_rank;
    bool in_pair, out; /* out: an odd rank that has given its half away */
};

static struct halves halves_make(const struct task_coll_view *v)
{
    struct halves h = {.levels = (uint32_t)task_coll_log2_floor((uint32_t)v->size)};
    uint32_t rank = (uint32_t)v->rank;
    h.power = 1u << h.levels;
    h.rest = (uint32_t)v->size - h.power;
    h.in_pair = rank < 2 * h.rest;
    h.out = h.in_pair && rank % 2 == 1;
    h.virtual_rank = h.in_pair ? rank / 2 : rank - h.rest;
    return h;
}

static int32_t halves_rank(const struct halves *h, uint32_t virtual_rank)
{
    return (int32_t)(virtual_rank < h->rest ? 2 * virtual_rank : virtual_rank + h->rest);
}

/* What of `bytes` a virtual rank keeps after this many steps. */
static uint64_t halves_kept(uint64_t bytes, uint32_t virtual_rank, uint32_t steps)
{
    for (uint32_t s = 0; s < steps; s++)
        bytes = virtual_rank >> s & 1 ? bytes - bytes / 2 : bytes / 2;
    return bytes;
}

/* Rounds 0 and 1: both of a pair get a half, then the even one has both. */
static void halves_fold(const struct halves *h, const struct task_coll_view *v, uint32_t round,
                        struct task_coll_round *r)
{
    uint64_t left = v->bytes / 2, right = v->bytes - left;
    if (!h->in_pair)
        return;
    if (round == 0 && h->out) {
        task_coll_round_exchange(r, v->rank - 1, left, v->rank - 1, right, 0);
    } else if (round == 0) {
        task_coll_round_exchange(r, v->rank + 1, right, v->rank + 1, left, 0);
    } else if (h->out) {
        *r = (struct task_coll_round){TASK_COLL_NOBODY, v->rank - 1, 1, 1, right, 0, false};
    } else {
        *r = (struct task_coll_round){v->rank + 1, TASK_COLL_NOBODY, 1, 1, 0, right, true};
    }
    r->combines = round == 0; /* after that the half is whole */
}

/* Step `step`, or (back) what undoes it. */
static void halves_step(const struct halves *h, const struct task_coll_view *v, uint32_t round, uint32_t step,
                        bool back, struct task_coll_round *r)
{
    if (h->out)
        return;
    uint32_t other = h->virtual_rank ^ 1u << step;
    uint64_t mine = halves_kept(v->bytes, h->virtual_rank, step + 1),
             others = halves_kept(v->bytes, other, step + 1);
    int32_t partner = halves_rank(h, other);
    task_coll_round_exchange(r, partner, back ? mine : others, partner, back ? others : mine, (int32_t)round);
    r->combines = !back;
}

static bool task_coll_rabenseifner(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    struct halves h = halves_make(v);
    task_coll_round_clear(r);
    if (round > 2 * h.levels + 2)
        return false;
    if (round < 2)
        halves_fold(&h, v, round, r);
    else if (round < 2 + h.levels)
        halves_step(&h, v, round, round - 2, false, r);
    else if (round < 2 + 2 * h.levels)
        halves_step(&h, v, round, 1 + 2 * h.levels - round, true, r);
    else if (h.out)
        *r = (struct task_coll_round){v->rank - 1, TASK_COLL_NOBODY, (int32_t)round, (int32_t)round,
                                      0,           v->bytes,         false};
    else if (h.in_pair)
        *r = (struct task_coll_round){TASK_COLL_NOBODY, v->rank + 1, (int32_t)round, (int32_t)round,
                                      v->bytes,         0,           false};
    return true;
}

/* An odd root that has given its half away takes the place of rank 0. */
static void halves_replace(const struct halves *h, const struct task_coll_view *v, uint32_t round,
                           struct task_coll_round *r)
{
    uint64_t bytes = halves_kept(v->bytes, 0, h->levels);
    if (v->rank == v->root)
        *r = (struct task_coll_round){0, TASK_COLL_NOBODY, (int32_t)round, (int32_t)round, 0, bytes, true};
    else if (v->rank == 0)
        *r = (struct task_coll_round){
            TASK_COLL_NOBODY, v->root, (int32_t)round, (int32_t)round, bytes, 0, false};
}

/* Whoever differs from the root in bit `step` gives all it has, if it agrees with it in those above. */
static void halves_collect(const struct halves *h, const struct task_coll_view *v, uint32_t round,
                           uint32_t step, bool replaced, struct task_coll_round *r)
{
    struct halves root = halves_make(&(struct task_coll_view){.rank = v->root, .size = v->size});
    bool gone = replaced ? h->out || v->rank == 0 : h->out;
    uint32_t mine = h->virtual_rank, to = replaced ? 0 : root.virtual_rank, other = mine ^ 1u << step;
    if (replaced && v->rank == v->root)
        mine = 0, gone = false, other = 1u << step;
    if (gone || mine >> (step + 1) != to >> (step + 1))
        return;
    int32_t partner = replaced && other == 0 ? v->root : halves_rank(h, other);
    bool sends = (mine ^ to) >> step & 1;
    *r = (struct task_coll_round){sends ? TASK_COLL_NOBODY : partner,
                                  sends ? partner : TASK_COLL_NOBODY,
                                  (int32_t)round,
                                  (int32_t)round,
                                  sends ? halves_kept(v->bytes, mine, step + 1) : 0,
                                  sends ? 0 : halves_kept(v->bytes, other, step + 1),
                                  true};
}

static bool task_coll_rabenseifner_reduce(const struct task_coll_view *v, uint32_t round,
                                          struct task_coll_round *r)
{
    struct halves h = halves_make(v);
    bool replaced = (uint32_t)v->root < 2 * h.rest && v->root % 2 == 1;
    task_coll_round_clear(r);
    if (round > 2 * h.levels + 2)
        return false;
    if (round < 2)
        halves_fold(&h, v, round, r);
    else if (round < 2 + h.levels)
        halves_step(&h, v, round, round - 2, false, r);
    else if (round > 2 + h.levels)
        halves_collect(&h, v, round, 2 + 2 * h.levels - round, replaced, r);
    else if (replaced)
        halves_replace(&h, v, round, r);
    return true;
}

TASK_COLL_KIND(rabenseifner, "rabenseifner", "allreduce", "reduce-scatter by halving, allgather by doubling",
               TASK_COLL_ALGORITHM(task_coll_rabenseifner));
TASK_COLL_KIND(rabenseifner_reduce, "rabenseifner", "reduce", "reduce-scatter by halving, gather to the root",
               TASK_COLL_ALGORITHM(task_coll_rabenseifner_reduce));
