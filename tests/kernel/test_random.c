/* The counter-based generator: known answers, the moments, independence of streams, GSL's view. */
#include "kernel/base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Random123's kat_vectors, philox4x32 10 rounds. */
static void known_answers(void **state)
{
    philox4x32_ctr_t zero = {{0, 0, 0, 0}}, ones = {{~0u, ~0u, ~0u, ~0u}};
    philox4x32_key_t zero_key = {{0, 0}}, ones_key = {{~0u, ~0u}};
    static const uint32_t first[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    static const uint32_t second[] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
    philox4x32_ctr_t a = philox4x32(zero, zero_key), b = philox4x32(ones, ones_key);
    assert_memory_equal(a.v, first, sizeof first);
    assert_memory_equal(b.v, second, sizeof second);
    struct ker_bits bits = ker_random_bits(0, 0, 0, 0); /* all-zero counter and key */
    assert_memory_equal(bits.word, first, sizeof first);
}

static void stream_is_the_function(void **state)
{
    struct ker_stream stream, copy;
    ker_stream_init(&stream, 7, KER_PURPOSE_TEST, 42);
    for (uint64_t block = 0; block < 5; block++) {
        struct ker_bits bits = ker_random_bits(7, KER_PURPOSE_TEST, 42, block);
        for (int i = 0; i < 4; i++)
            assert_int_equal(ker_stream_next(&stream), bits.word[i]);
    }
    ker_stream_next(&stream);
    copy = stream; /* remembers the position */
    uint32_t next = ker_stream_next(&stream);
    ker_stream_unit(&stream);
    assert_int_equal(ker_stream_next(&copy), next);
}

/* n uniform draws: the mean has deviation sqrt(1/12n), the variance 1/12 has deviation sqrt(1/180n). Five of
 * them. */
static void moments(void **state)
{
    enum { N = 200000 };
    double sum = 0, squares = 0;
    struct ker_stream stream;
    ker_stream_init(&stream, 1, KER_PURPOSE_TEST, 0);
    for (int i = 0; i < N; i++) {
        double u = ker_stream_unit(&stream);
        assert_true(u >= 0 && u < 1);
        sum += u;
        squares += u * u;
    }
    double mean = sum / N, variance = squares / N - mean * mean;
    assert_true(fabs(mean - 0.5) < 5 * sqrt(1.0 / 12 / N));
    assert_true(fabs(variance - 1.0 / 12) < 5 * sqrt(1.0 / 180 / N));
}

/* Chi-square of counts over `cells` equal cells has mean cells - 1 and variance 2 (cells - 1). Five
 * deviations. */
static void chi_square(const uint32_t *count, int cells, double draws)
{
    double expected = draws / cells, chi = 0;
    for (int i = 0; i < cells; i++)
        chi += (count[i] - expected) * (count[i] - expected) / expected;
    assert_true(fabs(chi - (cells - 1)) < 5 * sqrt(2.0 * (cells - 1)));
}

static void uniform_below(void **state)
{
    uint32_t count[100] = {0};
    struct ker_stream stream;
    ker_stream_init(&stream, 2, KER_PURPOSE_TEST, 9);
    for (int i = 0; i < 100000; i++) {
        uint32_t draw = ker_stream_below(&stream, 100);
        assert_true(draw < 100);
        count[draw]++;
    }
    chi_square(count, 100, 100000);
    assert_int_equal(ker_random_below(UINT32_MAX, 7), 6);
    assert_int_equal(ker_random_below(0, 7), 0);
}

/* Streams that differ in one bit of seed, purpose or component: pairs of their draws fill a 16x16 square
 * evenly. */
static void streams_independent(void **state)
{
    static const struct {
        uint64_t seed, component;
        uint32_t purpose;
    } other[] = {{4, 10, 1}, {3, 11, 1}, {3, 10, 2}, {3, 10 + (1ull << 32), 1}};
    for (size_t k = 0; k < sizeof other / sizeof *other; k++) {
        uint32_t count[256] = {0};
        struct ker_stream a, b;
        ker_stream_init(&a, 3, 1, 10);
        ker_stream_init(&b, other[k].seed, other[k].purpose, other[k].component);
        for (int i = 0; i < 50000; i++)
            count[(ker_stream_next(&a) >> 28) * 16 + (ker_stream_next(&b) >> 28)]++;
        chi_square(count, 256, 50000);
    }
}

/* Numbers of before there were names, and hashes apart from these: FNV-1a 64 of "x" is af63f54c8601bb27, ...
 */
static void test_purposes(void **state)
{
    assert_int_equal(ker_purpose("traffic.time"), 1);
    assert_int_equal(ker_purpose("test"), KER_PURPOSE_TEST);
    assert_int_equal(ker_purpose("jobs.compute_jitter"), 11);
    uint64_t hash = (0xcbf29ce484222325u ^ 'x') * 0x100000001b3u;
    assert_int_equal(ker_purpose("x"), 256 + (hash ^ hash >> 32) % (0x1000000 - 256));
    assert_string_equal(ker_purpose_name(0), "traffic.time");
    assert_string_equal(ker_purpose_name(11), "traffic.fork");
    for (size_t i = 0; ker_purpose_name(i); i++)
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(ker_purpose(ker_purpose_name(i)), ker_purpose(ker_purpose_name(j)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_purposes),          cmocka_unit_test(known_answers),
        cmocka_unit_test(stream_is_the_function), cmocka_unit_test(moments),
        cmocka_unit_test(uniform_below),          cmocka_unit_test(streams_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
