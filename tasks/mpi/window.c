/* window.c - what a task knows of its windows, and of the targets in them.
 *
 * Two tables of the task, by (communicator, window) and by (communicator, window, task): entries are made
 * when they are first asked for, by a call or by a message that has come. A task without windows has neither.
 */
#include "tasks/mpi/state.h"

#include <stdlib.h>

KER_TABLE_KEY(, task_window_kind, struct task_window, window);
KER_TABLE_KEY(, task_target_kind, struct task_target, peer);

struct task_onesided *task_onesided_get(struct task_state *task)
{
    if (!task->onesided)
        task->onesided = ker_alloc(sizeof *task->onesided);
    return task->onesided;
}

void task_onesided_release(struct task_state *task)
{
    if (!task->onesided)
        return;
    ker_table_release(&task->onesided->windows);
    ker_table_release(&task->onesided->targets);
    free(task->onesided);
}

struct task_window *task_window_get(struct task_state *task, int32_t comm, int32_t window)
{
    bool is_new;
    struct task_window wanted = {.comm = comm, .window = window};
    struct task_window *w =
        ker_table_add(&task_window_kind, &task_onesided_get(task)->windows, &wanted, &is_new);
    w->comm = comm;
    w->window = window;
    return w;
}

struct task_target *task_target_get(struct task_state *task, int32_t comm, int32_t window, uint32_t peer)
{
    bool is_new;
    struct task_target wanted = {.comm = comm, .window = window, .peer = peer};
    struct task_target *t =
        ker_table_add(&task_target_kind, &task_onesided_get(task)->targets, &wanted, &is_new);
    t->comm = comm;
    t->window = window;
    t->peer = peer;
    return t;
}

/* ---- in an order that does not depend on history ---- */

KER_ORDER_BY(target_compare, struct task_target, comm, window, peer)

KER_ORDER_BY(window_compare, struct task_window, comm, window)

void **task_targets_sorted(const struct task_onesided *o)
{
    return ker_table_sorted(&task_target_kind, &o->targets, target_compare);
}

void **task_windows_sorted(const struct task_onesided *o)
{
    return ker_table_sorted(&task_window_kind, &o->windows, window_compare);
}
