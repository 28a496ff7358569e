/* sort.h - sorting of keys, each a time with the number of what it belongs to. Inside stats/timelines/. */
#pragma once

#include <stdint.h>

/* Ascending; `other` has as much room. No key is 2^bits or more. */
void line_sort(uint64_t *key, uint64_t *other, uint32_t count, unsigned bits);

/* Of a number; 0: none. */
static inline unsigned line_bits(uint64_t value)
{
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}
