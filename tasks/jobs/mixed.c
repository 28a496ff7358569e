/* A node that runs tasks and takes part in the synthetic traffic, too: one client that gives each call to
 * whom it belongs.
 *
 * The state is the traffic's, which knows the MPI model's. Invariant: envelopes, timers and cookies tell
 * whose they are (traffic.h), so that neither side ever sees the other's.
 */
#include "tasks/mpi/mpi.h"
#include "tasks/traffic/traffic.h"

static void mixed_start(struct net_node *node, ker_time now)
{
    struct task_traffic_node *n = net_node_client(node);
    task_mpi_node_start(n->mpi, node, now);
    task_traffic_node_start(n, node, now);
}

static void mixed_arrived(struct net_node *node, ker_time now, const struct net_message *message)
{
    struct task_traffic_node *n = net_node_client(node);
    if (task_traffic_owns(message))
        task_traffic_node_arrived(n, node, now, message);
    else
        task_mpi_node_arrived(n->mpi, node, now, message);
}

static void mixed_sent(struct net_node *node, ker_time now, uint64_t cookie)
{
    struct task_traffic_node *n = net_node_client(node);
    if (cookie == TASK_COOKIE_TRAFFIC)
        task_traffic_node_sent(n, node, now);
    else
        task_mpi_node_sent(n->mpi, node, now, cookie);
}

static void mixed_timer(struct net_node *node, ker_time now, uint32_t timer)
{
    struct task_traffic_node *n = net_node_client(node);
    if (timer == TASK_TIMER_TRAFFIC)
        task_traffic_node_timer(n, node, now);
    else
        task_mpi_node_timer(n->mpi, node, now, timer);
}

static bool mixed_offer(struct net_node *node, struct net_offer *offer)
{
    return task_traffic_next(net_node_client(node), offer);
}

static const struct net_client open_client = {.name = "tasks and open-loop traffic",
                                              .start = mixed_start,
                                              .arrived = mixed_arrived,
                                              .sent = mixed_sent,
                                              .timer = mixed_timer,
                                              .offer = mixed_offer};
static const struct net_client loop_client = {.name = "tasks and closed-loop traffic",
                                              .start = mixed_start,
                                              .arrived = mixed_arrived,
                                              .sent = mixed_sent,
                                              .timer = mixed_timer};

const struct net_client *task_mixed_client(const struct task_traffic *t)
{
    return t->arrival ? &open_client : &loop_client;
}
