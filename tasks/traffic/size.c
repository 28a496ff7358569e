/* How large messages are: fixed, from a list with weights, uniform, geometric.
 *
 * Each law knows the exact mean of its bytes and of the packets a message is cut into (adapter.packet_size
 * bytes of payload each, one packet for an empty message), which the load is computed from.
 */
#include "tasks/traffic/traffic.h"

#include <math.h>

static uint64_t size_packets(const struct task_traffic *t, uint64_t bytes)
{
    return bytes ? (bytes - 1) / t->size.packet_bytes + 1 : 1;
}

static uint64_t size_given(const struct task_traffic *t, const struct ker_config *config)
{
    if (ker_config_has(config, "traffic.size"))
        return ker_config_bytes(config, "traffic.size");
    return t->pattern->bytes ? t->pattern->bytes : 512;
}

static enum ker_status fixed_read(struct task_traffic *t, const struct ker_config *config,
                                  struct ker_error *error)
{
    t->size.bytes = size_given(t, config);
    t->size.mean_bytes = (double)t->size.bytes;
    t->size.mean_packets = (double)size_packets(t, t->size.bytes);
    return KER_OK;
}

static double list_weight(const struct ker_config *config, uint32_t index)
{
    return ker_config_has(config, "traffic.size_weights")
               ? ker_config_real_at(config, "traffic.size_weights", (int)index)
               : 1;
}

static enum ker_status list_read(struct task_traffic *t, const struct ker_config *config,
                                 struct ker_error *error)
{
    int count = ker_config_has(config, "traffic.sizes") ? ker_config_count(config, "traffic.sizes") : 0;
    if (count < 1)
        return ker_config_fail(config, error, "traffic.size_law", "list needs traffic.sizes");
    if (ker_config_has(config, "traffic.size_weights") &&
        ker_config_count(config, "traffic.size_weights") != count)
        return ker_config_fail(config, error, "traffic.size_weights", "%d weights for %d traffic.sizes",
                               ker_config_count(config, "traffic.size_weights"), count);
    double sum = 0, below = 0;
    t->size.count = (uint32_t)count;
    for (uint32_t i = 0; i < t->size.count; i++)
        sum += list_weight(config, i);
    if (!(sum > 0) || isinf(sum))
        return ker_config_fail(config, error, "traffic.size_weights",
                               "the sum of the weights must be more than 0");
    t->size.value = ker_alloc((size_t)count * sizeof *t->size.value);
    t->size.threshold = ker_alloc((size_t)count * sizeof *t->size.threshold);
    for (uint32_t i = 0; i < t->size.count; i++) {
        double share = list_weight(config, i) / sum;
        below += share;
        t->size.value[i] = ker_config_bytes_at(config, "traffic.sizes", (int)i);
        t->size.threshold[i] = (uint32_t)fmin(below * 0x1p32 + 0.5, 0x1p32 - 1);
        t->size.mean_bytes += share * (double)t->size.value[i];
        t->size.mean_packets += share * (double)size_packets(t, t->size.value[i]);
    }
    return KER_OK;
}

static uint64_t list_draw(const struct task_traffic *t, const struct ker_bits *bits)
{
    return t->size.value[KER_BISECT(i, 0, t->size.count - 1, t->size.threshold[i] <= bits->word[0])];
}

/* Packets of all sizes 1..n together: with n = q P + r, P (1 + ... + q) + r (q + 1). */
static double uniform_packets(double n, double packet_bytes)
{
    double q = floor(n / packet_bytes), r = n - q * packet_bytes;
    return packet_bytes * q * (q + 1) / 2 + r * (q + 1);
}

static enum ker_status uniform_read(struct task_traffic *t, const struct ker_config *config,
                                    struct ker_error *error)
{
    uint64_t low = ker_config_bytes(config, "traffic.size_minimum"),
             high = ker_config_bytes(config, "traffic.size_maximum");
    if (high < low || high - low >= UINT32_MAX)
        return ker_config_fail(config, error, "traffic.size_maximum",
                               "must be at least traffic.size_minimum and less than 4 GiB above it");
    double values = (double)(high - low) + 1, P = t->size.packet_bytes;
    t->size.minimum = low;
    t->size.span = high - low + 1;
    t->size.mean_bytes = ((double)low + (double)high) / 2;
    t->size.mean_packets =
        (uniform_packets((double)high, P) - (low ? uniform_packets((double)low - 1, P) : -1)) / values;
    return KER_OK;
}

