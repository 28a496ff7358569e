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

static __attribute__((noinline)) struct task_peer *peer_new(struct task_state *task, uint32_t key)
{
    bool is_new;
    struct task_peer wanted = {.key = key};
    struct task_peer *peer = ker_table_add(&task_peer_kind, &task->peers, &wanted, &is_new);
    peer->key = key;
    return peer;
}

/* Calls nothing but at its end. */
struct task_peer *task_peer_get(struct task_state *task, uint32_t key)
{
    const struct task_peer wanted = {.key = key};
    struct task_peer *peer = ker_table_find(&task_peer_kind, &task->peers, &wanted);
    return __builtin_expect(peer != NULL, 1) ? peer : peer_new(task, key);
}

int32_t task_comm_peer(const struct task_mpi *mpi, const struct task_state *task, int32_t comm, int32_t rank)
{
    const struct task_job *job = task_job_of(mpi, task);
    int32_t count;
    const struct task_comm *comms = job->class->comms(job->program, &count);
    ker_assert(comm < count);
    const struct task_comm *group = &comms[comms[comm].remote ? comms[comm].remote : comm];
    ker_assert(rank < group->size);
    return task_comm_task(group, rank);
}

int32_t task_comm_context(const struct task_mpi *mpi, const struct task_state *task, int32_t comm)
{
    const struct task_job *job = task_job_of(mpi, task);
    int32_t count;
    int32_t remote = job->class->comms(job->program, &count)[comm].remote;
    return remote && remote < comm ? remote : comm;
}

/* -- queues -- */

struct task_queues *task_queues(struct task_state *task)
{
    if (!task->queues)
        task->queues = ker_alloc(sizeof *task->queues);
    return task->queues;
}

static void length_note(struct task_state *task, enum task_queue_kind kind, const struct task_queue *queue)
{
    if (queue->count > task->longest[kind])
        task->longest[kind] = queue->count;
}

void task_message_push(struct task_mpi *mpi, enum task_queue_kind kind, struct task_queue *queue,
                       const struct task_wire *wire)
{
    uint32_t index = ker_chunks_raw(&mpi->message);
    task_message_at(mpi, index)->wire = *wire;
    task_queue_push(mpi, kind, queue, index);
}

/* The message that has been found, out of its queue. */
static void message_take(struct task_mpi *mpi, enum task_queue_kind kind, struct task_queue *queue,
                         const struct task_found *found, struct task_wire *wire)
{
    *wire = task_message_at(mpi, found->item)->wire;
    task_queue_take(mpi, kind, queue, found);
    ker_chunks_give(&mpi->message, found->item);
}

bool task_message_pop(struct task_mpi *mpi, struct task_queue *queue, struct task_wire *wire)
{
    struct task_found first = {.item = queue->first};
    if (first.item)
        message_take(mpi, TASK_QUEUE_LIST, queue, &first, wire);
    return first.item != 0;
}

/* -- matching -- */

/* Counts a search in a queue; is there anything to find? */
static inline bool search_begin(struct task_mpi *mpi, struct task_search *counts,
                                const struct task_queue *queue)
{
    counts->searches++;
    counts->lengths += queue->count;
    mpi->looked_at = 0;
    return queue->count > 0;
}

static inline struct task_found search(struct task_mpi *mpi, enum task_queue_kind kind,
                                       struct task_queue *queue, const struct task_match_key *key)
{
    struct task_found found = task_queue_find(mpi, kind, queue, key);
    mpi->looked_at = found.looked_at;
    return found;
}

bool task_match_fits(const struct task_wire *wire, int32_t source, int32_t tag, int32_t comm)
{
    struct task_match_key key = task_key_of_message(TASK_QUEUE_UNEXPECTED, wire);
    return task_key_fits(&(struct task_match_key){.comm = (uint32_t)comm + 1, .source = source, .tag = tag},
                         &key);
}

bool task_match_find(struct task_mpi *mpi, struct task_state *task, const struct task_request *r,
                     struct task_wire *wire)
{
    bool collective = r->flags & TASK_REQUEST_COLLECTIVE;
    struct task_queue *queue = collective ? &task_queues(task)->unexpected : &task->unexpected;
    if (!search_begin(mpi, &task->search[TASK_QUEUE_UNEXPECTED], queue))
        return false;
    struct task_match_key key = task_key_of_request(mpi, r);
    struct task_found found = search(mpi, TASK_QUEUE_UNEXPECTED, queue, &key);
    if (found.item)
        message_take(mpi, TASK_QUEUE_UNEXPECTED, queue, &found, wire);
    return found.item != 0;
}

