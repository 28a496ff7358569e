/* program.c - a GOAL schedule, from a file or a pattern, as a program of MPI tasks: a stream for each cpu
 * (run.h says what it does next).
 *
 * A send is a message that is sent when its cpu has paid for it; a receive is posted, and takes its cpu
 * again when its message is there. Between two operations a cpu is idle, as in a wait. The first stream ends
 * by MPI_Finalize, the others end when their operations are done.
 */
#include "tasks/graphs/graphs.h"
#include "tasks/graphs/order.h"
#include "tasks/graphs/pattern.h"
#include "tasks/graphs/run.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGE_MOST (UINT64_C(1) << 40)

struct own_task {
    struct graph_run run;
    uint32_t task, further;   /* further: the number of its second stream */
    bool finalized;           /* its first stream has had its last operation */
    struct graph_order order; /* when find_steps() has been called */
};
struct stream {
    uint32_t own, cpu;
    bool again; /* it was loaded: its operation is to be given once more */
};

struct task_program {
    char *path, *file;             /* file: for messages also where there is a pattern */
    struct graph_pattern *pattern; /* NULL: it is read from the file */
    struct ker_inputs *inputs;
    uint64_t unit;
    uint32_t tasks;
    struct task_comm world;
    struct graph *graph;
    struct own_task *own;
    struct stream *stream; /* by own number: the first ones of all own tasks, then the others */
    uint32_t own_count, streams;
    uint32_t adapters;          /* of a node */
    bool by_adapter;            /* each task is an adapter of its node */
    struct trace_repeat repeat; /* when find_steps() has been called */
};

static void own_release(struct task_program *program)
{
    trace_repeat_release(&program->repeat);
    for (uint32_t i = 0; i < program->own_count; i++) {
        graph_run_release(&program->own[i].run);
        graph_order_release(&program->own[i].order);
    }
    free(program->own);
    free(program->stream);
    graph_free(program->graph);
    program->own = NULL;
    program->stream = NULL;
    program->graph = NULL;
    program->own_count = program->streams = 0;
}

static void program_close(struct task_program *program)
{
    if (!program)
        return;
    own_release(program);
    free(program->path);
    free(program->file);
    graph_pattern_close(program->pattern);
    free(program);
}

static enum ker_status program_open(struct task_program **opened, const struct ker_config *config,
                                    const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct task_program *program = *opened = ker_alloc(sizeof *program);
    (void)comm;
    program->path = ker_format("%s", path);
    program->file = ker_format("%s", ker_config_file(config, TASK_KEY(path, "trace")));
    program->inputs = ker_config_inputs(config);
    program->unit = (uint64_t)ker_config_time(config, TASK_KEY(path, "time_unit"));
    program->adapters = (uint32_t)ker_config_int(config, "node.adapters");
    program->by_adapter = ker_config_is(config, TASK_KEY(path, "goal_layout"), "adapter");
    enum ker_status status = graph_goal_tasks(program->file, &program->tasks, error);
    if (status == KER_OK && (program->tasks == 0 || program->tasks > INT32_MAX))
        return ker_fail(error, KER_BAD_INPUT, "%s: has %u ranks: a job has 1 to %d tasks", program->file,
                        program->tasks, (int)INT32_MAX);
    program->world.size = (int32_t)program->tasks;
    return status;
}

static enum ker_status schedule_open(struct task_program **opened, const struct ker_config *config,
                                     const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct task_program *program = *opened = ker_alloc(sizeof *program);
    uint64_t seed = (uint64_t)ker_config_int(config, "run.seed");
    (void)comm;
    program->path = ker_format("%s", path);
    program->file = ker_format("%s.pattern", path);
    program->adapters = (uint32_t)ker_config_int(config, "node.adapters");
    enum ker_status status = graph_pattern_open(&program->pattern, config, path, seed, false, error);
    program->tasks = program->pattern->tasks;
    program->world.size = (int32_t)program->tasks;
    return status;
}

static uint32_t program_tasks(const struct task_program *program)
{
    return program->tasks;
}

static const struct task_comm *program_comms(const struct task_program *program, int32_t *count)
{
    *count = 1;
    return &program->world;
}

/* ---- what packets and MPI cannot do ---- */

static enum ker_status op_refused(const struct task_program *program, const struct own_task *own,
                                  const struct graph_op *op, const char *what, struct ker_error *error)
{
    if (program->graph->numbered)
        return ker_fail(error, KER_BAD_INPUT, "%s: rank %u, operation %u: %s", program->file, own->task,
                        op->line, what);
    return ker_fail(error, KER_BAD_INPUT, "%s:%u: %s", program->file, op->line, what);
}

