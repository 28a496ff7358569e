/* flow.h - flows on links, as network.model = "flow" has them. Private to net/carriers/. */
#pragma once

#include "net/carriers/heap.h"
#include "net/carriers/messages.h"

struct flow {
    ker_moved left; /* at `since` */
    ker_time since, ends, latency;
    uint64_t rate; /* 0: it has none yet */
    uint32_t uses, mark, from, to;
    uint32_t same;             /* with penalties: flows between these two */
    uint32_t bound;            /* the link that lets it have no more; KER_NONE: `most` */
    uint32_t place;            /* in flows.reached */
    uint64_t least, most;      /* bandwidth of its route; what it has at most by itself */
    struct ker_share_use *use; /* the links; NULL: the place is free */
    bool alone;                /* shares nothing */
};

/* Of a node, with penalties. */
struct node_flows {
    uint32_t out_link, into_link; /* of all flows from and to it */
    uint32_t out, into, sources;  /* flows, and nodes that those into it are from */
    uint32_t same;                /* while they are counted */
    bool crowded;                 /* a flow out of it goes where there are more than two */
    bool touched, other;          /* it is listed; `out` or `crowded` has changed */
};

struct link {
    uint64_t capacity;
    struct on_link {
        uint32_t flow;
        uint16_t times; /* ker_share_use */
    } * on;
    uint32_t flows, mark;
    /* while rates are found, of flows that are not reached: */
    ker_moved bound, others;     /* what those take that it binds, and the others */
    uint64_t bound_times, level; /* of those that it binds: parts; what each has */
    /* of those that are: */
    ker_moved taken;
    uint64_t most, tight; /* the largest rate; what it leaves to those that it binds, UINT64_MAX: to none */
};

struct flows {
    const struct route_topology *topology;
    uint64_t small, seed;
    uint64_t *first; /* of each switch: its first port's link; then one for each endpoint */
    uint32_t links, mark;
    struct link *link;
    struct ker_shared *shared; /* of each link: what those that are reached may have */
    int dimensions; /* of the grid that the nodes are; 0: none, or packets of a message take one route */
    uint32_t extent[8];
    struct flow *flow; /* by the number that the coordinator gives */
    uint32_t flows;
    struct net_heap ending;                         /* of flows; what is no longer true is passed over */
    uint32_t *dirty, dirty_count, dirty_room;       /* links on which something has changed */
    uint32_t *reached, reached_count, reached_room; /* flows that may get other rates, */
    uint32_t *over, over_count, over_room;          /* and their links */
    uint32_t *late, late_count, late_room;          /* flows that may not keep their rates */
    struct ker_sharer *sharer, **order;             /* of the first of these */
    uint32_t sharers, sharer_room;
    struct node_flows *node;                        /* NULL: there are no penalties */
    uint32_t *touched, touched_count, touched_room; /* nodes whose flows are others than before */
};

/* flow_share.c: new rates, from now on, where `dirty` wants them. */
void net_flow_share(struct flows *, ker_time now);
/* With penalties: a flow of this node begins or ends. */
void net_flow_touch(struct flows *, uint32_t node);
/* This one has another rate. */
void net_flow_rate(struct flows *, uint32_t id, ker_time now, uint64_t rate);
