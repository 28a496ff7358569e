/* build.c - this rank's switches and nodes as components: their memory, their first state.
 *
 * Nodes are made at once. Switches are made when the first packet comes to them, since of a large machine a
 * run may use a part only, if the layout is regular: so that an index leads to the switch. Until then its
 * component belongs to a class that makes it, and its memory is not touched. Nothing else can come to a
 * switch first: credits, wake-ups and the places of credits (net_credits_due) are for switches that have sent
 * something.
 */
#include "net/adapter/adapter.h"
#include "net/congestion/congestion.h"
#include "net/credits.h"
#include "net/jobs.h"
#include "net/series.h"
#include "net/switch/switch.h"

#include <stdlib.h>
#include <string.h>

uint32_t *net_network_nodes(const struct net_network *net, uint32_t *count)
{
    *count = net->adapter_count / net->adapters_each;
    uint32_t *own = ker_alloc(sizeof *own * *count);
    for (uint32_t i = 0; i < *count; i++)
        own[i] = net_adapter_nth(net, i * net->adapters_each)->id / net->adapters_each;
    return own;
}

/* ---- components ---- */

/* From here to there; 32 GiB of switches, and of nodes, are enough for a rank. */
static uint32_t words_between(const char *from, const void *to)
{
    size_t words = (size_t)((const char *)to - from) / 8;
    ker_assert(words <= UINT32_MAX);
    return (uint32_t)words;
}

static size_t adapter_bytes(const struct net_network *net)
{
    size_t own = NET_ADAPTER_BYTES + sizeof(uint32_t) * net_dma_place(net) +
                 (net->dma ? sizeof(struct net_adapter_dma) : 0);
    return (own + 7) / 8 * 8 + net_lanes_bytes(net);
}

static size_t node_bytes(const struct net_network *net)
{
    return net->host.bytes + net->adapters_each * net->adapter_bytes;
}

static struct net_adapter_more *more_new(struct net_network *net, uint32_t id)
{
    static struct net_adapter_more nobody = {.cnp = NET_NONE};
    if (!net->more_each)
        return &nobody;
    const struct route_summary *sum = route_summarise(net->topology);
    struct net_adapter_more *more = ker_alloc(sizeof *more);
    *more = (struct net_adapter_more){
        .series = net_series_new(net, (uint64_t)sum->switches * sum->max_ports + id, 1),
        .jobs = net_job_uses_new(net, 1),
        .cnp = NET_NONE};
    return more;
}

static void adapter_init(struct net_network *net, struct net_adapter *a, const struct part_layout *l,
                         uint32_t id)
{
    uint32_t s;
    uint16_t port;
    struct route_peer peer;
    route_attachment(net->topology, id, &s, &port);
    route_port(net->topology, s, port, &peer);
    a->net = net;
    a->id = id;
    a->self = net_node_at(net, l, id / net->adapters_each).index;
    a->port = (uint8_t)(id % net->adapters_each);
    a->wake = KER_TIME_MAX;
    a->offered = a->leaving_last = NET_NONE;
    a->more = more_new(net, id);
    a->exhausted = true;
    a->peer = net_switch_at(net, l, s);
    a->peer_port = port;
    a->link = peer.link;
    for (uint32_t c = 0; c < net->set.channels * net->set.classes; c++)
        a->credit[c] = net->set.buffer;
    net->lanes_place = (uint32_t)(net->adapter_bytes - net_lanes_bytes(net));
    if (net->set.lanes && net->set.lanes->init)
        net->set.lanes->init(net->set.lanes_shared, net_lanes_of(a),
                             &(struct net_lanes_output){.adapter = true, .id = id});
    if (net->dma)
        *net_dma_of(a) = (struct net_adapter_dma){.first = NET_NONE};
    a->due = NET_DUE_BYTES / 8 * (1 + net->adapter_count); /* this is the next one */
}

/* The i-th adapter of a node. */
static struct net_adapter *adapter_of(const struct net_network *net, void *node, uint32_t i)
{
    return (struct net_adapter *)(void *)((char *)node + net->host.bytes + i * net->adapter_bytes);
}

static void node_init(struct net_network *net, void *node, const struct part_layout *l, uint32_t id)
{
    for (uint32_t i = 0; i < net->adapters_each; i++) {
        adapter_init(net, adapter_of(net, node, i), l, id * net->adapters_each + i);
        net->adapter_count++;
    }
    net->host.init(net->host.context, node, id, net_node_at(net, l, id).index, adapter_of(net, node, 0),
                   net->adapter_bytes);
}

