/* network.h - of random systems: switches, adapters, congestion control. */
#pragma once

#include "tests/random_system/fabric.h"

#include <unistd.h>

/* A buffer: some packets, or anything that holds one. */
static void random_buffer(struct random_system *r, const char *name)
{
    static const uint32_t depths[] = {1, 1, 2, 3, 4, 16, 64};
    uint32_t wire = r->packet + r->header + 255 * r->hop_bytes;
    wire = (wire + r->block - 1) / r->block * r->block;
    random_key(r, name);
    put_bytes(r, name,
              r->extreme ? spread(r, wire, 1 << 30)
                         : (uint64_t)wire * depths[draw(r, 7)] + (chance(r, 30) ? draw(r, wire) : 0));
}

static void random_delay(struct random_system *r, const char *name, uint32_t percent)
{
    random_key(r, name);
    put_text(r, name,
             chance(r, percent) ? random_time(r, LIST("10 ns", "20 ns", "50 ns", "90001 ps"), 0, 1e12)
                                : "0 ns");
}

/* Channels and classes: all of them together are at most 16. */
static void random_channels(struct random_system *r)
{
    uint32_t channels = r->channels;
    if (random_flag(r, "more channels", 50))
        channels = (uint32_t)random_whole(r, "channels", r->channels, r->channels + 3, r->channels, 16);
    channels = channels > 16 ? 16 : channels;
    random_key(r, "classes");
    bool many = r->extreme || (chance(r, 20) && channels <= 5);
    r->classes = many ? between(r, r->extreme ? 1 : 2, r->extreme ? 16 / channels : 3) : 1;
    r->all_channels = channels * r->classes;
    fprintf(r->out, "    channels = %u;\n    classes = %u;\n", channels, r->classes);
}

/* Beside the test program: weighted turns among lanes, which have a state. */
static const char *random_plugin(void)
{
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 16);
    ker_assert(length > 0);
    path[length] = '\0';
    strcpy(strrchr(path, '/') + 1, "turns.so");
    return access(path, R_OK) == 0 ? path : NULL;
}

/* One of InfiniBand's tables: every lane once, in any order, and some again. */
static void random_vl(struct random_system *r, const char *name, bool all)
{
    random_key(r, name);
    fprintf(r->out, "    %s = \"", name);
    for (uint32_t i = 0, first = draw(r, r->all_channels); all && i < r->all_channels; i++)
        fprintf(r->out, "%s%u:%u", i ? "," : "", (first + i) % r->all_channels,
                chance(r, 30) ? 255 : between(r, 1, 60));
    for (uint32_t i = 0, more = draw(r, 5); i < more; i++)
        fprintf(r->out, "%s%u:%u", i || all ? "," : "", draw(r, r->all_channels), draw(r, 256));
    fprintf(r->out, "\";\n");
}

static void random_vl_tables(struct random_system *r, const char *low, const char *high, const char *limit)
{
    random_vl(r, low, true);
    random_vl(r, high, false);
    put_whole(r, limit, 0, 3, 0, 255);
}

static void random_vl_port(struct random_system *r, FILE *out, int lid, int port)
{
    bool high = chance(r, 30);
    if (chance(r, 50))
        return;
    fprintf(out, "# VLArbitration tables: Lid %d port %d LowCap %u HighCap %d\n", lid, port, r->all_channels,
            high);
    fprintf(out, "# Low priority VL Arbitration Table:\nVL    : |");
    for (uint32_t i = 0; i < r->all_channels; i++)
        fprintf(out, "0x%-2X|", i);
    fprintf(out, "\nWEIGHT: |");
    for (uint32_t i = 0; i < r->all_channels; i++)
        fprintf(out, "0x%-2X|", between(r, 1, 60));
    fprintf(out, "\n");
    if (high)
        fprintf(out, "# High priority VL Arbitration Table:\nVL    : |0x%-2X|\nWEIGHT: |0xFF|\n",
                draw(r, r->all_channels));
    if (chance(r, 30))
        fprintf(out, "# Port info: Lid %d port %d\nVLHighLimit:....%u\n", lid, port, draw(r, 4));
}

