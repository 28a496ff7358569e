/* congestion.c - the table of methods of congestion control, and what they have in common. */
#include "net/congestion/congestion.h"

const struct ker_kind net_congestion_none = {
    .name = "none",
    .meaning = "adapters send as fast as the credits of their link let them: trees of saturation grow",
    .operations = &(const struct net_congestion){0}};

/* The table of methods: one line each. */
#define METHODS(KIND)                                                                                        \
    KIND(net_congestion_none)                                                                                \
    KIND(net_congestion_ecn)
KER_KINDS_TABLE(method_kinds, METHODS);
static const struct ker_kinds methods = {"congestion.control", "congestion controls",
                                         sizeof(struct net_congestion), method_kinds};

const struct ker_option net_congestion_options[] = {
    {"congestion.control", KER_TYPE_CHOICE, "none", .kinds = &methods,
     .meaning = "Congestion control: none, or explicit congestion notification with injection throttling "
                "(docs/congestion-control.md)."},
    {0},
};

const struct ker_option net_cnp_options[] = {
    {"congestion.cnp_size", KER_TYPE_BYTES, "32 B", "1", "65535", .formerly = "congestion.notice_size",
     .meaning = "A CNP (congestion notification packet) on the wire, all in all."},
    {"congestion.window", KER_TYPE_INT, "64", "1", "1000000", NULL,
     "Messages that an adapter takes from an open-loop source while none of those it has may leave; "
     "throttled ones among them do not hold up "
     "the others."},
    {0},
};

enum ker_status net_congestion_read(struct net_network *net, const struct ker_config *c,
                                    struct ker_error *error)
{
    const struct net_congestion *method = ker_config_operations(c, "congestion.control");
    uint32_t packet = net->set.payload + net->set.header;
    if (!method->read)
        return KER_OK;
    net->set.cnp = (uint32_t)ker_config_bytes(c, "congestion.cnp_size");
    net->set.offers = (uint32_t)ker_config_int(c, "congestion.window");
    if (net->set.cnp > packet)
        return ker_config_fail(c, error, "congestion.cnp_size",
                               "a CNP is one packet: at most %u bytes (adapter.packet_size + "
                               "adapter.header), not %u",
                               packet, net->set.cnp);
    if (net->set.cnp < net->set.least)
        net->set.least = net->set.cnp;
    net->throttle = ker_alloc(sizeof *net->throttle);
    stats_quantity_init(net->throttle);
    net->congestion = method;
    net->congestion_name = ker_config_kind(c, "congestion.control")->name;
    return method->read(net, c, error);
}
