/* allocation.h - which nodes are free for the next job, and in which order a placement takes them. Private to
 * tasks/jobs/.
 *
 * A job that names no nodes (no range, file or list) takes free ones. Jobs that name theirs are placed first,
 * then the others in the order of the configuration. 4 bytes a node, at set-up only, on every rank alike.
 */
#pragma once

#include "nodes/nodes.h"
#include "routing/routing.h"

struct task_placement;

struct task_allocation {
    const struct route_topology *topology; /* NULL: each node is a group of its own */
    const struct node_kinds *kinds;
    uint32_t hosts;
    const char **name; /* of the jobs, for messages */
    uint32_t *holder; /* of each node: 1 + the first job that has it, and whether alone; 0: free. NULL: nobody
                         asks, since all jobs name their nodes or there is only one */
};

/* What a placement does with the free nodes of its range, ascending in p->list: puts them into the order in
 * which they are taken, and p->listed to how many may be. `why`: room for TASK_ALLOCATION_WHY characters on
 * why it may be fewer than are free. */
#define TASK_ALLOCATION_WHY 120
typedef void task_allocation_order(const struct task_allocation *, struct task_placement *p, char *why);

void task_allocation_init(struct task_allocation *, const struct route_topology *, const struct node_kinds *,
                          uint32_t hosts, uint32_t jobs);
void task_allocation_release(struct task_allocation *);
/* Lists the nodes of p's range that are free for it, then orders them by its law. */
void task_allocation_list(const struct task_allocation *, struct task_placement *, char *why);
/* The nodes of its tasks (of all their groups, where it takes whole groups) are no longer free. */
void task_allocation_hold(struct task_allocation *, const struct task_placement *, uint32_t job);
/* "12 of 64 nodes are free: 'a' has 32, 'b' has 20"; malloc'ed. */
char *task_allocation_held(const struct task_allocation *);

/* The first run that holds all tasks; whole groups of which nobody has a node; a node of each group in turn.
 */
task_allocation_order task_allocation_contiguous, task_allocation_by_group, task_allocation_scattered;
