/* shortest.c - an arbiter: the smallest packet first; of equal ones the first of the ring. */
#include "net/switch/private.h"

static bool smaller(const struct net_switch *s, uint32_t index, uint32_t chosen, uint32_t count)
{
    return s->request.at[index].bytes < s->request.at[chosen].bytes;
}

const struct ker_kind net_arbiter_shortest = {.name = "shortest",
                                              .meaning = "the smallest packet first",
                                              .operations =
                                                  &(const struct net_arbiter){NET_ARBITER_OWN, smaller}};
