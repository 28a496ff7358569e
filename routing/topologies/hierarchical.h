/* hierarchical.h - private to routing/hierarchical*.c: the topology, and what its algorithms share.
 *
 * hierarchical.c builds the topology, hierarchical_routes.c has the direct routes, hierarchical_detours.c
 * those over third groups, hierarchical_prepare.c what they are asked to be.
 */
#pragma once

#include "routing/topology.h"

#define MAX_LEVELS 4
#define MAX_PARALLEL 64

struct gateway {   /* one link of a group to another group of the level, seen from this side */
    uint64_t at;   /* the switch: address fields below the level */
    uint16_t port; /* there */
};

struct step { /* of the direct path from a switch to one of its group's links of the level, and over it */
    uint16_t port;
    uint8_t hops;   /* before that link */
    uint8_t level;  /* of the link that comes first */
    uint32_t below; /* what is taken from the leg's path for that link's channel class */
};

struct level {
    uint32_t groups;   /* joined by this level's links */
    uint32_t size;     /* switches in each */
    uint32_t links;    /* parallel ones */
    uint32_t gateways; /* links of one group, "group" only */
    uint32_t share;    /* ports per switch */
    uint32_t first_port;
    uint32_t mask; /* the field of the address */
    uint8_t shift;
    bool by_switch;          /* also where there is but one group: no crossing, no class */
    uint8_t crossed;         /* "group" levels below and including this one: the class is path >> crossed */
    uint32_t spread;         /* channels per class */
    struct gateway *gateway; /* by link number */
    uint32_t reach;          /* most links of a direct route inside one of the groups */
    struct step
        *step; /* from a switch of a group over its link k: [k << shift | switch]; NULL: too large a table */
    uint64_t *lanes; /* of parallel links: see hierarchical_routes.c; NULL: one, or too large a table */
};

/* The channels of a leg of the path: a direct route is one leg, a detour is two. */
struct leg {
    uint32_t path; /* that it begins with: see hierarchical_routes.c */
    uint8_t top;   /* channel class on links of the highest level */
};
/* UNDECIDED: a direct path that may still become a detour. */
enum leg_kind { LEG_DETOUR, LEG_FINAL, LEG_UNDECIDED, LEGS };

/* VIA_GROUP: the first switch reached in a third group; VIA_SWITCH: a switch drawn there; VIA_ANY: a switch
 * drawn anywhere. */
enum via { VIA_NONE, VIA_GROUP, VIA_SWITCH, VIA_ANY };

/* What is decided of a packet's path; see hierarchical_detours.c. */
enum phase { PHASE_START, PHASE_DETOUR, PHASE_FINAL, PHASE_UNDECIDED, PHASES };

/* Next hops of a leg in short form (route_hop_function), where the highest level is a "group" level and no
 * links are parallel. NULL: not made. */
struct hops {
    uint32_t *out;    /* of the group: [places ahead << shift | switch] */
    uint32_t *inside; /* one of the highest level's groups: [from << shift | to]; 0: from here to here */
};

#define HIERARCHY_PHASES 3u /* these bits of the state */

struct hierarchy {
    struct route_topology topology;
    int levels, crossings; /* crossings: "group" levels */
    bool parallel;         /* a "group" level has parallel links: routes have alternatives */
    bool parallel_below;   /* one below the highest level has */
    bool steps;            /* the highest level's table of steps holds paths as they are */
    uint32_t nodes_per_switch, slot_shift;
    uint64_t switch_mask;
    struct level level[MAX_LEVELS];
    const struct level *top;
    uint8_t level_of_bit[64];
    /* of the algorithm */
    struct leg leg[LEGS];
    uint32_t stages, tops; /* classes that the legs need within groups, if the highest level is a "group"
                              level; at the top */
    uint32_t top_path[2];  /* by class at the top: path of the hop that crosses it */
    enum via via;
    uint64_t via_mask; /* of an address: where a detour's intermediate group or switch is */
    uint32_t candidates,
        detours;            /* paths that are offered beside the direct one; racks that a pair may use */
    uint32_t *rack, racks;  /* the racks that may be used, ascending; 0: all */
    bool watches;           /* choices name the link between groups that they lead over */
    uint64_t open[PHASES];  /* UGAL, PAR: a path is chosen while any of these bits of the addresses differ */
    bool common;            /* via a group or a switch in it, without parallel links: there is a fast path */
    bool pairs;             /* and one detour is drawn, whose next hops are looked up */
    bool weighted, doubled; /* paths weigh as many links as they have; a detour weighs 2 */
    uint8_t via_bits, lane_bits; /* of the packet's state */
    struct hops hops[LEGS];
};

