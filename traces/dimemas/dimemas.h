/* dimemas.h - private to the reader of Dimemas' text traces: dimemas.c (the format), record.c (a line),
 * index.c (the whole file once: tasks, communicators, roots, where tasks stand), task.c (a task's records).
 *
 * Two forms: that of Dimemas 5 ("#DIMEMAS:...", records of numbers with colons) and the older one of
 * MPIDtrace (records of names, numbers in braces).
 */
#pragma once

#include "traces/foreign/request.h"

enum dimemas_doubt { DIMEMAS_DOUBT_SENDS, DIMEMAS_DOUBT_COUNTS, DIMEMAS_DOUBTS };

enum dimemas_kind {
    DIMEMAS_NOTHING, /* events, definitions that mean nothing here */
    DIMEMAS_BURST = 1,
    DIMEMAS_SEND = 2,
    DIMEMAS_RECEIVE = 3,
    DIMEMAS_GLOBAL = 10,
    DIMEMAS_HEADER = 100, /* tasks */
    DIMEMAS_COMMUNICATOR  /* id, and its members */
};

/* ---- record.c ---- */

/* A line as numbers: task, thread, and what the record has behind them; the partner's thread is left out. */
struct dimemas_record {
    struct ker_text *text;
    uint8_t kind;
    uint32_t task;
    double *number;
    size_t numbers, room;
};
/* Reads the next record that means something; false: there is none, or text->status. */
bool dimemas_record_next(struct dimemas_record *);
enum ker_status dimemas_fail(const struct dimemas_record *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum ker_status dimemas_whole(const struct dimemas_record *, size_t index, const char *what, int64_t least,
                              int64_t most, int64_t *value);
/* The place of the line behind the current one in the file. */
uint64_t dimemas_place(const struct ker_text *);

/* ---- index.c ---- */

/* Collectives with a root, of a communicator: only the root may know that it is. */
struct dimemas_roots {
    int32_t *root; /* by their order; -1: nobody is */
    uint32_t count;
};
struct dimemas_place {
    uint64_t first, behind; /* bytes */
    uint32_t line;          /* before the first */
};
struct dimemas_trace {
    struct dimemas_place *place; /* of each task's records */
    uint32_t places;
    struct dimemas_comm {
        int64_t id;
        int32_t index; /* in the job */
    } * comm;
    uint32_t comms;
    struct dimemas_roots *roots; /* by the job's communicators */
};
enum ker_status dimemas_index(struct dimemas_trace *, struct foreign_trace *, struct ker_error *);
void dimemas_index_release(struct dimemas_trace *, int32_t comms);
/* The job's communicator of an id; -1: there is none. */
int32_t dimemas_comm_find(const struct dimemas_trace *, int64_t id);
/* What a global operation is; TASK_COLL_COUNT: unknown. */
uint8_t dimemas_collective(int64_t operation);
bool dimemas_rooted(uint8_t collective);

/* ---- task.c ---- */

enum ker_status dimemas_task_read(const struct dimemas_trace *, struct foreign_task *, struct ker_error *);
