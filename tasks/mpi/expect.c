/* expect.c - what --check expects of tasks: some of each job walk through their programs, in no time.
 *
 * The tasks that walk are spread evenly over those of this rank, and stand for all of them; where their
 * operations are very many, the part that class->done() says they have done stands for the rest. A call of a
 * collective is as many messages as the rounds of its algorithm. A message is what the protocols make of it,
 * and what takes its task's processor is an event, too. Whom a receive finds, and what a test finds, costs
 * nothing here. The tasks are used up: nothing can run after this.
 */
#include "tasks/mpi/state.h"

#include <stdlib.h>

#define WALKERS 64       /* tasks of a job, at most */
#define STEPS (1u << 22) /* operations, and rounds of collectives, of a job */

/* A persistent request: a send (run 0), or a collective. */
struct persistent {
    uint64_t name; /* + 1 */
    uint64_t bytes;
    int32_t peer;
    uint32_t run;
};
static const struct ker_table_kind persistents = KER_TABLE_U64(struct persistent);

struct walk {
    struct task_mpi *mpi;
    struct task_state *task;
    struct net_expected *sum;
    double times;
    uint64_t left; /* steps */
    struct ker_table persistent;
};

static void message_expect(struct walk *w, int32_t peer, uint64_t bytes)
{
    const struct task_mpi *mpi = w->mpi;
    const struct task_mpi_outside *o = &mpi->outside;
    uint32_t job = w->task->job, from = o->node(o->jobs, job, w->task->task);
    if (peer == TASK_PROC_NULL)
        return;
    if (peer < 0) /* it is not known before */
        peer = (int32_t)((w->task->task + 1) % task_job_of(mpi, w->task)->tasks);
    uint32_t to = o->node(o->jobs, job, (uint32_t)peer);
    net_expect(w->sum, from, to, bytes, w->times);
    if (bytes > mpi->eager_limit) {
        net_expect(w->sum, from, to, 0, w->times);
        net_expect(w->sum, to, from, 0, w->times * (mpi->rendezvous == TASK_RENDEZVOUS_READ ? 2 : 1));
    } else {
        w->sum->events += w->times; /* it has left */
    }
    w->sum->events += task_mpi_costless(mpi) ? 0 : 2 * w->times;
}

static void rounds_expect(struct walk *w, uint32_t index)
{
    struct task_collective_run *run = task_run_at(w->mpi, index);
    struct task_coll_round c;
    for (uint32_t round = 0; w->left && task_coll_round_of(run->algorithm, &run->view, round, &c); round++) {
        w->left--;
        if (c.send_to != TASK_COLL_NOBODY)
            message_expect(w, task_run_peer(w->mpi, w->task, run, c.send_to), c.send_bytes);
        else if (c.shared && c.shared != TASK_COLL_AWAIT)
            w->sum->events += w->times * (c.shared == TASK_COLL_RAISE ? 1 : 2);
    }
}

static void persistent_add(struct walk *w, struct persistent p)
{
    bool is_new;
    p.name = w->task->op.request + 1;
    struct persistent *to = ker_table_add(&persistents, &w->persistent, &p.name, &is_new);
    if (!is_new && to->run)
        task_run_free(w->mpi, to->run);
    *to = p;
}

static void persistent_start(struct walk *w, uint64_t request)
{
    const struct persistent *p = ker_table_find(&persistents, &w->persistent, &(uint64_t){request + 1});
    if (p && p->run)
        rounds_expect(w, p->run);
    else if (p)
        message_expect(w, p->peer, p->bytes);
}

static void collective_expect(struct walk *w, bool keeps)
{
    struct task_state *task = w->task;
    task_collective_start(w->mpi, task);
    uint32_t run = task->collective;
    task->collective = 0;
    if (keeps) {
        task_run_keep(task_run_at(w->mpi, run));
        persistent_add(w, (struct persistent){.run = run});
        return;
    }
    rounds_expect(w, run);
    task_run_free(w->mpi, run);
}

