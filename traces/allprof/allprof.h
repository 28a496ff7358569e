/* allprof.h - inside the reader of liballprof traces; docs/traces.md has the format and the rules.
 *
 * A file is read once: it is checked, its operations are kept as a few bytes each (parse.c, request.c), and
 * so is what concerns communicators (scan.c). open() shares the files out among the ranks; rank 0 gathers the
 * latter, resolves it and shares the result (comm.c, share.c). Operations then go to the ranks where the
 * tasks live (traces/store/hand.h).
 */
#pragma once

#include "traces/op.h"
#include "traces/store/store.h"

#include <limits.h>
#include <stddef.h>

struct allprof_file;

struct allprof_rules {
    bool mpich;              /* values of the constants */
    uint64_t unlisted_bytes; /* per pair, where a v-collective does not list its counts */
    bool counts;             /* calls are counted */
    bool times;              /* times are reported (foreign.h) */
    bool pins;               /* the first use of a buffer takes time: */
    ker_time pinning_time, pinning_per_byte;
    bool finalize_gap;           /* the time before MPI_Finalize is computation */
    ker_time poll_gap;           /* the longest one between two tests that is waiting */
    struct ker_inputs *inputs;   /* where files are registered; may be NULL */
    struct allprof_file **spare; /* a closed file stays here, and its buffers are used again; may be NULL */
};

/* ---- file.c: lines of a plain or zstd-compressed file ---- */

/* The file of a task: FOLDER/pmpi-trace-rank-N.txt, or .txt.zst when that is what is there; N may have
 * leading zeros. */
enum ker_status allprof_file_open(struct allprof_file **, const char *folder, uint32_t task,
                                  const struct allprof_rules *, struct ker_error *);
void allprof_file_close(struct allprof_file *);
void allprof_file_free(struct allprof_file *); /* one that is closed */
/* Its path, for messages; malloc'ed. */
char *allprof_file_path(const char *folder, uint32_t task);
/* "PATH:LINE: text" of a task's file that is not open, KER_BAD_INPUT. */
enum ker_status allprof_line_fail(const char *folder, uint32_t task, uint32_t line, struct ker_error *,
                                  const char *format, ...) __attribute__((format(printf, 5, 6)));
/* What has been read of the file and not been handed out: text[begin..end). Who finds a whole line there,
 * whose end is '\n', may take it instead of asking for the next. */
struct allprof_rest {
    char *text;
    size_t begin, end;
    uint32_t number; /* of the last line that was handed out or taken, from 1 */
};
struct allprof_rest *allprof_file_rest(struct allprof_file *);
/* The next line without its line end, terminated by 0, valid until the next call; *line NULL at the end of
 * the file. ALLPROF_SLACK bytes behind it may be read (number.h). */
