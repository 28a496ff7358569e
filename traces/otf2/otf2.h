/* otf2.h - private to the reader of archives in the Open Trace Format 2: otf2.c (the format), archive.c (the
 * library: definitions and events), define.c (tasks and communicators from definitions), ahead.c (what is
 * said of requests only later), fail.c, events.c (a task's events become its operations), function.c (names
 * of MPI), collective.c.
 *
 * A task is a member of the group of locations that talk by MPI, in its order.
 */
#pragma once

#include "traces/foreign/foreign.h"

#define OTF2_NONE UINT32_MAX /* no root, no such thing */

enum otf2_doubt { OTF2_DOUBT_COUNTS, OTF2_DOUBT_SENDS, OTF2_DOUBT_UNKNOWN, OTF2_DOUBTS };

enum otf2_sizes { OTF2_SIZES_UNKNOWN, OTF2_SIZES_TOTAL, OTF2_SIZES_EACH };

/* ---- definitions, each list ascending by id ---- */

enum otf2_group_type { OTF2_GROUP_LOCATIONS, OTF2_GROUP_RANKS, OTF2_GROUP_SELF, OTF2_GROUP_OTHER };

struct otf2_location {
    uint64_t id, events;
    uint32_t process; /* its group of locations */
    bool thread;      /* others have no regions */
};
struct otf2_region {
    uint32_t id, name; /* name: a string */
    bool mpi;
    const struct trace_function *function; /* NULL: none of MPI */
    const char *text;
};
struct otf2_text {
    uint32_t id;
    char *text;
};
struct otf2_group {
    uint32_t id;
    uint8_t type;
    uint32_t count;
    uint64_t *member;
};
enum otf2_comm_kind { OTF2_COMM_RANKS, OTF2_COMM_SELF, OTF2_COMM_BETWEEN, OTF2_COMM_OTHER };
struct otf2_comm {
    uint32_t id, group;
    uint8_t kind;
    int32_t index; /* in the job */
};

struct otf2_trace {
    const char *path;    /* of the anchor file, foreign_trace.path */
    uint64_t resolution; /* ticks a second */
    uint64_t offset;     /* ticks: before the first event */
    char *creator;
    uint64_t id; /* by which the library distinguishes archives */
    struct otf2_location *location;
    struct otf2_region *region;
    struct otf2_text *text;
    struct otf2_group *group;
    struct otf2_comm *comm;
    uint32_t locations, regions, texts, groups, comms;
    uint64_t members;     /* of all groups */
    uint8_t sizes;        /* enum otf2_sizes: what the sizes of collectives are */
    bool polls;           /* calls that found nothing are calls all the same: mpi.progress looks at them */
    bool unknown;         /* calls that cannot be read are computation */
    const uint64_t *task; /* by task: its location */
};

/* ---- events ---- */

enum otf2_kind {
    OTF2_ENTER, /* region */
    OTF2_LEAVE, /* region */
    OTF2_SEND,  /* peer, comm, tag, sent */
    OTF2_RECEIVE,
    OTF2_ISEND, /* + request */
    OTF2_ISEND_COMPLETE,
    OTF2_IRECV_REQUEST,
    OTF2_IRECV,
    OTF2_TESTED, /* and not found complete */
    OTF2_CANCELLED,
    OTF2_COLLECTIVE_BEGIN,
    OTF2_COLLECTIVE_END, /* collective, comm, root, sent, received */
    OTF2_REQUEST,        /* of a collective that does not block */
    OTF2_COMPLETE,       /* + collective, comm, root, sent, received */
    OTF2_REFUSED,        /* one-sided */
};
/* Collectives beside those of enum task_collective. */
enum { OTF2_COLL_NOTHING = TASK_COLL_COUNT, OTF2_COLL_UNKNOWN };

struct otf2_event {
    uint8_t kind, collective;
    uint32_t peer, comm, tag, region, root;
    uint64_t time, number; /* number: of the location's events, from 1 on */
    uint64_t sent, received, request;
};

