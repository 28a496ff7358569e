/* state.c - the network of a rank, saved and loaded; see state.h.
 *
 * Switches, adapters and the entries of tables are taken by the rank on which they live now. What was counted
 * is taken by one rank: only its sum over the ranks is ever looked at. Transmissions that are known ahead
 * are kept as they are: whether they count depends on when the run ends.
 */
#include "net/state.h"

#include "net/ahead.h"
#include "net/channels.h"
#include "net/congestion/congestion.h"
#include "net/parts.h"
#include "net/series.h"
#include "net/switch/switch.h"

#include <stdlib.h>

#define VERSION 1 /* of chunks; where it has changed since: */
#define NETWORK_VERSION 5
#define SWITCH_VERSION 14
#define ADAPTER_VERSION 15

/* ---- counts ---- */

#define COUNTS(net)                                                                                          \
    ((struct stats_quantity *const[]){(net)->latency, (net)->total_latency, (net)->message_latency,          \
                                      (net)->message_size, (net)->extent, (net)->early_wait,                 \
                                      (net)->control_wait, (net)->throttle})
#define QUANTITIES 8

/* Those that are maxima; all others are sums. packet_hops is of this process: its speed is measured by it. */
static void counts_join(struct net_counts *sum, const struct net_counts *one)
{
    struct net_counts old = *sum;
    uint64_t *a = (uint64_t *)sum;
    const uint64_t *b = (const uint64_t *)one;
    _Static_assert(sizeof *sum % sizeof *a == 0, "numbers of 64 bits only");
    for (size_t i = 0; i < sizeof *sum / sizeof *a; i++)
        a[i] += b[i];
    sum->packet_hops = old.packet_hops;
    sum->hops_max = old.hops_max > one->hops_max ? old.hops_max : one->hops_max;
    sum->reorder_bytes_max =
        old.reorder_bytes_max > one->reorder_bytes_max ? old.reorder_bytes_max : one->reorder_bytes_max;
    sum->early_bytes_max =
        old.early_bytes_max > one->early_bytes_max ? old.early_bytes_max : one->early_bytes_max;
}

static void network_state(struct net_network *net, struct ker_chunk *c)
{
    struct stats_quantity *const *quantity = COUNTS(net);
    struct net_counts counts = net->count;
    ker_chunk_same(c, sizeof counts);
    KER_CHUNK(c, counts);
    if (c->loads && !c->bad)
        counts_join(&net->count, &counts);
    for (int i = 0; i < QUANTITIES; i++) {
        bool there = ker_chunk_bool(c, quantity[i] != NULL);
        c->bad |= there && !quantity[i];
        if (there && !c->bad)
            stats_quantity_state(c, quantity[i]);
    }
    net_parts_state(net, c);
    net_link_ahead_state(net, c);
}

/* ---- saving ---- */

void net_network_save(struct net_network *net, struct ker_state_writer *writer)
{
    network_state(net, ker_state_begin(writer, "network", NETWORK_VERSION, net->rank));
    ker_state_end(writer);
    for (uint32_t i = 0; i < net->switch_count; i++) {
        net_switch_state(net_switch_nth(net, i), ker_state_begin(writer, "switch", SWITCH_VERSION,
                                                                 net_switch_view(net_switch_nth(net, i)).id));
        ker_state_end(writer);
    }
    for (uint32_t i = 0; i < net->adapter_count; i++) {
        net_adapter_state(net_adapter_nth(net, i),
                          ker_state_begin(writer, "adapter", ADAPTER_VERSION, net_adapter_nth(net, i)->id));
        ker_state_end(writer);
    }
    net_ahead_save(net, writer);
    net_reassembly_save(net, writer);
    net_resequencer_save(net, writer);
    if (net->congestion && net->congestion->save)
        net->congestion->save(net, writer);
    net_matrices_save(net, writer);
}

/* ---- loading ---- */

static void network_load(void *context, struct ker_chunk *c)
{
    struct net_loading *l = context;
    if (l->sums)
        network_state(l->net, c);
    else
        net_loading_pass(c);
}

static void switch_load(void *context, struct ker_chunk *c)
{
    struct net_switch *s = net_loading_switch(context, c);
    if (s)
        net_switch_state(s, c);
}

static void adapter_load(void *context, struct ker_chunk *c)
{
    struct net_adapter *n = net_loading_adapter(context, c);
    if (n)
        net_adapter_state(n, c);
}

static void ahead_load(void *context, struct ker_chunk *c)
{
    net_ahead_load(context, c);
}

