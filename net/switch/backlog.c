/* backlog.c - what waits at an output on one lane, for congestion control. */
#include "net/congestion/congestion.h"
#include "net/switch/private.h"

/* Looks at packets only until there are too many: with low thresholds at hardly any. */
bool net_lane_holds(const struct net_at_grant *at, uint64_t bytes, uint32_t packets, bool heads)
{
    const struct net_switch *s = at->of;
    uint64_t waiting = 0;
    uint32_t count = 0, last = net_waits_of(s->net, at->out)->queue, i = last;
    if (!at->out->waits)
        return false;
    do {
        const struct net_request *r = &s->request.at[i];
        for (uint32_t p = heads ? r->head : s->net->packet.at[r->head].next;
             r->first_channel == at->lane && p != NET_NONE; p = s->net->packet.at[p].next) {
            waiting += s->net->packet.at[p].bytes;
            count++;
            if (waiting > bytes || count > packets)
                return true;
        }
        i = r->next;
    } while (i != last);
    return false;
}
