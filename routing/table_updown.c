/* table_updown.c - up*down*: where the roots are, and the order of the switches that follows from them. */
#include "routing/table_maker.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ECCENTRIC 4096 /* switches up to which the root is the switch nearest to all others */

static uint32_t degree(const struct route_wires *wires, uint32_t switch_id)
{
    return wires->begin[switch_id + 1] - wires->begin[switch_id];
}

/* The switch nearest to all others, of equals that with most links, then the first; in large networks just that with most links. Switches
 * cut off by faults do not count. */
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

/* Where some switches have no nodes, the roots are those farthest from any node: the top of a tree. Else one in the centre. */
static uint32_t roots_guess(struct route_maker *m)
{
    const struct route_wires *wires = m->wires;
    uint32_t *far = ker_alloc(wires->switches * sizeof *far), count = 0, most = 0;
    for (uint32_t s = 0; s < wires->switches; s++)
        if (wires->nodes_at[s])
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
    if (count > 0)
        return count;
    m->order[0] = root_central(m);
    return 1;
}

static void rank_from(struct route_maker *m, uint32_t roots)
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
        m->rank[s] = first[far[s]]++;
        m->by_rank[m->rank[s]] = s;
    }
    free(first);
    free(far);
}

/* With several roots, can all switches with nodes reach each other that are connected at all? */
static bool roots_suffice(struct route_maker *m)
{
    const struct route_wires *wires = m->wires;
    for (uint32_t to = 0; to < wires->switches; to++) {
        if (!wires->nodes_at[to])
            continue;
        route_search_breadth(m, to);
        uint32_t wanted = 0, got = 0;
        for (uint32_t i = 0; i < m->reached; i++)
            wanted += wires->nodes_at[m->order[i]] > 0;
        route_search_updown(m, to);
        for (uint32_t i = 0; i < m->reached; i++)
            got += wires->nodes_at[m->order[i]] > 0;
        if (got < wanted)
            return false;
    }
    return true;
}

static enum ker_status roots_read(struct route_maker *m, const struct ker_config *config, uint32_t *roots, struct ker_error *error)
{
    static const char key[] = "routing.root";
    *roots = (uint32_t)ker_config_count(config, key);
    if (*roots > m->wires->switches)
        return ker_config_fail(config, error, key, "names %u switches, but there are %u", *roots, m->wires->switches);
    for (uint32_t i = 0; i < *roots; i++) {
        int64_t id = ker_config_int_at(config, key, (int)i);
        if (id >= (int64_t)m->wires->switches)
            return ker_config_fail(config, error, key, "is %lld, but switches have numbers 0 to %u", (long long)id,
                                   m->wires->switches - 1);
        m->order[i] = (uint32_t)id;
        for (uint32_t k = 0; k < i; k++)
            if (m->order[k] == m->order[i])
                return ker_config_fail(config, error, key, "names switch %u twice", m->order[i]);
    }
    return KER_OK;
}

static enum ker_status rank_make(struct route_maker *m, const struct ker_config *config, struct ker_error *error)
{
    uint32_t roots = 0;
    m->rank = ker_alloc(m->wires->switches * sizeof *m->rank);
    m->by_rank = ker_alloc(m->wires->switches * sizeof *m->by_rank);
    enum ker_status status = ker_config_has(config, "routing.root") ? roots_read(m, config, &roots, error) : KER_OK;
    if (status != KER_OK)
        return status;
    bool given = roots > 0;
    if (!given)
        roots = roots_guess(m);
    rank_from(m, roots);
    if (roots == 1 || roots_suffice(m))
        return KER_OK;
    if (given)
        return ker_config_fail(config, error, "routing.root",
                               "these %u roots do not lead to every node by ways that go up first and then only down; "
                               "name one root, or the whole top of a tree", roots);
    m->order[0] = root_central(m);
    rank_from(m, 1);
    return KER_OK;
}

enum ker_status route_updown_prepare(struct route_shape *shape, const struct ker_config *config, struct ker_error *error)
{
    struct route_wires wires;
    struct route_maker m = {.updown = true, .one = ker_config_choice(config, "routing.ways") == 1};
    route_wires_make(&wires, shape);
    route_maker_init(&m, &wires);
    enum ker_status status = rank_make(&m, config, error);
    if (status == KER_OK)
        route_maker_fill(&m);
    shape->table = m.table;
    route_maker_release(&m);
    route_wires_release(&wires);
    return status;
}
