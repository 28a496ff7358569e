/* typemap.c - the map of a datatype that a view of a file has: MPI is asked what the datatype was made of.
 *
 * A datatype whose map has too many runs has none in the trace: who needs it says so.
 */
#include "trc.h"

#include <stdlib.h>

static bool map_make(MPI_Datatype, struct mars_map *);

/* What MPI_Type_get_contents says. */
struct contents {
    int combiner, integers, addresses, types;
    int *integer;
    MPI_Aint *address;
    MPI_Datatype *type;
};

/* `length` elements of a datatype, one behind the other, at each of the places. */
struct blocks {
    int count;
    int64_t stride; /* from one to the next, where there are no places */
    const int *length, *element;
    const MPI_Aint *byte;
    int one; /* length: of each */
};

static int64_t extent_of(MPI_Datatype type)
{
    MPI_Aint lower = 0, extent = 0;
    PMPI_Type_get_extent(type, &lower, &extent);
    return extent;
}

static bool block_add(MPI_Datatype type, int length, int64_t place, struct mars_map *map)
{
    struct mars_map block = {0};
    bool fine = map_make(type, &block) && mars_map_repeat(&block, (uint64_t)length, extent_of(type)) &&
                mars_map_append(map, &block, place);
    mars_map_release(&block);
    return fine;
}

static bool blocks_add(MPI_Datatype type, const struct blocks *b, struct mars_map *map)
{
    int64_t extent = extent_of(type);
    bool fine = true;
    if (!b->element && !b->byte)
        return block_add(type, b->one, 0, map) && mars_map_repeat(map, (uint64_t)b->count, b->stride);
    for (int i = 0; i < b->count && fine; i++)
        fine = block_add(type, b->length ? b->length[i] : b->one,
                         b->byte ? b->byte[i] : b->element[i] * extent, map);
    return fine;
}

static bool struct_add(const struct contents *c, struct mars_map *map)
{
    bool fine = true;
    for (int i = 0; i < c->integer[0] && fine; i++)
        fine = block_add(c->type[i], c->integer[i + 1], c->address[i], map);
    return fine;
}

/* Sizes of the array, of the part, and where that begins; then the order. */
static bool subarray_add(const struct contents *c, struct mars_map *map)
{
    int dims = c->integer[0];
    const int *size = c->integer + 1, *part = size + dims, *first = part + dims;
    bool fortran = c->integer[1 + 3 * dims] == MPI_ORDER_FORTRAN, fine = map_make(c->type[0], map);
    int64_t stride = extent_of(c->type[0]), place = 0;
    for (int i = 0; i < dims && fine; i++) {
        int d = fortran ? i : dims - 1 - i;
        place += first[d] * stride;
        fine = mars_map_repeat(map, (uint64_t)part[d], stride);
        stride *= size[d];
    }
    for (uint32_t i = 0; i < map->runs; i++)
        map->run[i].offset += place;
    return fine;
}

/* In one dimension of a distributed array: blocks of `block` elements, of which each procs-th is here. */
static bool dealt_add(struct mars_map *map, int64_t size, int64_t block, int64_t procs, int64_t coord,
                      int64_t stride)
{
    int64_t first = coord * block, step = procs * block,
            whole = first + block <= size ? (size - first - block) / step + 1 : 0,
            rest = size - first - whole * step;
    struct mars_map one = *map, full = {0}, part = {0};
    *map = (struct mars_map){0};
    bool fine = mars_map_append(&full, &one, 0) && mars_map_repeat(&full, (uint64_t)block, stride) &&
                mars_map_repeat(&full, (uint64_t)whole, step * stride) &&
                mars_map_append(map, &full, first * stride);
    if (fine && rest > 0)
        fine = mars_map_append(&part, &one, 0) && mars_map_repeat(&part, (uint64_t)rest, stride) &&
               mars_map_append(map, &part, (first + whole * step) * stride);
    mars_map_release(&one);
    mars_map_release(&full);
    mars_map_release(&part);
    return fine;
}

/* Processes and which of them this is; dimensions; of each its size, distribution, argument and processes,
 * among which the first dimension's are farthest apart; the order. */
