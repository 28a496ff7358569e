/* stages.h - inside run/: the state of a run, and what its stages and check times do to it.
 *
 * A stage is a function on all ranks. What goes wrong it leaves in run->error, and returns; it never asks
 * other ranks whether they have failed: run.c does that, once, behind every stage.
 */
#pragma once

#include "run/run.h"

/* Why a run ends (ends.c). */
enum run_end {
    RUN_END_NONE,
    RUN_END_CONFIDENCE,
    RUN_END_PACKETS,
    RUN_END_JOBS,
    RUN_END_DEADLOCK,
    RUN_END_TIME,
    RUN_END_DRAINED,
    RUN_END_INTERRUPTED,
    RUN_END_MEMORY,
};

#define RUN_LOOKS 32

struct run;

struct run_stage {
    const char *name;
    void (*perform)(struct run *);
    bool (*wanted)(const struct run *); /* NULL: always */
    enum {
        RUN_READS = 1, /* files, which must be the same on all ranks */
        RUN_LAST = 2,  /* a run that wants it ends with it */
        RUN_JOINS = 4, /* no agreement behind it: the next stage follows even if this one failed */
    } how;
};

/* What a value of network.model makes of a run (model.c): nodes above a carrier, whatever it is, or processes
 * of LogGOPS in their place. */
struct run_model {
    const char *name;               /* of the kind; NULL: of all that have none of their own */
    const struct run_stage *stages; /* behind the first; name NULL at the end */
    struct net_totals (*totals)(const struct run *);
    /* Local to this rank: tasks of foreground jobs that the task system does not know of. NULL: none. */
    uint64_t (*unfinished)(const struct run *);
    /* Collective over the working ranks: how many of these jobs have deadlocked. NULL likewise. */
    uint32_t (*halted)(struct run *);
    /* The run has drained, and nothing was left over; lost: but for what faults have taken. Is all there that
     * should be? A static text of what is not, or NULL. May be NULL. */
    const char *(*conserved)(const struct run *, bool lost);
    void (*complete)(struct run *); /* before state is saved or loaded; may be NULL */
    void (*save)(struct run *, struct ker_state_writer *);
    /* Resume: drops what the model has; who loads it, how many these are, and by
     * what the engine finds components. */
    void (*restart)(struct run *);
    int (*loading)(struct run *, struct ker_engine_loading *, struct ker_state_loader *);
    void (*loaded)(struct run *, struct ker_engine_loading *); /* NULL: there is nothing to give back */
    void (*forked)(struct run *);                              /* all has been loaded */
    void (*free)(struct run *);
};
#define RUN_MODEL_STATES (NET_STATES + NODE_STATES) /* loaders, at most */
extern const struct run_model run_nodes_model, run_loggops_model;
const struct run_model *run_model_of(const struct ker_config *);

