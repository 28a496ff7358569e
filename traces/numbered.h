/* numbered.h - what is known of things by their numbers: arrays whose elements begin as zeros. */
#pragma once

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
