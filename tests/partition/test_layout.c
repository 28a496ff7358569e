/* test_layout.c - component groups of no real network: who is a vertex, the graph, cells, indices,
 * lookaheads.
 *
 * Two models. LINE, without switches, as a model of messages alone would have it: 12 hosts in a line, link
 * i - (i+1) of delay 100 + i, and 3 servers, server j living with host 4 j, over a link of delay 7. RAILS: 4
 * switches in a ring (delay 50), 4 hosts; host h hangs on switch h (delay 10), where it lives, and on the
 * next one (delay 20).
 */
#include "partition/partition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { HOSTS, SERVERS };
enum { SWITCHES, RAILED };

static uint32_t one(const void *context, uint32_t number)
{
    return 1;
}

static uint32_t thirds(const void *context, uint32_t number)
{
    return number / 4;
}

static struct part_member server_home(const void *context, uint32_t number)
{
    return (struct part_member){HOSTS, 4 * number};
}

static uint32_t host_links(const void *context, uint32_t h, struct part_link *link)
{
    uint32_t n = 0;
    if (h > 0)
        link[n++] = (struct part_link){{HOSTS, h - 1}, 100 + h - 1};
    if (h < 11)
        link[n++] = (struct part_link){{HOSTS, h + 1}, 100 + h};
    if (h % 4 == 0)
        link[n++] = (struct part_link){{SERVERS, h / 4}, 7};
    return n;
}

static uint32_t server_links(const void *context, uint32_t number, struct part_link *link)
{
    link[0] = (struct part_link){{HOSTS, 4 * number}, 7};
    return 1;
}

static struct part_groups line(uint32_t ranks)
{
    struct part_groups groups = {0};
    struct part_group hosts = {"hosts", 12, NULL, NULL, one, thirds, host_links, 3},
                      servers = {"servers", 3, NULL, server_home, one, one, server_links, 1};
    assert_int_equal(part_groups_add(&groups, &hosts), HOSTS);
    assert_int_equal(part_groups_add(&groups, &servers), SERVERS);
    part_groups_divide(&groups, ranks);
    return groups;
}

/* 12 hosts for 3 ranks are 4 each: servers follow. The graph is the line of hosts alone: 2 x 11 entries. */
static void test_graph(void **state)
{
    struct part_groups groups = line(3);
    struct part_graph graph;
    assert_false(groups.apart);
    assert_int_equal(groups.components, 15);
    assert_int_equal(groups.vertices, 12);
    part_graph_make(&graph, &groups, NULL, 0);
    assert_int_equal(graph.vertices, 12);
    assert_int_equal(graph.first[12], 22);
    assert_int_equal(graph.first[2] - graph.first[1], 2);
    assert_int_equal(graph.to[graph.first[4]], 3); /* not the server */
    assert_int_equal(graph.delay[graph.first[4]], 103);
    assert_int_equal(graph.group[11], 2);
    part_graph_release(&graph);
}

/* 12 hosts for 4 ranks are 3 each, fewer than 4: servers are vertices 12 to 14, with an edge in each
 * direction. */
static void test_apart(void **state)
{
    struct part_groups groups = line(4);
    struct part_graph graph;
    assert_true(groups.apart);
    assert_int_equal(groups.vertices, 15);
    part_graph_make(&graph, &groups, NULL, 0);
    assert_int_equal(graph.first[15], 28);
    assert_int_equal(graph.to[graph.first[14]], 8);
    assert_int_equal(graph.delay[graph.first[14]], 7);
    part_graph_release(&graph);
}

static struct ker_address at(const struct part_layout *l, uint32_t group, uint32_t number)
{
    return part_layout_at(l, (struct part_member){group, number});
}

static void ranks_of_four(uint32_t rank[12])
{
    for (uint32_t i = 0; i < 12; i++)
        rank[i] = i / 4;
}

/* Hosts 0-3 on rank 0, 4-7 on 1, 8-11 on 2. Each component a cell: servers are behind the hosts, and their
 * link is the lookahead; ranks are joined by links 3-4 and 7-8. */
