/* repair.c - ways around faults: up*, down* along one order of the switches that holds at all times.
 *
 * The switches stand in an order; a hop to a switch earlier in it is "up", to a later one "down", and a legal
 * way goes up any number of times, then down. A channel can only wait for one that is further on in (up hops
 * by falling, then down hops by rising place in the order), so that the repair channel has no cycle
 * (Schroeder et al., Autonet, 1991); and as the order is the same at all times, packets of before and after a
 * fault cannot make one together. The algorithm's channels lead into the repair channel, never back. A packet
 * whose way breaks a second time after it turned down may find no legal way on; then it is lost.
 *
 * The order must give a way wherever there is one, after every fault: in each connected part of what is left
 * at any time, every switch but the first must have a link to an earlier one of the part. Prim's search does
 * that when it follows next the link that lives longest: it enters a part over a link that dies before the
 * part does, goes through all of it, and only then leaves. So the parts at any time are intervals of the
 * order, cut where a switch was entered over a link that is dead by then. Links that never die are followed
 * breadth first, which keeps ways short.
 *
 * A shortest legal way from a to b goes up to some switch x and down from there, so it is a matter of who
 * lies above a and who above b, and how far: of the x in both lists the one with the smallest sum. These
 * lists are short where dense tables would not fit (on a torus of 65,536 switches about a thousand), are made
 * when they are first needed, and thrown away when they get too many.
 */
#include "routing/faults/faults.h"

#include <stdlib.h>
#include <string.h>

#define FAR UINT32_MAX
#define LISTS (1u << 20)         /* at most so many are kept, but for two per place */
#define LISTS_BYTES (256u << 20) /* of kept lists, about */

struct hop {
    uint32_t to; /* place in the order */
    uint16_t port;
    ker_time down;
};

/* Where a new part begins, from `down` on. */
struct cut {
    uint32_t place;
    ker_time down; /* -1: at all times */
};

/* Who can be reached from a switch by up hops, itself included, at one time. */
struct above {
    uint32_t epoch, count;
    uint32_t *place; /* ascending; NULL: not made */
    uint32_t *up;    /* how many hops */
};

struct route_repair {
    uint32_t switches, cuts;
    uint32_t *place; /* of each switch in the order */
    uint32_t *first; /* per place: its first hop */
    struct hop *hop;
    struct cut *cut; /* by place */
    uint32_t kept; /* lists per place: at least two, as ranks look at both sides of a fault in turn; the proof
                      at all epochs */
    struct above *above;           /* `kept` per place, by epoch modulo that */
    size_t bytes;                  /* of lists */
    uint32_t hand;                 /* next list to be thrown away */
    uint32_t *up, *found, *sorted; /* to work in, per place; up: FAR between uses */
};

/* ---- the order ---- */

struct frontier { /* a link that goes down one day */
    ker_time down;
    uint64_t turn; /* of links that die together, the one seen first */
    uint32_t to;
};

struct search {
    const struct route_topology *topology;
    uint32_t *queue; /* the order itself: switches whose links have not been looked at stand behind `done` */
    uint32_t found, done;
    bool *seen;
    struct frontier *heap; /* longest life first */
    size_t heap_count, heap_room;
    uint64_t turns;
};

static bool frontier_before(const struct frontier *a, const struct frontier *b)
{
    return a->down != b->down ? a->down > b->down : a->turn < b->turn;
}

