/* waits.h - what a task has waited for, by function (output.waits): a private part of state.h. */
#pragma once

#include "kernel/state/state.h"

struct ker_config;

/* By function. skew: over its collectives that block, from when the task entered until the last one known
 * did. */
struct task_waited_in {
    const char *function; /* NULL: waits of a thread for another */
    struct task_parts parts;
    ker_time skew, skew_most;
};

/* Messages that have come, of sizes from 2^(class - 1) to below 2^class; class 0: empty ones. time: in
 * transit. */
struct task_rate {
    uint32_t class;
    uint64_t messages, bytes, time;
};

struct task_waited {
    struct task_waited_in *in; /* in the order of the first waits */
    uint32_t count, room;
    struct task_cause *cause; /* by stream: what has made it ready; late OTHER: nothing known */
    uint32_t causes;
    struct task_rate *rate; /* by class, those that there are */
    uint32_t rates, rate_room;
    struct task_cause run; /* what has made a run continue that nobody waits for */
};

/* -- waits.c -- all but wanted, reserve and release only with mpi->waits */
bool task_waits_wanted(const struct ker_config *);
void task_waits_reserve(struct task_mpi *, uint32_t tasks);
void task_waits_release(struct task_mpi *);
/* The current stream, blocked, becomes ready now. */
void task_waits_keep(struct task_mpi *, const struct task_state *);
/* A run that nobody waits for can continue; it does so, as what has made it. */
void task_waits_run(struct task_mpi *, const struct task_state *);
void task_waits_run_on(struct task_mpi *, const struct task_state *, ker_time now);
/* The current stream was blocked. */
void task_waits_add(struct task_mpi *, const struct task_state *, ker_time begin, ker_time end);
/* What most of this wait of the current stream, which is over, was. */
void task_waits_mainly(const struct task_mpi *, const struct task_state *, struct stats_wait *);
/* A collective for which the current stream has waited is over. */
void task_waits_skew(struct task_mpi *, const struct task_state *, const struct task_collective_run *);
/* A message with payload has come. */
void task_waits_rate(struct task_mpi *, const struct task_state *, uint64_t bytes, ker_time time);
/* By name, each once, with what is not over until `end` (0: without); malloc'ed. */
struct task_waited_in *task_waits_sorted(struct task_mpi *, struct task_state *, ker_time end,
                                         uint32_t *count);
void task_waits_join(struct task_waited_in *to, const struct task_waited_in *from);
void task_waits_state(struct task_mpi *, struct task_state *, struct ker_chunk *);
