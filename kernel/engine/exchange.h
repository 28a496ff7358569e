/* exchange.h - what ranks send each other, and how they agree on how far each may go. Private to kernel/.
 *
 * Ranks work in rounds. At the end of a round every rank publishes the earliest time of what it still has,
 * the earliest time of what it sent in this round, how far it has gone, what is asked of it from outside, and
 * how many bytes it sent to whom; then it reads the others'. On one host this goes through memory that
 * they share (shared.h), otherwise through MPI collectives; the batches themselves go with it while they are
 * small, otherwise as MPI messages, for each pair of ranks one, or several where it is too much for one.
 */
#ifndef KERNEL_EXCHANGE_H
#define KERNEL_EXCHANGE_H

#include "kernel/base/comm.h"
#include "kernel/engine/record.h"

#include <stdbool.h>
#include <stdint.h>

struct wheel;
struct wheel_note;
struct exchange;

/* What a rank says of itself. */
struct exchange_own {
    ker_time pending;  /* the earliest it has, before what it is about to receive */
    ker_time settled;  /* how far it has gone, for requests */
    unsigned requests; /* ker_request bits */
    int64_t worked;    /* processor time in windows, nanoseconds */
    int64_t since;     /* time since the run began */
};

struct exchange_bounds {
    ker_time others;   /* the earliest any other rank has pending */
    ker_time own;      /* and this one */
    ker_time sent;     /* the earliest anyone sent in this round */
    ker_time all;      /* min of the three */
    ker_time settled;  /* the latest of all ranks */
    unsigned requests; /* of all ranks */
    int64_t worked;    /* the sum of all ranks */
    int64_t since;     /* the longest */
};

/* part_bytes: what goes to one rank in a round is sent in messages of at most that; 0: EXCHANGE_PART. */
#define EXCHANGE_PART ((size_t)1 << 30) /* MPI counts with int */
struct exchange *exchange_new(struct ker_comm *comm, bool yield, bool force_messages, size_t part_bytes);
void exchange_free(struct exchange *);

struct ker_event *exchange_event(struct exchange *, uint32_t rank, ker_time time);
void exchange_note(struct exchange *, uint32_t rank, ker_time time, struct wheel_note note);
/* The earliest time of what was sent since the last round, KER_TIME_MAX when nothing. */
ker_time exchange_sent(const struct exchange *);

/* Collective: ends a round. What arrived is put into the wheel. Returns bytes sent. */
uint64_t exchange_round(struct exchange *, struct wheel *, struct exchange_own,
                        struct exchange_bounds *bounds);

/* Memory was out: what arrives is lost from now on. It may have been here that it ran out. */
void exchange_break(struct exchange *);
bool exchange_broken(const struct exchange *);

void *exchange_extension(struct exchange *, uint32_t index);
uint32_t exchange_extension_new(struct exchange *);
void exchange_extension_free(struct exchange *, uint32_t index);

#endif
