/* torus_twist.c - shortest paths of a twisted torus.
 *
 * The links that close the rings of a dimension shorter than the longest end half way round the longest ones
 * (Camara et al. 2010; TPU v4: n x n x 2n and n x 2n x 2n, Jouppi et al. 2023). Half a ring twice is a whole
 * one, so all that matters of how often a path crosses such links is whether that is odd: then it has to be
 * half a ring shorter or longer in each longest dimension.
 *
 * A short dimension takes |k| links for an even and e - |k| for an odd number of crossings, k being how far
 * the places are apart and e the extent (k = 0: once round). The distance is the least, over even and odd
 * sums, of all these and of the ways round the longest rings.
 *
 * Order: short dimensions first. A link is on a shortest path when the distance is one less behind it, and
 * the set of shortest paths only shrinks on the way: a dimension that is done is not entered again, and in
 * one a packet keeps its direction and crosses the closing link at most once. Two classes of channels a ring:
 * 0 as long as the packet is still to cross, 1 behind and for packets that do not. Class 1 has no closing
 * links, and class 0 nothing behind them, so neither closes a circle.
 */
#include "routing/paths.h"
#include "routing/topologies/torus.h"

#include <stdlib.h>

static inline uint32_t at_of(const struct dimension *d, uint32_t switch_id)
{
    return switch_id / d->stride % d->extent;
}

static inline uint32_t round_way(uint32_t apart, uint32_t extent)
{
    return apart < extent - apart ? apart : extent - apart;
}

static uint32_t twisted_apart(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    const struct torus *torus = torus_of(topology);
    uint32_t sum = 0, longest[2] = {0, 0}, more = UINT32_MAX; /* more: to make the crossings odd, or even */
    bool odd = false;
    for (const struct dimension *d = torus->dimension; d < torus->dimension + torus->dimensions; d++) {
        uint32_t a = at_of(d, from), b = at_of(d, to), k = a > b ? a - b : b - a;
        if (d->extent == torus->longest) {
            longest[0] += round_way(k, d->extent);
            longest[1] += d->extent / 2 - round_way(k, d->extent);
        } else if (d->extent > 1) {
            uint32_t other = d->extent - k, change = k < other ? other - k : k - other;
            odd ^= other < k;
            sum += other < k ? other : k;
            more = change < more ? change : more;
        }
    }
    uint32_t without = longest[odd], with = longest[!odd];
    return sum + (more < UINT32_MAX && with + more < without ? with + more : without);
}

uint32_t route_torus_twisted_hops(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    uint32_t nodes = torus_of(topology)->nodes_per_switch;
    return twisted_apart(topology, from / nodes, to / nodes);
}

/* The most that there are: from one switch, since all are alike. */
static uint32_t twisted_reach(const struct route_topology *topology)
{
    uint32_t most = 0;
    for (uint32_t to = 1; to < topology->summary.switches; to++) {
        uint32_t apart = twisted_apart(topology, 0, to);
        most = apart > most ? apart : most;
    }
    return most;
}

/* The first port of a dimension and direction; false: it leads no nearer. */
static bool nearer(const struct route_topology *topology, uint32_t from, uint32_t to,
                   const struct dimension *d, bool backward, uint32_t apart, uint32_t *port)
{
    struct route_peer peer;
    *port = d->first_port + (backward ? torus_of(topology)->parallel : 0);
    topology->kind->port(topology, from, *port, &peer);
    return twisted_apart(topology, peer.id, to) < apart;
}

/* The short dimensions, then the longest ones; NULL at the end. */
static const struct dimension *next_dimension(const struct torus *torus, const struct dimension *d)
{
    const struct dimension *end = torus->dimension + torus->dimensions;
    bool longest = d && d->extent == torus->longest;
    for (d = d ? d + 1 : torus->dimension; d < end; d++)
        if (d->extent > 1 && (d->extent == torus->longest) == longest)
            return d;
    return longest ? NULL : torus->first_longest;
}

static int twisted_toward(const struct route_topology *topology, uint32_t from, uint32_t to, bool ordered,
                          uint16_t *port)
{
    const struct torus *torus = torus_of(topology);
    uint32_t apart = twisted_apart(topology, from, to), first, count = 0;
    for (const struct dimension *d = next_dimension(torus, NULL); d; d = next_dimension(torus, d))
        for (uint32_t i = 0; i < 2; i++) {
            /* either direction, as far: one of them, by the place */
            if (!nearer(topology, from, to, d, ordered && (from & 1) ? !i : i, apart, &first))
                continue;
            for (uint32_t lane = 0; lane < torus->parallel && count < ROUTE_MAX_CHOICES; lane++)
                port[count++] = (uint16_t)(first + lane);
            if (ordered)
                return (int)count;
        }
    return (int)count;
}

static uint32_t twisted_order_class(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    const struct torus *torus = torus_of(topology);
    uint16_t port[ROUTE_MAX_CHOICES];
    if (!twisted_toward(topology, from, to, true, port))
        return 0;
    const struct dimension *d = next_dimension(torus, NULL);
    while (*port - (uint32_t)d->first_port >= 2 * torus->parallel)
        d = next_dimension(torus, d);
    uint32_t a = at_of(d, from), b = at_of(d, to);
    bool crosses = *port < d->first_port + torus->parallel ? b <= a : b >= a;
    return !crosses;
}

const struct route_steps route_torus_twisted_steps = {.reach = twisted_reach,
                                                      .apart = twisted_apart,
                                                      .toward = twisted_toward,
                                                      .order_classes = 2,
                                                      .order_class = twisted_order_class};

uint32_t route_torus_twist(const struct torus *torus, uint32_t switch_id)
{
    uint32_t id = switch_id;
    for (const struct dimension *d = torus->first_longest; d < torus->dimension + torus->dimensions; d++)
        if (d->extent == torus->longest) {
            uint32_t half = d->extent / 2, at = at_of(d, switch_id);
            id += (at < half ? half : -half) * d->stride;
        }
    return id;
}

enum ker_status route_torus_twist_check(struct torus *torus, const struct ker_config *config,
                                        struct ker_error *error)
{
    static const char key[] = "topology.twist";
    bool shorter = false;
    for (int i = 0; i < torus->dimensions; i++)
        torus->longest =
            torus->dimension[i].extent > torus->longest ? torus->dimension[i].extent : torus->longest;
    for (int i = torus->dimensions - 1; i >= 0; i--) {
        const struct dimension *d = &torus->dimension[i];
        shorter |= d->extent > 1 && d->extent < torus->longest;
        torus->first_longest = d->extent == torus->longest ? d : torus->first_longest;
        if (d->extent > 1 && !d->wrap)
            return ker_config_fail(config, error, key, "needs rings: topology.wrap of dimension %d is false",
                                   i);
    }
    if (!shorter)
        return ker_config_fail(
            config, error, key,
            "twists the rings of dimensions that are shorter than the longest, but there are "
            "none: TPUs are n x n x 2n and n x 2n x 2n");
    if (torus->longest % 2)
        return ker_config_fail(
            config, error, key,
            "has closing links end half way round the longest dimensions: their extent of %u has to be even",
            torus->longest);
    return KER_OK;
}