static void test_single(void **state)
{
    struct part_groups groups = line(3);
    uint32_t rank[12];
    struct part_layout l;
    ranks_of_four(rank);
    part_layout_make(&l, &groups, rank, PART_CELLS_SINGLE, 256, 1, 3);
    assert_int_equal(l.components, 5);
    assert_int_equal(l.largest_cell, 1);
    assert_int_equal(l.lookahead, 7);
    assert_int_equal(l.channels, 2);
    assert_true(l.channel[0].rank == 0 && l.channel[0].delay == 103);
    assert_true(l.channel[1].rank == 2 && l.channel[1].delay == 107);
    static const uint32_t index[] = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 4, 4, 4};
    for (uint32_t i = 0; i < 15; i++)
        assert_int_equal(at(&l, i < 12 ? HOSTS : SERVERS, i % 12).index, index[i]);
    for (uint32_t j = 0; j < 3; j++) {
        assert_int_equal(at(&l, SERVERS, j).rank, j);
        assert_true(part_layout_begins(&l, (struct part_member){SERVERS, j}));
    }
    part_layout_release(&l);
}

/* Host 0 tells hosts 7 and 8, over no link, which is shorter to 7 than its rank's link to that rank. */
static uint32_t host_sends(const void *context, uint32_t h, struct part_link *link)
{
    if (h != 0)
        return 0;
    link[0] = (struct part_link){{HOSTS, 7}, 90};
    link[1] = (struct part_link){{HOSTS, 8}, 95};
    return 2;
}

static void test_sends(void **state)
{
    struct part_groups groups = line(3);
    uint32_t rank[12];
    struct part_layout l;
    ranks_of_four(rank);
    groups.group[HOSTS].sends = host_sends;
    groups.group[HOSTS].most_sends = 2;
    part_layout_make(&l, &groups, rank, PART_CELLS_VERTEX, 256, 0, 3);
    assert_int_equal(l.lookahead, 90);
    assert_int_equal(l.channels, 2);
    assert_true(l.channel[0].rank == 1 && l.channel[0].delay == 90);
    assert_true(l.channel[1].rank == 2 && l.channel[1].delay == 95);
    part_layout_release(&l);
    part_layout_make(&l, &groups, rank, PART_CELLS_VERTEX, 256, 2, 3); /* the sender knows, it does not */
    assert_int_equal(l.channels, 1);
    assert_true(l.channel[0].rank == 1 && l.channel[0].delay == 107);
    part_layout_release(&l);
}

/* With its host in one cell, the server's link no longer counts: the shortest is 0-1. */
static void test_vertex_cells(void **state)
{
    struct part_groups groups = line(1);
    uint32_t rank[12] = {0};
    struct part_layout l;
    part_layout_make(&l, &groups, rank, PART_CELLS_VERTEX, 256, 0, 1);
    assert_int_equal(l.components, 15);
    assert_int_equal(l.largest_cell, 2);
    assert_int_equal(l.lookahead, 100);
    assert_int_equal(l.channels, 0);
    assert_true(part_layout_begins(&l, (struct part_member){HOSTS, 8}));
    assert_false(part_layout_begins(&l, (struct part_member){SERVERS, 2}));
    part_layout_release(&l);
}

/* Natural groups are hosts 0-3, 4-7, 8-11, each with a server: cells of 5. Where rank 1 has host 2 alone,
 * group 0 is three cells: 0-1 with the server, 2, 3; the shortest link between cells is then 1-2. */
static void test_natural_cells(void **state)
{
    struct part_groups groups = line(2);
    uint32_t rank[12] = {0};
    struct part_layout l;
    part_layout_make(&l, &groups, rank, PART_CELLS_NATURAL, 256, 0, 2);
    assert_int_equal(l.largest_cell, 5);
    assert_int_equal(l.lookahead, 103);
    assert_false(part_layout_begins(&l, (struct part_member){HOSTS, 3}));
    assert_true(part_layout_begins(&l, (struct part_member){HOSTS, 4}));
    part_layout_release(&l);
    rank[2] = 1;
    part_layout_make(&l, &groups, rank, PART_CELLS_NATURAL, 256, 1, 2);
    assert_int_equal(l.components, 1);
    assert_int_equal(l.largest_cell, 5);
    assert_int_equal(l.lookahead, 101);
    assert_int_equal(l.channels, 1);
    assert_true(l.channel[0].rank == 0 && l.channel[0].delay == 101);
    assert_true(part_layout_begins(&l, (struct part_member){HOSTS, 2}));
    assert_true(part_layout_begins(&l, (struct part_member){HOSTS, 3}));
    part_layout_release(&l);
}

/* ---- RAILS ---- */

static struct part_member railed_home(const void *context, uint32_t h)
{
    return (struct part_member){SWITCHES, h};
}

