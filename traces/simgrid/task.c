/* task.c - a task's actions become its operations. */
#include "traces/simgrid/simgrid.h"

#include <stdlib.h>
#include <string.h>

/* ---- messages ---- */

static enum ker_status rank_get(const struct simgrid_task *t, size_t index, bool receives, int32_t *rank)
{
    int64_t value;
    double number = t->line.number[index];
    if (number == SIMGRID_NOBODY) {
        *rank = receives ? TASK_ANY : TASK_PROC_NULL;
        return KER_OK;
    }
    enum ker_status status = simgrid_whole(&t->line, index, "the rank", 0, t->out->trace->tasks - 1, &value);
    if (status == KER_OK)
        *rank = (int32_t)value;
    return status;
}

static enum ker_status tag_get(const struct simgrid_task *t, size_t index, bool receives, int32_t *tag)
{
    int64_t value;
    if (receives && t->line.number[index] == SIMGRID_ANY_TAG) {
        *tag = TASK_ANY;
        return KER_OK;
    }
    enum ker_status status = simgrid_whole(&t->line, index, "the tag", 0, INT32_MAX - 1, &value);
    if (status == KER_OK)
        *tag = (int32_t)value;
    return status;
}

static enum ker_status numbers_check(const struct simgrid_task *t, size_t least, size_t most,
                                     const char *what)
{
    size_t numbers = t->line.numbers;
    if (numbers >= least && numbers <= most)
        return KER_OK;
    return simgrid_fail(&t->line,
                        "%zu numbers where \"%s\" is expected, as SimGrid since 3.20 writes it "
                        "(simgrid_convert_TI_traces makes it of older traces)",
                        numbers, what);
}

struct action {
    const char *name, *call;
    uint8_t kind, mode;
};

static void op_put(struct simgrid_task *t, struct task_op *op, uint64_t bytes)
{
    op->line = t->line.text->in.line;
    foreign_put(t->out, op);
    foreign_count(t->out, op->call, bytes, 0);
}

/* PEER TAG ELEMENTS [DATATYPE] */
static enum ker_status message_read(struct simgrid_task *t, const struct action *a)
{
    bool receives = a->kind == TASK_OP_RECV || a->kind == TASK_OP_IRECV;
    struct task_op op = {.kind = a->kind, .mode = a->mode, .call = a->call};
    enum ker_status status = numbers_check(t, 3, 4, "RANK TAG ELEMENTS DATATYPE");
    status = status ?: rank_get(t, 0, receives, &op.peer);
    status = status ?: tag_get(t, 1, receives, &op.tag);
    status = status ?: simgrid_bytes(t, 2, t->line.numbers == 4 ? 3 : SIZE_MAX, &op.bytes);
    if (status != KER_OK)
        return status;
    int32_t peer = (int32_t)t->line.number[0], tag = (int32_t)t->line.number[1], own = (int32_t)t->out->task;
    if (a->kind == TASK_OP_ISEND)
        op.request = foreign_request_new(&t->requests, t->out, own, peer, tag);
    if (a->kind == TASK_OP_IRECV)
        op.request = foreign_request_new(&t->requests, t->out, peer, own, tag);
    if (a->kind == TASK_OP_IRECV && op.peer == TASK_ANY)
        t->out->doubts |= 1u << SIMGRID_DOUBT_NOBODY;
    op_put(t, &op, op.peer == TASK_PROC_NULL ? 0 : op.bytes);
    return KER_OK;
}

/* ELEMENTS TO ELEMENTS FROM [DATATYPE DATATYPE] */
static enum ker_status sendrecv_read(struct simgrid_task *t, const struct action *a)
{
    struct task_op op = {
        .kind = TASK_OP_SENDRECV, .call = a->call, .tag = SIMGRID_SENDRECV_TAG, .tag2 = SIMGRID_SENDRECV_TAG};
    enum ker_status status = numbers_check(t, 4, 6, "ELEMENTS TO ELEMENTS FROM DATATYPE DATATYPE");
    bool types = t->line.numbers == 6;
    if (status == KER_OK && t->line.numbers == 5)
        status = simgrid_fail(&t->line, "one datatype where two are expected");
    status = status ?: simgrid_bytes(t, 0, types ? 4 : SIZE_MAX, &op.bytes);
    status = status ?: rank_get(t, 1, false, &op.peer);
    status = status ?: simgrid_bytes(t, 2, types ? 5 : SIZE_MAX, &op.bytes2);
    status = status ?: rank_get(t, 3, true, &op.peer2);
    if (status != KER_OK)
        return status;
    t->out->doubts |= 1u << SIMGRID_DOUBT_SENDRECV;
    op_put(t, &op, op.bytes);
    return KER_OK;
}

