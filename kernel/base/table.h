/* table.h - hash tables: entries of one size, found by a key.
 *
 * A kind of table says how large an entry is, how a key is hashed and when an entry has it. An entry begins
 * with its key, so that the same function hashes both; the first eight bytes of an entry in use are not all
 * zero. (Where a key could be 0, its owner counts it from 1.) A table that is zeroed is empty;
 * ker_table_release frees it.
 *
 * Entries move: a pointer to one is good until the next add, drop or keep. The order in which they lie
 * depends on hashes and on history: nothing that can be observed may depend on it. ker_table_next is for what
 * has no order (sums, freeing); whoever writes, sends or saves entries takes them from ker_table_sorted.
 *
 * The functions are inline and their kind is a constant: hash and comparison cost no call. One access costs
 * about one cache line at up to three quarters full.
 */
#pragma once

#include "kernel/base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ker_table_kind {
    size_t bytes; /* of an entry, at least 8 */
    uint64_t (*hash)(const void *key);
    bool (*same)(const void *entry, const void *key);
};
/* Whose key is the uint64_t that it begins with: KER_TABLE_U64(struct entry). */
#define KER_TABLE_U64(type)                                                                                  \
    {                                                                                                        \
        sizeof(type), ker_table_hash_u64, ker_table_same_u64                                                 \
    }
static inline uint64_t ker_table_key_u64(const void *key) /* entries may be of 12 bytes each */
{
    uint64_t number;
    memcpy(&number, key, sizeof number);
    return number;
}
static inline uint64_t ker_table_hash_u64(const void *key)
{
    return ker_hash(ker_table_key_u64(key));
}
static inline bool ker_table_same_u64(const void *entry, const void *key)
{
    return ker_table_key_u64(entry) == ker_table_key_u64(key);
}

static inline uint64_t ker_table_hash_key(const void *key, size_t bytes)
{
    uint64_t hash = 0, word = 0;
    for (size_t i = 0; i < bytes; i += sizeof word, word = 0) {
        memcpy(&word, (const char *)key + i, bytes - i < sizeof word ? bytes - i : sizeof word);
        hash = ker_hash(hash + word);
    }
    return hash;
}
/* A kind of entries that begin with a key of several fields, `last` the last of them, without padding.
 * storage: static, or nothing. */
#define KER_TABLE_KEY(storage, kind, type, last)                                                             \
    static inline uint64_t kind##_hash(const void *key)                                                      \
    {                                                                                                        \
        return ker_table_hash_key(key, offsetof(type, last) + sizeof((const type *)0)->last);                \
    }                                                                                                        \
    static inline bool kind##_same(const void *entry, const void *key)                                       \
    {                                                                                                        \
        return memcmp(entry, key, offsetof(type, last) + sizeof((const type *)0)->last) == 0;                \
    }                                                                                                        \
    storage const struct ker_table_kind kind = {sizeof(type), kind##_hash, kind##_same}

struct ker_table {
    char *slot;
    uint32_t count; /* entries */
    uint8_t log2;   /* of the slots, when there are any */
};

#define KER_TABLE_INLINE static inline __attribute__((always_inline))

/* Would another entry make the table grow? */
static inline bool ker_table_full(const struct ker_table *t)
{
    return !t->slot || ((uint64_t)t->count + 1) * 4 > (uint64_t)3 << t->log2;
}

/* For the functions below. */
void ker_table_grow(const struct ker_table_kind *, struct ker_table *);
KER_TABLE_INLINE char *ker_table_slot(const struct ker_table_kind *kind, const struct ker_table *t, size_t i)
{
    return t->slot + i * kind->bytes;
}
static inline bool ker_table_used(const void *slot)
{
    uint64_t first;
    memcpy(&first, slot, sizeof first);
    return first != 0;
}
KER_TABLE_INLINE size_t ker_table_home(const struct ker_table_kind *kind, const struct ker_table *t,
                                       const void *key)
{
    return (size_t)(kind->hash(key) >> (64 - t->log2));
}
/* The entry of this key, or the free slot where it belongs. */
KER_TABLE_INLINE void *ker_table_place(const struct ker_table_kind *kind, const struct ker_table *t,
                                       const void *key)
{
    size_t i = ker_table_home(kind, t, key), mask = ((size_t)1 << t->log2) - 1;
    char *slot = ker_table_slot(kind, t, i);
    while (ker_table_used(slot) && !kind->same(slot, key)) {
        i = (i + 1) & mask;
        slot = ker_table_slot(kind, t, i);
    }
    return slot;
}

/* The entry with this key, or NULL. */
KER_TABLE_INLINE void *ker_table_find(const struct ker_table_kind *kind, const struct ker_table *t,
                                      const void *key)
{
    if (t->count == 0)
        return NULL;
    void *slot = ker_table_place(kind, t, key);
    return ker_table_used(slot) ? slot : NULL;
}

/* The entry with this key. *is_new: there was none, and this one is zeroed; the caller writes its key at
 * once. */
KER_TABLE_INLINE void *ker_table_add(const struct ker_table_kind *kind, struct ker_table *t, const void *key,
                                     bool *is_new)
{
    void *slot = t->slot ? ker_table_place(kind, t, key) : NULL;
    *is_new = !slot || !ker_table_used(slot);
    if (*is_new) {
        if (__builtin_expect(ker_table_full(t), 0)) { /* only for one more: what is there needs no room */
            ker_table_grow(kind, t);
            slot = ker_table_place(kind, t, key);
        }
        t->count++;
    }
    return slot;
}

/* Removes an entry, and moves those behind it that its free slot would hide. */
KER_TABLE_INLINE void ker_table_drop(const struct ker_table_kind *kind, struct ker_table *t, void *entry)
{
    size_t hole = (size_t)((char *)entry - t->slot) / kind->bytes, mask = ((size_t)1 << t->log2) - 1;
    for (size_t i = (hole + 1) & mask; ker_table_used(ker_table_slot(kind, t, i)); i = (i + 1) & mask) {
        size_t home = ker_table_home(kind, t, ker_table_slot(kind, t, i));
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            memcpy(ker_table_slot(kind, t, hole), ker_table_slot(kind, t, i), kind->bytes);
            hole = i;
        }
    }
    memset(ker_table_slot(kind, t, hole), 0, kind->bytes);
    t->count--;
}

/* The entry after this one (NULL: the first) in an order that means nothing; NULL: that was the last. */
void *ker_table_next(const struct ker_table_kind *, const struct ker_table *, const void *entry);
/* The addresses of all entries in the order of `compare`, which gets two entries: a malloc'ed array of
 * t->count. */
void **ker_table_sorted(const struct ker_table_kind *, const struct ker_table *,
                        int (*compare)(const void *, const void *));
/* Keeps only the entries for which keep() says so, with slots for four times as many. */
void ker_table_keep(const struct ker_table_kind *, struct ker_table *,
                    bool (*keep)(const void *context, const void *entry), const void *context);
void ker_table_clear(const struct ker_table_kind *, struct ker_table *); /* keeps the slots */
void ker_table_release(struct ker_table *);