static inline const struct hierarchy *hierarchy_of(const struct route_topology *topology)
{
    return (const struct hierarchy *)topology;
}

static inline bool hierarchy_via_is_group(const struct hierarchy *h)
{
    return h->via == VIA_GROUP;
}

static inline uint32_t field(const struct level *l, uint64_t address)
{
    return (uint32_t)(address >> l->shift) & l->mask;
}

/* The fields below the level, as they are in `here` but for these. */
static inline uint64_t with_gateway(const struct level *l, uint64_t coordinate, const struct gateway *gateway)
{
    return (coordinate & ~((1ull << l->shift) - 1)) | gateway->at;
}

/* How many places further round group `to` is than group `from`, less one. */
static inline uint32_t places_between(const struct level *l, uint32_t from, uint32_t to)
{
    return to - from - 1 + (l->groups & (0 - (uint32_t)(to <= from))); /* no branch: it is close to random */
}

static inline uint32_t places_ahead(const struct level *l, uint64_t coordinate, uint64_t target)
{
    return places_between(l, field(l, coordinate), field(l, target));
}

/* The highest level in which two switches differ. */
static inline const struct level *level_between(const struct hierarchy *h, uint64_t coordinate,
                                                uint64_t target)
{
    return &h->level[h->level_of_bit[63 - __builtin_clzll((coordinate ^ target) & h->switch_mask)]];
}

/* Address fields of a switch, or of the lower levels of a switch within its group. */
static inline uint64_t hierarchy_pack(const struct hierarchy *h, int levels, uint32_t index)
{
    uint64_t fields = 0;
    for (int i = levels - 1; i >= 0; i--) {
        fields |= (uint64_t)(index / h->level[i].size) << h->level[i].shift;
        index %= h->level[i].size;
    }
    return fields;
}

/* Links of a direct route. */
uint32_t hierarchy_direct_hops(const struct hierarchy *, uint64_t coordinate, uint64_t target);
/* First of the parallel links from here straight to the target switch, level l being by switch. */
static inline uint32_t hierarchy_straight_port(const struct hierarchy *h, const struct level *l,
                                               uint64_t coordinate, uint64_t target)
{
    uint32_t place = places_ahead(l, coordinate, target) * l->size;
    for (const struct level *below = h->level; below < l; below++)
        place += field(below, target) * below->size;
    return l->first_port + place * l->links;
}

/* Makes the tables of distances and parallel links. */
void hierarchy_tables_make(struct hierarchy *);
static inline const struct step *hierarchy_step(const struct level *l, uint64_t at, uint32_t k)
{
    return &l->step[((uint64_t)k << l->shift) + (at & ((1ull << l->shift) - 1))];
}

/* Links of a direct route inside a group of level l, from or to the switch where its link k begins. */
static inline uint32_t hierarchy_steps(const struct hierarchy *h, const struct level *l, uint64_t at,
                                       uint32_t k)
{
    if (__builtin_expect(l->step != NULL, 1))
        return hierarchy_step(l, at, k)->hops;
    return hierarchy_direct_hops(h, at, with_gateway(l, at, &l->gateway[k]));
}

static inline void hierarchy_channel(struct route_choice *choice, const struct hierarchy *h,
                                     const struct level *l, uint32_t path, const struct leg *leg)
{
    uint32_t top = 0 - (uint32_t)(l == h->top), /* no branch: which level it is is close to random */
        class = (leg->top & top) | (path >> l->crossed & ~top);
    route_channel(choice, class * l->spread, l->spread);
}

