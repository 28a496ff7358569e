/* Reads the keys of a job's placement, and places the job.
 *
 * A job that names its nodes gets them, whoever has them (cores are compared in jobs.c). Others take what is
 * free (allocation.c); alone in the system, or where nobody asks, in closed form.
 */
#include "tasks/jobs/allocation.h"
#include "tasks/jobs/fold.h"
#include "tasks/jobs/hosts.h"
#include "tasks/jobs/placement.h"

#include <stdlib.h>
#include <string.h>

const struct ker_option task_range_options[] = {
    {"jobs[].first_node", KER_TYPE_INT, "0", "0", NULL, NULL,
     "First node of the job's range. With jobs[].kind the nodes of this kind are counted alone, here and in "
     "jobs[].last_node and jobs[].nodes."},
    {"jobs[].last_node", KER_TYPE_INT, NULL, "0", NULL, NULL,
     "Last node of the job's range; absent: the last of the system."},
    {"jobs[].nodes", KER_TYPE_INT, NULL, "1", NULL, NULL,
     "Length of the range, instead of jobs[].last_node."},
    {"jobs[].tasks_per_node", KER_TYPE_INT, "1", "1", "65000", NULL,
     "Tasks that share a node; each needs a core (node.cores), or a hardware thread of one (node.threads)."},
    {"jobs[].fill", KER_TYPE_CHOICE, "none", NULL, NULL, "none|cores|threads",
     "Instead of jobs[].tasks_per_node: each node takes as many tasks as it has cores, or hardware threads."},
    {"jobs[].share", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "A job without a range may take nodes of other jobs that share theirs, too, if there are cores enough."},
    {"jobs[].placement_seed", KER_TYPE_INT, NULL, "0", NULL, NULL,
     "Seed of the random placement of this job; absent: run.seed."},
    {"jobs[].kind", KER_TYPE_STRING, NULL, NULL, NULL, NULL,
     "The job takes nodes of this kind only (nodes[].name); absent: of all kinds.", .belongs = "nodes"},
    {0},
};

static const struct ker_option stride_options[] = {
    {"jobs[].stride", KER_TYPE_INT, "1", "1", NULL, NULL, "Distance of the strided placement, in nodes."},
    {0},
};

static const struct ker_option file_options[] = {
    {"jobs[].placement_file", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "One node, or node and core, per line, task 0 first; # begins a comment."},
    {0},
};

static const struct ker_option group_options[] = {
    {"jobs[].group", KER_TYPE_CHOICE, "group", NULL, NULL, "group|board|switch",
     "What a group of nodes is: what the topology calls so (group of a dragonfly, rack, pod of a fat tree, "
     "slab of a torus), a board of a hierarchical network, or the nodes of a switch."},
    {0},
};

const struct ker_kind task_placement_sequential = {.name = "sequential",
                                                   .meaning = "free node after free node",
                                                   .operations = &task_law_sequential,
                                                   .options = KER_OPTIONS(task_range_options)};
const struct ker_kind task_placement_strided = {.name = "strided",
                                                .meaning =
                                                    "every jobs[].stride-th free node, then the ones between",
                                                .operations = &task_law_strided,
                                                .options = KER_OPTIONS(task_range_options, stride_options)};
const struct ker_kind task_placement_random = {.name = "random",
                                               .meaning =
                                                   "free nodes in random order, from jobs[].placement_seed",
                                               .operations = &task_law_random,
                                               .options = KER_OPTIONS(task_range_options)};
const struct ker_kind task_placement_by_file = {
    .name = "file",
    .meaning = "node [core] of each task, line by line, from jobs[].placement_file",
    .operations = &(const struct task_placement_law){NULL, NULL},
    .options = KER_OPTIONS(file_options)};

const struct ker_kind task_placement_contiguous = {
    .name = "contiguous",
    .meaning = "the first run of free nodes that is long enough",
    .operations = &(const struct task_placement_law){task_placement_seat, task_placement_seat,
                                                     task_allocation_contiguous},
    .options = KER_OPTIONS(task_range_options)};
const struct ker_kind task_placement_by_group = {
    .name = "by_group",
    .meaning = "whole groups of which no other job has a node, one after the other",
    .operations = &(const struct task_placement_law){task_placement_seat, task_placement_seat,
                                                     task_allocation_by_group},
    .options = KER_OPTIONS(task_range_options, group_options)};
