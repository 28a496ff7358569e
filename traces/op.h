/* op.h - what a task does, call by call: the common language of trace readers, generators and the MPI model.
 *
 * A program (reader or generator) yields one struct task_op after the other for one task. Ranks are ranks in
 * the op's communicator. Requests are named by the program with 64-bit ids of its own (an address, a
 * counter): the MPI model maps them to its requests; an id that names no active request is a null request
 * (completes at once).
 */
#pragma once

#include "kernel/state/state.h"
#include "traces/steps.h"

#include <stdbool.h>
#include <stdio.h>

struct ker_config;

#define TASK_ANY (-1)       /* MPI_ANY_SOURCE, MPI_ANY_TAG */
#define TASK_PROC_NULL (-2) /* MPI_PROC_NULL; the reader translates the MPI library's own values */
/* As a peer: the rank from which the last of the task's receives with TASK_RECEIVE_FINDS came; less 1, that
 * of the one before, and so on. */
#define TASK_FOUND (INT32_MIN / 4)
#define TASK_FOUND_MOST 16 /* that are remembered */

enum task_op_kind {
    TASK_OP_COMPUTE, /* time: duration on the traced machine; mode */
    TASK_OP_SEND,    /* peer, tag, bytes; mode */
    TASK_OP_ISEND,   /* + request */
    TASK_OP_RECV,    /* peer (or ANY), tag (or ANY), bytes = room; mode */
    TASK_OP_IRECV,   /* + request */
    /* Of graphs: the program is notified when the request is complete, whose name has 32 bits. It then waits
     * for that of a receive. */
    TASK_OP_GRAPH_SEND, /* as ISEND; rail */
    TASK_OP_GRAPH_RECV, /* as IRECV */
    TASK_OP_SENDRECV,   /* send: peer, tag, bytes; receive: peer2, tag2, bytes2 */
    TASK_OP_SEND_INIT,
    TASK_OP_RECV_INIT,
    TASK_OP_START,
    TASK_OP_STARTALL,
    TASK_OP_REQUEST_FREE,
    TASK_OP_CANCEL,
    TASK_OP_WAIT,
    TASK_OP_WAITALL,
    TASK_OP_WAITANY,
    TASK_OP_WAITSOME,
    /* Tests: a traced test that did not complete anything (when that is known: outcome 0) is no wait; one
     * that did complete (outcome 1) is replayed as a wait for that completion; unknown (-1) polls: completes
     * what is complete, and continues. */
    TASK_OP_TEST,
    TASK_OP_TESTALL,
    TASK_OP_TESTANY,
    TASK_OP_TESTSOME,
    TASK_OP_PROBE,
    TASK_OP_IPROBE,
    TASK_OP_MPROBE,   /* takes the message that it finds out of the queue, as `message`; outcome 0: found none
                       */
    TASK_OP_MRECV,    /* message, bytes = room; one that no probe has found comes from MPI_PROC_NULL */
    TASK_OP_IMRECV,   /* + request */
    TASK_OP_STATUS,   /* waits for a request, which stays as it is */
    TASK_OP_POLL,     /* is in a call of MPI, and out of it again */
    TASK_OP_MARK,     /* here a step begins; only in the store, and for who asks (trace_reader.marks) */
    TASK_OP_TAKES,    /* the call before it takes `time` at least, less what it has waited for other tasks */
    TASK_OP_GREQUEST, /* makes a generalised request; done by */
    TASK_OP_GREQUEST_COMPLETE, /* which names it; mode 1: no call, but inside of one */
    /* Partitioned: bytes of all partitions, bytes2: how many these are, at least 1. They are persistent. */
    TASK_OP_PSEND_INIT,
    TASK_OP_PRECV_INIT,
    TASK_OP_PREADY,   /* request; tag2: the first partition that is ready, bytes2: how many are */
    TASK_OP_PARRIVED, /* request; tag2: a partition; outcome as that of tests */
    /* One-sided, on a window: comm is its communicator, tag its number there, from 1 on; peer the target. The
     * first three: bytes go there, but of GET they come back; request, or 0. Windows need not be made. */
    TASK_OP_PUT,
    TASK_OP_GET,
    TASK_OP_FETCH,    /* an atomic operation that also brings what was there: bytes2 come back */
    TASK_OP_WIN_LOCK, /* mode */
    TASK_OP_WIN_UNLOCK,
    TASK_OP_WIN_LOCK_ALL, /* mode */
    TASK_OP_WIN_UNLOCK_ALL,
    TASK_OP_WIN_FLUSH,
    TASK_OP_WIN_FLUSH_ALL, /* a fence is this, and a barrier */
    TASK_OP_WIN_POST,      /* requests: tasks of the job; mode */
    TASK_OP_WIN_START,     /* likewise */
    TASK_OP_WIN_COMPLETE,
    TASK_OP_WIN_WAIT,
    TASK_OP_WIN_FREE,        /* nothing of it is used any more, here */
    TASK_OP_COLLECTIVE,      /* collective, root, bytes ..., see below */
    TASK_OP_ICOLLECTIVE,     /* + request */
    TASK_OP_COLLECTIVE_INIT, /* + request, persistent */
    /* Calls a service of the task's node: peer is its number among those of task_program_class.service, bytes
     * go there, words with them; complete when it has answered. request, or 0: it waits for the answer. */
    TASK_OP_CALL,
    TASK_OP_FINALIZE, /* all outstanding work done; last op */
    TASK_OP_ABORT, /* in its place: the task ends at once; outcome 1: it has called MPI_Abort, code in tag */
    /* Of tasks with several streams. Waits until another one, peer, has done a number of operations (bytes),
     * or, mode 1, begun them. Computations and these waits do not count. */
    TASK_OP_AFTER,
    TASK_OP_GRAPH_IDLE, /* waits until the program has an operation for the stream */
    TASK_OP_END,        /* of a stream that is not the first: it ends; what next() returns false for */
    TASK_OP_COUNT,      /* what a kind has of a task_op, traces/store/code.c lists, too */
};

