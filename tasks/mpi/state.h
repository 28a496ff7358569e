/* state.h - the state behind tasks/mpi/mpi.h and what its files offer each other.
 *
 * Each file calls only those before it in this order: counts.c, calls.c, cause.c, source.c (who was found),
 * stream.c (threads of a task), path.c, waits.c, timeline.c, node.c (messages, timers, the list of ready
 * tasks), work.c, after.c, graph.c (programs that are notified of what is complete), endpoint.c (LogGOPS'
 * overheads), layout.c (who shares a node), run.c (calls of collectives), partitions.c, request.c, window.c,
 * queue.c, match.c (pairs messages with receives), wait.c, wire.c, partitioned.c, protocol.c (moves messages,
 * starts requests), onesided.c, call.c (services of the node), charge.c (processor time of operations),
 * analytic.c (collectives by a formula), collective.c (executes schedules), end.c, task.c (runs a task),
 * foreseen.c (ends of sends before their time),
 * table.c, waits_table.c, path_walk.c (finds the critical path), path_links.c, path_json.c, path_table.c,
 * profile.c, matching.c, report.c, run_state.c, save.c, mpi.c (takes the node's calls). Nothing recurses into
 * a running task: completions only put tasks on the node's list.
 */
#pragma once

#include "tasks/mpi/calls.h"
#include "tasks/mpi/cause.h"
#include "tasks/mpi/collectives/collective.h"
#include "tasks/mpi/mpi.h"
#include "tasks/mpi/wire.h"
#include "traces/traces.h"

/* Who advances what has begun, the choices of mpi.progress: the adapter, the task when it is in a call of
 * MPI, a thread of its own. */
enum task_progress { TASK_PROGRESS_ADAPTER, TASK_PROGRESS_CALLS, TASK_PROGRESS_THREAD };

enum task_rendezvous { TASK_RENDEZVOUS_READ, TASK_RENDEZVOUS_WRITE }; /* the choices of mpi.rendezvous */

/* -- records in pools; the first word links -- */

enum task_request_state {
    TASK_REQUEST_INACTIVE, /* persistent, not started */
    TASK_REQUEST_ACTIVE,
    TASK_REQUEST_MATCHED,
    TASK_REQUEST_COMPLETE,
};

#define TASK_REQUEST_SEND 1
#define TASK_REQUEST_NAMED 2 /* in the table of names */
#define TASK_REQUEST_PERSISTENT 4
#define TASK_REQUEST_AWAITED 8     /* counts in task.pending */
#define TASK_REQUEST_DETACHED 16   /* nobody will ask: freed when complete */
#define TASK_REQUEST_COLLECTIVE 32 /* a message of a collective */
#define TASK_REQUEST_OPEN 64       /* counts in task.open */
#define TASK_REQUEST_CANCELLED 128
#define TASK_REQUEST_SHARED 128 /* of a collective: through shared memory, costs no overhead */

struct task_request {
    union {
        uint32_t next; /* in the queue of posted receives */
        uint32_t rail; /* of a send: as struct task_op's */
    };
    union {
        uint32_t name; /* the program's; one of more than 32 bits: where it is in task_mpi.wide_name */
        uint32_t run;  /* of a message of a collective, which has no name */
    };
    uint64_t bytes : 54; /* to send; room to receive */
    uint64_t finds : 1;  /* TASK_RECEIVE_FINDS: peer is who was found, once there is a message */
    uint64_t wide : 1;   /* the name */
    uint64_t flags : 8;
    int32_t peer; /* task of the job, TASK_ANY, TASK_PROC_NULL, TASK_PEER_RUN */
    union {
        int32_t tag;
        uint32_t owns; /* TASK_PEER_RUN: the run; 0: it has ended */
    };
    int32_t comm;
    uint32_t number : 28; /* among the task's own, from 1: what others call it */
    uint32_t state : 2, mode : 2;
};
_Static_assert(sizeof(struct task_request) == 32, "12 requests a task must stay small");
#define TASK_PEER_RUN (-3) /* the request of a collective that does not block */

