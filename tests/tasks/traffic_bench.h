/* traffic_bench.h - the traffic of a configuration without a network, for the tests of tasks/traffic/. */
#pragma once

#include "nodes/nodes.h"
#include "routing/routing.h"
#include "tasks/traffic/traffic.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The adapter's keys that the load is computed from; the network has the real ones. */
static const struct ker_option adapter_options[] = {
    {.key = "switch.classes", .type = KER_TYPE_INT, .fallback = "1", .meaning = "priority classes"},
    {.key = "adapter.packet_size",
     .type = KER_TYPE_BYTES,
     .fallback = "512 B",
     .meaning = "payload of a packet"},
    {.key = "adapter.header", .type = KER_TYPE_BYTES, .fallback = "0 B", .meaning = "header of a packet"},
    {.key = "adapter.headers",
     .type = KER_TYPE_CHOICE,
     .fallback = "plain",
     .choices = "plain|infiniband",
     .meaning = "what they are"},
    {.key = NULL},
};

static const struct ker_option *const tables[] = {route_options, adapter_options, task_traffic_options, NULL};

#define TORUS(extents)                                                                                       \
    "topology = { kind = \"torus\"; extents = [" extents                                                     \
    "]; bandwidth = \"25 GB/s\"; latency = \"30 ns\"; };\n"

struct bench {
    struct ker_config *config;
    struct route_topology *topology;
    struct task_traffic *traffic;
    struct ker_error error;
    enum ker_status status;
};

static inline struct bench bench_open(const char *topology, const char *traffic, uint32_t cores,
                                      uint64_t seed)
{
    struct bench b = {0};
    static struct node_model model;
    model.cores = cores;
    char *text = ker_format("%s%s", topology, traffic);
    b.status = ker_config_parse(&b.config, "test.cfg", text, NULL, 0, tables, &b.error);
    free(text);
    if (b.status)
        return b;
    b.status = route_new(&b.topology, b.config, 8, &b.error);
    if (!b.status)
        b.status = task_traffic_new(&b.traffic, b.config, b.topology, &model, seed, &b.error);
    return b;
}

static inline void bench_close(struct bench *b)
{
    task_traffic_free(b->traffic);
    if (b->topology)
        route_free(b->topology);
    if (b->config)
        ker_config_free(b->config);
}

static inline struct bench bench_good(const char *topology, const char *traffic)
{
    struct bench b = bench_open(topology, traffic, 1, 7);
    if (b.status)
        print_error("%s\n", b.error.text);
    assert_int_equal(b.status, KER_OK);
    assert_non_null(b.traffic);
    return b;
}
