/* stages.c - steps made of stages.
 *
 * A task is a step, a stage and, while it posts messages, a direction: 16 bytes, from which the next
 * operation is computed. A call passes through stages until one has an operation.
 *
 * Invariant: the stages of a step are receive, send, wait, the generator's own, Allreduce, a checkpoint;
 * `posted` counts the receives, then the sends, and there are as many of both.
 */
#include "tasks/programs/stages.h"

#include <stdlib.h>
#include <string.h>

enum { STAGE_RECEIVE, STAGE_SEND, STAGE_WAIT, STAGE_OWN };
enum { CHECKPOINT_STAGES = 3 }; /* behind the Allreduce */

static uint32_t stage_allreduce(const struct task_stages *stages)
{
    return STAGE_OWN + stages->kind->own_stages;
}

static uint32_t stage_last(const struct task_stages *stages)
{
    return stage_allreduce(stages) + (stages->checkpoint_every ? CHECKPOINT_STAGES : 0);
}

static bool comes(const struct task_stages *stages, uint32_t every)
{
    return every > 0 && every <= stages->steps;
}

/* What a step does depends on its number by what is done after some of them only. */
static void steps_init(struct task_stages *stages)
{
    uint64_t a = comes(stages, stages->allreduce_every) ? stages->allreduce_every : 1,
             b = comes(stages, stages->checkpoint_every) ? stages->checkpoint_every : 1, x = a, y = b;
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    uint64_t period = a / x * b < stages->steps ? a / x * b : stages->steps;
    stages->repeat = (struct task_steps){.count = stages->steps,
                                         .period = stages->empty ? 0 : (uint32_t)period,
                                         .every = {(uint32_t)a, (uint32_t)b}};
}

void task_stages_init(struct task_stages *stages, const struct task_stages_kind *kind,
                      const struct ker_config *config, const char *path, uint32_t directions, bool silent)
{
    bool alone = stages->world.size == 1;
    stages->kind = kind;
    stages->directions = directions;
    stages->steps = (uint32_t)ker_config_int(config, TASK_KEY(path, "steps"));
    stages->compute = task_compute_time(config, path);
    stages->jitters = task_compute_jitters(config, path);
    stages->empty = (alone || silent) && stages->compute == 0 && !stages->jitters;
    stages->allreduce_every = alone ? 0 : (uint32_t)ker_config_int(config, TASK_KEY(path, "allreduce_every"));
    stages->allreduce_bytes = ker_config_bytes(config, TASK_KEY(path, "allreduce_bytes"));
    stages->checkpoint_every = (uint32_t)ker_config_int(config, TASK_KEY(path, "checkpoint_every"));
    stages->checkpoint_bytes = ker_config_bytes(config, TASK_KEY(path, "checkpoint_bytes"));
    stages->file = task_file_number(config, path);
    stages->empty &= stages->checkpoint_every == 0;
    steps_init(stages);
    stages->requests = ker_alloc(2 * (size_t)directions * sizeof *stages->requests);
    for (uint32_t i = 0; i < 2 * directions; i++)
        stages->requests[i] = i + 1;
}

void task_stages_release(struct task_stages *stages)
{
    free(stages->requests);
    task_steps_release(&stages->repeat);
    free(stages->place);
    free(stages->before);
    free(stages->words);
}

static struct task_stages *stages_of(const struct task_program *program)
{
    return (struct task_stages *)(uintptr_t)program; /* its beginning */
}

uint32_t task_stages_tasks(const struct task_program *program)
{
    return (uint32_t)stages_of(program)->world.size;
}

const struct task_comm *task_stages_comms(const struct task_program *program, int32_t *count)
{
    *count = 1;
    return &stages_of(program)->world;
}

enum ker_status task_stages_prepare(struct task_program *program, const uint32_t *own_tasks, uint32_t count,
                                    struct ker_error *error)
{
    struct task_stages *stages = stages_of(program);
    stages->own = count;
    task_steps_begin(&stages->repeat);
    stages->place = ker_alloc(count * sizeof *stages->place);
    stages->before = ker_alloc(count * sizeof *stages->before);
    for (uint32_t i = 0; i < count; i++)
        stages->place[i].task = own_tasks[i];
    if (stages->checkpoint_every)
        stages->words = ker_alloc(count * sizeof *stages->words);
    return KER_OK;
}

bool task_stages_service(const struct task_program *program, uint32_t index, struct task_called *called)
{
    *called = (struct task_called){STORE_CLIENT, "checkpoint_every"};
    return index == 0 && stages_of(program)->checkpoint_every > 0;
}

/* The next message of the receive or send stage; false: the stage is over. */
static bool message_next(const struct task_stages *stages, const struct task_program *program,
                         struct task_stages_place *place, struct task_op *op)
{
    bool send = place->stage == STAGE_SEND;
    while (place->direction < stages->directions) {
        struct task_halo halo;
        if (!stages->kind->halo(program, place->task, place->step, place->direction++, send, &halo))
            continue;
        op->kind = send ? TASK_OP_ISEND : TASK_OP_IRECV;
        op->call = send ? "MPI_Isend" : "MPI_Irecv";
        op->peer = (int32_t)halo.peer;
        op->tag = (int32_t)halo.tag;
        op->bytes = halo.bytes;
        op->request = stages->requests[2 * place->posted++ + send];
        return true;
    }
    return false;
}