const struct ker_kind task_placement_scattered = {
    .name = "scattered",
    .meaning = "a free node of each group in turn",
    .operations = &(const struct task_placement_law){task_placement_seat, task_placement_seat,
                                                     task_allocation_scattered},
    .options = KER_OPTIONS(task_range_options, group_options)};

/* jobs[].shape */
static const struct task_placement_law law_shape = {task_placement_seat, task_placement_seat,
                                                    task_fold_place};

/* The table of placements: one line each. */
#define PLACEMENTS(KIND)                                                                                     \
    KIND(task_placement_sequential)                                                                          \
    KIND(task_placement_strided)                                                                             \
    KIND(task_placement_random)                                                                              \
    KIND(task_placement_contiguous)                                                                          \
    KIND(task_placement_by_group)                                                                            \
    KIND(task_placement_scattered)                                                                           \
    KIND(task_placement_by_file)
KER_KINDS_TABLE(placement_kinds, PLACEMENTS);
const struct ker_kinds task_placements = {"jobs[].placement", "placements", sizeof(struct task_placement_law),
                                          placement_kinds};

/* Keys of one job. */
struct keys {
    char name[64];
    uint32_t job;
};

static const char *keys_path(struct keys *k, const char *key)
{
    snprintf(k->name, sizeof k->name, "jobs[%u].%s", k->job, key);
    return k->name;
}

static enum ker_status placement_kind(struct task_placement *p, const struct ker_config *config,
                                      struct keys *k, const struct node_kinds *kinds, uint32_t *nodes,
                                      struct ker_error *error)
{
    if (!ker_config_has(config, keys_path(k, "kind")))
        return KER_OK;
    const char *name = ker_config_string(config, keys_path(k, "kind"));
    uint32_t count = node_kinds_count(kinds);
    p->kind = node_kinds_find(kinds, name);
    if (p->kind < count) {
        p->kinds = kinds;
        *nodes = node_kinds_get(kinds, p->kind)->nodes;
        return KER_OK;
    }
    char *names = ker_format("%s", node_kinds_get(kinds, 0)->name);
    for (uint32_t i = 1; i < count && strlen(names) < 200; i++) {
        char *longer = ker_format("%s, %s", names, node_kinds_get(kinds, i)->name);
        free(names);
        names = longer;
    }
    ker_config_fail(config, error, keys_path(k, "kind"), "there is no kind of node \"%s\"; there are %s",
                    name, names);
    free(names);
    return KER_BAD_INPUT;
}

/* Whose nodes are counted. */
static const char *placement_of(const struct task_placement *p)
{
    return p->kinds ? "the kind" : "the system";
}

static enum ker_status placement_range(struct task_placement *p, const struct ker_config *config,
                                       struct keys *k, uint32_t nodes, struct ker_error *error)
{
    int64_t first = ker_config_int(config, keys_path(k, "first_node")), last = (int64_t)nodes - 1;
    bool has_last = ker_config_has(config, keys_path(k, "last_node"));
    bool has_nodes = ker_config_has(config, keys_path(k, "nodes"));
    if (first >= nodes)
        return ker_config_fail(config, error, keys_path(k, "first_node"), "%s has the nodes 0 to %u",
                               placement_of(p), nodes - 1);
    if (has_last && has_nodes)
        return ker_config_fail(config, error, keys_path(k, "nodes"),
                               "give jobs[].nodes or jobs[].last_node, not both");
    if (has_last)
        last = ker_config_int(config, keys_path(k, "last_node"));
    if (has_nodes)
        last = first + ker_config_int(config, keys_path(k, "nodes")) - 1;
    if (last >= nodes || last < first)
        return ker_config_fail(config, error,
                               keys_path(k, has_nodes  ? "nodes"
                                            : has_last ? "last_node"
                                                       : "first_node"),
                               "nodes %lld to %lld: %s has the nodes 0 to %u", (long long)first,
                               (long long)last, placement_of(p), nodes - 1);
    p->first = (uint32_t)first;
    p->nodes = (uint32_t)(last - first + 1);
    return KER_OK;
}

