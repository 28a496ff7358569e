/* storage.h - files that lie on servers in the system: what programs ask of them, and the services that do
 * it.
 *
 * Two services of nodes carry a file: servers, with a cache and a device, on the nodes that the configuration
 * names, and a client on every node. A task calls its node's client (TASK_OP_CALL) with the words of a
 * struct store_call, and is answered when what it has asked for is done; the client cuts it into chunks for
 * the servers that hold parts of it, by the layout of the file. All of it are messages of the network.
 */
#pragma once

#include "nodes/nodes.h"
#include "traces/traces.h"

/* The services: for node_service_list_new. NULL: there is no storage. */
const struct node_service_own *store_services(const struct ker_config *);

extern const struct ker_option store_options[];
extern const struct stats_schema *const store_tables[]; /* NULL at the end */
