/* pace.c - a congestion control without congestion: packets of a flow leave at least congestion.pace apart.
 *
 * Invariant: an entry says when the flow's next packet may leave; it may be forgotten when that is past.
 */
#include "net/adapter/adapter.h"
#include "net/congestion/congestion.h"

#include <stdlib.h>

struct flow {
    struct net_pair pair;
    ker_time next;
};

struct pace {
    const struct net_network *net;
    struct net_pairs flows;
    ker_time apart;
};

static const struct ker_option options[] = {
    {.key = "congestion.pace",
     .type = KER_TYPE_TIME,
     .fallback = "1 us",
     .maximum = "1 s",
     .meaning = "Packets of a flow are at least this far apart."},
    {.key = NULL},
};

static bool flow_idle(const void *context, const struct net_pair *pair)
{
    const struct pace *pace = context;
    return ((const struct flow *)pair)->next <= ker_engine_handled(pace->net->engine);
}

static enum ker_status pace_read(struct net_network *net, const struct ker_config *c, struct ker_error *error)
{
    struct pace *pace = ker_alloc(sizeof *pace);
    net->congestion_state = pace;
    pace->net = net;
    pace->apart = ker_config_time(c, "congestion.pace");
    net_pairs_init(&pace->flows, sizeof(struct flow), flow_idle);
    return KER_OK;
}

static void pace_release(void *state)
{
    net_pairs_release(&((struct pace *)state)->flows);
    free(state);
}

static bool pace_marks(const struct net_network *net, const struct net_at_grant *at, ker_time now)
{
    return false;
}

static void pace_packet(struct net_adapter *a, ker_time now, const struct net_packet *p)
{
}

static ker_time pace_ready(const struct net_adapter *a, uint32_t destination, unsigned class, ker_time now)
{
    const struct pace *pace = a->net->congestion_state;
    const struct flow *flow = net_pairs_find(&pace->flows, a->id, destination);
    return flow ? flow->next : now;
}

static void pace_sent(struct net_adapter *a, ker_time now, const struct net_packet *p, unsigned class,
                      ker_time wire)
{
    struct pace *pace = a->net->congestion_state;
    struct flow *flow = net_pairs_find(&pace->flows, a->id, p->destination);
    if (!flow)
        flow = net_pairs_add(&pace->flows, pace, a->id, p->destination);
    flow->next = now + pace->apart;
}

static void pace_save(struct net_network *net, struct ker_state_writer *writer)
{
    const struct pace *pace = net->congestion_state;
    for (struct flow *flow = NULL; (flow = net_pairs_next(&pace->flows, flow)) != NULL;) {
        struct ker_chunk *c = net_pair_save(writer, flow, 0);
        KER_CHUNK(c, flow->next);
        ker_state_end(writer);
    }
}

static void pace_load(struct net_adapter *a, struct ker_chunk *c)
{
    struct pace *pace = a->net->congestion_state;
    struct net_pairs *const tables[] = {&pace->flows};
    struct flow *flow = net_pair_load(a, c, tables, 1);
    if (flow)
        KER_CHUNK(c, flow->next);
}

const struct ker_kind net_congestion_pace = {.name = "pace",
                                             .meaning = "packets of a flow leave some time apart",
                                             .operations =
                                                 &(const struct net_congestion){.read = pace_read,
                                                                                .release = pace_release,
                                                                                .marks = pace_marks,
                                                                                .arrived = pace_packet,
                                                                                .noticed = pace_packet,
                                                                                .ready = pace_ready,
                                                                                .sent = pace_sent,
                                                                                .save = pace_save,
                                                                                .load = pace_load},
                                             .options = KER_OPTIONS(options, net_cnp_options)};
