/* call.c - a task calls a service of its node, and is answered.
 *
 * Call and answer are messages inside the node (node_send, node_answer), which take what those between two of
 * its tasks take, and are copied once. The call's token names the task by its seat and the request by its
 * number, and so has the same bits whatever rank has the node; it is laid out as what tasks send each other
 * begins, with a kind of its own. The request is one to the task itself: so its overheads are those of a
 * message inside the node. Until the answer is there the call counts as open in its job, whatever the service
 * does, and MPI_Finalize waits for it.
 */
#include "tasks/mpi/state.h"

#include <string.h>

_Static_assert(TASK_CALL_WORDS == NODE_ANSWER_WORDS, "calls and answers have as many words");
#define TOKEN_BYTES sizeof((struct net_envelope *)0)->word[0]
_Static_assert(TOKEN_BYTES == offsetof(struct task_wire, source),
               "a token is how a message of a task begins");

uint64_t task_call_token(const struct task_mpi *mpi, const struct task_state *task, uint32_t number)
{
    struct task_wire token = {.kind = TASK_WIRE_SERVICE, .spare = (uint16_t)task->seat, .job = number};
    uint64_t word;
    memcpy(&word, &token, TOKEN_BYTES);
    return word;
}

static void send(struct task_mpi *mpi, const struct task_state *task, ker_time now, uint32_t number)
{
    const struct task_mpi_node *node = task_node_of(mpi, task);
    const struct task_job *job = task_job_of(mpi, task);
    struct net_envelope envelope = {{task_call_token(mpi, task, number)}};
    if (task->op.words)
        memcpy(&envelope.word[1], task->op.words, TASK_CALL_WORDS * sizeof *task->op.words);
    struct node_message m = {.destination = node->node,
                             .bytes = task->op.bytes,
                             .envelope = &envelope,
                             .core = mpi->model.works ? NODE_CORES(task->core, task->core) : NODE_ANY_CORE,
                             .priority = (uint8_t)job->priority,
                             .queue = NODE_QUEUE_ONCE};
    mpi->outside.send(node->net, now, NODE_TO(mpi->service, job->service[task->op.peer]), &m);
}

bool task_call_begin(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    const struct task_op *op = &task->op;
    struct task_request like = {.flags = op->request ? TASK_REQUEST_NAMED : 0,
                                .peer = (int32_t)task->task,
                                .tag = op->peer,
                                .comm = TASK_COMM_CALL,
                                .bytes = (uint64_t)now, /* until it is answered */
                                .state = TASK_REQUEST_ACTIVE};
    uint32_t index = task_request_new(mpi, task, &like, op->request);
    task_request_open(mpi, task, index);
    mpi->job[task->job].open++;
    if (mpi->waits)
        task_cause_calls(mpi, task, now, index);
    send(mpi, task, now, task_request_at(mpi, index)->number);
    return op->request || task_wait_one(mpi, task, index);
}

static struct task_wire token_of(const struct net_envelope *envelope)
{
    struct task_wire token;
    memcpy(&token, envelope, sizeof token);
    return token;
}

struct task_state *task_call_task(const struct task_mpi_node *node, const struct net_envelope *envelope)
{
    uint32_t seat = token_of(envelope).spare;
    ker_assert(seat < node->tasks);
    return &node->mpi->task[node->first_task + seat];
}

/* To the program, for the stream that waits for it; with a request several may. */
static void answer_report(struct task_mpi *mpi, struct task_state *task, const struct task_request *r,
                          const struct net_message *message)
{
    const struct task_job *job = task_job_of(mpi, task);
    if (!job->class->answered)
        return;
    bool waits = task->streams && !(r->flags & TASK_REQUEST_NAMED);
    uint32_t current = task_stream_select(task, waits ? task_stream_concerned(task, r) : 0);
    job->class->answered(job->program, task->own,
                         &(struct task_answer){.request = task_request_name(mpi, r),
                                               .bytes = message->bytes,
                                               .words = &message->envelope.word[1]});
    task_stream_select(task, current);
}

/* ---- calls on files ---- */

static void io_count(struct task_mpi *mpi, const struct task_state *task, const struct task_request *r,
                     ker_time now, const struct net_message *message)
{
    const struct task_job *job = task_job_of(mpi, task);
    const uint64_t *word = &message->envelope.word[1];
    struct task_called called;
    job->class->service(job->program, (uint32_t)r->tag, &called);
    if (strcmp(called.name, STORE_CLIENT) != 0)
        return;
    task_mpi_io_join(&task_mpi_io(mpi, task->job)[word[STORE_ANSWER_OP]],
                     &(struct task_mpi_io){.calls = 1,
                                           .bytes = word[STORE_ANSWER_BYTES],
                                           .time = (uint64_t)now - r->bytes,
                                           .first = (ker_time)r->bytes,
                                           .last = now});
}

void task_call_answered(struct task_mpi *mpi, struct task_mpi_node *node, ker_time now,
                        const struct net_message *message)
{
    struct task_state *task = task_call_task(node, &message->envelope);
    uint32_t request = task_request_numbered(task, token_of(&message->envelope).job);
    struct task_request *r = task_request_at(mpi, request);
    ker_assert(task_request_calls(r) && r->state == TASK_REQUEST_ACTIVE); /* a call is answered once */
    mpi->now = now;
    mpi->job[task->job].open--;
    io_count(mpi, task, r, now, message);
    answer_report(mpi, task, r, message);
    r->bytes = message->bytes; /* what its overhead is of */
    if (mpi->waits)
        task_cause_answered(mpi, task, now, request);
    task_request_complete(mpi, task, request);
    if (mpi->waits)
        task_cause_none(mpi);
}
