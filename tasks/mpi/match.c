/* match.c - pairing messages with receives by (communicator, source, tag) in MPI's order.
 *
 * Each task has a queue of posted receives and one of unexpected messages, separately for the program and for
 * collectives. A receive takes the first unexpected message that fits, a message the first posted receive
 * that fits. Messages of one pair of tasks may overtake each other in the network: they are numbered, and one
 * that comes before its turn waits in `early` until its turn has come; so unexpected and posted queues see
 * each pair's messages in the order in which they were sent. Collective messages need no numbers: (call,
 * start, source, tag) names each exactly. Invariant: no unexpected message fits a posted receive.
 */
#include "tasks/mpi/state.h"

#include <stdlib.h>

/* -- peers -- */

static uint64_t peer_hash(const void *key)
{
    return ker_hash(((const struct task_peer *)key)->key);
}

static bool peer_same(const void *entry, const void *key)
{
    return ((const struct task_peer *)entry)->key == ((const struct task_peer *)key)->key;
}

const struct ker_table_kind task_peer_kind = {sizeof(struct task_peer), peer_hash, peer_same};

struct task_peer *task_peer_get(struct task_state *task, uint32_t key)
{
    bool is_new;
    struct task_peer wanted = {.key = key};
    struct task_peer *peer = ker_table_add(&task_peer_kind, &task->peers, &wanted, &is_new);
    peer->key = key;
    return peer;
}

int32_t task_match_peer(const struct task_mpi *mpi, const struct task_state *task, int32_t comm, int32_t rank)
{
    if (rank < 0 || comm == 0)
        return rank;
    const struct task_job *job = task_job_of(mpi, task);
    int32_t count;
    const struct task_comm *comms = job->class->comms(job->program, &count);
    ker_assert(comm < count && rank < comms[comm].size);
    return task_comm_task(&comms[comm], rank);
}

/* -- queues of messages -- */

void task_message_push(struct task_mpi *mpi, struct task_queue *queue, const struct task_wire *wire)
{
    uint32_t index = ker_chunks_take(&mpi->message);
    task_message_at(mpi, index)->wire = *wire;
    if (queue->last)
        task_message_at(mpi, queue->last)->next = index;
    else
        queue->first = index;
    queue->last = index;
}

/* Removes the message after `previous` (0: the first) and frees it. */
static void message_remove(struct task_mpi *mpi, struct task_queue *queue, uint32_t previous, uint32_t index)
{
    uint32_t next = task_message_at(mpi, index)->next;
    if (previous)
        task_message_at(mpi, previous)->next = next;
    else
        queue->first = next;
    if (queue->last == index)
        queue->last = previous;
    ker_chunks_give(&mpi->message, index);
}

static bool message_of(const struct task_wire *wire, int32_t comm, int32_t window)
{
    return wire->comm == comm && wire->tag == window;
}

uint32_t task_message_first(const struct task_mpi *mpi, const struct task_queue *queue, int32_t comm,
                            int32_t window)
{
    uint32_t i = queue->first;
    while (i && !message_of(&task_message_at(mpi, i)->wire, comm, window))
        i = task_message_at(mpi, i)->next;
    return i;
}

bool task_message_pull(struct task_mpi *mpi, struct task_queue *queue, int32_t comm, int32_t window,
                       int32_t to, struct task_wire *wire)
{
    for (uint32_t previous = 0, i = queue->first; i; previous = i, i = task_message_at(mpi, i)->next) {
        *wire = task_message_at(mpi, i)->wire;
        if (!message_of(wire, comm, window) || (to != TASK_ANY && wire->destination != (uint32_t)to))
            continue;
        message_remove(mpi, queue, previous, i);
        return true;
    }
    return false;
}

/* -- queues of posted receives -- */

void task_posted_push(struct task_mpi *mpi, struct task_queue *queue, uint32_t index)
{
    task_request_at(mpi, index)->next = 0;
    if (queue->last)
        task_request_at(mpi, queue->last)->next = index;
    else
        queue->first = index;
    queue->last = index;
}

static void posted_remove(struct task_mpi *mpi, struct task_queue *queue, uint32_t previous, uint32_t index)
{
    uint32_t next = task_request_at(mpi, index)->next;
    if (previous)
        task_request_at(mpi, previous)->next = next;
    else
        queue->first = next;
    if (queue->last == index)
        queue->last = previous;
}

/* -- matching -- */

