/* updown.c - up*down*: where the roots are, and the order of the switches that follows from them.
 *
 * Roots that are not given are guessed, by the first of three rules that leads to every endpoint:
 *
 * - The top of a tree sees nearly all endpoints at one and the same distance. A switch is taken when more
 * than 90 % of the endpoints are at one distance from it and no other distance has more than 5 %, as OpenSM's
 * up/down does it; an endpoint on a spine does not matter then. On large trees switches lower down may see
 * that, too, further away: of all only those with the least such distance are taken.
 * - Where some switches have no endpoints, those farthest from any endpoint.
 * - One switch in the centre.
 */
#include "routing/tables/distances.h"
#include "routing/tables/maker.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ECCENTRIC 4096 /* switches up to which the root is the switch nearest to all others */

static uint32_t degree(const struct route_wires *wires, uint32_t switch_id)
{
    return wires->begin[switch_id + 1] - wires->begin[switch_id];
}

/* The switch nearest to all others, of equals that with most links, then the first; in large networks just
 * that with most links. Switches cut off by faults do not count. */
static uint32_t root_central(struct route_maker *m)
{
    const struct route_wires *wires = m->wires;
    uint32_t best = 0, best_reached = 0;
    uint64_t best_far = ROUTE_FAR;
    for (uint32_t s = 0; s < wires->switches; s++) {
        uint64_t far = 0;
        uint32_t reached = 0;
        if (wires->switches <= MOST_ECCENTRIC) {
            route_search_breadth(m, s);
            reached = m->reached;
            far = m->distance[m->order[m->reached - 1]];
        }
        bool better = reached != best_reached ? reached > best_reached
                      : far != best_far       ? far < best_far
                                              : degree(wires, s) > degree(wires, best);
        if (s == 0 || better) {
            best = s;
            best_reached = reached;
            best_far = far;
        }
    }
    return best;
}

/* Distances from the nearest of `count` switches, which stand first in m->order. */
static void search_from(struct route_maker *m, uint32_t count, uint32_t *far)
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

/* What up to 64 switches see: the endpoints at the distance at hand, and how many distances had many. */
struct view {
    const struct route_wires *wires;
    uint32_t first, count; /* switches */
    uint32_t distance, now[ROUTE_DISTANCES_SOURCES];
    uint32_t most[ROUTE_DISTANCES_SOURCES], many[ROUTE_DISTANCES_SOURCES],
        nearly_all[ROUTE_DISTANCES_SOURCES];
};

/* All endpoints at a distance have been counted. */
static void view_close(struct view *v)
{
    uint64_t endpoints = v->wires->endpoints;
    for (uint32_t i = 0; i < v->count; i++) {
        v->many[i] += 20ull * v->now[i] > endpoints;
        if (10ull * v->now[i] > 9 * endpoints) {
            v->nearly_all[i]++;
            v->most[i] = v->distance;
        }
        v->now[i] = 0;
    }
}

static void view_take(void *context, uint32_t distance, uint32_t switch_id, uint64_t sources)
{
    struct view *v = context;
    if (distance != v->distance)
        view_close(v);
    v->distance = distance;
    uint32_t endpoints = v->wires->endpoints_at[switch_id];
    for (; endpoints && sources; sources &= sources - 1)
        v->now[__builtin_ctzll(sources)] += endpoints;
}

/* Switches that see nearly all endpoints at one distance, the least at which any does; written to m->order,
 * returns how many. */
static uint32_t roots_by_distance(struct route_maker *m)
{
    const struct route_wires *wires = m->wires;
    uint32_t count = 0, least = UINT32_MAX;
    for (uint32_t first = 0; first < wires->switches; first += ROUTE_DISTANCES_SOURCES) {
        struct view v = {.wires = wires, .first = first};
        uint32_t rest = wires->switches - first;
        v.count = rest < ROUTE_DISTANCES_SOURCES ? rest : ROUTE_DISTANCES_SOURCES;
        route_distances(wires, first, wires->switches, view_take, &v);
        view_close(&v);
        for (uint32_t i = 0; i < v.count; i++) {
            if (v.nearly_all[i] != 1 || v.many[i] != 1 || v.most[i] == 0 || v.most[i] > least)
                continue;
            count = v.most[i] < least ? 0 : count;
            least = v.most[i];
            m->order[count++] = first + i;
        }
    }
    return count;
}

/* Where some switches have no endpoints, those farthest from any endpoint: the top of a tree. 0: all have
 * endpoints. */
