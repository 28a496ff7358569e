/* life.h - packets that wait too long (switch.head_life, switch.packet_life): InfiniBand's head-of-queue and
 * switch life time limits. Private to switch.c.
 *
 * A packet may be the first of its queue for head_life, and in the switch for packet_life, counted from its
 * arrival behind the pipeline; then it is dropped. Of a queue the first is the oldest, so that only heads are
 * looked at: whenever their output is served. A head is one since the instant in which it is first seen.
 */
#pragma once

#include "net/switch/requests.h"

struct net_dying {
    ker_time when; /* KER_TIME_MAX: never */
    uint32_t request, before;
    bool of_head; /* by head_life */
};

/* Of an output the head that is to be dropped first, its request and the one before that in the ring. */
static inline struct net_dying net_life_look(struct net_switch *s, const struct net_port *out, ker_time now)
{
    const struct net_settings *set = &s->net->set;
    struct net_dying first = {KER_TIME_MAX, NET_NONE, NET_NONE, false};
    if (!out->waits)
        return first;
    uint32_t last = net_waits_of(s->net, out)->queue, before = last;
    do {
        uint32_t index = s->request.at[before].next;
        struct net_request *r = &s->request.at[index];
        ker_time *since = net_since_of(s, index);
        *since = r->seen ? *since : now;
        r->seen = true;
        ker_time head = set->head_life ? *since + set->head_life : KER_TIME_MAX,
                 packet =
                     set->packet_life ? s->net->packet.at[r->head].time + set->packet_life : KER_TIME_MAX;
        if (ker_time_min(head, packet) < first.when)
            first = (struct net_dying){ker_time_min(head, packet), index, before, head < packet};
        before = index;
    } while (before != last);
    return first;
}
