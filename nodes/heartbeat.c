/* heartbeat.c - a service that asks a neighbour again and again whether it is there, as monitoring and
 * resource managers do: each period a node sends a message to the next node of the service (the last to the
 * first), which answers at once with one of the same size.
 *
 * The nodes begin spread over the first period, so that they do not all send at once. Invariant: what is
 * in flight of a node is its messages sent less its answers, whatever has been lost.
 */
#include "nodes/service.h"

struct heartbeat {
    const struct node_service_setup *setup;
    ker_time period;
    uint64_t bytes;
};

struct beating {
    const struct heartbeat *shared;
    uint32_t node, next; /* itself, whom it asks */
    uint64_t sent, answers;
    unsigned __int128 waited; /* for answers, in all: picoseconds */
    ker_time longest;
};

static const struct ker_option options[] = {
    {"services[].period", KER_TYPE_TIME, "100 us", "1 ns", "1000000 s", NULL,
     "How often each node asks its neighbour."},
    {"services[].bytes", KER_TYPE_BYTES, "64 B", NULL, "1 TiB", NULL,
     "Size of the question, and of the answer."},
    {0},
};

enum { QUESTION, ANSWER };

static enum ker_status heartbeat_read(void *shared, const struct node_service_setup *setup,
                                      struct ker_error *error)
{
    struct heartbeat *h = shared;
    (void)error;
    h->setup = setup;
    h->period = ker_config_time(setup->config, node_service_key(setup, "period").text);
    h->bytes = ker_config_bytes(setup->config, node_service_key(setup, "bytes").text);
    return KER_OK;
}

static void beating_init(void *state, void *shared, const struct node_service_setup *setup, uint32_t node)
{
    struct beating *b = state;
    uint32_t member = node_service_member(setup, node);
    b->shared = shared;
    b->node = node;
    b->next = node_service_node(setup, (member + 1) % setup->members);
}

static bool heartbeat_endless(const void *shared)
{
    return ((const struct heartbeat *)shared)->setup->stop == KER_TIME_MAX;
}

static void message_send(const struct beating *b, struct node *node, ker_time now, uint32_t to, uint64_t what,
                         uint64_t asked)
{
    const struct heartbeat *h = b->shared;
    struct net_envelope envelope = {{what, asked}};
    struct node_message m = {.destination = to,
                             .bytes = h->bytes,
                             .envelope = &envelope,
                             .core = NODE_ANY_CORE,
                             .priority = h->setup->priority};
    node_send(node, now, h->setup->service, &m);
}

static void beat(void *state, struct node *node, ker_time now, uint32_t number)
{
    struct beating *b = state;
    const struct heartbeat *h = b->shared;
    (void)number;
    if (now >= h->setup->stop)
        return;
    b->sent++;
    message_send(b, node, now, b->next, QUESTION, (uint64_t)now);
    node_timer(node, now + h->period, h->setup->service, 0);
}

static void beating_start(void *state, struct node *node, ker_time now)
{
    const struct beating *b = state;
    const struct node_service_setup *setup = b->shared->setup;
    uint32_t member = node_service_member(setup, b->node);
    ker_time begin = now + 1 + (ker_time)((__int128)b->shared->period * member / setup->members);
    node_timer(node, begin, setup->service, 0);
}

static void beating_arrived(void *state, struct node *node, ker_time now, const struct net_message *m)
{
    struct beating *b = state;
    if (m->envelope.word[0] == QUESTION) {
        message_send(b, node, now, m->source, ANSWER, m->envelope.word[1]);
        return;
    }
    ker_time waited = now - (ker_time)m->envelope.word[1];
    b->answers++;
    b->waited += (uint64_t)waited;
    b->longest = waited > b->longest ? waited : b->longest;
    node_touch(node, now);
}

static void beating_save(void *state, struct node *node, struct ker_chunk *c)
{
    struct beating *b = state;
    (void)node;
    KER_CHUNK(c, b->sent, b->answers, b->waited, b->longest);
}

/* clang-format off */
#define COLUMNS(COLUMN) \
    COLUMN(node, "", U32, SAME, row->node, "the node") \
    COLUMN(next_node, "", U32, SAME, row->next, "the node that it asks") \
    COLUMN(sent, "messages", U64, SUM, row->sent, "questions sent") \
    COLUMN(answers, "messages", U64, SUM, row->answers, "answers received") \
    COLUMN(round_trip_mean_ps, "ps", MEAN, SUM, row->waited, "from a question to its answer, on average", \
           .by = "answers") \
    COLUMN(round_trip_max_ps, "ps", U64, MOST, row->longest, "the longest of them")
/* clang-format on */

static uint64_t row_key(const void *row)
{
    return ((const struct beating *)row)->node;
}

STATS_SCHEMA(node_heartbeat_table, struct beating, COLUMNS, row_key, "service_heartbeat",
             "One row per node of a heartbeat service, by its number.")

const struct ker_kind node_heartbeat = {
    .name = "heartbeat",
    .meaning = "each node asks the next one every period whether it is there, and waits for the answer",
    .operations = &(const struct node_service_kind){.service = {.name = "heartbeat",
                                                                .start = beating_start,
                                                                .arrived = beating_arrived,
                                                                .timer = beat,
                                                                .save = beating_save},
                                                    .shared_bytes = sizeof(struct heartbeat),
                                                    .state_bytes = sizeof(struct beating),
                                                    .read = heartbeat_read,
                                                    .init = beating_init,
                                                    .endless = heartbeat_endless,
                                                    .table = &node_heartbeat_table},
    .options = KER_OPTIONS(options),
};
