/* varint.h - integers of variable length, as the trace format has them: 7 bits a byte, the lowest first, bit
 * 7 says that more follow; signed ones with the sign in the lowest bit ("zigzag").
 *
 * Readers never go beyond the end: they set `bad` and give 0.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MARS_VARINT_MOST 10 /* bytes of one */

static inline uint64_t mars_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ -(uint64_t)(value < 0);
}

static inline int64_t mars_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ -(value & 1));
}

/* Returns where the next byte belongs. There must be room for MARS_VARINT_MOST bytes. */
static inline uint8_t *mars_put(uint8_t *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

static inline uint8_t *mars_put_signed(uint8_t *to, int64_t value)
{
    return mars_put(to, mars_zigzag(value));
}

struct mars_bytes { /* being read */
    const uint8_t *at, *end;
    bool bad;
};

static inline uint64_t mars_get_slow(struct mars_bytes *bytes)
{
    uint64_t value = 0;
    for (unsigned shift = 0; bytes->at < bytes->end && shift < 64; shift += 7) {
        uint8_t byte = *bytes->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    bytes->bad = true;
    bytes->at = bytes->end;
    return 0;
}

static inline uint64_t mars_get(struct mars_bytes *bytes)
{
    if (__builtin_expect(bytes->at < bytes->end && *bytes->at < 0x80, 1))
        return *bytes->at++;
    return mars_get_slow(bytes);
}

static inline int64_t mars_get_signed(struct mars_bytes *bytes)
{
    return mars_unzigzag(mars_get(bytes));
}

/* `count` bytes as they are; NULL when there are fewer. */
static inline const uint8_t *mars_get_bytes(struct mars_bytes *bytes, uint64_t count)
{
    const uint8_t *at = bytes->at;
    if (count > (uint64_t)(bytes->end - at)) {
        bytes->bad = true;
        bytes->at = bytes->end;
        return NULL;
    }
    bytes->at += count;
    return at;
}

/* Fixed lengths, lowest byte first on every machine. */
static inline void mars_store(uint8_t *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static inline uint64_t mars_load(const uint8_t *from, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}
