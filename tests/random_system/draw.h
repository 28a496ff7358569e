/* draw.h - how a random system is drawn and written down: one random stream for each key.
 *
 * Whatever is drawn for a key comes from the stream of (number of the system, group and name of the key). So
 * a new key changes no other one, and keys may be drawn in any order; a new value of a choice (random_from)
 * changes only the systems that take it. A system may be wild: then every other key is drawn from its whole
 * range, minimum and maximum included, since what goes wrong with usual values only rarely does so at once at
 * the edge.
 */
#pragma once

#include "routing/routing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANDOM_PACKETS 1200 /* about this many in synthetic traffic */

struct random_system {
    int number;
    bool wild;
    struct ker_stream stream;    /* of the key that is being drawn */
    bool extreme;                /* this key comes from its whole range */
    char group[24];              /* that is being written */
    const char *folder, *traces; /* absolute; files beside the configuration are named in the folder */
    char *path;                  /* of the configuration */
    FILE *out;
    int indent;
    const struct ker_option *const *tables;
    char *overrides[8]; /* settings that are written last (rails.h); probes have them before */
    int override_count;

    /* Decided before anything is written, since much depends on it. */
    uint32_t packet, header; /* bytes */
    bool infiniband;         /* such headers */
    uint32_t block;          /* of buffers; 0: not drawn yet */
    uint32_t hop_bytes;      /* in the header, for each of up to 255 switches */
    double slowest, fastest; /* GB/s at which such a packet takes 2 ms and 1 ps */
    /* Of the network, as it was written. */
    double bandwidth;                           /* of the node links, GB/s, for the length of the run */
    uint32_t nodes, switches, groups, channels; /* switches: of a plane; channels: that it needs */
    uint32_t adapters;                          /* of a node */
    bool rich;  /* nodes: several adapters, buses, DMA, kinds, file servers, and jobs */
    bool plain; /* with cores of their own speed and undisturbed, blocking eager sends, adapters by core */
    bool striped;                               /* messages may go in parts */
    struct route_topology *probe;               /* while faults are drawn */
    struct random_plant *plant;                 /* a fabric; NULL: none */
    const char *own; /* routing.algorithm that this topology has beside minimal and adaptive; NULL */
    bool rail_tree;  /* adapters have to be spread */
    bool via_switch; /* detours via a switch are possible where three have nodes */
    bool hierarchy;  /* they go by the keys of the hierarchical topology */
    bool escapes;    /* the algorithm has an escape */
    bool torus, tree, detours, shared; /* detours: there are third groups; shared: links between groups are */
    bool several, biased;              /* the algorithm offers paths to select from; detours among them */
    bool lossy, lossy_later;           /* faults; during the run */
    bool lives;                        /* packets that wait too long are lost */
    bool near;                         /* links of less than 10 ps */
    bool whole;                        /* messages that are no packets (network.model) */
    bool node_links;                   /* which wait for links of nodes */
    uint32_t classes;                  /* of priority */
    /* Of what runs on it. */
    bool jobs, trace, weather;
    bool skips;                   /* steps may be skipped */
    bool repeats;                 /* the job that is being written runs its program several times */
    bool calls_off;               /* they are not counted */
    bool all;                     /* everything is collected (RANDOM_SYSTEM_ALL) */
    uint32_t cores, units;        /* of a node; its hardware threads: places of tasks */
    bool turns;                   /* more tasks than hardware threads */
    bool draws_memory;            /* computations may */
    bool controllers, cores_draw; /* memory and cores have rates */
    bool turns_of_lanes, vl;      /* switch.lanes is a plugin's; InfiniBand's tables */
    bool a10;                     /* InfiniBand's congestion control */
    uint32_t all_channels;        /* of all classes */
    bool lanes;                   /* adapters read and write memory */
    bool storage;                 /* there are file servers */
    uint32_t first, members;      /* nodes of the synthetic traffic */
    bool closed;                  /* a closed loop */
    bool small;                   /* messages so small that their number is limited */
    uint32_t outstanding;         /* of it */
};

/* ---- drawing ---- */

