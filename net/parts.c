/* parts.c - where the latency of packets and messages goes; see parts.h.
 *
 *   source queue   from the creation of the message until the packet's first bit leaves the adapter
 *   injection      until that is at the first switch
 *   switches       there: the pipeline, and what a packet waits for in queues
 *   links          between switches
 *   ejection       from the last switch until the last bit is at the adapter, and worked off by a limited
 * sink resequencing   of a message: from then until those before it have been handed up
 *
 * A message has the parts of the packet that completed it. Contention of a message is what it would not have
 * waited in an empty network: in queues of switches, and at its source beyond the time that its own earlier
 * packets take.
 */
#include "net/parts.h"

/* ---- sums ---- */

#define PARTS (sizeof(struct net_parts) / sizeof(uint64_t))

static void parts_add(struct net_parts_sum *sum, const struct net_parts *part, uint64_t resequencing)
{
    uint64_t *to = (uint64_t *)&sum->part;
    const uint64_t *from = (const uint64_t *)part;
    for (size_t i = 0; i < PARTS; i++)
        to[i] += from[i];
    sum->resequencing += resequencing;
    sum->count++;
}

/* ---- routes ---- */

static struct route_packet anew(const struct route_topology *t, const struct route_packet *r)
{
    struct route_packet copy = *r;
    copy.address = route_address(t, r->destination);
    return copy;
}

static int next_again(const struct route_topology *t, uint64_t coordinate, uint32_t at,
                      const struct route_packet *r, struct route_choice *choice)
{
    const struct route_packet copy = anew(t, r);
    return route_function(t)(t, coordinate, at, &copy, choice);
}

static int decided_again(const struct route_topology *t, uint64_t coordinate, uint32_t at,
                         const struct route_packet *r, struct route_choice *choice)
{
    const struct route_packet copy = anew(t, r);
    return route_decided_function(t)(t, coordinate, at, &copy, choice);
}

void net_parts_routes(struct net_network *net)
{
    if (net->route_ahead)
        net->route_ahead = net->route_ahead == net->route ? next_again : decided_again;
    net->route = next_again;
    net->hop = NULL; /* short forms take the address as it is */
    net->range = NULL;
}

/* ---- a packet arrives ---- */

/* Of the source's link to its switch. */
static unsigned injection_class(const struct net_network *net, uint32_t source)
{
    uint32_t s;
    uint16_t port;
    struct route_peer peer;
    route_attachment(net->topology, source, &s, &port);
    route_port(net->topology, s, port, &peer);
    return peer.link;
}

/* Time of the packets of the message that are sent before this one on the injection link. */
static uint64_t own_time(const struct net_network *net, const struct net_packet *p, unsigned class)
{
    uint64_t before = net_packet_index(p), each = net->set.payload + net->set.header;
    return before ? (uint64_t)ker_serialisation(before * each, net->link[class].rate) : 0;
}

void net_parts_arrived(const struct net_adapter *a, ker_time now, const struct net_packet *p, uint64_t sink)
{
    const struct net_network *net = a->net;
    unsigned from = injection_class(net, p->source);
    bool whole = net->set.forwarding == NET_STORE_AND_FORWARD;
    struct net_parts *part = &net->parts->packet;
    part->source_queue = (uint64_t)(p->injected - p->created);
    part->injection =
        (uint64_t)net->link[from].latency + (whole ? net_times_of(net, from, p->bytes).wire : 0);
    part->links = p->address - route_address(net->topology, p->destination);
    part->ejection = (uint64_t)net->link[a->link].latency + net_times_of(net, a->link, p->bytes).wire + sink;
    part->switches = (uint64_t)(now - p->injected) - part->injection - part->links - part->ejection;
    part->switch_wait = part->switches - (uint64_t)net->set.delay * p->hops;
    uint64_t own = own_time(net, p, from);
    part->contention = part->switch_wait + (part->source_queue > own ? part->source_queue - own : 0);
    if (net_measures(net, p->created))
        parts_add(&net->parts->sum[0], part, 0);
}

void net_parts_message(struct net_network *net, ker_time now, const struct net_message *m)
{
    const struct net_parts *p = m->parts;
    uint64_t known = p->source_queue + p->injection + p->switches + p->links + p->ejection;
    parts_add(&net->parts->sum[1], p, (uint64_t)(now - m->created) - known);
}

