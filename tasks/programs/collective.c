/* collective.c - a collective again and again, timed as benchmarks do it; or steps of plain messages that
 * load the network beside it.
 *
 * An iteration is: a wait for the clock, if wanted; a barrier, which is not timed; the call; a broadcast of 4
 * bytes (bursts only); a pause. For each size in turn there are this many iterations that do not count and
 * this many that do. What is measured of an iteration is joined by maximum, minimum and sum over the tasks,
 * so that a rank needs memory for iterations, not for tasks, and the order of tasks does not matter.
 *
 * Invariant: a task is the number of its iteration, a stage and a message; `timed` says that it is inside the
 * call, which began at `began`. at() alone measures; next() only continues, so that it may be repeated after
 * a checkpoint.
 */
#include "tasks/programs/programs.h"

#include <stdlib.h>
#include <string.h>

enum stage { STAGE_ALIGN, STAGE_BARRIER, STAGE_CALL, STAGE_WAIT, STAGE_BCAST, STAGE_PAUSE, STAGES };

struct own_task {
    uint64_t iteration; /* of all, those that do not count included; behind the last: Finalize, the end */
    ker_time now, began;
    uint32_t task, message; /* message: posted in this call */
    uint8_t stage;          /* the next one to look at */
    bool timed, again;      /* again: this is not the first pass */
};

struct task_program {
    const struct call *call;
    uint32_t tasks, warmup, sizes;
    bool barrier;
    ker_time align, pause, burst;
    uint64_t *bytes, *requests; /* requests: 1, 2, 3 ...: receives, then sends */
    struct task_measured measured;
    struct task_steps repeat; /* a step is an iteration */
    struct task_comm world;
    struct own_task *own, *before; /* now; before the last call of next() */
    uint32_t own_count;
};

/* What jobs[].collective chooses from. plain: messages to all others at once, or of all to task 0. */
static const struct call {
    const char *name, *function;
    uint8_t collective;
    enum { COLLECTIVE, EXCHANGE, INCAST } plain;
} calls[] = {
    {"barrier", "MPI_Barrier", TASK_COLL_BARRIER},
    {"bcast", "MPI_Bcast", TASK_COLL_BCAST},
    {"reduce", "MPI_Reduce", TASK_COLL_REDUCE},
    {"allreduce", "MPI_Allreduce", TASK_COLL_ALLREDUCE},
    {"gather", "MPI_Gather", TASK_COLL_GATHER},
    {"scatter", "MPI_Scatter", TASK_COLL_SCATTER},
    {"allgather", "MPI_Allgather", TASK_COLL_ALLGATHER},
    {"alltoall", "MPI_Alltoall", TASK_COLL_ALLTOALL},
    {"reduce_scatter", "MPI_Reduce_scatter", TASK_COLL_REDUCE_SCATTER},
    {"reduce_scatter_block", "MPI_Reduce_scatter_block", TASK_COLL_REDUCE_SCATTER_BLOCK},
    {"scan", "MPI_Scan", TASK_COLL_SCAN},
    {"exscan", "MPI_Exscan", TASK_COLL_EXSCAN},
    {"exchange", "MPI_Isend", 0, EXCHANGE},
    {"incast", "MPI_Isend", 0, INCAST},
};

#define ITERATIONS_MOST ((uint64_t)1 << 24) /* of all sizes: 32 bytes each */

static uint64_t iterations_all(const struct task_program *p)
{
    return (uint64_t)p->sizes * (p->warmup + p->measured.iterations);
}

static enum ker_status sizes_read(struct task_program *p, const struct ker_config *config, const char *path,
                                  struct ker_error *error)
{
    const char *key = TASK_KEY(path, "bytes");
    int count = ker_config_count(config, key);
    p->sizes = count > 0 ? (uint32_t)count : 1;
    p->bytes = ker_alloc(p->sizes * sizeof *p->bytes);
    for (uint32_t i = 0; i < p->sizes; i++)
        p->bytes[i] = ker_config_bytes_at(config, key, (int)i);
    if (iterations_all(p) > ITERATIONS_MOST)
        return ker_config_fail(config, error, TASK_KEY(path, "iterations"),
                               "makes %llu iterations of all %u sizes, with those of jobs[].warmup; at most "
                               "%llu are kept",
                               (unsigned long long)iterations_all(p), p->sizes,
                               (unsigned long long)ITERATIONS_MOST);
    p->measured.sizes = p->sizes;
    p->measured.bytes = p->bytes;
    return KER_OK;
}

