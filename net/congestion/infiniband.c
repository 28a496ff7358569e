/* infiniband.c - congestion control as annex A10 of the InfiniBand specification has it (1.3, volume 1).
 *
 * A switch marks a packet (FECN) that leaves an output for which more waits on its lane than the threshold,
 * if the output is a root of congestion: it has credits for more, or its port is in the victim mask. Of such
 * packets one in 1 + marking_rate is marked. The destination answers every marked packet by a notification
 * (BECN, here a CNP). A notification adds ccti_increase to the flow's index into the congestion control table
 * (CCT); a timer that runs all the time takes 1 off at each of its ends. Behind a packet that takes w on the
 * link a source leaves w x cct[index] free, the index being that of when the packet left.
 *
 * The timer is closed form: how often it has ended between two times follows from these. So an entry keeps
 * the index as it was at some time.
 */
#include "net/adapter/adapter.h"
#include "net/congestion/congestion.h"
#include "net/credits.h"
#include "net/state.h"

#include <stdlib.h>
#include <string.h>

#define ENTRIES (128 * 64)
#define BLOCK 64u        /* bytes */
#define TICK 1024000     /* ps of ccti_timer */
#define SHIFT_MOST 15u   /* hardware: 3 */
#define MULTIPLIER 16383 /* at most: 14 bits */

struct factor {
    uint16_t multiplier;
    uint8_t shift;
};

/* What a source holds back: a flow, or a class. */
struct governed {
    struct net_pair pair;          /* source; destination, or class */
    uint32_t index, highest, peak; /* index: at `since`; highest: of all, of this period */
    ker_time since;
    ker_time left, next; /* when its last packet left; when the next may */
    uint32_t wire;       /* of that packet, picoseconds */
    uint64_t becns, sum; /* sum: of the index over the measured span, until `since` */
    uint64_t last[2];    /* these at the end of the last period */
};

/* When a source's timer began. */
struct begun {
    struct net_pair pair; /* source; 0 */
    ker_time at;
};

struct a10 {
    const struct net_network *net;
    struct net_pairs governed, begun;
    struct factor *cct;
    uint32_t increase, limit, minimum, rate;
    ker_time timer;
    uint64_t threshold; /* bytes on a lane of an output; UINT64_MAX: nothing is marked */
    uint32_t packets;   /* others that wait; 0: by threshold */
    uint32_t least;     /* bytes of a packet that may be marked */
    uint64_t victims[4];
    bool adapters_mark, counted, by_class, from_packet, own_lane;
};

/* ---- the index ---- */

static ker_time timer_begin(const struct a10 *a10, uint32_t source)
{
    const struct begun *b = a10->from_packet ? net_pairs_find(&a10->begun, source, 0) : NULL;
    return b ? b->at : 0;
}

/* The next end of the timer after `when`. */
static ker_time timer_next(const struct a10 *a10, ker_time begin, ker_time when)
{
    return when < begin ? begin + a10->timer : begin + ((when - begin) / a10->timer + 1) * a10->timer;
}

/* Brings the entry up to `now`. Each step takes 1 off the index, so that there are no more than were added.
 */
static void index_update(const struct a10 *a10, struct governed *g, ker_time now)
{
    ker_time begin = timer_begin(a10, net_pair_endpoint(&g->pair));
    while (g->since < now) {
        ker_time until = g->index > a10->minimum ? timer_next(a10, begin, g->since) : now;
        bool ends = until <= now && g->index > a10->minimum;
        until = ker_time_min(until, now);
        g->sum += g->index * net_measured_part(a10->net, g->since, until - g->since);
        g->since = until;
        g->index -= ends;
    }
}

/* Entries stay: what has come of them is reported. */
static bool never_idle(const void *context, const struct net_pair *pair)
{
    return false;
}

static uint32_t governed_of(const struct a10 *a10, uint32_t destination, unsigned class)
{
    return a10->by_class ? class : destination;
}

static struct governed *governed_add(struct a10 *a10, const struct net_adapter *a, uint32_t other)
{
    struct governed *g = net_pairs_add(&a10->governed, a10, a->id, other);
    g->index = g->highest = g->peak = a10->minimum;
    return g;
}

