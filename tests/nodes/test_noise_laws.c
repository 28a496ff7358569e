/* What noise costs many tasks that wait for the slowest of them: the mean of the longest delay over many
 * instants, with the laws that are published for it.
 *
 * In time without detours the begins of drawn detours are a Poisson process of rate 1 / gap. So work of g on
 * a core meets K of them, K Poisson of mean g / gap; and with the probability q = length / (gap + length) it
 * begins inside one, and waits for what is left of that, too.
 */
#include "nodes/nodes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define GAP (1000 * KER_US)
#define LENGTH (20 * KER_US)

static struct node_noise drawn(enum node_noise_lengths law, double shape)
{
    return (struct node_noise){.kind = NODE_NOISE_RANDOM,
                               .law = law,
                               .gap = GAP,
                               .length = LENGTH,
                               .shape = shape,
                               .seed = 7,
                               .purpose = ker_purpose("node.noise")};
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct longest {
    double mean, median; /* ps */
};

/* All tasks begin to work for g at the same time, again and again: the longest delay. */
static struct longest longest_measure(const struct node_noise *n, uint32_t tasks, ker_time work, int times)
{
    struct node_noise_core *core = ker_alloc(tasks * sizeof *core);
    double *delay = ker_alloc((size_t)times * sizeof *delay);
    struct longest all = {0};
    for (int i = 0; i < times; i++) {
        ker_time from = 10 * GAP * (i + 1), most = 0;
        for (uint32_t t = 0; t < tasks; t++) {
            ker_time until = node_noise_until(n, &core[t], t, 0, from, work);
            most = until - from - work > most ? until - from - work : most;
        }
        delay[i] = (double)most;
        all.mean += (double)most / times;
    }
    qsort(delay, (size_t)times, sizeof *delay, ascending);
    all.median = delay[times / 2];
    free(delay);
    free(core);
    return all;
}

static double poisson(double mean, int k)
{
    return exp(-mean + k * log(mean) - lgamma(k + 1.0));
}

/* Lengths fixed: a delay is at most (k + y) lengths, 0 <= y < 1, when K <= k, or, of work that begins inside
 * a detour, K < k or K = k and at most y of it is left. The mean of the longest of n is the integral of 1 -
 * F^n. */
static double fixed_longest(uint32_t tasks, double work)
{
    double q = (double)LENGTH / (double)(GAP + LENGTH), below = 0, sum = 0;
    for (int k = 0; k < 12; k++) {
        double exactly = poisson(work / (double)GAP, k);
        for (int step = 0; step < 1000; step++) {
            double y = (step + 0.5) / 1000;
            double f = (1 - q) * (below + exactly) + q * (below + exactly * y);
            sum += (1 - pow(f, tasks)) / 1000;
        }
        below += exactly;
    }
    return sum * (double)LENGTH;
}

/* The chance that any of n is hit is 1 - (1 - p)^n: linear in n while n p is small, then one delay every time
 * (Tsafrir, Etsion, Feitelson, Kirkpatrick: System noise, OS clock ticks, and fine-grained parallel
 * applications, ICS 2005), and beyond that the longest grows with the number of detours that one task may
 * meet. 10,000 instants of 16, 1,024 and 4,096 tasks (4,000): less than 2 % is one standard deviation. */
static void test_fixed(void **state)
{
    static const struct {
        uint32_t tasks;
        ker_time work;
        int times;
    } cases[] = {{16, 10 * KER_US, 10000},
                 {1024, 1 * KER_US, 1000},
                 {1024, 100 * KER_US, 1000},
                 {1024, 1000 * KER_US, 1000},
                 {4096, 10 * KER_US, 400}};
    struct node_noise n = drawn(NODE_NOISE_FIXED, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double law = fixed_longest(cases[i].tasks, (double)cases[i].work);
        double mean = longest_measure(&n, cases[i].tasks, cases[i].work, cases[i].times).mean;
        if (fabs(mean / law - 1) > 0.06)
            print_error("%u tasks: %g ps instead of %g\n", cases[i].tasks, mean, law);
        assert_true(fabs(mean / law - 1) <= 0.06);
    }
}

/* Exponential lengths: of what is left of one, too. With p = q + g / gap of 2.1 % each task is delayed by one
 * length, two are rare (0.02 %): the mean of the longest of n is the integral of 1 - (1 - p e^-x)^n lengths,
 * which grows by ln 4 = 1.39 lengths from n to 4 n (Agarwal, Garg, Vishnoi: The Impact of Noise on the
 * Scaling of Collectives, HiPC 2005: logarithmic for light tails). 500 instants: a standard deviation is 1.28
 * lengths / sqrt(500) = 0.06. */
static void test_exponential(void **state)
{
    struct node_noise n = drawn(NODE_NOISE_EXPONENTIAL, 0);
    ker_time work = KER_US;
    double p = (double)LENGTH / (double)(GAP + LENGTH) + (double)work / (double)GAP, before = 0;
    for (uint32_t tasks = 256; tasks <= 4096; tasks *= 4) {
        double law = 0, mean = longest_measure(&n, tasks, work, 500).mean / (double)LENGTH;
        for (double x = 0.005; x < 40; x += 0.01)
            law += 0.01 * (1 - pow(1 - p * exp(-x), tasks));
        assert_true(fabs(mean - law) < 0.2);
        if (before > 0)
            assert_true(fabs(mean - before - log(4)) < 0.3);
        before = mean;
    }
}

/* Pareto's lengths: above x are a share (m / x)^a of those that begin while a task works, so the longest of n
 * grows with n^(1 / a) (the same paper: polynomial for heavy tails). Inside which the work begins are the
 * long ones rather: what is left of them is above x with (m / x)^(a - 1) / a, which grows with n^(1 / (a -
 * 1)), and wins where tasks are many. The median, as means do not converge: where F^n = 1/2. 600 instants
 * give it to about 5 %. */
static double pareto_median(uint32_t tasks, double work, double a)
{
    double q = (double)LENGTH / (double)(GAP + LENGTH), least = (double)LENGTH * (a - 1) / a, x = least;
    for (;; x *= 1.001) {
        double begun = 1 - exp(-work / (double)GAP * pow(least / x, a)),
               inside = q * pow(least / x, a - 1) / a;
        if (pow((1 - begun) * (1 - inside), tasks) >= 0.5)
            return x;
    }
}

static void test_pareto(void **state)
{
    struct node_noise n = drawn(NODE_NOISE_PARETO, 3);
    for (uint32_t tasks = 128; tasks <= 2048; tasks *= 4) {
        double law = pareto_median(tasks, 20e6, 3),
               median = longest_measure(&n, tasks, 20 * KER_US, 600).median;
        if (fabs(median / law - 1) > 0.15)
            print_error("%u tasks: %g ps instead of %g\n", tasks, median, law);
        assert_true(fabs(median / law - 1) <= 0.15);
    }
}

/* Periodic, each core somewhere in its period P: work of g < P - d is hit by the whole detour d with the
 * probability g / P, begins inside one with d / P, and waits for what is left, uniform. So the longest of n
 * is d times the integral over 0 <= y < 1 of 1 - (1 - (g + (1 - y) d) / P)^n. Over whole periods every phase
 * comes equally often; what is left is the draw of 1,024 places. */
static void test_periodic(void **state)
{
    enum { TASKS = 1024, TIMES = 2000 };
    const ker_time period = 100 * KER_MS, work = 50 * KER_US, length = 20 * KER_US;
    struct node_detour detour = {0, length, length};
    struct node_noise n = {.kind = NODE_NOISE_PERIODIC,
                           .detours = {.detour = &detour, .count = 1, .span = period},
                           .seed = 3,
                           .purpose = ker_purpose("node.noise")};
    double law = 0, mean = 0;
    for (int step = 0; step < 1000; step++) {
        double y = (step + 0.5) / 1000, hit = ((double)work + (1 - y) * (double)length) / (double)period;
        law += (double)length * (1 - pow(1 - hit, TASKS)) / 1000;
    }
    for (int i = 0; i < TIMES; i++) {
        ker_time from = period / TIMES * i, most = 0;
        for (uint32_t t = 0; t < TASKS; t++) {
            struct node_noise_core none = {0};
            ker_time delay = node_noise_until(&n, &none, t, 0, from, work) - from - work;
            most = delay > most ? delay : most;
        }
        mean += (double)most / TIMES;
    }
    assert_true(fabs(mean / law - 1) < 0.08);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_exponential),
        cmocka_unit_test(test_pareto),
        cmocka_unit_test(test_periodic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
