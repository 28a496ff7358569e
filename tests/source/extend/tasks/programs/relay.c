/* relay.c - a program: a message goes round all tasks jobs[].laps times.
 *
 * A task is the number of the calls it has made, two a lap; then it finalizes.
 */
#include "tasks/programs/programs.h"

#include <stdlib.h>
#include <string.h>

struct own_task {
    uint32_t task;
    uint64_t calls, before; /* before: the last call of next() */
};

struct task_program {
    uint32_t tasks;
    uint64_t laps, bytes;
    struct task_comm world;
    struct own_task *own;
};

static const struct ker_option options[] = {
    {.key = "jobs[].laps",
     .type = KER_TYPE_INT,
     .fallback = "1",
     .minimum = "1",
     .maximum = "1000000",
     .meaning = "relay: how often the message goes round."},
    {.key = NULL},
};

static enum ker_status relay_open(struct task_program **opened, const struct ker_config *config,
                                  const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct task_program *program = *opened = ker_alloc(sizeof *program);
    bool given = ker_config_has(config, TASK_KEY(path, "tasks"));
    int64_t tasks = given ? ker_config_int(config, TASK_KEY(path, "tasks")) : 2;
    if (tasks < 2 || tasks > INT32_MAX)
        return ker_config_fail(config, error, TASK_KEY(path, "tasks"), "a relay has 2 to 2^31 - 1 tasks");
    program->tasks = (uint32_t)tasks;
    program->laps = (uint64_t)ker_config_int(config, TASK_KEY(path, "laps"));
    program->bytes = ker_config_bytes_at(config, TASK_KEY(path, "bytes"), 0);
    program->world = (struct task_comm){(int32_t)tasks, NULL};
    return KER_OK;
}

static void relay_close(struct task_program *program)
{
    if (program)
        free(program->own);
    free(program);
}

static uint32_t relay_tasks(const struct task_program *program)
{
    return program->tasks;
}

static const struct task_comm *relay_comms(const struct task_program *program, int32_t *count)
{
    *count = 1;
    return &program->world;
}

static enum ker_status relay_prepare(struct task_program *program, const uint32_t *own_tasks, uint32_t count,
                                     struct ker_error *error)
{
    program->own = ker_alloc(count * sizeof *program->own);
    for (uint32_t i = 0; i < count; i++)
        program->own[i].task = own_tasks[i];
    return KER_OK;
}

static bool relay_next(struct task_program *program, uint32_t number, struct task_op *op)
{
    struct own_task *own = &program->own[number];
    uint32_t tasks = program->tasks;
    memset(op, 0, sizeof *op);
    own->before = own->calls;
    if (own->calls > 2 * program->laps)
        return false;
    bool sends = (own->calls % 2 == 0) == (own->task == 0), last = own->calls == 2 * program->laps;
    op->kind = last ? TASK_OP_FINALIZE : sends ? TASK_OP_SEND : TASK_OP_RECV;
    op->call = last ? "MPI_Finalize" : sends ? "MPI_Send" : "MPI_Recv";
    op->peer = (int32_t)((own->task + (sends ? 1 : tasks - 1)) % tasks);
    op->bytes = program->bytes;
    own->calls++;
    return true;
}

static void relay_position(struct task_program *program, uint32_t number, struct ker_chunk *c)
{
    struct own_task *own = &program->own[number];
    KER_CHUNK(c, own->before);
    own->calls = c->loads ? own->before : own->calls;
    c->bad |= own->before > 2 * program->laps + 1;
}

const struct ker_kind task_program_relay = {
    .name = "relay",
    .meaning = "a message goes round all tasks",
    .operations = &(const struct task_program_class){.open = relay_open,
                                                     .tasks = relay_tasks,
                                                     .comms = relay_comms,
                                                     .prepare = relay_prepare,
                                                     .next = relay_next,
                                                     .close = relay_close,
                                                     .position = relay_position},
    .options = KER_OPTIONS(options, task_bytes_options)};
