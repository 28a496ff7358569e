/* routing.h - topologies and routes; no events.
 *
 * A topology describes a network in closed form (no lists of all endpoints, of which there may be 65,536,
 * except for the file topology): how many switches and endpoints there are, what hangs on each port, and what
 * the links are like. A route function says through which ports a packet may leave a switch and on which
 * virtual channel. Shapes and algorithms are tables of functions; adding one is one file in routing/ and one
 * line in its table.
 *
 * Switches are numbered 0..switches-1, endpoints 0..endpoints-1. Ports of a switch are numbered 0..ports-1,
 * and each is one bidirectional link (parallel links are several ports). An endpoint has one port, 0, and one
 * switch.
 */
#pragma once

#include "kernel/config/config.h"

#include <stdbool.h>

enum route_peer_kind { ROUTE_NOTHING, ROUTE_SWITCH, ROUTE_ENDPOINT };

struct route_peer {
    uint8_t kind;  /* enum route_peer_kind; NOTHING: an unused port */
    uint8_t link;  /* index of its struct route_link */
    uint16_t port; /* at the peer */
    uint32_t id;   /* of the peer, among switches or among endpoints */
};

/* A class of links: the same latency and bandwidth; the name is for reports ("level 2", "x", "node"). */
struct route_link {
    char name[24];
    ker_time latency; /* >= 1 ps */
    uint64_t rate;    /* bytes per second, per direction */
};

#define ROUTE_MAX_LINKS 64 /* classes */
#define ROUTE_MAX_CHOICES 64

/* One next hop that a packet may take. */
struct route_choice {
    uint16_t port;
    uint8_t channel; /* virtual channel on that link, within the packet's priority class */
    uint8_t flags;   /* ROUTE_ESCAPE, ROUTE_DETOUR */
    uint8_t first_channel, channel_count; /* `channel_count` channels from `first_channel` on would do as well
                                             as `channel`; 0: only that one */
    uint8_t weight; /* what the path's backlog is multiplied by before paths are compared, 0 as 1: with UGAL
                       the links to go */
    uint8_t spare;
    uint32_t watch; /* 1 + number of the watched link (route_watch) that this path leads over; 0: none */
    uint32_t state; /* the packet's state when it takes this choice */
};
/* Among several choices, this one is free of deadlock by itself: a packet may wait for its credits. The
 * others may be taken only if the credits for the whole packet are there at once (Duato). It is the last
 * choice. When none carries the flag, all may be waited for. */
#define ROUTE_ESCAPE 1
/* Not a shortest path: its cost gets routing.bias on top. Choices of both kinds may be side by side
 * (UGAL).
 */
#define ROUTE_DETOUR 2

/* What of a packet a route may read; it travels in the packet. */
struct route_packet {
    uint64_t address;             /* destination as route_address() packed it; topology's own layout */
    uint32_t source, destination; /* endpoints */
    uint64_t chance;  /* what route_draw makes random bits of: the packet's own (or its message's or flow's:
                         routing.pinning), the same at every hop */
    uint32_t state;   /* the algorithm's own, 24 bits, 0 at injection: what the choice taken at the hop before
                         said */
    uint16_t in_port; /* at this switch */
    uint8_t in_channel;          /* within the priority class */
    uint8_t hops;                /* switches passed so far; 0: this is the source's switch */
    struct route_oracle *oracle; /* NULL; a check that wants to see every possible draw puts itself here */
};

/* 32 random bits of a packet. */
static inline uint32_t route_draw(const struct route_packet *packet)
{
    return ker_mix(packet->chance);
}

/* Independent bits from a packet's draw for purpose `salt`: a bijection of the draw for each salt. */
static inline uint32_t route_mix(uint32_t draw, uint32_t salt)
{
    uint32_t x = (draw ^ (salt * 0x9e3779b9u)) * 0x85ebca6bu;
    x ^= x >> 15;
    return x * 0xc2b2ae35u;
}

/* Of channels that are alike the packet's own one; which it is, is of no interest to a proof. */
static inline void route_channel_draw(struct route_choice *choice, const struct route_packet *packet)
{
    if (choice->channel_count > 1)
        choice->channel = (uint8_t)(choice->first_channel + ker_random_below(route_mix(route_draw(packet), 1),
                                                                             choice->channel_count));
    choice->channel_count = 0;
}

struct route_topology; /* opaque: a built topology with its algorithm */

/* The function of the hot path. `here` is route_coordinate() of the switch. Writes at most ROUTE_MAX_CHOICES
 * choices, best guess first, and returns how many (>= 1). Deterministic algorithms return 1. Pure: what is
 * random comes from route_pick (topology.h). */
typedef int route_next_function(const struct route_topology *topology, uint64_t coordinate,
                                uint32_t switch_id, const struct route_packet *packet,
                                struct route_choice *choices);

