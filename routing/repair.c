/* repair.c - ways around faults: up*, down* along one order of the switches that holds at all times.
 *
 * The switches stand in an order; a hop to a switch earlier in it is "up", to a later one "down", and a legal way goes up any number
 * of times, then down. A channel can only wait for one that is further on in (up hops by falling, then down hops by rising
 * place in the order), so that the repair channel has no cycle (Schroeder et al., Autonet, 1991); and as the order is the same at all times, packets
 * of before and after a fault cannot make one together. The algorithm's channels lead into the repair channel, never back. A
 * packet whose way breaks a second time after it turned down may find no legal way on; then it is lost.
 *
 * The order must give a way wherever there is one, after every fault: in each connected part of what is left at any time, every switch but
 * the first must have a link to an earlier one of the part. Prim's search does that when it follows next the link
 * that lives longest: it enters a part over a link that dies before the part does, goes through all of it, and only then
 * leaves. So the parts at any time are intervals of the order, cut where a switch was entered over a link that is dead by then. Links
 * that never die are followed breadth first, which keeps ways short.
 *
 * Ways to one switch at one time: two sweeps over the order (how far by down hops alone, how far at all), kept in a table of limited
 * size; a row that is not there is made again.
 */
#include "routing/faults.h"

#include <stdlib.h>
#include <string.h>

#define FAR UINT16_MAX
#define MAX_DEPTH 30000
#define ROWS_BYTES (256u << 20) /* of kept rows, at most */
#define LEAST_ROWS 16

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

struct row {
    uint32_t epoch, to; /* to: place; UINT32_MAX: free */
    uint16_t *down, *any; /* links to go, by down hops alone and at all */
};

struct route_repair {
    uint32_t switches, cuts, rows;
    uint32_t *place; /* of each switch in the order */
    uint32_t *first; /* per place: its first hop */
    struct hop *hop;
    struct cut *cut; /* by place */
    struct row *row;
};

/* ---- the order ---- */

struct frontier { /* a link that goes down one day */
    ker_time down;
    uint64_t turn; /* of links that die together, the one seen first */
    uint32_t to;
    uint16_t depth;
};

