/* Detours of cpus: delays as counted detour by detour, and files that cannot be. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include "tasks/loggops/model.h"
#include "tests/refusal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static const struct ker_option run_seed[] = {
    {.key = "run.seed", .type = KER_TYPE_INT, .fallback = "1", .minimum = "0", .meaning = "seed"},
    {.key = NULL}};
static const struct ker_option *const tables[] = {loggops_options, loggops_noise_options, run_seed, NULL};

static enum ker_status noise_read(struct loggops_noise *n, const char *text, struct ker_error *error)
{
    struct ker_config *config;
    char *whole = ker_format("network: { model = \"loggops\"; }; loggops: { noise: { %s }; };", text);
    *n = (struct loggops_noise){0};
    *error = (struct ker_error){0};
    enum ker_status status = ker_config_parse(&config, "test", whole, NULL, 0, tables, error);
    free(whole);
    if (status != KER_OK)
        return status;
    status = loggops_noise_read(n, config, error);
    ker_config_free(config);
    return status;
}

static void noise_make(struct loggops_noise *n, const char *text)
{
    struct ker_error error;
    enum ker_status status = noise_read(n, text, &error);
    if (status != KER_OK)
        print_error("%s\n", error.text);
    assert_int_equal(status, KER_OK);
}

static void trace_write(int *file, const char *text)
{
    *file = memfd_create("noise", 0);
    assert_true(*file >= 0 && write(*file, text, strlen(text)) == (ssize_t)strlen(text));
}

static enum ker_status trace_read(struct loggops_noise *n, const char *trace, const char *more,
                                  struct ker_error *error)
{
    int file;
    trace_write(&file, trace);
    char *text = ker_format("kind = \"trace\"; trace = \"/proc/self/fd/%d\"; %s", file, more);
    enum ker_status status = noise_read(n, text, error);
    free(text);
    close(file);
    return status;
}

/* Of detours that begin at the same time the last one counts as being in flight. */
static ker_time plain(const struct loggops_noise *n, ker_time phase, ker_time from, ker_time length)
{
    ker_time at = (from + phase) % n->detours.span, delay = 0;
    const struct node_detour *last = NULL;
    for (uint32_t i = 0; i < n->detours.count; i++)
        last = n->detours.detour[i].begin <= at ? &n->detours.detour[i] : last;
    if (last && last->begin + last->length > at)
        delay = last->begin + last->length - at;
    for (ker_time turn = 0; turn < at + length; turn += n->detours.span)
        for (uint32_t i = 0; i < n->detours.count; i++)
            if (turn + n->detours.detour[i].begin > at && turn + n->detours.detour[i].begin < at + length)
                delay += n->detours.detour[i].length;
    return delay;
}

static void compare(const struct loggops_noise *n)
{
    for (ker_time from = 0; from < 3 * n->detours.span; from += 1 + from % 7)
        for (ker_time length = 0; length < 4 * n->detours.span; length += 1 + length / 3)
            assert_int_equal(loggops_noise_delay(n, 3, from, length), plain(n, n->phase, from, length));
}

/* One detour of 3 in 10: at 2 it is in flight for 1 more; what takes 9 from there on meets the next at 10. */
static void test_periodic(void **state)
{
    struct loggops_noise n;
    noise_make(&n, "kind = \"periodic\"; period = \"10 ps\"; length = \"3 ps\"; begin = \"same\";");
    assert_int_equal(loggops_noise_delay(&n, 0, 2, 0), 1);
    assert_int_equal(loggops_noise_delay(&n, 0, 2, 8), 1);
    assert_int_equal(loggops_noise_delay(&n, 0, 2, 9), 4);
    assert_int_equal(loggops_noise_delay(&n, 0, 3, 7), 0);
    assert_int_equal(loggops_noise_delay(&n, 0, 10000000000003, 1000000000), 300000000);
    compare(&n);
    loggops_noise_free(&n);
    noise_make(
        &n,
        "kind = \"periodic\"; period = \"10 ps\"; length = \"9 ps\"; begin = \"same\"; phase = \"14 ps\";");
    assert_int_equal(loggops_noise_delay(&n, 0, 0, 1), 5);
    compare(&n);
    loggops_noise_free(&n);
    noise_make(&n, "kind = \"periodic\"; length = \"0 ps\";");
    assert_int_equal(n.detours.count, 0);
    loggops_noise_free(&n);
}

