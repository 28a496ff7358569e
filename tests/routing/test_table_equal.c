/* test_table_equal.c - tables against a simple reference that looks at one destination and one switch at a
 * time.
 *
 * The reference follows docs/routing-tables.md and the head of routing/tables/make.c by the shortest code,
 * with Bellman and Ford's distances; every path of every switch to every node must be the same, in the same
 * order. */
#include "tests/routing/tables.h"

#include "routing/topology.h"

#define FAR UINT64_MAX

struct reference {
    struct route_topology *topology;
    struct route_wires wires;
    bool updown, latency, one;
    uint32_t root;
    uint64_t *depth, *distance, *load, *pairs, *divided;
    bool *below, *used;
    uint32_t **hop, *hops; /* per switch the links that paths begin with */
    uint32_t *order;
};

static uint64_t weight(const struct reference *r, uint32_t link)
{
    return r->latency ? (uint64_t)route_summarise(r->topology)->link[r->wires.class[link]].latency : 1;
}

/* Distance from the root, then number. */
static void depths(struct reference *r)
{
    uint32_t n = r->wires.switches;
    uint64_t *far = ker_alloc(n * sizeof *far);
    for (uint32_t s = 0; s < n; s++)
        far[s] = s == r->root ? 0 : n;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < r->wires.links; i++)
            if (far[r->wires.from[i]] + 1 < far[r->wires.to[i]]) {
                far[r->wires.to[i]] = far[r->wires.from[i]] + 1;
                changed = true;
            }
    }
    for (uint32_t s = 0; s < n; s++)
        r->depth[s] = far[s] * n + s;
    free(far);
}

/* May a path continue by this link from a switch, with a path down from there or without? */
static bool legal(const struct reference *r, uint32_t link)
{
    uint32_t at = r->wires.from[link], peer = r->wires.to[link];
    if (!r->updown)
        return true;
    return r->below[at] ? r->below[peer] && r->depth[peer] > r->depth[at] : r->depth[peer] < r->depth[at];
}

static void distances(struct reference *r, uint32_t to)
{
    const struct route_wires *wires = &r->wires;
    for (uint32_t s = 0; s < wires->switches; s++) {
        r->below[s] = s == to;
        r->distance[s] = s == to ? 0 : FAR;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < wires->links; i++)
            if (r->below[wires->to[i]] && r->depth[wires->to[i]] > r->depth[wires->from[i]])
                changed |= !r->below[wires->from[i]], r->below[wires->from[i]] = true;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < wires->links; i++) {
            uint32_t at = wires->from[i], peer = wires->to[i];
            if (r->distance[peer] == FAR || !legal(r, i) ||
                r->distance[peer] + weight(r, i) >= r->distance[at])
                continue;
            r->distance[at] = r->distance[peer] + weight(r, i);
            changed = true;
        }
    }
}

static uint64_t *sort_by;
static int compare_far(const void *a, const void *b)
{
    uint64_t x = sort_by[*(const uint32_t *)a], y = sort_by[*(const uint32_t *)b];
    return x > y ? -1 : x < y;
}

/* The links that paths to a switch begin with, at all switches that packets pass, the farthest first. */
static void paths(struct reference *r, uint32_t to)
{
    const struct route_wires *wires = &r->wires;
    distances(r, to);
    for (uint32_t s = 0; s < wires->switches; s++) {
        r->order[s] = s;
        r->used[s] = wires->endpoints_at[s] && r->distance[s] != FAR;
        r->divided[s] = 1;
        r->hops[s] = 0;
    }
    sort_by = r->distance;
    qsort(r->order, wires->switches, sizeof *r->order, compare_far);
    for (uint32_t k = 0; k < wires->switches; k++) {
        uint32_t at = r->order[k];
        if (!r->used[at] || at == to)
            continue;
        for (uint32_t i = wires->begin[at]; i < wires->begin[at + 1]; i++)
            if (legal(r, i) && r->distance[wires->to[i]] != FAR &&
                r->distance[wires->to[i]] + weight(r, i) == r->distance[at])
                r->hop[at][r->hops[at]++] = i;
        uint64_t divided = r->divided[at] * r->hops[at];
        divided = divided > wires->endpoints ? wires->endpoints + 1ull : divided;
        for (uint32_t i = 0; i < r->hops[at]; i++) {
            uint32_t peer = wires->to[r->hop[at][i]];
            r->used[peer] = true;
            r->divided[peer] = divided > r->divided[peer] ? divided : r->divided[peer];
        }
    }
}