struct run {
    const struct run_model *kind;
    const struct run_arguments *args;
    struct ker_comm *comm;
    bool control; /* the rank that speaks and writes */
    struct ker_config *config;
    struct ker_error error;
    struct route_topology *topology;
    struct route_proof proof;         /* --check */
    struct node_services services;    /* what runs on the nodes */
    struct node_service_list *listed; /* those of them that services[] names */
    struct node_kinds *kinds;         /* what they are made of; NULL: each task is a node */
    struct node_model model;          /* what they cost */
    struct node_noise noise;          /* what takes their cores away */
    struct node_system *nodes;
    struct task_system *tasks;
    struct loggops_system *loggops;    /* network.model = "loggops": instead of nodes and network */
    bool programs;                     /* then: there are programs of MPI, not schedules only */
    const struct net_carrier *carrier; /* below nodes; NULL: there are none */
    struct net_network *network;
    struct part_groups groups; /* all components there are */
    struct part_layout layout;
    struct part_result parts;
    struct ker_engine *engine;
    struct stats_progress *progress;
    struct stats_periods *periods;
    struct stats_hdf5 *hdf5;           /* NULL: not wanted, or not the control rank */
    struct stats_series_files *series; /* NULL: not wanted; open only where a rank simulates */
    struct stats_timeline *timeline;   /* of the ranks that simulate; NULL: none is wanted */
    struct run_batches *batches;
    struct run_skip *skip;     /* NULL: run.skip.enabled is not given */
    struct run_status *status; /* NULL: nobody has asked */
    struct run_checkpoints *checkpoints;
    struct run_resumed *resumed; /* NULL: the run began at time 0 */
    struct stats_folder folder;  /* its path is allocated */
    int lock[2];                 /* of the folder, and of run.checkpoint.dir; -1: none */
    bool marked;                 /* the control rank: it says that this run has begun */
    char id[17];                 /* of this run, no other's: drawn by chance, on the control rank */
    uint64_t seed;
    struct ker_comm *working; /* the ranks that simulate; NULL: this one sleeps */
    int workers;
    bool yield;
    bool alone;      /* one rank is faster, as a trial has shown or the tasks are few: it simulates alone */
    bool lost;       /* this was the trial */
    bool moved;      /* likewise, and its state is saved for that rank */
    bool open_ended; /* synthetic traffic or jobs that start again: the run does not end by draining */
    bool watch;      /* the end of the foreground jobs, or their deadlock, is looked for at check times */
    ker_time warmup, measure_to, end, interval, period, batch;
    ker_time looks[RUN_LOOKS]; /* at source queues (check_times.c) */
    uint32_t look_count;
    ker_time ended_at;
    enum run_end ended_by;
    int64_t stuck;        /* foreground jobs found to have deadlocked at a check time */
    int64_t halted;       /* and foreground schedules under LogGOPS */
    unsigned interrupted; /* by these requests (kernel/engine/request.h) */
    int64_t started_ns;
    struct run_span {
        int64_t begun, cpu_begun, wall, cpu; /* nanoseconds; begun: 0: not yet */
    } simulated; /* from the first step of building to the end of the last epoch, a trial before it included
                  */
};

/* ---- the stages, in their order; what each does is in the table of run.c ---- */

void run_config_read(struct run *);
/* Does every rank have the routes of its own switches only? */
bool run_routes_divided(const struct run *);
void run_topology_make(struct run *);
void run_table_write(struct run *);
void run_proof_make(struct run *);
void run_seats_take(struct run *);
void run_seats_leave(struct run *);
bool run_adapts(const struct run *);
void run_tasks_read(struct run *);
enum ker_status run_ends_check(struct run *); /* what the keys say of how the run ends */
void run_network_read(struct run *);
void run_partition_make(struct run *);
void run_layout_make(struct run *);
void run_components_build(struct run *);
void run_sizes_print(struct run *);
void run_folder_open(struct run *);
void run_simulate(struct run *);
void run_report(struct run *);

void run_seats_one(struct run *); /* one rank simulates, whatever was asked for */
/* simulate.c: what every model's engine is set up with; the rest is the caller's. */
struct ker_engine_setup run_engine_setup(struct run *, uint32_t components);
void run_span_begin(struct run_span *); /* unless it has begun */
enum ker_end run_engine(struct run *);  /* collective: to the end, for the ranks that sleep, too */
void run_phases_read(struct run *);     /* run.*, output.period */

/* What is wanted of stages. */
static inline bool run_wants_check(const struct run *run)
{
    return run->args->check;
}
static inline bool run_wants_resume(const struct run *run)
{
    return run->args->resume != NULL;
}

/* What its links carry; NULL: it has none. */
static inline const struct net_carrier_links *run_links(const struct run *run)
{
    return run->network ? run->carrier->links : NULL;
}

/* What has been sent and has arrived so far; with LogGOPS a message counts as a packet. */
static inline struct net_totals run_totals(const struct run *run)
{
    return run->kind->totals(run);
}

