/* endpoint.c - overheads that depend on a message's size: those of the node (node_model.sized), and, from
 * here on, mpi.overheads = "loggops": what a message costs at its two ends by LogGOPS' parameters, above the
 * packet network, which stands for L.
 *
 * A message of s bytes takes o of its sender's processor before it is sent (node_model.send_overhead) and, if
 * it is eager, (s-1) O behind that; its adapter is free for the next one g + (s-1) G after it has begun.
 * Whoever receives it takes o + (s-1) max(O, G) for it, when it would take node.receive_overhead, and not
 * before the adapter is free again, which is taken for g + (s-1) G from then on. A task has one adapter in
 * each direction for this. Messages sent by rendezvous may have o, g, G and O of their own, at both ends and
 * for their RTS.
 */
#include "tasks/loggops/loggops.h"
#include "tasks/mpi/state.h"

#include <stdlib.h>

struct task_endpoint {
    ker_time sending, receiving; /* when its adapter is free for the next message */
};

struct task_endpoints {
    struct loggops_parameters set, rendezvous; /* of messages up to S, and of longer ones */
    uint64_t eager;                            /* S */
    struct task_endpoint *task;                /* by index in task_mpi.task */
};

static ker_time time_or(const struct ker_config *config, const char *key, ker_time absent)
{
    return ker_config_has(config, key) ? ker_config_time(config, key) : absent;
}

/* Each is that of eager messages when it is absent. */
static enum ker_status rendezvous_read(struct task_endpoints *e, const struct ker_config *config,
                                       struct ker_error *error)
{
    struct loggops_parameters *set = &e->rendezvous;
    enum ker_status status = KER_OK;
    *set = e->set;
    set->overhead = time_or(config, "loggops.rendezvous.o", set->overhead);
    set->gap = time_or(config, "loggops.rendezvous.g", set->gap);
    if (ker_config_has(config, "loggops.rendezvous.G"))
        status = loggops_rate_read(&set->per_byte, config, "loggops.rendezvous.G", error);
    if (!status && ker_config_has(config, "loggops.rendezvous.O"))
        status = loggops_rate_read(&set->busy, config, "loggops.rendezvous.O", error);
    return status;
}

enum ker_status task_endpoints_new(struct task_mpi *mpi, const struct ker_config *config,
                                   struct ker_error *error)
{
    if (!ker_config_is(config, "mpi.overheads", "loggops"))
        return KER_OK;
    mpi->endpoints = ker_alloc(sizeof *mpi->endpoints);
    struct loggops_parameters *set = &mpi->endpoints->set;
    enum ker_status status = loggops_settings(set, config, error);
    mpi->model.send_overhead = mpi->model.receive_overhead = set->overhead;
    mpi->eager_limit = mpi->endpoints->eager = set->eager;
    return status ?: rendezvous_read(mpi->endpoints, config, error);
}

static const struct loggops_parameters *set_of(const struct task_endpoints *e, uint64_t bytes)
{
    return bytes > e->eager ? &e->rendezvous : &e->set;
}

ker_time task_endpoint_overhead(const struct task_mpi *mpi, uint64_t bytes)
{
    return set_of(mpi->endpoints, bytes)->overhead;
}

ker_time task_endpoint_sized(const struct task_mpi *mpi, const struct task_state *task, int32_t peer,
                             const struct ker_sizes *between, uint64_t bytes)
{
    const struct ker_sizes *inside = &mpi->model.memory_sizes;
    bool same =
        inside->count && peer >= 0 &&
        mpi->outside.node(mpi->outside.jobs, task->job, (uint32_t)peer) == task_node_of(mpi, task)->node;
    return ker_sizes_of(same ? inside : between, bytes);
}

ker_time task_endpoint_alone(const struct task_mpi *mpi, const struct task_state *task, uint32_t peer,
                             uint64_t bytes)
{
    if (__builtin_expect(mpi->model.sized, 0))
        return task_endpoint_sized(mpi, task, (int32_t)peer, &mpi->model.send_sizes, bytes);
    return mpi->model.send_overhead;
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
static ker_time adapter_take(const struct loggops_parameters *set, ker_time *free_at, ker_time when,
                             uint64_t bytes)
{
    const ker_time latest = 9000000 * KER_S; /* behind any run's end */
    ker_time begin = *free_at > when ? *free_at : when;
    *free_at = ker_time_later(begin, set->gap + loggops_bytes(&set->per_byte, bytes));
    return begin < latest ? begin : latest;
}

ker_time task_endpoint_send(struct task_mpi *mpi, const struct task_state *task, ker_time now, uint64_t bytes,
                            bool announced)
{
    struct task_endpoints *e = mpi->endpoints;
    return adapter_take(set_of(e, bytes), &e->task[task_index(mpi, task)].sending, now,
                        announced ? 1 : bytes) -
           now;
}

void task_endpoint_sent(struct task_mpi *mpi, struct task_state *task, uint64_t bytes)
{
    task_owe(task, loggops_bytes(&mpi->endpoints->set.busy, bytes));
}

void task_endpoint_take(struct task_mpi *mpi, struct task_state *task, uint64_t bytes)
{
    struct task_endpoints *e = mpi->endpoints;
    const struct loggops_parameters *set = set_of(e, bytes);
    ker_time when = ker_time_later(mpi->now, task->debt), wire = loggops_bytes(&set->per_byte, bytes),
             busy = loggops_bytes(&set->busy, bytes);
    ker_time begin = adapter_take(set, &e->task[task_index(mpi, task)].receiving, when, bytes);
    task_owe(task, (begin > when ? begin - when : 0) + set->overhead + (busy > wire ? busy : wire));
}

void task_endpoint_state(struct task_mpi *mpi, const struct task_state *task, struct ker_chunk *c)
{
    struct task_endpoint *own = &mpi->endpoints->task[task_index(mpi, task)];
    KER_CHUNK(c, own->sending, own->receiving);
}