/* ---- hooks ---- */

static bool is_root(const struct a10 *a10, const struct net_at_grant *at)
{
    if (at->left >= credits_of(&a10->net->set, a10->net->set.most))
        return true;
    return (a10->adapters_mark && at->out->due.ends_at_adapter) ||
           (at->port < 256 && a10->victims[at->port / 64] >> at->port % 64 & 1);
}

/* Does more than the threshold wait, the packet among it? */
static bool is_crowded(const struct a10 *a10, const struct net_at_grant *at, bool heads)
{
    uint64_t bytes = at->packet->bytes;
    if (a10->packets)
        return net_lane_holds(at, UINT64_MAX, a10->packets - 1, heads);
    return bytes > a10->threshold || net_lane_holds(at, a10->threshold - bytes, UINT32_MAX, heads);
}

static bool a10_comes(const struct net_network *net, const struct net_at_grant *at)
{
    return is_crowded(net->congestion_state, at, false);
}

static bool a10_marks(const struct net_network *net, const struct net_at_grant *at, ker_time now)
{
    const struct a10 *a10 = net->congestion_state;
    const struct net_packet *p = at->packet;
    if (!is_root(a10, at))
        return false;
    bool full = net->looks ? (p->flags & NET_BEHIND) != 0 : is_crowded(a10, at, true);
    if (!full || p->bytes < a10->least)
        return false;
    if (a10->counted)
        return at->number % (a10->rate + 1) == 0;
    return (uint64_t)net_mark_draw(net, at) * (a10->rate + 1) >> 32 == 0;
}

static void a10_arrived(struct net_adapter *a, ker_time now, const struct net_packet *p)
{
    const struct a10 *a10 = a->net->congestion_state;
    unsigned class = p->channel / a->net->set.channels;
    struct net_cnp cnp = {.destination = p->source,
                          .class = (uint8_t)(a10->own_lane ? a->net->set.classes - 1 : class),
                          .word = (uint16_t) class};
    if (p->flags & NET_MARKED)
        net_cnp_send(a, now, &cnp);
}

static void a10_noticed(struct net_adapter *a, ker_time now, const struct net_packet *p)
{
    struct a10 *a10 = a->net->congestion_state;
    uint32_t other = governed_of(a10, p->source, p->index);
    struct governed *g = net_pairs_find(&a10->governed, a->id, other);
    if (!g)
        g = governed_add(a10, a, other);
    index_update(a10, g, now);
    if (g->index == a10->minimum)
        a->net->count.throttled_flows++;
    g->index += a10->increase;
    if (g->index > a10->limit)
        g->index = a10->limit;
    if (g->index > g->highest)
        g->highest = g->index;
    if (g->index > g->peak)
        g->peak = g->index;
    g->becns++;
}

static ker_time a10_ready(const struct net_adapter *a, uint32_t destination, unsigned class, ker_time now)
{
    const struct a10 *a10 = a->net->congestion_state;
    const struct governed *g = net_pairs_find(&a10->governed, a->id, governed_of(a10, destination, class));
    return g ? g->next : now;
}

static void a10_sent(struct net_adapter *a, ker_time now, const struct net_packet *p, unsigned class,
                     ker_time wire)
{
    struct net_network *net = a->net;
    struct a10 *a10 = net->congestion_state;
    uint32_t other = governed_of(a10, p->destination, class);
    struct governed *g = net_pairs_find(&a10->governed, a->id, other);
    if (a10->from_packet && !net_pairs_find(&a10->begun, a->id, 0))
        ((struct begun *)net_pairs_add(&a10->begun, a10, a->id, 0))->at = now;
    if (!g && !a10->cct[a10->minimum].multiplier)
        return;
    if (!g)
        g = governed_add(a10, a, other);
    index_update(a10, g, now);
    ker_time could = g->left + g->wire > p->created ? g->left + g->wire : p->created;
    if (g->wire && g->next > could && net_measures(net, p->created))
        stats_quantity_add(net->throttle, (uint64_t)(g->next - could));
    const struct factor *f = &a10->cct[g->index];
    g->left = now;
    g->wire = (uint32_t)wire;
    g->next = now + wire + (ker_time)(((uint64_t)wire * f->multiplier) >> f->shift);
}

