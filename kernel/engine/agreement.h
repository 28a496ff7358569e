/* agreement.h - what the ranks agree on in a round. Private to kernel/engine.
 *
 * Each rank begins with what it says of itself; two agreements are merged into one. Merging in any order, and
 * the same ones more than once, comes to the same: so ranks may merge by any scheme that reaches all of them.
 */
#pragma once

#include "kernel/engine/trial.h"

#include <stddef.h>
#include <stdint.h>

#define AGREEMENT_MESSAGES 16

struct agreement {
    ker_time least;           /* the earliest that anyone has pending, or was sent in this round */
    ker_time second;          /* the earliest of another one than `whose` */
    ker_time final;           /* the latest of all ranks */
    struct trial_round round; /* the one before this */
    uint32_t whose;           /* who has the least, or will have when it has arrived */
    uint32_t requests;        /* of all ranks */
    uint32_t messages; /* sent between hosts in this round; more than AGREEMENT_MESSAGES: many, not listed */
    struct agreement_message {
        uint32_t from, to;
    } message[AGREEMENT_MESSAGES];
};

/* A rank will have something at `time`. */
void agreement_time(struct agreement *, ker_time time, uint32_t whose);
/* A message is sent to another host. */
void agreement_message(struct agreement *, uint32_t from, uint32_t to);
void agreement_merge(struct agreement *, const struct agreement *);
/* The bytes of it that mean something. */
size_t agreement_bytes(const struct agreement *);
