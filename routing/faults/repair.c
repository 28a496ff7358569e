/* repair.c - paths around faults: up*, down* along one order of the switches that holds at all times.
 *
 * The switches are in an order; a hop to a switch earlier in it is "up", to a later one "down", and a legal
 * path leads up any number of times, then down. A channel can only wait for one that is further on in (up
 * hops by falling, then down hops by rising place in the order), so that the repair channel has no cycle
 * (Schroeder et al., Autonet, 1991); and as the order is the same at all times, packets of before and after a
 * fault cannot make one together. The algorithm's channels lead into the repair channel, never back. A packet
 * whose path breaks a second time after it turned down may find no legal path on; then it is lost.
 *
 * The order (order.c) gives a path wherever there is one, after every fault.
 *
 * A shortest legal path from a to b leads up to some switch x and down from there, so it is a matter of who
 * lies above a and who above b, and how far: of the x in both lists the one with the smallest sum. These
 * lists are short where dense tables would not fit (on a torus of 65,536 switches about a thousand), are made
 * when they are first needed, and thrown away when they get too many.
 */
#include "routing/faults/order.h"

#include <stdlib.h>
#include <string.h>

#define FAR UINT32_MAX
#define LISTS (1u << 20)         /* at most this many are kept, but for two per place */
#define LISTS_BYTES (256u << 20) /* of kept lists, about */

/* Who can be reached from a switch by up hops, itself included, at one time. */
struct above {
    uint32_t epoch, count;
    uint32_t *place; /* ascending; NULL: not made */
    uint32_t *up;    /* how many hops */
};

struct route_repair {
    const struct route_order *order;
    uint32_t kept; /* lists per place: at least two, as ranks look at both sides of a fault in turn; the proof
                      at all epochs */
    struct above *above;           /* `kept` per place, by epoch modulo that */
    size_t bytes;                  /* of lists */
    uint32_t hand;                 /* next list to be thrown away */
    uint32_t *up, *found, *sorted; /* to work in, per place; up: FAR between uses */
};

struct route_repair *route_repair_new(const struct route_topology *topology)
{
    struct route_repair *r = ker_alloc(sizeof *r);
    uint32_t n = topology->summary.switches, epochs = topology->faults->epochs;
    r->order = topology->faults->order;
    r->kept = LISTS / n > epochs ? epochs + 1 : LISTS / n;
    if (r->kept < 2)
        r->kept = 2;
    r->above = ker_alloc((size_t)r->kept * n * sizeof *r->above);
    r->up = ker_alloc(3ull * n * sizeof *r->up);
    r->found = r->up + n;
    r->sorted = r->found + n;
    memset(r->up, 0xff, n * sizeof *r->up);
    return r;
}

void route_repair_free(struct route_repair *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->kept * r->order->switches; i++)
        free(r->above[i].place);
    free(r->above);
    free(r->up);
    free(r);
}

/* ---- who lies above ---- */

/* By place, from the last digit of 11 bits to the first (radix sort); the result is in r->found. */
static void found_sort(struct route_repair *r, uint32_t count)
{
    for (unsigned shift = 0; shift < 32 && (r->order->switches - 1) >> shift; shift += 11) {
        uint32_t next[2049] = {0};
        for (uint32_t i = 0; i < count; i++)
            next[(r->found[i] >> shift & 2047) + 1]++;
        for (uint32_t digit = 1; digit < 2048; digit++)
            next[digit] += next[digit - 1];
        for (uint32_t i = 0; i < count; i++)
            r->sorted[next[r->found[i] >> shift & 2047]++] = r->found[i];
        uint32_t *swap = r->found;
        r->found = r->sorted;
        r->sorted = swap;
    }
}

static size_t above_bytes(uint32_t count)
{
    return 2 * sizeof(uint32_t) * (size_t)count;
}

static void above_make(struct route_repair *r, struct above *a, uint32_t place, ker_time now)
{
    uint32_t count = 0;
    r->up[place] = 0;
    r->found[count++] = place;
    for (uint32_t done = 0; done < count; done++) {
        uint32_t u = r->found[done];
        for (uint32_t i = r->order->first[u]; i < r->order->first[u + 1]; i++) {
            const struct hop *h = &r->order->hop[i];
            if (h->to > u || h->down <= now || r->up[h->to] != FAR)
                continue;
            r->up[h->to] = r->up[u] + 1;
            r->found[count++] = h->to;
        }
    }
    found_sort(r, count);
    a->count = count;
    a->place = ker_alloc(above_bytes(count));
    a->up = a->place + count;
    for (uint32_t i = 0; i < count; i++) {
        a->place[i] = r->found[i];
        a->up[i] = r->up[r->found[i]];
        r->up[r->found[i]] = FAR;
    }
    r->bytes += above_bytes(count);
}

static void above_drop(struct route_repair *r, struct above *a)
{
    if (a->place)
        r->bytes -= above_bytes(a->count);
    free(a->place);
    *a = (struct above){0};
}

/* Between questions, as a question holds on to several lists. */
static void above_trim(struct route_repair *r)
{
    if (r->bytes <= LISTS_BYTES)
        return;
    while (r->bytes > LISTS_BYTES / 4 * 3) {
        above_drop(r, &r->above[r->hand]);
        r->hand = r->hand + 1 == r->kept * r->order->switches ? 0 : r->hand + 1;
    }
}

