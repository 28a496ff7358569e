/* simgrid.h - private to the reader of SimGrid's time-independent traces (smpirun -trace-ti), as version 3.32
 * writes and replays them: simgrid.c (the format), files.c (which files), line.c (a line), number.c, task.c
 * (a task's actions), collective.c.
 *
 * A trace is a list of files, one for each task, or one file of all tasks. A line is the number of a task, an
 * action, and numbers.
 */
#pragma once

#include "traces/foreign/request.h"

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

/* The current line: its task, its action in small letters, and the numbers behind it. */
struct simgrid_line {
    struct ker_text *text;
    uint32_t task;
    char action[24];
    double *number;
    size_t numbers, room;
};
/* Reads the next line with an action; false: there is none, or a status in text->status. */
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

struct simgrid_task {
    const struct simgrid_trace *trace;
    struct foreign_task *out;
    struct simgrid_line line;
    struct foreign_requests requests;
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

bool simgrid_trace_known(const char *path); /* does it begin as one? */
