/* hubs.h - private to routing/tables/: circles that are known without a search. */
#pragma once

#include "routing/tables/wires.h"

#define ROUTE_HUBS 64

/* The links of a layer as seen in one direction. Ahead a link leads to those it waits for, and has its own
 * number; back it leads to those that wait for it, and has that of its reverse. So in both directions the
 * links that one leads to are of one switch, that at its end, and what is known of them lies together. */
enum route_way { ROUTE_AHEAD, ROUTE_BACK, ROUTE_WAYS };
struct route_side {
    uint64_t *label; /* rises along the layer's order */
    uint64_t *hubs;  /* those that lead to it in this direction, itself included */
    uint64_t *node;  /* a struct route_node */
};
struct route_node {
    uint32_t to, reverse; /* the switch at its end, and which link of that is the reverse */
    uint64_t leads[];     /* `words`: to which links of that switch */
};
struct route_nodes {
    const struct route_wires *wires;
    uint32_t words;
    struct route_side side[ROUTE_WAYS];
    struct route_place {
        uint32_t before, after;
    } * place; /* in the order, a ring through the number behind the last link */
};

static inline struct route_node *route_node_of(const struct route_nodes *l, enum route_way way, uint32_t link)
{
    return (struct route_node *)(l->side[way].node + (size_t)link * (1 + l->words));
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
static inline bool route_hubs_know(struct route_hubs *h, const struct route_nodes *l, uint32_t link,
                                   uint32_t next)
{
    uint64_t both = l->side[ROUTE_AHEAD].hubs[link] & l->side[ROUTE_BACK].hubs[l->wires->reverse[next]];
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
