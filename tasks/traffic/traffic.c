/* Synthetic traffic: the table of patterns, the keys traffic.*, and the next message of a node.
 *
 * Message number k of a node is made from one block of random bits, (seed, traffic time, node, k): words 0
 * and 1 give the gap to it, words 2 and 3 its destination. Only a size that is drawn and the end of a burst
 * take blocks of their own.
 *
 * Invariant: what a node has created after k messages depends on (seed, node, k) and the configuration only,
 * so that any rank can say it, and so that a source queue is a number: how many of its messages have been
 * injected.
 */
#include "tasks/traffic/traffic.h"

#include <stdlib.h>
#include <string.h>

/* The table of patterns: one line each. */
#define PATTERNS(KIND)                                                                                       \
    KIND(task_pattern_uniform)                                                                               \
    KIND(task_pattern_gups)                                                                                  \
    KIND(task_pattern_hotspot)                                                                               \
    KIND(task_pattern_permutation)                                                                           \
    KIND(task_pattern_tornado)                                                                               \
    KIND(task_pattern_transpose)                                                                             \
    KIND(task_pattern_bit_complement)                                                                        \
    KIND(task_pattern_bit_reverse)                                                                           \
    KIND(task_pattern_shuffle)                                                                               \
    KIND(task_pattern_shift)                                                                                 \
    KIND(task_pattern_neighbour)                                                                             \
    KIND(task_pattern_all_to_all)                                                                            \
    KIND(task_pattern_incast)                                                                                \
    KIND(task_pattern_adversarial)
KER_KINDS_TABLE(pattern_kinds, PATTERNS);
static const struct ker_kinds task_traffic_patterns = {"traffic.pattern", "traffic patterns",
                                                       sizeof(struct task_traffic_pattern), pattern_kinds};

const struct ker_option task_traffic_options[] = {
    {"traffic.pattern", KER_TYPE_CHOICE, NULL, NULL, NULL, NULL,
     "Who sends to whom; absent: no synthetic traffic. docs/traffic.md has the formulas.",
     .kinds = &task_traffic_patterns},
    {"traffic.first_node", KER_TYPE_INT, "0", "0", NULL, NULL,
     "First node of the group that sends and receives.", .belongs = "traffic.pattern"},
    {"traffic.last_node", KER_TYPE_INT, NULL, "0", NULL, NULL,
     "Last node of the group; absent: the last of the system.", .belongs = "traffic.pattern"},
    {"traffic.load", KER_TYPE_REAL, NULL, "0", NULL, NULL,
     "Open loop: what each sender creates, payload and headers, as a fraction of its injection bandwidth.",
     .belongs = "traffic.pattern!=@phases & traffic.outstanding=0", .resume = KER_RESUME_FORK},
    {"traffic.interval", KER_TYPE_TIME, NULL, NULL, NULL, NULL,
     "Open loop, instead of traffic.load: mean time between two messages of a sender.",
     .belongs = "traffic.pattern!=@phases & traffic.outstanding=0", .resume = KER_RESUME_FORK},
    {"traffic.arrival", KER_TYPE_CHOICE, "poisson", NULL, NULL, NULL,
     "When messages are created: exponential gaps, equal gaps with a random phase, bursts and pauses, or "
     "with equal chance in each of slots that are the same for all nodes.",
     .belongs = "traffic.pattern!=@phases & traffic.outstanding=0", .kinds = &task_traffic_arrivals,
     .resume = KER_RESUME_FORK},
    {"traffic.size_law", KER_TYPE_CHOICE, "fixed", NULL, NULL, NULL,
     "Payload of a message: traffic.size; one of traffic.sizes; between traffic.size_minimum and "
     "traffic.size_maximum; geometric with the mean traffic.size.",
     .belongs = "traffic.pattern", .kinds = &task_traffic_sizes},
    {"traffic.messages", KER_TYPE_INT, "0", "0", NULL, NULL, "Messages that each node creates; 0: no limit.",
     .belongs = "traffic.pattern"},
    {"traffic.start", KER_TYPE_TIME, "0 ns", NULL, "1000000 s", NULL, "When the traffic begins.",
     .belongs = "traffic.pattern"},
    {"traffic.priority", KER_TYPE_INT, "0", "0", "15", NULL,
     "Priority class of the messages (switch.classes); a higher class is served first.",
     .belongs = "traffic.pattern"},
    {"traffic.stop", KER_TYPE_TIME, NULL, NULL, NULL, NULL, "When it ends; absent: with the run.",
     .belongs = "traffic.pattern"},
    {"traffic.outstanding", KER_TYPE_INT, "0", "0", "65536", NULL,
     "Closed loop: messages in flight per core, each answered by a reply before a new one starts; 0: open "
     "loop. For all_to_all: messages per node that are being injected (0: 1).",
     .belongs = "traffic.pattern"},
    {"traffic.reply", KER_TYPE_BYTES, "0 B", NULL, "1 TiB", NULL,
     "Payload of a reply in a closed loop; 0: the header only.",
     .belongs = "traffic.pattern!=@phases & traffic.outstanding!=0"},
    {0},
};