static enum ker_status placement_law(struct task_placement *p, const struct ker_config *config,
                                     struct keys *k, uint64_t seed, struct ker_error *error)
{
    int64_t stride = ker_config_int(config, keys_path(k, "stride"));
    if (stride > p->nodes)
        return ker_config_fail(config, error, keys_path(k, "stride"),
                               "longer than the job's range of %u %snodes", p->nodes, p->list ? "free " : "");
    p->stride = (uint32_t)stride;
    if (ker_config_has(config, keys_path(k, "placement_seed")))
        seed = (uint64_t)ker_config_int(config, keys_path(k, "placement_seed"));
    task_permutation_init(&p->permutation, seed, KER_PURPOSE_PLACEMENT, k->job, p->nodes);
    return KER_OK;
}

static enum ker_status placement_closed(struct task_placement *p, const struct ker_config *config,
                                        struct keys *k, struct ker_error *error)
{
    uint64_t needed = ((uint64_t)p->tasks + p->per_node - 1) / p->per_node;
    if (needed > p->nodes)
        return ker_config_fail(
            config, error, keys_path(k, "placement"),
            "%u tasks, %u to a node, need %llu nodes, but the job has only %u (%u to %u): enlarge its range "
            "or raise jobs[%u].tasks_per_node",
            p->tasks, p->per_node, (unsigned long long)needed, p->nodes, p->first, p->first + p->nodes - 1,
            k->job);
    return KER_OK;
}

/* Nodes in the order of the law, each with as many tasks as it has room for. */
static enum ker_status placement_deal(struct task_placement *p)
{
    uint32_t task = 0;
    p->table = ker_alloc(p->tasks * sizeof *p->table);
    for (uint32_t seat = 0; seat < p->nodes && task < p->tasks; seat++) {
        uint32_t node = task_placement_node(p, seat);
        for (uint32_t left = task_placement_room(p, node); left > 0 && task < p->tasks; left--)
            p->table[task++].node = node;
    }
    p->dealt = task;
    free(p->list);
    p->list = NULL;
    if (task < p->tasks)
        return KER_BAD_INPUT;
    task_placement_index(p);
    return KER_OK;
}

/* As many tasks as a node has cores or hardware threads, on a range that is given. */
static enum ker_status placement_fill(struct task_placement *p, const struct ker_config *config,
                                      struct keys *k, struct ker_error *error)
{
    if (placement_deal(p) == KER_OK)
        return KER_OK;
    return ker_config_fail(config, error, keys_path(k, "fill"),
                           "%u tasks, but the %u nodes of the job's range have %u %s", p->tasks, p->nodes,
                           p->dealt, p->fill == PLACED_THREADS ? "hardware threads" : "cores");
}

/* Free nodes, of the range if there is one. */
static enum ker_status placement_free(struct task_placement *p, const struct ker_config *config,
                                      struct keys *k, const struct task_allocation *a, uint64_t seed,
                                      struct ker_error *error)
{
    char why[TASK_ALLOCATION_WHY];
    task_allocation_list(a, p, why);
    p->first = 0;
    p->nodes = p->listed;
    if (p->listed > 0) {
        enum ker_status status = placement_law(p, config, k, seed, error);
        if (status || placement_deal(p) == KER_OK)
            return status;
    }
    char *held = task_allocation_held(a);
    ker_config_fail(
        config, error, keys_path(k, "placement"),
        "%u tasks do not fit on the %u free nodes of its range or kind: %s%s%s; a job behind others "
        "has what they leave",
        p->tasks, p->listed, why, *why ? "; " : "", held);
    free(held);
    return KER_BAD_INPUT;
}

static enum ker_status placement_read_file(struct task_placement *p, const struct ker_config *config,
                                           struct keys *k, uint32_t nodes, struct ker_error *error)
{
    if (!ker_config_has(config, keys_path(k, "placement_file")))
        return ker_config_fail(config, error, keys_path(k, "placement"), "file needs jobs[%u].placement_file",
                               k->job);
    const char *path = ker_config_file(config, keys_path(k, "placement_file"));
    uint32_t count;
    enum ker_status status =
        task_placement_file(ker_config_inputs(config), path, nodes, &p->table, &count, &p->has_cores, error);
    if (status)
        return status;
    if (count != p->tasks)
        return ker_config_fail(config, error, keys_path(k, "placement_file"),
                               "%s places %u tasks, the job has %u", path, count, p->tasks);
    task_placement_index(p);
    return KER_OK;
}

