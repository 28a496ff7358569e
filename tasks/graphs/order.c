/* order.c - operations in the order in which they would become ready if each were done at once, and the
 * places of it that all of the task passes together.
 *
 * X is done before Y begins if a path leads from X to Y whose first edge waits for X to be done. At a place,
 * operations before it of which something else before it waits to be done are done with that. For the others
 * (the open ones), each operation behind the place whose predecessors are all before it must wait for each of
 * them by an edge of its own; the rest behind it comes later than these. The edges between both sets are
 * counted while the place moves.
 */
#include "tasks/graphs/order.h"

#include <stdlib.h>

/* Of operations, by number. */
struct search {
    const struct graph_task *task;
    uint32_t *before;        /* predecessors that are behind the place */
    uint32_t *opens;         /* open ones of which it waits for the end */
    uint32_t *place;         /* in the order */
    uint32_t *closed, *next; /* by place: the first of those that are closed there, + 1, and the next one */
    uint32_t *seen;          /* the operation, + 1, whose edges are being looked at */
    uint32_t open, ready;
    uint64_t edges; /* between these */
};

static const uint32_t *dependents(const struct graph_task *t, uint32_t op, bool all, uint32_t *count)
{
    const struct graph_op *o = &t->op[op];
    *count = o->on_done + (all ? o->on_begin : 0);
    return t->dependent + o->first + (all ? 0 : o->on_begin);
}

static void order_find(struct search *s, uint32_t *order)
{
    uint32_t ops = s->task->ops, count = 0, edges;
    for (uint32_t i = 0; i < ops; i++) {
        s->before[i] = s->task->op[i].before;
        if (s->before[i] == 0)
            order[count++] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *to = dependents(s->task, order[i], true, &edges);
        s->place[order[i]] = i;
        for (uint32_t e = 0; e < edges; e++)
            if (--s->before[to[e]] == 0)
                order[count++] = to[e];
    }
    ker_assert(count == ops);
}

/* The operation becomes open, or is closed: those that wait for its end wait for one more, or less. */
static void open_set(struct search *s, uint32_t op, bool opens)
{
    uint32_t edges;
    const uint32_t *to = dependents(s->task, op, false, &edges);
    s->open += opens ? 1 : UINT32_MAX;
    for (uint32_t e = 0; e < edges; e++) {
        if (s->seen[to[e]] == op + 1)
            continue;
        s->seen[to[e]] = op + 1;
        s->opens[to[e]] += opens ? 1 : UINT32_MAX;
        if (s->before[to[e]] == 0)
            s->edges += opens ? 1 : UINT64_MAX;
    }
    for (uint32_t e = 0; e < edges; e++)
        s->seen[to[e]] = 0;
}

static void ready_add(struct search *s, uint32_t op)
{
    s->ready++;
    s->edges += s->opens[op];
}

/* It is before the place now: it closes what it has waited for, and is open until something waits for it. */
static void pass(struct search *s, uint32_t op)
{
    uint32_t edges, first = UINT32_MAX, place = s->place[op];
    s->ready--;
    s->edges -= s->opens[op];
    s->before[op] = UINT32_MAX; /* not ready any more */
    for (uint32_t x = s->closed[place]; x; x = s->next[x - 1])
        open_set(s, x - 1, false);
    const uint32_t *to = dependents(s->task, op, false, &edges);
    for (uint32_t e = 0; e < edges; e++)
        first = s->place[to[e]] < first ? s->place[to[e]] : first;
    if (first < UINT32_MAX) {
        s->next[op] = s->closed[first];
        s->closed[first] = op + 1;
    }
    open_set(s, op, true);
    to = dependents(s->task, op, true, &edges);
    for (uint32_t e = 0; e < edges; e++)
        if (--s->before[to[e]] == 0)
            ready_add(s, to[e]);
}

struct graph_order graph_order_make(const struct graph_task *task)
{
    uint32_t ops = task->ops, *memory = ker_alloc((6 * (size_t)ops + 1) * sizeof *memory);
    struct graph_order order = {ker_alloc((ops + 1ull) * sizeof *order.op), ker_alloc(ops + 1ull)};
    struct search s = {.task = task,
                       .before = memory,
                       .opens = memory + ops,
                       .place = memory + 2 * (size_t)ops,
                       .closed = memory + 3 * (size_t)ops,
                       .next = memory + 4 * (size_t)ops,
                       .seen = memory + 5 * (size_t)ops};
    order_find(&s, order.op);
    for (uint32_t i = 0; i < ops; i++) {
        s.before[i] = task->op[i].before;
        if (s.before[i] == 0)
            ready_add(&s, i);
    }
    for (uint32_t i = 0; i < ops; i++) {
        order.cut[i] = s.edges == (uint64_t)s.open * s.ready;
        pass(&s, order.op[i]);
    }
    free(memory);
    return order;
}

void graph_order_release(struct graph_order *order)
{
    free(order->op);
    free(order->cut);
    *order = (struct graph_order){0};
}
