/* by_source.c - a path selection: all packets of a source go the same way. */
#include "net/switch/private.h"

static uint64_t asked_source(const struct net_packet *p, uint32_t draw)
{
    return p->source;
}

const struct ker_kind net_select_by_source = {.name = "by_source",
                                              .meaning = "by the source",
                                              .operations =
                                                  &(const struct net_selection){.asked = asked_source}};