static enum ker_status call_read(struct task_program *p, const struct ker_config *config, const char *path,
                                 struct ker_error *error)
{
    const char *key = TASK_KEY(path, "collective"), *burst = TASK_KEY(path, "burst");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (ker_config_is(config, key, calls[i].name))
            p->call = &calls[i];
    p->measured.name = p->call->name;
    p->burst = ker_config_time(config, burst);
    if (p->burst && p->call->plain == COLLECTIVE)
        return ker_config_fail(config, error, burst,
                               "is for steps of messages: jobs[].collective = \"exchange\" or \"incast\"");
    if (p->burst && !p->pause)
        return ker_config_fail(config, error, burst, "needs jobs[].pause: how long the tasks sleep then");
    if (p->call->plain && p->tasks < 2)
        return ker_config_fail(config, error, key, "\"%s\" needs two tasks at least: jobs[].tasks",
                               p->call->name);
    if (p->call->plain == EXCHANGE && p->tasks > UINT16_MAX)
        return ker_config_fail(config, error, key, "\"exchange\" is for at most %d tasks", UINT16_MAX);
    return KER_OK;
}

static enum ker_status collective_open(struct task_program **opened, const struct ker_config *config,
                                       const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct task_program *p = ker_alloc(sizeof *p);
    *opened = p;
    bool given = ker_config_has(config, TASK_KEY(path, "tasks"));
    p->tasks = given ? (uint32_t)ker_config_int(config, TASK_KEY(path, "tasks")) : 2;
    if (given && ker_config_int(config, TASK_KEY(path, "tasks")) > INT32_MAX)
        return ker_config_fail(config, error, TASK_KEY(path, "tasks"), "is more than 2^31 - 1");
    p->warmup = (uint32_t)ker_config_int(config, TASK_KEY(path, "warmup"));
    p->measured.iterations = (uint32_t)ker_config_int(config, TASK_KEY(path, "iterations"));
    p->measured.span = ker_config_is(config, TASK_KEY(path, "measure"), "span");
    p->barrier = ker_config_is(config, TASK_KEY(path, "sync"), "barrier");
    p->align = ker_config_time(config, TASK_KEY(path, "align"));
    p->pause = ker_config_time(config, TASK_KEY(path, "pause"));
    p->world = (struct task_comm){(int32_t)p->tasks, NULL};
    enum ker_status status = call_read(p, config, path, error);
    status = status ?: sizes_read(p, config, path, error);
    if (status)
        return status;
    p->repeat = (struct task_steps){.count = (uint32_t)iterations_all(p), .period = 1};
    if (p->sizes > 1)
        p->repeat.why = "has several sizes, one after the other";
    if (p->align || p->burst)
        p->repeat.why = "follows the clock";
    uint32_t requests = p->call->plain ? 2 * (p->tasks - 1) : 0;
    p->requests = ker_alloc((requests + 1u) * sizeof *p->requests);
    for (uint32_t i = 0; i < requests; i++)
        p->requests[i] = i + 1;
    return KER_OK;
}

static void collective_close(struct task_program *p)
{
    if (!p)
        return;
    KER_FREE(p->bytes, p->requests, p->measured.time, p->own, p->before);
    task_steps_release(&p->repeat);
    free(p);
}

static uint32_t collective_tasks(const struct task_program *p)
{
    return p->tasks;
}

static const struct task_comm *collective_comms(const struct task_program *p, int32_t *count)
{
    *count = 1;
    return &p->world;
}

static enum ker_status collective_prepare(struct task_program *p, const uint32_t *own_tasks, uint32_t count,
                                          struct ker_error *error)
{
    size_t times = (size_t)p->sizes * p->measured.iterations;
    p->own = ker_alloc(count * sizeof *p->own);
    p->before = ker_alloc(count * sizeof *p->before);
    p->own_count = count;
    task_steps_begin(&p->repeat);
    for (uint32_t i = 0; i < count; i++)
        p->own[i].task = own_tasks[i];
    p->measured.time = ker_alloc(times * sizeof *p->measured.time);
    for (size_t i = 0; i < times; i++)
        p->measured.time[i].first = KER_TIME_MAX;
    return KER_OK;
}

/* ---- measuring ---- */

static void iteration_measure(struct task_program *p, const struct own_task *own, ker_time now)
{
    uint64_t each = p->warmup + p->measured.iterations, size = own->iteration / each,
             number = own->iteration % each;
    if (number < p->warmup || own->again)
        return;
    struct task_measured_time *t = &p->measured.time[size * p->measured.iterations + (number - p->warmup)];
    ker_time took = now - own->began;
    t->longest = took > t->longest ? took : t->longest;
    t->first = own->began < t->first ? own->began : t->first;
    t->last = now > t->last ? now : t->last;
    t->tasks++;
}

