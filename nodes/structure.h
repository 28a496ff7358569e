/* structure.h - what a kind of node is made of: sockets, NUMA domains, cores, hardware threads, buses,
 * adapters.
 *
 * All are numbered from 0 through the node, and each names what it is a part of: a core and a bus their
 * domain and socket, an adapter its bus. A task sits on a processing unit (hwloc's PU), that is, on a
 * hardware thread of a core: with one thread to a core, unit u is core u; with more, the first threads of all
 * cores come first, then the second ones, so that tasks share cores only when there are more of them than
 * cores. What is called `core` in messages, places of tasks and placement files is the number of the unit.
 *
 * A structure is made once per kind of node and never changes. Default: one socket, one domain, cores alike
 * with one thread each, one bus, all adapters on it.
 */
#pragma once

#include "kernel/config/config.h"

#include <string.h>

#define NODE_MOST_UNITS 65000 /* of a node; the same for cores */
#define NODE_MOST_PARTS 1024  /* of its sockets, domains, buses */
#define NODE_SPEED 1000000u   /* what is counted in millionths: this is 1 */

struct node_core {
    uint16_t domain, socket, threads;
    uint16_t adapter; /* the nearest: of those on its socket, or of all where none is there, which the cores
                         are dealt to evenly, in order */
    uint32_t speed;   /* of a thread that has the core alone, in NODE_SPEED of the kind's usual core:
                         computation takes time x NODE_SPEED / speed */
};

struct node_structure {
    uint32_t sockets, domains, cores, units, buses, adapters; /* all > 0 */
    uint32_t throughput; /* of a core's threads together when all are busy, in NODE_SPEED of one that has the
                            core alone */
    uint16_t *domain_socket;  /* of each domain */
    struct node_core *core;   /* each */
    uint16_t *unit_core;      /* of each unit */
    uint16_t *seat_unit;      /* the unit of the node's n-th task, unless a placement file names units */
    uint16_t *bus_socket;     /* of each bus */
    uint16_t *adapter_bus;    /* of each adapter */
    uint16_t *adapter_domain; /* the first on its socket; 0 where there is none */
    uint64_t nearest;         /* the adapters that are the nearest of some core: a bit each */
};

/* How far a unit, or what it uses, is from a domain: what a copy or a message inside the node costs depends
 * on it. */
enum node_distance { NODE_SAME_DOMAIN, NODE_SAME_SOCKET, NODE_OTHER_SOCKET, NODE_DISTANCES };

static inline uint32_t node_unit_domain(const struct node_structure *s, uint32_t unit)
{
    return s->core[s->unit_core[unit]].domain;
}

static inline uint32_t node_unit_socket(const struct node_structure *s, uint32_t unit)
{
    return s->core[s->unit_core[unit]].socket;
}

static inline uint32_t node_adapter_socket(const struct node_structure *s, uint32_t adapter)
{
    return s->bus_socket[s->adapter_bus[adapter]];
}

enum node_distance node_domain_distance(const struct node_structure *, uint32_t domain, uint32_t other);

/* The speed of each of `busy` threads that compute on this core, in NODE_SPEED of the kind's usual core,
 * rounded down, at least 1: of n threads k do 1 + (throughput - 1) (k - 1) / (n - 1) times what one does, in
 * equal parts. 0 < busy <= its threads. */
uint32_t node_thread_speed(const struct node_structure *, uint32_t core, uint32_t busy);

/* How tasks take units (node.map_by). */
enum node_map_by { NODE_MAP_BY_CORE, NODE_MAP_BY_DOMAIN, NODE_MAP_BY_SOCKET };

/* From the keys of a group: "node", or "nodes[2]", whose keys take the place of node's. adapters: as the
 * topology has them. On failure there is nothing to release. */
enum ker_status node_structure_read(struct node_structure *, const struct ker_config *, const char *group,
                                    uint32_t adapters, struct ker_error *);
void node_structure_release(struct node_structure *);

extern const struct ker_option node_structure_options[]; /* node.sockets, nodes[].sockets, ... */

/* ---- Keys that are in node, and again in the members of nodes, where they override those of
 * node.
 *
 * Of such keys a macro with GROUP and DEFAULT makes two tables of options: ("node", NODE_KEY_GIVEN) with
 * defaults, and ("nodes[]", NODE_KEY_ABSENT) without any, as a kind that does not have the key takes what
 * node says. */

#define NODE_KEY_GIVEN(text) text
#define NODE_KEY_ABSENT(text) NULL

enum { NODE_KEY_PATH = 96 };

/* The path of the word's key, written to `path`: in the group ("node", "nodes[2]"), or else in node. */
static inline const char *node_kind_key(char path[static NODE_KEY_PATH], const struct ker_config *config,
                                        const char *group, const char *word)
{
    snprintf(path, NODE_KEY_PATH, "%s.%s", group, word);
    if (strcmp(group, "node") != 0 && !ker_config_has(config, path))
        snprintf(path, NODE_KEY_PATH, "node.%s", word);
    return path;
}
