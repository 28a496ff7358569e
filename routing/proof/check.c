/* check.c - is a routing algorithm on a given topology free of deadlock?
 *
 * Walks all paths a packet can take, one destination after the other. A state is the channel the packet came
 * in by and the algorithm's own bits, and its source and the hops behind it where the algorithm looks at
 * them. A channel is named by its receiving end (switch, port, virtual channel); channels that are alike are
 * one, the first of them. What an algorithm draws is not drawn here: at every hop all outcomes are enumerated
 *  (struct route_oracle), whatever was drawn before: more paths than there are, never fewer.
 *
 * Whenever a packet in one channel may wait for another, an edge leads there. The graph must have no cycle
 * (Dally and Seitz, 1987). Choices beside an escape are taken only if the buffer behind them has room for the
 * whole packet, so nobody ever waits for these channels; packets in them wait for escapes. As a packet has
 * left the buffer before once it may wait for the next (virtual cut-through: a grant holds the credits for
 * all of it), it holds one channel at a time, and edges from the channel it is in are all there are. (Duato's
 * indirect dependencies, 1993, are those of wormhole switching, where a packet lies across several.)
 *
 * With faults a packet may meet the network of any time at any hop: the walk asks for each of them, and a
 * packet that waits may have to be routed around when its link goes down (route_next_repair).
 *
 * Where a table says it all, tables.c does the same without asking.
 *
 * The part of a path that does not look at the destination (route_algorithm.away) is walked once for all
 * destinations; where it ends, the `border`, every destination's walk begins, too. Not every packet to every
 * destination takes part in all of it, so a cycle that is found this way is looked for once more without.
 */
#include "routing/proof/check.h"

#include "routing/faults/faults.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define TO_ENDPOINT 0x80000000u /* peer[]: an endpoint's number; below it a row */
#define PROBE_FIRST                                                                                          \
    20000 /* questions: in this many states an algorithm is asked whether it looks at what it says it does   \
             not, ... */
#define PROBE_EVERY 16 /* ... and then in every 16th */
#define CYCLE_SHOWN 10 /* channels of a cycle that are written out */

struct state {
    uint32_t in, bits, source; /* channel; the algorithm's state and the hops above it; 0 unless by_source */
};

struct walk {
    const struct route_topology *topology;
    struct ker_error *error;
    uint32_t *first_port;    /* ports of all switches in one row */
    uint32_t *peer, *owner;  /* of each place in that row: the place at the other end, TO_ENDPOINT + endpoint,
                                NONE; its switch */
    uint32_t rows, channels; /* of each port, the one for paths around faults included */
    ker_time *when;          /* each beginning of a time with faults of its own */
    uint32_t times;          /* 0: no faults */
    uint32_t *source, *destination; /* endpoints to walk from and to */
    uint32_t sources, destinations;
    uint64_t work, max_work,
        price; /* price: of a question; higher where tables are too large for the caches */
    bool by_source, by_hops, plain; /* plain: each destination by itself, without route_algorithm.away */
    bool surprised;                 /* the algorithm looks at more than it said: begin again */
    struct route_dependencies waits;
    struct ker_table seen, away, ends; /* of this destination; of all; the border's */
    bool from_away;                    /* what is being expanded */
    struct state *todo, *border;
    size_t todos, todo_room, borders, border_room;
    uint32_t to; /* the destination */
};

/* ---- sets of states ---- */

KER_TABLE_KEY(static, states, struct state, source);

/* Returns whether it is new. */
static bool state_add(struct ker_table *set, const struct state *s)
{
    bool is_new;
    struct state key = {s->in + 1, s->bits, s->source}; /* 0 is free */
    struct state *at = ker_table_add(&states, set, &key, &is_new);
    *at = key;
    return is_new;
}

static void state_append(struct state **list, size_t *count, size_t *room, const struct state *s)
{
    *KER_PUSH(*list, *count, *room) = *s;
}

/* ---- the walk ---- */

