/* Patterns in which every task has to do with every other, or with one that is drawn. */
#include "tasks/graphs/pattern.h"

#include "tasks/traffic/traffic.h"

#include <stdlib.h>

/* ---- linear_alltoall: in step s to the task s further, from the one s before ---- */

static enum ker_status linear_open(struct graph_pattern *p, const struct ker_config *config, const char *path,
                                   uint64_t seed, struct ker_error *error)
{
    p->longest = p->bytes;
    if (p->tasks > UINT32_MAX / 4)
        return ker_config_fail(config, error, path, "linear_alltoall: at most %u tasks", UINT32_MAX / 4);
    return KER_OK;
}

static uint32_t linear_ops(const struct graph_pattern *p, uint32_t task)
{
    return 2 * (p->tasks - 1);
}

static void linear_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op)
{
    uint32_t step = 1 + number / 2;
    bool sends = number % 2 == 0;
    graph_pattern_message(op, sends ? GRAPH_SEND : GRAPH_RECEIVE, p->bytes,
                          sends ? graph_pattern_up(p, task, step) : graph_pattern_down(p, task, step));
}

/* ---- linear_alltoallv: sizes are drawn, but those to the root are jobs[].datasize ----
 *
 * schedgen draws them by the C library's rand() of glibc, never seeded: the trinomial x[i] = x[i-3] + x[i-31]
 * of D. Knuth's additive generators, begun by the minimal standard generator with seed 1, of which the first
 * 310 values are dropped; the lowest bit is left out. */

#define LONG_LAG 31
#define SHORT_LAG 3

struct draws {
    uint32_t x[LONG_LAG];
    unsigned at;
};

static uint32_t draw(struct draws *d)
{
    uint32_t *oldest = &d->x[d->at];
    *oldest += d->x[(d->at + LONG_LAG - SHORT_LAG) % LONG_LAG];
    d->at = (d->at + 1) % LONG_LAG;
    return *oldest >> 1;
}

static void draws_begin(struct draws *d)
{
    *d = (struct draws){.x = {1}, .at = SHORT_LAG};
    for (unsigned i = 1; i < LONG_LAG; i++)
        d->x[i] = (uint32_t)((uint64_t)d->x[i - 1] * 16807 % 2147483647);
    for (unsigned i = 0; i < 10 * LONG_LAG; i++)
        draw(d);
}

#define MOST_TABLE 16384

static void sizes_make(struct graph_pattern *p, uint32_t below, bool outcast)
{
    struct draws d;
    draws_begin(&d);
    p->size = ker_alloc((size_t)p->tasks * p->tasks * sizeof *p->size);
    for (uint32_t from = 0; from < p->tasks; from++)
        for (uint32_t to = 0; to < p->tasks; to++) {
            bool full = to == p->root || (outcast && from == (p->root + 1) % p->tasks);
            p->size[(size_t)from * p->tasks + to] = full ? (uint32_t)p->bytes : draw(&d) % below + 1;
        }
}

static enum ker_status sizes_open(struct graph_pattern *p, const struct ker_config *config, const char *path,
                                  uint64_t seed, struct ker_error *error)
{
    const char *ratio_key = KER_KEY("%s.a2av_skew_ratio", path);
    uint64_t ratio = (uint64_t)ker_config_int(config, ratio_key);
    if (p->tasks > MOST_TABLE)
        return ker_config_fail(config, error, path,
                               "linear_alltoallv: at most %d tasks, as the sizes of all pairs are kept",
                               MOST_TABLE);
    if (p->bytes > INT32_MAX)
        return ker_config_fail(config, error, KER_KEY("%s.datasize", path),
                               "linear_alltoallv: at most 2^31 - 1 bytes");
    if (p->bytes / ratio == 0)
        return ker_config_fail(config, error, ratio_key, "is more than jobs[].datasize: no size is left");
    p->longest = p->bytes;
    sizes_make(p, (uint32_t)(p->bytes / ratio), ker_config_bool(config, KER_KEY("%s.outcast", path)));
    return KER_OK;
}

static void sizes_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op)
{
    linear_op(p, task, number, op);
    uint32_t from = op->kind == GRAPH_SEND ? task : op->peer, to = op->kind == GRAPH_SEND ? op->peer : task;
    op->amount = p->size[(size_t)from * p->tasks + to];
}

/* ---- random_bisect: a random half of the tasks sends to the other half ---- */

static enum ker_status bisect_open(struct graph_pattern *p, const struct ker_config *config, const char *path,
                                   uint64_t seed, struct ker_error *error)
{
    p->longest = p->bytes;
    p->tasks -= p->tasks % 2;
    if (p->tasks == 0)
        return ker_config_fail(config, error, path, "%s: at least two tasks, commsize, would be right",
                               "random_bisect");
    p->own = ker_alloc(sizeof(struct task_permutation));
    task_permutation_init(p->own, seed, ker_purpose("jobs.pattern"), 0, p->tasks);
    return KER_OK;
}