static void collective_at(struct task_program *p, uint32_t number, ker_time now)
{
    struct own_task *own = &p->own[number];
    uint64_t before = p->before[number].iteration;
    own->now = now;
    if (before < own->iteration)
        task_steps_ended(&p->repeat, (uint32_t)before, (uint32_t)own->iteration, now);
    if (own->timed && own->stage > (p->call->plain ? STAGE_WAIT : STAGE_CALL)) {
        iteration_measure(p, own, now);
        own->timed = false;
    }
}

/* ---- continuing ---- */

static void op_collective(struct task_op *op, uint8_t collective, const char *function, uint64_t bytes)
{
    op->kind = TASK_OP_COLLECTIVE;
    op->collective = collective;
    op->call = function;
    op->bytes = bytes;
    op->combine = TASK_COMBINE_SUM | TASK_COMBINE_INTEGER; /* where it reduces */
}

/* The messages of a step: receives from the next tasks on, then sends to those before; false: all are posted.
 */
static bool message_next(const struct task_program *p, struct own_task *own, struct task_op *op)
{
    uint32_t others = p->tasks - 1, message = own->message;
    bool incast = p->call->plain == INCAST, root = own->task == 0;
    uint32_t receives = incast && !root ? 0 : others, sends = !incast ? others : root ? 0 : 1;
    if (message >= receives + sends)
        return false;
    bool send = message >= receives;
    uint32_t far = (send ? message - receives : message) + 1,
             peer = send ? own->task + p->tasks - far : own->task + far;
    op->kind = send ? TASK_OP_ISEND : TASK_OP_IRECV;
    op->call = send ? "MPI_Isend" : "MPI_Irecv";
    op->peer = send && incast ? 0 : (int32_t)(peer % p->tasks);
    op->bytes = p->bytes[own->iteration / (p->warmup + p->measured.iterations)];
    op->request = p->requests[own->message++];
    return true;
}

/* How long the task sleeps. With bursts: to the end of the pause that it is in, by the clock, which is the
 * same for all of them: one that begins a step too many waits for the others in it, and sleeps so, too. */
static ker_time pause_left(const struct task_program *p, const struct own_task *own)
{
    ker_time in = p->burst ? own->now % (p->burst + p->pause) : 0;
    return in < p->burst ? 0 : p->burst + p->pause - in;
}

static bool sleeps(struct task_op *op, const char *call, ker_time time)
{
    op->kind = TASK_OP_COMPUTE;
    op->call = call;
    op->time = time;
    return time > 0;
}

/* The operation of the stage; false: it has none, or no more. */
static bool stage_op(const struct task_program *p, struct own_task *own, struct task_op *op)
{
    switch ((enum stage)own->stage) {
    case STAGE_ALIGN:
        return p->align && sleeps(op, "a wait for the clock", (p->align - own->now % p->align) % p->align);
    case STAGE_BARRIER:
        op_collective(op, TASK_COLL_BARRIER, "MPI_Barrier", 0);
        return p->barrier;
    case STAGE_CALL:
        if (!own->timed) {
            own->began = own->now;
            own->message = 0;
            own->timed = true;
        }
        if (p->call->plain)
            return message_next(p, own, op);
        op_collective(op, p->call->collective, p->call->function,
                      p->bytes[own->iteration / (p->warmup + p->measured.iterations)]);
        return true;
    case STAGE_WAIT:
        op->kind = TASK_OP_WAITALL;
        op->call = "MPI_Waitall";
        op->requests = p->requests;
        op->request_count = own->message;
        return p->call->plain;
    case STAGE_BCAST:
        op_collective(op, TASK_COLL_BCAST, "MPI_Bcast", 4);
        return p->burst > 0;
    default:
        return sleeps(op, "a pause", pause_left(p, own));
    }
}

static bool collective_next(struct task_program *p, uint32_t number, struct task_op *op)
{
    struct own_task *own = &p->own[number];
    uint64_t all = iterations_all(p);
    p->before[number] = *own;
    memset(op, 0, sizeof *op);
    while (own->iteration < all) {
        bool plain_call = own->stage == STAGE_CALL && p->call->plain;
        bool found = stage_op(p, own, op);
        if (!plain_call || !found)
            own->stage++;
        if (own->stage == STAGES) {
            own->stage = STAGE_ALIGN;
            own->iteration = task_steps_next(&p->repeat, (uint32_t)own->iteration);
            if (own->iteration > p->repeat.begun)
                p->repeat.begun = (uint32_t)own->iteration;
        }
        if (found)
            return true;
        memset(op, 0, sizeof *op);
    }
    if (own->iteration > all) { /* a background job that starts again */
        *own = (struct own_task){.task = own->task, .now = own->now, .again = true};
        return false;
    }
    own->iteration++;
    op->kind = TASK_OP_FINALIZE;
    op->call = "MPI_Finalize";
    return true;
}

