/* path_pin.c - which path a switch sent the message or flow of a packet last.
 *
 * One hash table per switch, made when the first packet has a choice there. A message's entry goes
 * with its last packet; entries of flows stay, as nobody can say which packet is the last one.
 */
#include "net/state.h"
#include "net/switch/private.h"

#include <stdlib.h>

struct entry {
    uint64_t key; /* source and destination, or source and message, plus 1; 0: free */
    struct net_pinned pinned;
};

struct net_pins {
    struct ker_table table;
};

static const struct ker_table_kind entries = KER_TABLE_U64(struct entry);

static uint64_t key_of(const struct net_network *net, const struct net_packet *p)
{
    uint32_t what =
        net->set.pinning == NET_PIN_MESSAGE ? p->message >> net_number_shift(net) : p->destination;
    uint64_t key = ((uint64_t)p->source << 32 | what) + 1;
    if (net->set.resequence && net->set.pinning == NET_PIN_MESSAGE) /* numbered per destination */
        key = (key ^ (uint64_t)p->destination * 0x9e3779b97f4a7c15u) | 1ull << 63;
    return key;
}

const struct net_pinned *net_pins_find(const struct net_switch *s, const struct net_packet *p)
{
    if (!s->more->pins)
        return NULL;
    uint64_t key = key_of(s->net, p);
    const struct entry *e = ker_table_find(&entries, &s->more->pins->table, &key);
    return e ? &e->pinned : NULL;
}

void net_pins_keep(struct net_switch *s, const struct net_packet *p, struct net_pinned pinned)
{
    bool last = s->net->set.pinning == NET_PIN_MESSAGE && (p->flags & NET_LAST);
    if (!s->more->pins)
        net_switch_more(s)->pins = ker_alloc(sizeof *s->more->pins);
    struct ker_table *t = &s->more->pins->table;
    uint64_t key = key_of(s->net, p);
    if (last) {
        struct entry *e = ker_table_find(&entries, t, &key);
        if (e)
            ker_table_drop(&entries, t, e);
    } else {
        bool is_new;
        *(struct entry *)ker_table_add(&entries, t, &key, &is_new) =
            (struct entry){.key = key, .pinned = pinned};
    }
}

/* In the table's order, which nobody can see. */
void net_pins_state(struct net_switch *s, struct ker_chunk *c)
{
    uint32_t count = ker_chunk_count(c, s->more->pins ? s->more->pins->table.count : 0, sizeof(uint64_t) + 6);
    const struct entry *kept = NULL;
    if (count && !s->more->pins)
        net_switch_more(s)->pins = ker_alloc(sizeof *s->more->pins);
    for (uint32_t i = 0; i < count; i++) {
        struct entry one = {0};
        bool is_new;
        if (!c->loads)
            one = *(kept = ker_table_next(&entries, &s->more->pins->table, kept));
        KER_CHUNK(c, one.key, one.pinned.state, one.pinned.port);
        c->bad |= one.key == 0 || one.pinned.port >= s->ports;
        if (!c->loads || c->bad)
            continue;
        struct entry *e = ker_table_add(&entries, &s->more->pins->table, &one.key, &is_new);
        c->bad |= !is_new;
        *e = one;
    }
}

void net_pins_free(struct net_switch *s)
{
    if (!s->more->pins)
        return;
    ker_table_release(&s->more->pins->table);
    free(s->more->pins);
    net_switch_more(s)->pins = NULL;
}
