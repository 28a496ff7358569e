/* tasks.h - what other folders may use of tasks/: what runs on the simulated nodes.
 *
 * A system is read from the keys jobs[].*, traffic.*, mpi.* of the configuration on every rank alike; then it
 * is attached to the nodes this rank owns, and its services (nodes/nodes.h) do the rest as events come.
 */
#pragma once

#include "net/net.h"
#include "nodes/nodes.h"

struct task_system;
struct loggops_system;

/* Collective. Reads jobs (with their traces or generators), places their tasks, and reads the synthetic
 * traffic; adds what runs to the services, which stay the caller's. With network.model = "loggops" each task
 * is a node for the services, and topology, which may be NULL then, says where it is placed. */
enum ker_status task_system_new(struct task_system **, const struct ker_config *,
                                const struct route_topology *, const struct node_model *,
                                struct node_services *, struct ker_comm *, uint64_t seed, struct ker_error *);
void task_system_free(struct task_system *);
/* Jobs that are schedules under LogGOPS run there; their tasks are in all results besides the others. */
void task_system_beside(struct task_system *, struct loggops_system *);

/* Collective: a run begins again, of the same configuration, with a network and services of its own: jobs
 * are as they were read, everything else is made again. */
enum ker_status task_system_again(struct task_system *, const struct ker_config *,
                                  const struct route_topology *, const struct node_model *,
                                  struct node_services *, struct ker_comm *, uint64_t seed,
                                  struct ker_error *);

/* When all services are known: those that tasks call; NULL: there are none. */
enum ker_status task_system_services(struct task_system *, const struct ker_config *,
                                     const struct node_service_list *, struct ker_error *);

/* Collective over the ranks that have read the jobs; all return the worst status. Each names its nodes,
 * increasing, or none if it sleeps: its programs then have the tasks that live there. */
enum ker_status task_system_prepare(struct task_system *, const uint32_t *nodes, uint32_t count,
                                    struct ker_comm *, struct ker_error *);

/* What output.waits takes: bytes for each of this many tasks; of each of these for each function in which it
 * waits, and for each octave of sizes in which it receives messages; and for each outstanding request. */
struct task_waits_cost {
    uint64_t tasks, task, function, octave, request;
};
/* tasks: 0 without output.waits. */
struct task_waits_cost task_system_waits_cost(const struct task_system *);
/* output.critical_path: how much of each task's past there is room for; 0: it is not wanted. */
uint32_t task_system_path_room(const struct task_system *);
/* Whose timelines there can be: the jobs, and, traced, those of them of which it is known when they were
 * traced, once more; malloc'ed, with room for one more. Before anything is attached: tasks record what they
 * do. When the run has ended: what they are still in ends there. */
struct stats_group *task_system_groups(const struct task_system *, bool traced, uint32_t *count);
void task_system_record(struct task_system *, struct stats_timeline *);
void task_system_timeline_end(struct task_system *, ker_time end);
/* On one rank, behind that: the calls as they were traced. *end: the last of them is not later, or what it
 * was. */
enum ker_status task_system_traced(struct task_system *, struct stats_timeline *, ker_time *end,
                                   struct ker_error *);

/* Makes the state of the same nodes: fills in state (node_system_attach), which is NULL everywhere before. */
void task_system_attach(struct task_system *, const uint32_t *nodes, uint32_t count, void **state);

/* Collective over the ranks that simulate, attached: do the tasks of the jobs fit each other? All return the
 * worst status; the text is where it was found, or on all. */
enum ker_status task_system_agree(struct task_system *, struct ker_comm *, struct ker_error *);

/* Tasks of jobs on this rank that have not finished (background jobs not counted), of message-driven jobs
 * their objects, which may be counted where they are not: what counts is the sum modulo 2^64 over the ranks.
 * 0 ends the run, when there are jobs at all (task_system_jobs > 0). Without jobs, runs end by the keys
 * run.*. */
uint64_t task_system_unfinished(const struct task_system *);
/* What these are: "task"; "object", where all jobs are message-driven; "task or object". */
const char *task_system_waiter(const struct task_system *);
uint32_t task_system_jobs(const struct task_system *);
const char *task_system_job_name(const void *system, uint32_t job);
struct task_jobs;
void task_system_earlier(struct task_system *, ker_time by); /* jobs that have not begun do so */
const struct task_jobs *task_jobs_of(const struct task_system *);

/* For --check, attached, after which nothing can run: adds what jobs and traffic are expected to do until
 * `end`; what any rank knows of all is added in parts, of which this rank has one. */
void task_system_expect(struct task_system *, ker_time end, uint32_t part, uint32_t parts,
                        struct net_expected *);

/* The steps of a job, of which this rank has those of its own tasks; NULL: it has none that are known. */
struct task_gap;
struct task_steps;
struct task_steps *task_system_steps(const struct task_system *, uint32_t job);
/* Collective, once, before it: traces look for theirs. */
void task_system_find_steps(struct task_system *, struct ker_comm *);
/* task_program_class.ideal; NULL where nothing is known. */
int64_t *task_system_ideal(struct task_system *, uint32_t job, const struct task_gap *, uint32_t gaps,
                           uint32_t last, struct ker_comm *);

