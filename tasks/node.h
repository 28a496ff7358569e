/* node.h - the head of every client state in tasks/, so that tasks and synthetic traffic can share a node.
 *
 * What net_node_client() returns for a node in tasks/ begins with a struct task_node: struct task_mpi_node has one as its
 * first member, and so has struct task_traffic_node. When tasks and traffic share a node, the state is the MPI model's, the
 * glue (system.c) sets `traffic` in it, and a client made of both tells whose a message or timer is:
 *   - timer 65535 and the envelopes named below are the traffic's, everything else is the MPI model's;
 *   - so the MPI model never uses these: word[0] of its envelopes is neither 0 nor above TASK_ENVELOPE_TRAFFIC.
 */
#ifndef TASKS_NODE_H
#define TASKS_NODE_H

#include "net/net.h"

struct task_traffic_node;

struct task_node {
    struct task_traffic_node *traffic; /* NULL: none on this node */
};

#define TASK_TIMER_TRAFFIC 65535u
/* word[0] of an envelope of the traffic: open-loop messages carry 0, requests and replies carry these. */
#define TASK_ENVELOPE_TRAFFIC (UINT64_MAX - 15)
#define TASK_ENVELOPE_REQUEST (UINT64_MAX - 1)
#define TASK_ENVELOPE_REPLY UINT64_MAX
static inline bool task_envelope_is_traffic(const struct net_envelope *envelope)
{
    return envelope->word[0] == 0 || envelope->word[0] > TASK_ENVELOPE_TRAFFIC;
}

#endif
