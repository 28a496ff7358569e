/* ecn.c - congestion control by explicit congestion notification and injection throttling.
 *
 * A switch marks a packet when the output it is granted has a longer backlog than congestion.threshold; up to
 * congestion.threshold_high only with a probability that grows linearly to 1 (random early detection: Floyd
 * and Jacobson 1993), so that not all flows slow down at once. With congestion.mark = "root" only if the link
 * still has credits for more, so that it is itself what limits the flow and does not only wait for a queue
 * further on (root and victim of congestion in InfiniBand's annex A10). The destination answers marked
 * packets by a cnp, at most one per source and congestion.cnp_gap (DCQCN's CNP interval). Each cnp makes
 * the source multiply the rate of that flow by 1 - congestion.decrease; every congestion.recovery after that
 * the rate grows by congestion.increase of the link's, until the flow is as fast as the link and forgotten.
 * Additive increase recovers from a small rate as fast as from a large one and so lets unequal flows meet
 * (Santos, Turner, Janakiraman: End-to-end congestion control for InfiniBand, INFOCOM 2003; Chiu and Jain
 * 1989). A flow's next packet leaves no earlier than last + wire time / rate.
 *
 * Rates are fixed-point fractions of the link's. A rate is kept as it was after the last cnp; what it is at
 * some time follows from that time alone, so there are no timers. Invariant: an entry is thrown out only when
 * it acts as if it were not there, so that it does not matter when that is done: its flow has recovered, and
 * what it has sent last holds back nothing any more. The second does not follow from the first: the time of
 * the next packet may lie ahead of a rate that has recovered meanwhile.
 */
#include "net/adapter/adapter.h"
#include "net/congestion/congestion.h"
#include "net/credits.h"
#include "net/state.h"

#include <math.h>
#include <stdlib.h>

#define RATE_FULL (1u << 30) /* the link's */

/* A source's flow that is throttled. */
struct throttled {
    struct net_pair pair; /* source; destination */
    uint32_t rate;        /* at `since` */
    uint32_t wire;        /* of the packet sent last, picoseconds */
    ker_time since;       /* the last cnp */
    ker_time last, next;  /* when that packet left; when the next may */
};

/* A destination's last cnp to a source. */
struct notified {
    struct net_pair pair; /* destination; source */
    ker_time last;
};

struct ecn {
    const struct net_network *net;
    struct net_pairs throttled, notified;
    bool root_only;
    uint32_t increase, decrease, minimum; /* of RATE_FULL */
    ker_time recovery, gap;
    uint64_t low[ROUTE_MAX_LINKS],
        high[ROUTE_MAX_LINKS]; /* picoseconds of backlog: nothing is marked up to, everything from */
};

/* ---- rates ---- */

static uint32_t rate_at(const struct ecn *ecn, const struct throttled *t, ker_time when)
{
    uint64_t steps = (uint64_t)((when - t->since) / ecn->recovery), missing = RATE_FULL - t->rate;
    return steps >= (missing + ecn->increase - 1) / ecn->increase ? RATE_FULL
                                                                  : t->rate + (uint32_t)steps * ecn->increase;
}

/* The earliest time t that is not before last + wire / rate(t). */
static ker_time next_time(const struct ecn *ecn, const struct throttled *t)
{
    ker_time at = t->last > t->since ? t->last : t->since;
    for (;;) {
        uint32_t rate = rate_at(ecn, t, at);
        ker_time wanted = t->last + (ker_time)((uint64_t)t->wire * RATE_FULL / rate);
        ker_time grows = t->since + ((at - t->since) / ecn->recovery + 1) * ecn->recovery;
        if (wanted < grows || rate == RATE_FULL)
            return wanted > at ? wanted : at;
        at = grows;
    }
}

static bool throttled_idle(const void *context, const struct net_pair *pair)
{
    const struct ecn *ecn = context;
    const struct throttled *t = (const struct throttled *)pair;
    ker_time all_before =
        ker_engine_handled(ecn->net->engine); /* no node of this rank asks for an earlier time any more */
    return all_before > t->since && t->next <= all_before && rate_at(ecn, t, all_before) == RATE_FULL;
}

static bool notified_idle(const void *context, const struct net_pair *pair)
{
    const struct ecn *ecn = context;
    return ((const struct notified *)pair)->last + ecn->gap <= ker_engine_handled(ecn->net->engine);
}

/* ---- hooks ---- */

static bool ecn_marks(const struct net_network *net, const struct net_at_grant *at, ker_time now)
{
    const struct net_port *out = at->out;
    const struct ecn *ecn = net->congestion_state;
    uint64_t scheduled = out->link_free > now ? (uint64_t)(out->link_free - now) : 0;
    uint64_t waiting =
        (uint64_t)((unsigned __int128)net_waits_of(net, out)->waiting * net->link[out->link].byte_time >>
                   NET_BYTE_TIME_BITS);
    if (ecn->root_only && at->left < credits_of(&net->set, net->set.most))
        return false;
    uint64_t backlog = scheduled + waiting, low = ecn->low[out->link], high = ecn->high[out->link];
    if (backlog <= low || backlog >= high)
        return backlog > low;
    return (unsigned __int128)net_mark_draw(net, at) * (high - low) >> 32 < backlog - low;
}

