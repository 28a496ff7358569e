/* foreign.h - traces of other tools: foreign.c (the trace), foreign_record.c (an operation of its reader
 * becomes a record).
 */
#pragma once

#include "tools/marsconv/about.h"
#include "tools/marsconv/job.h"

#include "traces/foreign/foreign.h"

/* Outstanding requests. Waits for any of several do not say which: when as many were made as there are
 * requests, all are done. */
struct cfr_live {
    struct ker_table ids;
    uint32_t any;
};

struct cfr_reading { /* of a task */
    const struct task_program *program;
    const struct foreign_reader *reader;
    struct conv_about about;
    struct conv_made made;
    struct conv_held *held;
    struct trace_reader ops;
    struct task_op op; /* the next one, when there is one */
    bool has_op, begun, by_line;
    struct cfr_live live, never; /* never: requests for which the task will not wait, read before */
    uint64_t to_free;            /* such a one, to be freed now; 0: none */
    const char *call;            /* a call that is reported, of which there is no record yet; NULL: none */
    uint32_t call_line;
    uint64_t call_took; /* ps */
    /* Picoseconds. Of the time before `op`: computed, apart: neither computed nor in calls that are reported;
     * the last three: what is less than a ns, and comes later. */
    uint64_t computed, apart, clock, computed_rest, apart_rest, took_rest;
    uint64_t now_ns, over_ns;
    uint32_t line; /* of the last record */
    bool missing;  /* lists of counts, of a reader that should have them */
};
/* From the first operation on. */
void cfr_begin(struct cfr_reading *);
bool cfr_next(struct cfr_reading *, struct conv_record *);
void cfr_end(struct cfr_reading *);
