/* store.h - the operations of traced tasks as bytes: a reader checks a trace once and puts them here, the
 * replay takes them from here.
 *
 * A few bytes for each operation (code.c). As long as all tasks of a rank together stay below a limit they
 * remain in memory; the rest lies in a temporary file (store.c), of which a task has a window of some hundred
 * bytes. Tasks are written one after the other, and read in any order. A position is a number of bytes from
 * the task's first operation on, wherever they lie, and the same on any rank.
 */
#pragma once

#include "kernel/config/config.h"
#include "traces/store/called.h"

/* How the operations of a trace are written. */
struct trace_form {
    ker_time unit; /* of times */
    bool lines;    /* operations have lines */
    bool events;   /* task_op.comm is a number that the reader's map turns into a communicator */
};

#define TRACE_NAMES 254 /* most of a trace: different task_op.call; behind them 255 is free */

struct trace_names {
    const char *name[TRACE_NAMES + 1]; /* in `text` */
    size_t bytes;
    char text[]; /* one behind the other, each with its 0 */
};

/* Of all tasks of a trace on a rank. */
struct trace_store {
    struct trace_form form;
    uint64_t gap_most;   /* TRACE_GAP_MOST in units */
    uint64_t most, held; /* bytes of operations in memory: at most, about, and of the tasks read so far */
    size_t step;         /* how often it is looked whether there are too many */
    int file;            /* for what is beyond; -1: there is none */
    uint64_t end;
    int failure;                       /* errno */
    const char *name[TRACE_NAMES + 1]; /* of calls, from 1 on */
    uint8_t place[512];                /* where names stand, by their addresses */
    uint32_t names;
    struct trace_names **other; /* names as other ranks have numbered them */
    uint32_t others;
    struct trace_functions functions;
};
void trace_store_init(struct trace_store *, uint64_t most, struct trace_form);
void trace_store_release(struct trace_store *);
/* To be asked when everything is written, before anything is read. */
enum ker_status trace_store_status(const struct trace_store *, struct ker_error *);
/* How a trace is kept: jobs[].trace_memory. */
extern const struct ker_option trace_store_options[];

/* An operation as it is written, but for its line and request. */
struct trace_again {
    uint8_t call, bytes, body[30];
    bool has_request;
    uint8_t whole;    /* so often it is written whole before it may become known to its task */
    bool plain;       /* it is known, and has neither a line nor a request */
    uint8_t known[2]; /* what it is written as, if it is known; 0: it is not */
};
#define TRACE_KNOWN 255 /* most of a task */

/* The operations of a task. Zero it but for the store. */
struct trace_code {
    struct trace_store *store;
    const char *const *name; /* when it is complete: of calls, by their numbers from 1 on; NULL at the end */
    uint64_t begin;          /* position of byte[0]: so much is in the file */
    uint64_t place;          /* where it begins there */
    uint8_t *byte;
    size_t used, room;
    size_t cut;            /* used: when to look whether it is too much */
    size_t free_to;        /* used: below there is room for an operation, and nothing to look at */
    uint64_t total;        /* when it is complete: all bytes */
    uint32_t line;         /* of the last operation */
    uint64_t gap;          /* computation not yet written, in units; at most TRACE_GAP_MOST of it will be */
    struct task_op *known; /* decoded, but for line and request; `request`: enum, in code.c */
    uint32_t knowns;
    struct trace_again *known_as; /* the same while it is written, */
    uint8_t *known_place;         /* and where they are, + 1, by their hashes */
    struct trace_called called;   /* the reader's counts, if it counts */
    bool beside; /* it stays in memory: it is written beside another one, and appended to that */
    /* The last operation can be taken back. */
    uint64_t last_begin, last_op;
    uint32_t last_line;
    uint64_t last_gap;
};
#define TRACE_GAP_MOST                                                                                       \
    ((ker_time)9000000 * KER_S) /* longer than any simulation: picoseconds must not overflow */

/* Appends an operation, whose `call` is static text, behind the computation `gap`, which then is 0. Returns
 * where it lies. Of a COMPUTE the time, a multiple of the unit, is cut to TRACE_GAP_MOST. */
uint64_t trace_code_put(struct trace_code *, const struct task_op *);
/* False: of this kind, or with these numbers, there is none. */
bool trace_again_make(struct trace_again *, const struct trace_code *, const struct task_op *);
uint64_t trace_code_put_again(struct trace_code *, struct trace_again *, uint32_t line, uint64_t request);
/* Adds to the computation before the next operation. */
static inline void trace_code_compute(struct trace_code *code, uint64_t units)
{
    uint64_t most = code->store->gap_most, rest = most - code->gap;
    code->gap = units < rest ? code->gap + units : most;
}
/* Tests, Waitany and Waitsome can be decided later, whatever came after them: did they complete something,
 * and which request (0: leave)? */
