/* file.h - inside stats/: result files that are whole or not there.
 *
 * A file is written under NAME.tmp and renamed when all of it has been handed to the disk: a reader never
 * sees half a file, and an old one survives a failed run. Errors of single writes need no check: the stream
 * remembers them until commit.
 */
#pragma once

#include "kernel/base/base.h"

#include <endian.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct stats_file {
    FILE *stream;
    char *path, *temporary;
    int why; /* a write has failed, and why: stats_file_look */
};

enum ker_status stats_file_open(struct stats_file *, const char *folder, const char *name,
                                struct ker_error *);
/* To be called behind writes where something else may set errno before the next. */
void stats_file_look(struct stats_file *);
/* Closes and renames; on failure removes the temporary file. Frees in any case. */
enum ker_status stats_file_commit(struct stats_file *, struct ker_error *);
/* The same without a file in the end. */
void stats_file_drop(struct stats_file *);
/* "cannot write PATH: why", KER_RUN_FAILED. */
enum ker_status stats_file_fail(const char *path, int why, struct ker_error *);

/* ---- Numbers as text without printf: tables and timelines have millions of them. All write at `at`,
 * where there is room for STATS_MOST_DIGITS bytes, and return where the text ends; none puts a zero behind
 * it. */

#define STATS_MOST_DIGITS 32 /* of any number */

extern const char stats_digits[201]; /* "00" to "99", one behind the other */

char *stats_put_large(char *at, uint64_t value); /* of at least five digits */
static inline char *stats_put_u64(char *at, uint64_t value)
{
    if (value < 10) { /* most cells of most tables */
        *at = (char)('0' + value);
        return at + 1;
    }
    if (value >= 10000)
        return stats_put_large(at, value);
    if (value >= 100) {
        uint32_t high = (uint32_t)value / 100, low = (uint32_t)value % 100;
        memcpy(at, stats_digits + 2 * high + (high < 10), 2);
        at += 1 + (high >= 10);
        memcpy(at, stats_digits + 2 * low, 2);
        return at + 2;
    }
    memcpy(at, stats_digits + 2 * value, 2);
    return at + 2;
}

/* Eight digits of a value below 10^8, as the bytes of a number, the first digit in the lowest byte, each 0 to
 * 9. All are split at once: into 4 and 4, then 2, then 1; x / 100 = x * 5243 >> 19 below 10^4, x / 10 =
 * x * 103 >> 10 below 100. */
static inline uint64_t stats_eight_digits(uint32_t value)
{
    uint64_t four = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t high = four * 5243 >> 19 & UINT64_C(0x0000007f0000007f);
    uint64_t two = high | (four - 100 * high) << 16;
    uint64_t tens = two * 103 >> 10 & UINT64_C(0x000f000f000f000f);
    return tens | (two - 10 * tens) << 8;
}

/* Such bytes as text. */
static inline char *stats_put_bytes(char *at, uint64_t digits)
{
    uint64_t text = htole64(digits + UINT64_C(0x3030303030303030));
    memcpy(at, &text, sizeof text);
    return at + sizeof text;
}

/* Four digits of a value below 10^4, with the zeros before them. */
static inline char *stats_put_four(char *at, uint32_t value)
{
    memcpy(at, stats_digits + 2 * (value / 100), 2);
    memcpy(at + 2, stats_digits + 2 * (value % 100), 2);
    return at + 4;
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