/* Out of the group by its link k of the highest level, which has a table of steps. */
static inline void hierarchy_leave(const struct hierarchy *h, uint64_t coordinate, uint32_t k,
                                   struct route_choice *choice, const struct leg *leg)
{
    const struct step *step = hierarchy_step(h->top, coordinate, k);
    *choice = (struct route_choice){.port = step->port};
    hierarchy_channel(choice, h, &h->level[step->level], leg->path - step->below, leg);
}

/* The lanes, as bits, of the shortest paths between the groups of level l, the highest in which the two
 * differ; *hops is how long they are. to_group: no further than to the first switch there. */
uint64_t hierarchy_lanes(const struct hierarchy *, const struct level *l, uint64_t coordinate,
                         uint64_t target, bool to_group, uint32_t *hops);
/* The same over the lane-th of the parallel links between two groups of level l, the highest in which they
 * differ. */
uint32_t hierarchy_lane_hops(const struct hierarchy *, const struct level *l, uint64_t coordinate,
                             uint64_t target, uint32_t lane);
/* Fills in the legs, and how many classes they need. */
void hierarchy_legs_set(struct hierarchy *, enum via, bool progressive);
uint32_t hierarchy_channels(const struct route_topology *);
void hierarchy_tune(struct route_topology *);
enum ker_status hierarchy_direct_prepare(struct route_topology *, const struct ker_config *,
                                         struct ker_error *);
/* One of the shortest paths from here to the target, where there may be several. */
void hierarchy_hop_searched(const struct hierarchy *, uint64_t coordinate, uint64_t target, uint32_t path,
                            const struct leg *, const struct route_packet *, struct route_choice *);

/* From here towards the target, whose fields above those that differ are the same; `path` is as far as it is
 * known. parallel: a "group" level below the highest may have parallel links. */
static inline __attribute__((always_inline)) void
hierarchy_hop_inside(const struct hierarchy *h, uint64_t coordinate, uint64_t target, uint32_t path,
                     const struct leg *leg, uint32_t lane, const struct route_packet *packet,
                     struct route_choice *choice, bool parallel)
{
    const struct level *l;
    uint32_t port;
    for (;;) {
        l = level_between(h, coordinate, target);
        if (l->by_switch) {
            port = hierarchy_straight_port(h, l, coordinate, target);
            if (l->links > 1)
                port += route_pick(packet, 2, l->links);
            break;
        }
        if (parallel && h->parallel_below && l != h->top) {
            hierarchy_hop_searched(h, coordinate, target, path, leg, packet, choice);
            return;
        }
        uint32_t which = l == h->top ? lane : 0; /* further down there are no parallel links */
        const struct gateway *gateway = &l->gateway[places_ahead(l, coordinate, target) * l->links + which];
        target = with_gateway(l, coordinate, gateway);
        path -= 1u << (l->crossed - 1);
        if (((target ^ coordinate) & h->switch_mask) == 0) {
            port = gateway->port;
            break;
        }
    }
    *choice = (struct route_choice){.port = (uint16_t)port};
    hierarchy_channel(choice, h, l, path, leg);
}

/* In short form. */
static inline uint32_t hierarchy_short(const struct route_choice *c)
{
    return (uint32_t)c->port << 16 | (uint32_t)c->first_channel << 8 | c->channel_count;
}

/* The same, and out of the group, looked up; 0: the target is here. */
static inline __attribute__((always_inline)) uint32_t
hierarchy_hop_known(const struct hierarchy *h, enum leg_kind leg, uint64_t coordinate, uint64_t target)
{
    const struct level *l = h->top;
    const struct hops *hops = &h->hops[leg];
    uint64_t low = (1ull << l->shift) - 1, at = coordinate & low;
    uint32_t from = field(l, coordinate), to = field(l, target);
    return from != to ? hops->out[((uint64_t)places_between(l, from, to) << l->shift) + at]
                      : hops->inside[(at << l->shift) + (target & low)];
}

/* Of a packet that has arrived: to its node, in short form. */
static inline uint64_t hierarchy_eject_hop(const struct hierarchy *h, uint64_t address)
{
    return (address >> h->slot_shift) << 16 | h->topology.channels;
}

/* The next hop of a leg that ends at the switch `target`, which is not here; between groups of the highest
 * level over link `lane` of those in parallel. */
