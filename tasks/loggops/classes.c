/* classes.c - parameters by distance: the key loggops.classes.
 *
 * A class says which processes are near each other: those of a block of processes as they are numbered, of a
 * block of nodes, or of what the topology calls a board or a rack. Classes ascend; the first that has both
 * processes counts. Blocks of one kind lie in each other: each size is a multiple of the one before.
 */
#include "tasks/loggops/model.h"

#include <stdlib.h>

#define WITH "network.model=loggops"

const struct ker_option loggops_class_options[] = {
    {"loggops.classes[].within", KER_TYPE_CHOICE, NULL, NULL, NULL, "core|node|board|rack",
     "Messages between processes of the same core, node, board or rack have the parameters of this group in "
     "place of loggops.L, o, g, G and O; the smallest that has both counts.",
     WITH},
    {"loggops.classes[].processes", KER_TYPE_INT, NULL, "1", "2147483647", NULL,
     "How many processes one holds: they are numbered through all jobs, and are in blocks of this many. A "
     "multiple of the one before. Absent: tasks are where jobs[].placement puts them.",
     WITH},
    {"loggops.classes[].nodes", KER_TYPE_INT, NULL, "1", "2147483647", NULL,
     "How many nodes a board or rack holds: nodes are in blocks of this many. Absent: as the topology has "
     "them, boards and racks of a hierarchical one, switches and natural groups (pods, slabs) of others.",
     "network.model=loggops & loggops.nodes or topology.kind"},
    {"loggops.classes[].L", KER_TYPE_TIME, NULL, NULL, "1000 s", NULL,
     "As loggops.L, which it is when absent.", WITH},
    {"loggops.classes[].o", KER_TYPE_TIME, NULL, NULL, "1000 s", NULL,
     "As loggops.o, which it is when absent.", WITH},
    {"loggops.classes[].g", KER_TYPE_TIME, NULL, NULL, "1000 s", NULL,
     "As loggops.g, which it is when absent.", WITH},
    {"loggops.classes[].G", KER_TYPE_STRING, NULL, NULL, NULL, NULL, "As loggops.G, which it is when absent.",
     WITH},
    {"loggops.classes[].O", KER_TYPE_STRING, NULL, NULL, NULL, NULL, "As loggops.O, which it is when absent.",
     WITH},
    {0},
};

#define KEY(number, word) KER_KEY("loggops.classes[%u].%s", number, word)

static void time_read(ker_time *time, const struct ker_config *config, const char *key)
{
    if (ker_config_has(config, key))
        *time = ker_config_time(config, key);
}

static enum ker_status rate_read(struct loggops_rate *rate, const struct ker_config *config, const char *key,
                                 struct ker_error *error)
{
    return ker_config_has(config, key) ? loggops_rate_read(rate, config, key, error) : KER_OK;
}

enum level { CORE = 1, NODE, BOARD, RACK };

/* Which processes are in one. */
static enum ker_status extent_read(struct loggops_system *s, uint32_t number, const struct ker_config *config,
                                   const struct route_topology *topology, struct ker_error *error)
{
    struct loggops_class *c = &s->class[number];
    const char *processes = KEY(number, "processes"), *nodes = KEY(number, "nodes"),
               *within = ker_config_string(config, KEY(number, "within"));
    bool by_processes = ker_config_has(config, processes), by_nodes = ker_config_has(config, nodes);
    c->by = by_processes ? LOGGOPS_PROCESSES : LOGGOPS_NODES;
    c->size = by_processes ? (uint32_t)ker_config_int(config, processes)
              : by_nodes   ? (uint32_t)ker_config_int(config, nodes)
                           : 1;
    if (!by_processes && !task_jobs_hosts(s->all))
        return ker_config_fail(config, error, processes,
                               "is missing: how many processes a %s holds; or give loggops.nodes or a "
                               "topology, for jobs[].placement",
                               within);
    if (by_nodes && (by_processes || c->level < BOARD))
        return ker_config_fail(config, error, nodes,
                               by_processes ? "is beside processes: give one of them"
                                            : "means nothing: a core or node is no block of nodes");
    if (by_processes || by_nodes || c->level == NODE)
        return KER_OK;
    if (c->level == CORE) {
        c->by = LOGGOPS_PROCESSES; /* of which each has a core */
        return KER_OK;
    }
    if (!topology)
        return ker_config_fail(config, error, nodes, "is missing: how many nodes a %s holds", within);
    c->by = LOGGOPS_GROUPS;
    c->group = route_groups_of_nodes(topology, c->level == BOARD);
    return KER_OK;
}

