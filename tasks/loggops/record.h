/* record.h - what tasks of schedules did, for critical paths, timelines, series, and their waits in
 * tasks.csv: a private part of model.h. Nothing of it changes what happens.
 *
 * A cpu is busy (it sends, takes a message in, calculates), or it waits for what ended the wait: a message,
 * the adapter, another cpu.
 */
#pragma once

#include "tasks/mpi/path.h"

struct loggops_system;
struct loggops_process;
struct loggops_event;

/* Of a process. */
struct loggops_record {
    struct task_ring ring;
    ker_time compute, wait; /* of all its cpus; waits that have ended */
    uint64_t messages_sent, bytes_sent, messages_received, bytes_received;
    ker_time notified_at;     /* when it was notified last that a message of its own is done, */
    struct task_hop notified; /* and by whom */
    uint32_t calls, messages; /* that its timeline has */
    bool shown;               /* it has one */
};

struct loggops_record_cpu {
    ker_time begin, until; /* of what it did last */
    ker_time before;       /* since when it computes, for the timeline */
    bool computes;
};

struct loggops_record_nic {
    ker_time since; /* when it began what it did last */
    uint32_t cpu;
    uint32_t to;   /* without its cpu, as it was asked to: to which task */
    uint8_t sends; /* enum task_wire_kind; EAGER: its cpu has begun it */
};

struct loggops_records {
    struct loggops_record *of;      /* by process */
    struct loggops_record_cpu *cpu; /* process x cpus */
    struct loggops_record_nic *nic; /* process x (sending, then receiving adapters) */
    uint32_t most;                  /* pieces of a ring; 0: no critical path */
    struct stats_timeline *timeline;
    struct stats_matrix *pairs;
    /* Of the event that is handled: */
    ker_time at;
    const char *function; /* that it is; NULL: a calculation */
    struct task_hop hop;  /* what has ended a wait; kind 0: it is not known */
    int32_t peer, tag;
    uint64_t bytes;
};

/* keep: also if nothing of it is wanted any more. */
enum ker_status loggops_records_read(struct loggops_system *, const struct ker_config *, bool keep,
                                     struct ker_error *);
/* All of these only with s->records. */
void loggops_records_make(struct loggops_system *);
void loggops_records_free(struct loggops_system *);
/* Its cpus have nothing to do from the start of its job on. */
void loggops_record_begin(struct loggops_system *, const struct loggops_process *);
/* The event, of a schedule, is about to be handled. */
void loggops_record_event(struct loggops_system *, struct loggops_process *, const struct loggops_event *);
/* It takes a cpu. */
void loggops_record_busy(struct loggops_system *, struct loggops_process *, unsigned cpu, ker_time from,
                         ker_time until);
/* A sender learns that its message has been matched, or read, which has taken the cpu until now. */
void loggops_record_notified(struct loggops_system *, struct loggops_process *, const struct loggops_event *,
                             ker_time now, uint32_t from);
/* A message has met its receive, and is received then. */
void loggops_record_received(struct loggops_system *, struct loggops_process *, const struct loggops_event *,
                             ker_time received);
/* cpus, nics: this many of them are saved. */
void loggops_record_state(struct loggops_system *, struct loggops_process *, uint32_t cpus, uint32_t nics,
                          struct ker_chunk *);
