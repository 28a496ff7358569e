/* histogram.c - the histogram of a quantity as a table, one row for each bin that is not empty. */
#include "stats/stats.h"

struct bin {
    uint64_t from, below, count, reached;
};

static stats_cell bin_from(const void *bin)
{
    return ((const struct bin *)bin)->from;
}

static stats_cell bin_below(const void *bin)
{
    return ((const struct bin *)bin)->below;
}

static stats_cell bin_count(const void *bin)
{
    return ((const struct bin *)bin)->count;
}

static stats_cell bin_reached(const void *bin)
{
    return ((const struct bin *)bin)->reached;
}

static uint64_t bin_key(const void *bin)
{
    return ((const struct bin *)bin)->from;
}

#define BINS                                                                                                 \
    "One row per bin that is not empty. Bins are one wide below 128, above there are 64 in each octave."
/* clang-format off */
#define COLUMNS(quantity, unit) { \
    {quantity "_from", unit, STATS_U64, STATS_SAME, "the smallest value of the bin", bin_from}, \
    {quantity "_below", unit, STATS_U64, STATS_SAME, "the smallest value of the next bin", bin_below}, \
    {"count", "", STATS_U64, STATS_SUM, "values in the bin", bin_count}, \
    {"count_up_to_here", "", STATS_U64, STATS_SUM, "values in it and below", bin_reached}}
/* clang-format on */

static const struct stats_column latency[] = COLUMNS("latency_ps", "ps"), size[] = COLUMNS("bytes", "bytes");

const struct stats_schema stats_packet_latency_schema = {"packet_latency", BINS, latency, 4, bin_key},
                          stats_message_size_schema = {"message_size", BINS, size, 4, bin_key};

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
