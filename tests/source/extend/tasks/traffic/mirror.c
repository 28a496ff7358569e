/* mirror.c - every traffic.every-th node sends to its mirror image. */
#include "tasks/traffic/traffic.h"

static const struct ker_option mirror_options[] = {{.key = "traffic.every",
                                                    .type = KER_TYPE_INT,
                                                    .fallback = "2",
                                                    .minimum = "1",
                                                    .meaning = "Which nodes send."},
                                                   {0}};

static enum ker_status mirror_read(struct task_traffic *t, const struct ker_config *config,
                                   const struct route_topology *topology, struct ker_error *error)
{
    t->where.shift = (uint32_t)ker_config_int(config, "traffic.every");
    return KER_OK;
}

static uint32_t mirror_partner(const struct task_traffic *t, uint32_t node)
{
    return node % t->where.shift ? TASK_NOBODY : t->nodes - 1 - node;
}

const struct ker_kind task_pattern_mirror = {
    .name = "mirror",
    .meaning = "some nodes to their mirror image",
    .operations = &(const struct task_traffic_pattern){.read = mirror_read, .partner = mirror_partner},
    .options = KER_OPTIONS(mirror_options)};
