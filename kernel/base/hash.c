/* hash.c - the hash of bytes. */
#include "kernel/base/hash.h"

#include <string.h>

/* Two independent chains: a row of a large routing table is a few hundred bytes. */
uint64_t ker_hash_bytes(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t a = 0x9e3779b97f4a7c15u ^ bytes, b = 0xc2b2ae3d27d4eb4fu, two[2];
    for (; bytes > 0; bytes -= bytes < sizeof two ? bytes : sizeof two, at += sizeof two) {
        if (bytes < sizeof two)
            memset(two, 0, sizeof two);
        memcpy(two, at, bytes < sizeof two ? bytes : sizeof two);
        a = (a ^ two[0]) * 0x9fb21c651e98df25u;
        b = (b ^ two[1]) * 0xd6e8feb86659fd93u;
        a ^= a >> 29;
        b ^= b >> 31;
    }
    return ker_hash(a ^ b ^ a >> 32);
}
