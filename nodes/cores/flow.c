/* flow.c - the rates of flows over shared resources.
 *
 * Each round gives rates to some flows: those that want no more by themselves than the tightest resource has
 * for each of its flows, or, if there are none, the flows of that resource. Which flows a round gives rates
 * to follows from the values alone, so their order does not matter. Invariant: flow[0 .. without) have no
 * rate yet.
 */
#include "nodes/cores/flow.h"

void node_flow_through(struct node_flow *flow, uint32_t resource, uint32_t times)
{
    uint32_t i = 0;
    while (i < flow->uses && flow->use[i].resource != resource)
        i++;
    ker_assert(i < NODE_FLOW_USES);
    if (i == flow->uses)
        flow->use[flow->uses++] = (struct node_flow_use){.resource = (uint16_t)resource};
    flow->use[i].times = (uint16_t)(flow->use[i].times + times);
}

static void want(const struct node_flow *flow, struct node_resource *resource)
{
    for (uint32_t i = 0; i < flow->uses; i++)
        resource[flow->use[i].resource].wanted += flow->use[i].times;
}

/* Out of what is left of its resources. */
static void give(struct node_flow *flow, uint64_t rate, struct node_resource *resource)
{
    flow->rate = rate ? rate : 1;
    for (uint32_t i = 0; i < flow->uses; i++) {
        struct node_resource *r = &resource[flow->use[i].resource];
        node_bytes taken = (node_bytes)flow->rate * flow->use[i].times;
        r->room -= taken < r->room ? (uint64_t)taken : r->room;
    }
}

/* What the tightest resource has for each of its flows. */
static uint64_t tightest(struct node_flow *const *flow, uint32_t without, struct node_resource *resource,
                         uint32_t resources)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t r = 0; r < resources; r++)
        resource[r].wanted = 0;
    for (uint32_t i = 0; i < without; i++)
        want(flow[i], resource);
    for (uint32_t r = 0; r < resources; r++)
        if (resource[r].wanted && resource[r].room / resource[r].wanted < least)
            least = resource[r].room / resource[r].wanted;
    return least;
}

/* Is one of its resources as tight? Seen by `wanted`, which is 0 of those that are not. */
static bool goes_through(const struct node_flow *flow, const struct node_resource *resource)
{
    bool any = false;
    for (uint32_t i = 0; i < flow->uses; i++)
        any |= resource[flow->use[i].resource].wanted != 0;
    return any;
}

void node_flows_share(struct node_flow **flow, uint32_t flows, struct node_resource *resource,
                      uint32_t resources)
{
    for (uint32_t r = 0; r < resources; r++)
        resource[r].room = resource[r].capacity;
    for (uint32_t without = flows; without > 0;) {
        uint64_t least = tightest(flow, without, resource, resources);
        uint32_t left = 0;
        for (uint32_t i = 0; i < without; i++)
            if (flow[i]->most <= least)
                give(flow[i], flow[i]->most, resource);
            else
                flow[left++] = flow[i];
        if (left == without) {
            for (uint32_t r = 0; r < resources; r++)
                if (resource[r].wanted && resource[r].room / resource[r].wanted > least)
                    resource[r].wanted = 0;
            left = 0;
            for (uint32_t i = 0; i < without; i++)
                if (goes_through(flow[i], resource))
                    give(flow[i], least, resource);
                else
                    flow[left++] = flow[i];
        }
        without = left;
    }
}
