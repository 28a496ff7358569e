/* allprof.h - what the parts of the format of liballprof share: allprof_read.c (the trace), allprof_line.c (a
 * line becomes a record).
 *
 * A line and what the replay makes of it are read side by side: the line has the arguments and times, the
 * operations (traces/allprof) have what only other lines tell: communicators, requests, what tests
 * completed, and which gaps are no computation.
 */
#ifndef CONV_ALLPROF_H
#define CONV_ALLPROF_H

#include "tools/marsconv/about.h"
#include "traces/allprof/allprof.h"

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

/* ---- allprof_line.c ---- */

struct apc_reading { /* of a task */
    struct apc_trace *trace;
    struct allprof_file *file;
    struct allprof_frame frame;
    struct allprof_scan scan;
    struct allprof_args *args;
    struct trace_reader ops;
    struct task_op op; /* the next one that is not used yet */
    bool has_op;
    int32_t *comm; /* of each event */
    struct conv_about about;
    struct conv_held *held;
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
    struct conv_made made;
    struct ker_error error;
};
/* The record of the line in `args` (or of an operation that it implies). */
void apc_line(struct apc_reading *, struct conv_record *);
void apc_op_next(struct apc_reading *); /* reads ahead; sums up computations on the way */

#endif
