/* report.c - what tasks that have not finished wait for.
 *
 * Rows are flat, so that they can be gathered as bytes. A blocked task's op is still there, with its list of
 * requests, so the texts are made on demand and waiting costs nothing while the run goes well.
 */
#include "tasks/mpi/state.h"

#include <stdarg.h>
#include <string.h>

/* A text that is cut where its room ends. */
struct text {
    char *at;
    size_t room;
};

static void __attribute__((format(printf, 2, 3))) text_add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->at, text->room, format, arguments);
    va_end(arguments);
    size_t used = length < 0 ? 0 : (size_t)length < text->room ? (size_t)length : text->room - 1;
    text->at += used;
    text->room -= used;
}

static void text_message(struct text *text, const char *what, int32_t peer, int32_t tag, int32_t comm,
                         uint64_t bytes)
{
    if (peer == TASK_ANY)
        text_add(text, "%s any task", what);
    else
        text_add(text, "%s task %d", what, (int)peer);
    if (tag == TASK_ANY)
        text_add(text, ", any tag");
    else
        text_add(text, ", tag %d", (int)tag);
    if (comm)
        text_add(text, ", communicator %d", (int)comm);
    text_add(text, ", %llu bytes", (unsigned long long)bytes);
}

static void text_exchange(struct text *text, const struct task_mpi *mpi, const struct task_state *task,
                          int32_t peer)
{
    const struct task_op *op = &task->op;
    text_add(text, "%u of 2: ", task->pending);
    text_message(text, "send to", peer, op->tag, op->comm, op->bytes);
    text_message(text, "; receive from", task_match_peer(mpi, task, op->comm, op->peer2), op->tag2, op->comm,
                 op->bytes2);
}

static void text_run(struct text *text, const struct task_mpi *mpi, const struct task_state *task,
                     uint32_t index)
{
    const struct task_collective_run *run = task_run_at(mpi, index);
    const struct task_coll_round *c = &run->current;
    text_add(text,
             "%s call %u of %u tasks by %s, communicator %d, round %u:", task_coll_name(run->view.collective),
             run->call + 1, (unsigned)run->view.size, run->algorithm->name, (int)run->comm, run->round);
    if (c->receive_from == TASK_COLL_ANYBODY)
        text_add(text, " from any task");
    else if (c->receive_from != TASK_COLL_NOBODY)
        text_add(text, " from task %d", (int)task_run_peer(mpi, task, run, c->receive_from));
    if (c->send_to != TASK_COLL_NOBODY)
        text_add(text, " to task %d", (int)task_run_peer(mpi, task, run, c->send_to));
}

static void text_partitioned(struct text *text, const struct task_mpi *mpi, const struct task_request *r)
{
    const struct task_partitioned *p = task_partitioned_of(mpi, r);
    bool sends = r->flags & TASK_REQUEST_SEND;
    text_message(text, sends ? "partitioned send to" : "partitioned receive from", r->peer, r->tag,
                 r->comm & ~TASK_COMM_PARTITIONED, p->bytes);
    if (sends)
        text_add(text, ", %u of %u partitions ready, %u messages gone", p->ready, p->partitions, p->moved);
    else
        text_add(text, ", %u messages come", p->moved);
    if (!p->partner)
        text_add(text, ", not matched");
}

/* r: the call's request. */
static void text_call(struct text *text, const struct task_mpi *mpi, const struct task_state *task,
                      const struct task_request *r)
{
    const struct task_mpi_node *node = task_node_of(mpi, task);
    const struct task_job *job = task_job_of(mpi, task);
    struct task_called called;
    char at[32], pending[160];
    job->class->service(job->program, (uint32_t)r->tag, &called);
    node_pending(node->net, job->service[r->tag], task_call_token(mpi, task, r->number), pending,
                 sizeof pending);
    text_add(text, "service %s on node %u, called at %s%s%s", called.name, node->node,
             ker_print_time(at, (ker_time)r->bytes), *pending ? ", which waits for " : "", pending);
}

