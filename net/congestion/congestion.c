/* congestion.c - the table of methods of congestion control, and what they have in common. */
#include "net/congestion/congestion.h"

static const struct net_congestion none = {
    .name = "none",
    .meaning = "adapters send as fast as the credits of their link let them: trees of saturation grow"};

/* The order is that of the choices of congestion.control. */
static const struct net_congestion *const methods[] = {&none, &net_congestion_ecn};

void net_list(FILE *out)
{
    fprintf(out, "congestion control (congestion.control)\n");
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        fprintf(out, "  %-18s %s\n", methods[i]->name, methods[i]->meaning);
}

enum ker_status net_congestion_read(struct net_network *net, const struct ker_config *c,
                                    struct ker_error *error)
{
    const struct net_congestion *method = methods[ker_config_choice(c, "congestion.control")];
    uint32_t packet = net->set.payload + net->set.header;
    if (!method->read)
        return KER_OK;
    net->set.cnp = (uint32_t)ker_config_bytes(c, "congestion.notice_size");
    net->set.offers = (uint32_t)ker_config_int(c, "congestion.window");
    if (net->set.cnp > packet)
        return ker_config_fail(c, error, "congestion.notice_size",
                               "a notice is one packet: at most %u bytes (adapter.packet_size + "
                               "adapter.header), not %u",
                               packet, net->set.cnp);
    if (net->set.cnp < net->set.least)
        net->set.least = net->set.cnp;
    net->throttle = ker_alloc(sizeof *net->throttle);
    stats_quantity_init(net->throttle);
    net->congestion = method;
    return method->read(net, c, error);
}
