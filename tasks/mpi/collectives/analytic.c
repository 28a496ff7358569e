/* analytic.c - collectives by a formula: all tasks continue so long after the last one has entered.
 *
 * No messages are sent. L and B are mpi.collectives.latency and .bandwidth, s the bytes of the call
 * (struct task_op.bytes; where tasks know different ones, the call takes what is longest for any of them), p
 * the tasks of the communicator: (L + s/B) times 1, ceil(log2 p), p - 1, the three models of collectives of
 * PSINS (Tikir et al., PSINS: An Open Source Event Tracer and Execution Simulator, 2009); or what a file
 * says, between whose sizes a straight line is drawn, and which continues the last of them behind the last.
 * One task alone takes no time.
 */
#include "tasks/mpi/collectives/collective.h"

#define COLLECTIVES                                                                                          \
    "barrier|bcast|reduce|allreduce|gather|gatherv|scatter|scatterv|allgather|allgatherv|alltoall|"          \
    "alltoallv|"                                                                                             \
    "reduce_scatter|reduce_scatter_block|scan|exscan|comm_create"

static bool analytic_round(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    if (round > 0 || v->size == 1)
        return false;
    task_coll_round_clear(r);
    r->shared = TASK_COLL_ENTER;
    r->fence = true;
    return true;
}

static bool ideal_round(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    return false;
}

/* ---- formulas ---- */

static ker_time steps_take(const struct task_coll_analytic *a, const struct task_coll_view *v, uint64_t steps)
{
    ker_assert(steps > 0); /* one task alone has nothing to wait for */
    ker_time one = ker_time_later(a->latency, ker_serialisation(v->bytes, a->rate));
    return one > KER_TIME_MAX / (ker_time)steps ? KER_TIME_MAX : one * (ker_time)steps;
}

static ker_time constant_cost(const struct task_coll_analytic *a, const struct task_coll_view *v)
{
    return steps_take(a, v, 1);
}

static ker_time log_cost(const struct task_coll_analytic *a, const struct task_coll_view *v)
{
    return steps_take(a, v, (uint64_t)task_coll_log2_ceiling((uint32_t)v->size));
}

static ker_time linear_cost(const struct task_coll_analytic *a, const struct task_coll_view *v)
{
    return steps_take(a, v, (uint64_t)v->size - 1);
}

/* ---- the table (curves.c) ---- */

int task_coll_point_compare(const void *a, const void *b)
{
    const struct task_coll_point *x = a, *y = b;
    if (x->collective != y->collective)
        return x->collective < y->collective ? -1 : 1;
    if (x->tasks != y->tasks)
        return x->tasks < y->tasks ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* The points of a curve; NULL: there is none. */
static const struct task_coll_point *curve_find(const struct task_coll_analytic *a, unsigned collective,
                                                uint32_t tasks, uint32_t *count)
{
    struct task_coll_point wanted = {.collective = (uint8_t)collective, .tasks = tasks};
    uint32_t low = KER_BISECT(i, 0, a->points, task_coll_point_compare(&a->point[i], &wanted) < 0);
    for (*count = 0; low + *count < a->points && a->point[low + *count].collective == collective &&
                     a->point[low + *count].tasks == tasks;)
        ++*count;
    return *count ? &a->point[low] : NULL;
}

bool task_coll_curve_there(const struct task_coll_analytic *a, unsigned collective, uint32_t tasks)
{
    uint32_t count;
    return curve_find(a, collective, tasks, &count) != NULL;
}

static ker_time table_cost(const struct task_coll_analytic *a, const struct task_coll_view *v)
{
    uint32_t count, i = 1;
    const struct task_coll_point *p = curve_find(a, v->collective, (uint32_t)v->size, &count);
    ker_assert(p);
    if (count == 1 || v->bytes <= p->bytes)
        return p->time;
    while (i + 1 < count && p[i].bytes < v->bytes)
        i++;
    uint64_t length = p[i].bytes - p[i - 1].bytes;
    unsigned __int128 rise = (uint64_t)(p[i].time - p[i - 1].time);
    rise = (rise * (v->bytes - p[i - 1].bytes) + length / 2) / length;
    return ker_time_later(p[i - 1].time, rise > (uint64_t)KER_TIME_MAX ? KER_TIME_MAX : (ker_time)rise);
}

#define ANALYTIC(row, word, text, cost_of, asks)                                                             \
    TASK_COLL_KIND(row, word, COLLECTIVES, text,                                                             \
                   (&(const struct task_coll_algorithm){                                                     \
                       .round = analytic_round, .cost = (cost_of), .cost_asks = (asks)}))
ANALYTIC(analytic_constant, "analytic_constant",
         "by formula: all continue mpi.collectives.latency + bytes / bandwidth after the last has entered",
         constant_cost, TASK_COLL_ASKS_LATENCY);
ANALYTIC(analytic_log, "analytic_log", "by formula: ceil(log2 tasks) times as long as analytic_constant",
         log_cost, TASK_COLL_ASKS_LATENCY);
ANALYTIC(analytic_linear, "analytic_linear", "by formula: tasks - 1 times as long as analytic_constant",
         linear_cost, TASK_COLL_ASKS_LATENCY);
ANALYTIC(analytic_table, "analytic_table",
         "all continue as long after the last has entered as the file mpi.collectives.table says", table_cost,
         TASK_COLL_ASKS_TABLE);
TASK_COLL_KIND(ideal, "ideal", COLLECTIVES, "nothing: each task continues at once, and waits for nobody",
               (&(const struct task_coll_algorithm){.round = ideal_round,
                                                    .cost_asks = TASK_COLL_ASKS_NOTHING}));
