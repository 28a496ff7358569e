/* Boxes of a torus or mesh, and rings folded into them.
 *
 * Two dimensions fold into one ring: the places 1 to n - 1 of the inner one are gone through to and fro, once
 * for each place of the outer one, and its place 0 leads back. The last place before that has to be next to
 * 0: when the outer extent is even it is place 1, and else n - 1, which is so in a ring. Of two open lines of
 * which only the inner extent is even, they change places. Two odd ones have no ring at all: they have more
 * switches of one colour than of the other. More dimensions: the ring of the inner ones is the inner
 * dimension of the next.
 *
 * Cost: 32 bytes for each switch of the box, and a byte for each node of the system.
 */
#include "tasks/jobs/fold.h"

#include "tasks/jobs/placement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

struct task_fold {
    int grid, dimensions; /* dimensions of the network, and of the job's torus */
    uint32_t extent[MOST], box[MOST], shape[MOST];
    bool ring[MOST]; /* is the dimension of the network one? */
    uint32_t each;   /* nodes of a switch */
};

/* ---- the network ---- */

static uint32_t position_of(const struct task_fold *f, const uint32_t *at)
{
    uint32_t position = 0;
    for (int i = f->grid - 1; i >= 0; i--)
        position = position * f->extent[i] + at[i];
    return position;
}

/* Are the first and the last place of a dimension neighbours? */
static bool ring_closed(const struct task_fold *f, const struct route_topology *topology, int dimension)
{
    uint32_t at[MOST] = {0}, adapters = route_summarise(topology)->adapters;
    at[dimension] = f->extent[dimension] - 1;
    return f->extent[dimension] > 1 &&
           route_distance(topology, 0, position_of(f, at) * f->each * adapters) == 3;
}

/* ---- which box ---- */

/* How a ring of two folded dimensions comes to be: see above. */
enum folding { FOLD_NONE, FOLD_INNER, FOLD_OUTER };

static enum folding folding_of(uint32_t outer, uint32_t inner, bool closed)
{
    return closed || outer % 2 == 0 ? FOLD_INNER : inner % 2 == 0 ? FOLD_OUTER : FOLD_NONE;
}

static bool line_closed(const struct task_fold *f, int dimension)
{
    uint32_t size = f->box[dimension];
    return size <= 2 || (size == f->extent[dimension] && f->ring[dimension]);
}

/* The innermost of the dimensions that make one of the job's. */
static int innermost(const struct task_fold *f, int which)
{
    return which + (f->grid - 1 - which) / f->dimensions * f->dimensions;
}

/* Do the dimensions that make one of the job's close to a ring in f->box? */
static bool box_closes(const struct task_fold *f, int which)
{
    uint32_t size = 1;
    bool closed = true;
    for (int i = innermost(f, which); i >= 0; i -= f->dimensions) {
        if (f->box[i] == 1)
            continue;
        closed = size == 1 ? line_closed(f, i) : folding_of(f->box[i], size, closed) != FOLD_NONE;
        size *= f->box[i];
    }
    return closed;
}

/* Tries all extents of the dimensions from i on inwards whose product is `left`; keeps the best in `best`. */
static void box_search(struct task_fold *f, int which, int i, uint32_t left, double sum, double *least,
                       uint32_t *best)
{
    if (i >= f->grid) {
        if (left > 1 || sum >= *least || !box_closes(f, which))
            return;
        *least = sum;
        memcpy(best, f->box, sizeof f->box);
        return;
    }
    for (uint32_t size = 1; size <= f->extent[i] && size <= left; size++)
        if (left % size == 0) {
            f->box[i] = size;
            /* of the same sum the one that takes more of the short dimensions */
            box_search(f, which, i + f->dimensions, left / size, sum + size * (1 + 1e-12 * f->extent[i]),
                       least, best);
        }
}

