/* link_class.c - classes of links: what bandwidth and latency mean for packets, and how soon one end can
 * affect the other. */
#include "net/network.h"

#include <math.h>

enum ker_status net_link_class_init(struct net_link_class *class, const struct route_link *link,
                                    const struct net_settings *set, const struct ker_config *c,
                                    struct ker_error *error)
{
    uint32_t packet = set->most;
    class->latency = link->latency;
    class->rate = (uint64_t)llround((double)link->rate * (1 - set->vl_overhead));
    class->rate = set->vl_overhead > 0 ? class->rate + !class->rate : link->rate;
    ker_time wire = ker_serialisation(packet, class->rate);
    if (link->latency < 1)
        return ker_config_fail(c, error, "topology.latency", "the latency of %s links must be at least 1 ps",
                               link->name);
    if (wire > UINT32_MAX / 2)
        return ker_config_fail(c, error, "topology.bandwidth",
                               "a packet of %u bytes takes more than 2 ms on %s links; "
                               "such slow links are not supported",
                               packet, link->name);
    if (wire == 0)
        return ker_config_fail(c, error, "topology.bandwidth",
                               "a packet of %u bytes takes less than 1 ps on %s links; "
                               "the bandwidth is too high to be simulated",
                               packet, link->name);
    class->byte_time = (uint64_t)(((unsigned __int128)1000000000000u << NET_BYTE_TIME_BITS) / class->rate);
    class->slack = ker_serialisation(set->output_queue, class->rate) - wire;
    class->watch_high = ker_config_has(c, "routing.watch_high") ? ker_config_time(c, "routing.watch_high")
                                                                : class->slack + wire;
    class->watch_low = ker_config_has(c, "routing.watch_low") ? ker_config_time(c, "routing.watch_low")
                                                              : class->watch_high / 2;
    if (class->watch_low >= class->watch_high)
        return ker_config_fail(c, error, "routing.watch_low",
                               "must be less than routing.watch_high, which is %lld ps on %s links",
                               (long long)class->watch_high, link->name);
    class->times = ker_map(sizeof *class->times * (packet + 1u));
    return KER_OK;
}

ker_time net_link_delay(const struct net_network *net, int link, bool to_adapter)
{
    const struct net_link_class *class = &net->link[link];
    struct net_times t = net_times_of(net, (unsigned)link, net->set.least);
    ker_time packet = class->latency + net->set.delay;
    ker_time credit = class->latency + net->set.credit_delay + t.crossbar;
    if (to_adapter)
        packet = ker_time_min(packet, class->latency + t.wire);
    if (to_adapter && net->set.sinks) /* the sink's credits wait for nothing more */
        credit = class->latency + net->set.credit_delay;
    return ker_time_min(packet, credit);
}

ker_time net_reach(const struct net_network *net)
{
    ker_time reach = 0;
    for (int i = 0; i < route_summarise(net->topology)->link_count; i++) {
        const struct net_link_class *class = &net->link[i];
        ker_time t = class->latency + net->set.delay + class->slack + net->set.credit_interval +
                     4 * ker_serialisation(net->set.most, class->rate);
        if (t > reach)
            reach = t;
    }
    return reach;
}