/* Of the call that the stream waits for. */
static void text_own_call(struct text *text, const struct task_mpi *mpi, const struct task_state *task)
{
    for (uint32_t number = 1; number <= task->numbers; number++) {
        const struct task_request *r = task_request_there(task, number)
                                           ? task_request_at(mpi, task_request_numbered(task, number))
                                           : NULL;
        if (r && task_request_calls(r) && r->flags & TASK_REQUEST_DETACHED && r->tag == task->op.peer) {
            text_call(text, mpi, task, r);
            return;
        }
    }
}

static void text_request(struct text *text, const struct task_mpi *mpi, const struct task_state *task,
                         const struct task_request *r)
{
    if (task_request_partitioned(r)) {
        text_partitioned(text, mpi, r);
        return;
    }
    if (r->peer == TASK_PEER_RUN) {
        text_run(text, mpi, task, r->owns);
        return;
    }
    if (r->peer == TASK_PROC_NULL) {
        text_add(text, "a generalised request, not completed");
        return;
    }
    if (task_request_calls(r)) {
        text_call(text, mpi, task, r);
        return;
    }
    text_message(text, r->flags & TASK_REQUEST_SEND ? "send to" : "receive from", r->peer, r->tag, r->comm,
                 r->bytes);
    text_add(text, r->state == TASK_REQUEST_MATCHED ? ", matched" : ", not matched");
}

static void text_parrived(struct text *text, const struct task_mpi *mpi, const struct task_state *task)
{
    uint32_t index = task_request_find(mpi, task, task->op.request);
    text_add(text, "partition %d of a ", (int)task->op.tag2);
    if (index)
        text_request(text, mpi, task, task_request_at(mpi, index));
}

static void text_requests(struct text *text, const struct task_mpi *mpi, const struct task_state *task)
{
    const struct task_op *op = &task->op;
    bool one = op->kind == TASK_OP_WAIT || op->kind == TASK_OP_TEST || op->kind == TASK_OP_STATUS;
    const struct task_request *first = NULL;
    uint32_t count = 0;
    if (op->kind == TASK_OP_PARRIVED)
        text_parrived(text, mpi, task);
    for (uint32_t i = 0; i < (one ? 1 : op->request_count); i++) {
        uint32_t index = task_request_find(mpi, task, one ? op->request : op->requests[i]);
        const struct task_request *r = index ? task_request_at(mpi, index) : NULL;
        if (!r || !(r->flags & TASK_REQUEST_AWAITED))
            continue;
        first = first ? first : r;
        count++;
    }
    if (count > 1)
        text_add(text, "%u requests, the first: ", count);
    if (first)
        text_request(text, mpi, task, first);
}

/* How far a call on a window has come. */
static void text_onesided(struct text *text, const struct task_mpi *mpi, struct task_state *task)
{
    const struct task_op *op = &task->op;
    const struct task_window *w = task_window_get(task, op->comm, op->tag);
    if (op->kind == TASK_OP_WIN_LOCK)
        text_add(text, "the lock of task %d", (int)task_match_peer(mpi, task, op->comm, op->peer));
    else if (op->kind == TASK_OP_WIN_START)
        text_add(text, "MPI_Win_post of %u tasks", w->missing);
    else if (op->kind == TASK_OP_WIN_WAIT)
        text_add(text, "MPI_Win_complete of %u tasks", w->exposed - w->completed);
    else
        text_add(text, "%u operations", w->open);
    text_add(text, ", window %d", (int)op->tag);
    if (op->comm)
        text_add(text, ", communicator %d", (int)op->comm);
}

