/* wire.h - what travels between tasks: the envelopes of the MPI model's messages. */
#pragma once

#include "net/net.h"

enum task_wire_kind {
    TASK_WIRE_EAGER = 1, /* the message itself */
    TASK_WIRE_RTS,       /* ready to send: announces it */
    TASK_WIRE_CTS,       /* clear to send: it is matched */
    TASK_WIRE_READ,      /* it is matched, and the receiver reads it */
    TASK_WIRE_DATA,      /* the message after CTS or READ */
    TASK_WIRE_FIN,       /* it has been read; or is there, of EAGER */
    TASK_WIRE_ACK,       /* a synchronous eager message has been matched */
    TASK_WIRE_PINIT,     /* announces a partitioned send; start: its messages */
    TASK_WIRE_PSTART,    /* the receiver has started */
    TASK_WIRE_PART,      /* a message of it; sequence: which */
    /* One-sided; tag is the window. */
    TASK_WIRE_PUT,    /* bytes for the target's memory */
    TASK_WIRE_GET,    /* asks for bytes */
    TASK_WIRE_FETCH,  /* both; sequence and receiver: how many are asked for, low and high half */
    TASK_WIRE_ANSWER, /* to GET and FETCH */
    TASK_WIRE_DONE,   /* to PUT */
    TASK_WIRE_LOCK,
    TASK_WIRE_GRANT,
    TASK_WIRE_UNLOCK,
    TASK_WIRE_POST,
    TASK_WIRE_COMPLETE,
    TASK_WIRE_SERVICE, /* a service's answer: only its first 8 bytes, call.c */
    /* Of collectives by a formula, beside the network: analytic.c. */
    TASK_WIRE_ENTER, /* sender: the request; tag: the rank; bytes: picoseconds of the call */
    TASK_WIRE_LEAVE, /* receiver: the request; source: who entered last; bytes: when */
};

#define TASK_WIRE_SYNC 1       /* wants an ACK */
#define TASK_WIRE_EXCLUSIVE 4  /* of LOCK, GRANT, UNLOCK */
#define TASK_WIRE_SOFTWARE 8   /* of PUT, FETCH: the target's processor does it */
#define TASK_WIRE_DELIVERED 16 /* of EAGER: wants FIN */
#define TASK_WIRE_COLLECTIVE 2 /* collective context; sequence and start are the call's */

/* The network's envelope. Source and destination are those of the message, in its answers, too. The second
 * half of it seldom travels with DATA (task_wire_shorten). */
struct task_wire {
    uint8_t kind, flags;
    uint16_t spare; /* with output.waits: of times that travel along (cause.c) */
    uint32_t job;
    uint32_t source, destination; /* tasks of the job */
    uint32_t sender, receiver;    /* requests, by the numbers that their tasks have given them */
    int32_t comm, tag;
    uint32_t sequence;
    uint32_t start; /* of a persistent collective: which, from 1; of an accumulate what it combines by */
    uint64_t bytes;
};
_Static_assert(sizeof(struct task_wire) == sizeof(struct net_envelope), "an envelope has 48 bytes");

/* Does it begin something, so that the processor rings the adapter's doorbell? Others are the adapter's. */
static inline bool task_wire_begins(const struct task_wire *wire)
{
    const unsigned begin = 1u << TASK_WIRE_EAGER | 1u << TASK_WIRE_RTS | 1u << TASK_WIRE_PUT |
                           1u << TASK_WIRE_GET | 1u << TASK_WIRE_FETCH | 1u << TASK_WIRE_LOCK |
                           1u << TASK_WIRE_UNLOCK | 1u << TASK_WIRE_POST | 1u << TASK_WIRE_COMPLETE;
    return begin >> wire->kind & 1;
}

/* Is it a message of the application, or one of those that it is made of? */
static inline bool task_wire_carries(const struct task_wire *wire)
{
    const unsigned carry = 1u << TASK_WIRE_EAGER | 1u << TASK_WIRE_DATA | 1u << TASK_WIRE_PART |
                           1u << TASK_WIRE_PUT | 1u << TASK_WIRE_FETCH | 1u << TASK_WIRE_ANSWER;
    return carry >> wire->kind & 1;
}

/* Does it go to the message's source? */
static inline bool task_wire_answers(const struct task_wire *wire)
{
    const unsigned answer = 1u << TASK_WIRE_CTS | 1u << TASK_WIRE_READ | 1u << TASK_WIRE_FIN |
                            1u << TASK_WIRE_ACK | 1u << TASK_WIRE_PSTART | 1u << TASK_WIRE_ANSWER |
                            1u << TASK_WIRE_DONE | 1u << TASK_WIRE_GRANT;
    return answer >> wire->kind & 1;
}

static inline uint64_t task_wire_payload(const struct task_wire *wire)
{
    return task_wire_carries(wire) ? wire->bytes : 0;
}

/* DATA is matched already: all that is still asked for is whose it is and which requests it completes. It may
 * be in progress for long, and the network keeps half an envelope only. */
static inline void task_wire_shorten(struct task_wire *wire)
{
    wire->comm = wire->tag = 0;
    wire->sequence = wire->start = 0;
    wire->bytes = 0;
}
