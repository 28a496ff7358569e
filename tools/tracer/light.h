/* light.h - polls that are counted, and not timed: what their wrappers do themselves. light.c says why.
 *
 * A program that polls by the million calls one wrapper with the same arguments again and again. The poll
 * that these belong to is known from the last time, so as little as comparing them is done before the call,
 * and nothing behind it but to look whether something was found. All else is in functions of their own, so
 * that the wrapper need not keep its arguments.
 */
#pragma once

#include "trc.h"

/* For each wrapper the poll that it made the last time, if it may be made again without being timed: of one
 * request, or of none; of several. */
struct trc_light {
    struct trc_poll *poll[TRC_WAYS], *list[TRC_WAYS];
};
extern __thread struct trc_light trc_light __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Handles in C and in Fortran take a multiple of 4 bytes. */
static inline bool trc_same_handles(const char *a, const char *b, size_t bytes)
{
    typedef uint64_t two __attribute__((vector_size(16), aligned(4), may_alias));
    const char *end = a + bytes;
    two apart = {0, 0};
    for (; end - a >= 32; a += 32, b += 32)
        apart |= (*(const two *)a ^ *(const two *)b) | (*(const two *)(a + 16) ^ *(const two *)(b + 16));
    uint32_t rest = 0;
    for (; a < end; a += 4, b += 4)
        rest |= *(const uint32_t *)a ^ *(const uint32_t *)b;
    return (apart[0] | apart[1] | rest) == 0;
}

/* It is not that one. One of the others that are being kept back? `a`: the arguments. */
struct trc_poll *trc_light_find(enum trc_way, const intptr_t *a);
static inline struct trc_poll *trc_light_other(enum trc_way way, const intptr_t *a)
{
    return trc_me && trc_me->allowed ? trc_light_find(way, a) : NULL;
}
/* Behind a poll that was timed: this is how it was asked. */
void trc_light_learn(struct trc_thread *, enum trc_way, const intptr_t *given);
/* It found something, or failed. */
int trc_light_found(struct trc_poll *, int result);
/* It found nothing, and is to be timed the next time. */
int trc_light_spent(struct trc_poll *);

static inline void trc_light_begin(struct trc_poll *poll)
{
    poll->asked.inside = (const char *)__builtin_dwarf_cfa() - 1;
}

static inline int trc_light_end(struct trc_poll *poll, int result)
{
    if (__builtin_expect(result != MPI_SUCCESS || *poll->asked.flag != 0, 0))
        return trc_light_found(poll, result);
    poll->asked.inside = NULL;
    if (__builtin_expect(--poll->asked.untimed == 0, 0))
        return trc_light_spent(poll);
    return MPI_SUCCESS;
}