/* Next hops that differ in nothing but the port: `count` ports from `low` on, all to switches by links of one
 * class, in the order in which they are offered beginning with low + first; state 0, no weights, all may be
 * waited for. */
struct route_range {
    uint16_t low, count, first;
    uint8_t first_channel, channel_count; /* as in route_choice; channel_count >= 1 */
};
/* The short form of next hops, of a packet's address and route_draw: count 0 where they are not all alike. */
typedef struct route_range route_range_function(const struct route_topology *topology, uint64_t coordinate,
                                                uint64_t address, uint32_t draw);

/* A shortest path and a detour, of which the one of less cost is taken: their next hops and states as
 * route_hop_function has them, and what their costs are multiplied by (route_choice.weight). */
struct route_pair {
    uint64_t hop[2];
    uint8_t weight[2];
};
/* The short form of two next hops, of a packet's address, its state, the switches that it has passed, and
 * route_draw. false: there are others. */
typedef bool route_pair_function(const struct route_topology *topology, uint64_t coordinate, uint64_t address,
                                 uint32_t state, uint32_t hops, uint32_t draw, struct route_pair *);

/* The short form of one next hop that depends on nothing of the packet but its address, its state, how it
 * came in and its chance: state << 32 | port << 16 | first channel << 8 | how many channels from there on are
 * alike (>= 1); 0 where it depends on more. Of `in`: state << 24 | in_port << 8 | in_channel. Asked for
 * nearly every packet at every switch: all in registers. */
typedef uint64_t route_hop_function(const struct route_topology *topology, uint64_t coordinate,
                                    uint64_t address, uint64_t in, uint64_t chance);

/* Straight on: who came in by a port, and whose destination differs from here in any of these bits of the
 * address, is sent on as `hop` says, which is in the short form; on channels `spread` further up if it came
 * in on one of `spread` or above. Its state stays what it is. At all switches alike; a route_hop_function
 * need not know it. */
struct route_straight {
    uint64_t mask; /* 0: nobody is */
    uint32_t hop, spread;
};
typedef struct route_straight route_straight_function(const struct route_topology *topology, uint32_t port);

static inline uint32_t route_straight_hop(const struct route_straight *on, uint32_t in_channel)
{
    return on->hop + (in_channel >= on->spread ? on->spread << 8 : 0);
}

struct route_summary {
    uint32_t endpoints, switches;
    uint32_t adapters, planes; /* of each host (endpoints h x adapters ... belong to host h); copies of the
                                  topology, switch after switch */
    uint64_t links;            /* bidirectional, endpoint links included */
    uint32_t max_ports;        /* over all switches */
    uint32_t channels;         /* virtual channels the algorithm needs for freedom of deadlock */
    uint32_t configured;       /* that there are */
    bool adaptive;             /* route_next may return several choices */
    ker_time bias;             /* what a detour costs on top unless routing.bias says so, */
    uint32_t bias_packets;     /* and the time of this many packets on the slowest link */
    int link_count;            /* entries of links */
    struct route_link link[ROUTE_MAX_LINKS];
    int endpoint_link; /* class of the endpoint-to-switch links */
    char topology[32], algorithm[32];
    char text[160];    /* one line for the terminal: "torus 8x8x8, 512 nodes, 512 switches" */
    char warning[240]; /* what of the input was passed over, with file and line; empty: nothing */
};

/* Hosts: endpoints / adapters. */
static inline uint32_t route_hosts(const struct route_summary *summary)
{
    ker_assert(summary->adapters > 0);
    return summary->endpoints / summary->adapters;
}

/* From the keys topology.*, routing.*, faults.* and node.adapters; `channels` is what is configured
 * (switch.channels): too few is refused with the number needed. 0: as many as are needed, at least 4. */
enum ker_status route_new(struct route_topology **topology, const struct ker_config *config,
                          uint32_t channels, struct ker_error *error);
/* The same on all ranks of a comm, which share the making of tables: then nobody asks for next hops before
 * route_own(). Collective. NULL: as above. */
enum ker_status route_new_shared(struct route_topology **topology, const struct ker_config *config,
                                 uint32_t channels, struct ker_comm *comm, struct ker_error *error);
/* May nobody ask for next hops yet? */
bool route_shares(const struct route_topology *topology);
void route_free(struct route_topology *topology);
const struct route_summary *route_summarise(const struct route_topology *topology);
/* From now on only switches of this rank ask for paths: what tables hold for others is freed, or goes to
 * them. switch_rank: of every switch. Collective after route_new_shared. */
void route_own(struct route_topology *topology, const uint32_t *switch_rank, uint32_t rank);
uint64_t route_bytes(const struct route_topology *topology); /* of tables */