static void op_expect(struct walk *w)
{
    const struct task_op *op = &w->task->op;
    const struct task_job *job = task_job_of(w->mpi, w->task);
    int32_t peer = op->peer;
    if (op->kind <= TASK_OP_SEND_INIT || op->kind == TASK_OP_PSEND_INIT || task_op_onesided(op))
        peer = task_match_peer(w->mpi, w->task, op->comm, op->peer);
    switch (op->kind) {
    case TASK_OP_COMPUTE:
        w->sum->events += op->time > 0 && job->processor_factor > 0 ? w->times : 0;
        break;
    case TASK_OP_SEND:
    case TASK_OP_ISEND:
    case TASK_OP_GRAPH_SEND:
    case TASK_OP_SENDRECV:
    case TASK_OP_PUT:
        message_expect(w, peer, op->bytes);
        break;
    case TASK_OP_FETCH:
    case TASK_OP_GET:
        message_expect(w, peer, op->kind == TASK_OP_GET ? 0 : op->bytes);
        message_expect(w, peer, op->kind == TASK_OP_GET ? op->bytes : op->bytes2);
        break;
    case TASK_OP_SEND_INIT:
    case TASK_OP_PSEND_INIT:
        persistent_add(w, (struct persistent){.peer = peer, .bytes = op->bytes});
        break;
    case TASK_OP_START:
        persistent_start(w, op->request);
        break;
    case TASK_OP_STARTALL:
        for (uint32_t i = 0; i < op->request_count; i++)
            persistent_start(w, op->requests[i]);
        break;
    case TASK_OP_COLLECTIVE:
    case TASK_OP_ICOLLECTIVE:
        collective_expect(w, false);
        break;
    case TASK_OP_COLLECTIVE_INIT:
        collective_expect(w, true);
        break;
    case TASK_OP_CALL:
        w->sum->events += 2 * w->times;
        break;
    default:
        break;
    }
}

/* As far as the stream comes; true: the task has ended. */
static bool stream_walk(struct walk *w, uint32_t own)
{
    const struct task_job *job = task_job_of(w->mpi, w->task);
    struct task_op *op = &w->task->op;
    for (; w->left; w->left--) {
        if (!job->class->next(job->program, own, op) || op->kind == TASK_OP_END ||
            op->kind == TASK_OP_GRAPH_IDLE)
            return false;
        if (op->kind == TASK_OP_FINALIZE || op->kind == TASK_OP_ABORT)
            return true;
        op_expect(w);
        if (op->kind == TASK_OP_GRAPH_SEND || op->kind == TASK_OP_GRAPH_RECV)
            job->class->complete(job->program, w->task->own, op->request);
    }
    return false;
}

/* Streams of a graph wait for each other: they walk in turn, as long as one of them comes further. */
static void task_walk(struct walk *w)
{
    const struct task_job *job = task_job_of(w->mpi, w->task);
    uint32_t further = 0, own = w->task->own,
             streams = job->class->streams ? job->class->streams(job->program, own, &further) : 1;
    uint64_t before;
    bool ended;
    do {
        before = w->left;
        ended = stream_walk(w, own);
        for (uint32_t s = 1; s < streams && !(ended && job->class->ready); s++)
            stream_walk(w, further + s - 1);
    } while (job->class->ready && !ended && w->left && w->left < before);
    for (struct persistent *p = NULL; (p = ker_table_next(&persistents, &w->persistent, p)) != NULL;)
        if (p->run)
            task_run_free(w->mpi, p->run);
    ker_table_release(&w->persistent);
}

/* What the task has added stands for all that it would have done. */
static void rest_expect(const struct walk *w, const struct net_expected *before)
{
    const struct task_job *job = task_job_of(w->mpi, w->task);
    uint64_t so_far = 0, all = 0;
    if (!job->class->done || !job->class->done(job->program, w->task->own, &so_far, &all) || so_far == 0) {
        w->sum->more = true;
        return;
    }
    double times = (double)all / (double)so_far;
    w->sum->events = before->events + (w->sum->events - before->events) * times;
    w->sum->messages = before->messages + (w->sum->messages - before->messages) * times;
    w->sum->bytes = before->bytes + (w->sum->bytes - before->bytes) * times;
}

void task_mpi_expect(struct task_mpi *mpi, struct net_expected *sum)
{
    uint32_t *tasks = ker_alloc(sizeof *tasks * (mpi->job_room + 1u)),
             *seen = ker_alloc(sizeof *seen * (mpi->job_room + 1u));
    for (uint32_t i = 0; i < mpi->tasks; i++)
        tasks[mpi->task[i].job]++;
    for (uint32_t i = 0; i < mpi->tasks; i++) {
        struct task_state *task = &mpi->task[i];
        const struct task_job *job = task_job_of(mpi, task);
        uint32_t count = tasks[task->job], walkers = count < WALKERS ? count : WALKERS, k = seen[task->job]++;
        if ((uint64_t)k * walkers / count == (uint64_t)(k + 1) * walkers / count)
            continue;
        struct net_expected before = *sum;
        struct walk w = {.mpi = mpi,
                         .task = task,
                         .sum = sum,
                         .left = STEPS / walkers,
                         .times = (double)count / walkers * (double)job->repetitions};
        task_walk(&w);
        if (w.left == 0)
            rest_expect(&w, &before);
        sum->more |= job->restart;
    }
    free(tasks);
    free(seen);
}
