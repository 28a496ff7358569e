/* reader.h - reads traces of marstrace: a merged file, the file of a task, or a folder of them.
 *
 * Opening reads the blocks' headers only. A task's definitions are read when the task is asked for; its calls
 * come from a stream, a block in memory at a time. Everything is checked: whatever the bytes, a reader
 * returns an error that names file and byte, or hands out values that lie within what was defined. No file is
 * kept open. Streams of one trace may be used by several threads, each by one at a time.
 */
#pragma once

#include "traces/mars/block.h"
#include "traces/mars/define.h"
#include "traces/mars/map.h"

struct mars_trace;

bool mars_trace_open(struct mars_trace **, const char *path, struct mars_error *);
/* The same for a file that lies in memory until it is closed. */
bool mars_trace_open_memory(struct mars_trace **, const char *name, const uint8_t *data, size_t bytes,
                            struct mars_error *);
void mars_trace_close(struct mars_trace *);
/* Is this a folder with traces, or a file that begins like one? */
bool mars_trace_known(const char *path);

uint32_t mars_trace_tasks(const struct mars_trace *);
/* Of the headers of all blocks, wherever these lie: a folder and the file that it was merged into have the
 * same. *bytes: of the blocks. */
uint64_t mars_trace_digest(const struct mars_trace *, uint64_t *bytes);
/* Something that the user should know: tasks that died, files that were cut; from 0 on, NULL at the end. */
const char *mars_trace_warning(const struct mars_trace *, uint32_t number);
/* The first of them that is about a file that was cut; NULL: there is none. */
const char *mars_trace_cut(const struct mars_trace *);

/* ---- definitions ---- */

enum mars_storage { MARS_ONE, MARS_LIST, MARS_TEXT };

enum mars_field {
#define MARS_FIELD(name, storage, meaning) MARS_FIELD_##name,
#include "traces/mars/fields.def"
#undef MARS_FIELD
    MARS_FIELD_UNKNOWN
};

struct mars_function {
    char *name; /* "MPI_Send" */
    uint32_t fields;
    struct mars_function_field {
        uint8_t field, storage;
        char *name; /* as the trace has it */
    } * field;
    int16_t at[MARS_FIELD_UNKNOWN]; /* the first of each field; -1: it has none */
};

enum mars_topology { MARS_PLAIN, MARS_CART, MARS_GRAPH, MARS_DIST_GRAPH };

/* A list of ranks as runs of equal steps, as most are: a communicator of all tasks takes one run however
 * many. */
struct mars_ranks {
    uint32_t count, runs;
    struct mars_run {
        uint32_t start; /* index of its first */
        int32_t first, step;
    } * run;
};
/* The rank at an index below count. */
int32_t mars_rank_at(const struct mars_ranks *, uint32_t index);

struct mars_comm {   /* a communicator, as its task sees it */
    uint64_t id;     /* the same at all its members, and of no other communicator */
    uint32_t parent; /* number of that it was made from; 0: none, or unknown */
    bool inter;
    uint8_t topology;
    int32_t rank;                     /* of the task */
    struct mars_ranks member, remote; /* tasks; -1: one that is not known */
    uint32_t in, out;                 /* neighbours, where there is a topology */
    struct mars_ranks neighbour;      /* ranks here: those it hears from, then those it sends to */
    struct mars_ranks dims;           /* of a Cartesian topology, in turn: extent, 1 where periodic */
};

struct mars_type {
    uint64_t size;
    int64_t lower, extent;
    int32_t combiner; /* as numbered in docs/trace-format.md */
    char *name;
};

struct mars_op {
    bool commutes, own;
    char *name;
};

struct mars_task {
    struct mars_trace *trace;
    uint32_t number, threads;
    bool ended; /* MPI_Finalize has been reached */
    uint64_t resolution_ns;
    uint32_t counters; /* hardware counters; their names, separated by commas, are the info "counters" */
    uint32_t functions, comms, types, ops, maps, infos;
    struct mars_function **function; /* by number; NULL where there is none */
    struct mars_comm **comm;
    struct mars_type **type;
    struct mars_op **op;
    struct mars_map **map; /* of datatypes, by their numbers */
    struct {
        char *key, *value;
    } * info; /* "clock", "world", "library", "resolution_ns", ... */
};

bool mars_task_open(struct mars_task **, struct mars_trace *, uint32_t number, struct mars_error *);
void mars_task_close(struct mars_task *);
const char *mars_task_info(const struct mars_task *, const char *key); /* NULL: it is not there */
/* "thread-1-after" and its like, of thread 1 and "after". */
uint64_t mars_thread_info(const struct mars_task *, uint32_t thread, const char *what, uint64_t absent);
/* For who makes a task of something else. Of "MPI_Wait requests[] done[]", which is changed; NULL: no name,
 * too many fields, or no memory. */
