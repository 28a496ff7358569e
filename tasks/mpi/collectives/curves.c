/* curves.c - the keys of collectives by a formula, and the file of times that analytic_table takes.
 *
 * A line of it is a point of the curve of a collective and a number of tasks, "allreduce 65536 32 41.5 us".
 * Invariant: sizes and times of a curve ascend, and no time is shorter than what its lookahead needs.
 */
#include "tasks/mpi/collectives/collective.h"

#include <stdlib.h>
#include <string.h>

static bool time_take(struct ker_lines *l, ker_time *time)
{
    char text[64];
    size_t length = (size_t)(l->stop - l->p);
    const char *why;
    if (length == 0 || length >= sizeof text)
        return false;
    memcpy(text, l->p, length);
    text[length] = 0;
    l->p = l->stop;
    return ker_parse_time(text, time, &why) == 0;
}

/* "allreduce 65536 32 41.5 us" */
static enum ker_status point_read(struct task_coll_analytic *a, struct ker_lines *l)
{
    struct task_coll_point p = {.line = l->line};
    unsigned c = 0;
    while (c < TASK_COLL_COUNT && !ker_take_word(l, task_coll_name(c)))
        c++;
    if (c == TASK_COLL_COUNT || task_coll_among_neighbours(c))
        return ker_lines_fail(l,
                              "\"%.*s\" begins with no collective; right would be as in "
                              "\"allreduce 65536 32 41.5 us\": collective, bytes, tasks, time",
                              KER_LINE_REST(l));
    p.collective = (uint8_t)c;
    bool right = ker_take_digits(l, 10, &p.bytes) && ker_at_gap(l);
    ker_take_blanks(l);
    if (!right || !ker_take_u32(l, &p.tasks) || !ker_at_gap(l))
        return ker_lines_fail(l, "no whole numbers of bytes and tasks behind \"%s\"", task_coll_name(c));
    ker_take_blanks(l);
    if (p.tasks < 2)
        return ker_lines_fail(l, "%u tasks: a collective of one task takes no time, give 2 or more", p.tasks);
    if (!time_take(l, &p.time) || p.time < TASK_COLL_LEAST)
        return ker_lines_fail(l, "no time at the end of the line, with its unit and at least %d ps",
                              TASK_COLL_LEAST);
    a->least = a->least ? ker_time_min(a->least, p.time) : p.time;
    *KER_PUSH(a->point, a->points, a->room) = p;
    return KER_OK;
}

enum ker_status task_coll_points_parse(struct task_coll_analytic *a, const char *file, const char *text,
                                       size_t bytes, struct ker_error *error)
{
    struct ker_lines l;
    ker_lines_init(&l, file, text, bytes, error);
    enum ker_status status = ker_lines_check(&l);
    while (!status && ker_lines_next_full(&l))
        status = point_read(a, &l);
    if (status)
        return status;
    if (a->points)
        qsort(a->point, a->points, sizeof *a->point, task_coll_point_compare);
    for (uint32_t i = 1; i < a->points; i++) {
        const struct task_coll_point *p = &a->point[i - 1], *q = &a->point[i];
        if (p->collective != q->collective || p->tasks != q->tasks ||
            (p->bytes < q->bytes && p->time <= q->time))
            continue;
        uint32_t line = q->line > p->line ? q->line : p->line;
        return ker_lines_fail_at(&l, line,
                                 "the curve of %s on %u tasks does not ascend: beside line %u a larger size "
                                 "takes less time, or a size is there twice",
                                 task_coll_name(p->collective), p->tasks, q->line + p->line - line);
    }
    return KER_OK;
}

/* ---- keys ---- */

static enum ker_status points_read(struct task_coll_analytic *a, const struct ker_config *config,
                                   struct ker_error *error)
{
    size_t bytes;
    char *text;
    if (!ker_config_has(config, "mpi.collectives.table"))
        return ker_config_fail(config, error, "mpi.collectives.table",
                               "is missing: the file that says how long collectives with the algorithm "
                               "\"analytic_table\" take");
    const char *path = ker_config_file(config, "mpi.collectives.table");
    enum ker_status status = ker_input_read(ker_config_inputs(config), path, &text, &bytes, error);
    status = status ?: task_coll_points_parse(a, path, text, bytes, error);
    free(text);
    return status;
}

/* A key of this module, or else of the model of the network. */
static const char *analytic_key(const struct ker_config *config, const char *own, const char *network,
                                const char *loggops)
{
    if (ker_config_has(config, own))
        return own;
    if (ker_config_means_key(config, network))
        return network;
    return loggops && ker_config_means_key(config, loggops) ? loggops : NULL;
}

static enum ker_status latency_read(struct task_coll_analytic *a, const struct ker_config *config,
                                    struct ker_error *error)
{
    const char *latency = analytic_key(config, "mpi.collectives.latency", "network.latency", "loggops.L"),
               *rate = analytic_key(config, "mpi.collectives.bandwidth", "network.bandwidth", NULL);
    if (!latency || !rate)
        return ker_config_fail(config, error,
                               latency ? "mpi.collectives.bandwidth" : "mpi.collectives.latency",
                               "is missing: of a step of collectives that are given by a formula");
    a->latency = ker_config_time(config, latency);
    a->rate = ker_config_rate(config, rate);
    if (a->latency < TASK_COLL_LEAST)
        return ker_config_fail(config, error, latency,
                               "is too short for collectives that are given by a formula, which are decided "
                               "half of it later: at least %d ps",
                               TASK_COLL_LEAST);
    a->least = a->least ? ker_time_min(a->least, a->latency) : a->latency;
    return KER_OK;
}

/* What the formulas of all rules need; keys that none asks for are refused. */
enum ker_status task_coll_analytic_read(struct task_coll_table *table, const struct ker_config *config,
                                        struct ker_error *error)
{
    static const char *const keys[] = {"mpi.collectives.latency", "mpi.collectives.bandwidth",
                                       "mpi.collectives.table"};
    unsigned asks = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        unsigned own = task_coll_asks(table->rule[i].choice.algorithm);
        asks |= own;
        if (own & TASK_COLL_ASKS_TABLE)
            table->by_curve |= 1u << table->rule[i].collective;
    }
    for (size_t i = 0; i < 3; i++)
        if (ker_config_has(config, keys[i]) &&
            !(asks & (i < 2 ? TASK_COLL_ASKS_LATENCY : TASK_COLL_ASKS_TABLE)))
            return ker_config_fail(config, error, keys[i], "means nothing: no collective is given by %s",
                                   i < 2 ? "a formula" : "\"analytic_table\"");
    enum ker_status status =
        asks & TASK_COLL_ASKS_TABLE ? points_read(&table->analytic, config, error) : KER_OK;
    if (!status && asks & TASK_COLL_ASKS_LATENCY)
        status = latency_read(&table->analytic, config, error);
    return status;
}
