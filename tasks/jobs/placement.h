/* placement.h - which task of a job runs on which node. Private to tasks/; jobs.c puts several jobs side by
 * side.
 *
 * A job has a range of nodes. Sequential, strided and random placements are closed forms in both directions,
 * whatever the number of tasks; a file is a table of 12 bytes a task. Tasks are dealt to nodes per_node at a
 * time.
 */
#pragma once

#include "tasks/jobs/allocation.h"
#include "tasks/jobs/jobs.h"
#include "tasks/traffic/traffic.h"

struct task_placement;
struct task_fold;

/* Operations of a kind of the family "jobs[].placement". */
struct task_placement_law {
    /* Place 0..nodes-1 of the range that seat 0..nodes-1 takes, and back. NULL: from a file. */
    uint32_t (*place)(const struct task_placement *, uint32_t seat);
    uint32_t (*seat)(const struct task_placement *, uint32_t place);
    task_allocation_order *order; /* of free nodes (allocation.h); NULL: ascending */
};

uint32_t task_placement_seat(const struct task_placement *, uint32_t seat); /* a law: seat after seat */
extern const struct task_placement_law task_law_sequential, task_law_strided, task_law_random;

enum task_group { TASK_GROUP_GROUP, TASK_GROUP_BOARD, TASK_GROUP_SWITCH }; /* jobs[].group */

struct task_placement {
    const struct task_placement_law *law;
    uint32_t tasks, per_node;
    const struct node_kinds *kinds; /* NULL: the range is one of all nodes */
    uint32_t kind;                  /* else of the nodes of this kind */
    uint32_t first, nodes;          /* range */
    uint32_t stride;
    bool share;             /* nodes, with others that do (jobs[].share) */
    enum task_group group;  /* of by_group, scattered */
    struct task_fold *fold; /* of torus (fold.h), else NULL */
    enum { PLACED_EACH, PLACED_CORES, PLACED_THREADS } fill;
    const struct node_kinds *all_kinds; /* of the system; NULL: one */
    uint32_t dealt;                     /* tasks for which there was room */
    uint32_t *list, listed; /* while it is placed: free nodes in the order in which they are taken */
    struct task_permutation permutation;
    /* From a file, or with jobs[].fill: */
    bool has_cores; /* the file names cores */
    struct task_place
        *table;        /* of each task; the core is its number among the job's tasks there when !has_cores */
    uint32_t *by_node; /* tasks in the order of (node, task) */
};

extern const struct ker_kinds task_placements;
/* Keys of placements that take a range of nodes: ker_kind.options. */
extern const struct ker_option task_range_options[];

/* Does the job name its nodes (a file, a range), rather than take free ones? */
bool task_placement_named(const struct ker_config *, uint32_t job);
/* Reads jobs[job].placement and its keys for a job of `tasks` tasks, on nodes that are free where it names
 * none. The allocation and the kinds of nodes stay the caller's. */
enum ker_status task_placement_init(struct task_placement *, const struct ker_config *, uint32_t job,
                                    uint32_t tasks, const struct task_allocation *, uint64_t seed,
                                    struct ker_error *);
/* Each task is a node, from this one on; returns how many. */
uint32_t task_placement_each(struct task_placement *, uint32_t first, uint32_t tasks);
void task_placement_release(struct task_placement *);

/* core: the task's number among the job's tasks on that node, or the one the file gives. */
struct task_place task_placement_of(const struct task_placement *, uint32_t task);
uint32_t task_placement_count(const struct task_placement *, uint32_t node);
uint32_t task_placement_place(const struct task_placement *,
                              uint32_t place); /* the node at this of its range */
uint32_t task_placement_node(const struct task_placement *, uint32_t seat);
uint32_t task_placement_room(const struct task_placement *, uint32_t node); /* tasks that it puts on a node */
/* Behind a table that was made otherwise: sorts the tasks by node, and numbers them there unless it has
 * cores. */
void task_placement_index(struct task_placement *);
/* The k-th of them, in increasing order; k < task_placement_count(). */
uint32_t task_placement_task(const struct task_placement *, uint32_t node, uint32_t k);

/* One node, or node and core, per line; # begins a comment; empty lines do not count. Either all lines name a
 * core or none. `name` stands for the file in messages. Sets places (malloc'ed), count and has_cores. */
enum ker_status task_placement_parse(const char *name, const char *text, size_t bytes, uint32_t nodes,
                                     struct task_place **places, uint32_t *count, bool *has_cores,
                                     struct ker_error *);
/* The same from a file; all of tasks, no more and no fewer. */
enum ker_status task_placement_file(struct ker_inputs *, const char *path, uint32_t nodes,
                                    struct task_place **places, uint32_t *count, bool *has_cores,
                                    struct ker_error *);