/* Arrived and not matched. */
struct task_message {
    uint32_t next;
    struct task_wire wire;
};

/* A list of receives or messages; a long one is a lookup (queue.c). */
struct task_queue {
    uint32_t first, last;
    uint32_t count, lookup;
};
/* Queues that many tasks never need. */
struct task_queues {
    struct task_queue posted, unexpected; /* collectives' */
    struct task_queue early, held;
    struct task_queue deferred; /* mpi.progress = "calls": what arrived while the task was in none */
};
enum task_queue_kind {
    TASK_QUEUE_POSTED, /* receives */
    TASK_QUEUE_UNEXPECTED,
    TASK_QUEUE_EARLY, /* messages before their turn */
    TASK_QUEUE_HELD,  /* found by matched probes; wire.receiver is the message's name */
    TASK_QUEUE_LIST,  /* is never searched: of one-sided communication, and `deferred` */
};

/* Of the searches in a task's posted or unexpected queues. */
struct task_search {
    uint64_t searches, lengths; /* lengths: the sum of the queue's at each */
};

/* What a task remembers of another task, or of a communicator. */
struct task_peer {
    uint32_t key;      /* 0: free; 1 + task; TASK_PEER_COMM | comm */
    uint32_t sends;    /* messages sent to it; collectives called on it */
    uint32_t receives; /* messages taken from it in order; own rank + 1 in it */
};
#define TASK_PEER_COMM 0x80000000u

/* One-sided communication of a task that has any, see onesided.c. */
struct task_window {
    int32_t comm, window;
    uint32_t open;               /* own operations that are not complete */
    uint32_t missing;            /* own epoch: tasks that have not posted yet */
    uint32_t exposed, completed; /* epoch of others here: how many they are, and have completed it */
    uint32_t shared;             /* locks of the memory here */
    struct task_queue locks;     /* LOCK that wait for it */
    struct task_queue starters;  /* own epoch: COMPLETE that MPI_Win_complete will send */
    bool exclusive;              /* it is locked so */
    bool all;                    /* own epoch: shared locks of whoever is used */
};
enum task_lock { TASK_LOCK_NONE, TASK_LOCK_ASKED, TASK_LOCK_HELD, TASK_LOCK_UNCHECKED };
struct task_target {
    int32_t comm, window;
    uint32_t peer;             /* task of the job */
    uint32_t open;             /* own operations there that are not complete */
    uint32_t posts;            /* from there, not used */
    uint8_t lock;              /* of its memory: enum task_lock */
    bool exclusive;            /* the lock */
    bool awaited;              /* a post */
    struct task_queue delayed; /* own operations that wait for the lock */
};
struct task_onesided {
    struct ker_table windows, targets;
    ker_time combines; /* accumulates keep it busy until then */
};

enum task_stage {
    TASK_STAGE_NEXT,    /* fetch an op */
    TASK_STAGE_ISSUE,   /* its overhead is paid: do it */
    TASK_STAGE_BLOCKED, /* until pending is 0 */
    TASK_STAGE_COLLECTIVE,
    TASK_STAGE_DONE,
};

/* Lines of the cache: the operation and what it owes, whose turn it is, matching, what is counted, the rest.
 */