void task_match_post(struct task_mpi *mpi, struct task_state *task, uint32_t request)
{
    bool collective = task_request_at(mpi, request)->flags & TASK_REQUEST_COLLECTIVE;
    struct task_queue *posted = collective ? &task_queues(task)->posted : &task->posted;
    task_queue_push(mpi, TASK_QUEUE_POSTED, posted, request);
    length_note(task, TASK_QUEUE_POSTED, posted);
}

uint32_t task_match_take(struct task_mpi *mpi, struct task_state *task, const struct task_wire *wire)
{
    bool collective = wire->flags & TASK_WIRE_COLLECTIVE;
    struct task_queue *queue = collective ? &task_queues(task)->posted : &task->posted;
    struct task_queue *unexpected = collective ? &task->queues->unexpected : &task->unexpected;
    if (search_begin(mpi, &task->search[TASK_QUEUE_POSTED], queue)) {
        struct task_match_key key = task_key_of_message(TASK_QUEUE_UNEXPECTED, wire);
        struct task_found found = search(mpi, TASK_QUEUE_POSTED, queue, &key);
        if (found.item) {
            task_queue_take(mpi, TASK_QUEUE_POSTED, queue, &found);
            return found.item;
        }
    }
    task_message_push(mpi, TASK_QUEUE_UNEXPECTED, unexpected, wire);
    length_note(task, TASK_QUEUE_UNEXPECTED, unexpected);
    return 0;
}

bool task_match_turn(struct task_mpi *mpi, struct task_state *task, const struct task_wire *wire)
{
    struct task_peer *peer = task_peer_get(task, wire->source + 1);
    if (wire->sequence != peer->receives) {
        task_message_push(mpi, TASK_QUEUE_EARLY, &task_queues(task)->early, wire);
        return false;
    }
    peer->receives++;
    return true;
}

bool task_match_early(struct task_mpi *mpi, struct task_state *task, uint32_t source, struct task_wire *wire)
{
    if (!task->queues || !task->queues->early.count)
        return false;
    struct task_peer *peer = task_peer_get(task, source + 1);
    struct task_match_key key = {.comm = 1, .call = peer->receives, .source = (int32_t)source};
    struct task_found found = task_queue_find(mpi, TASK_QUEUE_EARLY, &task->queues->early, &key);
    if (!found.item)
        return false;
    message_take(mpi, TASK_QUEUE_EARLY, &task->queues->early, &found, wire);
    peer->receives++;
    return true;
}

bool task_match_cancel(struct task_mpi *mpi, struct task_state *task, uint32_t request)
{
    return task_queue_remove(mpi, TASK_QUEUE_POSTED, &task->posted, request);
}

static struct task_found probe(struct task_mpi *mpi, struct task_state *task, int32_t source, int32_t tag,
                               int32_t comm)
{
    struct task_match_key key = {.comm = (uint32_t)comm + 1, .source = source, .tag = tag};
    bool any = search_begin(mpi, &task->search[TASK_QUEUE_UNEXPECTED], &task->unexpected);
    return any ? search(mpi, TASK_QUEUE_UNEXPECTED, &task->unexpected, &key) : (struct task_found){0};
}

bool task_match_hold(struct task_mpi *mpi, struct task_state *task, int32_t source, int32_t tag, int32_t comm,
                     uint32_t message, int32_t *from)
{
    struct task_found found = probe(mpi, task, source, tag, comm);
    struct task_wire wire;
    if (!found.item)
        return false;
    message_take(mpi, TASK_QUEUE_UNEXPECTED, &task->unexpected, &found, &wire);
    *from = (int32_t)wire.source;
    wire.receiver = message;
    task_message_push(mpi, TASK_QUEUE_HELD, &task_queues(task)->held, &wire);
    return true;
}

bool task_match_held(struct task_mpi *mpi, struct task_state *task, uint32_t message, struct task_wire *wire)
{
    struct task_match_key key = {.comm = 1, .call = message};
    struct task_found found = task_queue_find(mpi, TASK_QUEUE_HELD, &task_queues(task)->held, &key);
    if (found.item)
        message_take(mpi, TASK_QUEUE_HELD, &task->queues->held, &found, wire);
    return found.item != 0;
}

bool task_match_probe(struct task_mpi *mpi, struct task_state *task, int32_t source, int32_t tag,
                      int32_t comm, int32_t *from)
{
    struct task_found found = probe(mpi, task, source, tag, comm);
    if (found.item)
        *from = (int32_t)task_message_at(mpi, found.item)->wire.source;
    return found.item != 0;
}

void task_match_searched(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    if (mpi->match_time == 0)
        return;
    ker_time begin = task->searching > now ? task->searching : now, most = 9000000 * KER_S;
    __int128 time = (__int128)mpi->looked_at * mpi->match_time;
    task->searching = time < most - begin ? begin + (ker_time)time : most;
}
