/* rail.c - which adapter a message takes (node.rail, or its task says), and messages in parts over all of
 * them.
 *
 * Adapter a sends to adapter a of the other node, so the choice is the sender's alone; it depends on the
 * node's state at that instant only. Where nodes have different numbers of adapters, those that both have
 * count. An adapter that has no route to the destination any more is passed over for the next one that has.
 * With "stripe" a message of node.stripe_size and more are sent in as many parts as there are adapters, of
 * equal size but for rounding, unless one of them has no route; all parts carry the message's number and
 * envelope, and the receiving node hands up the message with its last part.
 */
#include "nodes/private.h"

/* ---- the choice ---- */

static uint32_t rail_least(const struct node *n, ker_time now, uint32_t adapters)
{
    uint32_t best = 0;
    ker_time least = KER_TIME_MAX;
    for (uint32_t i = 0; i < adapters; i++) {
        ker_time backlog = n->system->carrier.backlog(node_adapter(n, i), now);
        if (backlog < least) {
            least = backlog;
            best = i;
        }
    }
    return best;
}

static bool core_is_adapter(uint32_t core)
{
    return core != NODE_ANY_CORE && core & NODE_ADAPTER;
}

/* By its core; unit: what messages call the core. */
static uint32_t rail_of_core(struct node *n, uint32_t unit)
{
    const struct node_model *model = &n->system->model;
    const struct node_structure *s = node_structure_of(n);
    if (unit == NODE_ANY_CORE)
        unit = n->turn++ % s->cores;
    uint32_t core = s->unit_core[unit];
    return model->rail == NODE_RAIL_NEAREST ? s->core[core].adapter
                                            : (uint32_t)((uint64_t)core * s->adapters / s->cores);
}

static uint32_t rail_wanted(struct node *n, ker_time now, uint32_t core, uint32_t adapters)
{
    const struct node_model *model = &n->system->model;
    if (core_is_adapter(core))
        return (core & ~NODE_ADAPTER) >> 16; /* which may be one that there is not between these two */
    switch (model->rail) {
    case NODE_RAIL_FIXED:
    case NODE_RAIL_NEAREST:
        return rail_of_core(n, core);
    case NODE_RAIL_LEAST:
        return rail_least(n, now, adapters);
    default:
        return n->turn++ % adapters;
    }
}

static bool rail_reaches(const struct node *n, ker_time now, uint32_t rail, uint32_t host)
{
    const struct net_carrier *carrier = &n->system->carrier;
    return !carrier->reaches ||
           carrier->reaches(node_adapter(n, rail), now, host * n->system->model.adapters + rail);
}

static uint32_t rail_for(struct node *n, ker_time now, uint32_t core, uint32_t host)
{
    uint32_t adapters = node_adapters_to(n, host), wanted = rail_wanted(n, now, core, adapters) % adapters;
    for (uint32_t i = 0; i < adapters; i++) {
        uint32_t rail = (wanted + i) % adapters;
        if (rail_reaches(n, now, rail, host))
            return rail;
    }
    return wanted;
}

static bool is_striped(const struct node *n, ker_time now, uint32_t host, uint64_t bytes)
{
    const struct node_model *model = &n->system->model;
    if (model->rail != NODE_RAIL_STRIPE || bytes < model->stripe_size)
        return false;
    uint32_t adapters = node_adapters_to(n, host);
    bool striped = bytes >= adapters && (adapters > 1 || !model->uneven);
    for (uint32_t i = 0; striped && i < adapters; i++)
        striped = rail_reaches(n, now, i, host);
    return striped;
}

/* Of `bytes` those of part i of count. */
static uint64_t part_bytes(uint64_t bytes, uint32_t i, uint32_t count)
{
    return (uint64_t)((unsigned __int128)bytes * (i + 1) / count - (unsigned __int128)bytes * i / count);
}

/* ---- messages in parts ---- */

KER_TABLE_KEY(, node_stripe_kind, struct node_stripe, number);

struct node_stripe *node_stripe_find(struct node *n, uint32_t source, uint32_t number, uint32_t parts)
{
    struct node_stripe key = {.node = n->id + 1, .source = source, .number = number};
    bool is_new;
    struct node_stripe *s = ker_table_add(&node_stripe_kind, &n->system->stripes, &key, &is_new);
    if (is_new) {
        *s = key;
        s->parts = parts;
    }
    return s;
}

static void stripe_drop(struct node *n, struct node_stripe *s)
{
    ker_table_drop(&node_stripe_kind, &n->system->stripes, s);
}

