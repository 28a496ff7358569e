/* cnp.c - the keys of congestion notification packets (CNPs), which all methods have in common. */
#include "net/congestion/congestion.h"

const struct ker_option net_cnp_options[] = {
    {"congestion.cnp_size", KER_TYPE_BYTES, "32 B", "1", "65535", .formerly = "congestion.notice_size",
     .meaning = "A CNP (congestion notification packet) on the wire, all in all."},
    {"congestion.window", KER_TYPE_INT, "64", "1", "1000000", NULL,
     "Messages that an adapter takes from an open-loop source while none of those it has may leave; "
     "throttled ones among them do not hold up the others.",
     .resume = KER_RESUME_FORK},
    {0},
};

enum ker_status net_cnp_read(struct net_settings *set, const struct ker_config *c, struct ker_error *error)
{
    uint32_t packet = set->payload + set->header;
    set->cnp = (uint32_t)ker_config_bytes(c, "congestion.cnp_size");
    set->offers = (uint32_t)ker_config_int(c, "congestion.window");
    if (set->cnp > packet)
        return ker_config_fail(c, error, "congestion.cnp_size",
                               "a CNP is one packet: at most %u bytes (adapter.packet_size + "
                               "adapter.header), not %u",
                               packet, set->cnp);
    if (set->cnp < set->least)
        set->least = set->cnp;
    return KER_OK;
}
