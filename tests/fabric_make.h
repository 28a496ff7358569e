/* fabric_make.h - for tests: writes InfiniBand clusters as ibnetdiscover prints them, and their forwarding
 * tables as OpenSM or ibroute does.
 *
 * A plant is switches, adapters and cables; LIDs go to the switches first, then to the adapters' cabled ports
 * in their order, which is also how the reader numbers switches and nodes.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plant_cable { /* from a switch, to a switch or an adapter */
    int from, from_port;
    int to, to_port; /* to: a switch, or adapters + its number below */
    int adapter;     /* to is an adapter */
    const char *rate;
};

struct plant {
    int switches, ports, adapters, adapter_ports, lmc;
    int cables, room;
    struct plant_cable *cable;
};

static inline void plant_join(struct plant *p, int from, int from_port, int adapter, int to, int to_port,
                              const char *rate)
{
    if (p->cables == p->room)
        p->cable = realloc(p->cable, sizeof *p->cable * (size_t)(p->room = p->room ? 2 * p->room : 64));
    p->cable[p->cables++] = (struct plant_cable){from, from_port, to, to_port, adapter, rate};
}

static inline unsigned long long plant_guid(int adapter, int number)
{
    return adapter ? 0x0002c90300a00000ull + (unsigned)number * 4
                   : 0x0002c902004200a0ull + (unsigned)number * 8;
}

static inline int plant_switch_lid(int number)
{
    return number + 1;
}

/* The place of a port among the cabled ports of all adapters: the node. -1: nothing is cabled there. */
static inline int plant_node(const struct plant *p, int adapter, int port)
{
    int node = 0;
    for (int i = 0; i < p->cables; i++)
        if (p->cable[i].adapter &&
            (p->cable[i].to < adapter || (p->cable[i].to == adapter && p->cable[i].to_port < port)))
            node++;
    return node;
}

static inline int plant_node_lid(const struct plant *p, int node)
{
    int step = 1 << p->lmc, first = (p->switches + 1 + step - 1) / step * step;
    return first + node * step;
}

static inline const struct plant_cable *plant_at(const struct plant *p, int adapter, int device, int port,
                                                 int *other_end)
{
    for (int i = 0; i < p->cables; i++) {
        const struct plant_cable *c = &p->cable[i];
        if (!adapter && c->from == device && c->from_port == port) {
            *other_end = 0;
            return c;
        }
        if (c->adapter == adapter && c->to == device && c->to_port == port) {
            *other_end = 1;
            return c;
        }
    }
    return NULL;
}

static inline void plant_write_switch(const struct plant *p, FILE *out, int s)
{
    unsigned long long guid = plant_guid(0, s);
    fprintf(out, "\nvendid=0x2c9\ndevid=0xbd36\nsysimgguid=0x%llx\nswitchguid=0x%llx(%llx)\n", guid + 3, guid,
            guid);
    fprintf(out, "Switch\t%d \"S-%016llx\"\t\t# \"MF0;switch %d:IS5035/U1\" enhanced port 0 lid %d lmc 0\n",
            p->ports, guid, s, plant_switch_lid(s));
    for (int port = 1; port <= p->ports; port++) {
        int back;
        const struct plant_cable *c = plant_at(p, 0, s, port, &back);
        if (!c)
            continue;
        if (c->adapter)
            fprintf(out, "[%d]\t\"H-%016llx\"[%d](%llx) \t\t# \"node%d HCA-1\" lid %d %s\n", port,
                    plant_guid(1, c->to), c->to_port, plant_guid(1, c->to) + (unsigned)c->to_port, c->to,
                    plant_node_lid(p, plant_node(p, c->to, c->to_port)), c->rate);
        else
            fprintf(out, "[%d]\t\"S-%016llx\"[%d]\t\t# \"MF0;switch %d:IS5035/U1\" lid %d %s\n", port,
                    plant_guid(0, back ? c->from : c->to), back ? c->from_port : c->to_port,
                    back ? c->from : c->to, plant_switch_lid(back ? c->from : c->to), c->rate);
    }
}

static inline void plant_write_adapter(const struct plant *p, FILE *out, int a)
{
    unsigned long long guid = plant_guid(1, a);
    fprintf(out, "\nvendid=0x2c9\ndevid=0x1003\nsysimgguid=0x%llx\ncaguid=0x%llx\n", guid + 3, guid);
    fprintf(out, "Ca\t%d \"H-%016llx\"\t\t# \"node%d HCA-1\"\n", p->adapter_ports, guid, a);
    for (int port = 1; port <= p->adapter_ports; port++) {
        int back;
        const struct plant_cable *c = plant_at(p, 1, a, port, &back);
        if (c)
            fprintf(
                out,
                "[%d](%llx) \t\"S-%016llx\"[%d]\t\t# lid %d lmc %d \"MF0;switch %d:IS5035/U1\" lid %d %s\n",
                port, guid + (unsigned)port, plant_guid(0, c->from), c->from_port,
                plant_node_lid(p, plant_node(p, a, port)), p->lmc, c->from, plant_switch_lid(c->from),
                c->rate);
    }
}

static inline void plant_write(const struct plant *p, FILE *out)
{
    fprintf(out,
            "#\n# Topology file: generated on Tue Mar 12 10:04:11 2024\n#\n# Initiated from node %016llx "
            "port %016llx\n",
            plant_guid(1, 0), plant_guid(1, 0) + 1);
    for (int s = 0; s < p->switches; s++)
        plant_write_switch(p, out, s);
    for (int a = 0; a < p->adapters; a++)
        plant_write_adapter(p, out, a);
}

/* port(context, switch, node, path) is where the packets leave; ibroute's form or that of opensm-lfts.dump.
 */
typedef int plant_port(const void *context, int s, int node, int path);

static inline void plant_write_tables(const struct plant *p, FILE *out, int opensm, plant_port *port,
                                      const void *context)
{
    int nodes = plant_node(p, p->adapters, 0), top = plant_node_lid(p, nodes) - 1;
    for (int s = 0; s < p->switches; s++) {
        int lids = 0;
        if (opensm)
            fprintf(out, "Unicast lids [0-%d] of switch Lid %d guid 0x%016llx ('MF0;switch %d:IS5035/U1'):\n",
                    top, plant_switch_lid(s), plant_guid(0, s), s);
        else
            fprintf(out,
                    "Unicast lids [0x0-0x%x] of switch Lid %d guid 0x%016llx (MF0;switch %d:IS5035/U1):\n"
                    "  Lid  Out   Destination\n       Port     Info \n",
                    top, plant_switch_lid(s), plant_guid(0, s), s);
        for (int to = 0; to < p->switches; to++, lids++)
            fprintf(out, "0x%04x %03d %s\n", plant_switch_lid(to), to == s ? 0 : 1,
                    opensm ? "# unknown node and type" : ": (Switch)");
        for (int node = 0; node < nodes; node++)
            for (int path = 0; path < 1 << p->lmc; path++, lids++)
                fprintf(out, "0x%04x %03d %s\n", plant_node_lid(p, node) + path, port(context, s, node, path),
                        opensm ? "# unknown node and type"
                        : path ? ": (path #2 out of 2)"
                               : "");
        fprintf(out, opensm ? "%d lids dumped\n" : "%d valid lids dumped \n", opensm ? top : lids);
    }
}
