/* bytes.h - bytes that are put together one behind the other, to be sent or kept. */
#pragma once

#include "kernel/base/array.h"

#include <stdint.h>
#include <string.h>

/* Zeroed: none. The owner frees `byte`. */
struct ker_bytes {
    uint8_t *byte;
    size_t used, room;
};

/* Room for this many more; the first of them. */
static inline uint8_t *ker_bytes_more(struct ker_bytes *b, size_t bytes)
{
    KER_RESERVE(b->byte, b->room, b->used + bytes);
    b->used += bytes;
    return b->byte + b->used - bytes;
}

static inline void ker_bytes_add(struct ker_bytes *b, const void *data, size_t bytes)
{
    if (bytes)
        memcpy(ker_bytes_more(b, bytes), data, bytes);
}
