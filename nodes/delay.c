/* delay.c - what is under way inside a node: messages to the adapter's doorbell, copies between its tasks.
 *
 * They stand in the node's list in order of (due, insertion), and each has a timer, which says no more than
 * that something is due: what, says the list. What is due at once needs none, as the node settles before the
 * instant is over. Invariant: the list begins with what is due first, and nothing in it is overdue when an
 * instant ends.
 */
#include "nodes/private.h"

void node_delayed_keep(struct node *n, const struct node_delayed *delayed)
{
    struct node_system *system = n->system;
    uint32_t index = KER_POOL_TAKE(&system->delayed, NULL), *link = &n->delayed;
    while (*link != KER_NONE && system->delayed.at[*link].due <= delayed->due)
        link = &system->delayed.at[*link].next;
    struct node_delayed *d = &system->delayed.at[index];
    *d = *delayed;
    d->next = *link;
    *link = index;
}

void node_delayed_add(struct node *n, ker_time due, const struct node_delayed *delayed)
{
    struct node_delayed d = *delayed;
    d.due = due;
    node_delayed_keep(n, &d);
    if (due > d.created)
        node_timer_post(n, due, NODE_TIMER_DELAYED, 0);
}

/* To the adapter. */
static void delayed_send(struct node *n, ker_time now, const struct node_delayed *d)
{
    struct net_send send = {.destination = d->destination,
                            .bytes = d->bytes,
                            .envelope = d->has_envelope ? &d->envelope : NULL,
                            .cookie = d->cookie,
                            .service = d->service,
                            .priority = d->priority,
                            .queue = d->queue};
    node_inject(n, now, &send, d->core);
}

/* To the node itself. */
static void copied(struct node *n, ker_time now, const struct node_delayed *d)
{
    const struct node_service *service = n->system->services->at[d->service].service;
    struct net_message m = {.source = n->id,
                            .destination = n->id,
                            .bytes = d->bytes,
                            .created = d->created,
                            .service = d->service,
                            .envelope = d->envelope};
    if (service->arrived)
        service->arrived(n->state[d->service], n, now, &m);
    if (d->cookie && service->sent)
        service->sent(n->state[d->service], n, now, d->cookie);
}

static struct node_delayed delayed_take(struct node_system *system, uint32_t index)
{
    struct node_delayed d = system->delayed.at[index];
    KER_POOL_GIVE(&system->delayed, index);
    return d;
}

void node_delayed_left(struct node *n, ker_time now, uint32_t index)
{
    struct node_delayed *d = &n->system->delayed.at[index];
    const struct node_service *service = n->system->services->at[d->service].service;
    uint64_t cookie = d->cookie;
    d->cookie = 0;
    if (cookie && service->sent)
        service->sent(n->state[d->service], n, now, cookie);
}

void node_delayed_copied(struct node *n, ker_time now, uint32_t index)
{
    struct node_delayed d = delayed_take(n->system, index);
    copied(n, now, &d);
}

bool node_delayed_deliver(struct node *n, ker_time now)
{
    struct node_system *system = n->system;
    uint32_t index = n->delayed;
    if (index == KER_NONE || system->delayed.at[index].due > now)
        return false;
    n->delayed = system->delayed.at[index].next;
    bool inside = system->delayed.at[index].destination == n->id;
    if (inside && system->memory && node_copy_begin(n, now, index))
        return true;
    struct node_delayed d = delayed_take(system, index);
    if (inside)
        copied(n, now, &d);
    else
        delayed_send(n, now, &d);
    return true;
}

void node_delayed_state(struct ker_chunk *c, struct node_delayed *d)
{
    KER_CHUNK(c, d->service);
    KER_CHUNK(c, d->priority);
    KER_CHUNK(c, d->queue);
    d->has_envelope = ker_chunk_bool(c, d->has_envelope);
    KER_CHUNK(c, d->destination);
    KER_CHUNK(c, d->core);
    KER_CHUNK(c, d->due);
    KER_CHUNK(c, d->created);
    KER_CHUNK(c, d->bytes);
    KER_CHUNK(c, d->cookie);
    KER_CHUNK(c, d->envelope);
}
