/* The traffic as a client of the adapter.
 *
 * Open loop: the adapter asks for the next message when it has injected the one before; receivers do nothing.
 * Requests and replies: at the start a node has `outstanding` requests under way; the receiver answers each
 * at once, and the reply starts the next request. So at any time requests started - replies received <=
 * outstanding. Phases: the next message starts when one has been injected.
 */
#include "tasks/traffic/traffic.h"

/* Starts the node's next message, if there is one. */
static void client_issue(struct task_traffic_node *n, struct net_node *node, ker_time now)
{
    static const struct net_envelope request = {{TASK_ENVELOPE_REQUEST}}, silent = {{0}};
    struct net_offer offer;
    n->next_ps = now; /* a closed loop has no clock of its own: this is what traffic.stop is compared with */
    if (!task_traffic_next(n, &offer))
        return;
    net_send(node, now, offer.destination, offer.bytes, n->shared->pattern->phases ? &silent : &request,
             TASK_COOKIE_TRAFFIC, n->shared->priority, NET_QUEUE_SEND);
}

static void client_issue_all(struct task_traffic_node *n, struct net_node *node, ker_time now)
{
    for (uint32_t i = 0; i < n->shared->outstanding; i++)
        client_issue(n, node, now);
}

void task_traffic_node_start(struct task_traffic_node *n, struct net_node *node, ker_time now)
{
    if (n->shared->arrival)
        return;
    if (n->shared->begin > now)
        net_timer(node, n->shared->begin, TASK_TIMER_TRAFFIC);
    else
        client_issue_all(n, node, now);
}

void task_traffic_node_timer(struct task_traffic_node *n, struct net_node *node, ker_time now)
{
    client_issue_all(n, node, now);
}

void task_traffic_node_arrived(struct task_traffic_node *n, struct net_node *node, ker_time now,
                               const struct net_message *message)
{
    static const struct net_envelope reply = {{TASK_ENVELOPE_REPLY}};
    if (message->envelope.word[0] == TASK_ENVELOPE_REQUEST)
        net_send(node, now, message->source, n->shared->reply_bytes, &reply, TASK_COOKIE_TRAFFIC,
                 n->shared->priority, NET_QUEUE_SEND);
    else if (message->envelope.word[0] == TASK_ENVELOPE_REPLY)
        client_issue(n, node, now);
}

void task_traffic_node_sent(struct task_traffic_node *n, struct net_node *node, ker_time now)
{
    if (n->shared->pattern->phases)
        client_issue(n, node, now);
}

static bool open_offer(struct net_node *node, struct net_offer *offer)
{
    return task_traffic_next(net_node_client(node), offer);
}

static void open_arrived(struct net_node *node, ker_time now, const struct net_message *message)
{
}

static void loop_start(struct net_node *node, ker_time now)
{
    task_traffic_node_start(net_node_client(node), node, now);
}

static void loop_arrived(struct net_node *node, ker_time now, const struct net_message *message)
{
    task_traffic_node_arrived(net_node_client(node), node, now, message);
}

static void loop_timer(struct net_node *node, ker_time now, uint32_t timer)
{
    task_traffic_node_timer(net_node_client(node), node, now);
}

static void phases_sent(struct net_node *node, ker_time now, uint64_t cookie)
{
    task_traffic_node_sent(net_node_client(node), node, now);
}

static const struct net_client open_client = {
    .name = "traffic, open loop", .arrived = open_arrived, .offer = open_offer};
static const struct net_client loop_client = {
    .name = "traffic, closed loop", .start = loop_start, .arrived = loop_arrived, .timer = loop_timer};
static const struct net_client phases_client = {.name = "traffic, phases",
                                                .start = loop_start,
                                                .arrived = open_arrived,
                                                .timer = loop_timer,
                                                .sent = phases_sent};

const struct net_client *task_traffic_client(const struct task_traffic *t)
{
    return t->arrival ? &open_client : t->pattern->phases ? &phases_client : &loop_client;
}
