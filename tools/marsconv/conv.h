/* conv.h - traces as marsconv sees them, whatever their format.
 *
 * Which formats there are, and which one a trace has, marssim's table says. Here a format reads a trace as
 * tasks with definitions and records in the form of traces/mars/reader.h, which says the most; traces are
 * written in our own format alone. So whatever looks at a trace (stats, check, cut) is written once, and a
 * format more whose kind has a struct foreign_reader is read without a line here.
 *
 * Everything streams: a task's calls are read one after the other, and what is kept does not grow with them.
 * All functions that return bool return false with a text in the error.
 */
#pragma once

#include "traces/mars/mars.h"
#include "traces/traces.h"

#include <stdio.h>

struct conv_format;

struct conv_options {
    bool wall;     /* where a format has one clock: computation is that of the wall, not of the processor */
    bool mpich;    /* where a format does not say it: constants are those of MPICH */
    bool no_waits; /* what calls waited for other tasks is left out */
    const char *const *key; /* "NAME=VALUE": keys of jobs[] that say how the simulator reads a format */
    unsigned keys;
};

struct conv_source { /* a trace, being read */
    const struct conv_format *format;
    const char *name;                     /* of the format */
    const struct foreign_reader *foreign; /* of conv_foreign: which */
    bool untimed;                         /* it does not say how long calls take */
    const char *path;
    const struct conv_options *options;
    uint32_t tasks;
    bool found; /* it could not be opened for what --check looks for */
    void *own;
};

struct conv_task { /* a task, being read */
    struct conv_source *source;
    struct mars_task *about; /* definitions; a reader may add to them with each record */
    uint32_t thread;         /* of the last record */
    uint64_t number;         /* of the last record, in its thread */
    void *own;
};

struct conv_record {
    struct mars_record call;
    uint64_t number; /* of the record in its thread, or of the line, from 1 */
    uint32_t thread;
    uint64_t start_ns; /* of the call, since the thread's first computation began */
    uint64_t over_ns;  /* time of day when the call was over, ns since 1970; 0: not known */
    bool first;        /* of its task: the computation before it is none of MPI's program */
    bool assumed;      /* counts that the format does not have are equal parts */
    bool added;        /* it is for what the format does not say by a call of its own */
};

struct conv_sink { /* a trace, being written in our own format */
    const char *path;
    struct conv_losses *losses;
    void *own;
};

struct conv_format {
    const char *name; /* of its kind in the family "jobs[].format"; NULL: of several */
    bool keys;        /* conv_options.key says how it is read */
    bool untimed;
    bool sums; /* it can be summed up and checked, but makes no trace */
    bool (*open)(struct conv_source *, struct mars_error *);
    void (*close)(struct conv_source *);
    /* What the user should know of the trace, from 0 on; NULL at the end. NULL: nothing. */
    const char *(*warning)(const struct conv_source *, uint32_t number);
    bool (*task_open)(struct conv_task *, uint32_t task, struct mars_error *);
    void (*task_close)(struct conv_task *);
    bool (*thread_open)(struct conv_task *, uint32_t thread, struct mars_error *); /* or CONV_ALL */
    /* False: at the end, or an error, which then has a text. Values live until the next call. */
    bool (*next)(struct conv_task *, struct conv_record *, struct mars_error *);
    /* Where the record is: "PATH: task 3, call 7", or "FILE:LINE". */
    void (*place)(const struct conv_task *, uint64_t number, char *text, size_t room);
};

/* ---- formats.c ---- */

extern const struct conv_format conv_mars, conv_schedule;
extern const struct conv_format conv_foreign; /* of all formats that have a struct foreign_reader */
/* The format of a trace, as marssim finds it (traces/traces.h), or as --key format= says; opens nothing. */
bool conv_find(struct conv_source *, const char *path, const struct conv_options *, struct mars_error *);
void conv_formats_list(FILE *); /* a line each */
bool conv_open(struct conv_source *, const char *path, const struct conv_options *, struct mars_error *);
void conv_close(struct conv_source *);
bool conv_task_open(struct conv_task *, struct conv_source *, uint32_t number, struct mars_error *);
void conv_task_close(struct conv_task *);
#define CONV_ALL UINT32_MAX /* threads: their records in one order */
bool conv_thread_open(struct conv_task *, uint32_t thread, struct mars_error *);
bool conv_next(struct conv_task *, struct conv_record *, struct mars_error *);
#define CONV_PLACE 4200
/* Where record `number` of the task is; the text is `room`. */
const char *conv_place(const struct conv_task *, uint64_t number, char room[CONV_PLACE]);

/* ---- mars_write.c: tasks one after the other; a thread begins before its first record, in order ---- */

