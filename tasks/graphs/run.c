/* run.c - operations become ready when all is done, or has begun, that they wait for; each cpu has a list of
 * them. Invariant: an operation is on its cpu's list while it is GRAPH_READY or GRAPH_ARRIVED, and on none
 * otherwise.
 */
#include "tasks/graphs/run.h"

#include <stdlib.h>
#include <string.h>

static void ready_push(struct graph_run *r, uint32_t op, enum graph_state state)
{
    struct graph_cpu *c = &r->cpu[r->task->op[op].cpu];
    r->state[op] = (uint8_t)state;
    r->next[op] = 0;
    if (c->last)
        r->next[c->last - 1] = op + 1;
    else
        c->first = op + 1;
    c->last = op + 1;
}

/* Those of a list that wait for nothing any more, by kind; they become ready by one event. */
static void ready_add(struct graph_run *r, const uint32_t *op, uint32_t count)
{
    for (unsigned kind = GRAPH_SEND; kind <= GRAPH_CALCULATION; kind++)
        for (uint32_t i = 0; i < count; i++) {
            uint32_t one = op ? op[i] : i;
            if (r->before[one] == 0 && r->state[one] == GRAPH_WAITING && r->task->op[one].kind == kind)
                ready_push(r, one, GRAPH_READY);
        }
}

static void released(struct graph_run *r, uint32_t first, uint32_t count)
{
    const uint32_t *dependent = r->task->dependent + first;
    for (uint32_t i = 0; i < count; i++)
        r->before[dependent[i]]--;
    if (count)
        ready_add(r, dependent, count);
}

static void op_done(struct graph_run *r, uint32_t number)
{
    const struct graph_op *op = &r->task->op[number];
    r->state[number] = GRAPH_DONE;
    r->cpu[op->cpu].left--;
    r->done++;
    released(r, op->first + op->on_begin, op->on_done);
}

/* ---- from the beginning ---- */

static void counts_set(struct graph_run *r)
{
    memset(r->cpu, 0, r->cpus * sizeof *r->cpu);
    memset(r->state, GRAPH_WAITING, r->task->ops);
    r->done = 0;
    for (uint32_t i = 0; i < r->task->ops; i++) {
        r->before[i] = r->task->op[i].before;
        r->cpu[r->task->op[i].cpu].left++;
    }
}

void graph_run_restart(struct graph_run *r)
{
    counts_set(r);
    ready_add(r, NULL, r->task->ops);
}

void graph_run_init(struct graph_run *r, const struct graph_task *task)
{
    uint32_t cpus = 1;
    for (uint32_t i = 0; i < task->ops; i++)
        cpus = task->op[i].cpu >= cpus ? task->op[i].cpu + 1u : cpus;
    *r = (struct graph_run){.task = task, .cpus = cpus};
    r->cpu = ker_alloc(cpus * sizeof *r->cpu);
    r->before = ker_alloc((2 * (size_t)task->ops + 1) * sizeof *r->before);
    r->next = r->before + task->ops;
    r->state = ker_alloc((size_t)task->ops + 1);
    graph_run_restart(r);
}

void graph_run_release(struct graph_run *r)
{
    free(r->cpu);
    free(r->before);
    free(r->state);
    *r = (struct graph_run){0};
}

/* ---- in transit ---- */

void graph_run_over(struct graph_run *r, uint32_t cpu)
{
    struct graph_cpu *c = &r->cpu[cpu];
    bool calculated = c->step == GRAPH_BEGINS && r->task->op[c->op].kind == GRAPH_CALCULATION;
    if (calculated || c->step == GRAPH_TAKES)
        op_done(r, c->op);
    c->step = GRAPH_IDLE;
}

enum graph_step graph_run_next(struct graph_run *r, uint32_t cpu, uint32_t *number)
{
    struct graph_cpu *c = &r->cpu[cpu];
    graph_run_over(r, cpu);
    c->step = c->left ? GRAPH_IDLE : GRAPH_ENDS;
    if (!c->first)
        return c->step;
    *number = c->op = c->first - 1;
    c->first = r->next[c->op];
    if (!c->first)
        c->last = 0;
    c->step = r->state[c->op] == GRAPH_READY ? GRAPH_BEGINS : GRAPH_TAKES;
    if (c->step == GRAPH_BEGINS) {
        const struct graph_op *op = &r->task->op[c->op];
        r->state[c->op] = GRAPH_BEGUN;
        released(r, op->first, op->on_begin);
    }
    return c->step;
}

