/* channels.c - what virtual channels carry, and when they lack credits; see channels.h.
 *
 * Switches: with channels every transmission takes the slow path of the statistics (net->whole_until is 0),
 * so that the usual one needs no branch for them. Credits come back lazily (credits.h), and nobody would know
 * since when they were there: of a channel that lacks them they are asked for as records, and those that have
 * been put down already make the output look at their times. Both are spurious for all else.
 */
#include "net/channels.h"

#include "net/credits.h"
#include "net/jobs.h"

static unsigned channels_of(const struct net_network *net)
{
    return net->set.channels * net->set.classes;
}

/* ---- counting ---- */

void net_channel_count(struct net_channel *c, const struct net_ahead *t, uint64_t busy)
{
    c->packets++;
    c->bytes += t->bytes;
    c->busy += busy;
    c->queue_time += t->waited;
    if (t->waited > c->queue_max)
        c->queue_max = t->waited;
}

void net_channel_inject(struct net_adapter *a, const struct net_packet *p, unsigned channel, ker_time now,
                        ker_time wire)
{
    struct net_channel *c = &a->more->series->channel[channel];
    uint64_t waited = (uint64_t)(now - p->created);
    a->more->series->sent_on = (uint8_t)channel;
    c->busy += net_measured_part(a->net, now, wire);
    if (!net_measures(a->net, now))
        return;
    c->packets++;
    c->bytes += p->bytes;
    c->queue_time += waited;
    if (waited > c->queue_max)
        c->queue_max = waited;
}

void net_injection_resize(struct net_adapter *a, uint64_t sign)
{
    uint64_t part = sign * net_measured_part(a->net, a->link_free - a->wire, a->wire);
    a->busy += part;
    if (net_channels_collected(a->net))
        a->more->series->channel[a->more->series->sent_on].busy += part;
    if (a->more->jobs)
        net_job_count(net_job_use(a->net, a->more->jobs, a->more->job), 0, part);
}

/* ---- credits ---- */

void net_channels_note(const struct net_network *net, struct net_channel *c, uint32_t lacking, ker_time now)
{
    for (unsigned i = 0; i < channels_of(net); i++)
        net_stall_note(net, &c[i].since, lacking >> i & 1, 0, now);
}

void net_injection_look(struct net_adapter *a, bool lacks, ker_time now)
{
    const struct net_settings *set = &a->net->set;
    uint32_t lacking = 0;
    net_stall_note(a->net, a->more->series, lacks, 0, now); /* packets leave when the link is free */
    if (!net_channels_collected(a->net))
        return;
    for (unsigned class = 0; lacks && class < set->classes; class ++) /* two levels each (flows.h) */
        if ((a->waiting >> 2 * class & 3) ||
            (a->more->cnp != NET_NONE && class == a->net->outgoing.at[a->more->cnp].priority))
            lacking |= ((1u << set->entrances) - 1) << class * set->channels;
    net_channels_note(a->net, a->more->series->channel, lacking, now);
}

/* ---- rows ---- */

static struct net_load channel_period(const struct net_direction *d, struct net_channel *c, bool last,
                                      ker_time at)
{
    const struct net_adapter *a = d->adapter;
    ker_time beyond = last && a->wire && a->link_free > at ? a->link_free - at : 0;
    const struct net_load total = {.packets = c->packets,
                                   .bytes = c->bytes,
                                   .busy = c->busy - net_measured_part(d->net, at, beyond),
                                   .queue_time = c->queue_time,
                                   .queue_max = c->queue_max,
                                   .stall = net_stall_until(d->net, &c->since, at)};
    c->queue_max = 0;
    return net_load_since(&c->since, &total);
}

static struct net_load channel_all(const struct net_channel *c)
{
    return (struct net_load){c->packets, c->bytes, c->busy, c->queue_time, c->since.stalled, c->queue_max, 0};
}

void net_channels_add(struct stats_table *table, const struct net_direction *d, ker_time at, bool all)
{
    for (uint32_t i = 0; i < channels_of(d->net); i++) {
        struct net_channel *c = d->series ? &d->series->channel[i] : NULL;
        struct net_channel_row row = {.d = d, .at = at, .channel = i};
        if (c)
            row.load = all ? channel_all(c) : channel_period(d, c, d->adapter && d->series->sent_on == i, at);
        if (all || net_load_any(&row.load))
            stats_table_add(table, &row);
    }
}

void net_channels_end(const struct net_direction *d, ker_time end)
{
    for (unsigned i = 0; net_channels_collected(d->net) && i < channels_of(d->net); i++) {
        struct net_channel *c = &d->series->channel[i];
        c->since.stalled = net_stall_until(d->net, &c->since, end);
        c->since.since = KER_TIME_MAX;
        if (c->queue_max < c->since.queue_max)
            c->queue_max = c->since.queue_max;
    }
}

void net_channels_state(const struct net_network *net, struct net_channel *channel, struct ker_chunk *c)
{
    for (unsigned i = 0; channel && i < channels_of(net); i++)
        KER_CHUNK(c, channel[i]);
}
