/* replay.h - private to the replay of marstrace's traces: replay.c (the program), read.c (a task's calls),
 * calls.c (calls become operations), shape.c (those like others before), arguments.c (what calls were called
 * with), requests.c (which requests they mean), threads.c (what threads wait for of each other), comms.c (the
 * communicators of all tasks), neighbours.c (topologies), order.c (whether collectives fit each other).
 *
 * A task's calls come from a stream of its trace, one after the other. Each call becomes the computation
 * before it and one operation, or none, or several.
 */
#pragma once

#include "traces/mars/mars.h"
#include "traces/op.h"
#include "traces/replay/found.h"
#include "traces/replay/order.h"
#include "traces/store/store.h"
#include "traces/traces.h"

#define REPLAY_BYTES_MOST (UINT64_C(1) << 40) /* of a message */

/* ---- comms.c ---- */

/* The communicators of a trace, by their ids ascending behind the world, which is 0. An intercommunicator is
 * three in a row: its two groups (task_comm.remote), and all tasks of both. */
#define REPLAY_INTER 3
static inline int32_t replay_whole(const struct task_comm *comms, int32_t comm)
{
    int32_t remote = comms[comm].remote;
    return remote ? (comm < remote ? comm : remote) + REPLAY_INTER - 1 : comm;
}

struct replay_comms {
    struct task_comm *comm;
    uint64_t *id;
    int32_t count, known; /* known: of the trace; doubles of some are behind them */
    int32_t *members;     /* of all of them, one behind the other */
    bool aborts;          /* a task has called MPI_Abort: the others were ended somewhere */
};
/* Collective: joins what the tasks rank, rank + ranks, ... say. path: the trace, for messages. */
enum ker_status replay_comms_find(struct replay_comms *, struct mars_trace *, const char *path,
                                  struct ker_comm *, struct ker_error *);
void replay_comms_release(struct replay_comms *);
/* By a task's own numbers; -1: one that reaches out of the trace. */
int32_t *replay_comms_of(const struct replay_comms *, const struct mars_task *);

/* ---- neighbours.c ---- */

/* A task's neighbours in those of its communicators that have a topology. */
struct replay_neighbours;
/* `comm`: the job's communicators by the task's numbers, -1 for none. NULL with an error: ranks that are
 * none. */
struct replay_neighbours *replay_neighbours_new(const struct mars_task *, const int32_t *comm,
                                                const struct task_comm *comms, const char *path,
                                                struct ker_error *);
void replay_neighbours_free(struct replay_neighbours *);
/* As bytes that mean the same on every rank, malloc'ed (NULL: a task without topologies), and back. */
uint8_t *replay_neighbours_pack(const struct replay_neighbours *, size_t *bytes);
struct replay_neighbours *replay_neighbours_unpack(const uint8_t *, size_t bytes);
/* By the job's communicator; NULL: it has no topology. */
const struct task_neighbours *replay_neighbours_of(const struct replay_neighbours *, int32_t comm);

/* ---- joint.c, files.c: see files.h ---- */

struct replay_joint;
struct replay_files;

/* ---- calls.c ---- */

/* How a task's calls are read. */
struct replay_rules {
    bool cpu;          /* computation is the time on a processor, not that on the wall */
    bool polls;        /* calls that found nothing are calls all the same: mpi.progress looks at them */
    bool unknown;      /* what cannot be replayed is computation of its traced time */
    bool died;         /* tasks that did not come to MPI_Finalize are replayed up to there */
    bool counts;       /* calls are counted */
    bool traced;       /* calls take their traced times */
    bool io;           /* calls on files travel to servers */
    bool contiguous;   /* views that are not known have no holes */
    uint32_t per_node; /* tasks that a node has */
    uint64_t buffer, aggregators;     /* of collective accesses, where hints do not say; 0: one a node */
    const struct replay_joint *joint; /* NULL: nothing is known of all tasks' files */
    bool simulated; /* receives from any source take who comes first, and not whom the trace found */
    char **counter; /* whose counts are lines of memory that were moved, each of `line` bytes */
    uint32_t counters;
    uint64_t line;
};

/* A window of a task: its communicator, -1: unknown, and its number there. */
struct replay_window {
    int32_t comm, number;
};
#define REPLAY_WINDOWS_MOST (1 << 24)
#define REPLAY_PARTITIONS_MOST (1 << 24) /* of a task, at a time */

/* A request as the trace has used it so far, see active.c. */
struct replay_request {
    uint8_t state;
    bool receives;
    uint64_t room, made; /* bytes; the number of the call */
    uint32_t partitions; /* of a partitioned one; 0: it is none */
    uint32_t ready;
    uint8_t *is_ready; /* by partition, of a send */
};