static void frontier_push(struct search *s, struct frontier f)
{
    KER_RESERVE(s->heap, s->heap_room, s->heap_count + (size_t)1);
    size_t i = s->heap_count++;
    for (; i > 0 && frontier_before(&f, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = f;
}

static struct frontier frontier_pop(struct search *s)
{
    struct frontier top = s->heap[0], last = s->heap[--s->heap_count];
    size_t i = 0;
    for (size_t child = 1; child < s->heap_count; child = 2 * i + 1) {
        if (child + 1 < s->heap_count && frontier_before(&s->heap[child + 1], &s->heap[child]))
            child++;
        if (!frontier_before(&s->heap[child], &last))
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return top;
}

static void search_enter(struct search *s, uint32_t switch_id)
{
    s->seen[switch_id] = true;
    s->queue[s->found++] = switch_id;
}

/* Follows links that never die, and remembers the others. */
static void search_expand(struct search *s, uint32_t switch_id)
{
    uint32_t ports = route_ports(s->topology, switch_id);
    for (uint32_t p = 0; p < ports; p++) {
        struct route_peer peer;
        route_port(s->topology, switch_id, p, &peer);
        if (peer.kind != ROUTE_SWITCH || s->seen[peer.id])
            continue;
        ker_time down = route_port_down(s->topology, switch_id, p);
        if (down == KER_TIME_MAX)
            search_enter(s, peer.id);
        else if (down > 0)
            frontier_push(s, (struct frontier){down, s->turns++, peer.id});
    }
}

/* Everything that is ever connected to the first switch. */
static void search_from(struct search *s, struct route_repair *r, uint32_t switch_id)
{
    r->cut[r->cuts++] = (struct cut){s->found, -1};
    search_enter(s, switch_id);
    for (;;) {
        while (s->done < s->found)
            search_expand(s, s->queue[s->done++]);
        struct frontier next = {0};
        bool any = false;
        while (!any && s->heap_count) {
            next = frontier_pop(s);
            any = !s->seen[next.to];
        }
        if (!any)
            return;
        r->cut[r->cuts++] = (struct cut){s->found, next.down};
        search_enter(s, next.to);
    }
}

/* The switch furthest from this one over links that never die, among those with nodes; from[]: the way back.
 */
static uint32_t furthest(const struct route_topology *topology, uint32_t start, uint32_t *from,
                         uint32_t *queue, const bool *has_nodes)
{
    uint32_t found = 0, last = start;
    for (uint32_t i = 0; i < topology->summary.switches; i++)
        from[i] = UINT32_MAX;
    from[start] = start;
    queue[found++] = start;
    for (uint32_t done = 0; done < found; done++) {
        uint32_t s = queue[done], ports = route_ports(topology, s);
        if (has_nodes[s])
            last = s;
        for (uint32_t p = 0; p < ports; p++) {
            struct route_peer peer;
            route_port(topology, s, p, &peer);
            if (peer.kind != ROUTE_SWITCH || from[peer.id] != UINT32_MAX ||
                route_port_down(topology, s, p) != KER_TIME_MAX)
                continue;
            from[peer.id] = s;
            queue[found++] = peer.id;
        }
    }
    return last;
}

/* Half way along a longest way between nodes: a switch at the top of a tree. */
static uint32_t centre(const struct route_topology *topology)
{
    uint32_t switches = topology->summary.switches, start = 0, length = 0;
    uint32_t *from = ker_alloc(switches * sizeof *from), *queue = ker_alloc(switches * sizeof *queue);
    bool *has_nodes = ker_alloc(switches * sizeof *has_nodes);
    for (uint32_t n = topology->summary.nodes; n-- > 0;) {
        uint32_t s;
        uint16_t port;
        route_attachment(topology, n, &s, &port);
        has_nodes[s] = true;
        if (route_switch_down(topology, s) == KER_TIME_MAX)
            start = s;
    }
    uint32_t a = furthest(topology, start, from, queue, has_nodes),
             b = furthest(topology, a, from, queue, has_nodes);
    for (uint32_t s = b; s != a; s = from[s])
        length++;
    for (length /= 2; length > 0; length--)
        b = from[b];
    free(from);
    free(queue);
    free(has_nodes);
    return b;
}

static void order_make(const struct route_topology *topology, struct route_repair *r)
{
    uint32_t switches = topology->summary.switches, first = centre(topology);
    struct search s = {.topology = topology};
    s.queue = ker_alloc(switches * sizeof *s.queue);
    s.seen = ker_alloc(switches * sizeof *s.seen);
    search_from(&s, r, first);
    for (uint32_t i = 0; i < switches; i++)
        if (!s.seen[i])
            search_from(&s, r, i);
    for (uint32_t i = 0; i < switches; i++)
        r->place[s.queue[i]] = i;
    free(s.queue);
    free(s.seen);
    free(s.heap);
}

/* ---- the links in this order ---- */

static void hops_make(const struct route_topology *topology, struct route_repair *r)
{
    uint64_t count = 0;
    uint32_t *switch_at = ker_alloc(r->switches * sizeof *switch_at);
    for (uint32_t s = 0; s < r->switches; s++) {
        switch_at[r->place[s]] = s;
        count += route_ports(topology, s);
    }
    r->hop = ker_alloc(count * sizeof *r->hop);
    count = 0;
    for (uint32_t u = 0; u < r->switches; u++) {
        uint32_t s = switch_at[u], ports = route_ports(topology, s);
        for (uint32_t p = 0; p < ports; p++) {
            struct route_peer peer;
            route_port(topology, s, p, &peer);
            ker_time down = route_port_down(topology, s, p);
            if (peer.kind == ROUTE_SWITCH && peer.id != s && down > 0)
                r->hop[count++] = (struct hop){r->place[peer.id], (uint16_t)p, down};
        }
        r->first[u + 1] = (uint32_t)count;
    }
    free(switch_at);
}

struct route_repair *route_repair_new(const struct route_topology *topology)
{
    struct route_repair *r = ker_alloc(sizeof *r);
    uint32_t n = r->switches = topology->summary.switches, epochs = topology->faults->epochs;
    r->place = ker_alloc(n * sizeof *r->place);
    r->first = ker_alloc((n + 1ull) * sizeof *r->first);
    r->cut = ker_alloc(n * sizeof *r->cut);
    r->kept = LISTS / n > epochs ? epochs + 1 : LISTS / n;
    if (r->kept < 2)
        r->kept = 2;
    r->above = ker_alloc((size_t)r->kept * n * sizeof *r->above);
    r->up = ker_alloc(3ull * n * sizeof *r->up);
    r->found = r->up + n;
    r->sorted = r->found + n;
    memset(r->up, 0xff, n * sizeof *r->up);
    order_make(topology, r);
    hops_make(topology, r);
    return r;
}

void route_repair_free(struct route_repair *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->kept * r->switches; i++)
        free(r->above[i].place);
    free(r->above);
    free(r->up);
    free(r->place);
    free(r->first);
    free(r->hop);
    free(r->cut);
    free(r);
}

/* ---- who lies above ---- */

/* By place, from the last digit of 11 bits to the first (radix sort); the result is in r->found. */
static void found_sort(struct route_repair *r, uint32_t count)
{
    for (unsigned shift = 0; shift < 32 && (r->switches - 1) >> shift; shift += 11) {
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
        for (uint32_t i = r->first[u]; i < r->first[u + 1]; i++) {
            const struct hop *h = &r->hop[i];
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
        r->hand = r->hand + 1 == r->kept * r->switches ? 0 : r->hand + 1;
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
    uint32_t low = 0, high = a->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (a->place[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low < a->count && a->place[low] == place ? a->up[low] : FAR;
}

/* The switches at which a shortest way turns: how many there are, and the place of the one of that number. */
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

/* ---- ways ---- */

/* Faults that have happened by now. */
static uint32_t epoch_of(const struct route_faults *f, ker_time now)
{
    uint32_t low = 0, high = f->epochs;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (f->epoch[middle] <= now)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Did the packet come by a down hop of the repair channel? */
static bool came_down(const struct route_topology *topology, uint32_t place,
                      const struct route_packet *packet)
{
    const struct route_repair *r = topology->faults->repair;
    if (packet->in_channel != topology->channels)
        return false;
    for (uint32_t i = r->first[place]; i < r->first[place + 1]; i++)
        if (r->hop[i].port == packet->in_port)
            return r->hop[i].to < place;
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
    uint32_t fitting = 0, from = r->first[q->place], to = r->first[q->place + 1];
    for (uint32_t i = from; i < to; i++)
        fitting += hop_fits(q, &r->hop[i]);
    ker_assert(fitting > 0);
    uint32_t pick = route_pick(packet, 0xfa170000u + q->place, fitting), i = from;
    while (!hop_fits(q, &r->hop[i]) || pick-- > 0)
        i++;
    return r->hop[i].port;
}

/* Where the packet turns: what its state says, when it is on its way up and that still holds; else one of the
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
    struct hop_question q = {
        .r = r, .place = r->place[switch_id], .now = now, .epoch = epoch_of(topology->faults, now)};
    uint32_t target;
    uint16_t port;
    route_attachment(topology, packet->destination, &target, &port);
    if (route_port_down(topology, target, port) <= now)
        return false;
    if (target == switch_id)
        return route_eject(topology, packet, port, choice);
    above_trim(r);
    q.to = above_find(r, r->place[target], q.epoch, now);
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

/* ---- who is connected ---- */

bool route_repair_connects(const struct route_repair *r, ker_time now, uint32_t from, uint32_t to)
{
    uint32_t a = r->place[from], b = r->place[to], low = 0, high = r->cuts;
    if (a > b) {
        a = r->place[to];
        b = r->place[from];
    }
    while (low < high) { /* the first cut behind a */
        uint32_t middle = low + (high - low) / 2;
        if (r->cut[middle].place <= a)
            low = middle + 1;
        else
            high = middle;
    }
    for (uint32_t i = low; i < r->cuts && r->cut[i].place <= b; i++)
        if (r->cut[i].down <= now)
            return false;
    return true;
}

uint64_t route_repair_apart(const struct route_topology *topology, ker_time now, uint32_t example[2])
{
    const struct route_repair *r = topology->faults->repair;
    uint32_t nodes = topology->summary.nodes, *part = ker_alloc(r->switches * sizeof *part), parts = 0,
             cut = 0;
    uint64_t *members = ker_alloc((r->cuts + 1ull) * sizeof *members), together = 0;
    for (uint32_t u = 0; u < r->switches; u++) {
        for (; cut < r->cuts && r->cut[cut].place == u; cut++)
            parts += r->cut[cut].down <= now;
        part[u] = parts; /* from 1 on: there is a cut before the first */
    }
    for (uint32_t n = 0; n < nodes; n++) {
        uint32_t s;
        uint16_t port;
        route_attachment(topology, n, &s, &port);
        if (route_port_down(topology, s, port) > now)
            members[part[r->place[s]]]++;
    }
    for (uint32_t i = 0; i <= r->cuts; i++)
        together += members[i] * (members[i] ? members[i] - 1 : 0);
    uint64_t apart = (uint64_t)nodes * (nodes ? nodes - 1 : 0) - together;
    /* when any two are apart, some node is apart from node 0 */
    example[0] = 0;
    for (example[1] = apart ? 1 : 0; apart && route_reachable(topology, now, 0, example[1]);)
        example[1]++;
    free(part);
    free(members);
    return apart;
}
