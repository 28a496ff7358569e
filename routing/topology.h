/* topology.h - private to routing/: what a topology has to provide.
 *
 * A topology is a struct that begins with struct route_topology, and one struct route_kind in the table of
 * route.c. Its build() reads the keys, fills in topology.summary (all but channels, adaptive and algorithm)
 * and its own fields; route.c then picks the algorithm, checks the channels, and calls tune(). After that
 * nothing changes any more, so that all functions below are pure.
 *
 * Channels: an algorithm needs `classes` of them to be free of deadlock. When k times as many are configured,
 * class c is the channels c*k .. c*k + k-1 and a packet takes one of the k by its draw, the same at every
 * hop: packets that wait in one of them do not hold up the others.
 */
#pragma once

#include "routing/routing.h"

#define ROUTE_MAX_LEVELS 8
#define ROUTE_MAX_PORTS 65535
#define ROUTE_MAX_CHANNELS 255

/* Operations of a kind of the family "routing.algorithm". Its traits: "selects" (routing.selection chooses
 * among what it offers), "detours" (it offers paths that are no shortest ones), "watches" (it asks
 * route_watch). */
struct route_algorithm {
    bool adaptive;
    bool by_source; /* the path depends on the source as well as on the destination */
    bool by_switch; /* of source and destination only their switches matter */
    bool by_hops;   /* the path depends on how many hops are behind it, beyond whether there are any */
    bool avoids; /* never offers a link that is down from the start (route_link_alive), whatever prepare() had
                    to do for it */
    bool by_table; /* next is route_table_next: topology->table says all */
    route_next_function *next;
    /* Where next() may look at the state of the switch (adaptive): is this hop one of those that do not? Then
     * writes what next() would, and returns 1; else 0. NULL: it cannot say. */
    route_next_function *decided;
    route_hop_function *hop; /* the same next hops as next()'s, where they are that simple; NULL: never */
    route_straight_function *straight; /* with hop: those that are simpler still; NULL: none */
    route_range_function *range; /* the same next hops as next()'s, where they make a range; NULL: never */
    route_pair_function *pair;   /* the same of a shortest path and a detour */
    /* After the topology's build(): makes what the algorithm needs (topology->table). May be NULL. */
    enum ker_status (*prepare)(struct route_topology *, const struct ker_config *, struct ker_error *);
    uint32_t (*channels)(
        const struct route_topology *topology); /* virtual channels needed; called after prepare() */
    /* Does the packet's path from here not depend on its destination, but only on its state (in transit to an
     * intermediate switch)? Lets the check walk such paths once for all destinations; such packets count as
     * detours. NULL: it always depends. */
    route_away_function *away;
    struct route_states away_states; /* no others are */
    /* For the proof: do packets from anywhere to two endpoints of one switch take the same paths up to it? Of
     * an endpoint and itself: false where the source's own port counts. NULL: nothing is known. */
    bool (*alike)(const struct route_topology *topology, uint32_t a, uint32_t b);
};
/* An entry of the list that a topology brings: name, meaning, traits, tables of keys (NULL: none), and these
 * operations. */
