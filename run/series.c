/* series.c - what output.series.* asks for: rows of links and others in each period, what they cost, and
 * whether they are possible.
 */
#include "run/stages.h"

#define ROW_BYTES 64   /* of a row of a series, as they are usual; at most some 120 */
#define TASK_BYTES 300 /* of memory for a task: its last totals, and its rows */

/* A key that asks for a series; NULL: none does. */
static const char *wanted(const struct run *run)
{
    static const char *const key[] = {"output.series.links", "output.series.latency", "output.series.jobs",
                                      "output.series.tasks", "output.series.traffic"};
    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        if (stats_collect_of(run->config, key[i]) == STATS_COLLECT_PERIODS)
            return key[i];
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

/* The series with most rows in a period. */
struct largest {
    const char *file;
    uint64_t rows;
};

static struct largest largest_of(const struct run *run)
{
    struct largest links = {"link_series.csv", net_network_series_cost(run->network).rows},
                   tasks = {"task_series.csv", task_system_series_rows(run->tasks, run->config)};
    return tasks.rows > links.rows ? tasks : links;
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
    const struct largest largest = largest_of(run);
    uint64_t rows = largest.rows, periods = periods_of(run);
    unsigned __int128 bytes = (unsigned __int128)rows * ROW_BYTES * periods;
    if (bytes <= most)
        return;
    uint64_t fit = most / (rows * ROW_BYTES), each = fit ? (uint64_t)run->end / fit + 1 : 0;
    if (fit == 0)
        ker_config_fail(run->config, &run->error, "output.series.bytes",
                        "%s are less than %s may take for one period, %s", ker_print_bytes(a, (double)most),
                        largest.file, ker_print_bytes(b, (double)rows * ROW_BYTES));
    else
        ker_config_fail(run->config, &run->error, "output.period",
                        "is too short: %s may get %s in %llu periods of %llu rows, "
                        "output.series.bytes allows %s; give %s or more",
                        largest.file, ker_print_bytes(a, (double)bytes), (unsigned long long)periods,
                        (unsigned long long)rows, ker_print_bytes(b, (double)most),
                        ker_print_time(c, time_round((ker_time)each)));
}

/* The rows so far are read with those of periods.csv (resume.c). */
void run_series_open(struct run *run)
{
    if (run->error.status != KER_OK || !run->working || !wanted(run))
        return;
    stats_series_open(&run->series, run->working, run->folder.path, run->hdf5,
                      ker_config_bytes(run->config, "output.series.bytes"), &run->error);
    net_network_series_begin(run->network, run->series, &run->error);
    task_system_series_begin(run->tasks, run->config, run->series, &run->error);
}

void run_series_add(struct run *run, ker_time at)
{
    if (!run->series)
        return;
    net_network_series_add(run->network, stats_series_time(run->series), at);
    task_system_series_add(run->tasks, at);
    stats_series_flush(run->series, at);
}

void run_series_end(struct run *run, ker_time at)
{
    if (run->series && at > stats_series_time(run->series))
        run_series_add(run, at);
    net_network_series_end(run->network, at);
}

void run_series_print(const struct run *run)
{
    struct net_series_cost cost = net_network_series_cost(run->network);
    uint64_t periods = periods_of(run);
    char a[32], b[32], c[32];
    if (cost.memory == 0)
        return;
    printf("series     %s of memory", ker_print_bytes(a, (double)cost.memory));
    if (cost.rows)
        printf("; link_series.csv gets %s a period at most",
               ker_print_bytes(b, (double)cost.rows * ROW_BYTES));
    if (cost.rows && periods)
        printf(", %s in all", ker_print_bytes(c, (double)cost.rows * ROW_BYTES * (double)periods));
    putchar('\n');
}
