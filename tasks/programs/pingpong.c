/* pingpong.c - pairs of tasks that send one message to and fro.
 *
 * Of n tasks, task i < n/2 and task i + n/2 are partners. In each step the first sends and then receives, the
 * second receives and then sends: one round trip. Nothing else is ever in flight between the two, so a run
 * shows the latency of a message, and what an engine costs that has next to nothing to do.
 *
 * A task is the number of the calls it has made, two a step; everything else follows from it. Calls of steps
 * that are skipped (run.skip) count as made.
 */
#include "tasks/programs/programs.h"

#include <stdlib.h>
#include <string.h>

struct own_task {
    uint32_t task;
    uint64_t calls, before; /* so far; before the last call of next() */
};

struct task_program {
    uint32_t tasks;
    uint64_t steps, bytes;
    struct task_comm world;
    struct task_steps repeat;
    struct own_task *own;
    uint32_t own_count;
};

static enum ker_status pingpong_open(struct task_program **opened, const struct ker_config *config,
                                     const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct task_program *program = ker_alloc(sizeof *program);
    *opened = program;
    int64_t tasks =
        ker_config_has(config, TASK_KEY(path, "tasks")) ? ker_config_int(config, TASK_KEY(path, "tasks")) : 2;
    if (tasks % 2 || tasks > INT32_MAX)
        return ker_config_fail(
            config, error, TASK_KEY(path, "tasks"),
            "is %lld; a pingpong has an even number of tasks below 2^31, half of them partners of "
            "the other half",
            (long long)tasks);
    if (ker_config_count(config, TASK_KEY(path, "bytes")) > 1)
        return ker_config_fail(config, error, TASK_KEY(path, "bytes"),
                               "is a list; the messages of a pingpong have one size");
    program->tasks = (uint32_t)tasks;
    program->steps = (uint64_t)ker_config_int(config, TASK_KEY(path, "steps"));
    program->bytes = ker_config_bytes_at(config, TASK_KEY(path, "bytes"), 0);
    program->world = (struct task_comm){(int32_t)tasks, NULL};
    program->repeat = (struct task_steps){.count = (uint32_t)program->steps, .period = 1};
    return KER_OK;
}

static void pingpong_close(struct task_program *program)
{
    if (!program)
        return;
    free(program->own);
    task_steps_release(&program->repeat);
    free(program);
}

static uint32_t pingpong_tasks(const struct task_program *program)
{
    return program->tasks;
}

static const struct task_comm *pingpong_comms(const struct task_program *program, int32_t *count)
{
    *count = 1;
    return &program->world;
}

static enum ker_status pingpong_prepare(struct task_program *program, const uint32_t *own_tasks,
                                        uint32_t count, struct ker_error *error)
{
    program->own = ker_alloc(count * sizeof *program->own);
    program->own_count = count;
    task_steps_begin(&program->repeat);
    for (uint32_t i = 0; i < count; i++)
        program->own[i].task = own_tasks[i];
    return KER_OK;
}

static bool pingpong_next(struct task_program *program, uint32_t number, struct task_op *op)
{
    struct own_task *own = &program->own[number];
    uint32_t half = program->tasks / 2;
    bool first = own->task < half;
    own->before = own->calls;
    memset(op, 0, sizeof *op);
    if (own->calls > 2 * program->steps) {
        own->calls = 0; /* a background job that starts again */
        return false;
    }
    if (own->calls == 2 * program->steps) {
        op->kind = TASK_OP_FINALIZE;
        op->call = "MPI_Finalize";
    } else {
        bool send = first == (own->calls % 2 == 0);
        op->kind = send ? TASK_OP_SEND : TASK_OP_RECV;
        op->call = send ? "MPI_Send" : "MPI_Recv";
        op->peer = (int32_t)(first ? own->task + half : own->task - half);
        op->bytes = program->bytes;
    }
    own->calls++;
    if (own->calls % 2 == 0) {
        uint32_t step = task_steps_next(&program->repeat, (uint32_t)(own->calls / 2 - 1));
        own->calls = 2 * (uint64_t)step;
        program->repeat.begun = step > program->repeat.begun ? step : program->repeat.begun;
    }
    return true;
}

static void pingpong_at(struct task_program *program, uint32_t number, ker_time now)
{
    uint64_t before = program->own[number].before / 2, step = program->own[number].calls / 2;
    if (before < step)
        task_steps_ended(&program->repeat, (uint32_t)before, (uint32_t)step, now);
}

static struct task_steps *pingpong_steps(struct task_program *program)
{
    return &program->repeat;
}

static bool pingpong_done(const struct task_program *program, uint32_t number, uint64_t *so_far,
                          uint64_t *all)
{
    if (number >= program->own_count)
        return false;
    *all = 2 * program->steps;
    *so_far = program->own[number].before < *all ? program->own[number].before : *all;
    return true;
}

static void pingpong_position(struct task_program *program, uint32_t number, struct ker_chunk *c)
{
    struct own_task *own = &program->own[number];
    KER_CHUNK(c, own->before);
    own->calls = c->loads ? own->before : own->calls;
    c->bad |= own->before > 2 * program->steps + 1;
}

const struct ker_kind task_program_pingpong = {
    .name = "pingpong",
    .meaning = "pairs of tasks send one message to and fro (Send, Recv)",
    .operations =
        &(const struct task_program_class){
            .open = pingpong_open,
            .tasks = pingpong_tasks,
            .comms = pingpong_comms,
            .prepare = pingpong_prepare,
            .next = pingpong_next,
            .close = pingpong_close,
            .position = pingpong_position,
            .at = pingpong_at,
            .steps = pingpong_steps,
            .done = pingpong_done,
        },
    .options = KER_OPTIONS(task_bytes_options, task_steps_options)};
