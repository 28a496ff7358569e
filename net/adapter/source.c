/* source.c - routes that are decided at the source and carried in the packet's header (routing.decided =
 * "source").
 *
 * Which paths there are (the algorithm's, a pure function) and which of them is taken (a selection that looks
 * at no switch's state) follow from the packet alone. So nothing is carried: every switch finds again what
 * the source has decided. What is left to do at the source is to count the switches on the path, each of
 * which costs routing.hop_bytes of header on the wire.
 */
#include "net/network.h"

/* One switch's answer as the source gives it; false: no route. */
static bool choice_at(const struct net_network *net, uint32_t at, const struct route_packet *r,
                      const struct net_packet *p, struct route_choice *taken)
{
    struct route_choice choice[ROUTE_MAX_CHOICES];
    uint64_t coordinate = route_coordinate(net->topology, at);
    int count = net->faulty ? route_next_faulty(net->topology, p->injected, coordinate, at, r, choice)
                            : net->route(net->topology, coordinate, at, r, choice);
    if (count > 0)
        *taken = choice[count > 1 ? net_choice_fixed(net, at, choice, count, p, route_draw(r)) : 0];
    return count > 0;
}

uint32_t net_source_switches(const struct net_adapter *a, const struct net_packet *p)
{
    const struct net_network *net = a->net;
    struct route_packet r = {p->address, p->source, p->destination, net_packet_chance(net, p), 0, 0, 0,
                             0,          NULL};
    struct route_choice choice;
    uint32_t at, passed = 0;
    route_attachment(net->topology, a->id, &at, &r.in_port);
    while (choice_at(net, at, &r, p, &choice)) {
        struct route_peer peer;
        route_port(net->topology, at, choice.port, &peer);
        passed++;
        if (peer.kind != ROUTE_SWITCH)
            break;
        at = peer.id;
        r.in_port = peer.port;
        r.in_channel = choice.channel_count ? choice.first_channel : choice.channel;
        r.state = choice.state & 0xffffffu;
        r.hops = (uint8_t)(r.hops + (r.hops < NET_MAX_SWITCHES));
    }
    return passed < NET_MAX_SWITCHES ? passed : NET_MAX_SWITCHES;
}

/* A path that may be taken only when there is room behind it cannot be promised by the source. Asked of a
 * sample of pairs. */
static bool offers_escapes(const struct net_network *net)
{
    uint32_t nodes = route_summarise(net->topology)->endpoints;
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t a = (uint32_t)((uint64_t)nodes * i / 64),
                 b = (uint32_t)((a + 1 + (uint64_t)nodes * i * 37 / 64) % nodes), at;
        struct route_packet r = {.address = route_address(net->topology, b), .source = a, .destination = b};
        struct route_choice choice[ROUTE_MAX_CHOICES];
        route_attachment(net->topology, a, &at, &r.in_port);
        int count =
            a == b ? 0 : net->route(net->topology, route_coordinate(net->topology, at), at, &r, choice);
        for (int k = 0; k < count; k++)
            if (choice[k].flags & ROUTE_ESCAPE)
                return true;
    }
    return false;
}

enum ker_status net_source_check(const struct net_network *net, const struct ker_config *c,
                                 struct ker_error *error)
{
    static const char key[] = "routing.decided";
    const struct net_settings *set = &net->set;
    if (!set->at_source || !route_summarise(net->topology)->adaptive)
        return KER_OK;
    if (set->adapts || set->selection->number)
        return ker_config_fail(
            c, error, key,
            "is \"source\", but routing.selection = \"%s\" chooses by the state of the switches, which the "
            "source does not know; use \"random\", \"destination\" or \"flow\"",
            ker_config_string(c, "routing.selection"));
    if (offers_escapes(net))
        return ker_config_fail(
            c, error, key,
            "is \"source\", but routing.algorithm = \"%s\" offers paths that may be taken only when there is "
            "room behind them, which the source does not know; use \"minimal\" or \"valiant\"",
            ker_config_string(c, "routing.algorithm"));
    return KER_OK;
}
