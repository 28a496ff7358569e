/* setup.c - the group `storage`: its keys, and the two services. */
#include "storage/private.h"

#include <stdlib.h>

#define LAYOUTS(KIND) KIND(store_layout_simple)
#define DEVICES(KIND) KIND(store_device_disk) KIND(store_device_ssd) KIND(store_device_memory)
#define CACHES(KIND)                                                                                         \
    KIND(store_cache_aggregate_reorder)                                                                      \
    KIND(store_cache_aggregate) KIND(store_cache_write_behind) KIND(store_cache_none)
KER_KINDS_TABLE(layout_kinds, LAYOUTS);
KER_KINDS_TABLE(device_kinds, DEVICES);
KER_KINDS_TABLE(cache_kinds, CACHES);
static const struct ker_kinds layouts = {"storage.layout.kind", "layouts of files",
                                         sizeof(struct store_layout_kind), layout_kinds},
                              devices = {"storage.device.kind", "storage devices",
                                         sizeof(struct store_device_kind), device_kinds},
                              caches = {"storage.servers.cache_policy", "caches of file servers",
                                        sizeof(struct store_policy), cache_kinds};

#define THERE "storage.servers.nodes or storage.servers.count"

const struct ker_option store_options[] = {
    {"storage.servers.nodes", KER_TYPE_STRING, NULL, NULL, NULL, NULL,
     "File servers run on these nodes, \"0-3,8\": numbers and ranges. They may be nodes of tasks."},
    {"storage.servers.count", KER_TYPE_INT, NULL, "1", "1000000000", NULL,
     "In its place: so many file servers, on nodes 0, storage.servers.every, ..."},
    {"storage.servers.every", KER_TYPE_INT, "1", "1", "1000000000", NULL,
     "Nodes from one file server to the next.", .belongs = "storage.servers.count"},
    {"storage.servers.threads", KER_TYPE_INT, "1", "1", "4096", NULL,
     "Requests that a server looks at side by side.", .belongs = THERE},
    {"storage.servers.request_time", KER_TYPE_TIME, "0 s", NULL, "1000 s", NULL,
     "Processor time of a server for a request, before it does anything else.", .belongs = THERE},
    {"storage.servers.cache_policy", KER_TYPE_CHOICE, "aggregate_reorder", NULL, NULL, NULL,
     "What is kept in a server's memory, and in which order it goes to the device.", .kinds = &caches,
     .belongs = THERE},
    {"storage.servers.cache_bytes", KER_TYPE_BYTES, "1 GiB", "1 B", NULL, NULL,
     "What a server's memory holds of writes; a write waits until there is room.",
     .belongs = THERE " & storage.servers.cache_policy!=none"},
    {"storage.servers.granularity", KER_TYPE_BYTES, "1 MiB", "1 B", NULL, NULL,
     "The largest operation of a device.", .belongs = THERE},
    {"storage.servers.priority", KER_TYPE_INT, "0", "0", "15", NULL,
     "Priority class of messages between clients and servers.", .belongs = THERE},
    {"storage.device.kind", KER_TYPE_CHOICE, "disk", NULL, NULL, NULL, "What a server stores on.",
     .kinds = &devices, .belongs = THERE},
    {"storage.device.rate", KER_TYPE_RATE, NULL, "1 B/s", NULL, NULL,
     "Bytes a second that a device moves, seeks and latencies apart; there is no default.", .belongs = THERE},
    {"storage.layout.kind", KER_TYPE_CHOICE, "simple", NULL, NULL, NULL, "Which bytes are on which server.",
     .kinds = &layouts, .belongs = THERE},
    {"storage.layout.stripe_size", KER_TYPE_BYTES, "64 KiB", "1 B", "1 TiB", NULL, "Of a file.",
     .belongs = THERE},
    {"storage.layout.stripe_count", KER_TYPE_INT, "0", "0", "1000000000", NULL, "Servers of a file; 0: all.",
     .belongs = THERE},
    {"storage.chunk", KER_TYPE_BYTES, "1 MiB", "1 B", "1 GiB", NULL,
     "Data goes in messages of at most this, each of which is answered.", .belongs = THERE},
    {"storage.window", KER_TYPE_INT, "8", "1", "65535", NULL,
     "Chunks under way at once between a call and each of its servers.", .belongs = THERE},
    {"storage.adapter", KER_TYPE_INT, NULL, "0", "255", NULL,
     "The adapter that carries what clients and servers send to each other, as where a plane is for storage; "
     "absent: node.rail says.",
     .belongs = THERE " & node.adapters!=1"},
    {"storage.open_time", KER_TYPE_TIME, "0 s", NULL, "1000 s", NULL,
     "Processor time of the file's first server to open it.", .belongs = THERE},
    {"output.requests", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "Write requests.csv: each request that came to a file server, and each chunk of what is written.",
     .belongs = THERE},
    {0},
};

/* ---- on which nodes ---- */

static enum ker_status servers_place(struct node_service_setup *setup, struct ker_error *error)
{
    const struct ker_config *config = setup->config;
    if (ker_config_has(config, "storage.servers.nodes")) {
        if (ker_config_has(config, "storage.servers.count"))
            return ker_config_fail(config, error, "storage.servers.count",
                                   "give storage.servers.nodes or storage.servers.count, not both");
        struct node_role list;
        enum ker_status status = node_role_read(&list, setup, "nodes", error);
        setup->list = list;
        setup->first_node = list.members ? list.node[0] : 0;
        setup->members = list.members;
        if (!status && !list.members)
            return ker_config_fail(config, error, "storage.servers.nodes", "names no node");
        return status;
    }
    int64_t count = ker_config_int(config, "storage.servers.count"),
            every = ker_config_int(config, "storage.servers.every"), wanted = (count - 1) * every + 1;
    if (wanted > setup->nodes)
        return ker_config_fail(config, error, "storage.servers.count",
                               "%lld servers, one every %lld nodes, want %lld nodes; there are %u",
                               (long long)count, (long long)every, (long long)wanted, setup->nodes);
    setup->every = count > 1 ? (uint32_t)every : 1;
    setup->members = (uint32_t)count;
    return KER_OK;
}

static enum ker_status clients_place(struct node_service_setup *setup, struct ker_error *error)
{
    (void)error;
    setup->members = setup->nodes;
    return KER_OK;
}

const struct node_service_own *store_services(const struct ker_config *config)
{
    static const struct node_service_own own[] = {
        {"storage.servers", "storage", "storage", &store_server, servers_place},
        {"storage.servers", STORE_CLIENT, NULL, &store_client, clients_place},
        {0}};
    return store_wanted(config) ? own : NULL;
}
