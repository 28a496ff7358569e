/* layout.c - which bytes of a file lie on which server. Kinds of layouts: storage.layout.kind. */
#include "storage/private.h"

/* Stripe after stripe, to each server in turn. */
static uint64_t simple_below(const struct store_layout *layout, uint32_t place, uint64_t offset)
{
    uint64_t row = layout->stripe_size * layout->stripe_count, before = place * layout->stripe_size;
    uint64_t rest = offset % row, own = rest > before ? rest - before : 0;
    return offset / row * layout->stripe_size + (own < layout->stripe_size ? own : layout->stripe_size);
}

const struct ker_kind store_layout_simple = {
    .name = "simple",
    .meaning = "stripes of one size go to the servers in turn, from another first one for each file",
    .operations = &(const struct store_layout_kind){.below = simple_below}};

/* Files of one job have numbers one behind the other, and begin on servers one behind the other. */
static uint32_t first_server(const struct store_layout *layout, uint32_t file)
{
    return file % layout->servers;
}

uint32_t store_layout_server(const struct store_layout *layout, uint32_t file, uint32_t place)
{
    return (uint32_t)(((uint64_t)first_server(layout, file) + place) % layout->servers);
}

uint32_t store_layout_place(const struct store_layout *layout, uint32_t file, uint32_t server)
{
    uint32_t first = first_server(layout, file);
    uint32_t place = server >= first ? server - first : server + layout->servers - first;
    return place < layout->stripe_count ? place : layout->stripe_count;
}

uint64_t store_layout_bytes(const struct store_layout *layout, uint32_t place, const struct store_run *run)
{
    struct store_extents at = {layout, *run, place, 0};
    uint64_t all = 0, offset, bytes;
    while (store_extents_next(&at, &offset, &bytes))
        all += bytes;
    return all;
}

/* What of a piece is at the place. */
static uint64_t piece_at(const struct store_extents *at, uint64_t *offset)
{
    uint64_t begin = at->run.offset + at->piece * at->run.stride;
    *offset = at->layout->kind->below(at->layout, at->place, begin);
    return at->layout->kind->below(at->layout, at->place, begin + at->run.bytes) - *offset;
}

bool store_extents_next(struct store_extents *at, uint64_t *offset, uint64_t *bytes)
{
    *bytes = 0;
    for (; at->piece < at->run.count; at->piece++) {
        uint64_t begin, more = piece_at(at, &begin);
        if (!more)
            continue;
        if (*bytes && begin != *offset + *bytes)
            return true;
        *offset = *bytes ? *offset : begin;
        *bytes += more;
    }
    return *bytes > 0;
}
