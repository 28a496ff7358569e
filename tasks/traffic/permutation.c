/* A balanced Feistel network over the smallest even number of bits that holds 0..size-1, with Philox as its
 * round function, and cycle walking: a result outside 0..size-1 is sent through the network again until it
 * falls inside (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002). The network is a
 * permutation of a domain less than four times as large, so that a walk takes fewer than four steps on
 * average.
 *
 * Invariant: task_permutation_find(p, task_permutation_at(p, i)) == i.
 */
#include "tasks/traffic/permutation.h"

#include "kernel/base/base.h"

#define ROUNDS 6

/* Streams of permutations lie apart from those of nodes, which are numbered from 0. */
#define COMPONENT_BASE (UINT64_C(1) << 40)

void task_permutation_init(struct task_permutation *p, uint64_t seed, uint32_t purpose, uint32_t component,
                           uint32_t size)
{
    ker_assert(size >= 1);
    *p = (struct task_permutation){
        .seed = seed, .purpose = purpose, .component = component, .size = size, .half_bits = 1};
    while (p->half_bits < 16 && (UINT64_C(1) << (2 * p->half_bits)) < size)
        p->half_bits++;
}

static uint32_t permutation_mix(const struct task_permutation *p, unsigned round, uint32_t half)
{
    uint64_t counter = (uint64_t)round << 32 | half;
    struct ker_bits bits = ker_random_bits(p->seed, p->purpose, COMPONENT_BASE + p->component, counter);
    return bits.word[0] & ((1u << p->half_bits) - 1);
}

static uint32_t permutation_forward(const struct task_permutation *p, uint32_t value)
{
    uint32_t left = value >> p->half_bits, right = value & ((1u << p->half_bits) - 1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint32_t next = left ^ permutation_mix(p, round, right);
        left = right;
        right = next;
    }
    return left << p->half_bits | right;
}

static uint32_t permutation_backward(const struct task_permutation *p, uint32_t value)
{
    uint32_t left = value >> p->half_bits, right = value & ((1u << p->half_bits) - 1);
    for (unsigned round = ROUNDS; round-- > 0;) {
        uint32_t before = right ^ permutation_mix(p, round, left);
        right = left;
        left = before;
    }
    return left << p->half_bits | right;
}

uint32_t task_permutation_at(const struct task_permutation *p, uint32_t place)
{
    ker_check(place < p->size);
    do
        place = permutation_forward(p, place);
    while (place >= p->size);
    return place;
}

uint32_t task_permutation_find(const struct task_permutation *p, uint32_t value)
{
    ker_check(value < p->size);
    do
        value = permutation_backward(p, value);
    while (value >= p->size);
    return value;
}
