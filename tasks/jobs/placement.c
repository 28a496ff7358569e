/* Placement of one job.
 *
 * Tasks sit on seats, per_node to a seat: task t has seat t / per_node. A law maps seats to places of the
 * range: sequential  place = seat strided     0, s, 2s, ... to the end of the range, then 1, 1 + s, ..., so
 * that all of the range is used random      a permutation of the range drawn from the seed file        a
 * table Invariant: a law and its inverse are bijections of 0..nodes-1, so one job never puts two seats on one
 * node.
 */
#include "tasks/jobs/placement.h"

#include <stdlib.h>

static uint32_t sequential_place(const struct task_placement *p, uint32_t seat)
{
    return seat;
}

/* With m = q s + r places and stride s, the rounds 0..r-1 have q + 1 places, the others q. */
static uint32_t strided_place(const struct task_placement *p, uint32_t seat)
{
    uint32_t q = p->nodes / p->stride, r = p->nodes % p->stride;
    uint64_t longer = (uint64_t)r * (q + 1);
    if (seat < longer)
        return seat / (q + 1) + seat % (q + 1) * p->stride;
    uint32_t rest = seat - (uint32_t)longer;
    return r + rest / q + rest % q * p->stride;
}

static uint32_t strided_seat(const struct task_placement *p, uint32_t place)
{
    uint32_t q = p->nodes / p->stride, r = p->nodes % p->stride;
    uint32_t round = place % p->stride, step = place / p->stride;
    if (round < r)
        return round * (q + 1) + step;
    return r * (q + 1) + (round - r) * q + step;
}

static uint32_t random_place(const struct task_placement *p, uint32_t seat)
{
    return task_permutation_at(&p->permutation, seat);
}

static uint32_t random_seat(const struct task_placement *p, uint32_t place)
{
    return task_permutation_find(&p->permutation, place);
}

const struct ker_option task_range_options[] = {
    {.key = "jobs[].first_node",
     .type = KER_TYPE_INT,
     .fallback = "0",
     .minimum = "0",
     .meaning = "First node of the job's range. With jobs[].kind the nodes of this kind are counted alone, "
                "here and in "
                "jobs[].last_node and jobs[].nodes."},
    {.key = "jobs[].last_node",
     .type = KER_TYPE_INT,
     .minimum = "0",
     .meaning = "Last node of the job's range; absent: the last of the system."},
    {.key = "jobs[].nodes",
     .type = KER_TYPE_INT,
     .minimum = "1",
     .meaning = "Length of the range, instead of jobs[].last_node."},
    {.key = "jobs[].tasks_per_node",
     .type = KER_TYPE_INT,
     .fallback = "1",
     .minimum = "1",
     .maximum = "65000",
     .meaning = "Tasks that share a node; each needs a core (node.cores), or a hardware thread of one "
                "(node.threads)."},
    {.key = "jobs[].fill",
     .type = KER_TYPE_CHOICE,
     .fallback = "none",
     .choices = "none|cores|threads",
     .meaning =
         "Instead of jobs[].tasks_per_node: each node takes as many tasks as it has cores, or hardware "
         "threads."},
    {.key = "jobs[].kind",
     .type = KER_TYPE_STRING,
     .meaning = "The job takes nodes of this kind only (nodes[].name); absent: of all kinds.",
     .belongs = "nodes"},
    {.key = NULL},
};

static const struct ker_option stride_options[] = {
    {.key = "jobs[].stride",
     .type = KER_TYPE_INT,
     .fallback = "1",
     .minimum = "1",
     .meaning = "Distance of the strided placement, in nodes."},
    {.key = NULL},
};

static const struct ker_option file_options[] = {
    {.key = "jobs[].placement_file",
     .type = KER_TYPE_FILE,
     .meaning = "One node, or node and core, per line, task 0 first; # begins a comment."},
    {.key = NULL},
};

const struct ker_kind task_placement_sequential = {
    .name = "sequential",
    .meaning = "node after node",
    .operations = &(const struct task_placement_law){sequential_place, sequential_place},
    .options = KER_OPTIONS(task_range_options)};
const struct ker_kind task_placement_strided = {
    .name = "strided",
    .meaning = "every jobs[].stride-th node, then the ones between",
    .operations = &(const struct task_placement_law){strided_place, strided_seat},
    .options = KER_OPTIONS(task_range_options, stride_options)};
const struct ker_kind task_placement_random = {
    .name = "random",
    .meaning = "nodes in random order, from the seed",
    .operations = &(const struct task_placement_law){random_place, random_seat},
    .options = KER_OPTIONS(task_range_options)};
const struct ker_kind task_placement_by_file = {
    .name = "file",
    .meaning = "node [core] of each task, line by line, from jobs[].placement_file",
    .operations = &(const struct task_placement_law){NULL, NULL},
    .options = KER_OPTIONS(file_options)};

/* The table of placements: one line each. */
#define PLACEMENTS(KIND)                                                                                     \
    KIND(task_placement_sequential)                                                                          \
    KIND(task_placement_strided)                                                                             \
    KIND(task_placement_random)                                                                              \
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
                               "longer than the job's range of %u nodes", p->nodes);
    p->stride = (uint32_t)stride;
    task_permutation_init(&p->permutation, seed, KER_PURPOSE_PLACEMENT, k->job, p->nodes);
    return KER_OK;
}

