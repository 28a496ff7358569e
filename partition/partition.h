/* partition.h - which rank simulates what; the only user of METIS and hwloc.
 *
 * A plain graph in: components as vertices with expected load, links as edges with latency. Out: the rank of
 * every vertex, the cell of every vertex, and the lookaheads. Vertices joined by links much shorter than the
 * rest are contracted into one cell (see part_input.contract_below); METIS then cuts the contracted graph so
 * that long links are cut.
 */
#pragma once

#include "kernel/config/config.h"
#include "kernel/engine/engine.h"

#include <stdbool.h>
#include <stdio.h>

/* ---- what there is: groups of components ---- */

#define PART_MAX_GROUPS 16

/* A component: of the list's group, by its number there. */
struct part_member {
    uint32_t group, number;
};

struct part_link {
    struct part_member to;
    ker_time delay; /* the smallest of any interaction over it, in either direction; of sends: there */
};

/* Components of one kind. A model of any sort of network is a list of these: switches, the hosts on them,
 * servers. Functions are given the context. */
struct part_group {
    const char *name;
    uint32_t count;
    const void *context;
    /* The component of another group on whose rank this one lives; that one itself follows nobody. NULL: the
     * members are divided among the ranks. */
    struct part_member (*home)(const void *context, uint32_t number);
    uint32_t (*load)(const void *context, uint32_t number);    /* expected, with what follows it; >= 1 */
    uint32_t (*natural)(const void *context, uint32_t number); /* natural group: rack, pod */
    /* Writes its links, at most most_links; every link is listed by both of its ends. */
    uint32_t (*links)(const void *context, uint32_t number, struct part_link *);
    uint32_t most_links;
    /* Whom it may send to besides, over no link (news for a whole group), and with what delay at least;
     * listed by the sender. NULL: nobody. */
    uint32_t (*sends)(const void *context, uint32_t number, struct part_link *);
    uint32_t most_sends;
    ker_time everywhere; /* > 0: any member may send to any other of the group, with this delay at least */
    /* In which block it is, of about 8^size neighbours; blocks count from 0 without gaps. NULL: each is one.
     */
    uint32_t (*block)(const void *context, uint32_t number, uint32_t size);
    /* Links lead at most this many numbers on or back, where behind the last comes the first; 0: anywhere. */
    uint32_t span;
};

struct part_groups {
    uint32_t count;
    struct part_group group[PART_MAX_GROUPS];
    /* by part_groups_divide */
    bool apart; /* few vertices per rank: what would follow is divided, too */
    uint32_t components, vertices;
    uint32_t first[PART_MAX_GROUPS], first_vertex[PART_MAX_GROUPS]; /* numbers of each group's first */
};

/* Appends a group; returns its number in the list. */
uint32_t part_groups_add(struct part_groups *, const struct part_group *);
/* The list is complete: what is divided among this many ranks, and what follows. */
void part_groups_divide(struct part_groups *, uint32_t ranks);
/* Of a component, or of whom it follows. */
uint32_t part_groups_vertex(const struct part_groups *, struct part_member);

/* ---- which rank: a graph ---- */

/* Compressed adjacency. Every edge is in both lists. */
struct part_graph {
    uint32_t vertices;
    uint64_t *first; /* vertices + 1 */
    uint32_t *to;    /* first[vertices] entries */
    ker_time *delay; /* of each edge: the smallest delay of any interaction over it */
    uint32_t *load;  /* per vertex, >= 1 */
    uint32_t *group; /* per vertex: natural group (rack), for part_natural */
};

/* Of groups that are divided; to be released by part_graph_release. block: NULL, or the block of each vertex,
 * of this many: then blocks are the vertices of the graph. */
void part_graph_make(struct part_graph *, const struct part_groups *, const uint32_t *block, uint32_t blocks);
/* The block of each vertex, malloc'ed, of about 8^size vertices each; how many there are. */
uint32_t *part_blocks_make(const struct part_groups *, uint32_t size, uint32_t *blocks);

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
/* The ranks of all vertices of groups that are divided. */
enum ker_status part_groups_split(struct part_result *, const struct part_groups *, uint32_t ranks,
                                  const struct ker_config *, struct ker_error *);
