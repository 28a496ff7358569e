/* layout.c - which tasks of a communicator share a node, and a socket: found when the first of its calls asks
 * for it, and kept for all of them on this rank. It is the same on every rank, since it is made of nothing
 * but where tasks are.
 */
#include "tasks/mpi/state.h"

#include <stdlib.h>

struct kept {
    uint64_t key; /* communicator | job + 1 in the upper half */
    struct task_coll_layout *layout;
};

static const struct ker_table_kind kept_kind = KER_TABLE_U64(struct kept);

void task_layouts_release(struct task_mpi *mpi)
{
    for (struct kept *k = NULL; (k = ker_table_next(&kept_kind, &mpi->layouts, k));) {
        task_coll_layout_release(k->layout);
        free(k->layout);
    }
    ker_table_release(&mpi->layouts);
}

static struct task_coll_spot spot_of(const struct task_mpi *mpi, uint32_t job, uint32_t task)
{
    const struct task_mpi_outside *outside = &mpi->outside;
    if (!outside->seat)
        return (struct task_coll_spot){outside->node(outside->jobs, job, task), 0};
    struct task_place place = outside->seat(outside->jobs, job, task);
    const struct node_structure *s = outside->kinds ? node_structure_at(outside->kinds, place.node) : NULL;
    return (struct task_coll_spot){place.node,
                                   s ? node_unit_socket(s, place.core % s->units) : 0}; /* of node.tasks */
}

static const struct task_coll_layout *layout_of(struct task_mpi *mpi, const struct task_state *task,
                                                int32_t comm)
{
    uint64_t key = (uint64_t)(task->job + 1) << 32 | (uint32_t)comm;
    struct kept *kept = ker_table_find(&kept_kind, &mpi->layouts, &key);
    if (kept)
        return kept->layout;
    const struct task_job *job = task_job_of(mpi, task);
    int32_t count;
    const struct task_comm *c = &job->class->comms(job->program, &count)[comm];
    struct task_coll_spot *spot = ker_alloc(((size_t)c->size + 1) * sizeof *spot);
    for (int32_t rank = 0; rank < c->size; rank++)
        spot[rank] = spot_of(mpi, task->job, (uint32_t)task_comm_task(c, rank));
    struct task_coll_layout *layout = ker_alloc(sizeof *layout);
    task_coll_layout_make(layout, spot, (uint32_t)c->size);
    free(spot);
    bool is_new;
    *(struct kept *)ker_table_add(&kept_kind, &mpi->layouts, &key, &is_new) = (struct kept){key, layout};
    return layout;
}

void task_layout_choose(struct task_mpi *mpi, const struct task_state *task, struct task_collective_run *run)
{
    struct task_coll_view *view = &run->view;
    if (!view->first && !task_coll_among_neighbours(view->collective))
        view->layout = layout_of(mpi, task, run->comm);
    run->algorithm = task_coll_choose(&mpi->collectives, view);
    view->combination = task_coll_combination_of(&mpi->collectives, run->algorithm);
}
