/* hash.h - hashes for tables: of a number, of bytes.
 *
 * Nothing that can be observed may depend on them: they may differ between machines of other byte orders.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A hash whose upper bits, which tables use, depend on all bits of x. */
static inline uint64_t ker_hash(uint64_t x)
{
    x *= 0x9e3779b97f4a7c15u;
    return (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
}
uint64_t ker_hash_bytes(const void *data, size_t bytes);