/* folder.c: what is known before the first event, and is in the folder from then on. */
json_t *run_speed_json(struct run *);
struct task_files run_task_files(const struct run *); /* report.c: which files of tasks are wanted */
/* All of summary.json, when all other files are there; takes result and speed over. */
json_t *run_summary_json(const struct run *, json_t *result, json_t *speed);
/* Files that are written while the run goes on; then both summaries, which are taken. */
void run_files_close(struct run *);
void run_summary_write(struct run *, json_t *summary, char *text);
void run_network_tell(const struct run *, json_t *); /* the sizes of the network */
void run_folder_settle(struct run *, bool failed);   /* the run has ended: the folder says how */

/* ---- check times (check_times.c): all ranks are at one simulated time, all before it is handled ---- */

/* Fills in what the engine has to know of the check times. */
void run_check_times_set(struct run *, struct ker_engine_setup *);

/* periods.c: the rows of periods.csv. */
ker_time run_periods_interval(const struct run *);
void run_periods_add(struct run *, ker_time at);
void run_periods_begin(struct run *, ker_time at); /* the first row covers what comes behind this time */

/* expect.c: --check says how many events the run is expected to have; collective, the last thing of a run.
 * memory: of all ranks, in bytes. */
void run_expect(struct run *, uint64_t memory, double event_ns, struct net_expected *);
void run_network_expect(struct run *);

/* series.c: the tables of output.series.*, with a batch of rows at every multiple of output.period. */
void run_series_check(struct run *); /* are they possible? */
void run_series_open(struct run *);
void run_series_add(struct run *, ker_time at, ker_time skipped);
/* power.c */
struct run_use {
    uint64_t directions, most, unused; /* how many; the busiest one's time; that have carried nothing */
    unsigned __int128 busy;            /* time of all */
};
extern const struct ker_option run_power_options[]; /* power.* */

/* network.c: what the network is made of, for --check. */
void run_network_print(const struct run *);
json_t *run_network_json(const struct run *);
const char *run_count_print(char text[32], uint64_t count); /* "1,234,567"; returns text or a place in it */
/* floor.c: lengths of links in metres, between two switches; of node links from a switch to itself. */
struct run_floor;
struct run_floor *run_floor_new(const struct run *);
void run_floor_free(struct run_floor *);
double run_floor_length(const struct run_floor *, uint32_t from, uint32_t to);
extern const struct ker_option run_floor_options[]; /* floor.* */
/* {cores_j, memory_j, adapters_j, links_j, energy_j, mean_w}; NULL: not asked for. links: by class;
 * inside: of node_system_report. */
json_t *run_power_json(const struct run *, const struct run_use *links, const struct run_use *adapters,
                       const json_t *inside, ker_time span, ker_time at);

void run_series_end(struct run *, ker_time at); /* what is left of the last period; before any report */
void run_series_print(const struct run *);      /* --check: what they cost */

/* status.c: how the run is, on standard error; collective over the working ranks. */
void run_status_tell(struct run *, ker_time at);
void run_status_free(struct run_status *); /* takes NULL */

/* timelines.c */
void run_timeline_make(struct run *);
void run_timeline_print(const struct run *); /* what it costs */
/* Collective over the ranks that simulate: the files, and what summary.json says of them (NULL: nothing). */
json_t *run_timeline_write(struct run *, ker_time end);

/* batches.c: batch means of the packets' latency, for run.confidence, and to see whether the measured span
 * was steady. */
struct run_batches *run_batches_new(void);
void run_batches_free(struct run_batches *);
ker_time run_batches_interval(const struct run *);
void run_batches_add(struct run *, ker_time at);
/* Is the confidence interval tight enough? */
bool run_batches_tight(struct run *, ker_time at);
json_t *run_batches_json(const struct run *); /* warns when the measured span was not steady */
void run_batches_state(struct run_batches *, struct ker_chunk *);

