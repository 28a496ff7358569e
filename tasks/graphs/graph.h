/* graph.h - programs as graphs of operations: each task has sends, receives and calculations, and says which
 * of them come before which. What GOAL schedules are read into.
 *
 * An operation may begin when all it depends on has happened: another one of the same task is done, or has
 * begun. Operations with nothing before them begin at once.
 */
#pragma once

#include "kernel/base/base.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define GRAPH_ANY UINT32_MAX /* source or tag; of a send's tag: it is received by any */

/* In the order in which operations of a task that become free in the same instant are taken. */
enum graph_kind { GRAPH_SEND, GRAPH_RECEIVE, GRAPH_CALCULATION };

struct graph_op {
    uint64_t amount;    /* bytes of a message; picoseconds of a calculation */
    uint32_t peer, tag; /* of messages */
    uint32_t before;    /* dependencies to be met; the same one may count several times */
    uint32_t first;     /* in struct graph_task.dependent: operations that wait for this one to begin ... */
    uint32_t on_begin, on_done; /* this many; behind them those that wait for it to be done */
    uint32_t line;              /* of the file; of binary files, which have none, the operation's number */
    uint8_t kind, cpu, nic;     /* enum graph_kind */
};

struct graph_task {
    uint32_t ops;
    struct graph_op *op;
    uint32_t *dependent; /* numbers of operations, in the order in which the file names them */
};

/* The tasks first .. first + count - 1 of a program; memory is its own. */
struct graph {
    uint32_t tasks; /* of the whole program */
    uint32_t first, count;
    struct graph_task *task;
    uint32_t cpus, nics; /* of all tasks: the largest number that is used, and 1 */
    uint64_t longest;    /* bytes: the largest message of all tasks, sent or received */
    bool numbered;       /* graph_op.line is the number of the operation within its task, from 0 */
};
void graph_free(struct graph *); /* takes NULL */

/* How a file is to be read. */
struct graph_form {
    const char *path;          /* of the job, "jobs[0]", for messages */
    struct ker_inputs *inputs; /* to be registered with; may be NULL */
    uint64_t unit;             /* picoseconds of a calculation of 1 */
    const uint32_t *list;      /* the tasks to keep, ascending, `count` of them, whatever `first`; or NULL */
};
/* GOAL schedules, LogGOPSim's text or the binary form of it, which the file's first bytes distinguish. */
bool graph_goal_known(const char *file); /* it begins like one */
/* The number of tasks, from the file's beginning. */
enum ker_status graph_goal_tasks(const char *file, uint32_t *tasks, struct ker_error *);
/* Reads and checks all of the file, and keeps the tasks `first` .. `first + count - 1`. */
enum ker_status graph_goal_read(struct graph **, const char *file, const struct graph_form *, uint32_t first,
                                uint32_t count, struct ker_error *);
/* A whole program as GOAL's text, with times in `unit` picoseconds, a power of ten; or its beginning and each
 * task by itself. */
void graph_goal_write(FILE *, const struct graph *, uint64_t unit);
void graph_goal_write_head(FILE *, uint32_t tasks);
void graph_goal_write_task(FILE *, uint32_t number, const struct graph_task *, uint64_t unit);

/* ---- The labels of one rank's operations. */

/* Zeroed: none. */
struct graph_labels {
    struct ker_table table;
    struct ker_bytes text;
};

/* A label that is there already keeps its operation. */
void graph_labels_add(struct graph_labels *, const char *label, size_t length, uint32_t op);
bool graph_labels_find(const struct graph_labels *, const char *label, size_t length, uint32_t *op);
/* Costs no more than adding what was there did. */
void graph_labels_clear(struct graph_labels *);
void graph_labels_release(struct graph_labels *);
