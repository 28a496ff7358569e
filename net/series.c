/* series.c - links, switches and adapters in periods: the rows of link_series.csv and the like.
 *
 * A direction's load in a period is the difference of its totals at the two ends. The totals hold what is
 * final; of transmissions that are scheduled beyond (ahead.h) those of the period are added: a packet and
 * its bytes count where it begins to leave, the time on the link and the wait before it are split at the
 * period's end. Their shares are taken off the last totals before the rows are made, and added to the new
 * last totals afterwards, so that nothing must be kept for them. What a switch or an adapter has is the sum
 * over its directions.
 */
#include "net/series.h"

#include "net/ahead.h"
#include "net/carriers/used.h"
#include "net/channels.h"
#include "net/congestion/congestion.h"
#include "net/jobs.h"
#include "net/links.h"
#include "net/parts.h"

const struct stats_schema *const net_tables[] = {&net_links_schema,
                                                 &net_link_series_schema,
                                                 &net_switches_schema,
                                                 &net_switch_series_schema,
                                                 &net_adapters_schema,
                                                 &net_adapter_series_schema,
                                                 &net_channels_schema,
                                                 &net_channel_series_schema,
                                                 &net_latency_series_schema,
                                                 &net_jobs_schema,
                                                 &net_job_series_schema,
                                                 &net_congestion_schema,
                                                 &net_congestion_series_schema,
                                                 &net_used_schema,
                                                 NULL};

static const struct stats_schema *const series_schema[NET_SERIES_KINDS] = {
    &net_link_series_schema, &net_switch_series_schema, &net_adapter_series_schema,
    &net_channel_series_schema, &net_job_series_schema};

#define FLOWS_HELD_BACK 16u /* of a source, in a period */

void net_series_read(struct net_network *net, const struct ker_config *config)
{
    static const char *const key[NET_SERIES_JOBS] = {"output.series.links", "output.series.switches",
                                                     "output.series.adapters", "output.series.channels"};
    enum stats_collect collect[NET_SERIES_KINDS] = {0}, any = STATS_COLLECT_OFF;
    for (int i = 0; i < NET_SERIES_JOBS; i++)
        any |= collect[i] = stats_collect_of(config, key[i]);
    net->flows_in_periods = stats_collects_periods(config, "output.series.congestion");
    if (any == STATS_COLLECT_OFF && !net->states)
        return;
    if (net->jobs && collect[NET_SERIES_LINKS] == STATS_COLLECT_PERIODS)
        collect[NET_SERIES_JOBS] = STATS_COLLECT_PERIODS;
    net->series = ker_alloc(sizeof *net->series);
    memcpy(net->series->collect, collect, sizeof collect);
    net->by_channel = net_channels_collected(net);
}

struct net_link_series *net_series_new(struct net_network *net, uint64_t order, uint32_t outputs)
{
    uint32_t channels = net_channels_collected(net) ? net->set.channels * net->set.classes : 0;
    if (!net->series)
        return NULL;
    struct net_link_series *l = ker_arena_take(&net->arena, sizeof *l * (outputs + 1u));
    struct net_channel *c = channels ? ker_arena_take(&net->arena, sizeof *c * channels * outputs) : NULL;
    for (uint32_t i = 0; i < channels * outputs; i++)
        c[i] = (struct net_channel){.since.since = KER_TIME_MAX};
    for (uint32_t i = 0; i < outputs; i++)
        l[i] = (struct net_link_series){.since = KER_TIME_MAX,
                                        .track = net_link_track(net, order + i),
                                        .channel = c ? c + (size_t)i * channels : NULL};
    return l;
}

void net_injection_note(struct net_adapter *a, const struct net_packet *p, unsigned channel, ker_time now)
{
    struct net_link_series *l = a->more->series;
    uint64_t waited = (uint64_t)(now - p->created);
    if (l->channel)
        net_channel_inject(a, p, channel, now, a->link_free - now);
    if (net_measures(a->net, now) && waited > l->wait_max)
        l->wait_max = waited;
    if (l->track)
        net_link_busy(a->net, l->track, now, a->link_free);
}

