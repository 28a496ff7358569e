/* exchange.h - what ranks send each other, and how they agree on how far each may go. Private to kernel/.
 *
 * Ranks work in rounds. At the end of a round every rank publishes the earliest time of what it still has, the earliest
 * time of what it sent in this round, and how many bytes it sent to whom; then it reads the others'. On one host this
 * goes through an MPI shared-memory window, otherwise through MPI collectives; the batches themselves are MPI messages, one per
 * pair of ranks that have something to say.
 */
#ifndef KERNEL_EXCHANGE_H
#define KERNEL_EXCHANGE_H

#include "kernel/comm.h"
#include "kernel/record.h"

#include <stdbool.h>
#include <stdint.h>

struct wheel;
struct wheel_note;
struct exchange;

struct exchange_bounds {
    ker_time others; /* the earliest any other rank has pending */
    ker_time own;    /* the earliest this rank has pending, before what it is about to receive */
    ker_time sent;   /* the earliest anyone sent in this round */
    ker_time all;    /* min of the three */
};

struct exchange *exchange_new(struct ker_comm *comm, bool yield, bool force_messages);
void exchange_free(struct exchange *);

struct ker_event *exchange_event(struct exchange *, uint32_t rank, ker_time time);
void exchange_note(struct exchange *, uint32_t rank, ker_time time, struct wheel_note note);
/* The earliest time of what was sent since the last round, KER_TIME_MAX when nothing. */
ker_time exchange_sent(const struct exchange *);

/* Collective: ends a round. own is the earliest pending time of this rank. What arrived is put into the wheel. Returns bytes sent. */
uint64_t exchange_round(struct exchange *, struct wheel *, ker_time own, struct exchange_bounds *bounds);

void *exchange_extension(struct exchange *, uint32_t index);
uint32_t exchange_extension_new(struct exchange *);
void exchange_extension_free(struct exchange *, uint32_t index);

#endif