struct task_state {
    struct task_op op;
    ker_time debt;                 /* processor time owed before the next step */
    ker_time searching;            /* its queues are being searched until then */
    struct task_calls *calls;      /* NULL: they are not counted */
    uint32_t job, task, own, node; /* node: index in task_mpi.node */
    uint16_t core;
    uint8_t stage;
    bool busy;    /* a timer of this task is running */
    bool ready;   /* on the node's ready list */
    bool blocked; /* since blocked_since; waits for a completion */
    bool fetched; /* op is one of its program's */
    bool special; /* more is done with each op that is fetched: see fetch_special */
    uint32_t ready_next;
    uint32_t pending;    /* completions until the op can continue */
    uint32_t open;       /* matched or injected, not complete: what FINALIZE waits for */
    uint32_t collective; /* the run it waits for, 0: none */
    struct {
        uint32_t first, last;
    } able;                               /* runs that nobody waits for, and that can continue */
    struct task_streams *streams;         /* NULL: it has one */
    struct ker_table peers;               /* of struct task_peer */
    struct task_queue posted, unexpected; /* user's */
    struct task_queues *queues;           /* NULL: nothing has been in any of them */
    uint32_t *request; /* by number - 1: its index, or TASK_NUMBER_FREE and the next free number; then
                          marks of names (request.c) */
    uint32_t numbers, number_free; /* room for requests; the first free number, 0: none */
    struct task_search search[2];  /* by kind of queue: posted, unexpected */
    uint32_t longest[2];           /* the longest queue there was */
    uint64_t messages_received, bytes_received;
    uint64_t messages_sent, bytes_sent;
    ker_time blocked_since;
    ker_time paid_until; /* busy: when it is done */
    ker_time compute, wait, send_wait;
    uint32_t line;    /* + 1 in task_mpi.line; 0: it has no timeline */
    uint32_t jitters; /* drawn for its computations */
    uint32_t seat;    /* among the tasks of its node */
    ker_time started; /* this pass of its program */
    ker_time finish;
    ker_time acted; /* mpi.progress = "thread": when its thread did so last, + 1 ps */
    uint64_t passes;
    struct task_onesided *onesided; /* NULL: none so far */
    struct task_sources *sources;   /* NULL: none so far */
} __attribute__((aligned(64)));
#define TASK_NUMBER_FREE 0x80000000u
#define TASK_NUMBERS_MOST ((1u << 28) - 1)

struct task_mpi_node {
    uint32_t ready_first, ready_last; /* index + 1 in task_mpi.task; in front: see node_service.step */
    struct task_mpi *mpi;
    struct node *net;
    uint32_t node, first_task, tasks;
    uint32_t begun;                    /* tasks that have been started, the first ones */
    struct task_gathering *gatherings; /* calls that not all have entered */
};

/* What can still make something happen in a job, counted where it begins and where it ends: timers of its
 * tasks, messages in transit, sends whose end the adapter will report. One rank's number may be negative; the
 * sum over the ranks is exact. */
#define TASK_WAITS KER_TIME_MAX /* task_state.started: for the end of other jobs */

struct task_mpi_job {
    const struct task_job *job; /* NULL: none of its tasks is here */
    int64_t open;
    uint64_t unfinished;    /* tasks */
    uint64_t waiting;       /* of these: for the end of other jobs; each is open until they are released */
    uint64_t aborted;       /* tasks that have ended before their end */
    struct task_mpi_io *io; /* STORE_OPS; NULL: none of its tasks here has called for a file */
};

/* mpi.reduce_rate */
#define TASK_COMBINE_RATES 32
struct task_combine_rates {
    uint32_t count; /* 0: combining takes no time */
    struct {
        uint64_t rate; /* bytes per second */
        uint64_t from; /* of vectors of so many bytes on */
        uint8_t code;  /* of what alone: enum task_combine */
    } of[TASK_COMBINE_RATES];
};

