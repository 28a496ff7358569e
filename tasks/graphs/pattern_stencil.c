/* A halo exchange: a calculation, then a receive from and a send to each neighbour, and again. Not one of
 * schedgen's.
 *
 * Task t = x0 + e0 (x1 + e1 (x2 + ...)): the first coordinate runs fastest. Neighbours are in the order of
 * the dimensions, the last first, the lower one before the upper one. A tag is 8 times the step and the
 * direction in which the message is sent, so that two messages between the same tasks are distinguished.
 */
#include "tasks/graphs/pattern.h"
#include "tasks/programs/programs.h"

#include <math.h>
#include <stdlib.h>

#define MOST_DIMENSIONS 4

struct grid {
    struct task_grid of;
    uint32_t stride[MOST_DIMENSIONS];
    bool periodic;
    uint64_t calculation; /* picoseconds */
};

static enum ker_status stencil_open(struct graph_pattern *p, const struct ker_config *config,
                                    const char *path, uint64_t seed, struct ker_error *error)
{
    struct grid *g = p->own = ker_alloc(sizeof *g);
    static const struct task_grid_form form = {1, MOST_DIMENSIONS, "for example [16, 16, 16] for 4096 tasks",
                                               "1 to 4 dimensions are possible"};
    int32_t tasks = 0;
    enum ker_status status = task_grid_read(&g->of, &tasks, config, KER_KEY("%s.sides", path), &form, error);
    for (uint32_t d = 0; d < g->of.dimensions; d++)
        g->stride[d] = d ? g->stride[d - 1] * g->of.extent[d - 1] : 1;
    p->tasks = (uint32_t)tasks;
    g->periodic = ker_config_bool(config, KER_KEY("%s.grid_periodic", path));
    p->rounds = (uint32_t)ker_config_int(config, KER_KEY("%s.timesteps", path));
    const char *key = KER_KEY("%s.timestep", path);
    double time = (double)ker_config_time(config, key) * p->factor;
    if (status == KER_OK && time > (double)(KER_TIME_MAX / 4))
        return ker_config_fail(config, error, key, "is more than 26 days, multiplied by processor_factor");
    g->calculation = status == KER_OK ? (uint64_t)llround(time) : 0;
    p->longest = p->bytes;
    return status;
}

/* The neighbour below or above in a dimension; false: there is none. */
static bool neighbour(const struct grid *g, uint32_t task, uint32_t direction, uint32_t *found)
{
    uint32_t d = g->of.dimensions - 1 - direction / 2, extent = g->of.extent[d], stride = g->stride[d],
             at = task / stride % extent;
    bool up = direction % 2, over = up ? at + 1 == extent : at == 0;
    if (over && !g->periodic)
        return false;
    uint32_t across = (extent - 1) * stride;
    *found = up ? (over ? task - across : task + stride) : (over ? task + across : task - stride);
    return true;
}

static uint32_t neighbours(const struct grid *g, uint32_t task)
{
    if (g->periodic)
        return 2 * g->of.dimensions;
    uint32_t count = 0, found;
    for (uint32_t i = 0; i < 2 * g->of.dimensions; i++)
        count += neighbour(g, task, i, &found);
    return count;
}

/* The direction of neighbour number `which`. */
static uint32_t direction_of(const struct grid *g, uint32_t task, uint32_t which)
{
    uint32_t found;
    if (g->periodic)
        return which;
    for (uint32_t i = 0;; i++)
        if (neighbour(g, task, i, &found) && which-- == 0)
            return i;
}

static uint32_t stencil_ops(const struct graph_pattern *p, uint32_t task)
{
    return p->rounds * (1 + 2 * neighbours(p->own, task));
}

static void stencil_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op)
{
    const struct grid *g = p->own;
    uint32_t count = neighbours(g, task), step = number / (1 + 2 * count), at = number % (1 + 2 * count);
    if (at == 0) {
        op->kind = GRAPH_CALCULATION;
        op->amount = g->calculation;
        op->before = step ? (count ? 2 * count : 1) : 0;
        op->on_done = count ? 2 * count : step + 1 < p->rounds;
        return;
    }
    bool sends = at > count;
    uint32_t direction = direction_of(g, task, sends ? at - 1 - count : at - 1), peer = 0;
    neighbour(g, task, direction, &peer);
    graph_pattern_message(op, sends ? GRAPH_SEND : GRAPH_RECEIVE, p->bytes, peer);
    op->tag = 8 * step + (sends ? direction : direction ^ 1);
    op->before = 1;
    op->on_done = step + 1 < p->rounds;
}

static uint32_t stencil_dependent(const struct graph_pattern *p, uint32_t task, uint32_t number,
                                  uint32_t index)
{
    uint32_t each = 1 + 2 * neighbours(p->own, task), at = number % each;
    return at == 0 ? number + 1 + index : number - at + each;
}

static const struct ker_option stencil_options[] = {
    {"jobs[].sides", KER_TYPE_INT | KER_TYPE_LIST, NULL, "1", "1073741824", NULL,
     "stencil: tasks in each of 1 to 4 dimensions; the first runs fastest."},
    {"jobs[].grid_periodic", KER_TYPE_BOOL, "true", NULL, NULL, NULL,
     "stencil: do the dimensions close to rings?"},
    {"jobs[].timesteps", KER_TYPE_INT, "1", "1", "100000000", NULL, "stencil: how many steps."},
    {"jobs[].timestep", KER_TYPE_TIME, "0 ns", NULL, "1000000 s", NULL,
     "stencil: how long each calculates, multiplied by processor_factor."},
    {0},
};

GRAPH_PATTERN(stencil, "a halo exchange in 1 to 4 dimensions, faces only; not one of schedgen's",
              KER_OPTIONS(graph_bytes_options, stencil_options), .open = stencil_open, .sized = true,
              .ops = stencil_ops, .op = stencil_op, .dependent = stencil_dependent, .first_only = true);
