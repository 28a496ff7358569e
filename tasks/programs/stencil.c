/* stencil.c - n-dimensional halo exchange from the configuration.
 *
 * Each step of each task: the halo exchange, computation, and an Allreduce every n steps (stages.h).
 * Task t = x0 + e0 * (x1 + e1 * (x2 + ...)): the first coordinate runs fastest, as in the torus topology.
 * Neighbours are in one order: faces: x0-1, x0+1, x1-1, x1+1, ...; all: the offsets (-1, 0, 1) of all
 * dimensions, the first running fastest, without (0, 0, ...). A message's tag is the number of the direction
 * it goes, so that two messages between the same two tasks (a ring of two) are distinguished.
 *
 * Invariant: direction d of a task and opposite[d] of that neighbour are the same pair.
 */
#include "tasks/programs/stages.h"

#include <stdlib.h>

#define MAX_DIMENSIONS 8
#define MAX_DIRECTIONS 6561 /* 3^8 */

struct direction {
    int8_t offset[MAX_DIMENSIONS];
    uint32_t opposite;
    uint64_t bytes;
};

struct task_program {
    struct task_stages stages;
    uint32_t dimensions, directions;
    uint32_t extent[MAX_DIMENSIONS];
    bool periodic[MAX_DIMENSIONS];
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
    if (count == 1 || count == (int)program->dimensions)
        return KER_OK;
    return ker_config_fail(config, error, key,
                           "has %d values; one for all or one for each of the %u dimensions of extents "
                           "would be right",
                           count, program->dimensions);
}

static enum ker_status extents_read(struct task_program *program, const struct ker_config *config,
                                    const char *path, struct ker_error *error)
{
    const char *key = TASK_KEY(path, "extents");
    if (!ker_config_has(config, key))
        return ker_config_fail(config, error, key,
                               "is missing; for example extents = [8, 8, 8] for 512 tasks");
    int count = ker_config_count(config, key);
    if (count < 1 || count > MAX_DIMENSIONS)
        return ker_config_fail(config, error, key, "has %d values; 1 to %d dimensions are possible", count,
                               MAX_DIMENSIONS);
    uint64_t tasks = 1;
    for (int i = 0; i < count; i++) {
        program->extent[i] = (uint32_t)ker_config_int_at(config, key, i);
        tasks *= program->extent[i];
        if (tasks > INT32_MAX)
            return ker_config_fail(config, error, key, "makes more than 2^31 - 1 tasks");
    }
    program->dimensions = (uint32_t)count;
    program->stages.world.size = (int32_t)tasks;
    return KER_OK;
}

static uint64_t dimension_bytes(const struct ker_config *config, const char *path, uint32_t dimension)
{
    const char *key = TASK_KEY(path, "bytes");
    return ker_config_bytes_at(config, key, ker_config_count(config, key) == 1 ? 0 : (int)dimension);
}

/* A step of one along the offset; faces are in the order of the file's head. */
static void faces_make(struct task_program *program, const struct ker_config *config, const char *path)
{
    program->directions = 2 * program->dimensions;
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
    for (uint32_t i = 0; i < program->dimensions; i++)
        cells *= 3;
    program->directions = cells - 1;
    program->direction = ker_alloc(program->directions * sizeof *program->direction);
    for (uint32_t i = 0; i < program->directions; i++) {
        struct direction *direction = &program->direction[i];
        uint32_t cell = i + (i >= cells / 2); /* the middle one is the task itself */
        direction->opposite = program->directions - 1 - i;
        direction->bytes = UINT64_MAX;
        for (uint32_t d = 0; d < program->dimensions; d++, cell /= 3) {
            direction->offset[d] = (int8_t)((int)(cell % 3) - 1);
            uint64_t bytes = dimension_bytes(config, path, d);
            if (direction->offset[d] && bytes < direction->bytes)
                direction->bytes = bytes;
        }
    }
}

/* The neighbour in a direction; false: over the rim, or the task itself. */
static bool neighbour_find(const struct task_program *program, uint32_t task, uint32_t direction,
                           uint32_t *neighbour)
{
    const int8_t *offset = program->direction[direction].offset;
    uint32_t stride = 1, rest = task, found = 0;
    for (uint32_t d = 0; d < program->dimensions; d++) {
        uint32_t extent = program->extent[d], at = rest % extent;
        rest /= extent;
        if (offset[d] != 0) {
            bool over = offset[d] < 0 ? at == 0 : at == extent - 1;
            if (over && !program->periodic[d])
                return false;
            at = over ? (offset[d] < 0 ? extent - 1 : 0) : at + (uint32_t)(int32_t)offset[d];
        }
        found += at * stride;
        stride *= extent;
    }
    *neighbour = found;
    return found != task;
}

static bool stencil_halo(const struct task_program *program, uint32_t task, uint32_t direction,
                         struct task_halo *halo)
{
    const struct direction *where = &program->direction[direction];
    halo->send_tag = direction;
    halo->receive_tag = where->opposite;
    halo->bytes = where->bytes;
    return neighbour_find(program, task, direction, &halo->neighbour);
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
    enum ker_status status = extents_read(program, config, path, error);
    if (status == KER_OK)
        status = list_check(program, config, TASK_KEY(path, "periodic"), error);
    if (status == KER_OK)
        status = list_check(program, config, TASK_KEY(path, "bytes"), error);
    if (status != KER_OK)
        return status;
    const char *periodic = TASK_KEY(path, "periodic");
    bool one = ker_config_count(config, periodic) == 1;
    for (uint32_t d = 0; d < program->dimensions; d++)
        program->periodic[d] = ker_config_bool_at(config, periodic, one ? 0 : (int)d);
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
    .operations =
        &(const struct task_program_class){
            .open = stencil_open,
            .tasks = task_stages_tasks,
            .comms = task_stages_comms,
            .prepare = task_stages_prepare,
            .next = task_stages_next,
            .close = stencil_close,
            .position = task_stages_position,
            .done = task_stages_done,
            .service = task_stages_service,
        },
    .options = KER_OPTIONS(stencil_options, task_bytes_options, task_steps_options, task_compute_options)};
