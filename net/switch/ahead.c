/* ahead.c - transmissions that are known before they happen.
 *
 * A switch knows at a grant when the packet will leave, and counts it in the statistics of the link at once,
 * if that is before what the engine has settled: no end of the run comes earlier. The others are kept in a
 * list. When more is settled, what lies before is counted; when the run ends, what has left by then is, up to
 * the end. So whatever ends a run, its links have counted what run.end at the same time would have them
 * count. Sums and maxima depend on no order.
 */
#include "net/ahead.h"

#include "net/channels.h"
#include "net/link_states.h"

#define LINE 64u /* bytes: where ports begin */

static uint32_t port_name(const struct net_network *net, const struct net_port *port)
{
    size_t line = (size_t)((const char *)port - (const char *)net->dues) / LINE;
    ker_assert(line <= UINT32_MAX); /* 256 GiB of switches on a rank */
    return (uint32_t)line;
}

static struct net_port *port_named(const struct net_network *net, uint32_t name)
{
    return (struct net_port *)(void *)((char *)net->dues + (size_t)name * LINE);
}

void net_ahead_keep(struct net_network *net, const struct net_ahead *t)
{
    *KER_PUSH(net->ahead, net->ahead_count, net->ahead_room) =
        (struct net_kept){.leave = t->leave,
                          .waited = t->waited,
                          .in_buffer = t->in_buffer,
                          .out = port_name(net, t->out),
                          .in = port_name(net, t->in),
                          .wire = (uint32_t)t->wire,
                          .bytes = (uint16_t)t->bytes,
                          .channel = (uint8_t)t->channel,
                          .detour = t->detour};
}

struct net_ahead net_ahead_kept(const struct net_network *net, size_t index)
{
    const struct net_kept *k = &net->ahead[index];
    return (struct net_ahead){.out = port_named(net, k->out),
                              .in = port_named(net, k->in),
                              .leave = k->leave,
                              .wire = k->wire,
                              .waited = k->waited,
                              .in_buffer = k->in_buffer,
                              .bytes = k->bytes,
                              .channel = k->channel,
                              .detour = k->detour};
}

static void detour_count(const struct net_network *net, const struct net_ahead *t)
{
    const struct net_switch *s = net_ahead_switch(net, t->out);
    s->detours[net_ahead_port(s, t->out)]++;
}

void net_ahead_count_now(const struct net_network *net, const struct net_ahead *t)
{
    uint64_t busy = net_measured_part(net, t->leave, t->wire);
    net_ahead_count(t, busy);
    if (t->detour)
        detour_count(net, t);
    if (net_channels_collected(net))
        net_channel_count(net, t, busy);
}

static void kept_count(const struct net_network *net, size_t index)
{
    const struct net_ahead t = net_ahead_kept(net, index);
    net_ahead_count_now(net, &t);
}

void net_network_settle(struct net_network *net, ker_time until)
{
    size_t kept = 0;
    net_settled_set(net, until);
    for (size_t i = 0; i < net->ahead_count; i++)
        if (net->ahead[i].leave + net->ahead[i].wire <= until)
            kept_count(net, i);
        else
            net->ahead[kept++] = net->ahead[i];
    net->ahead_count = kept;
    if (net->states)
        net_link_states_settle(net, until);
}

/* An adapter counts a transmission when it begins; one at most is not over. */
static uint64_t node_busy(const struct net_network *net, const struct net_adapter *n)
{
    return net_measured_part(net, n->link_free - n->wire, n->wire);
}

void net_network_end(struct net_network *net, ker_time end)
{
    for (uint32_t i = 0; i < net->adapter_count; i++) {
        net->adapters[i]->busy -= node_busy(net, net->adapters[i]);
        net_channel_resize(net->adapters[i], UINT64_MAX);
    }
    if (end < net->set.measure_to)
        net->set.measure_to = end;
    net_settled_set(net, net->settled);
    for (uint32_t i = 0; i < net->adapter_count; i++) {
        net->adapters[i]->busy += node_busy(net, net->adapters[i]);
        net_channel_resize(net->adapters[i], 1);
    }
    for (size_t i = 0; i < net->ahead_count; i++)
        if (net->ahead[i].leave < net->set.measure_to)
            kept_count(net, i);
    net->ahead_count = 0;
}