static enum ker_status class_read(struct loggops_system *s, uint32_t number, const struct ker_config *config,
                                  const struct route_topology *topology, struct ker_error *error)
{
    static const struct ker_word levels[] = {
        {"core", CORE}, {"node", NODE}, {"board", BOARD}, {"rack", RACK}, {NULL, 0}};
    struct loggops_class *c = &s->class[number], *smaller = number ? c - 1 : NULL;
    const char *within = KEY(number, "within");
    if (!ker_config_has(config, within))
        return ker_config_fail(config, error, within, "is missing: core, node, board or rack");
    c->level = ker_config_number(config, within, levels);
    enum ker_status status = extent_read(s, number, config, topology, error);
    if (status)
        return status;
    if (smaller && smaller->level >= c->level)
        return ker_config_fail(config, error, within,
                               "is behind one that is not smaller; core, node, board, rack is the order");
    if (smaller && c->by == smaller->by && !c->group && (c->size % smaller->size || c->size == smaller->size))
        return ker_config_fail(config, error, KEY(number, c->by == LOGGOPS_NODES ? "nodes" : "processes"),
                               "is no multiple of %u, which the one before holds", smaller->size);
    c->set = s->set;
    time_read(&c->set.latency, config, KEY(number, "L"));
    time_read(&c->set.overhead, config, KEY(number, "o"));
    time_read(&c->set.gap, config, KEY(number, "g"));
    status = rate_read(&c->set.per_byte, config, KEY(number, "G"), error);
    return status ?: rate_read(&c->set.busy, config, KEY(number, "O"), error);
}

static void nodes_note(struct loggops_system *s)
{
    s->node = ker_alloc(s->processes * sizeof *s->node);
    for (uint32_t job = 0; job < s->jobs; job++)
        for (uint32_t task = 0; task < s->job[job].tasks; task++)
            s->node[s->job[job].first + task] = task_jobs_place(s->all, job, task).node;
}

enum ker_status loggops_classes_read(struct loggops_system *s, const struct ker_config *config,
                                     const struct route_topology *topology, struct ker_error *error)
{
    uint32_t count = (uint32_t)ker_config_count(config, "loggops.classes");
    bool places = false;
    s->class = ker_alloc(count * sizeof *s->class);
    while (s->classes < count) {
        struct loggops_class *c = &s->class[s->classes];
        enum ker_status status = class_read(s, s->classes++, config, topology, error);
        if (status)
            return status;
        places |= c->by != LOGGOPS_PROCESSES;
    }
    if (places)
        nodes_note(s);
    return KER_OK;
}

void loggops_classes_free(struct loggops_system *s)
{
    for (uint32_t i = 0; i < s->classes; i++)
        free(s->class[i].group);
    free(s->class);
    free(s->node);
}

static bool class_has(const struct loggops_system *s, const struct loggops_class *c, uint32_t a, uint32_t b)
{
    if (c->by == LOGGOPS_PROCESSES)
        return a / c->size == b / c->size;
    a = s->node[a];
    b = s->node[b];
    return c->by == LOGGOPS_NODES ? a / c->size == b / c->size : c->group[a] == c->group[b];
}

const struct loggops_parameters *loggops_class_of(const struct loggops_system *s, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < s->classes; i++)
        if (class_has(s, &s->class[i], a, b))
            return &s->class[i].set;
    return &s->set;
}

ker_time loggops_least(const struct loggops_system *s, bool overhead)
{
    ker_time least = s->set.latency + (overhead ? s->set.overhead : 0);
    for (uint32_t i = 0; i < s->classes; i++) {
        ker_time time = s->class[i].set.latency + (overhead ? s->class[i].set.overhead : 0);
        least = time < least ? time : least;
    }
    return least;
}
