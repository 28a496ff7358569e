/* tables.c - what file servers have counted: storage.csv, storage_series.csv, requests.csv. */
#include "storage/private.h"

/* clang-format off */
#define COLUMNS(COLUMN) \
    COLUMN(server, "", U32, SAME, row->number, "which server, from 0 on") \
    COLUMN(node, "", U32, SAME, row->node, "its node") \
    COLUMN(requests, "requests", U64, SUM, row->total.requests, "that came: of a write its first chunk") \
    COLUMN(written_bytes, "bytes", U64, SUM, row->total.written, "that clients wrote, and the server took") \
    COLUMN(read_bytes, "bytes", U64, SUM, row->total.read, "that clients asked for, and were there") \
    COLUMN(device_operations, "operations", U64, SUM, row->total.operations, "that the device began") \
    COLUMN(device_written_bytes, "bytes", U64, SUM, row->total.device_written, "of them") \
    COLUMN(device_read_bytes, "bytes", U64, SUM, row->total.device_read, "of them") \
    COLUMN(merged, "operations", U64, SUM, row->total.merged, "that were joined to another one") \
    COLUMN(overlapped_bytes, "bytes", U64, SUM, row->total.overlapped, \
           "that were written once for several that wrote them") \
    COLUMN(held_bytes, "bytes", U64, SUM, row->held, "that were not on the device at the end") \
    COLUMN(full_seeks, "seeks", U64, SUM, row->total.seeks[STORE_SEEK_FULL], \
           "to another file, or far in it") \
    COLUMN(track_seeks, "seeks", U64, SUM, row->total.seeks[STORE_SEEK_TRACK], "to what is close") \
    COLUMN(busy_ps, "ps", U64, SUM, row->total.busy_ps, "time in which the device had something to do") \
    COLUMN(utilisation, "", SHARE, SAME, row->total.busy_ps, "`busy_ps` / measured time") \
    COLUMN(wait_mean_ps, "ps", MEAN, SUM, row->waited, "for the device, of an operation that did", \
           .by = "device_operations") \
    COLUMN(wait_max_ps, "ps", U64, MOST, row->wait_max, "the longest of them") \
    COLUMN(queue_max_operations, "operations", U64, MOST, row->queue_max, \
           "that waited for the device at once") \
    COLUMN(queue_mean_operations, "operations", SHARE, SAME, (uint64_t)row->waited, \
           "the mean over the time") \
    COLUMN(cache_max_bytes, "bytes", U64, MOST, row->cache_max, "most that it held of writes")
#define PERIOD_COLUMNS(COLUMN) \
    COLUMN(time_ps, "ps", TIME, SAME, (uint64_t)row->at, "end of the period") \
    COLUMN(server, "", U32, SAME, row->number, "which server, from 0 on") \
    COLUMN(node, "", U32, SAME, row->node, "its node") \
    COLUMN(requests, "requests", U64, SUM, row->total.requests, "as in storage.csv, in the period") \
    COLUMN(written_bytes, "bytes", U64, SUM, row->total.written, "likewise") \
    COLUMN(read_bytes, "bytes", U64, SUM, row->total.read, "likewise") \
    COLUMN(device_operations, "operations", U64, SUM, row->total.operations, "likewise") \
    COLUMN(device_written_bytes, "bytes", U64, SUM, row->total.device_written, "likewise") \
    COLUMN(device_read_bytes, "bytes", U64, SUM, row->total.device_read, "likewise") \
    COLUMN(busy_ps, "ps", U64, SUM, row->total.busy_ps, "likewise, up to the end of the period") \
    COLUMN(utilisation, "", SHARE, SAME, row->total.busy_ps, "`busy_ps` / length of the period") \
    COLUMN(queue_operations, "operations", U64, SUM, row->queue, "that wait for the device at its end") \
    COLUMN(held_bytes, "bytes", U64, SUM, row->held, "that are not on the device at its end")
#define LOG_COLUMNS(COLUMN) \
    COLUMN(time_ps, "ps", TIME, SAME, (uint64_t)row->time, "when it came") \
    COLUMN(server, "", U32, SAME, row->server, "to which server") \
    COLUMN(client_node, "", U32, SAME, row->client, "from which node") \
    COLUMN(operation, "", TEXT, SAME, row->op, "`open`, `close`, `sync`, `read` or `write`", \
           .text = op_text) \
    COLUMN(file, "", U32, SAME, row->file, "the file's number: each job has 2^20 of its own") \
    COLUMN(offset_bytes, "bytes", U64, SAME, row->offset, \
           "where it begins among the server's bytes of the file") \
    COLUMN(bytes, "bytes", U64, SAME, row->bytes, "how many it is of")
/* clang-format on */

static const char *op_text(const void *context, uint32_t op)
{
    (void)context;
    return store_op_name((enum store_op)op);
}

static uint64_t row_key(const void *row)
{
    return ((const struct store_counts *)row)->number;
}

static uint64_t period_key(const void *row)
{
    return ((const struct store_period *)row)->number;
}

static uint64_t log_key(const void *row)
{
    return ((const struct store_logged *)row)->number;
}

STATS_SCHEMA(store_table, struct store_counts, COLUMNS, row_key, "storage", "One row per file server.")
STATS_SCHEMA(store_series, struct store_period, PERIOD_COLUMNS, period_key, "storage_series",
             "One row for each file server and period in which it had something to do, by period and server.")
STATS_SCHEMA(
    store_log, struct store_logged, LOG_COLUMNS, log_key, "requests",
    "One row per request, or chunk of a write, that came to a file server: server after server, in the "
    "order in which they came.")
const struct stats_schema *const store_tables[] = {&store_table, &store_series, &store_log, NULL};