/* Of a task whose threads have called MPI: what they wait for. */
struct replay_threads {
    uint32_t count, now; /* now: whose record it is */
    uint64_t *ops;       /* of each thread: its operations so far, as TASK_OP_AFTER counts them */
    /* Of each pair of threads: how many operations of the second the first is to wait for before its next,
     * and has waited for. */
    uint64_t *need, *seen;
    uint64_t names;      /* of requests, given so far */
    struct replay_turn { /* of each communicator: who has called a collective on it last */
        uint32_t thread;
        uint64_t ops;
    } * turn;
};
/* The next operation comes after the one with this number of another thread (of its own: nothing). */
static inline void replay_need(struct replay_threads *all, uint32_t thread, uint64_t ops)
{
    uint64_t *need = &all->need[(size_t)all->now * all->count + thread];
    if (thread != all->now && ops > *need)
        *need = ops;
}
#define REPLAY_THREADS_MOST 1024

/* An operation in the store whose source may be set later. */
struct replay_pending {
    struct trace_code *code; /* NULL: none */
    uint64_t at;
    int32_t peer; /* its own; of an operation that depends on who was found: */
    uint32_t class;
};

/* What MPI_Waitsome has found is waited for one by one, each before the first call that depends on it: as
 * many may never be there at a time in the simulation. */
struct replay_later {
    uint64_t request[TASK_FOUND_MOST];
    uint32_t count, put; /* `put` of them have been waited for */
    const char *call;
};

enum replay_road {
    REPLAY_ROAD_FIRST,   /* all of them are read as the first */
    REPLAY_ROAD_NOTHING, /* there is no operation */
    REPLAY_ROAD_PUT,     /* an operation without requests */
    REPLAY_ROAD_MAKE,    /* one that makes a request */
    REPLAY_ROAD_WAIT,    /* a wait for one request */
};

/* A call like those of its shape that its block has had before, see shape.c. */
struct replay_shape {
    uint8_t road;      /* enum replay_road */
    uint32_t called;   /* index in the list of what was called */
    uint64_t bytes;    /* of the call in a profile */
    struct task_op op; /* what it became */
    uint64_t request;  /* by the trace's number, where it makes or completes one */
    struct trace_again again;
};

/* A task whose calls are being read. */
struct replay_task {
    uint8_t combines; /* TASK_COMBINES_* */
    const struct replay_rules *rules;
    const struct task_comm *comms;
    struct mars_task *trace;
    int32_t *comm; /* by the task's numbers */
    struct replay_neighbours *neighbours;
    struct {
        const struct mars_function *function;
        const struct trace_function *call;
    } known[64];
    struct {
        const struct mars_function *function;
        uint32_t index; /* in the list of what was called */
    } counted[64];
    uint64_t *list[2]; /* of the operation: requests, or bytes for each task */
    size_t room[2];
    bool repeats;               /* calls of a shape may be put as the first was */
    struct replay_shape *shape; /* by number, of the block */
    size_t shapes;
    struct ker_table receives; /* what is known of requests, see requests.c */
    uint64_t posts;
    struct replay_found found;
    struct replay_depends depends; /* of the record */
    struct replay_pending *dependent;
    uint32_t dependents;
    struct replay_later later;
    struct replay_threads *threads; /* NULL: there is one */
    uint32_t counters;              /* of the trace's, those that rules name: a bit each */
    struct mars_record record;
    uint64_t read;                  /* records so far, of the thread */
    struct replay_request *request; /* by number */
    size_t requests;
    uint64_t partitions;          /* of all its requests */
    struct replay_window *window; /* by the task's numbers */
    uint32_t windows;
    size_t window_room;
    int32_t *made;              /* windows, by the task's communicators */
    struct replay_files *files; /* NULL: calls on files take their time */
    bool pairs;                 /* some of its requests are of a send and a receive */
    bool beside;                /* the operation's requests are not those of the record */
    int32_t part, parts;        /* which of the record's operations is asked for, and how many they are */
};

/* ---- counters.c ---- */

/* Of the keys of the job at `path`, jobs[].memory_counters and memory_line. */
void replay_counters_read(struct replay_rules *, const struct ker_config *, const char *path);
void replay_counters_release(struct replay_rules *);
/* Where the task's trace has them; an error says which one it has not. */
enum ker_status replay_counters_find(struct replay_task *, const char *path, struct ker_error *);
/* Bytes that the computation before the record has moved by them; 0 without. */
uint64_t replay_counters_moved(const struct replay_task *);

/* ---- requests.c ---- */

/* Puts the requests of the replay in the place of those of the record, whose operation this is. */
void replay_requests_name(struct replay_task *, struct task_op *);
/* The source and tag that a receive of the record, or a probe, found; false: it is not known. */
bool replay_source_get(const struct replay_task *, int32_t comm, int64_t from, int64_t got_tag,
                       int32_t *source, int32_t *tag);