/* skip.c: run.skip. Takes NULL. */
void run_skip_make(struct run *);
void run_skip_free(struct run_skip *);
ker_time run_skip_interval(const struct run *);
void run_skip_look(struct run *, ker_time at);
/* Collective over run->working, when a period ends: what was skipped since the last call, by the means of
 * when it was planned; a gap counts when the last of the jobs that have it has passed it. */
ker_time run_skip_since(struct run *);
#define RUN_SKIP_VERSION 2
ker_time run_skip_until(const struct run *);           /* at a look: until when nothing is skipped */
void run_skip_state(struct run *, struct ker_chunk *); /* the same on every rank; not the records of steps */
extern const struct ker_option run_skip_options[];
void run_skip_print(const struct run *); /* --check */
/* skip_report.c. Collective, when the run has ended: how sums of jobs grow, if steps were skipped. */
void run_skip_measure(struct run *);
/* And of all else, by what rank 0 says of the jobs and of the network. */
void run_skip_whole(struct run *, ker_time at, const json_t *jobs, const json_t *result);
void run_skip_sums(const struct stats_part *, json_t *); /* grow */
/* Collective: "skip" of summary.json on rank 0, which corrects what is said of the jobs; NULL:
 * not wanted. */
json_t *run_skip_report(struct run *, json_t *jobs);
extern const struct stats_schema run_steps_schema;

/* checkpoint.c */
void run_checkpoints_read(struct run *); /* the keys */
void run_checkpoints_free(struct run_checkpoints *);
bool run_checkpoints_wanted(const struct run *); /* any of the keys is given */
ker_time run_checkpoints_interval(const struct run *);
void run_checkpoints_times(const struct run *, struct ker_engine_setup *);
bool run_checkpoints_due(const struct run *, ker_time at);
void run_checkpoints_clock(struct run *);
/* Collective over the working ranks, at a time at which all are. */
void run_checkpoint_write(struct run *, ker_time at);
/* The same for one rank, which continues in this process: where, malloc'ed; false: it cannot be written. Its
 * folder is removed when that rank has read it. */
char *run_checkpoint_moved(const struct run *);
bool run_checkpoint_move(struct run *, ker_time at);
void run_checkpoint_remove(const struct run *);
json_t *run_checkpoints_json(const struct run *);
extern const struct ker_option run_checkpoint_options[];

/* index.c */
/* The newest in a folder, malloc'ed; NULL: none. */
char *run_checkpoint_newest(const char *dir);
const char *run_resumed_folder(const struct run *);
const char *run_file(const struct run *); /* of the configuration, as it was named when the run began */
void run_resumed_free(struct run_resumed *);

/* fork.c: of a resumed run, what its tasks have to know of configurations before. */
void run_fork_tasks(struct run *);

/* resume.c */
void run_resume_config(struct run *);
void run_resume_index(struct run *); /* of a run that has its configuration */
void run_resume_load(struct run *);
void run_resume_periods(struct run *);

/* hdf5.c: results.h5. */
void run_hdf5_open(struct run *);
void run_hdf5_flush(struct run *); /* a period is over */
void run_hdf5_close(struct run *);
void run_hdf5_save(struct run *, struct ker_state_writer *);
/* Its chunks, "hdf5"; and then: */
void run_hdf5_load(void *context, struct ker_chunk *);
void run_hdf5_resume(struct run *);

/* after.c: jobs that begin when others have ended. */
ker_time run_after_interval(const struct run *run);
void run_after_hold(struct run *); /* the run does not end by draining meanwhile */
void run_after_look(struct run *, ker_time at);

/* ends.c */
ker_time run_ends_interval(const struct run *);
/* Collective over the working ranks: one of the conditions that are looked for at check times holds. */
bool run_ends_look(struct run *, ker_time at);
/* Collective over all ranks: the engine has stopped; says why, and whether all is there that should be. */
void run_ends_settle(struct run *, enum ker_end found);
const char *run_end_reason(const struct run *);
