/* numbered.h - what is known of things by their numbers: arrays whose elements begin as zeros, and tables
 * with a number as key. */
#ifndef TRACES_NUMBERED_H
#define TRACES_NUMBERED_H

#include "kernel/base/base.h"

/* The element at an index, which may be beyond the room: then it and all new ones are zeroed. Its address. */
#define TRACE_AT(array, room, index)                                                                         \
    ({                                                                                                       \
        size_t at_ = (size_t)(index), old_ = (size_t)(room);                                                 \
        KER_RESERVE(array, room, at_ + 1);                                                                   \
        if (__builtin_expect((size_t)(room) > old_, 0))                                                      \
            memset((array) + old_, 0, ((size_t)(room)-old_) * sizeof *(array));                              \
        &(array)[at_];                                                                                       \
    })

/* Of entries whose key is one number of 64 bits, at their begin: {sizeof entry, trace_u64_hash,
 * trace_u64_same}. */
static inline uint64_t trace_u64_hash(const void *key)
{
    uint64_t number;
    memcpy(&number, key, sizeof number);
    return ker_hash(number);
}
static inline bool trace_u64_same(const void *entry, const void *key)
{
    return memcmp(entry, key, sizeof(uint64_t)) == 0;
}
#define TRACE_TABLE_U64(type)                                                                                \
    {                                                                                                        \
        sizeof(type), trace_u64_hash, trace_u64_same                                                         \
    }

#endif
