/* model.h - private to tasks/loggops/: processes, events, and what they cost.
 *
 * A process has cpus and adapters ("nics"), each with the times from which it is free. Its events are taken
 * in a fixed order: by time, then by when what caused them was handled (three generations), then by the
 * process that made them and its count of events. An event whose cpu or adapter is not free is put back to
 * when it will be, and keeps its place among others of that time. Messages are sent to the event queue of the
 * receiver. So what a process does depends on its own events only, whatever rank it is on.
 */
#pragma once

#include "tasks/graphs/pattern.h"
#include "tasks/loggops/loggops.h"
#include "tasks/loggops/record.h"
#include "tasks/mpi/mpi.h"

/* What is sent between processes that are near each other. */
struct loggops_class {
    int level;
    enum { LOGGOPS_PROCESSES, LOGGOPS_NODES, LOGGOPS_GROUPS } by;
    uint32_t size;   /* of a block of processes, of nodes */
    uint32_t *group; /* by groups: of each node; else NULL */
    struct loggops_parameters set;
};

/* Detours of cpus; without any: none. */
struct loggops_noise {
    struct node_detours detours;
    bool same;      /* for all processes, and there is the phase */
    ker_time phase; /* of time 0 in the span */
    uint64_t seed;
    uint32_t purpose;
};

enum loggops_kind {
    LOGGOPS_OPERATION, /* of the process's own graph */
    LOGGOPS_MESSAGE,   /* with its bytes */
    LOGGOPS_REQUEST,   /* of a sender whose message waits until it is matched */
    LOGGOPS_CLEAR,     /* rendezvous by write: the sender may send */
    LOGGOPS_FETCH,     /* by read: its adapter sends */
    LOGGOPS_DATA,      /* of a message that was matched before */
    LOGGOPS_LEFT,      /* by read: the sender's message has been read */
    /* Of programs of MPI (programs.c); `tag` says what they need: */
    LOGGOPS_START,
    LOGGOPS_TIMER,
    LOGGOPS_WORK, /* `bytes` picoseconds of the cpu; op: for which stream; of none, tag: what it waits for */
    LOGGOPS_WORKED, /* it has had them */
    LOGGOPS_HAND,   /* a message is sent; op: which (held), match: to which process */
    LOGGOPS_SENT,   /* the cpu has sent it; bytes: its cookie */
    LOGGOPS_COMES,  /* a message; op: which (held) */
    LOGGOPS_CAME,   /* it has been taken in */
};

/* What the event of a program needs to be free. */
#define LOGGOPS_CPU 1u
#define LOGGOPS_SENDING 2u /* the adapter, this way */
#define LOGGOPS_RECEIVING 4u
#define LOGGOPS_NEEDS 8u
#define LOGGOPS_AT_ONCE 8u /* the MPI model learns of it when it begins to be taken in */

#define LOGGOPS_GENERATIONS 3

struct loggops_event {
    ker_time time;
    /* When what made it was handled, and what made that; -1: nothing. With s->counted: when what made it was
     * handled, and how many events were made before it; the latter first with LOGGOPS_UNTIMED. */
    ker_time cause[LOGGOPS_GENERATIONS];
    union {
        uint64_t bytes;
        struct {
            uint32_t step, more; /* of operations: this many more, each by so much further */
        };
    };
    uint32_t origin, number; /* the process that made it, and its count */
    uint32_t process;        /* that it happens to: local index */
    uint32_t child, next;    /* in the queue; next also in lists */
    uint32_t tag;            /* of operations: enum graph_kind */
    uint32_t op, match;      /* the sender's operation, or the process's own; the receiver's */
    uint8_t kind, cpu, nic;
    uint8_t heads; /* it is, or was, the first of those that wait for the same: struct loggops_blocked */
};

struct loggops_list {
    uint32_t first, last;
    uint32_t lookup : 31, odd : 1; /* of lists of match.c: looked up there, or 0; has a message of any tag */
};

struct loggops_posted {
    uint32_t op, next, peer, tag;
};

/* Of a pattern: an operation of whose dependencies some are met. */
struct loggops_left {
    uint32_t op, count, next;
};

/* An operation that has become free. */
struct loggops_free {
    uint32_t op;
    uint8_t kind, cpu, nic;
};

/* What waits for the same cpu and adapter: only the first of it is in the queue. */
struct loggops_blocked {
    uint32_t first; /* an event in the queue; KER_NONE: nothing waits, or the event is gone */
    uint32_t rest;  /* those behind it, by their order without the time */
};

