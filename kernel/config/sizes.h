/* sizes.h - a time, or a rate, that depends on a message's size, read from a list "TIME[:SIZE]". */
#pragma once

#include "kernel/base/base.h"

struct ker_config;

#define KER_SIZES_MOST 32

/* From bytes[i] on value[i]; or, with lines, on the straight line to the next one. Behind the last size times
 * go on along the last line, rates stay what they are. */
struct ker_sizes {
    uint32_t count;                 /* 0: the key is not given */
    bool lines, rates;              /* rates: bytes per second; else picoseconds */
    uint64_t bytes[KER_SIZES_MOST]; /* ascending, the first 0 */
    int64_t value[KER_SIZES_MOST];
};

/* A key that is absent leaves an empty list. An error names the element and what is wrong with it: no time
 * (at most 1 s), rate or size, sizes that do not ascend, too many, or (lines) a line that leads below zero.
 */
enum ker_status ker_sizes_read(struct ker_sizes *, const struct ker_config *, const char *key, bool rates,
                               bool lines, struct ker_error *);
/* Rounded to the nearest picosecond, or byte per second; 0 of an empty list. */
int64_t ker_sizes_of(const struct ker_sizes *, uint64_t bytes);
/* More than one value? */
static inline bool ker_sizes_vary(const struct ker_sizes *sizes)
{
    return sizes->count > 1;
}
