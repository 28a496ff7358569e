/* collective.c - the table of algorithms and the rules by which one is chosen.
 *
 * A rule is (collective, smallest size, fewest tasks, algorithm); the last fitting one counts. Size and
 * number of tasks are the same for all tasks of a call, so that all choose alike; calls with counts of their
 * own per task (gatherv, scatterv, allgatherv, alltoallv, reduce_scatter) have size 0 here, because their
 * tasks know different totals. The built-in sizes follow MPICH's (Thakur, Rabenseifner, Gropp, 2005), in
 * bytes of struct task_op.bytes. A rule of an algorithm for one node fits only where all tasks are on one;
 * since a list of such rules alone would leave most communicators without, the built-in ones stand before it.
 */
#include "tasks/mpi/collectives/collective.h"

#include <stdlib.h>
#include <string.h>

#define BIT(name) (1u << TASK_COLL_##name)

/* The table of algorithms: one line each. Where rules leave sizes open, the first one for the collective is
 * taken. */
#define ALGORITHMS(KIND)                                                                                     \
    KIND(task_coll_kind_linear_from)                                                                         \
    KIND(task_coll_kind_linear_to)                                                                           \
    KIND(task_coll_kind_linear_both)                                                                         \
    KIND(task_coll_kind_linear_alltoall)                                                                     \
    KIND(task_coll_kind_linear_allgather)                                                                    \
    KIND(task_coll_kind_chain_scan)                                                                          \
    KIND(task_coll_kind_binomial_from)                                                                       \
    KIND(task_coll_kind_in_order_from)                                                                       \
    KIND(task_coll_kind_binomial_to)                                                                         \
    KIND(task_coll_kind_binomial_both)                                                                       \
    KIND(task_coll_kind_binomial_allreduce)                                                                  \
    KIND(task_coll_kind_binomial_gather)                                                                     \
    KIND(task_coll_kind_binomial_scatter)                                                                    \
    KIND(task_coll_kind_scatter_allgather)                                                                   \
    KIND(task_coll_kind_doubling_allreduce)                                                                  \
    KIND(task_coll_kind_doubling_barrier)                                                                    \
    KIND(task_coll_kind_doubling_allgather)                                                                  \
    KIND(task_coll_kind_doubling_scan)                                                                       \
    KIND(task_coll_kind_halving_reduce_scatter)                                                              \
    KIND(task_coll_kind_rabenseifner)                                                                        \
    KIND(task_coll_kind_rabenseifner_reduce)                                                                 \
    KIND(task_coll_kind_ring_allreduce)                                                                      \
    KIND(task_coll_kind_ring_allgather)                                                                      \
    KIND(task_coll_kind_dissemination)                                                                       \
    KIND(task_coll_kind_pairwise_alltoall)                                                                   \
    KIND(task_coll_kind_pairwise_reduce_scatter)                                                             \
    KIND(task_coll_kind_bruck_alltoall)                                                                      \
    KIND(task_coll_kind_bruck_allgather)                                                                     \
    KIND(task_coll_kind_shared_from)                                                                         \
    KIND(task_coll_kind_shared_to)                                                                           \
    KIND(task_coll_kind_shared_both)                                                                         \
    KIND(task_coll_kind_shared_parts)                                                                        \
    KIND(task_coll_kind_shared_across)                                                                       \
    KIND(task_coll_kind_linear_neighbours)
KER_KINDS_TABLE(algorithm_kinds, ALGORITHMS);
const struct ker_kinds task_collectives = {"mpi.collectives", "collectives and their algorithms",
                                           sizeof(struct task_coll_algorithm), algorithm_kinds};

struct default_rule {
    uint8_t collective;
    int32_t min_tasks;
    uint64_t min_bytes;
    const char *algorithm;
};

