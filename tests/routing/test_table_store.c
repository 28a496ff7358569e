/* test_table_store.c - the compressed store of routing tables against plain arrays. */
#include "tests/routing/tables.h"

struct plain { /* what the store is compared with */
    uint32_t switches, nodes, *set, *layer;
};

static uint32_t random_set(struct route_table *table, uint32_t *random)
{
    struct route_hop hop[3];
    uint32_t count = test_random(random) % 4; /* 0: no path */
    for (uint32_t i = 0; i < count; i++)
        hop[i] =
            (struct route_hop){(uint16_t)(test_random(random) % 3), (uint8_t)(test_random(random) % 2), 0};
    return route_table_set_of(table, hop, count);
}

/* Rows with runs, so that blocks are shared by rows, levels and places. */
static void plain_fill(struct plain *plain, struct route_table *table, uint32_t *random)
{
    for (uint32_t s = 0; s < plain->switches; s++) {
        uint32_t set = 0, layer = 0;
        for (uint32_t n = 0; n < plain->nodes; n++) {
            if (n == 0 || test_random(random) % 40 == 0) {
                set = random_set(table, random);
                layer = test_random(random) % 3;
            }
            plain->set[s * plain->nodes + n] = set;
            plain->layer[s * plain->nodes + n] = layer;
        }
        if (s % 3 == 2) /* the same row again */
            for (uint32_t n = 0; n < plain->nodes; n++) {
                plain->set[s * plain->nodes + n] = plain->set[(s - 1) * plain->nodes + n];
                plain->layer[s * plain->nodes + n] = plain->layer[(s - 1) * plain->nodes + n];
            }
    }
}

static void columns_fill(struct route_trie *trie, const uint32_t *value)
{
    for (uint32_t first = 0; first < trie->endpoints; first += ROUTE_TRIE_BLOCK) {
        uint32_t *column = route_trie_columns(trie);
        for (uint32_t s = 0; s < trie->switches; s++)
            for (uint32_t i = 0; i < ROUTE_TRIE_BLOCK && first + i < trie->endpoints; i++)
                column[s * ROUTE_TRIE_BLOCK + i] = value[s * trie->endpoints + first + i];
        route_trie_advance(trie);
    }
}

static void plain_compare(const struct plain *plain, const struct route_table *table,
                          const uint32_t *switch_rank, uint32_t rank)
{
    for (uint32_t s = 0; s < plain->switches; s++)
        for (uint32_t n = 0; n < plain->nodes; n++) {
            bool own = switch_rank[s] == rank;
            assert_int_equal(route_table_set(table, s, n), own ? plain->set[s * plain->nodes + n] : 0);
            assert_int_equal(route_table_layer(table, s, n), own ? plain->layer[s * plain->nodes + n] : 0);
        }
}

static void store_try(uint32_t switches, uint32_t nodes, bool columns, uint32_t *random)
{
    struct route_table *table = route_table_new(switches, nodes);
    uint32_t size = switches * nodes, *rank = ker_alloc(switches * sizeof *rank);
    struct plain plain = {switches, nodes, ker_alloc(size * sizeof(uint32_t)),
                          ker_alloc(size * sizeof(uint32_t))};
    plain_fill(&plain, table, random);
    if (columns) {
        columns_fill(&table->hops, plain.set);
        route_table_layers_begin(table);
        columns_fill(&table->layers, plain.layer);
    } else {
        for (uint32_t s = switches; s-- > 0;) {
            route_table_row(table, s, plain.set + s * nodes);
            route_table_layer_row(table, s, plain.layer + s * nodes);
        }
    }
    route_table_finish(table);
    plain_compare(&plain, table, rank, 0);
    uint64_t before = route_table_bytes(table);
    for (uint32_t s = 0; s < switches; s++)
        rank[s] = test_random(random) % 3;
    route_table_keep(table, rank, 1);
    plain_compare(&plain, table, rank, 1);
    assert_true(route_table_bytes(table) <=
                before + 6 * ROUTE_TRIE_BLOCK * sizeof(uint32_t)); /* an empty row more */
    for (uint32_t s = 0; s < switches; s++)                        /* nothing is left */
        rank[s] = 0;
    route_table_keep(table, rank, 1);
    plain_compare(&plain, table, rank, 1);
    route_table_free(table);
    free(plain.set);
    free(plain.layer);
    free(rank);
}

/* One block, exactly one, one more than one; two and three levels. */
static void store_answers_as_filled(void **state)
{
    static const uint32_t nodes[] = {1, 2, 63, 64, 65, 127, 500, 4095, 4096, 4097, 9000};
    uint32_t random = 12345;
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        for (int columns = 0; columns < 2; columns++)
            store_try(1 + test_random(&random) % 12, nodes[i], columns, &random);
}

/* Sets are equal when paths and order are. */
static void sets_are_stored_once(void **state)
{
    struct route_table *table = route_table_new(1, 1);
    const struct route_hop a[] = {{1, 0, 0}, {2, 0, 0}}, b[] = {{2, 0, 0}, {1, 0, 0}},
                           c[] = {{1, 0, 0}, {2, 1, 0}};
    uint32_t one = route_table_set_of(table, a, 2), other = route_table_set_of(table, b, 2);
    assert_int_equal(route_table_set_of(table, NULL, 0), 0);
    assert_int_equal(route_table_set_of(table, a, 2), one);
    assert_int_not_equal(other, one);
    assert_int_not_equal(route_table_set_of(table, c, 2), one);
    assert_int_not_equal(route_table_set_of(table, a, 1), one);
    for (uint16_t i = 0; i < 20000; i++) { /* grows */
        const struct route_hop d[] = {{i, 0, 0}, {(uint16_t)(i + 7), 3, 0}, {5, 1, 0}};
        route_table_set_of(table, d, 3);
    }
    const struct route_hop *hop;
    assert_int_equal(route_table_set_of(table, a, 2), one);
    assert_int_equal(route_table_set_hops(table, other, &hop), 2);
    assert_true(hop[0].port == 2 && hop[1].port == 1);
    assert_true(table->adaptive);
    route_table_free(table);
}

/* 500 switches with the same row of 5,000 nodes need little more than one. */
static void equal_rows_cost_nothing(void **state)
{
    struct route_table *table = route_table_new(500, 5000);
    uint32_t *row = ker_alloc(5000 * sizeof *row), random = 7;
    for (uint32_t i = 0; i < 5000; i++)
        row[i] = random_set(table, &random);
    for (uint32_t s = 0; s < 500; s++)
        route_table_row(table, s, row);
    route_table_finish(table);
    assert_in_range(route_table_bytes(table), 20000, 40000);
    route_table_free(table);
    free(row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_answers_as_filled),
        cmocka_unit_test(sets_are_stored_once),
        cmocka_unit_test(equal_rows_cost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
