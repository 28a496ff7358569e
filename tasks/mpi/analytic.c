/* analytic.c - collectives by a formula: who has entered, and when all continue.
 *
 * A task that enters notifies the first task of the communicator, whose node keeps the call: who has entered,
 * when the last one did, and the longest cost that any of them knows. With the last notice all are notified
 * of when they continue, that time after the last entry. Notices pass beside the network: in half of the
 * least cost (task_coll_analytic.least), so that the second ones are in time, too. So nobody waits for a
 * component that knows all, and the result is a function of the notices, not of their order. Invariant: a
 * call is kept from its first notice to its last, at one node.
 */
#include "tasks/mpi/state.h"

#include <stdlib.h>
#include <string.h>

#define COST_MOST (9000000 * KER_S) /* behind any run's end */

struct task_gathering {
    struct task_gathering *next; /* of the node's */
    uint32_t job, call, start;
    int32_t comm;
    uint32_t size, entered, last; /* last: the task that did so last, of several the first */
    ker_time latest, cost;
    uint32_t request[]; /* of each rank: its request's number */
};

ker_time task_mpi_direct(const struct task_mpi *mpi)
{
    return mpi->collectives.analytic.least / 2;
}

static void notice_send(struct task_mpi *mpi, struct task_mpi_node *node, ker_time now,
                        const struct task_wire *wire, ker_time delay)
{
    struct net_envelope envelope;
    _Static_assert(sizeof envelope == sizeof *wire, "a notice is an envelope");
    memcpy(&envelope, wire, sizeof envelope);
    struct node_message m = {.destination =
                                 mpi->outside.node(mpi->outside.jobs, wire->job, wire->destination),
                             .envelope = &envelope,
                             .core = NODE_ANY_CORE,
                             .delay = delay,
                             .direct = true};
    mpi->job[wire->job].open++;
    mpi->outside.send(node->net, now, mpi->service, &m);
}

/* ---- entering ---- */

void task_analytic_enter(struct task_mpi *mpi, struct task_state *task, uint32_t index, ker_time now)
{
    struct task_collective_run *run = task_run_at(mpi, index);
    const struct task_coll_algorithm *a = run->algorithm->operations;
    struct task_request like = {.flags = TASK_REQUEST_COLLECTIVE | TASK_REQUEST_SHARED,
                                .peer = TASK_PROC_NULL,
                                .comm = run->comm,
                                .run = index,
                                .state = TASK_REQUEST_ACTIVE};
    uint32_t request = task_request_new(mpi, task, &like, 0);
    run->outstanding++;
    struct task_wire wire = {
        .kind = TASK_WIRE_ENTER,
        .flags = TASK_WIRE_COLLECTIVE,
        .job = task->job,
        .source = task->task,
        .destination = (uint32_t)task_run_peer(mpi, task, run, 0),
        .sender = task_request_at(mpi, request)->number,
        .comm = run->comm,
        .tag = run->view.rank,
        .sequence = run->call,
        .start = run->start,
        .bytes = (uint64_t)ker_time_min(COST_MOST, a->cost(&mpi->collectives.analytic, &run->view))};
    notice_send(mpi, task_node_of(mpi, task), now, &wire, task_mpi_direct(mpi));
}

/* ---- where they are kept ---- */

static const struct task_comm *comm_of(const struct task_mpi *mpi, uint32_t job, int32_t comm)
{
    const struct task_job *j = mpi->job[job].job;
    int32_t count;
    const struct task_comm *comms = j->class->comms(j->program, &count);
    return comm >= 0 && comm < count ? &comms[comm] : NULL;
}

static struct task_gathering *gathering_new(struct task_mpi_node *node, uint32_t size)
{
    struct task_gathering *g = ker_alloc(sizeof *g + size * sizeof *g->request);
    *g = (struct task_gathering){.next = node->gatherings, .size = size};
    node->gatherings = g;
    return g;
}

/* Where it is, or is to be, linked. */
static struct task_gathering **gathering_find(struct task_mpi_node *node, const struct task_wire *wire)
{
    struct task_gathering **at = &node->gatherings;
    while (*at && ((*at)->job != wire->job || (*at)->comm != wire->comm || (*at)->call != wire->sequence ||
                   (*at)->start != wire->start))
        at = &(*at)->next;
    return at;
}

static void all_leave(struct task_mpi *mpi, struct task_mpi_node *node, ker_time now,
                      const struct task_gathering *g)
{
    const struct task_comm *comm = comm_of(mpi, g->job, g->comm);
    struct task_wire wire = {.kind = TASK_WIRE_LEAVE,
                             .flags = TASK_WIRE_COLLECTIVE,
                             .job = g->job,
                             .source = g->last,
                             .comm = g->comm,
                             .sequence = g->call,
                             .start = g->start,
                             .bytes = (uint64_t)g->latest};
    for (uint32_t rank = 0; rank < g->size; rank++) {
        wire.destination = (uint32_t)task_comm_task(comm, (int32_t)rank);
        wire.receiver = g->request[rank];
        notice_send(mpi, node, now, &wire, g->latest + g->cost - now);
    }
}

