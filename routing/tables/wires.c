/* wires.c - the living links of a topology as arrays, and whether links wait for each other in a circle. */
#include "routing/tables/wires.h"

#include <stdlib.h>
#include <string.h>

static bool leads_on(const struct route_topology *topology, uint32_t switch_id, uint32_t port,
                     struct route_peer *peer)
{
    route_port(topology, switch_id, port, peer);
    return peer->kind == ROUTE_SWITCH && route_link_alive(topology, switch_id, port);
}

static void count_links(struct route_wires *wires, const struct route_topology *topology)
{
    for (uint32_t s = 0; s < wires->switches; s++) {
        struct route_peer peer;
        uint32_t ports = route_ports(topology, s), links = 0;
        for (uint32_t p = 0; p < ports; p++)
            links += leads_on(topology, s, p, &peer);
        ker_assert((uint64_t)wires->begin[s] + links < ROUTE_NO_WIRE);
        wires->begin[s + 1] = wires->begin[s] + links;
        if (links > wires->most)
            wires->most = links;
    }
    wires->links = wires->begin[wires->switches];
}

static void fill_links(struct route_wires *wires, const struct route_topology *topology)
{
    uint16_t *peer_port = ker_alloc((wires->links + 1u) * sizeof *peer_port);
    for (uint32_t s = 0, at = 0; s < wires->switches; s++) {
        struct route_peer peer;
        for (uint32_t p = 0; at < wires->begin[s + 1]; p++) {
            if (!leads_on(topology, s, p, &peer))
                continue;
            wires->from[at] = s;
            wires->to[at] = peer.id;
            wires->port[at] = (uint16_t)p;
            wires->class[at] = peer.link;
            peer_port[at++] = peer.port;
        }
    }
    for (uint32_t i = 0; i < wires->links; i++)
        wires->reverse[i] = route_wires_at(wires, wires->to[i], peer_port[i]);
    free(peer_port);
}

void route_wires_make(struct route_wires *wires, const struct route_topology *topology)
{
    uint32_t switches = topology->summary.switches, endpoints = topology->summary.endpoints;
    *wires = (struct route_wires){.switches = switches, .endpoints = endpoints};
    wires->begin = ker_alloc((switches + 1ull) * sizeof *wires->begin);
    count_links(wires, topology);
    size_t links = wires->links + (size_t)1;
    wires->from = ker_alloc(links * sizeof *wires->from);
    wires->to = ker_alloc(links * sizeof *wires->to);
    wires->reverse = ker_alloc(links * sizeof *wires->reverse);
    wires->port = ker_alloc(links * sizeof *wires->port);
    wires->class = ker_alloc(links * sizeof *wires->class);
    fill_links(wires, topology);
    wires->endpoint_switch = ker_alloc(endpoints * sizeof *wires->endpoint_switch);
    wires->endpoint_port = ker_alloc(endpoints * sizeof *wires->endpoint_port);
    wires->endpoints_at = ker_alloc(switches * sizeof *wires->endpoints_at);
    for (uint32_t n = 0; n < endpoints; n++) {
        route_attachment(topology, n, &wires->endpoint_switch[n], &wires->endpoint_port[n]);
        wires->endpoints_at[wires->endpoint_switch[n]]++;
    }
}

void route_wires_release(struct route_wires *wires)
{
    KER_FREE(wires->begin, wires->from, wires->to, wires->reverse, wires->port, wires->class,
             wires->endpoint_switch, wires->endpoint_port, wires->endpoints_at);
    *wires = (struct route_wires){0};
}

uint32_t route_wires_at(const struct route_wires *wires, uint32_t switch_id, uint32_t port)
{
    uint32_t low = KER_BISECT(i, wires->begin[switch_id], wires->begin[switch_id + 1], wires->port[i] < port);
    return low < wires->begin[switch_id + 1] && wires->port[low] == port ? low : ROUTE_NO_WIRE;
}

void route_waits_init(struct route_waits *waits, const struct route_wires *wires)
{
    *waits = (struct route_waits){wires, wires->most / 64 + 1, NULL};
    waits->bit = ker_alloc((wires->links + (size_t)1) * waits->words * sizeof *waits->bit);
}

void route_waits_release(struct route_waits *waits)
{
    free(waits->bit);
    *waits = (struct route_waits){0};
}

/* Takes away links that no other waits for until none is left (Kahn). */
bool route_waits_cyclic(const struct route_waits *waits)
{
    const struct route_wires *wires = waits->wires;
    uint32_t *pointed = ker_alloc((wires->links + (size_t)1) * sizeof *pointed);
    uint32_t *queue = ker_alloc((wires->links + (size_t)1) * sizeof *queue), done = 0, found = 0;
    for (int pass = 0; pass < 2; pass++) {
        uint32_t steps = pass == 0 ? wires->links : found;
        for (uint32_t i = 0; i < steps; i++) {
            uint32_t link = pass == 0 ? i : queue[i];
            const uint64_t *bit = waits->bit + (size_t)link * waits->words;
            for (uint32_t w = 0; w < waits->words; w++)
                for (uint64_t rest = bit[w]; rest; rest &= rest - 1) {
                    uint32_t next = wires->begin[wires->to[link]] + w * 64 + (uint32_t)__builtin_ctzll(rest);
                    if (pass == 0)
                        pointed[next]++;
                    else if (--pointed[next] == 0)
                        queue[found++] = next;
                }
            steps = pass == 0 ? steps : found;
        }
        for (uint32_t i = 0; pass == 0 && i < wires->links; i++)
            if (pointed[i] == 0)
                queue[found++] = i;
        done = found;
    }
    free(pointed);
    free(queue);
    return done < wires->links;
}