/* What is sent by this node is under a source that no node has. */
#define BY_ITSELF UINT32_MAX

static void adapter_send(struct node *n, ker_time now, uint32_t adapter, const struct net_send *send,
                         uint32_t core)
{
    if (node_has_dma(&n->system->model))
        n->system->carrier.send_from(node_adapter(n, adapter), now, send, node_dma_memory(n, core));
    else
        n->system->carrier.send(node_adapter(n, adapter), now, send);
}

static void stripe_send(struct node *n, ker_time now, struct net_send *send, uint32_t host, uint32_t core)
{
    uint32_t parts = node_adapters_to(n, host);
    uint64_t bytes = send->bytes;
    if (send->cookie) {
        node_stripe_find(n, BY_ITSELF, send->number, parts)->cookie = send->cookie;
        send->cookie = 1 + (uint64_t)send->number;
    }
    for (uint32_t i = 0; i < parts; i++) {
        send->destination = host * n->system->model.adapters + i;
        send->bytes = part_bytes(bytes, i, parts);
        send->part = i == 0 ? NET_FIRST_PART : NET_FURTHER_PART;
        adapter_send(n, now, i, send, core);
    }
}

bool node_stripe_sent(struct node *n, uint64_t *cookie)
{
    struct node_stripe *s = node_stripe_find(n, BY_ITSELF, (uint32_t)(*cookie - 1), 0);
    if (--s->parts > 0)
        return false;
    *cookie = s->cookie;
    stripe_drop(n, s);
    return true;
}

bool node_stripe_arrived(struct node *n, ker_time now, struct net_message *m)
{
    struct node_stripe *s = node_stripe_find(n, m->source, m->number, node_adapters_to(n, m->source));
    s->bytes += m->bytes;
    if (--s->parts > 0)
        return false;
    m->bytes = s->bytes;
    m->part = NET_WHOLE;
    stripe_drop(n, s);
    n->system->carrier.whole(node_adapter(n, 0), now, m);
    return true;
}

/* ---- sending ---- */

ker_time node_path_to(const struct node *n, uint32_t core, uint32_t adapter)
{
    const struct node_model *model = &n->system->model;
    uint32_t unit = core & UINT16_MAX;
    if (unit == UINT16_MAX || !model->socket_latency)
        return model->bus_latency;
    const struct node_structure *s = node_structure_of(n);
    bool far = node_unit_socket(s, unit) != node_adapter_socket(s, adapter);
    return model->bus_latency + (far ? model->socket_latency : 0);
}

ker_time node_rail_path(struct node *n, ker_time now, const struct net_send *send, uint32_t *core)
{
    if (!core_is_adapter(*core) && is_striped(n, now, send->destination, send->bytes))
        return n->system->model.bus_latency;
    uint32_t rail = rail_for(n, now, *core, send->destination);
    ker_time way = node_path_to(n, *core, rail);
    *core = NODE_BY_ADAPTER(rail, *core);
    return way;
}

void node_rail_send(struct node *n, ker_time now, struct net_send *send, uint32_t core)
{
    uint32_t host = send->destination;
    if (!core_is_adapter(core) && is_striped(n, now, host, send->bytes)) {
        stripe_send(n, now, send, host, core);
        return;
    }
    uint32_t rail = rail_for(n, now, core, host);
    send->destination = host * n->system->model.adapters + rail;
    adapter_send(n, now, rail, send, core);
}

/* Appends the offer to the queues of the adapters that are to send it. asking: the adapter that has nothing
 * to send. */
void node_rail_offer(struct node *n, struct net_offer *offer, uint32_t asking)
{
    const struct node_model *model = &n->system->model;
    uint32_t host = offer->destination;
    uint64_t bytes = offer->bytes;
    if (!is_striped(n, offer->created, host, bytes)) {
        bool idle = model->rail == NODE_RAIL_LEAST && asking < node_adapters_to(n, host);
        uint32_t rail = idle ? asking : rail_for(n, offer->created, NODE_ANY_CORE, host);
        offer->destination = host * model->adapters + rail;
        node_queue_put(n, rail, offer);
        return;
    }
    uint32_t parts = node_adapters_to(n, host);
    for (uint32_t i = 0; i < parts; i++) {
        offer->destination = host * model->adapters + i;
        offer->bytes = part_bytes(bytes, i, parts);
        offer->part = i == 0 ? NET_FIRST_PART : NET_FURTHER_PART;
        node_queue_put(n, i, offer);
    }
}
