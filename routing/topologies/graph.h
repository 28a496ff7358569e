/* graph.h - private to routing/: a network as read from a file: an edge list (docs/topology-file.md) or the
 * dump of an InfiniBand fabric (docs/fabric.md).
 *
 * Ports: an edge list has none, file.c numbers them. A fabric says which cable is in which port; then `ports`
 * is set, every endpoint and edge has its port numbers, and an edge is one cable.
 */
#pragma once

#include "kernel/base/base.h"

struct route_graph_endpoint {
    uint32_t switch_id, class;
    uint16_t port; /* of the switch, with route_graph.ports */
};

struct route_graph_edge { /* `count` parallel links */
    uint32_t from, to, class, count, line;
    uint16_t from_port, to_port; /* with route_graph.ports */
};

struct route_graph_class {
    ker_time latency;
    uint64_t rate;
};

/* What switches and endpoints are called: the texts, each ended by a zero, and where in them each begins. */
struct route_names {
    char *text;
    uint32_t *at_switch, *at_endpoint;
};

struct route_graph {
    uint32_t switches, endpoints, edges,
        classes; /* switches and endpoints are numbered as they are declared */
    struct route_graph_endpoint *endpoint;
    struct route_graph_edge *edge;
    struct route_graph_class *class; /* all pairs of latency and rate that occur, in order of appearance */
    uint32_t *ports;          /* per switch: how many it has, cabled or not; NULL: as many as are used */
    struct route_names names; /* of an edge list */
};

/* Reads and checks the whole text; `name` stands for the file in messages. Release it also after an error. */
enum ker_status route_graph_parse(struct route_graph *graph, const char *name, const char *text,
                                  size_t length, struct ker_error *error);
/* The same from a file. */
enum ker_status route_graph_read(struct route_graph *graph, struct ker_inputs *, const char *path,
                                 struct ker_error *error);
void route_graph_release(struct route_graph *graph);
void route_names_release(struct route_names *names);

/* What readers share. */

/* The number of the class of this latency and rate, a new one if need be. */
uint32_t route_graph_class(struct route_graph *graph, ker_time latency, uint64_t rate);
/* Edges by their ends, the lower switch first, then by line. */
void route_graph_sort(struct route_graph *graph);
/* How many switches no links join to switch 0; *first is the lowest of them. */
uint32_t route_graph_apart(const struct route_graph *graph, uint32_t *first);
