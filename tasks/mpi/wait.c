/* wait.c - waits, tests and probes.
 *
 * A wait marks the requests it waits for; each completion of a marked one lowers task.pending, and at 0 the
 * task is ready again. So a Waitall of n requests costs O(n), however many events complete them. "All" kinds
 * wait for every active request, "any" kinds take the first complete one in the order of the list, "some"
 * kinds all that are complete. Null and inactive requests count as done; a list with nothing else returns at
 * once. A traced test that completed something waits like its wait; one that did not costs nothing; one whose
 * outcome is unknown takes what is complete and continues.
 */
#include "tasks/mpi/state.h"

enum wait_form { WAIT_ALL, WAIT_ANY, WAIT_SOME };

static enum wait_form wait_form(const struct task_op *op)
{
    switch (op->kind) {
    case TASK_OP_WAITANY:
    case TASK_OP_TESTANY:
        return WAIT_ANY;
    case TASK_OP_WAITSOME:
    case TASK_OP_TESTSOME:
        return WAIT_SOME;
    default:
        return WAIT_ALL;
    }
}

static bool wait_is_test(const struct task_op *op)
{
    return op->kind >= TASK_OP_TEST && op->kind <= TASK_OP_TESTSOME;
}

static uint32_t wait_count(const struct task_op *op)
{
    return op->kind == TASK_OP_WAIT || op->kind == TASK_OP_TEST ? 1 : op->request_count;
}

static uint64_t wait_name(const struct task_op *op, uint32_t i)
{
    return op->kind == TASK_OP_WAIT || op->kind == TASK_OP_TEST ? op->request : op->requests[i];
}

/* The task's own wait has marked it. */
static bool wait_marked(const struct task_state *task, const struct task_request *r)
{
    return r->flags & TASK_REQUEST_AWAITED && (!task->streams || task_stream_alone(task, r));
}

static void wait_mark(struct task_state *task, struct task_request *r)
{
    if (task->streams)
        task_stream_await(task, r);
    r->flags |= TASK_REQUEST_AWAITED;
}

/* Counts the op's requests that are active and incomplete, and complete; marks the former when asked. */
static void wait_survey(struct task_mpi *mpi, struct task_state *task, bool mark, uint32_t *incomplete,
                        uint32_t *complete)
{
    *incomplete = *complete = 0;
    for (uint32_t i = 0; i < wait_count(&task->op); i++) {
        uint32_t index = task_request_find(mpi, task, wait_name(&task->op, i));
        struct task_request *r = index ? task_request_at(mpi, index) : NULL;
        if (!r || r->state == TASK_REQUEST_INACTIVE)
            continue;
        if (r->state == TASK_REQUEST_COMPLETE) {
            ++*complete;
        } else if (!wait_marked(task, r)) { /* a name may be in the list twice */
            ++*incomplete;
            if (mark)
                wait_mark(task, r);
        }
    }
}

void task_wait_end(struct task_mpi *mpi, struct task_state *task)
{
    bool any = wait_form(&task->op) == WAIT_ANY, taken = false;
    for (uint32_t i = 0; i < wait_count(&task->op); i++) {
        uint32_t index = task_request_find(mpi, task, wait_name(&task->op, i));
        if (!index)
            continue;
        struct task_request *r = task_request_at(mpi, index);
        if (!task->streams || task_stream_alone(task, r))
            r->flags &= (uint8_t)~TASK_REQUEST_AWAITED;
        if (r->state == TASK_REQUEST_COMPLETE && !(any && taken)) {
            task_request_reap(mpi, task, index);
            taken = true;
        }
    }
}

