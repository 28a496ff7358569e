/* subnet.c - who has which LID, and which output "port 5 of LID 12" is.
 *
 * An adapter's own output is named by the switch port that it is cabled to: so it is found from an endpoint,
 * in whichever plane, without a list of all of them.
 */
#include "routing/import/import.h"

#include "routing/topology.h"

#include <stdlib.h>
#include <string.h>

#define LID_OF_SWITCH 0x80000000u

uint32_t *route_subnet_lids(const struct route_subnet *subnet, bool with_switches)
{
    uint32_t *of = ker_alloc((ROUTE_LID_MAX + 1) * sizeof *of);
    for (uint32_t i = 0; i < subnet->endpoints; i++) {
        const struct route_subnet_endpoint *n = &subnet->endpoint[i];
        for (uint32_t k = 0; n->lid && k < 1u << n->lmc && n->lid + k <= ROUTE_LID_MAX; k++)
            of[n->lid + k] = 1 + i;
    }
    for (uint32_t i = 0; with_switches && i < subnet->switches; i++)
        if (subnet->at_switch[i].lid && subnet->at_switch[i].lid <= ROUTE_LID_MAX)
            of[subnet->at_switch[i].lid] = LID_OF_SWITCH | (1 + i);
    return of;
}

static const struct route_topology *plane(const struct route_topology *topology)
{
    return topology->inner ? topology->inner : topology;
}

uint32_t *route_lids(const struct route_topology *topology)
{
    const struct route_subnet *subnet = plane(topology)->subnet;
    return subnet ? route_subnet_lids(subnet, true) : NULL;
}

/* The adapter's port of this number; LIDs are those of ports, but any of them answers for all. Endpoints:
 * none.
 */
static uint32_t sibling(const struct route_subnet *subnet, uint32_t endpoint, uint32_t port)
{
    uint32_t name = subnet->endpoint[endpoint].name;
    if (port == 0 || subnet->endpoint[endpoint].port == port)
        return endpoint;
    for (endpoint = 0; endpoint < subnet->endpoints; endpoint++)
        if (subnet->endpoint[endpoint].name == name && subnet->endpoint[endpoint].port == port)
            break;
    return endpoint;
}

enum ker_status route_lid_output(const struct route_topology *topology, const uint32_t *lids,
                                 struct ker_lines *in, uint32_t lid, uint32_t port,
                                 struct route_output *output, bool *cabled)
{
    topology = plane(topology);
    const struct route_subnet *subnet = topology->subnet;
    uint32_t of = lid <= ROUTE_LID_MAX ? lids[lid] : 0, id = (of & ~LID_OF_SWITCH) - 1;
    uint16_t at;
    struct route_peer peer;
    *cabled = false;
    if (!of && !subnet->left_out)
        return ker_lines_fail(in, "the fabric has no device of LID %u: dumps of different times?", lid);
    if (of & LID_OF_SWITCH && port > subnet->at_switch[id].ports)
        return ker_lines_fail(in, "port %u of switch \"%s\" (LID %u), which has %u", port,
                              subnet->names + subnet->at_switch[id].name, lid, subnet->at_switch[id].ports);
    if (of & LID_OF_SWITCH && port > 0) {
        route_port(topology, id, port, &peer);
        *output = (struct route_output){id, port, false};
        *cabled = peer.kind != ROUTE_NOTHING;
    } else if (of && !(of & LID_OF_SWITCH) && (id = sibling(subnet, id, port)) < subnet->endpoints) {
        *output = (struct route_output){.adapter = true};
        route_attachment(topology, id, &output->switch_id, &at);
        output->port = at;
        *cabled = true;
    }
    return KER_OK;
}

struct route_output route_output_of(const struct route_topology *topology, bool adapter, uint32_t id,
                                    uint32_t port)
{
    uint16_t at = (uint16_t)port;
    if (adapter)
        route_attachment(topology, id, &id, &at);
    return (struct route_output){id % plane(topology)->summary.switches, at, adapter};
}
