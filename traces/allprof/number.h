/* number.h - decimal numbers in a line of a trace.
 *
 * Eight characters are looked at at once. So whoever calls must be allowed to read ALLPROF_SLACK bytes beyond
 * the 0 that ends the text, whatever they are.
 */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ALLPROF_SLACK 64

/* The next eight characters, the first one lowest. */
static inline uint64_t allprof_word(const char *text)
{
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return le64toh(word);
}

/* With how many digits a word begins: 0 to 8. */
static inline unsigned allprof_word_digits(uint64_t word)
{
    uint64_t value = word ^ UINT64_C(0x3030303030303030); /* digits are 0 to 9 now */
    uint64_t other = (((value & UINT64_C(0x7f7f7f7f7f7f7f7f)) + UINT64_C(0x7676767676767676)) | value) &
                     UINT64_C(0x8080808080808080);
    return other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
}

/* What its first `digits` (1 to 8) are as a number: pairs, then fours, then all of them are put together. */
static inline uint64_t allprof_word_value(uint64_t word, unsigned digits)
{
    word = (word ^ UINT64_C(0x3030303030303030)) << (64 - 8 * digits);
    word = (word * 10 + (word >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    word = (word * 100 + (word >> 16)) & UINT64_C(0x0000ffff0000ffff);
    return (word * 10000 + (word >> 32)) & UINT64_C(0xffffffff);
}

/* Digits from `at` on, behind others that gave *value; false: more than 64 bits hold. */
static inline bool allprof_digits_more(const char **at, uint64_t *value)
{
    bool fits = true;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        fits = fits && !__builtin_mul_overflow(*value, UINT64_C(10), value);
        fits = !__builtin_add_overflow(*value, (uint64_t)(**at - '0'), value) && fits;
    }
    return fits;
}

/* A whole field or the part up to what is no digit; false: no number. Unsigned addresses wrap into the same
 * 64 bits. */
static inline bool allprof_number(const char **text, int64_t *number)
{
    static const uint64_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    const char *at = *text;
    bool negative = *at == '-', fits = true;
    at += negative;
    uint64_t word = allprof_word(at);
    unsigned digits = allprof_word_digits(word);
    if (digits == 0)
        return false;
    uint64_t value = allprof_word_value(word, digits);
    at += digits;
    if (digits == 8) {
        word = allprof_word(at);
        digits = allprof_word_digits(word);
        if (digits)
            value = value * power[digits] + allprof_word_value(word, digits);
        at += digits;
        if (digits == 8)
            fits = allprof_digits_more(&at, &value);
    }
    *number = (int64_t)(negative ? 0 - value : value);
    *text = at;
    return fits;
}