static inline __attribute__((always_inline)) void
hierarchy_hop(const struct hierarchy *h, uint64_t coordinate, uint64_t target, const struct leg *leg,
              uint32_t lane, const struct route_packet *packet, struct route_choice *choice, bool parallel)
{
    const struct level *l = h->top;
    if (h->steps && field(l, coordinate) != field(l, target))
        hierarchy_leave(h, coordinate, places_ahead(l, coordinate, target) * l->links + lane, choice, leg);
    else
        hierarchy_hop_inside(h, coordinate, target, leg->path, leg, lane, packet, choice, parallel);
}

/* The same for a leg that ends with the highest level's link to group `to`, where the highest level is a
 * "group" level. */
void hierarchy_hop_to_group(const struct hierarchy *, uint64_t coordinate, uint32_t to, const struct leg *,
                            uint32_t lane, const struct route_packet *, struct route_choice *);

/* What a kind that is made of such levels shares: it fills in levels, nodes_per_switch and of each level
 * groups, links and by_switch; hierarchy_make does the rest, but for the classes of links and the summary's
 * text. */
enum ker_status hierarchy_make(struct hierarchy *, const struct ker_config *, struct ker_error *);
extern const struct ker_option hierarchy_groups_options[]; /* topology.groups */
extern const struct ker_kind *const hierarchy_algorithms[];

void hierarchy_release(struct route_topology *);
uint32_t hierarchy_ports(const struct route_topology *, uint32_t switch_id);
void hierarchy_port(const struct route_topology *, uint32_t switch_id, uint32_t port, struct route_peer *);
void hierarchy_attachment(const struct route_topology *, uint32_t endpoint, uint32_t *switch_id,
                          uint16_t *port);
uint64_t hierarchy_address(const struct route_topology *, uint32_t endpoint);
uint64_t hierarchy_coordinate(const struct route_topology *, uint32_t switch_id);
uint32_t hierarchy_hops(const struct route_topology *, uint32_t from, uint32_t to);
uint32_t hierarchy_group(const struct route_topology *, uint32_t switch_id);
uint32_t hierarchy_groups(const struct route_topology *);
uint32_t hierarchy_board(const struct route_topology *, uint32_t switch_id);
uint32_t hierarchy_watch(const struct route_topology *, uint32_t switch_id, uint32_t port);
uint32_t hierarchy_watched(const struct route_topology *);
#define HIERARCHY_OPERATIONS                                                                                 \
    .size = sizeof(struct hierarchy), .tune = hierarchy_tune, .release = hierarchy_release,                  \
    .ports = hierarchy_ports, .port = hierarchy_port, .attachment = hierarchy_attachment,                    \
    .address = hierarchy_address, .coordinate = hierarchy_coordinate, .hops = hierarchy_hops,                \
    .group = hierarchy_group, .groups = hierarchy_groups, .board = hierarchy_board,                          \
    .watch = hierarchy_watch, .watched = hierarchy_watched

extern route_next_function hierarchy_minimal_next, hierarchy_adaptive_next, hierarchy_valiant_next,
    hierarchy_indirect_next, hierarchy_ugal_next, hierarchy_ugal_decided, hierarchy_par_next;
extern route_hop_function hierarchy_minimal_hop, hierarchy_ugal_hop;
extern route_pair_function hierarchy_ugal_pair, hierarchy_par_pair;
bool hierarchy_away(const struct route_topology *, uint64_t coordinate,
                    const struct route_packet *); /* before an intermediate group */
enum ker_status hierarchy_valiant_prepare(struct route_topology *, const struct ker_config *,
                                          struct ker_error *);
enum ker_status hierarchy_indirect_prepare(struct route_topology *, const struct ker_config *,
                                           struct ker_error *);
enum ker_status hierarchy_ugal_prepare(struct route_topology *, const struct ker_config *,
                                       struct ker_error *);
enum ker_status hierarchy_piggyback_prepare(struct route_topology *, const struct ker_config *,
                                            struct ker_error *);
enum ker_status hierarchy_par_prepare(struct route_topology *, const struct ker_config *, struct ker_error *);