struct task_mpi {
    struct task_mpi_outside outside;
    uint32_t service;         /* its number among the nodes' */
    struct task_mpi_job *job; /* by its number; as many as were needed so far */
    uint32_t job_room;
    struct stats_timeline *timeline; /* NULL: none is wanted */
    struct task_line *line;
    uint32_t lines, line_room;
    ker_time now;                     /* of the service's call */
    ker_time *latest;                 /* action of this rank; NULL before the first node has begun */
    unsigned __int128 memory;         /* of what is handed over next (task_work): bytes x 10^12 */
    struct task_worked *worked;       /* by task; NULL: the node is simple */
    struct task_endpoints *endpoints; /* NULL: messages cost what the node says */
    bool foresees;                    /* ends of sends may take effect before their time, see foreseen.c */
    bool plain_sends;                 /* ends of eager ones are all that is known of them */
    bool special_ends;                /* there are endpoints, or what the node says depends on sizes */
    bool charges_sends;               /* they, or what does not, takes processor time of sends */
    struct node_model model;
    struct task_coll_table collectives;
    struct ker_table layouts; /* of communicators, see layout.c */
    uint64_t eager_limit;
    uint64_t inject_limit; /* with eager_delivered: up to it sends are complete at once */
    bool eager_buffered, eager_delivered, copies_unexpected, copies_buffered, copies_collectives;
    bool local_work; /* copies_collectives, or: */
    struct task_combine_rates combine;
    enum task_rendezvous rendezvous;
    uint8_t parting;     /* enum task_parting */
    ker_time match_time; /* of each entry that a search looks at */
    uint32_t looked_at;  /* by the last search */
    uint64_t steps;      /* of all searches: for tests */
    enum task_progress progress;
    ker_time progress_cost;
    int control_priority; /* class of control messages; -1: their job's */
    struct task_mpi_node *node;
    struct task_state *task;
    uint32_t nodes, node_room, tasks, task_room;
    struct ker_chunks request, message, run, lookup, partitioned, wide_name;
    struct ker_table names; /* of named requests, see request.c */
    char **kept_name;       /* of functions, from a checkpoint */
    uint32_t kept_names;
    uint64_t unfinished;
    bool rails;         /* a send has named its adapter, or messages name their cores (node_model.works) */
    bool calls_by_comm; /* are counted, see calls.h */
    bool sends_counted; /* one of these: */
    struct task_mpi_sent *sent; /* TASK_SENT for each job; NULL: not counted */
    struct stats_matrix *pairs; /* of tasks; NULL: not wanted; by their numbers: */
    const uint32_t *first;      /* by job, of its first task */
    bool waits, waits_split;    /* distinguished: a struct task_note is behind each request; output.waits */
    struct task_waited *waited; /* by task; NULL: without waits */
    struct task_path *path;     /* NULL: not wanted; only with waits */
    struct task_cause cause;    /* what happens now; only with waits */
};

static inline struct task_request *task_request_at(const struct task_mpi *mpi, uint32_t index)
{
    return ker_chunks_at(&mpi->request, index);
}
/* With task_mpi.waits alone. */
static inline struct task_note *task_note_at(const struct task_mpi *mpi, uint32_t index)
{
    return (struct task_note *)(void *)(task_request_at(mpi, index) + 1);
}
/* By which the program knows it. */
static inline uint64_t task_request_name(const struct task_mpi *mpi, const struct task_request *r)
{
    return r->wide ? *(const uint64_t *)ker_chunks_at(&mpi->wide_name, r->name) : r->name;
}
static inline struct task_message *task_message_at(const struct task_mpi *mpi, uint32_t index)
{
    return ker_chunks_at(&mpi->message, index);
}
static inline struct task_mpi_node *task_node_of(const struct task_mpi *mpi, const struct task_state *task)
{
    return &mpi->node[task->node];
}
static inline const struct task_job *task_job_of(const struct task_mpi *mpi, const struct task_state *task)
{
    return mpi->job[task->job].job;
}

/* How often it has ended its program, with the repetitions that were skipped. */
static inline uint64_t task_passes(const struct task_job *job, const struct task_state *task)
{
    return job->repeated ? task_steps_of(job->repeated, (uint32_t)task->passes) : task->passes;
}
/* Does its program compute? Otherwise it is in a call of MPI, or has ended. */
static inline bool task_computes(const struct task_state *task)
{
    bool computes = task->op.kind == TASK_OP_COMPUTE && task->stage <= TASK_STAGE_ISSUE;
    return task->fetched && (computes || task->op.kind == TASK_OP_AFTER);
}
static inline uint32_t task_index(const struct task_mpi *mpi, const struct task_state *task)
{
    return (uint32_t)(task - mpi->task);
}

