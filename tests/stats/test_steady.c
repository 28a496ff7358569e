/* test_steady.c - warm-up, batches, windows, trend. */
#include "stats/stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>
#include <math.h>

/* Sums of squares over n^2: all of 9, 1, 1, 1, 1: mean 2.6, 51.2 / 25; without the first: 0, and nothing is
 * less. */
static void warm_up_is_left_out(void **state)
{
    const double jump[] = {9, 1, 1, 1, 1}, level[] = {2, 2, 2, 2};
    assert_int_equal(stats_mser(jump, 5), 1);
    assert_int_equal(stats_mser(level, 4), 0);
    assert_int_equal(stats_mser(level, 0), 0);
    /* No more than half: of 9, 9, 9, 1, 1, 1 three. */
    const double half[] = {9, 9, 9, 1, 1, 1};
    assert_int_equal(stats_mser(half, 6), 3);
}

/* Tables of Student's t: 95 %, 2 degrees: 4.303; 9: 2.262. */
static void student(void **state)
{
    assert_float_equal(stats_student(0.95, 2), 4.30265, 1e-5);
    assert_float_equal(stats_student(0.95, 9), 2.26216, 1e-5);
    assert_true(isinf(stats_student(0.95, 0)));
}

static struct stats_steady seen(double *value, uint32_t values, uint32_t windows)
{
    uint32_t begin[33];
    for (uint32_t w = 0; w <= windows; w++)
        begin[w] = values * w / windows;
    return stats_steady(&(struct stats_windows){windows, 33, begin, value, values}, 0.95);
}

/* 1, 3, 1, 3, ...: correlated by -1, so batches of 2, 4, ... are looked at, whose means are all 2: no
 * interval is left. */
static void what_alternates_is_known_exactly(void **state)
{
    double value[40];
    for (uint32_t i = 0; i < 40; i++)
        value[i] = 1 + 2 * (i % 2);
    struct stats_steady s = seen(value, 40, 4);
    assert_float_equal(s.mean, 2, 0);
    assert_float_equal(s.half, 0, 0);
    assert_int_equal(s.batch, 2);
    assert_int_equal(s.batches, 20);
    assert_false(s.trend);
}

/* 1, 2, ..., 40 in any batches are correlated positively: too few. Nothing is known but the range, 39;
 * windows of 10 have the means 5.5, 15.5, 25.5, 35.5, deviation 12.91, standard error 6.455, and Student's t
 * of 3 degrees is 3.182: 20.5. */
static void what_grows_is_not_known(void **state)
{
    double value[40];
    for (uint32_t i = 0; i < 40; i++)
        value[i] = i + 1;
    struct stats_steady s = seen(value, 40, 4);
    assert_int_equal(s.batches, 0);
    assert_float_equal(s.half, 39, 1e-9);
}

/* 0, 10, 0.04, 10.04, ...: neighbours vary much, but pairs grow by 0.04 exactly. What is random has no slope.
 */
static void a_trend_is_seen(void **state)
{
    double value[60];
    for (uint32_t i = 0; i < 60; i++)
        value[i] = 10 * (i % 2) + 0.02 * i;
    struct stats_steady s = seen(value, 60, 3);
    assert_true(s.trend);
    for (uint32_t i = 0; i < 60; i++)
        value[i] = ker_random_bits(3, KER_PURPOSE_TEST, 0, i).word[0] % 1000;
    s = seen(value, 60, 3);
    assert_false(s.trend);
    assert_int_equal(s.batches * s.batch, 60);
}

/* The wider of two: windows of 5 with the means 1 and 3, where values are 1 or 3 without any correlation but
 * that. Student's t of one degree: 12.706; deviation of the means sqrt(2): 12.706. */
static void windows_count_where_they_differ(void **state)
{
    double value[10] = {1, 1, 1, 1, 1, 3, 3, 3, 3, 3};
    struct stats_steady s = seen(value, 10, 2);
    assert_float_equal(s.half, 12.7062, 1e-4);
    assert_true(isinf(seen(value, 10, 1).half)); /* one window says nothing of others */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warm_up_is_left_out),
        cmocka_unit_test(student),
        cmocka_unit_test(what_alternates_is_known_exactly),
        cmocka_unit_test(what_grows_is_not_known),
        cmocka_unit_test(a_trend_is_seen),
        cmocka_unit_test(windows_count_where_they_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
