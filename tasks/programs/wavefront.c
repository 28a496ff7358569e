/* wavefront.c - sweeps over a grid of points from its corners, from the configuration: what solvers of
 * transport do (Sweep3D, Kripke).
 *
 * The points are divided among a grid of columns x rows tasks; the third dimension is not divided (Koch,
 * Baker, Alcouffe: Trans. Am. Nucl. Soc. 65, 1992: KBA). A step is eight sweeps, from each corner of the
 * points: two, up and down the third dimension, from task corner west-north, two from east-north, west-south
 * and east-south. A sweep is jobs[].blocks blocks (of planes and angles) one after the other; of each a task
 * receives from its neighbours upwind what the block needs (Recv from the row's, Recv from the column's),
 * computes, and sends on downwind (Send, Send). So tasks work along diagonals that follow each other, and
 * more blocks fill the pipeline sooner, with more and smaller messages. jobs[].compute_time of a step is
 * divided equally among its blocks.
 *
 * Invariant: messages of two tasks in one direction are received in the order in which they are sent.
 */
#include "tasks/programs/stages.h"

#include <stdlib.h>

enum { RECEIVE_ROW, RECEIVE_COLUMN, COMPUTE, SEND_ROW, SEND_COLUMN, PARTS };
#define SWEEPS 8u

struct task_program {
    struct task_stages stages;
    struct task_stages_kind kind; /* with as many stages as the blocks make */
    struct task_grid grid;
    uint32_t blocks;
    uint64_t bytes[2]; /* of a message in a row, in a column */
};

static void wavefront_close(struct task_program *program)
{
    if (program)
        task_stages_release(&program->stages);
    free(program);
}

static bool wavefront_op(const struct task_program *program, uint32_t task, uint32_t stage,
                         struct task_op *op)
{
    uint32_t block = stage / PARTS, part = stage % PARTS, sweep = block / program->blocks, peer;
    if (part == COMPUTE)
        return task_stages_compute(&program->stages,
                                   task_stages_part(&program->stages, block, SWEEPS * program->blocks), op);
    unsigned axis = part == RECEIVE_COLUMN || part == SEND_COLUMN;
    bool send = part > COMPUTE,
         from_far = sweep >> (1 + axis) & 1; /* the sweep runs towards the first task */
    int8_t offset[2] = {0, 0};
    offset[axis] = send == from_far ? -1 : 1;
    op->kind = send ? TASK_OP_SEND : TASK_OP_RECV;
    op->call = send ? "MPI_Send" : "MPI_Recv";
    op->tag = (int32_t)sweep;
    op->bytes = program->bytes[axis];
    bool there = task_grid_neighbour(&program->grid, task, offset, &peer);
    op->peer = there ? (int32_t)peer : 0;
    return there;
}

static enum ker_status wavefront_open(struct task_program **opened, const struct ker_config *config,
                                      const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct task_program *program = ker_alloc(sizeof *program);
    *opened = program;
    enum ker_status status = task_grid_read(&program->grid, &program->stages.world.size, config,
                                            TASK_KEY(path, "grid"), &task_grid_plane, error);
    if (status != KER_OK)
        return status;
    const char *bytes = TASK_KEY(path, "bytes");
    int count = ker_config_count(config, bytes);
    if (count > 2)
        return ker_config_fail(config, error, bytes,
                               "has %d values; one, or those of messages in rows and in columns, would be "
                               "right",
                               count);
    for (int axis = 0; axis < 2; axis++)
        program->bytes[axis] = ker_config_bytes_at(config, bytes, count == 2 ? axis : 0);
    program->blocks = (uint32_t)ker_config_int(config, TASK_KEY(path, "blocks"));
    program->kind =
        (struct task_stages_kind){.op = wavefront_op, .own_stages = PARTS * SWEEPS * program->blocks};
    task_stages_init(&program->stages, &program->kind, config, path, 0, false);
    return KER_OK;
}

static const struct ker_option wavefront_options[] = {
    {"jobs[].blocks", KER_TYPE_INT, "10", "1", "1000000", NULL,
     "wavefront: each of the eight sweeps of a step is done in so many blocks, of planes and angles."},
    {0},
};

const struct ker_kind task_program_wavefront = {
    .name = "wavefront",
    .meaning = "sweeps from the corners of a grid of tasks, as in Sweep3D and Kripke (Recv, Recv, "
               "computation, Send, Send, block by block), any number of tasks",
    .traits = "computes",
    .operations = &(const struct task_program_class){TASK_STAGES_CLASS, .open = wavefront_open,
                                                     .comms = task_stages_comms, .close = wavefront_close},
    .options = KER_OPTIONS(wavefront_options, task_grid_options, task_bytes_options, task_steps_options,
                           task_compute_options)};
