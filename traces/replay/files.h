/* files.h - private to the replay: calls on files, where they travel to servers (jobs[].io = "modelled").
 *
 * view.c: which bytes of a file a view shows. files.c: which files a task has open, where it is in them, and
 * what a call accesses. joint.c: what calls of several tasks access, which each of them has to know, found by
 * gather.c. io.c: the operations of a call.
 *
 * A file that is opened collectively is, at all tasks, the n-th that its communicator has opened; and its
 * collective accesses are counted. So a call of several tasks has the same name at all of them (struct
 * replay_joint_key), without a message.
 */
#pragma once

#include "traces/replay/arguments.h"

/* ---- view.c ---- */

/* Pieces of a file, in the order of the view. */
struct replay_runs {
    struct store_run *run;
    size_t count, room, steps; /* steps: of finding them */
    uint64_t bytes;
};
#define REPLAY_STEPS_MOST ((size_t)1 << 24) /* of one access */
/* The filetype again and again, from `displacement` on. */
struct replay_view {
    uint64_t displacement, unit; /* unit: bytes of the elementary datatype */
    uint64_t size, extent;       /* of the filetype */
    const struct mars_map *map;  /* NULL: it has no holes */
};
/* `bytes` of what the view shows, from its byte `at` on. False: some lie before the file, or
 * beyond 2^62, or there are too many. */
bool replay_view_runs(const struct replay_view *, uint64_t at, uint64_t bytes, struct replay_runs *);
/* Do they overlap, or go back? */
bool replay_runs_overlap(const struct replay_runs *);
/* The first byte of them from x on, or UINT64_MAX; the end of the last one below x, or 0. */
uint64_t replay_run_first(const struct store_run *, uint64_t x);
uint64_t replay_run_last(const struct store_run *, uint64_t x);

/* ---- files.c ---- */

enum replay_collective { REPLAY_AUTOMATIC, REPLAY_ENABLED, REPLAY_DISABLED }; /* romio_cb_write, _read */
struct replay_hints {
    uint64_t aggregators, buffer; /* 0: the trace does not say */
    uint8_t write, read;
};

struct replay_file {
    bool open, posix;
    uint32_t number;      /* where it is stored */
    uint32_t nth;         /* of those that its communicator has opened */
    uint32_t calls;       /* collective accesses so far */
    uint32_t uses, turns; /* of the shared pointer: by the task, and collective ones */
    int32_t comm;         /* the job's */
    uint64_t at;          /* own pointer, in units of the view */
    uint64_t exists;      /* bytes that it has before the job */
    uint64_t furthest;    /* joint.c: the end of what has been read */
    uint32_t seen;        /* joint.c: which of all */
    struct replay_view view;
    struct replay_hints hints;
    struct trace_two_phase two; /* io.c; when it is first used */
};

/* What several tasks do together: the n-th file that their communicator has opened, and which of its
 * collective accesses. Or, of one task, which of its uses of the file's shared pointer. */
struct replay_joint_key {
    int32_t comm;
    uint32_t nth, call;
    uint32_t shared; /* 1: a use of the shared pointer */
};

enum replay_access_kind {
    REPLAY_NOTHING,
    REPLAY_TIME, /* it is computation of the time that it took: of no file that is stored */
    REPLAY_OPEN,
    REPLAY_CLOSE,
    REPLAY_SYNC,
    REPLAY_DATA
};
/* What a call does. */
struct replay_access {
    enum replay_access_kind kind;
    struct replay_file *file;
    bool writes, together; /* together: all tasks of its communicator do it at once */
    bool shared, ordered;  /* the shared pointer is used; by all, one after the other */
    bool sets, relative;   /* it is set, or moved: to, or by, `units` */
    int64_t units;         /* of the view */
    struct replay_joint_key key;
    struct replay_runs runs; /* of DATA; where the shared pointer is used: when that is known */
    uint64_t bytes;
    int64_t got; /* of a read; -1: the trace does not say */
};

