/* program.c - the program of a trace of another tool.
 *
 * Tasks are read where they live, in prepare(), each once: so everything is checked before the run, and only
 * what the replay needs is kept. A run that begins again with its tasks elsewhere hands them over, as do
 * those of readers that gather all tasks in open().
 */
#include "traces/foreign/foreign.h"
#include "traces/store/own.h"

#include <stdlib.h>
#include <string.h>

struct task_program {
    struct trace_program base;
    const struct foreign_reader *reader;
    struct foreign_trace trace;
    bool agreed;
    uint64_t memory;                 /* for operations */
    uint64_t doubts[FOREIGN_DOUBTS]; /* tasks with each of them */
    struct replay_order order;       /* until the ranks have agreed */
};

static void trace_close(struct task_program *program)
{
    if (program->trace.own)
        program->reader->close(&program->trace);
    program->trace.own = NULL;
}

void foreign_close(struct task_program *program)
{
    if (!program)
        return;
    trace_program_release(&program->base);
    replay_order_release(&program->order);
    trace_close(program);
    KER_FREE(program->trace.comm, program->trace.members, program->trace.path, program);
}

/* ---- open ---- */

static enum ker_status trace_open(struct task_program *program, bool times, const struct ker_config *config,
                                  const char *path, struct ker_error *error)
{
    const char *key = TASK_KEY(path, "trace");
    program->trace = (struct foreign_trace){.path = ker_format("%s", ker_config_file(config, key)),
                                            .inputs = ker_config_inputs(config),
                                            .config = config,
                                            .job = path,
                                            .form = program->reader->form,
                                            .counts = task_calls_wanted(config, true),
                                            .times = times,
                                            .comms = 1};
    enum ker_status status = program->reader->open(&program->trace, error);
    program->trace.config = NULL;
    program->trace.job = NULL;
    if (status == KER_OK && (program->trace.tasks == 0 || program->trace.tasks > FOREIGN_TASKS_MOST))
        status = ker_fail(error, KER_BAD_INPUT, "%s: a trace of %u tasks; it can have 1 to %u",
                          program->trace.path, program->trace.tasks, FOREIGN_TASKS_MOST);
    return status;
}

/* Collective: the tasks, if they are to be read together, and the world, if it is all there is. */
static enum ker_status trace_gather(struct task_program *program, struct ker_comm *comm,
                                    struct ker_error *error)
{
    enum ker_status status = KER_OK;
    if (program->reader->gather)
        status = ker_comm_worst(comm, program->reader->gather(&program->trace, &program->base.store,
                                                              &program->base.held, comm, error));
    if (!program->trace.comm) {
        program->trace.comm = ker_alloc(sizeof *program->trace.comm);
        *program->trace.comm = (struct task_comm){.size = (int32_t)program->trace.tasks};
    }
    return status;
}

enum ker_status foreign_open(struct task_program **opened, const struct foreign_reader *reader, bool times,
                             const struct ker_config *config, const char *path, struct ker_comm *comm,
                             struct ker_error *error)
{
    struct task_program *program = ker_alloc(sizeof *program);
    *opened = program;
    program->reader = reader;
    program->memory = ker_config_bytes(config, TASK_KEY(path, "trace_memory"));
    enum ker_status status = ker_comm_worst(comm, trace_open(program, times, config, path, error));
    if (status == KER_OK) /* all see the same trace before they share it out */
        status = ker_comm_worst(comm, ker_inputs_agree(ker_config_inputs(config), comm, error));
    trace_store_init(&program->base.store, program->memory, program->trace.form);
    status = status ?: trace_gather(program, comm, error);
    replay_order_init(&program->order, program->trace.comms);
    program->base.tasks = program->trace.tasks;
    program->base.comm = program->trace.comm;
    program->base.comms = program->trace.comms;
    program->base.file = foreign_file;
    return status;
}

/* ---- a task's operations ---- */

void foreign_compute(struct foreign_task *t, ker_time time)
{
    trace_code_compute(t->code, (uint64_t)(time / t->code->store->form.unit));
}

uint64_t foreign_put(struct foreign_task *t, const struct task_op *op)
{
    replay_order_add(t->order, op);
    return trace_code_put(t->code, op);
}

void foreign_put_time(struct trace_code *code, enum foreign_time what, const char *call, uint32_t line,
                      uint64_t picoseconds)
{
    trace_code_put(code, &(struct task_op){.kind = TASK_OP_TAKES,
                                           .mode = (uint8_t)what,
                                           .call = call,
                                           .line = line,
                                           .time = (ker_time)picoseconds});
}