static void test_trace(void **state)
{
    struct loggops_noise n;
    struct ker_error error;
    assert_int_equal(
        trace_read(&n,
                   "# begin length\n0.002\t0.003\n0.01 0.0005 # half is rounded up\n\n0.0102 0.004\r\n0.02 0",
                   "begin = \"same\";", &error),
        KER_OK);
    assert_int_equal(n.detours.count, 4);
    assert_int_equal(n.detours.detour[1].length, 0); /* it was rounded into the next one */
    assert_int_equal(n.detours.span, 20);
    compare(&n);
    loggops_noise_free(&n);
    assert_int_equal(trace_read(&n, "0 100\n", "begin = \"same\"; phase = \"99 ns\";", &error), KER_OK);
    assert_int_equal(loggops_noise_delay(&n, 0, 0, 0), 1000); /* nobody ever has the cpu at once */
    loggops_noise_free(&n);
}

/* Processes begin at different places, each always at the same one, everywhere equally often. */
static void test_random(void **state)
{
    struct loggops_noise n;
    enum { COUNT = 20000 };
    uint32_t under_way = 0, same = 0;
    noise_make(&n, "kind = \"periodic\"; period = \"1 ms\"; length = \"250 us\";");
    for (uint32_t i = 0; i < COUNT; i++) {
        ker_time delay = loggops_noise_delay(&n, i, 0, 0);
        under_way += delay > 0;
        same += i > 0 && delay > 0 && delay == loggops_noise_delay(&n, i - 1, 0, 0);
        assert_int_equal(delay, loggops_noise_delay(&n, i, 7 * n.detours.span, 0));
    }
    assert_true(under_way > COUNT * 0.24 && under_way < COUNT * 0.26); /* 0.003 is one standard deviation */
    assert_int_equal(same, 0);
    loggops_noise_free(&n);
}

static void expect_refused(const char *trace, const char *more, const char *why)
{
    struct loggops_noise n;
    struct ker_error error;
    enum ker_status status = trace ? trace_read(&n, trace, more, &error) : noise_read(&n, more, &error);
    loggops_noise_free(&n);
    assert_refused(status, &error, why);
}

static void test_refused(void **state)
{
    expect_refused("", "", "has no detour");
    expect_refused("# none\n", "", "has no detour");
    expect_refused("0 0\n", "", "has no detour");
    expect_refused("1 2\n3\n", "", ":2: ");
    expect_refused("1 2 3\n", "", ":1: ");
    expect_refused("1 x\n", "", ":1: ");
    expect_refused("5 1\n4 1\n", "", ":2: a detour begins before the one above has ended");
    expect_refused("1 5\n5 1\n", "", ":2: a detour begins before the one above has ended");
    expect_refused("2000000000000000 2000000000000000\n", "", ":1: ");
    expect_refused(NULL, "kind = \"trace\";", "loggops.noise.trace: is missing");
    expect_refused(NULL, "kind = \"trace\"; trace = \"/nowhere\";", "/nowhere");
    expect_refused(NULL, "kind = \"periodic\"; period = \"1 us\"; length = \"1 us\";",
                   "less than loggops.noise.period");
    expect_refused(NULL, "kind = \"periodic\"; phase = \"1 us\";", "loggops.noise.phase");
    expect_refused(NULL, "period = \"1 us\";", "loggops.noise.period");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_periodic),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
