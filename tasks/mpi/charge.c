/* charge.c - processor time of an operation before it does anything: what a computation has besides its time
 * (jitter, what it moves in memory), and what the messages cost that it sends. What is received costs when
 * the call that waits for it returns (request.c).
 */
#include "tasks/mpi/state.h"

ker_time task_charge_message(const struct task_mpi *mpi, const struct task_state *task, int32_t peer,
                             unsigned mode, uint64_t bytes)
{
    ker_time overhead = mpi->model.send_overhead;
    if (__builtin_expect(mpi->endpoints != NULL, 0))
        overhead = task_endpoint_overhead(mpi, bytes);
    else if (__builtin_expect(mpi->model.sized, 0))
        overhead = task_endpoint_sized(mpi, task, peer, &mpi->model.send_sizes, bytes);
    return overhead + task_protocol_copies(mpi, task, mode, bytes);
}

/* To a rank of the operation's communicator. */
static ker_time send_time(const struct task_mpi *mpi, const struct task_state *task, int32_t rank,
                          unsigned mode, uint64_t bytes)
{
    if (rank == TASK_PROC_NULL)
        return 0;
    int32_t peer = mpi->model.memory_sizes.count ? task_match_peer(mpi, task, task->op.comm, rank) : rank;
    return task_charge_message(mpi, task, peer, mode, bytes);
}

/* A collective that does not block is handed over to the adapter like a message; other progress pays for each
 * of its messages. */
static ker_time run_time(const struct task_mpi *mpi)
{
    return mpi->progress == TASK_PROGRESS_ADAPTER ? mpi->model.send_overhead : 0;
}

static ker_time named_send_time(const struct task_mpi *mpi, const struct task_state *task, uint64_t name)
{
    uint32_t index = task_request_find(mpi, task, name);
    const struct task_request *r = index ? task_request_at(mpi, index) : NULL;
    if (r && r->peer == TASK_PEER_RUN)
        return run_time(mpi);
    if (!r || !(r->flags & TASK_REQUEST_SEND) || task_request_partitioned(r))
        return 0;
    return r->peer == TASK_PROC_NULL ? 0 : task_charge_message(mpi, task, r->peer, r->mode, r->bytes);
}

void task_charge_sends(struct task_mpi *mpi, struct task_state *task)
{
    const struct task_op *op = &task->op;
    switch (op->kind) {
    case TASK_OP_SEND:
    case TASK_OP_ISEND:
    case TASK_OP_GRAPH_SEND:
    case TASK_OP_SENDRECV:
        task_owe(task, send_time(mpi, task, op->peer, op->mode, op->bytes));
        break;
    case TASK_OP_ICOLLECTIVE:
        task_owe(task, run_time(mpi));
        break;
    case TASK_OP_CALL: /* as a message to a task of the node, which is never copied to a buffer */
        task_owe(task, task_charge_message(mpi, task, (int32_t)task->task, TASK_MODE_SYNCHRONOUS, op->bytes));
        break;
    case TASK_OP_PSEND_INIT: /* the announcement */
        if (op->peer != TASK_PROC_NULL)
            task_owe(task, task_endpoint_alone(mpi, task,
                                               (uint32_t)task_match_peer(mpi, task, op->comm, op->peer), 0));
        break;
    case TASK_OP_PREADY:
        task_owe(task, task_partitioned_overhead(mpi, task));
        break;
    case TASK_OP_START:
        task_owe(task, named_send_time(mpi, task, op->request));
        break;
    case TASK_OP_STARTALL:
        for (uint32_t i = 0; i < op->request_count; i++)
            task_owe(task, named_send_time(mpi, task, op->requests[i]));
        break;
    default:
        if (task_op_onesided(op))
            task_owe(task, task_onesided_overhead(mpi, task));
        break;
    }
}

/* What a computation takes longer than it should: a draw of the task's own, from 0 to the job's
 * compute_jitter. A trace has a computation between any two calls, most of them shorter than that and nothing
 * that could vary so much. */
static ker_time jitter(const struct task_mpi *mpi, struct task_state *task, const struct task_job *job)
{
    if (!task->op.step && task->op.time < job->compute_jitter)
        return 0;
    uint64_t counter = (uint64_t)task->job << 32 | task->jitters++;
    struct ker_bits bits = ker_random_bits(mpi->outside.seed, KER_PURPOSE_JITTER, task->task, counter);
    uint64_t draw = (uint64_t)bits.word[0] << 32 | bits.word[1];
    return (ker_time)((unsigned __int128)draw * ((uint64_t)job->compute_jitter + 1) >> 64);
}

/* What a computation moves in memory, x 10^12: what its trace counted, or what the job draws for as long as
 * it took on the traced machine; times the factor of this part. */
static unsigned __int128 moved(const struct task_mpi *mpi, const struct task_job *job,
                               const struct task_op *op, double factor)
{
    uint64_t amount = job->counted ? op->bytes : (uint64_t)op->time;
    amount = (uint64_t)node_compute(&mpi->model, (ker_time)amount, factor);
    return (unsigned __int128)amount * (job->counted ? (uint64_t)KER_S : job->memory_rate);
}

/* The operating system's calls have nothing of the program's factors. */
static void system_charge(struct task_mpi *mpi, struct task_state *task)
{
    const struct node_rates *rates = node_model_rates(&mpi->model, task_node_of(mpi, task)->node);
    ker_time time = node_compute(&mpi->model, task->op.time, rates->system_factor) + rates->system_latency;
    task_owe(task, time);
    task_work_system(mpi, task, time);
}

/* Where a computation has a memory part its time is never 0, so that it is paid for. */
ker_time task_charge_special(struct task_mpi *mpi, struct task_state *task, const struct task_job *job)
{
    struct task_factors factors = {0, job->processor_factor, job->memory_factor};
    if (task->op.mode == TASK_COMPUTE_SYSTEM && mpi->model.rates.system) {
        system_charge(mpi, task);
        return 0;
    }
    if (job->factors)
        factors = *task_factors_find(job, task->task);
    ker_time time = node_compute(&mpi->model, task->op.time, factors.processor);
    time += job->compute_jitter ? jitter(mpi, task, job) : 0;
    if (!mpi->outside.work)
        return time;
    mpi->memory = moved(mpi, job, &task->op, factors.memory);
    return mpi->memory && !time ? 1 : time;
}
