/* check.h - what the parts of --check share: check.c (reads the trace), check_calls.c (a task's calls and
 * requests), check_found.c (what is printed), check_messages.c, check_comms.c, check_collectives.c,
 * check_windows.c.
 *
 * What is kept grows with tasks, communicators, outstanding requests and channels, not with calls. A channel
 * is what one task sends to another with one tag on one communicator. When there are more of them than
 * CHECK_CHANNELS, the trace is read several times, each for a part of the receivers.
 */
#pragma once

#include "tools/marsconv/walk.h"

#include <stdio.h>

#define CHECK_CHANNELS ((uint32_t)1 << 21)
#define CHECK_ANY (-1)

/* Where a call is: of a thread, so that it fits into one number. */
static inline uint64_t check_at(const struct conv_task *task, uint64_t number)
{
    return number | (uint64_t)task->thread << 48;
}

struct check {
    struct conv_source *source;
    FILE *to;
    uint64_t findings;
    uint64_t untested;       /* sends whose variable gets another request, where the trace has no MPI_Test */
    bool first;              /* reading: all is checked, else only messages */
    uint32_t part, parts;    /* of the receivers, this time */
    bool overflow;           /* more channels than there is room for */
    bool defined_partly;     /* not all members define their communicators */
    uint64_t finds, depends; /* calls that take what any source sends; that depend on whom they found */
    uint64_t worlds;         /* members of all worlds, as their first tasks say */
    struct ker_table channels, wild, comms, windows;
    struct check_differ *differ; /* collectives to be looked at again */
    size_t differs, differ_room;
};

/* ---- check_found.c ---- */

/* Prints "PLACE: text". */
void check_found(struct check *, uint32_t task, uint64_t at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* How many there were. False: it cannot be written. */
bool check_found_end(const struct check *, struct mars_error *);

/* ---- check_comms.c ---- */

struct check_comm {
    uint64_t id;
    uint64_t members;                    /* digest of the two groups */
    uint32_t size, remote, first, known; /* first task that has it; how many have */
    uint32_t inside;                     /* members that are tasks of the trace */
    bool inter;
    /* Of the first task that has made calls on it. */
    bool called;
    uint32_t caller;
    uint64_t calls, digest;
    uint64_t sent, received; /* sums: what tasks send to each other in collectives, and receive */
    bool differs;
};
struct check_comm *check_comm_find(struct check *, uint64_t id);
/* The communicators that the task has by now, but for the first *known, which have been added. */
void check_comms_add(struct check *, const struct conv_task *, uint32_t *known);
/* Those of which what is sent in collectives is not what is received, into a list with room for all. */
uint32_t check_comms_unequal(struct check *, struct check_comm *);
void check_comms_end(struct check *);

/* ---- check_messages.c ---- */

struct check_message {
    uint64_t comm;      /* id */
    int64_t from, to;   /* tasks; from may be CHECK_ANY */
    int64_t tag;        /* or CHECK_ANY */
    uint64_t bytes, at; /* at: the call */
    bool certain;       /* a receive: bytes and from are what came, not what there was room for */
};
void check_send(struct check *, const struct check_message *, bool taken_back);
/* perhaps: it need not have received anything. */
void check_receive(struct check *, const struct check_message *, bool perhaps);
void check_messages_end(struct check *); /* of this part; tables are empty then */

/* ---- check_collectives.c ---- */

struct check_collective {
    const char *base;
    bool request, persistent;
    int64_t root, bytes; /* bytes -1: they need not be equal, or are a list */
    uint64_t digest;     /* of all of this */
};
/* What a record is for the others of its communicator. */
struct check_collective check_collective_of(const struct conv_function *, const struct mars_record *,
                                            const struct mars_task *, const struct mars_comm *);
struct check_sum { /* of a task on a communicator */
    uint64_t calls, digest;
    bool freed; /* the communicator */
};
void check_collective(struct check *, const struct conv_task *, const struct conv_record *,
                      const struct conv_function *, struct check_sum *);
/* What a task sends to each and receives from each in a call, as sums that are equal over all tasks. */
void check_pairs_of(const struct conv_function *, const struct mars_record *, const struct mars_comm *,
                    uint64_t sequence, uint64_t *sent, uint64_t *received);
/* The task is complete: are its calls those of the others? */
void check_sums_end(struct check *, const struct conv_task *, const struct check_sum *, uint32_t comms);

struct check_differ { /* two tasks whose calls on a communicator differ */
    uint64_t id;
    uint32_t one, other;
};

/* ---- check_windows.c ---- */

struct check_window;
struct check_windows { /* of a task, by its numbers */
    struct check_window *window;
    size_t room;
};
/* The record makes a window or is a call on one. */
void check_window(struct check_windows *, struct check *, const struct conv_walk *);
/* The task is complete; its windows go. */
void check_windows_join(struct check_windows *, struct check *, uint32_t task);
void check_windows_end(struct check *);

/* ---- check_again.c: where collectives differ ---- */

bool check_again(struct check *, struct mars_error *);

/* ---- check_calls.c ---- */

bool check_task(struct check *, uint32_t number, struct mars_error *);
