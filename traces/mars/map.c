/* map.c - maps of datatypes, and their bytes in a trace: see map.h. */
#include "traces/mars/map.h"

#include <stdlib.h>
#include <string.h>

#define FAR ((int64_t)1 << 60) /* no offset or end is beyond: sums do not overflow */

/* Modulo 2^64: offsets of a view that nobody has looked at yet may be anywhere. */
bool mars_map_join(struct mars_map_run *last, const struct mars_map_run *next)
{
    uint64_t step = (uint64_t)next->offset - (uint64_t)last->offset;
    if (last->outer > 1 || next->outer > 1)
        return false;
    if (last->count == 1 && next->count == 1 && step == last->bytes) {
        last->bytes += next->bytes;
        return true;
    }
    if (last->bytes != next->bytes)
        return false;
    if (last->count == 1) {
        if (next->count > 1 && next->stride != (int64_t)step)
            return false;
        last->stride = (int64_t)step;
    } else if (step != last->count * (uint64_t)last->stride ||
               (next->count > 1 && next->stride != last->stride)) {
        return false;
    }
    last->count += next->count;
    return true;
}

bool mars_map_add(struct mars_map *map, const struct mars_map_run *run)
{
    if (run->bytes == 0 || run->count == 0 || run->outer == 0)
        return true;
    if (map->runs && mars_map_join(&map->run[map->runs - 1], run))
        return true;
    if (map->runs == MARS_MAP_MOST)
        return false;
    if (map->runs == map->room) {
        uint32_t room = map->room ? 2 * map->room : 4;
        struct mars_map_run *larger = realloc(map->run, room * sizeof *larger);
        if (!larger)
            return false;
        map->run = larger;
        map->room = room;
    }
    map->run[map->runs++] = *run;
    return true;
}

bool mars_map_append(struct mars_map *map, const struct mars_map *other, int64_t shift)
{
    for (uint32_t i = 0; i < other->runs; i++) {
        struct mars_map_run run = other->run[i];
        run.offset += shift;
        if (!mars_map_add(map, &run))
            return false;
    }
    return true;
}

/* One run remains one; false: it cannot. */
static bool run_repeat(struct mars_map_run *r, uint64_t count, int64_t stride)
{
    if (r->count == 1 && r->outer == 1 && stride == (int64_t)r->bytes) {
        r->bytes *= count;
    } else if (r->count == 1 && r->outer == 1) {
        r->count = count;
        r->stride = stride;
    } else if (r->outer == 1 && stride == (int64_t)r->count * r->stride) {
        r->count *= count;
    } else if (r->outer == 1) {
        r->outer = count;
        r->outer_stride = stride;
    } else if (stride == (int64_t)r->outer * r->outer_stride) {
        r->outer *= count;
    } else {
        return false;
    }
    return true;
}

bool mars_map_repeat(struct mars_map *map, uint64_t count, int64_t stride)
{
    if (count == 0)
        map->runs = 0;
    if (count <= 1 || map->runs == 0 || (map->runs == 1 && run_repeat(map->run, count, stride)))
        return true;
    if (count > MARS_MAP_MOST)
        return false;
    struct mars_map one = *map;
    *map = (struct mars_map){0};
    bool fine = true;
    for (uint64_t i = 0; i < count && fine; i++)
        fine = mars_map_append(map, &one, (int64_t)i * stride);
    mars_map_release(&one);
    return fine;
}

void mars_map_release(struct mars_map *map)
{
    free(map->run);
    *map = (struct mars_map){0};
}

uint8_t *mars_map_put(uint8_t *to, const struct mars_map *map)
{
    int64_t last = 0;
    to = mars_put(to, map->runs);
    for (uint32_t i = 0; i < map->runs; i++) {
        const struct mars_map_run *r = &map->run[i];
        to = mars_put_signed(to, r->offset - last);
        to = mars_put(mars_put(to, r->bytes), r->count);
        to = mars_put_signed(to, r->count > 1 ? r->stride : 0);
        to = mars_put(to, r->outer);
        to = mars_put_signed(to, r->outer > 1 ? r->outer_stride : 0);
        last = r->offset;
    }
    return to;
}

/* Does `count` times a step stay near? */
static bool near(uint64_t count, int64_t step)
{
    return step > -FAR && step < FAR && count <= (uint64_t)FAR &&
           (step == 0 || count <= (uint64_t)(FAR / (step < 0 ? -step : step)));
}

static bool run_get(struct mars_map_run *r, int64_t last, struct mars_bytes *from)
{
    int64_t step = mars_get_signed(from);
    if (!near(1, step) || !near(1, last))
        return false;
    r->offset = last + step;
    r->bytes = mars_get(from);
    r->count = mars_get(from);
    r->stride = mars_get_signed(from);
    r->outer = mars_get(from);
    r->outer_stride = mars_get_signed(from);
    return !from->bad && near(1, r->offset) && r->bytes && r->count && r->outer && near(r->bytes, 1) &&
           near(r->count, r->stride) && near(r->outer, r->outer_stride) &&
           near(r->count, (int64_t)r->bytes) && near(r->outer, (int64_t)(r->count * r->bytes));
}

bool mars_map_get(struct mars_map *map, struct mars_bytes *from)
{
    uint64_t runs = mars_get(from);
    int64_t last = 0;
    *map = (struct mars_map){0};
    if (runs > MARS_MAP_MOST)
        return false;
    for (uint64_t i = 0; i < runs; i++) {
        struct mars_map_run run;
        if (!run_get(&run, last, from) || !mars_map_add(map, &run))
            return false;
        last = run.offset;
    }
    return true;
}
