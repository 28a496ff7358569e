/* simgrid.h - private to the reader of SimGrid's time-independent traces (smpirun -trace-ti), as version 3.32
 * writes and replays them: simgrid.c (the format), files.c (which files), line.c (a line), number.c, task.c
 * (a task's actions), collective.c, request.c.
 *
 * A trace is a list of files, one for each task, or one file of all tasks. A line is the number of a task, an
 * action, and numbers.
 */
#ifndef TASK_SIMGRID_H
#define TASK_SIMGRID_H

#include "tasks/graphs/text.h"
#include "tasks/traces/foreign/foreign.h"

/* What SimGrid writes for ranks that are none: MPI_ANY_SOURCE, and MPI_PROC_NULL as well. */
#define SIMGRID_NOBODY (-333)
#define SIMGRID_ANY_TAG (-444)
/* Sendrecv is written without its tags. */
#define SIMGRID_SENDRECV_TAG INT32_MAX

enum simgrid_doubt {
    SIMGRID_DOUBT_COMM,
    SIMGRID_DOUBT_NOBODY,
    SIMGRID_DOUBT_SENDRECV,
    SIMGRID_DOUBT_WAITALL,
    SIMGRID_DOUBT_NEVER,
    SIMGRID_DOUBTS
};

struct simgrid_trace {
    char **file; /* of each task; of a file of all tasks: one */
    uint32_t files;
    double flop_rate;
    uint64_t derived_bytes; /* of an element of a derived datatype; 0: unknown */
};

/* ---- line.c ---- */

/* The line at hand: its task, its action in small letters, and the numbers behind it. */
struct simgrid_line {
    struct graph_text *text;
    uint32_t task;
    char action[24];
    double *number;
    size_t numbers, room;
};
/* Goes to the next line with an action; false: there is none, or a status in text->status. */
bool simgrid_line_next(struct simgrid_line *);
/* A number that is whole and within bounds; an error names `what` it is. */
enum ker_status simgrid_whole(const struct simgrid_line *, size_t index, const char *what, int64_t least,
                              int64_t most, int64_t *value);
/* KER_BAD_INPUT with file and line, and the action. */
enum ker_status simgrid_fail(const struct simgrid_line *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- files.c ---- */

enum ker_status simgrid_files_find(struct simgrid_trace *, struct foreign_trace *, struct ker_error *);
void simgrid_files_release(struct simgrid_trace *);

/* ---- request.c ---- */

/* The requests of a task that are under way, for all that the trace says. */
struct simgrid_request {
    int32_t source, destination, tag; /* what waits and tests name */
    uint64_t id;
    uint64_t test;         /* place of the last test of it in the store; UINT64_MAX: none */
    uint32_t before, next; /* in the order of their calls; 0: none */
    uint32_t same;         /* the next with the same names */
};
struct simgrid_requests {
    struct simgrid_request *request; /* from 1 on */
    uint32_t used, spare;            /* spare: the first of those that are free, by `next` */
    uint32_t first, last, count;     /* under way */
    size_t room;
    struct ker_table named; /* the first and last of each name */
    uint32_t any;           /* so many are done, but it is not known which */
    uint64_t ids;
    bool guessed; /* a test was taken to have completed its request */
    uint64_t *list;
    size_t list_room;
};
/* A new one; its id. */
uint64_t simgrid_request_new(struct simgrid_requests *, struct foreign_task *, int32_t source,
                             int32_t destination, int32_t tag);
/* The oldest of a name; NULL: there is none. */
struct simgrid_request *simgrid_request_find(struct simgrid_requests *, int32_t source, int32_t destination,
                                             int32_t tag);
/* It is under way still, after its last test. */
void simgrid_request_again(struct simgrid_request *, struct foreign_task *);
/* It is done with. */
void simgrid_request_done(struct simgrid_requests *, struct simgrid_request *);
/* All that are under way, as a list of ids that lives until the next call. */
const uint64_t *simgrid_request_all(struct simgrid_requests *, uint32_t *count);
void simgrid_request_none(struct simgrid_requests *); /* all are done with */
/* One of them is, which is not known. */
void simgrid_request_one(struct simgrid_requests *);
/* The task ends: the last test of a request that was not waited for has completed it. */
void simgrid_request_end(struct simgrid_requests *, struct foreign_task *);
void simgrid_requests_release(struct simgrid_requests *);

struct simgrid_task {
    const struct simgrid_trace *trace;
    struct foreign_task *out;
    struct simgrid_line line;
    struct simgrid_requests requests;
    uint64_t *bytes[2]; /* lists of a collective, for each task */
    bool begun, ended;
};
/* ---- number.c ---- */

/* Bytes of numbers[index] elements of a datatype, numbers[type]; SIZE_MAX: bytes. */
enum ker_status simgrid_bytes(const struct simgrid_task *, size_t index, size_t type, uint64_t *bytes);
/* Computation of numbers[index] flops. */
enum ker_status simgrid_flops(const struct simgrid_task *, size_t index);
enum ker_status simgrid_seconds(const struct simgrid_task *, size_t index); /* the same, seconds */

/* ---- task.c ---- */

enum ker_status simgrid_task_read(const struct simgrid_trace *, struct foreign_task *, struct ker_inputs *,
                                  struct ker_error *);

/* ---- collective.c ---- */

/* False: the action is no collective. */
bool simgrid_collective(struct simgrid_task *, enum ker_status *);

#endif