/* Do jobs wait for others? */
bool task_system_dependent(const struct task_system *);
/* Collective, between two instants: jobs whose jobs before them have ended begin at `at`, or at their time if
 * that is not behind `until`. Whether any does, on all ranks alike. */
bool task_system_release(struct task_system *, struct ker_comm *, ker_time at, ker_time until);

/* Jobs that are not in the background. */
uint32_t task_system_foreground(const struct task_system *);
/* About which part of their operations the tasks of the foreground job that is the least far have done, as
 * some tasks of this rank show; below 0: not known. */
double task_system_done(const struct task_system *);
/* Collective, between two instants: how many foreground jobs have deadlocked: tasks are unfinished, but no
 * timer runs and no message of the job is in transit, whatever other jobs and the traffic do. From
 * then on task_system_waiting speaks of these. Costs a sum of two numbers a job over the ranks. A message of
 * which a fault took a packet that is not the first counts as in transit for ever. */
uint32_t task_system_stuck(struct task_system *, struct ker_comm *);
/* Collective, likewise: ends the tasks that still wait in jobs of which a task was aborted, and in which
 * nothing moves any more. */
void task_system_end_aborted(struct task_system *, struct ker_comm *);
/* Collective: at the end of a drained run in which nothing was lost; a static text of what is wrong, or NULL.
 */
const char *task_system_conserved(const struct task_system *, struct ker_comm *);

/* Of all jobs; UINT64_MAX: there is synthetic traffic besides. */
uint64_t task_system_tasks(const struct task_system *);

/* Is there synthetic traffic, or a job that starts again and again, which never ends by itself? */
bool task_system_endless(const struct task_system *);

/* Synthetic sources stop at this time, if not before. */
void task_system_stop(struct task_system *, ker_time stop);

/* The smallest payload a packet can have: what is known of it lengthens the lookahead of credits. */
uint64_t task_system_least_payload(const struct task_system *);

/* Offered load of the synthetic open-loop traffic as a fraction of the injection rate, payload only; 0 when
 * there is none or closed loop. */
double task_system_offered(const struct task_system *, uint64_t injection_rate);
/* The same as traffic.load counts it: payload and headers, of the senders' injection rate. */
double task_system_load(const struct task_system *);
/* Open-loop traffic, where all ranks are at one time: notes how long its source queues are, from which
 * saturation is reported. */
void task_system_look(struct task_system *, ker_time at);
/* Tasks notify each other beside the network, in this time at least; 0: they do not. */
ker_time task_system_direct(const struct task_system *);
/* Are there jobs of MPI (not message-driven, not schedules) whose messages take no processor time? */
bool task_system_costless(const struct task_system *);
/* Collective: "traffic" of summary.json on rank 0; NULL: there is none. bytes_per_s: payload accepted; NAN:
 * nothing was measured. */
json_t *task_system_traffic(struct task_system *, struct ker_comm *, ker_time warmup, double bytes_per_s);

/* Collective, when the run has ended: what docs/results.md says of jobs, as a list on rank 0, NULL elsewhere.
 * Also writes the tables of jobs on rank 0 into the folder. */
struct task_files {
    const struct stats_folder *folder;
    bool tasks, matching, measured;                   /* are these tables wanted? */
    const char *tasks_key, *matching_key, *calls_key; /* as in stats_writer_open */
};
enum ker_status task_system_report(struct task_system *, struct ker_comm *, ker_time end,
                                   const struct task_files *, json_t **jobs, struct ker_error *);
/* Jobs and tasks in periods: those that are wanted; and, collective, the rows of the period that ends at
 * `at`, where all ranks stand. */
void task_system_series_want(struct task_system *, const struct ker_config *, struct stats_series_files *);
void task_system_series_add(struct task_system *, ker_time at);
extern const struct stats_schema *const task_tables[]; /* all tables of tasks/, NULL at the end */
/* Collective: when the network is drained and tasks are unfinished (a simulated deadlock): rank 0 gets a
 * malloc'ed table of which task waits in which call for whom (at most 40 rows, then how many more); NULL
 * elsewhere. */
char *task_system_waiting(struct task_system *, struct ker_comm *);

/* A run that was forked: the configurations that it had before, in their order, each with the time of the
 * fork that ended it; then, with that of the last fork, whether open-loop traffic has another law from there
 * on (node_system_renew). Before anything is attached. */
enum ker_status task_system_former(struct task_system *, const struct ker_config *former, ker_time until,
                                   struct ker_error *);
bool task_system_formers_end(struct task_system *, ker_time fork);
/* Saved state of what a rank counts for all its tasks (the tasks themselves are saved with their nodes); and
 * who loads it. sums: this rank takes the counts of all. */
#define TASK_STATES 7
void task_system_save(struct task_system *, struct ker_state_writer *);
void task_loaders(struct task_system *, bool sums, struct ker_state_loader loaders[TASK_STATES]);

/* Every table of tasks/ and nodes/ (jobs[].*, traffic.*, mpi.*, node.*, the programs' keys), ended by NULL.
 */
extern const struct ker_option *const task_option_tables[];
