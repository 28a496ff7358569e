/* fft.c - transforms of Fourier of two or three dimensions, by pencils, from the configuration.
 *
 * Each task has whole lines of the points along one dimension. A 3-D transform on a grid of columns x rows
 * tasks: computation along the first dimension; an Alltoall in the task's row of the grid, behind which it
 * has lines along the second one; computation; an Alltoall in its column; computation along the third. With
 * jobs[].inverse the same way back. A 2-D transform has one Alltoall, among all tasks. A task has points x
 * element / tasks bytes, rounded up, and a block of an Alltoall is its share of them, rounded up: as
 * libraries do that fill up what does not divide. jobs[].compute_time of a step is divided equally among its
 * computations. (Pekurovsky, P3DFFT, SIAM J. Sci. Comput. 34(4), 2012.)
 */
#include "tasks/programs/stages.h"

#include <stdlib.h>

#define MOST_POINTS (UINT64_C(1) << 50)

struct task_program {
    struct task_stages stages;
    struct task_stages_kind kind; /* with as many stages as a step has here */
    struct task_grid grid;
    struct task_grid_comms comms;
    uint32_t transposes; /* of a transform in one direction */
    uint64_t bytes;      /* of a task */
};

static void fft_close(struct task_program *program)
{
    if (!program)
        return;
    task_grid_comms_release(&program->comms);
    task_stages_release(&program->stages);
    free(program);
}

static enum ker_status points_read(struct task_program *program, const struct ker_config *config,
                                   const char *path, struct ker_error *error)
{
    const char *key = TASK_KEY(path, "points");
    if (!ker_config_has(config, key))
        return ker_config_fail(config, error, key,
                               "is missing; for example points = [1024, 1024, 1024] for a 3-D transform");
    int count = ker_config_count(config, key);
    if (count != 2 && count != 3)
        return ker_config_fail(config, error, key, "has %d value%s; a transform has 2 or 3 dimensions", count,
                               count == 1 ? "" : "s");
    uint64_t points = 1;
    for (int i = 0; i < count; i++)
        points *= (uint64_t)ker_config_int_at(config, key, i);
    if (points > MOST_POINTS)
        return ker_config_fail(config, error, key, "makes more than 2^50 points");
    uint64_t tasks = (uint64_t)program->stages.world.size,
             all = points * ker_config_bytes(config, TASK_KEY(path, "element_bytes"));
    program->bytes = (all + tasks - 1) / tasks;
    program->transposes = (uint32_t)count - 1;
    if (program->grid.dimensions != program->transposes)
        return ker_config_fail(config, error, TASK_KEY(path, "grid"),
                               count == 2 ? "has two values; a transform of 2 dimensions is divided by one: "
                                            "grid = [8] for 8 tasks"
                                          : "has one value; a transform of 3 dimensions is divided by two: "
                                            "grid = [8, 4] for 8 x 4 tasks");
    return KER_OK;
}

/* Computations and transposes take turns; on the way back they come the other way round. */
static bool fft_op(const struct task_program *program, uint32_t task, uint32_t stage, struct task_op *op)
{
    uint32_t n = program->transposes, each = 2 * n + 1, way = stage / each, at = stage % each;
    uint32_t computations = program->kind.own_stages / each * (n + 1);
    if (at % 2 == 0)
        return task_stages_compute(
            &program->stages, task_stages_part(&program->stages, way * (n + 1) + at / 2, computations), op);
    uint32_t which = way ? n - 1 - at / 2 : at / 2;
    bool any = task_grid_transpose(&program->grid, task, which == 0, program->bytes, op);
    op->comm = n == 1 ? 0 : op->comm;
    return any;
}

static enum ker_status fft_open(struct task_program **opened, const struct ker_config *config,
                                const char *path, struct ker_comm *comm, struct ker_error *error)
{
    static const struct task_grid_form form = {
        1, 2, "for example grid = [16, 8] for 16 x 8 tasks, or [16] for a transform of 2 dimensions",
        "columns and rows of tasks, as in [16, 8], or one number would be right"};
    struct task_program *program = ker_alloc(sizeof *program);
    *opened = program;
    program->grid.extent[1] = 1; /* where there is one dimension only */
    enum ker_status status = task_grid_read(&program->grid, &program->stages.world.size, config,
                                            TASK_KEY(path, "grid"), &form, error);
    status = status ?: points_read(program, config, path, error);
    if (status != KER_OK)
        return status;
    uint32_t ways = ker_config_bool(config, TASK_KEY(path, "inverse")) ? 2 : 1;
    program->kind =
        (struct task_stages_kind){.op = fft_op, .own_stages = ways * (2 * program->transposes + 1)};
    if (program->transposes == 2)
        task_grid_comms_make(&program->comms, &program->grid);
    task_stages_init(&program->stages, &program->kind, config, path, 0, false);
    return KER_OK;
}

static const struct task_comm *fft_comms(const struct task_program *program, int32_t *count)
{
    if (program->transposes == 1)
        return task_stages_comms(program, count);
    *count = program->comms.count;
    return program->comms.comm;
}

static const struct ker_option fft_options[] = {
    {"jobs[].points", KER_TYPE_INT | KER_TYPE_LIST, NULL, "1", "1073741824", NULL,
     "fft: points in each of 2 or 3 dimensions."},
    {"jobs[].element_bytes", KER_TYPE_BYTES, "16 B", "1 B", "4 KiB", NULL,
     "fft: a point; 16 bytes are a complex number of double precision."},
    {"jobs[].inverse", KER_TYPE_BOOL, "true", NULL, NULL, NULL,
     "fft: each step transforms there and back; false: there only."},
    {0},
};

const struct ker_kind task_program_fft = {
    .name = "fft",
    .meaning = "transforms of Fourier of 2 or 3 dimensions by pencils (computation, Alltoall in rows, then "
               "in columns of tasks), any number of tasks",
    .traits = "computes",
    .operations = &(const struct task_program_class){TASK_STAGES_CLASS, .open = fft_open, .comms = fft_comms,
                                                     .close = fft_close},
    .options = KER_OPTIONS(fft_options, task_grid_options, task_steps_options, task_compute_options)};
