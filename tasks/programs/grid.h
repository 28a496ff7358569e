/* grid.h - tasks in a grid, for generators: its extents from the configuration, neighbours, and the
 * communicators of rows and columns.
 *
 * Task t = x0 + e0 * (x1 + e1 * (x2 + ...)): the first coordinate runs fastest, as in the torus topology.
 */
#pragma once

#include "traces/traces.h"

#define TASK_GRID_DIMENSIONS 8

struct task_grid {
    uint32_t dimensions, extent[TASK_GRID_DIMENSIONS];
    bool periodic[TASK_GRID_DIMENSIONS]; /* does the dimension close to a ring? */
};

/* A key that is a list of extents: how many it may have, and what is said when it is missing ("for example
 * ..."), or has another number. */
struct task_grid_form {
    int least, most;
    const char *example, *right;
};
extern const struct task_grid_form task_grid_plane; /* columns and rows, jobs[].grid */
/* periodic is left as it is. */
enum ker_status task_grid_read(struct task_grid *, int32_t *tasks, const struct ker_config *, const char *key,
                               const struct task_grid_form *, struct ker_error *);

/* The task at this offset of -1, 0, 1 in each dimension; false: over a rim, or the task itself. */
bool task_grid_neighbour(const struct task_grid *, uint32_t task, const int8_t *offset, uint32_t *neighbour);

/* Of a grid of two dimensions: communicator 0 is the world, 1 .. rows are the rows, in which the second
 * coordinate is the same, then come the columns. A task's rank in its row is its column, and the reverse. */
struct task_grid_comms {
    int32_t count;
    struct task_comm *comm;
    int32_t *member; /* of all rows, then of all columns */
};
void task_grid_comms_make(struct task_grid_comms *, const struct task_grid *);
void task_grid_comms_release(struct task_grid_comms *);

/* An Alltoall in the task's row, or column: of `bytes` that it has, equal blocks for all there. false: it has
 * none, or is alone there. *op is zeroed. */
bool task_grid_transpose(const struct task_grid *, uint32_t task, bool row, uint64_t bytes,
                         struct task_op *op);
