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
#pragma once

#include "traces/traces.h"

#define TASK_COLL_NOBODY (-2)
#define TASK_COLL_ANYBODY (-1)

struct task_coll_layout;
struct task_coll_combination;

/* What one task knows. */
struct task_coll_view {
    int32_t rank, size, root;
    int32_t first;          /* of an intercommunicator: tasks of its first group; else 0 */
    uint64_t bytes, bytes2; /* as in struct task_op */
    const uint64_t *send_bytes, *receive_bytes; /* per rank (or neighbour), or NULL */
    const uint32_t *held; /* where rank i stands for several, it has this many blocks: held[i + 1] - held[i];
                             NULL: each has one */
    const struct task_neighbours *neighbours; /* of collectives among neighbours */
    const struct task_coll_layout *layout;    /* NULL: where the tasks are does not matter, or is not known */
    const struct task_coll_combination
        *combination;   /* of the algorithms of levels; NULL: it is one algorithm */
    uint64_t segment;   /* trees cut the vector into segments of this many bytes; 0: they do not */
    uint32_t fanout;    /* of algorithms that have one: the radix, the number of chains */
    uint8_t collective; /* enum task_collective */
};
#define TASK_COLL_SEGMENTS_LOG2 20 /* at most this many segments; they are longer then */

/* What a task does through shared memory with a task of its node: raises a flag, which the other sees the
 * latency between their memories later; waits for one; or copies from the other's memory into its own, which
 * takes the same latency and then the time of a single copy. Flags are messages of no bytes, and what is read
 * is a message that the reader begins; neither costs an overhead. */
enum task_coll_shared {
    TASK_COLL_MESSAGES,
    TASK_COLL_RAISE,
    TASK_COLL_AWAIT,
    TASK_COLL_READ,
    TASK_COLL_ENTER, /* no shared memory: the task has entered a call that takes the algorithm's cost */
};

/* The receive is posted first, then the send is made. */
struct task_coll_round {
    int32_t receive_from; /* rank, ANYBODY or NOBODY */
    int32_t send_to;      /* rank or NOBODY */
    int32_t receive_tag, send_tag;
    uint64_t send_bytes, receive_bytes; /* receive_bytes: as far as known, for messages to people only */
    bool fence;                         /* everything so far must be complete before the next round */
    uint8_t shared;   /* enum task_coll_shared; not MESSAGES: with the rank receive_tag, and nobody else, by
                         send_tag; READ: receive_bytes */
    uint8_t phase;    /* of several algorithms (hierarchical.c): which, and the round with which it began */
    uint8_t combines; /* how often what is received is combined with what the task has */
    uint32_t base;
    /* Bytes that the task copies within its own memory: before it sends, and when the round is over. */
    uint64_t before, after;
};

/* false: there is no such round, the schedule has ended. round counts from 0 without gaps; what is filled in
 * holds the round before. */
typedef bool task_coll_function(const struct task_coll_view *, uint32_t round, struct task_coll_round *);

/* What formulas need: mpi.collectives.latency, .bandwidth, .table. */
struct task_coll_point {
    uint64_t bytes;
    ker_time time;
    uint32_t tasks, line; /* of the file */
    uint8_t collective;
};
struct task_coll_analytic {
    ker_time latency;
    uint64_t rate;
    struct task_coll_point *point; /* sorted */
    uint32_t points, room;
    ker_time least; /* that any call takes; 0: there is no formula */
};
#define TASK_COLL_LEAST 2 /* picoseconds: half of it is a lookahead */

/* Operations of a kind of the family "mpi.collectives"; ker_kind.of names the collectives that it can do. */
struct task_coll_algorithm {
    task_coll_function *round;
    bool segments;      /* it reads view.segment */
    const char *fanout; /* what view.fanout is called, "radix"; NULL: it is not read */
    uint32_t fanout_usual, fanout_least;
    /* Of those by a formula (analytic.c), how long after the last task has entered all continue, as far as
     * this one knows; and which keys say so, TASK_COLL_ASKS_... */
    ker_time (*cost)(const struct task_coll_analytic *, const struct task_coll_view *);
    uint8_t cost_asks;
};
#define TASK_COLL_ASKS_NOTHING 1
#define TASK_COLL_ASKS_LATENCY 2
#define TASK_COLL_ASKS_TABLE 4
#define TASK_COLL_ALGORITHM(function) (&(const struct task_coll_algorithm){.round = function})
#define TASK_COLL_TREE(function, name, usual, least)                                                         \
    (&(const struct task_coll_algorithm){(function), true, (name), (usual), (least)})