bool task_wait_begin(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    (void)now;
    const struct task_op *op = &task->op;
    if (wait_is_test(op) && op->outcome == 0)
        return true;
    bool all = wait_form(op) == WAIT_ALL, poll = wait_is_test(op) && op->outcome < 0;
    uint32_t incomplete, complete;
    wait_survey(mpi, task, all && !poll, &incomplete, &complete);
    if (poll && all && incomplete)
        return true; /* nothing is taken before everything is there */
    if (poll || incomplete == 0 || (!all && complete)) {
        task_wait_end(mpi, task);
        return true;
    }
    if (!all)
        wait_survey(mpi, task, true, &incomplete, &complete);
    task->pending = all ? incomplete : 1;
    return false;
}

bool task_wait_one(struct task_mpi *mpi, struct task_state *task, uint32_t request)
{
    if (!request)
        return true;
    struct task_request *r = task_request_at(mpi, request);
    if (r->state == TASK_REQUEST_COMPLETE) {
        task_request_reap(mpi, task, request);
        return true;
    }
    wait_mark(task, r);
    r->flags |= TASK_REQUEST_DETACHED;
    task->pending++;
    return false;
}

bool task_wait_status(struct task_mpi *mpi, struct task_state *task)
{
    uint32_t index = task_request_find(mpi, task, task->op.request);
    struct task_request *r = index ? task_request_at(mpi, index) : NULL;
    if (!r || r->state == TASK_REQUEST_INACTIVE || r->state == TASK_REQUEST_COMPLETE)
        return true;
    wait_mark(task, r);
    task->pending = 1;
    return false;
}

static bool probe_waits(const struct task_op *op)
{
    return op->kind == TASK_OP_PROBE ||
           ((op->kind == TASK_OP_IPROBE || op->kind == TASK_OP_MPROBE) && op->outcome > 0);
}

static bool probe_finds(struct task_mpi *mpi, struct task_state *task)
{
    const struct task_op *op = &task->op;
    int32_t source = task_match_peer(mpi, task, op->comm, op->peer),
            comm = task_match_context(mpi, task, op->comm), from;
    bool found = op->kind == TASK_OP_MPROBE
                     ? task_match_hold(mpi, task, source, op->tag, comm, op->message, &from)
                     : task_match_probe(mpi, task, source, op->tag, comm, &from);
    if (found && op->mode == TASK_RECEIVE_FINDS)
        task_source_add(task, from);
    return found;
}

bool task_probe_begin(struct task_mpi *mpi, struct task_state *task)
{
    const struct task_op *op = &task->op;
    if (!probe_waits(op) || op->peer == TASK_PROC_NULL)
        return true;
    if (probe_finds(mpi, task))
        return true;
    task->pending = 1;
    return false;
}

/* Nobody but another stream takes messages out of the queue while the task waits. */
bool task_probe_end(struct task_mpi *mpi, struct task_state *task)
{
    bool found = probe_finds(mpi, task);
    ker_assert(found || task->streams);
    task->pending = !found;
    return found;
}

static inline void probe_notice(struct task_mpi *mpi, struct task_state *task, const struct task_wire *wire)
{
    const struct task_op *op = &task->op;
    if (task->stage != TASK_STAGE_BLOCKED || !probe_waits(op) || !task->pending)
        return;
    if (!task_match_fits(wire, task_match_peer(mpi, task, op->comm, op->peer), op->tag,
                         task_match_context(mpi, task, op->comm)))
        return;
    if (op->mode == TASK_RECEIVE_FINDS &&
        op->kind != TASK_OP_MPROBE) /* that is found again in task_probe_end */
        task_source_add(task, (int32_t)wire->source);
    task->pending = 0;
    task_ready(mpi, task);
}

void task_probe_notice(struct task_mpi *mpi, struct task_state *task, const struct task_wire *wire)
{
    if (__builtin_expect(!task->streams, 1)) {
        probe_notice(mpi, task, wire);
        return;
    }
    uint32_t current = task_stream_current(task);
    for (uint32_t i = 0; i < task_stream_count(task); i++) {
        task_stream_select(task, i);
        probe_notice(mpi, task, wire);
    }
    task_stream_select(task, current);
}