struct loggops_process {
    const struct graph_task *task; /* NULL: a pattern's, computed */
    ker_time *ready;               /* of each operation: when what it depends on was done; with one
                                      cpu that needs no memory: NULL */
    uint32_t job;
    uint32_t number;                        /* events it has made */
    uint32_t done;                          /* operations */
    uint32_t left;                          /* of a pattern: list of struct loggops_left */
    struct loggops_list posted, unexpected; /* receives without a message, messages without a receive */
};

/* A component of the engine: one process, or all of them, where they touch each other without delay. */
struct loggops_group {
    struct loggops_system *system;
    uint32_t first; /* process */
    uint32_t queue; /* its least event */
    ker_time wake;  /* earliest timer that is posted; KER_TIME_MAX: none */
};

struct loggops_job {
    const char *name;
    bool background;  /* the run does not wait for it */
    bool mpi;         /* a program of MPI, or message-driven: has no file, pattern, unit and graph */
    const char *file; /* the configuration's; NULL: there is a pattern */
    struct graph_pattern *pattern;
    uint32_t first, tasks; /* global numbers of its processes */
    ker_time start;
    double factor;
    uint64_t unit;
    struct graph *graph; /* of the processes on this rank */
    uint64_t
        under_way; /* s->halts: messages sent less those that have come, here: a part of a sum modulo 2^64 */
    bool halted;   /* nothing of it moves any more, and it has not finished */
};

/* A message of MPI that waits to be sent, or is taken in. */
struct loggops_held {
    struct net_envelope envelope;
    uint64_t bytes, cookie;
    ker_time created;
    ker_time unhindered; /* when it has come, or is in, where no cpu and adapter made it wait */
};

/* A process that runs a program of MPI, or message-driven: for the model of that it is a node. */
struct loggops_member {
    struct loggops_system *system;
    const struct node_service *service;
    void *tasks;                        /* the service's state */
    ker_time messages, until;           /* so long these have taken its cpu, or will have until then */
    uint32_t process;                   /* local index */
    struct loggops_list own;            /* what it asks for, behind what is in the queue */
    bool asks;                          /* something of its own is there */
    ker_time read[LOGGOPS_GENERATIONS]; /* of the last FIN: a message of its own had been read */
    bool stepped; /* it has sent a message or posted a receive since it last asked for its cpu */
};

struct loggops_programs {
    struct loggops_member *member; /* by local index */
    KER_POOL(struct loggops_held) held;
    ker_time cause[LOGGOPS_GENERATIONS]; /* of what is asked for now */
};

struct loggops_system {
    const struct task_jobs *all;       /* all jobs, and where tasks are placed */
    struct loggops_programs *programs; /* NULL: there are schedules in GOAL only */
    struct loggops_parameters set;
    struct loggops_class *class; /* ascending */
    uint32_t classes;
    uint32_t *node; /* of each process; NULL: no class asks for it */
    struct loggops_noise noise;
    struct loggops_records *records; /* NULL: nothing of it is wanted */
    bool watched;                    /* there is noise, or there are records: whoever takes a cpu looks */
    struct loggops_job *job;
    uint32_t jobs, processes; /* of all ranks */
    uint32_t first, count;    /* on this rank */
    uint32_t ranks;           /* over which they are spread: the first `processes % ranks` have one more */
    uint32_t cpus, nics;
    bool together;   /* one group */
    bool counted;    /* so that one rank may count all events: they have the order in which they were made */
    uint64_t serial; /* counted: events made */
    bool instant;    /* that is because of rendezvous */
    bool halts;      /* jobs in the background may continue when the others cannot: task_loggops_halted */
    ker_time lookahead, direct; /* direct: of notices beside the model; 0: there are none */
    struct ker_engine *engine;
    struct loggops_process *process;
    struct loggops_group *group;
    bool *loaded;                    /* which processes were; NULL: none */
    ker_time *ready;                 /* of all its processes */
    struct loggops_blocked *blocked; /* process x resource */
    uint32_t resources;              /* of a process: cpus; cpu and adapter, sending, receiving; adapters */
    ker_time *free_at;               /* process x (cpus, then sending, then receiving adapters) */
    KER_POOL(struct loggops_event) events;
    /* While one event is handled: operations that become free, of the process itself, and of a sender that
     * is notified without delay. */
    struct loggops_process *current, *other;
    struct loggops_released {
        struct loggops_free *op;
        uint32_t count, room;
    } released[2];
    KER_POOL(struct loggops_posted) posted;
    KER_POOL(struct loggops_left) left;
    struct ker_chunks lookups; /* of long lists */
    uint64_t handled, messages;
    uint64_t
        unlike[LOGGOPS_FAULTS];    /* how often each of the faults, not done, would have made a difference */
    uint64_t came, bytes, latency; /* messages that have come, their payload, the sum of their latencies */
    uint64_t steps;                /* of searches, for tests */
};