static void wait_describe(struct task_mpi_wait *row, const struct task_mpi *mpi,
                          const struct task_state *task)
{
    const struct task_op *op = &task->op;
    struct text text = {row->awaited, sizeof row->awaited};
    int32_t peer = task_match_peer(mpi, task, op->comm, op->peer);
    if (task->busy) {
        text_add(&text, "nothing: it computes");
        return;
    }
    switch (op->kind) {
    case TASK_OP_SEND:
        text_message(&text, "send to", peer, op->tag, op->comm, op->bytes);
        break;
    case TASK_OP_RECV:
        text_message(&text, "receive from", peer, op->tag, op->comm, op->bytes);
        break;
    case TASK_OP_SENDRECV:
        text_exchange(&text, mpi, task, peer);
        break;
    case TASK_OP_PROBE:
    case TASK_OP_IPROBE:
    case TASK_OP_MPROBE:
        text_message(&text, "a message from", peer, op->tag, op->comm, 0);
        break;
    case TASK_OP_COLLECTIVE:
        if (task->collective)
            text_run(&text, mpi, task, task->collective);
        break;
    case TASK_OP_CALL:
        text_own_call(&text, mpi, task);
        break;
    case TASK_OP_MRECV:
        text_add(&text, "the rest of a message that a probe has found");
        break;
    case TASK_OP_AFTER:
        text_add(&text, "thread %d, which is to %s %llu calls", (int)op->peer, op->mode ? "begin" : "end",
                 (unsigned long long)op->bytes);
        break;
    case TASK_OP_FINALIZE:
        text_add(&text, "%u messages in flight", task->open);
        break;
    default:
        if (task_op_onesided(op))
            text_onesided(&text, mpi, &mpi->task[task_index(mpi, task)]);
        else
            text_requests(&text, mpi, task);
    }
}

static void row_make(struct task_mpi_wait *row, const struct task_mpi *mpi, const struct task_state *task)
{
    memset(row, 0, sizeof *row);
    row->job = task->job;
    row->task = task->task;
    row->streams = task_stream_count(task);
    row->stream = task_stream_current(task);
    row->node =
        task_outside_place(&mpi->outside, task->job, task->task, task_node_of(mpi, task)->node, task->core)
            .node;
    row->line = task->op.line;
    row->since = task->blocked_since;
    snprintf(row->call, sizeof row->call, "%s", task->op.call ? task->op.call : "");
    wait_describe(row, mpi, task);
}

/* Rows of a task whose program is a graph. */
struct rows {
    const struct task_mpi *mpi;
    const struct task_state *task;
    struct task_mpi_wait *row;
    uint64_t room, count, before;
};

static void unfinished_add(void *context, const struct task_unfinished *u)
{
    struct rows *rows = context;
    if (rows->count++ >= rows->room)
        return;
    struct task_mpi_wait *row = &rows->row[rows->count - 1];
    row_make(row, rows->mpi, rows->task);
    row->line = u->line;
    row->number = (uint32_t)(rows->count - rows->before);
    snprintf(row->call, sizeof row->call, "%s", u->call);
    snprintf(row->awaited, sizeof row->awaited, "%s", u->text);
}

static uint64_t graph_rows(const struct task_mpi *mpi, struct task_state *task, struct task_mpi_wait *row,
                           uint64_t room, uint64_t count)
{
    const struct task_job *job = task_job_of(mpi, task);
    struct rows rows = {mpi, task, row, room, count, count};
    task_stream_select(task, 0);
    job->class->unfinished(job->program, task->own, &(struct task_unfinished_list){unfinished_add, &rows});
    return rows.count;
}

uint64_t task_mpi_waiting(const struct task_mpi *mpi, const bool *stuck, struct task_mpi_wait *rows,
                          uint64_t room)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < mpi->tasks; i++) {
        struct task_state *task = &mpi->task[i];
        if (task_is_done(task) || task_job_of(mpi, task)->background)
            continue;
        if (stuck && !stuck[task->job])
            continue;
        if (task_job_of(mpi, task)->class->unfinished) {
            count = graph_rows(mpi, task, rows, room, count);
            continue;
        }
        for (uint32_t s = 0; s < task_stream_count(task); s++) {
            task_stream_select(task, s);
            if (task->stage != TASK_STAGE_DONE && count++ < room)
                row_make(&rows[count - 1], mpi, task);
        }
    }
    return count;
}