static void a10_rows(const struct net_network *net, struct stats_table *table, ker_time at)
{
    const struct a10 *a10 = net->congestion_state;
    bool all = at == KER_TIME_MAX;
    for (struct governed *g = NULL; (g = net_pairs_next(&a10->governed, g)) != NULL;) {
        index_update(a10, g, all ? net->set.measure_to : at); /* the same in one step or in several */
        struct net_congestion_row row = {.at = at,
                                         .source = net_pair_endpoint(&g->pair),
                                         .destination = a10->by_class ? UINT32_MAX : g->pair.other,
                                         .class = a10->by_class ? g->pair.other : UINT32_MAX,
                                         .index_max = all ? g->highest : g->peak,
                                         .notices = g->becns,
                                         .index_sum = g->sum};
        g->peak = g->index;
        if (!all)
            stats_series_since("congestion_series", &row.notices, g->last, 2);
        if (all ? row.notices : row.notices || row.index_max > a10->minimum)
            stats_table_add(table, &row);
    }
}

/* ---- saved state ---- */

enum { SAVED_GOVERNED, SAVED_BEGUN }; /* the upper half of a chunk's id */

static void governed_state(const struct a10 *a10, struct ker_chunk *c, struct governed *g)
{
    KER_CHUNK(c, g->index, g->highest, g->peak, g->since, g->left, g->next, g->wire, g->becns, g->sum,
              g->last[0], g->last[1]);
    c->bad |= g->index > a10->limit || g->index < a10->minimum;
}

static void a10_save(struct net_network *net, struct ker_state_writer *writer)
{
    const struct a10 *a10 = net->congestion_state;
    for (struct governed *g = NULL; (g = net_pairs_next(&a10->governed, g)) != NULL;) {
        governed_state(a10, net_pair_save(writer, g, SAVED_GOVERNED), g);
        ker_state_end(writer);
    }
    for (struct begun *b = NULL; (b = net_pairs_next(&a10->begun, b)) != NULL;) {
        struct ker_chunk *c = net_pair_save(writer, b, SAVED_BEGUN);
        KER_CHUNK(c, b->at);
        ker_state_end(writer);
    }
}

static void a10_load(struct net_adapter *n, struct ker_chunk *c)
{
    struct a10 *a10 = n->net->congestion_state;
    struct net_pairs *const tables[] = {&a10->governed, &a10->begun};
    void *one = net_pair_load(n, c, tables, 2);
    if (one && c->id >> 32 == SAVED_GOVERNED)
        governed_state(a10, c, one);
    else if (one)
        KER_CHUNK(c, ((struct begun *)one)->at);
}

/* ---- settings ---- */

/* "3", "3/8" or "3/2^3". */
static bool factor_read(const char *text, struct factor *f)
{
    char *end;
    unsigned long m = strtoul(text, &end, 10), of = 1, shift = 0;
    if (end == text || m > MULTIPLIER)
        return false;
    if (strncmp(end, "/2^", 3) == 0) {
        shift = strtoul(end + 3, &end, 10);
    } else if (*end == '/') {
        of = strtoul(end + 1, &end, 10);
        for (; of > 1 && of % 2 == 0; of /= 2)
            shift++;
    }
    *f = (struct factor){(uint16_t)m, (uint8_t)shift};
    return *end == '\0' && of == 1 && shift <= SHIFT_MOST;
}