/* ---- completion ---- */

/* FROM TO TAG */
static enum ker_status wait_read(struct simgrid_task *t, const struct action *a)
{
    int64_t names[3];
    enum ker_status status = numbers_check(t, 3, 3, "FROM TO TAG");
    for (size_t i = 0; i < 3 && status == KER_OK; i++)
        status = simgrid_whole(&t->line, i, i < 2 ? "the rank" : "the tag", INT32_MIN, INT32_MAX, &names[i]);
    if (status != KER_OK)
        return status;
    bool collective = names[2] < 0 && names[2] != SIMGRID_ANY_TAG;
    struct foreign_request *r =
        collective
            ? foreign_request_find(&t->requests, SIMGRID_NOBODY, SIMGRID_NOBODY, (int32_t)names[2])
            : foreign_request_find(&t->requests, (int32_t)names[0], (int32_t)names[1], (int32_t)names[2]);
    struct task_op op = {.kind = a->kind, .outcome = -1, .call = a->call, .line = t->line.text->in.line};
    foreign_count(t->out, a->call, 0, 0);
    if (!r && a->kind == TASK_OP_WAIT && !t->requests.guessed)
        return simgrid_fail(&t->line, "no request from %lld to %lld with tag %lld is outstanding",
                            (long long)names[0], (long long)names[1], (long long)names[2]);
    if (!r) /* it was completed by a test before */
        return KER_OK;
    foreign_request_again(r, t->out);
    op.request = r->id;
    uint64_t at = foreign_put(t->out, &op);
    if (a->kind == TASK_OP_WAIT)
        foreign_request_done(&t->requests, r);
    else
        r->test = at;
    return KER_OK;
}

/* [REQUESTS], of which it is not said which */
static enum ker_status wait_many_read(struct simgrid_task *t, const struct action *a)
{
    int64_t many = INT32_MAX;
    enum ker_status status = numbers_check(t, 0, 1, "REQUESTS");
    if (status == KER_OK && t->line.numbers)
        status = simgrid_whole(&t->line, 0, "the number of requests", 0, INT32_MAX, &many);
    if (status != KER_OK)
        return status;
    struct task_op op = {.kind = a->kind, .outcome = 1, .call = a->call};
    if (many < (int64_t)t->requests.count - t->requests.any)
        t->out->doubts |= 1u << SIMGRID_DOUBT_WAITALL;
    op.requests = foreign_request_all(&t->requests, &op.request_count);
    op_put(t, &op, 0);
    if (a->kind == TASK_OP_WAITALL)
        foreign_request_none(&t->requests);
    else
        foreign_request_one(&t->requests);
    return KER_OK;
}

/* ---- actions ---- */

static enum ker_status time_read(struct simgrid_task *t, const struct action *a)
{
    enum ker_status status = numbers_check(t, 1, 1, a->mode ? "SECONDS" : "FLOPS");
    if (status != KER_OK)
        return status;
    return a->mode ? simgrid_seconds(t, 0) : simgrid_flops(t, 0);
}

/* What cannot be known: why. */
static const char *refusal(const char *action)
{
    if (strncmp(action, "start", 5) == 0)
        return "persistent requests are not in these traces: what is started cannot be known";
    if (strcmp(action, "testall") == 0 || strcmp(action, "testany") == 0 || strcmp(action, "testsome") == 0 ||
        strcmp(action, "waitsome") == 0)
        return "which requests it is about is not in these traces, nor which of them are complete";
    const char *name = action[0] == 'r' ? action + 1 : action;
    if (strncmp(action, "win_", 4) == 0 || strncmp(name, "put", 3) == 0 || strncmp(name, "get", 3) == 0 ||
        strstr(action, "accumulate") || strstr(action, "_and_"))
        return "one-sided communication is in these traces without its windows";
    return "this is no action that is known: compute, sleep, send, isend, recv, irecv, sendrecv, wait, "
           "waitall, waitany, test, the collectives, init, finalize, comm_size, comm_dup, comm_split and "
           "location are";
}

