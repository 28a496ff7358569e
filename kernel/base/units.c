/* units.c - values with units, read exactly and printed short.
 *
 * A number is read as decimal digits and a power of ten, never through a double: "0.1 us" is 100,000 ps
 * because the text says so. The value is digits x 10^exponent x factor / divisor in 128 bits: 2^64 x 10^12
 * at most above, 10^30 x 8 at most below, so nothing can overflow. Sizes and rates must come out whole; times
 * are rounded half up to a picosecond, but nothing that is not 0 becomes 0.
 */
#include "kernel/base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_EXPONENT 30

typedef unsigned __int128 u128;

struct unit {
    const char *name;
    uint64_t factor, divisor;
};

static const struct unit time_units[] = {
    {"ps", 1, 1},
    {"ns", 1000, 1},
    {"us", 1000000, 1},
    {"\xc2\xb5s", 1000000, 1},
    {"\xce\xbcs", 1000000, 1},
    {"ms", 1000000000, 1},
    {"s", 1000000000000, 1},
    {NULL, 0, 0},
};

static const struct unit byte_units[] = {
    {"B", 1, 1},
    {"kB", 1000, 1},
    {"MB", 1000000, 1},
    {"GB", 1000000000, 1},
    {"TB", 1000000000000, 1},
    {"KiB", 1ull << 10, 1},
    {"MiB", 1ull << 20, 1},
    {"GiB", 1ull << 30, 1},
    {"TiB", 1ull << 40, 1},
    {NULL, 0, 0},
};

static const struct unit rate_units[] = {
    {"B/s", 1, 1},
    {"kB/s", 1000, 1},
    {"MB/s", 1000000, 1},
    {"GB/s", 1000000000, 1},
    {"TB/s", 1000000000000, 1},
    {"KiB/s", 1ull << 10, 1},
    {"MiB/s", 1ull << 20, 1},
    {"GiB/s", 1ull << 30, 1},
    {"TiB/s", 1ull << 40, 1},
    {"b/s", 1, 8},
    {"kb/s", 1000, 8},
    {"Mb/s", 1000000, 8},
    {"Gb/s", 1000000000, 8},
    {"Tb/s", 1000000000000, 8},
    {"Kib/s", 1ull << 10, 8},
    {"Mib/s", 1ull << 20, 8},
    {"Gib/s", 1ull << 30, 8},
    {"Tib/s", 1ull << 40, 8},
    {NULL, 0, 0},
};

const char *ker_time_unit(int index)
{
    return time_units[index].name;
}

const char *ker_bytes_unit(int index)
{
    return byte_units[index].name;
}

const char *ker_rate_unit(int index)
{
    return rate_units[index].name;
}

struct decimal {
    uint64_t digits;
    int exponent; /* of ten */
};

static bool append(struct decimal *number, int digit)
{
    if (number->digits > (UINT64_MAX - (unsigned)digit) / 10)
        return false;
    number->digits = number->digits * 10 + (unsigned)digit;
    return true;
}

/* One digit more; zeros are kept back in *zeros until another digit follows, so that
 * "0.1000000000000000000000" is not too long. */
static bool add_digit(struct decimal *number, int digit, int *zeros)
{
    if (digit == 0) {
        ++*zeros;
        return *zeros < 1000;
    }
    for (int i = 0; i < *zeros && number->digits; i++) /* leading zeros count nothing */
        if (!append(number, 0))
            return false;
    *zeros = 0;
    return append(number, digit);
}

static const char *read_exponent(const char *at, int *exponent)
{
    int value = 0;
    bool negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    for (; isdigit((unsigned char)*at); at++)
        if (value < 10000)
            value = value * 10 + (*at - '0');
    *exponent += negative ? -value : value;
    return at;
}

static bool starts_exponent(const char *at)
{
    if (*at != 'e' && *at != 'E')
        return false;
    at += at[1] == '-' || at[1] == '+' ? 2 : 1;
    return isdigit((unsigned char)*at);
}

/* Reads digits, point and exponent; returns the first character behind, NULL with *why when it is no number.
 */
static const char *read_decimal(const char *at, struct decimal *number, const char **why)
{
    int zeros = 0, seen = 0;
    bool fraction = false;
    *number = (struct decimal){0, 0};
    for (; isdigit((unsigned char)*at) || (*at == '.' && !fraction); at++) {
        if (*at == '.') {
            fraction = true;
            continue;
        }
        seen++;
        number->exponent -= fraction;
        if (!add_digit(number, *at - '0', &zeros)) {
            *why = "too many digits";
            return NULL;
        }
    }
    if (!seen) {
        *why = "a number is expected, then its unit";
        return NULL;
    }
    number->exponent += zeros;
    if (starts_exponent(at))
        at = read_exponent(at + 1, &number->exponent);
    return at;
}

enum rounding { WHOLE, HALF_UP };

