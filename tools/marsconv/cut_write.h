/* cut_write.h - what the parts of writing share: cut_write.c (a task), cut_keep.c (which records),
 * cut_windows.c (one-sided calls), cut_values.c (what they were called with), cut_about.c (definitions).
 */
#pragma once

#include "tools/marsconv/about.h"
#include "tools/marsconv/cut.h"

struct cut_map { /* of a communicator: the new rank of each, -1: gone */
    int32_t *rank, *remote;
    uint32_t size, remote_size;
};

struct cut_request {
    uint8_t kept;                     /* 1: active; 2: persistent, not started; 3: persistent and active */
    bool sends, receives, collective; /* a persistent one: to be decided at each start */
    bool over;                        /* it has completed behind the part */
    uint32_t comm;
};

struct cut_thread {
    bool begun;
    uint32_t number;               /* in the part */
    uint64_t after, ended;         /* calls that the first thread made before it began, before it had ended */
    uint64_t after_cut, ended_cut; /* those of them that are in the part; UINT64_MAX: not known yet */
    uint64_t gap_ns, away_ns, time_ns; /* computation since its last record; where its new time line is */
    uint64_t over_ns;                  /* time of day when its last record was over */
    uint64_t records;                  /* in the part */
};

struct cut_writing {
    struct cut *cut;
    struct conv_walk at;
    struct conv_sink *sink;
    struct mars_task about;
    struct mars_comm **comm; /* as they are in the part */
    struct cut_map *map;
    uint32_t comms, comms_cut;
    __typeof__(((struct mars_task *)0)->info) info;
    uint32_t infos, infos_own; /* the latter stand behind those of the whole */
    char tasks[16];
    struct cut_clock clock;
    const struct cut_kept *kept;
    size_t slot; /* next of kept */
    struct cut_request *request;
    size_t requests;
    uint64_t *sum; /* collectives so far, by communicator */
    uint32_t sums;
    struct cut_thread *thread; /* by their numbers in the whole */
    uint32_t threads, begun;
    uint64_t calls_read, calls; /* of the first thread: in the whole, and in the part */
    struct cut_window *window;  /* by number */
    size_t windows_room;
    int64_t fresh; /* last number of a request that the whole has not; 0: none yet */
    bool finalised;
    struct mars_value *value; /* of the record that is being made */
    size_t values;
    int64_t *list[3];
    size_t room[3];
    struct mars_error *error;
};

void cut_about_begin(struct cut_writing *);
void cut_about_sync(struct cut_writing *);
void cut_about_end(struct cut_writing *);
/* The threads are complete: what the part says of them. */
void cut_about_threads(struct cut_writing *);
const struct mars_function *cut_function(struct cut_writing *, const char *name, const char *fields);

/* ---- cut_values.c: w->value is changed, which holds the record's values; what is decided of requests ----
 */

/* Is the next message (or start, or member of a group) inside the part kept? */
bool cut_slot_next(struct cut_writing *);
struct cut_request *cut_request_at(struct cut_writing *, int64_t number);
void cut_value_set(struct cut_writing *, const struct mars_record *, enum mars_field, int64_t number);
/* One of three lists, with room for `count`; it becomes the field's, with `count` numbers. */
int64_t *cut_list_begin(struct cut_writing *, int which, size_t count);
void cut_list_end(struct cut_writing *, const struct mars_record *, enum mars_field, int which,
                  uint32_t count);
int64_t cut_rank_map(const struct cut_map *, bool remote, int64_t rank);
/* Ranks become those among the tasks that are left; comm: the record's communicator. False: its root or
 * target is gone. */
bool cut_ranks_map(struct cut_writing *, const struct mars_record *, int64_t comm);

/* ---- cut_windows.c ---- */

/* A collective that makes, fences or frees a window: is it kept? */
void cut_window_collective(struct cut_writing *, const struct mars_record *, bool keep);
/* Is the record's window made in the part (or does it have none)? */
bool cut_window_is(struct cut_writing *, const struct mars_record *);
/* Of all other calls on windows; comm: the window's. */
bool cut_window_keep(struct cut_writing *, const struct mars_record *, int64_t comm, enum cut_place);
void cut_windows_release(struct cut_writing *);

/* ---- cut_keep.c ---- */

/* Is the record in the part? *comm: its communicator, 0 if it has none; that of a matched message is found.
 * w->value has what it is called with there. */
bool cut_keep(struct cut_writing *, const struct mars_record *, int64_t *comm, enum cut_place);