void foreign_report(struct foreign_task *t, enum foreign_time what, uint64_t picoseconds)
{
    if (t->trace->times)
        foreign_put_time(t->code, what, "times", t->code->line, picoseconds);
}

void foreign_count(struct foreign_task *t, const char *function, uint64_t bytes, uint64_t time_ns)
{
    if (!t->trace->counts)
        return;
    struct trace_called *called = &t->code->called;
    uint32_t index = trace_called_find(called, &t->code->store->functions, function,
                                       strlen(function)); /* the list may move */
    struct task_call *call = &called->call[index];
    call->calls++;
    call->bytes += bytes;
    call->time_ns += time_ns;
}

/* The communicators of the task, -1 for the others. */
static int32_t *comms_of(const struct task_program *program, uint32_t task)
{
    int32_t *own = ker_alloc((size_t)program->trace.comms * sizeof *own);
    for (int32_t i = 0; i < program->trace.comms; i++)
        own[i] = task_comm_rank(&program->trace.comm[i], (int32_t)task) < 0 ? -1 : i;
    return own;
}

static enum ker_status task_read(struct task_program *program, struct trace_task *held,
                                 struct ker_error *error)
{
    held->code.store = &program->base.store;
    struct foreign_task t = {
        .trace = &program->trace, .task = held->task, .code = &held->code, .order = &program->order};
    int32_t *own = comms_of(program, held->task);
    replay_order_begin(&program->order, held->task, program->trace.comm);
    enum ker_status status = program->reader->read(&program->trace, &t, error);
    replay_order_end(&program->order, program->trace.comm, own, (uint32_t)program->trace.comms);
    trace_code_end(&held->code);
    free(own);
    for (int i = 0; i < FOREIGN_DOUBTS; i++)
        program->doubts[i] += t.doubts >> i & 1;
    return status;
}

enum ker_status foreign_hand(struct task_program *program, const uint32_t *own_tasks, uint32_t count,
                             struct ker_comm *comm, struct ker_error *error)
{
    trace_program_leave(&program->base);
    trace_tasks_hand(&program->base.held, &program->base.store, own_tasks, count, program->trace.tasks, comm);
    return trace_store_status(&program->base.store, error);
}

/* What was handed over is complete; all else is read. */
enum ker_status foreign_prepare(struct task_program *program, const uint32_t *own_tasks, uint32_t count,
                                struct ker_error *error)
{
    enum ker_status status = KER_OK;
    trace_program_room(&program->base, count);
    for (uint32_t i = 0; i < count && status == KER_OK; i++) {
        struct trace_task *held = trace_tasks_find(&program->base.held, own_tasks[i]);
        ker_assert(held);
        if (held->code.total == 0)
            status = task_read(program, held, error);
        program->base.own[i].held = held;
        if (status == KER_OK)
            trace_program_begin(&program->base, i);
    }
    if (!program->reader->gather)
        trace_close(program);
    return status ?: trace_store_status(&program->base.store, error);
}

/* Do the collectives fit each other? And what was assumed is printed. */
enum ker_status foreign_agree(struct task_program *program, struct ker_comm *comm, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    if (!program->agreed && !program->reader->gather) {
        ker_comm_sum_u64(comm, program->doubts, FOREIGN_DOUBTS);
        for (int i = 0; ker_comm_rank(comm) == 0 && program->reader->doubt[i]; i++)
            if (program->doubts[i])
                ker_warn("trace %s (%llu of %u tasks): %s", program->trace.path,
                         (unsigned long long)program->doubts[i], program->trace.tasks,
                         program->reader->doubt[i]);
        status = replay_order_agree(&program->order, program->trace.comm, comm, program->trace.path,
                                    program->reader->advice, error);
        program->trace.unfit = status != KER_OK;
    }
    replay_order_release(&program->order);
    program->agreed = true;
    return status;
}

/* ---- for converters ---- */

void foreign_operations(const struct task_program *program, uint32_t number, struct trace_reader *reader)
{
    const struct trace_own *own = &program->base.own[number];
    *reader = (struct trace_reader){.code = &own->held->code, .comm = own->reader.comm};
    trace_reader_seek(reader, 0, 0);
}

bool foreign_unfit(const struct task_program *program)
{
    return program->trace.unfit;
}

char *foreign_file(const struct task_program *program, uint32_t task)
{
    return program->reader->file ? program->reader->file(&program->trace, task) : NULL;
}