void trace_code_decide(struct trace_code *, uint64_t at, int8_t outcome, uint64_t request);
int8_t trace_code_outcome(const struct trace_code *, uint64_t at, uint64_t *request);
/* The source of a receive that was written with TASK_RECEIVE_LATER, and its tag; or the peer of an operation
 * whose peer was TASK_FOUND or less, its tag as it is. */
void trace_code_set_peer(struct trace_code *, uint64_t at, int32_t peer, const int32_t *tag);
/* Takes the operation back when it is the last one: computation before and after it become one. */
bool trace_code_undo(struct trace_code *, uint64_t at);
/* Appends the operations of one that was written beside; returns where they begin. */
uint64_t trace_code_append(struct trace_code *, const struct trace_code *);
void trace_code_end(struct trace_code *); /* nothing follows */
void trace_code_release(struct trace_code *);

struct trace_reader {
    const struct trace_code *code; /* complete */
    const uint8_t *at;             /* what can be read now */
    const uint8_t *low;            /* from here on there may be less than an operation */
    uint64_t origin;               /* the position of *at is so much more than its address */
    struct trace_form form;        /* of the store */
    const int32_t *comm;           /* form.events: of each; NULL: the world is all there is */
    uint32_t line;
    uint32_t room;
    uint64_t *scratch; /* lists of the last operation */
    uint8_t *window;   /* of the file */
    uint64_t start;    /* a position: */
    bool repeats; /* when it says that there is no more, as it does at TASK_OP_END, too, it is there again */
    bool marks;   /* marks of steps are read, too */
};
/* Continues at a position behind which an operation begins (0: the first), and whose line number was this. */
void trace_reader_seek(struct trace_reader *, uint64_t at, uint32_t line);
/* Tests have the outcome 1: those that completed nothing are left out. False: there is no more. */
bool trace_reader_next(struct trace_reader *, struct task_op *);
/* The time of the operation that it would read, if that is a computation and nothing else; 0: it is not, or
 * what can be read now does not say. */
ker_time trace_reader_computes(const struct trace_reader *);
void trace_reader_release(struct trace_reader *);
static inline uint64_t trace_reader_position(const struct trace_reader *reader)
{
    return reader->origin + (uintptr_t)reader->at;
}

/* ---- requests ---- */

/* Equal receives change places.
 *
 * MPI matches messages to receives in the order in which these were posted. So of outstanding receives from
 * the same source with the same communicator, tag and room it is the oldest that is completed first,
 * whichever message comes first in the simulation; a trace may show another, since completion is not
 * matching. Then the oldest is completed in the place of the one that the trace shows, and that one takes the
 * oldest one's place: the number of messages received up to any point is that of the trace.
 */
struct trace_post {
    uint64_t comm; /* any number that distinguishes it from others */
    uint64_t bytes;
    int32_t peer, tag;
    bool receive, persistent;
};

/* What a variable of the program holds. */
struct trace_held {
    uint64_t id;  /* of the request in the replay; 0: none */
    uint64_t age; /* later posts have larger numbers */
    struct trace_post post;
};

/* Could the message for `a` as well have completed `b`? */
static inline bool trace_held_equal(const struct trace_held *a, const struct trace_held *b)
{
    const struct trace_post *p = &a->post, *q = &b->post;
    return p->receive && q->receive && !p->persistent && !q->persistent && p->comm == q->comm &&
           p->peer == q->peer && p->tag == q->tag && p->bytes == q->bytes;
}

/* `completed` is what the trace shows, `oldest` the equal one that was posted first (or the same). Returns
 * the id of the request that is completed; `completed` then holds it, and `oldest` what is still outstanding.
 */
static inline uint64_t trace_held_swap(struct trace_held *completed, struct trace_held *oldest)
{
    uint64_t id = oldest->id, age = oldest->age;
    oldest->id = completed->id;
    oldest->age = completed->age;
    completed->id = id;
    completed->age = age;
    return id;
}

/* ---- store.c for code.c and hand.c ---- */

#define TRACE_OP_BYTES 100 /* more than an operation takes without its lists */

/* Instead of writing: there will be `total` bytes, which come in their order. */
void trace_code_expect(struct trace_code *, uint64_t total);
void trace_code_fill(struct trace_code *, const uint8_t *, size_t bytes);
/* Bytes of what is complete. */
void trace_code_copy(const struct trace_code *, uint64_t at, uint8_t *, size_t bytes);

/* To be called when code->used has reached code->cut, before an operation is written. */
void trace_code_cut(struct trace_code *);
/* Bytes below code->begin. */
void trace_code_peek(const struct trace_code *, uint64_t at, uint8_t *, size_t bytes);
void trace_code_poke(struct trace_code *, uint64_t at, const uint8_t *, size_t bytes);
/* When reader->at has reached reader->low: gets more; false: there is nothing left. */
bool trace_reader_more(struct trace_reader *);
