/* loggops.h - processes under the LogGOPS model, in place of nodes and a network of packets.
 *
 * The programs are graphs of operations (tasks/graphs/graph.h). Processes are numbered through all jobs and
 * spread over the ranks in that order. The first part is what run/ calls.
 */
#pragma once

#include "kernel/base/base.h"
#include "net/net.h"
#include "nodes/nodes.h"

/* ---- The parameters of LogGOPS, of its own model (model.h) and of endpoints above the packet
 * network (tasks/mpi/endpoint.c). */

struct ker_config;

/* Time per byte, in picoseconds and millionths of them. */
struct loggops_rate {
    uint64_t whole, millionths;
};

enum loggops_rendezvous { LOGGOPS_INSTANT, LOGGOPS_READ, LOGGOPS_WRITE };

/* What LogGOPSim does wrong, for comparisons (loggops.faults). */
#define LOGGOPS_UNTIMED 1u    /* dependencies between cpus take no time, and may lead into the past */
#define LOGGOPS_ZERO_WRAPS 2u /* of 0 bytes all but the first are -1 */
#define LOGGOPS_OWN_SIZES 4u  /* a receive that finds its message decides by its own size, cpu and adapter */
#define LOGGOPS_FAULTS 3
extern const char *const loggops_faults[LOGGOPS_FAULTS]; /* their names, by bit */

struct loggops_parameters {
    ker_time latency, overhead, gap;    /* L, o, g */
    struct loggops_rate per_byte, busy; /* G of the network, O of the cpu */
    uint64_t eager;                     /* S: longer messages wait until they are matched */
    enum loggops_rendezvous rendezvous;
    unsigned faults;
};

/* All but the first byte. */
static inline ker_time loggops_bytes(const struct loggops_rate *rate, uint64_t bytes)
{
    uint64_t more = bytes ? bytes - 1 : 0, time = more * rate->whole;
    if (__builtin_expect(rate->millionths != 0, 0))
        time += (uint64_t)((unsigned __int128)more * rate->millionths / 1000000);
    return (ker_time)time;
}

enum ker_status loggops_rate_read(struct loggops_rate *, const struct ker_config *, const char *key,
                                  struct ker_error *);
enum ker_status loggops_settings(struct loggops_parameters *, const struct ker_config *, struct ker_error *);

struct loggops_system;
struct task_jobs;

/* ---- what run/ calls ---- */

bool task_loggops_wanted(const struct ker_config *);
/* What runs: bits. */
#define TASK_LOGGOPS_SCHEDULES 1u /* schedules in GOAL, which run by themselves */
#define TASK_LOGGOPS_PROGRAMS 2u  /* programs of MPI, as above a network */
unsigned task_loggops_kinds(const struct ker_config *);
/* Reads the keys, and takes the jobs from the task system, which outlives this; to be freed after a failure,
 * too. topology: for places; NULL: none. forks: it continues from a run in which other things may have been
 * collected. */
enum ker_status task_loggops_new(struct loggops_system **, const struct ker_config *,
                                 const struct route_topology *, const struct task_jobs *, bool forks,
                                 struct ker_error *);
void task_loggops_free(struct loggops_system *); /* takes NULL */
/* Behind task_loggops_read: programs of MPI have these nodes on this rank, as filled in by
 * task_system_attach.
 */
uint32_t *task_loggops_nodes(const struct loggops_system *, uint32_t *count); /* malloc'ed */
void task_loggops_members(struct loggops_system *, void *const *state, const struct node_services *);
uint32_t task_loggops_processes(const struct loggops_system *);
/* Reads the programs of those processes that live on this rank: one of this many that simulate, or, if they
 * cannot be divided (task_loggops_alone), rank 0; others have none. */
enum ker_status task_loggops_read(struct loggops_system *, uint32_t rank, uint32_t ranks, struct ker_inputs *,
                                  struct ker_error *);
