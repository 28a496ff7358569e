/* mine.c - a plugin as somebody outside the repository would write it: a topology with its routing, a routing
 * algorithm for a topology that is there already, a traffic pattern, and a service, each with keys of its
 * own.
 *
 * line: switches 0 .. n-1 in a row, a node on each: port 0 is the node, 1 the left neighbour, 2 the right
 * one.
 */
#include <marssim/plugin.h>

static const struct ker_option line_options[] = {{.key = "topology.length",
                                                  .type = KER_TYPE_INT,
                                                  .minimum = "2",
                                                  .maximum = "60000",
                                                  .meaning = "Line: switches."},
                                                 {0}};

static enum ker_status line_build(struct route_topology *topology, const struct ker_config *config,
                                  struct ker_error *error)
{
    struct route_summary *summary = &topology->summary;
    enum ker_status status = route_key_require(config, "topology.length", error);
    if (status == KER_OK)
        status = route_list_check(config, "topology.bandwidth", 1, "links", error);
    if (status == KER_OK)
        status = route_list_check(config, "topology.latency", 1, "links", error);
    if (status)
        return status;
    int like = route_link_add(summary, "line", route_time_each(config, "topology.latency", 0),
                              route_rate_each(config, "topology.bandwidth", 0));
    route_endpoint_link_add(summary, config, like);
    summary->endpoints = summary->switches = (uint32_t)ker_config_int(config, "topology.length");
    summary->links = 2 * (uint64_t)summary->endpoints - 1;
    summary->max_ports = 3;
    snprintf(summary->text, sizeof summary->text, "line of %u switches", summary->switches);
    return KER_OK;
}

static uint32_t line_ports(const struct route_topology *topology, uint32_t switch_id)
{
    return 3;
}

static void line_port(const struct route_topology *topology, uint32_t switch_id, uint32_t port,
                      struct route_peer *peer)
{
    *peer = (struct route_peer){.kind = ROUTE_NOTHING};
    if (port == 0)
        *peer = (struct route_peer){
            .kind = ROUTE_ENDPOINT, .id = switch_id, .link = (uint8_t)topology->summary.endpoint_link};
    else if (port == 1 && switch_id > 0)
        *peer = (struct route_peer){.kind = ROUTE_SWITCH, .id = switch_id - 1, .port = 2};
    else if (port == 2 && switch_id + 1 < topology->summary.switches)
        *peer = (struct route_peer){.kind = ROUTE_SWITCH, .id = switch_id + 1, .port = 1};
}

static void line_attachment(const struct route_topology *topology, uint32_t node, uint32_t *switch_id,
                            uint16_t *port)
{
    *switch_id = node;
    *port = 0;
}

static uint64_t line_address(const struct route_topology *topology, uint32_t node)
{
    return node;
}

static uint64_t line_coordinate(const struct route_topology *topology, uint32_t switch_id)
{
    return switch_id;
}

static uint32_t line_hops(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    return from < to ? to - from : from - to;
}

static uint32_t line_group(const struct route_topology *topology, uint32_t switch_id)
{
    return switch_id / 4;
}

static uint32_t line_groups(const struct route_topology *topology)
{
    return (topology->summary.switches + 3) / 4;
}

/* Free of deadlock: packets to the left and to the right never wait for each other. */
static int line_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                     const struct route_packet *packet, struct route_choice *choices)
{
    if (packet->address == coordinate)
        return route_eject(topology, packet, 0, choices);
    *choices = (struct route_choice){.port = packet->address < coordinate ? 1 : 2};
    route_channel(choices, 0, topology->channels);
    return 1;
}

static uint32_t one_channel(const struct route_topology *topology)
{
    return 1;
}

static const struct ker_kind line_minimal = {
    .name = "minimal",
    .meaning = "straight on",
    .operations =
        &(const struct route_algorithm){.by_switch = true, .next = line_next, .channels = one_channel}};
static const struct ker_kind *const line_algorithms[] = {
    &line_minimal, &route_paths_adaptive, &route_paths_valiant, &route_paths_ugal, &route_paths_par, NULL};