struct search {
    const struct route_shape *shape;
    uint32_t *queue; /* the order itself: switches whose links have not been looked at stand behind `done` */
    uint32_t found, done;
    uint16_t *depth; /* links from the part's first switch */
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
    if (s->heap_count == s->heap_room) {
        s->heap_room = s->heap_room ? 2 * s->heap_room : 64;
        s->heap = ker_realloc(s->heap, s->heap_room * sizeof *s->heap);
    }
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

/* Follows links that never die, and remembers the others with the depth at which they are reached. */
static void search_expand(struct search *s, uint32_t switch_id)
{
    uint32_t ports = route_ports(s->shape, switch_id);
    for (uint32_t p = 0; p < ports; p++) {
        struct route_peer peer;
        route_port(s->shape, switch_id, p, &peer);
        if (peer.kind != ROUTE_SWITCH || s->seen[peer.id])
            continue;
        ker_time down = route_port_down(s->shape, switch_id, p);
        uint16_t depth = (uint16_t)(s->depth[switch_id] < MAX_DEPTH ? s->depth[switch_id] + 1 : MAX_DEPTH);
        if (down == KER_TIME_MAX) {
            s->depth[peer.id] = depth;
            search_enter(s, peer.id);
        } else if (down > 0) {
            frontier_push(s, (struct frontier){down, s->turns++, peer.id, depth});
        }
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
        s->depth[next.to] = next.depth;
        search_enter(s, next.to);
    }
}

/* The switch furthest from this one over links that never die, among those with nodes; from[]: the way back. */
static uint32_t furthest(const struct route_shape *shape, uint32_t start, uint32_t *from, uint32_t *queue, const bool *has_nodes)
{
    uint32_t found = 0, last = start;
    for (uint32_t i = 0; i < shape->summary.switches; i++)
        from[i] = UINT32_MAX;
    from[start] = start;
    queue[found++] = start;
    for (uint32_t done = 0; done < found; done++) {
        uint32_t s = queue[done], ports = route_ports(shape, s);
        if (has_nodes[s])
            last = s;
        for (uint32_t p = 0; p < ports; p++) {
            struct route_peer peer;
            route_port(shape, s, p, &peer);
            if (peer.kind != ROUTE_SWITCH || from[peer.id] != UINT32_MAX || route_port_down(shape, s, p) != KER_TIME_MAX)
                continue;
            from[peer.id] = s;
            queue[found++] = peer.id;
        }
    }
    return last;
}

/* Half way along a longest way between nodes: a switch at the top of a tree. */
static uint32_t centre(const struct route_shape *shape)
{
    uint32_t switches = shape->summary.switches, start = 0, length = 0;
    uint32_t *from = ker_alloc(switches * sizeof *from), *queue = ker_alloc(switches * sizeof *queue);
    bool *has_nodes = ker_alloc(switches * sizeof *has_nodes);
    for (uint32_t n = shape->summary.nodes; n-- > 0;) {
        uint32_t s;
        uint16_t port;
        route_attachment(shape, n, &s, &port);
        has_nodes[s] = true;
        if (route_switch_down(shape, s) == KER_TIME_MAX)
            start = s;
    }
    uint32_t a = furthest(shape, start, from, queue, has_nodes), b = furthest(shape, a, from, queue, has_nodes);
    for (uint32_t s = b; s != a; s = from[s])
        length++;
    for (length /= 2; length > 0; length--)
        b = from[b];
    free(from);
    free(queue);
    free(has_nodes);
    return b;
}

static bool order_make(const struct route_shape *shape, struct route_repair *r)
{
    uint32_t switches = shape->summary.switches, first = centre(shape);
    struct search s = {.shape = shape};
    bool deep = false;
    s.queue = ker_alloc(switches * sizeof *s.queue);
    s.depth = ker_alloc(switches * sizeof *s.depth);
    s.seen = ker_alloc(switches * sizeof *s.seen);
    search_from(&s, r, first);
    for (uint32_t i = 0; i < switches; i++)
        if (!s.seen[i])
            search_from(&s, r, i);
    for (uint32_t i = 0; i < switches; i++) {
        r->place[s.queue[i]] = i;
        deep |= s.depth[i] >= MAX_DEPTH;
    }
    free(s.queue);
    free(s.depth);
    free(s.seen);
    free(s.heap);
    return !deep;
}

/* ---- the links in this order ---- */

static void hops_make(const struct route_shape *shape, struct route_repair *r)
{
    uint64_t count = 0;
    uint32_t *switch_at = ker_alloc(r->switches * sizeof *switch_at);
    for (uint32_t s = 0; s < r->switches; s++) {
        switch_at[r->place[s]] = s;
        count += route_ports(shape, s);
    }
    r->hop = ker_alloc(count * sizeof *r->hop);
    count = 0;
    for (uint32_t u = 0; u < r->switches; u++) {
        uint32_t s = switch_at[u], ports = route_ports(shape, s);
        for (uint32_t p = 0; p < ports; p++) {
            struct route_peer peer;
            route_port(shape, s, p, &peer);
            ker_time down = route_port_down(shape, s, p);
            if (peer.kind == ROUTE_SWITCH && peer.id != s && down > 0)
                r->hop[count++] = (struct hop){r->place[peer.id], (uint16_t)p, down};
        }
        r->first[u + 1] = (uint32_t)count;
    }
    free(switch_at);
}

struct route_repair *route_repair_new(const struct route_shape *shape, const char **why)
{
    struct route_repair *r = ker_alloc(sizeof *r);
    r->switches = shape->summary.switches;
    r->place = ker_alloc(r->switches * sizeof *r->place);
    r->first = ker_alloc((r->switches + 1ull) * sizeof *r->first);
    r->cut = ker_alloc(r->switches * sizeof *r->cut);
    if (!order_make(shape, r)) {
        *why = "are not possible on networks where some switches are more than 30000 links apart";
        route_repair_free(r);
        return NULL;
    }
    hops_make(shape, r);
    uint64_t rows = ROWS_BYTES / (2 * sizeof(uint16_t) * (uint64_t)r->switches);
    if (rows > 2ull * r->switches)
        rows = 2ull * r->switches;
    r->rows = (uint32_t)(rows < LEAST_ROWS ? LEAST_ROWS : rows);
    r->row = ker_alloc(r->rows * sizeof *r->row);
    for (uint32_t i = 0; i < r->rows; i++)
        r->row[i].to = UINT32_MAX;
    return r;
}

void route_repair_free(struct route_repair *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->rows; i++)
        free(r->row[i].down);
    free(r->row);
    free(r->place);
    free(r->first);
    free(r->hop);
    free(r->cut);
    free(r);
}

/* ---- ways ---- */

static inline uint16_t one_more(uint16_t distance)
{
    return distance == FAR ? FAR : (uint16_t)(distance + 1);
}

