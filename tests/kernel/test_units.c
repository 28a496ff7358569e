/* Values with units: read exactly, refused with a reason, printed short. */
#include "kernel/base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static ker_time time_of(const char *text)
{
    ker_time time = -1;
    const char *why = NULL;
    int status = ker_parse_time(text, &time, &why);
    return status == 0 ? time : -1;
}

static uint64_t bytes_of(const char *text)
{
    uint64_t bytes = 0;
    const char *why = NULL;
    assert_int_equal(ker_parse_bytes(text, &bytes, &why), 0);
    return bytes;
}

static uint64_t rate_of(const char *text)
{
    uint64_t rate = 0;
    const char *why = NULL;
    assert_int_equal(ker_parse_rate(text, &rate, &why), 0);
    return rate;
}

static void times(void **state)
{
    assert_int_equal(time_of("1 ps"), 1);
    assert_int_equal(time_of("100 ns"), 100 * KER_NS);
    assert_int_equal(time_of("  100ns "), 100 * KER_NS);
    assert_int_equal(time_of("2.5 us"), 2500 * KER_NS);
    assert_int_equal(time_of("2.5 \xc2\xb5s"), 2500 * KER_NS);
    assert_int_equal(time_of("1e3 ns"), KER_US);
    assert_int_equal(time_of("1.5E-3 ms"), 1500 * KER_NS);
    assert_int_equal(time_of("0 s"), 0);
    /* 0.1 has no exact double, but ten of them are one: 0.1 us = 100,000 ps */
    assert_int_equal(time_of("0.1 us"), 100000);
    assert_int_equal(time_of("0.10000000000000000000000000 us"), 100000);
    /* 33.3333 ns = 33,333.3 ps, rounded half up 33,333; 33.3335 ns = 33,333.5 ps: 33,334 */
    assert_int_equal(time_of("33.3333 ns"), 33333);
    assert_int_equal(time_of("33.3335 ns"), 33334);
    /* 2^63 - 1 ps = 9,223,372.036854775807 s is the last one */
    assert_int_equal(time_of("9223372.036854775807 s"), KER_TIME_MAX);
    assert_int_equal(time_of("9223372.036854775808 s"), -1);
    assert_int_equal(time_of("1e30 s"), -1);
    assert_int_equal(time_of("1e99999999999 s"), -1);
}

static void times_refused(void **state)
{
    static const char *const wrong[] = {"",       "ns",    "100",    "-5 ns",   "5 ns x",
                                        "5 NS",   "5 n s", "1..2 s", "0x10 ns", "1e ns",
                                        "0.4 ps", ". ns",  "nan s",  "1e-400 s"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ker_time time;
        const char *why = NULL;
        if (ker_parse_time(wrong[i], &time, &why) != -1)
            fail_msg("\"%s\" was taken", wrong[i]);
        assert_non_null(why);
    }
}

static void sizes(void **state)
{
    assert_int_equal(bytes_of("4096"), 4096);
    assert_int_equal(bytes_of("4 KiB"), 4096);
    assert_int_equal(bytes_of("4 kB"), 4000);
    assert_int_equal(bytes_of("1.5 MiB"), 3 << 19);
    assert_int_equal(bytes_of("1 TB"), 1000000000000);
    assert_int_equal(bytes_of("18446744073709551615 B"), UINT64_MAX);
    uint64_t bytes;
    const char *why;
    assert_int_equal(ker_parse_bytes("4 Kb", &bytes, &why), -1);
    assert_non_null(strstr(why, "b is a bit"));
    assert_int_equal(ker_parse_bytes("0.5 B", &bytes, &why), -1);
    assert_int_equal(ker_parse_bytes("4 KB", &bytes, &why), -1); /* K is neither k nor Ki */
    assert_int_equal(ker_parse_bytes("18446744073709551616", &bytes, &why), -1);
    assert_int_equal(ker_parse_bytes("16777216 TiB", &bytes, &why), -1); /* 2^64 */
}

static void rates(void **state)
{
    assert_int_equal(rate_of("25 GB/s"), 25000000000);
    assert_int_equal(rate_of("200 Gb/s"), 25000000000); /* 200 / 8 */
    assert_int_equal(rate_of("1 Kib/s"), 128);          /* 1024 / 8 */
    assert_int_equal(rate_of("0.5 GiB/s"), 1 << 29);
    uint64_t rate;
    const char *why;
    assert_int_equal(ker_parse_rate("7 b/s", &rate, &why), -1); /* not whole bytes */
    assert_int_equal(ker_parse_rate("25", &rate, &why), -1);
    assert_int_equal(ker_parse_rate("25 GB", &rate, &why), -1);
    assert_int_equal(ker_parse_rate("25 Gbps", &rate, &why), -1);
}

static void printed(void **state)
{
    char text[32];
    assert_string_equal(ker_print_time(text, 0), "0 ps");
    assert_string_equal(ker_print_time(text, 999), "999 ps");
    assert_string_equal(ker_print_time(text, 1000), "1 ns");
    assert_string_equal(ker_print_time(text, 12344999), "12.34 us"); /* 12.344999 cut to four digits */
    assert_string_equal(ker_print_time(text, 999996), "1 us"); /* 999.996 rounds to 1000 ns, shown as 1 us */
    assert_string_equal(ker_print_time(text, -2500), "-2.5 ns");
    assert_string_equal(ker_print_time(text, KER_TIME_MAX), "9223372 s");
    assert_string_equal(ker_print_bytes(text, 4096), "4 KiB");
    assert_string_equal(ker_print_bytes(text, 1023), "1023 B");
    assert_string_equal(ker_print_rate(text, 25e9), "25 GB/s");
    assert_string_equal(ker_print_rate(text, 25e15), "25000 TB/s");
}

static void serialised(void **state)
{
    /* 512 B at 25 GB/s: 20.48 ns */
    assert_int_equal(ker_serialisation(512, 25000000000), 20480);
    /* 1 B at 3 B/s: 333,333,333,333.3 ps; at 2 TB/s: 0.5 ps, half up */
    assert_int_equal(ker_serialisation(1, 3), 333333333333);
    assert_int_equal(ker_serialisation(1, 2000000000000), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times), cmocka_unit_test(times_refused), cmocka_unit_test(sizes),
        cmocka_unit_test(rates), cmocka_unit_test(printed),       cmocka_unit_test(serialised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