static const struct ker_kind line = {
    .name = "line",
    .meaning = "switches in a row, a node on each",
    .operations =
        &(const struct route_kind){
            .size = sizeof(struct route_topology),
            .build = line_build,
            .ports = line_ports,
            .port = line_port,
            .attachment = line_attachment,
            .address = line_address,
            .coordinate = line_coordinate,
            .hops = line_hops,
            .group = line_group,
            .groups = line_groups,
        },
    .options = KER_OPTIONS(line_options, route_link_options),
    .brings = KER_BRINGS("routing.algorithm", struct route_algorithm, line_algorithms)};
static const struct ker_kind *const topologies[] = {&line, NULL};

/* ---- a routing algorithm of the star ---- */

static int out_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                    const struct route_packet *packet, struct route_choice *choices)
{
    return route_eject(topology, packet, (uint32_t)packet->address, choices);
}

static const struct ker_kind out = {.name = "straight_out",
                                    .meaning = "to the node's port",
                                    .of = "star",
                                    .operations = &(const struct route_algorithm){
                                        .by_switch = true, .next = out_next, .channels = one_channel}};
static const struct ker_kind *const algorithms[] = {&out, NULL};

/* ---- a pattern ---- */

static const struct ker_option every_options[] = {
    {.key = "traffic.every",
     .type = KER_TYPE_INT,
     .fallback = "2",
     .minimum = "1",
     .meaning = "every: which nodes send, each to the mirror image of itself."},
    {0}};

static uint32_t every; /* a plugin may keep what one run needs */

static enum ker_status every_read(struct task_traffic *t, const struct ker_config *config,
                                  const struct route_topology *topology, struct ker_error *error)
{
    every = (uint32_t)ker_config_int(config, "traffic.every");
    return KER_OK;
}

static uint32_t every_partner(const struct task_traffic *t, uint32_t node)
{
    return node % every ? TASK_NOBODY : t->nodes - 1 - node;
}

static const struct ker_kind pattern = {
    .name = "every",
    .meaning = "every traffic.every-th node to its mirror image",
    .operations = &(const struct task_traffic_pattern){.read = every_read, .partner = every_partner},
    .options = KER_OPTIONS(every_options)};
static const struct ker_kind *const patterns[] = {&pattern, NULL};

/* ---- a service: each node asks others at random times, with a few questions open at most ---- */

struct asking {
    const struct node_service_setup *setup;
    uint32_t purpose, open_most;
    ker_time gap;
};

struct asker {
    const struct asking *shared;
    uint32_t node, open;
    uint64_t draws, asked, answers, skipped;
};

#ifndef PURPOSE
#define PURPOSE "mine.ask"
#endif
static const char purpose[] = PURPOSE;
static const char *const purposes[] = {purpose, NULL};

static const struct ker_option ask_options[] = {{.key = "services[].gap",
                                                 .type = KER_TYPE_TIME,
                                                 .minimum = "1 ns",
                                                 .fallback = "2 us",
                                                 .meaning = "ask: longest time between two questions."},
                                                {.key = "services[].open",
                                                 .type = KER_TYPE_INT,
                                                 .minimum = "1",
                                                 .fallback = "2",
                                                 .meaning = "ask: most questions without an answer."},
                                                {0}};

static enum ker_status ask_read(void *shared, const struct node_service_setup *setup, struct ker_error *error)
{
    struct asking *a = shared;
    if (setup->members < 2)
        return ker_config_fail(setup->config, error, setup->key, "ask needs two nodes at least");
    *a = (struct asking){setup, ker_purpose(purpose),
                         (uint32_t)ker_config_int(setup->config, node_service_key(setup, "open").text),
                         ker_config_time(setup->config, node_service_key(setup, "gap").text)};
    return KER_OK;
}

static void ask_init(void *state, void *shared, const struct node_service_setup *setup, uint32_t node)
{
    *(struct asker *)state = (struct asker){.shared = shared, .node = node};
}

static bool ask_endless(const void *shared)
{
    return true;
}

static struct ker_bits ask_draw(struct asker *a)
{
    return ker_random_bits(a->shared->setup->seed, a->shared->purpose, a->node, a->draws++);
}