/* COMPUTE: mode. */
enum task_compute {
    TASK_COMPUTE_PLAIN,
    TASK_COMPUTE_MOVES,  /* bytes: what it moved in memory on the traced machine */
    TASK_COMPUTE_SYSTEM, /* in the place of a call that the operating system serves */
};

enum task_send_mode { TASK_MODE_STANDARD, TASK_MODE_SYNCHRONOUS, TASK_MODE_BUFFERED, TASK_MODE_READY };

/* RECV, IRECV and probes: mode. */
enum task_receive_mode {
    TASK_RECEIVE_PLAIN,
    TASK_RECEIVE_FINDS = 1, /* from any source: its source is remembered when the task learns it */
    TASK_RECEIVE_LATER = 3, /* in the store: source and tag may be set later (trace_code_set_peer) */
};

#define TASK_CALL_WORDS 5 /* of an envelope, behind the caller's token */

#define TASK_COLLECTIVE_BEGINS 1 /* mode of a collective: the task begins by it, and does not wait before */

/* What a reduction combines by, or a PUT or FETCH: an operation and a class of datatypes, each 0 where it is
 * not known. */
enum task_combine {
    TASK_COMBINE_OPERATION = 0x0f,
    TASK_COMBINE_SUM = 1,
    TASK_COMBINE_PROD,
    TASK_COMBINE_MIN,
    TASK_COMBINE_MAX,
    TASK_COMBINE_LOGICAL,
    TASK_COMBINE_BITWISE,
    TASK_COMBINE_LOC,
    TASK_COMBINE_OWN, /* the program's own */
    TASK_COMBINE_TYPE = 0x70,
    TASK_COMBINE_INTEGER = 0x10,
    TASK_COMBINE_REAL = 0x20,
    TASK_COMBINE_COMPLEX = 0x30,
    TASK_COMBINE_PAIR = 0x40,
    TASK_COMBINE_DERIVED = 0x50,
};
#define TASK_COMBINES_OWN 1 /* bits of task_program_class.combines */
#define TASK_COMBINES_DERIVED 2

