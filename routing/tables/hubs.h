/* hubs.h - private to routing/tables/: circles that are known without a search. */
#ifndef ROUTING_HUBS_H
#define ROUTING_HUBS_H

#include "routing/tables/wires.h"

#define ROUTE_HUBS 64

/* Of one layer; all zero: there are none. */
struct route_hubs {
    struct route_hubs_of {
        uint64_t to, from; /* the hubs that it leads to, and those that lead to it, itself included */
    } * of;                /* per link */
    uint32_t hub[ROUTE_HUBS], count; /* links */
    uint64_t hits[ROUTE_HUBS];       /* circles that were known by it, less and less by older ones */
    uint32_t met[ROUTE_HUBS], meets; /* where searches have met since the last renewal: the last ones */
    uint64_t found;                  /* links that these searches looked at */
    uint32_t *changed;               /* a stack */
    uint32_t changes, room;
};

void route_hubs_init(struct route_hubs *, uint32_t links);
void route_hubs_release(struct route_hubs *);

/* Does `next` lead to `link`? False: perhaps. */
static inline bool route_hubs_know(struct route_hubs *h, uint32_t link, uint32_t next)
{
    uint64_t both = h->of[next].to & h->of[link].from;
    if (!both)
        return false;
    h->hits[__builtin_ctzll(both)]++;
    return true;
}

/* A search that has looked at this many links has met the other one at `link`. */
void route_hubs_met(struct route_hubs *, uint32_t link, uint32_t found);

/* The dependencies of a layer, none of which is taken away any more. */
struct route_hubs_layer {
    const struct route_wires *wires;
    const uint32_t *ahead,
        *back;              /* its links in topological order, in a ring through the number behind the last */
    uint64_t *const *leads; /* bits as in acyclic.c, ahead and back */
};

/* The layer has got this dependency. */
void route_hubs_add(struct route_hubs *, const struct route_hubs_layer *, uint32_t link, uint32_t next);
/* Chooses other hubs, if it is time. */
void route_hubs_renew(struct route_hubs *, const struct route_hubs_layer *);

#endif
