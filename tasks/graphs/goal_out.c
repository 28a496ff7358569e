/* Operations and dependencies as GOAL's text. Every operation has a label, its number from 1 on. */
#include "tasks/graphs/goal_out.h"

#include "kernel/base/base.h"

void goal_out_wait_only(struct goal_out *o, uint32_t op, bool begin)
{
    o->waits = 0;
    *KER_PUSH(o->wait, o->waits, o->room) = (struct goal_wait){op, begin};
}

void goal_out_wait(struct goal_out *o, uint32_t op)
{
    *KER_PUSH(o->wait, o->waits, o->room) = (struct goal_wait){op, false};
}

/* The operation has been written up to the end of its line; what comes next waits for it: for its begin. */
static uint32_t op_end(struct goal_out *o)
{
    uint32_t op = o->ops++;
    fputc('\n', o->to);
    for (uint32_t i = 0; i < o->waits; i++)
        fprintf(o->to, "l%u %s l%u\n", op + 1, o->wait[i].begin ? "irequires" : "requires",
                o->wait[i].op + 1);
    goal_out_wait_only(o, op, true);
    return op;
}

static uint32_t goal_out_calculation(struct goal_out *o, uint64_t ns)
{
    fprintf(o->to, "l%u: calc %llu", o->ops + 1, (unsigned long long)ns);
    uint32_t op = op_end(o);
    goal_out_wait_only(o, op, false);
    return op;
}

uint32_t goal_out_message(struct goal_out *o, bool sends, uint64_t bytes, int32_t task, int64_t tag)
{
    fprintf(o->to, "l%u: %s %llub %s %d tag %lld", o->ops + 1, sends ? "send" : "recv",
            (unsigned long long)bytes, sends ? "to" : "from", task, (long long)tag);
    return op_end(o);
}

void goal_out_join(struct goal_out *o)
{
    if (o->waits > 1)
        goal_out_calculation(o, 0);
}

void goal_out_compute(struct goal_out *o)
{
    uint64_t ns = o->computed / 1000;
    o->computed %= 1000;
    if (ns)
        goal_out_calculation(o, ns);
}