static enum ker_status placement_closed(struct task_placement *p, const struct ker_config *config,
                                        struct keys *k, struct ker_error *error)
{
    p->per_node = (uint32_t)ker_config_int(config, keys_path(k, "tasks_per_node"));
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

/* The node of this seat of the job's range. */
static uint32_t placement_node(const struct task_placement *p, uint32_t seat)
{
    uint32_t node = p->first + p->law->place(p, seat);
    return p->kinds ? node_kinds_node(p->kinds, p->kind, node) : node;
}

static void placement_index(struct task_placement *p);

/* Node after node in the order of the law, each with as many tasks as it has cores or hardware threads. */
static enum ker_status placement_fill(struct task_placement *p, const struct ker_config *config,
                                      struct keys *k, const struct node_kinds *kinds, struct ker_error *error)
{
    bool threads = ker_config_is(config, keys_path(k, "fill"), "threads");
    uint32_t task = 0;
    if (ker_config_has(config, keys_path(k, "tasks_per_node")))
        return ker_config_fail(config, error, keys_path(k, "tasks_per_node"),
                               "give jobs[%u].tasks_per_node or jobs[%u].fill, not both", k->job, k->job);
    p->table = ker_alloc(p->tasks * sizeof *p->table);
    for (uint32_t seat = 0; seat < p->nodes && task < p->tasks; seat++) {
        uint32_t node = placement_node(p, seat);
        const struct node_structure *s = node_structure_at(kinds, node);
        for (uint32_t left = threads ? s->units : s->cores; left > 0 && task < p->tasks; left--)
            p->table[task++].node = node;
    }
    if (task < p->tasks)
        return ker_config_fail(config, error, keys_path(k, "fill"),
                               "%u tasks, but the %u nodes of the job's range have %u %s", p->tasks, p->nodes,
                               task, threads ? "hardware threads" : "cores");
    placement_index(p);
    return KER_OK;
}

static int placement_compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* Sorts the tasks by node and, when the file names no cores, numbers them on each node. */
static void placement_index(struct task_placement *p)
{
    uint64_t *key = ker_alloc(p->tasks * sizeof *key);
    for (uint32_t task = 0; task < p->tasks; task++)
        key[task] = (uint64_t)p->table[task].node << 32 | task;
    qsort(key, p->tasks, sizeof *key, placement_compare);
    p->by_node = ker_alloc(p->tasks * sizeof *p->by_node);
    uint32_t k = 0;
    for (uint32_t i = 0; i < p->tasks; i++) {
        p->by_node[i] = (uint32_t)key[i];
        k = i > 0 && key[i] >> 32 == key[i - 1] >> 32 ? k + 1 : 0;
        if (!p->has_cores)
            p->table[p->by_node[i]].core = (uint16_t)(k < UINT16_MAX ? k : UINT16_MAX);
    }
    free(key);
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
    placement_index(p);
    return KER_OK;
}

enum ker_status task_placement_init(struct task_placement *p, const struct ker_config *config, uint32_t job,
                                    uint32_t tasks, uint32_t nodes, const struct node_kinds *kinds,
                                    uint64_t seed, struct ker_error *error)
{
    struct keys k = {.job = job};
    *p = (struct task_placement){.tasks = tasks, .per_node = 1, .stride = 1};
    p->law = ker_config_operations(config, keys_path(&k, "placement"));
    if (!p->law->place)
        return placement_read_file(p, config, &k, nodes, error);
    enum ker_status status = placement_kind(p, config, &k, kinds, &nodes, error);
    if (!status)
        status = placement_range(p, config, &k, nodes, error);
    if (!status)
        status = placement_law(p, config, &k, seed, error);
    if (status)
        return status;
    return ker_config_is(config, keys_path(&k, "fill"), "none") ? placement_closed(p, config, &k, error)
                                                                : placement_fill(p, config, &k, kinds, error);
}

uint32_t task_placement_each(struct task_placement *p, uint32_t first, uint32_t tasks)
{
    *p = (struct task_placement){.law = task_placement_sequential.operations,
                                 .tasks = tasks,
                                 .per_node = 1,
                                 .first = first,
                                 .nodes = tasks,
                                 .stride = 1};
    return tasks;
}

void task_placement_release(struct task_placement *p)
{
    free(p->table);
    free(p->by_node);
    p->table = NULL;
    p->by_node = NULL;
}

struct task_place task_placement_of(const struct task_placement *p, uint32_t task)
{
    if (p->table)
        return p->table[task];
    return (struct task_place){.node = placement_node(p, task / p->per_node),
                               .core = (uint16_t)(task % p->per_node)};
}

/* The first of by_node whose node is not below `node`. */
static uint32_t placement_lower(const struct task_placement *p, uint64_t node)
{
    uint32_t low = 0, high = p->tasks;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->table[p->by_node[middle]].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The number of a node among those that the range is one of; false: it is none. */
static bool placement_place(const struct task_placement *p, uint32_t node, uint32_t *place)
{
    if (p->kinds && node_kinds_of(p->kinds, node) != p->kind)
        return false;
    *place = (p->kinds ? node_kinds_rank(p->kinds, node) : node) - p->first;
    return *place < p->nodes;
}

uint32_t task_placement_count(const struct task_placement *p, uint32_t node)
{
    uint32_t place;
    if (p->table)
        return placement_lower(p, (uint64_t)node + 1) - placement_lower(p, node);
    if (!placement_place(p, node, &place))
        return 0;
    uint64_t first = (uint64_t)p->law->seat(p, place) * p->per_node;
    if (first >= p->tasks)
        return 0;
    return p->tasks - first < p->per_node ? (uint32_t)(p->tasks - first) : p->per_node;
}

uint32_t task_placement_task(const struct task_placement *p, uint32_t node, uint32_t k)
{
    uint32_t place;
    if (p->table)
        return p->by_node[placement_lower(p, node) + k];
    ker_assert(placement_place(p, node, &place));
    return p->law->seat(p, place) * p->per_node + k;
}
