/* permutation.h - a random permutation of 0..n-1 that needs no table: 24 bytes for any n, both directions.
 *
 * The same (seed, purpose, component, n) gives the same permutation everywhere. n >= 1. About 0.2 us a call.
 */
#pragma once

#include <stdint.h>

struct task_permutation {
    uint64_t seed;
    uint32_t purpose, component;
    uint32_t size;
    uint32_t half_bits; /* the network works on 2 x half_bits bits */
};

void task_permutation_init(struct task_permutation *, uint64_t seed, uint32_t purpose, uint32_t component,
                           uint32_t size);
uint32_t task_permutation_at(const struct task_permutation *, uint32_t place); /* place < size */
uint32_t task_permutation_find(const struct task_permutation *,
                               uint32_t value); /* the place where value is */
