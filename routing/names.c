/* names.c - what switches and nodes are called, where the topology has names: edge lists and fabrics. */
#include "routing/import/import.h"
#include "routing/rails.h"
#include "routing/topologies/graph.h"
#include "routing/topology.h"

const char *route_name(const struct route_topology *topology, bool node, uint32_t id)
{
    if (topology->inner)
        return route_name(topology->inner, node,
                          node ? route_rails_node(topology, id) : id % topology->inner->summary.switches);
    const struct route_subnet *subnet = topology->subnet;
    const struct route_names *names = topology->names;
    if (names)
        return names->text + (node ? names->at_endpoint : names->at_switch)[id];
    if (subnet)
        return subnet->names + (node ? subnet->endpoint[id].name : subnet->at_switch[id].name);
    return NULL;
}

const char *route_called(const struct route_topology *topology, bool node, uint32_t id,
                         char text[ROUTE_CALLED_BYTES])
{
    const char *name = route_name(topology, node, id);
    snprintf(text, ROUTE_CALLED_BYTES, name ? "%u (%.40s)" : "%u", id, name);
    return text;
}

/* A field of a table: quoted, as names have blanks and semicolons and may have commas and quotes. */
static void write_name(FILE *out, const char *name)
{
    fputc('"', out);
    for (; *name; name++) {
        if (*name == '"')
            fputc('"', out);
        fputc(*name, out);
    }
    fputc('"', out);
}

static bool list_write(const struct route_topology *topology, FILE *out)
{
    fprintf(out, "kind,number,name\n");
    for (int node = 0; node < 2; node++)
        for (uint32_t i = 0; i < (node ? route_hosts(&topology->summary) : topology->summary.switches); i++) {
            fprintf(out, "%s,%u,", node ? "node" : "switch", i);
            write_name(out, route_name(topology, node, i));
            fputc('\n', out);
        }
    return true;
}

bool route_names_write(const struct route_topology *topology, FILE *out)
{
    const struct route_subnet *subnet = topology->subnet;
    if (topology->names || (topology->inner && route_name(topology, false, 0)))
        return list_write(topology, out);
    if (!subnet)
        return false;
    fprintf(out, "kind,number,name,port,lid,guid\n");
    for (uint32_t i = 0; i < subnet->switches; i++) {
        const struct route_subnet_switch *s = &subnet->at_switch[i];
        fprintf(out, "switch,%u,", i);
        write_name(out, subnet->names + s->name);
        fprintf(out, ",0,%u,0x%016llx\n", s->lid, (unsigned long long)s->guid);
    }
    for (uint32_t i = 0; i < subnet->endpoints; i++) {
        const struct route_subnet_endpoint *node = &subnet->endpoint[i];
        fprintf(out, "node,%u,", i);
        write_name(out, subnet->names + node->name);
        fprintf(out, ",%u,%u,0x%016llx\n", node->port, node->lid, (unsigned long long)node->guid);
    }
    return true;
}