/* A task that is spawned begins when its first call ends: what it is blocked before is no wait. */
static inline bool task_op_begins(const struct task_op *op)
{
    return op->kind == TASK_OP_COLLECTIVE && op->mode == TASK_COLLECTIVE_BEGINS;
}

/* How long it has been blocked: a task that is spawned begins then, its call of MPI_Init, too. */
static inline ker_time task_waited(struct task_state *task, ker_time now)
{
    if (!task_op_begins(&task->op))
        return now - task->blocked_since;
    if (task->calls)
        task->calls->since = now;
    return 0;
}

#include "tasks/mpi/endpoint.h"
#include "tasks/mpi/onesided.h"
#include "tasks/mpi/partitioned.h"
#include "tasks/mpi/path.h"
#include "tasks/mpi/run.h"
#include "tasks/mpi/stream.h"
#include "tasks/mpi/timeline.h"
#include "tasks/mpi/waits.h"
#include "tasks/mpi/work.h"

/* -- counts.c -- */
/* Makes room for the counts of this job. */
void task_mpi_job_room(struct task_mpi *, uint32_t job);
/* A task has come to its end, or before. */
void task_mpi_done(struct task_mpi *, const struct task_state *);
/* -- source.c -- */
/* A receive from any source has brought a message from this task of the job. */
void task_source_add(struct task_state *, int32_t source);
/* The ranks that were found, in the place of the operation's TASK_FOUND. */
void task_source_name(const struct task_job *, struct task_state *);
void task_sources_state(struct task_state *, struct ker_chunk *);
/* -- node.c -- */
/* A message of this job from a task on this core (or NODE_ANY_CORE) to the node `destination`, which begins
 * so much later. */
void task_transmit(struct task_mpi *, struct task_mpi_node *, ker_time now, uint32_t core,
                   uint32_t destination, const struct task_wire *, uint64_t cookie, ker_time delay);
/* Inside the node: from the memory of one core to that of another one in a single copy. */
void task_transmit_once(struct task_mpi *, struct task_mpi_node *, ker_time now, uint32_t cores,
                        const struct task_wire *);
/* A timer of this task, which is busy until then. */
void task_sleep(struct task_mpi *, struct task_state *, ker_time until);
void task_ready(struct task_mpi *, struct task_state *); /* its condition has come true */
/* Its thread acts: once for all that is to be done at `now`. */
void task_act(struct task_mpi *, struct task_state *, ker_time now);
void task_enqueue(struct task_mpi *, struct task_state *); /* at the end of the ready tasks */
void task_list(struct task_mpi *, struct task_state *);    /* the same, whichever of its streams is ready */

/* Processor time that the task owes before it continues. */
static inline void task_owe(struct task_state *task, ker_time time)
{
    ker_time most = 9000000 * KER_S; /* behind any run's end */
    task->debt = time < most - task->debt ? task->debt + time : most;
}

/* -- analytic.c -- */
/* The task enters a run whose round is TASK_COLL_ENTER; a notice of TASK_WIRE_ENTER or LEAVE has come. */
void task_analytic_enter(struct task_mpi *, struct task_state *, uint32_t index, ker_time now);
void task_analytic_notice(struct task_mpi *, struct task_mpi_node *, ker_time now, ker_time sent,
                          const struct task_wire *);
void task_analytic_release(struct task_mpi_node *);
void task_analytic_state(struct task_mpi *, struct task_mpi_node *, struct ker_chunk *);

/* -- graph.c -- of tasks whose programs are graphs: task_program_class.ready */
/* Has the current stream, whose op is GRAPH_IDLE, something else to do? */
bool task_graph_ready(const struct task_mpi *, const struct task_state *);
/* Streams that have something to do again continue. */
void task_graph_wake(struct task_mpi *, struct task_state *);
/* A request that is awaited, and that no wait has marked. True: it was a graph's, and its program is
 * notified. */
bool task_graph_complete(struct task_mpi *, struct task_state *, const struct task_request *);

