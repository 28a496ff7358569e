/* service.c - the traffic as a service of the nodes.
 *
 * Open loop: the adapter asks for the next message when it has injected the one before; receivers do nothing.
 * Requests and replies: at the start a node has `outstanding` requests outstanding; the receiver answers each
 * at once, and the reply starts the next request. So at any time requests started - replies received <=
 * outstanding. Phases: the next message starts when one has been injected.
 */
#include "tasks/traffic/traffic.h"

/* What the first word of an envelope says. */
enum { ENVELOPE_REQUEST = 1, ENVELOPE_REPLY };

/* Starts the node's next message, if there is one. */
static void loop_issue(struct task_traffic_node *n, struct node *node, ker_time now)
{
    static const struct net_envelope request = {{ENVELOPE_REQUEST}};
    const struct task_traffic *t = n->shared;
    struct net_offer offer;
    n->next_ps = now; /* a closed loop has no clock of its own: this is what traffic.stop is compared with */
    if (!task_traffic_next(n, &offer))
        return;
    struct node_message m = {.destination = offer.destination,
                             .bytes = offer.bytes,
                             .envelope = t->pattern->phases ? NULL : &request,
                             .cookie = t->pattern->phases,
                             .core = NODE_ANY_CORE,
                             .priority = (uint8_t)t->priority};
    node_send(node, now, t->service, &m);
}

static void loop_issue_all(struct task_traffic_node *n, struct node *node, ker_time now)
{
    const struct task_traffic *t = n->shared;
    uint32_t cores = t->pattern->phases ? 1 : node_model_cores(t->model, t->first + n->node);
    for (uint64_t i = 0; i < (uint64_t)t->outstanding * cores; i++)
        loop_issue(n, node, now);
}

static void loop_start(void *state, struct node *node, ker_time now)
{
    struct task_traffic_node *n = state;
    if (n->shared->begin > now)
        node_timer(node, n->shared->begin, n->shared->service, 0);
    else
        loop_issue_all(n, node, now);
}

static void loop_timer(void *state, struct node *node, ker_time now, uint32_t number)
{
    loop_issue_all(state, node, now);
}

static void loop_arrived(void *state, struct node *node, ker_time now, const struct net_message *message)
{
    static const struct net_envelope reply = {{ENVELOPE_REPLY}};
    struct task_traffic_node *n = state;
    if (message->envelope.word[0] == ENVELOPE_REPLY) {
        loop_issue(n, node, now);
        return;
    }
    struct node_message m = {.destination = message->source,
                             .bytes = n->shared->reply_bytes,
                             .envelope = &reply,
                             .core = NODE_ANY_CORE,
                             .priority = (uint8_t)n->shared->priority};
    node_send(node, now, n->shared->service, &m);
}

static void phases_sent(void *state, struct node *node, ker_time now, uint64_t cookie)
{
    loop_issue(state, node, now);
}

static bool open_offer(void *state, struct net_offer *offer)
{
    return task_traffic_next(state, offer);
}

/* How far a source has come; whatever it has not been asked for yet follows from that. */
static void traffic_save(void *state, struct node *node, struct ker_chunk *c)
{
    struct task_traffic_node *n = state;
    KER_CHUNK(c, n->drawn, n->next_ps, n->next_fraction);
    n->law = ker_chunk_below(c, n->law, n->shared->formers + 1) & INT16_MAX;
    n->renewed = ker_chunk_u32(c, n->renewed) & INT16_MAX;
    n->burst_ended = ker_chunk_bool(c, n->burst_ended);
    n->begins = ker_chunk_bool(c, n->begins);
}

static const struct node_service open_service = {
    .name = "traffic", .offer = open_offer, .renew = task_traffic_renew, .save = traffic_save};
static const struct node_service loop_service = {.name = "traffic",
                                                 .start = loop_start,
                                                 .arrived = loop_arrived,
                                                 .timer = loop_timer,
                                                 .save = traffic_save};
static const struct node_service phases_service = {
    .name = "traffic", .start = loop_start, .timer = loop_timer, .sent = phases_sent, .save = traffic_save};

const struct node_service *task_traffic_service(const struct task_traffic *t)
{
    return t->arrival ? &open_service : t->pattern->phases ? &phases_service : &loop_service;
}
