/* cause.h - what has ended a wait, and where its time went (output.waits): a private part of state.h.
 *
 * A wait [b, e] ends by a message, or by the end of a send. What has led to that began with an act of a task,
 * the origin o: the send of the message (at the sender), or the receive, where a rendezvous had waited for it
 * (at the receiver). From o to e the time is known: handshake + matching + transfer + sending + contention.
 *
 *   W = e - b; before = min(W, max(0, o - b)), which is that of the other task; rest = W - before
 *   contention = min(rest, contention of the messages since o), then so transfer, sending, matching of what
 * is left; what remains is handshake
 *
 * so that the parts add up to W, and contention is by how much sooner the wait had ended in an empty network.
 * Of `before` in a collective, min(before, max(0, L - b)) waited for the last participant: L is the latest
 * time at which a task, known here, entered the call. Messages of a collective carry it, so that it is exact
 * where the call synchronises, and else of those on which the waiting task depends.
 */
#pragma once

#include "tasks/mpi/wire.h"

struct task_mpi;
struct task_state;

enum task_part { /* those of timelines, and what is known to be none of them */
                 TASK_PART_LATE_SENDER = STATS_WAIT_LATE_SENDER,
                 TASK_PART_LATE_RECEIVER = STATS_WAIT_LATE_RECEIVER,
                 TASK_PART_LATE_PARTICIPANTS = STATS_WAIT_LATE_PARTICIPANTS,
                 TASK_PART_COLLECTIVE_STEPS = STATS_WAIT_COLLECTIVE_STEPS,
                 TASK_PART_HANDSHAKE = STATS_WAIT_HANDSHAKE,
                 TASK_PART_CONTENTION = STATS_WAIT_CONTENTION,
                 TASK_PART_TRANSFER = STATS_WAIT_TRANSFER,
                 TASK_PART_SENDING = STATS_WAIT_SENDING,
                 TASK_PART_MATCHING = STATS_WAIT_MATCHING,
                 TASK_PART_ONE_SIDED = STATS_WAIT_ONE_SIDED,
                 TASK_PART_SERVICE = STATS_WAIT_SERVICE,
                 TASK_PART_OTHER = STATS_WAIT_CAUSES,
                 TASK_PARTS,
};

/* One step back in time, for the critical path: a message, or the sending of one's own, and the act from
 * which it came. */
struct task_hop {
    ker_time sent;       /* when its task acted */
    uint64_t contention; /* of a message */
    uint32_t from, to;   /* tasks of the job */
    uint8_t kind;        /* enum task_wire_kind; 0: there is none; TASK_HOP_STREAM */
    uint8_t left, near;  /* it is what has been sent; it stayed in its node */
    uint8_t stream;      /* of `from`, that sent */
} __attribute__((packed, aligned(4)));
#define TASK_HOP_STREAM 255 /* another stream of the task, `from` */

struct task_cause {
    struct task_hop hop; /* what happens now came with it */
    uint8_t late;        /* the part that `before` is; SERVICE, OTHER: all of the wait is */
    bool arrived;        /* it is a message, which is being handled; false: a task acts */
    bool collective;     /* before is divided by `entered` */
    ker_time at;         /* now */
    ker_time origin;     /* 0: before the wait began */
    ker_time entered;    /* the latest known */
    uint64_t contention, transfer, sending, matching;
};

/* Of an outstanding request: of a send since it is matched, of a receive that waits for DATA. */
struct task_note {
    ker_time sent; /* of a send whose end the adapter will report: when it began */
    union {
        struct {
            ker_time origin;
            uint64_t contention, matching;
            ker_time data; /* when DATA was sent, + 1; 0: it was not */
        };
        struct { /* what answers do not carry, as they carry times */
            int32_t comm, tag;
            uint32_t sequence, start;
            uint64_t searched;
        };
    };
};

struct task_parts {
    uint64_t waits, part[TASK_PARTS];
};
/* Divides a wait; adds it. */
void task_cause_divide(const struct task_cause *, ker_time begin, ker_time end, struct task_parts *);

/* -- cause.c: all only with mpi->waits. mpi->cause is what happens now. */
/* A message is handed up: it, until more is known. */
void task_cause_message(struct task_mpi *, ker_time now, const struct net_message *,
                        const struct task_wire *);
/* A task acts, or something that is no message: nothing is known of it. */
void task_cause_none(struct task_mpi *);
/* This request's message is handed to the adapter, which will report when it has left. */
void task_cause_sends(const struct task_mpi *, uint32_t request, ker_time when);
/* The last byte of this request's message has left. */
void task_cause_left(struct task_mpi *, const struct task_state *, ker_time now, uint32_t request);
/* A collective by a formula is over (TASK_WIRE_LEAVE), which this request has waited for. */
void task_cause_leave(struct task_mpi *, ker_time now, uint32_t request, const struct task_wire *);
/* A receive has found a message, and its queue is searched for so long: what the answer says, if there is
 * one. */
void task_cause_matched(struct task_mpi *, ker_time now, ker_time searches, uint32_t request,
                        const struct task_wire *, struct task_wire *answer);
/* The sender has READ or CTS, and sends DATA. */
void task_cause_cleared(struct task_mpi *, ker_time now, uint32_t request, const struct task_wire *,
                        struct task_wire *data);
/* DATA is here: `whole` becomes the message as it was announced; fin: FIN. */
void task_cause_whole(struct task_mpi *, ker_time now, uint32_t request, struct task_wire *whole,
                      struct task_wire *fin);
/* An eager message is here, whose send waits for this FIN. */
void task_cause_delivered(const struct task_mpi *, ker_time now, struct task_wire *fin);
/* The current stream calls a service by this request; it has answered. */
void task_cause_calls(const struct task_mpi *, const struct task_state *, ker_time now, uint32_t request);
void task_cause_answered(struct task_mpi *, const struct task_state *, ker_time now, uint32_t request);
/* FIN or ACK is here. */
void task_cause_finished(struct task_mpi *, uint32_t request, const struct task_wire *);
/* A message of a collective says what its run knows. */
void task_cause_enter(const struct task_mpi *, uint32_t run, struct task_wire *);
void task_note_state(const struct task_mpi *, uint32_t request, struct ker_chunk *);
