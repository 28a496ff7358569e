/* shortest.c - an arbiter: the smallest packet first; of equal ones the first of the ring. */
#include "net/switch/private.h"

static uint16_t bytes_of(const struct net_switch *s, uint32_t request)
{
    return s->net->packet.at[s->request.at[request].head].bytes;
}

static bool smaller(const struct net_switch *s, uint32_t index, uint32_t chosen, uint32_t count)
{
    return bytes_of(s, index) < bytes_of(s, chosen);
}

const struct ker_kind net_arbiter_shortest = {.name = "shortest",
                                              .meaning = "the smallest packet first",
                                              .operations =
                                                  &(const struct net_arbiter){NET_ARBITER_OWN, smaller}};
