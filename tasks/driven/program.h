/* program.h - message-driven programs: objects whose blocks run when their messages have come.
 *
 * A program has objects, each of which does its iterations one after the other. In every iteration it runs
 * each of its blocks: a block is a piece of sequential execution (of one entry method) that needs a number of
 * messages and of the object's other blocks, and sends messages to blocks of other objects at offsets inside
 * itself. The words are those of Charm++ (objects, entry methods) and of TraceR (B. Acun et al., "Preliminary
 * evaluation of a parallel trace replay tool for HPC network simulations", 2015: sequential execution blocks,
 * offsets, backward dependencies).
 *
 * A program is a set of functions of (object, block, iteration), so that a generator needs no memory for its
 * graph. Times are those of the traced machine. A task of the job is one core, which has a scheduler.
 */
#pragma once

#include "traces/traces.h"

#define DRIVEN_NOWHERE UINT32_MAX

struct driven_entry {
    const char *name;
    int32_t priority; /* of its blocks among those that are ready: the lowest runs first */
};

struct driven_block {
    ker_time time;
    uint32_t entry;
    uint32_t messages;  /* it needs in this iteration */
    uint32_t after;     /* blocks of its object that must be done before */
    bool each;          /* it runs for each message by itself; done when all have come and run */
    uint32_t sends;     /* each time that it runs */
    uint32_t ahead;     /* of them go to the next iteration; those of the last one are not sent */
    uint32_t followers; /* blocks of its object that need it */
    uint32_t moves;     /* when it is done its object moves to this task; DRIVEN_NOWHERE: it stays */
};

struct driven_send {
    ker_time at; /* from the block's begin, <= its time; in increasing order in a block */
    uint64_t bytes;
    uint32_t object, block;
    uint32_t ahead; /* 0: the receiver's same iteration, 1: its next one */
};

enum driven_balance { DRIVEN_NEIGHBOUR, DRIVEN_ROTATE };

struct driven_class;

/* What every program has; it begins the struct of its kind. */
struct driven_program {
    const struct driven_class *class;
    uint32_t tasks, objects, entries, iterations;
    const struct driven_entry *entry;
    uint32_t balance_every; /* iterations between two balance steps; 0: none */
    enum driven_balance balance;
};

/* Blocks and messages fit each other: a block gets as many messages as it needs, in every iteration. */
struct driven_class {
    uint32_t (*home)(const struct driven_program *, uint32_t object); /* the task where it begins */
    uint32_t (*blocks)(const struct driven_program *, uint32_t object);
    uint64_t (*bytes)(const struct driven_program *, uint32_t object); /* of the object when it moves */
    void (*block)(const struct driven_program *, uint32_t object, uint32_t block, uint32_t iteration,
                  struct driven_block *);
    void (*send)(const struct driven_program *, uint32_t object, uint32_t block, uint32_t index,
                 struct driven_send *);
    uint32_t (*follower)(const struct driven_program *, uint32_t object, uint32_t block, uint32_t index);
    /* For messages: into a buffer of this many bytes, which is returned. *line: of its file, 0: none. */
    const char *(*name)(const struct driven_program *, uint32_t object, char *buffer, size_t room);
    const char *(*label)(const struct driven_program *, uint32_t object, uint32_t block, char *buffer,
                         size_t room, uint32_t *line);
};

/* A job that runs one has a class with `driven` set and this as its program. */
static inline const struct driven_program *driven_program(const struct task_program *program)
{
    return (const struct driven_program *)program;
}

/* ---- for the kinds of programs ---- */

/* What no such program does is refused: jobs[].restart. */
enum ker_status driven_refuse(const struct ker_config *, const char *path, struct ker_error *);
uint32_t driven_tasks(const struct task_program *);
const struct task_comm *driven_comms(const struct task_program *, int32_t *count); /* none */
enum ker_status driven_prepare(struct task_program *, const uint32_t *own_tasks, uint32_t count,
                               struct ker_error *);