static const struct default_rule default_rules[] = {
    {TASK_COLL_BARRIER, 0, 0, "dissemination"},
    {TASK_COLL_BCAST, 0, 0, "binomial"},
    {TASK_COLL_BCAST, 8, 512 << 10, "scatter_allgather_ring"},
    {TASK_COLL_REDUCE, 0, 0, "binomial"},
    {TASK_COLL_REDUCE, 4, 2 << 10, "rabenseifner"},
    {TASK_COLL_ALLREDUCE, 0, 0, "recursive_doubling"},
    {TASK_COLL_ALLREDUCE, 4, 2 << 10, "rabenseifner"},
    {TASK_COLL_GATHER, 0, 0, "binomial"},
    {TASK_COLL_GATHERV, 0, 0, "linear"},
    {TASK_COLL_SCATTER, 0, 0, "binomial"},
    {TASK_COLL_SCATTERV, 0, 0, "linear"},
    {TASK_COLL_ALLGATHER, 0, 0, "bruck"},
    {TASK_COLL_ALLGATHER, 0, 32 << 10, "ring"},
    {TASK_COLL_ALLGATHERV, 0, 0, "ring"},
    {TASK_COLL_ALLTOALL, 0, 0, "linear"},
    {TASK_COLL_ALLTOALL, 8, 0, "bruck"},
    {TASK_COLL_ALLTOALL, 0, 256, "linear"},
    {TASK_COLL_ALLTOALL, 0, 32 << 10, "pairwise"},
    {TASK_COLL_ALLTOALLV, 0, 0, "pairwise"},
    {TASK_COLL_REDUCE_SCATTER, 0, 0, "recursive_halving"},
    {TASK_COLL_REDUCE_SCATTER_BLOCK, 0, 0, "recursive_halving"},
    {TASK_COLL_REDUCE_SCATTER_BLOCK, 0, 512 << 10, "pairwise"},
    {TASK_COLL_SCAN, 0, 0, "recursive_doubling"},
    {TASK_COLL_EXSCAN, 0, 0, "recursive_doubling"},
    {TASK_COLL_COMM, 0, 0, "bruck"},
    {TASK_COLL_NEIGHBOR_ALLGATHER, 0, 0, "linear"},
    {TASK_COLL_NEIGHBOR_ALLGATHERV, 0, 0, "linear"},
    {TASK_COLL_NEIGHBOR_ALLTOALL, 0, 0, "linear"},
    {TASK_COLL_NEIGHBOR_ALLTOALLV, 0, 0, "linear"},
};

const char *task_coll_name(unsigned collective)
{
    static const char *const names[TASK_COLL_COUNT] = {"barrier",
                                                       "bcast",
                                                       "reduce",
                                                       "allreduce",
                                                       "gather",
                                                       "gatherv",
                                                       "scatter",
                                                       "scatterv",
                                                       "allgather",
                                                       "allgatherv",
                                                       "alltoall",
                                                       "alltoallv",
                                                       "reduce_scatter",
                                                       "reduce_scatter_block",
                                                       "scan",
                                                       "exscan",
                                                       "comm_create",
                                                       "neighbor_allgather",
                                                       "neighbor_allgatherv",
                                                       "neighbor_alltoall",
                                                       "neighbor_alltoallv"};
    return collective < TASK_COLL_COUNT ? names[collective] : "?";
}

static const struct ker_kind *algorithm_find(const struct ker_config *config, unsigned collective,
                                             const char *name)
{
    return ker_registry_find(ker_config_registry(config), "mpi.collectives", name,
                             task_coll_name(collective));
}

static bool table_add(struct task_coll_table *table, unsigned collective, const struct ker_kind *algorithm,
                      uint64_t min_bytes, int32_t min_tasks)
{
    if (table->count == TASK_COLL_RULES)
        return false;
    bool inside = task_coll_is_shared(algorithm);
    table->rule[table->count++] =
        (struct task_coll_rule){min_bytes, min_tasks, (uint8_t)collective, inside, algorithm};
    table->placed |= inside;
    if (inside)
        table->shared = (int)collective;
    return true;
}

static enum ker_status table_names(const struct ker_config *config, const char *key, unsigned collective,
                                   const char *text, struct ker_error *error)
{
    char *names =
        ker_registry_names(ker_config_registry(config), "mpi.collectives", task_coll_name(collective));
    ker_config_fail(config, error, key,
                    "\"%s\" is no rule; right would be \"auto\", \"ALGORITHM\", \"ALGORITHM:SIZE\" or "
                    "\"ALGORITHM:SIZE:TASKS\" (from this size and number of tasks on) with one of %s%s",
                    text, names,
                    task_coll_has_levels(collective)
                        ? "; or in the place of ALGORITHM \"NODE/BETWEEN\", \"SOCKET/NODE/BETWEEN\""
                        : "");
    free(names);
    return KER_BAD_INPUT;
}

/* ---- several algorithms ---- */