static enum ker_status traffic_group(struct task_traffic *t, const struct ker_config *config,
                                     struct ker_error *error)
{
    int64_t first = ker_config_int(config, "traffic.first_node");
    bool has_last = ker_config_has(config, "traffic.last_node");
    int64_t last = has_last ? ker_config_int(config, "traffic.last_node") : (int64_t)t->all_nodes - 1;
    if (first >= t->all_nodes || last >= t->all_nodes)
        return ker_config_fail(config, error,
                               first >= t->all_nodes ? "traffic.first_node" : "traffic.last_node",
                               "the system has the nodes 0 to %u", t->all_nodes - 1);
    if (last <= first)
        return ker_config_fail(config, error, has_last ? "traffic.last_node" : "traffic.first_node",
                               "traffic needs two nodes or more, not %lld to %lld", (long long)first,
                               (long long)last);
    t->first = (uint32_t)first;
    t->nodes = (uint32_t)(last - first + 1);
    return KER_OK;
}

static enum ker_status traffic_limits(struct task_traffic *t, const struct ker_config *config,
                                      struct ker_error *error)
{
    int64_t messages = ker_config_int(config, "traffic.messages");
    t->messages = messages ? (uint64_t)messages : UINT64_MAX;
    t->begin = ker_config_time(config, "traffic.start");
    t->stop = ker_config_has(config, "traffic.stop") ? ker_config_time(config, "traffic.stop") : KER_TIME_MAX;
    if (t->stop <= t->begin)
        return ker_config_fail(config, error, "traffic.stop", "not after traffic.start");
    t->self = ker_config_bool(config, "traffic.self");
    return net_class_read(&t->priority, config, "traffic.priority", error);
}

static enum ker_status traffic_loop(struct task_traffic *t, const struct ker_config *config, uint64_t rate,
                                    struct ker_error *error)
{
    uint64_t outstanding = (uint64_t)ker_config_int(config, "traffic.outstanding");
    t->reply_bytes = ker_config_bytes(config, "traffic.reply");
    if (outstanding == 0 && !t->pattern->phases)
        return task_traffic_arrival_read(t, config, rate, error);
    if (t->pattern->phases && outstanding == 0)
        outstanding = 1;
    for (uint32_t i = 0; i < t->nodes; i++) {
        uint32_t cores = t->pattern->phases ? 1 : node_model_cores(t->model, t->first + i);
        if (outstanding * cores > UINT32_MAX)
            return ker_config_fail(config, error, "traffic.outstanding", "too many for %u cores", cores);
    }
    t->outstanding = (uint32_t)outstanding;
    return KER_OK;
}