enum ker_status allprof_file_line(struct allprof_file *, char **line, size_t *bytes, struct ker_error *);
/* "PATH:LINE: text", KER_BAD_INPUT. */
enum ker_status allprof_file_fail(const struct allprof_file *, struct ker_error *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
uint32_t allprof_file_number(const struct allprof_file *); /* of the current line, from 1 */
struct allprof_again;
struct allprof_again *allprof_file_again(const struct allprof_file *); /* lines of it, and of those before */
/* Number of tasks in a folder; files must be numbered from 0 without gaps, and each once. */
enum ker_status allprof_folder_count(const char *folder, uint32_t *tasks, struct ker_error *);
/* A digest of the sizes of their files, in order; *bytes: of all together. */
uint64_t allprof_folder_sizes(const char *folder, uint32_t tasks, uint64_t *bytes);

/* ---- call.c: the calls and their arguments ---- */

enum allprof_kind {
    ALLPROF_LOCAL, /* nothing happens between tasks */
    ALLPROF_MARK,  /* MPI_Pcontrol: perhaps a step begins; its level is `colour` */
    ALLPROF_INIT,
    ALLPROF_FINALIZE,
    ALLPROF_SEND, /* blocking, of call->mode */
    ALLPROF_ISEND,
    ALLPROF_SEND_INIT,
    ALLPROF_RECV,
    ALLPROF_IRECV,
    ALLPROF_RECV_INIT,
    ALLPROF_SENDRECV,
    ALLPROF_PROBE,
    ALLPROF_IPROBE,
    ALLPROF_START, /* one or several */
    ALLPROF_CANCEL,
    ALLPROF_REQUEST_FREE,
    ALLPROF_WAIT,      /* one or all */
    ALLPROF_WAIT_SOME, /* any or some */
    ALLPROF_TEST,      /* one or all */
    ALLPROF_TEST_SOME, /* any or some */
    ALLPROF_STATUS,    /* looks at a status: a hint that a test succeeded */
    ALLPROF_COLLECTIVE,
    ALLPROF_COMM_NEW, /* call->create */
    ALLPROF_COMM_FREE,
};

enum allprof_create { ALLPROF_SPLIT, ALLPROF_DUP, ALLPROF_CREATE, ALLPROF_CART, ALLPROF_CART_SUB };

struct allprof_call {
    const char *name;
    uint8_t kind;       /* enum allprof_kind */
    uint8_t op;         /* enum task_op_kind, where one fits */
    uint8_t mode;       /* enum task_send_mode, enum task_collective or enum allprof_create */
    const char *layout; /* one letter per argument, see calls.c */
};

struct allprof_group { /* a communicator as it is printed */
    uint64_t handle;
    int32_t rank, size;
};

struct allprof_type { /* what is printed of a datatype beside its size */
    int64_t id, extent;
};

/* What was made of a line, for those that are the same but for their times (parse.c). */
struct allprof_made {
    uint64_t when;         /* allprof_again.when; 0: nothing was */
    uint32_t called;       /* which function it calls, with */
    uint64_t bytes;        /* each: see called.c */
    uint8_t stride;        /* see parse.c; 0: it says nothing of it */
    struct allprof_count { /* of the message, see scan.c */
        uint32_t tally;    /* + 1; 0: it is not counted */
        bool receive, any_tag;
        uint64_t bytes, tags, exact;
    } count;
    struct trace_post post;
    struct trace_again op;
};

struct allprof_args {
    const struct allprof_call *call;
    const char *name;         /* as it is in the line; ends at : or 0 */
    int64_t start_us, end_us; /* INT64_MIN for '-' */
    bool has_group;
    struct allprof_group group;
    int64_t count, count2, size,
        size2; /* first and second (count, datatype's size); as they stand: see allprof_bytes */
    struct allprof_type type, type2; /* of the first and second datatype */
    bool in_place;                  /* the send buffer is MPI_IN_PLACE: its count and datatype mean nothing */
    int32_t peer, tag, peer2, tag2; /* root is in peer */
    int32_t colour, key;
    int32_t variables;      /* how many requests */
    int64_t reduction;      /* the operation: small for those of MPI, an address for others */
    uint64_t variable;      /* of a request, of a communicator */
    uint64_t status;        /* its address */
    char *counts, *counts2; /* lists of counts, comma-separated, NULL when not in the trace */
    struct allprof_made made;
};

/* count x size; false where one of them is no int of 0 or more, or the product is beyond ALLPROF_BYTES_MAX.
 */
#define ALLPROF_BYTES_MAX (UINT64_C(1) << 40) /* of one message, as in all other keys */
static inline bool allprof_bytes(int64_t count, int64_t size, uint64_t *bytes)
{
    if (count < 0 || count > INT_MAX || size < 0 || size > INT_MAX)
        return false;
    *bytes = (uint64_t)count * (uint64_t)size;
    return *bytes <= ALLPROF_BYTES_MAX;
}
/* Of a list "3,4,5" of counts, or NULL; those that no call can have are none. */
uint64_t allprof_list_bytes(const char *counts, int64_t size);
/* Which (count, datatype) a collective call's bytes are: 1 the first, 2 the second, 0 none. Others may be
 * rubbish: the root's arguments elsewhere, and those that MPI_IN_PLACE makes meaningless. */
int allprof_bytes_which(const struct allprof_args *);
/* calls.c. NULL: there is no MPI call of this name (of this length, more than 4). */
const struct allprof_call *allprof_call_find(const char *name, size_t length);
/* Does the table have it, and not only its family? */
bool allprof_call_listed(const struct allprof_call *);
/* The call's number in the table and back, for compact storage; numbers are below 255. */
unsigned allprof_call_number(const struct allprof_call *);
/* What is known of a file from its lines so far: the tracer's first line, MPI_Init first, MPI_Finalize last.
 * Zero it before the first line. */
struct allprof_frame {
    bool banner, initialised, finalised;
    struct allprof_rest *rest; /* of the file; NULL before the first line */
    struct allprof_again *again;
};
/* The next line, with the syntax of everything that is used checked: *args live until the next call, and are
 * NULL for comments and empty lines. */
enum ker_status allprof_frame_next(struct allprof_frame *, struct allprof_file *, struct allprof_args **args,
                                   bool *ended, struct ker_error *);

/* ---- scan.c: what a file says about communicators ---- */

enum allprof_event_kind { ALLPROF_EVENT_USE, ALLPROF_EVENT_NEW, ALLPROF_EVENT_FREE };

struct allprof_event {
    uint64_t variable;          /* NEW, FREE: address of the communicator variable */
    struct allprof_group group; /* USE, NEW (the parent) */
    int32_t colour, key;        /* NEW by split */
    int32_t comm;               /* the result: communicator used, the parent of a NEW */
    uint32_t line;
    uint64_t
        digest; /* USE: which collectives with which roots, and in which order, until the next NEW or FREE */
    uint64_t exact;          /* likewise, with their bytes and operations */
    uint32_t collectives;    /* USE: how many */
    uint32_t tally, tallies; /* USE: the first of its messages' counts, and how many; NEW, once resolved: 1 +
                                what it made for this task, and 0 */
    uint8_t kind, create;    /* enum allprof_event_kind, enum allprof_create */
    uint8_t reserved[2];
};
_Static_assert(sizeof(struct allprof_event) == 72, "sent as bytes: no padding");

/* The digest of a, then n more with the digest b, is a x BASE^n + b. */
#define ALLPROF_DIGEST_BASE UINT64_C(0x100000001b3)
static inline uint64_t allprof_digest_factor(uint64_t n)
{
    uint64_t factor = 1;
    for (uint64_t base = ALLPROF_DIGEST_BASE; n; n >>= 1, base *= base)
        if (n & 1)
            factor *= base;
    return factor;
}

struct allprof_events {
    struct allprof_event *event;
    size_t count, room;
};

/* The groups used since the last NEW or FREE. */
struct allprof_seen {
    struct allprof_group *group;
    uint32_t *mark; /* the USE */
    uint32_t count, room;
};

/* The messages that a task exchanges with another while one USE lasts, in one direction. Sums of hashes do
 * not depend on the order. */
struct allprof_traffic {
    uint64_t count, bytes; /* of receives: their room */
    uint64_t tags;         /* sum of a hash of the tags */
    uint64_t exact;        /* sum of a hash of tag and bytes */
};
struct allprof_tally {
    uint32_t event;   /* index of the USE */
    int32_t peer;     /* rank; TASK_ANY for receives from any source */
    uint32_t line;    /* of the last receive */
    uint32_t any_tag; /* receives of any tag */
    struct allprof_traffic send, receive;
    struct allprof_traffic given_up; /* of the receives: cancelled, or freed before they were complete */
};
struct allprof_tally_place { /* where the tally of a USE and peer is, until all are sorted */
    uint32_t event, peer;    /* event: 1 + index of the USE */
    uint32_t index;
};
struct allprof_tallies {
    struct allprof_tally *entry;
    size_t count, room;
    struct ker_table places;
    bool unknown; /* a request is started or cancelled of which it is not known what it is */
};
/* Adds b, whose peer is the same. */
void allprof_tally_add(struct allprof_tally *, const struct allprof_tally *b);

/* MPI_ANY_SOURCE and MPI_PROC_NULL as ours, other ranks as they are; INT32_MIN: not in 0..size-1. */
static inline int32_t allprof_rank(const struct allprof_rules *rules, int64_t value, int32_t size)
{
    if (value == (rules->mpich ? -2 : -1))
        return TASK_ANY;
    if (value == (rules->mpich ? -1 : -2))
        return TASK_PROC_NULL;
    return value >= 0 && value < size ? (int32_t)value : INT32_MIN;
}

struct allprof_scan {
    const struct allprof_rules *rules;
    struct allprof_count count; /* of the last message that was counted */
    struct allprof_events events;
    struct allprof_tallies tallies;
    struct allprof_seen seen;
};
/* Looks at a line; returns the number of the event that it is, or whose communicator it uses; 0: it uses
 * none. */
uint32_t allprof_scan_line(struct allprof_scan *, const struct allprof_args *, uint32_t line);
static inline void allprof_traffic_count(struct allprof_traffic *traffic, const struct allprof_count *count)
{
    traffic->count++;
    traffic->bytes += count->bytes;
    traffic->tags += count->tags;
    traffic->exact += count->exact;
}
/* Counts a message like one before, of the same USE. */
static inline void allprof_count_again(struct allprof_tallies *tallies, const struct allprof_count *count,
                                       uint32_t line)
{
    struct allprof_tally *tally = &tallies->entry[count->tally - 1];
    allprof_traffic_count(count->receive ? &tally->receive : &tally->send, count);
    tally->line = count->receive ? line : tally->line;
    tally->any_tag += count->any_tag;
}
void allprof_scan_end(struct allprof_scan *); /* events and tallies are complete */
void allprof_scan_release(struct allprof_scan *);
void allprof_tallies_release(struct allprof_tallies *);

/* ---- comm.c ---- */

struct allprof_comms {
    struct task_comm *comm;
    int32_t count, room;
    int32_t **owned; /* member lists to free */
    int32_t owned_count, owned_room;
    uint64_t doubts; /* handles that could be bound otherwise, with other traffic */
    char doubt[512]; /* the first of them, in words */
};
/* Fills event[].comm of all files, whose tallies are sorted. tallies may be NULL: *lacks when a decision asks
 * for them, and nothing is resolved then. */
enum ker_status allprof_comms_resolve(struct allprof_comms *, struct allprof_events *files,
                                      const struct allprof_tallies *tallies, uint32_t tasks,
                                      const char *folder, bool *lacks, struct ker_error *);
void allprof_comms_release(struct allprof_comms *);

/* ---- share.c ---- */

/* Of an event, what the operations of its task need. */
struct allprof_use {
    uint32_t line;
    int32_t comm;
};
struct allprof_uses {
    uint64_t *first; /* of task t: use[first[t]] to use[first[t + 1] - 1] */
    struct allprof_use *use;
};
void allprof_uses_make(struct allprof_uses *, const struct allprof_events *files, uint32_t tasks);
void allprof_uses_release(struct allprof_uses *);
/* Collective: all ranks get what rank 0 has. */
void allprof_share(struct allprof_uses *, struct allprof_comms *, uint32_t tasks, struct ker_comm *);

/* ---- pin.c ---- */

/* What is pinned of a task's memory: ascending, apart from each other. Zero it before the first; at is to be
 * freed. */
struct allprof_pins {
    struct allprof_pinned {
        uint64_t begin, end;
    } * at;
    uint32_t count, room;
};
/* How long the call's buffers take to be pinned. */
ker_time allprof_pin(struct allprof_pins *, const struct allprof_args *, const struct allprof_rules *);

/* ---- called.c ---- */

/* Counts a line's call, and keeps in args->made what it is counted as. known: by number of the call, zeroed
 * before the first. */
void allprof_called_count(struct trace_code *, struct allprof_args *, uint32_t known[256]);
static inline void allprof_called_again(struct trace_called *called, const struct allprof_args *args)
{
    struct task_call *call = &called->call[args->made.called];
    call->calls++;
    call->bytes += args->made.bytes;
    if (args->start_us != INT64_MIN && args->end_us > args->start_us)
        call->time_ns += (uint64_t)(args->end_us - args->start_us) * 1000;
}

/* ---- request.c: request variables ---- */

struct allprof_requests;

/* Messages of persistent requests are counted when they are started. */
struct allprof_requests *allprof_requests_new(struct trace_code *, struct allprof_tallies *);
void allprof_requests_free(struct allprof_requests *);
/* A request is made in this variable (stride: bytes from one of an array to the next): returns its id. May
 * decide an open test and write REQUEST_FREE or WAIT operations. */
uint64_t allprof_requests_post(struct allprof_requests *, const struct allprof_call *, uint64_t address,
                               uint32_t line, uint8_t stride, const struct trace_post *,
                               const struct allprof_count *);
/* Every other call that names requests. stride: when the variables themselves do not show it. Returns whether
 * one of them holds one. */
bool allprof_requests_call(struct allprof_requests *, const struct allprof_args *, uint32_t line,
                           uint8_t stride);
/* A status is looked at: the test that was the last operation completed something. */
void allprof_requests_status(struct allprof_requests *, uint64_t status);

/* ---- match.c: do the files belong together? ---- */

/* All members of a communicator must make the same collective calls in the same order. */
enum ker_status allprof_match_collectives(const struct allprof_events *files, uint32_t tasks,
                                          const struct allprof_comms *, const char *folder,
                                          struct ker_error *);
/* Nobody may receive more than is sent. What is given lists all messages to some tasks, in any order; it is
 * sorted. `wrong`: the first of those to a task that does. */
struct allprof_flow {
    int32_t comm, to, from; /* tasks; from TASK_ANY: receives from any source */
    uint32_t line;
    uint64_t sends, receives;
};
/* Appends a task's messages. */
void allprof_flow_add(struct allprof_flow **, size_t *count, size_t *room, uint32_t task,
                      const struct allprof_tally *, size_t tallies, const struct allprof_use *,
                      const struct allprof_comms *);
enum ker_status allprof_match_messages(struct allprof_flow *, size_t count, const struct allprof_comms *,
                                       const char *folder, struct allprof_flow *wrong, struct ker_error *);

/* ---- parse.c ---- */

extern const struct trace_form allprof_form, allprof_form_pins;

/* Reads a task's file: its operations, and what it says about communicators. Both are to be released. */
enum ker_status allprof_parse(struct trace_code *, struct task_taken *, struct allprof_scan *,
                              const struct allprof_rules *, const char *folder, uint32_t task,
                              struct ker_error *);

/* ---- resolve.c: all files together ---- */

struct allprof_read { /* a file that this rank has read */
    uint32_t task;
    struct trace_code code;
    struct task_taken taken;
    struct allprof_events events;
    struct allprof_tallies tallies;
};
struct allprof_together {
    struct allprof_read *read; /* tasks rank, rank + readers, ... */
    uint32_t count, tasks;     /* files that this rank has read; that there are */
    uint32_t readers;          /* ranks that have read files */
    bool compared; /* messages and collectives: marsconv --check does that by itself, and names the calls */
    const char *folder;
    struct ker_comm *comm;
    struct allprof_uses *uses;   /* filled in, as */
    struct allprof_comms *comms; /* the communicators are */
};
/* At most this many files are read by rank 0 alone; 0 (a test): all are shared out. */
extern uint32_t allprof_alone;
/* Collective. Gives back the events and tallies that were read. */
enum ker_status allprof_resolve(struct allprof_together *, struct ker_error *);
