/* loops.c - can the buffer behind a link keep it busy? Before the run, by class of link.
 *
 * A packet's credits are taken when it is sent and are back a round trip later: its own time w on the link,
 * l there, D until the next switch reads it, and l + C for the credits (docs/network-model.md). So a buffer
 * of n packets carries n packets per w + 2 l + D + C. The n packets are those of the channels that a flow may
 * take on a link, for what one node injects; and those of all channels in use, for the whole link. Which
 * these are is seen on the paths of a sample of pairs. What is less than 95 % is reported.
 */
#include "net/credits.h"

#include <math.h>
#include <stdlib.h>

#define PAIRS 64
#define DRAWS 8 /* of a packet at each switch: channels may be drawn */
#define ENOUGH 0.95

struct used {
    uint32_t all;  /* channels, as bits */
    unsigned flow; /* channels of the flow that has fewest; 0: nobody uses the class */
};

static uint32_t choice_mask(const struct route_choice *c)
{
    return c->channel_count ? ((1u << c->channel_count) - 1) << c->first_channel : 1u << c->channel;
}

static void channels_use(struct used *u, uint32_t mask)
{
    unsigned count = (unsigned)__builtin_popcount(mask);
    u->all |= mask;
    u->flow = u->flow && u->flow < count ? u->flow : count;
}

/* One hop: the channels on the link that the first choice leads to, with several draws. Returns whether there
 * is a further one, at `*at`. */
static bool hop_look(const struct net_network *net, struct used *used, uint32_t *at, struct route_packet *r)
{
    struct route_choice choice[ROUTE_MAX_CHOICES], first = {0};
    struct route_peer peer;
    uint64_t chance = r->chance;
    uint32_t mask = 0, draws = net->set.pinning == NET_PIN_PACKET ? DRAWS : 1;
    for (uint32_t d = 0; d < draws; d++, r->chance++) {
        int count = net->route(net->topology, route_coordinate(net->topology, *at), *at, r, choice);
        if (count < 1)
            return false;
        first = d == 0 ? choice[0] : first;
        for (int i = 0; i < count; i++)
            mask |= choice[i].port == first.port ? choice_mask(&choice[i]) : 0;
    }
    r->chance = chance;
    route_port(net->topology, *at, first.port, &peer);
    if (peer.kind != ROUTE_SWITCH)
        return false;
    channels_use(&used[peer.link], net->set.pinning == NET_PIN_PACKET ? mask : mask & -mask);
    *at = peer.id;
    r->in_port = peer.port;
    r->in_channel = first.channel_count ? first.first_channel : first.channel;
    r->state = first.state & 0xffffffu;
    r->hops = (uint8_t)(r->hops + (r->hops < NET_MAX_SWITCHES));
    return true;
}

static void paths_look(const struct net_network *net, struct used *used)
{
    const struct route_summary *sum = route_summarise(net->topology);
    uint32_t nodes = sum->endpoints;
    for (uint32_t i = 0; i < PAIRS && nodes > 1; i++) {
        uint32_t a = (uint32_t)((uint64_t)nodes * i / PAIRS),
                 b = (uint32_t)((a + 1 + (uint64_t)(nodes - 1) * (i * 37 % PAIRS) / PAIRS) % nodes), at;
        struct route_packet r = {
            .address = route_address(net->topology, b), .source = a, .destination = b, .chance = ker_mix(i)};
        route_attachment(net->topology, a, &at, &r.in_port);
        if (a == b || (net->faulty && !route_reachable(net->topology, 0, a, b)))
            continue;
        channels_use(&used[sum->endpoint_link],
                     net->set.pinning == NET_PIN_PACKET ? (1u << net->set.entrances) - 1 : 1);
        while (r.hops < NET_MAX_SWITCHES && hop_look(net, used, &at, &r)) /* a table may lead in circles */
            ;
    }
}

/* Of a class of links: what a flow, or all flows on a link, can carry at most. */
static void class_tell(FILE *out, const struct net_network *net, int i, const struct used *u)
{
    const struct route_summary *sum = route_summarise(net->topology);
    const struct net_link_class *class = &net->link[i];
    const struct net_settings *set = &net->set;
    struct net_times t = net_times_of(net, (unsigned)i, set->most);
    bool whole = set->forwarding == NET_STORE_AND_FORWARD;
    uint64_t injection = sum->link[sum->endpoint_link].rate, rate = class->rate;
    ker_time trip = t.wire + 2 * class->latency + set->delay + set->credit_delay + (whole ? t.crossbar : 0);
    double one = (double)(injection < rate ? injection : rate), all = (double)rate,
           each = (double)trip / 1e12 / set->most,
           holds = floor((double)set->buffer / credits_of(set, set->most));
    unsigned channels = (unsigned)__builtin_popcount(u->all);
    bool flow = one * channels >= all * u->flow; /* it needs more of each channel than all together */
    unsigned of = flow ? u->flow : channels;
    double needed = (flow ? one : all) * each, share = of ? holds * of / needed : 1;
    char text[2][32];
    if (share >= ENOUGH)
        return;
    fprintf(out,
            "%s%s of class %s carr%s at most %.0f %% of %s: switch.buffer holds %.0f packets on each of %u "
            "channel%s, %.1f are in flight in a credit round trip of %s; %.0f B or more would do",
            ftell(out) ? "; " : "", flow ? "a flow on links" : "links", sum->link[i].name, flow ? "ies" : "y",
            100 * share, ker_print_rate(text[0], flow ? one : all), holds, of, of == 1 ? "" : "s", needed,
            ker_print_time(text[1], trip), ceil(needed / of - 1e-9) * credits_of(set, set->most));
}

char *net_loops_text(const struct net_network *net)
{
    struct used used[ROUTE_MAX_LINKS] = {0};
    char *text = NULL;
    size_t length;
    if (route_shares(
            net->topology)) /* several ranks share the making of tables: one rank or --check says it */
        return NULL;
    FILE *out = open_memstream(&text, &length);
    ker_assert(out);
    paths_look(net, used);
    for (int i = 0; i < route_summarise(net->topology)->link_count; i++)
        class_tell(out, net, i, &used[i]);
    fclose(out);
    if (length)
        return text;
    free(text);
    return NULL;
}