/* A store of what can be computed again at any time: the topology stays the same to everybody who asks. */
static const struct above *above_find(struct route_repair *r, uint32_t place, uint32_t epoch, ker_time now)
{
    struct above *a = &r->above[(size_t)place * r->kept + epoch % r->kept];
    if (a->place && a->epoch == epoch)
        return a;
    above_drop(r, a);
    a->epoch = epoch;
    above_make(r, a, place, now);
    return a;
}

/* Hops up to `place`, FAR when it is not above. */
static uint32_t above_distance(const struct above *a, uint32_t place)
{
    uint32_t low = KER_BISECT(i, 0, a->count, a->place[i] < place);
    return low < a->count && a->place[low] == place ? a->up[low] : FAR;
}

/* The switches at which a shortest path turns: how many there are, and the place of the one of that number.
 */
static uint32_t turns_count(const struct above *a, const struct above *b, uint32_t number, uint32_t *place)
{
    uint32_t best = FAR, count = 0;
    for (uint32_t i = 0, j = 0; i < a->count && j < b->count;) {
        uint32_t p = a->place[i], q = b->place[j];
        if (p == q) {
            uint32_t sum = a->up[i] + b->up[j];
            if (sum < best) {
                best = sum;
                count = 0;
            }
            if (sum == best && count++ == number)
                *place = p;
        }
        i += p <= q;
        j += q <= p;
    }
    return count;
}

/* ---- paths ---- */

/* Did the packet come by a down hop of the repair channel? */
static bool came_down(const struct route_topology *topology, uint32_t place,
                      const struct route_packet *packet)
{
    const struct route_repair *r = topology->faults->repair;
    if (packet->in_channel != topology->channels)
        return false;
    for (uint32_t i = r->order->first[place]; i < r->order->first[place + 1]; i++)
        if (r->order->hop[i].port == packet->in_port)
            return r->order->hop[i].to < place;
    return false;
}

/* The question about the hops of one switch: up to `turn`, or, when that is the switch itself, down to `to`.
 */
struct hop_question {
    struct route_repair *r;
    const struct above *to;
    uint32_t place, turn, left, epoch; /* left: hops to the turn, or to the end */
    ker_time now;
};

static bool hop_fits(const struct hop_question *q, const struct hop *h)
{
    if (h->down <= q->now || (h->to < q->place) != (q->turn != q->place))
        return false;
    if (q->turn == q->place)
        return above_distance(q->to, h->to) == q->left - 1;
    return h->to >= q->turn &&
           above_distance(above_find(q->r, h->to, q->epoch, q->now), q->turn) == q->left - 1;
}

/* One of the hops that fit, drawn by the packet. */
static uint16_t hop_port(const struct hop_question *q, const struct route_packet *packet)
{
    const struct route_repair *r = q->r;
    uint32_t fitting = 0, from = r->order->first[q->place], to = r->order->first[q->place + 1];
    for (uint32_t i = from; i < to; i++)
        fitting += hop_fits(q, &r->order->hop[i]);
    ker_assert(fitting > 0);
    uint32_t pick = route_pick(packet, 0xfa170000u + q->place, fitting), i = from;
    while (!hop_fits(q, &r->order->hop[i]) || pick-- > 0)
        i++;
    return r->order->hop[i].port;
}

/* Where the packet turns: what its state says, when it is going up and that still holds; else one of the
 * best. false: nowhere. */
static bool turn_find(struct hop_question *q, const struct route_packet *packet, bool repaired)
{
    const struct above *coordinate = above_find(q->r, q->place, q->epoch, q->now);
    if (repaired && packet->state && above_distance(q->to, packet->state - 1) != FAR) {
        q->turn = packet->state - 1;
        q->left = above_distance(coordinate, q->turn);
        if (q->left != FAR)
            return true;
    }
    uint32_t turns = turns_count(coordinate, q->to, 0, &q->turn);
    if (turns == 0)
        return false;
    if (turns > 1)
        turns_count(coordinate, q->to, route_pick(packet, 0xfa180000u + q->place, turns), &q->turn);
    q->left = above_distance(coordinate, q->turn);
    return true;
}

bool route_repair_next(const struct route_topology *topology, ker_time now, uint32_t switch_id,
                       const struct route_packet *packet, struct route_choice *choice)
{
    struct route_repair *r = topology->faults->repair;
    struct hop_question q = {.r = r,
                             .place = r->order->place[switch_id],
                             .now = now,
                             .epoch = route_faults_epoch(topology->faults, now)};
    uint32_t target;
    uint16_t port;
    route_attachment(topology, packet->destination, &target, &port);
    if (route_port_down(topology, target, port) <= now)
        return false;
    if (target == switch_id)
        return route_eject(topology, packet, port, choice);
    above_trim(r);
    q.to = above_find(r, r->order->place[target], q.epoch, now);
    q.turn = q.place;
    if (!came_down(topology, q.place, packet) &&
        !turn_find(&q, packet, packet->in_channel == topology->channels))
        return false;
    if (q.turn == q.place)
        q.left = above_distance(q.to, q.place);
    if (q.left == FAR)
        return false;
    *choice = (struct route_choice){.port = hop_port(&q, packet),
                                    .channel = (uint8_t)topology->channels,
                                    .state = q.turn == q.place ? 0 : q.turn + 1};
    return true;
}