/* -- end.c -- */
/* The current stream's op is its last. */
void task_end(struct task_mpi *, struct task_state *, ker_time now);

/* -- task.c -- */
/* The program's next operation. */
void task_op_fetch(const struct task_job *, struct task_state *);
/* Runs the task at `now` until it must wait. */
void task_run(struct task_mpi *, struct task_state *, ker_time now);
/* The same where its processor may be away: it continues when that is there. */
void task_run_asking(struct task_mpi *, struct task_state *, ker_time now);

/* -- request.c -- */
/* A request of this task, like that but for its number and name, which counts with NAMED only. A name in use
 * loses its old request. */
uint32_t task_request_new(struct task_mpi *, struct task_state *, const struct task_request *like,
                          uint64_t name);
uint32_t task_request_find(const struct task_mpi *, const struct task_state *,
                           uint64_t name); /* 0: a null request */
/* The program does not know it any more: freed now or when complete. */
void task_request_drop(struct task_mpi *, struct task_state *, uint32_t index);
/* Its completion has been taken note of by a wait or test: charges the receive overhead, frees or deactivates
 * it. */
void task_request_reap(struct task_mpi *, struct task_state *, uint32_t index);
/* What receiving costs the task. */
void task_request_charge(struct task_mpi *, struct task_state *, const struct task_request *);
/* One that the task's call waits for is complete. */
void task_pending_lower(struct task_mpi *, struct task_state *);
/* The communication has ended. */
void task_request_complete(struct task_mpi *, struct task_state *, uint32_t index);
/* The op makes a generalised request, or completes one. */
void task_request_generalised(struct task_mpi *, struct task_state *);
/* For loading: a request of this number as it was saved, and its name if it has one; false: there is one, or
 * cannot be. Then the free numbers. */
bool task_request_restore(struct task_mpi *, struct task_state *, uint32_t number,
                          const struct task_request *saved, uint64_t name);
void task_numbers_renew(struct task_state *);
/* Counts in what FINALIZE waits for, from now until complete. */
void task_request_open(struct task_mpi *, struct task_state *, uint32_t index);

/* -- wait.c -- each returns true when the task can continue at once */
bool task_wait_begin(struct task_mpi *, struct task_state *, ker_time now);
void task_wait_end(struct task_mpi *, struct task_state *);
bool task_wait_one(struct task_mpi *, struct task_state *, uint32_t request); /* 0: nothing */
bool task_wait_status(struct task_mpi *, struct task_state *);
bool task_probe_begin(struct task_mpi *, struct task_state *);
bool task_probe_end(struct task_mpi *, struct task_state *); /* it has waited; false: it must wait on */
/* A message has become matchable: does the task wait in a probe for it? */
void task_probe_notice(struct task_mpi *, struct task_state *, const struct task_wire *);

/* The request of this number of the task. */
static inline uint32_t task_request_numbered(const struct task_state *task, uint32_t number)
{
    ker_assert(number - 1 < task->numbers && !(task->request[number - 1] & TASK_NUMBER_FREE));
    return task->request[number - 1];
}
static inline bool task_request_there(const struct task_state *task, uint32_t number)
{
    return number - 1 < task->numbers && !(task->request[number - 1] & TASK_NUMBER_FREE);
}

/* -- queue.c -- */
void task_queues_init(struct task_mpi *);
void task_queue_push(struct task_mpi *, enum task_queue_kind, struct task_queue *, uint32_t item);
/* The first entry that fits, or 0, and how many a search from the beginning looks at (only where that costs
 * time). */
struct task_found {
    uint32_t item, before, looked_at; /* before: for task_queue_take */
};
struct task_found task_queue_find(struct task_mpi *, enum task_queue_kind, struct task_queue *,
                                  const struct task_match_key *);
/* Takes what was just found out of the queue. */
void task_queue_take(struct task_mpi *, enum task_queue_kind, struct task_queue *, const struct task_found *);
bool task_queue_remove(struct task_mpi *, enum task_queue_kind, struct task_queue *,
                       uint32_t item);                           /* false: not there */