/* digits x 10^exponent x factor / divisor, at most limit. */
static int scale(struct decimal number, const struct unit *unit, uint64_t limit, enum rounding rounding,
                 uint64_t *value, const char *inexact, const char **why)
{
    u128 above = (u128)number.digits * unit->factor, below = unit->divisor;
    *value = 0;
    if (number.digits == 0)
        return 0;
    for (int i = 0; i < number.exponent && above / below <= limit; i++)
        above *= 10; /* above stays below limit x 8 x 10 */
    *why = inexact;
    if (number.exponent < -MAX_EXPONENT)
        return -1;
    for (int i = 0; i > number.exponent; i--)
        below *= 10;
    u128 quotient = rounding == HALF_UP ? (above + below / 2) / below : above / below;
    if (quotient > limit) {
        *why = "too large";
        return -1;
    }
    if (quotient == 0 || (rounding == WHOLE && above % below))
        return -1;
    *value = (uint64_t)quotient;
    return 0;
}

/* A number, then one of the units; *unit is NULL when nothing but space follows the number, and its name is
 * NULL when something unknown does. */
static int read_value(const char *text, const struct unit *units, struct decimal *number,
                      const struct unit **unit, const char **why)
{
    while (isspace((unsigned char)*text))
        text++;
    if (*text == '-') {
        *why = "must not be negative";
        return -1;
    }
    if (*text == '+')
        text++;
    const char *at = read_decimal(text, number, why);
    if (!at)
        return -1;
    while (isspace((unsigned char)*at))
        at++;
    size_t length = strlen(at);
    while (length && isspace((unsigned char)at[length - 1]))
        length--;
    *unit = NULL;
    if (!length)
        return 0;
    for (*unit = units; (*unit)->name; ++*unit)
        if (strlen((*unit)->name) == length && !memcmp((*unit)->name, at, length))
            break;
    return 0;
}

int ker_parse_time(const char *text, ker_time *time, const char **why)
{
    struct decimal number;
    const struct unit *unit;
    uint64_t value;
    if (read_value(text, time_units, &number, &unit, why))
        return -1;
    if (!unit || !unit->name) {
        *why = unit ? "unknown unit of time; units are ps, ns, us, ms, s, as in \"100 ns\""
                    : "the unit is missing; give one, as in \"100 ns\"";
        return -1;
    }
    if (scale(number, unit, KER_TIME_MAX, HALF_UP, &value, "less than half a picosecond", why))
        return -1;
    *time = (ker_time)value;
    return 0;
}

/* Is it the right unit, but of bits? Then say so. */
static bool names_bits(const char *text)
{
    size_t length = strlen(text);
    while (length && isspace((unsigned char)text[length - 1]))
        length--;
    return (length && text[length - 1] == 'b') || strstr(text, "bit");
}

int ker_parse_bytes(const char *text, uint64_t *bytes, const char **why)
{
    struct decimal number;
    const struct unit *unit;
    if (read_value(text, byte_units, &number, &unit, why))
        return -1;
    if (unit && !unit->name) {
        *why = names_bits(text)
                   ? "sizes are in bytes: b is a bit, B a byte, as in \"4 KiB\""
                   : "unknown unit of size; units are B, kB, MB, GB, TB (powers of 1000) and KiB, MiB, "
                     "GiB, TiB (powers of 1024), as in \"4 KiB\"";
        return -1;
    }
    return scale(number, unit ? unit : byte_units, UINT64_MAX, WHOLE, bytes, "not a whole number of bytes",
                 why);
}

int ker_parse_rate(const char *text, uint64_t *bytes_per_second, const char **why)
{
    struct decimal number;
    const struct unit *unit;
    if (read_value(text, rate_units, &number, &unit, why))
        return -1;
    if (!unit || !unit->name) {
        *why = unit ? "unknown unit of rate; units are B/s (bytes) and b/s (bits) with k, M, G, T (powers of "
                      "1000) or Ki, Mi, Gi, Ti (powers of 1024), as in \"25 GB/s\" or \"200 Gb/s\""
                    : "the unit is missing; give one, as in \"25 GB/s\" or \"200 Gb/s\"";
        return -1;
    }
    return scale(number, unit, UINT64_MAX, WHOLE, bytes_per_second, "not a whole number of bytes per second",
                 why);
}

#define BUFFER_BYTES 32

/* The largest unit that leaves at least 1 after rounding to four digits. */
static char *print_scaled(char *buffer, double value, double step, const char *const *names, int count)
{
    int unit = 0;
    double rounded = fabs(value);
    while (unit + 1 < count) {
        char digits[32];
        double shown;
        snprintf(digits, sizeof digits, "%.4g", rounded);
        if (sscanf(digits, "%lf", &shown) != 1 || shown < step)
            break;
        rounded /= step;
        unit++;
    }
    bool plain = rounded >= 9999.5 && rounded < 1e15;
    snprintf(buffer, BUFFER_BYTES, plain ? "%.0f %s" : "%.4g %s", value < 0 ? -rounded : rounded,
             names[unit]);
    return buffer;
}

char *ker_print_time(char *buffer, ker_time time)
{
    static const char *const names[] = {"ps", "ns", "us", "ms", "s"};
    return print_scaled(buffer, (double)time, 1000, names, 5);
}

char *ker_print_bytes(char *buffer, double bytes)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    return print_scaled(buffer, bytes, 1024, names, 5);
}

char *ker_print_rate(char *buffer, double bytes_per_second)
{
    static const char *const names[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
    return print_scaled(buffer, bytes_per_second, 1000, names, 5);
}