/* Of about half the ports of a fabric, as smpquery prints them. */
static void random_vl_ports(struct random_system *r)
{
    char *path = ker_format("%s/%03d.vlarb", r->folder, r->number);
    const struct plant *plant = &r->plant->plant;
    FILE *out = fopen(path, "w");
    ker_assert(out != NULL);
    put_text(r, "vl_file", path);
    random_key(r, "vl_file");
    fprintf(out, "qos TRUE\nqos_high_limit 2\n");
    for (int i = 0; i < plant->cables; i++) {
        const struct plant_cable *c = &plant->cable[i];
        random_vl_port(r, out, plant_switch_lid(c->from), c->from_port);
        random_vl_port(r, out,
                       c->adapter ? plant_node_lid(plant, plant_node(plant, c->to, c->to_port))
                                  : plant_switch_lid(c->to),
                       c->to_port);
    }
    fclose(out);
    free(path);
}

/* Whatever level a message is of, its class is there. */
static void random_sl2vl(struct random_system *r)
{
    random_key(r, "sl2vl");
    fprintf(r->out, "    sl2vl = \"");
    for (int level = 0; level < 16; level++)
        fprintf(r->out, "%s%u", level ? "," : "", draw(r, r->classes));
    fprintf(r->out, "\";\n");
}

static void random_lanes(struct random_system *r)
{
    r->vl = !r->turns_of_lanes && r->all_channels < 16 && random_flag(r, "vl lanes", 20);
    if (r->vl) {
        put_text(r, "lanes", "vl");
        random_vl_tables(r, "vl_low", "vl_high", "vl_limit");
        if (random_flag(r, "levels", 40))
            random_sl2vl(r);
        if (r->plant && random_flag(r, "vl ports", 90))
            random_vl_ports(r);
    }
    if (!r->turns_of_lanes)
        return;
    put_text(r, "lanes", "turns");
    if (random_flag(r, "weights", 70))
        fprintf(r->out, "    weights = [%u, %u, %u];\n", between(r, 1, 4), between(r, 1, 9),
                between(r, 1, 2));
}

/* In blocks, and at intervals. */
static void random_credits(struct random_system *r)
{
    static const uint32_t blocks[] = {2, 8, 64, 64, 64, 512};
    r->block = 1;
    if (random_flag(r, "blocks", 30) && r->packet + r->header + 255 * r->hop_bytes < 60000) {
        random_key(r, "credit_unit");
        r->block = blocks[draw(r, 6)];
        put_bytes(r, "credit_unit", r->block);
    }
    if (random_flag(r, "intervals", 20))
        put_time(r, "credit_interval", LIST("1 ns", "100 ns", "256 ns", "33333 ps"), 0, 1e9);
    r->lives = r->lossy && random_flag(r, "lives", 40); /* a job would wait for ever for what is dropped */
    if (r->lives) {
        put_whole(r, "head_life", 0, 4, 0, 31);
        put_whole(r, "packet_life", 0, 4, 0, 31);
    }
    if (random_flag(r, "overhead", 15))
        fprintf(r->out, "    vl_overhead = %s;\n",
                random_choice(r, "vl_overhead", LIST("0.000122", "0.01", "0.05")));
}

static void random_switch(struct random_system *r)
{
    group_begin(r, "switch");
    random_channels(r);
    random_lanes(r);
    random_credits(r);
    random_buffer(r, "buffer");
    random_buffer(r, "output_queue");
    put_text(r, "queueing", random_flag(r, "queueing", 30) ? "fifo" : "voq");
    put_choice(r, "arbitration", LIST("round_robin", "oldest", "random"));
    put_text(r, "forwarding", random_flag(r, "forwarding", 25) ? "store_and_forward" : "cut_through");
    if (random_flag(r, "reads", 20))
        put_text(r, "reads", "flits");
    if (r->turns_of_lanes || r->vl)
        put_text(r, "matching", "greedy"); /* the only one that asks the lanes */
    else
        put_choice(r, "matching", LIST("separable", "greedy"));
    static const double speedups[] = {1, 1, 2, 1.3, 4};
    random_key(r, "speedup");
    fprintf(r->out, "    speedup = %.3f;\n",
            r->extreme ? 1e-3 * (double)spread(r, 1000, 64000) : speedups[draw(r, 5)]);
    random_delay(r, "delay", 75);
    random_delay(r, "credit_delay", 30);
    group_end(r);
}

