/* outgoing.c - where outgoing messages lie; see flows.h. */
#include "net/adapter/flows.h"

uint32_t net_outgoing_extend(struct net_network *net, uint32_t group)
{
    size_t room = net->outgoing_groups;
    KER_RESERVE(net->outgoing_free, room, group + (size_t)1);
    for (; net->outgoing_groups < room; net->outgoing_groups++)
        net->outgoing_free[net->outgoing_groups] = NET_NONE;
    uint32_t first = NET_NONE, *last = &first;
    for (int i = 0; i < NET_OUTGOING_RUN; i++) {
        *last = KER_POOL_TAKE_LARGE(&net->outgoing, &net->messages);
        last = &net->outgoing.at[*last].next;
    }
    *last = NET_NONE;
    return net->outgoing_free[group] = first;
}
