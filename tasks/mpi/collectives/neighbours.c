/* neighbours.c - collectives among neighbours in a topology: each round has one neighbour to receive from and
 * one to send to, without waiting in between.
 *
 * That is what MPI libraries do: post all receives and all sends, and wait for all of them. A receive and a
 * send in turn give the same messages in constant memory. MPI_PROC_NULL, beyond the edge of a grid, is left
 * out.
 */
#include "tasks/mpi/collectives/collective.h"

static bool task_coll_linear_neighbours(const struct task_coll_view *v, uint32_t round,
                                        struct task_coll_round *r)
{
    const struct task_neighbours *n = v->neighbours;
    task_coll_round_clear(r);
    if (round >= n->in && round >= n->out)
        return false;
    if (round < n->in && n->source[round] >= 0) {
        r->receive_from = n->source[round];
        r->receive_tag = n->source_tag[round];
        r->receive_bytes = v->receive_bytes ? v->receive_bytes[round] : v->bytes2;
    }
    if (round < n->out && n->destination[round] >= 0) {
        r->send_to = n->destination[round];
        r->send_tag = n->destination_tag[round];
        r->send_bytes = v->send_bytes ? v->send_bytes[round] : v->bytes;
    }
    return true;
}

TASK_COLL_KIND(linear_neighbours, "linear",
               "neighbor_allgather|neighbor_allgatherv|neighbor_alltoall|neighbor_alltoallv",
               "a message from and to each neighbour, all at once",
               TASK_COLL_ALGORITHM(task_coll_linear_neighbours));