ker_time task_stages_part(const struct task_stages *stages, uint32_t i, uint32_t parts)
{
    unsigned __int128 all = (unsigned __int128)(uint64_t)stages->compute;
    return (ker_time)(all * (i + 1u) / parts - all * i / parts);
}

bool task_stages_compute(const struct task_stages *stages, ker_time time, struct task_op *op)
{
    op->kind = TASK_OP_COMPUTE;
    op->call = "computation";
    op->time = time;
    op->step = true;
    return time > 0 || stages->jitters;
}

/* The file of a checkpoint has a part of each task, in their order. */
static bool checkpoint_op(const struct task_stages *stages, const struct task_stages_place *place,
                          struct task_op *op)
{
    static const struct {
        enum store_op op;
        const char *call;
    } what[CHECKPOINT_STAGES] = {
        {STORE_OPEN, "MPI_File_open"}, {STORE_WRITE, "MPI_File_write_at"}, {STORE_CLOSE, "MPI_File_close"}};
    uint32_t every = stages->checkpoint_every, at = place->stage - stage_allreduce(stages) - 1;
    if (every == 0 || (place->step + 1) % every)
        return false;
    struct store_call call = {
        .op = what[at].op,
        .file = stages->file + place->step / every,
        .run = {place->task * stages->checkpoint_bytes, stages->checkpoint_bytes, 0, 1}};
    uint64_t *words = stages->words[place - stages->place];
    store_call_words(&call, words);
    op->kind = TASK_OP_CALL;
    op->call = what[at].call;
    op->words = words;
    return true;
}

/* The op of a stage that has at most one; false: none. */
static bool stage_op(const struct task_stages *stages, const struct task_program *program,
                     const struct task_stages_place *place, struct task_op *op)
{
    if (place->stage == STAGE_WAIT) {
        op->kind = TASK_OP_WAITALL;
        op->call = "MPI_Waitall";
        op->requests = stages->requests;
        op->request_count = 2u * place->posted;
        return place->posted > 0;
    }
    if (place->stage > stage_allreduce(stages))
        return checkpoint_op(stages, place, op);
    if (place->stage < stage_allreduce(stages))
        return stages->kind->op(program, place->task, place->stage - STAGE_OWN, op);
    op->kind = TASK_OP_COLLECTIVE;
    op->collective = TASK_COLL_ALLREDUCE;
    op->call = "MPI_Allreduce";
    op->bytes = stages->allreduce_bytes;
    op->combine = TASK_COMBINE_SUM | TASK_COMBINE_INTEGER;
    return stages->allreduce_every > 0 && (place->step + 1) % stages->allreduce_every == 0;
}

static void stage_advance(struct task_stages *stages, struct task_stages_place *place)
{
    place->direction = 0;
    if (place->stage != STAGE_SEND)
        place->posted = 0; /* Waitall needs the count */
    if (place->stage == stage_last(stages)) {
        place->stage = STAGE_RECEIVE;
        place->step = task_steps_next(&stages->repeat, place->step);
        if (place->step > stages->repeat.begun)
            stages->repeat.begun = place->step;
    } else {
        place->stage++;
    }
}

bool task_stages_next(struct task_program *program, uint32_t number, struct task_op *op)
{
    struct task_stages *stages = stages_of(program);
    struct task_stages_place *place = &stages->place[number];
    stages->before[number] = *place;
    memset(op, 0, sizeof *op);
    if (stages->empty && place->step < stages->steps)
        place->step = task_step_skip(place->step, stages->steps, stages->allreduce_every);
    while (place->step < stages->steps) {
        bool message = place->stage <= STAGE_SEND;
        if (message && message_next(stages, program, place, op))
            return true;
        bool found = !message && stage_op(stages, program, place, op);
        stage_advance(stages, place);
        if (found)
            return true;
        if (!message) /* which may have begun to fill it in */
            memset(op, 0, sizeof *op);
    }
    if (place->step > stages->steps) {
        *place = (struct task_stages_place){.task = place->task}; /* a background job that starts again */
        return false;
    }
    place->step++;
    op->kind = TASK_OP_FINALIZE;
    op->call = "MPI_Finalize";
    return true;
}

void task_stages_at(struct task_program *program, uint32_t number, ker_time now)
{
    struct task_stages *stages = stages_of(program);
    uint32_t before = stages->before[number].step, step = stages->place[number].step;
    if (__builtin_expect(before < step, 0))
        task_steps_ended(&stages->repeat, before, step, now);
}

struct task_steps *task_stages_steps(struct task_program *program)
{
    struct task_stages *stages = stages_of(program);
    return stages->repeat.period ? &stages->repeat : NULL;
}

void task_stages_position(struct task_program *program, uint32_t number, struct ker_chunk *c)
{
    struct task_stages *stages = stages_of(program);
    struct task_stages_place *at = &stages->before[number];
    at->task = stages->place[number].task;
    KER_CHUNK(c, at->step, at->stage, at->direction, at->posted);
    c->bad |= at->stage > stage_last(stages) || at->direction > stages->directions ||
              at->posted > stages->directions;
    if (c->loads && !c->bad)
        stages->place[number] = *at;
}

bool task_stages_done(const struct task_program *program, uint32_t number, uint64_t *so_far, uint64_t *all)
{
    const struct task_stages *stages = stages_of(program);
    if (number >= stages->own)
        return false;
    uint32_t step = stages->before[number].step;
    *so_far = step < stages->steps ? step : stages->steps;
    *all = stages->steps;
    return true;
}