uint32_t route_ports(const struct route_topology *topology, uint32_t switch_id);
void route_port(const struct route_topology *topology, uint32_t switch_id, uint32_t port,
                struct route_peer *peer);
void route_attachment(const struct route_topology *topology, uint32_t endpoint, uint32_t *switch_id,
                      uint16_t *port);
uint64_t route_address(const struct route_topology *topology, uint32_t endpoint);
uint64_t route_coordinate(const struct route_topology *topology, uint32_t switch_id);
route_next_function *route_function(const struct route_topology *topology);
/* Of adaptive algorithms: writes the only next hop and returns 1 where that depends on nothing but the
 * packet; else returns 0. NULL: the algorithm cannot say. */
route_next_function *route_decided_function(const struct route_topology *topology);
route_hop_function *route_hop_function_of(const struct route_topology *topology);           /* NULL: none */
route_straight_function *route_straight_function_of(const struct route_topology *topology); /* likewise */
route_range_function *route_range_function_of(const struct route_topology *topology);       /* NULL: none */
route_pair_function *route_pair_function_of(const struct route_topology *topology);         /* likewise */

/* Is a packet, with the state that the choice taken here gave it, in transit to an intermediate switch? That
 * is a detour. Not asked at the last hop. */
typedef bool route_away_function(const struct route_topology *topology, uint64_t coordinate,
                                 const struct route_packet *packet);
route_away_function *route_away_function_of(const struct route_topology *topology); /* NULL: never */
/* States of packets by some of their bits. */
struct route_states {
    uint32_t mask, bits; /* 0, 0: all states */
};
/* Packets with other states are in transit to none, so that the function need not be called. */
struct route_states route_away_states(const struct route_topology *topology);

/* Number of links of a minimal route between two endpoints, injection and ejection included; 1 + 1 inside one
 * switch. 0 for an endpoint itself. For the hierarchical topology of a direct route, which never passes
 * through a third group. From closed forms; for the file topology from the tables. */
uint32_t route_distance(const struct route_topology *topology, uint32_t from, uint32_t to);
/* The natural group of a switch (rack, pod, slab of a torus), 0..groups-1, for rack-wise partitions. */
uint32_t route_group(const struct route_topology *topology, uint32_t switch_id);
uint32_t route_groups(const struct route_topology *topology);
/* The board of a switch: of a hierarchical network the group of its lowest level; elsewhere a switch is one.
 */
uint32_t route_board(const struct route_topology *topology, uint32_t switch_id);
/* The group, or the board, of each node by its first adapter; malloc'ed. */
uint32_t *route_groups_of_nodes(const struct route_topology *topology, bool boards);
/* An endpoint's coordinates for traffic patterns on grids: dimensions of the torus and this endpoint's place;
 * 0 dimensions where the topology is no grid. Endpoints at one switch share coordinates. */
int route_grid(const struct route_topology *topology, uint32_t extents[8]);
void route_coordinates(const struct route_topology *topology, uint32_t endpoint, uint32_t at[8]);
/* Links whose congestion the algorithm wants to be known in their group: 1 + number of that link in the
 * group, 0: not watched; and how many a group has (0: the algorithm watches none). */
uint32_t route_watch(const struct route_topology *topology, uint32_t switch_id, uint32_t port);
uint32_t route_watched(const struct route_topology *topology);
/* Expected relative load of a switch under uniform traffic, >= 1, for partitioning. */
uint32_t route_load(const struct route_topology *topology, uint32_t switch_id);

/* What a walk through the channel dependency graph has found. */
struct route_proof {
    bool complete;                 /* all paths were walked: without a cycle, freedom of deadlock is proved */
    bool by_switch;                /* destinations are switches: their endpoints are all alike */
    uint32_t destinations, walked; /* that there are, of which this many in full */
    uint64_t channels, dependencies, work;
    uint32_t cycle; /* channels in the cycle that was found; 0: none */
};
/* Builds the channel dependency graph (Dally and Seitz) of the topology with its algorithm, over all pairs of
 * endpoints and all that may be drawn. KER_BAD_INPUT when it has a cycle, which the error prints link by
 * link; KER_RUN_FAILED when a path leads nowhere. Stops after max_work questions to the algorithm: then not
 * complete, but for the destinations walked it holds. About 0.1 to 0.5 us per question, which counts more
 * than once where there are more than a million ports. */
enum ker_status route_prove(const struct route_topology *topology, uint64_t max_work,
                            struct route_proof *proof, struct ker_error *error);
/* The same, short. */
enum ker_status route_check_deadlock(const struct route_topology *topology, uint64_t max_work, bool *complete,
                                     struct ker_error *error);

/* Writes the paths of the algorithm as a table (docs/routing-tables.md). Refused when they depend on more
 * than switch and destination. */
