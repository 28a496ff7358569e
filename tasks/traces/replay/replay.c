/* replay.c - the replay of traces that marstrace has written.
 *
 * open() joins the communicators of all tasks (comms.c). prepare() reads the calls of this rank's tasks once
 * and checks them, so that nothing is found wrong in mid-run; next() reads them again as they are needed.
 */
#include "tasks/traces/replay/replay.h"
#include "tasks/traces/trace.h"

#include <stdlib.h>
#include <string.h>

struct own_task {
    struct replay_task replay;
    struct task_taken taken;
};

struct task_program {
    char *path;
    struct ker_inputs *inputs;
    struct mars_trace *trace;
    struct replay_rules rules;
    struct replay_comms comms;
    struct own_task *own;
    uint32_t own_count;
    struct mars_error why; /* large: not made anew for each call */
    struct ker_error error;
};

static void own_close(struct own_task *own)
{
    mars_stream_close(own->replay.stream);
    mars_task_close(own->replay.trace);
    free(own->replay.comm);
    free(own->replay.list[0]);
    free(own->replay.list[1]);
}

static void replay_close(struct task_program *program)
{
    if (!program)
        return;
    for (uint32_t i = 0; i < program->own_count; i++)
        own_close(&program->own[i]);
    free(program->own);
    replay_comms_release(&program->comms);
    mars_trace_close(program->trace);
    free(program->path);
    free(program);
}

static enum ker_status trace_open(struct task_program *program, struct ker_error *error)
{
    struct mars_error why = {0};
    if (!mars_trace_open(&program->trace, program->path, &why))
        return ker_fail(error, KER_BAD_INPUT, "%s", why.text);
    uint32_t tasks = mars_trace_tasks(program->trace);
    if (tasks == 0)
        return ker_fail(error, KER_BAD_INPUT, "%s: a trace without tasks", program->path);
    char text[32];
    snprintf(text, sizeof text, "%u tasks", tasks);
    ker_input_add_text(program->inputs, program->path, text);
    return KER_OK;
}

static enum ker_status replay_open(struct task_program **opened, const struct ker_config *config,
                                   const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct task_program *program = ker_alloc(sizeof *program);
    *opened = program;
    program->path = ker_format("%s", ker_config_file(config, TASK_KEY(path, "trace")));
    program->inputs = ker_config_inputs(config);
    program->rules.cpu = ker_config_is(config, TASK_KEY(path, "clock"), "cpu");
    program->rules.unknown = ker_config_is(config, TASK_KEY(path, "unknown"), "compute");
    enum ker_status status = ker_comm_worst(comm, trace_open(program, error));
    if (status == KER_OK) /* all see the same number of tasks before they share them out */
        status = ker_comm_worst(comm, ker_inputs_agree(program->inputs, comm, error));
    if (status == KER_OK)
        status = replay_comms_find(&program->comms, program->trace, program->path, comm, error);
    return status;
}

static uint32_t replay_tasks(const struct task_program *program)
{
    return mars_trace_tasks(program->trace);
}

static const struct task_comm *replay_comms(const struct task_program *program, int32_t *count)
{
    *count = program->comms.count;
    return program->comms.comm;
}

/* ---- a task's calls ---- */

/* From the first call on. */
static bool task_begin(struct replay_task *t, struct mars_error *why)
{
    mars_stream_close(t->stream);
    t->stream = NULL;
    t->read = 0;
    t->held = t->ended = false;
    return mars_stream_open(&t->stream, t->trace, 0, why);
}

static bool record_next(struct replay_task *t, struct mars_error *why)
{
    if (!mars_stream_next(t->stream, &t->record, why))
        return false;
    t->read++;
    return true;
}

/* Reads all calls of a task, and what is left out of its time. */
static enum ker_status task_check(const struct task_program *program, struct own_task *own,
                                  struct ker_error *error)
{
    struct replay_task *t = &own->replay;
    struct mars_error why = {0};
    struct task_op op = {.kind = TASK_OP_COMPUTE};
    enum ker_status status = KER_OK;
    if (t->trace->threads > 1)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: %u threads of task %u have called MPI; a task can only be replayed with one",
                        program->path, t->trace->threads, t->trace->number);
    if (!task_begin(t, &why))
        return ker_fail(error, KER_BAD_INPUT, "%s", why.text);
    uint32_t block = UINT32_MAX, shapes = 0; /* of the block: those seen; they appear in their order */
    bool ends = false;
    while (status == KER_OK && record_next(t, &why)) {
        own->taken.poll_gap += (ker_time)t->record.rest_ns * 1000;
        if (block == mars_stream_block(t->stream) && t->record.shape < shapes)
            continue; /* the same call was right before */
        block = mars_stream_block(t->stream);
        shapes = t->record.shape + 1;
        bool some;
        status = replay_translate(t, &op, &some, program->path, error);
        ends = ends || op.kind == TASK_OP_FINALIZE;
    }
    if (status == KER_OK && why.text[0])
        status = ker_fail(error, KER_BAD_INPUT, "%s", why.text);
    if (status == KER_OK && !ends)
        status = ker_fail(error, KER_BAD_INPUT,
                          "%s: task %u did not come to MPI_Finalize: it died, or the trace was cut",
                          program->path, t->trace->number);
    return status;
}