/* The one path of a switch that packets pass: which of its hops. */
static uint32_t pick(const struct reference *r, uint32_t at, uint32_t endpoint)
{
    uint32_t count = r->hops[at], picked;
    uint64_t low = UINT64_MAX;
    if (r->divided[at] * count > r->wires.endpoints)
        return count == 1 ? 0 : ker_random_below(route_mix(endpoint, at), count);
    picked = (uint32_t)(endpoint / r->divided[at] % count);
    for (uint32_t i = 0; i < count; i++)
        low = r->load[r->hop[at][i]] < low ? r->load[r->hop[at][i]] : low;
    if (r->load[r->hop[at][picked]] > low + r->pairs[at])
        while (r->load[r->hop[at][picked]] != low)
            picked = (picked + 1) % count;
    return picked;
}

static void check_hops(const struct reference *r, uint32_t at, uint32_t endpoint, const uint32_t *link,
                       uint32_t count)
{
    const struct route_hop *hop;
    uint32_t to = r->wires.endpoint_switch[endpoint],
             got = route_table_hops(r->topology->table, at, endpoint, &hop);
    uint32_t skip = count > ROUTE_MAX_CHOICES ? to % count : 0, n = 0;
    if (at == to) {
        assert_int_equal(got, 1);
        assert_int_equal(hop->port, r->wires.endpoint_port[endpoint]);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        if ((i + count - skip) % count < ROUTE_MAX_CHOICES) {
            assert_true(n < got);
            assert_int_equal(hop[n++].port, r->wires.port[link[i]]);
        }
    assert_int_equal(got, n);
}

static void endpoint_check(struct reference *r, uint32_t endpoint)
{
    const struct route_wires *wires = &r->wires;
    uint32_t to = wires->endpoint_switch[endpoint];
    for (uint32_t s = 0; s < wires->switches; s++)
        r->pairs[s] = wires->endpoints_at[s];
    for (uint32_t k = 0; k < wires->switches; k++) {
        uint32_t at = r->order[k];
        if (!r->one || at == to || !r->used[at] || r->pairs[at] == 0) {
            check_hops(r, at, endpoint, r->hop[at], r->one || !r->used[at] ? 0 : r->hops[at]);
            continue;
        }
        if (r->hops[at] == 0) { /* cut off from it */
            check_hops(r, at, endpoint, NULL, 0);
            continue;
        }
        uint32_t *link = &r->hop[at][pick(r, at, endpoint)];
        check_hops(r, at, endpoint, link, 1);
        r->load[*link] += r->hops[at] > 1 ? r->pairs[at] : 0;
        r->pairs[wires->to[*link]] += r->pairs[at];
    }
}

/* In the order in which loads are counted: by 64 endpoints, those of one switch together, again from every
 * 16,384th on. */
static void table_check(struct reference *r)
{
    const struct route_wires *wires = &r->wires;
    for (uint32_t first = 0; first < wires->endpoints; first += 64) {
        if (first % 16384 == 0)
            memset(r->load, 0, wires->links * sizeof *r->load);
        for (uint32_t i = first; i < first + 64 && i < wires->endpoints; i++) {
            uint32_t to = wires->endpoint_switch[i];
            bool done = false;
            for (uint32_t k = first; k < i; k++)
                done |= wires->endpoint_switch[k] == to;
            if (!done)
                paths(r, to);
            for (uint32_t k = i; !done && k < first + 64 && k < wires->endpoints; k++)
                if (wires->endpoint_switch[k] == to)
                    endpoint_check(r, k);
        }
    }
}

static void reference_check(struct reference *r, const char *text)
{
    r->topology = topology_make(text, 0);
    route_wires_make(&r->wires, r->topology);
    size_t n = r->wires.switches;
    r->depth = ker_alloc(n * sizeof *r->depth);
    r->distance = ker_alloc(n * sizeof *r->distance);
    r->pairs = ker_alloc(n * sizeof *r->pairs);
    r->divided = ker_alloc(n * sizeof *r->divided);
    r->below = ker_alloc(n);
    r->used = ker_alloc(n);
    r->hop = ker_alloc(n * sizeof *r->hop);
    r->hops = ker_alloc(n * sizeof *r->hops);
    r->order = ker_alloc(n * sizeof *r->order);
    r->load = ker_alloc((r->wires.links + 1ull) * sizeof *r->load);
    for (uint32_t s = 0; s < n; s++)
        r->hop[s] = ker_alloc((r->wires.most + 1ull) * sizeof **r->hop);
    if (r->updown)
        depths(r);
    table_check(r);
    for (uint32_t s = 0; s < n; s++)
        free(r->hop[s]);
    free(r->depth);
    free(r->distance);
    free(r->pairs);
    free(r->divided);
    free(r->below);
    free(r->used);
    free(r->hop);
    free(r->hops);
    free(r->order);
    free(r->load);
    route_wires_release(&r->wires);
    route_free(r->topology);
}

/* Shortest by links and by latency, and up*down* from a root; all paths and one. */
static void algorithms_check(const char *system, uint32_t root)
{
    static const char *const weights[] = {"", "weights = \"latency\"; "}, *const ways[] = {
                                                                              "", "paths = \"one\"; "};
    for (int kind = 0; kind < 3; kind++)
        for (int one = 0; one < 2; one++) {
            struct reference r = {.updown = kind == 2, .latency = kind == 1, .one = one, .root = root};
            char *text = kind == 2 ? ker_format("%srouting: { algorithm = \"updown\"; root = %u; %s}; ",
                                                system, root, ways[one])
                                   : ker_format("%srouting: { algorithm = \"shortest\"; %s%s}; ", system,
                                                weights[kind], ways[one]);
            reference_check(&r, text);
            free(text);
        }
}

/* ---- networks ---- */

/* Trees, chains, stars and more links than that; several nodes, one or none at a switch, in any order. */
static void random_graph(const char *name, uint32_t *random, uint32_t switches)
{
    uint32_t shape = test_random(random) % 3, more = test_random(random) % (2 * switches);
    uint32_t nodes = 1 + test_random(random) % (2 * switches), sorted = test_random(random) % 3;
    FILE *out = fopen(name, "w");
    for (uint32_t i = 0; i < switches; i++)
        fprintf(out, "switch s%u\n", i);
    for (uint32_t i = 0; i < nodes; i++)
        fprintf(out, "node n%u s%u 10ns 1GB/s\n", i,
                sorted ? (uint32_t)((uint64_t)i * switches / nodes) : test_random(random) % switches);
    for (uint32_t i = 1; i < switches; i++)
        fprintf(out, "link s%u s%u %uns 1GB/s %u\n", i,
                shape == 0   ? i - 1
                : shape == 1 ? 0
                             : test_random(random) % i,
                10 + 10 * (test_random(random) % 3),
                1 + (shape == 1 && i == 1 ? 70 : test_random(random) % 2));
    /* others at a distance of two or more in the numbers, each once: links of equal ends are written once */
    for (uint32_t i = 0; shape == 0 && i + 2 < switches && i < more; i++)
        if (i % 3 == 0 && i + 2 + more % 7 < switches)
            fprintf(out, "link s%u s%u 10ns 1GB/s\n", i, i + 2 + more % 7);
    assert_int_equal(fclose(out), 0);
}

static void random_graphs(void **state)
{
    static const uint32_t sizes[] = {1, 2, 3, 8, 31, 64, 65, 130};
    for (uint32_t i = 0; i < 4 * sizeof sizes / sizeof *sizes; i++) {
        uint32_t random = 77 + i, size = sizes[i / 4];
        random_graph("graph", &random, size);
        algorithms_check(GRAPH("graph"), test_random(&random) % size);
    }
    remove("graph");
}

static void all_kinds(void **state)
{
    for (int i = 0; i < SYSTEMS; i++)
        algorithms_check(systems[i], i % 2 && i != 5);
}

/* More than 512 switches with nodes; more than 4,096 nodes, and than 16,384; products of which a link is
 * down. */
static void several_floods(void **state)
{
    algorithms_check(TOPOLOGY("torus", "extents = [9, 8, 8]; " LINKS), 5);
    algorithms_check(TOPOLOGY("torus", "extents = [1, 6, 2, 7]; wrap = [true, false, true, true]; " LINKS),
                     5);
    algorithms_check(
        TOPOLOGY("torus", "extents = [5, 4, 3]; " LINKS) "faults: { list = ({ link = [0, 1]; }); }; ", 5);
    algorithms_check(TOPOLOGY("fat_tree", "down = [70, 6, 12]; up = [1, 2, 3]; " LINKS), 80);
    algorithms_check(TOPOLOGY("torus", "extents = [4, 4]; nodes_per_switch = 1100; " LINKS), 0);
    algorithms_check(TOPOLOGY("hierarchical", "groups = [5, 111]; links = 2; " LINKS), 3);
}

static void with_faults(void **state)
{
    static const char *const some[] = {TORUS, TREE, DRAGONFLY, PERCS, GRAPH("marssim-table-3")};
    for (int i = 0; i < 15; i++) {
        char *text = ker_format(
            "%sfaults: { link_rate = 0.%d; switch_rate = 0.0%d; seed = %d; unreachable = \"drop\"; "
            "}; ",
            some[i % 5], i % 3 + 1, i % 4, i);
        algorithms_check(text, 2);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds),
        cmocka_unit_test(random_graphs),
        cmocka_unit_test(several_floods),
        cmocka_unit_test(with_faults),
    };
    return cmocka_run_group_tests(tests, graphs_write, graphs_remove);
}
