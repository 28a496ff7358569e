/* run_state.c - calls of collectives, saved and loaded. The algorithm is chosen again, and must be the same;
 * what a call has been given by its op comes from there, but for calls that outlive theirs.
 */
#include "tasks/mpi/state.h"

#include <stdlib.h>
#include <string.h>

static void counts_state(struct task_collective_run *run, uint32_t sent, uint32_t received,
                         struct ker_chunk *c)
{
    if (c->loads)
        run->counts = ker_alloc((sent + (size_t)received + 1) * sizeof *run->counts);
    for (size_t i = 0; i < sent + (size_t)received; i++)
        KER_CHUNK(c, run->counts[i]);
    run->view.send_bytes = sent ? run->counts : NULL;
    run->view.receive_bytes = received ? run->counts + sent : NULL;
}

/* What a call of its own, whose op is gone, has been given; ranks and neighbours are the program's. */
static void own_state(struct task_mpi *mpi, struct task_state *task, struct task_collective_run *run,
                      struct ker_chunk *c)
{
    const struct task_job *job = task_job_of(mpi, task);
    struct task_coll_view *v = &run->view;
    uint32_t sent = ker_chunk_count(c, task_run_counts(v, false), 8),
             received = ker_chunk_count(c, task_run_counts(v, true), 8);
    if (c->loads && !c->bad) {
        int32_t comms;
        const struct task_comm *comm = job->class->comms(job->program, &comms);
        bool among = task_coll_among_neighbours(v->collective);
        c->bad |= run->comm < 0 || run->comm >= comms;
        if (c->bad)
            return;
        int32_t remote = comm[run->comm].remote, own = comm[run->comm].size;
        c->bad |= v->first != (remote ? own : 0) || v->size != own + (remote ? comm[remote].size : 0) ||
                  v->root < 0 || v->root >= v->size || v->rank < 0 || v->rank >= v->size ||
                  (among && !job->class->neighbours);
        if (!c->bad && among)
            v->neighbours = job->class->neighbours(job->program, task->own, run->comm);
        static const uint64_t some;
        v->send_bytes = v->receive_bytes = &some; /* so that they are counted */
        c->bad |= (among && !v->neighbours) || c->bad || (sent && sent != task_run_counts(v, false)) ||
                  (received && received != task_run_counts(v, true));
    }
    if (!c->bad)
        counts_state(run, sent, received, c);
}

/* Of who shares a node, its ranks are those of its communicator. */
static bool run_fits(const struct task_mpi *mpi, const struct task_state *task,
                     const struct task_collective_run *run)
{
    const struct task_job *job = task_job_of(mpi, task);
    const struct task_coll_view *v = &run->view;
    int32_t count;
    const struct task_comm *comms = job->class->comms(job->program, &count);
    return run->comm >= 0 && run->comm < count && v->rank >= 0 && v->rank < v->size &&
           (v->first || (v->size == comms[run->comm].size && v->root >= 0 && v->root < v->size));
}

void task_run_state(struct task_mpi *mpi, struct task_state *task, struct task_collective_run *run,
                    struct ker_chunk *c)
{
    char name[KER_CHUNK_NAME] = "";
    if (!c->loads)
        snprintf(name, sizeof name, "%s", run->algorithm->name);
    ker_chunk_text(c, name);
    struct task_coll_view view = run->view;
    view.send_bytes = view.receive_bytes = NULL;
    view.neighbours = NULL;
    view.layout = NULL;
    view.combination = NULL;
    KER_CHUNK(c, view);
    view.send_bytes = run->view.send_bytes;
    view.receive_bytes = run->view.receive_bytes;
    view.neighbours = run->view.neighbours;
    view.layout = run->view.layout;
    view.combination = run->view.combination;
    run->view = view;
    KER_CHUNK(c, run->comm, run->current, run->round, run->outstanding, run->call, run->start, run->owed,
              run->combine);
    if (mpi->waits) {
        KER_CHUNK(c, run->began, run->entered);
    }
    run->fence = ker_chunk_bool(c, run->fence);
    run->sending = ker_chunk_bool(c, run->sending);
    run->ended = ker_chunk_bool(c, run->ended);
    c->bad |= run->view.collective >= TASK_COLL_COUNT;
    if (!c->bad && run->request)
        own_state(mpi, task, run, c);
    if (!c->loads || c->bad)
        return;
    c->bad |= mpi->collectives.placed && !run_fits(mpi, task, run);
    if (c->bad)
        return;
    task_run_choose(mpi, task, run);
    c->bad |= strncmp(run->algorithm->name, name, sizeof name - 1) != 0;
}