static struct route_packet packet_in(const struct walk *walk, const struct state *s, uint32_t switch_id)
{
    uint32_t row = s->in / walk->channels;
    bool injected = walk->peer[row] >= TO_ENDPOINT;
    return (struct route_packet){.address = route_address(walk->topology, walk->to),
                                 .source = injected ? walk->peer[row] & ~TO_ENDPOINT : s->source,
                                 .destination = walk->to,
                                 .state = s->bits & 0xffffffu,
                                 .in_port = (uint16_t)(row - walk->first_port[switch_id]),
                                 .in_channel = (uint8_t)(s->in % walk->channels),
                                 .hops = walk->by_hops ? (uint8_t)(s->bits >> 24) : !injected};
}

static bool is_away(const struct walk *walk, const struct state *s)
{
    if (!walk->topology->algorithm->away || walk->times ||
        walk->plain) /* paths around faults depend on the destination */
        return false;
    uint32_t switch_id = walk->owner[s->in / walk->channels];
    const struct route_packet packet = packet_in(walk, s, switch_id);
    return walk->topology->algorithm->away(walk->topology, route_coordinate(walk->topology, switch_id),
                                           &packet);
}

static void push(struct walk *walk, const struct state *s)
{
    bool away = is_away(walk, s);
    if (walk->from_away && !away && state_add(&walk->ends, s))
        state_append(&walk->border, &walk->borders, &walk->border_room, s);
    if (state_add(away ? &walk->away : &walk->seen, s))
        state_append(&walk->todo, &walk->todos, &walk->todo_room, s);
}

/* `time`: which of walk->when; of the times beyond them only what a packet does that waits when something
 * goes down. */
static int ask(const struct walk *walk, uint32_t time, uint32_t switch_id, const struct route_packet *packet,
               struct route_choice *choices)
{
    const struct route_topology *topology = walk->topology;
    if (time < walk->times)
        return route_next_faulty(topology, walk->when[time], route_coordinate(topology, switch_id), switch_id,
                                 packet, choices);
    if (walk->times)
        return route_next_repair(topology, walk->when[time - walk->times], switch_id, packet, choices);
    return walk->topology->algorithm->next(walk->topology, route_coordinate(walk->topology, switch_id),
                                           switch_id, packet, choices);
}

static inline uint32_t class_of(const struct route_choice *c)
{
    return c->channel_count ? c->first_channel : c->channel;
}

static bool same_answer(const struct walk *walk, uint32_t switch_id, struct route_packet packet,
                        const struct route_choice *expected, int count)
{
    struct route_choice choices[ROUTE_MAX_CHOICES];
    struct route_oracle oracle = {0};
    packet.oracle = &oracle;
    if (ask(walk, 0, switch_id, &packet, choices) != count)
        return false;
    for (int i = 0; i < count; i++)
        if (choices[i].port != expected[i].port || class_of(&choices[i]) != class_of(&expected[i]) ||
            choices[i].state != expected[i].state || (choices[i].flags ^ expected[i].flags) & ROUTE_ESCAPE)
            return false;
    return true;
}

/* An algorithm that forgot to say that it looks at the source, or at the hops, is found out: the other path
 * of asking gives another answer. Only the first of all that may be drawn is asked for. */
static void probe(struct walk *walk, uint32_t switch_id, struct route_packet packet)
{
    struct route_choice choices[ROUTE_MAX_CHOICES];
    struct route_oracle oracle = {0};
    packet.oracle = &oracle;
    int count = ask(walk, 0, switch_id, &packet, choices);
    if (!walk->by_source &&
        packet.hops > 0) { /* at its first switch a packet's own source is asked for anyway */
        struct route_packet other = packet;
        other.source = walk->source[route_mix((uint32_t)walk->work, 7) % walk->sources];
        if (!same_answer(walk, switch_id, other, choices, count))
            walk->by_source = walk->surprised = true;
    }
    if (!walk->by_hops && packet.hops > 0) {
        struct route_packet other = packet;
        other.hops = (uint8_t)(2 + walk->work % 5);
        if (!same_answer(walk, switch_id, other, choices, count))
            walk->by_hops = walk->surprised = true;
    }
}

