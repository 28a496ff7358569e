/* report.c - what the network has counted, merged over the ranks. */
#include "net/adapter/adapter.h"
#include "net/congestion/congestion.h"
#include "net/credits.h"
#include "net/jobs.h"
#include "net/parts.h"
#include "net/series.h"
#include "net/switch/switch.h"

#include <math.h>
#include <stdlib.h>

struct net_totals net_network_totals(const struct net_network *net)
{
    const struct net_counts *c = &net->count;
    return (struct net_totals){
        .packets_injected = c->injected,
        .packets_delivered = c->delivered,
        .bytes_injected = c->bytes_injected,
        .bytes_delivered = c->bytes_delivered,
        .messages_delivered = c->messages_delivered,
        .measured_injected_bytes = c->measured_injected,
        .measured_delivered_bytes = c->measured_bytes,
        .packet_hops = c->packet_hops,
        .hops_sum = c->hops_sum,
        .hops_max = c->hops_max,
        .out_of_order = c->out_of_order,
        .packets_lost = c->lost_no_route + c->lost_switch + c->lost_head_life + c->lost_packet_life,
        .packets_withheld = c->lost_adapter,
        .packets_dropped = c->lost_head_life + c->lost_packet_life,
        .cnps_under_way = c->cnps_sent - c->cnps_received - c->cnps_lost,
        .measured_packets = net->latency->count,
        .latency_sum = (uint64_t)net->latency->sum,
    };
}

json_t *net_load_json(const struct route_topology *topology, uint64_t bytes, ker_time span)
{
    const struct route_summary *sum = route_summarise(topology);
    return stats_ratio_json((double)bytes, (double)sum->link[sum->endpoint_link].rate *
                                               (double)sum->endpoints * ((double)span / 1e12));
}

/* Collective. */
static json_t *congestion_report(struct net_network *net, struct ker_comm *comm)
{
    const struct net_counts *c = &net->count;
    uint64_t v[] = {c->marked, c->cnps_sent, c->cnps_received, c->throttled_flows};
    ker_comm_sum_u64(comm, v, sizeof v / sizeof *v);
    stats_quantity_merge(net->throttle, comm);
    if (ker_comm_rank(comm) != 0)
        return NULL;
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:o}", "control", net->congestion_name, "marked_packets",
                     (json_int_t)v[0], "notices_sent", (json_int_t)v[1], "notices_received", (json_int_t)v[2],
                     "throttled_flows", (json_int_t)v[3], "throttle_ps", stats_quantity_json(net->throttle));
}

/* Collective. */
static void quantities_merge(struct net_network *net, struct ker_comm *comm)
{
    stats_quantity_merge(net->extent, comm);
    stats_quantity_merge(net->early_wait, comm);
    stats_quantity_merge(net->control_wait, comm);
    stats_quantity_merge(net->latency, comm);
    stats_quantity_merge(net->total_latency, comm);
    stats_quantity_merge(net->message_latency, comm);
    stats_quantity_merge(net->message_size, comm);
}

/* What came out of order; most: of packets, messages. */
static void order_report(const struct net_network *net, json_t *r, const int64_t *most, uint64_t early)
{
    json_object_set_new(r, "reordering_extent_packets", stats_quantity_json(net->extent));
    if (net->set.resequence) {
        json_object_set_new(r, "resequencing_bytes_max", json_integer(most[1]));
        json_object_set_new(r, "resequencing",
                            json_pack("{s:I, s:I, s:o}", "messages_held", (json_int_t)early, "bytes_max",
                                      (json_int_t)most[2], "wait_ps", stats_quantity_json(net->early_wait)));
    }
}

/* lost: packets, by limits of life of heads, and of switches. */
static void lives_report(const struct net_network *net, json_t *r, const uint64_t *lost)
{
    if (!net->lives)
        return;
    json_object_set_new(r, "lost_head_life", json_integer((json_int_t)lost[0]));
    json_object_set_new(r, "lost_packet_life", json_integer((json_int_t)lost[1]));
}

/* Packets whose latency counts, by their paths. Collective. */
static json_t *routes_report(const struct net_network *net, struct ker_comm *comm)
{
    uint64_t detours = net->count.detours;
    ker_comm_sum_u64(comm, &detours, 1);
    if (ker_comm_rank(comm) != 0)
        return NULL;
    return json_pack("{s:I, s:I}", "minimal", (json_int_t)(net->latency->count - detours), "detour",
                     (json_int_t)detours);
}

