/* digits.c - numbers as text, two digits at a time; see digits.h. */
#include "stats/file.h"

const char stats_digits[201] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051"
    "525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

char *stats_put_large(char *at, uint64_t value)
{
    if (value >= 100000000) {
        at = stats_put_u64(at, value / 100000000);
        return stats_put_bytes(at, stats_eight_digits((uint32_t)(value % 100000000)));
    }
    uint64_t digits = stats_eight_digits((uint32_t)value);
    unsigned zeros = (unsigned)__builtin_ctzll(digits) / 8;
    return stats_put_bytes(at, digits >> 8 * zeros) - zeros;
}

static inline char *put_millionths(char *at, uint64_t whole, uint32_t rest)
{
    at = stats_put_u64(at, whole);
    *at = '.';
    return stats_put_six(at + 1, rest);
}

/* Rounded half up in integers; in 64 bits where they are enough, which is the usual and four times as fast.
 */
char *stats_put_ratio(char *at, uint64_t numerator, uint64_t denominator)
{
    static const uint64_t MILLION = 1000000, MOST_QUICK = UINT64_C(1) << 42;
    if (!numerator || !denominator)
        return (char *)memcpy(at, "0.000000", 8) + 8; /* NOLINT(bugprone-not-null-terminated-result) */
    if (numerator < MOST_QUICK && denominator < MOST_QUICK) {
        uint64_t quick = (numerator * 2 * MILLION + denominator) / (denominator * 2);
        if (quick < MILLION) {
            memcpy(at, "0.", 2); /* NOLINT(bugprone-not-null-terminated-result) */
            return stats_put_six(at + 2, (uint32_t)quick);
        }
        return put_millionths(at, quick / MILLION, (uint32_t)(quick % MILLION));
    }
    unsigned __int128 scaled =
        ((unsigned __int128)numerator * 2 * MILLION + denominator) / ((unsigned __int128)denominator * 2);
    return put_millionths(at, (uint64_t)(scaled / MILLION), (uint32_t)(scaled % MILLION));
}
