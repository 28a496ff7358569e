/* test_acyclic.c - dependencies of links that are kept without circles, against a plain search: what is added
 * is what closes none. */
#include "tests/routing/tables.h"

#include "routing/tables/acyclic.h"

struct plain {
    const struct route_wires *wires;
    bool *waits; /* [link * most + which of the next] */
    bool *seen;
    uint32_t *stack;
};

static bool *waits_of(const struct plain *p, uint32_t link, uint32_t next)
{
    return &p->waits[(size_t)link * p->wires->most + next - p->wires->begin[p->wires->to[link]]];
}

/* Does a dependency, or several, lead from one link to another? */
static bool leads(const struct plain *p, uint32_t from, uint32_t to)
{
    const struct route_wires *wires = p->wires;
    uint32_t depth = 0;
    memset(p->seen, 0, wires->links);
    p->stack[depth++] = from;
    p->seen[from] = true;
    while (depth > 0) {
        uint32_t link = p->stack[--depth], at = wires->to[link];
        if (link == to)
            return true;
        for (uint32_t next = wires->begin[at]; next < wires->begin[at + 1]; next++)
            if (*waits_of(p, link, next) && !p->seen[next]) {
                p->seen[next] = true;
                p->stack[depth++] = next;
            }
    }
    return false;
}

/* Links that lead to a switch at random, none twice, which do not wait for `next` yet. */
static uint32_t links_draw(const struct plain *p, uint32_t next, uint32_t *link, uint32_t *random)
{
    const struct route_wires *wires = p->wires;
    uint32_t at = wires->from[next], links = wires->begin[at + 1] - wires->begin[at], count = 0;
    uint32_t first = test_random(random) % links, wanted = 1 + test_random(random) % 3;
    for (uint32_t i = 0; i < links && count < wanted; i += 1 + test_random(random) % 3) {
        link[count] = wires->reverse[wires->begin[at] + (first + i) % links];
        count += !*waits_of(p, link[count], next);
    }
    return count;
}

/* Links at random, up to three at once; one in `again` of those added is taken away once more, so that many
 * more are tried. */
static void layer_check(struct route_acyclic *acyclic, uint32_t layer, struct plain *p, uint32_t tries,
                        uint32_t again, uint32_t *random)
{
    uint32_t added = 0, refused = 0, link[3];
    memset(p->waits, 0, (size_t)p->wires->links * p->wires->most);
    for (uint32_t i = 0; i < tries; i++) {
        uint32_t next = test_random(random) % p->wires->links, count = links_draw(p, next, link, random);
        bool possible = true, taken = test_random(random) % again == 0;
        for (uint32_t k = 0; k < count; k++) {
            bool circle = leads(p, next, link[k]);
            assert_true(circle || !route_acyclic_refuses(acyclic, layer, link[k], next));
            possible &= !circle;
        }
        if (count == 0)
            continue;
        assert_int_equal(route_acyclic_add(acyclic, layer, link, count, next), possible);
        added += possible;
        refused += !possible;
        for (uint32_t k = 0; k < count && possible; k++) {
            *waits_of(p, link[k], next) = !taken;
            if (taken)
                route_acyclic_remove(acyclic, layer, link[k], next);
            else
                route_acyclic_keep(acyclic, layer, link[k], next);
        }
        route_acyclic_kept(acyclic);
    }
    assert_true(added > 20 && refused > 20);
}

static void as_a_plain_search(void **state)
{
    static const char *const networks[] = {
        TORUS, DRAGONFLY,
        TOPOLOGY("hierarchical", "groups = [66]; " LINKS), /* more than 64 links of a switch */
        TOPOLOGY("torus", "extents = [12, 12]; " LINKS)};
    uint32_t random = 2026;
    for (int i = 0; i < 4; i++) {
        struct route_topology *topology = topology_make(networks[i], 0);
        struct route_wires wires;
        route_wires_make(&wires, topology);
        struct plain p = {.wires = &wires,
                          .waits = ker_alloc((size_t)wires.links * wires.most),
                          .seen = ker_alloc(wires.links),
                          .stack = ker_alloc(wires.links * sizeof *p.stack)};
        struct route_acyclic *acyclic = route_acyclic_new(&wires);
        for (uint32_t layer = 0; layer < 2; layer++) {
            route_acyclic_layer(acyclic);
            layer_check(acyclic, layer, &p, 6 * wires.links, 4 + layer, &random);
        }
        route_acyclic_free(acyclic);
        free(p.waits);
        free(p.seen);
        free(p.stack);
        route_wires_release(&wires);
        route_free(topology);
    }
}

static uint32_t link_of(const struct route_wires *wires, uint32_t from, uint32_t to)
{
    uint32_t link = wires->begin[from];
    while (wires->to[link] != to)
        link++;
    return link;
}

static bool add_one(struct route_acyclic *acyclic, uint32_t link, uint32_t next)
{
    return route_acyclic_add(acyclic, 0, &link, 1, next);
}

/* All links to switch 0 move to the place before one and the same link, each into half the room that the one
 * before has left: labels between two are used up several times. */
static void labels_are_spread(void **state)
{
    struct route_topology *topology = topology_make(TOPOLOGY("hierarchical", "groups = [150]; " LINKS), 0);
    struct route_wires wires;
    route_wires_make(&wires, topology);
    struct route_acyclic *acyclic = route_acyclic_new(&wires);
    route_acyclic_layer(acyclic);
    for (uint32_t s = 2; s < 150; s++)
        assert_true(add_one(acyclic, link_of(&wires, s, 0), link_of(&wires, 0, 1)));
    for (uint32_t s = 2; s < 150; s++) {
        assert_true(add_one(acyclic, link_of(&wires, 0, 1), link_of(&wires, 1, s)));
        assert_false(add_one(acyclic, link_of(&wires, 1, s), link_of(&wires, s, 0)));
    }
    route_acyclic_free(acyclic);
    route_wires_release(&wires);
    route_free(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_a_plain_search),
        cmocka_unit_test(labels_are_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
