/* script.c - a trace format: one text with a call a line, "TASK send PEER BYTES", "TASK recv PEER" or
 * "TASK compute NANOSECONDS". As many tasks as the largest number says.
 *
 * Everything is read by every rank, and checked while it is; a task is the number of the line it is at.
 * Invariant: calls of one task keep their order.
 */
#include "traces/traces.h"

#include <stdlib.h>
#include <string.h>

struct call {
    uint32_t task, line;
    struct task_op op;
};

struct own_task {
    uint32_t task;
    uint64_t at, before; /* the next call; before the last next(): count + 1 when all is done */
};

struct task_program {
    uint32_t tasks, count, room;
    struct call *call;
    struct task_comm world;
    struct own_task *own;
};

static const struct ker_option options[] = {
    {.key = "jobs[].script", .type = KER_TYPE_FILE, .meaning = "script: the text of all tasks' calls."},
    {.key = NULL},
};

static enum ker_status call_read(struct ker_lines *in, struct call *call)
{
    uint32_t number, bytes = 0;
    call->line = call->op.line = in->line;
    if (!ker_take_u32(in, &call->task) || call->task > 1000000)
        return ker_lines_fail(in, "a line begins with the number of a task, up to 1000000");
    ker_take_blanks(in);
    bool sends = ker_take_word(in, "send"), receives = !sends && ker_take_word(in, "recv");
    if (!sends && !receives && !ker_take_word(in, "compute"))
        return ker_lines_fail(in, "\"%.*s\" is none of send, recv, compute", KER_LINE_REST(in));
    if (!ker_take_u32(in, &number))
        return ker_lines_fail(in, "a number is missing behind the call");
    ker_take_blanks(in);
    if (sends && !ker_take_u32(in, &bytes))
        return ker_lines_fail(in, "how many bytes? TASK send PEER BYTES");
    call->op.kind = sends ? TASK_OP_SEND : receives ? TASK_OP_RECV : TASK_OP_COMPUTE;
    call->op.call = sends ? "MPI_Send" : receives ? "MPI_Recv" : "computation";
    if (sends || receives)
        call->op.peer = (int32_t)number;
    else
        call->op.time = number * KER_NS;
    call->op.bytes = bytes;
    return ker_lines_end(in);
}

static enum ker_status calls_read(struct task_program *program, struct ker_lines *in)
{
    enum ker_status status = ker_lines_check(in);
    while (!status && ker_lines_next_full(in)) {
        struct call call = {0};
        status = call_read(in, &call);
        *KER_PUSH(program->call, program->count, program->room) = call;
        program->tasks = call.task >= program->tasks ? call.task + 1 : program->tasks;
    }
    for (uint32_t i = 0; i < program->count && !status; i++)
        if (program->call[i].op.kind != TASK_OP_COMPUTE &&
            program->call[i].op.peer >= (int32_t)program->tasks)
            status =
                ker_lines_fail_at(in, program->call[i].line, "there is no task %d", program->call[i].op.peer);
    return status;
}

static enum ker_status script_open(struct task_program **opened, const struct ker_config *config,
                                   const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct task_program *program = *opened = ker_alloc(sizeof *program);
    const char *key = TASK_KEY(path, "script");
    char *text;
    size_t bytes;
    if (!ker_config_has(config, key))
        return ker_config_fail(config, error, key, "is missing");
    const char *file = ker_config_file(config, key);
    enum ker_status status = ker_input_read(ker_config_inputs(config), file, &text, &bytes, error);
    if (status)
        return status;
    struct ker_lines in;
    ker_lines_init(&in, file, text, bytes, error);
    status = calls_read(program, &in);
    free(text);
    program->world = (struct task_comm){(int32_t)program->tasks, NULL};
    return status;
}

static void script_close(struct task_program *program)
{
    if (program) {
        free(program->call);
        free(program->own);
    }
    free(program);
}

static uint32_t script_tasks(const struct task_program *program)
{
    return program->tasks;
}

static const struct task_comm *script_comms(const struct task_program *program, int32_t *count)
{
    *count = 1;
    return &program->world;
}

static enum ker_status script_prepare(struct task_program *program, const uint32_t *own_tasks, uint32_t count,
                                      struct ker_error *error)
{
    program->own = ker_alloc(count * sizeof *program->own);
    for (uint32_t i = 0; i < count; i++)
        program->own[i].task = own_tasks[i];
    return KER_OK;
}

static bool script_next(struct task_program *program, uint32_t number, struct task_op *op)
{
    struct own_task *own = &program->own[number];
    own->before = own->at;
    if (own->at > program->count)
        return false;
    while (own->at < program->count && program->call[own->at].task != own->task)
        own->at++;
    *op = (struct task_op){.kind = TASK_OP_FINALIZE, .call = "MPI_Finalize"};
    if (own->at < program->count)
        *op = program->call[own->at].op;
    own->at++;
    return true;
}

static void script_position(struct task_program *program, uint32_t number, struct ker_chunk *c)
{
    struct own_task *own = &program->own[number];
    KER_CHUNK(c, own->before);
    own->at = c->loads ? own->before : own->at;
    c->bad |= own->before > program->count + 1u;
}

const struct ker_kind task_program_script = {
    .name = "script",
    .meaning = "replays a text with one call a line",
    .traits = "computes",
    .operations = &(const struct task_program_class){.open = script_open,
                                                     .tasks = script_tasks,
                                                     .comms = script_comms,
                                                     .prepare = script_prepare,
                                                     .next = script_next,
                                                     .close = script_close,
                                                     .position = script_position},
    .options = KER_OPTIONS(options)};