static enum ker_status task_check(const struct task_program *program, const struct own_task *own,
                                  struct ker_error *error)
{
    const struct graph_task *t = own->run.task;
    for (uint32_t i = 0; i < t->ops; i++) {
        const struct graph_op *op = &t->op[i];
        if (op->kind == GRAPH_CALCULATION)
            continue;
        if (op->amount > MESSAGE_MOST)
            return op_refused(program, own, op, "a message has at most 1 TiB", error);
        if (op->kind == GRAPH_SEND && op->tag == GRAPH_ANY)
            return op_refused(program, own, op,
                              "a send with tag -1, which any receive takes, is known to network.model = "
                              "\"loggops\" only: MPI's messages have a tag",
                              error);
        if (op->nic && program->by_adapter && program->adapters > 1)
            return op_refused(
                program, own, op,
                "with jobs[].goal_layout = \"adapter\" a rank is one adapter, and has no further "
                "nic; \"gpu\" is for ranks that have several",
                error);
    }
    return KER_OK;
}

static void streams_number(struct task_program *program)
{
    uint32_t streams = program->own_count;
    for (uint32_t i = 0; i < program->own_count; i++) {
        program->own[i].further = streams;
        streams += program->own[i].run.cpus - 1;
    }
    program->streams = streams;
    program->stream = ker_alloc((streams + (size_t)1) * sizeof *program->stream);
    for (uint32_t i = 0; i < program->own_count; i++) {
        const struct own_task *own = &program->own[i];
        program->stream[i] = (struct stream){.own = i};
        for (uint32_t cpu = 1; cpu < own->run.cpus; cpu++)
            program->stream[own->further + cpu - 1] = (struct stream){.own = i, .cpu = cpu};
    }
}

static enum ker_status program_prepare(struct task_program *program, const uint32_t *own_tasks,
                                       uint32_t count, struct ker_error *error)
{
    struct graph_form form = {
        .path = program->path, .inputs = program->inputs, .unit = program->unit, .list = own_tasks};
    enum ker_status status = KER_OK;
    own_release(program);
    if (program->pattern)
        program->graph = graph_pattern_graph(program->pattern, own_tasks, 0, count);
    else
        status = graph_goal_read(&program->graph, program->file, &form, 0, count, error);
    if (status)
        return status;
    program->own = ker_alloc((count + (size_t)1) * sizeof *program->own);
    program->own_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct own_task *own = &program->own[i];
        own->task = own_tasks[i];
        graph_run_init(&own->run, &program->graph->task[i]);
        status = status ?: task_check(program, own, error);
    }
    streams_number(program);
    return status;
}

/* ---- operations ---- */

static uint8_t rail_of(const struct task_program *program, const struct own_task *own,
                       const struct graph_op *op)
{
    if (program->adapters == 1)
        return 0;
    if (program->by_adapter)
        return (uint8_t)(1 + own->task % program->adapters);
    return program->graph->nics > 1 ? (uint8_t)(1 + op->nic % program->adapters) : 0;
}

static struct task_op op_begin(const struct task_program *program, const struct own_task *own,
                               uint32_t number)
{
    const struct graph_op *op = &own->run.task->op[number];
    uint32_t line = program->graph->numbered ? 0 : op->line;
    if (op->kind == GRAPH_CALCULATION)
        return (struct task_op){
            .kind = TASK_OP_COMPUTE, .time = (ker_time)op->amount, .line = line, .call = "calc"};
    bool sends = op->kind == GRAPH_SEND;
    return (struct task_op){.kind = sends ? TASK_OP_GRAPH_SEND : TASK_OP_GRAPH_RECV,
                            .peer = (int32_t)op->peer,
                            .tag = (int32_t)op->tag,
                            .bytes = op->amount,
                            .rail = sends ? rail_of(program, own, op) : 0,
                            .request = number,
                            .line = line,
                            .call = sends ? "send" : "recv"};
}

/* A step of a stream as an operation; false: it has none any more. */
static bool op_make(const struct task_program *program, struct own_task *own, uint32_t cpu,
                    struct task_op *op)
{
    const struct graph_cpu *c = &own->run.cpu[cpu];
    if (c->step == GRAPH_BEGINS || c->step == GRAPH_TAKES)
        *op = op_begin(program, own, c->op);
    if (c->step == GRAPH_TAKES) {
        op->kind = TASK_OP_WAIT;
        op->call = "wait";
    } else if (c->step == GRAPH_IDLE) {
        *op = (struct task_op){.kind = TASK_OP_GRAPH_IDLE, .call = "wait"};
    } else if (c->step == GRAPH_ENDS) {
        *op = (struct task_op){.kind = TASK_OP_FINALIZE, .call = "MPI_Finalize"};
        return cpu == 0;
    }
    return true;
}

