/* map.c - open addressing with linear probing; removal moves later entries back, so that no marks are left.
 */
#include "trc.h"

#include <stdlib.h>

static uint32_t home(const struct trc_map *map, uintptr_t key)
{
    return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (map->size - 1);
}

static struct trc_entry *find(const struct trc_map *map, uintptr_t key)
{
    uint32_t at = home(map, key);
    while (map->entry[at].key && map->entry[at].key != key + 1)
        at = (at + 1) & (map->size - 1);
    return &map->entry[at];
}

uintptr_t trc_map_get(const struct trc_map *map, uintptr_t key)
{
    return map->size ? find(map, key)->value : 0;
}

static bool larger(struct trc_map *map)
{
    struct trc_map old = *map;
    map->size = old.size ? 2 * old.size : 64;
    map->entry = calloc(map->size, sizeof *map->entry);
    if (!map->entry) {
        *map = old;
        return false;
    }
    for (uint32_t i = 0; i < old.size; i++)
        if (old.entry[i].key)
            *find(map, old.entry[i].key - 1) = old.entry[i];
    free(old.entry);
    return true;
}

void trc_map_set(struct trc_map *map, uintptr_t key, uintptr_t value)
{
    if (2 * map->used >= map->size && !larger(map))
        return;
    struct trc_entry *entry = find(map, key);
    map->used += entry->key == 0;
    *entry = (struct trc_entry){key + 1, value};
}

void trc_map_remove(struct trc_map *map, uintptr_t key)
{
    if (!map->size)
        return;
    uint32_t mask = map->size - 1, hole = (uint32_t)(find(map, key) - map->entry), at = hole;
    if (!map->entry[hole].key)
        return;
    map->used--;
    for (;;) {
        map->entry[hole] = (struct trc_entry){0, 0};
        do {
            at = (at + 1) & mask;
            if (!map->entry[at].key)
                return;
        } while (((at - home(map, map->entry[at].key - 1)) & mask) < ((at - hole) & mask));
        map->entry[hole] = map->entry[at];
        hole = at;
    }
}