static void entered(struct task_mpi *mpi, struct task_mpi_node *node, ker_time now, ker_time when,
                    const struct task_wire *wire)
{
    struct task_gathering **at = gathering_find(node, wire), *g = *at;
    if (!g) {
        g = gathering_new(node, (uint32_t)comm_of(mpi, wire->job, wire->comm)->size);
        g->job = wire->job;
        g->comm = wire->comm;
        g->call = wire->sequence;
        g->start = wire->start;
        g->latest = -1;
        at = &node->gatherings;
    }
    ker_assert((uint32_t)wire->tag < g->size);
    g->request[wire->tag] = wire->sender;
    g->cost = (ker_time)wire->bytes > g->cost ? (ker_time)wire->bytes : g->cost;
    if (when > g->latest || (when == g->latest && wire->source < g->last))
        g->last = wire->source;
    g->latest = when > g->latest ? when : g->latest;
    if (++g->entered < g->size)
        return;
    *at = g->next;
    all_leave(mpi, node, now, g);
    free(g);
}

void task_analytic_notice(struct task_mpi *mpi, struct task_mpi_node *node, ker_time now, ker_time sent,
                          const struct task_wire *wire)
{
    mpi->job[wire->job].open--;
    mpi->now = now;
    if (wire->kind == TASK_WIRE_ENTER) {
        entered(mpi, node, now, sent, wire);
        return;
    }
    struct task_state *task = task_on_node(mpi, node, wire->job, wire->destination);
    uint32_t request = task_request_numbered(task, wire->receiver);
    if (__builtin_expect(mpi->waits, 0))
        task_cause_leave(mpi, now, request, wire);
    task_request_complete(mpi, task, request);
    if (__builtin_expect(mpi->waits, 0))
        task_cause_none(mpi);
}

void task_analytic_release(struct task_mpi_node *node)
{
    while (node->gatherings) {
        struct task_gathering *next = node->gatherings->next;
        free(node->gatherings);
        node->gatherings = next;
    }
}

/* ---- set-up ---- */

static enum ker_status curves_check(const struct task_mpi *mpi, const struct task_job *job, unsigned c,
                                    const struct ker_config *config, struct ker_error *error)
{
    int32_t count;
    const struct task_comm *comms = job->class->comms(job->program, &count);
    for (int32_t i = 0; i < count; i++)
        if (!comms[i].remote && comms[i].size > 1 &&
            !task_coll_curve_there(&mpi->collectives.analytic, c, (uint32_t)comms[i].size))
            return ker_config_fail(
                config, error, "mpi.collectives.table",
                "has no curve of %s on %d tasks, as many as a communicator of job \"%s\" has",
                task_coll_name(c), comms[i].size, job->name);
    return KER_OK;
}

enum ker_status task_mpi_curves_check(const struct task_mpi *mpi, const struct task_jobs *jobs,
                                      const struct ker_config *config, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; i < task_jobs_count(jobs) && !status; i++)
        for (unsigned c = 0; c < TASK_COLL_COUNT && !status; c++) {
            const struct task_job *job = task_jobs_get(jobs, i);
            if (mpi->collectives.by_curve >> c & 1 && !job->class->driven && !job->schedule)
                status = curves_check(mpi, job, c, config, error);
        }
    return status;
}

/* ---- saved state ---- */

static void gathering_state(struct task_mpi *mpi, struct task_mpi_node *node, struct task_gathering *of,
                            struct ker_chunk *c)
{
    bool loads = c->loads;
    struct task_gathering head = {0};
    ker_assert(loads || of);
    if (!loads)
        head = *of;
    KER_CHUNK(c, head.job, head.comm, head.call, head.start, head.size, head.entered, head.last, head.latest,
              head.cost);
    if (loads) {
        const struct task_comm *comm =
            head.job < mpi->job_room && mpi->job[head.job].job ? comm_of(mpi, head.job, head.comm) : NULL;
        c->bad |= !comm || head.size != (uint32_t)comm->size || head.entered >= head.size;
        if (c->bad)
            return;
        of = gathering_new(node, head.size);
        head.next = of->next;
        *of = head;
    }
    for (uint32_t i = 0; i < of->size; i++)
        KER_CHUNK(c, of->request[i]);
}

void task_analytic_state(struct task_mpi *mpi, struct task_mpi_node *node, struct ker_chunk *c)
{
    uint32_t count = 0;
    struct task_gathering *at = node->gatherings;
    for (const struct task_gathering *g = at; g && !c->loads; g = g->next)
        count++;
    for (count = ker_chunk_count(c, count, 4 * sizeof count); count && !c->bad; count--) {
        gathering_state(mpi, node, at, c);
        at = at ? at->next : NULL;
    }
}