static void reassembly_load(void *context, struct ker_chunk *c)
{
    net_reassembly_load(context, c);
}

static void sent_load(void *context, struct ker_chunk *c)
{
    net_sent_load(context, c);
}

static void order_load(void *context, struct ker_chunk *c)
{
    net_order_load(context, c);
}

static void congestion_load(void *context, struct ker_chunk *c)
{
    struct net_loading *l = context;
    struct net_adapter *n = net_loading_adapter(l, c);
    if (n && l->net->congestion && l->net->congestion->load)
        l->net->congestion->load(n, c);
    else if (n)
        c->bad = true;
}

static void matrix_load(void *context, struct ker_chunk *c)
{
    net_matrices_load(context, c);
}

static const struct {
    const char *name;
    uint32_t version;
    void (*load)(void *context, struct ker_chunk *);
} loads[] = {
    {"network", NETWORK_VERSION, network_load},
    {"switch", SWITCH_VERSION, switch_load},
    {"adapter", ADAPTER_VERSION, adapter_load},
    {"ahead", NET_AHEAD_VERSION, ahead_load},
    {"reassembly", NET_REASSEMBLY_VERSION, reassembly_load},
    {"sent", VERSION, sent_load},
    {"order", NET_ORDER_VERSION, order_load},
    {"congestion", NET_CONGESTION_VERSION, congestion_load},
    {"matrix", STATS_MATRIX_VERSION, matrix_load},
};

struct net_loading *net_loading_new(struct net_network *net, bool sums)
{
    const struct route_summary *sum = route_summarise(net->topology);
    struct net_loading *l = ker_alloc(sizeof *l);
    *l = (struct net_loading){
        .net = net, .switch_count = sum->switches, .adapter_count = sum->endpoints, .sums = sums};
    net->lands = net->deaf = false;
    net_final_set(net, 0); /* what is loaded says up to where something is certain */
    l->switches = ker_alloc(sizeof *l->switches * sum->switches);
    l->adapters = ker_alloc(sizeof *l->adapters * sum->endpoints);
    for (uint32_t i = 0; i < net->switch_count; i++)
        l->switches[net_switch_view(net_switch_nth(net, i)).id] = net_switch_nth(net, i);
    for (uint32_t i = 0; i < net->adapter_count; i++)
        l->adapters[net_adapter_nth(net, i)->id] = net_adapter_nth(net, i);
    return l;
}

void net_loading_free(struct net_loading *l)
{
    if (!l)
        return;
    free(l->switches);
    free(l->adapters);
    free(l);
}

/* The measured span ends with run.end, which may have been moved: an adapter counts a transmission when it
 * begins, and the last one may go beyond. Pinned paths are forgotten where none is pinned any more. */
void net_network_forked(struct net_network *net, ker_time at, const struct ker_config *former,
                        ker_time measured_to)
{
    ker_time measure_to = net->set.measure_to;
    for (uint32_t i = 0; i < net->adapter_count; i++) {
        struct net_adapter *a = net_adapter_nth(net, i);
        net->set.measure_to = measured_to;
        net_injection_resize(a, UINT64_MAX);
        net->set.measure_to = measure_to;
        net_injection_resize(a, 1);
    }
    for (uint32_t i = 0; i < net->switch_count && !net->set.remembers; i++)
        net_pins_free(net_switch_nth(net, i));
    if (net->congestion && net->congestion->forked)
        net->congestion->forked(net, former, at);
}

uint32_t net_loaders(struct net_loading *l, struct ker_state_loader *loaders)
{
    const uint32_t count = sizeof loads / sizeof *loads;
    _Static_assert(sizeof loads / sizeof *loads <= NET_STATES, "room for all of them");
    for (uint32_t i = 0; i < count; i++)
        loaders[i] = (struct ker_state_loader){loads[i].name, loads[i].version, loads[i].load, l};
    return count;
}

bool net_loading_find(void *context, const char *class, uint32_t id, uint32_t *index)
{
    const struct net_loading *l = context;
    if (strcmp(class, net_switch_class.name) == 0 && id < l->switch_count && l->switches[id]) {
        *index = net_switch_view(l->switches[id]).self;
        return true;
    }
    uint64_t adapter = (uint64_t)id * l->net->adapters_each;
    if (strcmp(class, l->net->host.class->name) == 0 && adapter < l->adapter_count && l->adapters[adapter]) {
        *index = l->adapters[adapter]->self;
        return true;
    }
    return false;
}