static void ecn_arrived(struct net_adapter *a, ker_time now, const struct net_packet *p)
{
    struct ecn *ecn = a->net->congestion_state;
    if (!(p->flags & NET_MARKED))
        return;
    struct notified *one = net_pairs_find(&ecn->notified, a->id, p->source);
    if (one && now < one->last + ecn->gap)
        return;
    if (!one && ecn->gap > 0)
        one = net_pairs_add(&ecn->notified, ecn, a->id, p->source);
    if (one)
        one->last = now;
    net_cnp_send(a, now,
                 &(struct net_cnp){.destination = p->source,
                                   .class = (uint8_t)(a->net->set.classes - 1),
                                   .word = p->bytes});
}

/* The first cnp counts as if the marked packet had just been sent. */
static void ecn_cnp_arrived(struct net_adapter *a, ker_time now, const struct net_packet *p)
{
    struct ecn *ecn = a->net->congestion_state;
    struct throttled *t = net_pairs_find(&ecn->throttled, a->id, p->source);
    uint32_t rate = t ? rate_at(ecn, t, now) : RATE_FULL;
    if (!t)
        t = net_pairs_add(&ecn->throttled, ecn, a->id, p->source);
    if (rate == RATE_FULL) {
        a->net->count.throttled_flows++;
        t->last = now;
        t->wire = net_times_of(a->net, a->link, p->index).wire;
    }
    rate -= (uint32_t)((uint64_t)rate * ecn->decrease / RATE_FULL);
    t->rate = rate > ecn->minimum ? rate : ecn->minimum;
    t->since = now;
    t->next = next_time(ecn, t);
}

static ker_time ecn_ready(const struct net_adapter *a, uint32_t destination, unsigned class, ker_time now)
{
    const struct ecn *ecn = a->net->congestion_state;
    const struct throttled *t = net_pairs_find(&ecn->throttled, a->id, destination);
    return t ? t->next : now;
}

static void ecn_sent(struct net_adapter *a, ker_time now, const struct net_packet *p, unsigned class,
                     ker_time wire)
{
    struct net_network *net = a->net;
    struct ecn *ecn = net->congestion_state;
    struct throttled *t = net_pairs_find(&ecn->throttled, a->id, p->destination);
    if (!t)
        return;
    if (rate_at(ecn, t, now) == RATE_FULL) {
        net_pairs_drop(&ecn->throttled, t);
        return;
    }
    ker_check(now >= t->next);
    ker_time could = t->last + t->wire > p->created ? t->last + t->wire : p->created;
    if (t->next > could && net_measures(net, p->created))
        stats_quantity_add(net->throttle, (uint64_t)(t->next - could));
    t->last = now;
    t->wire = (uint32_t)wire;
    t->next = next_time(ecn, t);
}

/* ---- saved state ---- */

enum { SAVED_THROTTLED, SAVED_NOTIFIED }; /* the upper half of a chunk's id */

static void throttled_state(struct ker_chunk *c, struct throttled *t)
{
    KER_CHUNK(c, t->rate, t->wire, t->since, t->last, t->next);
    c->bad |= t->rate > RATE_FULL || t->rate == 0;
}

static void ecn_save(struct net_network *net, struct ker_state_writer *writer)
{
    const struct ecn *ecn = net->congestion_state;
    for (void *one = NULL; (one = net_pairs_next(&ecn->throttled, one)) != NULL;) {
        throttled_state(net_pair_save(writer, one, SAVED_THROTTLED), one);
        ker_state_end(writer);
    }
    for (void *one = NULL; (one = net_pairs_next(&ecn->notified, one)) != NULL;) {
        struct ker_chunk *c = net_pair_save(writer, one, SAVED_NOTIFIED);
        KER_CHUNK(c, ((struct notified *)one)->last);
        ker_state_end(writer);
    }
}

static void ecn_load(struct net_adapter *n, struct ker_chunk *c)
{
    struct ecn *ecn = n->net->congestion_state;
    struct net_pairs *const tables[] = {&ecn->throttled, &ecn->notified};
    void *one = net_pair_load(n, c, tables, 2);
    if (one && c->id >> 32 == SAVED_THROTTLED)
        throttled_state(c, one);
    else if (one)
        KER_CHUNK(c, ((struct notified *)one)->last);
}

/* ---- settings ---- */

static uint32_t fraction_read(const struct ker_config *c, const char *key)
{
    return (uint32_t)llround(ker_config_real(c, key) * RATE_FULL);
}

static void recovery_read(struct ecn *ecn, const struct ker_config *c)
{
    ecn->increase = fraction_read(c, "congestion.increase");
    ecn->recovery = ker_config_time(c, "congestion.recovery");
}

