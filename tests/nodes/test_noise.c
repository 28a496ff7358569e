/* Noise of cores: when work that begins at a time has had its core, counted picosecond by picosecond; closed
 * forms; the distributions that detours are drawn from; keys and files that cannot be. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include "nodes/nodes.h"
#include "tests/refusal.h"

#include <math.h>
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
static const struct ker_option *const tables[] = {node_noise_options, run_seed, NULL};

static enum ker_status noise_read(struct node_noise *n, const char *text, struct ker_error *error)
{
    struct ker_config *config;
    char *whole = ker_format("node: { noise: { %s }; };", text);
    *n = (struct node_noise){0};
    *error = (struct ker_error){0};
    enum ker_status status = ker_config_parse(&config, "test", whole, NULL, 0, tables, error);
    free(whole);
    if (status != KER_OK)
        return status;
    status = node_noise_init(n, config, error);
    ker_config_free(config);
    return status;
}

static void noise_make(struct node_noise *n, const char *text)
{
    struct ker_error error;
    enum ker_status status = noise_read(n, text, &error);
    if (status != KER_OK)
        print_error("%s\n", error.text);
    assert_int_equal(status, KER_OK);
}

static enum ker_status file_read(struct node_noise *n, const char *file, const char *more,
                                 struct ker_error *error)
{
    int memory = memfd_create("noise", 0);
    assert_true(memory >= 0 && write(memory, file, strlen(file)) == (ssize_t)strlen(file));
    char *text = ker_format("kind = \"file\"; file = \"/proc/self/fd/%d\"; %s", memory, more);
    enum ker_status status = noise_read(n, text, error);
    free(text);
    close(memory);
    return status;
}

static ker_time until(const struct node_noise *n, ker_time from, ker_time length)
{
    struct node_noise_core core = {0};
    return node_noise_until(n, &core, 0, 0, from, length);
}

/* ---- detours that repeat ---- */

static bool free_at(const struct node_detours *d, ker_time phase, ker_time time)
{
    ker_time at = (time + phase) % d->span;
    for (uint32_t i = 0; i < d->count; i++)
        if (d->detour[i].begin <= at && at < d->detour[i].begin + d->detour[i].length)
            return false;
    return true;
}

/* Work continues in every picosecond that is free, and has ended at the first free one behind its last. */
static ker_time plain(const struct node_detours *d, ker_time phase, ker_time from, ker_time length)
{
    ker_time time = from;
    for (ker_time done = 0; done < length || !free_at(d, phase, time); time++)
        done += free_at(d, phase, time);
    return time;
}

static void compare(const struct node_noise *n)
{
    ker_time span = n->detours.span;
    for (ker_time from = 0; from < 3 * span; from += 1 + from % 7)
        for (ker_time length = 0; length < 4 * span; length += 1 + length / 3) {
            ker_time end = until(n, from, length);
            assert_int_equal(end, plain(&n->detours, n->phase, from, length));
            assert_int_equal(until(n, until(n, from, length / 3), length - length / 3), end);
        }
}

/* Detours of d at 0, p, 2 p ...: work of w that begins when one ends has p - d of each period. It ends w + d
 * floor(w / (p - d)) after its begin: whole periods' worth are followed by their next detour. */
static void test_periodic(void **state)
{
    struct node_noise n;
    noise_make(&n, "kind = \"periodic\"; period = \"10 ps\"; length = \"3 ps\"; begin = \"same\";");
    for (ker_time w = 0; w < 100; w++)
        assert_int_equal(until(&n, 3, w), 3 + w + 3 * (w / 7));
    assert_int_equal(until(&n, 2, 0), 3);   /* nothing begins inside a detour */
    assert_int_equal(until(&n, 13, 7), 23); /* has had all before 20, and continues behind it */
    assert_int_equal(until(&n, 10000000000003, 7000000000), 10000000000003 + 10000000000);
    compare(&n);
    node_noise_release(&n);
    noise_make(&n, "kind = \"periodic\"; period = \"10 ps\"; length = \"9 ps\"; begin = \"same\"; "
                   "phase = \"14 ps\";");
    assert_int_equal(until(&n, 0, 1), 15); /* 4 of 10 at 0: free at 5 and at 15 */
    compare(&n);
    assert_int_equal(until(&n, 0, 9000000 * KER_S), 9000000 * KER_S); /* the end of time */
    assert_int_equal(until(&n, 8999999 * KER_S, KER_S), 9000000 * KER_S);
    node_noise_release(&n);
    noise_make(&n, "kind = \"periodic\"; length = \"0 ps\";");
    assert_int_equal(n.kind, NODE_NOISE_NONE);
    node_noise_release(&n);
}

