/* digits.h - numbers as text without printf: tables and timelines have millions of them. All write at `at`,
 * where there is room for STATS_MOST_DIGITS bytes, and return where the text ends; none puts a zero behind
 * it.
 */
#ifndef STATS_DIGITS_H
#define STATS_DIGITS_H

#include <stdint.h>
#include <string.h>

#define STATS_MOST_DIGITS 32 /* of any number */

extern const char stats_digits[201]; /* "00" to "99", one behind the other */

char *stats_put_large(char *at, uint64_t value); /* of at least five digits */
static inline char *stats_put_u64(char *at, uint64_t value)
{
    uint32_t high = (uint32_t)value / 100, low = (uint32_t)value % 100;
    if (value >= 10000)
        return stats_put_large(at, value);
    if (value >= 100) {
        memcpy(at, stats_digits + 2 * high + (high < 10), 2);
        at += 1 + (high >= 10);
        memcpy(at, stats_digits + 2 * low, 2);
        return at + 2;
    }
    memcpy(at, stats_digits + 2 * value + (value < 10), 2);
    return at + 1 + (value >= 10);
}

/* Six digits of a value below a million, with the zeros before it. */
static inline char *stats_put_six(char *at, uint32_t value)
{
    memcpy(at, stats_digits + 2 * (value / 10000), 2);
    memcpy(at + 2, stats_digits + 2 * (value / 100 % 100), 2);
    memcpy(at + 4, stats_digits + 2 * (value % 100), 2);
    return at + 6;
}

/* numerator / denominator with six decimals; 0 when the denominator is 0. */
char *stats_put_ratio(char *at, uint64_t numerator, uint64_t denominator);

#endif