/* Where the output that sends to this input, or what an adapter has in its place, lies. The switch need not
 * be made yet. */
static const char *upstream_of(const struct net_network *net, const struct net_port *in)
{
    void *sender = ker_engine_component(net->engine, in->peer);
    if (in->due.ends_at_adapter)
        return net->dues + 8 * (size_t)adapter_of(net, sender, in->peer_port)->due;
    if (net->made)
        sender = net_switch_nth(net, part_layout_order(&net->layout, in->peer));
    return (char *)sender + net->switch_class.head_bytes +
           (size_t)in->peer_port * net->switch_class.port_stride;
}

/* Where the credits of inputs that others of this rank send to are put down. */
static void upstream_find(const struct net_network *net, struct net_switch *s)
{
    for (uint32_t p = 0; p < net_switch_view(s).ports; p++) {
        struct net_port *in = net_switch_port(s, p);
        if (in->upstream)
            in->upstream = words_between(net->dues, upstream_of(net, in));
    }
}

static void straight_init(struct net_network *net)
{
    route_straight_function *of = route_straight_function_of(net->topology);
    uint32_t ports = route_summarise(net->topology)->max_ports;
    net->straight = ker_alloc(ports * sizeof *net->straight);
    for (uint32_t port = 0; port < ports; port++)
        net->straight[port] = of(net->topology, port);
    net->switch_class.prepare = net_switch_prepare_straight;
}

/* With the sizes of this network. */
static void classes_init(struct net_network *net)
{
    net->lands = !net->congestion && !net->parts && !net->dma && !net->set.sinks && !net->set.resequence &&
                 !net->host.shares;
    net->deaf = net->lands && net->host.deaf;
    net->sole = net->host.sole && !net->set.throttled && !net->set.lanes && !net->faulty && !net->series;
    net->known = !net->granted && !net->lives && !net->series;
    net->more_each =
        net->set.sinks || net->set.injection.count || net->congestion || net->series || net->jobs;
    net->landing = net->lands ? UINT64_MAX : 0;
    net->maps = route_watched(net->topology) != 0;
    net->switch_class = net_switch_class;
    net->switch_class.port_stride = (uint32_t)net_switch_port_bytes(net);
    if (net->looks || net->set.queueing == NET_QUEUE_FIFO)
        net->switch_class.arrival_alone = net_switch_arrival_queued;
    if (net->looks) {
        net->switch_class.prepare = NULL; /* NET_BEHIND takes the place of NET_ROUTED */
    } else if (net->hop) {
        net->switch_class.prepare = net_switch_prepare_hop;
        if (route_straight_function_of(net->topology))
            straight_init(net);
    } else if (!net->route_ahead) {
        net->switch_class.prepare = NULL;
    }
    net->node_class = *net->host.class;
    net->node_class.foresee = net->sole ? NULL : net_adapter_foresee;
    net->node_class.head_bytes = (uint32_t)(net->host.bytes + NET_ADAPTER_FETCHED);
}

/* ---- switches that are made when they are needed ---- */

/* now: KER_TIME_MAX: the run is over. */
static struct net_switch *switch_make(struct net_network *net, uint32_t i, uint32_t index, ker_time now)
{
    struct net_switch *s = net_switch_nth(net, i);
    uint32_t id = net_switch_number(net, i);
    net->made[i / 64] |= UINT64_C(1) << (i % 64);
    ker_sparse_use(&net->sparse, s, net_switch_bytes(net, route_ports(net->topology, id)),
                   net->set.measure_to == KER_TIME_MAX || now == KER_TIME_MAX
                       ? 1
                       : (double)now / (double)net->set.measure_to);
    net_switch_init(net, s, &net->layout, id);
    upstream_find(net, s);
    ker_engine_set(net->engine, index, &net->switch_class, s, true);
    return s;
}

/* The state of the component is the network. */
static struct net_switch *event_make(struct net_network *net, const struct ker_event *event)
{
    return switch_make(net, part_layout_order(&net->layout, event->component), event->component, event->time);
}

static void unmade_arrival(void *self, struct ker_engine *e, const struct ker_event *event)
{
    net_switch_class.arrival(event_make(self, event), e, event);
}

