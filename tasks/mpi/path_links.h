/* path_links.h - which links a message between two nodes passes for certain: a private part of state.h.
 *
 * Certain are the links of the nodes and those that the routing algorithm takes whatever a packet draws and
 * whatever the network's state. Where it chooses, as adaptive ones do, or follows tables, or something may
 * fail, only the nodes' own are; of nodes with several adapters none.
 */
#pragma once

#include "routing/routing.h"

struct task_path_end {
    bool node;
    uint32_t id;
    uint16_t port; /* of the sending end */
};
struct task_path_link {
    struct task_path_end from, to;
    uint8_t class; /* route_summary.link */
};
struct task_path_link_visitor {
    void (*link)(void *context, const struct task_path_link *);
    void *context;
};
/* Each link once, in their order but for what is not certain. Endpoints. */
void task_path_links(const struct route_topology *, uint32_t from, uint32_t to,
                     const struct task_path_link_visitor *);
