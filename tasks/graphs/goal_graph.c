/* Graphs as GOAL's text: of each rank first the operations, labelled by their numbers from 1 on, then for
 * each of them those that wait for it. So dependents keep their order when the text is read again. */
#include "tasks/graphs/graph.h"

#include <inttypes.h>

/* In units, with the fraction that there is. */
static void time_put(FILE *to, uint64_t time, uint64_t unit)
{
    uint64_t rest = time % unit;
    fprintf(to, "%" PRIu64, time / unit);
    if (rest)
        fputc('.', to);
    for (; rest; rest = rest * 10 % unit) /* unit: a power of ten */
        fputc('0' + (int)(rest * 10 / unit), to);
}

static void number_put(FILE *to, const char *word, uint32_t number)
{
    if (number == GRAPH_ANY)
        fprintf(to, " %s -1", word);
    else if (number)
        fprintf(to, " %s %u", word, number);
}

static void op_put(FILE *to, const struct graph_op *op, uint64_t unit)
{
    if (op->kind == GRAPH_CALCULATION) {
        fputs("calc ", to);
        time_put(to, op->amount, unit);
    } else {
        bool sends = op->kind == GRAPH_SEND;
        fprintf(to, "%s %" PRIu64 "b %s ", sends ? "send" : "recv", op->amount, sends ? "to" : "from");
        if (op->peer == GRAPH_ANY)
            fputs("-1", to);
        else
            fprintf(to, "%u", op->peer);
        number_put(to, "tag", op->tag);
    }
    number_put(to, "cpu", op->cpu);
    if (op->kind != GRAPH_CALCULATION)
        number_put(to, "nic", op->nic);
    fputc('\n', to);
}

void graph_goal_write_head(FILE *to, uint32_t tasks)
{
    fprintf(to, "num_ranks %u\n", tasks);
}

void graph_goal_write_task(FILE *to, uint32_t number, const struct graph_task *t, uint64_t unit)
{
    fprintf(to, "\nrank %u {\n", number);
    for (uint32_t i = 0; i < t->ops; i++) {
        fprintf(to, "l%u: ", i + 1);
        op_put(to, &t->op[i], unit);
    }
    for (uint32_t i = 0; i < t->ops; i++) {
        const struct graph_op *op = &t->op[i];
        for (uint32_t d = 0; d < op->on_begin + op->on_done; d++)
            fprintf(to, "l%u %s l%u\n", t->dependent[op->first + d] + 1,
                    d < op->on_begin ? "irequires" : "requires", i + 1);
    }
    fputs("}\n", to);
}

void graph_goal_write(FILE *to, const struct graph *g, uint64_t unit)
{
    graph_goal_write_head(to, g->tasks);
    for (uint32_t i = 0; i < g->count; i++)
        graph_goal_write_task(to, i, &g->task[i], unit);
}