/* The files of a task whose calls are being read. */
struct replay_files {
    struct replay_file *file; /* by the task's numbers */
    size_t files;
    uint32_t *opened; /* by the task's communicators */
    struct replay_access access;
    /* io.c: how far the record's call is */
    uint8_t stage;
    size_t next; /* of the runs */
    uint32_t posted;
    struct trace_two_phase_at at;
    uint64_t words[STORE_WORDS];
    uint64_t names; /* given so far */
    struct replay_further {
        uint64_t request, first, count; /* names of what a request of the trace waits for besides */
    } * further;
    size_t furthers;
};

/* What the record's call does, in t->files->access. */
enum ker_status replay_access_get(struct replay_task *, const struct replay_wrong *);
struct replay_files *replay_files_new(const struct replay_task *);
void replay_files_free(struct replay_files *);

/* ---- joint.c: what all tasks have to know of all ---- */

/* A rank's part in what several do; as it travels, its runs are behind it. */
struct replay_item {
    struct replay_joint_key key;
    int32_t rank;
    uint32_t turn; /* of the shared pointer: collective uses before it */
    uint32_t all, sets, relative, unused;
    int64_t units;              /* that are taken, or set; then: where the pointer was */
    uint64_t time, runs, first; /* first: of its runs in `run` */
};
/* What a rank of the simulator has found. */
struct replay_found_files {
    struct ker_bytes items;
    struct replay_found_file { /* a file that a task has opened, and how far it was read */
        char *name;
        uint64_t furthest;
    } * file;
    uint32_t count;
    int64_t *opened; /* by communicators: 1, files were opened on it */
};

struct replay_joint;
/* What the tasks of a communicator access at once. */
struct replay_together {
    struct replay_joint_key key;
    size_t first, count; /* of its runs, by ranks */
    uint32_t ranks;
    uint64_t low, high;
    bool interleaved;            /* some rank begins before the one below it ends */
    struct trace_window *window; /* of each aggregator, when it has been asked for */
};
/* The keys storage.files. */
void replay_joint_lengths(struct replay_joint *, const struct ker_config *);
/* The number of a file, and how long it is before the job. */
uint32_t replay_joint_file(const struct replay_joint *, const char *name, size_t length, uint64_t *exists);
/* A communicator's double, for messages of collective accesses; itself, of one task. */
int32_t replay_joint_comm(const struct replay_joint *, int32_t comm);
struct replay_together *replay_joint_together(const struct replay_joint *, const struct replay_joint_key *);
/* Of a rank: how many of the bytes that it accesses lie before x. */
uint64_t replay_joint_below(const struct replay_joint *, const struct replay_together *, uint32_t rank,
                            uint64_t x);
/* Sets together->window, by what the call says of the aggregators. */
void replay_joint_windows(const struct replay_joint *, struct replay_together *,
                          const struct trace_two_phase_call *);
/* Where the shared pointer is. */
int64_t replay_joint_pointer(const struct replay_joint *, const struct replay_joint_key *, int32_t rank);
/* Collective; communicators that open files are doubled. */
struct replay_joint *replay_joint_new(const struct replay_found_files *, struct replay_comms *,
                                      struct ker_comm *);
void replay_joint_free(struct replay_joint *);

/* ---- gather.c ---- */

/* Collective, when the communicators have been found: reads the calls on files of the tasks rank, rank +
 * ranks, ... NULL: there are none. */
enum ker_status replay_joint_find(struct replay_joint **, const struct replay_rules *, struct replay_comms *,
                                  struct mars_trace *, const char *path, struct ker_comm *,
                                  struct ker_error *);

/* ---- io.c ---- */

/* The next operation of the record's call on a file; *some false: there is none left. A COMPUTE, whose time
 * is not set, is all that the call is. */
enum ker_status replay_file_op(struct replay_task *, struct task_op *, bool *some,
                               const struct replay_wrong *);
/* Of a call that completed requests: a wait for what else those stand for; false: nothing. */
bool replay_file_further(struct replay_task *, struct task_op *);
