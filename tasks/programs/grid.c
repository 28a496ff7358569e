/* grid.c - tasks in a grid; see grid.h. */
#include "tasks/programs/grid.h"

#include "kernel/config/config.h"

#include <stdlib.h>

const struct task_grid_form task_grid_plane = {2, 2, "for example grid = [16, 8] for 16 x 8 tasks",
                                               "columns and rows of tasks, as in [16, 8], would be right"};

enum ker_status task_grid_read(struct task_grid *grid, int32_t *tasks, const struct ker_config *config,
                               const char *key, const struct task_grid_form *form, struct ker_error *error)
{
    if (!ker_config_has(config, key))
        return ker_config_fail(config, error, key, "is missing; %s", form->example);
    int count = ker_config_count(config, key);
    if (count < form->least || count > form->most)
        return ker_config_fail(config, error, key, "has %d value%s; %s", count, count == 1 ? "" : "s",
                               form->right);
    uint64_t all = 1;
    for (int i = 0; i < count; i++) {
        grid->extent[i] = (uint32_t)ker_config_int_at(config, key, i);
        all *= grid->extent[i];
        if (all > INT32_MAX)
            return ker_config_fail(config, error, key, "makes more than 2^31 - 1 tasks");
    }
    grid->dimensions = (uint32_t)count;
    *tasks = (int32_t)all;
    return KER_OK;
}

bool task_grid_neighbour(const struct task_grid *grid, uint32_t task, const int8_t *offset,
                         uint32_t *neighbour)
{
    uint32_t stride = 1, found = task;
    for (uint32_t d = 0; d < grid->dimensions; stride *= grid->extent[d++]) {
        if (offset[d] == 0)
            continue;
        uint32_t extent = grid->extent[d], at = task / stride % extent;
        bool back = offset[d] < 0, over = at == (back ? 0 : extent - 1);
        if (over && !grid->periodic[d])
            return false;
        uint32_t by = (over ? extent - 1 : 1) * stride;
        found = back == over ? found + by : found - by;
    }
    *neighbour = found;
    return found != task;
}

void task_grid_comms_make(struct task_grid_comms *c, const struct task_grid *grid)
{
    uint32_t columns = grid->extent[0], rows = grid->extent[1], tasks = columns * rows;
    c->count = (int32_t)(1 + rows + columns);
    c->comm = ker_alloc((size_t)c->count * sizeof *c->comm);
    c->member = ker_alloc(2 * (size_t)tasks * sizeof *c->member);
    for (uint32_t t = 0; t < tasks; t++) {
        c->member[t] = (int32_t)t;
        c->member[tasks + t % columns * rows + t / columns] = (int32_t)t;
    }
    c->comm[0] = (struct task_comm){.size = (int32_t)tasks};
    for (uint32_t row = 0; row < rows; row++)
        c->comm[1 + row] = (struct task_comm){(int32_t)columns, &c->member[(size_t)row * columns]};
    for (uint32_t column = 0; column < columns; column++)
        c->comm[1 + rows + column] =
            (struct task_comm){(int32_t)rows, &c->member[tasks + (size_t)column * rows]};
}

void task_grid_comms_release(struct task_grid_comms *c)
{
    free(c->comm);
    free(c->member);
}

bool task_grid_transpose(const struct task_grid *grid, uint32_t task, bool row, uint64_t bytes,
                         struct task_op *op)
{
    uint32_t columns = grid->extent[0], rows = grid->extent[1], others = row ? columns : rows;
    op->kind = TASK_OP_COLLECTIVE;
    op->collective = TASK_COLL_ALLTOALL;
    op->call = "MPI_Alltoall";
    op->comm = (int32_t)(row ? 1 + task / columns : 1 + rows + task % columns);
    op->bytes = (bytes + others - 1) / others;
    return others > 1 && bytes > 0;
}