static enum ker_status follow(struct walk *walk, const struct state *from, uint32_t switch_id,
                              const struct route_choice *choice, bool waits)
{
    uint32_t peer = choice->port < route_ports(walk->topology, switch_id)
                        ? walk->peer[walk->first_port[switch_id] + choice->port]
                        : NONE;
    if (peer == (TO_ENDPOINT | walk->to))
        return KER_OK;
    if (peer >= TO_ENDPOINT || class_of(choice) >= walk->channels)
        return ker_fail(walk->error, KER_RUN_FAILED,
                        "routing to node %u leaves switch %u by port %u, channel %u, which does not lead on",
                        walk->to, switch_id, choice->port, class_of(choice));
    uint32_t hops = from->bits >> 24, more = hops < 255 ? hops + 1 : 255;
    struct state next = {peer * walk->channels + class_of(choice),
                         (choice->state & 0xffffffu) | (walk->by_hops ? more << 24 : 0), from->source};
    if (waits && walk->peer[from->in / walk->channels] < TO_ENDPOINT)
        route_dependencies_add_example(&walk->waits, from->in, next.in, walk->to);
    push(walk, &next);
    return KER_OK;
}

/* What may happen to a packet in this state at that time. */
static enum ker_status expand_at(struct walk *walk, struct state from, uint32_t time)
{
    uint32_t switch_id = walk->owner[from.in / walk->channels];
    struct route_packet packet = packet_in(walk, &from, switch_id);
    struct route_choice choices[ROUTE_MAX_CHOICES];
    struct route_oracle oracle = {0};
    uint64_t questions = walk->work / walk->price;
    if (time == 0 && (questions < PROBE_FIRST || questions % PROBE_EVERY == 0))
        probe(walk, switch_id, packet);
    packet.oracle = &oracle;
    do {
        int count = ask(walk, time, switch_id, &packet, choices);
        bool any_escape = false;
        walk->work += walk->price;
        for (int i = 0; i < count; i++)
            any_escape |= (choices[i].flags & ROUTE_ESCAPE) != 0;
        for (int i = 0; i < count; i++) {
            enum ker_status status =
                follow(walk, &from, switch_id, &choices[i], !any_escape || choices[i].flags & ROUTE_ESCAPE);
            if (status != KER_OK)
                return status;
        }
    } while (route_oracle_advance(&oracle));
    return KER_OK;
}

static enum ker_status expand(struct walk *walk, struct state from)
{
    enum ker_status status = expand_at(walk, from, 0);
    for (uint32_t time = 1; time < 2 * walk->times && status == KER_OK; time++)
        if (time != walk->times) /* at first nothing goes down */
            status = expand_at(walk, from, time);
    return status;
}

/* All paths to one destination. */
static enum ker_status walk_destination(struct walk *walk)
{
    enum ker_status status = KER_OK;
    uint32_t planes = walk->topology->summary.planes;
    ker_table_clear(&states, &walk->seen);
    walk->todos = 0;
    for (size_t i = 0; i < walk->borders; i++)
        push(walk, &walk->border[i]);
    for (uint32_t i = 0; i < walk->sources; i++) {
        uint32_t at, source = walk->source[i];
        uint16_t port;
        if (source == walk->to || source % planes != walk->to % planes) /* planes never meet */
            continue;
        route_attachment(walk->topology, source, &at, &port);
        push(walk, &(struct state){(walk->first_port[at] + port) * walk->channels, 0,
                                   walk->by_source ? source : 0});
    }
    while (status == KER_OK && walk->todos > 0 && !walk->surprised && walk->work < walk->max_work) {
        struct state s = walk->todo[--walk->todos];
        walk->from_away = is_away(walk, &s);
        status = expand(walk, s);
        walk->from_away = false;
    }
    return status;
}

