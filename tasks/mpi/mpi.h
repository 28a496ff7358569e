/* mpi.h - the MPI model: tasks that run their programs with MPI semantics over the adapter.
 *
 * One struct task_mpi per rank of the simulator holds the model's parameters and the pools; one struct
 * task_mpi_node per simulated node holds the tasks that run there and is the state of task_mpi_service. Order
 * of calls: task_mpi_new, task_mpi_name, task_mpi_reserve once, task_mpi_node_new for each own node, then the
 * events. All calls are local to this rank. Nothing in here depends on which tasks share a rank:
 * only on which share a node.
 *
 * Memory: 416 bytes a task, 40 a node; 36 to 40 per outstanding request, 56 per unmatched message, 12 to 24
 * per peer. With output.waits: about 2 KB a task more, and 40 a request.
 */
#pragma once

#include "net/net.h"
#include "nodes/nodes.h"
#include "tasks/jobs/jobs.h"
#include "tasks/mpi/lookup.h"

struct task_mpi;
struct task_mpi_node;

/* What the model calls; the program gives node_send, node_timer, node_latest and the jobs, tests give their
 * own. */
struct task_mpi_outside {
    void (*send)(struct node *, ker_time now, uint32_t service, const struct node_message *);
    void (*timer)(struct node *, ker_time when, uint32_t service, uint32_t number);
    ker_time *(*latest)(struct node *);
    /* Would the node do nothing before its next step? NULL: nobody can say. */
    bool (*quiet)(const struct node *);
    const struct task_job *(*job)(const void *jobs, uint32_t job);
    uint32_t (*node)(const void *jobs, uint32_t job, uint32_t task); /* where a task runs */
    /* On which core of which node; NULL: it does not matter on which core. */
    struct task_place (*seat)(const void *jobs, uint32_t job, uint32_t task);
    /* Where tables say that it runs; NULL: there. */
    struct task_place (*place)(const void *jobs, uint32_t job, uint32_t task);
    const void *jobs;
    const struct node_kinds *kinds; /* NULL: what nodes are made of does not matter */
    uint64_t seed;                  /* of compute_jitter */
    /* Where processor time is more than a timer (node_model.works, network.model = "loggops"); else NULL. So
     * much for a stream of a task of the node (TASK_WORK_NUMBER): true: it has had it, at once; else
     * task_mpi_worked() is called when it has. */
    bool (*work)(struct node *, ker_time now, uint32_t service, uint32_t number, const struct node_work *);
    bool (*result)(const struct node *, uint32_t service, uint32_t number, ker_time at, struct node_worked *);
    /* Where messages take a task's processor, too (network.model = "loggops"; then nodes have one task), and
     * work is behind what the task has asked for and sent; else NULL. The task posts a receive. */
    void (*posted)(struct node *, ker_time now);
    /* Likewise, of message-driven programs; else NULL. The core of this number chooses what it does next when
     * it has the processor: then worked() is called. And how long messages have taken the processor until
     * `at`, which is not before the last event. */
    void (*turn)(struct node *, ker_time now, uint32_t service, uint32_t number);
    ker_time (*messages)(const struct node *, ker_time at);
};
/* Something visible in the model happens. */
static inline void task_outside_touch(ker_time *latest, ker_time now)
{
    if (now > *latest)
        *latest = now;
}
static inline struct task_place task_outside_place(const struct task_mpi_outside *outside, uint32_t job,
                                                   uint32_t task, uint32_t node, uint16_t core)
{
    return outside->place ? outside->place(outside->jobs, job, task) : (struct task_place){node, core};
}
/* Of the seat'th task of a node its stream'th stream. */
#define TASK_WORK_NUMBER(seat, stream) ((uint32_t)(seat) << 16 | (stream))
/* The nodes and these jobs. */
struct task_mpi_outside task_mpi_outside_make(const struct task_jobs *jobs);
/* With node_model.works. */
void task_mpi_outside_works(struct task_mpi_outside *);