static void row_make(const struct route_repair *r, struct row *row, ker_time now)
{
    memset(row->down, 0xff, r->switches * sizeof *row->down);
    row->down[row->to] = 0;
    for (uint32_t u = row->to; u-- > 0;)
        for (uint32_t i = r->first[u]; i < r->first[u + 1]; i++) {
            const struct hop *h = &r->hop[i];
            if (h->to > u && h->to <= row->to && h->down > now && one_more(row->down[h->to]) < row->down[u])
                row->down[u] = one_more(row->down[h->to]);
        }
    for (uint32_t u = 0; u < r->switches; u++) {
        row->any[u] = row->down[u];
        for (uint32_t i = r->first[u]; i < r->first[u + 1]; i++) {
            const struct hop *h = &r->hop[i];
            if (h->to < u && h->down > now && one_more(row->any[h->to]) < row->any[u])
                row->any[u] = one_more(row->any[h->to]);
        }
    }
}

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

/* A store of what can be computed again at any time: the shape stays the same to everybody who asks. */
static const struct row *row_find(const struct route_faults *f, ker_time now, uint32_t to)
{
    struct route_repair *r = f->repair;
    uint32_t epoch = epoch_of(f, now);
    struct row *row = &r->row[(2ull * to + (epoch & 1)) % r->rows];
    if (row->to == to && row->epoch == epoch)
        return row;
    if (!row->down) {
        row->down = ker_alloc(2ull * r->switches * sizeof *row->down);
        row->any = row->down + r->switches;
    }
    row->to = to;
    row->epoch = epoch;
    row_make(r, row, now);
    return row;
}

/* Did the packet come by a down hop of the repair channel? */
static bool came_down(const struct route_shape *shape, uint32_t place, const struct route_packet *packet)
{
    const struct route_repair *r = shape->faults->repair;
    if (packet->in_channel != shape->channels)
        return false;
    for (uint32_t i = r->first[place]; i < r->first[place + 1]; i++)
        if (r->hop[i].port == packet->in_port)
            return r->hop[i].to < place;
    return false;
}

/* Is this hop the beginning of a shortest legal way? */
static inline bool hop_fits(const struct hop *h, const struct row *row, uint32_t place, bool down, ker_time now)
{
    if (h->down <= now)
        return false;
    if (h->to < place)
        return !down && one_more(row->any[h->to]) == row->any[place];
    return one_more(row->down[h->to]) == (down ? row->down[place] : row->any[place]);
}

bool route_repair_next(const struct route_shape *shape, ker_time now, uint32_t switch_id, const struct route_packet *packet,
                       struct route_choice *choice)
{
    const struct route_repair *r = shape->faults->repair;
    uint32_t target, place = r->place[switch_id], fitting = 0;
    uint16_t port;
    route_attachment(shape, packet->destination, &target, &port);
    if (route_port_down(shape, target, port) <= now)
        return false;
    if (target == switch_id)
        return route_eject(shape, packet, port, choice);
    const struct row *row = row_find(shape->faults, now, r->place[target]);
    bool down = came_down(shape, place, packet);
    if ((down ? row->down : row->any)[place] == FAR)
        return false;
    for (uint32_t i = r->first[place]; i < r->first[place + 1]; i++)
        fitting += hop_fits(&r->hop[i], row, place, down, now);
    uint32_t pick = route_pick(packet, 0xfa170000u + place, fitting);
    uint32_t i = r->first[place];
    while (!hop_fits(&r->hop[i], row, place, down, now) || pick-- > 0)
        i++;
    *choice = (struct route_choice){.port = r->hop[i].port, .channel = (uint8_t)shape->channels};
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

uint64_t route_repair_apart(const struct route_shape *shape, ker_time now, uint32_t example[2])
{
    const struct route_repair *r = shape->faults->repair;
    uint32_t nodes = shape->summary.nodes, *part = ker_alloc(r->switches * sizeof *part), parts = 0, cut = 0;
    uint64_t *members = ker_alloc((r->cuts + 1ull) * sizeof *members), together = 0;
    for (uint32_t u = 0; u < r->switches; u++) {
        for (; cut < r->cuts && r->cut[cut].place == u; cut++)
            parts += r->cut[cut].down <= now;
        part[u] = parts; /* from 1 on: there is a cut before the first */
    }
    for (uint32_t n = 0; n < nodes; n++) {
        uint32_t s;
        uint16_t port;
        route_attachment(shape, n, &s, &port);
        if (route_port_down(shape, s, port) > now)
            members[part[r->place[s]]]++;
    }
    for (uint32_t i = 0; i <= r->cuts; i++)
        together += members[i] * (members[i] ? members[i] - 1 : 0);
    uint64_t apart = (uint64_t)nodes * (nodes ? nodes - 1 : 0) - together;
    /* when any two are apart, some node is apart from node 0 */
    example[0] = 0;
    for (example[1] = apart ? 1 : 0; apart && route_reachable(shape, now, 0, example[1]);)
        example[1]++;
    free(part);
    free(members);
    return apart;
}