static bool collective_done(const struct task_program *p, uint32_t number, uint64_t *so_far, uint64_t *all)
{
    if (number >= p->own_count)
        return false;
    *all = iterations_all(p);
    *so_far = p->own[number].iteration < *all ? p->own[number].iteration : *all;
    return true;
}

static void collective_position(struct task_program *p, uint32_t number, struct ker_chunk *c)
{
    struct own_task *at = &p->before[number];
    at->task = p->own[number].task;
    KER_CHUNK(c, at->iteration, at->now, at->began, at->message, at->stage);
    at->timed = ker_chunk_bool(c, at->timed);
    at->again = ker_chunk_bool(c, at->again);
    c->bad |= at->iteration > iterations_all(p) + 1 || at->stage >= STAGES ||
              at->message > 2 * (p->tasks - 1) || at->now < 0 || at->began < 0;
    if (c->loads && !c->bad)
        p->own[number] = *at;
}

static struct task_steps *collective_steps(struct task_program *p)
{
    return &p->repeat;
}

static struct task_measured *collective_measured(struct task_program *p)
{
    return &p->measured;
}

static const struct ker_option collective_options[] = {
    {"jobs[].collective", KER_TYPE_CHOICE, "allreduce", NULL, NULL,
     "barrier|bcast|reduce|allreduce|gather|scatter|allgather|alltoall|reduce_scatter|reduce_scatter_block|"
     "scan|exscan|exchange|incast",
     "What is called again and again, with the algorithm that mpi.collectives says and task 0 as root; or "
     "messages: exchange, from each task to each other, all in flight at once; incast, from all tasks to "
     "task 0. jobs[].bytes is the vector of bcast, reduce, allreduce, reduce_scatter, scan and exscan, "
     "otherwise the block of one task, or for one other."},
    {"jobs[].iterations", KER_TYPE_INT, "10", "1", "16777216", NULL,
     "How often, for each size of jobs[].bytes. Times of each size are in summary.json, those of each "
     "iteration in collectives.csv (output.collectives)."},
    {"jobs[].warmup", KER_TYPE_INT, "0", "0", "16777216", NULL,
     "Iterations before those of each size, which do not count."},
    {"jobs[].sync", KER_TYPE_CHOICE, "barrier", NULL, NULL, "barrier|none",
     "Before each iteration there is a barrier, which is not timed, as in most benchmarks; or nothing."},
    {"jobs[].align", KER_TYPE_TIME, "0 ns", NULL, "1000000 s", NULL,
     "Tasks begin each iteration, and its barrier, at the next multiple of this time, as with clocks that "
     "are alike; 0: at once, as far apart as the iteration before has left them."},
    {"jobs[].measure", KER_TYPE_CHOICE, "own", NULL, NULL, "own|span",
     "The time of an iteration: the largest of what it takes each task by its own clock, as benchmarks "
     "measure it (who leaves the barrier late does not wait for long); or from the first task's begin to the "
     "last one's end."},
    {"jobs[].pause", KER_TYPE_TIME, "0 ns", NULL, "1000000 s", NULL,
     "How long tasks sleep after each iteration; with jobs[].burst, after each burst."},
    {"jobs[].burst", KER_TYPE_TIME, "0 ns", NULL, "1000000 s", NULL,
     "Steps of messages follow each other for so long, each with a broadcast of 4 bytes; then all sleep for "
     "jobs[].pause. Bursts follow the clock from 0 on; a step that has begun is done."},
    {0},
};

const struct ker_kind task_program_collective = {
    .name = "collective",
    .meaning = "a collective again and again, timed as benchmarks do it; or all tasks' messages to all, or "
               "to one, as a load beside others",
    .operations =
        &(const struct task_program_class){
            .open = collective_open,
            .tasks = collective_tasks,
            .comms = collective_comms,
            .prepare = collective_prepare,
            .at = collective_at,
            .steps = collective_steps,
            .next = collective_next,
            .close = collective_close,
            .position = collective_position,
            .done = collective_done,
            .measured = collective_measured,
        },
    .options = KER_OPTIONS(collective_options, task_bytes_options)};
