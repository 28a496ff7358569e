/* parts.h - what the files of partition/ share. */
#pragma once

#include "partition/partition.h"

/* Vertices joined by short edges, made into cells that are never cut. */
struct part_cells {
    uint32_t count;
    uint32_t *cell; /* per vertex, 0..count-1, numbered in the order of each cell's first vertex */
    ker_time limit; /* edges up to this delay were contracted; 0: none */
};

/* What follows each vertex: member[first[v]] to member[first[v + 1] - 1]. */
struct part_followers {
    uint32_t *first;
    struct part_member *member;
};
void part_followers_init(struct part_followers *, const struct part_groups *);
void part_followers_release(struct part_followers *);
bool part_groups_follows(const struct part_groups *, uint32_t group); /* its members are no vertices */
struct part_link *part_links_room(const struct part_groups *); /* for what any component says, malloc'ed */

#define PART_MAX_DELAYS 64

/* The different delays of the edges, increasing; returns how many, 0 when there are more than
 * PART_MAX_DELAYS. */
int part_graph_delays(const struct part_graph *graph, ker_time delay[PART_MAX_DELAYS]);
void part_cells_init(struct part_cells *cells, const struct part_graph *graph, ker_time limit);
void part_cells_release(struct part_cells *cells);
/* At least 16 cells a rank, and none larger than 1 / (16 ranks) of the vertices. */
bool part_cells_fit(const struct part_cells *cells, const struct part_graph *graph, uint32_t ranks);

/* Operations of a kind of the family "partition.method". */
struct part_method {
    enum ker_status (*split)(const struct part_graph *, uint32_t ranks, const struct ker_config *,
                             uint32_t *rank, struct ker_error *);
    bool fills;  /* ranks that got nothing are given a vertex */
    bool blocks; /* of very many vertices it is given blocks */
    /* What can be said without a graph; NULL: nothing. */
    enum ker_status (*check)(const struct ker_config *, struct ker_error *);
};
bool part_takes_blocks(const struct ker_config *); /* the method of this configuration */
enum ker_status part_file_check(const struct ker_config *, struct ker_error *);

/* The methods. Each fills rank[0..vertices-1] with 0..ranks-1, 1 < ranks <= vertices. */
enum ker_status part_split_metis(const struct part_graph *graph, uint32_t ranks,
                                 const struct ker_config *config, uint32_t *rank, struct ker_error *error);
enum ker_status part_split_file(const struct part_graph *graph, uint32_t ranks,
                                const struct ker_config *config, uint32_t *rank, struct ker_error *error);

/* Cuts the vertices, in the order given (NULL: by number), into contiguous runs of about equal load. */
void part_split_in_order(const struct part_graph *graph, const uint32_t *order, uint32_t ranks,
                         uint32_t *rank);

/* Fills in lookahead, cut and imbalance of result->rank. */
void part_result_measure(struct part_result *result, const struct part_graph *graph);
