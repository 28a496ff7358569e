/* times.h - times as a trace has them: each a class, four for each power of two, and the bits that say where
 * in its class it is.
 *
 * Classes are what can be packed (times of a program are of a few sizes), the bits below them are noise and
 * take as many as they are. Class c < 4 is the time c. Else l = c / 4 + 1 is the place of its highest bit, c
 * % 4 the two bits below that one, and l - 2 further bits follow, lowest first.
 */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MARS_CLASS_MOST 251 /* the class of 2^64 - 1 */

struct mars_bits { /* being written or read; from the lowest bit of the first byte on */
    uint8_t *data;
    size_t bytes; /* reading: how many there are */
    uint64_t at;  /* bit */
    bool bad;
};

/* There must be room for 8 bytes behind the current one, and they must be 0. */
static inline void mars_bits_put(struct mars_bits *bits, uint64_t value, unsigned count)
{
    for (; count > 0; value >>= 8) {
        unsigned part = count < 8 ? count : 8, shift = (unsigned)(bits->at & 7);
        unsigned byte = (unsigned)(value & ((1u << part) - 1)) << shift;
        bits->data[bits->at >> 3] |= (uint8_t)byte;
        bits->data[(bits->at >> 3) + 1] |= (uint8_t)(byte >> 8);
        bits->at += part;
        count -= part;
    }
}

/* The same byte by byte: at the end of the data, and of very long times. */
static __attribute__((noinline, unused)) uint64_t mars_bits_get_slow(struct mars_bits *bits, unsigned count)
{
    uint64_t value = 0;
    if (bits->at + count > 8 * (uint64_t)bits->bytes) {
        bits->bad = true;
        return 0;
    }
    for (unsigned have = 0; have < count;) {
        unsigned shift = (unsigned)(bits->at & 7), part = 8 - shift < count - have ? 8 - shift : count - have;
        uint64_t byte = bits->data[bits->at >> 3] >> shift & ((1u << part) - 1);
        value |= byte << have;
        have += part;
        bits->at += part;
    }
    return value;
}

static inline uint64_t mars_bits_get(struct mars_bits *bits, unsigned count)
{
    uint64_t value, byte = bits->at >> 3;
    if (__builtin_expect(count > 56 || byte + sizeof value > bits->bytes, 0))
        return mars_bits_get_slow(bits, count);
    memcpy(&value, bits->data + byte, sizeof value);
    value = le64toh(value) >> (bits->at & 7) & (((uint64_t)1 << count) - 1);
    bits->at += count;
    return value;
}

static inline unsigned mars_time_class(uint64_t time)
{
    if (time < 4)
        return (unsigned)time;
    unsigned highest = 63 - (unsigned)__builtin_clzll(time);
    return 4 * (highest - 1) + (unsigned)(time >> (highest - 2) & 3);
}

/* The number of bits behind a class. */
static inline unsigned mars_time_bits(unsigned class)
{
    return class < 4 ? 0 : class / 4 - 1;
}

static inline uint64_t mars_time_of(unsigned class, uint64_t bits)
{
    return class < 4 ? class : (uint64_t)(4 + class % 4) << mars_time_bits(class) | bits;
}
