/* pattern.h - programs whose operations are computed when they are asked for: the patterns of schedgen, the
 * generator of LogGOPSim (T. Hoefler, T. Schneider, A. Lumsdaine, HPDC 2010), by their names there.
 *
 * A pattern is a few numbers, however many tasks it has. An operation is a function of the pattern, the task
 * and the operation's number in it, and so are the operations that wait for it. Everything is done by one cpu
 * and one adapter, and operations wait for others to be done, never to begin.
 */
#pragma once

#include "kernel/config/config.h"
#include "tasks/graphs/graph.h"

struct graph_pattern {
    const struct graph_pattern_class *class;
    uint32_t tasks, root;
    uint64_t bytes;   /* jobs[].datasize */
    uint64_t longest; /* message of all */
    uint64_t unit;    /* picoseconds of a calculation of 1 */
    double factor;    /* calculations take this many times as long */
    /* jobs[].nb: calculations in front of the task's own operations, one after the other, of `piece` units on
     * this cpu. Own operations do not wait for them, and are counted on from there. */
    uint32_t front;
    uint8_t front_cpu;
    uint64_t piece;
    /* What some patterns have besides. */
    uint32_t rounds, nway;
    uint64_t segment;
    ker_time gap;   /* < 0: none */
    uint32_t *size; /* of messages, by sender and receiver */
    void *own;
};

/* Operations of a kind of the family "jobs[].pattern". */
struct graph_pattern_class {
    /* Reads its own keys; `tasks`, and what all have, is there. NULL: there is nothing to read or check. */
    enum ker_status (*open)(struct graph_pattern *, const struct ker_config *, const char *path,
                            uint64_t seed, struct ker_error *);
    bool sized; /* open() says how many tasks there are: jobs[].commsize is none of its keys */
    /* How many operations a task has. */
    uint32_t (*ops)(const struct graph_pattern *, uint32_t task);
    /* One of them: kind, amount, peer, tag, before and on_done are filled in where they are not 0. */
    void (*op)(const struct graph_pattern *, uint32_t task, uint32_t number, struct graph_op *);
    /* Which operation waits for it, `index` below its on_done: in the order in which a schedule names them.
     * NULL: none ever does. */
    uint32_t (*dependent)(const struct graph_pattern *, uint32_t task, uint32_t number, uint32_t index);
    bool first_only; /* no operation but a task's first is free from the beginning */
};
/* A row of the table: the kind ROW, graph_pattern_ROW, with its keys and operations. */
#define GRAPH_PATTERN(row, text, keys, ...)                                                                  \
    const struct ker_kind graph_pattern_##row = {.name = #row,                                               \
                                                 .meaning = (text),                                          \
                                                 .operations =                                               \
                                                     &(const struct graph_pattern_class){__VA_ARGS__},       \
                                                 .options = (keys)}

extern const struct ker_kinds graph_patterns;
extern const struct ker_option graph_pattern_options[]; /* jobs[].pattern */
extern const struct ker_option graph_unit_options[];    /* jobs[].time_unit */

extern const struct ker_option graph_front_options[]; /* jobs[].nb, .nb_poll, .cpu */

/* Of the job at path "jobs[0]"; to be closed whatever it returns. scaled: calculations have the length that
 * jobs[].processor_factor gives them. */
enum ker_status graph_pattern_open(struct graph_pattern **, const struct ker_config *, const char *path,
                                   uint64_t seed, bool scaled, struct ker_error *);
void graph_pattern_close(struct graph_pattern *); /* takes NULL */

static inline uint32_t graph_pattern_ops(const struct graph_pattern *p, uint32_t task)
{
    return p->front + p->class->ops(p, task);
}
/* Of those in front. */
void graph_pattern_front(const struct graph_pattern *, uint32_t number, struct graph_op *);
static inline void graph_pattern_op(const struct graph_pattern *p, uint32_t task, uint32_t number,
                                    struct graph_op *op)
{
    *op = (struct graph_op){.line = number};
    if (number < p->front)
        graph_pattern_front(p, number, op);
    else
        p->class->op(p, task, number - p->front, op);
}
static inline uint32_t graph_pattern_dependent(const struct graph_pattern *p, uint32_t task, uint32_t number,
                                               uint32_t index)
{
    return number < p->front ? number + 1 : p->front + p->class->dependent(p, task, number - p->front, index);
}

static inline uint32_t graph_pattern_cpus(const struct graph_pattern *p)
{
    return p->front ? p->front_cpu + 1u : 1;
}

/* How many of a task's `ops` operations, the first ones, may be free from the beginning. */
static inline uint32_t graph_pattern_first(const struct graph_pattern *p, uint32_t ops)
{
    return p->class->first_only && ops > p->front ? p->front + 1 : ops;
}

/* The tasks of a list, ascending, or, without one, first .. first + count - 1, as if they had been read from
 * a file (graph_free). */
struct graph *graph_pattern_graph(const struct graph_pattern *, const uint32_t *list, uint32_t first,
                                  uint32_t count);
/* All tasks as GOAL's text, with times in `unit` picoseconds, a power of ten; in memory one at a time. */
void graph_pattern_write(FILE *, const struct graph_pattern *, uint64_t unit);

/* ---- for the patterns ---- */

static inline void graph_pattern_message(struct graph_op *op, enum graph_kind kind, uint64_t bytes,
                                         uint64_t peer)
{
    op->kind = (uint8_t)kind;
    op->amount = bytes;
    op->peer = (uint32_t)peer;
}
/* A calculation of this many units. */
void graph_pattern_calculation(const struct graph_pattern *, struct graph_op *, uint64_t units);
/* Tasks 0 and root change places: how patterns with a root count tasks, and back. */
static inline uint32_t graph_pattern_swap(const struct graph_pattern *p, uint32_t task)
{
    return task == 0 ? p->root : task == p->root ? 0 : task;
}
/* The task `by` places further, or back, by < tasks. */
static inline uint32_t graph_pattern_up(const struct graph_pattern *p, uint32_t task, uint32_t by)
{
    return (uint32_t)(((uint64_t)task + by) % p->tasks);
}
static inline uint32_t graph_pattern_down(const struct graph_pattern *p, uint32_t task, uint32_t by)
{
    return (uint32_t)(((uint64_t)task + p->tasks - by) % p->tasks);
}
/* Powers of two below the number of tasks: rounds of what doubles in each. */
static inline uint32_t graph_pattern_doublings(const struct graph_pattern *p)
{
    return p->tasks > 1 ? 32 - (uint32_t)__builtin_clz(p->tasks - 1) : 0;
}

/* Keys of several patterns: ker_kind.options. */
extern const struct ker_option graph_size_options[];    /* jobs[].commsize */
extern const struct ker_option graph_bytes_options[];   /* jobs[].datasize */
extern const struct ker_option graph_root_options[];    /* jobs[].root */
extern const struct ker_option graph_segment_options[]; /* jobs[].segmentsize */
