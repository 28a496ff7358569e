/* cnp.c - the keys of congestion notification packets (CNPs), and what is saved of flows: what methods have
 * in common. */
#include "net/adapter/adapter.h"
#include "net/congestion/congestion.h"
#include "net/state.h"

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

/* ---- saved state ---- */

struct ker_chunk *net_pair_save(struct ker_state_writer *writer, const void *entry, uint64_t which)
{
    const struct net_pair *pair = entry;
    struct ker_chunk *c =
        ker_state_begin(writer, "congestion", NET_CONGESTION_VERSION, which << 32 | net_pair_endpoint(pair));
    ker_chunk_u32(c, pair->other);
    return c;
}

void *net_pair_load(const struct net_adapter *n, struct ker_chunk *c, struct net_pairs *const *table,
                    uint32_t count)
{
    uint64_t which = c->id >> 32;
    uint32_t other = ker_chunk_u32(c, 0);
    c->bad |= which >= count || net_pairs_find(table[which], n->id, other);
    return c->bad ? NULL : net_pairs_add(table[which], n->net->congestion_state, n->id, other);
}
