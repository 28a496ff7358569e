/* array.h - arrays that grow: an array is a pointer, a count and a room (elements allocated), of its owner's
 * types.
 *
 * An owner keeps the three as fields of its own, zeroed at first, and frees the pointer by free(). Rooms
 * grow by a part of what they are, so an element costs a constant time however many there are. New elements
 * are not zeroed. Growing moves the elements: a pointer to one is good until the next KER_RESERVE, KER_PUSH
 * or KER_APPEND. More elements than the room's type can count are an assertion.
 *
 * In order of their index, elements need nothing else to be walked, saved and loaded.
 */
#pragma once

#include "kernel/base/memory.h"

/* Makes room for `wanted` elements. Evaluates array and room several times, wanted once. */
#define KER_RESERVE(array, room, wanted)                                                                     \
    do {                                                                                                     \
        size_t ker_wanted_ = (size_t)(wanted);                                                               \
        if (__builtin_expect(ker_wanted_ > (size_t)(room), 0)) {                                             \
            size_t ker_room_ =                                                                               \
                ker_array_room((size_t)(room), ker_wanted_, sizeof *(array), KER_MOST_OF(__typeof__(room))); \
            (array) = ker_realloc((array), ker_room_ * sizeof *(array));                                     \
            (room) = (__typeof__(room))ker_room_;                                                            \
        }                                                                                                    \
    } while (0)

/* A new element at the end: its address. It is to be filled. */
#define KER_PUSH(array, count, room)                                                                         \
    ({                                                                                                       \
        KER_RESERVE(array, room, (size_t)(count) + 1);                                                       \
        &(array)[(count)++];                                                                                 \
    })

/* The same for an array that only grows, element by element, and needs no field for its room: that is the
 * count's next power of two. */
#define KER_APPEND(array, count)                                                                             \
    ({                                                                                                       \
        if (((count) & ((count)-1)) == 0)                                                                    \
            (array) = ker_realloc((array), ((count) ? 2 * (size_t)(count) : 1) * sizeof *(array));           \
        &(array)[(count)++];                                                                                 \
    })

/* Sets as trees in an array, where a root is its own parent: the root of v. Shortens what leads there. */
static inline uint32_t ker_set_root(uint32_t *parent, uint32_t v)
{
    for (; parent[v] != v; v = parent[v])
        parent[v] = parent[parent[v]];
    return v;
}

/* The largest value of an integer type. */
#define KER_MOST_OF(type) ((type)-1 > (type)0 ? (size_t)(type)-1 : ((size_t)1 << (8 * sizeof(type) - 1)) - 1)

/* The room that an array of so much gets when it is to hold `wanted` elements of `bytes`. */
size_t ker_array_room(size_t room, size_t wanted, size_t bytes, size_t most);
