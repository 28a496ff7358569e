/* test_collective_rules.c - which algorithm a collective call takes: built-in rules, and those of the keys
 * mpi.collectives.*. */
#include "tasks/mpi/collectives/collective.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct ker_option option_table[] = {
    {"mpi.collectives.bcast", KER_TYPE_STRING | KER_TYPE_LIST, "auto", NULL, NULL, NULL, "x"},
#define KEY(name)                                                                                            \
    {                                                                                                        \
        .key = "mpi.collectives." name, .type = KER_TYPE_STRING | KER_TYPE_LIST, .fallback = "auto",         \
        .meaning = "x", .kinds = &task_collectives                                                           \
    }
    KEY("barrier"),
    KEY("reduce"),
    KEY("allreduce"),
    KEY("gather"),
    KEY("gatherv"),
    KEY("scatter"),
    KEY("scatterv"),
    KEY("allgather"),
    KEY("allgatherv"),
    KEY("alltoall"),
    KEY("alltoallv"),
    KEY("reduce_scatter"),
    KEY("reduce_scatter_block"),
    KEY("scan"),
    KEY("exscan"),
    KEY("comm_create"),
    KEY("neighbor_allgather"),
    KEY("neighbor_allgatherv"),
    KEY("neighbor_alltoall"),
    KEY("neighbor_alltoallv"),
    {0},
};

static enum ker_status rules(struct task_coll_table *table, const char *text, struct ker_error *error)
{
    const struct ker_option *const tables[] = {option_table, NULL};
    struct ker_config *config = NULL;
    *error = (struct ker_error){0};
    assert_int_equal(ker_config_parse(&config, "test.cfg", text, NULL, 0, tables, error), KER_OK);
    enum ker_status status = task_coll_table_init(table, config, error);
    ker_config_free(config);
    return status;
}

static const char *chosen(const struct task_coll_table *table, unsigned collective, uint64_t bytes,
                          int32_t size)
{
    struct task_coll_view v = {.collective = (uint8_t)collective, .bytes = bytes, .size = size};
    return task_coll_choose(table, &v)->name;
}

static void test_rules(void **state)
{
    (void)state;
    struct task_coll_table table;
    struct ker_error error;
    assert_int_equal(rules(&table, "", &error), KER_OK);
    assert_string_equal(chosen(&table, TASK_COLL_ALLREDUCE, 2047, 64), "recursive_doubling");
    assert_string_equal(chosen(&table, TASK_COLL_ALLREDUCE, 2048, 64), "rabenseifner");
    assert_string_equal(chosen(&table, TASK_COLL_ALLREDUCE, 2048, 2), "recursive_doubling");
    assert_string_equal(chosen(&table, TASK_COLL_ALLTOALL, 100, 8), "bruck");
    assert_string_equal(chosen(&table, TASK_COLL_ALLTOALL, 256, 8), "linear");
    assert_string_equal(chosen(&table, TASK_COLL_GATHERV, 1 << 30, 8), "linear");
    assert_int_equal(rules(&table,
                           "mpi: { collectives: { allreduce = [\"binomial\", \"ring:1 MiB\", "
                           "\"rabenseifner:1 MiB:64\"]; }; };",
                           &error),
                     KER_OK);
    assert_string_equal(chosen(&table, TASK_COLL_ALLREDUCE, 1000000, 100), "binomial");
    assert_string_equal(chosen(&table, TASK_COLL_ALLREDUCE, 1 << 20, 63), "ring");
    assert_string_equal(chosen(&table, TASK_COLL_ALLREDUCE, 1 << 20, 64), "rabenseifner");
}

/* Ranks 0 and 1 of three on one node, or all; shared memory fits only then, and otherwise the built-in rules
 * count, which stand before it. */
static void test_places(void **state)
{
    (void)state;
    static struct task_coll_table table;
    struct ker_error error;
    struct task_coll_layout two = {0}, one = {0};
    task_coll_layout_make(&two, (const struct task_coll_spot[]){{4, 0}, {4, 1}, {2, 0}}, 3);
    task_coll_layout_make(&one, (const struct task_coll_spot[]){{4, 0}, {4, 1}, {4, 0}}, 3);
    assert_int_equal(rules(&table,
                           "mpi: { collectives: { bcast = \"shared_memory:100\"; reduce = [\"linear\", "
                           "\"shared_memory/linear/rabenseifner:1 KiB:3\"]; }; };",
                           &error),
                     KER_OK);
    assert_true(table.placed);
    assert_int_equal(table.shared, TASK_COLL_REDUCE);
    struct task_coll_view v = {.collective = TASK_COLL_BCAST, .bytes = 100, .size = 3, .layout = &one};
    assert_string_equal(task_coll_choose(&table, &v)->name, "shared_memory");
    v.bytes = 99;
    assert_string_equal(task_coll_choose(&table, &v)->name, "binomial");
    v.bytes = 100;
    v.layout = &two;
    assert_string_equal(task_coll_choose(&table, &v)->name, "binomial");
    v.collective = TASK_COLL_REDUCE;
    assert_string_equal(task_coll_choose(&table, &v)->name, "linear");
    v.bytes = 1024;
    const struct ker_kind *algorithm = task_coll_choose(&table, &v);
    assert_string_equal(algorithm->name, "shared_memory/linear/rabenseifner");
    const struct task_coll_combination *c = task_coll_combination_of(&table, algorithm);
    assert_int_equal(c->levels, 2);
    assert_string_equal(c->up[0]->name, "shared_memory");
    assert_string_equal(c->up[1]->name, "linear");
    assert_null(c->down[0]);
    assert_string_equal(c->top->name, "rabenseifner");
    v.collective = TASK_COLL_ALLREDUCE;
    assert_null(task_coll_combination_of(&table, task_coll_choose(&table, &v)));
    task_coll_layout_release(&two);
    task_coll_layout_release(&one);
}

static void test_bad_rules(void **state)
{
    (void)state;
    const char *bad[] = {"ringg", "ring:", "ring:12 apples", "ring:1 KiB:x", "ring:1 KiB:-3", "bruck", ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct task_coll_table table;
        struct ker_error error;
        char text[128];
        snprintf(text, sizeof text, "mpi: { collectives: { allreduce = \"%s\"; }; };", bad[i]);
        assert_int_equal(rules(&table, text, &error), KER_BAD_INPUT);
        assert_non_null(strstr(error.text, "mpi.collectives.allreduce"));
        assert_non_null(strstr(error.text, "recursive_doubling"));
    }
    const char *levels[] = {
        "linear/shared_memory",        "ring/ring",    "/ring", "linear/", "linear+/ring", "a/b/c/d",
        "linear+binomial+linear/ring", "linear/ring:x"};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        static struct task_coll_table table;
        struct ker_error error;
        char text[128];
        snprintf(text, sizeof text, "mpi: { collectives: { allreduce = \"%s\"; }; };", levels[i]);
        assert_int_equal(rules(&table, text, &error), KER_BAD_INPUT);
        assert_non_null(strstr(error.text, "mpi.collectives.allreduce"));
        assert_non_null(strstr(error.text, "linear"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_bad_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
