/* Partition by blocks of neighbours: what METIS makes of blocks is as good as what it makes of vertices.
 *
 * A torus of 32 x 32 x 16 without switches' nodes; in direction z links are longer.
 */
#include "partition/partition.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { X = 32, Y = 32, Z = 16, VERTICES = X * Y * Z };

static uint32_t one(const void *context, uint32_t number)
{
    return 1;
}

static uint32_t slab(const void *context, uint32_t number)
{
    return number / (X * Y);
}

static uint32_t box(const void *context, uint32_t v, uint32_t size)
{
    uint32_t x = v % X >> size, y = v / X % Y >> size, z = v / (X * Y) >> size;
    return x + (X >> size) * (y + (Y >> size) * z);
}

static uint32_t links(const void *context, uint32_t v, struct part_link *link)
{
    uint32_t x = v % X, y = v / X % Y, z = v / (X * Y), n = 0;
    const uint32_t to[] = {(x + 1) % X + X * (y + Y * z),   (x + X - 1) % X + X * (y + Y * z),
                           x + X * ((y + 1) % Y + Y * z),   x + X * ((y + Y - 1) % Y + Y * z),
                           x + X * (y + Y * ((z + 1) % Z)), x + X * (y + Y * ((z + Z - 1) % Z))};
    for (; n < 6; n++)
        link[n] = (struct part_link){{0, to[n]}, n < 4 ? 50 : 60};
    return n;
}

static struct part_groups torus(void)
{
    struct part_groups groups = {0};
    struct part_group switches = {.name = "switches",
                                  .count = VERTICES,
                                  .load = one,
                                  .natural = slab,
                                  .links = links,
                                  .most_links = 6,
                                  .block = box};
    part_groups_add(&groups, &switches);
    part_groups_divide(&groups, 2);
    return groups;
}

/* Links between ranks, counted one by one. */
static uint64_t cut(const uint32_t *rank)
{
    uint64_t count = 0;
    struct part_link link[6];
    for (uint32_t v = 0; v < VERTICES; v++)
        for (uint32_t n = links(NULL, v, link); n-- > 0;)
            count += rank[link[n].to.number] > rank[v];
    return count;
}

/* With 256 blocks of 8 a rank, the fewest that are used, the cut is at most 5 % larger than by vertices, and
 * what the graph of blocks says of cut and balance is true of the vertices. */
static void blocks_are_as_good(void **state)
{
    const struct ker_option *const tables[] = {part_options, NULL};
    struct ker_config *config;
    struct ker_error error = {0};
    struct part_groups groups = torus();
    assert_int_equal(ker_config_parse(&config, "test.cfg", "", NULL, 0, tables, &error), KER_OK);
    uint32_t blocks, *block = part_blocks_make(&groups, 1, &blocks);
    assert_int_equal(blocks, VERTICES / 8);
    for (uint32_t ranks = 2; ranks <= 8; ranks *= 4) {
        struct part_graph whole, small;
        struct part_result by_vertex, by_block;
        part_graph_make(&whole, &groups, NULL, 0);
        part_graph_make(&small, &groups, block, blocks);
        assert_int_equal(whole.first[VERTICES], 6 * VERTICES);
        assert_int_equal(small.first[blocks], 3 * VERTICES); /* of 24 links of a cube half lead outside */
        assert_int_equal(part_graph_split(&by_vertex, &whole, ranks, config, &error), KER_OK);
        assert_int_equal(part_graph_split(&by_block, &small, ranks, config, &error), KER_OK);
        uint32_t *rank = ker_alloc(VERTICES * sizeof *rank);
        for (uint32_t v = 0; v < VERTICES; v++)
            rank[v] = by_block.rank[block[v]];
        print_message("%u ranks: cut %llu by vertices, %llu by blocks; imbalance %.3f, %.3f\n", ranks,
                      (unsigned long long)by_vertex.cut_edges, (unsigned long long)by_block.cut_edges,
                      by_vertex.imbalance, by_block.imbalance);
        assert_int_equal(cut(rank), by_block.cut_edges);
        assert_true((double)by_block.cut_edges <= 1.05 * (double)by_vertex.cut_edges);
        assert_true(by_block.imbalance <= 1.02);
        assert_int_equal(by_block.lookahead, by_vertex.lookahead);
        free(rank);
        part_result_release(&by_vertex);
        part_result_release(&by_block);
        part_graph_release(&whole);
        part_graph_release(&small);
    }
    free(block);
    ker_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_are_as_good)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
