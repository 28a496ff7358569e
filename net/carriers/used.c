/* used.c - the table of buses and links of nodes, for models of whole messages that have some. */
#include "net/carriers/used.h"

struct row {
    const struct net_used *used;
    enum net_used_kind kind;
    uint32_t node, count;
};

static const char *kind_text(const void *context, uint32_t kind)
{
    static const char *const names[] = {"buses", "out", "in"};
    return names[kind];
}

static uint64_t row_key(const void *row)
{
    const struct row *r = row;
    return (uint64_t)r->kind << 32 | r->node;
}

/* clang-format off */
#define COLUMNS(COLUMN) \
    COLUMN(kind, "", TEXT, SAME, row->kind, "`buses`: of the system; `out`, `in`: links of a node", \
           .text = kind_text, .text_bytes = 8) \
    COLUMN(node, "", U32, SAME, row->node, "the node; 0 of buses") \
    COLUMN(count, "", U32, SAME, row->count, "how many there are") \
    COLUMN(messages, "messages", U64, SUM, row->used->messages, \
           "messages that could begin inside the measured span, had one been free") \
    COLUMN(bytes, "bytes", U64, SUM, row->used->bytes, "their bytes") \
    COLUMN(busy_ps, "ps", U64, SUM, row->used->busy, \
           "time that they were taken inside the measured span, all of them together") \
    COLUMN(busy_mean, "", SHARE, SUM, row->used->busy, \
           "how many were taken, on average: `busy_ps` / measured span") \
    COLUMN(wait_ps, "ps", U64, SUM, row->used->wait, \
           "time that the messages waited until one was free, a sum") \
    COLUMN(wait_mean_ps, "ps", MEAN, SUM, row->used->wait, "the same of a message", .by = "messages") \
    COLUMN(wait_max_ps, "ps", U64, MOST, row->used->wait_most, "the longest") \
    COLUMN(queue_mean_messages, "messages", SHARE, SUM, row->used->wait, \
           "messages that waited, on average: `wait_ps` / measured span")
/* clang-format on */

STATS_SCHEMA(net_used_schema, struct row, COLUMNS, row_key, "carrier",
             "One row for all buses, or for each node's links out of it and into it, those that wait for "
             "nothing left out; what has been decided when the run ends counts.")

struct stats_table *net_used_table(ker_time span)
{
    return stats_table_new(&net_used_schema, NULL, (uint64_t)span);
}

void net_used_row(struct stats_table *table, enum net_used_kind kind, uint32_t node, uint32_t count,
                  const struct net_used *used)
{
    struct row row = {used, kind, node == KER_NONE ? 0 : node, count};
    stats_table_add(table, &row);
}
