/* make.h - how a structure is made. Private to nodes/structure/. */
#pragma once

#include "nodes/nodes.h"

/* Of n parts on k wholes part i is on whole i k / n, rounded down. */
uint16_t node_dealt(uint32_t part, uint32_t n, uint32_t k);
/* Counts are set: where everything is, but for adapters; cores are alike. */
void node_structure_make(struct node_structure *, uint32_t threads);
/* Everything is where it is: units, their order for tasks, nearest adapters. */
void node_structure_finish(struct node_structure *, enum node_map_by);
