/* heap.h - binary heaps: arrays (array.h) of an owner's type whose first entry comes before all others.
 *
 * before(a, b) says of two entries, by their addresses, whether the first comes before the second; a function
 * or a macro. Which of two comes first that are not before each other is open. Arguments are evaluated
 * several times, items once.
 */
#pragma once

#include "kernel/base/array.h"

/* An item in the place of entry `from`, whose own item is gone, may belong above ... */
#define KER_HEAP_RISE(heap, from, item, before)                                                              \
    do {                                                                                                     \
        size_t ker_at_ = (from);                                                                             \
        const __typeof__(*(heap)) ker_item_ = (item);                                                        \
        for (; ker_at_ && before(&ker_item_, &(heap)[(ker_at_ - 1) / 2]); ker_at_ = (ker_at_ - 1) / 2)       \
            (heap)[ker_at_] = (heap)[(ker_at_ - 1) / 2];                                                     \
        (heap)[ker_at_] = ker_item_;                                                                         \
    } while (0)

/* ... or below. */
#define KER_HEAP_SINK(heap, count, from, item, before)                                                       \
    do {                                                                                                     \
        size_t ker_at_ = (from);                                                                             \
        const __typeof__(*(heap)) ker_item_ = (item);                                                        \
        for (size_t ker_child_; (ker_child_ = 2 * ker_at_ + 1) < (size_t)(count); ker_at_ = ker_child_) {    \
            if (ker_child_ + 1 < (size_t)(count) && before(&(heap)[ker_child_ + 1], &(heap)[ker_child_]))    \
                ker_child_++;                                                                                \
            if (!before(&(heap)[ker_child_], &ker_item_))                                                    \
                break;                                                                                       \
            (heap)[ker_at_] = (heap)[ker_child_];                                                            \
        }                                                                                                    \
        (heap)[ker_at_] = ker_item_;                                                                         \
    } while (0)

#define KER_HEAP_PUT(heap, count, room, item, before)                                                        \
    do {                                                                                                     \
        KER_RESERVE(heap, room, (size_t)(count) + 1);                                                        \
        (count)++;                                                                                           \
        KER_HEAP_RISE(heap, (size_t)(count)-1, item, before);                                                \
    } while (0)

/* Takes out the first and returns it; count > 0. */
#define KER_HEAP_TAKE(heap, count, before)                                                                   \
    ({                                                                                                       \
        const __typeof__(*(heap)) ker_first_ = (heap)[0];                                                    \
        --(count);                                                                                           \
        KER_HEAP_SINK(heap, count, 0, (heap)[count], before);                                                \
        ker_first_;                                                                                          \
    })

/* Of an array in any order. */
#define KER_HEAP_MAKE(heap, count, before)                                                                   \
    do {                                                                                                     \
        for (size_t ker_place_ = (size_t)(count) / 2; ker_place_-- > 0;)                                     \
            KER_HEAP_SINK(heap, count, ker_place_, (heap)[ker_place_], before);                              \
    } while (0)
