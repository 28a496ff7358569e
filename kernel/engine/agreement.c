/* agreement.c - see agreement.h.
 *
 * Of all pairs of a time and its owner that were ever added, `least` is the earliest time, `whose` its owner
 * (of equal times the lowest rank), and `second` the earliest time of any other owner. What is known of two
 * sets of pairs so is enough to know it of both together: the second's own owner need not be remembered.
 */
#include "kernel/engine/agreement.h"

static void times_merge(struct agreement *a, ker_time least, ker_time second, uint32_t whose)
{
    if (whose == a->whose) {
        a->least = ker_time_min(a->least, least);
        a->second = ker_time_min(a->second, second);
    } else if (least < a->least || (least == a->least && whose < a->whose)) {
        a->second = ker_time_min(a->least, second);
        a->least = least;
        a->whose = whose;
    } else {
        a->second = ker_time_min(a->second, least);
    }
}

void agreement_time(struct agreement *a, ker_time time, uint32_t whose)
{
    times_merge(a, time, KER_TIME_MAX, whose);
}

void agreement_message(struct agreement *a, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < a->messages && i < AGREEMENT_MESSAGES; i++)
        if (a->message[i].from == from && a->message[i].to == to)
            return;
    if (a->messages < AGREEMENT_MESSAGES)
        a->message[a->messages] = (struct agreement_message){from, to};
    a->messages += a->messages <= AGREEMENT_MESSAGES;
}

void agreement_merge(struct agreement *a, const struct agreement *b)
{
    times_merge(a, b->least, b->second, b->whose);
    a->final = a->final > b->final ? a->final : b->final;
    trial_round_merge(&a->round, &b->round);
    a->requests |= b->requests;
    if (b->messages > AGREEMENT_MESSAGES)
        a->messages = b->messages;
    for (uint32_t i = 0; i < b->messages && i < AGREEMENT_MESSAGES && a->messages <= AGREEMENT_MESSAGES; i++)
        agreement_message(a, b->message[i].from, b->message[i].to);
}

size_t agreement_bytes(const struct agreement *a)
{
    uint32_t listed = a->messages > AGREEMENT_MESSAGES ? 0 : a->messages;
    return offsetof(struct agreement, message) + listed * sizeof *a->message;
}
