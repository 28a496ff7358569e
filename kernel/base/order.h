/* order.h - orders for qsort and its like: of numbers, of texts, and of structs by one field after the other;
 * what is searched in something that has one. */
#pragma once

#include <stdint.h>
#include <string.h>

/* -1, 0 or 1: *x and *y by these fields, of which those behind decide only between equal ones; at most 4. */
#define KER_ORDER(x, y, ...)                                                                                 \
    KER_ORDER_OF(__VA_ARGS__, KER_ORDER_4, KER_ORDER_3, KER_ORDER_2, KER_ORDER_1, )(x, y, __VA_ARGS__)
#define KER_ORDER_OF(f1, f2, f3, f4, of, ...) of
#define KER_ORDER_1(x, y, f) (((x)->f > (y)->f) - ((x)->f < (y)->f))
#define KER_ORDER_2(x, y, f, ...) ((x)->f != (y)->f ? KER_ORDER_1(x, y, f) : KER_ORDER_1(x, y, __VA_ARGS__))
#define KER_ORDER_3(x, y, f, ...) ((x)->f != (y)->f ? KER_ORDER_1(x, y, f) : KER_ORDER_2(x, y, __VA_ARGS__))
#define KER_ORDER_4(x, y, f, ...) ((x)->f != (y)->f ? KER_ORDER_1(x, y, f) : KER_ORDER_3(x, y, __VA_ARGS__))

/* A function NAME for qsort and its like: elements of this type, ascending by these fields. */
#define KER_ORDER_BY(name, type, ...)                                                                        \
    static int name(const void *a, const void *b)                                                            \
    {                                                                                                        \
        const type *x = a, *y = b;                                                                           \
        return KER_ORDER(x, y, __VA_ARGS__);                                                                 \
    }
/* The same where elements are the addresses of such. */
#define KER_ORDER_AT(name, type, ...)                                                                        \
    static int name(const void *a, const void *b)                                                            \
    {                                                                                                        \
        const type *x = *(const type *const *)a, *y = *(const type *const *)b;                               \
        return KER_ORDER(x, y, __VA_ARGS__);                                                                 \
    }

/* The first index of from .. to - 1 for which `before` does not hold, to where there is none. `before` is
 * asked of the index i and holds for none behind one for which it does not. */
#define KER_BISECT(i, from, to, before)                                                                      \
    ({                                                                                                       \
        __typeof__((to) + 0) ker_low_ = (from), ker_high_ = (to);                                            \
        while (ker_low_ < ker_high_) {                                                                       \
            const __typeof__((to) + 0) i = ker_low_ + (ker_high_ - ker_low_) / 2;                            \
            if (before)                                                                                      \
                ker_low_ = i + 1;                                                                            \
            else                                                                                             \
                ker_high_ = i;                                                                               \
        }                                                                                                    \
        ker_low_;                                                                                            \
    })

/* Ascending. */
static inline int ker_order_u32(const void *a, const void *b)
{
    return (*(const uint32_t *)a > *(const uint32_t *)b) - (*(const uint32_t *)a < *(const uint32_t *)b);
}
static inline int ker_order_u64(const void *a, const void *b)
{
    return (*(const uint64_t *)a > *(const uint64_t *)b) - (*(const uint64_t *)a < *(const uint64_t *)b);
}
static inline int ker_order_i64(const void *a, const void *b)
{
    return (*(const int64_t *)a > *(const int64_t *)b) - (*(const int64_t *)a < *(const int64_t *)b);
}
/* Of texts by their addresses. */
static inline int ker_order_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}
