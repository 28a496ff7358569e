/* path_pin.c - which path a switch sent the message or flow of a packet last.
 *
 * One open-addressing table per switch, made when the first packet has a choice there. A message's entry goes
 * with its last packet; entries of flows stay, as nobody can say which packet is the last one.
 */
#include "net/network.h"
#include "net/state.h"

#include <stdlib.h>

struct entry {
    uint64_t key; /* source and destination, or source and message, plus 1; 0: free */
    struct net_pinned pinned;
};

struct net_pins {
    struct entry *entry;
    uint32_t room, count; /* room: a power of two */
};

static uint64_t key_of(const struct net_network *net, const struct net_packet *p)
{
    uint32_t what = net->set.pinning == NET_PIN_MESSAGE ? p->message : p->destination;
    uint64_t key = ((uint64_t)p->source << 32 | what) + 1;
    if (net->set.resequence && net->set.pinning == NET_PIN_MESSAGE) /* numbered per destination */
        key = (key ^ (uint64_t)p->destination * 0x9e3779b97f4a7c15u) | 1ull << 63;
    return key;
}

/* The entry of this key, or the free one where it belongs. */
static struct entry *entry_find(const struct net_pins *t, uint64_t key)
{
    uint32_t at = net_mix(key) & (t->room - 1);
    while (t->entry[at].key && t->entry[at].key != key)
        at = (at + 1) & (t->room - 1);
    return &t->entry[at];
}

const struct net_pinned *net_pins_find(const struct net_switch *s, const struct net_packet *p)
{
    if (!s->pins)
        return NULL;
    const struct entry *e = entry_find(s->pins, key_of(s->net, p));
    return e->key ? &e->pinned : NULL;
}

static void table_grow(struct net_pins *t)
{
    struct net_pins old = *t;
    t->room = old.room ? 2 * old.room : 16;
    t->entry = ker_alloc(sizeof *t->entry * t->room);
    for (uint32_t i = 0; i < old.room; i++)
        if (old.entry[i].key)
            *entry_find(t, old.entry[i].key) = old.entry[i];
    free(old.entry);
}

/* Frees an entry and moves those behind it that its place would hide. */
static void entry_drop(struct net_pins *t, struct entry *e)
{
    uint32_t hole = (uint32_t)(e - t->entry), mask = t->room - 1;
    for (uint32_t at = (hole + 1) & mask; t->entry[at].key; at = (at + 1) & mask) {
        uint32_t home = net_mix(t->entry[at].key) & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            t->entry[hole] = t->entry[at];
            hole = at;
        }
    }
    t->entry[hole].key = 0;
    t->count--;
}

void net_pins_keep(struct net_switch *s, const struct net_packet *p, struct net_pinned pinned)
{
    bool last = s->net->set.pinning == NET_PIN_MESSAGE && (p->flags & NET_LAST);
    if (!s->pins)
        s->pins = ker_alloc(sizeof *s->pins);
    struct net_pins *t = s->pins;
    if (2 * (t->count + 1) > t->room)
        table_grow(t);
    struct entry *e = entry_find(t, key_of(s->net, p));
    if (e->key && last) {
        entry_drop(t, e);
    } else if (!last) {
        t->count += e->key == 0;
        *e = (struct entry){.key = key_of(s->net, p), .pinned = pinned};
    }
}

/* In the table's order, which nobody can see. */
void net_pins_state(struct net_switch *s, struct ker_chunk *c)
{
    uint32_t count = ker_chunk_count(c, s->pins ? s->pins->count : 0, sizeof(uint64_t) + 6);
    if (count && !s->pins)
        s->pins = ker_alloc(sizeof *s->pins);
    struct net_pins *t = s->pins;
    for (uint32_t i = 0, at = 0; i < count; i++) {
        struct entry one = {0};
        while (!c->loads && t->entry[at].key == 0)
            at++;
        one = c->loads ? one : t->entry[at++];
        KER_CHUNK(c, one.key);
        KER_CHUNK(c, one.pinned.state);
        KER_CHUNK(c, one.pinned.port);
        if (!c->loads)
            continue;
        if (2 * (t->count + 1) > t->room)
            table_grow(t);
        struct entry *e = entry_find(t, one.key);
        c->bad |= one.key == 0 || e->key || one.pinned.port >= s->ports;
        t->count += e->key == 0;
        *e = one;
    }
}

void net_pins_free(struct net_pins *t)
{
    if (t)
        free(t->entry);
    free(t);
}
