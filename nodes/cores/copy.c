/* copy.c - a copy of what a node's cores have done, to count in it what is in flight: so asking changes
 * nothing.
 *
 * A system has one, with room for the largest kind of node.
 */
#include "nodes/private.h"

#include <stdlib.h>
#include <string.h>

/* Room for a copy of any node of the system. */
static struct node_cores *copy_make(const struct node_system *system)
{
    uint32_t units = 0;
    for (uint32_t k = 0; k < node_kinds_count(system->model.kinds); k++) {
        uint32_t of = node_kinds_get(system->model.kinds, k)->structure.units;
        units = of > units ? of : units;
    }
    struct node_cores *c = ker_alloc(sizeof *c + system->memory->resources * sizeof *c->moved);
    c->unit = ker_alloc(units * sizeof *c->unit);
    return c;
}

struct node_cores *node_cores_copy(const struct node *n)
{
    struct node_memory *memory = n->system->memory;
    const struct node_cores *c = node_cores(n);
    if (!memory->copy)
        memory->copy = copy_make(n->system);
    struct node_unit *unit = memory->copy->unit;
    memcpy(memory->copy, c, sizeof *c + memory->resources * sizeof *c->moved);
    memcpy(unit, c->unit, node_structure_of(n)->units * sizeof *unit);
    memory->copy->unit = unit;
    return memory->copy;
}

void node_cores_copy_free(struct node_cores *copy)
{
    if (copy)
        free(copy->unit);
    free(copy);
}
