/* table.c - open addressing with linear probing in a power of two of slots, at most three quarters full;
 * removal closes the gap by shifting back, so that there are no tombstones.
 *
 * An entry's home is named by the upper bits of its hash. Invariant: between an entry and its home no slot is
 * free.
 */
#define _GNU_SOURCE /* qsort_r */
#include "kernel/base/table.h"

#include "kernel/base/error.h"
#include "kernel/base/memory.h"

#include <stdlib.h>

#define FIRST_LOG2 3

static size_t slots_of(const struct ker_table *t)
{
    return t->slot ? (size_t)1 << t->log2 : 0;
}

/* Where an entry goes in a table that does not have its key: a key to compare with may be more than the entry
 * has. */
static char *free_slot(const struct ker_table_kind *kind, const struct ker_table *t, const void *entry)
{
    size_t i = ker_table_home(kind, t, entry), mask = slots_of(t) - 1;
    while (ker_table_used(ker_table_slot(kind, t, i)))
        i = (i + 1) & mask;
    return ker_table_slot(kind, t, i);
}

#define FORGET_BYTES ((size_t)1 << 20)

/* The slots before `i` have been moved. Slots are walked in the order of their new places, so that a large
 * table never takes much more than it will. */
static void slots_forget(const struct ker_table_kind *kind, const struct ker_table *old, size_t *forgotten,
                         size_t i)
{
    if ((i - *forgotten) * kind->bytes < FORGET_BYTES)
        return;
    ker_forget(ker_table_slot(kind, old, *forgotten), (i - *forgotten) * kind->bytes);
    *forgotten = i;
}

/* Moves the entries for which keep() says so (NULL: all) into this many slots. */
static void table_move(const struct ker_table_kind *kind, struct ker_table *t, unsigned log2,
                       bool (*keep)(const void *, const void *), const void *context)
{
    struct ker_table old = *t;
    size_t forgotten = 0;
    ker_assert(log2 < 32 && kind->bytes >= sizeof(uint64_t));
    *t = (struct ker_table){.slot = ker_alloc(kind->bytes << log2), .log2 = (uint8_t)log2};
    for (size_t i = 0; i < slots_of(&old); i++) {
        const char *slot = ker_table_slot(kind, &old, i);
        if (ker_table_used(slot) && (!keep || keep(context, slot))) {
            memcpy(free_slot(kind, t, slot), slot, kind->bytes);
            t->count++;
        }
        slots_forget(kind, &old, &forgotten, i);
    }
    free(old.slot);
}

void ker_table_grow(const struct ker_table_kind *kind, struct ker_table *t)
{
    table_move(kind, t, t->slot ? t->log2 + 1u : FIRST_LOG2, NULL, NULL);
}

void ker_table_keep(const struct ker_table_kind *kind, struct ker_table *t,
                    bool (*keep)(const void *context, const void *entry), const void *context)
{
    unsigned log2 = FIRST_LOG2;
    size_t left = 0;
    for (void *entry = NULL; (entry = ker_table_next(kind, t, entry));)
        left += keep(context, entry);
    while ((size_t)1 << log2 < 4 * (left + 1))
        log2++;
    table_move(kind, t, log2, keep, context);
}

void *ker_table_next(const struct ker_table_kind *kind, const struct ker_table *t, const void *entry)
{
    size_t i = entry ? (size_t)((const char *)entry - t->slot) / kind->bytes + 1 : 0;
    for (; i < slots_of(t); i++)
        if (ker_table_used(ker_table_slot(kind, t, i)))
            return ker_table_slot(kind, t, i);
    return NULL;
}

static int pointer_compare(const void *left, const void *right, void *compare)
{
    int (*entry_compare)(const void *, const void *);
    memcpy(&entry_compare, compare, sizeof entry_compare);
    return entry_compare(*(void *const *)left, *(void *const *)right);
}

void **ker_table_sorted(const struct ker_table_kind *kind, const struct ker_table *t,
                        int (*compare)(const void *, const void *))
{
    void **list = ker_alloc((t->count + (size_t)1) * sizeof *list), **end = list;
    for (void *entry = NULL; (entry = ker_table_next(kind, t, entry));)
        *end++ = entry;
    qsort_r(list, t->count, sizeof *list, pointer_compare, &compare);
    return list;
}

void ker_table_clear(const struct ker_table_kind *kind, struct ker_table *t)
{
    if (t->count)
        memset(t->slot, 0, slots_of(t) * kind->bytes);
    t->count = 0;
}

void ker_table_release(struct ker_table *t)
{
    free(t->slot);
    *t = (struct ker_table){0};
}