static void random_adapter(struct random_system *r)
{
    group_begin(r, "adapter");
    if (r->vl && random_flag(r, "own vl", 30))
        random_vl_tables(r, "vl_low", "vl_high", "vl_limit");
    put_bytes(r, "packet_size", r->packet);
    if (r->infiniband)
        put_text(r, "headers", "infiniband");
    else
        put_bytes(r, "header", r->header);
    bool one_queue = random_flag(r, "queues", 30);
    put_text(r, "queues", one_queue ? "fifo" : "per_destination");
    if (!one_queue)
        put_choice(r, "scheduling", LIST("fifo", "round_robin"));
    if (random_flag(r, "slow", 25)) {
        random_key(r, "ejection_rate");
        double rate = r->bandwidth * (r->extreme ? 1e-3 * (double)spread(r, 1, 3000) : 0.6);
        fprintf(r->out, "    ejection_rate = \"%.6f GB/s\";\n", rate > 1e-6 ? rate : 1e-6);
        random_buffer(r, "buffer");
    }
    if (!r->whole && random_flag(r, "slow injection", 20)) {
        random_key(r, "injection_rate");
        fprintf(r->out, "    injection_rate = [\"%.6f GB/s\"", r->bandwidth * 0.1 * (1 + draw(r, 12)));
        for (uint32_t size = 1 + draw(r, 5000), more = draw(r, 3); more; more--, size += 1 + draw(r, 9000))
            fprintf(r->out, ", \"%.6f GB/s:%u B\"", r->bandwidth * 0.1 * (1 + draw(r, 12)), size);
        fprintf(r->out, "];\n");
        put_choice(r, "injection_between", LIST("steps", "lines"));
    }
    r->lanes = r->jobs && !r->whole && random_flag(r, "lanes", r->plain ? 0 : r->rich ? 60 : 25);
    if (!r->lossy_later && !r->striped && !r->lives) /* what is lost would hold back all that follows */
        put_flag(r, "resequence", 20);
    if (r->jobs)
        put_choice(r, "control", LIST("first", "fair", "in_order"));
    group_end(r);
}

/* From a thirtieth to thirty times of what a packet takes on the wire, where most of what races does so; or
 * anything. */
static double random_recovery(struct random_system *r, const char *name)
{
    double wire = 1000 * (r->packet + r->header) / r->bandwidth;
    random_key(r, name);
    double ps = r->extreme ? (double)spread(r, 1000, 1e12) : wire * 0.001 * (double)spread(r, 30, 30000);
    return ps < 1000 ? 1000 : ps > 1e12 ? 1e12 : ps;
}

/* Tables that rise, timers as long as some packets. */
static void random_a10(struct random_system *r)
{
    static const char *const tables[] = {"[\"linear\"]",
                                         "[\"0\", \"1/2^2\", \"1/2\", \"1\", \"3/2\", \"2\", \"3\", \"4\"]",
                                         "[\"1/2^3\", \"1\", \"2\", \"5\", \"9\", \"20\", \"40\", \"80\"]"};
    r->a10 = true;
    put_text(r, "control", "infiniband");
    random_key(r, "cct");
    fprintf(r->out, "    cct = %s;\n    ccti_limit = %u;\n", tables[draw(r, 3)], between(r, 3, 7));
    put_whole(r, "ccti_min", 0, 1, 0, 3);
    put_whole(r, "ccti_increase", 1, 2, 1, 255);
    put_whole(r, "ccti_timer", 1, 20, 1, 65535);
    put_choice(r, "ccti_begin", LIST("start", "first_packet"));
    put_choice(r, "seen", LIST("departure", "arrival"));
    if (random_flag(r, "by packets", 50))
        put_whole(r, "sw_packets", 1, 3, 1, 1000000);
    else
        put_whole(r, "sw_threshold", 8, 15, 0, 15);
    put_whole(r, "marking_rate", 0, 3, 0, 65535);
    put_choice(r, "marking", LIST("drawn", "counted"));
    put_whole(r, "packet_size", 0, 8, 0, 255);
    put_choice(r, "victim_mask", LIST("", "adapters", "0x5f"));
    put_choice(r, "by", LIST("flow", "sl"));
    put_choice(r, "cnp_lane", LIST("own", "flow"));
}