static enum ker_status action_read(struct simgrid_task *t)
{
    static const struct action actions[] = {
        {"send", "MPI_Send", TASK_OP_SEND, TASK_MODE_STANDARD},
        {"ssend", "MPI_Ssend", TASK_OP_SEND, TASK_MODE_SYNCHRONOUS},
        {"bsend", "MPI_Bsend", TASK_OP_SEND, TASK_MODE_BUFFERED},
        {"isend", "MPI_Isend", TASK_OP_ISEND, TASK_MODE_STANDARD},
        {"issend", "MPI_Issend", TASK_OP_ISEND, TASK_MODE_SYNCHRONOUS},
        {"ibsend", "MPI_Ibsend", TASK_OP_ISEND, TASK_MODE_BUFFERED},
        {"recv", "MPI_Recv", TASK_OP_RECV, 0},
        {"irecv", "MPI_Irecv", TASK_OP_IRECV, 0},
        {"sendrecv", "MPI_Sendrecv", TASK_OP_SENDRECV, 0},
        {"wait", "MPI_Wait", TASK_OP_WAIT, 0},
        {"test", "MPI_Test", TASK_OP_TEST, 0},
        {"waitall", "MPI_Waitall", TASK_OP_WAITALL, 0},
        {"waitany", "MPI_Waitany", TASK_OP_WAITANY, 0},
        {"compute", "computation", TASK_OP_COMPUTE, 0},
        {"sleep", "computation", TASK_OP_COMPUTE, 1},
        {"init", NULL, TASK_OP_END, 0},
        {"finalize", NULL, TASK_OP_FINALIZE, 0},
        {"comm_size", NULL, TASK_OP_END, 0},
        {"comm_split", NULL, TASK_OP_END, 0},
        {"comm_dup", NULL, TASK_OP_END, 0},
        {"location", NULL, TASK_OP_END, 0},
    };
    static enum ker_status (*const readers[TASK_OP_COUNT])(struct simgrid_task *, const struct action *) = {
        [TASK_OP_SEND] = message_read,      [TASK_OP_ISEND] = message_read,
        [TASK_OP_RECV] = message_read,      [TASK_OP_IRECV] = message_read,
        [TASK_OP_SENDRECV] = sendrecv_read, [TASK_OP_WAIT] = wait_read,
        [TASK_OP_TEST] = wait_read,         [TASK_OP_WAITALL] = wait_many_read,
        [TASK_OP_WAITANY] = wait_many_read, [TASK_OP_COMPUTE] = time_read,
    };
    enum ker_status status;
    if (t->ended)
        return simgrid_fail(&t->line, "an action behind finalize");
    if (simgrid_collective(t, &status))
        return status;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(actions[i].name, t->line.action) == 0) {
            t->begun |= strcmp(t->line.action, "init") == 0;
            t->ended |= actions[i].kind == TASK_OP_FINALIZE;
            return readers[actions[i].kind] ? readers[actions[i].kind](t, &actions[i]) : KER_OK;
        }
    return simgrid_fail(&t->line, "%s", refusal(t->line.action));
}

/* The lines of the task, of a file of its own or of all. */
static enum ker_status lines_read(struct simgrid_task *t, bool all)
{
    enum ker_status status = KER_OK;
    while (status == KER_OK && simgrid_line_next(&t->line)) {
        if (t->line.task == t->out->task)
            status = action_read(t);
        else if (!all)
            status = simgrid_fail(&t->line, "a line of task %u in the file that the list names for task %u",
                                  t->line.task, t->out->task);
    }
    status = status ?: t->line.text->status;
    if (status == KER_OK && t->begun && !t->ended)
        status = ker_fail(t->line.text->in.error, KER_BAD_INPUT,
                          "%s:%u: task %u ends here without finalize: it died, or the file was cut",
                          t->line.text->in.file, t->line.text->in.line, t->out->task);
    return status;
}

enum ker_status simgrid_task_read(const struct simgrid_trace *trace, struct foreign_task *out,
                                  struct ker_inputs *inputs, struct ker_error *error)
{
    struct ker_text text;
    struct simgrid_task t = {.trace = trace, .out = out, .line.text = &text};
    bool all = trace->files == 1;
    const char *path = trace->file[all ? 0 : out->task];
    for (int i = 0; i < 2; i++)
        t.bytes[i] = ker_alloc(out->trace->tasks * sizeof *t.bytes[i]);
    enum ker_status status = ker_text_open(&text, path, inputs, error);
    status = status ?: lines_read(&t, all);
    if (status == KER_OK && foreign_request_end(&t.requests, out, text.in.line))
        out->doubts |= 1u << SIMGRID_DOUBT_NEVER;
    ker_text_close(&text, status == KER_OK);
    foreign_requests_release(&t.requests);
    free(t.line.number);
    free(t.bytes[0]);
    free(t.bytes[1]);
    return status;
}