static uint64_t uniform_draw(const struct task_traffic *t, const struct ker_bits *bits)
{
    uint64_t draw = (uint64_t)bits->word[0] << 32 | bits->word[1];
    return t->size.minimum + (uint64_t)(((unsigned __int128)draw * t->size.span) >> 64);
}

/* The geometric distribution on 1, 2, ... is the exponential one in whole bytes: P(size > x) = (1 -
 * 1/mean)^x, so a message has more than k packets of P bytes with the chance (1 - 1/mean)^(k P), and 1 / (1 -
 * (1 - 1/mean)^P) packets on average. */
static enum ker_status exponential_read(struct task_traffic *t, const struct ker_config *config,
                                        struct ker_error *error)
{
    double mean = (double)size_given(t, config);
    if (mean < 2 || mean > 0x1p40)
        return ker_config_fail(config, error, "traffic.size",
                               "the mean of the exponential law must lie between 2 B and 1 TiB");
    double log_above = log1p(-1 / mean);
    t->size.log_factor = 1 / log_above;
    t->size.mean_bytes = mean;
    t->size.mean_packets = 1 / -expm1(t->size.packet_bytes * log_above);
    return KER_OK;
}

static uint64_t exponential_draw(const struct task_traffic *t, const struct ker_bits *bits)
{
    double unit = ker_random_unit(bits->word[0], bits->word[1]) + 0x1p-53;
    return 1 + (uint64_t)(log(unit) * t->size.log_factor);
}

static const struct ker_option size_options[] = {
    {"traffic.size", KER_TYPE_BYTES, NULL, NULL, "1 TiB", NULL,
     "Payload of a message, or its mean; default 512 B, for gups 8 B."},
    {0},
};

static const struct ker_option list_options[] = {
    {"traffic.sizes", KER_TYPE_BYTES | KER_TYPE_LIST, NULL, NULL, "1 TiB", NULL, "Payloads to choose from."},
    {"traffic.size_weights", KER_TYPE_REAL | KER_TYPE_LIST, NULL, "0", NULL, NULL,
     "Relative frequency of each of traffic.sizes; absent: all alike.", .belongs = "traffic.sizes"},
    {0},
};

static const struct ker_option uniform_options[] = {
    {"traffic.size_minimum", KER_TYPE_BYTES, "1 B", NULL, "1 TiB", NULL,
     "Smallest payload of size_law uniform."},
    {"traffic.size_maximum", KER_TYPE_BYTES, "4 KiB", NULL, "1 TiB", NULL,
     "Largest payload of size_law uniform."},
    {0},
};

const struct ker_kind task_size_fixed = {.name = "fixed",
                                         .meaning = "always the same size",
                                         .operations = &(const struct task_traffic_size){fixed_read, NULL},
                                         .options = KER_OPTIONS(size_options)};
const struct ker_kind task_size_list = {.name = "list",
                                        .meaning = "one of some sizes, with weights",
                                        .operations = &(const struct task_traffic_size){list_read, list_draw},
                                        .options = KER_OPTIONS(list_options)};
const struct ker_kind task_size_uniform = {.name = "uniform",
                                           .meaning = "all sizes between two alike",
                                           .operations =
                                               &(const struct task_traffic_size){uniform_read, uniform_draw},
                                           .options = KER_OPTIONS(uniform_options)};
const struct ker_kind task_size_exponential = {
    .name = "exponential",
    .meaning = "geometric, in whole bytes",
    .operations = &(const struct task_traffic_size){exponential_read, exponential_draw},
    .options = KER_OPTIONS(size_options)};

/* The table of laws: one line each. */
#define LAWS(KIND)                                                                                           \
    KIND(task_size_fixed)                                                                                    \
    KIND(task_size_list)                                                                                     \
    KIND(task_size_uniform)                                                                                  \
    KIND(task_size_exponential)
KER_KINDS_TABLE(law_kinds, LAWS);
const struct ker_kinds task_traffic_sizes = {"traffic.size_law", "message sizes",
                                             sizeof(struct task_traffic_size), law_kinds};

enum ker_status task_traffic_size_read(struct task_traffic *t, const struct ker_config *config,
                                       struct ker_error *error)
{
    uint64_t packet_bytes = ker_config_bytes(config, "adapter.packet_size");
    if (packet_bytes == 0 || packet_bytes > UINT32_MAX)
        return ker_config_fail(config, error, "adapter.packet_size", "must lie between 1 B and 4 GiB");
    t->size.packet_bytes = (uint32_t)packet_bytes;
    t->law = ker_config_operations(config, "traffic.size_law");
    return t->law->read(t, config, error);
}