/* A detour of no length says where the span ends; two that touch are one. */
static void test_file(void **state)
{
    struct node_noise n;
    struct ker_error error;
    const char *same = "begin = \"same\";";
    assert_int_equal(file_read(&n, "0.002 0.003\n0.005 0.002 # touches\n0.01 0.0005\n0.02 0\n", same, &error),
                     KER_OK);
    assert_int_equal(n.detours.span, 20);
    assert_int_equal(until(&n, 0, 2), 7);
    assert_int_equal(until(&n, 0, 16),
                     27); /* 14 of 20 are free: the next span's first two, then its detours */
    compare(&n);
    node_noise_release(&n);
}

/* Cores begin anywhere in the span, each always at the same place; those of a node, or all, together. */
static void test_places(void **state)
{
    enum { COUNT = 20000 };
    static const char *const begins[] = {"core", "node", "same"};
    for (int b = 0; b < 3; b++) {
        struct node_noise n;
        char *text = ker_format(
            "kind = \"periodic\"; period = \"1 ms\"; length = \"250 us\"; begin = \"%s\";", begins[b]);
        noise_make(&n, text);
        free(text);
        uint32_t inside = 0, cores = 0, nodes = 0;
        for (uint32_t i = 0; i < COUNT; i++) {
            struct node_noise_core none = {0};
            ker_time here = node_noise_until(&n, &none, i, 0, 0, 0);
            inside += here > 0;
            cores += here > 0 && node_noise_until(&n, &none, i, 1, 0, 0) == here;
            nodes += here > 0 && node_noise_until(&n, &none, i + 1, 0, 0, 0) == here;
        }
        if (b < 2)
            assert_true(inside > COUNT * 0.24 && inside < COUNT * 0.26); /* 0.003 is one standard deviation */
        else
            assert_int_equal(inside, COUNT);
        assert_int_equal(cores, b > 0 ? inside : 0);
        assert_int_equal(nodes, b > 1 ? inside : 0);
        node_noise_release(&n);
    }
}

/* ---- drawn detours ---- */

/* A core's first detours, one by one: they begin where work of length 0 is delayed. */
struct drawn {
    double gap, length, above; /* means; how many lengths are above three times their mean */
};

static struct drawn drawn_measure(const struct node_noise *n, uint32_t core, int count)
{
    struct node_noise_core at = {0};
    struct drawn d = {0};
    ker_time before = 0;
    for (int i = 0; i < count; i++) {
        node_noise_until(n, &at, 5, core, at.end, 0);
        d.gap += (double)(at.begin - before) / count;
        d.length += (double)(at.end - at.begin) / count;
        d.above += (double)(at.end - at.begin) > 3e8 ? 1.0 / count : 0;
        before = at.end;
    }
    return d;
}

/* 40,000 draws: the mean of exponential ones is known to 0.5 %, of Pareto's with shape 3 (variance mean^2 /
 * 3) to 0.3 %. Above three times the mean are e^-3 = 4.98 % of exponential ones, ((2/3) / 3)^3 = 1.10 % of
 * Pareto's; a standard deviation is 0.11 % and 0.05 %. */
