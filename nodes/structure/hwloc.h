/* hwloc.h - the structure of a node from the description of a machine, as lstopo writes it: lstopo --of xml.
 * Private to nodes/structure/ (and to its fuzzer).
 *
 * Of a file are taken: packages (sockets); NUMA nodes that are the nearest of some core (domains); cores with
 * their hardware threads and kinds; the PCI devices that are network adapters, and what they hang on.
 * Everything else (caches, GPUs, memory that no core is near to) means nothing here.
 */
#pragma once

#include "nodes/nodes.h"

struct node_hwloc {
    uint32_t adapters; /* in: that the node has */
    const char *const
        *devices;        /* in: their names among OS devices ("mlx5_0"); NULL: those that the file has */
    bool located;        /* out: the file says where they are; else buses and adapter_bus are not set */
    uint32_t core_kinds; /* out: kinds of cores, by efficiency as hwloc has it; 0: the file has none */
    uint16_t *core_kind; /* out: of each core; malloc'ed; NULL: all alike */
};

/* Sets what follows from the text, which has a 0 at text[bytes]; all cores have speed 1. On failure there is
 * nothing to release, and *why is what is wrong and what would be right; it is malloc'ed. hwloc reads it in a
 * process of its own (hwloc_child.c). */
bool node_structure_hwloc(struct node_structure *, struct node_hwloc *, const char *text, size_t bytes,
                          char **why);
/* hwloc.c: the same in this process, which hwloc may end. */
bool node_structure_hwloc_here(struct node_structure *, struct node_hwloc *, const char *text, size_t bytes,
                               char **why);