static void random_rtt(struct random_system *r)
{
    uint32_t wire = r->packet + r->header + 255 * r->hop_bytes;
    double ps = 1000 * wire / r->bandwidth * between(r, 3, 60);
    put_text(r, "control", "rtt");
    put_ps(r, "target", ps < 1000 ? 1000 : ps > 1e10 ? 1e10 : ps);
    put_bytes(r, "window_first", wire * (uint64_t)between(r, 1, 4));
    put_bytes(r, "window_most", wire * (uint64_t)between(r, 4, 9));
    put_size(r, "growth", 1, wire, 1, 1u << 30);
    put_real(r, "backoff", 0.1, 1, 0.001, 1);
    put_real(r, "backoff_most", 0.1, 0.9, 0.001, 0.99);
}

/* Congestion control in a third of the systems, mostly set so that it acts soon and often: flows that are
 * slowed down and recover again and again. */
static void random_congestion(struct random_system *r)
{
    snprintf(r->group, sizeof r->group, "congestion");
    if (!random_flag(r, "some", 35))
        return;
    uint32_t wire = r->packet + r->header;
    group_begin(r, "congestion");
    put_size(r, "cnp_size", 1, wire, 1, wire);
    put_whole(r, "window", 1, 8, 1, 1000000);
    if (random_flag(r, "infiniband", 30)) {
        random_a10(r);
        group_end(r);
        return;
    }
    if (!r->lossy && random_flag(r, "rtt", 20)) {
        random_rtt(r);
        group_end(r);
        return;
    }
    put_text(r, "control", "ecn");
    uint64_t low = put_size(r, "threshold", 0, 3 * wire, 0, 1ull << 40);
    if (random_flag(r, "gradual", 50)) { /* an extreme one is drawn as a real number */
        uint64_t high = low + random_whole(r, "threshold_high", 0, 4 * wire, 0, (1ull << 40) - low);
        put_bytes(r, "threshold_high", high < 1ull << 40 ? high : 1ull << 40);
    }
    put_text(r, "mark", random_flag(r, "mark", 70) ? "root" : "all");
    put_real(r, "decrease", 0.1, 1, 0.001, 1);
    put_real(r, "minimum", 0.01, 0.2, 0.000001, 1);
    put_real(r, "increase", 0.01, 0.5, 0.000001, 1);
    put_ps(r, "recovery", random_recovery(r, "recovery"));
    put_ps(r, "cnp_gap", random_flag(r, "no gap", 30) ? 0 : random_recovery(r, "cnp_gap"));
    group_end(r);
}

/* Whole messages instead of packets in some systems; what means nothing with them is left out, with a
 * warning. */
static void random_carrier(struct random_system *r)
{
    snprintf(r->group, sizeof r->group, "network");
    r->whole = r->adapters == 1 && random_flag(r, "whole messages", 20);
    if (!r->whole)
        return;
    group_begin(r, "network");
    /* Flows need 4 ps from node to node. */
    const char *model = r->extreme || r->near
                            ? random_choice(r, "model", LIST("simple", "links", "bus", "pmac"))
                            : random_choice(r, "model", LIST("simple", "links", "bus", "pmac", "flow"));
    put_text(r, "model", model);
    if (strcmp(model, "flow") == 0) {
        put_size(r, "flow_size", 0, 100000, 0, 1000000);
        put_choice(r, "flow_penalty", LIST("none", "infiniband"));
        group_end(r);
        return;
    }
    put_time(r, "latency", LIST("2 ps", "100 ns", "1 us", "20 us"), 2, 1e12);
    if (strcmp(model, "bus") == 0 || strcmp(model, "pmac") == 0)
        put_whole(r, "buses", 1, r->nodes, 1, 1000);
    r->node_links = strcmp(model, "links") == 0 || strcmp(model, "pmac") == 0;
    if (r->node_links) {
        put_whole(r, "out_links", 0, 3, 0, 64);
        put_whole(r, "in_links", 0, 3, 0, 64);
    }
    random_key(r, "bandwidth");
    fprintf(r->out, "    bandwidth = \"%.6f GB/s\";\n",
            r->bandwidth * (r->extreme ? 1e-3 * (double)spread(r, 1, 3000) : 0.3 * between(r, 1, 5)));
    if (random_flag(r, "classes", 40)) {
        static const char *const latencies[] = {"2 ps", "70 ns", "700 ns", "3 us"};
        fprintf(r->out, "    classes = ( { within = \"board\"; latency = \"%s\"; },\n",
                latencies[draw(r, 4)]);
        fprintf(r->out, "                { within = \"rack\"; bandwidth = \"%u GB/s\"; } );\n",
                between(r, 1, 20));
    }
    group_end(r);
}
