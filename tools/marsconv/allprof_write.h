/* allprof_write.h - the writing half of the format of liballprof: allprof_write.c (files, times, and what
 * becomes of a call), allprof_args.c (arguments), allprof_done.c (completions).
 *
 * Addresses are ours: a request of number n lies in the n-th of a row of variables, so that the requests of
 * an array lie side by side when their numbers do; a communicator's handle and variable go by its number.
 */
#ifndef CONV_ALLPROF_WRITE_H
#define CONV_ALLPROF_WRITE_H

#include "tools/marsconv/allprof.h"

#include <stdio.h>

#define APW_BUFFER UINT64_C(0x10000000)
#define APW_STATUS UINT64_C(0x20000000)
#define APW_REQUESTS UINT64_C(0x30000000)
#define APW_COMMS UINT64_C(0x40000000)
#define APW_VARIABLES UINT64_C(0x50000000)
#define APW_NULL 0 /* number of a request variable that never holds one */

static inline uint64_t apw_request(int64_t number)
{
    return APW_REQUESTS + 8 * (uint64_t)number;
}

enum apw_comm { APW_UNKNOWN, APW_SILENT, APW_KNOWN }; /* not to be said; made, not used yet; used */

struct apw {
    FILE *to;
    char *path;
    uint32_t begun; /* files */
    struct conv_losses *losses;
    bool wall;
    /* Of the task. */
    bool one_clock, initialised, finalised;
    uint64_t time_ns;          /* where the time line is: the call's end */
    uint64_t start_us, end_us; /* of the call that is being written */
    uint64_t computed_ns;      /* in the gap before it */
    uint8_t *comm;             /* enum apw_comm, by number */
    uint32_t comms;
    uint8_t *active; /* requests, by number: 1, or 2 for persistent ones */
    size_t requests;
    bool polled; /* the call before was a test that found nothing */
    struct conv_functions functions;
    struct {
        const struct mars_function *function;
        const struct allprof_call *call;
    } known[64];
};

struct apw_line {
    struct apw *w;
    const struct mars_task *about;
    const struct mars_record *record;
    const struct allprof_call *call;
};

/* ---- allprof_args.c ---- */

/* Everything between start and end, as the call's layout has it; `request`: address of its variable, `count`:
 * of an array. */
void apw_args(const struct apw_line *, uint64_t request, int64_t count);
void apw_comm_put(const struct apw_line *, int64_t number);

/* ---- allprof_done.c ---- */

/* A Start or Startall. */
void apw_start(const struct apw_line *);

/* A Wait or Test, of one or several. */
void apw_complete(const struct apw_line *);
void apw_posted(struct apw *, int64_t number, bool persistent);
bool apw_active(const struct apw *, int64_t number);
void apw_forgotten(struct apw *, int64_t number);

/* ---- allprof_write.c for these ---- */

/* A line with the call's times; another one behind it takes no time. name: NULL, the call's own. */
void apw_put(const struct apw_line *, const char *name, uint64_t request, int64_t count);
/* As many lines as polls are folded in the record. */
void apw_polls_put(const struct apw_line *, const char *name, uint64_t request, int64_t count);

#endif
