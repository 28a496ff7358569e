/* kinds.h - kinds of nodes in one system: nodes = ( { name = "thin"; count = 96; cores = 64; }, ... ).
 *
 * A kind has a structure (structure.h), and the nodes that are of it: the next `count` nodes that no list
 * names, or those of a list, or, for one kind, all that are left. Its keys stand for those of node. Without
 * nodes there is one kind, of all nodes, with node's keys. The same on every rank; made once per run.
 */
#pragma once

#include "nodes/rates.h"
#include "nodes/structure.h"

struct node_kind {
    const char *name;  /* "thin"; "node" of the one kind that has no name */
    const char *group; /* of its keys: "node", "nodes[2]" */
    uint32_t nodes;    /* that are of it */
    struct node_structure structure;
    struct node_rates rates;
};

struct node_kinds;

/* nodes, adapters: of the system, and of each node, as the topology has them. */
enum ker_status node_kinds_new(struct node_kinds **, const struct ker_config *, uint32_t nodes,
                               uint32_t adapters, struct ker_error *);
void node_kinds_free(struct node_kinds *); /* takes NULL */

uint32_t node_kinds_count(const struct node_kinds *);
const struct node_kind *node_kinds_get(const struct node_kinds *, uint32_t kind);
/* The kind of this name; its count: there is none. */
uint32_t node_kinds_find(const struct node_kinds *, const char *name);
/* Which kind a node is of: O(1) when there is one, else a binary search. */
uint32_t node_kinds_of(const struct node_kinds *, uint32_t node);
static inline const struct node_structure *node_structure_at(const struct node_kinds *kinds, uint32_t node)
{
    return &node_kinds_get(kinds, node_kinds_of(kinds, node))->structure;
}
/* The i-th node of a kind, and which of its kind's nodes a node is. */
uint32_t node_kinds_node(const struct node_kinds *, uint32_t kind, uint32_t i);
uint32_t node_kinds_rank(const struct node_kinds *, uint32_t node);

extern const struct ker_option node_kind_options[]; /* nodes[].name, ... */