static enum ker_status cct_read(struct a10 *a10, const struct ker_config *c, struct ker_error *error)
{
    const char *key = "congestion.cct";
    int count = ker_config_count(c, key);
    bool linear = count == 0 || (count == 1 && strcmp(ker_config_string_at(c, key, 0), "linear") == 0);
    uint32_t entries = linear ? 128 : (uint32_t)count;
    if (entries > ENTRIES)
        return ker_config_fail(c, error, key, "has %u entries; at most %d (128 blocks of 64)", entries,
                               ENTRIES);
    a10->cct = ker_alloc(sizeof *a10->cct * entries);
    for (uint32_t i = 0; i < entries; i++) {
        struct factor *f = &a10->cct[i];
        *f = (struct factor){(uint16_t)i, 0};
        if (!linear && !factor_read(ker_config_string_at(c, key, (int)i), f))
            return ker_config_fail(
                c, error, key,
                "entry %u, \"%s\", is no multiplier/2^shift, such as 3/2^1: a multiplier of at "
                "most %d, a shift of at most %u",
                i, ker_config_string_at(c, key, (int)i), MULTIPLIER, SHIFT_MOST);
        if (i && (uint64_t)f->multiplier << f[-1].shift < (uint64_t)f[-1].multiplier << f->shift)
            return ker_config_fail(c, error, key, "entry %u is less than the one before it: they must ascend",
                                   i);
    }
    if (a10->limit >= entries)
        return ker_config_fail(c, error, "congestion.ccti_limit",
                               "%u lies behind the end of congestion.cct, which has %u entries", a10->limit,
                               entries);
    if (a10->minimum > a10->limit)
        return ker_config_fail(c, error, "congestion.ccti_min", "%u is more than congestion.ccti_limit (%u)",
                               a10->minimum, a10->limit);
    return KER_OK;
}

/* "", "adapters", or a mask of ports in hexadecimal digits, port 0 in the lowest bit. */
static enum ker_status victims_read(struct a10 *a10, const struct ker_config *c, struct ker_error *error)
{
    const char *text = ker_config_string(c, "congestion.victim_mask");
    a10->adapters_mark = strcmp(text, "adapters") == 0;
    if (!*text || a10->adapters_mark)
        return KER_OK;
    size_t digits = strncmp(text, "0x", 2) == 0 ? strlen(text + 2) : 0;
    if (digits == 0 || digits > 64 || strspn(text + 2, "0123456789abcdefABCDEF") != digits)
        return ker_config_fail(c, error, "congestion.victim_mask",
                               "\"%s\" is neither \"adapters\" nor a mask of at most 256 ports, such as 0x3e",
                               text);
    for (size_t i = 0; i < digits; i++) {
        char digit[2] = {text[2 + digits - 1 - i], '\0'};
        a10->victims[i / 16] |= (uint64_t)strtoul(digit, NULL, 16) << 4 * (i % 16);
    }
    return KER_OK;
}

static enum ker_status a10_read(struct net_network *net, const struct ker_config *c, struct ker_error *error)
{
    struct a10 *a10 = ker_alloc(sizeof *a10);
    net->congestion_state = a10;
    a10->net = net;
    net_pairs_init(&a10->governed, sizeof(struct governed), never_idle);
    net_pairs_init(&a10->begun, sizeof(struct begun), never_idle);
    uint32_t weight = (uint32_t)ker_config_int(c, "congestion.sw_threshold");
    a10->threshold = weight ? (uint64_t)net->set.buffer * (16 - weight) / 16 : UINT64_MAX;
    if (ker_config_has(c, "congestion.sw_packets"))
        a10->packets = (uint32_t)ker_config_int(c, "congestion.sw_packets");
    a10->rate = (uint32_t)ker_config_int(c, "congestion.marking_rate");
    a10->counted = ker_config_is(c, "congestion.marking", "counted");
    a10->least = (uint32_t)ker_config_int(c, "congestion.packet_size") * BLOCK;
    a10->increase = (uint32_t)ker_config_int(c, "congestion.ccti_increase");
    a10->limit = (uint32_t)ker_config_int(c, "congestion.ccti_limit");
    a10->minimum = (uint32_t)ker_config_int(c, "congestion.ccti_min");
    a10->timer = ker_config_int(c, "congestion.ccti_timer") * TICK;
    a10->from_packet = ker_config_is(c, "congestion.ccti_begin", "first_packet");
    a10->by_class = ker_config_is(c, "congestion.by", "sl");
    net->looks = ker_config_is(c, "congestion.seen", "arrival");
    a10->own_lane = ker_config_is(c, "congestion.cnp_lane", "own");
    enum ker_status status = cct_read(a10, c, error);
    return status == KER_OK ? victims_read(a10, c, error) : status;
}