/* Of windows: mode, as bits. */
#define TASK_WINDOW_EXCLUSIVE 1 /* the lock */
#define TASK_WINDOW_UNCHECKED 2 /* MPI_MODE_NOCHECK: nobody is asked */
#define TASK_WINDOW_SOFTWARE 1  /* of PUT, FETCH: an accumulate, which adapters cannot do */

/* Their names in configurations, and MPI's. COMM: a communicator's creation (split, dup, create,
 * cart_create), which synchronises like an allgather of 8 bytes. NEIGHBOR: among neighbours, which the
 * program knows; the w-form is a v-form. */
#define TASK_COLLECTIVES(X)                                                                                  \
    X(BARRIER, "barrier", "MPI_Barrier")                                                                     \
    X(BCAST, "bcast", "MPI_Bcast")                                                                           \
    X(REDUCE, "reduce", "MPI_Reduce")                                                                        \
    X(ALLREDUCE, "allreduce", "MPI_Allreduce")                                                               \
    X(GATHER, "gather", "MPI_Gather")                                                                        \
    X(GATHERV, "gatherv", "MPI_Gatherv")                                                                     \
    X(SCATTER, "scatter", "MPI_Scatter")                                                                     \
    X(SCATTERV, "scatterv", "MPI_Scatterv")                                                                  \
    X(ALLGATHER, "allgather", "MPI_Allgather")                                                               \
    X(ALLGATHERV, "allgatherv", "MPI_Allgatherv")                                                            \
    X(ALLTOALL, "alltoall", "MPI_Alltoall")                                                                  \
    X(ALLTOALLV, "alltoallv", "MPI_Alltoallv")                                                               \
    X(REDUCE_SCATTER, "reduce_scatter", "MPI_Reduce_scatter")                                                \
    X(REDUCE_SCATTER_BLOCK, "reduce_scatter_block", "MPI_Reduce_scatter_block")                              \
    X(SCAN, "scan", "MPI_Scan")                                                                              \
    X(EXSCAN, "exscan", "MPI_Exscan")                                                                        \
    X(COMM, "comm_create", "a communicator's creation")                                                      \
    X(NEIGHBOR_ALLGATHER, "neighbor_allgather", "MPI_Neighbor_allgather")                                    \
    X(NEIGHBOR_ALLGATHERV, "neighbor_allgatherv", "MPI_Neighbor_allgatherv")                                 \
    X(NEIGHBOR_ALLTOALL, "neighbor_alltoall", "MPI_Neighbor_alltoall")                                       \
    X(NEIGHBOR_ALLTOALLV, "neighbor_alltoallv", "MPI_Neighbor_alltoallv")

#define TASK_COLL_ROW(collective, name, call) TASK_COLL_##collective,
enum task_collective { TASK_COLLECTIVES(TASK_COLL_ROW) TASK_COLL_COUNT };
#undef TASK_COLL_ROW
static inline bool task_coll_among_neighbours(unsigned collective)
{
    return collective >= TASK_COLL_NEIGHBOR_ALLGATHER && collective <= TASK_COLL_NEIGHBOR_ALLTOALLV;
}

struct task_op {
    uint8_t kind; /* enum task_op_kind */
    uint8_t collective;
    uint8_t mode;                   /* enum task_send_mode */
    int8_t outcome;                 /* of tests: -1 unknown, 0 nothing completed, 1 completed */
    int32_t comm;                   /* index in the job's communicators; 0 is the world */
    int32_t peer, tag, peer2, tag2; /* rank in comm; root of a collective is in peer */
    /* Of collectives bytes is what one task contributes to one other: the vector of Bcast, Reduce, Allreduce
     * and Scan; one block of Gather, Scatter, Allgather and Alltoall. Of those with counts it is the task's
     * own total, and the counts are below. Among neighbours bytes is what is sent to each, bytes2 what comes
     * from each, and counts are by neighbour, in their order. */
    uint64_t bytes, bytes2;
    ker_time time;
    bool is_call;     /* COMPUTE: in the place of a call of the trace */
    bool step;        /* COMPUTE: a generator's, which has its jitter however short it is */
    uint8_t rail;     /* GRAPH_SEND: the adapter of the node that sends it, + 1; 0: node.rail says */
    uint8_t combine;  /* enum task_combine */
    uint32_t message; /* of MPROBE, MRECV, IMRECV: the program's name for it */
    uint64_t request; /* of one-request ops */
    union {           /* valid until the program's next op */
        const uint64_t *requests; /* Waitall etc. */
        const uint64_t *words;    /* of CALL: TASK_CALL_WORDS for the service; NULL: these are 0 */
    };
    const uint64_t *send_bytes, *receive_bytes; /* Alltoallv, Gatherv, ...: per rank of comm, NULL when
                                                   unknown (then bytes / bytes2 per peer) */
    uint32_t request_count;
    uint32_t line;    /* of the trace file, for messages; 0 when there is none */
    const char *call; /* "MPI_Allreduce", static text, for messages */
};

