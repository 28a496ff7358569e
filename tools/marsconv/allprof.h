/* allprof.h - what the parts of the format of liballprof share: allprof_read.c (the trace), allprof_line.c (a
 * line becomes a record), allprof_about.c (definitions), allprof_write.c, allprof_requests.c.
 *
 * A line and what the replay makes of it are read side by side: the line has the arguments and times, the
 * operations (tasks/traces/allprof) have what only other lines tell: communicators, requests, what tests
 * completed, and which gaps are no computation.
 */
#ifndef CONV_ALLPROF_H
#define CONV_ALLPROF_H

#include "tools/marsconv/conv.h"

#include "kernel/kernel.h"
#include "tasks/traces/allprof/allprof.h"

struct apc_file { /* of a task */
    struct trace_code code;
    struct allprof_event *event;
    size_t events;
};

struct apc_trace {
    struct allprof_rules rules;
    struct trace_store store;
    struct apc_file *file;
    struct allprof_comms comms;
    char doubt[640];
    char unlisted[256];
    struct ker_error error;
};

/* ---- allprof_about.c: definitions that grow as they are met ---- */

struct apc_about {
    struct mars_task *task;
    const struct allprof_comms *comms;
    uint32_t *comm; /* number by index in comms; 0: none yet */
    struct apc_known_type {
        int64_t id, size, extent;
        uint32_t number;
    } last_type[2];
    uint32_t functions, comms_made, types, ops; /* numbers used */
    uint32_t function[1024];                    /* numbers, by a hash of the name */
};
void apc_about_begin(struct apc_about *, uint32_t task, uint32_t tasks, const struct allprof_comms *);
void apc_about_end(struct apc_about *); /* the task itself is the caller's */
/* A name and its fields, as a definition has them. */
const struct mars_function *apc_function(struct apc_about *, const char *name, const char *fields);
struct mars_function *apc_function_make(const char *name, const char *fields);
void apc_function_free(struct mars_function *);
int64_t apc_comm(struct apc_about *, int32_t index); /* 0 for an index below 0 */
int64_t apc_type(struct apc_about *, const struct allprof_type *, int64_t size);
int64_t apc_op(struct apc_about *, int64_t reduction);

/* ---- allprof_held.c: requests of a task, by numbers that are used again ---- */

struct apc_held;
struct apc_held *apc_held_new(void);
void apc_held_free(struct apc_held *);
/* A request of this id is made in a variable: its number. */
int64_t apc_held_make(struct apc_held *, uint64_t id, uint64_t variable, bool persistent);
int64_t apc_held_number(const struct apc_held *, uint64_t id); /* 0: it is none any more */
/* What the variable holds. */
int64_t apc_held_in(const struct apc_held *, uint64_t variable);
void apc_held_done(struct apc_held *, uint64_t id, bool freed);

/* ---- allprof_line.c ---- */

struct apc_reading { /* of a task */
    struct apc_trace *trace;
    struct allprof_file *file;
    struct allprof_frame frame;
    struct allprof_scan scan;
    struct allprof_args args;
    struct trace_reader ops;
    struct task_op op; /* the next one that is not used yet */
    bool has_op;
    int32_t *comm; /* of each event */
    struct apc_about about;
    struct apc_held *held;
    const char *folder;
    char name[64]; /* of a call that is one of a family */
    uint32_t line;
    uint8_t stride;
    uint64_t computed_us; /* computation up to the next operation, of which no record tells yet */
    bool tested;          /* the last call, but for local ones, was a test */
    int64_t last_end_us;
    uint64_t clock_us;          /* where the time line is */
    bool begun, ended, pending; /* pending: args are a line that is still to be told */
    int32_t line_comm;
    struct mars_value value[MARS_FIELD_UNKNOWN], numbers[2], *values;
    int64_t *list[3];
    size_t room[3], values_room;
    struct ker_error error;
};
/* The record of the line in `args` (or of an operation that it implies). */
void apc_line(struct apc_reading *, struct conv_record *);
void apc_op_next(struct apc_reading *); /* reads ahead; sums up computations on the way */

#endif
