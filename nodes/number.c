/* number.c - messages are numbered so that each says whose it is (output.links_by_job). */
#include "nodes/private.h"

/* Messages to a service of another kind and its answers are of no job: the envelope is not the sender's. */
uint32_t node_number_by_job(struct node *n, uint32_t service, const struct net_envelope *envelope)
{
    uint32_t s = node_sender_of(service), job = NET_JOB_OTHERS;
    const struct node_service *sender = n->system->services->at[s].service;
    if (envelope && sender->job && s == node_receiver_of(service))
        job = sender->job(envelope);
    return n->messages++ << NET_JOB_BITS | (job < NET_JOB_OTHERS ? job : NET_JOB_OTHERS);
}
