/* delay.c - what is in flight inside a node: messages to the adapter's doorbell, copies between its tasks.
 *
 * They are in the node's list in order of (due, insertion), and each has a timer, which says no more than
 * that something is due: what, says the list. What is due at once needs none, as the node is brought up
 * to date before the instant is over. Invariant: the list begins with what is due first, and nothing in it is
 * overdue when an instant ends.
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

void node_path_send(struct node *n, ker_time now, struct net_send *send, uint32_t core)
{
    ker_time way = 0;
    if (core != NODE_ANY_CORE && core & NODE_ON_BUS)
        core &= ~NODE_ON_BUS;
    else if (node_has_path(&n->system->model))
        way = node_rail_path(n, now, send, &core);
    if (way == 0) {
        node_rail_send(n, now, send, core);
        return;
    }
    struct node_delayed d = {.service = send->service,
                             .priority = send->priority,
                             .queue = send->queue,
                             .has_envelope = send->envelope != NULL,
                             .destination = send->destination,
                             .core = NODE_ON_BUS | (core == NODE_ANY_CORE ? UINT16_MAX : core),
                             .created = now,
                             .bytes = send->bytes,
                             .cookie = send->cookie};
    if (send->envelope)
        d.envelope = *send->envelope;
    n->messages--; /* it is numbered when it is there */
    node_delayed_add(n, now + way, &d);
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

/* To the node itself; its sender is notified of what has left. */
static void left(struct node *n, ker_time now, uint32_t service, uint64_t cookie)
{
    uint32_t s = node_sender_of(service);
    const struct node_service *sender = n->system->services->at[s].service;
    if (cookie && sender->sent)
        sender->sent(n->state[s], n, now, cookie);
}

static inline void copied(struct node *n, ker_time now, const struct node_delayed *d)
{
    uint32_t s = node_receiver_of(d->service);
    const struct node_service *service = n->system->services->at[s].service;
    bool comes = d->queue == NODE_COMES;
    struct net_message m = {.source = comes ? d->core : n->id,
                            .destination = n->id,
                            .bytes = d->bytes,
                            .created = comes ? (ker_time)d->cookie : d->created,
                            .service = d->service,
                            .envelope = d->envelope};
    ker_assert(s == d->service || (n->state[s] && service->arrived));
    if (service->arrived)
        service->arrived(n->state[s], n, now, &m);
    if (!comes)
        left(n, now, d->service, d->cookie);
}

void node_delayed_left(struct node *n, ker_time now, uint32_t index)
{
    struct node_delayed *d = &n->system->delayed.at[index];
    uint64_t cookie = d->cookie;
    d->cookie = 0;
    left(n, now, d->service, cookie);
}

void node_delayed_copied(struct node *n, ker_time now, uint32_t index)
{
    struct node_delayed d = n->system->delayed.at[index];
    KER_POOL_GIVE(&n->system->delayed, index);
    copied(n, now, &d);
}

void node_delayed_looped(struct node *n, ker_time now, uint32_t index)
{
    node_delayed_left(n, now, index);
    struct node_delayed d = n->system->delayed.at[index];
    KER_POOL_GIVE(&n->system->delayed, index);
    d.queue = NODE_COMES;
    d.core = n->id;
    d.cookie = (uint64_t)d.created;
    d.created = now;
    node_delayed_add(n, now + node_loop_back(n), &d);
}

bool node_delayed_deliver(struct node *n, ker_time now)
{
    struct node_system *system = n->system;
    uint32_t index = n->delayed;
    if (index == KER_NONE || system->delayed.at[index].due > now)
        return false;
    struct node_delayed d = system->delayed.at[index];
    n->delayed = d.next;
    if (d.destination != n->id) {
        KER_POOL_GIVE(&system->delayed, index);
        delayed_send(n, now, &d);
    } else if (!system->memory || d.queue == NODE_COMES || !node_copy_begin(n, now, index)) {
        KER_POOL_GIVE(&system->delayed, index);
        copied(n, now, &d);
    }
    return true;
}

void node_delayed_state(struct ker_chunk *c, struct node_delayed *d)
{
    KER_CHUNK(c, d->service, d->priority, d->queue);
    d->has_envelope = ker_chunk_bool(c, d->has_envelope);
    KER_CHUNK(c, d->destination, d->core, d->due, d->created, d->bytes, d->cookie, d->envelope);
}