static bool darray_add(const struct contents *c, struct mars_map *map)
{
    int dims = c->integer[2], procs = c->integer[0], rank = c->integer[1];
    const int *size = c->integer + 3, *how = size + dims, *argument = how + dims, *grid = argument + dims;
    bool fortran = c->integer[3 + 4 * dims] == MPI_ORDER_FORTRAN, fine = map_make(c->type[0], map);
    int64_t extent = extent_of(c->type[0]);
    for (int i = 0; i < dims && fine; i++) {
        int d = fortran ? i : dims - 1 - i, apart = procs;
        int64_t stride = extent, block = argument[d];
        for (int j = 0; j <= d; j++)
            apart /= grid[j];
        for (int j = 0; j < i; j++)
            stride *= size[fortran ? j : dims - 1 - j];
        if (argument[d] == MPI_DISTRIBUTE_DFLT_DARG)
            block = how[d] == MPI_DISTRIBUTE_BLOCK ? (size[d] + grid[d] - 1) / grid[d] : 1;
        bool all = how[d] == MPI_DISTRIBUTE_NONE;
        fine = dealt_add(map, size[d], all ? size[d] : block, all ? 1 : grid[d],
                         all ? 0 : rank / apart % grid[d], stride);
    }
    return fine;
}

static bool combined(const struct contents *c, struct mars_map *map)
{
    const int *n = c->integer;
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        return map_make(c->type[0], map);
    case MPI_COMBINER_CONTIGUOUS:
        return block_add(c->type[0], n[0], 0, map);
    case MPI_COMBINER_VECTOR:
        return blocks_add(
            c->type[0], &(struct blocks){.count = n[0], .stride = n[2] * extent_of(c->type[0]), .one = n[1]},
            map);
    case MPI_COMBINER_HVECTOR:
        return blocks_add(c->type[0], &(struct blocks){.count = n[0], .stride = c->address[0], .one = n[1]},
                          map);
    case MPI_COMBINER_INDEXED:
        return blocks_add(c->type[0],
                          &(struct blocks){.count = n[0], .length = n + 1, .element = n + 1 + n[0]}, map);
    case MPI_COMBINER_HINDEXED:
        return blocks_add(c->type[0], &(struct blocks){.count = n[0], .length = n + 1, .byte = c->address},
                          map);
    case MPI_COMBINER_INDEXED_BLOCK:
        return blocks_add(c->type[0], &(struct blocks){.count = n[0], .one = n[1], .element = n + 2}, map);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return blocks_add(c->type[0], &(struct blocks){.count = n[0], .one = n[1], .byte = c->address}, map);
    case MPI_COMBINER_STRUCT:
        return struct_add(c, map);
    case MPI_COMBINER_SUBARRAY:
        return subarray_add(c, map);
    case MPI_COMBINER_DARRAY:
        return darray_add(c, map);
    default:
        return false;
    }
}

static bool is_named(MPI_Datatype type)
{
    int integers, addresses, types, combiner = MPI_COMBINER_NAMED;
    return PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS ||
           combiner == MPI_COMBINER_NAMED;
}

static bool contents_get(MPI_Datatype type, struct contents *c)
{
    if (PMPI_Type_get_envelope(type, &c->integers, &c->addresses, &c->types, &c->combiner) != MPI_SUCCESS)
        return false;
    c->integer = calloc((size_t)c->integers + 1, sizeof *c->integer);
    c->address = calloc((size_t)c->addresses + 1, sizeof *c->address);
    c->type = calloc((size_t)c->types + 1, sizeof *c->type);
    return c->integer && c->address && c->type && c->types > 0 &&
           PMPI_Type_get_contents(type, c->integers, c->addresses, c->types, c->integer, c->address,
                                  c->type) == MPI_SUCCESS;
}

static bool map_make(MPI_Datatype type, struct mars_map *map)
{
    struct contents c = {0};
    if (is_named(type)) { /* pairs of MPI_MINLOC are taken as contiguous */
        int size = 0;
        PMPI_Type_size(type, &size);
        return mars_map_add(map, &(struct mars_map_run){.bytes = (uint64_t)size, .count = 1, .outer = 1});
    }
    bool got = contents_get(type, &c), fine = got && combined(&c, map);
    for (int i = 0; i < c.types && got; i++)
        if (!is_named(c.type[i]))
            PMPI_Type_free(&c.type[i]);
    free(c.integer);
    free(c.address);
    free(c.type);
    return fine;
}

void trc_map_define(uint32_t number, MPI_Datatype type)
{
    struct mars_map map = {0};
    uint8_t *data = map_make(type, &map) ? malloc((map.runs + (size_t)1) * MARS_MAP_RUN_BYTES) : NULL;
    if (data) {
        uint8_t *end = mars_map_put(mars_put(data, number), &map);
        trc_define(MARS_DEFINE_MAP, data, (size_t)(end - data));
    }
    free(data);
    mars_map_release(&map);
}