static void test_random(void **state)
{
    static const struct {
        const char *law;
        double above, error;
    } laws[] = {{"lengths = \"fixed\";", 0, 0},
                {"lengths = \"exponential\";", 0.0498, 0.0044},
                {"lengths = \"pareto\"; shape = 3.0;", 0.0110, 0.0021}};
    for (int i = 0; i < 3; i++) {
        struct node_noise n;
        char *text = ker_format("kind = \"random\"; gap = \"1 ms\"; length = \"100 us\"; %s", laws[i].law);
        noise_make(&n, text);
        free(text);
        struct drawn d = drawn_measure(&n, 1, 40000), other = drawn_measure(&n, 2, 40000);
        assert_true(fabs(d.gap / 1e9 - 1) < 0.02 && fabs(other.gap / 1e9 - 1) < 0.02 && d.gap != other.gap);
        assert_true(fabs(d.length / 1e8 - 1) < 0.02);
        assert_true(fabs(d.above - laws[i].above) <= laws[i].error);
        node_noise_release(&n);
    }
}

/* What a core has been asked before changes nothing, and pieces of work add up. */
static void test_asked(void **state)
{
    struct node_noise n;
    noise_make(&n,
               "kind = \"random\"; gap = \"1 us\"; length = \"3 us\"; lengths = \"pareto\"; shape = 1.2;");
    struct node_noise_core often = {0};
    ker_time now = 0, work = 0;
    for (int i = 0; i < 2000; i++) {
        ker_time length = (i * 7919) % 1000 * 1000, once = until(&n, 0, work + length);
        node_noise_until(&n, &often, 0, 0, now, 1000 * KER_US); /* far ahead */
        now = node_noise_until(&n, &often, 0, 0, now, length);
        work += length;
        assert_int_equal(now, once);
    }
    assert_true(now > 3 * work); /* three of four microseconds are noise */
    node_noise_release(&n);
}

/* ---- what cannot be ---- */

static void expect_refused(const char *file, const char *more, const char *why)
{
    struct node_noise n;
    struct ker_error error;
    enum ker_status status = file ? file_read(&n, file, more, &error) : noise_read(&n, more, &error);
    node_noise_release(&n);
    assert_refused(status, &error, why);
}

static void test_refused(void **state)
{
    expect_refused("", "", "has no detour");
    expect_refused("# none\n", "", "has no detour");
    expect_refused("0 0\n", "", "has no detour");
    expect_refused("0 100\n", "", "node.noise.file");
    expect_refused("1 2\n3\n", "", ":2: ");
    expect_refused("1 -2\n", "", ":1: ");
    expect_refused("5 1\n4 1\n", "", ":2: a detour begins before the one above has ended");
    expect_refused("1 5\n5 1\n", "", ":2: a detour begins before the one above has ended");
    expect_refused("2000000000000000 2000000000000000\n", "", ":1: ");
    expect_refused(NULL, "kind = \"file\";", "node.noise.file: is missing");
    expect_refused(NULL, "kind = \"file\"; file = \"/nowhere\";", "/nowhere");
    expect_refused(NULL, "kind = \"periodic\"; period = \"1 us\"; length = \"1 us\";",
                   "less than node.noise.period");
    expect_refused(NULL, "kind = \"periodic\"; phase = \"1 us\";", "node.noise.phase");
    expect_refused(NULL, "kind = \"periodic\"; gap = \"1 us\";", "node.noise.gap");
    expect_refused(NULL, "kind = \"random\"; begin = \"same\"; phase = \"1 us\";", "node.noise.phase");
    expect_refused(NULL, "kind = \"random\"; gap = \"1 ns\";", "node.noise.gap");
    expect_refused(NULL, "kind = \"random\"; shape = 2.0;", "node.noise.shape");
    expect_refused(NULL, "kind = \"random\"; lengths = \"pareto\"; shape = 1.0;", "node.noise.shape");
    expect_refused(NULL, "period = \"1 us\";", "node.noise.period");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_periodic), cmocka_unit_test(test_file),  cmocka_unit_test(test_places),
        cmocka_unit_test(test_random),   cmocka_unit_test(test_asked), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