/* Host after host, each with tasks_per_node of them. */
static enum ker_status placement_hosts(struct task_placement *p, const struct ker_config *config,
                                       struct keys *k, const struct task_allocation *a,
                                       struct ker_error *error)
{
    static const char *const others[] = {"placement", "first_node", "last_node", "nodes",
                                         "fill",      "kind",       "share",     "shape"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (ker_config_has(config, keys_path(k, others[i])))
            return ker_config_fail(
                config, error, keys_path(k, others[i]),
                "jobs[%u].hosts says which nodes the job has, in their order: leave one out", k->job);
    uint32_t *node, count;
    enum ker_status status = task_hosts_read(config, k->job, a->topology, a->hosts, &node, &count, error);
    p->per_node = (uint32_t)ker_config_int(config, keys_path(k, "tasks_per_node"));
    if (!status && (uint64_t)count * p->per_node < p->tasks)
        status = ker_config_fail(config, error, keys_path(k, "hosts"),
                                 "names %u nodes, which is too few for %u tasks, %u to a node", count,
                                 p->tasks, p->per_node);
    if (!status) {
        p->table = ker_alloc(p->tasks * sizeof *p->table);
        for (uint32_t task = 0; task < p->tasks; task++)
            p->table[task].node = node[task / p->per_node];
        task_placement_index(p);
    }
    free(node);
    return status;
}

bool task_placement_named(const struct ker_config *config, uint32_t job)
{
    struct keys k = {.job = job};
    const struct task_placement_law *law = ker_config_operations(config, keys_path(&k, "placement"));
    return !law->place || ker_config_has(config, keys_path(&k, "hosts")) ||
           (!law->order && (ker_config_has(config, keys_path(&k, "first_node")) ||
                            ker_config_has(config, keys_path(&k, "last_node")) ||
                            ker_config_has(config, keys_path(&k, "nodes"))));
}

static enum ker_status placement_settings(struct task_placement *p, const struct ker_config *config,
                                          struct keys *k, struct ker_error *error)
{
    bool filled = !ker_config_is(config, keys_path(k, "fill"), "none");
    p->per_node = (uint32_t)ker_config_int(config, keys_path(k, "tasks_per_node"));
    p->share = ker_config_bool(config, keys_path(k, "share"));
    if (filled && ker_config_has(config, keys_path(k, "tasks_per_node")))
        return ker_config_fail(config, error, keys_path(k, "tasks_per_node"),
                               "give jobs[%u].tasks_per_node or jobs[%u].fill, not both", k->job, k->job);
    if (filled)
        p->fill = ker_config_is(config, keys_path(k, "fill"), "threads") ? PLACED_THREADS : PLACED_CORES;
    if (p->law->order && ker_config_means_key(config, keys_path(k, "group")))
        p->group = ker_config_is(config, keys_path(k, "group"), "switch")  ? TASK_GROUP_SWITCH
                   : ker_config_is(config, keys_path(k, "group"), "board") ? TASK_GROUP_BOARD
                                                                           : TASK_GROUP_GROUP;
    return KER_OK;
}

enum ker_status task_placement_init(struct task_placement *p, const struct ker_config *config, uint32_t job,
                                    uint32_t tasks, const struct task_allocation *a, uint64_t seed,
                                    struct ker_error *error)
{
    struct keys k = {.job = job};
    uint32_t nodes = a->hosts;
    *p = (struct task_placement){.tasks = tasks, .per_node = 1, .stride = 1, .all_kinds = a->kinds};
    bool shaped = ker_config_has(config, keys_path(&k, "shape"));
    if (shaped && ker_config_has(config, keys_path(&k, "placement")))
        return ker_config_fail(config, error, keys_path(&k, "placement"),
                               "jobs[%u].shape says which nodes the job has: leave one out", job);
    p->law = shaped ? &law_shape : ker_config_operations(config, keys_path(&k, "placement"));
    if (ker_config_has(config, keys_path(&k, "hosts")))
        return placement_hosts(p, config, &k, a, error);
    if (!p->law->place)
        return placement_read_file(p, config, &k, nodes, error);
    enum ker_status status = placement_settings(p, config, &k, error);
    if (!status && shaped)
        status = task_fold_read(&p->fold, config, job, a, error);
    status = status ?: placement_kind(p, config, &k, a->kinds, &nodes, error);
    status = status ?: placement_range(p, config, &k, nodes, error);
    if (!status && (p->law->order || (a->holder && !task_placement_named(config, job))))
        return placement_free(p, config, &k, a, seed, error);
    status = status ?: placement_law(p, config, &k, seed, error);
    if (status)
        return status;
    return p->fill ? placement_fill(p, config, &k, error) : placement_closed(p, config, &k, error);
}
