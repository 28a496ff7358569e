/* replay.h - for tests: runs the operations of all tasks of a program with MPI's rules and without a network.
 *
 * Messages arrive at once; a send is complete at once (eager) or, above eager_limit, when its receive is
 * there. A collective waits for all members. Tasks run in turn as far as they can, forward or backward in
 * every round. At the end everything must be matched: that is what "replays to the end" means, on the best
 * and on the worst of networks.
 */
#pragma once

#include "traces/traces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct replay_result {
    bool ended; /* every task met its Finalize with nothing outstanding */
    uint64_t messages, bytes, operations, tests;
    uint64_t unreceived; /* messages nobody received */
    uint64_t left;       /* receives that are neither matched nor cancelled */
    uint64_t collectives[TASK_COLL_COUNT];
    ker_time compute; /* of all tasks */
    char waiting[1024];
};

/* A send or a receive; lists are chained by index, 0 ends. */
struct replay_request {
    struct task_op op;
    bool receive, active, done, persistent, freed;
    uint32_t task, next, named;
};

struct replay_task {
    struct task_op op;
    bool has_op, finished, entered;
    uint32_t posted, unexpected; /* lists */
    uint32_t *by_id;             /* request of a number */
    uint64_t ids;
    uint32_t half[2]; /* requests of a blocking call */
    uint64_t *calls;  /* collectives entered, per communicator */
};

struct replay {
    struct replay_result *result;
    const struct task_comm *comms;
    int32_t comm_count;
    uint32_t tasks;
    struct replay_task *task;
    struct replay_request *request;
    uint32_t requests, room;
    uint64_t *arrived; /* tasks that entered any collective of a communicator, in all */
    uint64_t eager_limit;
};

static uint32_t replay_request_new(struct replay *r, uint32_t task, const struct task_op *op, bool receive)
{
    r->requests += r->requests == 0; /* 0 is nobody */
    *KER_PUSH(r->request, r->requests, r->room) =
        (struct replay_request){.op = *op, .receive = receive, .task = task};
    return r->requests - 1;
}

static int32_t replay_target(const struct replay *r, const struct task_op *op)
{
    return op->peer < 0 ? op->peer : task_comm_task(&r->comms[op->comm], op->peer);
}

static bool replay_fits(const struct replay *r, const struct replay_request *receive,
                        const struct replay_request *send)
{
    int32_t from = replay_target(r, &receive->op);
    return receive->op.comm == send->op.comm && (from == TASK_ANY || from == (int32_t)send->task) &&
           (receive->op.tag == TASK_ANY || receive->op.tag == send->op.tag);
}

static void replay_append(struct replay *r, uint32_t *list, uint32_t index)
{
    r->request[index].next = 0;
    while (*list)
        list = &r->request[*list].next;
    *list = index;
}

static void replay_match(struct replay *r, uint32_t receive, uint32_t send)
{
    r->request[receive].done = r->request[send].done = true;
    r->result->messages++;
    r->result->bytes += r->request[send].op.bytes;
}

static void replay_begin(struct replay *r, uint32_t index)
{
    struct replay_request *mine = &r->request[index];
    mine->active = true;
    mine->done = mine->op.peer == TASK_PROC_NULL;
    if (mine->done)
        return;
    struct replay_task *to = &r->task[mine->receive ? (int32_t)mine->task : replay_target(r, &mine->op)];
    uint32_t *list = mine->receive ? &to->unexpected : &to->posted;
    for (; *list; list = &r->request[*list].next) {
        uint32_t other = *list;
        if (!(mine->receive ? replay_fits(r, mine, &r->request[other])
                            : replay_fits(r, &r->request[other], mine)))
            continue;
        *list = r->request[other].next;
        replay_match(r, mine->receive ? index : other, mine->receive ? other : index);
        return;
    }
    mine->done = !mine->receive && mine->op.bytes <= r->eager_limit && mine->op.mode != TASK_MODE_SYNCHRONOUS;
    replay_append(r, mine->receive ? &to->posted : &to->unexpected, index);
}

static struct replay_request *replay_named(struct replay *r, struct replay_task *task, uint64_t id)
{
    return id < task->ids && task->by_id[id] ? &r->request[task->by_id[id]] : NULL;
}

static void replay_name(struct replay *r, struct replay_task *task, uint64_t id, uint32_t index)
{
    if (id >= task->ids) {
        uint64_t old = task->ids;
        task->ids = 2 * id + 16;
        task->by_id = ker_realloc(task->by_id, task->ids * sizeof *task->by_id);
        memset(task->by_id + old, 0, (task->ids - old) * sizeof *task->by_id);
    }
    task->by_id[id] = index;
}