/* Reads node.* and mpi.*. */
enum ker_status task_mpi_new(struct task_mpi **, const struct ker_config *, const struct task_mpi_outside *,
                             struct ker_error *);
void task_mpi_free(struct task_mpi *);
/* Is there a rate for what a job's reductions combine by (task_program_class.combines)? */
enum ker_status task_mpi_combines(const struct task_mpi *, const char *job, uint8_t unusual,
                                  struct ker_error *);
/* Its number among the services of the nodes. */
void task_mpi_name(struct task_mpi *, uint32_t service);

/* Tasks that are made from now on record what they do; the groups of the timeline are the jobs. */
void task_mpi_record(struct task_mpi *, struct stats_timeline *);
/* Once, when the run has ended: what tasks are still in ends, too. */
void task_mpi_timeline_end(struct task_mpi *, ker_time end);

/* Room for the nodes and tasks of this rank; may be called once. */
void task_mpi_reserve(struct task_mpi *, uint32_t nodes, uint32_t tasks);

/* A task on a node; `own` is its number among the job's tasks on this rank, as given to the program's
 * prepare(). */
struct task_mpi_seat {
    uint32_t job, task, own;
    uint16_t core;
};
/* The state of task_mpi_service. At most 65,000 seats, ordered by (job, task); the jobs' programs must be
 * prepared before the first event. 0 seats are allowed. The node belongs to the struct task_mpi. */
struct task_mpi_node *task_mpi_node_new(struct task_mpi *, uint32_t node, const struct task_mpi_seat *seats,
                                        uint32_t count);
extern const struct node_service task_mpi_service; /* shared: the struct task_mpi */
/* The same where a program says when it computes (task_program_class.computes): ends of sends are foreseen.
 */
extern const struct node_service task_mpi_service_foreseeing;
/* The same for nodes whose cores may be away: a task that is woken asks for its core first, by work of no
 * time. */
extern const struct node_service task_mpi_service_asking;
/* Is processor time more than a timer, and distinguished? */
bool task_mpi_works(const struct task_mpi *);
/* Collectives by a formula: how long the notices of one task to another take at least, which pass beside the
 * network; 0: there are none. And has the file of times all that the jobs' communicators ask for? */
ker_time task_mpi_direct(const struct task_mpi *);
enum ker_status task_mpi_curves_check(const struct task_mpi *, const struct task_jobs *,
                                      const struct ker_config *, struct ker_error *);
/* Do messages take no processor time at either end? */
bool task_mpi_costless(const struct task_mpi *);
/* And calls that the operating system serves from computation (node_rates.system)? */
bool task_mpi_system_measured(const struct task_mpi *);
/* See struct task_mpi_outside. */
void task_mpi_worked(struct task_mpi_node *, ker_time now, uint32_t number, const struct node_worked *);

/* For --check, attached: adds what the tasks of this rank are expected to do; they cannot run any more. */
void task_mpi_expect(struct task_mpi *, struct net_expected *);

/* Tasks of foreground jobs on this rank that have not finished. */
uint64_t task_mpi_unfinished(const struct task_mpi *);
/* Tasks of this rank that wait for the end of other jobs; and they begin, between two instants, before that
 * of `at`. */
uint64_t task_mpi_dependent(const struct task_mpi *, uint32_t job);
void task_mpi_release(struct task_mpi *, uint32_t job, ker_time at);
/* Of one job: this rank's part of what can still make something happen in it (timers, messages in transit,
 * sends in progress), and its tasks here that have not finished. Summed over the ranks, between two instants:
 * 0 open and some unfinished is a deadlock. */