static inline bool task_op_onesided(const struct task_op *op)
{
    return op->kind >= TASK_OP_PUT && op->kind <= TASK_OP_WIN_FREE;
}

/* A communicator of a job: which tasks of the job are its ranks 0..size-1. NULL members: all tasks in order
 * (the world). An intercommunicator is two of them, one for each group, which name each other: ranks of
 * messages are those of the other. In its collectives, of which none blocks, the root is a rank among the
 * tasks of both, those of the communicator with the lower number first; bytes, bytes2 and counts are what
 * is sent to and comes from the other group's tasks (of Reduce_scatter: the own group's parts). */
struct task_comm {
    int32_t size;
    const int32_t *member; /* task number of rank r */
    int32_t remote;        /* the other group's; 0: none, this is no intercommunicator */
};
static inline int32_t task_comm_task(const struct task_comm *comm, int32_t rank)
{
    return comm->member ? comm->member[rank] : rank;
}
int32_t task_comm_rank(const struct task_comm *comm, int32_t task); /* -1: not a member */

/* A task's neighbours in the topology of a communicator: ranks in it, or TASK_PROC_NULL. A task may be a
 * neighbour several times: what is sent by the entry with a tag is received by the other's entry with that
 * tag. */
struct task_neighbours {
    uint32_t in, out;
    const int32_t *source, *source_tag;           /* `in` of them: it receives from these */
    const int32_t *destination, *destination_tag; /* `out` of them: it sends to these */
};

/* Time of a traced task that is no operation, because the program did not compute then. */
struct task_taken {
    ker_time finalize_gap; /* before MPI_Finalize */
    ker_time poll_gap;     /* between tests that found nothing */
    ker_time files;        /* not taken out, but computation: calls on files, and those of jobs[].unknown */
};

/* What a traced task has called of a function, on the traced machine. */
struct task_call {
    const char *function; /* "MPI_Send" */
    uint64_t calls, bytes, time_ns;
};
/* A call on the traced machine, and the computation before it, which ends where it begins; times count from
 * the earliest end of a task's MPI_Init, and what lies before is 0. */
struct task_traced_call {
    uint32_t task, thread, number; /* number: of the task's calls */
    const char *function;          /* lives as long as the visit */
    ker_time before, begin, end;
    uint64_t bytes;
    const int64_t *peer, *tag, *comm; /* NULL: it has none */
};
/* Who is shown them, task by task, of each thread in their order. */
struct task_traced {
    bool (*wanted)(void *context, uint32_t task);
    void (*call)(void *context, const struct task_traced_call *);
    void *context;
};
/* Are the calls of a job to be counted (output.calls)? */
bool task_calls_wanted(const struct ker_config *, bool traced);
/* The key that wants them in periods, that of communicators first; NULL: none does. */
const char *task_calls_series(const struct ker_config *);
/* Do calls of a job take their traced times (key: its jobs[].calls)? Those of any job? */
bool task_calls_traced(const struct ker_config *, const char *key);
bool task_any_calls_traced(const struct ker_config *);

/* An operation of a graph that has not come to its end, for messages. */
struct task_unfinished {
    const char *call;
    uint32_t line;  /* of the file; 0: none */
    char text[224]; /* where it is, and what it waits for */
};
struct task_unfinished_list {
    void (*add)(void *context, const struct task_unfinished *);
    void *context;
};