/* The global number of a process on this rank. */
static inline uint32_t loggops_rank(const struct loggops_system *s, const struct loggops_process *p)
{
    return s->first + (uint32_t)(p - s->process);
}
/* Does it run a program of MPI, not a schedule? */
static inline bool loggops_is_program(const struct loggops_system *s, const struct loggops_process *p)
{
    return s->programs && s->job[p->job].mpi;
}
static inline ker_time *loggops_cpu(struct loggops_system *s, const struct loggops_process *p, unsigned cpu)
{
    return &s->free_at[(size_t)(p - s->process) * (s->cpus + 2 * s->nics) + cpu];
}
static inline ker_time *loggops_sending(struct loggops_system *s, const struct loggops_process *p,
                                        unsigned nic)
{
    return loggops_cpu(s, p, s->cpus + nic);
}
static inline ker_time *loggops_receiving(struct loggops_system *s, const struct loggops_process *p,
                                          unsigned nic)
{
    return loggops_cpu(s, p, s->cpus + s->nics + nic);
}

static inline struct loggops_event *loggops_event_at(struct loggops_system *s, uint32_t index)
{
    return &s->events.at[index];
}
static inline struct loggops_group *loggops_group_of(struct loggops_system *s,
                                                     const struct loggops_process *p)
{
    return &s->group[s->together ? 0 : p - s->process];
}
/* Where a counted event has its count. */
static inline unsigned loggops_serial_at(const struct loggops_system *s)
{
    return s->set.faults & LOGGOPS_UNTIMED ? 0 : 1;
}
static inline ker_time loggops_later(ker_time a, ker_time b)
{
    return a > b ? a : b;
}

/* Of an event of a program. */
static inline unsigned loggops_needs(const struct loggops_event *e)
{
    bool message = e->kind == LOGGOPS_HAND || e->kind == LOGGOPS_COMES;
    if (e->kind == LOGGOPS_WORK)
        return e->bytes || e->tag ? LOGGOPS_CPU : 0;
    return message ? e->tag & (LOGGOPS_NEEDS - 1) : 0;
}

/* -- queue.c: events by their order, pairing heaps in one pool -- */
void loggops_queue_put(struct loggops_system *, uint32_t *queue, uint32_t event);
bool loggops_behind(const struct loggops_event *, const struct loggops_event *of); /* the time apart */
uint32_t loggops_queue_take(struct loggops_system *, uint32_t *queue);             /* the least; not empty */
void loggops_queue_each(const struct loggops_system *, uint32_t queue,
                        void (*)(void *context, uint32_t event), void *context);

/* -- cost.c -- */
/* The cpu is taken until then. */
void loggops_cpu_take(struct loggops_system *, struct loggops_process *, unsigned cpu, ker_time until);
/* ... from `from` on for `time`, which detours may delay, and for `further`. */
void loggops_cpu_work(struct loggops_system *, struct loggops_process *, unsigned cpu, ker_time from,
                      ker_time time, ker_time further);
/* A new event made by process p; cause: what it is to have of those. */
uint32_t loggops_event_new(struct loggops_system *, struct loggops_process *p, const ker_time *cause,
                           enum loggops_kind);
/* A send takes its cpu and adapter for this many bytes; returns when it is at the other side, process `to`.
 */
ker_time loggops_transmit(struct loggops_system *, struct loggops_process *, unsigned cpu, unsigned nic,
                          ker_time now, uint64_t bytes, uint32_t to);
/* What has come takes cpu and adapter of its receiver. */
void loggops_take_in(struct loggops_system *, struct loggops_process *, const struct loggops_event *,
                     uint64_t bytes);

/* -- ops.c -- */
static inline const struct graph_op *loggops_op(const struct loggops_system *s,
                                                const struct loggops_process *p, uint32_t number,
                                                struct graph_op *room)
{
    if (p->task)
        return &p->task->op[number];
    const struct loggops_job *j = &s->job[p->job];
    graph_pattern_op(j->pattern, loggops_rank(s, p) - j->first, number, room);
    return room;
}
uint32_t loggops_ops(const struct loggops_system *, const struct loggops_process *); /* how many it has */
/* Is there more to do? With LOGGOPS_OWN_SIZES a send that nobody frees is reported by nobody: at the end,
 * when no event is left, only receives and messages that wait count. */
