/* state.c - nodes, saved and loaded.
 *
 * A chunk "node" holds what is delayed inside the node, in its order, and then for each service its name and
 * what it holds of this node, in its own words. A node that has nothing of either has no chunk.
 */
#include "nodes/private.h"

#include <stdlib.h>
#include <string.h>

#define VERSION 1

static void delayed_state(struct ker_chunk *c, struct node_delayed *d)
{
    KER_CHUNK(c, d->service);
    KER_CHUNK(c, d->priority);
    KER_CHUNK(c, d->queue);
    d->has_envelope = ker_chunk_bool(c, d->has_envelope);
    KER_CHUNK(c, d->destination);
    KER_CHUNK(c, d->due);
    KER_CHUNK(c, d->created);
    KER_CHUNK(c, d->bytes);
    KER_CHUNK(c, d->cookie);
    KER_CHUNK(c, d->envelope);
}

static uint32_t delayed_count(const struct node *n)
{
    uint32_t count = 0;
    for (uint32_t i = n->delayed; i; i = n->system->delayed[i - 1].next)
        count++;
    return count;
}

/* The timers of what is delayed are among the records of the engine. */
static void delayed_list_state(struct node *n, struct ker_chunk *c)
{
    uint32_t count = ker_chunk_count(c, c->loads ? 0 : delayed_count(n), sizeof(struct net_envelope));
    if (!c->loads) {
        for (uint32_t i = n->delayed; i; i = n->system->delayed[i - 1].next)
            delayed_state(c, &n->system->delayed[i - 1]);
        return;
    }
    for (; count; count--) {
        struct node_delayed d = {0};
        delayed_state(c, &d);
        c->bad |= d.service >= n->system->services->count;
        if (!c->bad)
            node_delayed_keep(n, &d);
    }
}

static void service_state(struct node *n, uint32_t s, struct ker_chunk *c)
{
    const struct node_service *service = n->system->services->at[s].service;
    char name[KER_CHUNK_NAME];
    snprintf(name, sizeof name, "%s", service->name);
    ker_chunk_text(c, name);
    ker_chunk_same(c, n->state[s] != NULL);
    c->bad |= strcmp(name, service->name) != 0;
    if (!c->bad && n->state[s] && service->save)
        service->save(n->state[s], n, c);
}

static void node_state(struct node *n, struct ker_chunk *c)
{
    delayed_list_state(n, c);
    ker_chunk_same(c, n->system->services->count);
    for (uint32_t s = 0; s < n->system->services->count && !c->bad; s++)
        service_state(n, s, c);
}

static bool node_empty(const struct node *n)
{
    bool empty = n->delayed == 0;
    for (uint32_t s = 0; s < n->system->services->count; s++)
        empty &= n->state[s] == NULL;
    return empty;
}

void node_system_save(struct node_system *system, struct ker_state_writer *writer)
{
    for (uint32_t i = 0; i < system->nodes; i++) {
        struct node *n = net_network_node(system->network, i);
        if (node_empty(n))
            continue;
        node_state(n, ker_state_begin(writer, "node", VERSION, n->id));
        ker_state_end(writer);
    }
}

/* They are in increasing order. */
static struct node *node_find(const struct node_system *system, uint64_t id)
{
    uint32_t low = 0, high = system->nodes;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct node *n = net_network_node(system->network, middle);
        if (n->id == id)
            return n;
        if (n->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void node_load(void *context, struct ker_chunk *c)
{
    struct node *n = node_find(context, c->id);
    if (n)
        node_state(n, c);
    else
        c->at = c->bytes; /* lives elsewhere */
}

void node_loaders(struct node_system *system, struct ker_state_loader loaders[NODE_STATES])
{
    loaders[0] = (struct ker_state_loader){"node", VERSION, node_load, system};
}