#define ROUTE_ALGORITHM(word, text, trait, tables, ...)                                                      \
    &(const struct ker_kind)                                                                                 \
    {                                                                                                        \
        .name = (word), .meaning = (text), .traits = (trait), .options = (tables),                           \
        .operations = &(const struct route_algorithm)                                                        \
        {                                                                                                    \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }

/* Operations of a kind of the family "topology.kind", which brings its algorithms. */
struct route_kind {
    size_t size; /* of the topology's struct */
    enum ker_status (*build)(struct route_topology *, const struct ker_config *, struct ker_error *);
    void (*tune)(
        struct route_topology *); /* the algorithm and topology->channels are known now; may be NULL */
    void (*release)(struct route_topology *); /* frees what build() allocated, not the struct; may be NULL */
    uint32_t (*ports)(const struct route_topology *, uint32_t switch_id);
    void (*port)(const struct route_topology *, uint32_t switch_id, uint32_t port, struct route_peer *);
    void (*attachment)(const struct route_topology *, uint32_t endpoint, uint32_t *switch_id, uint16_t *port);
    /* What a packet carries to name its destination, and where a switch is, in a form that next() compares
     * with it: both are computed once and handed to next(). Whatever suits the closed form. */
    uint64_t (*address)(const struct route_topology *, uint32_t endpoint);
    uint64_t (*coordinate)(const struct route_topology *, uint32_t switch_id);
    /* links between the endpoints' switches; the endpoints differ */
    uint32_t (*hops)(const struct route_topology *, uint32_t from, uint32_t to);
    /* The natural group of a switch (pod, rack, slab), from 0 on: for the partition "natural". */
    uint32_t (*group)(const struct route_topology *, uint32_t switch_id);
    uint32_t (*groups)(const struct route_topology *);
    uint32_t (*board)(const struct route_topology *, uint32_t switch_id); /* see route_board; may be NULL */
    int (*grid)(const struct route_topology *, uint32_t extents[8]);      /* may be NULL: no grid */
    void (*coordinates)(const struct route_topology *, uint32_t endpoint,
                        uint32_t at[8]); /* may be NULL with grid */
    uint32_t (*watch)(const struct route_topology *, uint32_t switch_id,
                      uint32_t port); /* see route_watch; may be NULL with watched */
    uint32_t (*watched)(const struct route_topology *);
    uint32_t (*load)(const struct route_topology *, uint32_t switch_id); /* may be NULL: the ports in use */
    const struct route_steps *steps; /* paths.h: closed forms of its shortest paths; may be NULL */
    /* NULL at the end: in place of the algorithms that the topology brings, where build() has made it one of
     * this other kind; NULL: those. */
    const struct ker_kind *const *algorithms;
    bool spread; /* adapters of a node hang at successive switches: topology.rails has no say */
};

struct route_topology {
    struct route_topology
        *inner; /* of hosts with several adapters (rails.h): the topology itself; else NULL */
    const struct route_kind *kind;
    const struct route_algorithm *algorithm;
    struct ker_comm *comm; /* of the ranks that make tables together; NULL: this one makes all */
    uint32_t channels;     /* for the algorithm: the configured ones, less one with route_faults_channels */
    struct route_table *table;         /* of algorithms that route by tables, else NULL */
    struct route_paths *paths;         /* of algorithms for any graph (paths.h), else NULL */
    const struct route_subnet *subnet; /* of a fabric: who is who (fabric.h), else NULL */
    const struct route_names *names;   /* of a network from an edge list (graph.h), else NULL */
    struct route_faults *faults;       /* NULL: nothing ever fails */
    struct route_summary summary;
};

/* Keys of several topologies: ker_kind.options. */
extern const struct ker_option route_link_options[];             /* topology.bandwidth, latency, ... */
extern const struct ker_option route_nodes_per_switch_options[]; /* topology.nodes_per_switch */
extern const struct ker_option route_extents_options[];          /* topology.extents */
extern const struct ker_option route_spines_options[];           /* topology.spines */
extern const struct ker_option route_parallel_options[];         /* topology.links */

/* Enumerates draws: check.c. */
uint32_t route_oracle_pick(struct route_oracle *, uint32_t salt, uint32_t count);

/* What route_pick says of a packet of this draw, without an oracle. */
static inline uint32_t route_picked(uint32_t draw, uint32_t salt, uint32_t count)
{
    return ker_random_below(route_mix(draw, salt), count);
}

/* 0..count-1 at random for a packet: the same at every hop for the same salt. All that an algorithm draws has
 * to come from here (or from route_pick_bit), so that a proof of freedom from deadlock can enumerate all that
 *  may be drawn. */
static inline uint32_t route_pick(const struct route_packet *packet, uint32_t salt, uint32_t count)
{
    if (count == 1)
        return 0;
    if (__builtin_expect(packet->oracle != NULL, 0))
        return route_oracle_pick(packet->oracle, salt, count);
    return route_picked(route_draw(packet), salt, count);
}

/* Bit number `bit`, 0..31, of the draw itself, for what must be had without a multiplication and without a
 * branch: where `matters` is false nobody will look at it, and a check need not visit both. */
static inline uint32_t route_pick_bit(const struct route_packet *packet, uint32_t bit, bool matters)
{
    if (__builtin_expect(packet->oracle != NULL, 0))
        return matters ? route_oracle_pick(packet->oracle, UINT32_MAX - bit, 2) : 0;
    return route_draw(packet) >> bit & 1;
}

/* Channels first .. first + count - 1 are alike. */
static inline void route_channel(struct route_choice *choice, uint32_t first, uint32_t count)
{
    choice->channel = choice->first_channel = (uint8_t)first;
    choice->channel_count = (uint8_t)count;
}

static inline int route_eject(const struct route_topology *topology, const struct route_packet *packet,
                              uint32_t port, struct route_choice *choice)
{
    *choice = (struct route_choice){.port = (uint16_t)port};
    route_channel(choice, 0, topology->channels);
    return 1;
}

/* A route_hop_function from a route_next_function that is inlined: nothing is written to memory then. */
static inline __attribute__((always_inline)) uint64_t route_hop_by(route_next_function *next,
                                                                   const struct route_topology *topology,
                                                                   uint64_t coordinate, uint64_t address,
                                                                   uint64_t in, uint64_t chance)
{
    const struct route_packet packet = {.address = address,
                                        .chance = chance,
                                        .state = (uint32_t)(in >> 24),
                                        .in_port = (uint16_t)(in >> 8),
                                        .in_channel = (uint8_t)in};
    struct route_choice choice;
    if (!next(topology, coordinate, 0, &packet, &choice))
        return 0;
    uint32_t count = choice.channel_count, first = count ? choice.first_channel : choice.channel;
    return (uint64_t)choice.state << 32 | (uint32_t)choice.port << 16 | first << 8 | (count ? count : 1);
}

/* Bits needed to write 0..count-1. */
static inline unsigned route_bits(uint64_t count)
{
    return count <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(count - 1);
}

/* faults.c: is the link at this port not down from the start? Known before algorithms are prepared, not yet
 * in a topology's build(). */
bool route_link_alive(const struct route_topology *, uint32_t switch_id, uint32_t port);

/* settings.c: lists of one value for all, or one value for each. */

/* The key is there and has 1 or `wanted` values; `each` says for what, in the plural: "levels". */
enum ker_status route_list_check(const struct ker_config *, const char *key, int wanted, const char *each,
                                 struct ker_error *);
/* The key is there. */
enum ker_status route_key_require(const struct ker_config *, const char *key, struct ker_error *);
/* Members that are integers 1..2^31-1, the first `room` of them; how many in *count. */
enum ker_status route_extents_read(const struct ker_config *, const char *key, uint32_t *extent, int room,
                                   int *count, struct ker_error *);
bool route_bool_each(const struct ker_config *, const char *key, int index);
int64_t route_int_each(const struct ker_config *, const char *key, int index);
double route_real_each(const struct ker_config *, const char *key, int index);
ker_time route_time_each(const struct ker_config *, const char *key, int index);
uint64_t route_rate_each(const struct ker_config *, const char *key, int index);
/* "4x8x512" */
void route_extents_print(char *text, size_t room, const uint32_t *extent, int count);
/* Appends a class of links to the summary; returns its index. */
int route_link_add(struct route_summary *, const char *name, ker_time latency, uint64_t rate);
/* The class of endpoint links: topology.node_latency and node_bandwidth, where absent those of class `like`.
 */
void route_endpoint_link_add(struct route_summary *, const struct ker_config *, int like);
