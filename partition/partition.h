/* partition.h - which rank simulates what; the only user of METIS and hwloc.
 *
 * A plain graph in: components as vertices with expected load, links as edges with latency. Out: the rank of
 * every vertex, the cell of every vertex, and the lookaheads. Vertices joined by links much shorter than the
 * rest are contracted into one cell (see part_input.contract_below); METIS then cuts the contracted graph so
 * that long links are cut.
 */
#ifndef PARTITION_PARTITION_H
#define PARTITION_PARTITION_H

#include "kernel/kernel.h"

#include <stdbool.h>
#include <stdio.h>

/* Compressed adjacency of switches only; nodes hang on their switch and follow it, unless there are
 * fewer than 4 switches per rank: then the caller makes vertices of the nodes, too. Every edge stands in both
 * lists. */
struct part_graph {
    uint32_t vertices;
    uint64_t *first; /* vertices + 1 */
    uint32_t *to;    /* first[vertices] entries */
    ker_time *delay; /* of each edge: the smallest delay of any interaction over it */
    uint32_t *load;  /* per vertex, >= 1 */
    uint32_t *group; /* per vertex: natural group (rack), for part_natural */
};

enum part_method { PART_METIS, PART_NATURAL, PART_LINEAR, PART_RANDOM, PART_FILE };

struct part_result {
    uint32_t ranks;     /* used: min(ranks asked, vertices) */
    uint32_t *rank;     /* per vertex */
    ker_time lookahead; /* smallest delay over cut edges; KER_TIME_MAX when nothing is cut */
    uint64_t cut_edges; /* undirected */
    double imbalance;   /* largest load of a rank / mean load */
};

/* What can be said without a graph: is the partition file there? So that one rank refuses what several would.
 */
enum ker_status part_check(const struct ker_config *config, struct ker_error *error);
enum ker_status part_graph_split(struct part_result *result, const struct part_graph *graph, uint32_t ranks,
                                 const struct ker_config *config, struct ker_error *error);
void part_result_release(struct part_result *result);
void part_graph_release(struct part_graph *graph);

/* To cut a network into two halves. Every edge stands in both lists; several between the same two are
 * possible. */
struct part_halves {
    uint32_t vertices;
    uint64_t *first; /* vertices + 1 */
    uint32_t *to;
    double *rate;     /* of each edge: what the cut costs */
    uint32_t *weight; /* per vertex; both halves get about half of it */
};
/* side[v] becomes 0 or 1 so that the edges between the sides cost little: METIS, always the same for the same
 * graph. false: it failed. */
bool part_halve(const struct part_halves *, uint8_t *side);

struct part_seats {
    int working; /* the first so many ranks simulate, the others sleep until the end */
    bool yield;  /* the working ranks of this host outnumber its cores: they must yield while they wait */
};

/* Collective. Binds this rank to a core when there are enough (partition.bind). On one host with more ranks
 * than cores only as many as there are cores work, unless partition.oversubscribe: more could only be slower.
 * Warns once per host on oversubscription. */
struct part_seats part_bind(struct ker_comm *comm, const struct ker_config *config);
/* Cores of this host this process may use. */
int part_cores(void);

extern const struct ker_option part_options[]; /* partition.* */
void part_list(FILE *out);

#endif
