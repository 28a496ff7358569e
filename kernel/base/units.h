/* units.h - simulated time, sizes and rates.
 *
 * Time is a signed 64-bit count of picoseconds (about 106 days), sizes are bytes, rates are bytes per
 * second. Values with units in configurations are strings: "25 GB/s", "200 Gb/s", "100 ns", "4 KiB".
 * Decimal prefixes (k, M, G, T) are powers of 1000, binary ones (Ki, Mi, Gi, Ti) of 1024; b is a bit,
 * B a byte, and the two are never confused.
 */
#pragma once

#include <stdint.h>

typedef int64_t ker_time; /* picoseconds */
#define KER_TIME_MAX INT64_MAX

#define KER_NS ((ker_time)1000)
#define KER_US ((ker_time)1000000)
#define KER_MS ((ker_time)1000000000)
#define KER_S ((ker_time)1000000000000)

/* Time to put `bytes` on a wire of `rate` bytes per second: bytes x 10^12 / rate, rounded half up, computed
 * in 128 bits. rate must not be 0. */
static inline ker_time ker_serialisation(uint64_t bytes, uint64_t rate)
{
    unsigned __int128 twice = (unsigned __int128)bytes * 2 * 1000000000000u + rate;
    return (ker_time)(twice / ((unsigned __int128)rate * 2));
}

static inline ker_time ker_time_min(ker_time a, ker_time b)
{
    return a < b ? a : b;
}

/* a + b, KER_TIME_MAX where that is too late to be represented; b >= 0. */
static inline ker_time ker_time_later(ker_time a, ker_time b)
{
    return a > KER_TIME_MAX - b ? KER_TIME_MAX : a + b;
}

/* Parse a value with its unit. Each returns 0, or -1 with *why set to a static text that says what would
 * be right. Negative values are refused. Times are rounded half up to a
 * picosecond (but nothing becomes 0), sizes must be whole. Rates accept B/s and b/s with prefixes; a rate in
 * bits must come out as a whole number of bytes per second. */
int ker_parse_time(const char *text, ker_time *time, const char **why);
int ker_parse_bytes(const char *text, uint64_t *bytes, const char **why);
int ker_parse_rate(const char *text, uint64_t *bytes_per_second, const char **why);

/* The name of unit number `index` of those that are read; NULL behind the last. */
const char *ker_time_unit(int index);
const char *ker_bytes_unit(int index);
const char *ker_rate_unit(int index);

/* Print with the largest unit that leaves at least 1, four significant digits: "12.34 us", "4 KiB", "25
 * GB/s". buffer holds at least 32 bytes; returned for convenience. */
char *ker_print_time(char *buffer, ker_time time);
char *ker_print_bytes(char *buffer, double bytes);
char *ker_print_rate(char *buffer, double bytes_per_second);
