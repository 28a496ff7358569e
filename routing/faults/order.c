/* order.c - an order of the switches in which each connected part of what is left is an interval, at any
 * time.
 *
 * In each connected part of what is left at any time, every switch but the first must have a link to an
 * earlier one of the part. Prim's search does that when it follows next the link that lives longest: it
 * enters a part over a link that dies before the part does, visits all of it, and only then leaves. So
 * the parts at any time are intervals of the order, cut where a switch was entered over a link that is dead
 * by then. Links that never die are followed breadth first, which keeps paths short.
 */
#include "routing/faults/order.h"

#include <stdlib.h>
#include <string.h>

struct frontier { /* a link that goes down one day */
    ker_time down;
    uint64_t turn; /* of links that die together, the one seen first */
    uint32_t to;
};

struct search {
    const struct route_topology *topology;
    uint32_t *queue; /* the order itself: switches whose links have not been looked at are behind `done` */
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
            KER_HEAP_PUT(s->heap, s->heap_count, s->heap_room, ((struct frontier){down, s->turns++, peer.id}),
                         frontier_before);
    }
}

/* Everything that is ever connected to the first switch. */
static void search_from(struct search *s, struct route_order *r, uint32_t switch_id)
{
    r->cut[r->cuts++] = (struct cut){s->found, -1};
    search_enter(s, switch_id);
    for (;;) {
        while (s->done < s->found)
            search_expand(s, s->queue[s->done++]);
        struct frontier next = {0};
        bool any = false;
        while (!any && s->heap_count) {
            next = KER_HEAP_TAKE(s->heap, s->heap_count, frontier_before);
            any = !s->seen[next.to];
        }
        if (!any)
            return;
        r->cut[r->cuts++] = (struct cut){s->found, next.down};
        search_enter(s, next.to);
    }
}

/* The switch furthest from this one over links that never die, among those with endpoints; from[]: the path
 * back.
 */
static uint32_t furthest(const struct route_topology *topology, uint32_t start, uint32_t *from,
                         uint32_t *queue, const bool *has_endpoints)
{
    uint32_t found = 0, last = start;
    for (uint32_t i = 0; i < topology->summary.switches; i++)
        from[i] = UINT32_MAX;
    from[start] = start;
    queue[found++] = start;
    for (uint32_t done = 0; done < found; done++) {
        uint32_t s = queue[done], ports = route_ports(topology, s);
        if (has_endpoints[s])
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

/* In the middle of a longest path between endpoints: a switch at the top of a tree. */
static uint32_t centre(const struct route_topology *topology)
{
    uint32_t switches = topology->summary.switches, start = 0, length = 0;
    uint32_t *from = ker_alloc(switches * sizeof *from), *queue = ker_alloc(switches * sizeof *queue);
    bool *has_endpoints = ker_alloc(switches * sizeof *has_endpoints);
    for (uint32_t n = topology->summary.endpoints; n-- > 0;) {
        uint32_t s;
        uint16_t port;
        route_attachment(topology, n, &s, &port);
        has_endpoints[s] = true;
        if (route_switch_down(topology, s) == KER_TIME_MAX)
            start = s;
    }
    uint32_t a = furthest(topology, start, from, queue, has_endpoints),
             b = furthest(topology, a, from, queue, has_endpoints);
    for (uint32_t s = b; s != a; s = from[s])
        length++;
    for (length /= 2; length > 0; length--)
        b = from[b];
    free(from);
    free(queue);
    free(has_endpoints);
    return b;
}

static void order_make(const struct route_topology *topology, struct route_order *r)
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

static void hops_make(const struct route_topology *topology, struct route_order *r)
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

struct route_order *route_order_new(const struct route_topology *topology)
{
    struct route_order *r = ker_alloc(sizeof *r);
    uint32_t n = r->switches = topology->summary.switches;
    r->place = ker_alloc(n * sizeof *r->place);
    r->first = ker_alloc((n + 1ull) * sizeof *r->first);
    r->cut = ker_alloc(n * sizeof *r->cut);
    order_make(topology, r);
    hops_make(topology, r);
    return r;
}

void route_order_free(struct route_order *r)
{
    if (!r)
        return;
    KER_FREE(r->place, r->first, r->hop, r->cut, r);
}

/* ---- who is connected ---- */

/* Is there any path between the two switches at that time? */
static bool connects(const struct route_order *r, ker_time now, uint32_t from, uint32_t to)
{
    uint32_t a = r->place[from], b = r->place[to];
    if (a > b) {
        a = r->place[to];
        b = r->place[from];
    }
    uint32_t behind = KER_BISECT(i, 0, r->cuts, r->cut[i].place <= a); /* the first cut there */
    for (uint32_t i = behind; i < r->cuts && r->cut[i].place <= b; i++)
        if (r->cut[i].down <= now)
            return false;
    return true;
}

bool route_reachable(const struct route_topology *topology, ker_time now, uint32_t from, uint32_t to)
{
    const struct route_faults *f = topology->faults;
    uint32_t a, b;
    uint16_t port_a, port_b;
    route_attachment(topology, from, &a, &port_a);
    route_attachment(topology, to, &b, &port_b);
    return route_faults_port(f, a, port_a) > now && route_faults_port(f, b, port_b) > now &&
           connects(f->order, now, a, b);
}

uint64_t route_faults_pairs(const struct route_topology *topology)
{
    uint64_t hosts = route_hosts(&topology->summary);
    return topology->summary.adapters * hosts * (hosts ? hosts - 1 : 0);
}

uint64_t route_order_apart(const struct route_topology *topology, ker_time now, uint32_t example[2])
{
    const struct route_order *r = topology->faults->order;
    uint32_t endpoints = topology->summary.endpoints, rails = topology->summary.adapters,
             *part = ker_alloc(r->switches * sizeof *part), parts = 0, cut = 0;
    uint64_t *members = ker_alloc(rails * (r->cuts + 1ull) * sizeof *members), together = 0;
    for (uint32_t u = 0; u < r->switches; u++) {
        for (; cut < r->cuts && r->cut[cut].place == u; cut++)
            parts += r->cut[cut].down <= now;
        part[u] = parts; /* from 1 on: there is a cut before the first */
    }
    for (uint32_t n = 0; n < endpoints; n++) {
        uint32_t s;
        uint16_t port;
        route_attachment(topology, n, &s, &port);
        if (route_port_down(topology, s, port) > now)
            members[part[r->place[s]] * rails + n % rails]++;
    }
    ker_assert(rails > 0);
    for (uint32_t i = 0; i < rails * (r->cuts + 1); i++)
        together += members[i] * (members[i] ? members[i] - 1 : 0);
    uint64_t apart = route_faults_pairs(topology) - together;
    example[0] = example[1] = 0;
    for (uint32_t n = rails; apart && n < endpoints && example[1] == 0; n++)
        if (!route_reachable(topology, now, n % rails, n)) /* some are apart from the first on their rail */
            example[1] = n / rails;
    free(part);
    free(members);
    return apart;
}
