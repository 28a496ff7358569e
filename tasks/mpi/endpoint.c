/* endpoint.c - mpi.overheads = "loggops": what a message costs at its two ends by LogGOPS' parameters, above
 * the packet network, which stands for L.
 *
 * A message of s bytes takes o of its sender's processor before it is sent (node_model.send_overhead) and, if
 * it is eager, (s-1) O behind that; its adapter is free for the next one g + (s-1) G after it has begun.
 * Whoever receives it takes o + (s-1) max(O, G) for it, when it would take node.receive_overhead, and not
 * before the adapter is free again, which is taken for g + (s-1) G from then on. A task has one adapter each
 * way for this.
 */
#include "tasks/loggops/settings.h"
#include "tasks/mpi/state.h"

#include <stdlib.h>

struct task_endpoint {
    ker_time sending, receiving; /* when its adapter is free for the next message */
};

struct task_endpoints {
    struct loggops_parameters set;
    struct task_endpoint *task; /* by index in task_mpi.task */
};

enum ker_status task_endpoints_new(struct task_mpi *mpi, const struct ker_config *config,
                                   struct ker_error *error)
{
    if (!ker_config_is(config, "mpi.overheads", "loggops"))
        return KER_OK;
    mpi->endpoints = ker_alloc(sizeof *mpi->endpoints);
    struct loggops_parameters *set = &mpi->endpoints->set;
    enum ker_status status = loggops_settings(set, config, error);
    mpi->model.send_overhead = mpi->model.receive_overhead = set->overhead;
    mpi->eager_limit = set->eager;
    return status;
}

void task_endpoints_reserve(struct task_mpi *mpi, uint32_t tasks)
{
    if (mpi->endpoints)
        mpi->endpoints->task = ker_alloc(tasks * sizeof *mpi->endpoints->task);
}

void task_endpoints_free(struct task_mpi *mpi)
{
    if (mpi->endpoints)
        free(mpi->endpoints->task);
    free(mpi->endpoints);
}

/* An adapter begins with a message, at `when` at the earliest; returns when. */
static ker_time adapter_take(const struct task_endpoints *e, ker_time *free_at, ker_time when, uint64_t bytes)
{
    const ker_time latest = 9000000 * KER_S; /* behind any run's end */
    ker_time begin = *free_at > when ? *free_at : when;
    *free_at = ker_time_later(begin, e->set.gap + loggops_bytes(&e->set.per_byte, bytes));
    return begin < latest ? begin : latest;
}

ker_time task_endpoint_send(struct task_mpi *mpi, const struct task_state *task, ker_time now, uint64_t bytes)
{
    struct task_endpoints *e = mpi->endpoints;
    return adapter_take(e, &e->task[task_index(mpi, task)].sending, now, bytes) - now;
}

void task_endpoint_sent(struct task_mpi *mpi, struct task_state *task, uint64_t bytes)
{
    task_owe(task, loggops_bytes(&mpi->endpoints->set.busy, bytes));
}

void task_endpoint_take(struct task_mpi *mpi, struct task_state *task, uint64_t bytes)
{
    struct task_endpoints *e = mpi->endpoints;
    ker_time when = ker_time_later(mpi->now, task->debt), wire = loggops_bytes(&e->set.per_byte, bytes),
             busy = loggops_bytes(&e->set.busy, bytes);
    ker_time begin = adapter_take(e, &e->task[task_index(mpi, task)].receiving, when, bytes);
    task_owe(task, (begin > when ? begin - when : 0) + e->set.overhead + (busy > wire ? busy : wire));
}

void task_endpoint_state(struct task_mpi *mpi, const struct task_state *task, struct ker_chunk *c)
{
    struct task_endpoint *own = &mpi->endpoints->task[task_index(mpi, task)];
    KER_CHUNK(c, own->sending);
    KER_CHUNK(c, own->receiving);
}