/* Is the record's call, which has found several, to be waited for one by one? */
bool replay_splits(const struct replay_task *);
/* The operation of the record has been put there. */
void replay_requests_put(struct replay_task *, const struct task_op *, struct trace_code *, uint64_t at);
void replay_requests_release(struct replay_task *);
/* The next of the generalised requests whose completion the record shows, but no call of
 * MPI_Grequest_complete, since it was made inside of MPI (a callback); false: there is none left. */
bool replay_requests_general(struct replay_task *, struct task_op *complete);

/* ---- threads.c ---- */

/* For a task with several threads, and this many communicators in the job: t->threads. */
enum ker_status replay_threads_new(struct replay_task *, int32_t comms, const char *path, struct ker_error *);
void replay_threads_free(struct replay_threads *);
/* All calls of a task whose threads have called MPI, one after the other. */
struct replay_reading {
    void *context;
    /* t->record is the next, of thread t->threads->now. */
    enum ker_status (*record)(void *context, struct replay_task *t, struct ker_error *);
};
enum ker_status replay_threads_read(struct replay_task *, const struct replay_reading *, struct ker_error *);
/* What the operation waits for, and what waits for it: to be asked before it is put, when its requests have
 * their names. */
void replay_threads_turn(struct replay_task *, const struct task_op *);
/* The next wait for another thread that the operation needs; false: there is none left. */
bool replay_threads_after(struct replay_task *, struct task_op *after);
/* The operation has been put. */
void replay_threads_put(struct replay_task *, const struct task_op *);
/* Waits for all that the other threads have done. */
void replay_threads_join(struct replay_task *);

/* ---- active.c ---- */

void replay_active_release(struct replay_task *); /* what is known of its requests */

/* ---- calls.c ---- */

/* Does the task make requests that are of a send and a receive? Of its own (generalised)? */
bool replay_pairs(const struct mars_task *);
bool replay_generalises(const struct mars_task *);
/* Is what the record's call becomes the same for all calls with these arguments? */
bool replay_is_constant(struct replay_task *);
/* Is it the first of the task? The computation before it, before MPI_Init, is none of the job's. */
static inline bool replay_first(const struct replay_task *t)
{
    return t->read <= 1 && !(t->threads && t->threads->now);
}
/* The computation before the record, which is not the first. */
static inline uint64_t replay_worked_ns(const struct replay_task *t)
{
    const struct mars_record *r = &t->record;
    uint64_t away = !t->rules->cpu ? 0 : r->away_ns < r->gap_ns ? r->away_ns : r->gap_ns;
    return r->gap_ns - away;
}
/* The same; 0 before MPI_Init. */
static inline uint64_t replay_gap_ns(const struct replay_task *t)
{
    return replay_first(t) ? 0 : replay_worked_ns(t);
}
ker_time replay_gap(const struct replay_task *);
/* What the call took; 0 for what is none of the job's (MPI_Init), or is waiting (tests that find nothing). */
ker_time replay_duration(const struct replay_task *);
/* The operation of the record that t->part says; t->parts is set. *some: there is one. An error names the
 * call and what is wrong; `path` is the trace. */
enum ker_status replay_translate(struct replay_task *, struct task_op *, bool *some, const char *path,
                                 struct ker_error *);

/* ---- shape.c ---- */

/* The index of the record's function in the list of what was called. */
uint32_t replay_called(struct replay_task *, struct trace_code *);
/* The record, the first of its shape, has been put as `op` (NULL: it is none), whose request has this number
 * in the trace: the next ones are to be put likewise where that can be. */
void replay_shape_keep(struct replay_task *, struct trace_code *, const struct task_op *op, uint64_t request);
#define REPLAY_SHAPES_MOST (1u << 16) /* of a block */
/* How the record is to be put; NULL: it is to be read as if it were the first. */
static inline struct replay_shape *replay_shape_of(const struct replay_task *t)
{
    const struct mars_record *r = &t->record;
    bool known = !r->fresh && r->shape < REPLAY_SHAPES_MOST && t->shape[r->shape].road;
    return known ? &t->shape[r->shape] : NULL;
}
/* With a request. */
enum ker_status replay_shape_request(struct replay_task *, struct replay_shape *, struct trace_code *,
                                     const char *path, struct ker_error *);
static inline enum ker_status replay_shape_put(struct replay_task *t, struct replay_shape *shape,
                                               struct trace_code *code, const char *path,
                                               struct ker_error *error)
{
    const struct mars_record *r = &t->record;
    if (t->rules->counts)
        trace_called_add(&code->called, shape->called, r->polls, shape->bytes, r->duration_ns);
    trace_code_compute(code, replay_worked_ns(t));
    if (shape->road >= REPLAY_ROAD_MAKE)
        return replay_shape_request(t, shape, code, path, error);
    if (shape->road != REPLAY_ROAD_NOTHING)
        trace_code_put_again(code, &shape->again, 0, 0);
    return KER_OK;
}