/* Complete, if it can be; a null request is complete. */
static bool replay_done(struct replay *r, struct replay_task *task, uint64_t id, bool *was_active)
{
    struct replay_request *request = replay_named(r, task, id);
    *was_active = request && request->active;
    return !*was_active || request->done;
}

static void replay_finish(struct replay *r, struct replay_task *task, uint64_t id)
{
    struct replay_request *request = replay_named(r, task, id);
    if (!request || !request->active)
        return;
    request->active = false;
    if (!request->persistent)
        task->by_id[id] = 0;
}

static bool replay_wait(struct replay *r, struct replay_task *task)
{
    const struct task_op *op = &task->op;
    bool one = op->kind == TASK_OP_WAIT, all = one || op->kind == TASK_OP_WAITALL, any_active = false,
         any_done = false;
    uint32_t count = one ? 1 : op->request_count;
    bool complete = true, active;
    for (uint32_t i = 0; i < count; i++) {
        bool done = replay_done(r, task, one ? op->request : op->requests[i], &active);
        complete = complete && done;
        any_active = any_active || active;
        any_done = any_done || (active && done);
    }
    if (all ? !complete : any_active && !any_done)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t id = one ? op->request : op->requests[i];
        if (replay_done(r, task, id, &active) && active) {
            replay_finish(r, task, id);
            if (op->kind == TASK_OP_WAITANY)
                break;
        }
    }
    return true;
}

static bool replay_blocking(struct replay *r, uint32_t number)
{
    struct replay_task *task = &r->task[number];
    struct task_op *op = &task->op;
    if (!task->entered) {
        struct task_op second = *op;
        second.peer = op->peer2;
        second.tag = op->tag2;
        second.bytes = op->bytes2;
        task->half[1] = op->kind == TASK_OP_SENDRECV ? replay_request_new(r, number, &second, true) : 0;
        task->half[0] = replay_request_new(r, number, op, op->kind == TASK_OP_RECV);
        if (task->half[1])
            replay_begin(r, task->half[1]);
        replay_begin(r, task->half[0]);
        task->entered = true;
    }
    return r->request[task->half[0]].done && (!task->half[1] || r->request[task->half[1]].done);
}

static bool replay_collective(struct replay *r, uint32_t number)
{
    struct replay_task *task = &r->task[number];
    int32_t comm = task->op.comm;
    ker_assert(comm >= 0 && comm < r->comm_count && task_comm_rank(&r->comms[comm], (int32_t)number) >= 0);
    if (!task->entered) {
        r->arrived[comm]++;
        task->calls[comm]++;
        task->entered = true;
        r->result->collectives[task->op.collective]++;
    }
    return r->arrived[comm] >= task->calls[comm] * (uint64_t)r->comms[comm].size;
}

static void replay_cancel(struct replay *r, struct replay_task *task)
{
    struct replay_request *request = replay_named(r, task, task->op.request);
    if (!request || request->done)
        return;
    for (uint32_t *list = &task->posted; *list; list = &r->request[*list].next)
        if (&r->request[*list] == request) {
            *list = request->next;
            break;
        }
    request->done = true;
}

static bool replay_probe(struct replay *r, uint32_t number)
{
    struct replay_request pattern = {.op = r->task[number].op};
    for (uint32_t i = r->task[number].unexpected; i; i = r->request[i].next)
        if (replay_fits(r, &pattern, &r->request[i]))
            return true;
    return pattern.op.peer == TASK_PROC_NULL;
}

static void replay_request(struct replay *r, uint32_t number)
{
    struct replay_task *task = &r->task[number];
    const struct task_op *op = &task->op;
    bool receive = op->kind == TASK_OP_IRECV || op->kind == TASK_OP_RECV_INIT;
    uint32_t index = replay_request_new(r, number, op, receive);
    r->request[index].persistent = op->kind == TASK_OP_SEND_INIT || op->kind == TASK_OP_RECV_INIT;
    replay_name(r, task, op->request, index);
    if (!r->request[index].persistent)
        replay_begin(r, index);
}

