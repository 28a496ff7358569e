/* roots.c - up*down*: where the roots are.
 *
 * Those that are not given are guessed, by the first of three rules that leads to every endpoint:
 *
 * - The top of a tree sees nearly all endpoints at one and the same distance. A switch is taken when more
 * than 90 % of the endpoints are at one distance from it and no other distance has more than 5 %, as OpenSM's
 * up/down does it; an endpoint on a spine does not matter then. On large trees switches lower down may see
 * that, too, further away: of all only those with the least such distance are taken.
 * - Where some switches have no endpoints, those farthest from any endpoint.
 * - One switch in the centre.
 */
#include "routing/tables/maker.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ECCENTRIC 4096 /* switches up to which the root is the switch nearest to all others */

static uint32_t degree(const struct route_wires *wires, uint32_t switch_id)
{
    return wires->begin[switch_id + 1] - wires->begin[switch_id];
}

void route_roots_spread(struct route_maker *m, uint32_t count, uint32_t *far)
{
    const struct route_wires *wires = m->wires;
    memset(far, 0xff, wires->switches * sizeof *far);
    for (uint32_t i = 0; i < count; i++)
        far[m->order[i]] = 0;
    for (uint32_t done = 0; done < count; done++)
        for (uint32_t i = wires->begin[m->order[done]]; i < wires->begin[m->order[done] + 1]; i++)
            if (far[wires->to[i]] == UINT32_MAX) {
                far[wires->to[i]] = far[m->order[done]] + 1;
                m->order[count++] = wires->to[i];
            }
    m->reached = count;
}

/* The next switches of a search from all; returns how many. */
static uint32_t next_sources(const struct route_wires *wires, uint32_t first, uint32_t *to)
{
    uint32_t count = 0;
    for (; count < ROUTE_FLOOD_BITS && first + count < wires->switches; count++)
        to[count] = first + count;
    return count;
}

/* ---- by distance ---- */

#define DIGITS 32

/* What up to 512 switches see: how many distances had many endpoints, or nearly all, and which those were. */
struct view {
    uint32_t count; /* switches */
    uint32_t most[ROUTE_FLOOD_BITS], many[ROUTE_FLOOD_BITS], nearly_all[ROUTE_FLOOD_BITS];
};

/* Adds a number to the sums of some switches: the sums' digits of one value are the bits of one word. */
static void sums_add(route_wide *digit, const route_wide *who, uint32_t number)
{
    route_wide carry = {0};
    for (int i = 0; i < DIGITS && (number >> i || route_wide_any(&carry)); i++) {
        route_wide more = *who, old = digit[i];
        if (!(number >> i & 1))
            more ^= more;
        digit[i] = old ^ more ^ carry;
        carry = (old & more) | (carry & (old ^ more));
    }
}

static bool view_step(void *context, const struct route_flood *f, uint32_t distance, uint32_t active)
{
    struct view *v = context;
    route_wide digit[DIGITS] = {0};
    uint64_t endpoints = f->wires->endpoints;
    for (uint32_t k = 0; k < active; k++)
        sums_add(digit, &f->front[f->list[k]], f->wires->endpoints_at[f->list[k]]);
    for (uint32_t i = 0; i < v->count; i++) {
        uint64_t now = 0;
        for (int k = 0; k < DIGITS && endpoints >> k; k++)
            now |= (digit[k][i / 64] >> i % 64 & 1) << k;
        v->many[i] += 20 * now > endpoints;
        if (10 * now > 9 * endpoints) {
            v->nearly_all[i]++;
            v->most[i] = distance;
        }
    }
    return true;
}

/* Switches that see nearly all endpoints at one distance, the least at which any does; written to m->order,
 * returns how many. */
static uint32_t roots_by_distance(struct route_maker *m)
{
    const struct route_wires *wires = m->wires;
    struct route_flood flood;
    uint32_t found = 0, least = UINT32_MAX, to[ROUTE_FLOOD_BITS];
    route_flood_init(&flood, wires, NULL, NULL, NULL);
    flood.look = view_step;
    for (uint32_t first = 0; first < wires->switches; first += ROUTE_FLOOD_BITS) {
        struct view v = {.count = next_sources(wires, first, to)};
        flood.context = &v;
        route_flood_search(&flood, to, v.count);
        for (uint32_t i = 0; i < v.count; i++) {
            if (v.nearly_all[i] != 1 || v.many[i] != 1 || v.most[i] == 0 || v.most[i] > least)
                continue;
            found = v.most[i] < least ? 0 : found;
            least = v.most[i];
            m->order[found++] = first + i;
        }
    }
    route_flood_release(&flood);
    return found;
}

/* ---- by place ---- */

/* Where some switches have no endpoints, those farthest from any endpoint: the top of a tree. 0: all have
 * endpoints. */
static uint32_t roots_farthest(struct route_maker *m)
{
    const struct route_wires *wires = m->wires;
    uint32_t *far = ker_alloc(wires->switches * sizeof *far), count = 0, most = 0;
    for (uint32_t s = 0; s < wires->switches; s++)
        if (wires->endpoints_at[s])
            m->order[count++] = s;
    route_roots_spread(m, count, far);
    for (uint32_t i = 0; i < m->reached; i++)
        if (far[m->order[i]] > most)
            most = far[m->order[i]];
    count = 0;
    for (uint32_t s = 0; s < wires->switches; s++)
        if (far[s] == most && most > 0)
            m->order[count++] = s;
    free(far);
    return count;
}

