/* expect.c - what --check expects of a message as packets: events, and times without others.
 *
 * A packet arrives once at the end of each link. What else there is, wake-ups of outputs and adapters,
 * depends on the load: 0.2 a link on quiet networks and 1 on full ones, in the configurations that are
 * shipped; 0.4 is in between.
 */
#include "net/network.h"

#define EVENTS_OF_HOP 1.4

struct passed {
    uint32_t links;
    ker_time latency;
};

static void link_pass(void *context, uint32_t switch_id, uint16_t port, const struct route_link *link)
{
    struct passed *p = context;
    p->links++;
    p->latency = ker_time_later(p->latency, link->latency);
}

struct net_alone net_network_expect(const struct net_network *net, uint32_t from, uint32_t to, uint64_t bytes)
{
    const struct route_summary *sum = route_summarise(net->topology);
    const struct route_link *own = &sum->link[sum->endpoint_link];
    uint64_t packets = bytes ? (bytes - 1) / net->set.payload + 1 : 1;
    struct passed p = {0};
    from *= net->adapters_each;
    to *= net->adapters_each;
    if (net->faulty) { /* routes are not the same at all times */
        p.links = route_distance(net->topology, from, to);
        p.latency = own->latency * p.links;
    } else {
        net_walk(net->topology, from, to, from * 0x9e3779b97f4a7c15u, &(struct net_walker){link_pass, &p});
    }
    ker_time left = ker_serialisation(bytes + packets * net->set.header, own->rate),
             switches = net->set.delay * (p.links - 1);
    return (struct net_alone){(double)packets * p.links * EVENTS_OF_HOP, left,
                              ker_time_later(left, ker_time_later(p.latency, switches))};
}

uint64_t net_network_later_bytes(const struct net_network *net)
{
    return net->sparse.bytes;
}