void graph_run_complete(struct graph_run *r, uint32_t op)
{
    ker_assert(op < r->task->ops && r->state[op] == GRAPH_BEGUN);
    if (r->task->op[op].kind == GRAPH_SEND)
        op_done(r, op);
    else
        ready_push(r, op, GRAPH_ARRIVED);
}

void graph_run_skip(struct graph_run *r, const uint32_t *order, uint32_t to)
{
    const struct graph_task *t = r->task;
    for (uint32_t cpu = 0; cpu < r->cpus; cpu++)
        r->cpu[cpu].first = r->cpu[cpu].last = 0;
    for (; r->done < to; r->done++) {
        const struct graph_op *op = &t->op[order[r->done]];
        ker_assert(r->state[order[r->done]] <= GRAPH_READY);
        r->state[order[r->done]] = GRAPH_DONE;
        r->cpu[op->cpu].left--;
        for (uint32_t d = 0; d < op->on_begin + op->on_done; d++)
            r->before[t->dependent[op->first + d]]--;
    }
    ready_add(r, NULL, t->ops);
}

/* ---- saved state ---- */

/* What has happened to each operation; it says what happened to those that waited for it. */
static void loaded(struct graph_run *r, struct ker_chunk *c)
{
    const struct graph_task *t = r->task;
    for (uint32_t i = 0; i < t->ops; i++) {
        const struct graph_op *op = &t->op[i];
        uint32_t happened = r->state[i] == GRAPH_DONE    ? op->on_begin + op->on_done
                            : r->state[i] >= GRAPH_BEGUN ? op->on_begin
                                                         : 0;
        for (uint32_t d = 0; d < happened; d++)
            r->before[t->dependent[op->first + d]]--;
        r->cpu[op->cpu].left -= r->state[i] == GRAPH_DONE;
        r->done += r->state[i] == GRAPH_DONE;
    }
    for (uint32_t i = 0; i < t->ops; i++)
        c->bad |= (r->before[i] > 0) != (r->state[i] == GRAPH_WAITING) ||
                  (r->state[i] == GRAPH_ARRIVED && t->op[i].kind != GRAPH_RECEIVE);
}

void graph_run_state(struct graph_run *r, struct ker_chunk *c)
{
    ker_chunk_same(c, r->task->ops);
    if (c->bad)
        return;
    if (c->loads)
        counts_set(r);
    for (uint32_t i = 0; i < r->task->ops; i++) {
        r->state[i] = ker_chunk_u8(c, r->state[i]);
        c->bad |= r->state[i] > GRAPH_DONE;
    }
    if (c->loads && !c->bad)
        loaded(r, c);
    for (uint32_t i = 0; c->loads && i < r->task->ops; i++)
        r->next[i] = UINT32_MAX; /* on no list */
}

/* One of those that are ready. */
static void ready_load(struct graph_run *r, uint32_t cpu, uint32_t op, struct ker_chunk *c)
{
    c->bad |= op >= r->task->ops || r->task->op[op].cpu != cpu || r->next[op] != UINT32_MAX ||
              (r->state[op] != GRAPH_READY && r->state[op] != GRAPH_ARRIVED);
    if (!c->bad)
        ready_push(r, op, (enum graph_state)r->state[op]);
}

void graph_run_cpu_state(struct graph_run *r, uint32_t cpu, struct ker_chunk *c)
{
    struct graph_cpu *own = &r->cpu[cpu];
    uint32_t count = 0, at = own->first;
    for (uint32_t i = at; !c->loads && i; i = r->next[i - 1])
        count++;
    for (count = ker_chunk_count(c, count, sizeof count); count && !c->bad; count--) {
        uint32_t op = ker_chunk_u32(c, at - 1);
        if (c->loads)
            ready_load(r, cpu, op, c);
        else
            at = r->next[at - 1];
    }
    KER_CHUNK(c, own->op);
    own->step = (uint8_t)ker_chunk_below(c, own->step, GRAPH_ENDS + 1);
    bool busy = own->step == GRAPH_BEGINS || own->step == GRAPH_TAKES;
    c->bad |= busy && (own->op >= r->task->ops || r->task->op[own->op].cpu != cpu);
}
