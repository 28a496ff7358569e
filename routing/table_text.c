/* table_text.c - routing tables as text (docs/routing-tables.md). */
#include "routing/table_make.h"

enum ker_status route_table_read(struct route_shape *shape, const struct ker_config *config, struct ker_error *error)
{
    return ker_config_fail(config, error, "routing.algorithm", "tables from files cannot be read yet");
}

enum ker_status route_weights_read(uint32_t *weight, const struct route_wires *wires, const struct ker_config *config,
                                   struct ker_error *error)
{
    return ker_config_fail(config, error, "routing.weights", "weights from files cannot be read yet");
}
