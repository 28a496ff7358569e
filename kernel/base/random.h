/* random.h - counter-based random numbers (Random123's Philox4x32-10).
 *
 * A draw is a pure function of (seed, purpose, component, counter): streams need no state beyond their
 * counter, never depend on who draws first, and a stream per component and purpose keeps, say, the traffic
 * the same when the routing changes. Purposes are small integers, listed here so that none is used twice.
 */
#ifndef KERNEL_RANDOM_H
#define KERNEL_RANDOM_H

#include <Random123/philox.h>
#include <gsl/gsl_rng.h>
#include <stdint.h>

enum ker_purpose {
    KER_PURPOSE_TRAFFIC_TIME = 1, /* when synthetic packets are created */
    KER_PURPOSE_TRAFFIC_WHERE,    /* to whom, how large */
    KER_PURPOSE_ROUTING,          /* path selection */
    KER_PURPOSE_TIES,             /* equal directions on a torus */
    KER_PURPOSE_ARBITRATION,      /* random arbiter */
    KER_PURPOSE_PLACEMENT,
    KER_PURPOSE_PARTITION,
    KER_PURPOSE_ENGINE, /* shuffled cell order, debug */
    KER_PURPOSE_FAULTS,
    KER_PURPOSE_TEST,
    KER_PURPOSE_JITTER, /* computation that takes longer */
};

/* 128 random bits of one counter value. */
struct ker_bits {
    uint32_t word[4];
};

static inline struct ker_bits ker_random_bits(uint64_t seed, uint32_t purpose, uint64_t component,
                                              uint64_t counter)
{
    philox4x32_ctr_t c = {{(uint32_t)counter, (uint32_t)(counter >> 32), (uint32_t)component,
                           (uint32_t)(component >> 32) ^ (purpose << 8)}};
    philox4x32_key_t k = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    philox4x32_ctr_t r = philox4x32(c, k);
    return (struct ker_bits){{r.v[0], r.v[1], r.v[2], r.v[3]}};
}

/* Maps 32 (64) random bits to 0..n-1 without division; bias below n / 2^32 (2^64). */
static inline uint32_t ker_random_below(uint32_t bits, uint32_t n)
{
    return (uint32_t)(((uint64_t)bits * n) >> 32);
}

/* Maps 64 random bits to [0, 1) and (0, 1]. */
static inline double ker_random_unit(uint32_t high, uint32_t low)
{
    return (double)((((uint64_t)high << 32) | low) >> 11) * 0x1p-53;
}

/* A stream with a counter, four words a block. Copy it to remember a position. */
struct ker_stream {
    uint64_t seed, component, counter; /* counter counts words */
    uint32_t purpose, word[4];
};

void ker_stream_init(struct ker_stream *, uint64_t seed, uint32_t purpose, uint64_t component);
uint32_t ker_stream_next(struct ker_stream *);              /* 32 bits */
uint32_t ker_stream_below(struct ker_stream *, uint32_t n); /* 0..n-1 */
double ker_stream_unit(struct ker_stream *);                /* [0, 1), 53 bits */

/* The stream as a generator for GSL's distributions: gsl_ran_exponential(ker_stream_gsl(&stream, &rng),
 * mean). The wrapper lies in caller's memory and is valid while both live. */
struct ker_gsl {
    gsl_rng rng;
};
gsl_rng *ker_stream_gsl(struct ker_stream *, struct ker_gsl *);

#endif
