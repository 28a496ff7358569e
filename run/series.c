/* series.c - what output.series.* asks for: rows of links and others in each period, what they cost, and
 * whether they are possible.
 */
#include "run/stages.h"

/* A key that asks for a series; NULL: none does. */
static const char *wanted(const struct run *run)
{
    static const char before[] = "output.series.";
    for (const struct ker_option *o = stats_options; o->key; o++)
        if (o->type == KER_TYPE_CHOICE && strncmp(o->key, before, sizeof before - 1) == 0 &&
            stats_collects_periods(run->config, o->key))
            return o->key;
    return NULL;
}

/* Periods of the whole run; 0: its end is not known. */
static uint64_t periods_of(const struct run *run)
{
    return run->end == KER_TIME_MAX || run->period == 0 ? 0 : (uint64_t)((run->end - 1) / run->period + 1);
}

/* A time of at most three digits, so that it can be printed as it is. */
static ker_time time_round(ker_time time)
{
    ker_time step = 1;
    while (time / step >= 1000)
        step *= 10;
    return (time + step - 1) / step * step;
}

/* Of a period; which: of costs.series. */
static uint64_t period_bytes(const struct stats_series_costs *costs, int which)
{
    return costs->series[which].rows * costs->series[which].row_bytes;
}

/* The series with most bytes in a period. */
static int largest_of(const struct stats_series_costs *costs)
{
    int most = 0;
    for (int i = 1; i < costs->count; i++)
        if (period_bytes(costs, i) > period_bytes(costs, most))
            most = i;
    return most;
}

void run_series_check(struct run *run)
{
    const uint64_t most = ker_config_bytes(run->config, "output.series.bytes");
    char a[32], b[32], c[32];
    if (!wanted(run))
        return;
    if (run->period == 0) {
        ker_config_fail(run->config, &run->error, wanted(run),
                        "is \"periods\", but output.period is 0: give the length of a period");
        return;
    }
    run->series = stats_series_new(ker_config_bool(run->config, "run.skip.enabled"));
    if (run_links(run))
        run_links(run)->series_want(run->network, run->series);
    task_system_series_want(run->tasks, run->config, run->series);
    node_series_want(&run->model, run->series);
    node_service_series_want(run->listed, run->config, run->series);
    const struct stats_series_costs *costs = stats_series_costs(run->series);
    if (costs->count == 0)
        return;
    int largest = largest_of(costs);
    const char *file = costs->series[largest].file;
    uint64_t each = period_bytes(costs, largest), periods = periods_of(run);
    unsigned __int128 bytes = (unsigned __int128)each * periods;
    if (bytes <= most)
        return;
    uint64_t fit = most / each;
    if (fit == 0)
        ker_config_fail(run->config, &run->error, "output.series.bytes",
                        "%s are less than %s.csv may take for one period, %s",
                        ker_print_bytes(a, (double)most), file, ker_print_bytes(b, (double)each));
    else
        ker_config_fail(run->config, &run->error, "output.period",
                        "is too short: %s.csv may get %s in %llu periods of %llu rows, "
                        "output.series.bytes allows %s; give %s or more",
                        file, ker_print_bytes(a, (double)bytes), (unsigned long long)periods,
                        (unsigned long long)costs->series[largest].rows, ker_print_bytes(b, (double)most),
                        ker_print_time(c, time_round((ker_time)((uint64_t)run->end / fit + 1))));
}

/* The rows so far are read with those of periods.csv (resume.c). */
void run_series_open(struct run *run)
{
    if (run->error.status == KER_OK && run->working && run->series)
        stats_series_open(run->series, run->working, run->folder.path, run->hdf5,
                          ker_config_bytes(run->config, "output.series.bytes"), &run->error);
}

void run_series_add(struct run *run, ker_time at, ker_time skipped)
{
    if (!run->series)
        return;
    stats_series_begin(run->series, at, skipped);
    if (run_links(run))
        run_links(run)->series_add(run->network, at);
    task_system_series_add(run->tasks, at);
    node_series_add(run->nodes, at);
    node_service_series_add(run->listed, at);
    stats_series_flush(run->series, at);
}

void run_series_end(struct run *run, ker_time at)
{
    if (run->series && run->working && at > stats_series_time(run->series))
        run_series_add(run, at, run_skip_since(run));
    if (run->network && run_links(run)) /* ranks that sleep have none */
        run_links(run)->series_end(run->network, at);
}

void run_series_print(const struct run *run)
{
    static const struct stats_series_costs none;
    const struct stats_series_costs *costs = run->series ? stats_series_costs(run->series) : &none;
    uint64_t periods = periods_of(run);
    char a[32], b[32], c[32];
    if (costs->memory)
        printf("series     %s of memory", ker_print_bytes(a, (double)costs->memory));
    for (int i = 0; i < costs->count; i++) {
        double each = (double)period_bytes(costs, i);
        printf("%s%s.csv gets %s a period at most", i ? "\n           " : "; ", costs->series[i].file,
               ker_print_bytes(b, each));
        if (periods)
            printf(", %s in all", ker_print_bytes(c, each * (double)periods));
    }
    if (costs->memory)
        putchar('\n');
}