static enum ker_status box_choose(struct task_fold *f, const struct ker_config *config, const char *key,
                                  struct ker_error *error)
{
    uint32_t best[MOST] = {0};
    for (int which = 0; which < f->dimensions; which++) {
        double least = INFINITY;
        box_search(f, which, which, f->shape[which], 0, &least, best);
        if (isinf(least)) {
            char extents[MOST * 12] = "";
            for (int i = which; i < f->grid; i += f->dimensions)
                snprintf(extents + strlen(extents), 12, "%s%u", i > which ? " x " : "", f->extent[i]);
            return ker_config_fail(
                config, error, key,
                "no ring of %u fits into %s of the network: it has to be one of its rings, an even "
                "box of several dimensions, or an odd one with a whole ring in it",
                f->shape[which], extents);
        }
        for (int i = which; i < f->grid; i += f->dimensions)
            f->box[i] = best[i];
    }
    return KER_OK;
}

static enum ker_status shape_read(struct task_fold *f, const struct ker_config *config, const char *key,
                                  struct ker_error *error)
{
    f->dimensions = ker_config_count(config, key);
    if (f->dimensions < 1 || f->dimensions > f->grid)
        return ker_config_fail(config, error, key,
                               "has %d dimensions; 1 to %d are possible, as the network has", f->dimensions,
                               f->grid);
    for (int i = 0; i < f->dimensions; i++)
        f->shape[i] = (uint32_t)ker_config_int_at(config, key, i);
    return KER_OK;
}

enum ker_status task_fold_read(struct task_fold **fold, const struct ker_config *config, uint32_t job,
                               const struct task_allocation *a, struct ker_error *error)
{
    struct task_fold *f = *fold = ker_alloc(sizeof *f);
    const char *key = KER_KEY("jobs[%u].shape", job);
    f->grid = a->topology ? route_grid(a->topology, f->extent) : 0;
    if (f->grid == 0)
        return ker_config_fail(config, error, key, "means nothing here: the network is no torus or mesh");
    enum ker_status status = shape_read(f, config, key, error);
    if (status)
        return status;
    uint32_t positions = 1;
    for (int i = 0; i < f->grid; i++)
        positions *= f->extent[i];
    f->each = a->hosts / positions;
    if (f->each * positions != a->hosts)
        return ker_config_fail(config, error, key, "is for networks with a node or more at each switch");
    for (int i = 0; i < f->grid; i++)
        f->ring[i] = ring_closed(f, a->topology, i);
    return box_choose(f, config, key, error);
}

/* ---- folding ---- */

/* A place of the box, by its coordinates in the network's dimensions. */
struct spot {
    uint32_t at[MOST];
};

static void spot_put(struct spot *ring, uint32_t *count, const struct spot *inner, int dimension,
                     uint32_t outer)
{
    ring[*count] = *inner;
    ring[(*count)++].at[dimension] = outer;
}

/* The ring `inner` of n places and one more dimension of m. */
static void ring_fold(struct spot *ring, const struct spot *inner, uint32_t n, int dimension, uint32_t m,
                      bool closed)
{
    uint32_t count = 0;
    if (folding_of(m, n, closed) == FOLD_INNER) {
        for (uint32_t x = 0; x < m; x++)
            for (uint32_t i = 1; i < n; i++)
                spot_put(ring, &count, &inner[x % 2 ? n - i : i], dimension, x);
        for (uint32_t x = m; x-- > 0;)
            spot_put(ring, &count, &inner[0], dimension, x);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t x = 1; x < m; x++)
            spot_put(ring, &count, &inner[i], dimension, i % 2 ? m - x : x);
    for (uint32_t i = n; i-- > 0;)
        spot_put(ring, &count, &inner[i], dimension, 0);
}

/* Begins where the closing step is in dimension `first`, if one is. Dimension order takes that first, so that
 * steps round the ring and on in the next dimension, as a ring of all tasks has them, share no links. */
static void ring_turn(struct spot *ring, uint32_t size, int first)
{
    uint32_t begin = 0;
    while (begin < size && ring[begin].at[first] == ring[(begin + size - 1) % size].at[first])
        begin++;
    if (begin == 0 || begin == size)
        return;
    struct spot *old = ker_alloc(size * sizeof *old);
    memcpy(old, ring, size * sizeof *old);
    for (uint32_t i = 0; i < size; i++)
        ring[i] = old[(begin + i) % size];
    free(old);
}