/* Its partner; *first: it sends first. */
static uint32_t partner(const struct graph_pattern *p, uint32_t task, bool *first)
{
    uint32_t place = task_permutation_find(p->own, task), half = p->tasks / 2;
    *first = place < half;
    return task_permutation_at(p->own, *first ? place + half : place - half);
}

static uint32_t bisect_ops(const struct graph_pattern *p, uint32_t task)
{
    return 1;
}

static uint32_t exchange_ops(const struct graph_pattern *p, uint32_t task)
{
    return 2;
}

static void bisect_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op)
{
    bool first;
    uint32_t other = partner(p, task, &first);
    graph_pattern_message(op, first == (number == 0) ? GRAPH_SEND : GRAPH_RECEIVE, p->bytes, other);
}

/* ---- allreduce_recdoub: halves, then doubles ---- */

static enum ker_status recdoub_open(struct graph_pattern *p, const struct ker_config *config,
                                    const char *path, uint64_t seed, struct ker_error *error)
{
    const char *key = KER_KEY("%s.commsize", path);
    if (p->tasks & (p->tasks - 1))
        return ker_config_fail(config, error, key, "allreduce_recdoub: a power of two would be right");
    key = KER_KEY("%s.rpl_dep_cmp", path);
    p->gap = ker_config_has(config, key) ? ker_config_int(config, key) : -1;
    p->rounds = graph_pattern_doublings(p); /* in each direction */
    p->longest = p->bytes / 2;
    return KER_OK;
}

/* Of each step but the last, if the gap between messages is fixed, also a calculation, for which the next
 * send waits instead of the receive. */
static uint32_t step_ops(const struct graph_pattern *p)
{
    return p->gap < 0 ? 2 : 3;
}

static uint32_t recdoub_ops(const struct graph_pattern *p, uint32_t task)
{
    return p->rounds ? 2 * p->rounds * step_ops(p) - (p->gap >= 0) : 0;
}

static void recdoub_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op)
{
    uint32_t step = number / step_ops(p), which = number % step_ops(p);
    uint32_t distance = step < p->rounds ? step : 2 * p->rounds - 1 - step;
    if (which == 2)
        graph_pattern_calculation(p, op, (uint64_t)p->gap);
    else
        graph_pattern_message(op, which ? GRAPH_RECEIVE : GRAPH_SEND,
                              step < p->rounds ? p->bytes >> (step + 1)
                                               : (p->bytes >> p->rounds) << (step - p->rounds),
                              task ^ 1u << distance);
    if (which == 0)
        op->before = step > 0;
    else if (which + 1 == step_ops(p))
        op->on_done = step + 1 < 2 * p->rounds;
}

static uint32_t following(const struct graph_pattern *p, uint32_t task, uint32_t number, uint32_t index)
{
    return number + 1;
}

static const struct ker_option sizes_options[] = {
    {"jobs[].a2av_skew_ratio", KER_TYPE_INT, "1", "1", NULL, NULL,
     "linear_alltoallv: sizes are drawn from 1 byte to jobs[].datasize divided by this; those of messages to "
     "the root are jobs[].datasize."},
    {"jobs[].outcast", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "linear_alltoallv: those from the task behind the root, too."},
    {0},
};

static const struct ker_option gap_options[] = {
    {"jobs[].rpl_dep_cmp", KER_TYPE_INT, NULL, "0", "1000000000000", NULL,
     "allreduce_recdoub: a send waits for a calculation of this many jobs[].time_unit in place of the "
     "receive before it."},
    {0},
};

GRAPH_PATTERN(linear_alltoall, "each task sends to every other, all at once",
              KER_OPTIONS(graph_size_options, graph_bytes_options), .open = linear_open, .ops = linear_ops,
              .op = linear_op);
GRAPH_PATTERN(linear_alltoallv, "the same with sizes that are drawn",
              KER_OPTIONS(graph_size_options, graph_bytes_options, graph_root_options, sizes_options),
              .open = sizes_open, .ops = linear_ops, .op = sizes_op);
GRAPH_PATTERN(random_bisect, "a random half of the tasks sends to the other half",
              KER_OPTIONS(graph_size_options, graph_bytes_options), .open = bisect_open, .ops = bisect_ops,
              .op = bisect_op);
GRAPH_PATTERN(random_bisect_fd_sym, "the same, in both directions",
              KER_OPTIONS(graph_size_options, graph_bytes_options), .open = bisect_open, .ops = exchange_ops,
              .op = bisect_op);
GRAPH_PATTERN(allreduce_recdoub, "a reduction to all by halving and doubling",
              KER_OPTIONS(graph_size_options, graph_bytes_options, gap_options), .open = recdoub_open,
              .ops = recdoub_ops, .op = recdoub_op, .dependent = following);
