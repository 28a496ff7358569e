/* two.c - a size law: every other message is eight times as large as traffic.small. */
#include "tasks/traffic/traffic.h"

static const struct ker_option options[] = {{.key = "traffic.small",
                                             .type = KER_TYPE_BYTES,
                                             .fallback = "100 B",
                                             .minimum = "1 B",
                                             .maximum = "1 MiB",
                                             .meaning = "The smaller size."},
                                            {0}};

static enum ker_status two_read(struct task_traffic *t, const struct ker_config *config,
                                struct ker_error *error)
{
    uint64_t small = t->size.bytes = ker_config_bytes(config, "traffic.small"), packet = t->size.packet_bytes;
    t->size.mean_bytes = 4.5 * (double)small;
    t->size.mean_packets =
        ((double)((small + packet - 1) / packet) + (double)((8 * small + packet - 1) / packet)) / 2;
    return KER_OK;
}

static uint64_t two_draw(const struct task_traffic *t, const struct ker_bits *bits)
{
    return bits->word[0] & 1 ? t->size.bytes : 8 * t->size.bytes;
}

const struct ker_kind task_size_two = {.name = "two",
                                       .meaning = "small ones and ones eight times as large",
                                       .operations = &(const struct task_traffic_size){two_read, two_draw},
                                       .options = KER_OPTIONS(options)};