/* The places of one of the job's dimensions in their order; malloc'ed. */
static struct spot *ring_make(const struct task_fold *f, int which)
{
    uint32_t size = 1;
    bool closed = true;
    struct spot *ring = ker_alloc(sizeof *ring);
    for (int i = innermost(f, which); i >= 0; i -= f->dimensions) {
        uint32_t outer = f->box[i];
        if (outer == 1)
            continue;
        struct spot *longer = ker_alloc((size_t)size * outer * sizeof *longer);
        for (uint32_t x = 0, count = 0; x < outer && size == 1; x++)
            spot_put(longer, &count, ring, i, x);
        if (size > 1)
            ring_fold(longer, ring, size, i, outer, closed);
        closed = size > 1 || line_closed(f, i);
        free(ring);
        ring = longer;
        size *= outer;
    }
    ring_turn(ring, size, which);
    return ring;
}

/* Positions of the box in the job's order, from a corner at 0; malloc'ed. */
static struct spot *box_list(const struct task_fold *f, uint32_t *count)
{
    *count = 1;
    struct spot *list = ker_alloc(sizeof *list);
    for (int which = 0; which < f->dimensions; which++) {
        struct spot *ring = ring_make(f, which);
        struct spot *more = ker_alloc((size_t)*count * f->shape[which] * sizeof *more);
        for (uint32_t i = 0; i < *count * f->shape[which]; i++)
            for (int k = 0; k < f->grid; k++)
                more[i].at[k] = list[i % *count].at[k] + ring[i / *count].at[k];
        free(list);
        free(ring);
        list = more;
        *count *= f->shape[which];
    }
    return list;
}

/* ---- where ---- */

/* The position of a place when the box's corner is there. */
static uint32_t spot_position(const struct task_fold *f, const uint32_t *corner, const struct spot *spot)
{
    uint32_t at[MOST] = {0};
    for (int i = 0; i < f->grid; i++)
        at[i] = (corner[i] + spot->at[i]) % f->extent[i];
    return position_of(f, at);
}

static bool corner_fits(const struct task_fold *f, const uint8_t *taken, const uint32_t *corner,
                        const struct spot *list, uint32_t count)
{
    for (int i = 0; i < f->grid; i++)
        if (corner[i] + f->box[i] > f->extent[i] && !f->ring[i])
            return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t position = spot_position(f, corner, &list[i]);
        for (uint32_t n = 0; n < f->each; n++)
            if (taken[position * f->each + n])
                return false;
    }
    return true;
}

static bool corner_next(const struct task_fold *f, uint32_t *corner)
{
    for (int i = 0; i < f->grid; i++) {
        if (++corner[i] < f->extent[i])
            return true;
        corner[i] = 0;
    }
    return false;
}

static void fold_why(const struct task_fold *f, char *why)
{
    int used = snprintf(why, TASK_ALLOCATION_WHY, "no box of ");
    for (int i = 0; i < f->grid; i++)
        used += snprintf(why + used, TASK_ALLOCATION_WHY - (size_t)used, "%s%u", i ? "x" : "", f->box[i]);
    snprintf(why + used, TASK_ALLOCATION_WHY - (size_t)used, " switches is free");
}

void task_fold_place(const struct task_allocation *a, struct task_placement *p, char *why)
{
    const struct task_fold *f = p->fold;
    uint32_t corner[MOST] = {0}, count;
    struct spot *list = box_list(f, &count);
    uint8_t *taken = ker_alloc(a->hosts);
    memset(taken, 1, a->hosts);
    for (uint32_t i = 0; i < p->listed; i++)
        taken[p->list[i]] = 0;
    bool fits;
    do
        fits = corner_fits(f, taken, corner, list, count);
    while (!fits && corner_next(f, corner));
    p->listed = 0;
    for (uint32_t i = 0; i < count && fits; i++) {
        uint32_t position = spot_position(f, corner, &list[i]);
        for (uint32_t n = 0; n < f->each; n++)
            p->list[p->listed++] = position * f->each + n;
    }
    if (!fits)
        fold_why(f, why);
    free(taken);
    free(list);
}
