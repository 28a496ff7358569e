/* state.c - nodes, saved and loaded.
 *
 * A chunk "node" holds the node's counters, what is delayed inside it, in its order, the offers that wait for
 * its adapters, what runs on its cores, and then for each service its name and what it holds of this node, in
 * its own words. A chunk "stripe" holds one message in parts.
 */
#include "nodes/private.h"

#include <stdlib.h>
#include <string.h>

#define VERSION 20

static uint32_t delayed_count(const struct node *n)
{
    uint32_t count = 0;
    for (uint32_t i = n->delayed; i != KER_NONE; i = n->system->delayed.at[i].next)
        count++;
    return count;
}

/* The timers of what is delayed are among the records of the engine. */
static void delayed_list_state(struct node *n, struct ker_chunk *c)
{
    uint32_t count = ker_chunk_count(c, c->loads ? 0 : delayed_count(n), sizeof(struct net_envelope)),
             services = n->system->services->count;
    if (!c->loads) {
        for (uint32_t i = n->delayed; i != KER_NONE; i = n->system->delayed.at[i].next)
            node_delayed_state(c, &n->system->delayed.at[i]);
        return;
    }
    for (; count; count--) {
        struct node_delayed d = {0};
        node_delayed_state(c, &d);
        c->bad |= node_receiver_of(d.service) >= services || node_sender_of(d.service) >= services;
        if (!c->bad)
            node_delayed_keep(n, &d);
    }
}

void node_services_state(struct node_services *services, struct ker_chunk *c)
{
    services->count = ker_chunk_below(c, services->count, NODE_MAX_SERVICES + 1);
    for (uint32_t s = 0; s < services->count; s++)
        ker_chunk_text(c, services->at[s].name);
}

/* Where there was no such service, there may be one now: it starts. */
static void service_state(struct node *n, uint32_t s, struct ker_chunk *c)
{
    const struct node_service *service = n->system->services->at[s].service;
    const char *own = n->system->services->at[s].name;
    char name[KER_CHUNK_NAME];
    snprintf(name, sizeof name, "%s", own);
    ker_chunk_text(c, name);
    bool there = ker_chunk_bool(c, n->state[s] != NULL);
    c->bad |= strcmp(name, own) != 0 || (there && !n->state[s]);
    if (c->bad || !there)
        return;
    n->loaded |= (uint16_t)(c->loads << s);
    if (service->save)
        service->save(n->state[s], n, c);
}

static uint32_t queue_count(const struct node_system *system, const struct node_queue *queue)
{
    uint32_t count = 0;
    for (uint32_t i = queue->first; i != KER_NONE; i = system->queued.at[i].next)
        count++;
    return count;
}

static void offers_state(struct node *n, uint32_t services, struct ker_chunk *c)
{
    struct node_system *system = n->system;
    for (uint32_t s = 0; s < services; s++) {
        struct node_source *source = &node_offers(n)->source[s];
        source->has = ker_chunk_bool(c, source->has);
        source->ended = ker_chunk_bool(c, source->ended);
        net_offer_state(c, &source->next);
    }
    for (uint32_t a = 0; a < system->model.adapters; a++) {
        struct node_queue *queue = &node_offers(n)->queue[a];
        uint32_t at = queue->first, count = ker_chunk_count(c, c->loads ? 0 : queue_count(system, queue), 30);
        for (; count; count--) {
            struct net_offer offer = {0};
            if (!c->loads)
                offer = system->queued.at[at].offer;
            net_offer_state(c, &offer);
            if (c->loads)
                node_queue_put(n, a, &offer);
            else
                at = system->queued.at[at].next;
        }
    }
}

/* A fork may have cores and memory where the run so far had none: they begin then, and what was delayed by
 * then is copied when it is due. */
static void cores_state(struct node *n, struct ker_chunk *c)
{
    struct node_system *system = n->system;
    bool shared = ker_chunk_bool(c, system->memory != NULL);
    c->bad |= shared && !system->memory;
    if (shared && !c->bad)
        node_cores_state(n, c);
    for (uint32_t i = n->delayed; !shared && system->memory && i != KER_NONE; i = system->delayed.at[i].next)
        if (system->delayed.at[i].destination == n->id && system->delayed.at[i].queue != NODE_COMES)
            system->delayed.at[i].core = NODE_COPIED;
}

static void node_state(struct node *n, struct ker_chunk *c)
{
    uint32_t services = ker_chunk_below(c, n->system->services->count, n->system->services->count + 1);
    KER_CHUNK(c, n->messages, n->turn);
    delayed_list_state(n, c);
    ker_chunk_same(c, node_offers(n) != NULL);
    if (node_offers(n) && !c->bad)
        offers_state(n, services, c);
    cores_state(n, c);
    for (uint32_t s = 0; s < services && !c->bad; s++)
        service_state(n, s, c);
}

static bool node_empty(const struct node *n)
{
    bool empty = n->delayed == KER_NONE && n->messages == 0;
    for (uint32_t s = 0; s < n->system->services->count; s++)
        empty &= n->state[s] == NULL;
    return empty;
}

/* ---- messages in parts ---- */

KER_ORDER_BY(stripe_compare, struct node_stripe, node, source, number)

static void stripe_state(struct ker_chunk *c, struct node_stripe *s)
{
    KER_CHUNK(c, s->source, s->number, s->parts, s->bytes, s->cookie);
}

static void stripes_save(struct node_system *system, struct ker_state_writer *writer)
{
    void **sorted = ker_table_sorted(&node_stripe_kind, &system->stripes, stripe_compare);
    for (uint32_t i = 0; i < system->stripes.count; i++) {
        struct node_stripe *s = sorted[i];
        stripe_state(ker_state_begin(writer, "stripe", VERSION, s->node - 1), s);
        ker_state_end(writer);
    }
    free(sorted);
}

void node_system_save(struct node_system *system, struct ker_state_writer *writer)
{
    for (uint32_t i = 0; i < system->nodes; i++) {
        struct node *n = node_of(system, i);
        if (node_empty(n))
            continue;
        node_state(n, ker_state_begin(writer, "node", VERSION, n->id));
        ker_state_end(writer);
    }
    stripes_save(system, writer);
}

/* They are in increasing order. */
static struct node *node_find(const struct node_system *system, uint64_t id)
{
    uint32_t at = KER_BISECT(i, 0, system->nodes, node_of(system, i)->id < id);
    struct node *found = at < system->nodes ? node_of(system, at) : NULL;
    return found && found->id == id ? found : NULL;
}

static void node_load(void *context, struct ker_chunk *c)
{
    struct node *n = node_find(context, c->id);
    if (n)
        node_state(n, c);
    else
        c->at = c->bytes; /* lives elsewhere */
}

static void stripe_load(void *context, struct ker_chunk *c)
{
    struct node *n = node_find(context, c->id);
    struct node_stripe s = {0};
    stripe_state(c, &s);
    if (n && !c->bad) {
        s.node = n->id + 1;
        *node_stripe_find(n, s.source, s.number, 0) = s;
    }
}

void node_loaders(struct node_system *system, struct ker_state_loader loaders[NODE_STATES])
{
    loaders[0] = (struct ker_state_loader){"node", VERSION, node_load, system};
    loaders[1] = (struct ker_state_loader){"stripe", VERSION, stripe_load, system};
}