enum ker_status route_table_write(const struct route_topology *topology, const char *path,
                                  struct ker_error *error);

/* What the graph of switches can carry: measure.c. Faults from the start are left out. */
struct route_measures {
    uint32_t sites, sources; /* switches with nodes; those that were searched from: fewer are a sample */
    uint32_t most;           /* links between two switches with nodes */
    double mean;             /* over all pairs of these */
    uint32_t groups;         /* that have nodes */
    /* The load of all nodes, in their links, at which a link is full: every node to all nodes alike, to those
     * of the next group; split equally over all shortest paths (0: unknown, of a sample), and what no routing
     * can exceed. */
    double uniform, uniform_any, adverse, adverse_any;
};
/* max_work: links to look at. */
void route_measure(const struct route_topology *topology, uint64_t max_work, struct route_measures *);

/* Writes the links between switches as CSV, one row each (docs/topologies.md), faults or not. */
enum ker_status route_links_write(const struct route_topology *topology, const char *path,
                                  struct ker_error *error);

/* ---- faults: docs/faults.md ---- */

struct route_fault_summary {
    uint64_t links, links_start; /* that go down at some time, with their switches or alone; from the start */
    uint32_t switches, switches_start; /* that go down */
    uint64_t apart, apart_start; /* ordered pairs of endpoints without a path between them: after the last
                                    fault; from the start */
    ker_time last,
        apart_first;     /* time of the last fault; from when on pairs are apart, KER_TIME_MAX: never */
    uint32_t example[2]; /* two nodes (hosts) that are apart in the end, when any are */
    bool repairs; /* is there a virtual channel for paths around faults? It is the last of each priority class
                   */
};
/* NULL: nothing ever fails, and none of the functions below may be called but route_port_down,
 * route_switch_down. */
const struct route_fault_summary *route_fault_summarise(const struct route_topology *topology);
/* From when on the link at this port (either end says the same) or this switch is down: 0 from the start,
 * KER_TIME_MAX never. */
ker_time route_port_down(const struct route_topology *topology, uint32_t switch_id, uint32_t port);
ker_time route_switch_down(const struct route_topology *topology, uint32_t switch_id);
/* When something goes down next; KER_TIME_MAX: never. */
ker_time route_faults_next(const struct route_topology *topology, ker_time now);
/* Is there any path from endpoint to endpoint at that time? */
bool route_reachable(const struct route_topology *topology, ker_time now, uint32_t from, uint32_t to);
/* What the algorithm offers less what is down at `now`. When that leaves nothing that may be waited for, a
 * step of the path around the faults joins, on the channel after the algorithm's; a packet that came by that
 * channel gets nothing else. 0: no route, the packet is lost. Never a cycle among the channels: repair.c
 * says why. */
int route_next_faulty(const struct route_topology *topology, ker_time now, uint64_t coordinate,
                      uint32_t switch_id, const struct route_packet *packet, struct route_choice *choices);
/* The same for a packet that waited for a link when that went down: only a step around the faults, or 0. */
int route_next_repair(const struct route_topology *topology, ker_time now, uint32_t switch_id,
                      const struct route_packet *packet, struct route_choice *choice);

/* What a switch or node (a host, with all its endpoints) is called; NULL: this topology has no names. */
const char *route_name(const struct route_topology *topology, bool node, uint32_t id);
/* For messages: "3", or "3 (left)" where there are names. Returns text. */
#define ROUTE_CALLED_BYTES 64
const char *route_called(const struct route_topology *topology, bool node, uint32_t id,
                         char text[ROUTE_CALLED_BYTES]);
/* All of it as a table (docs/results.md); false: this topology has no names, nothing is written. */
bool route_names_write(const struct route_topology *topology, FILE *out);

/* ---- Outputs of an InfiniBand subnet (topology.kind = "fabric") as its tools name them, by LID and port: of
 * a switch, or, with `adapter`, that of the adapter at this port of a switch. All planes have those of the
 * first. */
struct route_output {
    uint32_t switch_id, port;
    bool adapter;
};
/* Whose LIDs are which, malloc'ed; NULL: the topology is no subnet. */
uint32_t *route_lids(const struct route_topology *topology);
/* *cabled false: nothing of this network is there (management, no cable, a device that is left out). An
 * error, for the line that names it: no such device or port. */
enum ker_status route_lid_output(const struct route_topology *topology, const uint32_t *lids,
                                 struct ker_lines *, uint32_t lid, uint32_t port, struct route_output *output,
                                 bool *cabled);
/* Of a switch and port, or of an endpoint's adapter. */
struct route_output route_output_of(const struct route_topology *topology, bool adapter, uint32_t id,
                                    uint32_t port);

extern const struct ker_option route_options[]; /* topology.*, routing.*, faults.* */
