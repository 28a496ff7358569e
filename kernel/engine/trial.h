/* trial.h - are several ranks faster than one? Private to kernel/engine.
 *
 * At the beginning of a run each rank measures the processor time of its work, round by round, later in some
 * of them. All that the ranks have worked is what one would have needed alone. What they need together is,
 * round by round, the longest work of any rank and the shortest exchange of any: who comes last does not wait
 * for others. Both are learnt with what the ranks agree on anyway (agreement.h). So neither sum grows where
 * another program takes a processor away for a moment, and all ranks look at the same numbers and decide
 * alike.
 */
#pragma once

#include "kernel/base/base.h"
#include "kernel/engine/engine.h"

#include <stdbool.h>
#include <stdint.h>

struct trial {
    int look;           /* the next; -1: it is over, or there was none */
    int64_t worked;     /* nanoseconds of this rank */
    int64_t together;   /* of all, with the exchanges */
    int64_t clock;      /* what reading it costs */
    uint32_t work;      /* in the last round */
    uint32_t exchanged; /* the last exchange */
    uint32_t least;     /* the shortest exchange of all */
    uint32_t round;
    uint32_t weight, weight_before; /* how many rounds this one, and the last, stand for; 0: not measured */
    uint64_t count_at;              /* epochs after which records are counted next; 0: never */
    uint64_t gained, lost;          /* records: in all; since, less what has been gained again */
    struct ker_counts counted;
};

/* What a rank says of its last round, and what all learn of all: nanoseconds, and how much it was. */
struct trial_round {
    uint32_t work;     /* the longest */
    uint32_t exchange; /* the shortest */
    uint32_t records;  /* the most: counted, not measured */
};
static inline void trial_round_merge(struct trial_round *a, const struct trial_round *b)
{
    a->work = a->work > b->work ? a->work : b->work;
    a->exchange = a->exchange < b->exchange ? a->exchange : b->exchange;
    a->records = a->records > b->records ? a->records : b->records;
}

void trial_begin(struct trial *, bool wanted);
static inline bool trial_runs(const struct trial *t)
{
    return t->look >= 0;
}
/* The clocks before and after. */
int64_t trial_work_begin(const struct trial *);
void trial_work_end(struct trial *, int64_t begun);
int64_t trial_exchange_begin(struct trial *);
/* agreed: what all know of the round before. */
void trial_exchange_end(struct trial *, int64_t begun, struct trial_round agreed);
/* The same on all ranks: has so much been done that it should not be done again? */
bool trial_keeps(const struct ker_counts *);
/* Collective at some rounds, the same on all ranks: one rank would be faster. What has been counted so far on
 * this rank. */
bool trial_lost(struct trial *, struct ker_comm *, const struct ker_counts *);