/* ---- what is not over at the end of the period ---- */

/* Adds `sign` times what lies before `at` to the last totals of the link, or of the channel. */
static void ahead_add(const struct net_network *net, const struct net_ahead *t, struct net_link_series *l,
                      ker_time at, uint64_t sign)
{
    ker_time begun = t->leave - (ker_time)t->waited;
    if (begun < at)
        l->queue_time += sign * (uint64_t)(ker_time_min(t->leave, at) - begun);
    if (t->leave >= at)
        return;
    l->packets += sign;
    l->bytes += sign * t->bytes;
    l->busy += sign * net_measured_part(net, t->leave, ker_time_min(t->wire, at - t->leave));
}

static void all_ahead_add(const struct net_network *net, ker_time at, uint64_t sign)
{
    for (size_t i = 0; i < net->ahead_count;) {
        const struct net_ahead t = net_ahead_next(net, &i);
        struct net_link_series *l = net_ahead_series(net, &t);
        ahead_add(net, &t, l, at, sign);
        if (l->channel)
            ahead_add(net, &t, &l->channel[t.channel].since, at, sign);
        if (net->jobs)
            net_job_ahead(net, &t, net_ahead_jobs(net, &t), at, sign);
    }
}

/* ---- loads ---- */

static void queue_max_set(const struct net_direction *d, uint64_t most)
{
    struct net_port_counts n = net_port_counts(d->net, d->port);
    n.queue_max = most;
    net_port_counts_set((struct net_network *)d->net, (struct net_port *)d->port, n);
}

static struct net_load port_total(const struct net_direction *d)
{
    const struct net_port_counts n = net_port_counts(d->net, d->port);
    const struct net_load total = {.packets = n.packets,
                                   .bytes = n.bytes,
                                   .busy = n.busy,
                                   .queue_time = n.queue_time,
                                   .queue_max = n.queue_max,
                                   .waiting = net_waits_of(d->net, d->port)->waiting};
    if (n.queue_max)
        queue_max_set(d, 0); /* the longest wait of the next period begins again */
    return total;
}

/* An adapter counts a transmission when it begins. */
static struct net_load adapter_total(const struct net_adapter *a, struct net_link_series *l, ker_time at)
{
    ker_time beyond = a->wire && a->link_free > at ? a->link_free - at : 0;
    const struct net_load total = {.packets = a->packets,
                                   .bytes = a->bytes,
                                   .busy = a->busy - net_measured_part(a->net, at, beyond),
                                   .queue_time = a->wait,
                                   .queue_max = l->wait_max,
                                   .waiting = a->backlog};
    l->wait_max = 0;
    return total;
}

/* In the period that ends. */
static struct net_load load_of_period(const struct net_direction *d, ker_time at)
{
    struct net_link_series *l = d->series;
    struct net_load total = d->port ? port_total(d) : adapter_total(d->adapter, l, at);
    total.stall = net_stall_until(d->net, l, at);
    return net_load_since(l, &total);
}

/* In all, when the run has ended. */
static struct net_load load_of_all(const struct net_direction *d)
{
    const struct net_adapter *a = d->adapter;
    const struct net_link_series *l = d->series;
    uint64_t queued = l ? l->queue_max : 0, stall = l ? l->stalled : 0;
    if (!d->port)
        return (struct net_load){a->packets, a->bytes, a->busy, a->wait, stall, queued, 0};
    const struct net_port_counts n = net_port_counts(d->net, d->port);
    return (struct net_load){n.packets, n.bytes, n.busy, n.queue_time, stall, n.queue_max, 0};
}

static void load_add(struct net_load *sum, const struct net_load *load)
{
    sum->packets += load->packets;
    sum->bytes += load->bytes;
    sum->busy += load->busy;
    sum->queue_time += load->queue_time;
    sum->waiting += load->waiting;
    sum->stall += load->stall;
}