static enum ker_status walk_all(struct walk *walk, struct route_proof *proof)
{
    enum ker_status status = KER_OK;
    do {
        walk->surprised = false;
        route_dependencies_release(&walk->waits);
        ker_table_release(&walk->away);
        ker_table_release(&walk->ends);
        walk->borders = 0;
        proof->walked = 0;
        while (status == KER_OK && proof->walked < walk->destinations && walk->work < walk->max_work &&
               !walk->surprised) {
            walk->to = walk->destination[proof->walked];
            status = walk_destination(walk);
            proof->walked += walk->work < walk->max_work && !walk->surprised;
        }
    } while (walk->surprised && status == KER_OK);
    return status;
}

/* ---- from where to where ---- */

/* Ports in one row, and where each leads. false: they are too many to be walked. */
static bool rows_make(struct walk *walk)
{
    const struct route_topology *topology = walk->topology;
    uint32_t switches = topology->summary.switches;
    uint64_t rows = 0;
    if (switches > walk->max_work)
        return false;
    walk->first_port = ker_alloc((switches + 1ull) * sizeof *walk->first_port);
    for (uint32_t s = 0; s < switches; s++) {
        walk->first_port[s] = (uint32_t)rows;
        rows += route_ports(topology, s);
        if (rows * walk->channels >= NONE || rows > walk->max_work || rows >= TO_ENDPOINT)
            return false;
    }
    walk->rows = walk->first_port[switches] = (uint32_t)rows;
    walk->price = 1 + (rows >> 20);
    if (rows * walk->price > walk->max_work / 2) /* not one destination would be done with */
        return false;
    walk->peer = ker_alloc((rows + 1) * sizeof *walk->peer);
    walk->owner = ker_alloc((rows + 1) * sizeof *walk->owner);
    for (uint32_t s = 0; s < switches; s++)
        for (uint32_t row = walk->first_port[s]; row < walk->first_port[s + 1]; row++) {
            struct route_peer peer;
            route_port(topology, s, row - walk->first_port[s], &peer);
            walk->owner[row] = s;
            walk->peer[row] = peer.kind == ROUTE_ENDPOINT ? TO_ENDPOINT | peer.id
                              : peer.kind == ROUTE_SWITCH ? walk->first_port[peer.id] + peer.port
                                                          : NONE;
        }
    return true;
}

/* ---- the report ---- */

/* By its sending end: "switch 3 port 5 (level 2 link to switch 9) channel 1" */
static void channel_name(const struct walk *walk, uint32_t channel, char *text, size_t room)
{
    uint32_t row = channel / walk->channels, from = walk->peer[row], at = walk->owner[from];
    struct route_peer peer;
    route_port(walk->topology, at, from - walk->first_port[at], &peer);
    char coordinate[ROUTE_CALLED_BYTES], there[ROUTE_CALLED_BYTES];
    snprintf(text, room, "switch %s port %u (%s link to switch %s) channel %u",
             route_called(walk->topology, false, at, coordinate), from - walk->first_port[at],
             walk->topology->summary.link[peer.link].name,
             route_called(walk->topology, false, walk->owner[row], there), channel % walk->channels);
}

static enum ker_status cycle_report(const struct walk *walk, const struct route_cycle *cycle)
{
    char text[3072], name[240], next[240];
    size_t used = 0;
    uint32_t shown = cycle->length <= CYCLE_SHOWN ? cycle->length : CYCLE_SHOWN - 1;
    for (uint32_t i = 0; i < shown; i++) {
        uint32_t to = cycle->channel[(i + 1) % cycle->length];
        channel_name(walk, cycle->channel[i], name, sizeof name);
        used += (size_t)snprintf(text + used, sizeof text - used, "\n  %s, in transit to node %u, waits for",
                                 name, route_dependencies_example(&walk->waits, cycle->channel[i], to));
    }
    if (shown < cycle->length)
        snprintf(text + used, sizeof text - used, "\n  ... and %u more, the last of which waits for",
                 cycle->length - shown);
    channel_name(walk, cycle->channel[0], next, sizeof next);
    return ker_fail(walk->error, KER_BAD_INPUT,
                    "\"%s\" routing on this %s can deadlock: packets in %u channel%s wait for each other in "
                    "a circle:%s\n  %s again.\n"
                    "Use more virtual channels where the algorithm or the table can, or an algorithm that is "
                    "free of deadlock "
                    "(updown and layered are on any network)",
                    walk->topology->summary.algorithm, walk->topology->summary.topology, cycle->length,
                    cycle->length > 1 ? "s" : "", text, next);
}

