/* weather.c - what a spectral weather model sends, from the configuration: halo exchange, transposes,
 * reductions.
 *
 * Tasks are in a grid of rows x columns (jobs[].grid = [columns, rows]); task t is at column t % columns,
 * row t / columns. A step is what a semi-Lagrangian spectral model does in one, as far as others notice:
 *   1. halo exchange with the neighbours west and east (the grid closes), north and south (it ends at the
 * poles): Irecv and Isend of jobs[].halo_bytes each, one Waitall; then computation in grid space;
 *   2. a transpose in the row (grid space to Fourier space: each task has all longitudes of some latitudes)
 * and one in the column (to spectral space): an Alltoall of the task's share of the fields,
 * jobs[].transpose_bytes, in equal blocks, on the communicator of the row, then the column; computation in
 * spectral space; and back the same way, column first;
 *   3. every jobs[].allreduce_every steps an Allreduce of jobs[].allreduce_bytes over all tasks (norms,
 * conservation). jobs[].compute_time is shared between the two places where there is computation. Bytes of 0
 * leave a part out, so that each can be looked at alone.
 *
 * Invariant: messages of a step match: the tag is the direction of a message, and both ends count its bytes
 * from the axis.
 */
#include "tasks/programs/stages.h"

#include <stdlib.h>

enum { WEST, EAST, NORTH, SOUTH, DIRECTIONS };

/* Behind the halo exchange, before the Allreduce (stages.h). */
enum stage {
    STAGE_GRID_COMPUTE,
    STAGE_ROW_FORTH,
    STAGE_COLUMN_FORTH,
    STAGE_SPECTRAL_COMPUTE,
    STAGE_COLUMN_BACK,
    STAGE_ROW_BACK,
    STAGES,
};

struct task_program {
    struct task_stages stages;
    struct task_grid grid; /* columns, rows */
    struct task_grid_comms comms;
    uint64_t halo_bytes, transpose_bytes;
};

static void weather_close(struct task_program *program)
{
    if (!program)
        return;
    task_grid_comms_release(&program->comms);
    task_stages_release(&program->stages);
    free(program);
}

/* West and east, north and south are each other's opposite. */
static bool weather_halo(const struct task_program *program, uint32_t task, uint32_t step, uint32_t direction,
                         bool send, struct task_halo *halo)
{
    static const int8_t offset[DIRECTIONS][2] = {
        [WEST] = {-1, 0}, [EAST] = {1, 0}, [NORTH] = {0, -1}, [SOUTH] = {0, 1}};
    halo->tag = send ? direction : direction ^ 1;
    halo->bytes = program->halo_bytes;
    return task_grid_neighbour(&program->grid, task, offset[direction], &halo->peer);
}

static bool weather_op(const struct task_program *program, uint32_t task, uint32_t stage, struct task_op *op)
{
    ker_time half = program->stages.compute / 2;
    switch (stage) {
    case STAGE_GRID_COMPUTE:
        return task_stages_compute(&program->stages, program->stages.compute - half, op);
    case STAGE_SPECTRAL_COMPUTE:
        return task_stages_compute(&program->stages, half, op);
    default:
        return task_grid_transpose(&program->grid, task, stage == STAGE_ROW_FORTH || stage == STAGE_ROW_BACK,
                                   program->transpose_bytes, op);
    }
}

static const struct task_stages_kind weather_stages = {
    .halo = weather_halo, .op = weather_op, .own_stages = STAGES};

static enum ker_status weather_open(struct task_program **opened, const struct ker_config *config,
                                    const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct task_program *program = ker_alloc(sizeof *program);
    *opened = program;
    program->grid.periodic[0] = true;
    enum ker_status status = task_grid_read(&program->grid, &program->stages.world.size, config,
                                            TASK_KEY(path, "grid"), &task_grid_plane, error);
    if (status != KER_OK)
        return status;
    program->halo_bytes = ker_config_bytes(config, TASK_KEY(path, "halo_bytes"));
    program->transpose_bytes = ker_config_bytes(config, TASK_KEY(path, "transpose_bytes"));
    bool silent = program->halo_bytes == 0 && program->transpose_bytes == 0;
    task_stages_init(&program->stages, &weather_stages, config, path,
                     program->halo_bytes > 0 ? DIRECTIONS : 0, silent);
    task_grid_comms_make(&program->comms, &program->grid);
    return KER_OK;
}

static const struct task_comm *weather_comms(const struct task_program *program, int32_t *count)
{
    *count = program->comms.count;
    return program->comms.comm;
}

static const struct ker_option weather_options[] = {
    {"jobs[].halo_bytes", KER_TYPE_BYTES, "8 KiB", NULL, "1 TiB", NULL,
     "weather: a message to each of the four neighbours in a step; 0: none."},
    {"jobs[].transpose_bytes", KER_TYPE_BYTES, "64 KiB", NULL, "1 TiB", NULL,
     "weather: a task's share of the fields, which goes in equal blocks to all of its row, then its column, "
     "and back in each step (four Alltoalls); 0: none."},
    {0},
};

const struct ker_kind task_program_weather = {
    .name = "weather",
    .meaning = "a spectral weather model: halo exchange, transposes in rows and columns (Alltoall), "
               "Allreduce, any number of tasks",
    .traits = "computes",
    .operations = &(const struct task_program_class){TASK_STAGES_CLASS, .open = weather_open,
                                                     .comms = weather_comms, .close = weather_close},
    .options = KER_OPTIONS(weather_options, task_grid_options, task_steps_options, task_compute_options)};
