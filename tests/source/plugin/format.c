/* format.c - a trace format as somebody outside the repository would write it: a text that begins with
 * "#calls TASKS", then one call a line, "TASK compute NANOSECONDS", "TASK send PEER BYTES", "TASK recv PEER"
 * or "TASK barrier". It is found by its first line, or named by jobs[].format = "calls".
 *
 * Every rank reads all of it and checks every line; a task's calls are together, in their order.
 */
#include <marssim/plugin.h>

#include <stdlib.h>
#include <string.h>

static const char magic[] = "#calls ";

struct calls {
    struct task_op *op;
    uint32_t count;
};
struct own_task {
    const struct calls *calls;
    uint32_t at, before; /* the next one; before the last next() */
};
struct task_program {
    uint32_t tasks;
    struct task_comm world;
    struct calls *calls; /* by task */
    struct own_task *own;
};

static const struct {
    const char *word, *call;
    uint8_t kind;
} kinds[] = {{"compute", "computation", TASK_OP_COMPUTE},
             {"send", "MPI_Send", TASK_OP_SEND},
             {"recv", "MPI_Recv", TASK_OP_RECV},
             {"barrier", "MPI_Barrier", TASK_OP_COLLECTIVE}};
#define KINDS (sizeof kinds / sizeof *kinds)

static int score(const char *path)
{
    char first[sizeof magic] = {0};
    FILE *file = fopen(path, "rb");
    bool known = file && fread(first, 1, sizeof magic - 1, file) > 0 && strcmp(first, magic) == 0;
    if (file)
        fclose(file);
    return trace_score(path, known, TRACE_SCORE_MAGIC, ".calls");
}

/* ---- reading ---- */

static enum ker_status call_read(struct task_program *p, struct ker_lines *in)
{
    uint32_t task, number = 0, bytes = 0;
    size_t k = 0;
    if (!ker_take_u32(in, &task) || task >= p->tasks)
        return ker_lines_fail(in, "a line begins with the number of a task, below %u", p->tasks);
    ker_take_blanks(in);
    while (k < KINDS && !ker_take_word(in, kinds[k].word))
        k++;
    if (k == KINDS)
        return ker_lines_fail(in, "\"%.*s\" is none of compute, send, recv, barrier", KER_LINE_REST(in));
    bool computes = kinds[k].kind == TASK_OP_COMPUTE, moves = k == 1 || k == 2;
    if ((computes || moves) && !ker_take_u32(in, &number))
        return ker_lines_fail(in, "a number is missing behind \"%s\"", kinds[k].word);
    if (moves && number >= p->tasks)
        return ker_lines_fail(in, "there is no task %u: they are 0 to %u", number, p->tasks - 1);
    ker_take_blanks(in);
    if (k == 1 && !ker_take_u32(in, &bytes))
        return ker_lines_fail(in, "how many bytes? TASK send PEER BYTES");
    struct calls *calls = &p->calls[task];
    *KER_APPEND(calls->op, calls->count) = (struct task_op){.kind = kinds[k].kind,
                                                            .collective = TASK_COLL_BARRIER,
                                                            .peer = moves ? (int32_t)number : 0,
                                                            .bytes = bytes,
                                                            .time = computes ? number * KER_NS : 0,
                                                            .line = in->line,
                                                            .call = kinds[k].call};
    return ker_lines_end(in);
}

static enum ker_status text_read(struct task_program *p, struct ker_lines *in)
{
    enum ker_status status = ker_lines_check(in);
    if (!status && (!ker_lines_next(in) || !ker_take_word(in, "#calls") || !ker_take_u32(in, &p->tasks) ||
                    p->tasks < 1 || p->tasks > 1000000))
        status = ker_lines_fail(in, "the first line says \"#calls TASKS\", 1 to 1000000 of them");
    if (!status)
        p->calls = ker_alloc(p->tasks * sizeof *p->calls);
    while (!status && ker_lines_next_full(in))
        status = call_read(p, in);
    return status;
}

static enum ker_status open_calls(struct task_program **opened, const struct ker_config *config,
                                  const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct task_program *p = *opened = ker_alloc(sizeof *p);
    const char *file = ker_config_file(config, TASK_KEY(path, "trace"));
    char *text;
    size_t bytes;
    enum ker_status status = ker_input_read(ker_config_inputs(config), file, &text, &bytes, error);
    if (status)
        return status;
    struct ker_lines in;
    ker_lines_init(&in, file, text, bytes, error);
    status = text_read(p, &in);
    free(text);
    p->world = (struct task_comm){.size = (int32_t)p->tasks};
    return status;
}

static void close_calls(struct task_program *p)
{
    for (uint32_t i = 0; p && p->calls && i < p->tasks; i++)
        free(p->calls[i].op);
    if (p) {
        free(p->calls);
        free(p->own);
    }
    free(p);
}

/* ---- running ---- */

static uint32_t tasks_of(const struct task_program *p)
{
    return p->tasks;
}

static const struct task_comm *comms_of(const struct task_program *p, int32_t *count)
{
    *count = 1;
    return &p->world;
}

static enum ker_status prepare(struct task_program *p, const uint32_t *own_tasks, uint32_t count,
                               struct ker_error *error)
{
    p->own = ker_alloc(count * sizeof *p->own);
    for (uint32_t i = 0; i < count; i++)
        p->own[i].calls = &p->calls[own_tasks[i]];
    return KER_OK;
}

static bool next(struct task_program *p, uint32_t number, struct task_op *op)
{
    struct own_task *own = &p->own[number];
    own->before = own->at++;
    *op = (struct task_op){.kind = TASK_OP_FINALIZE, .call = "MPI_Finalize"};
    if (own->before < own->calls->count)
        *op = own->calls->op[own->before];
    return own->before <= own->calls->count;
}

static void position(struct task_program *p, uint32_t number, struct ker_chunk *chunk)
{
    struct own_task *own = &p->own[number];
    KER_CHUNK(chunk, own->before);
    own->at = chunk->loads ? own->before : own->at;
    chunk->bad |= own->before > own->calls->count + 1;
}

static const struct task_program_class class = {.open = open_calls,
                                                .tasks = tasks_of,
                                                .comms = comms_of,
                                                .prepare = prepare,
                                                .next = next,
                                                .close = close_calls,
                                                .position = position};
static const struct ker_kind format = {.name = "calls",
                                       .meaning = "a text with one call a line, from \"#calls TASKS\" on",
                                       .operations = &(const struct trace_format){&class, score, NULL}};
static const struct ker_kind *const formats[] = {&format, NULL};
MARSSIM_PLUGIN(MARSSIM_BRINGS("jobs[].format", struct trace_format, formats));
