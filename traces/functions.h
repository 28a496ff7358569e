/* functions.h - the functions of MPI (functions.def): what a call is, by its name. */
#pragma once

#include "traces/op.h"

enum trace_sort {
    TRACE_LOCAL,
    TRACE_BEGIN, /* MPI_Init */
    TRACE_END,   /* MPI_Finalize */
    TRACE_ABORT,
    TRACE_MARK,     /* MPI_Pcontrol: perhaps a step begins */
    TRACE_MESSAGE,  /* in one direction */
    TRACE_EXCHANGE, /* both */
    TRACE_PAIR,     /* both, and one request for them */
    TRACE_MATCHED,  /* a message that a probe has found */
    TRACE_NAMED,    /* a request is named */
    TRACE_COMPLETE,
    TRACE_STATUS,      /* of a request, which stays */
    TRACE_GENERALISED, /* a request of the program's own is made */
    TRACE_PROBE,
    TRACE_PARTITIONED, /* makes a partitioned request, or says or asks for what its partitions are */
    TRACE_COLLECTIVE,
    TRACE_CREATE,       /* a communicator, by all of the old one */
    TRACE_CREATE_GROUP, /* by the members of the new one */
    TRACE_WINDOW_MAKE,
    TRACE_WINDOW,         /* a call on a window */
    TRACE_WINDOW_BARRIER, /* and a barrier of its tasks */
    TRACE_OTHER,          /* by its fields: */
    TRACE_FILES,
    TRACE_UNKNOWN, /* what it passes between tasks nobody knows */
};

#define TRACE_MARK_LEAST 2 /* MPI_Pcontrol: levels from here on mark the beginning of a step */

struct trace_function {
    const char *name; /* "MPI_Send" */
    uint8_t sort;     /* enum trace_sort */
    uint8_t op;       /* enum task_op_kind */
    uint8_t more;     /* enum task_send_mode, enum task_collective, or a bit of a window's operation */
};

/* NAME_c is NAME, of large counts; NULL: nobody knows the function. */
const struct trace_function *trace_function_find(const char *name);
/* That which blocks: MPI_Bcast of MPI_Ibcast and MPI_Bcast_init. */
const struct trace_function *trace_function_blocking(const struct trace_function *);
/* "MPI_Bcast", of enum task_collective. */
const char *trace_collective_name(unsigned collective);
static inline bool trace_function_neighbours(const struct trace_function *f)
{
    return f->sort == TRACE_COLLECTIVE && task_coll_among_neighbours(f->more);
}