/* Loading adds: one rank takes what all have counted. */
void net_parts_state(struct net_network *net, struct ker_chunk *c)
{
    ker_chunk_same(c, net->parts != NULL);
    for (int i = 0; net->parts && i < 4; i++) {
        struct net_parts_sum one, *sum = i < 2 ? &net->parts->sum[i] : &net->parts->last[i - 2];
        one = *sum;
        KER_CHUNK(c, one);
        uint64_t *to = (uint64_t *)sum, *from = (uint64_t *)&one;
        for (size_t k = 0; c->loads && !c->bad && k < sizeof one / sizeof *to; k++)
            to[k] += from[k];
    }
}

/* ---- rows ---- */

struct parts_row {
    ker_time at;
    uint32_t messages;
    struct net_parts_sum sum;
};

static const char *of_text(const void *context, uint32_t messages)
{
    return messages ? "messages" : "packets";
}

/* clang-format off */
#define PARTS_COLUMNS(COLUMN) \
    COLUMN(time_ps, "ps", U64, SAME, row->at, "end of the period") \
    COLUMN(of, "", TEXT, SAME, row->messages, "`packets`, or `messages`", .text = of_text, .text_bytes = 8) \
    COLUMN(count, "", U64, SUM, row->sum.count, "measured ones that arrived in the period") \
    COLUMN(source_queue_ps, "ps", U64, SUM, row->sum.part.source_queue, \
           "sum: from the creation of the message to the packet's first bit on the injection link") \
    COLUMN(injection_ps, "ps", U64, SUM, row->sum.part.injection, "sum: until that is at the first switch") \
    COLUMN(switches_ps, "ps", U64, SUM, row->sum.part.switches, "sum: in switches") \
    COLUMN(links_ps, "ps", U64, SUM, row->sum.part.links, "sum: on links between switches") \
    COLUMN(ejection_ps, "ps", U64, SUM, row->sum.part.ejection, \
           "sum: from the last switch until the last bit is at the adapter, and worked off there") \
    COLUMN(resequencing_ps, "ps", U64, SUM, row->sum.resequencing, \
           "sum: of messages: until earlier ones have been handed up") \
    COLUMN(switch_wait_ps, "ps", U64, SUM, row->sum.part.switch_wait, \
           "of `switches_ps`: beyond `switch.delay` of each switch") \
    COLUMN(contention_ps, "ps", U64, SUM, row->sum.part.contention, \
           "of all: `switch_wait_ps`, and of `source_queue_ps` what is not the time of the message's own " \
           "packets before this one")

/* clang-format on */

static uint64_t row_key(const void *row)
{
    return ((const struct parts_row *)row)->messages;
}

STATS_SCHEMA(net_latency_series_schema, struct parts_row, PARTS_COLUMNS, row_key, "latency_series",
             "Two rows each time `output.period` of simulated time has passed: the sums of where the latency "
             "of packets, and of messages, went.")

void net_parts_rows(struct net_network *net, ker_time at)
{
    struct stats_table *table = net->parts ? stats_series_rows(net->parts->series) : NULL;
    for (uint32_t i = 0; table && i < 2; i++) {
        struct parts_row row = {at, i, net->parts->sum[i]};
        stats_series_since("latency_series", (uint64_t *)&row.sum, (uint64_t *)&net->parts->last[i],
                           sizeof row.sum / sizeof(uint64_t));
        stats_table_add(table, &row);
    }
}

static json_t *sum_json(const struct net_parts_sum *s, bool message)
{
    const struct net_parts *p = &s->part;
    json_t *r = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "count", (json_int_t)s->count,
                          "source_queue_ps", (json_int_t)p->source_queue, "injection_ps",
                          (json_int_t)p->injection, "switches_ps", (json_int_t)p->switches, "links_ps",
                          (json_int_t)p->links, "ejection_ps", (json_int_t)p->ejection, "switch_wait_ps",
                          (json_int_t)p->switch_wait, "contention_ps", (json_int_t)p->contention);
    if (message)
        json_object_set_new(r, "resequencing_ps", json_integer((json_int_t)s->resequencing));
    return r;
}

json_t *net_parts_report(struct net_network *net, struct ker_comm *comm)
{
    struct net_parts_sum sum[2] = {net->parts->sum[0], net->parts->sum[1]};
    ker_comm_sum_u64(comm, (uint64_t *)sum, 2 * sizeof *sum / sizeof(uint64_t));
    if (ker_comm_rank(comm) != 0)
        return NULL;
    return json_pack("{s:o, s:o}", "packets", sum_json(&sum[0], false), "messages", sum_json(&sum[1], true));
}
