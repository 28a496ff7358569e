/* random.h - counter-based random numbers (Random123's Philox4x32-10).
 *
 * A draw is a pure function of (seed, purpose, component, counter): streams need no state beyond their
 * counter, never depend on who draws first, and a stream per component and purpose keeps, say, the traffic
 * the same when the routing changes. Purposes are known by name: those that were here first keep their
 * numbers for ever, a new one is a hash of its name (ker_purpose), so that adding one changes no result.
 */
#pragma once

/* Without these Philox includes all vector intrinsics of the compiler, 50,000 lines that it does not use. */
#define R123_USE_SSE 0
#define R123_USE_X86INTRIN_H 0
#include <Random123/philox.h>
#include <stddef.h>
#include <stdint.h>

#define KER_PURPOSES(PURPOSE)                                                                                \
    PURPOSE(TRAFFIC_TIME, 1, "traffic.time")   /* when synthetic packets are created */                      \
    PURPOSE(TRAFFIC_WHERE, 2, "traffic.where") /* to whom, how large */                                      \
    PURPOSE(ROUTING, 3, "routing")             /* path selection */                                          \
    PURPOSE(TIES, 4, "routing.ties")           /* equal directions on a torus */                             \
    PURPOSE(ARBITRATION, 5, "switch.arbitration")                                                            \
    PURPOSE(PLACEMENT, 6, "jobs.placement")                                                                  \
    PURPOSE(PARTITION, 7, "partition")                                                                       \
    PURPOSE(ENGINE, 8, "engine.cell_order")                                                                  \
    PURPOSE(FAULTS, 9, "faults")                                                                             \
    PURPOSE(TEST, 10, "test")                                                                                \
    PURPOSE(JITTER, 11, "jobs.compute_jitter") /* computation that takes longer */
#define KER_PURPOSE_NUMBER(name, number, text) KER_PURPOSE_##name = (number),
enum ker_purpose { KER_PURPOSES(KER_PURPOSE_NUMBER) };

/* Those of the program that are known by their names alone. */
#define KER_PURPOSES_BY_NAME(PURPOSE)                                                                        \
    PURPOSE("traffic.fork")  /* load after a fork */                                                         \
    PURPOSE("jobs.pattern")  /* pairs of random patterns */                                                  \
    PURPOSE("loggops.noise") /* where a process's noise begins */                                            \
    PURPOSE("node.noise")    /* the same of a core, and its detours */

/* The number of a purpose: of a name above that has one, or, of any other, a hash that is none of these: 24
 * bits. For set-up; keep it. */
uint32_t ker_purpose(const char *name);
/* Name number `index` of all purposes of the program; NULL behind the last. No two of them, nor those of
 * plugins (ker_registry_purposes), have one number. */
const char *ker_purpose_name(size_t index);

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

/* 32 bits that depend on all bits of x (finaliser of splitmix64). */
static inline uint32_t ker_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)(x >> 32) ^ (uint32_t)(x >> 1);
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
