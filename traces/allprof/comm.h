/* comm.h - inside the resolver of communicators: what its three parts share.
 *
 * allprof_attempt.c begins; comm.c runs all tasks' events and makes communicators; a task that uses a
 * handle which could be one of several communicators waits, and when no task can go on, group.c finds
 * the members of those whose members the call does not show, and bind.c decides which handle is
 * which. Both judge by signs (sign.c): what a task does on a handle.
 */
#pragma once

#include "traces/allprof/allprof.h"

struct allprof_known {  /* a communicator as a task knows it */
    int32_t comm, rank; /* comm below 0: it is not known yet who is in it, see allprof_open */
    uint64_t handle, variable;
    size_t made, freed; /* events: that made it; that ended it, when it is not alive */
    bool bound, alive;  /* the handle is known; it has not been freed */
    bool used;          /* the handle has ever been known */
};

struct allprof_owner { /* a task */
    struct allprof_known *known;
    uint32_t count, room;
    size_t at;    /* its event */
    bool arrived; /* at a NEW, waits for the other tasks */
    bool waits;   /* at the first use of a handle, for a decision */
    bool tried;   /* nothing could be decided for it at this event */
};

struct allprof_open { /* made by a call that does not show the members */
    int32_t parent;
    uint8_t create;
    bool resolved;
};

/* In an attempt, the call of allprof_bind that takes another solution than the first, and which. */
struct allprof_flip {
    uint32_t call, variant; /* variant 0: none */
};

struct allprof_resolver {
    struct allprof_comms *comms;
    struct allprof_events *files;
    const struct allprof_tallies *tallies; /* NULL: they are elsewhere */
    bool lacks;                            /* a decision asks for them */
    struct allprof_owner *task;
    uint32_t tasks;
    int32_t *arrived, *freed; /* per communicator: tasks at a NEW of it, tasks that have freed it */
    int32_t arrived_room;
    struct allprof_open *open;
    int32_t open_count, open_room;
    struct allprof_flip *flip;
    uint32_t flips, calls;     /* calls of allprof_bind in this attempt */
    bool flipped;              /* the last flip was possible */
    uint64_t work, work_limit; /* steps of the search; beyond the limit it is given up */
    const char *folder;
    struct ker_error *error;
};

/* -- comm.c -- */
/* Runs all tasks from the start; *progress: how far they came. */
enum ker_status allprof_attempt(struct allprof_resolver *, uint64_t *progress);

/* -- known.c -- */
enum ker_status allprof_event_fail(struct allprof_resolver *, uint32_t task, size_t event, const char *text);
int32_t allprof_comm_add(struct allprof_resolver *, int32_t size, const int32_t *member);
int32_t *allprof_members_new(struct allprof_resolver *, int32_t size);
struct allprof_known *allprof_known_add(struct allprof_resolver *, struct allprof_owner *, int32_t comm,
                                        int32_t rank, uint64_t variable);
bool allprof_known_fits(const struct allprof_resolver *, const struct allprof_known *,
                        const struct allprof_group *);
/* The communicator with this handle that is alive, whatever rank and size; NULL: none. */
struct allprof_known *allprof_known_alive(const struct allprof_owner *, uint64_t handle);
/* The communicator with this handle, the youngest first. */
struct allprof_known *allprof_known_bound(const struct allprof_resolver *, const struct allprof_owner *,
                                          const struct allprof_group *, bool alive);
/* How many communicators the handle may be, and the oldest of them; those of unknown members count in *opens.
 */
uint32_t allprof_known_unbound(const struct allprof_resolver *, const struct allprof_owner *,
                               const struct allprof_group *, struct allprof_known **first, uint32_t *opens);
/* One that has been freed as far as we guessed, or MPI_COMM_SELF; NULL: none. */
struct allprof_known *allprof_known_last(struct allprof_resolver *, uint32_t task,
                                         const struct allprof_group *);
void allprof_known_bind(struct allprof_owner *, struct allprof_known *, uint64_t handle);

/* -- sign.c: what a task does on a handle, from the making of the communicator to its end -- */
struct allprof_sign {
    uint64_t collectives, digest, exact;
    struct allprof_tally *peer; /* sorted */
    uint32_t peers, room;
};
void allprof_sign_release(struct allprof_sign *);
/* Of the communicator `known` if it had this handle; false: it cannot have it. */
bool allprof_sign_make(struct allprof_resolver *, uint32_t task, const struct allprof_known *,
                       uint64_t handle, struct allprof_sign *);
/* How much two signs on the members of one communicator must agree in; a level is tried when the one before
 * it has no solution. */
enum allprof_level {
    ALLPROF_EXACT,  /* collectives with bytes and operations; messages with tags and bytes */
    ALLPROF_TAGS,   /* collectives with roots; messages with tags, rooms that suffice */
    ALLPROF_COUNTS, /* not more receives than sends, and as few unmatched messages as possible */
    ALLPROF_FEWEST, /* the latter only: what the trace does not show may have sent more */
    ALLPROF_LEVELS,
};
bool allprof_sign_collectives(const struct allprof_sign *, const struct allprof_sign *, enum allprof_level);
/* The messages between rank a, with sign x, and rank b. */
bool allprof_sign_messages(const struct allprof_sign *x, int32_t a, const struct allprof_sign *y, int32_t b,
                           enum allprof_level);
/* How many of them are unmatched, at least. */
uint64_t allprof_sign_unmatched(const struct allprof_sign *x, int32_t a, const struct allprof_sign *y,
                                int32_t b);
/* Messages from a that b does not receive by naming a, and how far off all of them are from those that it
 * receives from any source. */
uint64_t allprof_sign_unnamed(const struct allprof_sign *x, int32_t a, const struct allprof_sign *y,
                              int32_t b);
uint64_t allprof_sign_pool(const struct allprof_sign *y, uint64_t unnamed);
bool allprof_sign_equal(const struct allprof_sign *, const struct allprof_sign *);
bool allprof_sign_empty(const struct allprof_sign *);

/* A handle that a task uses from its present event on and that is none it knows. */
struct allprof_fresh {
    struct allprof_group group;
    size_t first; /* event */
    bool sure;    /* nothing that the task makes before can be it: it exists already */
};
struct allprof_freshes {
    struct allprof_fresh *entry;
    uint32_t count, room;
};
/* In the order of their first use. */
void allprof_fresh_find(struct allprof_resolver *, uint32_t task, struct allprof_freshes *);

/* -- group.c -- */
/* Finds the members of open communicators that waiting tasks need. */
enum ker_status allprof_groups_find(struct allprof_resolver *, bool *found);

/* -- bind.c -- */
/* Decides for every task that waits; they can go on then. */
void allprof_bind(struct allprof_resolver *);
/* A decision that the trace leaves open. */
void allprof_doubt(struct allprof_resolver *, const char *format, ...) __attribute__((format(printf, 2, 3)));