static void unmade_arrival_alone(void *self, struct ker_engine *e, const struct ker_event *event)
{
    struct net_network *net = self;
    net->switch_class.arrival_alone(event_make(net, event), e, event);
}

static const struct ker_class unmade_class = {
    .name = "switch to be made", .arrival = unmade_arrival, .arrival_alone = unmade_arrival_alone};

void net_network_complete(struct net_network *net)
{
    for (uint32_t i = 0; net->made && i < net->switch_count; i++)
        if (!net_switch_made(net, i))
            switch_make(net, i, net_switch_at(net, &net->layout, net_switch_number(net, i)).index,
                        KER_TIME_MAX);
}

/* Not where a switch has to be there from the beginning: some go down, or watch others. */
static bool are_made_later(const struct net_network *net, const struct part_layout *l)
{
    return l->regular && !net->faulty && route_watched(net->topology) == 0;
}

/* ---- all components ---- */

/* The numbers of this rank's components by their indices: switches, then nodes; NET_NONE: none. */
static uint32_t *owners_list(const struct net_network *net, const struct part_layout *l)
{
    const struct route_summary *sum = route_summarise(net->topology);
    uint32_t *owner = ker_alloc(sizeof *owner * (l->components + 1)),
             total = sum->switches + route_hosts(sum);
    memset(owner, 0xff, sizeof *owner * (l->components + 1));
    for (uint32_t i = 0; i < total; i++) {
        struct ker_address at =
            i < sum->switches ? net_switch_at(net, l, i) : net_node_at(net, l, i - sum->switches);
        if (at.rank == net->rank)
            owner[at.index] = i;
    }
    return owner;
}

/* Memory of a rank in the order of its components, so that neighbours in work are neighbours in memory.
 * Switches that are made later lie by themselves, or nodes would touch their pages; before them the places of
 * credits (net_network.dues) of the adapters. Returns the bytes of these. */
static size_t memory_reserve(struct net_network *net, const struct part_layout *l, const uint32_t *owner)
{
    const struct route_summary *sum = route_summarise(net->topology);
    size_t dues = NET_DUE_BYTES + 8, switches = 0, nodes = 0, count = 0,
           largest = net_switch_bytes(net, sum->max_ports);
    for (uint32_t i = 0; i < l->components; i++)
        if (owner[i] < sum->switches) {
            switches += net_switch_bytes(net, route_ports(net->topology, owner[i]));
            count++;
        } else if (owner[i] != NET_NONE) {
            nodes += node_bytes(net);
            dues += (size_t)net->adapters_each * NET_DUE_BYTES;
        }
    dues = net_lines(dues);
    if (are_made_later(net, l)) {
        net->made = ker_alloc((l->components / 64 + 1) * sizeof *net->made);
        net->switch_first = (uint32_t)(dues / 8);
        net->switch_words = switches == count * largest ? (uint32_t)(largest / 8) : 0;
        ker_sparse_init(&net->sparse, dues + switches);
        switches = 0;
    }
    net->block_bytes = (net->made ? 0 : dues) + switches + nodes;
    net->block = ker_reserve(net->block_bytes);
    net->dues = net->made ? net->sparse.base : net->block;
    memset(net->dues + NET_DUE_AT + 1, 0xff, NET_CREDITS_DUE * sizeof(uint64_t)); /* none is free */
    if (!net->switch_words)
        net->switches = ker_alloc(sizeof *net->switches * (l->components + 1));
    net->adapters = ker_alloc(sizeof *net->adapters * ((size_t)l->components * net->adapters_each + 1));
    return dues;
}

/* Of the component `index`, which is this switch, at the address. */
static void switch_add(struct net_network *net, const struct part_layout *l, uint32_t id, uint32_t index,
                       void *state)
{
    uint32_t word = words_between(net->dues, state);
    if (net->switches)
        net->switches[net->switch_count] = word;
    net->switch_count++;
    if (net->made) {
        ker_engine_set(net->engine, index, &unmade_class, net, true);
        return;
    }
    net_switch_init(net, state, l, id);
    if (net->faulty)
        net_faults_post(net, state);
    ker_engine_set(net->engine, index, &net->switch_class, state,
                   part_layout_begins(l, net_member_switch(net, id)));
}

