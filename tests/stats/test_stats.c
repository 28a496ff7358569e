/* test_stats.c - counting: bins, sums, percentiles, joining, batch means. */
#include "stats/stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>
#include <math.h>

#define SAMPLES 20000

/* Spread over many octaves: a 64-bit word shifted right by 0..63. */
static uint64_t sample(uint64_t counter)
{
    struct ker_bits bits = ker_random_bits(7, KER_PURPOSE_TEST, 0, counter);
    uint64_t word = (uint64_t)bits.word[0] << 32 | bits.word[1];
    return word >> (bits.word[2] % 64);
}

/* Deterministic and below 2^40, like latencies. */
static uint64_t latency(uint64_t counter)
{
    return sample(counter) & ((UINT64_C(1) << 40) - 1);
}

static struct stats_quantity *quantity_new(void)
{
    struct stats_quantity *q = ker_alloc(sizeof *q);
    stats_quantity_init(q);
    return q;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static void bins_are_exact_below_128(void **state)
{
    for (unsigned value = 0; value < 256; value++)
        if (value < 128) {
            assert_int_equal(stats_bin(value), value);
            assert_int_equal(stats_bin_low(value), value);
        }
    /* 128..255 is the first octave with 64 bins: two values each. */
    assert_int_equal(stats_bin(128), 128);
    assert_int_equal(stats_bin(129), 128);
    assert_int_equal(stats_bin(130), 129);
    assert_int_equal(stats_bin_low(129), 130);
    assert_int_equal(stats_bin(255), 191);
    assert_int_equal(stats_bin(256), 192);
}

/* Every bin begins where the one before ends, its lowest value falls into it, and one less falls into the one
 * before. */
static void bins_cover_all_values(void **state)
{
    /* The last bin in use is that of 2^64 - 1: 128 + 56 octaves x 64 + 63. */
    unsigned last = stats_bin(UINT64_MAX);
    assert_int_equal(last, 128 + 56 * 64 + 63);
    for (unsigned bin = 1; bin <= last; bin++) {
        uint64_t low = stats_bin_low(bin);
        assert_true(low > stats_bin_low(bin - 1));
        assert_int_equal(stats_bin(low), bin);
        assert_int_equal(stats_bin(low - 1), bin - 1);
    }
    assert_true(stats_bin_low(last + 1) == UINT64_MAX);
    for (uint64_t i = 0; i < SAMPLES; i++) {
        uint64_t value = sample(i);
        unsigned bin = stats_bin(value);
        assert_true(stats_bin_low(bin) <= value);
        assert_true(bin == last || value < stats_bin_low(bin + 1));
        /* 64 bins per octave: a bin is at most 1/64 of its lowest value wide. */
        assert_true(bin == last ||
                    stats_bin_low(bin + 1) - stats_bin_low(bin) <= stats_bin_low(bin) / 64 + 1);
    }
}

static void init_clears_used_memory(void **state)
{
    struct stats_quantity *q = malloc(sizeof *q);
    memset(q, 0xa5, sizeof *q);
    stats_quantity_init(q);
    assert_int_equal(q->count, 0);
    for (unsigned i = 0; i < STATS_BINS; i++)
        assert_int_equal(q->bin[i], 0);
    /* Nothing counted: zeros, not garbage. */
    assert_true(stats_quantity_deviation(q) == 0);
    assert_int_equal(stats_quantity_percentile(q, 0.5), 0);
    free(q);
}

static void mean_and_deviation(void **state)
{
    struct stats_quantity *q = quantity_new();
    /* 2, 4, 4, 4, 5, 5, 7, 9: mean 40 / 8 = 5, squared distances 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32,
     * variance 4. */
    const uint64_t value[] = {2, 4, 4, 4, 5, 5, 7, 9};
    for (int i = 0; i < 8; i++)
        stats_quantity_add(q, value[i]);
    assert_true(q->sum == 40 && q->count == 8);
    assert_true(stats_quantity_deviation(q) == 2.0);
    stats_quantity_init(q);
    /* 0 and 1: mean 1/2, variance 1/4: the mean is no integer. */
    stats_quantity_add(q, 0);
    stats_quantity_add(q, 1);
    assert_true(q->sum == 1 && q->count == 2);
    assert_true(stats_quantity_deviation(q) == 0.5);
    free(q);
}

/* 10^15 ps and 10^15 + 2 ps: the squares agree in their first 15 digits, the deviation is 1 all the same. */
static void deviation_does_not_cancel(void **state)
{
    struct stats_quantity *q = quantity_new();
    for (int i = 0; i < 1000; i++)
        stats_quantity_add(q, UINT64_C(1000000000000000) + (i & 1) * 2);
    assert_true(stats_quantity_deviation(q) == 1.0);
    free(q);
}

/* The largest values there are: sum and squares need more than 64 bits. */
static void sums_have_128_bits(void **state)
{
    struct stats_quantity *q = quantity_new();
    stats_quantity_add(q, UINT64_C(1) << 62);
    stats_quantity_add(q, UINT64_C(1) << 62);
    stats_quantity_add(q, UINT64_C(1) << 62);
    stats_quantity_add(q, UINT64_C(1) << 62);
    assert_true(q->sum == (unsigned __int128)1 << 64);
    assert_true(q->squares == (unsigned __int128)1 << 126);
    assert_true(stats_quantity_deviation(q) == 0);
    free(q);
}

static void percentile_of_few_values(void **state)
{
    struct stats_quantity *q = quantity_new();
    /* 1..100: the ceil(fraction x 100)-th smallest is that number; bins below 128 are exact. */
    for (uint64_t value = 100; value >= 1; value--)
        stats_quantity_add(q, value);
    assert_int_equal(stats_quantity_percentile(q, 0), 1);
    assert_int_equal(stats_quantity_percentile(q, 0.07), 7); /* 0.07 x 100 is 7.000000000000001 in doubles */
    assert_int_equal(stats_quantity_percentile(q, 0.5), 50);
    assert_int_equal(stats_quantity_percentile(q, 0.9), 90);
    assert_int_equal(stats_quantity_percentile(q, 0.99), 99);
    assert_int_equal(stats_quantity_percentile(q, 0.999), 100);
    assert_int_equal(stats_quantity_percentile(q, 1), 100);
    stats_quantity_init(q);
    /* One value stands for all percentiles, whatever its bin's width. */
    stats_quantity_add(q, 123456789);
    assert_int_equal(stats_quantity_percentile(q, 0.5), 123456789);
    assert_int_equal(stats_quantity_percentile(q, 0.999), 123456789);
    free(q);
}

/* Linear in the bin: 1024..1039 is one bin (16 = 1024 / 64 values); four values in it, between outer ones 0
 * and 5000. The four shares are 4 wide with middles at 1026, 1030, 1034, 1038: places 2 to 5 of 6. */
static void percentile_is_linear_in_the_bin(void **state)
{
    struct stats_quantity *q = quantity_new();
    const uint64_t value[] = {0, 1024, 1024, 1024, 1039, 5000};
    for (int i = 0; i < 6; i++)
        stats_quantity_add(q, value[i]);
    assert_int_equal(stats_quantity_percentile(q, 2.0 / 6), 1026); /* ceil(0.333333 x 6) = 2 */
    assert_int_equal(stats_quantity_percentile(q, 0.5), 1030);
    assert_int_equal(stats_quantity_percentile(q, 0.66), 1034);
    assert_int_equal(stats_quantity_percentile(q, 0.83), 1038);
    free(q);
}

static void percentile_against_sorted_samples(void **state)
{
    struct stats_quantity *q = quantity_new();
    uint64_t *sorted = ker_alloc(SAMPLES * sizeof *sorted);
    for (uint64_t i = 0; i < SAMPLES; i++)
        stats_quantity_add(q, sorted[i] = latency(i));
    qsort(sorted, SAMPLES, sizeof *sorted, compare_u64);
    uint64_t before = 0;
    for (int permille = 0; permille <= 1000; permille++) {
        /* ceil(permille x 20000 / 1000) = 20 permille, at least the first */
        size_t place = permille ? (size_t)permille * (SAMPLES / 1000) : 1;
        uint64_t value = stats_quantity_percentile(q, permille / 1000.0);
        assert_int_equal(stats_bin(value), stats_bin(sorted[place - 1]));
        assert_true(value >= before);
        before = value;
    }
    free(sorted);
    free(q);
}

/* Seven parts, joined in two orders, are bit for bit what one quantity counts. */
static void join_is_exact(void **state)
{
    struct stats_quantity *whole = quantity_new(), *forward = quantity_new(), *backward = quantity_new();
    struct stats_quantity *part[7];
    for (int p = 0; p < 7; p++)
        part[p] = quantity_new();
    for (uint64_t i = 0; i < SAMPLES; i++) {
        stats_quantity_add(whole, sample(i) >> 1);
        stats_quantity_add(part[i % 6], sample(i) >> 1); /* the last one stays empty */
    }
    for (int p = 0; p < 7; p++) {
        stats_quantity_join(forward, part[p]);
        stats_quantity_join(backward, part[6 - p]);
    }
    assert_memory_equal(forward, whole, sizeof *whole);
    assert_memory_equal(backward, whole, sizeof *whole);
    for (int p = 0; p < 7; p++)
        free(part[p]);
    free(whole);
    free(forward);
    free(backward);
}

static void json_has_all_fields(void **state)
{
    struct stats_quantity *q = quantity_new();
    for (uint64_t value = 1; value <= 100; value++)
        stats_quantity_add(q, value);
    json_t *object = stats_quantity_json(q);
    json_int_t count, min, max, p50, p90, p99, p999;
    double mean, deviation;
    assert_int_equal(json_unpack(object, "{s:I, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:I !}", "count", &count,
                                 "mean", &mean, "deviation", &deviation, "min", &min, "max", &max, "p50",
                                 &p50, "p90", &p90, "p99", &p99, "p999", &p999),
                     0);
    assert_int_equal(count, 100);
    assert_true(mean == 50.5);
    /* Variance of 1..n: (n^2 - 1) / 12 = 9999 / 12 = 833.25. */
    assert_true(deviation == sqrt(833.25));
    assert_int_equal(min, 1);
    assert_int_equal(max, 100);
    assert_int_equal(p50, 50);
    assert_int_equal(p999, 100);
    json_decref(object);
    stats_quantity_init(q);
    object = stats_quantity_json(q);
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    { /* zero would be a result */
        if (strcmp(key, "count") == 0)
            assert_int_equal(json_integer_value(value), 0);
        else
            assert_true(json_is_null(value));
    }
    json_decref(object);
    free(q);
}

static void batch_means_match_the_tables(void **state)
{
    /* Mean 14, squared distances 16 + 4 + 0 + 4 + 16 = 40, s^2 = 40 / 4 = 10, s / sqrt(5) = sqrt(2).
     * Student's t for 95 % and 4 degrees of freedom is 2.776: 2.776 x 1.41421 / 14 = 0.28042. */
    const double five[] = {10, 12, 14, 16, 18};
    assert_float_equal(stats_batch_halfwidth(five, 5, 0.95), 2.776 * sqrt(2) / 14, 5e-5);
    /* Two batches 1 and 3: mean 2, s = sqrt(2), s / sqrt(2) = 1; t for 95 % and 1 degree is 12.706, for 90
     * % 6.314. */
    const double two[] = {1, 3};
    assert_float_equal(stats_batch_halfwidth(two, 2, 0.95), 12.706 / 2, 2e-4);
    assert_float_equal(stats_batch_halfwidth(two, 2, 0.90), 6.314 / 2, 2e-4);
    /* Ten batches 1..10: mean 5.5, s^2 = 82.5 / 9, t for 99 % and 9 degrees 3.250. */
    const double ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    assert_float_equal(stats_batch_halfwidth(ten, 10, 0.99), 3.250 * sqrt(82.5 / 9 / 10) / 5.5, 1e-4);
    assert_true(isinf(stats_batch_halfwidth(five, 1, 0.95)));
    assert_true(isinf(stats_batch_halfwidth(five, 0, 0.95)));
    const double same[] = {4, 4, 4};
    assert_true(stats_batch_halfwidth(same, 3, 0.95) == 0);
    /* A mean of 0 has no relative width. */
    const double none[] = {0, 0, 0};
    assert_true(isinf(stats_batch_halfwidth(none, 3, 0.95)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_are_exact_below_128),
        cmocka_unit_test(bins_cover_all_values),
        cmocka_unit_test(init_clears_used_memory),
        cmocka_unit_test(mean_and_deviation),
        cmocka_unit_test(deviation_does_not_cancel),
        cmocka_unit_test(sums_have_128_bits),
        cmocka_unit_test(percentile_of_few_values),
        cmocka_unit_test(percentile_is_linear_in_the_bin),
        cmocka_unit_test(percentile_against_sorted_samples),
        cmocka_unit_test(join_is_exact),
        cmocka_unit_test(json_has_all_fields),
        cmocka_unit_test(batch_means_match_the_tables),
    };
    return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