static void a10_release(void *state)
{
    struct a10 *a10 = state;
    net_pairs_release(&a10->governed);
    net_pairs_release(&a10->begun);
    free(a10->cct);
    free(a10);
}

static const struct ker_option a10_options[] = {
    {"congestion.sw_threshold", KER_TYPE_INT, "15", "0", "15", NULL,
     "Switches mark packets when more than switch.buffer x (16 - this) / 16 waits on their lane for their "
     "output, the packet itself among it. 0: nothing is marked."},
    {"congestion.sw_packets", KER_TYPE_INT, NULL, "1", "1000000", NULL,
     "In place of that: from this number of other packets on."},
    {"congestion.seen", KER_TYPE_CHOICE, "departure", NULL, NULL, "departure|arrival",
     "When the threshold counts: when the packet leaves; or when it comes, of others those that are not the "
     "first of their input."},
    {"congestion.marking_rate", KER_TYPE_INT, "0", "0", "65535", NULL,
     "Of packets that could be marked this many are not, in the mean, between two that are."},
    {"congestion.marking", KER_TYPE_CHOICE, "drawn", NULL, NULL, "drawn|counted",
     "Which are marked: each with the same chance; or those that are a multiple of marking_rate + 1 among "
     "all packets of the output."},
    {"congestion.packet_size", KER_TYPE_INT, "0", "0", "255", NULL,
     "Packets of less than this many blocks of 64 B are not marked."},
    {"congestion.victim_mask", KER_TYPE_STRING, "", NULL, NULL, NULL,
     "Ports of switches that mark even when they lack credits for more, and only wait for a queue further "
     "on: \"adapters\" (those with an adapter), or a mask such as \"0x3e\" (ports 1 to 5). Others mark only "
     "as roots, with credits left."},
    {"congestion.ccti_increase", KER_TYPE_INT, "1", "1", "255", NULL,
     "What a notification adds to the index of its flow."},
    {"congestion.ccti_limit", KER_TYPE_INT, "127", "0", "8191", NULL, "The highest index."},
    {"congestion.ccti_min", KER_TYPE_INT, "0", "0", "255", NULL,
     "The lowest index: that of a flow which was never notified."},
    {"congestion.ccti_timer", KER_TYPE_INT, "150", "1", "65535", NULL,
     "A timer takes 1 off every index each time that this x 1.024 us have passed."},
    {"congestion.ccti_begin", KER_TYPE_CHOICE, "start", NULL, NULL, "start|first_packet",
     "When the timers begin: all at time 0, or a source's with its first packet."},
    {"congestion.cct", KER_TYPE_STRING | KER_TYPE_LIST, "linear", NULL, NULL, NULL,
     "The congestion control table: for each index how long a source waits behind a packet, in times that "
     "the packet takes, as multiplier/2^shift: [\"0\", \"1/2^1\", \"1\", \"3/2^1\"]. linear: entry i is i, "
     "128 of them."},
    {"congestion.by", KER_TYPE_CHOICE, "flow", NULL, NULL, "flow|sl",
     "What a notification holds back: what the source sends to that destination, or all that it sends in "
     "that priority class."},
    {"congestion.cnp_lane", KER_TYPE_CHOICE, "own", NULL, NULL, "own|flow",
     "Notifications travel in the highest priority class, or in that of what they are about."},
    {0},
};

const struct ker_kind net_congestion_infiniband = {
    .name = "infiniband",
    .meaning =
        "annex A10: switches mark (FECN), destinations notify (BECN), sources leave gaps by a table (CCT)",
    .operations = &(const struct net_congestion){.read = a10_read,
                                                 .release = a10_release,
                                                 .counts = true,
                                                 .marks = a10_marks,
                                                 .comes = a10_comes,
                                                 .arrived = a10_arrived,
                                                 .noticed = a10_noticed,
                                                 .ready = a10_ready,
                                                 .sent = a10_sent,
                                                 .save = a10_save,
                                                 .load = a10_load,
                                                 .rows = a10_rows},
    .options = KER_OPTIONS(a10_options, net_cnp_options)};
