/* arrangement.h - private to dragonflies: which global port of which group is linked to which.
 *
 * A group has switches x h global ports, those of its switch s from s h on. Its n links to others in use,
 * numbered 0, 1,
 * ... and dealt evenly to the switches in blocks, lead, each time once to every other group and then again:
 *
 *   absolute    to groups 0, 1, 2, ... without its own
 *   relative    to the groups 1, 2, ... further on
 *   circulant   to those 1 further on, 1 back, 2 further on, 2 back, ...
 *
 * (Camarero, Vallejo and Beivide 2014; Hastings et al. 2015.) Or a file lists all links.
 */
#pragma once

#include "routing/topologies/closed.h"

#define ARRANGEMENT_NONE UINT32_MAX

struct arrangement {
    uint32_t groups, switches, h; /* switches: of a group, those with global ports; h: such ports of each */
    uint32_t ports, lanes;        /* of a group: switches x h; the most links between two groups */
    uint32_t *peer; /* [group * ports + port]: the port at the other end, numbered alike; NONE: unused */
    uint32_t *lane; /* [(from * groups + to) * lanes + n]: the ports of `from` that lead to `to`, ascending,
                       then NONE */
    uint64_t links;
};

/* topology.groups (absent: as many as can be), h, group_links, arrangement, arrangement_file; `which`:
 * without the key. */
enum ker_status arrangement_read(struct arrangement *, const struct ker_config *, uint32_t switches,
                                 const char *which, struct ker_error *);
/* The lines of such a file: GROUP SWITCH GROUP SWITCH, # begins a comment; groups, switches, h and ports are
 * set, and all of peer is NONE. `name` stands for the file in messages. */
enum ker_status arrangement_parse(struct arrangement *, const char *name, const char *text, size_t length,
                                  struct ker_error *);

extern const struct ker_option arrangement_options[];

/* A topology of such groups: groups of `size` switches, of which those from `first` on have global ports. */
struct arranged {
    struct closed closed;
    uint32_t size, first;
    struct arrangement arrangement;
};
static inline const struct arranged *arranged_of(const struct route_topology *topology)
{
    return (const struct arranged *)topology;
}
/* What is at port number `port` of the global ports of a switch, the first of which is its port `base`, as
 * those of all others. */
void arranged_port(const struct route_topology *, uint32_t switch_id, uint32_t base, uint32_t port,
                   uint8_t link, struct route_peer *);
uint32_t arranged_group(const struct route_topology *, uint32_t switch_id);
uint32_t arranged_groups(const struct route_topology *);
void arranged_release(struct route_topology *);

/* The nth link between two groups: its port of `from`; NONE: there are fewer. */
static inline uint32_t arrangement_lane(const struct arrangement *a, uint32_t from, uint32_t to, uint32_t n)
{
    return n < a->lanes ? a->lane[((uint64_t)from * a->groups + to) * a->lanes + n] : ARRANGEMENT_NONE;
}
