/* weights.c - reads weights of links (routing.weight_file; docs/routing-tables.md).
 *
 * A line gives one weight, to all links between two switches or to the link at a port; the last one counts.
 * Links that are down from the start may be named, too: the tables do not use them, but a file of weights
 * describes the network, whatever is broken in it.
 */
#include "routing/tables/make.h"

#include <stdlib.h>

static enum ker_status fail_line(struct ker_lines *in, const char *what)
{
    if (in->p == in->stop)
        return ker_lines_fail(in, "%s, but the line ends", what);
    return ker_lines_fail(in, "%s, not \"%.*s\"", what, KER_LINE_REST(in));
}

/* The reader stays before what is no weight, so that the message shows it. */
static bool take_weight(struct ker_lines *in, uint32_t *weight)
{
    const char *begin = in->p;
    if (ker_take_u32(in, weight) && *weight > 0)
        return true;
    in->p = begin;
    return false;
}

/* What a line names: all links between two switches, or (port) the one at a port. */
struct named {
    bool port;
    uint32_t from, to; /* to: a switch, or the port */
};

/* Also where it is down from the start. */
static bool link_exists(const struct route_topology *topology, const struct named *link)
{
    uint32_t ports = route_ports(topology, link->from);
    for (uint32_t p = 0; p < ports; p++) {
        struct route_peer peer;
        route_port(topology, link->from, p, &peer);
        if (peer.kind == ROUTE_SWITCH && (link->port ? p : peer.id) == link->to)
            return true;
    }
    return false;
}

static void weight_set(const struct route_wires *wires, const struct named *link, uint32_t value,
                       uint32_t *weight)
{
    for (uint32_t i = wires->begin[link->from]; i < wires->begin[link->from + 1]; i++) {
        if (link->port ? wires->port[i] != link->to : wires->to[i] != link->to)
            continue;
        weight[i] = value;
        if (!link->port)
            weight[wires->reverse[i]] = value;
    }
}

/* link A B WEIGHT: all links between two switches, both directions. port S P WEIGHT: one link, one direction.
 */
static enum ker_status weight_read(struct ker_lines *in, const struct route_topology *topology,
                                   const struct route_wires *wires, uint32_t *weight)
{
    struct named link;
    uint32_t value;
    link.port = !ker_take_word(in, "link");
    if (link.port && !ker_take_word(in, "port"))
        return fail_line(in, "a line reads: link SWITCH SWITCH WEIGHT, or: port SWITCH PORT WEIGHT");
    if (!ker_take_u32(in, &link.from) || link.from >= wires->switches)
        return fail_line(in, "the number of a switch is expected here");
    ker_take_blanks(in);
    if (!ker_take_u32(in, &link.to))
        return fail_line(in,
                         link.port ? "a port is expected here" : "the number of a switch is expected here");
    ker_take_blanks(in);
    if (!take_weight(in, &value))
        return fail_line(in, "a weight, at least 1, is expected here");
    if (!link_exists(topology, &link) && link.port)
        return ker_lines_fail(in, "no link leads from port %u of switch %u to another switch", link.to,
                              link.from);
    if (!link_exists(topology, &link))
        return ker_lines_fail(in, "no link joins switches %u and %u", link.from, link.to);
    weight_set(wires, &link, value, weight);
    return ker_lines_end(in);
}

enum ker_status route_weights_read(uint32_t *weight, const struct route_topology *topology,
                                   const struct route_wires *wires, const struct ker_config *config,
                                   struct ker_error *error)
{
    struct ker_lines in;
    for (uint32_t i = 0; i < wires->links; i++)
        weight[i] = 1;
    if (!ker_config_has(config, "routing.weight_file"))
        return ker_config_fail(config, error, "routing.weight_file",
                               "is missing; weights = \"file\" needs it");
    const char *file = ker_config_file(config, "routing.weight_file");
    char *text;
    enum ker_status status = ker_input_lines(ker_config_inputs(config), file, &in, &text, error);
    while (status == KER_OK && ker_lines_next_full(&in))
        status = weight_read(&in, topology, wires, weight);
    free(text);
    return status;
}
