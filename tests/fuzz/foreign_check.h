/* foreign_check.h - a task of a trace by another tool's, read and looked at: for the fuzzers of its readers.
 */
#pragma once

#include "traces/foreign/foreign.h"

struct foreign_check {
    struct trace_store store;
    struct replay_order order;
    struct trace_code code;
    struct foreign_task out;
    struct ker_error error;
};

/* comm: the communicators, of->comms of them. */
static void foreign_begin(struct foreign_check *c, const struct foreign_trace *of, uint32_t task,
                          const struct task_comm *comm, uint64_t memory, bool lines)
{
    *c = (struct foreign_check){.code = {.store = &c->store}};
    trace_store_init(&c->store, memory, (struct trace_form){.unit = 1, .lines = lines});
    replay_order_init(&c->order, of->comms);
    replay_order_begin(&c->order, task, comm);
    c->out = (struct foreign_task){.trace = of, .task = task, .code = &c->code, .order = &c->order};
}

/* What was read, if it was, ends with MPI_Finalize. */
static void foreign_end(struct foreign_check *c, enum ker_status status,
                        void (*op_check)(const struct task_op *, const struct foreign_trace *))
{
    struct trace_reader reader = {.code = &c->code};
    struct task_op op = {0};
    ker_assert(status == KER_OK || (status == KER_BAD_INPUT && c->error.text[0]));
    trace_code_end(&c->code);
    trace_reader_seek(&reader, 0, 0);
    while (status == KER_OK && trace_reader_next(&reader, &op))
        op_check(&op, c->out.trace);
    ker_assert(status != KER_OK || op.kind == TASK_OP_FINALIZE);
    trace_reader_release(&reader);
    trace_code_release(&c->code);
    replay_order_release(&c->order);
    trace_store_release(&c->store);
}