/* ---- rows ---- */

/* Rows that are made: of a period; or of all, where those without any load are there, too. */
struct making {
    const struct net_network *net;
    ker_time at;
    bool all;
    struct stats_table *table[NET_SERIES_KINDS]; /* NULL: not wanted */
    struct net_switch_row now;                   /* the directions of a switch are together */
};

static void switch_end(struct making *m)
{
    if (m->now.outputs && (m->all || net_load_any(&m->now.sum)))
        stats_table_add(m->table[NET_SERIES_SWITCHES], &m->now);
    m->now.outputs = 0;
}

static void switch_add(struct making *m, const struct net_direction *d, const struct net_load *load)
{
    struct net_switch_row *row = &m->now;
    if (row->outputs && row->id != d->from.id)
        switch_end(m);
    if (!row->outputs)
        *row = (struct net_switch_row){.net = m->net, .at = m->at, .id = d->from.id};
    uint64_t queue = net_queue_bytes(m->net, d->class, load->queue_max);
    row->outputs++;
    load_add(&row->sum, load);
    row->sum.queue_max = queue > row->sum.queue_max ? queue : row->sum.queue_max;
    row->busiest = load->busy > row->busiest ? load->busy : row->busiest;
}

static void adapter_add(struct making *m, const struct net_direction *d, const struct net_load *load)
{
    const struct net_link_end *end = d->adapter ? &d->from : &d->to;
    struct net_adapter_row row = {.at = m->at, .node = end->id, .number = end->port};
    *(d->adapter ? &row.sent : &row.received) = *load;
    if (m->all || load->packets | load->busy || (d->adapter && net_load_any(load)))
        stats_table_add(m->table[NET_SERIES_ADAPTERS], &row);
}

static void direction_add(void *making, struct stats_table *none, const struct net_direction *d)
{
    struct making *m = making;
    struct net_load load = m->all ? load_of_all(d) : load_of_period(d, m->at);
    if (m->table[NET_SERIES_SWITCHES] && d->port)
        switch_add(m, d, &load);
    if (m->table[NET_SERIES_ADAPTERS] && (d->adapter || d->to.node))
        adapter_add(m, d, &load);
    if (m->table[NET_SERIES_LINKS] && net_load_any(&load))
        stats_table_add(m->table[NET_SERIES_LINKS], &(struct net_link_row){d, m->at, load});
    if (m->table[NET_SERIES_CHANNELS])
        net_channels_add(m->table[NET_SERIES_CHANNELS], d, m->at, m->all);
    if (m->table[NET_SERIES_JOBS])
        net_jobs_add(m->table[NET_SERIES_JOBS], d, m->at);
}

static void rows_make(const struct net_network *net, struct making *m)
{
    m->net = net;
    net_directions_add(net, NULL,
                       &(struct net_directions){.add = direction_add,
                                                .context = m,
                                                .known = !m->all,
                                                .nodes = m->table[NET_SERIES_ADAPTERS] != NULL});
    if (m->table[NET_SERIES_SWITCHES])
        switch_end(m);
}

/* ---- periods ---- */

void net_network_series_want(struct net_network *net, struct stats_series_files *files)
{
    const struct route_summary *sum = route_summarise(net->topology);
    const uint64_t channels = 2 * sum->links * net->set.channels * net->set.classes;
    const uint64_t jobs = 2 * sum->links * (net->jobs + 1);
    const uint64_t rows[NET_SERIES_KINDS] = {2 * sum->links, sum->switches, sum->endpoints, channels, jobs};
    if (net_series_collects(net))
        stats_series_memory(files, 2 * sum->links * sizeof(struct net_link_series));
    if (net_channels_collected(net))
        stats_series_memory(files, channels * sizeof(struct net_channel));
    if (net->jobs)
        stats_series_memory(files, jobs * sizeof(struct net_job_use));
    for (int i = 0; net->series && i < NET_SERIES_KINDS; i++)
        if (net->series->collect[i] == STATS_COLLECT_PERIODS)
            net->series->series[i] = stats_series_want(files, series_schema[i], net, rows[i]);
    if (net->parts && net->parts->periods)
        net->parts->series = stats_series_want(files, &net_latency_series_schema, NULL, 2);
    /* Whoever sends to more nodes at once hardly ever has all of these flows held back. */
    if (net->flows_in_periods && net->congestion && net->congestion->rows)
        net->congestion_series =
            stats_series_want(files, &net_congestion_series_schema, NULL, FLOWS_HELD_BACK * sum->endpoints);
    net_matrices_want(net, files);
}