/* One of a combination: what would be right is said with the collective that it is for. */
static enum ker_status part_find(const struct ker_kind **algorithm, const struct ker_config *config,
                                 const char *key, unsigned collective, const char *name, const char *where,
                                 struct ker_error *error)
{
    bool between = strcmp(where, "between nodes") == 0;
    *algorithm = *name ? algorithm_find(config, collective, name) : NULL;
    bool uneven = between && *algorithm && task_coll_needs_alike(*algorithm);
    if (*algorithm && !uneven && !(between && task_coll_is_shared(*algorithm)))
        return KER_OK;
    char *names =
        ker_registry_names(ker_config_registry(config), "mpi.collectives", task_coll_name(collective));
    ker_config_fail(config, error, key, "\"%s\" is no algorithm for %s %s; there are %s%s", name,
                    task_coll_name(collective), where, names,
                    uneven ? ", of which this one is for groups that are alike, and nodes may not be"
                    : between && *algorithm ? ", of which shared memory is for one node"
                                            : "");
    free(names);
    return KER_BAD_INPUT;
}

/* "linear", or "linear+binomial" where a level needs two. */
static enum ker_status level_find(struct task_coll_combination *c, uint32_t level,
                                  const struct ker_config *config, const char *key, unsigned collective,
                                  char *name, struct ker_error *error)
{
    const char *where = c->levels == 2 && level == 0 ? "inside a socket" : "inside a node";
    uint8_t up, down;
    bool goes_up = task_coll_goes_up(collective, &up), goes_down = task_coll_goes_down(collective, &down);
    char *second = goes_up && goes_down ? name : NULL, *first = second ? strsep(&second, "+") : name;
    enum ker_status status = KER_OK;
    if (goes_up)
        status = part_find(&c->up[level], config, key, up, first, where, error);
    if (status == KER_OK && goes_down)
        status = part_find(&c->down[level], config, key, down, second ? second : first, where, error);
    for (int i = 0; status == KER_OK && i < 2; i++) {
        const struct ker_kind *algorithm = i ? c->down[level] : c->up[level];
        if (algorithm && !c->shared)
            c->shared = task_coll_is_shared(algorithm);
    }
    return status;
}

/* "NODE/BETWEEN", "SOCKET/NODE/BETWEEN". */
static enum ker_status table_combine(struct task_coll_table *table, const struct ker_kind **algorithm,
                                     const struct ker_config *config, const char *key, unsigned collective,
                                     const char *text, struct ker_error *error)
{
    if (table->combinations == TASK_COLL_COMBINATIONS)
        return ker_config_fail(config, error, key, "more than %d combinations in all",
                               TASK_COLL_COMBINATIONS);
    struct task_coll_combination *c = &table->combination[table->combinations];
    char copy[sizeof c->name], *rest = copy, *part[TASK_COLL_LEVELS + 2] = {copy};
    uint32_t parts = 0;
    *c = (struct task_coll_combination){0};
    bool fits = snprintf(c->name, sizeof c->name, "%s", text) < (int)sizeof c->name;
    memcpy(copy, c->name, sizeof copy);
    while (rest && parts < TASK_COLL_LEVELS + 2)
        part[parts++] = strsep(&rest, "/");
    if (!fits || parts > TASK_COLL_LEVELS + 1 || !task_coll_has_levels(collective))
        return table_names(config, key, collective, text, error);
    c->levels = parts - 1;
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; status == KER_OK && i < c->levels; i++)
        status = level_find(c, i, config, key, collective, part[i], error);
    if (status == KER_OK)
        status = part_find(&c->top, config, key, collective, part[parts - 1], "between nodes", error);
    if (status != KER_OK)
        return status;
    task_coll_combine(c);
    table->combinations++;
    table->placed = true;
    if (c->shared)
        table->shared = (int)collective;
    *algorithm = &c->kind;
    return KER_OK;
}

const struct task_coll_combination *task_coll_combination_of(const struct task_coll_table *table,
                                                             const struct ker_kind *algorithm)
{
    for (uint32_t i = 0; i < table->combinations; i++)
        if (&table->combination[i].kind == algorithm)
            return &table->combination[i];
    return NULL;
}

/* ---- rules ---- */

