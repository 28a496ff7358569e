/* node.h - of random systems: nodes, their structure, memory and noise. */
#pragma once

#include "tests/random_system/draw.h"

static const char *const random_overheads[] = {"0 ns", "0 ns", "1 ps", "100 ns", "299 ns", NULL};

/* Around this many GB/s. */
static void put_rate(struct random_system *r, const char *name, double usual)
{
    random_key(r, name);
    double rate = r->extreme ? 1e-3 * (double)spread(r, 1, 1e9) : usual * (1 + draw(r, 100)) / 37;
    fprintf(r->out, "%*s%s = \"%.3f GB/s\";\n", r->indent, "", name, rate);
}

static void random_structure(struct random_system *r)
{
    uint32_t most = r->cores < 4 ? r->cores : 4,
             sockets = (uint32_t)put_whole(r, "sockets", 1, most < 2 ? 1 : 2, 1, most);
    if (random_flag(r, "own domains", 50))
        put_whole(r, "domains", sockets, most, sockets, r->cores < 64 ? r->cores : 64);
    if (random_flag(r, "threads", 40)) {
        uint32_t threads = (uint32_t)put_whole(r, "threads", 2, 2, 2, 5);
        put_real(r, "thread_throughput", 1, 1.5, 0.01, 8);
        r->units = r->cores * threads;
    }
    if (random_flag(r, "unlike", 30)) {
        random_key(r, "core_speeds");
        bool two = r->cores % 2 == 0;
        fprintf(r->out, "    core_speeds = [%.6f%s", 0.01 * between(r, 1, 300), two ? ", " : "];\n");
        if (two)
            fprintf(r->out, "%.6f];\n", 0.01 * between(r, 1, 300));
    }
    if (sockets == 1)
        return;
    if (random_flag(r, "slow link", 50))
        put_rate(r, "socket_bandwidth", 10);
    put_time(r, "socket_latency", random_overheads, 0, 1e12);
}

static void random_memory(struct random_system *r)
{
    bool controllers = random_flag(r, "controllers", 70), draws = random_flag(r, "core draws", 30);
    if (controllers)
        put_rate(r, "controller_bandwidth", 20);
    if (draws)
        put_rate(r, "core_bandwidth", 10);
    r->draws_memory = controllers || draws;
    r->controllers = controllers;
    r->cores_draw = draws;
    if (random_flag(r, "single copy", 40)) {
        put_size(r, "single_copy_size", 0, 4096, 0, 1 << 20);
        put_time(r, "single_copy_latency", random_overheads, 0, 1e12);
    }
}

/* How adapters read and write memory. */
static void random_bus(struct random_system *r)
{
    if (random_flag(r, "bus takes time", 50)) {
        put_time(r, "bus_latency", random_overheads, 0, 1e12);
        put_time(r, "interrupt_latency", random_overheads, 0, 1e12);
    }
    if (r->adapters > 1 && (r->lanes || r->rich) && random_flag(r, "buses", r->rich ? 60 : 30))
        put_whole(r, "buses", 1, 3, 1, 64);
    if (!r->lanes)
        return;
    put_rate(r, "lane_bandwidth", 1);
    put_whole(r, "bus_lanes", 1, 16, 1, 1024);
    put_flag(r, "loopback", 30);
}

static void random_noise(struct random_system *r)
{
    const char *kind = random_choice(r, "noise kind", LIST("periodic", "random"));
    bool drawn = strcmp(kind, "random") == 0;
    fprintf(r->out, "    noise: {\n");
    r->indent += 4;
    put_text(r, "kind", kind);
    /* below any period or gap; a detour is a draw, and computations last up to 10 s */
    put_time(r, "length", LIST("0 ns", "1 ps", "300 ns", "2500 ns"), 0, 2.5e6);
    put_time(r, drawn ? "gap" : "period", LIST("2501 ns", "10 us", "77 us"), 1e7 + 1, 1e14);
    if (drawn)
        put_choice(r, "lengths", LIST("fixed", "exponential", "pareto"));
    put_choice(r, "begin", drawn ? LIST("core", "node") : LIST("core", "node", "same"));
    r->indent -= 4;
    fprintf(r->out, "    };\n");
}

/* More tasks than hardware threads. */
static void random_turns(struct random_system *r)
{
    r->turns = true;
    r->units = (uint32_t)put_whole(r, "tasks", r->units, 2 * r->units, 1, 3 * r->units);
    put_choice(r, "quantum", LIST("1 us", "33 us", "1 ms"));
    put_choice(r, "switch_cost", LIST("1 ps", "1 us", "70 ns"));
    put_choice(r, "wakeup", LIST("preempt", "queue"));
    put_choice(r, "waiting", LIST("block", "block", "spin"));
}

