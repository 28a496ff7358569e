/* rtt.c - congestion control by round-trip times: a window for each flow that keeps them at a target.
 *
 * Every packet is acknowledged by a CNP that carries when it left. While round trips are shorter than the
 * target the window of the flow grows by congestion.growth each time that it has been acknowledged; once a
 * round trip at most a longer one shrinks it by congestion.backoff x what is too long of it, as a part of the
 * round trip (additive increase, multiplicative decrease in proportion to delay: Kumar et al., Swift, SIGCOMM
 * 2020, without its pacing below a packet). So queues stay near the target whoever shares them, and windows
 * meet. A window holds at least one packet; nothing is sent beyond it.
 */
#include "net/adapter/adapter.h"
#include "net/congestion/congestion.h"
#include "net/state.h"

#include <math.h>
#include <stdlib.h>

#define PARTS_BITS 16 /* of a byte, in windows */
#define ONE_BITS 30   /* of a factor */

struct flow {
    struct net_pair pair; /* source; destination */
    uint64_t window;      /* bytes << PARTS_BITS */
    uint64_t flying;      /* bytes that are not acknowledged */
    ker_time cut;         /* the window was made smaller last */
};

struct rtt {
    const struct net_network *net;
    struct net_pairs flows;
    ker_time target;
    uint64_t first, least, most, growth; /* windows, as in a flow; growth: of one */
    uint64_t backoff, backoff_most;      /* of 1 << ONE_BITS */
};

/* A window is what its flow has learnt: it stays. */
static bool flow_idle(const void *context, const struct net_pair *pair)
{
    return false;
}

static bool rtt_marks(const struct net_network *net, const struct net_at_grant *at, ker_time now)
{
    return false;
}

static void rtt_arrived(struct net_adapter *a, ker_time now, const struct net_packet *p)
{
    net_cnp_send(a, now,
                 &(struct net_cnp){p->source, (uint8_t)(a->net->set.classes - 1), p->bytes, net_cnp_echo(p)});
}

static void window_change(const struct rtt *rtt, struct flow *f, ker_time now, ker_time trip, uint32_t bytes)
{
    if (trip <= rtt->target) {
        f->window += rtt->growth * bytes / (f->window >> PARTS_BITS);
    } else if (now >= f->cut + trip) {
        uint64_t part = rtt->backoff * (uint64_t)(trip - rtt->target) / (uint64_t)trip;
        part = part < rtt->backoff_most ? part : rtt->backoff_most;
        f->window -= (uint64_t)((unsigned __int128)f->window * part >> ONE_BITS);
        f->cut = now;
    }
    f->window = f->window > rtt->most ? rtt->most : f->window < rtt->least ? rtt->least : f->window;
}

static void rtt_noticed(struct net_adapter *a, ker_time now, const struct net_packet *p)
{
    struct rtt *rtt = a->net->congestion_state;
    struct flow *f = net_pairs_find(&rtt->flows, a->id, p->source);
    ker_check(f && f->flying >= p->index);
    f->flying -= p->index;
    window_change(rtt, f, now, net_cnp_trip(p, now), p->index);
    a->net->count.throttled_flows += f->cut == now;
}

static ker_time rtt_ready(const struct net_adapter *a, uint32_t destination, unsigned class, ker_time now)
{
    const struct rtt *rtt = a->net->congestion_state;
    const struct flow *f = net_pairs_find(&rtt->flows, a->id, destination);
    return f && f->flying && (f->flying << PARTS_BITS) + rtt->least > f->window ? KER_TIME_MAX : now;
}

static void rtt_sent(struct net_adapter *a, ker_time now, const struct net_packet *p, unsigned class,
                     ker_time wire)
{
    struct rtt *rtt = a->net->congestion_state;
    struct flow *f = net_pairs_find(&rtt->flows, a->id, p->destination);
    if (!f) {
        f = net_pairs_add(&rtt->flows, rtt, a->id, p->destination);
        f->window = rtt->first;
    }
    f->flying += p->bytes;
}

/* ---- saved state ---- */

static void flow_state(const struct rtt *rtt, struct ker_chunk *c, struct flow *f)
{
    KER_CHUNK(c, f->window, f->flying, f->cut);
    c->bad |= f->window < rtt->least || f->window > rtt->most;
}

