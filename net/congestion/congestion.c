/* congestion.c - the table of methods of congestion control, and what they have in common. */
#include "net/congestion/congestion.h"

const struct ker_kind net_congestion_none = {
    .name = "none",
    .meaning = "adapters send as fast as the credits of their link let them: trees of saturation grow",
    .operations = &(const struct net_congestion){0}};

/* The table of methods: one line each. */
#define METHODS(KIND)                                                                                        \
    KIND(net_congestion_none)                                                                                \
    KIND(net_congestion_ecn)                                                                                 \
    KIND(net_congestion_infiniband)                                                                          \
    KIND(net_congestion_rtt)
KER_KINDS_TABLE(method_kinds, METHODS);
static const struct ker_kinds methods = {"congestion.control", "congestion controls",
                                         sizeof(struct net_congestion), method_kinds};

const struct ker_option net_congestion_options[] = {
    {"congestion.control", KER_TYPE_CHOICE, "none", .kinds = &methods,
     .meaning =
         "Congestion control of sources: by marks, as annex A10 of the InfiniBand specification has it, "
         "or by round-trip times (docs/congestion-control.md)."},
    {0},
};

enum ker_status net_congestion_read(struct net_network *net, const struct ker_config *c,
                                    struct ker_error *error)
{
    const struct net_congestion *method = ker_config_operations(c, "congestion.control");
    if (!method->read)
        return KER_OK;
    enum ker_status status = net_cnp_read(&net->set, c, error);
    if (status != KER_OK)
        return status;
    net->throttle = ker_alloc(sizeof *net->throttle);
    stats_quantity_init(net->throttle);
    net->congestion = method;
    net->congestion_name = ker_config_kind(c, "congestion.control")->name;
    return method->read(net, c, error);
}
