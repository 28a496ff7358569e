/* table.c - congestion.csv, congestion_series.csv: what has come of the flows that were held back. */
#include "net/congestion/congestion.h"

#include <stdio.h>

/* Of a destination or class: none is UINT32_MAX. */
static const char *number_text(const void *context, uint32_t number)
{
    static _Thread_local char text[12];
    snprintf(text, sizeof text, number == UINT32_MAX ? "" : "%u", number);
    return text;
}

/* clang-format off */
#define FLOW_COLUMNS(COLUMN) \
    COLUMN(source, "", U32, SAME, row->source, "the endpoint that sends: node x adapters + adapter") \
    COLUMN(destination, "", TEXT, SAME, row->destination, \
           "the endpoint that it sends to; empty: all of a class", .text = number_text, .text_bytes = 12) \
    COLUMN(class, "", TEXT, SAME, row->class, "the priority class; empty: all", \
           .text = number_text, .text_bytes = 12) \
    COLUMN(notices, "", U64, SUM, row->notices, "notifications (BECNs) that came for it") \
    COLUMN(index_max, "", U64, MOST, row->index_max, "highest index into the congestion control table") \
    COLUMN(index_mean, "", SHARE, SUM, row->index_sum, "mean index over the measured span")
/* clang-format on */

/* clang-format off */
#define PERIOD_COLUMNS(COLUMN) \
    COLUMN(time_ps, "ps", TIME, SAME, row->at, "end of the period") \
    COLUMN(source, "", U32, SAME, row->source, "as in congestion.csv") \
    COLUMN(destination, "", TEXT, SAME, row->destination, "likewise", .text = number_text, .text_bytes = 12) \
    COLUMN(class, "", TEXT, SAME, row->class, "likewise", .text = number_text, .text_bytes = 12) \
    COLUMN(notices, "", U64, SUM, row->notices, "notifications (BECNs) that came for it in the period") \
    COLUMN(index_max, "", U64, MOST, row->index_max, "highest index in the period") \
    COLUMN(index_mean, "", SHARE, SUM, row->index_sum, "mean index over the period, as far as it is measured")
/* clang-format on */

static uint64_t row_key(const void *row)
{
    const struct net_congestion_row *r = row;
    return (uint64_t)r->source << 32 | (r->destination != UINT32_MAX ? r->destination : r->class);
}

STATS_SCHEMA(net_congestion_schema, struct net_congestion_row, FLOW_COLUMNS, row_key, "congestion",
             "One row for each flow of a source that was notified of congestion, with `congestion.control` = "
             "`\"infiniband\"`.")

STATS_SCHEMA(
    net_congestion_series_schema, struct net_congestion_row, PERIOD_COLUMNS, row_key, "congestion_series",
    "One row for each flow of a source that was notified of congestion or held back, and each period in "
    "which it was, by period, source and destination.")

enum ker_status net_congestion_write(const struct net_network *net, struct ker_comm *comm,
                                     const struct stats_folder *folder, struct ker_error *error)
{
    if (!net->congestion || !net->congestion->rows)
        return KER_OK;
    ker_time span = net->set.measure_to - net->set.measure_from;
    struct stats_table *table = stats_table_new(&net_congestion_schema, NULL, span > 0 ? (uint64_t)span : 0);
    net->congestion->rows(net, table, KER_TIME_MAX);
    stats_table_gather(table, comm);
    enum ker_status status = ker_comm_rank(comm) == 0 ? stats_table_write(table, folder, error) : KER_OK;
    stats_table_free(table);
    return status;
}
