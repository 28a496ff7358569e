/* held.c - requests that a reader knows by ids that are used once get numbers as marstrace gives them: the
 * lowest that is free.
 */
#include "tools/marsconv/about.h"

#include <stdlib.h>
#include <string.h>

struct by_id {
    uint64_t id;
    uint32_t number;
    bool persistent;
};

struct conv_held {
    struct ker_table ids;
    bool *used; /* by number */
    size_t room;
    size_t lowest; /* no number below it is free */
};

static const struct ker_table_kind ids = KER_TABLE_U64(struct by_id);

struct conv_held *conv_held_new(void)
{
    struct conv_held *held = ker_alloc(sizeof *held);
    held->lowest = 1;
    return held;
}

void conv_held_free(struct conv_held *held)
{
    if (!held)
        return;
    ker_table_release(&held->ids);
    free(held->used);
    free(held);
}

int64_t conv_held_make(struct conv_held *held, uint64_t id, bool persistent)
{
    bool is_new;
    size_t number = held->lowest;
    while (number < held->room && held->used[number])
        number++;
    *TRACE_AT(held->used, held->room, number) = true;
    held->lowest = number + 1;
    *(struct by_id *)ker_table_add(&ids, &held->ids, &id, &is_new) =
        (struct by_id){id, (uint32_t)number, persistent};
    return (int64_t)number;
}

int64_t conv_held_number(const struct conv_held *held, uint64_t id)
{
    const struct by_id *entry = ker_table_find(&ids, &held->ids, &id);
    return entry ? entry->number : 0;
}

void conv_held_done(struct conv_held *held, uint64_t id, bool freed)
{
    struct by_id *entry = ker_table_find(&ids, &held->ids, &id);
    if (!entry || (entry->persistent && !freed))
        return;
    held->used[entry->number] = false;
    held->lowest = entry->number < held->lowest ? entry->number : held->lowest;
    ker_table_drop(&ids, &held->ids, entry);
}