static void ask_wait(struct asker *a, struct node *node, ker_time now)
{
    struct ker_bits bits = ask_draw(a);
    ker_time gap = 1 + (ker_time)(ker_random_unit(bits.word[0], bits.word[1]) * (double)a->shared->gap);
    node_timer(node, now + gap, a->shared->setup->service, 0);
}

static void ask_start(void *state, struct node *node, ker_time now)
{
    ask_wait(state, node, now);
}

static void ask_timer(void *state, struct node *node, ker_time now, uint32_t number)
{
    struct asker *a = state;
    const struct node_service_setup *setup = a->shared->setup;
    struct net_envelope question = {{1}};
    if (now >= setup->stop)
        return;
    ask_wait(a, node, now);
    if (a->open == a->shared->open_most) {
        a->skipped++;
        return;
    }
    uint32_t step = 1 + ker_random_below(ask_draw(a).word[0], setup->members - 1);
    uint32_t whom = (node_service_member(setup, a->node) + step) % setup->members;
    struct node_message m = {.destination = node_service_node(setup, whom),
                             .bytes = 100,
                             .envelope = &question,
                             .core = NODE_ANY_CORE,
                             .priority = setup->priority};
    a->open++;
    a->asked++;
    node_send(node, now, setup->service, &m);
}

static void ask_arrived(void *state, struct node *node, ker_time now, const struct net_message *message)
{
    struct asker *a = state;
    struct node_message m = {.destination = message->source, .bytes = 3000, .core = NODE_ANY_CORE};
    if (message->envelope.word[0] == 1) {
        node_send(node, now, a->shared->setup->service, &m);
        return;
    }
    a->open--;
    a->answers++;
    node_touch(node, now);
}

static void ask_save(void *state, struct node *node, struct ker_chunk *c)
{
    struct asker *a = state;
    KER_CHUNK(c, a->open);
    KER_CHUNK(c, a->draws);
    KER_CHUNK(c, a->asked);
    KER_CHUNK(c, a->answers);
    KER_CHUNK(c, a->skipped);
}

#define ASK_COLUMNS(COLUMN)                                                                                  \
    COLUMN(node, "", U32, SAME, row->node, "the node")                                                       \
    COLUMN(asked, "messages", U64, SUM, row->asked, "questions")                                             \
    COLUMN(answers, "messages", U64, SUM, row->answers, "answers")                                           \
    COLUMN(skipped, "", U64, SUM, row->skipped, "times when too many were open")

static uint64_t ask_key(const void *row)
{
    return ((const struct asker *)row)->node;
}

STATS_OWN_SCHEMA(ask_table, struct asker, ASK_COLUMNS, ask_key, "service_ask", "One row per node.")

static const struct ker_kind ask = {
    .name = "ask",
    .meaning = "questions to others at random times",
    .operations = &(const struct node_service_kind){.service = {.name = "ask",
                                                                .start = ask_start,
                                                                .arrived = ask_arrived,
                                                                .timer = ask_timer,
                                                                .save = ask_save},
                                                    .shared_bytes = sizeof(struct asking),
                                                    .state_bytes = sizeof(struct asker),
                                                    .read = ask_read,
                                                    .init = ask_init,
                                                    .endless = ask_endless,
                                                    .table = &ask_table},
    .options = KER_OPTIONS(ask_options)};
static const struct ker_kind *const services[] = {&ask, NULL};

#ifndef NAME_TAKEN
MARSSIM_PLUGIN_WITH(purposes, MARSSIM_BRINGS("topology.kind", struct route_kind, topologies),
                    MARSSIM_BRINGS("routing.algorithm", struct route_algorithm, algorithms),
                    MARSSIM_BRINGS("traffic.pattern", struct task_traffic_pattern, patterns),
                    MARSSIM_BRINGS("services[].kind", struct node_service_kind, services));
#else /* what is refused */
static const struct ker_kind torus = {.name = "torus", .meaning = "another", .operations = &line};
static const struct ker_kind *const taken[] = {&torus, NULL};
MARSSIM_PLUGIN(MARSSIM_BRINGS("topology.kind", struct route_kind, taken));
#endif
