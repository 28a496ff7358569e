/* ends.c - when periods end, and how the values of several become one. */
#include "tools/marsreport/report.h"

#include <stdlib.h>

static void ends_read(struct rep_folder *f, struct rep_ends *e, const char *table)
{
    struct rep_table *t = rep_table_open(f, table);
    int time = t ? rep_table_column(t, "time_ps") : -1;
    while (time >= 0 && rep_table_next(t)) {
        ker_time at = rep_cell_integer(t, time);
        if (at < f->from && at > e->begun)
            e->begun = at;
        if (at >= f->from && at <= f->to && (e->count == 0 || at != e->at[e->count - 1]))
            *KER_PUSH(e->at, e->count, e->room) = at;
    }
    rep_table_close(t);
}

bool rep_ends_find(struct rep_folder *f, struct rep_ends *e, const char *table)
{
    const json_t *result = json_object_get(f->summary, "result");
    ker_time last = (ker_time)json_integer_value(json_object_get(result, "simulated_time_ps"));
    *e = (struct rep_ends){.at = NULL};
    ends_read(f, e, "periods");
    if (e->count == 0)
        ends_read(f, e, table);
    else if (last <= f->to)
        rep_ends_reach(e, last);
    size_t kept = 0;
    if (e->count)
        qsort(e->at, e->count, sizeof *e->at, ker_order_i64);
    for (size_t i = 0; i < e->count; i++)
        if (kept == 0 || e->at[i] != e->at[kept - 1])
            e->at[kept++] = e->at[i];
    e->count = kept;
    return kept > 0;
}

void rep_ends_reach(struct rep_ends *e, ker_time time)
{
    if (time > e->at[e->count - 1])
        *KER_PUSH(e->at, e->count, e->room) = time;
}

enum rep_joining rep_joining_of(const char *name)
{
    if (strcmp(name, "time_ps") == 0 || strstr(name, "in_flight") || strcmp(name, "waiting_bytes") == 0)
        return REP_JOIN_LAST;
    if (strstr(name, "_max"))
        return REP_JOIN_MAX;
    if (strstr(name, "utilisation") || strcmp(name, "queue_mean_packets") == 0)
        return REP_JOIN_RATE;
    return strstr(name, "mean") ? REP_JOIN_MEAN : REP_JOIN_SUM;
}

void rep_join(enum rep_joining how, double *sum, double value, double weight)
{
    switch (how) {
    case REP_JOIN_LAST:
        *sum = value;
        return;
    case REP_JOIN_MAX:
        *sum = value > *sum ? value : *sum;
        return;
    case REP_JOIN_MEAN:
        *sum += value * weight;
        return;
    default:
        *sum += value;
    }
}