void task_mpi_job(const struct task_mpi *, uint32_t job, int64_t *open, uint64_t *unfinished);
/* Own tasks of a job that have ended before their end: MPI_Abort, or where they died in their trace. */
uint64_t task_mpi_aborted(const struct task_mpi *, uint32_t job);
/* Ends a job of which nothing is open and a task was aborted: all that still wait, where they began to. */
void task_mpi_end(struct task_mpi *, uint32_t job);
/* Who has ended a job first. */
struct task_mpi_abort {
    bool there, called; /* MPI_Abort; it died otherwise */
    int32_t code;
    uint32_t task;
    ker_time time;
};
/* Into one for each job, zeroed, those of this rank; and from another rank. */
void task_mpi_aborts(const struct task_mpi *, struct task_mpi_abort *first);
void task_mpi_abort_join(struct task_mpi_abort *, const struct task_mpi_abort *);
/* Adds to the number of each job what its tasks on this rank have for task_taken.files. */
void task_mpi_files(const struct task_mpi *, uint64_t *sum);
/* Saved state: what this rank counts for each job; loading adds what another has counted. */
void task_mpi_counts_state(struct task_mpi *, uint32_t jobs, struct ker_chunk *);
/* What a job's tasks on this rank have had done on files that are in the system (storage/): for each enum
 * store_op of STORE_OPS. */
struct task_mpi_io {
    uint64_t calls, bytes; /* that have ended */
    uint64_t time;         /* from each call to its end, summed; calls with a request included */
    ker_time first, last;  /* when the first began, the last ended */
};
struct task_mpi_io *task_mpi_io(struct task_mpi *, uint32_t job);
void task_mpi_io_join(struct task_mpi_io *to, const struct task_mpi_io *from);
/* Messages of the application that tasks of a job on this rank have sent since they were last set to 0: an
 * array by kind and whether they leave their node. NULL: they are not counted, which `collect` changes. */
enum task_sent_kind {
    TASK_SENT_POINT_TO_POINT,
    TASK_SENT_COLLECTIVE,
    TASK_SENT_ONE_SIDED,
    TASK_SENT_BALANCING, /* of message-driven programs (tasks/driven): objects that move, and what is reported
                          */
    TASK_SENT_KINDS
};
struct task_mpi_sent {
    uint64_t messages, bytes;
    unsigned __int128 squares; /* of their sizes, summed */
};
#define TASK_SENT (2u * TASK_SENT_KINDS) /* of a job; place: 2 * kind + leaves */
void task_mpi_sent_collect(struct task_mpi *, uint32_t jobs);
struct task_mpi_sent *task_mpi_sent(struct task_mpi *, uint32_t job);
/* Counts a message, where that is wanted. Balancing is none of the application's: no pairs have it. */
struct task_mpi_message {
    enum task_sent_kind kind;
    uint32_t job, from, to; /* tasks */
    bool leaves;            /* its node */
    uint64_t bytes;
};
void task_mpi_sent_add(struct task_mpi *, const struct task_mpi_message *);
/* The same messages by pairs of tasks, of which those of a job have the numbers from first[job] on. */
void task_mpi_pairs_collect(struct task_mpi *, struct stats_matrix *, const uint32_t *first);
/* What the table of tasks is given to name jobs and nodes. */
struct task_mpi_names {
    const struct task_mpi_outside *outside;
    const struct route_topology *topology; /* NULL: nodes have no names */
    bool works;                            /* columns of what nodes do that are more than simple */
    bool system;                           /* and that of calls that the operating system serves */
    bool services;                         /* and that of calls of services */
};
/* A row of tasks.csv for each task on this rank, at the end of the run; to be freed before the names.
 * finish_ps is empty for a task that has not. wait_ps is the time blocked in all calls but blocking sends,
 * send_wait_ps in those: finish - start = compute + wait + send_wait + overheads; for a task that has not
 * finished the end takes the place of finish. Messages are the program's and the collectives' (no control
 * messages). NULL: none of those. More rows may be added, of tasks that others run: struct task_mpi_result.
 */