/* Before that: tasks notify each other beside the model, in this time at least; 0: they do not. */
void task_loggops_direct(struct loggops_system *, ker_time least);
bool task_loggops_alone(const struct loggops_system *);
/* What the run will cost on this rank, from counts of operations: about this many. */
struct task_loggops_estimate {
    uint64_t events, messages, bytes; /* bytes: of memory */
    double message_bytes;
};
#define TASK_LOGGOPS_EVENT_NS 100 /* of a processor, for an event */
struct task_loggops_estimate task_loggops_estimate(const struct loggops_system *);
/* For the engine: components of this rank, and the least time from one to another. */
uint32_t task_loggops_components(const struct loggops_system *);
ker_time task_loggops_lookahead(const struct loggops_system *);
void task_loggops_attach(struct loggops_system *, struct ker_engine *);
/* Of programs: what they have sent and received on this rank, a message as a packet. */
struct net_totals task_loggops_totals(const struct loggops_system *);
/* Saved state of this rank's processes, and who loads it (sums: this rank takes the counts of all), into
 * processes that have been attached, and of which task_loggops_restart has dropped what they had. */
#define LOGGOPS_STATES 2
void task_loggops_save(struct loggops_system *, struct ker_state_writer *);
void task_loggops_restart(struct loggops_system *);
void task_loggops_loaders(struct loggops_system *, bool sums,
                          struct ker_state_loader loaders[LOGGOPS_STATES]);
/* A fork, when everything has been loaded: processes that were not there before start, now or later. */
void task_loggops_forked(struct loggops_system *, ker_time at);
ker_engine_find task_loggops_find; /* the context is the struct loggops_system */
/* Tasks of foreground schedules on this rank that have not finished. */
uint64_t task_loggops_unfinished(const struct loggops_system *);
/* Operations and messages that were handled on this rank. */
uint64_t task_loggops_events(const struct loggops_system *);
/* Collective over all ranks, when the run has ended: what it says of jobs, on rank 0, which also writes
 * tasks.csv if wanted (key: as in stats_writer_open). */
json_t *task_loggops_report(struct loggops_system *, const struct route_topology *, struct ker_comm *,
                            const struct stats_folder *, bool tasks, const char *key, struct ker_error *);
/* Collective: of a run of schedules as LogGOPSim has them, how often each of loggops.faults would have made a
 * difference, on rank 0: finish times may differ from that tool's. NULL: none. */
json_t *task_loggops_unlike(const struct loggops_system *, struct ker_comm *);
/* Collective, between two instants, where there are jobs in the background: how many foreground schedules
 * have not finished, and nothing of them moves any more. From then on task_loggops_stuck speaks of these. */
uint32_t task_loggops_halted(struct loggops_system *, struct ker_comm *);
/* Likewise, when the run has drained: what foreground schedules have left undone, malloc'ed, on rank 0;
 * *count: how much, 0: nothing. */
char *task_loggops_stuck(struct loggops_system *, struct ker_comm *, uint64_t *count);

/* ---- what the tasks' wiring calls ---- */

/* The job of a process. */
uint32_t loggops_job_of(const struct loggops_system *, uint32_t process);

/* What the MPI model calls where processes run programs of MPI. */
struct task_mpi_outside;
void loggops_outside(struct task_mpi_outside *);

/* Adds to the MPI model's table of tasks those of schedules that live on this rank, what they have done by
 * `at`; they have been recorded. */
struct stats_table;
void loggops_results(struct loggops_system *, struct stats_table *, ker_time at);
/* What they do is recorded, where that is wanted: timelines; messages by pairs of tasks, which are numbered
 * through all jobs. At the end of the run. */
struct stats_timeline;
struct stats_matrix;
void loggops_record_into(struct loggops_system *, struct stats_timeline *);
void loggops_pairs_into(struct loggops_system *, struct stats_matrix *);
void loggops_timeline_end(struct loggops_system *, ker_time end);

extern const struct ker_option loggops_options[];       /* network.model, loggops.* */
extern const struct ker_option loggops_class_options[]; /* loggops.classes[].* */
extern const struct ker_option loggops_noise_options[]; /* loggops.noise.* */