bool conv_sink_create(struct conv_sink *, struct mars_error *);
bool conv_sink_begin(struct conv_sink *, const struct mars_task *, uint32_t thread, struct mars_error *);
bool conv_sink_put(struct conv_sink *, const struct mars_task *, const struct conv_record *,
                   struct mars_error *);
/* All of the task's definitions are there now. */
bool conv_sink_end(struct conv_sink *, const struct mars_task *, struct mars_error *);
/* fine: false: what was written is removed. */
bool conv_sink_finish(struct conv_sink *, bool fine, struct mars_error *);

/* A task as it is, but for what is changed (NULL: nothing). */
struct conv_change {
    const char *key, *value; /* of an information that is added */
    void (*record)(void *context, struct conv_record *);
    void *context;
};
bool conv_copy(struct conv_source *, struct conv_sink *, uint32_t task, const struct conv_change *,
               struct mars_error *);

/* ---- losses.c: what a schedule, or a part, cannot say ---- */

struct conv_losses {
    struct conv_loss {
        char *text;
        uint64_t count;
    } * loss;
    uint32_t count;
};
/* "MPI_Ibarrier is left out"; counted by its text. */
void conv_lost(struct conv_losses *, uint64_t count, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void conv_losses_print(struct conv_losses *, const char *path); /* warnings; releases them */
void conv_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- function.c: what a function is ---- */

enum conv_sort {
    CONV_LOCAL,
    CONV_SEND, /* it has dest; CONV_EXCHANGE: and source */
    CONV_RECV,
    CONV_EXCHANGE,
    CONV_COMPLETE, /* it has requests and done */
    CONV_START,
    CONV_COLLECTIVE, /* every task of the communicator calls it */
    CONV_CREATE,     /* likewise, and it makes a communicator, a window or a file */
};

/* What the bytes of a collective must be for the others'. */
enum conv_equal {
    CONV_EQUAL_NONE,
    CONV_EQUAL_BYTES,      /* the send side's, at all tasks */
    CONV_EQUAL_RECVBYTES,  /* the receive side's, at all tasks */
    CONV_EQUAL_EACH,       /* the list of the send side, at all tasks */
    CONV_EQUAL_RECV_EACH,  /* that of the receive side */
    CONV_EQUAL_GATHER,     /* what a task sends is what the root receives from it */
    CONV_EQUAL_SCATTER,    /* and the reverse */
    CONV_EQUAL_PAIRS,      /* what a task sends to another is what that receives from it */
    CONV_EQUAL_NEIGHBOURS, /* likewise, over each edge of a topology */
};

struct conv_function {
    const char *base; /* "Bcast" of MPI_Bcast, MPI_Ibcast and MPI_Bcast_init */
    uint8_t sort, equal;
    uint8_t collective; /* enum task_collective */
    bool quiet;         /* it concerns no other task */
    bool request;       /* it makes one */
    bool persistent;    /* that does nothing before it is started */
};

struct conv_functions { /* those met last; zeroed at first */
    struct {
        const struct mars_function *function;
        struct conv_function is;
    } known[64];
    struct conv_function unsized;
};
/* Of the functions of one task. */
const struct conv_function *conv_function(struct conv_functions *, const struct mars_function *);

/* Of a record, whose counts are not compared where they are assumed; lives until the next call. */
const struct conv_function *conv_function_of(struct conv_functions *, const struct conv_record *);

/* ---- cut.c: a part of a trace, created and written but not finished ---- */

bool conv_cut(struct conv_source *, struct conv_sink *, const char *part, struct mars_error *);

/* ---- waits.c: a trace without what calls waited for other tasks, likewise ---- */

bool conv_no_waits(struct conv_source *, struct conv_sink *, struct mars_error *);

/* ---- of a trace that is open; an error has a text ---- */

void conv_write(struct conv_source *, struct conv_sink *, const char *cut, struct mars_error *);
bool conv_stats_of(struct conv_source *, bool json, FILE *, struct mars_error *);
bool conv_check_of(struct conv_source *, FILE *, uint64_t *findings, struct mars_error *);

/* ---- what marsconv does; all return its exit status: 0, 1 (check found something) or 2 ---- */

int conv_convert(const char *from, const char *to, const char *cut, const struct conv_options *);
/* Into a GOAL schedule, which is no trace. */
int conv_goal(const char *from, const char *to, const struct conv_options *);
/* A schedule of this pattern (tasks/graphs/pattern.h); keys of its job, "commsize=16". */
int conv_pattern(const char *name, const char *const *keys, unsigned count, const char *path);
int conv_check(const char *path, const struct conv_options *);
int conv_steps(const char *path, const struct conv_options *);
int conv_stats(const char *path, bool json, const struct conv_options *);
