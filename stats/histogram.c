/* histogram.c - the histogram of a quantity as a table, one row for each bin that is not empty. */
#include "stats/stats.h"

struct bin {
    uint64_t from, below, count, reached;
};

static uint64_t bin_key(const void *bin)
{
    return ((const struct bin *)bin)->from;
}

#define BINS                                                                                                 \
    "One row per bin that is not empty. Bins are one wide below 128, above there are 64 in each octave."
/* clang-format off */
#define COLUMNS(COLUMN, quantity, unit) \
    COLUMN(quantity##_from, unit, U64, SAME, row->from, "the smallest value of the bin") \
    COLUMN(quantity##_below, unit, U64, SAME, row->below, "the smallest value of the next bin") \
    COLUMN(count, "", U64, SUM, row->count, "values in the bin") \
    COLUMN(count_up_to_here, "", U64, SUM, row->reached, "values in it and below")
#define LATENCY(COLUMN) COLUMNS(COLUMN, latency_ps, "ps")
#define SIZE(COLUMN) COLUMNS(COLUMN, bytes, "bytes")
#define BANDWIDTH(COLUMN) COLUMNS(COLUMN, bytes_per_s, "bytes/s")
/* clang-format on */

STATS_SCHEMA(stats_packet_latency_schema, struct bin, LATENCY, bin_key, "packet_latency", BINS)
STATS_SCHEMA(stats_message_size_schema, struct bin, SIZE, bin_key, "message_size", BINS)
STATS_SCHEMA(stats_bandwidth_schema, struct bin, BANDWIDTH, bin_key, "bandwidth", BINS)

enum ker_status stats_histogram_write(const struct stats_folder *folder, const struct stats_schema *schema,
                                      const struct stats_quantity *q, struct ker_error *error)
{
    struct stats_table *table = stats_table_new(schema, NULL, 0);
    uint64_t reached = 0;
    for (unsigned i = 0; reached < q->count && i < STATS_BINS; i++) {
        if (!q->bin[i])
            continue;
        reached += q->bin[i]; /* UINT64_MAX ends the last bin */
        stats_table_add(table, &(struct bin){stats_bin_low(i), stats_bin_low(i + 1), q->bin[i], reached});
    }
    enum ker_status status = stats_table_write(table, folder, error);
    stats_table_free(table);
    return status;
}
