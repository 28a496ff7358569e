/* osu.c - what OSU's micro-benchmarks print: a title that says what was measured, a line with the names of
 * the columns, and rows of a size and a value.
 *
 *     # OSU MPI Allreduce Latency Test v5.8
 *     # Size       Avg Latency(us)
 *     4                       1.62
 *
 * Latency and bandwidth (osu_latency, osu_bw), and the collectives that closed forms know. The averages are
 * taken: minima are not printed. Their sizes are those of a block where ours are of the full vector. How many
 * tasks there were, on how many nodes, by which algorithm, is not in the file.
 */
#include "tools/marsbench/points.h"

#include <stdlib.h>
#include <string.h>

struct test {
    const char *title, *collective;
    enum bench_quantity quantity;
    bool block; /* the size is that of one of as many blocks as there are tasks */
};
static const struct test TESTS[] = {
    {"OSU MPI Latency", "", BENCH_PINGPONG, false},
    {"OSU MPI Bandwidth", "", BENCH_STREAM, false},
    {"OSU MPI Allreduce", "allreduce", BENCH_COLLECTIVE, false},
    {"OSU MPI Reduce_scatter", "reduce_scatter", BENCH_COLLECTIVE, false},
    {"OSU MPI Reduce", "reduce", BENCH_COLLECTIVE, false},
    {"OSU MPI Broadcast", "bcast", BENCH_COLLECTIVE, false},
    {"OSU MPI Allgather Latency", "allgather", BENCH_COLLECTIVE, true},
    {"OSU MPI All-to-All Personalized", "alltoall", BENCH_COLLECTIVE, true},
    {"OSU MPI Gather Latency", "gather", BENCH_COLLECTIVE, true},
    {"OSU MPI Scatter Latency", "scatter", BENCH_COLLECTIVE, true},
    {"OSU MPI Barrier", "barrier", BENCH_COLLECTIVE, false},
};

static enum ker_status fact_read(char *word, struct bench_facts *facts, struct ker_error *error)
{
    char *value = strchr(word, '='), *end = NULL;
    if (value) {
        *value++ = 0;
        unsigned long number = strtoul(value, &end, 10);
        bool whole = *value && !*end && number >= 1 && number <= 10000000;
        if (strcmp(word, "nodes") == 0 && whole)
            return facts->nodes = (uint32_t)number, KER_OK;
        if (strcmp(word, "ranks_per_node") == 0 && whole && number <= 100000)
            return facts->per_node = (uint32_t)number, KER_OK;
        if (strcmp(word, "algorithm") == 0 && *value && strlen(value) < sizeof facts->algorithm)
            return strcpy(facts->algorithm, value), KER_OK;
        for (int w = 0; strcmp(word, "where") == 0 && w < BENCH_WHERES; w++)
            if (strcmp(value, bench_where_names[w]) == 0)
                return facts->where = (enum bench_where)w, KER_OK;
    }
    return ker_fail(error, KER_BAD_INPUT,
                    "%s%s%s: expected nodes=N, ranks_per_node=N, algorithm=NAME or where=core|socket|node",
                    word, value ? "=" : "", value ? value : "");
}

enum ker_status bench_facts_read(char *file, struct bench_facts *facts, struct ker_error *error)
{
    *facts = (struct bench_facts){.where = BENCH_NODE};
    char *rest = strrchr(file, '@');
    if (!rest || !strchr(rest, '='))
        return KER_OK;
    *rest++ = 0;
    char *save = NULL;
    for (char *word = strtok_r(rest, ",", &save); word; word = strtok_r(NULL, ",", &save))
        if (fact_read(word, facts, error) != KER_OK)
            return KER_BAD_INPUT;
    return KER_OK;
}

static bool value_take(struct ker_lines *l, double *value)
{
    const char *text;
    size_t length;
    char number[40], *end;
    if (!ker_take_text(l, &text, &length) || length >= sizeof number)
        return false;
    memcpy(number, text, length);
    number[length] = 0;
    *value = strtod(number, &end);
    return *end == 0 && *value > 0 && *value <= 1e12;
}

static enum ker_status row_read(struct ker_lines *l, const struct test *test, const struct bench_facts *facts,
                                struct bench_points *points)
{
    struct bench_point p = {
        .quantity = test->quantity, .where = facts->where, .nodes = 2, .per_node = 1, .starts = 1};
    uint32_t size = 0;
    double value;
    ker_take_blanks(l);
    if ((strcmp(test->collective, "barrier") != 0 && (!ker_take_u32(l, &size) || !ker_at_gap(l))) ||
        (ker_take_blanks(l), !value_take(l, &value)))
        return ker_lines_fail(l, "expected a size and a value greater than 0");
    p.bytes = size;
    p.min_us = value;
    if (test->quantity == BENCH_STREAM)
        p.min_us = (double)size / value; /* bytes / (MB/s) */
    if (test->quantity == BENCH_COLLECTIVE) {
        p.nodes = facts->nodes;
        p.per_node = facts->per_node ? facts->per_node : 1;
        strcpy(p.collective, test->collective);
        strcpy(p.algorithm, facts->algorithm);
        if (test->block)
            p.bytes *= (uint64_t)p.nodes * p.per_node;
    }
    if (p.min_us > 0)
        *KER_PUSH(points->point, points->count, points->room) = p;
    return KER_OK;
}

static enum ker_status osu_parse(struct bench_points *points, struct ker_lines *l,
                                 const struct bench_facts *facts)
{
    const struct test *test = NULL;
    for (size_t i = 0; i < sizeof TESTS / sizeof *TESTS && !test; i++)
        if (ker_text_find(l->p, (size_t)(l->stop - l->p), TESTS[i].title))
            test = &TESTS[i];
    if (!test)
        return ker_lines_fail(l, "%.*s: expected OSU's latency, bandwidth, or a collective, or CSV",
                              KER_LINE_REST(l));
    if (test->quantity == BENCH_COLLECTIVE && (!facts->nodes || !facts->algorithm[0]))
        return ker_lines_fail(l,
                              "OSU's output does not say how many nodes and which algorithm: "
                              "%s@nodes=N,ranks_per_node=N,algorithm=NAME",
                              l->file);
    while (ker_lines_next_full(l))
        if (row_read(l, test, facts, points) != KER_OK)
            return KER_BAD_INPUT;
    return KER_OK;
}

/* Whichever form its first line says. */
enum ker_status bench_points_parse(struct bench_points *points, const char *file, const char *text,
                                   size_t length, const struct bench_select *select, size_t selects,
                                   const struct bench_facts *facts, struct ker_error *error)
{
    struct ker_lines in;
    ker_lines_init(&in, file, text, length, error);
    enum ker_status status = ker_lines_check(&in);
    if (status != KER_OK)
        return status;
    do
        if (!ker_lines_next(&in))
            return ker_lines_fail_at(&in, 1,
                                     "there is nothing in it; expected CSV, or what OSU's benchmarks print");
    while (in.p == in.stop);
    return *in.p == '#' ? osu_parse(points, &in, facts) : bench_csv_parse(points, &in, select, selects);
}
