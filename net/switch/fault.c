/* fault.c - what the network does about links and switches that go down.
 *
 * From its fault on a link takes no packet that has not been granted by then; what has been is in transit and
 * arrives. Every port that will go down has a timer at its switch from the beginning: at that instant what
 * waits for the link is sent around the faults (switch.c). A packet that has no route is lost: its buffer is
 * free again as if it had been forwarded, so credits add up, also those of dead links. Adapters do not send
 * what cannot arrive: it takes the time that sending takes, and nothing enters the network.
 */
#include "net/switch/private.h"

#include <string.h>

void net_faults_post(struct net_network *net, const struct net_switch *s)
{
    for (uint32_t p = 0; p < s->ports; p++) {
        ker_time down = route_port_down(net->topology, s->id, p);
        if (down > 0 && down != KER_TIME_MAX) /* at the start nothing waits yet */
            ker_post_note(net->engine, (struct ker_address){s->self, net->rank}, down, KER_TIMER, (uint16_t)p,
                          0, 0);
    }
}

/* The extension of a packet that is not forwarded. */
static void extension_lose(struct net_network *net, const struct net_packet *p)
{
    if (!(p->flags & KER_FLAG_EXTENSION))
        return;
    struct net_envelope envelope;
    struct net_extension x;
    ker_extension_read(net->engine, p->extension, &x);
    _Static_assert(sizeof envelope == sizeof x.envelope, "the envelope travels in the extension");
    memcpy(&envelope, x.envelope, sizeof envelope);
    if (x.part != NET_FURTHER_PART)
        net->host.lost(net->host.context, x.service, &envelope);
    ker_extension_free(net->engine, p->extension);
}

void net_packet_drop(struct net_switch *s, const struct net_packet *p, ker_time now, uint64_t *reason)
{
    struct net_network *net = s->net;
    const struct net_port *in = net_port_at(s, p->port);
    struct net_times times = net_times_of(net, in->link, p->bytes);
    ker_time tail = p->time + (times.wire & net->head_first);
    ker_time read_end = tail > now + times.crossbar ? tail : now + times.crossbar;
    credit_return(net, in, p, credits_of(&net->set, p->bytes), read_end);
    extension_lose(net, p);
    ++*(p->flags & NET_NOTICE ? &net->count.cnps_lost : reason);
    ker_touch(net->engine, now);
}

void net_packet_lose(struct net_switch *s, const struct net_packet *p, ker_time now)
{
    struct net_counts *count = &s->net->count;
    bool down = route_switch_down(s->net->topology, s->id) <= now;
    net_packet_drop(s, p, now, down ? &count->lost_switch : &count->lost_no_route);
}

void net_packet_withhold(struct net_adapter *n, const struct net_packet *p, ker_time now)
{
    struct net_network *net = n->net;
    extension_lose(net, p);
    n->link_free = now + net_times_of(net, n->link, p->bytes).wire;
    n->wire = 0;
    n->blocked = false;
    net->count.lost_adapter++;
    ker_touch(net->engine, now);
}
