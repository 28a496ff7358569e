/* flow.c - flows inside a node as sharers of its resources. */
#include "nodes/cores/flow.h"

#include <stdlib.h>

void node_flow_through(struct node_flow *flow, uint32_t resource, uint32_t times)
{
    uint32_t i = 0;
    while (i < flow->uses && flow->use[i].resource != resource)
        i++;
    ker_assert(i < NODE_FLOW_USES);
    if (i == flow->uses)
        flow->use[flow->uses++] = (struct ker_share_use){.resource = resource};
    flow->use[i].times = (uint16_t)(flow->use[i].times + times);
}

void node_flows_share(struct node_flow **flow, uint32_t flows, struct ker_shared *resource,
                      uint32_t resources)
{
    if (flows == 0)
        return;
    struct ker_sharer few[16], *sharer = flows <= 16 ? few : ker_alloc(flows * sizeof *sharer);
    struct ker_sharer *small[16], **order = flows <= 16 ? small : ker_alloc(flows * sizeof *order);
    for (uint32_t i = 0; i < flows; i++) {
        sharer[i] = (struct ker_sharer){flow[i]->most, 0, flow[i]->uses, flow[i]->use};
        order[i] = &sharer[i];
    }
    ker_share(order, flows, resource, NULL, resources);
    for (uint32_t i = 0; i < flows; i++)
        flow[i]->rate = sharer[i].rate;
    if (sharer != few) {
        free(sharer);
        free(order);
    }
}