static void random_power(struct random_system *r)
{
    fprintf(r->out, "    power: {\n");
    r->indent += 4;
    put_real(r, "core_busy", 0, 10, 0, 1000000);
    put_real(r, "core_idle", 0, 5, 0, 1000000);
    put_real(r, "memory_byte", 0, 100, 0, 1000000);
    r->indent -= 4;
    fprintf(r->out, "    };\n");
}

/* Kinds with structures, rates and adapters of their own; each has room for the tasks of any. */
static void random_kinds(struct random_system *r)
{
    snprintf(r->group, sizeof r->group, "nodes");
    if (r->nodes < 2 || !random_flag(r, "kinds", r->rich ? 50 : 25))
        return;
    uint32_t kinds = random_flag(r, "three", 40) && r->nodes > 2 ? 3 : 2;
    fprintf(r->out, "nodes: (\n");
    for (uint32_t k = 0; k < kinds; k++) {
        snprintf(r->group, sizeof r->group, "nodes%u", k);
        fprintf(r->out, "    {\n");
        r->indent = 8;
        if (k + 1 < kinds)
            put_whole(r, "count", 1, (r->nodes - 1) / (kinds - 1), 1, (r->nodes - 1) / (kinds - 1));
        if (r->adapters > 1 && random_flag(r, "fewer", 60))
            put_whole(r, "adapters", 1, r->adapters, 1, r->adapters);
        if (random_flag(r, "more cores", 40))
            fprintf(r->out, "        cores = %u;\n", 2 * r->cores); /* so that groups of speeds fit */
        if (!r->plain && random_flag(r, "own speed", 40))
            put_real(r, "core_speeds", 0.3, 2, 0.001, 10);
        if (r->controllers && random_flag(r, "own controllers", 60))
            put_rate(r, "controller_bandwidth", 20);
        if (r->cores_draw && random_flag(r, "own draws", 60))
            put_rate(r, "core_bandwidth", 10);
        if (r->lanes && random_flag(r, "own lanes", 60))
            put_rate(r, "lane_bandwidth", 1);
        if (r->node_links && random_flag(r, "own links", 60))
            put_whole(r, "out_links", 0, 3, 0, 64);
        if (r->node_links && random_flag(r, "own links in", 60))
            put_whole(r, "in_links", 0, 3, 0, 64);
        fprintf(r->out, "    }%s\n", k + 1 < kinds ? "," : "");
    }
    fprintf(r->out, ");\n");
    r->group[0] = '\0';
}

/* A list of times by size, perhaps of one. */
static void put_sizes(struct random_system *r, const char *name)
{
    char text[160];
    size_t used = 0;
    uint32_t count = 1 + draw(r, 4);
    uint64_t size = 0;
    for (uint32_t i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s\"%u ps:%llu B\"", i ? ", " : "",
                                 draw(r, 3) * 100003 + i * 300000, (unsigned long long)size);
        size += 1 + draw(r, 5000);
    }
    random_key(r, name);
    fprintf(r->out, "%*s%s = [%s];\n", r->indent, "", name, text);
}

static void random_overhead_sizes(struct random_system *r)
{
    put_sizes(r, "send_overhead");
    put_sizes(r, "receive_overhead");
    if (random_flag(r, "own inside", 50))
        put_sizes(r, "memory_overhead");
    put_choice(r, "overhead_between", LIST("steps", "lines"));
}

static void random_node(struct random_system *r)
{
    bool works = !r->plain;
    group_begin(r, "node");
    r->cores = r->units = (uint32_t)put_whole(r, "cores", 1, random_flag(r, "multicore", 40) ? 4 : 1, 1, 64);
    if (random_flag(r, "overheads by size", 30)) {
        random_overhead_sizes(r);
    } else {
        put_time(r, "send_overhead", random_overheads, 0, 1e12);
        put_time(r, "receive_overhead", random_overheads, 0, 1e12);
    }
    put_time(r, "doorbell", random_overheads, 0, 1e12);
    put_time(r, "memory_latency", LIST("200 ns", "0 ns", "1 ps", "1 us"), 0, 1e12);
    static const uint32_t rates[] = {10000, 3300, 100000};
    random_key(r, "memory_bandwidth");
    fprintf(r->out, "    memory_bandwidth = \"%.3f GB/s\";\n",
            1e-3 * (r->extreme ? (double)spread(r, 1, 1e9) : rates[draw(r, 3)]));
    if (works && random_flag(r, "structure", 40))
        random_structure(r);
    if (works && random_flag(r, "shared memory", 40))
        random_memory(r);
    if (works && random_flag(r, "system calls", 10)) {
        put_real(r, "system_factor", 0, 2, 0, 10);
        put_time(r, "system_latency", random_overheads, 0, 1e12);
    }
    if (r->lanes || random_flag(r, "bus", r->rich ? 70 : 20))
        random_bus(r);
    if (works && random_flag(r, "noise", 35))
        random_noise(r);
    if (works && random_flag(r, "turns", 15))
        random_turns(r);
    if (works && random_flag(r, "power", 10))
        random_power(r);
    group_end(r);
}
