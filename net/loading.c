/* loading.c - which adapter a chunk belongs to, for all that keep tables of adapters. */
#include "net/state.h"

void net_loading_pass(struct ker_chunk *c)
{
    c->at = c->bytes;
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