static uint64_t random_hash(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

static uint32_t draw(struct random_system *r, uint32_t n)
{
    return ker_stream_below(&r->stream, n);
}

static uint32_t between(struct random_system *r, uint64_t low, uint64_t high)
{
    return (uint32_t)(low + draw(r, (uint32_t)(high - low + 1)));
}

static bool chance(struct random_system *r, uint32_t percent)
{
    return draw(r, 100) < percent;
}

/* What is drawn from now on is for this key of the group that is being written, or for another purpose of
 * that name. */
static void random_key(struct random_system *r, const char *name)
{
    uint64_t group = random_hash(0xcbf29ce484222325u, r->group);
    ker_stream_init(&r->stream, random_hash(random_hash(group, "."), name), KER_PURPOSE_TEST,
                    (uint64_t)r->number);
    r->extreme = r->wild && chance(r, 50);
}

/* A decision with a stream of its own. */
static bool random_flag(struct random_system *r, const char *name, uint32_t percent)
{
    random_key(r, name);
    return chance(r, percent);
}

/* From low to high, every order of magnitude alike; in a fifth of the cases one of the two. */
static uint64_t spread(struct random_system *r, double low, double high)
{
    if (high <= low || chance(r, 20))
        return (uint64_t)(chance(r, 50) ? low : high);
    double value = (low + 1) * pow((high + 1) / (low + 1), draw(r, 1000001) * 1e-6) - 1;
    return (uint64_t)(value < low ? low : value < high ? value : high);
}

/* From the usual range, or from the whole one. */
static uint64_t random_whole(struct random_system *r, const char *name, uint64_t usual_low,
                             uint64_t usual_high, uint64_t low, uint64_t high)
{
    random_key(r, name);
    if (r->extreme)
        return spread(r, (double)low, (double)high);
    return usual_low + draw(r, (uint32_t)(usual_high - usual_low + 1));
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The one of the highest score, which each draws for itself: a name that is added to a list changes only the
 * systems that take it. */
static const char *random_from(struct random_system *r, const char *const *list)
{
    const char *best = NULL;
    uint32_t most = 0;
    uint64_t base = ker_stream_next(&r->stream);
    for (; *list; list++) {
        uint32_t score = ker_random_bits(base, KER_PURPOSE_TEST, random_hash(0, *list), 0).word[0];
        if (!best || score > most) {
            best = *list;
            most = score;
        }
    }
    return best;
}

static const char *random_choice(struct random_system *r, const char *name, const char *const *list)
{
    random_key(r, name);
    return random_from(r, list);
}

/* ---- writing ---- */

static void group_begin(struct random_system *r, const char *name)
{
    r->indent = 4;
    snprintf(r->group, sizeof r->group, "%s", name);
    fprintf(r->out, "%s: {\n", name);
}

static void group_end(struct random_system *r)
{
    fprintf(r->out, "};\n");
    r->group[0] = '\0';
}

static void put_text(struct random_system *r, const char *name, const char *text)
{
    fprintf(r->out, "%*s%s = \"%s\";\n", r->indent, "", name, text);
}

static void put_choice(struct random_system *r, const char *name, const char *const *list)
{
    put_text(r, name, random_choice(r, name, list));
}

static bool put_flag(struct random_system *r, const char *name, uint32_t percent)
{
    bool flag = random_flag(r, name, percent);
    fprintf(r->out, "%*s%s = %s;\n", r->indent, "", name, flag ? "true" : "false");
    return flag;
}

static uint64_t put_whole(struct random_system *r, const char *name, uint64_t usual_low, uint64_t usual_high,
                          uint64_t low, uint64_t high)
{
    uint64_t value = random_whole(r, name, usual_low, usual_high, low, high);
    fprintf(r->out, "%*s%s = %llu;\n", r->indent, "", name, (unsigned long long)value);
    return value;
}

static void put_bytes(struct random_system *r, const char *name, uint64_t bytes)
{
    fprintf(r->out, "%*s%s = \"%llu B\";\n", r->indent, "", name, (unsigned long long)bytes);
}

static uint64_t put_size(struct random_system *r, const char *name, uint64_t usual_low, uint64_t usual_high,
                         uint64_t low, uint64_t high)
{
    uint64_t value = random_whole(r, name, usual_low, usual_high, low, high);
    put_bytes(r, name, value);
    return value;
}

/* Six digits behind the point. */
static double put_real(struct random_system *r, const char *name, double usual_low, double usual_high,
                       double low, double high)
{
    random_key(r, name);
    double value = r->extreme ? 1e-6 * (double)spread(r, low * 1e6, high * 1e6)
                              : usual_low + (usual_high - usual_low) * 0.01 * draw(r, 101);
    fprintf(r->out, "%*s%s = %.6f;\n", r->indent, "", name, value);
    return value;
}

/* `name` = [ ... ]: this many numbers from `low` (the first: first_low) to `high` with a product of at most
 * `most`. Returns the product. */
static uint32_t put_extents(struct random_system *r, const char *name, int count, uint32_t first_low,
                            uint32_t low, uint32_t high, uint32_t most)
{
    uint32_t product = 1;
    random_key(r, name);
    fprintf(r->out, "%*s%s = [", r->indent, "", name);
    for (int i = 0; i < count; i++) {
        uint32_t least = i ? low : first_low, later = 1; /* what the later ones take at the least */
        for (int k = i + 1; k < count; k++)
            later *= low;
        uint32_t top = most / product / later;
        top = top < high ? top : high;
        uint32_t extent = top > least ? between(r, least, top) : least;
        fprintf(r->out, "%s%u", i ? ", " : "", extent);
        product *= extent;
    }
    fprintf(r->out, "];\n");
    return product;
}

/* At most 10^18 ps, which is the longest time that configurations know. */
static void put_ps(struct random_system *r, const char *name, double ps)
{
    fprintf(r->out, "%*s%s = \"%.0f ps\";\n", r->indent, "", name, ps < 1e18 ? ps : 1e18);
}

/* One of the usual ones, or from low to high. */
static const char *random_time(struct random_system *r, const char *const *usual, double low_ps,
                               double high_ps)
{
    static char text[32];
    if (!r->extreme)
        return random_from(r, usual);
    snprintf(text, sizeof text, "%llu ps", (unsigned long long)spread(r, low_ps, high_ps));
    return text;
}

static void put_time(struct random_system *r, const char *name, const char *const *usual, double low_ps,
                     double high_ps)
{
    random_key(r, name);
    put_text(r, name, random_time(r, usual, low_ps, high_ps));
}
