/* updown.c - up*down*: the order of the switches that follows from the roots, given or guessed (roots.c). */
#include "routing/tables/share.h"

#include <stdlib.h>
#include <string.h>

static void depths_from(struct route_maker *m, uint32_t roots)
{
    const struct route_wires *wires = m->wires;
    uint32_t *far = ker_alloc(wires->switches * sizeof *far), count = 0;
    route_roots_spread(m, roots, far);
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
    for (int rule = 0; rule < ROUTE_ROOT_RULES; rule++) {
        uint32_t roots = route_roots_guess(m, rule);
        if (roots == 0)
            continue;
        depths_from(m, roots);
        if (roots == 1 || route_roots_suffice(m))
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
    if (roots == 1 || route_roots_suffice(m))
        return KER_OK;
    return ker_config_fail(
        config, error, "routing.root",
        "these %u roots do not lead to every node by paths that lead up first and then only down; "
        "name one root, or the whole top of a tree",
        roots);
}

enum ker_status route_updown_prepare(struct route_topology *topology, const struct ker_config *config,
                                     struct ker_error *error)
{
    struct route_wires wires;
    struct route_maker m = {.updown = true, .one = ker_config_is(config, "routing.paths", "one")};
    route_wires_make(&wires, topology);
    route_maker_init(&m, &wires);
    enum ker_status status = depths_make(&m, config, error);
    status = route_share_begin(&m, topology->comm, status);
    if (status == KER_OK)
        route_maker_fill(&m);
    if (status == KER_OK)
        route_share_settle(&m);
    topology->table = m.table;
    route_maker_release(&m);
    route_wires_release(&wires);
    return status;
}
