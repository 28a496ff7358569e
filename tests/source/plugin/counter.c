/* counter.c - two services as somebody outside the repository would write them: customers, who ask again and
 * again, and clerks on some of the nodes, each of whom answers one question after the other.
 */
#include <marssim/plugin.h>

#include <stdlib.h>

/* ---- clerks ---- */

struct desk {
    const struct node_service_setup *setup;
    ker_time time;
};
struct clerk {
    const struct desk *shared;
    struct node_caller *waits; /* in their order; its own memory */
    uint32_t count;
};

static const struct ker_option desk_options[] = {
    {"services[].time", KER_TYPE_TIME, "1 us", "1 ps", "1 s", NULL, "clerk: for a question."}, {0}};

static enum ker_status desk_read(void *shared, const struct node_service_setup *setup,
                                 struct ker_error *error)
{
    *(struct desk *)shared =
        (struct desk){setup, ker_config_time(setup->config, node_service_key(setup, "time").text)};
    return KER_OK;
}

static void clerk_init(void *state, void *shared, const struct node_service_setup *setup, uint32_t node)
{
    ((struct clerk *)state)->shared = shared;
}

static void clerk_arrived(void *state, struct node *node, ker_time now, const struct net_message *m)
{
    struct clerk *c = state;
    *KER_APPEND(c->waits, c->count) = node_caller_of(m);
    if (c->count == 1)
        node_timer(node, now + c->shared->time, c->shared->setup->service, 0);
}

static void clerk_timer(void *state, struct node *node, ker_time now, uint32_t number)
{
    struct clerk *c = state;
    node_answer(node, now, c->shared->setup->service, &c->waits[0], 64, NULL, c->shared->setup->priority);
    for (uint32_t i = 1; i < c->count; i++)
        c->waits[i - 1] = c->waits[i];
    if (--c->count)
        node_timer(node, now + c->shared->time, c->shared->setup->service, 0);
}

static void clerk_save(void *state, struct node *node, struct ker_chunk *chunk)
{
    struct clerk *c = state;
    uint32_t count = ker_chunk_count(chunk, c->count, sizeof *c->waits);
    for (uint32_t i = 0; i < count && !chunk->bad; i++) {
        if (chunk->loads)
            *KER_APPEND(c->waits, c->count) = (struct node_caller){0};
        KER_CHUNK(chunk, c->waits[i]);
    }
}

static void clerk_release(void *state)
{
    free(((struct clerk *)state)->waits);
}

/* ---- customers ---- */

struct shop {
    const struct node_service_setup *setup, *clerks;
    struct node_role at; /* the clerks that are asked */
    ker_time gap;
};
struct customer {
    const struct shop *shared;
    uint32_t node;
    uint64_t asked, answers;
    ker_time longest;
};

static const struct ker_option shop_options[] = {
    {"services[].clerks", KER_TYPE_STRING, "clerk", NULL, NULL, NULL, "customer: the service that is asked."},
    {"services[].desks", KER_TYPE_STRING, NULL, NULL, NULL, NULL, "customer: on which of its own nodes."},
    {"services[].gap", KER_TYPE_TIME, "5 us", "1 ns", "1 s", NULL, "customer: from question to question."},
    {0}};

static enum ker_status shop_read(void *shared, const struct node_service_setup *setup,
                                 struct ker_error *error)
{
    struct shop *s = shared;
    s->setup = setup;
    s->gap = ker_config_time(setup->config, node_service_key(setup, "gap").text);
    enum ker_status status = node_service_find(&s->clerks, setup, "clerks", error);
    return status ? status : node_role_read(&s->at, setup, "desks", error);
}

static void shop_release(void *shared)
{
    node_role_release(&((struct shop *)shared)->at);
}

static void customer_init(void *state, void *shared, const struct node_service_setup *setup, uint32_t node)
{
    *(struct customer *)state = (struct customer){.shared = shared, .node = node};
}

static void customer_ask(void *state, struct node *node, ker_time now, uint32_t number)
{
    struct customer *c = state;
    const struct shop *s = c->shared;
    if (now >= s->setup->stop)
        return;
    struct net_envelope envelope = {{(uint64_t)now}};
    struct node_message m = {.destination = s->at.node[(c->node + c->asked++) % s->at.members],
                             .bytes = 64,
                             .envelope = &envelope,
                             .core = NODE_ANY_CORE,
                             .priority = s->setup->priority};
    node_send(node, now, NODE_TO(s->setup->service, s->clerks->service), &m);
    node_timer(node, now + s->gap, s->setup->service, 0);
}

static void customer_start(void *state, struct node *node, ker_time now)
{
    const struct customer *c = state;
    node_timer(node, now + 1, c->shared->setup->service, 0);
}

static void customer_arrived(void *state, struct node *node, ker_time now, const struct net_message *m)
{
    struct customer *c = state;
    ker_time time = now - (ker_time)m->envelope.word[0];
    ker_assert(node_message_from(m) == c->shared->clerks->service);
    c->longest = time > c->longest ? time : c->longest;
    c->answers++;
    node_touch(node, now);
}

static void customer_save(void *state, struct node *node, struct ker_chunk *chunk)
{
    struct customer *c = state;
    KER_CHUNK(chunk, c->asked);
    KER_CHUNK(chunk, c->answers);
    KER_CHUNK(chunk, c->longest);
}

static bool shop_endless(const void *shared)
{
    return ((const struct shop *)shared)->setup->stop == KER_TIME_MAX;
}

#define COLUMNS(COLUMN)                                                                                      \
    COLUMN(node, "", U32, SAME, row->node, "the node")                                                       \
    COLUMN(asked, "messages", U64, SUM, row->asked, "questions")                                             \
    COLUMN(answers, "messages", U64, SUM, row->answers, "answers")                                           \
    COLUMN(longest_ps, "ps", U64, MOST, row->longest, "from a question to its answer, at most")

static uint64_t row_key(const void *row)
{
    return ((const struct customer *)row)->node;
}

STATS_OWN_SCHEMA(table, struct customer, COLUMNS, row_key, "service_customer", "One row per node.")

static const struct ker_kind clerk = {
    .name = "clerk",
    .meaning = "answers one question after the other",
    .operations = &(const struct node_service_kind){.service = {.name = "clerk",
                                                                .arrived = clerk_arrived,
                                                                .timer = clerk_timer,
                                                                .save = clerk_save,
                                                                .release = clerk_release},
                                                    .shared_bytes = sizeof(struct desk),
                                                    .state_bytes = sizeof(struct clerk),
                                                    .read = desk_read,
                                                    .init = clerk_init},
    .options = KER_OPTIONS(desk_options)};
static const struct ker_kind customer = {
    .name = "customer",
    .meaning = "asks clerks in turn",
    .operations = &(const struct node_service_kind){.service = {.name = "customer",
                                                                .start = customer_start,
                                                                .arrived = customer_arrived,
                                                                .timer = customer_ask,
                                                                .save = customer_save},
                                                    .shared_bytes = sizeof(struct shop),
                                                    .state_bytes = sizeof(struct customer),
                                                    .read = shop_read,
                                                    .release = shop_release,
                                                    .init = customer_init,
                                                    .endless = shop_endless,
                                                    .table = &table},
    .options = KER_OPTIONS(shop_options)};
static const struct ker_kind *const services[] = {&customer, &clerk, NULL};
MARSSIM_PLUGIN(MARSSIM_BRINGS("services[].kind", struct node_service_kind, services));
