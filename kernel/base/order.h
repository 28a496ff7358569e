/* order.h - orders for qsort and its like: of numbers, and of structs by one field after the other. */
#ifndef KERNEL_ORDER_H
#define KERNEL_ORDER_H

#include <stdint.h>

/* -1, 0 or 1: *x and *y by these fields, of which those behind decide only between equal ones; at most 4. */
#define KER_ORDER(x, y, ...)                                                                                 \
    KER_ORDER_OF(__VA_ARGS__, KER_ORDER_4, KER_ORDER_3, KER_ORDER_2, KER_ORDER_1, )(x, y, __VA_ARGS__)
#define KER_ORDER_OF(f1, f2, f3, f4, of, ...) of
#define KER_ORDER_1(x, y, f) (((x)->f > (y)->f) - ((x)->f < (y)->f))
#define KER_ORDER_2(x, y, f, ...) ((x)->f != (y)->f ? KER_ORDER_1(x, y, f) : KER_ORDER_1(x, y, __VA_ARGS__))
#define KER_ORDER_3(x, y, f, ...) ((x)->f != (y)->f ? KER_ORDER_1(x, y, f) : KER_ORDER_2(x, y, __VA_ARGS__))
#define KER_ORDER_4(x, y, f, ...) ((x)->f != (y)->f ? KER_ORDER_1(x, y, f) : KER_ORDER_3(x, y, __VA_ARGS__))

/* Ascending. */
static inline int ker_order_u32(const void *a, const void *b)
{
    return (*(const uint32_t *)a > *(const uint32_t *)b) - (*(const uint32_t *)a < *(const uint32_t *)b);
}
static inline int ker_order_u64(const void *a, const void *b)
{
    return (*(const uint64_t *)a > *(const uint64_t *)b) - (*(const uint64_t *)a < *(const uint64_t *)b);
}

#endif