static uint32_t railed_links(const void *context, uint32_t h, struct part_link *link)
{
    link[0] = (struct part_link){{SWITCHES, h}, 10};
    link[1] = (struct part_link){{SWITCHES, (h + 1) % 4}, 20};
    return 2;
}

static uint32_t switch_links(const void *context, uint32_t s, struct part_link *link)
{
    link[0] = (struct part_link){{SWITCHES, (s + 1) % 4}, 50};
    link[1] = (struct part_link){{SWITCHES, (s + 3) % 4}, 50};
    link[2] = (struct part_link){{RAILED, s}, 10};
    link[3] = (struct part_link){{RAILED, (s + 3) % 4}, 20};
    return 4;
}

/* A host's second link joins the two switches' vertices, too, both ways: what is cut between them lets the
 * ranks exchange every 20. Ranks: switches 0, 1 and 2, 3. */
static void test_rails(void **state)
{
    struct part_groups groups = {0};
    struct part_group switches = {"switches", 4, NULL, NULL, one, one, switch_links, 4},
                      hosts = {"hosts", 4, NULL, railed_home, one, one, railed_links, 2};
    part_groups_add(&groups, &switches);
    part_groups_add(&groups, &hosts);
    part_groups_divide(&groups, 1);
    struct part_graph graph;
    part_graph_make(&graph, &groups, NULL, 0);
    assert_int_equal(graph.vertices, 4);
    assert_int_equal(graph.first[4], 4 * 4); /* two of the ring, the own host's second, the other's second */
    for (uint32_t v = 0; v < 4; v++) {
        uint32_t short_ones = 0;
        for (uint64_t e = graph.first[v]; e < graph.first[v + 1]; e++)
            short_ones += graph.delay[e] == 20;
        assert_int_equal(short_ones, 2);
    }
    part_graph_release(&graph);
    uint32_t rank[4] = {0, 0, 1, 1};
    struct part_layout l;
    part_layout_make(&l, &groups, rank, PART_CELLS_VERTEX, 256, 0, 2);
    assert_int_equal(at(&l, RAILED, 1).rank, 0); /* where its first switch is */
    assert_int_equal(at(&l, RAILED, 2).rank, 1);
    assert_int_equal(l.lookahead, 20);
    assert_int_equal(l.channels, 1);
    assert_true(l.channel[0].rank == 1 && l.channel[0].delay == 20);
    part_layout_release(&l);
}

/* ---- TREE: 7 switches of which the first three have 3, 3 and 2 hosts ---- */

static struct part_member tree_home(const void *context, uint32_t h)
{
    return (struct part_member){SWITCHES, h / 3};
}

static uint32_t tree_switch_links(const void *context, uint32_t s, struct part_link *link)
{
    link[0] = (struct part_link){{SWITCHES, (s + 1) % 7}, 50};
    link[1] = (struct part_link){{SWITCHES, (s + 6) % 7}, 50};
    return 2;
}

static uint32_t tree_host_links(const void *context, uint32_t h, struct part_link *link)
{
    link[0] = (struct part_link){{SWITCHES, h / 3}, 10};
    return 1;
}

/* Indices lead back to their components, those of this rank; hosts are `each` at a switch. */
static void way_back(const struct part_layout *l, uint32_t own, uint32_t switches, uint32_t each)
{
    for (uint32_t s = 0, n = 0; s < switches; s++) {
        if (at(l, SWITCHES, s).rank != own)
            continue;
        assert_int_equal(part_layout_vertex(l, n).number, s);
        assert_int_equal(part_layout_order(l, at(l, SWITCHES, s).index), n);
        for (uint32_t h = s * each; h < (s + 1) * each && h < l->followers; h++)
            assert_int_equal(part_layout_order(l, at(l, RAILED, h).index), n);
        n++;
    }
}

/* Regular: nothing is listed on one rank, and on three only vertices. Hosts are behind the switches; an
 * index leads back to its component, if it is one of its rank. On rank 0: switches 0 and 3 and hosts 0 to 2,
 * on 1: switches 1, 4 and 5 and hosts 3 to 5, on 2: switches 2 and 6, hosts 6 and 7. */