void task_queue_release(struct task_mpi *, struct task_queue *); /* its lookup */
/* All in their order: malloc'ed, queue->count of them. */
uint32_t *task_queue_items(const struct task_mpi *, enum task_queue_kind, const struct task_queue *);
struct task_match_key task_key_of_request(const struct task_mpi *, const struct task_request *);
struct task_match_key task_key_of_message(enum task_queue_kind, const struct task_wire *);

/* -- match.c -- */
extern const struct ker_table_kind task_peer_kind;
struct task_queues *task_queues(struct task_state *); /* made when they are asked for first */
/* At the end of a queue. */
void task_message_push(struct task_mpi *, enum task_queue_kind, struct task_queue *,
                       const struct task_wire *);
/* The first of a list; false: it is empty. */
bool task_message_pop(struct task_mpi *, struct task_queue *, struct task_wire *);
struct task_peer *task_peer_get(struct task_state *, uint32_t key); /* made when there is none */
/* True: an active receive fits this message, which had arrived and is taken from the queue. */
bool task_match_find(struct task_mpi *, struct task_state *, const struct task_request *, struct task_wire *);
/* Posts it, when it fits none. */
void task_match_post(struct task_mpi *, struct task_state *, uint32_t request);
/* The posted receive that a message fits, which is taken from the queue; 0: the message is queued. */
uint32_t task_match_take(struct task_mpi *, struct task_state *, const struct task_wire *);
/* Is it the turn of this message of its source? Otherwise it is kept until task_match_early finds it. */
bool task_match_turn(struct task_mpi *, struct task_state *, const struct task_wire *);
bool task_match_early(struct task_mpi *, struct task_state *, uint32_t source, struct task_wire *);
bool task_match_cancel(struct task_mpi *, struct task_state *, uint32_t request); /* false: it is matched */
bool task_match_probe(struct task_mpi *, struct task_state *, int32_t source, int32_t tag, int32_t comm,
                      int32_t *from);
/* Takes the first message that fits out of the queue, and keeps it under this name; false: there is none. */
bool task_match_hold(struct task_mpi *, struct task_state *, int32_t source, int32_t tag, int32_t comm,
                     uint32_t message, int32_t *from);
bool task_match_held(struct task_mpi *, struct task_state *, uint32_t message, struct task_wire *);
bool task_match_fits(const struct task_wire *, int32_t source, int32_t tag, int32_t comm); /* the program's */
/* Of any communicator but the world: */
int32_t task_comm_context(const struct task_mpi *, const struct task_state *, int32_t comm);
int32_t task_comm_peer(const struct task_mpi *, const struct task_state *, int32_t comm, int32_t rank);
/* What messages on a communicator are named by: the same in both groups of an intercommunicator. */
static inline int32_t task_match_context(const struct task_mpi *mpi, const struct task_state *task,
                                         int32_t comm)
{
    return comm == 0 ? comm : task_comm_context(mpi, task, comm);
}
/* The task of the job that is this rank there; what is no rank stays. */
static inline int32_t task_match_peer(const struct task_mpi *mpi, const struct task_state *task, int32_t comm,
                                      int32_t rank)
{
    return rank < 0 || comm == 0 ? rank : task_comm_peer(mpi, task, comm, rank);
}
/* The task has searched a queue: what it finds it has when that is over. */
void task_match_searched(struct task_mpi *, struct task_state *, ker_time now);

/* -- wire.c -- */
/* The task of the node that a message names. */
struct task_state *task_on_node(struct task_mpi *, const struct task_mpi_node *, uint32_t job, uint32_t task);
/* Sends from a task's node to where `to`, one of the message's tasks, runs. */
void task_wire_send(struct task_mpi *, struct task_mpi_node *, ker_time now, const struct task_wire *,
                    uint32_t to, uint64_t cookie);
