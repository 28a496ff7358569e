/* exchange.h - what ranks send each other, and how they agree on how far each may go. Private to kernel/.
 *
 * Ranks work in rounds. At the end of a round every rank says what is the earliest that it still has, the
 * earliest that it sent to whom in this round, how far it has gone, and what is asked of it from outside. Of
 * that all learn the least time, whose it is, and the second least (agreement.h): the least of the *others*
 * is what lets a rank run ahead. Ranks of one host agree through memory that they share (shared.h), then the
 * first rank of each host does so with the others by an MPI reduction.
 *
 * Messages are sent to neighbours only (channels.h): on the same host through that memory while it is small,
 * else as an MPI message, for each pair of ranks one, or several where it is too much for one. Between hosts
 * nobody can know who sends: while only a few messages are sent between hosts in a round, the agreement lists
 * them; when there are many, one is sent for each pair of hosts with neighbours (bundles.h), or, where every
 * rank has a host of its own, for each pair of neighbours, an empty one where there is nothing to say. The
 * cost of a round grows with the neighbours of a rank, not with the ranks.
 */
#pragma once

#include "kernel/engine/record.h"
#include "kernel/engine/trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wheel;
struct wheel_note;
struct exchange;

struct exchange_setup {
    struct ker_comm *comm;
    const struct ker_channel *channel; /* of this rank to others */
    uint32_t channels;
    bool yield;        /* ranks outnumber cores: do not spin while waiting */
    int hosts;         /* channels.h: groups of hosts_make */
    size_t part_bytes; /* the longest message; 0: EXCHANGE_PART */
};
#define EXCHANGE_PART ((size_t)1 << 30) /* MPI counts with int */

/* What a rank says of itself. */
struct exchange_own {
    ker_time pending;         /* the earliest it has, before what it is about to receive */
    ker_time done;            /* it has handled everything before this time: nothing earlier may come */
    ker_time final;           /* how far it has gone, for requests */
    unsigned requests;        /* ker_request bits */
    struct trial_round round; /* its last */
};

struct exchange_bounds {
    ker_time others;   /* the earliest that any other rank has, what was sent to it in this round included */
    ker_time all;      /* and any at all */
    ker_time final;    /* the latest of all ranks */
    unsigned requests; /* of all ranks */
    struct trial_round round; /* of all ranks */
};

struct exchange *exchange_new(const struct exchange_setup *);
void exchange_free(struct exchange *);
/* What another rank does at a time arrives here at least so much later; KER_TIME_MAX: nobody sends to this
 * rank. */
ker_time exchange_lookahead(const struct exchange *);

struct ker_event *exchange_event(struct exchange *, uint32_t rank, ker_time time);
void exchange_note(struct exchange *, uint32_t rank, ker_time time, struct wheel_note note);
/* The earliest time of what was sent since the last round, KER_TIME_MAX when nothing. */
ker_time exchange_sent(const struct exchange *);

/* Collective: ends a round. What arrived is put into the wheel. Adds to the cost. */
void exchange_round(struct exchange *, struct wheel *, const struct exchange_own *, struct exchange_bounds *,
                    struct ker_sent *);

/* Memory was out: what arrives is lost from now on. It may have been here that it ran out. */
void exchange_break(struct exchange *);
bool exchange_broken(const struct exchange *);

uint32_t exchange_extension_new(struct exchange *, const void *bytes);
void exchange_extension_read(const struct exchange *, uint32_t index, void *bytes);
const void *exchange_extension_head(const struct exchange *, uint32_t index);
void exchange_extension_free(struct exchange *, uint32_t index);
/* Gives their memory back: from now on it may only be released. */
void exchange_abandon(struct exchange *);