/* false: it must wait. */
static bool replay_step(struct replay *r, uint32_t number)
{
    struct replay_task *task = &r->task[number];
    struct task_op *op = &task->op;
    switch (op->kind) {
    case TASK_OP_COMPUTE:
        r->result->compute += op->time;
        return true;
    case TASK_OP_SEND:
    case TASK_OP_RECV:
    case TASK_OP_SENDRECV:
        return replay_blocking(r, number);
    case TASK_OP_ISEND:
    case TASK_OP_IRECV:
    case TASK_OP_SEND_INIT:
    case TASK_OP_RECV_INIT:
        replay_request(r, number);
        return true;
    case TASK_OP_START:
        ker_assert(replay_named(r, task, op->request));
        replay_begin(r, task->by_id[op->request]);
        return true;
    case TASK_OP_REQUEST_FREE:
        if (op->request < task->ids)
            task->by_id[op->request] = 0;
        return true;
    case TASK_OP_CANCEL:
        replay_cancel(r, task);
        return true;
    case TASK_OP_WAIT:
    case TASK_OP_WAITALL:
    case TASK_OP_WAITANY:
    case TASK_OP_WAITSOME:
        return replay_wait(r, task);
    case TASK_OP_PROBE:
        return replay_probe(r, number);
    case TASK_OP_COLLECTIVE:
        return replay_collective(r, number);
    case TASK_OP_FINALIZE:
        task->finished = true;
        return true;
    default:
        r->result->tests++;
        return true;
    }
}

static void replay_check_op(const struct replay *r, const struct task_op *op)
{
    bool message = op->kind == TASK_OP_SEND || op->kind == TASK_OP_RECV || op->kind == TASK_OP_ISEND ||
                   op->kind == TASK_OP_IRECV || op->kind == TASK_OP_SENDRECV;
    ker_assert(op->call != NULL && op->comm >= 0 && op->comm < r->comm_count);
    if (message)
        ker_assert(op->peer >= -2 && op->peer < r->comms[op->comm].size &&
                   op->peer2 < r->comms[op->comm].size);
    ker_assert(op->kind != TASK_OP_COMPUTE || op->time > 0);
}

static bool replay_task_run(struct replay *r, const struct task_program_class *class,
                            struct task_program *program, uint32_t number)
{
    struct replay_task *task = &r->task[number];
    bool moved = false;
    while (!task->finished) {
        if (!task->has_op) {
            ker_assert(class->next(program, number, &task->op));
            replay_check_op(r, &task->op);
            task->has_op = true;
            task->entered = false;
            r->result->operations++;
        }
        if (!replay_step(r, number))
            return moved;
        task->has_op = false;
        moved = true;
    }
    return moved;
}

static void replay_count_left(struct replay *r)
{
    struct replay_result *result = r->result;
    result->ended = true;
    for (uint32_t i = 0; i < r->tasks; i++) {
        struct replay_task *task = &r->task[i];
        size_t used = strlen(result->waiting);
        if (!task->finished)
            snprintf(result->waiting + used, sizeof result->waiting - used,
                     "task %u line %u %s peer %d tag %d comm %d; ", i, task->op.line, task->op.call,
                     task->op.peer, task->op.tag, task->op.comm);
        result->ended = result->ended && task->finished;
        for (uint32_t j = task->unexpected; j; j = r->request[j].next)
            result->unreceived++;
        for (uint32_t j = task->posted; j; j = r->request[j].next)
            result->left++;
    }
}

/* The program must have been prepared for all its tasks. */
static inline void replay_run(struct replay_result *result, const struct task_program_class *class,
                              struct task_program *program, uint64_t eager_limit, bool backward)
{
    struct replay r = {.result = result, .tasks = class->tasks(program), .eager_limit = eager_limit};
    *result = (struct replay_result){0};
    r.comms = class->comms(program, &r.comm_count);
    r.task = ker_alloc(r.tasks * sizeof *r.task);
    r.arrived = ker_alloc((size_t)r.comm_count * sizeof *r.arrived);
    for (uint32_t i = 0; i < r.tasks; i++)
        r.task[i].calls = ker_alloc((size_t)r.comm_count * sizeof *r.arrived);
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < r.tasks; i++)
            moved = replay_task_run(&r, class, program, backward ? r.tasks - 1 - i : i) || moved;
    }
    replay_count_left(&r);
    for (uint32_t i = 0; i < r.tasks; i++) {
        free(r.task[i].calls);
        free(r.task[i].by_id);
        struct task_op op;
        if (result->ended)
            ker_assert(!class->next(program, i, &op)); /* and the program begins again */
    }
    free(r.task);
    free(r.arrived);
    free(r.request);
}