/* A row of the table, task_coll_kind_ROW: what `collectives` do by this algorithm. */
#define TASK_COLL_KIND(row, word, collectives, text, algorithm)                                              \
    const struct ker_kind task_coll_kind_##row = {                                                           \
        .name = (word), .of = (collectives), .meaning = (text), .operations = (algorithm)}
#define TASK_COLL_FANOUT_MOST 1000000

/* An algorithm and its parameters. */
struct task_coll_choice {
    const struct ker_kind *algorithm;
    uint32_t fanout;
    uint64_t segment;
};
static inline const struct ker_kind *task_coll_take(const struct task_coll_choice *choice,
                                                    struct task_coll_view *view)
{
    view->fanout = choice->fanout;
    view->segment = choice->segment;
    return choice->algorithm;
}

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
/* share.c: what a task copies of its own before the first round, whatever the algorithm: its own block of an
 * allgather or all-to-all, and of a gather or scatter at the root; the vector that the result is made in. */
uint64_t task_coll_own_copy(const struct task_coll_view *);
const char *task_coll_name(unsigned collective); /* "allreduce" */

/* From min_bytes and min_tasks on, this algorithm. Among the fitting rules of a collective the last one
 * counts. */
struct task_coll_rule {
    uint64_t min_bytes;
    int32_t min_tasks;
    uint8_t collective;
    bool inside;                    /* fits only where all tasks are on one node */
    bool total;                     /* min_bytes is of all blocks together */
    bool usual;                     /* a built-in one */
    struct task_coll_choice choice; /* algorithm NULL: that of the built-in rules */
};

/* ---- hierarchical.c: inside sockets, inside nodes, between nodes ---- */

#define TASK_COLL_LEVELS 2 /* below that between nodes: nodes, or sockets and nodes */

/* "binomial/ring": an algorithm for each level, the innermost first. */
struct task_coll_combination {
    struct ker_kind kind; /* its name is `name` */
    char name[160];
    uint32_t levels;
    bool shared;                                                          /* some level has shared memory */
    struct task_coll_choice up[TASK_COLL_LEVELS], down[TASK_COLL_LEVELS]; /* no algorithm: it has none */
    struct task_coll_choice top;
};
/* Has the algorithm no form for groups that are not alike, which leaders may stand for? */
bool task_coll_needs_alike(const struct ker_kind *algorithm);
/* Which collectives a level needs on the path to the leaders and back; false: it has no such algorithm. */
bool task_coll_goes_up(unsigned collective, uint8_t *by);
bool task_coll_goes_down(unsigned collective, uint8_t *by);
bool task_coll_has_levels(unsigned collective);
/* Begins a combination of this collective that has a name, levels and algorithms. */
void task_coll_combine(struct task_coll_combination *);

/* groups.c. Groups of a level are numbered by their lowest ranks, and so are their units: ranks, and on the
 * next level the groups of the one before. */
struct task_coll_level {
    uint32_t units, groups;
    uint32_t *group, *place; /* of each unit: its group, and which of this one's units it is */
    uint32_t *first, *unit;  /* of each group: its units are unit[first[group]] up to that of the next */
    uint32_t *lowest;        /* of each group: its lowest rank */
    uint32_t *held;          /* ranks in unit[0..i-1]; NULL: units are ranks */
};
struct task_coll_groups {
    uint32_t levels;
    struct task_coll_level level[TASK_COLL_LEVELS];
    uint32_t *held; /* ranks in the last level's groups 0..i-1 */
};
struct task_coll_layout {
    struct task_coll_groups by[TASK_COLL_LEVELS]; /* [0]: nodes; [1]: sockets, nodes */
};
/* Where a rank is. */
struct task_coll_spot {
    uint32_t node, socket;
};
void task_coll_layout_make(struct task_coll_layout *, const struct task_coll_spot *, uint32_t ranks);
void task_coll_layout_release(struct task_coll_layout *);
static inline bool task_coll_inside(const struct task_coll_layout *layout)
{
    return layout && layout->by[0].level[0].groups == 1;
}

/* shared.c */
bool task_coll_is_shared(const struct ker_kind *algorithm);

/* ---- */

