/* factors.c - shortest paths of a product of networks.
 *
 * In a product, switches have a coordinate for each factor, and a link changes one of them as a link of that
 * factor does, whatever the other coordinates are. Distances are the sums of those in the factors; so a path
 * begins with a link where it begins with its factor's link from coordinate to coordinate. That is searched
 * for in the factors, which are small.
 *
 * Whether a network is a product is looked at link by link, against the lines through switch 0; links that
 * are down, or a shape of another kind, make it none.
 */
#include "routing/tables/factors.h"

#include <stdlib.h>
#include <string.h>

static uint32_t coordinate(const struct route_factors *f, int i, uint32_t switch_id)
{
    return switch_id / f->stride[i] % f->extent[i];
}

/* Which coordinate a link changes, the others being equal; -1: none, or several. */
static int direction(const struct route_factors *f, uint32_t from, uint32_t to)
{
    int found = -1;
    for (int i = 0; i < f->count; i++)
        if (coordinate(f, i, from) != coordinate(f, i, to)) {
            if (found >= 0)
                return -1;
            found = i;
        }
    return found;
}

/* The line of switches through number 0 along a coordinate, as a network of its own. */
static void line_make(struct route_factors *f, int i, const struct route_wires *whole)
{
    struct route_wires *line = &f->wires[i];
    *line = (struct route_wires){.switches = f->extent[i], .endpoints = f->extent[i]};
    line->begin = ker_alloc((line->switches + 1ull) * sizeof *line->begin);
    line->endpoints_at = ker_alloc(line->switches * sizeof *line->endpoints_at);
    line->to = ker_alloc((size_t)line->switches * (whole->most + 1ull) * sizeof *line->to);
    for (uint32_t c = 0; c < line->switches; c++) {
        uint32_t at = c * f->stride[i];
        line->endpoints_at[c] = 1;
        for (uint32_t k = whole->begin[at]; k < whole->begin[at + 1]; k++)
            if (direction(f, at, whole->to[k]) == i)
                line->to[line->links++] = coordinate(f, i, whole->to[k]);
        line->begin[c + 1] = line->links;
    }
}

static bool is_connected(struct route_flood *flood, uint32_t switches)
{
    uint32_t to = 0, seen = 0;
    route_flood_search(flood, &to, 1);
    for (uint32_t s = 0; s < switches; s++)
        seen += route_wide_any(&flood->seen[s]);
    return seen == switches;
}

/* A switch's links are those of its coordinates in the factors, those of each in the same order. */
static bool switch_check(struct route_factors *f, const struct route_wires *whole, uint32_t at)
{
    uint32_t done[ROUTE_FACTORS];
    for (int i = 0; i < f->count; i++)
        done[i] = f->wires[i].begin[coordinate(f, i, at)];
    for (uint32_t k = whole->begin[at]; k < whole->begin[at + 1]; k++) {
        int i = direction(f, at, whole->to[k]);
        if (i < 0 || done[i] == f->wires[i].begin[coordinate(f, i, at) + 1] ||
            f->wires[i].to[done[i]] != coordinate(f, i, whole->to[k]))
            return false;
        f->hop_of[k] = f->first[i] + done[i]++;
    }
    for (int i = 0; i < f->count; i++)
        if (done[i] != f->wires[i].begin[coordinate(f, i, at) + 1])
            return false;
    return true;
}

static bool is_product(struct route_factors *f, const struct route_wires *whole)
{
    for (int i = 0; i < f->count; i++)
        if (!is_connected(&f->flood[i], f->extent[i]))
            return false;
    for (uint32_t at = 0; at < whole->switches; at++)
        if (!switch_check(f, whole, at))
            return false;
    return true;
}

struct route_factors *route_factors_new(const struct route_wires *whole, const uint32_t *extent, int count)
{
    uint64_t switches = 1;
    bool whole_line = count == 0; /* nothing is gained from a single factor */
    for (int i = 0; i < count; i++) {
        switches = switches <= whole->switches ? switches * extent[i] : switches;
        whole_line |= extent[i] == whole->switches;
    }
    if (whole_line || switches != whole->switches)
        return NULL;
    struct route_factors *f = ker_alloc(sizeof *f);
    uint32_t links = 0;
    f->count = count;
    for (int i = 0; i < count; i++) {
        f->extent[i] = extent[i];
        f->stride[i] = i ? f->stride[i - 1] * extent[i - 1] : 1;
    }
    for (int i = 0; i < count; i++) {
        line_make(f, i, whole);
        route_flood_init(&f->flood[i], &f->wires[i], NULL, NULL, NULL);
        f->first[i] = links;
        links += f->wires[i].links;
    }
    f->bytes = (links + 1ull) * sizeof *f->hop;
    f->hop = ker_reserve(f->bytes);
    f->hop_of = ker_alloc((whole->links + 1ull) * sizeof *f->hop_of);
    if (is_product(f, whole))
        return f;
    route_factors_free(f);
    return NULL;
}

void route_factors_free(struct route_factors *f)
{
    if (!f)
        return;
    for (int i = 0; i < f->count; i++) {
        route_flood_release(&f->flood[i]);
        route_wires_release(&f->wires[i]);
    }
    ker_release(f->hop, f->bytes);
    free(f->hop_of);
    free(f);
}

void route_factors_search(struct route_factors *f, struct route_flood *flood, const uint32_t *to,
                          uint32_t count)
{
    uint32_t at[ROUTE_FLOOD_BITS], most_links = 0;
    for (int i = 0; i < f->count; i++) {
        const struct route_wires *line = &f->wires[i];
        for (uint32_t k = 0; k < count; k++)
            at[k] = coordinate(f, i, to[k]);
        route_flood_search(&f->flood[i], at, count);
        for (uint32_t c = 0; c < line->switches; c++)
            for (uint32_t k = line->begin[c]; k < line->begin[c + 1]; k++)
                route_flood_hop(&f->flood[i], c, k, &f->hop[f->first[i] + k]);
        most_links += f->flood[i].most_links;
    }
    flood->count = count;
    flood->hop_of = f->hop_of;
    flood->hop = f->hop;
    flood->most_links = most_links > flood->most_links ? most_links : flood->most_links;
}
