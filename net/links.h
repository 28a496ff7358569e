/* links.h - inside net/: all directions of all links of a rank, one after the other, for tables of links. */
#pragma once

#include "net/network.h"

struct net_link_end {
    bool node;
    uint32_t id;
    uint16_t port;
};

struct net_direction {
    const struct net_network *net;
    const struct net_port *port;       /* of a switch; NULL: */
    const struct net_adapter *adapter; /* the injection link of this one */
    struct net_link_series *series;    /* NULL: not collected */
    struct net_job_use *jobs;          /* by job; NULL: not collected */
    uint64_t detours;
    struct net_link_end from, to;
    uint8_t class;
    uint64_t order; /* by switch and port, then by node: the same on any partition */
};

/* The text of struct net_link_end's `node`; the context is of no meaning. */
const char *net_link_kind_text(const void *net, uint32_t node);
/* Of a class of links; the context is the network. */
const char *net_link_class_text(const void *net, uint32_t class);

extern const struct stats_schema net_links_schema;

/* `add` is called for each direction of this rank in increasing order, and adds rows to the table. */
struct net_directions {
    void (*add)(void *context, struct stats_table *, const struct net_direction *);
    void *context;
    bool known; /* only directions that something is collected of; `to` is of links to nodes only, if `nodes`
                 */
    bool nodes;
};
void net_directions_add(const struct net_network *, struct stats_table *, const struct net_directions *);
/* Collective: the visitor is shown the rows of all ranks (stats_table_stream). */
void net_directions_show(const struct net_network *, struct stats_table *, struct ker_comm *,
                         const struct net_directions *, const struct stats_visitor *);