static void rtt_save(struct net_network *net, struct ker_state_writer *writer)
{
    const struct rtt *rtt = net->congestion_state;
    for (struct flow *f = NULL; (f = net_pairs_next(&rtt->flows, f)) != NULL;) {
        flow_state(rtt, net_pair_save(writer, f, 0), f);
        ker_state_end(writer);
    }
}

static void rtt_load(struct net_adapter *n, struct ker_chunk *c)
{
    struct rtt *rtt = n->net->congestion_state;
    struct net_pairs *const tables[] = {&rtt->flows};
    struct flow *f = net_pair_load(n, c, tables, 1);
    if (f)
        flow_state(rtt, c, f);
}

/* ---- settings ---- */

static uint64_t window_read(const struct ker_config *c, const char *key)
{
    return ker_config_bytes(c, key) << PARTS_BITS;
}

static enum ker_status rtt_read(struct net_network *net, const struct ker_config *c, struct ker_error *error)
{
    struct rtt *rtt = ker_alloc(sizeof *rtt);
    net->congestion_state = rtt;
    rtt->net = net;
    net_pairs_init(&rtt->flows, sizeof(struct flow), flow_idle);
    rtt->target = ker_config_time(c, "congestion.target");
    rtt->growth = window_read(c, "congestion.growth");
    rtt->least = (uint64_t)net->set.most << PARTS_BITS;
    rtt->first = window_read(c, "congestion.window_first");
    rtt->most = window_read(c, "congestion.window_most");
    rtt->backoff = (uint64_t)llround(ldexp(ker_config_real(c, "congestion.backoff"), ONE_BITS));
    rtt->backoff_most = (uint64_t)llround(ldexp(ker_config_real(c, "congestion.backoff_most"), ONE_BITS));
    if (net->faulty || net->lives)
        return ker_config_fail(c, error, "congestion.control",
                               "\"rtt\" is not possible where packets may be lost (faults, switch.head_life, "
                               "switch.packet_life): nothing would acknowledge them");
    if (rtt->first < rtt->least || rtt->most < rtt->first)
        return ker_config_fail(c, error, "congestion.window_first",
                               "must lie between a packet (%u bytes) and congestion.window_most",
                               net->set.most);
    return KER_OK;
}

static void rtt_release(void *state)
{
    net_pairs_release(&((struct rtt *)state)->flows);
    free(state);
}

static const struct ker_option rtt_options[] = {
    {"congestion.target", KER_TYPE_TIME, "5 us", "1 ns", "10 ms", NULL,
     "The round-trip time that a window aims at, from when a packet leaves until its acknowledgement is "
     "back: that of an empty network, and the queue that is wanted."},
    {"congestion.growth", KER_TYPE_BYTES, "1 KiB", "1", "1 GiB", NULL,
     "What a window grows by, each time that all of it has been acknowledged sooner than that."},
    {"congestion.backoff", KER_TYPE_REAL, "0.8", "0.001", "1", NULL,
     "What a window shrinks by at most once a round trip, as a part of the share by which that was too "
     "long."},
    {"congestion.backoff_most", KER_TYPE_REAL, "0.5", "0.001", "0.99", NULL,
     "The most that it shrinks by, as a part of it."},
    {"congestion.window_first", KER_TYPE_BYTES, "64 KiB", "1", "1 GiB", NULL, "The window of a new flow."},
    {"congestion.window_most", KER_TYPE_BYTES, "1 MiB", "1", "1 GiB", NULL, "The largest window."},
    {0},
};

const struct ker_kind net_congestion_rtt = {
    .name = "rtt",
    .meaning =
        "acknowledged packets report round-trip times, and a window of each flow keeps these at a target",
    .operations = &(const struct net_congestion){.read = rtt_read,
                                                 .release = rtt_release,
                                                 .marks = rtt_marks,
                                                 .arrived = rtt_arrived,
                                                 .noticed = rtt_noticed,
                                                 .ready = rtt_ready,
                                                 .sent = rtt_sent,
                                                 .control = true, /* all are acknowledged */
                                                 .save = rtt_save,
                                                 .load = rtt_load},
    .options = KER_OPTIONS(rtt_options, net_cnp_options)};
