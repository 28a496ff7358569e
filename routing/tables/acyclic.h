/* acyclic.h - private to routing/: dependencies of links, in layers that are kept without circles. */
#ifndef ROUTING_ACYCLIC_H
#define ROUTING_ACYCLIC_H

#include "routing/wires.h"

struct route_acyclic; /* opaque */

struct route_acyclic *route_acyclic_new(const struct route_wires *);
void route_acyclic_free(struct route_acyclic *); /* NULL is fine */
/* One layer more, without dependencies. Layers are numbered from 0. */
void route_acyclic_layer(struct route_acyclic *);
/* `link` waits for `next`, one of the links of the switch it leads to, which is new in the layer. False: that
 * would close a circle, and it is not added. Costs about as much as the smaller of what leads to `link` and
 * what `next` leads to. */
bool route_acyclic_add(struct route_acyclic *, uint32_t layer, uint32_t link, uint32_t next);
void route_acyclic_remove(struct route_acyclic *, uint32_t layer, uint32_t link, uint32_t next);

/* Copies all layers from or to `state`, where it is not NULL; returns how many bytes that is. What is copied
 * there must have as many layers. */
size_t route_acyclic_copy(struct route_acyclic *, char *state, bool to_state);

#endif
