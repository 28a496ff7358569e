/* storage.h - of random systems: file servers, and tasks that write to them and read. */
#pragma once

#include "tests/random_system/draw.h"

static void random_servers(struct random_system *r)
{
    random_key(r, "servers");
    uint32_t count = between(r, 1, r->nodes < 5 ? r->nodes : 5),
             every = between(r, 1, count > 1 ? (r->nodes - 1) / (count - 1) : 1);
    fprintf(r->out, "    servers: { count = %u; every = %u;\n", count, every);
    const char *policy =
        random_choice(r, "cache_policy", LIST("none", "write_behind", "aggregate", "aggregate_reorder"));
    put_text(r, "cache_policy", policy);
    if (strcmp(policy, "none"))
        put_size(r, "cache_bytes", 4 * r->packet, 30 * r->packet, 4 * r->packet, 1u << 30);
    put_size(r, "granularity", r->packet, 20 * r->packet, 1 + r->packet / 2, 1u << 30);
    put_whole(r, "threads", 1, 3, 1, 4096);
    put_time(r, "request_time", LIST("0 ns", "1 ps", "3 us"), 0, 1e8);
    put_whole(r, "priority", 0, r->classes - 1, 0, r->classes - 1);
    fprintf(r->out, "    };\n");
}

/* Before the jobs. */
static void random_storage(struct random_system *r)
{
    snprintf(r->group, sizeof r->group, "storage");
    r->storage = random_flag(r, "storage", r->rich ? 35 : 20);
    if (!r->storage)
        return;
    fprintf(r->out, "storage: {\n");
    random_servers(r);
    const char *device = random_choice(r, "kind", LIST("disk", "ssd", "memory"));
    fprintf(r->out, "    device: { kind = \"%s\"; rate = \"%u MB/s\";\n", device, between(r, 100, 5000));
    if (strcmp(device, "disk") == 0) {
        put_time(r, "seek", LIST("1 us", "100 us", "0 ns"), 0, 1e9);
        put_time(r, "track_seek", LIST("1 us", "0 ns", "1 ps"), 0, 1e9);
        fprintf(r->out, "        rpm = 1000000;\n"); /* half a turn is 30 us */
    }
    if (strcmp(device, "ssd") == 0)
        put_whole(r, "channels", 1, 4, 1, 1024);
    fprintf(r->out, "    };\n    layout: { \n");
    put_size(r, "stripe_size", r->packet, 10 * r->packet, 1 + r->packet / 8, 1u << 30);
    fprintf(r->out, "    };\n");
    put_size(r, "chunk", r->packet, 4 * r->packet, 1 + r->packet / 4, 4 * r->packet);
    put_whole(r, "window", 1, 4, 1, 65535);
    put_time(r, "open_time", LIST("0 ns", "1 ps", "10 us"), 0, 1e8);
    if (random_flag(r, "collective", 50)) {
        fprintf(r->out, "    collective: {\n");
        put_size(r, "buffer", r->packet, 20 * r->packet, 1 + r->packet / 2, 1u << 30);
        fprintf(r->out, "    };\n");
    }
    fprintf(r->out, "};\n");
    r->group[0] = '\0';
}

/* In the place of a pingpong. */
static uint32_t random_ior(struct random_system *r, uint32_t most)
{
    uint32_t tasks = (uint32_t)random_whole(r, "tasks", 1, most < 8 ? most : 8, 1, most < 16 ? most : 16),
             segments = (uint32_t)random_whole(r, "segments", 1, 4, 1, 12);
    double limit = 0.3 * RANDOM_PACKETS * r->packet / tasks / segments;
    bool own = random_flag(r, "own files", 30);
    fprintf(r->out, "        tasks = %u;\n        segments = %u;\n", tasks, segments);
    put_size(r, "transfer", 1 + r->packet / 2, 10 * r->packet, 1 + r->packet / 8, (uint64_t)limit);
    put_choice(r, "mode", LIST("write", "read", "both"));
    put_text(r, "file", own ? "task" : "shared");
    put_flag(r, "strided", 40);
    put_flag(r, "reorder", 40);
    if (!own)
        put_flag(r, "collective_io", 40);
    return tasks;
}

static void random_checkpoints(struct random_system *r)
{
    if (!r->storage || !random_flag(r, "checkpoints", 40))
        return;
    put_whole(r, "checkpoint_every", 1, 3, 1, 3);
    put_size(r, "checkpoint_bytes", 1, 4 * r->packet, 1, 8 * r->packet);
}
