/* fabric.h - of random systems: InfiniBand clusters as ibnetdiscover prints them, and OpenSM's forwarding
 * tables for them. */
#pragma once

#include "tests/fabric_make.h"
#include "tests/random_system/draw.h"

#define RANDOM_PLANT 12 /* switches at most */

/* A tree and some cables more. */
struct random_plant {
    struct plant plant;
    int used[RANDOM_PLANT]; /* ports of each switch */
    int parent[RANDOM_PLANT], up[RANDOM_PLANT],
        down[RANDOM_PLANT];                                   /* ports at both ends of a switch's link */
    int at[2 * RANDOM_PLANT + 4], port[2 * RANDOM_PLANT + 4]; /* of each adapter */
};

static const char *random_cable(struct random_system *r)
{
    return random_from(
        r, LIST("1xSDR", "4xSDR", "4xDDR", "4xQDR", "4xFDR10", "4xFDR", "4xEDR", "2xHDR", "4xHDR", "4xNDR"));
}

static void random_fabric(struct random_system *r)
{
    struct random_plant *p = ker_alloc(sizeof *p);
    random_key(r, "fabric");
    int switches = (int)between(r, 1, RANDOM_PLANT),
        adapters = (int)between(r, 2, 2 * (uint32_t)switches + 4);
    p->plant = (struct plant){.switches = switches,
                              .ports = 60,
                              .adapters = adapters,
                              .adapter_ports = 1,
                              .lmc = chance(r, 30) ? (int)between(r, 1, 3) : 0};
    for (int a = 0; a < adapters; a++) {
        p->at[a] = (int)draw(r, (uint32_t)switches);
        p->port[a] = ++p->used[p->at[a]];
        plant_join(&p->plant, p->at[a], p->port[a], 1, a, 1, random_cable(r));
    }
    for (int k = 1; k < switches + switches / 2; k++) {
        int a = k < switches ? k : (int)draw(r, (uint32_t)switches),
            b = (int)draw(r, (uint32_t)(k < switches ? k : switches));
        if (a == b)
            continue;
        plant_join(&p->plant, a, ++p->used[a], 0, b, ++p->used[b], random_cable(r));
        if (k < switches) {
            p->parent[k] = b;
            p->up[k] = p->used[a];
            p->down[k] = p->used[b];
        }
    }
    char *path = ker_format("%s/%03d.fabric", r->folder, r->number);
    FILE *out = fopen(path, "w");
    ker_assert(out != NULL);
    plant_write(&p->plant, out);
    fclose(out);
    put_text(r, "file", path);
    free(path);
    random_key(r, "latency");
    put_text(r, "latency", random_time(r, LIST("20 ns", "50 ns", "100 ns", "7777 ps"), 1, 1e12));
    r->plant = p;
}

/* Along the tree, which is free of deadlock. */
static int random_plant_port(const void *context, int s, int node, int path)
{
    const struct random_plant *p = context;
    int at = p->at[node];
    if (at == s)
        return p->port[node];
    while (at != 0 && p->parent[at] != s)
        at = p->parent[at];
    return at != 0 ? p->down[at] : p->up[s];
}

static void random_opensm(struct random_system *r)
{
    const struct random_plant *p = r->plant;
    char *path = ker_format("%s/%03d.lfts", r->folder, r->number);
    FILE *out = fopen(path, "w");
    ker_assert(out != NULL);
    plant_write_tables(&p->plant, out, random_flag(r, "opensm-lfts", 50), random_plant_port, p);
    fclose(out);
    put_text(r, "algorithm", "table");
    put_text(r, "table", path);
    free(path);
    random_key(r, "lmc_path");
    if (p->plant.lmc > 0)
        fprintf(r->out, "    lmc_path = %d;\n", (int)draw(r, (1u << p->plant.lmc) + 1) - 1);
}

static void random_fabric_release(struct random_system *r)
{
    if (r->plant)
        free(r->plant->plant.cable);
    free(r->plant);
}