struct task_mpi_result {
    uint32_t job, task;
    struct task_place place;
    ker_time finish; /* KER_TIME_MAX: it has not */
    ker_time compute, wait, send_wait;
    ker_time stalled, overhead, away, preempted, system; /* only where task_mpi_works */
    uint64_t messages_sent, bytes_sent, messages_received, bytes_received, passes;
    struct task_taken taken;
};
struct stats_table *task_mpi_results(const struct task_mpi *, const struct task_mpi_names *, ker_time end);
extern const struct stats_schema task_mpi_schema;
/* Collective, when the calls of some job are counted: rank 0 writes calls.csv and functions.csv. key: as in
 * stats_writer_open. */
enum ker_status task_mpi_calls(const struct task_mpi *, uint32_t jobs, struct ker_comm *, ker_time end,
                               const struct stats_folder *, const char *key, struct ker_error *);
extern const struct stats_schema task_calls_schema, task_functions_schema;
/* What own tasks whose calls are counted have called until `at` since this was asked before, each by task,
 * function and communicator; of the latter only with output.series.communicators. */
struct task_mpi_called {
    uint32_t job;
    int32_t comm; /* of the job's program; -1: the call names none, or it is not distinguished */
    const char *function;
    uint64_t calls, bytes;
    ker_time simulated, wait;
};
void task_mpi_called(struct task_mpi *, ker_time at,
                     void (*each)(void *context, const struct task_mpi_called *), void *context);
/* Collective, with output.waits: rank 0 writes waits.csv, wait_functions.csv and message_rates.csv; *jobs: an
 * array with the sums of each job, on rank 0. */
enum ker_status task_mpi_waits(struct task_mpi *, const struct task_mpi_names *, uint32_t jobs,
                               struct ker_comm *, ker_time end, const struct stats_folder *, json_t **sums,
                               struct ker_error *);
bool task_mpi_waits_split(const struct task_mpi *);
/* The bytes of struct task_waits_cost. */
void task_mpi_waits_bytes(uint64_t *task, uint64_t *function, uint64_t *octave, uint64_t *request);
/* output.critical_path: of this many tasks in all. Before task_mpi_reserve. */
enum ker_status task_mpi_path_read(struct task_mpi *, const struct ker_config *, uint64_t tasks,
                                   struct ker_error *);
uint32_t task_mpi_path_room(const struct task_mpi *); /* pieces of each task; 0: not wanted */
/* Collective, where it is wanted: rank 0 writes critical_path.csv and critical_path_steps.csv; *paths: an
 * array with what each job's is made of, on rank 0, null for a job of which nothing is known. */
enum ker_status task_mpi_path(struct task_mpi *, const struct task_mpi_names *, uint32_t jobs,
                              struct ker_comm *, ker_time end, const struct stats_folder *, json_t **paths,
                              struct ker_error *);
extern const struct stats_schema task_path_schema, task_path_pairs_schema, task_path_links_schema,
    task_path_steps_schema;
extern const struct stats_schema task_waits_schema, task_wait_functions_schema, task_rates_schema;
/* Collective: rank 0 writes matching.csv. */
enum ker_status task_mpi_matching(const struct task_mpi *, const struct task_mpi_names *, struct ker_comm *,
                                  const struct stats_folder *, const char *key, struct ker_error *);
extern const struct stats_schema task_matching_schema;

/* What a task that has not finished, or each of its threads, is doing; flat, so that rows can be gathered as
 * bytes. */
struct task_mpi_wait {
    uint32_t job, task, node, line; /* line of the trace, 0: none */
    uint32_t stream, streams;       /* of the task: which thread, of how many */
    uint32_t number;                /* of several rows of it */
    ker_time since;
    char call[32];     /* "MPI_Waitall" */
    char awaited[224]; /* "2 requests; the first: receive from task 3, tag 7, world, 4096 bytes, unmatched" */
};
/* Unfinished foreground tasks on this rank, of all jobs or (stuck not NULL) of those that are stuck; fills at
 * most `room` rows. Returns how many there are. */
uint64_t task_mpi_waiting(const struct task_mpi *, const bool *stuck, struct task_mpi_wait *rows,
                          uint64_t room);

extern const struct ker_option mpi_options[]; /* mpi.* */