struct mars_function *mars_function_make(char *text);
/* A place for number `number` in one of its tables; NULL: it is far beyond those before, or no memory. */
void **mars_task_place(void ***table, uint32_t *count, uint64_t number);

/* ---- calls ---- */

struct mars_value {
    int64_t number;
    uint32_t count; /* of list, or bytes of text */
    const int64_t *list;
    const char *text;
};

struct mars_record {
    const struct mars_function *function;
    const struct mars_value *value; /* function->fields of them */
    uint32_t shape;                 /* of the block: the same number, the same function and values */
    bool fresh;                     /* the first of this shape in its block */
    uint64_t gap_ns, away_ns; /* computation before it, and how much of that the thread was not running */
    uint64_t duration_ns;
    uint64_t polls;          /* calls folded into this one; 1: none */
    uint64_t rest_ns;        /* between them, outside MPI */
    uint64_t own_ns;         /* of several threads: what the tracer took since the record before */
    const uint64_t *counted; /* hardware counters of its computation, task->counters of them */
};

struct mars_stream;

/* Threads are numbered from 0 without gaps, in order of their first call. */
bool mars_stream_open(struct mars_stream **, const struct mars_task *, uint32_t thread, struct mars_error *);
void mars_stream_close(struct mars_stream *);
/* Values live until the stream's next block is read: for this call and at most the next. False: at the end,
 * or an error, which then has a text. */
bool mars_stream_next(struct mars_stream *, struct mars_record *, struct mars_error *);
/* Time since the stream's first computation, ns. */
uint64_t mars_stream_elapsed_ns(const struct mars_stream *);
/* Time of day when the last record's call was over: exact where the trace has what the tracer took, as that
 * of several threads does; else it lags behind from block to block. */
uint64_t mars_stream_now_ns(const struct mars_stream *);

/* All calls of a task whose threads call MPI, in one order: that in which they were over, as far as the trace
 * shows it, but for calls that use requests which others make first. */
struct mars_threads {
    const struct mars_task *task;
    uint32_t count, now; /* threads; whose record was handed out */
    struct mars_thread {
        struct mars_stream *stream;
        struct mars_record record; /* the next, or that which was handed out */
        bool there;                /* there is one */
        bool began;                /* not of the first: that has made `after` calls, or all of its own */
        uint64_t records, calls;   /* before it */
        uint64_t end_ns;           /* time of day when it is over */
        uint64_t after, ended;     /* calls of the first thread before this one began, and before it ended */
    } * thread;
    uint8_t *request; /* private: what is known of each */
    size_t requests;
};
/* To be closed whatever it returns. */
bool mars_threads_open(struct mars_threads *, const struct mars_task *, struct mars_error *);
void mars_threads_close(struct mars_threads *);
/* threads.now has the next record. False: at the end, or an error, which then has a text. */
bool mars_threads_next(struct mars_threads *, struct mars_error *);
/* Does the first thread's next call wait for the end of another thread? */
bool mars_threads_joined(const struct mars_threads *, uint32_t other);

/* The value of a field of a record; absent when the function has none. */
static inline int64_t mars_number(const struct mars_record *record, enum mars_field field, int64_t absent)
{
    int at = record->function->at[field];
    return at < 0 ? absent : record->value[at].number;
}
static inline const struct mars_value *mars_list(const struct mars_record *record, enum mars_field field)
{
    int at = record->function->at[field];
    return at < 0 ? NULL : &record->value[at];
}
/* The communicator of a number; NULL: the task has none of it. */
static inline struct mars_comm *mars_comm_at(const struct mars_task *task, int64_t number)
{
    return number > 0 && (uint64_t)number < task->comms ? task->comm[number] : NULL;
}
/* The ranks that messages on it go to and come from: those of the other group, where there are two. */
static inline const struct mars_ranks *mars_comm_peers(const struct mars_comm *comm)
{
    return comm->inter ? &comm->remote : &comm->member;
}
/* The requests that a record says are done, one after the other; zeroed at first. */
struct mars_done {
    uint32_t next;
    int64_t index;       /* among those that it names; MARS_ONE_OF */
    int64_t request;     /* its number; -1: the index is none */
    const int64_t *came; /* from where, its tag, its bytes */
};
static inline bool mars_done_next(const struct mars_record *record, struct mars_done *d)
{
    const struct mars_value *list = mars_list(record, MARS_FIELD_requests),
                            *done = mars_list(record, MARS_FIELD_done);
    if (!list || !done || d->next + 3 >= done->count)
        return false;
    d->index = done->list[d->next];
    d->came = done->list + d->next + 1;
    d->request = d->index >= 0 && d->index < list->count ? list->list[d->index] : -1;
    d->next += 4;
    return true;
}
/* The bytes of a call in a profile: those of its send side, and if it has none, of its receive side. */
uint64_t mars_record_bytes(const struct mars_record *);