/* ---- archive.c ---- */

enum ker_status otf2_archive_read(struct otf2_trace *, struct ker_error *);
/* All events of a location in their order; `event` returns false to end it. */
enum ker_status otf2_archive_events(const struct otf2_trace *, const struct otf2_location *,
                                    bool (*event)(void *context, const struct otf2_event *), void *context,
                                    struct ker_error *);

/* ---- define.c ---- */

/* Sorts the definitions, finds tasks and communicators. */
enum ker_status otf2_define(struct otf2_trace *, struct foreign_trace *, struct ker_error *);
void otf2_release(struct otf2_trace *);
const struct otf2_region *otf2_region_find(const struct otf2_trace *, uint32_t id);
const struct otf2_location *otf2_location_find(const struct otf2_trace *, uint64_t id);
const struct otf2_comm *otf2_comm_find(const struct otf2_trace *, uint32_t id);

/* ---- function.c ---- */

enum otf2_calls {
    OTF2_CALLS_ANY,
    OTF2_CALLS_INIT,
    OTF2_CALLS_FINALIZE,
    OTF2_CALLS_SENDRECV,
    OTF2_CALLS_COLLECTIVE, /* without a record nothing is known of it */
    OTF2_CALLS_POLL,       /* a test, an Iprobe */
    OTF2_CALLS_REFUSED
};
/* By its name in C or Fortran, static; NULL: that is no function of MPI. */
const struct trace_function *otf2_function_find(const char *name);
enum otf2_calls otf2_calls_of(const struct trace_function *);

/* ---- ahead.c ---- */

/* What a request turns out to be of, in the order of the records that make them. */
struct otf2_ahead {
    struct otf2_event *of; /* OTF2_IRECV, OTF2_COMPLETE, OTF2_CANCELLED; OTF2_REFUSED: it is never said */
    size_t count, room;
    struct ker_table active;
};
/* To be shown every event. */
void otf2_ahead_add(struct otf2_ahead *, const struct otf2_event *);
void otf2_ahead_release(struct otf2_ahead *);

/* ---- events.c ---- */

struct otf2_task {
    const struct otf2_trace *trace;
    struct foreign_task *out;
    struct otf2_ahead ahead;
    size_t ahead_next; /* of ahead */
    uint64_t location;
    struct ker_table active; /* requests of the archive to those of the replay */
    uint64_t ids;
    uint64_t *done; /* requests that the call has completed */
    uint32_t dones;
    uint32_t depth;                     /* of regions of MPI */
    const struct otf2_region *outer;    /* the outermost of these */
    uint64_t mark, begun, last;         /* ticks: the last call's end, this one's begin, the last event */
    bool some, init, finalized, opened; /* opened: a collective that has not ended */
    bool unknown;                       /* this call is computation */
    uint32_t records, puts;             /* of the call; operations that it became */
    uint64_t final;                     /* ticks: how long MPI_Finalize took */
    uint64_t bytes;                     /* of the call */
    struct task_op both;                /* of MPI_Sendrecv */
    enum ker_status status;
    struct ker_error *error;
};
/* Once all events were shown to t->ahead: another one; false: t->status. */
bool otf2_task_event(void *task, const struct otf2_event *);
enum ker_status otf2_task_end(struct otf2_task *);
void otf2_task_release(struct otf2_task *);
/* ---- fail.c ---- */

enum ker_status otf2_task_fail(struct otf2_task *, const struct otf2_event *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What the record says cannot be read: the call is computation if the job wants that; else it fails. */
enum ker_status otf2_task_unknown(struct otf2_task *, const struct otf2_event *, const char *why);

/* ---- collective.c ---- */

/* The operation of a collective's record. *some: there is one. */
enum ker_status otf2_collective(struct otf2_task *, const struct otf2_event *, struct task_op *, bool *some);
