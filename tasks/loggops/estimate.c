/* estimate.c - what a run will cost, from counts.
 *
 * Events are operations and messages, which schedules say exactly; of a pattern some tasks stand for all.
 * Bytes are as the structures have them, and two events and one message under way for each process.
 */
#include "tasks/loggops/model.h"

#define PROCESS_BYTES                                                                                        \
    (sizeof(struct loggops_process) + sizeof(struct loggops_group) + 4 * sizeof(struct loggops_blocked) +    \
     3 * sizeof(ker_time) + 17 /* of the engine */)
#define UNDER_WAY_BYTES (2 * sizeof(struct loggops_event) + 100)
#define SAMPLES 1000u     /* tasks of a pattern */
#define LOOKED_AT 4000000 /* operations of them */

struct counts {
    uint64_t ops, sends, dependents;
    uint64_t waiting; /* receives that wait for messages at one time */
};

/* Adds a task; waiting: receives that are free at the beginning, or those that one operation makes free. */
static void pattern_count(const struct graph_pattern *p, uint32_t task, struct counts *c)
{
    uint32_t ops = graph_pattern_ops(p, task), most = 0, free_at_once = 0;
    for (uint32_t i = 0; i < ops; i++) {
        struct graph_op op, dependent;
        uint32_t released = 0;
        graph_pattern_op(p, task, i, &op);
        c->sends += op.kind == GRAPH_SEND;
        free_at_once += op.kind == GRAPH_RECEIVE && op.before == 0;
        for (uint32_t d = 0; op.kind == GRAPH_CALCULATION && d < op.on_done; d++) {
            graph_pattern_op(p, task, graph_pattern_dependent(p, task, i, d), &dependent);
            released += dependent.kind == GRAPH_RECEIVE;
        }
        most = released > most ? released : most;
    }
    c->ops += ops;
    c->waiting += most > free_at_once ? most : free_at_once;
}

/* Tasks of a pattern from `first` on: as many of them as are looked at, and so often all. The first task,
 * which may be a root, counts once. */
static struct counts pattern_counts(const struct graph_pattern *p, uint32_t first, uint32_t count)
{
    struct counts c = {0}, once = {0};
    uint32_t looked_at = 0;
    if (count == 0)
        return c;
    pattern_count(p, first, &once);
    uint64_t each = graph_pattern_ops(p, first + count - 1),
             samples = each * SAMPLES > LOOKED_AT ? LOOKED_AT / each + 1 : SAMPLES;
    uint32_t step = count / (uint32_t)samples + 1;
    for (uint32_t i = 1 + (step - 1) / 2; i < count; i += step, looked_at++)
        pattern_count(p, first + i, &c);
    double all = looked_at ? (double)(count - 1) / looked_at : 0;
    return (struct counts){.ops = once.ops + (uint64_t)((double)c.ops * all),
                           .sends = once.sends + (uint64_t)((double)c.sends * all),
                           .waiting = once.waiting + (uint64_t)((double)c.waiting * all)};
}

static struct counts graph_counts(const struct graph *g)
{
    struct counts c = {0};
    for (uint32_t t = 0; t < g->count; t++) {
        c.ops += g->task[t].ops;
        for (uint32_t i = 0; i < g->task[t].ops; i++) {
            c.sends += g->task[t].op[i].kind == GRAPH_SEND;
            c.waiting += g->task[t].op[i].kind == GRAPH_RECEIVE && g->task[t].op[i].before == 0;
            c.dependents += g->task[t].op[i].on_begin + g->task[t].op[i].on_done;
        }
    }
    return c;
}

struct task_loggops_estimate task_loggops_estimate(const struct loggops_system *s)
{
    struct task_loggops_estimate all = {.bytes = s->count * (PROCESS_BYTES + UNDER_WAY_BYTES)};
    for (uint32_t i = 0; i < s->jobs; i++) {
        const struct loggops_job *j = &s->job[i];
        uint32_t from = s->first > j->first ? s->first : j->first, end = s->first + s->count,
                 to = end < j->first + j->tasks ? end : j->first + j->tasks;
        struct counts c = {0};
        if (j->pattern)
            c = pattern_counts(j->pattern, from < to ? from - j->first : 0, from < to ? to - from : 0);
        else if (j->graph)
            c = graph_counts(j->graph);
        all.events += c.ops + c.sends;
        all.messages += c.sends;
        all.bytes += c.waiting * sizeof(struct loggops_posted);
        all.bytes += j->pattern ? 0 : c.ops * sizeof(struct graph_op) + c.dependents * sizeof(uint32_t);
    }
    return all;
}