/* The same, so much later. */
void task_wire_send_late(struct task_mpi *, struct task_mpi_node *, ker_time now, const struct task_wire *,
                         uint32_t to, uint64_t cookie, ker_time delay);
/* The destination, who is the source, too, copies from the memory of another task of its node, to whom the
 * message is counted. */
void task_wire_read(struct task_mpi *, struct task_mpi_node *, ker_time now, const struct task_wire *,
                    uint32_t from);

/* -- protocol.c -- */
/* Makes a request active: sends, or posts the receive. */
void task_protocol_start(struct task_mpi *, struct task_state *, ker_time now, uint32_t index);
/* The same for a call that waits for it. True: it is over. */
bool task_protocol_wait(struct task_mpi *, struct task_state *, ker_time now,
                        const struct task_request *like);
/* The same where nobody sees the request, which needs no record: the op's send, eager, whose end lowers
 * task.pending (its message and cookie name request 0); a receive whose message is there. */
static inline bool task_protocol_plain(const struct task_mpi *mpi, const struct task_state *task)
{
    return mpi->plain_sends && !task->streams && task->op.bytes <= mpi->eager_limit &&
           task->op.mode != TASK_MODE_BUFFERED && task->op.mode != TASK_MODE_SYNCHRONOUS;
}
bool task_protocol_send(struct task_mpi *, struct task_state *, ker_time now);
bool task_protocol_receive(struct task_mpi *, struct task_state *, ker_time now,
                           const struct task_request *like);
/* A request that has been made for a message that was held. */
void task_protocol_matched(struct task_mpi *, struct task_state *, ker_time now, uint32_t request,
                           const struct task_wire *);
/* Processor time for copying a message of this mode (enum task_send_mode) that is sent to a buffer. */
ker_time task_protocol_copies(const struct task_mpi *, const struct task_state *, unsigned mode,
                              uint64_t bytes);
/* The task has taken a message that had arrived before: it may have to be copied. */
void task_protocol_copied(struct task_mpi *, struct task_state *, const struct task_wire *);
void task_protocol_arrived(struct task_mpi *, struct task_mpi_node *, ker_time now, const struct task_wire *);
/* One that has arrived before: the task begins a call. */
void task_protocol_deferred(struct task_mpi *, struct task_state *, ker_time now, const struct task_wire *);
/* A cookie names a request of a task of the node; 0: none, its call waits for the end. */
static inline uint64_t task_cookie(const struct task_state *task, uint32_t number)
{
    return ((uint64_t)task->seat + 1) << 32 | number;
}

/* -- call.c -- TASK_OP_CALL: true, it continues at once; the answer, and whose it is; by what the service
 * knows the call */
uint64_t task_call_token(const struct task_mpi *, const struct task_state *, uint32_t number);
bool task_call_begin(struct task_mpi *, struct task_state *, ker_time now);
void task_call_answered(struct task_mpi *, struct task_mpi_node *, ker_time now, const struct net_message *);
struct task_state *task_call_task(const struct task_mpi_node *, const struct net_envelope *);
#define TASK_COMM_CALL 0x20000000 /* in the place of a request's communicator: it is one */
static inline bool task_request_calls(const struct task_request *r)
{
    return r->comm == TASK_COMM_CALL;
}

/* -- foreseen.c -- a send that will have ended at `when` */
enum task_foreseen {
    TASK_FORESEEN_NOT,  /* something may come before */
    TASK_FORESEEN_DONE, /* the task does not ask before */
    TASK_FORESEEN_RUNS, /* nor does it do anything else, and can be run as of then */
};
void task_foreseen_init(struct task_mpi *); /* when all has been read */
enum task_foreseen task_foreseen(const struct task_mpi *, const struct task_state *, ker_time when,
                                 const struct task_request *); /* NULL: its call waits for it */

/* -- save.c -- node_service.save */
void task_mpi_save(void *state, struct node *, struct ker_chunk *);

/* -- table.c, matching.c, profile.c, report.c -- task_mpi_results, task_mpi_matching, task_mpi_calls,
 * task_mpi_waiting */