static enum ker_status traffic_read(struct task_traffic *t, const struct ker_config *config,
                                    const struct route_topology *topology, struct ker_error *error)
{
    const struct route_summary *summary = route_summarise(topology);
    t->all_nodes = route_hosts(summary);
    t->pattern = ker_config_operations(config, "traffic.pattern");
    t->pattern_name = ker_config_string(config, "traffic.pattern");
    enum ker_status status = traffic_group(t, config, error);
    status = status ?: traffic_limits(t, config, error);
    status = status ?: task_traffic_size_read(t, config, error);
    if (!status)
        status =
            traffic_loop(t, config, summary->adapters * summary->link[summary->endpoint_link].rate, error);
    if (status)
        return status;
    if (t->nodes == t->all_nodes)
        task_traffic_grid_init(&t->grid, topology);
    if (t->pattern->read)
        status = t->pattern->read(t, config, topology, error);
    if (!status && t->pattern->partner && task_traffic_senders(t) == 0)
        return ker_config_fail(config, error, "traffic.pattern",
                               "%s makes every node of this network its own partner: nobody sends",
                               ker_config_string(config, "traffic.pattern"));
    return status;
}

enum ker_status task_traffic_new(struct task_traffic **traffic, const struct ker_config *config,
                                 const struct route_topology *topology, const struct node_model *model,
                                 uint64_t seed, struct ker_error *error)
{
    *traffic = NULL;
    if (!ker_config_has(config, "traffic.pattern"))
        return KER_OK;
    struct task_traffic *t = ker_alloc(sizeof *t);
    t->seed = seed;
    t->model = model;
    t->fork_purpose = ker_purpose("traffic.fork");
    enum ker_status status = traffic_read(t, config, topology, error);
    if (status) {
        task_traffic_free(t);
        return status;
    }
    *traffic = t;
    return KER_OK;
}

void task_traffic_free(struct task_traffic *t)
{
    if (!t)
        return;
    task_traffic_formers_free(t);
    KER_FREE(t->size.value, t->size.threshold, t->where.hot, t->where.sorted, t->where.group,
             t->where.group_first, t->where.member, t->where.partner, t);
}

bool task_traffic_has(const struct task_traffic *t, uint32_t node)
{
    return node - t->first < t->nodes; /* below first it wraps to a large number */
}

void task_traffic_node_init(struct task_traffic *t, struct task_traffic_node *n, uint32_t node)
{
    ker_assert(task_traffic_has(t, node));
    *n = (struct task_traffic_node){
        .shared = t, .next_ps = t->begin, .node = node - t->first, .burst_ended = true, .begins = true};
    if (!t->pattern->partner)
        return;
    n->partner = t->pattern->partner(t, n->node);
    if (n->partner == n->node)
        n->partner = TASK_NOBODY;
}

uint32_t task_traffic_senders(const struct task_traffic *t)
{
    if (!t->pattern->partner)
        return t->nodes;
    uint32_t senders = 0;
    for (uint32_t node = 0; node < t->nodes; node++) {
        uint32_t partner = t->pattern->partner(t, node);
        senders += partner != TASK_NOBODY && partner != node;
    }
    return senders;
}

double task_traffic_offered(const struct task_traffic *t, uint64_t injection_rate)
{
    if (!t->arrival)
        return 0;
    double per_second = t->size.mean_bytes * 1e12 / t->gap.mean_ps;
    return per_second * task_traffic_senders(t) / ((double)injection_rate * t->all_nodes);
}

bool task_traffic_next(struct task_traffic_node *n, struct net_offer *offer)
{
    struct task_traffic *t = n->shared;
    if (n->partner == TASK_NOBODY)
        return false;
    for (;;) {
        if (n->drawn == t->messages || (n->next_ps >= t->stop && !task_traffic_more_laws(n)))
            return false;
        uint64_t number = n->drawn;
        struct ker_bits bits = ker_random_bits(t->seed, KER_PURPOSE_TRAFFIC_TIME, t->first + n->node, number);
        if (t->arrival)
            task_traffic_clock(n, &bits);
        if (n->next_ps >= t->stop)
            return false;
        n->drawn++;
        uint32_t to = t->pattern->draw ? t->pattern->draw(t, n->node, &bits, number) : n->partner;
        if (to == n->node) {
            t->dropped++;
            continue;
        }
        offer->created = n->next_ps;
        offer->destination = t->first + to;
        offer->priority = t->priority;
        offer->bytes = t->size.bytes;
        if (t->law->draw) {
            bits = ker_random_bits(t->seed, KER_PURPOSE_TRAFFIC_WHERE, t->first + n->node, number);
            offer->bytes = t->law->draw(t, &bits);
        }
        return true;
    }
}