/* A service that tasks call: its name, and the key of the job that says so ("server"). */
struct task_called {
    const char *name, *word;
};

/* What a service has said to a call: bytes of its message, and words (TASK_CALL_WORDS of them) beside it, as
 * how much was read. */
struct task_answer {
    uint64_t request; /* of the call; 0: its task waits for it */
    uint64_t bytes;
    const uint64_t *words; /* valid until answered() returns */
};

/* Of programs that time what they call again and again: what the tasks of this rank say of each iteration,
 * size after size. Of several ranks the largest, least, largest and sum. */
struct task_measured {
    const char *name; /* "allreduce" */
    uint32_t sizes, iterations;
    const uint64_t *bytes;    /* of each size */
    const char *const *label; /* of each size: what is done with these bytes; NULL: the name says it */
    bool span;                /* an iteration's time is last - first; otherwise it is `longest` */
    struct task_measured_time {
        ker_time longest; /* a task's own time */
        ker_time first;   /* KER_TIME_MAX: no task has begun it */
        ker_time last;
        uint64_t tasks; /* have done it */
    } * time;
};

/* Where ops come from; one instance per job and rank (of the simulator), serving this rank's tasks. */
struct task_program;
/* Operations of a kind of the family "jobs[].program"; traits: "computes" (jobs[].processor_factor means
 * something). */
