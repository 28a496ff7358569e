/* numbered.h - what is known of things by their numbers: arrays whose elements begin as zeros, and tables
 * with keys of several. */
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

/* KIND, of entries that begin with a key of several fields, `last` the last of them, without padding; the
 * first eight bytes are not all zero. */
#define TRACE_TABLE_KEY(kind, type, last)                                                                    \
    static uint64_t kind##_hash(const void *key)                                                             \
    {                                                                                                        \
        return ker_hash_bytes(key, offsetof(type, last) + sizeof((const type *)0)->last);                    \
    }                                                                                                        \
    static bool kind##_same(const void *entry, const void *key)                                              \
    {                                                                                                        \
        return memcmp(entry, key, offsetof(type, last) + sizeof((const type *)0)->last) == 0;                \
    }                                                                                                        \
    static const struct ker_table_kind kind = {sizeof(type), kind##_hash, kind##_same}

#endif