static void test_regular(void **state)
{
    struct part_groups groups = {0};
    struct part_group switches = {"switches", 7, NULL, NULL, one, one, tree_switch_links, 2},
                      hosts = {"hosts", 8, NULL, tree_home, one, one, tree_host_links, 1};
    static const uint32_t rank[] = {0, 1, 2, 0, 1, 1, 2}, index[] = {0, 0, 0, 1, 1, 2, 1},
                          behind[] = {2, 3, 2};
    part_groups_add(&groups, &switches);
    part_groups_add(&groups, &hosts);
    part_groups_divide(&groups, 1);
    struct part_layout l;
    part_layout_make(&l, &groups, NULL, PART_CELLS_SINGLE, 256, 0, 1);
    assert_true(l.regular && !l.index && !l.rank && !l.cell);
    assert_int_equal(l.components, 15);
    assert_int_equal(l.lookahead, 10);
    assert_int_equal(l.channels, 0);
    for (uint32_t s = 0; s < 7; s++)
        assert_int_equal(at(&l, SWITCHES, s).index, s);
    for (uint32_t h = 0; h < 8; h++)
        assert_int_equal(at(&l, RAILED, h).index, 7 + h);
    way_back(&l, 0, 7, 3);
    part_layout_release(&l);
    groups.apart = false;
    for (int own = 0; own < 3; own++) {
        part_layout_make(&l, &groups, rank, PART_CELLS_SINGLE, 256, own, 3);
        assert_true(l.regular && l.index);
        assert_int_equal(l.components, own == 0 ? 5 : own == 1 ? 6 : 4);
        assert_int_equal(l.channels, 2);
        assert_true(l.channel[0].delay == 50 && l.channel[1].delay == 50);
        for (uint32_t s = 0; s < 7; s++) {
            assert_int_equal(at(&l, SWITCHES, s).rank, rank[s]);
            assert_int_equal(at(&l, SWITCHES, s).index, index[s]);
        }
        for (uint32_t h = 0; h < 8; h++) {
            assert_int_equal(at(&l, RAILED, h).rank, rank[h / 3]);
            assert_int_equal(at(&l, RAILED, h).index, behind[rank[h / 3]] + h % 3);
        }
        way_back(&l, (uint32_t)own, 7, 3);
        part_layout_release(&l);
    }
}

/* ---- RACKS: 15 switches in racks of 3, two hosts at each ---- */

static uint32_t rack(const void *context, uint32_t s)
{
    return s / 3;
}

static uint32_t racked_switch_links(const void *context, uint32_t s, struct part_link *link)
{
    link[0] = (struct part_link){{SWITCHES, s / 3 * 3 + (s + 1) % 3}, 10};
    link[1] = (struct part_link){{SWITCHES, s / 3 * 3 + (s + 2) % 3}, 10};
    link[2] = (struct part_link){{SWITCHES, (s + 3) % 15}, s == 5 ? 70 : 90};
    link[3] = (struct part_link){{SWITCHES, (s + 12) % 15}, s == 8 ? 70 : 90};
    return 4;
}

static struct part_member racked_home(const void *context, uint32_t h)
{
    return (struct part_member){SWITCHES, h / 2};
}

static uint32_t racked_host_links(const void *context, uint32_t h, struct part_link *link)
{
    link[0] = (struct part_link){{SWITCHES, h / 2}, 8};
    return 1;
}

static void racks_compare(const struct part_layout *l, uint32_t s, uint32_t index, uint32_t behind)
{
    assert_int_equal(at(l, SWITCHES, s).index, index);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(at(l, RAILED, 2 * s + i).index, behind + 2 * index + i);
}

/* Blocks of 8 components: two racks begin at each, since what one leaves free is too much; racks 0 and 1, 2
 * and 3, 4 are tiles. The shortest between tiles are switches 5 and 8. With ranks the racks of rank 1 are 1,
 * 2 and 4. */
