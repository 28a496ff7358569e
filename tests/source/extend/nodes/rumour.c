/* rumour.c - a service: what one node knows it tells two others, once; the first node knows it at the start.
 */
#include "nodes/service.h"

struct rumour {
    const struct node_service_setup *setup;
    uint32_t fan;
};

struct hearer {
    const struct rumour *shared;
    uint32_t node;
    uint64_t heard, told;
    ker_time when;
};

static const struct ker_option options[] = {
    {.key = "services[].fan",
     .type = KER_TYPE_INT,
     .fallback = "2",
     .minimum = "1",
     .maximum = "100",
     .meaning = "How many others each node tells."},
    {.key = NULL},
};

static enum ker_status rumour_read(void *shared, const struct node_service_setup *setup,
                                   struct ker_error *error)
{
    struct rumour *r = shared;
    r->setup = setup;
    r->fan = (uint32_t)ker_config_int(setup->config, node_service_key(setup, "fan").text);
    return KER_OK;
}

static void hearer_init(void *state, void *shared, const struct node_service_setup *setup, uint32_t node)
{
    *(struct hearer *)state = (struct hearer){.shared = shared, .node = node};
}

static void hearer_tell(struct hearer *h, struct node *node, ker_time now)
{
    const struct node_service_setup *setup = h->shared->setup;
    uint32_t member = node_service_member(setup, h->node);
    for (uint32_t i = 1; i <= h->shared->fan && h->heard == 1; i++) {
        uint32_t whom = (uint32_t)(((uint64_t)member * h->shared->fan + i) % setup->members);
        struct node_message m = {
            .destination = node_service_node(setup, whom), .bytes = 10, .core = NODE_ANY_CORE};
        h->told++;
        node_send(node, now, setup->service, &m);
    }
}

static void hearer_start(void *state, struct node *node, ker_time now)
{
    struct hearer *h = state;
    h->heard += h->node == h->shared->setup->first_node;
    hearer_tell(h, node, now);
}

static void hearer_arrived(void *state, struct node *node, ker_time now, const struct net_message *m)
{
    struct hearer *h = state;
    h->when = h->heard++ ? h->when : now;
    hearer_tell(h, node, now);
}

static void hearer_save(void *state, struct node *node, struct ker_chunk *c)
{
    struct hearer *h = state;
    KER_CHUNK(c, h->heard);
    KER_CHUNK(c, h->told);
    KER_CHUNK(c, h->when);
}

#define COLUMNS(COLUMN)                                                                                      \
    COLUMN(node, "", U32, SAME, row->node, "the node")                                                       \
    COLUMN(told, "messages", U64, SUM, row->told, "how many it told")                                        \
    COLUMN(when_ps, "ps", U64, MOST, row->when, "when it first heard")

static uint64_t row_key(const void *row)
{
    return ((const struct hearer *)row)->node;
}

STATS_OWN_SCHEMA(table, struct hearer, COLUMNS, row_key, "service_rumour", "One row per node.")

const struct ker_kind node_rumour = {
    .name = "rumour",
    .meaning = "each node tells some others what it has heard, once",
    .operations = &(const struct node_service_kind){.service = {.name = "rumour",
                                                                .start = hearer_start,
                                                                .arrived = hearer_arrived,
                                                                .save = hearer_save},
                                                    .shared_bytes = sizeof(struct rumour),
                                                    .state_bytes = sizeof(struct hearer),
                                                    .read = rumour_read,
                                                    .init = hearer_init,
                                                    .table = &table},
    .options = KER_OPTIONS(options)};