static void components_make(struct net_network *net, const struct part_layout *l, const uint32_t *owner,
                            size_t dues)
{
    uint32_t switches = route_summarise(net->topology)->switches;
    char *sparse = net->made ? net->sparse.base + dues : NULL, *block = net->block + (net->made ? 0 : dues);
    for (uint32_t i = 0; i < l->components; i++) {
        if (owner[i] == NET_NONE)
            continue;
        char **at = net->made && owner[i] < switches ? &sparse : &block;
        if (owner[i] < switches) {
            uint32_t ports = route_ports(net->topology, owner[i]);
            switch_add(net, l, owner[i], i, *at);
            *at += net_switch_bytes(net, ports);
        } else {
            node_init(net, *at, l, owner[i] - switches);
            ker_engine_set(net->engine, i, &net->node_class, *at,
                           part_layout_begins(l, net_member_node(net, owner[i] - switches)));
            *at += node_bytes(net);
        }
    }
}

/* All of this rank, by their ids. */
static void adapters_list(struct net_network *net, const struct part_layout *l)
{
    uint32_t hosts = route_hosts(route_summarise(net->topology)), count = 0;
    for (uint32_t id = 0; id < hosts; id++) {
        struct ker_address at = net_node_at(net, l, id);
        for (uint32_t i = 0; at.rank == net->rank && i < net->adapters_each; i++) {
            void *node = ker_engine_component(net->engine, at.index);
            net->adapters[count++] = words_between(net->block, adapter_of(net, node, i));
        }
    }
}

void net_network_build(struct net_network *net, struct ker_engine *engine, struct part_layout *l,
                       const struct net_host *host)
{
    net->engine = engine;
    net->rank = ker_engine_rank(engine);
    net->host = *host;
    classes_init(net);
    net->adapter_bytes = (uint32_t)adapter_bytes(net);
    ker_arena_init(&net->arena);
    ker_arena_init(&net->packets);
    ker_arena_init(&net->messages);
    net->packet.free = KER_NONE;
    net_waits_init(net);
    uint32_t *owner = owners_list(net, l);
    size_t dues = memory_reserve(net, l, owner);
    components_make(net, l, owner, dues);
    free(owner);
    adapters_list(net, l);
    for (uint32_t i = 0; !net->made && i < net->switch_count; i++)
        upstream_find(net, net_switch_nth(net, i));
    if (net->made || net->direct) {
        net->layout = *l;
        *l = (struct part_layout){0};
    }
    part_layout_release(l);
}

struct ker_address net_network_node_at(const struct net_network *net, uint32_t node)
{
    return net_node_at(net, &net->layout, node);
}

void *net_network_node(const struct net_network *net, uint32_t i)
{
    return net_node_of(net_adapter_nth(net, i * net->adapters_each));
}

uint64_t net_network_bytes(const struct net_network *net)
{
    return net->block_bytes + net->sparse.bytes;
}

void net_network_free(struct net_network *net)
{
    if (!net)
        return;
    for (uint32_t i = 0; i < net->switch_count; i++)
        if (net_switch_made(net, i))
            net_switch_release(net_switch_nth(net, i));
    for (uint32_t i = 0; i < net->adapter_count; i++)
        if (net->more_each) {
            free(net_adapter_nth(net, i)->more->jobs);
            free(net_adapter_nth(net, i)->more);
        }
    ker_arena_release(&net->arena);
    ker_arena_release(&net->packets);
    ker_arena_release(&net->waits_range);
    ker_sparse_release(&net->sparse);
    free(net->made);
    free(net->remote);
    part_layout_release(&net->layout);
    for (int i = 0; i < ROUTE_MAX_LINKS; i++)
        ker_unmap(net->link[i].times, sizeof *net->link[i].times * (net->set.most + 1u));
    ker_release(net->block, net->block_bytes);
    free(net->straight);
    free(net->switches);
    free(net->adapters);
    free(net->fresh);
    free(net->dirty);
    free(net->ahead);
    free(net->rest);
    free(net->granted);
    ker_arena_release(&net->messages);
    free(net->outgoing_free);
    KER_POOL_RELEASE(&net->offered);
    net_dma_free(net->dma);
    net_reassembly_free(net->reassembly);
    ker_unmap(net->quantities, sizeof *net->quantities * NET_QUANTITIES);
    free(net->throttle);
    free(net->set.lanes_shared);
    net_resequencer_free(net->resequencer);
    if (net->congestion_state)
        net->congestion->release(net->congestion_state);
    net_matrices_free(net->matrices);
    free(net->series);
    net_link_states_free(net->states);
    free(net->parts);
    free(net);
}