/* Which part of the network every switch is in, by a number below that of the switches; how many there are.
 */
static void parts_find(struct route_maker *m, uint32_t *part, uint32_t *size)
{
    const struct route_wires *wires = m->wires;
    memset(part, 0xff, wires->switches * sizeof *part);
    for (uint32_t s = 0; s < wires->switches; s++) {
        uint32_t found = 0;
        if (part[s] != UINT32_MAX)
            continue;
        part[s] = s;
        m->order[found++] = s;
        for (uint32_t done = 0; done < found; done++)
            for (uint32_t i = wires->begin[m->order[done]]; i < wires->begin[m->order[done] + 1]; i++)
                if (part[wires->to[i]] == UINT32_MAX) {
                    part[wires->to[i]] = s;
                    m->order[found++] = wires->to[i];
                }
        size[s] = found;
    }
}

struct eccentricity {
    uint32_t *far;
};

static bool eccentricity_step(void *context, const struct route_flood *f, uint32_t distance, uint32_t active)
{
    struct eccentricity *e = context;
    route_wide any = {0};
    for (uint32_t k = 0; k < active; k++)
        any |= f->front[f->list[k]];
    for (uint32_t i = 0; i < f->count; i++)
        if (any[i / 64] >> i % 64 & 1)
            e->far[i] = distance;
    return true;
}

/* Links to the farthest switch of its part, for each. */
static void eccentricities(const struct route_maker *m, uint32_t *far)
{
    struct route_flood flood;
    uint32_t to[ROUTE_FLOOD_BITS];
    route_flood_init(&flood, m->wires, NULL, NULL, NULL);
    flood.look = eccentricity_step;
    for (uint32_t first = 0; first < m->wires->switches; first += ROUTE_FLOOD_BITS) {
        flood.context = &(struct eccentricity){far + first};
        route_flood_search(&flood, to, next_sources(m->wires, first, to));
    }
    route_flood_release(&flood);
}

/* The switch nearest to all others, of equals that with most links, then the first; in large networks just
 * that with most links. Switches cut off by faults do not count. */
static uint32_t roots_central(struct route_maker *m)
{
    const struct route_wires *wires = m->wires;
    uint32_t n = wires->switches, best = 0;
    uint32_t *part = ker_alloc(n * sizeof *part), *size = ker_alloc(n * sizeof *size);
    uint32_t *far = ker_alloc(n * sizeof *far);
    if (n <= MOST_ECCENTRIC) {
        parts_find(m, part, size);
        eccentricities(m, far);
    }
    for (uint32_t s = 1; s < n; s++) {
        uint32_t reached = size[part[s]], best_reached = size[part[best]];
        if (reached != best_reached ? reached > best_reached
            : far[s] != far[best]   ? far[s] < far[best]
                                    : degree(wires, s) > degree(wires, best))
            best = s;
    }
    free(part);
    free(size);
    free(far);
    m->order[0] = best;
    return 1;
}

uint32_t route_roots_guess(struct route_maker *m, int rule)
{
    static uint32_t (*const rules[ROUTE_ROOT_RULES])(struct route_maker *) = {roots_by_distance,
                                                                              roots_farthest, roots_central};
    return rules[rule](m);
}

/* ---- do they suffice? ---- */

/* Do all switches with endpoints reach those of the same part that are destinations of the flood? */
static bool all_reach(const struct route_flood *f, const uint32_t *to, const uint32_t *part, route_wide *here)
{
    const struct route_wires *wires = f->wires;
    bool all = true;
    for (uint32_t i = 0; i < f->count; i++)
        here[part[to[i]]][i / 64] |= 1ull << i % 64;
    for (uint32_t s = 0; s < wires->switches; s++) {
        route_wide lacks = here[part[s]] & ~f->seen[s];
        all &= wires->endpoints_at[s] == 0 || !route_wide_any(&lacks);
    }
    for (uint32_t i = 0; i < f->count; i++)
        here[part[to[i]]] ^= here[part[to[i]]];
    return all;
}

bool route_roots_suffice(struct route_maker *m)
{
    const struct route_wires *wires = m->wires;
    struct route_flood flood;
    bool all = true;
    uint32_t n = wires->switches, to[ROUTE_FLOOD_BITS];
    uint32_t *part = ker_alloc(n * sizeof *part), *size = ker_alloc(n * sizeof *size);
    route_wide *here = ker_reserve(n * sizeof *here);
    parts_find(m, part, size);
    route_flood_init(&flood, wires, NULL, m->depth, m->by_depth);
    for (uint32_t s = 0, count = 0; s < n && all; s++) {
        if (wires->endpoints_at[s])
            to[count++] = s;
        if (count == ROUTE_FLOOD_BITS || (count > 0 && s + 1 == n)) {
            route_flood_reach(&flood, to, count);
            all = all_reach(&flood, to, part, here);
            count = 0;
        }
    }
    route_flood_release(&flood);
    ker_release(here, n * sizeof *here);
    free(part);
    free(size);
    return all;
}
