/* hubs.h - private to routing/tables/: circles that are known without a search. */
#ifndef ROUTING_HUBS_H
#define ROUTING_HUBS_H

#include "routing/tables/wires.h"

#define ROUTE_HUBS 64

/* A link of a layer. */
struct route_node {
    uint64_t label;         /* rises along the layer's order, */
    uint32_t after, before; /* which is a list, in a ring through the number behind the last link */
    uint64_t to, from;      /* the hubs that it leads to, and those that lead to it, itself included */
    uint64_t leads[]; /* `words`: which of those of the switch it leads to it waits for; and as many: which
                         of its own switch's links have a reverse that waits for it */
};

/* The links of a layer, and their labels once more by themselves: many are looked at whose links are not. */
struct route_nodes {
    const struct route_wires *wires;
    uint32_t words, stride; /* of a node, in 8 bytes */
    uint64_t *node;
    uint64_t *label[2]; /* of a link; of a link's reverse */
};

static inline struct route_node *route_node(const struct route_nodes *l, uint32_t link)
{
    return (struct route_node *)(l->node + (size_t)link * l->stride);
}

/* Of one layer; all zero: there are none. */
struct route_hubs {
    uint32_t hub[ROUTE_HUBS], count; /* links */
    uint64_t hits[ROUTE_HUBS];       /* circles that were known by it, less and less by older ones */
    uint32_t met[ROUTE_HUBS], meets; /* where searches have met since the last renewal: the last ones */
    uint64_t found;                  /* links that these searches looked at */
    uint32_t *changed;               /* a stack */
    uint32_t changes, room;
};

void route_hubs_release(struct route_hubs *);

/* Does `next` lead to `link`? False: perhaps. */
static inline bool route_hubs_know(struct route_hubs *h, const struct route_node *link,
                                   const struct route_node *next)
{
    uint64_t both = next->to & link->from;
    if (!both)
        return false;
    h->hits[__builtin_ctzll(both)]++;
    return true;
}

/* A search that has looked at this many links has met the other one at `link`. */
void route_hubs_met(struct route_hubs *, uint32_t link, uint32_t found);

/* The layer, from which nothing is taken away any more, has got this dependency. */
void route_hubs_add(struct route_hubs *, const struct route_nodes *, uint32_t link, uint32_t next);
/* Chooses other hubs, if it is time. */
void route_hubs_renew(struct route_hubs *, const struct route_nodes *);

#endif
