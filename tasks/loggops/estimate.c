/* estimate.c - what a run will cost, from counts.
 *
 * Events are operations and messages, which schedules say exactly; of a pattern some tasks stand for all.
 * Bytes are as the structures have them, and for each process an event of its own and the messages that are
 * in transit to it, or wait for its cpu, at one time: at least one, at most as many as receives wait for
 * and senders send. Each partner's sends are d = max(o, g + (s-1) G) apart. A message is there for o + L, in
 * which o + L over d more are sent; and where d does not suffice for a send and a reception, which take the
 * cpu c each, it waits, as sends go first: of all messages that share is there at once for which the cpu has
 * no time.
 */
#include "tasks/loggops/model.h"

#include <math.h>

#define PROCESS_BYTES                                                                                        \
    (sizeof(struct loggops_process) + sizeof(struct loggops_group) + 4 * sizeof(struct loggops_blocked) +    \
     3 * sizeof(ker_time) + 17 /* of the engine */)
#define POOL_BYTES 60     /* that pools have in reserve */
#define SAMPLES 1000u     /* tasks of a pattern */
#define LOOKED_AT 4000000 /* operations of them */

struct counts {
    uint64_t ops, sends, dependents;
    uint64_t waiting; /* receives that wait for messages at one time */
    uint64_t sending; /* sends that may be made at one time */
    double bytes;     /* of messages */
};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Adds a task; waiting, sending: receives and sends that are free at the beginning, or those that one
 * operation makes free. */
static void pattern_count(const struct graph_pattern *p, uint32_t task, struct counts *c)
{
    uint32_t ops = graph_pattern_ops(p, task);
    struct counts first = {0}, most = {0};
    for (uint32_t i = 0; i < ops; i++) {
        struct graph_op op, dependent;
        struct counts released = {0};
        graph_pattern_op(p, task, i, &op);
        c->sends += op.kind == GRAPH_SEND;
        c->bytes += op.kind == GRAPH_SEND ? (double)op.amount : 0;
        first.waiting += op.kind == GRAPH_RECEIVE && op.before == 0;
        first.sending += op.kind == GRAPH_SEND && op.before == 0;
        for (uint32_t d = 0; d < op.on_done; d++) {
            graph_pattern_op(p, task, graph_pattern_dependent(p, task, i, d), &dependent);
            released.waiting += dependent.kind == GRAPH_RECEIVE && op.kind == GRAPH_CALCULATION;
            released.sending += dependent.kind == GRAPH_SEND;
        }
        most.waiting = larger(most.waiting, released.waiting);
        most.sending = larger(most.sending, released.sending);
    }
    c->ops += ops;
    c->waiting += larger(most.waiting, first.waiting);
    c->sending += larger(most.sending, first.sending);
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
                           .waiting = once.waiting + (uint64_t)((double)c.waiting * all),
                           .sending = once.sending + (uint64_t)((double)c.sending * all),
                           .bytes = once.bytes + c.bytes * all};
}

static struct counts graph_counts(const struct graph *g)
{
    struct counts c = {0};
    for (uint32_t t = 0; t < g->count; t++) {
        c.ops += g->task[t].ops;
        for (uint32_t i = 0; i < g->task[t].ops; i++) {
            c.sends += g->task[t].op[i].kind == GRAPH_SEND;
            c.sending += g->task[t].op[i].kind == GRAPH_SEND && g->task[t].op[i].before == 0;
            c.bytes += g->task[t].op[i].kind == GRAPH_SEND ? (double)g->task[t].op[i].amount : 0;
            c.waiting += g->task[t].op[i].kind == GRAPH_RECEIVE && g->task[t].op[i].before == 0;
            c.dependents += g->task[t].op[i].on_begin + g->task[t].op[i].on_done;
        }
    }
    return c;
}

/* Messages to all tasks that are there at one time. */
static double under_way(const struct loggops_parameters *set, const struct counts *c, double tasks)
{
    double bytes = c->sends ? c->bytes / (double)c->sends : 0,
           burst = fmin((double)c->waiting, (double)c->sending), most = fmax(tasks, burst);
    uint64_t size = bytes > (double)set->eager && set->rendezvous != LOGGOPS_INSTANT ? 1 : (uint64_t)bytes;
    double cpu = (double)(set->overhead + loggops_bytes(&set->busy, size)),
           apart = fmax(cpu, (double)(set->gap + loggops_bytes(&set->per_byte, size)));
    if (apart <= 0)
        return most;
    double waits = cpu > 0 ? 1 - fmin(1, (apart - cpu) / cpu) : 0;
    return fmin(most, tasks * (1 + (double)(set->overhead + set->latency) / apart) + burst * waits);
}

struct task_loggops_estimate task_loggops_estimate(const struct loggops_system *s)
{
    struct task_loggops_estimate all = {.bytes = s->count *
                                                 (PROCESS_BYTES + sizeof(struct loggops_event) + POOL_BYTES)};
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
        all.message_bytes += c.bytes;
        all.bytes += c.waiting * sizeof(struct loggops_posted);
        all.bytes +=
            (uint64_t)under_way(&s->set, &c, from < to ? to - from : 0) * sizeof(struct loggops_event);
        all.bytes += j->pattern ? 0 : c.ops * sizeof(struct graph_op) + c.dependents * sizeof(uint32_t);
    }
    return all;
}
