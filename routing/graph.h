/* graph.h - private to routing/: a network as read from an edge list (docs/topology-file.md). */
#ifndef ROUTING_GRAPH_H
#define ROUTING_GRAPH_H

#include "kernel/kernel.h"

struct route_graph_node {
    uint32_t switch_id, class;
};

struct route_graph_edge { /* `count` parallel links */
    uint32_t from, to, class, count, line;
};

struct route_graph_class {
    ker_time latency;
    uint64_t rate;
};

struct route_graph {
    uint32_t switches, nodes, edges, classes; /* switches and nodes are numbered as they are declared */
    struct route_graph_node *node;
    struct route_graph_edge *edge;
    struct route_graph_class *class; /* all pairs of latency and rate that occur, in order of appearance */
};

/* Reads and checks the whole text; `name` stands for the file in messages. Release it also after an error. */
enum ker_status route_graph_parse(struct route_graph *graph, const char *name, const char *text,
                                  size_t length, struct ker_error *error);
/* The same from a file. */
enum ker_status route_graph_read(struct route_graph *graph, const char *path, struct ker_error *error);
void route_graph_release(struct route_graph *graph);

#endif
