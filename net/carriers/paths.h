/* paths.h - latency and bandwidth by distance, and how many links nodes have: what models of whole messages
 * read. Private to net/carriers/.
 */
#pragma once

#include "net/net.h"

struct net_path {
    ker_time latency;
    uint64_t rate;
};

/* Nodes of one board or rack: of a block of `size` of them, or of one group. */
struct net_path_class {
    struct net_path path;
    uint32_t size, *group; /* of each node; NULL: blocks */
};

struct net_paths {
    struct net_path usual;
    struct net_path_class *class; /* the first that has both nodes counts */
    uint32_t classes;
    ker_time least; /* latency */
};

/* network.latency, .bandwidth, .classes; released after an error, too. */
enum ker_status net_paths_read(struct net_paths *, const struct ker_config *, const struct route_topology *,
                               struct ker_error *);
void net_paths_release(struct net_paths *);
const struct net_path *net_paths_class(const struct net_paths *, uint32_t a, uint32_t b);
static inline const struct net_path *net_path_of(const struct net_paths *p, uint32_t a, uint32_t b)
{
    return __builtin_expect(p->classes == 0, 1) ? &p->usual : net_paths_class(p, a, b);
}

/* network.out_links and in_links, or a kind's: of each node, malloc'ed. */
void net_node_links_read(uint8_t **out, uint8_t **in, const struct ker_config *, uint32_t nodes,
                         const struct net_phases *);

extern const struct ker_option net_path_options[], net_node_link_options[];
