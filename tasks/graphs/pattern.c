/* pattern.c - the table of patterns, and a pattern as a graph or a file. */
#include "tasks/graphs/pattern.h"

#include "tasks/graphs/build.h"
#include "traces/traces.h"

#include <math.h>
#include <stdlib.h>

#define PATTERNS(KIND)                                                                                       \
    KIND(graph_pattern_binomialtreebcast)                                                                    \
    KIND(graph_pattern_binomialtreereduce)                                                                   \
    KIND(graph_pattern_binarytreebcast)                                                                      \
    KIND(graph_pattern_nwaydissemination)                                                                    \
    KIND(graph_pattern_pipelinedring)                                                                        \
    KIND(graph_pattern_pipelinedringdep)                                                                     \
    KIND(graph_pattern_doublering)                                                                           \
    KIND(graph_pattern_gather)                                                                               \
    KIND(graph_pattern_scatter)                                                                              \
    KIND(graph_pattern_linbarrier)                                                                           \
    KIND(graph_pattern_dissemination)                                                                        \
    KIND(graph_pattern_random_bisect)                                                                        \
    KIND(graph_pattern_random_bisect_fd_sym)                                                                 \
    KIND(graph_pattern_linear_alltoall)                                                                      \
    KIND(graph_pattern_linear_alltoallv)                                                                     \
    KIND(graph_pattern_allreduce_recdoub)                                                                    \
    KIND(graph_pattern_allreduce_ring)                                                                       \
    KIND(graph_pattern_chained_dissem)                                                                       \
    KIND(graph_pattern_resnet)                                                                               \
    KIND(graph_pattern_stencil)
KER_KINDS_TABLE(pattern_kinds, PATTERNS);
const struct ker_kinds graph_patterns = {"jobs[].pattern", "patterns of schedules",
                                         sizeof(struct graph_pattern_class), pattern_kinds};

const struct ker_option graph_pattern_options[] = {
    {"jobs[].pattern", KER_TYPE_CHOICE, NULL, NULL, NULL, NULL,
     "schedule: which one; names and parameters are those of schedgen, the generator of LogGOPSim.",
     .kinds = &graph_patterns},
    {0},
};

/* ---- opening ---- */

#define FRONT_MOST 2147483647

static enum ker_status parameters_read(struct graph_pattern *p, const struct ker_config *config,
                                       const char *path, bool scaled, struct ker_error *error)
{
    const char *root = TASK_KEY(path, "root"), *bytes = TASK_KEY(path, "datasize");
    p->unit = (uint64_t)ker_config_time(config, TASK_KEY(path, "time_unit"));
    p->factor = scaled ? ker_config_real(config, TASK_KEY(path, "processor_factor")) : 1;
    p->gap = -1;
    if (!p->class->sized)
        p->tasks = (uint32_t)ker_config_int(config, TASK_KEY(path, "commsize"));
    if (ker_config_means_key(config, bytes))
        p->bytes = ker_config_bytes(config, bytes);
    if (ker_config_means_key(config, root))
        p->root = (uint32_t)ker_config_int(config, root);
    if (p->tasks && p->root >= p->tasks)
        return ker_config_fail(config, error, root, "there are tasks 0 to %u only (jobs[].commsize)",
                               p->tasks - 1);
    return KER_OK;
}

static enum ker_status front_read(struct graph_pattern *p, const struct ker_config *config, const char *path,
                                  struct ker_error *error)
{
    const char *key = TASK_KEY(path, "nb");
    if (!ker_config_has(config, key)) {
        const char *const needs[] = {TASK_KEY(path, "nb_poll"), TASK_KEY(path, "cpu")};
        for (int i = 0; i < 2; i++)
            if (ker_config_has(config, needs[i]))
                return ker_config_fail(config, error, needs[i], "means nothing without jobs[].nb");
        return KER_OK;
    }
    uint64_t time = (uint64_t)ker_config_int(config, key),
             poll = (uint64_t)ker_config_int(config, TASK_KEY(path, "nb_poll")),
             pieces = poll ? time / poll + (time % poll > 0) : 1;
    if (pieces > FRONT_MOST)
        return ker_config_fail(config, error, TASK_KEY(path, "nb_poll"),
                               "makes %llu calculations of each task: at most %d would be right",
                               (unsigned long long)pieces, FRONT_MOST);
    p->front = (uint32_t)pieces;
    p->front_cpu = (uint8_t)ker_config_int(config, TASK_KEY(path, "cpu"));
    p->piece = poll ? poll : time;
    return KER_OK;
}

