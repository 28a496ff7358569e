/* run.h - one run of the program, from the configuration to the results; private to marssim.c. */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "kernel/kernel.h"
#include "net/net.h"
#include "partition/partition.h"
#include "stats/stats.h"
#include "tasks/tasks.h"

#include <time.h>

#define MARSSIM_VERSION "0.1.0"

/* What the command line says. */
struct arguments {
    const char *file, *folder, *table;
    const char **overrides;
    int override_count;
    bool check, check_full, quiet, list, help_config;
    unsigned help; /* argp's flags; 0: not asked for */
    bool version, control;
};

/* One run, from beginning to end. */
struct simulation {
    const struct arguments *args;
    struct ker_comm *comm;
    struct ker_config *config;
    struct ker_error error;
    struct route_topology *topology;
    struct route_proof proof; /* --check */
    struct task_system *tasks;
    struct net_network *network;
    struct net_layout layout;
    struct part_result parts;
    struct ker_engine *engine;
    struct stats_progress *progress;
    struct stats_periods *periods;
    char *folder;
    uint64_t seed;
    struct ker_comm *working; /* the ranks that simulate; NULL: this one sleeps */
    int workers;
    bool yield;
    bool open_ended; /* synthetic traffic or jobs that start again: the run does not end by draining */
    bool watch; /* the end of the foreground jobs, or their deadlock, has to be looked for at the check times
                 */
    int64_t stuck; /* foreground jobs found to have deadlocked then */
    ker_time warmup, measure_to, end, interval, period, batch;
    double *batch_mean;
    int batches;
    uint64_t batch_count, batch_sum; /* delivered and their latency at the last batch's end */
    const char *end_reason;
    unsigned interrupted; /* by these requests (kernel/engine/request.h) */
    struct timespec started;
};

/* The run of these arguments; they stay the caller's. started: of the process. */
struct simulation *simulation_new(const struct arguments *, struct ker_comm *, struct timespec started);
void simulation_free(struct simulation *);
/* Collective: each step on all ranks; the first that fails ends the run with one message. Returns the exit
 * status: enum ker_status, or what a signal that ended the run makes of it. */
int simulation_run(struct simulation *);

/* run/report.c. Collective: what the run found, at its end `at`: the result files, and the summary on the
 * terminal. */
void simulation_report(struct simulation *, ker_time at);
/* run/check.c. What --check found, on the terminal. */
void simulation_check_report(const struct simulation *);

/* All option tables, NULL at the end; malloc'ed. */
const struct ker_option **simulation_option_tables(void);

#endif
