/* phold_engine.h - the model of phold.h in the engine, in any way: components on ranks, in cells, in tiles.
 */
#pragma once

#include "tests/kernel/phold.h"

static uint32_t phold_rank(const struct phold_rules *rules, const struct phold_way *way, uint32_t component,
                           int ranks)
{
    uint32_t spread = (uint32_t)(way->spread && way->spread < ranks ? way->spread : ranks);
    if (way->rows)
        return (uint32_t)((uint64_t)component / PHOLD_BOARD * spread / phold_boards(rules));
    return (way->scattered ? component : component / PHOLD_BOARD) % spread;
}

/* Gives every component its place; returns the length of this rank's index space. */
static uint32_t phold_place(struct phold *w, const struct phold_way *way, int rank, int ranks)
{
    uint32_t n = w->rules.components, *next = ker_alloc(sizeof *next * (size_t)ranks);
    uint32_t cell = way->boards || way->tiles ? PHOLD_BOARD : 1,
             block = way->tiles ? PHOLD_BLOCK : ker_engine_block(cell), boards = (n + cell - 1) / cell;
    w->address = ker_alloc(sizeof *w->address * n);
    for (uint32_t k = 0; k < boards; k++) {
        uint32_t first = (way->reversed ? boards - 1 - k : k) * cell,
                 r = phold_rank(&w->rules, way, first, ranks);
        next[r] = ker_engine_place(next[r], cell, block);
        for (uint32_t i = first; i < first + cell && i < n; i++)
            w->address[i] = (struct ker_address){next[r]++, r};
    }
    uint32_t length = next[rank];
    free(next);
    return length ? length : 1;
}

/* To whom this rank sends, and how long that takes at least. */
static uint32_t phold_channels(const struct phold *w, const struct phold_way *way, uint32_t rank, int ranks,
                               struct ker_channel *channel)
{
    const struct phold_rules *rules = &w->rules;
    uint32_t count = 0;
    for (uint32_t r = 0; r < (uint32_t)ranks; r++) {
        ker_time least = KER_TIME_MAX;
        for (uint32_t i = 0; i < rules->components; i++)
            for (uint32_t k = 0; w->address[i].rank == rank && k < rules->components; k++)
                if (w->address[k].rank == r && phold_reaches(rules, i, k))
                    least =
                        ker_time_min(least, i / PHOLD_BOARD == k / PHOLD_BOARD ? PHOLD_SHORT : PHOLD_LONG);
        if (r != rank && least != KER_TIME_MAX)
            channel[count++] = (struct ker_channel){r, way->shrink ? least / way->shrink : least};
    }
    return count;
}

/* Which tiles of a row others than their neighbours reach. */
static void phold_open(const struct phold *w, const uint32_t *tile, uint32_t rank, bool *open)
{
    for (uint32_t i = 0; i < w->rules.components; i++)
        for (uint32_t k = 0; w->address[i].rank == rank && k < w->rules.components; k++) {
            struct ker_address to = w->address[k];
            uint32_t own = tile[w->address[i].index / PHOLD_BLOCK];
            if (!phold_reaches(&w->rules, i, k) && !phold_reaches(&w->rules, k, i))
                continue;
            uint32_t other = to.rank == rank ? tile[to.index / PHOLD_BLOCK] : UINT32_MAX;
            open[own] |= own > other + 1 || other > own + 1;
        }
}

/* Tiles are not of consecutive blocks, but where they are in a row. */
static struct ker_tiles phold_tiles(const struct phold *w, const struct phold_way *way, uint32_t rank,
                                    uint32_t length)
{
    static uint32_t tile[1000];
    static bool open[1000];
    uint32_t blocks = length / PHOLD_BLOCK + 1, count = way->tiles ? blocks / way->tiles + 1 : 0;
    ker_assert(blocks <= 1000 && count <= 1000);
    memset(open, 0, sizeof open);
    for (uint32_t b = 0; b < blocks && count; b++)
        tile[b] = way->row ? b / way->tiles : b % count;
    if (way->row)
        phold_open(w, tile, rank, open);
    return (struct ker_tiles){tile, count, PHOLD_LONG, PHOLD_BLOCK, way->row ? open : NULL, true};
}

/* The components of this rank, in an engine that is to be run. */
static void phold_build(struct phold *w, const struct phold_way *way, int rank, int ranks)
{
    int shrink = way->shrink ? way->shrink : 1;
    uint32_t length = phold_place(w, way, rank, ranks);
    struct ker_channel *channel = ker_alloc(sizeof *channel * (size_t)ranks);
    struct ker_engine_setup setup = {
        .comm = w->comm,
        .components = length,
        .largest_cell = way->boards ? PHOLD_BOARD : 1,
        .tiles = phold_tiles(w, way, (uint32_t)rank, length),
        .lookahead = (way->boards ? PHOLD_LONG : PHOLD_SHORT) / shrink,
        .channel = channel,
        .channels = phold_channels(w, way, (uint32_t)rank, ranks, channel),
        .reach = 8 * PHOLD_LONG,
        .end = w->rules.end,
        .check_interval = {w->rules.check_interval[0], w->rules.check_interval[1]},
        .check_every = {true, true},
        .order = way->order,
        .seed = 3,
        .hosts = way->hosts,
        .part_bytes = way->part,
        .yield = true,
        .check = phold_check,
        .context = w};
    w->engine = ker_engine_new(&setup);
    free(channel);
    for (uint32_t i = 0; i < w->rules.components; i++)
        if (w->address[i].rank == (uint32_t)rank)
            ker_engine_set(w->engine, w->address[i].index, &phold_class, &w->component[i],
                           !way->boards || i % PHOLD_BOARD == 0);
    for (uint32_t i = 0; i < w->rules.components; i++)
        if (w->address[i].rank == (uint32_t)rank)
            phold_start(w, i);
}

static struct phold_result phold_run(const struct phold_rules *rules, const struct phold_way *way,
                                     struct ker_comm *comm, struct ker_counts *counts)
{
    struct phold w;
    struct phold_result result;
    int rank = ker_comm_rank(comm);
    ker_assert(!way->boards || !way->scattered);
    phold_init(&w, rules);
    w.comm = comm;
    phold_build(&w, way, rank, ker_comm_size(comm));
    result.why = ker_engine_run(w.engine, &result.at);
    uint64_t sum[2] = {phold_digest(&w, rank), w.arrived};
    ker_comm_sum_u64(comm, sum, 2);
    result.digest = sum[0];
    result.arrived = sum[1];
    result.checks = w.checks;
    if (counts)
        *counts = *ker_engine_counts(w.engine);
    ker_engine_free(w.engine);
    free(w.address);
    free(w.component);
    return result;
}