/* All of a task are numbered by 32 bits. Those with the most are at an end, the root, or anywhere else. */
static enum ker_status ops_check(const struct graph_pattern *p, const struct ker_config *config,
                                 const char *path, struct ker_error *error)
{
    const uint32_t tasks[] = {0, p->tasks > 1, p->root, p->tasks - 1};
    uint64_t most = 0;
    for (int i = 0; i < 4 && p->front; i++) {
        uint64_t ops = p->class->ops(p, tasks[i]);
        most = ops > most ? ops : most;
    }
    if (most + p->front < UINT32_MAX)
        return KER_OK;
    return ker_config_fail(config, error, TASK_KEY(path, "nb_poll"),
                           "makes more than 2^32 operations of a task");
}

/* The longest calculation, of as many units as there are bytes or as a key says, has to be a time. */
static enum ker_status times_check(const struct graph_pattern *p, const struct ker_config *config,
                                   const char *path, struct ker_error *error)
{
    double most = fmax(fmax(fmax((double)p->bytes, (double)p->gap), (double)p->piece), 119000) *
                  (double)p->unit * fmax(p->factor, 1);
    if (most < (double)(KER_TIME_MAX / 4))
        return KER_OK;
    return ker_config_fail(config, error, TASK_KEY(path, "time_unit"),
                           "makes calculations of more than 26 days; a smaller unit would be right");
}

enum ker_status graph_pattern_open(struct graph_pattern **opened, const struct ker_config *config,
                                   const char *path, uint64_t seed, bool scaled, struct ker_error *error)
{
    const char *key = TASK_KEY(path, "pattern");
    struct graph_pattern *p = *opened = ker_alloc(sizeof *p);
    if (!ker_config_has(config, key)) {
        char *names = ker_registry_names(ker_config_registry(config), "jobs[].pattern", NULL);
        ker_config_fail(config, error, key, "is missing; it is one of %s", names);
        free(names);
        return KER_BAD_INPUT;
    }
    p->class = ker_config_operations(config, key);
    enum ker_status status = parameters_read(p, config, path, scaled, error);
    if (status == KER_OK && p->class->open)
        status = p->class->open(p, config, path, seed, error);
    status = status ?: front_read(p, config, path, error);
    status = status ?: ops_check(p, config, path, error);
    return status ?: times_check(p, config, path, error);
}

void graph_pattern_close(struct graph_pattern *p)
{
    if (!p)
        return;
    free(p->size);
    free(p->own);
    free(p);
}

/* ---- as a graph, as a file ---- */

struct graph *graph_pattern_graph(const struct graph_pattern *p, const uint32_t *list, uint32_t first,
                                  uint32_t count)
{
    struct graph_build b;
    struct ker_error error = {.status = KER_OK};
    struct graph *graph;
    graph_build_begin(&b, "", p->tasks, first, count, &error);
    b.list = list;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t task = b.task = list ? list[n] : first + n, ops = graph_pattern_ops(p, task);
        struct graph_op op;
        for (uint32_t i = 0; i < ops; i++) {
            graph_pattern_op(p, task, i, &op);
            uint32_t dependents = op.on_done;
            op.before = op.on_done = 0; /* counted again from the dependencies */
            graph_build_op(&b, &op);
            for (uint32_t d = 0; d < dependents; d++)
                graph_build_edge(&b, (struct graph_edge){i, graph_pattern_dependent(p, task, i, d), false});
        }
        enum ker_status status = graph_build_task(&b);
        ker_assert(status == KER_OK);
    }
    graph_build_end(&b, &graph);
    graph->numbered = true;
    graph->longest = p->longest;
    graph->cpus = graph_pattern_cpus(p);
    return graph;
}

void graph_pattern_write(FILE *to, const struct graph_pattern *p, uint64_t unit)
{
    graph_goal_write_head(to, p->tasks);
    for (uint32_t i = 0; i < p->tasks; i++) {
        struct graph *graph = graph_pattern_graph(p, NULL, i, 1);
        graph_goal_write_task(to, i, graph->task, unit);
        graph_free(graph);
    }
}
