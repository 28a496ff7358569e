/* plugin.h - all that a plugin may use: #include <marssim/plugin.h>, with the flags of `pkg-config marssim`.
 *
 *     static const struct ker_kind ring = {.name = "ring", .meaning = "a ring of switches",
 *                                          .operations = &ring_topology, .options =
 * KER_OPTIONS(ring_options)}; static const struct ker_kind *const topologies[] = {&ring, NULL};
 *     MARSSIM_PLUGIN(MARSSIM_BRINGS("topology.kind", struct route_kind, topologies));
 *
 * built by cc -shared -fPIC $(pkg-config --cflags marssim) ring.c -o libring.so and named by
 * plugins = ["libring.so"]. The contracts of what it gives are with the structures: struct route_kind and
 * struct route_algorithm (routing/topology.h; routing/paths.h has algorithms for any graph), struct
 * node_service_kind (nodes/service.h), struct task_traffic_pattern, _arrival, _size
 * (tasks/traffic/traffic.h), struct task_program_class (traces/op.h). These headers are no promise from one
 * version to the next: a plugin is built again for each, and the program compares.
 */
#pragma once

#include "kernel/config/config.h"
#include "net/carriers/messages.h"
#include "nodes/nodes.h"
#include "routing/paths.h"
#include "tasks/traffic/traffic.h"
#include "traces/traces.h"

#define MARSSIM_STRUCTURES(SIZE)                                                                             \
    SIZE(struct ker_kind)                                                                                    \
    SIZE(struct ker_bring)                                                                                   \
    SIZE(struct ker_option)                                                                                  \
    SIZE(struct ker_error)                                                                                   \
    SIZE(struct ker_bits)                                                                                    \
    SIZE(struct ker_stream)                                                                                  \
    SIZE(struct route_kind)                                                                                  \
    SIZE(struct route_algorithm)                                                                             \
    SIZE(struct route_steps)                                                                                 \
    SIZE(struct route_topology)                                                                              \
    SIZE(struct route_summary)                                                                               \
    SIZE(struct route_packet)                                                                                \
    SIZE(struct route_choice)                                                                                \
    SIZE(struct route_peer)                                                                                  \
    SIZE(struct net_message)                                                                                 \
    SIZE(struct net_offer)                                                                                   \
    SIZE(struct net_envelope)                                                                                \
    SIZE(struct net_carrier)                                                                                 \
    SIZE(struct net_carrier_links)                                                                           \
    SIZE(struct net_host)                                                                                    \
    SIZE(struct net_send)                                                                                    \
    SIZE(struct net_law)                                                                                     \
    SIZE(struct part_group)                                                                                  \
    SIZE(struct node_service)                                                                                \
    SIZE(struct node_service_setup)                                                                          \
    SIZE(struct node_service_kind)                                                                           \
    SIZE(struct node_role)                                                                                   \
    SIZE(struct node_caller)                                                                                 \
    SIZE(struct stats_schema)                                                                                \
    SIZE(struct stats_column)                                                                                \
    SIZE(struct node_message)                                                                                \
    SIZE(struct task_traffic)                                                                                \
    SIZE(struct task_traffic_node)                                                                           \
    SIZE(struct task_traffic_pattern)                                                                        \
    SIZE(struct task_op)                                                                                     \
    SIZE(struct task_program_class)                                                                          \
    SIZE(struct trace_format)
#define MARSSIM_SIZE(type) {#type, sizeof(type)},

/* One kind of list after the other: MARSSIM_BRINGS(key, type of the operations, list). */
#define MARSSIM_BRINGS(key, type, list)                                                                      \
    {                                                                                                        \
        (key), sizeof(type), (list)                                                                          \
    }

/* The one symbol that a plugin exports. */
#define MARSSIM_PLUGIN(...) MARSSIM_PLUGIN_WITH(NULL, __VA_ARGS__)
/* The same with the names of all purposes that it draws random numbers for (ker_purpose), ended by NULL: no
 * two plugins may have the same. */
#define MARSSIM_PLUGIN_WITH(purposes, ...)                                                                   \
    static const struct ker_size marssim_plugin_sizes[] = {MARSSIM_STRUCTURES(MARSSIM_SIZE){NULL, 0}};       \
    static const struct ker_bring marssim_plugin_brings[] = {__VA_ARGS__, {NULL, 0, NULL}};                  \
    __attribute__((visibility("default"))) const struct ker_plugin marssim_plugin = {                        \
        KER_PLUGIN_ABI, sizeof(struct ker_plugin), marssim_plugin_sizes, marssim_plugin_brings, (purposes)}