void net_network_series_add(struct net_network *net, ker_time at)
{
    struct making m = {.at = at};
    bool any = false;
    net_parts_rows(net, at);
    net_matrices_period(net, at);
    struct stats_table *flows = stats_series_rows(net->congestion_series);
    if (flows)
        net->congestion->rows(net, flows, at);
    for (int i = 0; net->series && i < NET_SERIES_KINDS; i++)
        any |= (m.table[i] = stats_series_rows(net->series->series[i])) != NULL;
    if (!any)
        return;
    net_network_settle(net, at);
    all_ahead_add(net, at, UINT64_MAX);
    rows_make(net, &m);
    all_ahead_add(net, at, 1);
}

/* ---- the end ---- */

static void direction_end(void *end, struct stats_table *table, const struct net_direction *d)
{
    struct net_link_series *l = d->series;
    l->stalled = net_stall_until(d->net, l, *(ker_time *)end);
    l->since = KER_TIME_MAX;
    if (d->port && net_port_counts(d->net, d->port).queue_max < l->queue_max)
        queue_max_set(d, l->queue_max);
    if (l->wait_max > l->queue_max)
        l->queue_max = l->wait_max;
    net_channels_end(d, *(ker_time *)end);
}

void net_network_series_end(struct net_network *net, ker_time end)
{
    net_link_states_end(net, end); /* which needs to know since when a link lacks credits */
    if (net->series)
        net_directions_add(net, NULL,
                           &(struct net_directions){.add = direction_end, .context = &end, .known = true});
}

static void table_write(struct stats_table *table, struct ker_comm *comm, const struct stats_folder *folder,
                        struct ker_error *error)
{
    stats_table_show_file(table, comm, folder, NULL, error);
    stats_table_free(table);
}

void net_network_series_write(struct net_network *net, struct ker_comm *comm, ker_time span,
                              const struct stats_folder *folder, struct ker_error *error)
{
    static const struct stats_schema *const schema[NET_SERIES_KINDS] = {
        NULL, &net_switches_schema, &net_adapters_schema, &net_channels_schema, NULL};
    struct making m = {.all = true};
    if (!net->series)
        return;
    for (int i = 0; i < NET_SERIES_KINDS; i++)
        if (schema[i] && net->series->collect[i] != STATS_COLLECT_OFF)
            m.table[i] = stats_table_new(schema[i], net, span > 0 ? (uint64_t)span : 0);
    rows_make(net, &m);
    for (int i = 0; i < NET_SERIES_KINDS; i++)
        if (m.table[i])
            table_write(m.table[i], comm, folder, error);
}

/* ---- saved state ---- */

void net_series_state(struct net_network *net, struct net_link_series *l, uint32_t outputs,
                      struct ker_chunk *c)
{
    ker_chunk_same(c, l != NULL);
    for (uint32_t i = 0; l && i < outputs; i++) {
        struct net_channel *channel = l[i].channel;
        uint32_t track = l[i].track;
        l[i].channel = NULL; /* a pointer is of no use there */
        KER_CHUNK(c, l[i]);
        l[i].track = track;
        l[i].channel = channel;
        ker_chunk_same(c, channel != NULL);
        net_channels_state(net, channel, c);
        if (track)
            net_link_busy_state(net, track, c);
    }
}
