/* test_ends.c - whatever condition ends a run (packets, confidence, finished jobs), the results are those of
 * a run with run.end at that time. */
#define _GNU_SOURCE
#include "tests/run/run_process.h"

static void condition_test(const char *text, const char *condition, const char *more, const char *reason)
{
    char *file = config_write("condition", text);
    const char *with[] = {file, more, condition, NULL}, *without[] = {file, more, NULL};
    assert_int_equal(run("condition", 1, with), 0);
    assert_reason("condition", reason);
    assert_like_end("condition", without);
    assert_int_equal(run("condition2", 2, with), 0);
    assert_same("condition", "condition2");
    free(file);
}

static void test_packets(void **state)
{
    condition_test(TORUS, "run.packets=3000", "run.check_interval=2100 ns", "packets");
    condition_test(TORUS, "run.packets=500", "run.warmup=777 ns", "packets");
}

static void test_confidence(void **state)
{
    condition_test(TORUS, "run.confidence=0.9", "run.warmup=777 ns", "confidence");
}

static void test_jobs_done(void **state)
{
    static const char jobs[] =
        TORUS "jobs: ({ program = \"stencil\"; extents = [4, 4]; bytes = \"20 KiB\"; steps = 3; });";
    char *file = config_write("jobs", jobs);
    const char *words[] = {file, NULL};
    assert_int_equal(run("jobs", 1, words), 0);
    assert_reason("jobs", "jobs done");
    assert_like_end("jobs", words);
    free(file);
}

static void test_faulty(void **state)
{
    condition_test(TORUS "faults: { link_rate = 0.1; switch_rate = 0.05; unreachable = \"drop\"; at = \"1 "
                         "us\"; spread = \"3 us\"; };",
                   "run.packets=2000", "run.check_interval=500 ns", "packets");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packets),
        cmocka_unit_test(test_confidence),
        cmocka_unit_test(test_jobs_done),
        cmocka_unit_test(test_faulty),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