static enum ker_status judge(struct walk *walk, struct route_proof *proof)
{
    enum ker_status status = walk_all(walk, proof);
    if (status != KER_OK)
        return status;
    struct route_cycle cycle = route_dependencies_cycle(&walk->waits, walk->rows * walk->channels);
    proof->channels = cycle.channels;
    proof->dependencies = walk->waits.edges.count;
    proof->cycle = cycle.length;
    if (cycle.length && walk->topology->algorithm->away && !walk->plain) {
        free(cycle.channel);
        walk->plain = true;
        walk->work = 0;
        return judge(walk, proof);
    }
    status = cycle.length ? cycle_report(walk, &cycle) : KER_OK;
    free(cycle.channel);
    return status;
}

/* The network without faults at first, if it ever is, and from each fault on. */
static void times_make(struct walk *walk)
{
    const struct route_faults *f = walk->topology->faults;
    walk->channels = walk->topology->channels + (f && f->summary.repairs);
    if (!f)
        return;
    walk->when = ker_alloc((f->epochs + 1ull) * sizeof *walk->when);
    walk->when[walk->times++] = 0;
    for (uint32_t i = 0; i < f->epochs; i++)
        if (f->epoch[i] > 0)
            walk->when[walk->times++] = f->epoch[i];
}

static void walk_release(struct walk *walk)
{
    route_dependencies_release(&walk->waits);
    ker_table_release(&walk->seen);
    ker_table_release(&walk->away);
    ker_table_release(&walk->ends);
    KER_FREE(walk->todo, walk->border, walk->source, walk->destination, walk->peer, walk->owner, walk->when,
             walk->first_port);
}

enum ker_status route_prove(const struct route_topology *topology, uint64_t max_work,
                            struct route_proof *proof, struct ker_error *error)
{
    if (topology->inner && !topology->faults) /* where adapters hang is all the same to it; so are planes */
        return route_prove(topology->inner, max_work, proof, error);
    struct walk walk = {.topology = topology,
                        .error = error,
                        .max_work = max_work,
                        .by_source = topology->algorithm->by_source,
                        .by_hops = topology->algorithm->by_hops};
    enum ker_status status = KER_OK;
    *proof = (struct route_proof){0};
    route_ends_choose(topology, &walk.source, &walk.sources, &walk.destination, &walk.destinations);
    times_make(&walk);
    proof->destinations = walk.destinations;
    proof->by_switch = topology->algorithm->by_switch;
    enum route_table_proof by_table =
        route_prove_table(topology, walk.destination, walk.destinations, max_work, proof);
    if (by_table == ROUTE_TABLE_CYCLIC)
        walk.max_work = UINT64_MAX; /* it is there, and will be found */
    if (by_table != ROUTE_TABLE_FREE && rows_make(&walk)) {
        status = judge(&walk, proof);
        proof->work = walk.work;
    }
    proof->complete = status == KER_OK && proof->walked == proof->destinations;
    walk_release(&walk);
    return status;
}

enum ker_status route_check_deadlock(const struct route_topology *topology, uint64_t max_work, bool *complete,
                                     struct ker_error *error)
{
    struct route_proof proof;
    enum ker_status status = route_prove(topology, max_work, &proof, error);
    *complete = proof.complete;
    return status;
}
