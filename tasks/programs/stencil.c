/* stencil.c - n-dimensional halo exchange from the configuration.
 *
 * Each step of each task: the halo exchange, computation, and an Allreduce every n steps (stages.h).
 * Neighbours are in one order: faces: x0-1, x0+1, x1-1, x1+1, ...; all: the offsets (-1, 0, 1) of all
 * dimensions, the first running fastest, without (0, 0, ...). A message's tag is the number of the direction
 * it goes, so that two messages between the same two tasks (a ring of two) are distinguished.
 *
 * Invariant: direction d of a task and opposite[d] of that neighbour are the same pair.
 */
#include "tasks/programs/stages.h"

#include <stdlib.h>

#define MAX_DIRECTIONS 6561 /* 3^8 */

struct direction {
    int8_t offset[TASK_GRID_DIMENSIONS];
    uint32_t opposite;
    uint64_t bytes;
};

struct task_program {
    struct task_stages stages;
    struct task_grid grid;
    uint32_t directions;
    struct direction *direction;
};

static void stencil_close(struct task_program *program)
{
    if (!program)
        return;
    free(program->direction);
    task_stages_release(&program->stages);
    free(program);
}

/* One value for all dimensions, or one for each. */
static enum ker_status list_check(const struct task_program *program, const struct ker_config *config,
                                  const char *key, struct ker_error *error)
{
    int count = ker_config_count(config, key);
    if (count == 1 || count == (int)program->grid.dimensions)
        return KER_OK;
    return ker_config_fail(config, error, key,
                           "has %d values; one for all or one for each of the %u dimensions of extents "
                           "would be right",
                           count, program->grid.dimensions);
}

static uint64_t dimension_bytes(const struct ker_config *config, const char *path, uint32_t dimension)
{
    const char *key = TASK_KEY(path, "bytes");
    return ker_config_bytes_at(config, key, ker_config_count(config, key) == 1 ? 0 : (int)dimension);
}

/* A step of one along the offset; faces are in the order of the file's head. */
static void faces_make(struct task_program *program, const struct ker_config *config, const char *path)
{
    program->directions = 2 * program->grid.dimensions;
    program->direction = ker_alloc(program->directions * sizeof *program->direction);
    for (uint32_t i = 0; i < program->directions; i++) {
        struct direction *direction = &program->direction[i];
        direction->offset[i / 2] = i % 2 ? 1 : -1;
        direction->opposite = i ^ 1;
        direction->bytes = dimension_bytes(config, path, i / 2);
    }
}

static void all_make(struct task_program *program, const struct ker_config *config, const char *path)
{
    uint32_t cells = 1;
    for (uint32_t i = 0; i < program->grid.dimensions; i++)
        cells *= 3;
    program->directions = cells - 1;
    program->direction = ker_alloc(program->directions * sizeof *program->direction);
    for (uint32_t i = 0; i < program->directions; i++) {
        struct direction *direction = &program->direction[i];
        uint32_t cell = i + (i >= cells / 2); /* the middle one is the task itself */
        direction->opposite = program->directions - 1 - i;
        direction->bytes = UINT64_MAX;
        for (uint32_t d = 0; d < program->grid.dimensions; d++, cell /= 3) {
            direction->offset[d] = (int8_t)((int)(cell % 3) - 1);
            uint64_t bytes = dimension_bytes(config, path, d);
            if (direction->offset[d] && bytes < direction->bytes)
                direction->bytes = bytes;
        }
    }
}

static bool stencil_halo(const struct task_program *program, uint32_t task, uint32_t step, uint32_t direction,
                         bool send, struct task_halo *halo)
{
    const struct direction *where = &program->direction[direction];
    halo->tag = send ? direction : where->opposite;
    halo->bytes = where->bytes;
    return task_grid_neighbour(&program->grid, task, where->offset, &halo->peer);
}

static bool stencil_op(const struct task_program *program, uint32_t task, uint32_t stage, struct task_op *op)
{
    return task_stages_compute(&program->stages, program->stages.compute, op);
}

static const struct task_stages_kind stencil_stages = {
    .halo = stencil_halo, .op = stencil_op, .own_stages = 1};

static enum ker_status stencil_read(struct task_program *program, const struct ker_config *config,
                                    const char *path, struct ker_error *error)
{
    static const struct task_grid_form form = {1, TASK_GRID_DIMENSIONS,
                                               "for example extents = [8, 8, 8] for 512 tasks",
                                               "1 to 8 dimensions are possible"};
    enum ker_status status = task_grid_read(&program->grid, &program->stages.world.size, config,
                                            TASK_KEY(path, "extents"), &form, error);
    status = status ?: list_check(program, config, TASK_KEY(path, "periodic"), error);
    status = status ?: list_check(program, config, TASK_KEY(path, "bytes"), error);
    if (status != KER_OK)
        return status;
    const char *periodic = TASK_KEY(path, "periodic");
    bool one = ker_config_count(config, periodic) == 1;
    for (uint32_t d = 0; d < program->grid.dimensions; d++)
        program->grid.periodic[d] = ker_config_bool_at(config, periodic, one ? 0 : (int)d);
    if (ker_config_is(config, TASK_KEY(path, "neighbours"), "faces"))
        faces_make(program, config, path);
    else
        all_make(program, config, path);
    task_stages_init(&program->stages, &stencil_stages, config, path, program->directions, false);
    return KER_OK;
}

static enum ker_status stencil_open(struct task_program **opened, const struct ker_config *config,
                                    const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct task_program *program = ker_alloc(sizeof *program);
    *opened = program;
    return stencil_read(program, config, path, error);
}

static const struct ker_option stencil_options[] = {
    {"jobs[].extents", KER_TYPE_INT | KER_TYPE_LIST, NULL, "1", "1073741824", NULL,
     "stencil: tasks in each of 1 to 8 dimensions; the first runs fastest, as in a torus."},
    {"jobs[].periodic", KER_TYPE_BOOL | KER_TYPE_LIST, "true", NULL, NULL, NULL,
     "stencil: does the dimension close to a ring? One value for all dimensions or one for each."},
    {"jobs[].neighbours", KER_TYPE_CHOICE, "faces", NULL, NULL, "faces|all",
     "stencil: two neighbours per dimension (6 in 3-D), or those at edges and corners, too (26 in 3-D)."},
    {0},
};

const struct ker_kind task_program_stencil = {
    .name = "stencil",
    .meaning =
        "n-dimensional halo exchange (Irecv, Isend, Waitall, computation, Allreduce), any number of tasks",
    .traits = "computes",
    .operations = &(const struct task_program_class){TASK_STAGES_CLASS, .open = stencil_open,
                                                     .comms = task_stages_comms, .close = stencil_close},
    .options = KER_OPTIONS(stencil_options, task_bytes_options, task_steps_options, task_compute_options)};
