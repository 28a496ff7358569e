/* closed.c - what topologies of closed forms have in common: nodes, addresses, links. */
#include "routing/topologies/closed.h"

#include "routing/topologies/field.h"

enum ker_status closed_count(struct closed *c, const struct ker_config *config, uint64_t switches,
                             uint64_t links, uint64_t ports, struct ker_error *error)
{
    struct route_summary *summary = &c->topology.summary;
    uint64_t endpoints = switches / c->block * c->leaves * c->nodes;
    if (switches > UINT32_MAX || endpoints > UINT32_MAX)
        return ker_config_fail(config, error, "topology.kind",
                               "makes %llu switches and %llu nodes; 2^32 - 1 are possible",
                               (unsigned long long)switches, (unsigned long long)endpoints);
    if (ports > ROUTE_MAX_PORTS)
        return ker_config_fail(config, error, "topology.kind",
                               "makes switches of %llu ports; at most %d are possible",
                               (unsigned long long)ports, ROUTE_MAX_PORTS);
    summary->switches = (uint32_t)switches;
    summary->endpoints = (uint32_t)endpoints;
    summary->max_ports = (uint32_t)ports;
    summary->links = links + endpoints;
    return KER_OK;
}

static enum ker_status links_read(struct closed *c, const struct ker_config *config,
                                  const char *const *classes, struct ker_error *error)
{
    static const char *const list[] = {"topology.bandwidth", "topology.latency"};
    struct route_summary *summary = &c->topology.summary;
    int count = 0;
    while (classes[count])
        count++;
    for (int i = 0; i < 2; i++)
        if (route_list_check(config, list[i], count, count > 1 ? "classes of links" : "class of links",
                             error))
            return KER_BAD_INPUT;
    for (int i = 0; i < count; i++)
        route_link_add(summary, classes[i], route_time_each(config, list[1], i),
                       route_rate_each(config, list[0], i));
    route_endpoint_link_add(summary, config, 0);
    return KER_OK;
}

enum ker_status closed_make(struct closed *c, const struct ker_config *config, const char *const *classes,
                            uint64_t switches, uint64_t links, uint64_t ports, struct ker_error *error)
{
    enum ker_status status = closed_count(c, config, switches, links, ports, error);
    return status ?: links_read(c, config, classes, error);
}

bool closed_node_port(const struct route_topology *topology, uint32_t switch_id, uint32_t port,
                      struct route_peer *peer)
{
    const struct closed *c = closed_of(topology);
    *peer = (struct route_peer){.kind = ROUTE_SWITCH};
    if (port >= c->nodes || switch_id % c->block >= c->leaves)
        return false;
    *peer = (struct route_peer){ROUTE_ENDPOINT, (uint8_t)topology->summary.endpoint_link, 0,
                                (switch_id / c->block * c->leaves + switch_id % c->block) * c->nodes + port};
    return true;
}

uint32_t closed_ports(const struct route_topology *topology, uint32_t switch_id)
{
    return topology->summary.max_ports;
}

void closed_attachment(const struct route_topology *topology, uint32_t endpoint, uint32_t *switch_id,
                       uint16_t *port)
{
    const struct closed *c = closed_of(topology);
    uint32_t leaf = endpoint / c->nodes;
    *switch_id = c->block == c->leaves ? leaf : leaf / c->leaves * c->block + leaf % c->leaves;
    *port = (uint16_t)(endpoint % c->nodes);
}

uint64_t closed_address(const struct route_topology *topology, uint32_t endpoint)
{
    uint32_t at;
    uint16_t port;
    closed_attachment(topology, endpoint, &at, &port);
    return at | (uint64_t)port << 32;
}

uint64_t closed_coordinate(const struct route_topology *topology, uint32_t switch_id)
{
    return switch_id;
}

uint32_t closed_hops(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    uint32_t a, b;
    uint16_t port;
    closed_attachment(topology, from, &a, &port);
    closed_attachment(topology, to, &b, &port);
    return a == b ? 0 : topology->kind->steps->apart(topology, a, b);
}

/* ---- topology.q ---- */

const struct ker_option route_prime_power_options[] = {
    {"topology.q", KER_TYPE_INT, NULL, "2", "32768", NULL,
     "Slim fly, polarfly: the elements of the finite field, a prime power; 2 q^2 and q^2 + q + 1 switches."},
    {0},
};

static bool possible(int64_t q, bool slim)
{
    return q >= 2 && q <= ROUTE_FIELD_MOST && route_field_possible((uint32_t)q) && (!slim || q % 4 != 2);
}

enum ker_status route_prime_power_read(const struct ker_config *config, bool slim, uint32_t *q,
                                       struct ker_error *error)
{
    static const char key[] = "topology.q";
    enum ker_status status = route_key_require(config, key, error);
    if (status != KER_OK)
        return status;
    int64_t asked = ker_config_int(config, key), below = asked, above = asked;
    *q = (uint32_t)asked;
    if (possible(asked, slim))
        return KER_OK;
    while (below > 1 && !possible(below, slim))
        below--;
    while (above < ROUTE_FIELD_MOST && !possible(above, slim))
        above++;
    const char *what = slim ? "a prime power, and 4 w - 1, 4 w or 4 w + 1" : "a prime power";
    if (below < 2)
        return ker_config_fail(config, error, key, "is %lld, but has to be %s; the nearest is %lld",
                               (long long)asked, what, (long long)above);
    return ker_config_fail(config, error, key, "is %lld, but has to be %s; the nearest are %lld and %lld",
                           (long long)asked, what, (long long)below, (long long)above);
}