bool task_match_fits(const struct task_wire *wire, int32_t source, int32_t tag, int32_t comm, uint32_t call)
{
    if (wire->comm != comm || (tag != TASK_ANY && wire->tag != tag))
        return false;
    if (source != TASK_ANY && wire->source != (uint32_t)source)
        return false;
    return !(wire->flags & TASK_WIRE_COLLECTIVE) || wire->sequence == call;
}

static bool request_fits(const struct task_mpi *mpi, const struct task_wire *wire,
                         const struct task_request *r)
{
    if (!task_match_fits(wire, r->peer, r->tag, r->comm, r->sequence))
        return false;
    return !(wire->flags & TASK_WIRE_COLLECTIVE) || wire->start == task_run_at(mpi, r->run)->start;
}

bool task_match_post(struct task_mpi *mpi, struct task_state *task, uint32_t request, struct task_wire *wire)
{
    const struct task_request *r = task_request_at(mpi, request);
    bool collective = r->flags & TASK_REQUEST_COLLECTIVE;
    struct task_queue *queue = &task->unexpected[collective];
    for (uint32_t previous = 0, i = queue->first; i; previous = i, i = task_message_at(mpi, i)->next) {
        *wire = task_message_at(mpi, i)->wire;
        if (request_fits(mpi, wire, r)) {
            message_remove(mpi, queue, previous, i);
            return true;
        }
    }
    task_posted_push(mpi, &task->posted[collective], request);
    return false;
}

uint32_t task_match_take(struct task_mpi *mpi, struct task_state *task, const struct task_wire *wire)
{
    bool collective = wire->flags & TASK_WIRE_COLLECTIVE;
    struct task_queue *queue = &task->posted[collective];
    for (uint32_t previous = 0, i = queue->first; i; previous = i, i = task_request_at(mpi, i)->next)
        if (request_fits(mpi, wire, task_request_at(mpi, i))) {
            posted_remove(mpi, queue, previous, i);
            return i;
        }
    task_message_push(mpi, &task->unexpected[collective], wire);
    return 0;
}

bool task_match_turn(struct task_mpi *mpi, struct task_state *task, const struct task_wire *wire)
{
    struct task_peer *peer = task_peer_get(task, wire->source + 1);
    if (wire->sequence != peer->receives) {
        task_message_push(mpi, &task->early, wire);
        return false;
    }
    peer->receives++;
    return true;
}

bool task_match_early(struct task_mpi *mpi, struct task_state *task, uint32_t source, struct task_wire *wire)
{
    if (!task->early.first)
        return false;
    struct task_peer *peer = task_peer_get(task, source + 1);
    for (uint32_t previous = 0, i = task->early.first; i; previous = i, i = task_message_at(mpi, i)->next) {
        *wire = task_message_at(mpi, i)->wire;
        if (wire->source == source && wire->sequence == peer->receives) {
            message_remove(mpi, &task->early, previous, i);
            peer->receives++;
            return true;
        }
    }
    return false;
}

bool task_match_cancel(struct task_mpi *mpi, struct task_state *task, uint32_t request)
{
    struct task_queue *queue = &task->posted[0];
    for (uint32_t previous = 0, i = queue->first; i; previous = i, i = task_request_at(mpi, i)->next)
        if (i == request) {
            posted_remove(mpi, queue, previous, i);
            return true;
        }
    return false;
}

bool task_match_hold(struct task_mpi *mpi, struct task_state *task, int32_t source, int32_t tag, int32_t comm,
                     uint32_t message)
{
    struct task_queue *queue = &task->unexpected[0];
    for (uint32_t previous = 0, i = queue->first; i; previous = i, i = task_message_at(mpi, i)->next) {
        struct task_wire wire = task_message_at(mpi, i)->wire;
        if (!task_match_fits(&wire, source, tag, comm, 0))
            continue;
        message_remove(mpi, queue, previous, i);
        wire.receiver = message;
        task_message_push(mpi, &task->held, &wire);
        return true;
    }
    return false;
}

bool task_match_held(struct task_mpi *mpi, struct task_state *task, uint32_t message, struct task_wire *wire)
{
    for (uint32_t previous = 0, i = task->held.first; i; previous = i, i = task_message_at(mpi, i)->next) {
        *wire = task_message_at(mpi, i)->wire;
        if (wire->receiver == message) {
            message_remove(mpi, &task->held, previous, i);
            return true;
        }
    }
    return false;
}

bool task_match_probe(const struct task_mpi *mpi, const struct task_state *task, int32_t source, int32_t tag,
                      int32_t comm)
{
    for (uint32_t i = task->unexpected[0].first; i; i = task_message_at(mpi, i)->next)
        if (task_match_fits(&task_message_at(mpi, i)->wire, source, tag, comm, 0))
            return true;
    return false;
}
