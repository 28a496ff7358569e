/* ahead.c - transmissions that are known before they happen.
 *
 * A switch knows at a grant when the packet will leave, and counts it in the statistics of the link at once,
 * if that is before what the engine has finalised: no end of the run comes earlier. The others are kept in a
 * list, but of those that have begun before only what is left on the link: the rest of what they add is
 * certain. When more is final, what lies before is counted; when the run ends, what has left by then is, up
 * to the end. So whatever ends a run, its links have counted what run.end at the same time would have them
 * count. Sums and maxima depend on no order.
 */

#include "net/channels.h"
#include "net/state.h"
#include "net/switch/private.h"

static ptrdiff_t words_between(const void *from, const struct net_port *port)
{
    return ((const char *)port - (const char *)from) / 8;
}

static struct net_port *port_at(const struct net_network *net, uint32_t words)
{
    return (struct net_port *)(void *)(net->dues + 8 * (size_t)words);
}

static void detour_count(const struct net_network *net, const struct net_ahead *t)
{
    if (!t->detour)
        return;
    const struct net_switch *s = net_switch_of(net, t->out);
    s->more->detours[net_port_number(s, t->out)]++;
}

/* On its link from `from`, not behind net->final, for `length`. */
static void rest_keep(struct net_network *net, struct net_port *out, ker_time from, ker_time length)
{
    ker_time before = ker_time_min(length, net->final - from);
    net_busy_add(net, out, (uint32_t)net_measured_part(net, from, before));
    if (length > before)
        *KER_PUSH(net->rest, net->rest_count, net->rest_room) =
            (struct net_rest){(uint32_t)words_between(net->dues, out), (uint32_t)(length - before)};
}

/* The rests, up to there. */
static void rests_count(struct net_network *net, ker_time until)
{
    size_t kept = 0;
    for (size_t i = 0; i < net->rest_count; i++) {
        struct net_rest r = net->rest[i];
        ker_time before = ker_time_min(r.busy, until - net->final);
        net_busy_add(net, port_at(net, r.out), (uint32_t)net_measured_part(net, net->final, before));
        r.busy -= (uint32_t)before;
        if (r.busy)
            net->rest[kept++] = r;
    }
    net->rest_count = kept;
}

/* Has it begun before net->final, so that all but the rest is certain? Then it is counted. Periods want it
 * where it ends. */
static bool begun_count(struct net_network *net, const struct net_ahead *t)
{
    if (net->series || net->jobs || t->leave >= net->final || net->final > net->set.measure_to)
        return false;
    net_ahead_count(net, t, 0);
    detour_count(net, t);
    rest_keep(net, t->out, t->leave, t->wire);
    return true;
}

void net_ahead_keep(struct net_network *net, const struct net_ahead *t)
{
    if (begun_count(net, t))
        return;
    bool two = (uint64_t)t->leave >> 48 || (t->waited | t->in_buffer) >> 32;
    *KER_PUSH(net->ahead, net->ahead_count, net->ahead_room) =
        (struct net_kept){.leave = (uint64_t)t->leave & UINT64_MAX >> 16,
                          .bytes = t->bytes & UINT16_MAX,
                          .waited = (uint32_t)t->waited,
                          .in_buffer = (uint32_t)t->in_buffer,
                          .out = (uint32_t)words_between(net->dues, t->out),
                          .in = (int32_t)words_between(t->out, t->in),
                          .channel = t->channel & 15,
                          .job = t->job & 15,
                          .detour = t->detour,
                          .two = two};
    if (two)
        *KER_PUSH(net->ahead, net->ahead_count, net->ahead_room) =
            (struct net_kept){.time = {(uint64_t)t->leave, t->waited, t->in_buffer}};
}

struct net_ahead net_ahead_next(const struct net_network *net, size_t *index)
{
    const struct net_kept *k = &net->ahead[(*index)++];
    struct net_port *out = port_at(net, k->out);
    struct net_ahead t = {.out = out,
                          .in = (struct net_port *)(void *)((char *)out + 8 * (ptrdiff_t)k->in),
                          .leave = (ker_time)k->leave,
                          .wire = net_times_of(net, out->link, k->bytes).wire,
                          .waited = k->waited,
                          .in_buffer = k->in_buffer,
                          .bytes = k->bytes,
                          .channel = k->channel,
                          .job = k->job,
                          .detour = k->detour};
    if (k->two) {
        const uint64_t *time = net->ahead[(*index)++].time;
        t.leave = (ker_time)time[0], t.waited = time[1], t.in_buffer = time[2];
    }
    return t;
}

struct net_link_series *net_ahead_series(const struct net_network *net, const struct net_ahead *t)
{
    const struct net_switch *s = net_switch_of(net, t->out);
    return &s->more->series[net_port_number(s, t->out)];
}

