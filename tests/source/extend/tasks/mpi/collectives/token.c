/* token.c - a barrier and an allreduce: a token goes round the ranks twice, and the vector with it; whoever
 * gets it a second time may continue.
 *
 * Rank 0 sends before it receives, the others receive before they send.
 */
#include "tasks/mpi/collectives/collective.h"

static bool token_round(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    bool sends = (round % 2 == 0) == (v->rank == 0);
    if (round == 4 || v->size < 2)
        return false;
    task_coll_round_clear(r);
    if (sends)
        r->send_to = (v->rank + 1) % v->size;
    else
        r->receive_from = (v->rank + v->size - 1) % v->size;
    r->send_tag = r->receive_tag = (int32_t)(round / 2);
    r->send_bytes = r->receive_bytes = v->collective == TASK_COLL_ALLREDUCE ? v->bytes : 0;
    r->fence = true;
    return true;
}

const struct ker_kind task_coll_kind_token = {.name = "token",
                                              .of = "barrier|allreduce",
                                              .meaning = "a token goes round twice",
                                              .operations = TASK_COLL_ALGORITHM(token_round)};