void part_result_release(struct part_result *result);
void part_graph_release(struct part_graph *graph);

/* ---- where every component lives ---- */

/* What is grown into one cell: nothing, a vertex with what follows it, a natural group of vertices with
 * theirs. */
enum part_cell_size { PART_CELLS_SINGLE, PART_CELLS_VERTEX, PART_CELLS_NATURAL };

/* Racks whose links within are much shorter than those between them, or runs of vertices in a row that only
 * neighbours reach, for kernel/engine/tiles.h. */
struct part_tiles {
    uint32_t block;      /* components of a block of the engine; 0: none are wanted */
    uint32_t run, pitch; /* of its rank's vertices each `run` begin at a multiple of `pitch`; 0: no tiles */
    uint32_t count;      /* of its own */
    bool row;            /* runs in a row */
    ker_time delay;      /* smallest from one to another; KER_TIME_MAX: to none */
    bool *open;          /* where they are a row, of each tile: others than its neighbours reach it, too */
};

/* Where all of the system lives, on every rank; lookahead and channels are its own. */
struct part_layout {
    const struct part_groups *groups;
    bool single;           /* every component is a cell of its own */
    bool regular;          /* follower n lives with vertex n / each: see layout.c */
    uint32_t components;   /* length of this rank's index space */
    uint32_t largest_cell; /* components */
    ker_time lookahead;    /* smallest delay from a cell of this rank to any other; KER_TIME_MAX: to none */
    struct ker_channel *channel; /* to other ranks, by rank */
    uint32_t channels;
    /* for part_layout_at: per component, groups->first[group] + number; regular ones: per vertex, or NULL */
    uint32_t *rank, *index;
    uint32_t *cell; /* per vertex: the first vertex of its cell; NULL: it is regular */
    uint32_t each, followers, follower_group;
    uint32_t first_behind, *behind; /* where followers begin: of its own; per rank, or NULL */
    uint32_t *own;                  /* of a regular one: this rank's vertices; NULL: it has all */
    struct part_tiles tiles;
};

/* From the rank of every vertex; NULL: all are on rank 0. Vertices of a cell lie on one rank. Another rank
 * than 0..ranks-1 has nothing. block: of struct part_tiles. */
void part_layout_make(struct part_layout *, const struct part_groups *, const uint32_t *vertex_rank,
                      enum part_cell_size, uint32_t block, int rank, int ranks);
void part_layout_release(struct part_layout *);
/* Where a component lives. */
struct ker_address part_layout_at(const struct part_layout *, struct part_member);
/* Where everything is regular: this rank's n-th vertex, and which vertex the component of an index is, or
 * follows: n. */
struct part_member part_layout_vertex(const struct part_layout *, uint32_t n);
uint32_t part_layout_order(const struct part_layout *, uint32_t index);
/* The tile of each of this rank's blocks, malloc'ed; NULL: there is one, or none. */
uint32_t *part_layout_tiles(const struct part_layout *, uint32_t rank);
/* Does a cell begin with this component? */
bool part_layout_begins(const struct part_layout *, struct part_member);

/* To cut a network into two halves. Every edge is in both lists; several between the same two are
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
    int working; /* the first this many ranks simulate, the others sleep until the end */
    bool yield;  /* the working ranks of this host outnumber its cores: they must yield while they wait */
};

/* Collective. Binds this rank to a core when there are enough (partition.bind). On one host with more ranks
 * than cores only as many as there are cores work, unless partition.oversubscribe: more could only be slower.
 * Warns once per host on oversubscription. */
struct part_seats part_bind(struct ker_comm *comm, const struct ker_config *config);
/* Cores of this host this process may use. */
int part_cores(void);

extern const struct ker_option part_options[]; /* partition.* */
