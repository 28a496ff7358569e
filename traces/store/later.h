/* later.h - for code.c and later.c: numbers that may be written again when the operation is in the store.
 */
#pragma once

#include <stdint.h>

#define TRACE_WIDE_BYTES 5 /* of any number of 32 bits, and of TASK_FOUND */

/* In TRACE_WIDE_BYTES, so that another one can stand there. */
static inline uint8_t *trace_put_wide(uint8_t *at, int64_t value)
{
    uint64_t bits = ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
    for (int i = 1; i < TRACE_WIDE_BYTES; i++, bits >>= 7)
        *at++ = (uint8_t)(bits | 128);
    *at++ = (uint8_t)bits;
    return at;
}
