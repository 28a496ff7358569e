/* collective.h - collectives as schedules of point-to-point messages.
 *
 * An algorithm is a pure function: given what a task knows of the call (its view) and the number of a round,
 * it says what the task does in this round: at most one receive and one send. So an active collective needs
 * constant memory, whatever the number of tasks, and a schedule can be tested without a network.
 * tasks/mpi/collective.c executes the rounds.
 *
 * Messages of a collective carry the communicator's collective context, the number of the call on the
 * communicator, and the round's tags; a pair (sender, receiver) never has two messages with one tag in one
 * call, so their order is free.
 */
#ifndef TASKS_COLLECTIVE_H
#define TASKS_COLLECTIVE_H

#include "tasks/programs/op.h"

#define TASK_COLL_NOBODY (-2)
#define TASK_COLL_ANYBODY (-1)

/* What one task knows. */
struct task_coll_view {
    int32_t rank, size, root;
    int32_t first;          /* of an intercommunicator: tasks of its first group; else 0 */
    uint64_t bytes, bytes2; /* as in struct task_op */
    const uint64_t *send_bytes, *receive_bytes; /* per rank (or neighbour), or NULL */
    const struct task_neighbours *neighbours;   /* of collectives among neighbours */
    uint8_t collective;                         /* enum task_collective */
};

/* The receive is posted first, then the send is made. */
struct task_coll_round {
    int32_t receive_from; /* rank, ANYBODY or NOBODY */
    int32_t send_to;      /* rank or NOBODY */
    int32_t receive_tag, send_tag;
    uint64_t send_bytes, receive_bytes; /* receive_bytes: as far as known, for messages to people only */
    bool fence;                         /* everything so far must be complete before the next round */
};

/* false: there is no such round, the schedule has ended. round counts from 0 without gaps. */
typedef bool task_coll_function(const struct task_coll_view *, uint32_t round, struct task_coll_round *);

/* Operations of a kind of the family "mpi.collectives"; ker_kind.of names the collectives that it can do. */
struct task_coll_algorithm {
    task_coll_function *round;
};
#define TASK_COLL_ALGORITHM(function) (&(const struct task_coll_algorithm){.round = function})

/* share.c: a call of which every task knows that nobody has anything to send: Open MPI and MPICH return at
 * once, a barrier excepted. */
bool task_coll_empty(const struct task_coll_view *);

/* Of an intercommunicator: the sizes of the own group and of the other one, their first ranks, and the own
 * rank in the own group. Lists of counts are by the other group's tasks, those of Reduce_scatter by the own
 * group's; with a root, tasks of its group that have no part say that another one of them is the root. */
struct task_coll_sides {
    int32_t own, other, here, there, mine;
};
static inline struct task_coll_sides task_coll_sides_of(const struct task_coll_view *v)
{
    bool second = v->rank >= v->first;
    int32_t own = second ? v->size - v->first : v->first, here = second ? v->first : 0;
    return (struct task_coll_sides){own, v->size - own, here, second ? 0 : v->first, v->rank - here};
}
extern const struct ker_kind task_coll_kind_between; /* for all that are not blocking; not to be chosen */

extern const struct ker_kinds task_collectives;
static inline bool task_coll_round_of(const struct ker_kind *algorithm, const struct task_coll_view *view,
                                      uint32_t round, struct task_coll_round *out)
{
    if (round == 0 && task_coll_empty(view))
        return false;
    return ((const struct task_coll_algorithm *)algorithm->operations)->round(view, round, out);
}
const char *task_coll_name(unsigned collective); /* "allreduce" */

/* From min_bytes and min_tasks on, this algorithm. Among the fitting rules of a collective the last one
 * counts. */
struct task_coll_rule {
    uint64_t min_bytes;
    int32_t min_tasks;
    uint8_t collective;
    const struct ker_kind *algorithm;
};

#define TASK_COLL_RULES 96
struct task_coll_table {
    uint32_t count;
    struct task_coll_rule rule[TASK_COLL_RULES];
    const struct ker_kind *first[TASK_COLL_COUNT]; /* where no rule fits */
};

/* The built-in rules, replaced for each collective by the key mpi.collectives.NAME where that is given. */
enum ker_status task_coll_table_init(struct task_coll_table *, const struct ker_config *, struct ker_error *);
/* The algorithm for a call. Depends only on what all tasks of the call agree on. */
const struct ker_kind *task_coll_choose(const struct task_coll_table *, const struct task_coll_view *);

/* share.c. Blocks of a vector of `bytes` cut into `parts`: the first bytes % parts of them are longer by one,
 * and all together are the vector. The bytes of blocks from..to-1. */
uint64_t task_coll_span(uint64_t bytes, uint64_t parts, uint64_t from, uint64_t to);
/* Bytes this task sends to (receives from) rank in a call with per-rank counts; an equal share when they are
 * unknown. */
uint64_t task_coll_send_count(const struct task_coll_view *, int32_t rank);
uint64_t task_coll_receive_count(const struct task_coll_view *, int32_t rank);

/* ring.c */
task_coll_function task_coll_bruck_allgather;

static inline int task_coll_log2_floor(uint32_t n)
{
    return 31 - __builtin_clz(n);
}
static inline int task_coll_log2_ceiling(uint32_t n)
{
    return n < 2 ? 0 : 32 - __builtin_clz(n - 1);
}
/* A round that does nothing, to be filled in. */
static inline void task_coll_round_clear(struct task_coll_round *round)
{
    *round = (struct task_coll_round){.receive_from = TASK_COLL_NOBODY, .send_to = TASK_COLL_NOBODY};
}
/* Sendrecv: both with one tag, then a fence. */
static inline void task_coll_round_exchange(struct task_coll_round *round, int32_t to, uint64_t send_bytes,
                                            int32_t from, uint64_t receive_bytes, int32_t tag)
{
    *round = (struct task_coll_round){from, to, tag, tag, send_bytes, receive_bytes, true};
}

#endif