static bool program_next(struct task_program *program, uint32_t number, struct task_op *op)
{
    struct stream *s = &program->stream[number];
    struct own_task *own = &program->own[s->own];
    uint32_t ignored;
    if (s->again) {
        s->again = false;
        return op_make(program, own, s->cpu, op);
    }
    if (s->cpu == 0 && own->finalized) { /* a background job that starts again */
        own->finalized = false;
        graph_run_restart(&own->run);
        return false;
    }
    enum graph_step step = graph_run_next(&own->run, s->cpu, &ignored);
    if (s->cpu == 0)
        own->finalized = step == GRAPH_ENDS;
    return op_make(program, own, s->cpu, op);
}

static void program_complete(struct task_program *program, uint32_t number, uint64_t request)
{
    graph_run_complete(&program->own[program->stream[number].own].run, (uint32_t)request);
}

static bool program_ready(const struct task_program *program, uint32_t number)
{
    const struct stream *s = &program->stream[number];
    return graph_run_ready(&program->own[s->own].run, s->cpu);
}

static uint32_t program_streams(const struct task_program *program, uint32_t number, uint32_t *further)
{
    *further = program->own[number].further;
    return program->own[number].run.cpus;
}

/* The task's graph comes with its first stream, which is asked before the others. */
static void program_position(struct task_program *program, uint32_t number, struct ker_chunk *c)
{
    struct stream *s = &program->stream[number];
    struct own_task *own = &program->own[s->own];
    if (s->cpu == 0)
        graph_run_state(&own->run, c);
    if (!c->bad)
        graph_run_cpu_state(&own->run, s->cpu, c);
    if (s->cpu == 0)
        own->finalized = own->run.cpu[0].step == GRAPH_ENDS;
    if (s->cpu == 0 && program->repeat.tasks) /* the end of the last operation may have come, but not at() */
        KER_CHUNK(c, program->repeat.task[s->own].step);
    s->again = c->loads;
}

/* ---- steps ---- */

static bool program_ordered(const struct task_program *program, uint32_t number, uint64_t n,
                            struct task_op *op, bool *cut, uint32_t *cpu)
{
    const struct own_task *own = &program->own[number];
    if (n >= own->run.task->ops)
        return false;
    *op = op_begin(program, own, own->order.op[n]);
    *cut = own->order.cut[n];
    *cpu = own->run.task->op[own->order.op[n]].cpu;
    return true;
}

static void program_find_steps(struct task_program *program, const double *factor, struct ker_comm *comm)
{
    struct trace_repeat *r = trace_repeat_new(&program->repeat, program->own_count);
    r->graph = program_ordered;
    r->program = program;
    for (uint32_t i = 0; i < program->own_count; i++) {
        struct own_task *own = &program->own[i];
        graph_order_release(&own->order);
        own->order = graph_order_make(own->run.task);
        r->task[i].task = own->task;
        r->task[i].total = own->run.task->ops + 1ull; /* with its end */
    }
    trace_repeat_find(r, &program->world, program->tasks, factor, comm);
    for (uint32_t i = 0; i < program->own_count; i++)
        if (*r->why)
            graph_order_release(&program->own[i].order);
}

static int64_t *program_ideal(struct task_program *program, const struct task_gap *gap, uint32_t gaps,
                              uint32_t last, struct ker_comm *comm)
{
    return trace_repeat_ideal(&program->repeat, gap, gaps, last, comm);
}

static struct task_steps *program_steps(struct task_program *program)
{
    return &program->repeat.steps;
}

static void program_at(struct task_program *program, uint32_t number, ker_time now)
{
    const struct stream *s = &program->stream[number];
    struct graph_run *run = &program->own[s->own].run;
    if (!program->repeat.steps.period)
        return;
    graph_run_over(run, s->cpu);
    const struct trace_place *to = trace_repeat_at(&program->repeat, s->own, run->done, now);
    if (to)
        graph_run_skip(run, program->own[s->own].order.op, (uint32_t)to->at);
}

/* ---- what was left over ---- */

/* Where the operation is: what is written in front of messages on it. */
static int place_print(char *to, size_t room, const struct task_program *program, const struct own_task *own,
                       const struct graph_op *op)
{
    size_t length = strlen(program->file), most = 100;
    const char *file = program->file + (length > most ? length - most : 0);
    if (program->graph->numbered)
        return snprintf(to, room, "%s: rank %u, operation %u: ", file, own->task, op->line);
    return snprintf(to, room, "%s:%u: ", file, op->line);
}

