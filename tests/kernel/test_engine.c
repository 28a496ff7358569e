/* The engine alone, on one rank: whatever the cells, their order and the windows, every component sees what
 * the oracle of phold.h lets it see. With ranks: test_engine_ranks.c. */
#include "tests/kernel/phold_engine.h"

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

/* All orders, cells, tiles and windows. */
static void compare_paths(const struct phold_rules *rules)
{
    static const int shrinks[] = {1, 3, 70};
    struct ker_comm *comm = ker_comm_alone();
    struct phold_result expected = phold_oracle(rules);
    for (int order = KER_ORDER_FORWARD; order <= KER_ORDER_SHUFFLED; order++)
        for (int what = 0; what < 4; what++)
            for (size_t i = 0; i < sizeof shrinks / sizeof *shrinks; i++) {
                struct phold_way hop = {.order = (enum ker_cell_order)order,
                                        .boards = what == 1,
                                        .tiles = what == 2   ? 1
                                                 : what == 3 ? 7
                                                             : 0,
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

static void compare_rows(const struct phold_rules *rules)
{
    struct ker_comm *comm = ker_comm_alone();
    struct phold_result expected = phold_oracle(rules);
    for (int order = KER_ORDER_FORWARD; order <= KER_ORDER_SHUFFLED; order++)
        for (uint32_t tiles = rules->reach; tiles < 9; tiles += 2)
            for (int shrink = 1; shrink <= 3; shrink += 2)
                compare(phold_run(rules,
                                  &(struct phold_way){.order = (enum ker_cell_order)order,
                                                      .boards = true,
                                                      .tiles = tiles,
                                                      .row = true,
                                                      .shrink = shrink},
                                  comm, NULL),
                        expected);
    ker_comm_release(comm);
}

/* Boards that only their neighbours in a ring reach are tiles in a row, of one board, or of several. */
static void rows(void **state)
{
    struct phold_rules rules = busy;
    for (rules.reach = 1; rules.reach <= 3; rules.reach++)
        for (int i = 0; i < 3; i++) {
            rules.end = i == 1 ? 17 * PHOLD_LONG + 1 : KER_TIME_MAX;
            rules.check_interval[0] = i == 2 ? 777 : 0;
            compare_rows(&rules);
        }
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

/* Where little happens, several windows are run as one, of all components; and cell by cell where more does.
 * A window a ninth as long as it could be has hardly one record. */
static void several_as_one(void **state)
{
    static const uint32_t starts[] = {3, 20, 60, 300};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        for (uint32_t far = 0; far <= 2; far += 2) {
            struct phold_rules rules = {
                .components = 300, .starts = starts[i], .lives = 40, .far_percent = far, .end = KER_TIME_MAX};
            compare_paths(&rules);
            rules.check_interval[0] = 1777;
            compare_paths(&rules);
        }
    struct phold_rules rules = {.components = 300, .starts = 20, .lives = 40, .end = KER_TIME_MAX};
    struct ker_comm *comm = ker_comm_alone();
    struct ker_counts forward, backward;
    phold_run(&rules, &(struct phold_way){.shrink = 9}, comm, &forward);
    phold_run(&rules, &(struct phold_way){.shrink = 9, .order = KER_ORDER_BACKWARD}, comm, &backward);
    assert_int_equal(forward.events, backward.events);
    assert_true(5 * forward.windows < backward.windows);
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

/* ---- what no record tells of ---- */

static void hold_arrival(void *self, struct ker_engine *e, const struct ker_event *event)
{
    ker_touch(e, event->time);
    ker_hold(e, event->time + 85);
    ker_hold(e, event->time + 20); /* the latest counts */
}

static void hold_act(void *self, struct ker_engine *e, ker_time now)
{
}

static bool hold_check(void *context, ker_time at)
{
    ++*(int *)context;
    return false;
}

/* One event at 10 holds the run until 95: this many checks, and this end. */
static enum ker_end hold_run(ker_time end, ker_time interval, ker_time *at, int *checks)
{
    static const struct ker_class class = {
        .name = "hold", .arrival = hold_arrival, .act = hold_act, .arrival_alone = hold_arrival};
    struct ker_comm *comm = ker_comm_alone();
    struct ker_engine_setup setup = {.comm = comm,
                                     .components = 1,
                                     .largest_cell = 1,
                                     .lookahead = 7,
                                     .reach = 100,
                                     .end = end,
                                     .check = hold_check,
                                     .context = checks};
    setup.check_interval[0] = interval;
    setup.check_every[0] = true;
    struct ker_engine *e = ker_engine_new(&setup);
    ker_engine_set(e, 0, &class, NULL, true);
    ker_post_event(e, (struct ker_address){0, 0}, 10, 0, 0);
    *checks = 0;
    enum ker_end why = ker_engine_run(e, at);
    ker_engine_free(e);
    ker_comm_release(comm);
    return why;
}

static void held(void **state)
{
    ker_time at;
    int checks;
    assert_int_equal(hold_run(KER_TIME_MAX, 20, &at, &checks), KER_END_DRAINED);
    assert_int_equal(at, 10);
    assert_int_equal(checks, 4);
    assert_int_equal(hold_run(KER_TIME_MAX, 19, &at, &checks), KER_END_DRAINED);
    assert_int_equal(checks, 5); /* 95 is one of them */
    assert_int_equal(hold_run(95, 20, &at, &checks), KER_END_TIME);
    assert_int_equal(hold_run(96, 20, &at, &checks), KER_END_DRAINED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drains),           cmocka_unit_test(rows),
        cmocka_unit_test(far_future),       cmocka_unit_test(end_times),
        cmocka_unit_test(check_boundaries), cmocka_unit_test(sparse),
        cmocka_unit_test(idle_is_skipped),  cmocka_unit_test(several_as_one),
        cmocka_unit_test(least_systems),    cmocka_unit_test(held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