/* Rates have recovered by the former keys until now. When the next packet may leave is as it was. */
static void ecn_forked(struct net_network *net, const struct ker_config *c, ker_time now)
{
    const struct ecn *ecn = net->congestion_state;
    struct ecn former = {0};
    recovery_read(&former, c);
    if (former.increase == ecn->increase && former.recovery == ecn->recovery)
        return;
    for (struct throttled *t = NULL; (t = net_pairs_next(&ecn->throttled, t)) != NULL;) {
        t->rate = rate_at(&former, t, now);
        t->since = now;
    }
}

static enum ker_status ecn_read(struct net_network *net, const struct ker_config *c, struct ker_error *error)
{
    struct ecn *ecn = ker_alloc(sizeof *ecn);
    net->congestion_state = ecn;
    ecn->net = net;
    net_pairs_init(&ecn->throttled, sizeof(struct throttled), throttled_idle);
    net_pairs_init(&ecn->notified, sizeof(struct notified), notified_idle);
    ecn->root_only = ker_config_is(c, "congestion.mark", "root");
    recovery_read(ecn, c);
    ecn->decrease = fraction_read(c, "congestion.decrease");
    ecn->minimum = fraction_read(c, "congestion.minimum");
    ecn->gap = ker_config_time(c, "congestion.cnp_gap");
    uint64_t low = ker_config_bytes(c, "congestion.threshold"), high = low;
    if (ker_config_has(c, "congestion.threshold_high"))
        high = ker_config_bytes(c, "congestion.threshold_high");
    if (high < low)
        return ker_config_fail(c, error, "congestion.threshold_high",
                               "lies below congestion.threshold (%llu bytes)", (unsigned long long)low);
    for (int i = 0; i < route_summarise(net->topology)->link_count; i++) {
        ecn->low[i] = (uint64_t)ker_serialisation(low, net->link[i].rate);
        ecn->high[i] = (uint64_t)ker_serialisation(high, net->link[i].rate);
    }
    return KER_OK;
}

static void ecn_release(void *state)
{
    struct ecn *ecn = state;
    net_pairs_release(&ecn->throttled);
    net_pairs_release(&ecn->notified);
    free(ecn);
}

static const struct ker_option ecn_options[] = {
    {"congestion.threshold", KER_TYPE_BYTES, "32 KiB", "0", "1 TiB", NULL,
     "A packet is marked when the output it is granted has a backlog of more than this, scheduled and "
     "waiting.",
     .resume = KER_RESUME_FORK},
    {"congestion.threshold_high", KER_TYPE_BYTES, NULL, "0", "1 TiB", NULL,
     "Between congestion.threshold and this, packets are marked with a probability that grows linearly from "
     "0 to 1. Absent: all are marked from congestion.threshold on.",
     .resume = KER_RESUME_FORK},
    {"congestion.mark", KER_TYPE_CHOICE, "root", NULL, NULL, "root|all",
     "Which outputs mark: those with credits left for another packet, so that the link itself is the "
     "bottleneck; or those that only wait for a queue further on, too.",
     .resume = KER_RESUME_FORK},
    {"congestion.decrease", KER_TYPE_REAL, "0.2", "0.001", "1", NULL,
     "A CNP lowers the rate of its flow by this fraction.", .resume = KER_RESUME_FORK},
    {"congestion.minimum", KER_TYPE_REAL, "0.001", "0.000001", "1", NULL,
     "Lowest rate of a flow, as a fraction of the injection link's.", .resume = KER_RESUME_FORK},
    {"congestion.increase", KER_TYPE_REAL, "0.001", "0.000001", "1", NULL,
     "What a throttled flow's rate grows by every congestion.recovery, as a fraction of the injection "
     "link's.",
     .resume = KER_RESUME_FORK},
    {"congestion.recovery", KER_TYPE_TIME, "5 us", "1 ns", "1 s", NULL,
     "Time between two increases of a throttled flow's rate, counted from its last CNP.",
     .resume = KER_RESUME_FORK},
    {"congestion.cnp_gap", KER_TYPE_TIME, "5 us", "0 ps", "1 s", .formerly = "congestion.notice_gap",
     .meaning =
         "A destination sends a source at most one CNP in this time. Longer than a packet and its CNP are "
         "in flight, or rates fall too low.",
     .resume = KER_RESUME_FORK},
    {0},
};

const struct ker_kind net_congestion_ecn = {
    .name = "ecn",
    .meaning =
        "switches mark by backlog, destinations notify, sources lower the flow's rate and let it recover",
    .operations =
        &(const struct net_congestion){
            .read = ecn_read,
            .release = ecn_release,
            .marks = ecn_marks,
            .arrived = ecn_arrived,
            .noticed = ecn_cnp_arrived,
            .ready = ecn_ready,
            .sent = ecn_sent,
            .save = ecn_save,
            .load = ecn_load,
            .forked = ecn_forked,
        },
    .options = KER_OPTIONS(ecn_options, net_cnp_options)};
