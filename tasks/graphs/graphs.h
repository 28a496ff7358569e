/* graphs.h - graphs as programs of MPI tasks, above whatever carries their messages; and programs as graphs.
 */
#pragma once

#include "tasks/mpi/collectives/collective.h"
#include "traces/traces.h"

/* The programs "trace" in its format "goal", and "schedule". */
extern const struct task_program_class task_goal_class, task_schedule_class;

/* ---- A program (op.h) written as a GOAL schedule: what its tasks would do, call by call, as
 * operations and dependencies; collectives as the messages of the algorithms chosen for them. */

/* What GOAL cannot say and was written otherwise; how often. */
struct goal_losses {
    uint64_t synchronous; /* sends that wait for the receiver however short they are: as standard ones */
    uint64_t probes,
        tests;         /* left out; tests: those of which nobody knows whether they completed something */
    uint64_t any_tags; /* receives that could take messages of other communicators, too */
};

/* Times are whole nanoseconds. The program is prepared with all its tasks as own ones, and read once. Refuses
 * by name what cannot be said: one-sided communication, waits for any of several requests, cancelled
 * requests, tasks of several threads. */
enum ker_status goal_write(FILE *, const struct task_program_class *, struct task_program *,
                           const struct task_coll_table *, struct goal_losses *, struct ker_error *);
