/* The engine on any number of ranks, one too: every component sees what the oracle of phold.h lets it see,
 * however the components are spread. */
#include "tests/phold.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct phold_rules busy = {
    .components = 331, .starts = 60, .lives = 30, .far_percent = 2, .end = KER_TIME_MAX};

static void compare_way(struct ker_comm *comm, const struct phold_rules *rules, struct phold_way way,
                        struct phold_result expected)
{
    struct phold_result got = phold_run(rules, &way, comm, NULL);
    assert_int_equal(got.why, expected.why);
    assert_int_equal(got.at, expected.at);
    assert_int_equal(got.arrived, expected.arrived);
    assert_int_equal(got.checks, expected.checks);
    assert_int_equal(got.digest, expected.digest);
}

/* Whole boards on a rank (a long epoch) or scattered (a short one), grown cells or not, windows as long as
 * possible or shorter, both ways to agree. */
static void compare_ways(struct ker_comm *comm, const struct phold_rules *rules)
{
    struct phold_result expected = phold_oracle(rules);
    compare_way(comm, rules, (struct phold_way){0}, expected);
    compare_way(comm, rules, (struct phold_way){.boards = true, .order = KER_ORDER_BACKWARD}, expected);
    compare_way(comm, rules, (struct phold_way){.scattered = true, .order = KER_ORDER_SHUFFLED}, expected);
    compare_way(comm, rules, (struct phold_way){.boards = true, .messages = true, .reversed = true},
                expected);
    compare_way(comm, rules, (struct phold_way){.shrink = 3, .order = KER_ORDER_SHUFFLED, .reversed = true},
                expected);
}

static void drains(void **state)
{
    compare_ways(*state, &busy);
}

static void end_times(void **state)
{
    struct phold_rules rules = busy;
    rules.end = 17 * PHOLD_LONG + 1;
    compare_ways(*state, &rules);
    rules.end = 12 * PHOLD_LONG; /* something happens then, and must not */
    compare_ways(*state, &rules);
}

/* All ranks check at the same simulated times, also those at which nothing happened, and see the same. */
static void check_boundaries(void **state)
{
    struct phold_rules rules = busy;
    rules.far_percent = 0;
    rules.check_interval[0] = 777;
    rules.check_interval[1] = 1300;
    compare_ways(*state, &rules);
    rules.enough = 900;
    compare_ways(*state, &rules);
    rules.check_interval[0] = 4 * PHOLD_LONG;
    rules.far_percent = 5;
    compare_ways(*state, &rules);
}

/* Ranks without components take part in every round. */
static void idle_ranks(void **state)
{
    struct phold_result expected = phold_oracle(&busy);
    compare_way(*state, &busy, (struct phold_way){.spread = 1}, expected);
    compare_way(*state, &busy, (struct phold_way){.spread = 2, .boards = true}, expected);
    compare_way(*state, &busy, (struct phold_way){.spread = 2, .scattered = true, .messages = true},
                expected);
}

/* One record at a time, 10,000 LONG apart: no more rounds than three for each of them. */
static void idle_is_skipped(void **state)
{
    struct phold_rules rules = {
        .components = 12, .starts = 1, .lives = 60, .far_percent = 100, .end = KER_TIME_MAX};
    struct phold_result expected = phold_oracle(&rules);
    struct ker_counts counts;
    phold_run(&rules, &(struct phold_way){.scattered = true}, *state, &counts);
    uint64_t records = counts.records;
    ker_comm_sum_u64(*state, &records, 1);
    assert_true(counts.epochs <= 3 * records + 3);
    compare_way(*state, &rules, (struct phold_way){.scattered = true}, expected);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drains),     cmocka_unit_test(end_times),       cmocka_unit_test(check_boundaries),
        cmocka_unit_test(idle_ranks), cmocka_unit_test(idle_is_skipped),
    };
    struct ker_comm *comm;
    struct ker_error error = {.status = KER_OK};
    if (ker_comm_init(&comm, &argc, &argv, &error))
        return 1;
    struct CMUnitTest with[sizeof tests / sizeof *tests];
    memcpy(with, tests, sizeof tests);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        with[i].initial_state = comm;
    int failed = cmocka_run_group_tests(with, NULL, NULL);
    ker_comm_release(comm);
    return failed;
}
