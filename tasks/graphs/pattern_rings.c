/* Patterns around a ring. */
#include "tasks/graphs/pattern.h"

/* ---- pipelinedring: segments from task to task; -dep: the next is received when the last has been sent on
 * ---- */

static enum ker_status pipeline_open(struct graph_pattern *p, const struct ker_config *config,
                                     const char *path, uint64_t seed, struct ker_error *error)
{
    const char *key = KER_KEY("%s.segmentsize", path);
    p->segment = ker_config_bytes(config, key);
    uint64_t rounds = p->segment ? (p->bytes + p->segment - 1) / p->segment : 0;
    p->rounds = (uint32_t)rounds;
    p->longest = p->bytes < p->segment ? p->bytes : p->segment;
    if (p->segment && rounds <= UINT32_MAX / 2)
        return KER_OK;
    return ker_config_fail(config, error, key,
                           "makes more than %u segments of jobs[].datasize; larger ones would be right",
                           UINT32_MAX / 2);
}

struct stage {
    bool receives, sends; /* at all */
    uint32_t v, round;
    bool is_send; /* the current operation */
    bool last;    /* of its rounds */
};

static struct stage stage_of(const struct graph_pattern *p, uint32_t task, uint32_t number)
{
    struct stage s = {.v = graph_pattern_swap(p, task)};
    s.receives = s.v > 0;
    s.sends = s.v + 1 < p->tasks;
    uint32_t each = (uint32_t)s.receives + s.sends;
    ker_assert(each > 0); /* a task alone has no operations */
    s.round = number / each;
    s.is_send = !s.receives || number % each;
    s.last = s.round + 1 == p->rounds;
    return s;
}

static uint32_t pipeline_ops(const struct graph_pattern *p, uint32_t task)
{
    uint32_t v = graph_pattern_swap(p, task);
    return p->rounds * ((v > 0) + (v + 1 < p->tasks));
}

static struct stage pipeline_make(const struct graph_pattern *p, uint32_t task, uint32_t number,
                                  struct graph_op *op)
{
    struct stage s = stage_of(p, task, number);
    uint64_t bytes = s.last ? p->bytes - p->segment * s.round : p->segment;
    graph_pattern_message(op, s.is_send ? GRAPH_SEND : GRAPH_RECEIVE, bytes,
                          graph_pattern_swap(p, s.is_send ? s.v + 1 : s.v - 1));
    if (s.receives && s.sends)
        *(s.is_send ? &op->before : &op->on_done) = 1;
    return s;
}

static void pipeline_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op)
{
    pipeline_make(p, task, number, op);
}

static void pipeline_dep_op(const struct graph_pattern *p, uint32_t task, uint32_t number,
                            struct graph_op *op)
{
    struct stage s = pipeline_make(p, task, number, op);
    if (!s.receives || !s.sends)
        return;
    if (s.is_send)
        op->on_done = !s.last;
    else
        op->before = s.round > 0;
}

static uint32_t following(const struct graph_pattern *p, uint32_t task, uint32_t number, uint32_t index)
{
    return number + 1;
}

/* ---- doublering: a token in each direction ---- */

static enum ker_status plain_open(struct graph_pattern *p, const struct ker_config *config, const char *path,
                                  uint64_t seed, struct ker_error *error)
{
    p->longest = p->bytes;
    return KER_OK;
}

static uint32_t double_ops(const struct graph_pattern *p, uint32_t task)
{
    return 4;
}

static void double_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op)
{
    bool sends = number % 2 == 0, forward = number < 2;
    graph_pattern_message(op, sends ? GRAPH_SEND : GRAPH_RECEIVE, p->bytes,
                          sends == forward ? graph_pattern_up(p, task, 1) : graph_pattern_down(p, task, 1));
    *(sends ? &op->before : &op->on_done) = task > 0;
}

static uint32_t double_dependent(const struct graph_pattern *p, uint32_t task, uint32_t number,
                                 uint32_t index)
{
    return number - 1;
}

/* ---- allreduce_ring: twice around, each time one step less than there are tasks ---- */

static enum ker_status allreduce_open(struct graph_pattern *p, const struct ker_config *config,
                                      const char *path, uint64_t seed, struct ker_error *error)
{
    p->longest = p->bytes / p->tasks;
    if (p->tasks > UINT32_MAX / 8)
        return ker_config_fail(config, error, path, "allreduce_ring: at most %u tasks", UINT32_MAX / 8);
    p->rounds = 2 * (p->tasks - 1);
    return KER_OK;
}

static uint32_t allreduce_ops(const struct graph_pattern *p, uint32_t task)
{
    return 2 * p->rounds;
}

static void allreduce_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op)
{
    bool sends = number % 2 == 0;
    graph_pattern_message(op, sends ? GRAPH_SEND : GRAPH_RECEIVE, p->bytes / p->tasks,
                          sends ? graph_pattern_up(p, task, 1) : graph_pattern_down(p, task, 1));
    if (sends)
        op->before = number > 0;
    else
        op->on_done = number / 2 + 1 < p->rounds;
}

GRAPH_PATTERN(pipelinedring, "a broadcast in segments along a chain",
              KER_OPTIONS(graph_size_options, graph_bytes_options, graph_root_options, graph_segment_options),
              .open = pipeline_open, .ops = pipeline_ops, .op = pipeline_op, .dependent = following);
GRAPH_PATTERN(pipelinedringdep, "the same, where a segment is received when the one before has been sent on",
              KER_OPTIONS(graph_size_options, graph_bytes_options, graph_root_options, graph_segment_options),
              .open = pipeline_open, .ops = pipeline_ops, .op = pipeline_dep_op, .dependent = following);
GRAPH_PATTERN(doublering, "a message around the ring in each direction",
              KER_OPTIONS(graph_size_options, graph_bytes_options), .open = plain_open, .ops = double_ops,
              .op = double_op, .dependent = double_dependent);
GRAPH_PATTERN(allreduce_ring, "a reduction to all around the ring: reduce-scatter, then allgather",
              KER_OPTIONS(graph_size_options, graph_bytes_options), .open = allreduce_open,
              .ops = allreduce_ops, .op = allreduce_op, .dependent = following);
