/* build.c - this rank's switches and nodes as components: their memory, their first state. */
#include "net/congestion/congestion.h"

#include <stdlib.h>
#include <string.h>

uint32_t *net_own_nodes(const struct net_layout *l, const struct net_network *net, int rank, uint32_t *count)
{
    uint32_t nodes = route_hosts(route_summarise(net->topology)), n = 0;
    for (uint32_t i = 0; i < nodes; i++)
        n += l->node_rank[i] == (uint32_t)rank;
    uint32_t *own = ker_alloc(sizeof *own * n);
    *count = n;
    for (uint32_t i = nodes; i-- > 0;)
        if (l->node_rank[i] == (uint32_t)rank)
            own[--n] = i;
    return own;
}

/* ---- components ---- */

static size_t round64(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static size_t port_bytes(const struct net_network *net)
{
    return round64(sizeof(struct net_port) + sizeof(uint32_t) * net->set.channels * net->set.classes);
}

static size_t switch_bytes(const struct net_network *net, uint32_t ports)
{
    size_t voq = ports <= NET_VOQ_PORTS ? sizeof(uint16_t) * ports * ports : 0;
    return round64(sizeof(struct net_switch)) + (port_bytes(net) + sizeof(struct net_credits_due)) * ports +
           round64(voq);
}

static size_t adapter_bytes(const struct net_network *net)
{
    return round64(sizeof(struct net_adapter) + sizeof(uint32_t) * (net->set.rings + 2 * net->set.classes));
}

static size_t node_bytes(const struct net_network *net)
{
    return round64(net->host.bytes) + net->adapters_each * adapter_bytes(net);
}

static void port_init(struct net_network *net, struct net_port *port, const struct net_layout *l,
                      const struct route_peer *peer)
{
    bool node = peer->kind == ROUTE_ENDPOINT;
    uint32_t host = node ? peer->id / net->adapters_each : 0;
    port->wake = KER_TIME_MAX;
    port->queue = NET_NONE;
    if (peer->kind == ROUTE_NOTHING)
        return;
    port->peer.index = node ? l->node_index[host] : l->switch_index[peer->id];
    port->peer.rank = node ? l->node_rank[host] : l->switch_rank[peer->id];
    port->used = true;
    port->peer_port = node ? (uint16_t)(peer->id % net->adapters_each) : peer->port;
    port->link = peer->link;
    port->ends_at_adapter = node;
    port->to_adapter = node && net->set.ejection_rate == 0;
    for (uint32_t c = 0; c < net->set.channels * net->set.classes; c++)
        port->credit[c] = node ? net->set.adapter_buffer : net->set.buffer;
}

static void switch_init(struct net_network *net, struct net_switch *s, const struct net_layout *l,
                        uint32_t id)
{
    uint32_t ports = route_ports(net->topology, id);
    s->net = net;
    s->id = id;
    s->self = l->switch_index[id];
    s->coordinate = route_coordinate(net->topology, id);
    s->ports = (uint16_t)ports;
    s->port_bytes = (uint16_t)port_bytes(net);
    s->packet.free = s->request.free = KER_NONE;
    s->credits_due = (struct net_credits_due *)(void *)net_port_at(s, ports);
    if (ports <= NET_VOQ_PORTS) {
        s->voq = (uint16_t *)(void *)(s->credits_due + ports);
        memset(s->voq, 0xff, sizeof *s->voq * ports * ports);
    }
    s->map = net_congestion_map_new(net, l, id);
    for (uint32_t p = 0; p < ports; p++) {
        struct route_peer peer;
        route_port(net->topology, id, p, &peer);
        port_init(net, net_port_at(s, p), l, &peer);
    }
    if (net->set.queueing == NET_QUEUE_FIFO) {
        s->input_fifo = ker_alloc(sizeof *s->input_fifo * ports * NET_MAX_CHANNELS);
        for (uint32_t i = 0; i < ports * NET_MAX_CHANNELS; i++)
            s->input_fifo[i].head = NET_NONE;
    }
}

static void adapter_init(struct net_network *net, struct net_adapter *a, const struct net_layout *l,
                         void *node, uint32_t id)
{
    uint32_t s;
    uint16_t port;
    struct route_peer peer;
    route_attachment(net->topology, id, &s, &port);
    route_port(net->topology, s, port, &peer);
    a->net = net;
    a->node = node;
    a->id = id;
    a->self = l->node_index[id / net->adapters_each];
    a->port = (uint16_t)(id % net->adapters_each);
    a->wake = KER_TIME_MAX;
    a->offered = a->cnp = a->leaving = NET_NONE;
    a->exhausted = true;
    a->peer = (struct ker_address){l->switch_index[s], l->switch_rank[s]};
    a->peer_port = port;
    a->link = peer.link;
    for (uint32_t c = 0; c < net->set.channels * net->set.classes; c++)
        a->credit[c] = net->set.buffer;
}

static void node_init(struct net_network *net, void *node, const struct net_layout *l, uint32_t id)
{
    char *first = (char *)node + round64(net->host.bytes);
    for (uint32_t i = 0; i < net->adapters_each; i++) {
        struct net_adapter *a = (struct net_adapter *)(void *)(first + i * adapter_bytes(net));
        adapter_init(net, a, l, node, id * net->adapters_each + i);
        net->adapters[net->adapter_count++] = a;
    }
    net->host.init(net->host.context, node, id, l->node_index[id], (void *)first, adapter_bytes(net));
}

static int adapter_compare(const void *a, const void *b)
{
    const struct net_adapter *x = *(struct net_adapter *const *)a, *y = *(struct net_adapter *const *)b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Memory of a rank in the order of its components, so that neighbours in work are neighbours in memory. */
static void component_memory(struct net_network *net, const struct net_layout *l, int rank, uint32_t *owner,
                             size_t *offset, size_t *total)
{
    const struct route_summary *sum = route_summarise(net->topology);
    for (uint32_t i = 0; i < l->components; i++)
        owner[i] = NET_NONE;
    for (uint32_t s = 0; s < sum->switches; s++)
        if (l->switch_rank[s] == (uint32_t)rank)
            owner[l->switch_index[s]] = s;
    for (uint32_t n = 0; n < route_hosts(sum); n++)
        if (l->node_rank[n] == (uint32_t)rank)
            owner[l->node_index[n]] = sum->switches + n;
    *total = 0;
    for (uint32_t i = 0; i < l->components; i++) {
        offset[i] = *total;
        if (owner[i] != NET_NONE)
            *total += owner[i] < sum->switches ? switch_bytes(net, route_ports(net->topology, owner[i]))
                                               : node_bytes(net);
    }
}

/* Where the credits of inputs that other switches of this rank send to are put down. */
static void upstream_find(const struct net_network *net, struct net_switch *s, uint32_t rank)
{
    for (uint32_t p = 0; p < s->ports; p++) {
        struct net_port *in = net_port_at(s, p);
        if (!in->used || in->ends_at_adapter || in->peer.rank != rank)
            continue;
        const struct net_switch *other = net->engine->component[in->peer.index].state;
        in->upstream = &other->credits_due[in->peer_port];
    }
}

/* With the sizes of this network. */
static void classes_init(struct net_network *net)
{
    net->switch_class = net_switch_class;
    net->switch_class.port_stride = (uint32_t)port_bytes(net);
    size_t ports =
        round64(sizeof(struct net_switch)) + port_bytes(net) * route_summarise(net->topology)->max_ports;
    if (ports <= 1280)
        net->switch_class.small_bytes = (uint32_t)ports;
    net->node_class = *net->host.class;
    net->node_class.head_bytes = (uint32_t)(round64(net->host.bytes) + sizeof(struct net_adapter) + 16);
}

void net_network_build(struct net_network *net, struct ker_engine *engine, const struct net_layout *l,
                       int rank, const struct net_host *host)
{
    const struct route_summary *sum = route_summarise(net->topology);
    uint32_t *owner = ker_alloc(sizeof *owner * (l->components + 1));
    size_t *offset = ker_alloc(sizeof *offset * (l->components + 1));
    net->engine = engine;
    net->host = *host;
    classes_init(net);
    ker_arena_init(&net->arena);
    component_memory(net, l, rank, owner, offset, &net->block_bytes);
    net->block = ker_reserve(net->block_bytes ? net->block_bytes : 64);
    net->switches = ker_alloc(sizeof *net->switches * (l->components + 1));
    net->adapters = ker_alloc(sizeof *net->adapters * ((size_t)l->components * net->adapters_each + 1));
    for (uint32_t i = 0; i < l->components; i++) {
        void *state = net->block + offset[i];
        if (owner[i] == NET_NONE)
            continue;
        bool is_switch = owner[i] < sum->switches;
        bool begins = part_layout_begins(l->all, is_switch ? net_member_switch(net, owner[i])
                                                           : net_member_node(net, owner[i] - sum->switches));
        if (is_switch) {
            switch_init(net, state, l, owner[i]);
            if (net->faulty)
                net_faults_post(net, state);
            net->switches[net->switch_count++] = state;
            ker_engine_set(engine, i, &net->switch_class, state, begins);
        } else {
            node_init(net, state, l, owner[i] - sum->switches);
            ker_engine_set(engine, i, &net->node_class, state, begins);
        }
    }
    qsort(net->adapters, net->adapter_count, sizeof *net->adapters, adapter_compare);
    for (uint32_t i = 0; i < net->switch_count; i++)
        upstream_find(net, net->switches[i], (uint32_t)rank);
    free(owner);
    free(offset);
}

void *net_network_node(const struct net_network *net, uint32_t i)
{
    return net->adapters[(size_t)i * net->adapters_each]->node;
}

uint64_t net_network_bytes(const struct net_network *net)
{
    return net->block_bytes;
}

void net_network_free(struct net_network *net)
{
    if (!net)
        return;
    for (uint32_t i = 0; i < net->switch_count; i++) {
        free(net->switches[i]->input_fifo);
        net_pins_free(net->switches[i]->pins);
        net_congestion_map_free(net->switches[i]->map);
    }
    ker_arena_release(&net->arena);
    for (int i = 0; i < ROUTE_MAX_LINKS; i++)
        free(net->link[i].times);
    if (net->block)
        ker_release(net->block, net->block_bytes ? net->block_bytes : 64);
    free(net->switches);
    free(net->adapters);
    free(net->fresh);
    free(net->dirty);
    free(net->ahead);
    free(net->granted);
    KER_POOL_RELEASE(&net->outgoing);
    KER_POOL_RELEASE(&net->flow);
    net_reassembly_free(net->reassembly);
    free(net->latency);
    free(net->total_latency);
    free(net->message_latency);
    free(net->message_size);
    free(net->throttle);
    free(net->extent);
    free(net->early_wait);
    free(net->control_wait);
    net_resequencer_free(net->resequencer);
    if (net->congestion_state)
        net->congestion->release(net->congestion_state);
    if (net->matrix)
        stats_matrix_free(net->matrix);
    free(net);
}