static void test_tiles(void **state)
{
    struct part_groups groups = {0};
    struct part_group switches = {"switches", 15, NULL, NULL, one, rack, racked_switch_links, 4},
                      hosts = {"hosts", 30, NULL, racked_home, one, rack, racked_host_links, 1};
    part_groups_add(&groups, &switches);
    part_groups_add(&groups, &hosts);
    part_groups_divide(&groups, 1);
    struct part_layout l;
    part_layout_make(&l, &groups, NULL, PART_CELLS_SINGLE, 8, 0, 1);
    assert_int_equal(l.lookahead, 8);
    assert_int_equal(l.tiles.count, 3);
    assert_int_equal(l.tiles.delay, 70);
    assert_int_equal(l.components, 24 + 2 * (16 + 3));
    for (uint32_t s = 0; s < 15; s++) {
        racks_compare(&l, s, s / 6 * 8 + s % 6, 24);
    }
    way_back(&l, 0, 15, 2);
    uint32_t *tile = part_layout_tiles(&l, 0);
    static const uint32_t expected[] = {0, 1, 2, 0, 0, 1, 1, 2};
    for (uint32_t b = 0; b < 8; b++)
        assert_int_equal(tile[b], expected[b]);
    free(tile);
    part_layout_release(&l);
    static const uint32_t rank[] = {0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1};
    part_layout_make(&l, &groups, rank, PART_CELLS_SINGLE, 8, 1, 2);
    assert_int_equal(l.tiles.count, 2);
    assert_true(l.tiles.delay ==
                KER_TIME_MAX); /* racks 1 and 2 are one tile, and none of them is joined to 4 */
    racks_compare(&l, 3, 0, 16);
    racks_compare(&l, 8, 5, 16);
    racks_compare(&l, 12, 8, 16);
    racks_compare(&l, 9, 3, 8);
    way_back(&l, 1, 15, 2);
    part_layout_release(&l);
    part_layout_make(&l, &groups, NULL, PART_CELLS_SINGLE, 64, 0, 1); /* one block has room for all */
    assert_true(l.tiles.run == 0 && l.tiles.count == 0);
    part_layout_release(&l);
}

/* ---- ROW: a ring of 40 switches, links lead 1 and 3 numbers on, a host at each ---- */

static uint32_t row_switch_links(const void *context, uint32_t s, struct part_link *link)
{
    static const uint32_t on[] = {1, 3, 37, 39};
    for (uint32_t i = 0; i < 4; i++)
        link[i] = (struct part_link){{SWITCHES, (s + on[i]) % 40}, 50};
    return 4;
}

static struct part_member row_home(const void *context, uint32_t h)
{
    return (struct part_member){SWITCHES, h};
}

static uint32_t row_host_links(const void *context, uint32_t h, struct part_link *link)
{
    link[0] = (struct part_link){{SWITCHES, h}, 10};
    return 1;
}

static void open_compare(const struct part_layout *l, uint32_t count, uint64_t open)
{
    assert_true(l->tiles.row);
    assert_int_equal(l->tiles.count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(l->tiles.open[i], open >> i & 1);
}

/* Six switches are a tile, which only its neighbours reach; the first and the last meet where the ring
 * closes. On ranks the ends of each rank's row are open, and where a rank has every second switch all are. */
static void test_row(void **state)
{
    struct part_groups groups = {0};
    struct part_group switches = {.name = "switches",
                                  .count = 40,
                                  .load = one,
                                  .natural = one,
                                  .links = row_switch_links,
                                  .most_links = 4,
                                  .span = 3},
                      hosts = {.name = "hosts",
                               .count = 40,
                               .home = row_home,
                               .load = one,
                               .natural = one,
                               .links = row_host_links,
                               .most_links = 1};
    part_groups_add(&groups, &switches);
    part_groups_add(&groups, &hosts);
    part_groups_divide(&groups, 1);
    struct part_layout l;
    part_layout_make(&l, &groups, NULL, PART_CELLS_SINGLE, 8, 0, 1);
    open_compare(&l, 7, 1 | 1 << 6);
    assert_int_equal(l.tiles.delay, 50);
    part_layout_release(&l);
    uint32_t rank[40];
    for (uint32_t s = 0; s < 40; s++)
        rank[s] = s >= 22;
    for (int own = 0; own < 2; own++) {
        part_layout_make(&l, &groups, rank, PART_CELLS_SINGLE, 8, own, 2);
        open_compare(&l, own ? 3 : 4, own ? 1 | 1 << 2 : 1 | 1 << 3);
        part_layout_release(&l);
    }
    for (uint32_t s = 0; s < 40; s++)
        rank[s] = s % 2;
    part_layout_make(&l, &groups, rank, PART_CELLS_SINGLE, 8, 1, 2);
    open_compare(&l, 4, 15);
    part_layout_release(&l);
    groups.group[SWITCHES].span = 6; /* six rows of it are too few */
    part_layout_make(&l, &groups, NULL, PART_CELLS_SINGLE, 8, 0, 1);
    assert_true(!l.tiles.row && l.tiles.count == 0);
    part_layout_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graph),         cmocka_unit_test(test_apart),
        cmocka_unit_test(test_single),        cmocka_unit_test(test_vertex_cells),
        cmocka_unit_test(test_natural_cells), cmocka_unit_test(test_rails),
        cmocka_unit_test(test_tiles),         cmocka_unit_test(test_row),
        cmocka_unit_test(test_regular),       cmocka_unit_test(test_sends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