struct net_job_use *net_ahead_jobs(const struct net_network *net, const struct net_ahead *t)
{
    const struct net_switch *s = net_switch_of(net, t->out);
    return net_jobs_at(s, net_port_number(s, t->out));
}

void net_ahead_count_now(struct net_network *net, const struct net_ahead *t)
{
    uint64_t busy = net_measured_part(net, t->leave, t->wire);
    net_ahead_count(net, t, (uint32_t)busy);
    detour_count(net, t);
    if (net_channels_collected(net))
        net_channel_count(&net_ahead_series(net, t)->channel[t->channel], t, busy);
    if (net->jobs)
        net_job_count(net_job_use(net, net_ahead_jobs(net, t), t->job), t->bytes, busy);
}

void net_network_settle(struct net_network *net, ker_time until)
{
    size_t kept = 0;
    rests_count(net, until);
    net_final_set(net, until);
    for (size_t i = 0, at = 0; i < net->ahead_count; at = i) {
        const struct net_ahead t = net_ahead_next(net, &i);
        if (t.leave + t.wire <= until)
            net_ahead_count_now(net, &t);
        else if (!begun_count(net, &t))
            while (at < i)
                net->ahead[kept++] = net->ahead[at++];
    }
    net->ahead_count = kept;
    if (net->states)
        net_link_states_settle(net, until);
}

void net_network_end(struct net_network *net, ker_time end)
{
    for (uint32_t i = 0; i < net->adapter_count; i++)
        net_injection_resize(net_adapter_nth(net, i), UINT64_MAX);
    if (end < net->set.measure_to)
        net->set.measure_to = end;
    net_final_set(net, net->final);
    for (uint32_t i = 0; i < net->adapter_count; i++)
        net_injection_resize(net_adapter_nth(net, i), 1);
    for (size_t i = 0; i < net->ahead_count;) {
        const struct net_ahead t = net_ahead_next(net, &i);
        if (t.leave < net->set.measure_to)
            net_ahead_count_now(net, &t);
    }
    net->ahead_count = 0;
    rests_count(net, KER_TIME_MAX);
}

/* ---- saved ---- */

/* A rest is one from net->final on, from no input. */
#define NO_INPUT UINT16_MAX

static void ahead_state(struct net_switch *s, struct net_ahead *t, struct ker_chunk *c)
{
    uint16_t out = c->loads ? 0 : net_port_number(s, t->out), in = NO_INPUT;
    if (t->in)
        in = net_port_number(s, t->in);
    KER_CHUNK(c, out, in, t->leave, t->wire, t->waited, t->in_buffer, t->bytes, t->channel);
    t->detour = ker_chunk_bool(c, t->detour);
    t->job = ker_chunk_u8(c, t->job);
    if (!c->loads)
        return;
    bool rest = in == NO_INPUT;
    if (out >= s->ports || (rest ? t->leave < 0 || t->wire >> 32 : in >= s->ports) ||
        (t->detour && !s->more->detours) || t->channel >= s->net->set.channels * s->net->set.classes) {
        c->bad = true;
        return;
    }
    t->out = net_port_at(s, out);
    t->in = rest ? NULL : net_port_at(s, in);
}

/* Those of a switch mostly are together. */
void net_ahead_save(struct net_network *net, struct ker_state_writer *writer)
{
    const struct net_switch *of = NULL;
    struct ker_chunk *c = NULL;
    for (size_t i = 0, rest = 0; i < net->ahead_count || rest < net->rest_count;) {
        struct net_ahead t = {.leave = net->final};
        if (i < net->ahead_count) {
            t = net_ahead_next(net, &i);
        } else {
            t.out = port_at(net, net->rest[rest].out);
            t.wire = net->rest[rest++].busy;
        }
        struct net_switch *s = net_switch_of(net, t.out);
        if (of && s != of)
            ker_state_end(writer);
        if (s != of)
            c = ker_state_begin(writer, "ahead", NET_AHEAD_VERSION, s->id);
        of = s;
        ahead_state(s, &t, c);
    }
    if (of)
        ker_state_end(writer);
}

/* What is final at one rank may not be at another, but is at a checkpoint, and so from there on. */
static void rest_load(struct net_network *net, const struct net_ahead *t)
{
    if (t->leave > net->final) {
        rests_count(net, t->leave);
        net->final = t->leave;
    }
    rest_keep(net, t->out, t->leave, t->wire);
}

void net_ahead_load(struct net_loading *l, struct ker_chunk *c)
{
    struct net_switch *s = net_loading_switch(l, c);
    while (s && c->at < c->bytes && !c->bad) {
        struct net_ahead t = {0};
        ahead_state(s, &t, c);
        if (!c->bad && t.in)
            net_ahead_keep(l->net, &t);
        else if (!c->bad)
            rest_load(l->net, &t);
    }
}
