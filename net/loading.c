/* loading.c - what several of those who save and load share: which adapter a chunk belongs to, credits,
 * packets that wait. */
#include "net/credits.h"
#include "net/state.h"

void net_loading_pass(struct ker_chunk *c)
{
    c->at = c->bytes;
}

void net_offer_state(struct ker_chunk *c, struct net_offer *offer)
{
    KER_CHUNK(c, offer->created, offer->destination, offer->priority, offer->bytes, offer->number,
              offer->service, offer->part);
}

struct net_adapter *net_loading_adapter(const struct net_loading *l, struct ker_chunk *c)
{
    uint32_t id = (uint32_t)c->id;
    c->bad |= id >= l->adapter_count;
    struct net_adapter *n = c->bad ? NULL : l->adapters[id];
    if (!n)
        net_loading_pass(c);
    return n;
}

void net_credits_state(const struct net_network *net, struct net_credits_due *due, struct ker_chunk *c)
{
    uint8_t starved = ker_chunk_u8(c, due->starved);
    c->bad |= starved > 3;
    due->starved = starved & 3;
    for (uint32_t i = 0; i < NET_CREDITS_DUE && !c->bad; i++) {
        due->place[i] = ker_chunk_u64(c, due->place[i]);
        c->bad |=
            credits_channel(due, i) >= net->set.channels * net->set.classes || due->place[i] > INT64_MAX;
        if (due->place[i] & UINT16_MAX)
            ker_hold(net->engine, (ker_time)(due->place[i] >> NET_DUE_TIME));
    }
}

void net_extension_state(struct net_network *net, struct ker_chunk *c, uint32_t *index)
{
    struct net_extension x = {0};
    if (!c->loads)
        ker_extension_read(net->engine, *index, &x);
    KER_CHUNK(c, x);
    if (c->loads)
        *index = ker_extension_new(net->engine, &x);
}

void net_packet_state(struct net_network *net, struct ker_chunk *c, struct net_packet *p)
{
    struct net_packet copy = *p;
    copy.next = 0;
    if (copy.flags & KER_FLAG_EXTENSION)
        copy.extension = 0;
    KER_CHUNK(c, copy);
    if (c->loads) {
        *p = copy;
        p->next = NET_NONE;
    }
    if ((copy.flags & KER_FLAG_EXTENSION) && !c->bad)
        net_extension_state(net, c, &p->extension);
}

struct net_switch *net_loading_switch(const struct net_loading *l, struct ker_chunk *c)
{
    c->bad |= c->id >= l->switch_count;
    struct net_switch *s = c->bad ? NULL : l->switches[c->id];
    if (!s)
        net_loading_pass(c);
    return s;
}