struct task_program_class {
    /* Of a kind whose configuration decides which class it is: nothing else is looked at then. It returns
     * NULL when a key does not go with that class. NULL: this one. */
    const struct task_program_class *(*form)(const struct ker_config *, const char *path, struct ker_error *);
    bool collective; /* open() is: it shares out among the ranks what is to be read */
    /* Reads what the configuration names (path "jobs[2]"), finds the number of tasks and the communicators.
     * Errors are found on any rank; the caller agrees on the status. */
    enum ker_status (*open)(struct task_program **, const struct ker_config *, const char *path,
                            struct ker_comm *, struct ker_error *);
    uint32_t (*tasks)(const struct task_program *);
    const struct task_comm *(*comms)(const struct task_program *, int32_t *count);
    /* Collective over the ranks of open(), before prepare(): each names the tasks that will live on it (none:
     * it sleeps), and gets what others have read of them. Again when the run begins again with its tasks
     * elsewhere, and prepare() after it. NULL: there is nothing to hand over. */
    enum ker_status (*hand)(struct task_program *, const uint32_t *own_tasks, uint32_t count,
                            struct ker_comm *, struct ker_error *);
    /* Prepares the tasks that live on this rank, in increasing order. */
    enum ker_status (*prepare)(struct task_program *, const uint32_t *own_tasks, uint32_t count,
                               struct ker_error *);
    /* Collective, when prepare() has succeeded on all ranks that simulate: do the tasks fit each other? NULL:
     * that is known. */
    enum ker_status (*agree)(struct task_program *, struct ker_comm *, struct ker_error *);
    /* The next op of own task number `own` (index in own_tasks); false after FINALIZE. Pointers in it live
     * until the next call for the same task. Programs are fully checked in prepare, so that this cannot fail.
     */
    bool (*next)(struct task_program *, uint32_t own, struct task_op *);
    /* The time of that op, if it is a computation and nothing else; 0: it is not, or nobody knows. NULL:
     * nobody ever does. */
    ker_time (*computes)(const struct task_program *, uint32_t own);
    void (*close)(struct task_program *);
    /* Of programs that measure: called before next() with the simulated time, at which the operation before
     * it is over; but not when next() is repeated after a checkpoint. What has been measured lives as long as
     * the program. NULL: it does not measure. */
    void (*at)(struct task_program *, uint32_t own, ker_time now);
    struct task_measured *(*measured)(struct task_program *);
    /* Of programs that repeat steps: those of a task; they live as long as the program. at() is called for
     * these only in a run that may skip steps (run.skip), where it notes when they end. NULL, or it returns
     * NULL: none are known. */
    struct task_steps *(*steps)(struct task_program *);
    /* Of traces: finds the steps, for steps(). Collective, when own tasks have been prepared; in a run that
     * may skip steps. factor: how many times as long as in the trace each task of the job computes; NULL:
     * once. NULL: they are known. */
    void (*find_steps)(struct task_program *, const double *factor, struct ker_comm *);
    /* Behind it, collective: a run over an ideal network, in which messages take no time
     * (traces/store/ideal.h), with these gaps: when the last task begins each step that is simulated, up to
     * number `last`, or to the end of all, whose time is the last. Malloc'ed, on all ranks. */
    int64_t *(*ideal)(struct task_program *, const struct task_gap *, uint32_t gaps, uint32_t last,
                      struct ker_comm *);
    /* How far an own task is, for the line of progress: operations, steps or bytes of all of them; false:
     * there is no such task here. NULL: that is not known before the end. */
    bool (*done)(const struct task_program *, uint32_t own, uint64_t *so_far, uint64_t *all);
    /* Checkpoint: where own task number `own` was before its last next(), saved or loaded; the caller then
     * calls next() once more, and has the same op. A task that has not called next() is not asked. */
    void (*position)(struct task_program *, uint32_t own, struct ker_chunk *);
    /* How many streams (threads) an own task has: the first is `own` itself, the others have the numbers from
     * *further on, for next(), position() and neighbours(). NULL: one. */
    uint32_t (*streams)(const struct task_program *, uint32_t own, uint32_t *further);
    /* An own task's neighbours in a communicator; they live as long as the program. Only where the program
     * has collectives among neighbours. */
    const struct task_neighbours *(*neighbours)(const struct task_program *, uint32_t own, int32_t comm);
    /* What was taken out of an own task's pass, on the traced machine; NULL: nothing ever is. */
    struct task_taken (*taken)(const struct task_program *, uint32_t own);
    /* Of traces: which functions an own task has called, local ones included: the index-th, in any order,
     * each once; false: there are no more. Counted where task_calls_wanted. NULL: nothing was traced. */
    bool (*call)(const struct task_program *, uint32_t own, uint32_t index, struct task_call *);
    /* Of traces: all calls of the tasks that are asked for, as they were traced, read once more; by any rank.
     * NULL: nothing was traced, or it is not known when. */
    enum ker_status (*traced)(const struct task_program *, const struct task_traced *, struct ker_error *);
    /* Of graphs, whose streams have their operations in the order in which they become ready; otherwise NULL.
     * next() means that the stream's last computation or wait is over; complete(), that the communication of
     * a GRAPH_SEND or GRAPH_RECV is; ready(): has the stream something else to do than to wait? A call for
     * one stream may make others of its task ready. */
    void (*complete)(struct task_program *, uint32_t own, uint64_t request);
    bool (*ready)(const struct task_program *, uint32_t own);
    /* Of traces, when own tasks have been prepared: do they have reductions by operations of their own, or
     * else of derived datatypes? NULL: it is not known. */
    uint8_t (*combines)(const struct task_program *);
    /* What an own task has not done. */
    void (*unfinished)(const struct task_program *, uint32_t own, const struct task_unfinished_list *);
    /* The services that its tasks call (TASK_OP_CALL), one after the other; false: there are no more. Each
     * has to run on the nodes of all tasks. NULL: it calls none. */
    bool (*service)(const struct task_program *, uint32_t index, struct task_called *);
    /* One of these calls has been answered; the wait for it is over later. `own` is that of the stream that
     * waits, of a call with a request that of the task's first. The next() that is repeated after a
     * checkpoint may be one from before the answer: it must not look at it, and position() saves what is kept
     * of it. NULL: nobody asks. */
    void (*answered)(struct task_program *, uint32_t own, const struct task_answer *);
    /* A message-driven program, which is not of MPI (tasks/driven/): next() and what follows it are NULL, but
     * close(). */
    bool driven;
};

/* The name of a job's key, "jobs[0].steps" of path "jobs[0]" (KER_KEY). */
#define TASK_KEY(path, name) KER_KEY("%s.%s", path, name)

/* This few tasks never have enough in flight for a second rank to gain: measured for stencils (27 tasks lose
 * a sixth, 64 gain a third) and traces. */
#define TASK_FEW 32
