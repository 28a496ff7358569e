/* shape.c - calls like those that were read before.
 *
 * In a block of a trace calls with the same function and arguments are of one shape, and most programs go
 * through a few shapes again and again. So what the first call of a shape has become is kept, and the others
 * are put by it: only their times are their own, and the requests that they make or complete.
 *
 * Invariant: what is kept here depends on nothing but the shape. Where it might (threads, receives from any
 * source that take who comes first, counters, traced times of calls), nothing is kept.
 */
#include "traces/replay/arguments.h"

#include <string.h>

static enum replay_road road_of(struct replay_task *t, const struct task_op *op)
{
    const struct mars_function *function = t->record.function;
    if (t->parts > 1 || !replay_is_constant(t))
        return REPLAY_ROAD_FIRST;
    if (!op)
        return replay_has(function, MARS_FIELD_request) ? REPLAY_ROAD_FIRST : REPLAY_ROAD_NOTHING;
    switch (op->kind) {
    case TASK_OP_SEND:
    case TASK_OP_RECV:
    case TASK_OP_SENDRECV:
    case TASK_OP_POLL:
        return REPLAY_ROAD_PUT;
    case TASK_OP_ISEND:
    case TASK_OP_IRECV:
        return REPLAY_ROAD_MAKE;
    case TASK_OP_WAIT:
        return op->request_count == 1 ? REPLAY_ROAD_WAIT : REPLAY_ROAD_FIRST;
    default:
        return REPLAY_ROAD_FIRST;
    }
}

uint32_t replay_called(struct replay_task *t, struct trace_code *code)
{
    const struct mars_function *function = t->record.function;
    size_t place = ker_hash((uintptr_t)function) >> 58; /* of 64 */
    if (t->counted[place].function != function) {
        t->counted[place].function = function;
        t->counted[place].index =
            trace_called_find(&code->called, &code->store->functions, function->name, strlen(function->name));
    }
    return t->counted[place].index;
}

void replay_shape_keep(struct replay_task *t, struct trace_code *code, const struct task_op *op,
                       uint64_t request)
{
    const struct mars_record *r = &t->record;
    if (r->shape >= REPLAY_SHAPES_MOST)
        return;
    KER_RESERVE(t->shape, t->shapes, r->shape + (size_t)1);
    struct replay_shape *shape = &t->shape[r->shape];
    shape->road = (uint8_t)road_of(t, op);
    if (shape->road == REPLAY_ROAD_FIRST)
        return;
    shape->called = replay_called(t, code);
    shape->bytes = mars_record_bytes(r);
    if (!op)
        return;
    shape->op = *op;
    shape->request = request;
    if (!trace_again_make(&shape->again, code, op))
        shape->road = REPLAY_ROAD_FIRST;
}

enum ker_status replay_shape_request(struct replay_task *t, struct replay_shape *shape,
                                     struct trace_code *code, const char *path, struct ker_error *error)
{
    const struct replay_wrong w = {t, path, error};
    struct task_op *op = &shape->op;
    op->request = shape->request;
    if (shape->road == REPLAY_ROAD_WAIT)
        t->list[0][0] = op->request;
    t->part = 0;
    t->parts = 1;
    enum ker_status status = replay_active_check(t, op, &w);
    if (status != KER_OK)
        return status;
    replay_requests_name(t, op);
    trace_code_put_again(code, &shape->again, 0, op->request);
    return KER_OK;
}
