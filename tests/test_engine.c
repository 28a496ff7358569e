/* The engine alone, on one rank: whatever the cells, their order and the windows, every component sees what
 * the oracle of phold.h lets it see. With ranks: test_engine_ranks.c. */
#include "tests/phold.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct phold_rules busy = {.components = 331, .starts = 110, .lives = 40, .end = KER_TIME_MAX};

static void compare(struct phold_result got, struct phold_result expected)
{
    assert_int_equal(got.why, expected.why);
    assert_int_equal(got.at, expected.at);
    assert_int_equal(got.arrived, expected.arrived);
    assert_int_equal(got.checks, expected.checks);
    assert_int_equal(got.digest, expected.digest);
}

/* All orders, cells and windows. */
static void compare_paths(const struct phold_rules *rules)
{
    static const int shrinks[] = {1, 3, 70};
    struct ker_comm *comm = ker_comm_alone();
    struct phold_result expected = phold_oracle(rules);
    for (int order = KER_ORDER_FORWARD; order <= KER_ORDER_SHUFFLED; order++)
        for (int boards = 0; boards < 2; boards++)
            for (size_t i = 0; i < sizeof shrinks / sizeof *shrinks; i++) {
                struct phold_way hop = {.order = (enum ker_cell_order)order,
                                        .boards = boards,
                                        .shrink = shrinks[i],
                                        .reversed = order == KER_ORDER_BACKWARD};
                compare(phold_run(rules, &hop, comm, NULL), expected);
            }
    ker_comm_release(comm);
}

static void drains(void **state)
{
    compare_paths(&busy);
}

/* Beyond the wheel, which is asked to reach 8 LONG: the far ones lie 10,000 LONG ahead. */
static void far_future(void **state)
{
    struct phold_rules rules = busy;
    rules.far_percent = 20;
    compare_paths(&rules);
}

/* Neither end is a multiple of a window; the last one is an instant in which something happens, and must not.
 */
static void end_times(void **state)
{
    static const ker_time ends[] = {1, 333, 4001, 17 * PHOLD_LONG + 1, 12 * PHOLD_LONG};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct phold_rules rules = busy;
        rules.end = ends[i];
        compare_paths(&rules);
    }
}

/* Boundaries inside windows, shorter than them, and far apart; what is due later than a boundary is not lost.
 */
static void check_boundaries(void **state)
{
    static const ker_time intervals[] = {13, 777, 4 * PHOLD_LONG, 9999};
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
        struct phold_rules rules = busy;
        rules.check_interval[0] = intervals[i];
        rules.check_interval[1] = i % 2 ? 2 * PHOLD_LONG : 0;
        compare_paths(&rules);
        rules.enough = 1500;
        compare_paths(&rules);
        rules.end = 5003;
        rules.enough = 0;
        rules.far_percent = 5;
        compare_paths(&rules);
    }
}

/* A boundary and the far future: everything pending lies many empty windows ahead. */
static void sparse(void **state)
{
    struct phold_rules rules = {
        .components = 12, .starts = 1, .lives = 60, .far_percent = 100, .end = KER_TIME_MAX};
    compare_paths(&rules);
    rules.check_interval[0] = 7000 * PHOLD_LONG + 1;
    compare_paths(&rules);
}

/* 61 arrivals, each 10,000 LONG after the one before, and a few notes: no more windows than records. */
static void idle_is_skipped(void **state)
{
    struct phold_rules rules = {
        .components = 12, .starts = 1, .lives = 60, .far_percent = 100, .end = KER_TIME_MAX};
    struct ker_comm *comm = ker_comm_alone();
    struct ker_counts counts;
    struct phold_result got = phold_run(&rules, &(struct phold_way){0}, comm, &counts);
    assert_int_equal(got.arrived, 61);
    assert_true(got.at >= 60 * 10000 * PHOLD_LONG);
    assert_true(counts.windows <= counts.records);
    ker_comm_release(comm);
}

/* A single component that sends to itself; and nothing at all to do. */
static void least_systems(void **state)
{
    struct phold_rules one = {.components = 1, .starts = 1, .lives = 30, .end = KER_TIME_MAX};
    compare_paths(&one);
    struct phold_rules still = {.components = 7, .starts = 1, .lives = 0, .end = KER_TIME_MAX};
    compare_paths(&still);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drains),           cmocka_unit_test(far_future), cmocka_unit_test(end_times),
        cmocka_unit_test(check_boundaries), cmocka_unit_test(sparse),     cmocka_unit_test(idle_is_skipped),
        cmocka_unit_test(least_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
