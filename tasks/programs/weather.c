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
 * Communicators: 0 the world, 1 .. rows the rows, then the columns; a task's rank in its row is its column,
 * and the reverse.
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
    uint32_t columns, rows;
    uint64_t halo_bytes, transpose_bytes;
    int32_t comms;
    struct task_comm *comm;
    int32_t *member; /* of all rows, then of all columns */
};

static void weather_close(struct task_program *program)
{
    if (!program)
        return;
    free(program->comm);
    free(program->member);
    task_stages_release(&program->stages);
    free(program);
}

static enum ker_status grid_read(struct task_program *program, const struct ker_config *config,
                                 const char *path, struct ker_error *error)
{
    const char *key = TASK_KEY(path, "grid");
    if (!ker_config_has(config, key))
        return ker_config_fail(config, error, key, "is missing; for example grid = [16, 8] for 16 x 8 tasks");
    int count = ker_config_count(config, key);
    if (count != 2)
        return ker_config_fail(config, error, key,
                               "has %d value%s; columns and rows of tasks, as in [16, 8], would be right",
                               count, count == 1 ? "" : "s");
    int64_t columns = ker_config_int_at(config, key, 0), rows = ker_config_int_at(config, key, 1);
    if (columns * rows > INT32_MAX)
        return ker_config_fail(config, error, key, "makes more than 2^31 - 1 tasks");
    program->columns = (uint32_t)columns;
    program->rows = (uint32_t)rows;
    program->stages.world.size = (int32_t)(columns * rows);
    return KER_OK;
}

static void comms_make(struct task_program *program)
{
    uint32_t columns = program->columns, rows = program->rows, tasks = columns * rows;
    program->comms = (int32_t)(1 + rows + columns);
    program->comm = ker_alloc((size_t)program->comms * sizeof *program->comm);
    program->member = ker_alloc(2 * (size_t)tasks * sizeof *program->member);
    for (uint32_t t = 0; t < tasks; t++) {
        program->member[t] = (int32_t)t;
        program->member[tasks + t % columns * rows + t / columns] = (int32_t)t;
    }
    program->comm[0] = program->stages.world;
    for (uint32_t row = 0; row < rows; row++)
        program->comm[1 + row] =
            (struct task_comm){(int32_t)columns, &program->member[(size_t)row * columns]};
    for (uint32_t column = 0; column < columns; column++)
        program->comm[1 + rows + column] =
            (struct task_comm){(int32_t)rows, &program->member[tasks + (size_t)column * rows]};
}

/* The neighbour in a direction; false: beyond a pole, or the task itself. */
static bool neighbour_find(const struct task_program *program, uint32_t task, unsigned direction,
                           uint32_t *neighbour)
{
    uint32_t columns = program->columns, column = task % columns, row = task / columns;
    switch (direction) {
    case WEST:
        *neighbour = row * columns + (column + columns - 1) % columns;
        break;
    case EAST:
        *neighbour = row * columns + (column + 1) % columns;
        break;
    case NORTH:
        if (row == 0)
            return false;
        *neighbour = task - columns;
        break;
    default:
        if (row + 1 == program->rows)
            return false;
        *neighbour = task + columns;
        break;
    }
    return *neighbour != task;
}

/* West and east, north and south are each other's opposite. */
static bool weather_halo(const struct task_program *program, uint32_t task, uint32_t direction,
                         struct task_halo *halo)
{
    halo->send_tag = direction;
    halo->receive_tag = direction ^ 1;
    halo->bytes = program->halo_bytes;
    return neighbour_find(program, task, direction, &halo->neighbour);
}

/* A block of an Alltoall is what one task has for one other: its share of the fields is dealt to all of the
 * communicator. */
static bool transpose_op(const struct task_program *program, uint32_t task, bool row, struct task_op *op)
{
    uint32_t others = row ? program->columns : program->rows;
    op->kind = TASK_OP_COLLECTIVE;
    op->collective = TASK_COLL_ALLTOALL;
    op->call = "MPI_Alltoall";
    op->comm = (int32_t)(row ? 1 + task / program->columns : 1 + program->rows + task % program->columns);
    op->bytes = (program->transpose_bytes + others - 1) / others;
    return others > 1 && program->transpose_bytes > 0;
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
        return transpose_op(program, task, stage == STAGE_ROW_FORTH || stage == STAGE_ROW_BACK, op);
    }
}

static const struct task_stages_kind weather_stages = {
    .halo = weather_halo, .op = weather_op, .own_stages = STAGES};

static enum ker_status weather_open(struct task_program **opened, const struct ker_config *config,
                                    const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct task_program *program = ker_alloc(sizeof *program);
    *opened = program;
    enum ker_status status = grid_read(program, config, path, error);
    if (status != KER_OK)
        return status;
    program->halo_bytes = ker_config_bytes(config, TASK_KEY(path, "halo_bytes"));
    program->transpose_bytes = ker_config_bytes(config, TASK_KEY(path, "transpose_bytes"));
    bool silent = program->halo_bytes == 0 && program->transpose_bytes == 0;
    task_stages_init(&program->stages, &weather_stages, config, path,
                     program->halo_bytes > 0 ? DIRECTIONS : 0, silent);
    comms_make(program);
    return KER_OK;
}

static const struct task_comm *weather_comms(const struct task_program *program, int32_t *count)
{
    *count = program->comms;
    return program->comm;
}

static const struct ker_option weather_options[] = {
    {"jobs[].grid", KER_TYPE_INT | KER_TYPE_LIST, NULL, "1", "1073741824", NULL,
     "weather: columns and rows of tasks; task t is in column t mod columns. Columns close to a ring, rows "
     "end at the poles."},
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
    .operations =
        &(const struct task_program_class){
            .open = weather_open,
            .tasks = task_stages_tasks,
            .comms = weather_comms,
            .prepare = task_stages_prepare,
            .next = task_stages_next,
            .close = weather_close,
            .position = task_stages_position,
            .done = task_stages_done,
            .service = task_stages_service,
        },
    .options = KER_OPTIONS(weather_options, task_steps_options, task_compute_options)};