/* "NAME", "NAME:512 KiB", "NAME:0:64". */
static enum ker_status table_parse(struct task_coll_table *table, const struct ker_config *config,
                                   const char *key, unsigned collective, const char *text,
                                   struct ker_error *error)
{
    char copy[192], *rest = copy;
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return table_names(config, key, collective, text, error);
    const char *name = strsep(&rest, ":"), *size = strsep(&rest, ":"), *tasks = rest, *why;
    uint64_t min_bytes = 0;
    long min_tasks = 0;
    char *end = copy;
    const struct ker_kind *algorithm = NULL;
    if (strchr(name, '/')) {
        enum ker_status status = table_combine(table, &algorithm, config, key, collective, name, error);
        if (status != KER_OK)
            return status;
    } else {
        algorithm = algorithm_find(config, collective, name);
    }
    if (!algorithm || (size && ker_parse_bytes(size, &min_bytes, &why) != 0))
        return table_names(config, key, collective, text, error);
    if (tasks)
        min_tasks = strtol(tasks, &end, 10);
    if (tasks && (end == tasks || *end || min_tasks < 0 || min_tasks > INT32_MAX))
        return table_names(config, key, collective, text, error);
    if (!table_add(table, collective, algorithm, min_bytes, (int32_t)min_tasks))
        return ker_config_fail(config, error, key, "more than %d rules in all", TASK_COLL_RULES);
    return KER_OK;
}

static void table_defaults(struct task_coll_table *table, const struct ker_config *config,
                           unsigned collective)
{
    for (size_t i = 0; i < sizeof default_rules / sizeof *default_rules; i++) {
        const struct default_rule *d = &default_rules[i];
        if (d->collective != collective)
            continue;
        const struct ker_kind *algorithm = algorithm_find(config, collective, d->algorithm);
        ker_assert(algorithm && table_add(table, collective, algorithm, d->min_bytes, d->min_tasks));
    }
}

/* The first one in the table that can do it. */
static const struct ker_kind *algorithm_first(const struct ker_config *config, unsigned collective)
{
    const struct ker_kind *first = algorithm_find(config, collective, NULL);
    ker_assert(first);
    return first;
}

/* Does a rule leave communicators out, wherever its size begins? */
static bool rule_inside(const struct ker_config *config, unsigned collective, const char *text)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":"), text);
    const struct ker_kind *algorithm = *name ? algorithm_find(config, collective, name) : NULL;
    return algorithm && task_coll_is_shared(algorithm);
}

enum ker_status task_coll_table_init(struct task_coll_table *table, const struct ker_config *config,
                                     struct ker_error *error)
{
    table->count = table->combinations = 0;
    table->placed = false;
    table->shared = -1;
    for (unsigned c = 0; c < TASK_COLL_COUNT; c++) {
        table->first[c] = algorithm_first(config, c);
        char key[64];
        snprintf(key, sizeof key, "mpi.collectives.%s", task_coll_name(c));
        int count = ker_config_has(config, key) ? ker_config_count(config, key) : 0;
        bool defaults = count == 0;
        for (int i = 0; i < count; i++) {
            const char *text = ker_config_string_at(config, key, i);
            defaults |= strcmp(text, "auto") == 0 || rule_inside(config, c, text);
        }
        if (defaults)
            table_defaults(table, config, c);
        for (int i = 0; i < count; i++) {
            const char *text = ker_config_string_at(config, key, i);
            if (strcmp(text, "auto") == 0)
                continue;
            enum ker_status status = table_parse(table, config, key, c, text, error);
            if (status != KER_OK)
                return status;
        }
    }
    return KER_OK;
}

static uint64_t choice_bytes(const struct task_coll_view *v)
{
    uint32_t own_counts = BIT(GATHERV) | BIT(SCATTERV) | BIT(ALLGATHERV) | BIT(ALLTOALLV) |
                          BIT(REDUCE_SCATTER) | BIT(COMM) | BIT(BARRIER);
    return own_counts & 1u << v->collective || task_coll_among_neighbours(v->collective) ? 0 : v->bytes;
}

const struct ker_kind *task_coll_choose(const struct task_coll_table *table, const struct task_coll_view *v)
{
    uint64_t bytes = choice_bytes(v);
    if (v->first)
        return &task_coll_kind_between;
    for (uint32_t i = table->count; i-- > 0;) {
        const struct task_coll_rule *rule = &table->rule[i];
        if (rule->collective == v->collective && bytes >= rule->min_bytes && v->size >= rule->min_tasks &&
            (__builtin_expect(!rule->inside, 1) || task_coll_inside(v->layout)))
            return rule->algorithm;
    }
    return table->first[v->collective];
}
