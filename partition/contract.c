/* Contraction: which vertices a partition keeps together.
 *
 * Union-find over the edges whose delay is at most a limit; the root of a set is its smallest vertex, so that
 * the cells and their numbers depend on the graph only, never on the order of the edges. Whether a limit is a
 * good one is decided by the caller (metis.c); here is only whether the cells are small enough to balance
 * ranks with them.
 */
#include "partition/parts.h"

#include <stdlib.h>
#include <string.h>

/* Inserts a value into an increasing array without repeats; returns the new count. */
static int insert_delay(ker_time *delay, int count, ker_time value)
{
    int at = 0;
    while (at < count && delay[at] < value)
        at++;
    if (at < count && delay[at] == value)
        return count;
    if (count == PART_MAX_DELAYS)
        return -1;
    memmove(delay + at + 1, delay + at, (size_t)(count - at) * sizeof *delay);
    delay[at] = value;
    return count + 1;
}

int part_graph_delays(const struct part_graph *graph, ker_time delay[PART_MAX_DELAYS])
{
    uint64_t edges = graph->first[graph->vertices];
    int count = 0;
    for (uint64_t e = 0; e < edges; e++) {
        if (e > 0 && graph->delay[e] == graph->delay[e - 1])
            continue; /* the usual case, and what makes this cheap */
        count = insert_delay(delay, count, graph->delay[e]);
        if (count < 0)
            return 0;
    }
    return count;
}

static void join(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = ker_set_root(parent, a);
    b = ker_set_root(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

/* Replaces every root by the number of its cell; returns how many cells there are. */
static uint32_t number_cells(uint32_t *parent, uint32_t vertices)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < vertices; v++)
        parent[v] = ker_set_root(parent, v);
    /* A root is the smallest vertex of its set, so it is always numbered before the others ask for its
     * number. */
    for (uint32_t v = 0; v < vertices; v++)
        parent[v] = parent[v] == v ? count++ : parent[parent[v]];
    return count;
}

void part_cells_init(struct part_cells *cells, const struct part_graph *graph, ker_time limit)
{
    uint32_t *parent = ker_alloc(graph->vertices * sizeof *parent);
    for (uint32_t v = 0; v < graph->vertices; v++)
        parent[v] = v;
    for (uint32_t v = 0; limit > 0 && v < graph->vertices; v++)
        for (uint64_t e = graph->first[v]; e < graph->first[v + 1]; e++)
            if (graph->delay[e] <= limit && graph->to[e] > v)
                join(parent, v, graph->to[e]);
    cells->count = number_cells(parent, graph->vertices);
    cells->cell = parent;
    cells->limit = limit;
}

void part_cells_release(struct part_cells *cells)
{
    free(cells->cell);
    memset(cells, 0, sizeof *cells);
}

bool part_cells_fit(const struct part_cells *cells, const struct part_graph *graph, uint32_t ranks)
{
    if (cells->count < 16 * (uint64_t)ranks)
        return false;
    uint32_t *size = ker_alloc(cells->count * sizeof *size);
    uint32_t largest = 0;
    for (uint32_t v = 0; v < graph->vertices; v++) {
        uint32_t now = ++size[cells->cell[v]];
        if (now > largest)
            largest = now;
    }
    free(size);
    return largest * 16 * (uint64_t)ranks <= graph->vertices;
}
