/* periods.c - a row of periods.csv at every multiple of output.period. */
#include "run/stages.h"

ker_time run_periods_interval(const struct run *run)
{
    return run->period;
}

static struct stats_period totals(const struct run *run, ker_time at)
{
    struct net_totals t = run_totals(run);
    return (struct stats_period){
        at, t.packets_injected, t.packets_delivered, t.bytes_delivered, t.latency_sum, t.measured_packets, 0};
}

void run_periods_add(struct run *run, ker_time at)
{
    struct stats_period p = totals(run, at);
    p.skipped = run_skip_since(run);
    run_series_add(run, at, p.skipped);
    stats_periods_add(run->periods, &p); /* last: what it has a row of is whole in the other files */
    run_hdf5_flush(run);
}

void run_periods_begin(struct run *run, ker_time at)
{
    struct stats_period p = totals(run, at);
    run_skip_since(run); /* there are no rows of what came before */
    stats_periods_begin(run->periods, &p);
}