static void begun_tell(const struct task_program *program, const struct own_task *own,
                       const struct graph_op *op, const struct task_unfinished_list *list)
{
    static const char *const what[] = {[GRAPH_SEND] = "a send to", [GRAPH_RECEIVE] = "a receive from"};
    struct task_unfinished u = {.line = program->graph->numbered ? 0 : op->line};
    u.call = op->kind == GRAPH_SEND ? "send" : op->kind == GRAPH_RECEIVE ? "recv" : "calc";
    int used = place_print(u.text, sizeof u.text, program, own, op);
    char peer[24] = "any task", tag[24] = "any tag";
    if (op->peer != GRAPH_ANY)
        snprintf(peer, sizeof peer, "task %u", op->peer);
    if (op->tag != GRAPH_ANY)
        snprintf(tag, sizeof tag, "tag %u", op->tag);
    if (op->kind == GRAPH_CALCULATION)
        snprintf(u.text + used, sizeof u.text - (size_t)used, "a calculation");
    else
        snprintf(u.text + used, sizeof u.text - (size_t)used, "%s %s, %s, %llu bytes, has no end",
                 what[op->kind], peer, tag, (unsigned long long)op->amount);
    list->add(list->context, &u);
}

/* Those that wait for others: the lines of the first of them, as far as there is room. */
static void waiting_tell(const struct task_program *program, const struct own_task *own, uint32_t first,
                         uint32_t count, const struct task_unfinished_list *list)
{
    const struct graph_task *t = own->run.task;
    struct task_unfinished u = {.call = "never begun",
                                .line = program->graph->numbered ? 0 : t->op[first].line};
    size_t used = (size_t)place_print(u.text, sizeof u.text, program, own, &t->op[first]);
    used += (size_t)snprintf(u.text + used, sizeof u.text - used,
                             "the first of %u operations that wait for others", count);
    const char *word = program->graph->numbered ? "; also operation" : "; also line";
    for (uint32_t i = first + 1; i < t->ops && used + 40 < sizeof u.text; i++) {
        if (own->run.state[i] != GRAPH_WAITING)
            continue;
        used += (size_t)snprintf(u.text + used, sizeof u.text - used, "%s %u", word, t->op[i].line);
        word = ",";
    }
    list->add(list->context, &u);
}

static void program_unfinished(const struct task_program *program, uint32_t number,
                               const struct task_unfinished_list *list)
{
    const struct own_task *own = &program->own[number];
    uint32_t waiting = 0, first = 0;
    for (uint32_t i = own->run.task->ops; i-- > 0;)
        if (own->run.state[i] == GRAPH_WAITING) {
            waiting++;
            first = i;
        }
    for (uint32_t i = 0; i < own->run.task->ops; i++)
        if (own->run.state[i] != GRAPH_WAITING && own->run.state[i] != GRAPH_DONE)
            begun_tell(program, own, &own->run.task->op[i], list);
    if (waiting)
        waiting_tell(program, own, first, waiting, list);
}

static const struct ker_option goal_options[] = {
    {"jobs[].goal_layout", KER_TYPE_CHOICE, "gpu", NULL, NULL, "gpu|adapter",
     "trace: what a rank of a GOAL schedule is, which the file does not say: a GPU or process, whose nics "
     "are its node's adapters (nic K is adapter K modulo node.adapters; if no operation names one, node.rail "
     "chooses); or an adapter (rank R is adapter R modulo node.adapters of its node).",
     .belongs = "node.adapters!=1"},
    {0},
};

/* A file and a pattern differ in how they are opened. */
#define GRAPH_CLASS(opened)                                                                                  \
    {                                                                                                        \
        .open = (opened), .tasks = program_tasks, .comms = program_comms, .prepare = program_prepare,        \
        .next = program_next, .close = program_close, .position = program_position,                          \
        .streams = program_streams, .complete = program_complete, .ready = program_ready,                    \
        .unfinished = program_unfinished, .at = program_at, .steps = program_steps,                          \
        .find_steps = program_find_steps, .ideal = program_ideal,                                            \
    }
const struct task_program_class task_goal_class = GRAPH_CLASS(program_open);
const struct task_program_class task_schedule_class = GRAPH_CLASS(schedule_open);

static int goal_score(const char *path)
{
    return trace_score(path, graph_goal_known(path), TRACE_SCORE_LINE, ".goal");
}

const struct ker_kind trace_format_goal = {
    .name = "goal",
    .meaning = "schedules in LogGOPSim's language GOAL: messages and dependencies",
    .operations = &(const struct trace_format){&task_goal_class, goal_score, NULL},
    .options = KER_OPTIONS(graph_unit_options, goal_options)};