json_t *net_network_report(struct net_network *net, struct ker_comm *comm, ker_time span)
{
    const struct net_counts *c = &net->count;
    uint64_t v[] = {c->injected,       c->delivered,         c->bytes_delivered, c->messages_delivered,
                    c->measured_bytes, c->measured_injected, c->hops_sum,        c->out_of_order,
                    c->bytes_injected, c->lost_no_route,     c->lost_switch,     c->lost_adapter,
                    c->lost_head_life, c->lost_packet_life,  c->messages_early,  c->measured_handed};
    int64_t most[] = {(int64_t)c->hops_max, (int64_t)c->reorder_bytes_max, (int64_t)c->early_bytes_max};
    ker_comm_sum_u64(comm, v, sizeof v / sizeof *v);
    ker_comm_max_i64(comm, most, 3);
    quantities_merge(net, comm);
    json_t *routes = net->away ? routes_report(net, comm) : NULL;
    json_t *parts = net->parts ? net_parts_report(net, comm) : NULL;
    json_t *congestion = net->congestion ? congestion_report(net, comm) : NULL;
    if (ker_comm_rank(comm) != 0)
        return NULL;
    json_t *r = json_object();
    json_object_set_new(r, "packets_injected", json_integer((json_int_t)v[0]));
    json_object_set_new(r, "packets_delivered", json_integer((json_int_t)v[1]));
    json_object_set_new(r, "bytes_injected", json_integer((json_int_t)v[8]));
    json_object_set_new(r, "bytes_delivered", json_integer((json_int_t)v[2]));
    json_object_set_new(r, "messages_delivered", json_integer((json_int_t)v[3]));
    json_object_set_new(r, "accepted_load", net_load_json(net->topology, v[4], span));
    json_object_set_new(r, "injected_load", net_load_json(net->topology, v[5], span));
    json_object_set_new(r, "offered_load", net_load_json(net->topology, v[15], span));
    json_object_set_new(r, "hops",
                        json_pack("{s:o, s:o}", "mean", stats_ratio_json((double)v[6], (double)v[1]), "max",
                                  v[1] ? json_integer((json_int_t)most[0]) : json_null()));
    json_object_set_new(r, "packet_latency_ps", stats_quantity_json(net->latency));
    json_object_set_new(r, "total_latency_ps", stats_quantity_json(net->total_latency));
    json_object_set_new(r, "message_latency_ps", stats_quantity_json(net->message_latency));
    json_object_set_new(r, "control_wait_ps", stats_quantity_json(net->control_wait));
    json_object_set_new(r, "out_of_order_packets", json_integer((json_int_t)v[7]));
    if (net->faulty)
        json_object_set_new(r, "lost_packets",
                            json_pack("{s:I, s:I, s:I}", "no_way", (json_int_t)v[9], "dead_switch",
                                      (json_int_t)v[10], "not_sent", (json_int_t)v[11]));
    lives_report(net, r, &v[12]);
    order_report(net, r, most, v[14]);
    if (congestion)
        json_object_set_new(r, "congestion", congestion);
    if (routes)
        json_object_set_new(r, "routes", routes);
    if (parts)
        json_object_set_new(r, "latency_parts", parts);
    return r;
}

enum ker_status net_network_write(struct net_network *net, struct ker_comm *comm,
                                  const struct stats_folder *folder, struct ker_error *error)
{
    enum ker_status status = net_matrices_write(net, comm, folder, error),
                    written = net_congestion_write(net, comm, folder, error);
    if (net->jobs)
        net_jobs_write(net, comm, folder, error);
    status = status ?: written;
    if (ker_comm_rank(comm) != 0 || status != KER_OK || !net->histograms)
        return status;
    status = stats_histogram_write(folder, &stats_message_size_schema, net->message_size, error);
    status = status ?: stats_histogram_write(folder, &stats_packet_latency_schema, net->latency, error);
    return status;
}

const char *net_network_conserved(const struct net_network *net, bool lost)
{
    uint32_t channels = net->set.channels * net->set.classes;
    for (uint32_t i = 0; i < net->switch_count; i++) {
        const struct net_switch *s = net_switch_made(net, i);
        uint32_t ports = s ? net_switch_view(s).ports : 0;
        for (uint32_t p = 0; p < ports; p++) {
            struct net_port *port = net_switch_port(s, p);
            if (port->waits)
                return "a packet is left in a switch";
            if (port->due.used) /* what was put down there since anybody has looked at it */
                credits_book(&port->due, port->credit, credits_most(net, port), KER_TIME_MAX - 1);
            uint32_t full = port->due.ends_at_adapter ? net->set.adapter_buffer : net->set.buffer;
            for (uint32_t c = 0; c < channels && port->due.used; c++)
                if (!port->due.to_adapter && port->credit[c] != full)
                    return "credits are missing at a switch";
        }
    }
    for (uint32_t i = 0; i < net->adapter_count; i++) {
        struct net_adapter *a = net_adapter_nth(net, i);
        credits_book(net_due_of(a), a->credit, net->set.buffer, KER_TIME_MAX - 1);
        for (uint32_t c = 0; c < channels; c++)
            if (a->credit[c] != net->set.buffer)
                return "credits are missing at an adapter";
    }
    if (!lost && net_reassembly_count(net->reassembly))
        return "a message is not whole";
    if (net_resequencer_count(net->resequencer))
        return "a message waits for its turn";
    return NULL;
}