static uint32_t roots_farthest(struct route_maker *m)
{
    const struct route_wires *wires = m->wires;
    uint32_t *far = ker_alloc(wires->switches * sizeof *far), count = 0, most = 0;
    for (uint32_t s = 0; s < wires->switches; s++)
        if (wires->endpoints_at[s])
            m->order[count++] = s;
    search_from(m, count, far);
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

static uint32_t roots_central(struct route_maker *m)
{
    m->order[0] = root_central(m);
    return 1;
}

static void depths_from(struct route_maker *m, uint32_t roots)
{
    const struct route_wires *wires = m->wires;
    uint32_t *far = ker_alloc(wires->switches * sizeof *far), count = 0;
    search_from(m, roots, far);
    for (uint32_t s = 0; s < wires->switches; s++) /* cut off by faults */
        if (far[s] == UINT32_MAX)
            m->order[m->reached++] = s;
    uint32_t *first = ker_alloc((wires->switches + 2ull) * sizeof *first);
    for (uint32_t s = 0; s < wires->switches; s++)
        far[s] = far[s] == UINT32_MAX ? wires->switches : far[s];
    for (uint32_t s = 0; s < wires->switches; s++)
        first[far[s] + 1]++;
    for (uint32_t i = 0; i <= wires->switches; i++)
        first[i + 1] += first[i];
    for (uint32_t s = 0; s < wires->switches; s++, count++) {
        m->depth[s] = first[far[s]]++;
        m->by_depth[m->depth[s]] = s;
    }
    free(first);
    free(far);
}

/* With several roots, can all switches with endpoints reach each other that are connected at all? */
static bool roots_suffice(struct route_maker *m)
{
    const struct route_wires *wires = m->wires;
    for (uint32_t to = 0; to < wires->switches; to++) {
        if (!wires->endpoints_at[to])
            continue;
        route_search_breadth(m, to);
        uint32_t wanted = 0, got = 0;
        for (uint32_t i = 0; i < m->reached; i++)
            wanted += wires->endpoints_at[m->order[i]] > 0;
        route_search_updown(m, to);
        for (uint32_t i = 0; i < m->reached; i++)
            got += wires->endpoints_at[m->order[i]] > 0;
        if (got < wanted)
            return false;
    }
    return true;
}

static enum ker_status roots_read(struct route_maker *m, const struct ker_config *config, uint32_t *roots,
                                  struct ker_error *error)
{
    static const char key[] = "routing.root";
    *roots = (uint32_t)ker_config_count(config, key);
    if (*roots > m->wires->switches)
        return ker_config_fail(config, error, key, "names %u switches, but there are %u", *roots,
                               m->wires->switches);
    for (uint32_t i = 0; i < *roots; i++) {
        int64_t id = ker_config_int_at(config, key, (int)i);
        if (id >= (int64_t)m->wires->switches)
            return ker_config_fail(config, error, key, "is %lld, but switches have numbers 0 to %u",
                                   (long long)id, m->wires->switches - 1);
        m->order[i] = (uint32_t)id;
        for (uint32_t k = 0; k < i; k++)
            if (m->order[k] == m->order[i])
                return ker_config_fail(config, error, key, "names switch %u twice", m->order[i]);
    }
    return KER_OK;
}

static void depths_guess(struct route_maker *m)
{
    static uint32_t (*const rules[])(struct route_maker *) = {roots_by_distance, roots_farthest,
                                                              roots_central};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        uint32_t roots = rules[i](m);
        if (roots == 0)
            continue;
        depths_from(m, roots);
        if (roots == 1 || roots_suffice(m))
            return;
    }
}

static enum ker_status depths_make(struct route_maker *m, const struct ker_config *config,
                                   struct ker_error *error)
{
    uint32_t roots = 0;
    m->depth = ker_alloc(m->wires->switches * sizeof *m->depth);
    m->by_depth = ker_alloc(m->wires->switches * sizeof *m->by_depth);
    enum ker_status status =
        ker_config_has(config, "routing.root") ? roots_read(m, config, &roots, error) : KER_OK;
    if (status != KER_OK)
        return status;
    if (roots == 0) {
        depths_guess(m);
        return KER_OK;
    }
    depths_from(m, roots);
    if (roots == 1 || roots_suffice(m))
        return KER_OK;
    return ker_config_fail(
        config, error, "routing.root",
        "these %u roots do not lead to every node by paths that go up first and then only down; "
        "name one root, or the whole top of a tree",
        roots);
}

enum ker_status route_updown_prepare(struct route_topology *topology, const struct ker_config *config,
                                     struct ker_error *error)
{
    struct route_wires wires;
    struct route_maker m = {.updown = true, .one = ker_config_is(config, "routing.ways", "one")};
    route_wires_make(&wires, topology);
    route_maker_init(&m, &wires);
    enum ker_status status = depths_make(&m, config, error);
    if (status == KER_OK)
        route_maker_fill(&m);
    topology->table = m.table;
    route_maker_release(&m);
    route_wires_release(&wires);
    return status;
}