static inline bool loggops_unfinished(const struct loggops_system *s, const struct loggops_process *p)
{
    bool all = p->done >= loggops_ops(s, p);
    if (__builtin_expect(s->set.faults & LOGGOPS_OWN_SIZES, 0))
        return p->posted.first != KER_NONE || p->posted.lookup || p->unexpected.first != KER_NONE ||
               p->unexpected.lookup || (!all && s->group[0].queue != KER_NONE);
    return !all;
}
/* When its last cpu became free; KER_TIME_MAX: it has not finished. */
ker_time loggops_finish(struct loggops_system *, const struct loggops_process *);
/* When an operation can be taken at the earliest, as far as is known. */
static inline ker_time loggops_op_time(struct loggops_system *s, const struct loggops_process *p,
                                       unsigned kind, unsigned cpu, unsigned nic, ker_time now)
{
    ker_time time = loggops_later(now, *loggops_cpu(s, p, cpu));
    return kind == GRAPH_SEND ? loggops_later(time, *loggops_sending(s, p, nic)) : time;
}
/* An operation has begun, or is done, at that time: what waits for it becomes free, in s->released. */
void loggops_op_begun(struct loggops_system *, struct loggops_process *, const struct graph_op *,
                      ker_time when);
void loggops_op_done(struct loggops_system *, struct loggops_process *, uint32_t number, ker_time when);
/* What has become free goes into the queue, by kind: sends, receives, calculations. */
void loggops_released_put(struct loggops_system *, struct loggops_process *, struct loggops_released *,
                          const ker_time *cause, ker_time now);

/* -- programs.c -- */
void loggops_programs_begin(struct loggops_system *);
/* It starts at that time. */
void loggops_program_begin(struct loggops_system *, struct loggops_process *, ker_time at);
void loggops_program_event(struct loggops_system *, struct loggops_process *, uint32_t index);
void loggops_begin(struct loggops_system *, struct loggops_process *, ker_time start);

/* -- match.c -- */
void loggops_match_init(struct loggops_system *);
void loggops_match_free(struct loggops_system *);
/* The message that a receive meets, an event, out of its list; KER_NONE: none, it is posted. */
uint32_t loggops_match_receive(struct loggops_system *, struct loggops_process *, uint32_t number,
                               const struct graph_op *);
/* The receive that a message meets, out of its list; false: none, the event is kept. */
bool loggops_match_message(struct loggops_system *, struct loggops_process *, uint32_t message,
                           uint32_t *receive);
/* What is in a list, in its order, malloc'ed: events of messages, or of s->posted. */
uint32_t *loggops_match_left(struct loggops_system *, const struct loggops_process *, bool messages,
                             uint32_t *count);

/* -- process.c -- */
/* Everything of a group up to and with this time. */
void loggops_group_run(struct loggops_group *, ker_time until);

/* -- classes.c -- */
enum ker_status loggops_classes_read(struct loggops_system *, const struct ker_config *,
                                     const struct route_topology *, struct ker_error *);
void loggops_classes_free(struct loggops_system *);
const struct loggops_parameters *loggops_class_of(const struct loggops_system *, uint32_t a, uint32_t b);
/* Of what is sent between two processes, by their global numbers. */
static inline const struct loggops_parameters *loggops_between(const struct loggops_system *s, uint32_t a,
                                                               uint32_t b)
{
    return __builtin_expect(s->classes == 0, 1) ? &s->set : loggops_class_of(s, a, b);
}
/* The least L, or o + L, of any two. */
ker_time loggops_least(const struct loggops_system *, bool overhead);

/* -- noise.c -- */
enum ker_status loggops_noise_read(struct loggops_noise *, const struct ker_config *, struct ker_error *);
void loggops_noise_free(struct loggops_noise *);
/* How much longer something takes that begins at `from` and would take the cpu for `length`; with detours. */
ker_time loggops_noise_delay(const struct loggops_noise *, uint32_t process, ker_time from, ker_time length);

/* -- place.c; and loggops_job_of -- */
/* Which processes a rank has, when this many share them. */
void loggops_spread(struct loggops_system *, uint32_t rank, uint32_t ranks);
/* Where a process lives. */
struct ker_address loggops_address(const struct loggops_system *, uint32_t process);

/* -- path.c -- */
/* Collective: with records, what of output.critical_path the MPI model does for its tasks; jobs: on rank 0.
 */
enum ker_status loggops_path(struct loggops_system *, const struct route_topology *, struct ker_comm *,
                             const struct stats_folder *, json_t *jobs, struct ker_error *);

/* -- deliver.c -- */
/* The event, which is in no queue, goes to a process at its time. */
void loggops_deliver(struct loggops_system *, uint32_t index, uint32_t process);
/* One that has come, for this process: local index. */
uint32_t loggops_event_from(struct loggops_system *, const struct ker_event *, uint32_t process);