#define TASK_COLL_COMBINATIONS 32
/* Stays where it is. Zeroed at first. */
struct task_coll_table {
    uint32_t count, room;
    struct task_coll_rule *rule;                   /* by collective */
    uint32_t end[TASK_COLL_COUNT];                 /* of each collective's rules */
    const struct ker_kind *first[TASK_COLL_COUNT]; /* where no rule fits */
    struct task_coll_combination combination[TASK_COLL_COMBINATIONS];
    uint32_t combinations;
    bool placed; /* some rule asks where tasks are: views have a layout */
    int shared;  /* the last collective with a rule that has shared memory; -1: none */
    struct task_coll_analytic analytic;
    uint32_t by_curve; /* collectives with a rule that asks for the file: bits */
};

/* The built-in rules, replaced for each collective by the key mpi.collectives.NAME where that is given, else
 * by those of the file mpi.collectives.rules that has some. Released even after an error. */
enum ker_status task_coll_table_init(struct task_coll_table *, const struct ker_config *, struct ker_error *);
void task_coll_table_release(struct task_coll_table *);
/* The algorithm for a call; the view gets its parameters. Depends only on what all tasks of the call agree
 * on. */
const struct ker_kind *task_coll_choose(const struct task_coll_table *, struct task_coll_view *);
/* The combination that an algorithm is; NULL: it is none. */
const struct task_coll_combination *task_coll_combination_of(const struct task_coll_table *,
                                                             const struct ker_kind *algorithm);

struct task_coll_table;
/* analytic.c: has the table a curve for it? The order of its points. */
bool task_coll_curve_there(const struct task_coll_analytic *, unsigned collective, uint32_t tasks);
int task_coll_point_compare(const void *a, const void *b);
/* curves.c: the text of a file, of this name in messages, zeroed at first. */
enum ker_status task_coll_points_parse(struct task_coll_analytic *, const char *file, const char *text,
                                       size_t bytes, struct ker_error *);
/* What the formulas of all rules need; keys that none asks for are refused. */
enum ker_status task_coll_analytic_read(struct task_coll_table *, const struct ker_config *,
                                        struct ker_error *);
/* What the rules of a table ask for. */
static inline unsigned task_coll_asks(const struct ker_kind *algorithm)
{
    return algorithm ? ((const struct task_coll_algorithm *)algorithm->operations)->cost_asks : 0;
}

/* collective.c: the algorithm of this name for a collective, with its usual parameters; the first one for it
 * when the name is NULL. */
struct task_coll_choice task_coll_find(const struct ker_config *, unsigned collective, const char *name);
/* named.c: what a key's text stands for, "ring", "knomial(radix=8, segment=64 KiB)", "linear/ring", which it
 * changes; combinations are kept in the table. */
enum ker_status task_coll_named(struct task_coll_choice *, struct task_coll_table *,
                                const struct ker_config *, const char *key, unsigned collective, char *text,
                                struct ker_error *);
/* "..." is no rule: with all that would be right. */
enum ker_status task_coll_no_rule(const struct ker_config *, const char *key, unsigned collective,
                                  const char *text, struct ker_error *);

/* tuned.c: the rules of a file of Open MPI's component tuned, of this name in messages. */
struct task_coll_rules {
    struct task_coll_rule *rule;
    uint32_t count, room;
};
enum ker_status task_coll_tuned_parse(struct task_coll_rules *, const struct ker_config *, const char *name,
                                      const char *text, size_t bytes, struct ker_error *);

/* share.c. Blocks of a vector of `bytes` cut into `parts`: the first bytes % parts of them are longer by one,
 * and all together are the vector. The bytes of blocks from..to-1. */
uint64_t task_coll_span(uint64_t bytes, uint64_t parts, uint64_t from, uint64_t to);
/* Bytes this task sends to (receives from) rank in a call with per-rank counts; an equal share when they are
 * unknown. */
uint64_t task_coll_send_count(const struct task_coll_view *, int32_t rank);
uint64_t task_coll_receive_count(const struct task_coll_view *, int32_t rank);
uint64_t task_coll_blocks_held(const struct task_coll_view *, uint32_t from, uint32_t count);
/* Bytes of the blocks of `count` <= size ranks from `from` on, round the end. */
static inline uint64_t task_coll_blocks(const struct task_coll_view *v, uint32_t from, uint64_t count)
{
    return __builtin_expect(!v->held, 1) ? v->bytes * count : task_coll_blocks_held(v, from, (uint32_t)count);
}

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
static inline void task_coll_round_shared(struct task_coll_round *round, enum task_coll_shared what,
                                          int32_t with, int32_t tag)
{
    *round = (struct task_coll_round){
        .receive_from = TASK_COLL_NOBODY, .send_to = TASK_COLL_NOBODY, .shared = (uint8_t)what};
    round->receive_tag = with;
    round->send_tag = tag;
}
