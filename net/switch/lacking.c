/* lacking.c - which channels of an output lack credits, for output.series.channels (channels.h). */
#include "net/channels.h"
#include "net/switch/private.h"

/* A bit for each channel on which a packet might be sent that is the next of its queue. */
static uint32_t channels_lacking(const struct net_switch *s, const struct net_port *out)
{
    uint32_t lacking = 0, last = net_waits_of(s->net, out)->queue, i = last;
    if (!out->waits)
        return 0;
    do {
        const struct net_request *r = &s->request.at[i];
        uint8_t best = net_channel_best(out, r->first_channel, r->channel_count);
        if (!r->reserved && out->credit[best] < r->taken)
            lacking |= ((1u << r->channel_count) - 1) << r->first_channel;
        i = r->next;
    } while (i != last);
    return lacking;
}

ker_time net_channels_look(struct net_switch *s, uint32_t port, ker_time now)
{
    struct net_port *out = net_port_at(s, port);
    struct net_credits_due *due = &out->due;
    if (!net_channels_collected(s->net))
        return KER_TIME_MAX;
    credits_take(s, out, now);
    uint32_t lacking = channels_lacking(s, out);
    net_channels_note(s->net, s->more->series[port].channel, lacking, now);
    if (!lacking)
        return KER_TIME_MAX;
    credits_starve(due, lacking | (credits_starved(due, 0) ? 0x5555u : 0) |
                            (credits_starved(due, 1) ? 0xaaaau : 0));
    return credits_due_next(due);
}