static enum ker_status task_prepare(struct task_program *program, struct own_task *own, uint32_t task,
                                    struct ker_error *error)
{
    struct replay_task *t = &own->replay;
    struct mars_error why = {0};
    t->rules = &program->rules;
    t->comms = program->comms.comm;
    if (!mars_task_open(&t->trace, program->trace, task, &why))
        return ker_fail(error, KER_BAD_INPUT, "%s", why.text);
    t->comm = replay_comms_of(&program->comms, t->trace);
    enum ker_status status = task_check(program, own, error);
    if (status == KER_OK && !task_begin(t, &why))
        status = ker_fail(error, KER_BAD_INPUT, "%s", why.text);
    return status;
}

static enum ker_status replay_prepare(struct task_program *program, const uint32_t *own_tasks, uint32_t count,
                                      struct ker_error *error)
{
    program->own = ker_alloc(count * sizeof *program->own);
    for (uint32_t i = 0; i < count; i++) {
        program->own_count++;
        enum ker_status status = task_prepare(program, &program->own[i], own_tasks[i], error);
        if (status != KER_OK)
            return status;
    }
    return KER_OK;
}

/* What was read once cannot be read again. */
static void changed(const struct task_program *program, const char *why)
{
    ker_give_up("%s: the trace has changed since the run began: %s", program->path, why);
}

/* The record that is to be handled, and the computation before it; false: there is none. */
static bool held_next(struct task_program *program, struct replay_task *t)
{
    t->held = record_next(t, &program->why);
    if (program->why.text[0])
        changed(program, program->why.text);
    return t->held;
}

static bool replay_next(struct task_program *program, uint32_t number, struct task_op *op)
{
    struct replay_task *t = &program->own[number].replay;
    t->read_first = t->read;
    t->held_first = t->held;
    for (;;) {
        bool some = false;
        if (!t->held) {
            if (t->ended || !held_next(program, t)) { /* a background job that starts again */
                if (!task_begin(t, &program->why))
                    changed(program, program->why.text);
                return false;
            }
            *op = (struct task_op){.kind = TASK_OP_COMPUTE, .time = replay_gap(t)};
            if (op->time > 0)
                return true;
        }
        t->held = false;
        if (replay_translate(t, op, &some, program->path, &program->error) != KER_OK)
            changed(program, program->error.text);
        t->ended = some && op->kind == TASK_OP_FINALIZE;
        if (some)
            return true;
    }
}

static void replay_position(struct task_program *program, uint32_t number, struct ker_chunk *c)
{
    struct replay_task *t = &program->own[number].replay;
    uint64_t read = ker_chunk_u64(c, t->read_first);
    uint8_t held = t->held_first;
    KER_CHUNK(c, held);
    c->bad |= held && read == 0;
    if (!c->loads || c->bad)
        return;
    struct mars_error why = {0};
    bool more = task_begin(t, &why);
    while (more && t->read < read)
        more = record_next(t, &why);
    t->held = held;
    t->read_first = read;
    t->held_first = held;
    c->bad |= !more;
}

static struct task_taken replay_taken(const struct task_program *program, uint32_t number)
{
    return program->own[number].taken;
}

const struct ker_option task_replay_options[] = {
    {.key = "jobs[].clock",
     .type = KER_TYPE_CHOICE,
     .fallback = "cpu",
     .choices = "cpu|wall",
     .meaning =
         "trace (mars): what computation is: the time between two calls that the task was running on a "
         "processor, or all of it."},
    {.key = "jobs[].unknown",
     .type = KER_TYPE_CHOICE,
     .fallback = "error",
     .choices = "error|compute",
     .meaning =
         "trace (mars): calls that cannot be replayed are refused, or taken as computation of the time "
         "that they took."},
    {.key = NULL},
};

const struct task_program_class task_replay_class = {
    .collective = true,
    .open = replay_open,
    .tasks = replay_tasks,
    .comms = replay_comms,
    .prepare = replay_prepare,
    .next = replay_next,
    .close = replay_close,
    .position = replay_position,
    .taken = replay_taken,
};
