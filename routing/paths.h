/* paths.h - private to routing/: routes on any graph of switches: one or all shortest paths, and detours via
 * an intermediate switch (Valiant 1981, UGAL-L of Singh 2005, PAR of Jiang, Kim and Dally 2009).
 *
 * All that such a route needs of a topology is how far two switches are from each other and which ports lead
 * one link nearer: a struct route_steps, closed forms. A topology without one is measured, breadth first,
 * once. Intermediate switches are those that have nodes.
 */
#pragma once

#include "routing/topology.h"

/* Closed forms of a topology (route_kind.steps). `to` is a switch with nodes, `from` one on a shortest path
 * to it. */
struct route_steps {
    uint32_t (*reach)(const struct route_topology *); /* the most links between two switches with nodes */
    uint32_t (*apart)(const struct route_topology *, uint32_t from, uint32_t to); /* links between the two */
    /* Writes the ports of `from` that lead one link nearer to `to`, at most ROUTE_MAX_CHOICES; returns how
     * many. ordered: only those of paths whose links, by the class that order_class gives, never wait for
     * each other in a circle. from != to. */
    int (*toward)(const struct route_topology *, uint32_t from, uint32_t to, bool ordered, uint16_t *port);
    /* Classes of channels of ordered paths; order_class: that of the next link, which grows or stays along a
     * path. 0: there is no order, and a channel for each link of a path is needed. order_class NULL: always
     * 0. */
    uint32_t order_classes;
    uint32_t (*order_class)(const struct route_topology *, uint32_t from, uint32_t to);
    bool all_ordered; /* all shortest paths are */
    bool by_group;    /* routing.valiant = any: no detours by the source's group, nor inside a group */
};

/* What the algorithms have made ready; topology->paths. */
struct route_paths;
void route_paths_free(struct route_paths *);
/* Once the channels are known. */
void route_paths_tune(struct route_topology *);

/* For the list of algorithms that a topology brings: what it has no form of its own of. */
extern const struct ker_kind route_paths_minimal, route_paths_adaptive, route_paths_valiant, route_paths_ugal,
    route_paths_par;
/* All of these. */
extern const struct ker_kind *const route_paths_algorithms[];

/* Keys of detours, of the hierarchical topology's, too. */
extern const struct ker_option route_valiant_options[];   /* routing.valiant */
extern const struct ker_option route_candidate_options[]; /* routing.candidates */
extern const struct ker_option route_weight_options[];    /* routing.weight */
/* routing.weight = auto|even|links|double: do paths weigh as many links as they have, or a detour 2? */
void route_weights_ask(const struct ker_config *, bool by_links, bool *weighted, bool *doubled);
/* summary.bias: UGAL's and PAR's, unless routing.bias says so. */
void route_bias_propose(struct route_summary *);
