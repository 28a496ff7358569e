/* acyclic.h - private to routing/: dependencies of links, in layers that are kept without circles. */
#pragma once

#include "routing/tables/wires.h"

struct route_acyclic; /* opaque */

struct route_acyclic *route_acyclic_new(const struct route_wires *);
void route_acyclic_free(struct route_acyclic *); /* NULL is fine */
/* One layer more, without dependencies. Layers are numbered from 0. */
void route_acyclic_layer(struct route_acyclic *);
/* Would it surely close a circle if `link` waited for `next`, one of the links of the switch it leads to?
 * Asks no more than what is known. */
bool route_acyclic_refuses(struct route_acyclic *, uint32_t layer, uint32_t link, uint32_t next);
/* These links wait for `next`, which is new in the layer. False: some of that would close a circle, and none
 * is added. Costs about as much as the smaller of what leads to the links and what `next` leads to. */
bool route_acyclic_add(struct route_acyclic *, uint32_t layer, const uint32_t *link, uint32_t count,
                       uint32_t next);
void route_acyclic_remove(struct route_acyclic *, uint32_t layer, uint32_t link, uint32_t next);
/* It stays, as does all that the layer has now: later circles may be known by it. */
void route_acyclic_keep(struct route_acyclic *, uint32_t layer, uint32_t link, uint32_t next);
/* All that the layers have now stays: circles may be learned from it. */
void route_acyclic_kept(struct route_acyclic *);

/* Collective: the rank behind `from` gets the array of that, of as many bytes; the others nothing. */
void route_pass(struct ker_comm *, int from, void *array, size_t bytes);
/* Collective: the same with all layers. The one that gets them has none yet. */
void route_acyclic_pass(struct route_acyclic *, struct ker_comm *, int from);
