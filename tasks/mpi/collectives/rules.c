/* rules.c - by which algorithm a call is done.
 *
 * A rule is (collective, smallest size, fewest tasks, algorithm); the last fitting one counts. Size and
 * number of tasks are the same for all tasks of a call, so that all choose alike; calls with counts of their
 * own per task (gatherv, scatterv, allgatherv, alltoallv, reduce_scatter) have size 0 here, because their
 * tasks know different totals. Rules of Open MPI's files count all blocks of a call together, as it does. The
 * built-in sizes follow MPICH's (Thakur, Rabenseifner, Gropp, 2005), in bytes of struct task_op.bytes. A rule
 * of an algorithm for one node fits only where all tasks are on one; since a list of such rules alone would
 * leave most communicators without, the built-in ones are before it.
 */
#include "tasks/mpi/collectives/collective.h"

#include <stdlib.h>
#include <string.h>

#define BIT(name) (1u << TASK_COLL_##name)

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

/* ---- rules of keys and files ---- */

static void table_add(struct task_coll_table *table, struct task_coll_rule rule)
{
    rule.inside = rule.choice.algorithm && task_coll_is_shared(rule.choice.algorithm);
    table->placed |= rule.inside;
    if (rule.inside)
        table->shared = rule.collective;
    *KER_PUSH(table->rule, table->count, table->room) = rule;
}

/* "NAME", "NAME:512 KiB", "NAME:0:64". */
static enum ker_status table_parse(struct task_coll_table *table, const struct ker_config *config,
                                   const char *key, unsigned collective, const char *text,
                                   struct ker_error *error)
{
    char copy[192], *rest = copy;
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return task_coll_no_rule(config, key, collective, text, error);
    char *name = strsep(&rest, ":"), *end = copy;
    const char *size = strsep(&rest, ":"), *tasks = rest, *why;
    struct task_coll_rule rule = {.collective = (uint8_t)collective};
    enum ker_status status = task_coll_named(&rule.choice, table, config, key, collective, name, error);
    if (status != KER_OK)
        return status;
    long min_tasks = tasks ? strtol(tasks, &end, 10) : 0;
    if ((size && ker_parse_bytes(size, &rule.min_bytes, &why) != 0) ||
        (tasks && (end == tasks || *end || min_tasks < 0 || min_tasks > INT32_MAX)))
        return task_coll_no_rule(config, key, collective, text, error);
    rule.min_tasks = (int32_t)min_tasks;
    table_add(table, rule);
    return KER_OK;
}

static void table_defaults(struct task_coll_table *table, const struct ker_config *config,
                           unsigned collective)
{
    for (size_t i = 0; i < sizeof default_rules / sizeof *default_rules; i++) {
        const struct default_rule *d = &default_rules[i];
        if (d->collective != collective)
            continue;
        struct task_coll_choice choice = task_coll_find(config, collective, d->algorithm);
        ker_assert(choice.algorithm);
        table_add(table, (struct task_coll_rule){.min_bytes = d->min_bytes,
                                                 .min_tasks = d->min_tasks,
                                                 .collective = d->collective,
                                                 .usual = true,
                                                 .choice = choice});
    }
}

/* Does a rule leave communicators out, wherever its size begins? */
static bool rule_inside(const struct ker_config *config, unsigned collective, const char *text)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":("), text);
    const struct ker_kind *algorithm = *name ? task_coll_find(config, collective, name).algorithm : NULL;
    return algorithm && task_coll_is_shared(algorithm);
}

static enum ker_status file_read(struct task_coll_rules *rules, const struct ker_config *config,
                                 struct ker_error *error)
{
    size_t bytes;
    char *text;
    if (!ker_config_has(config, "mpi.collectives.rules"))
        return KER_OK;
    const char *path = ker_config_file(config, "mpi.collectives.rules");
    enum ker_status status = ker_input_read(ker_config_inputs(config), path, &text, &bytes, error);
    status = status ?: task_coll_tuned_parse(rules, config, path, text, bytes, error);
    free(text);
    return status;
}

/* Those of a collective: of its key, of the file, the built-in ones. */
static enum ker_status table_collective(struct task_coll_table *table, const struct task_coll_rules *file,
                                        unsigned c, const struct ker_config *config, struct ker_error *error)
{
    const char *key = KER_KEY("mpi.collectives.%s", task_coll_name(c));
    int count = ker_config_has(config, key) ? ker_config_count(config, key) : 0;
    bool defaults = count == 0;
    for (int i = 0; i < count; i++) {
        const char *text = ker_config_string_at(config, key, i);
        defaults |= strcmp(text, "auto") == 0 || rule_inside(config, c, text);
    }
    table->first[c] =
        task_coll_find(config, c, NULL).algorithm; /* the first one in the table that can do it */
    ker_assert(table->first[c]);
    if (defaults)
        table_defaults(table, config, c);
    for (uint32_t i = 0; count == 0 && i < file->count; i++)
        if (file->rule[i].collective == c)
            table_add(table, file->rule[i]);
    enum ker_status status = KER_OK;
    for (int i = 0; status == KER_OK && i < count; i++) {
        const char *text = ker_config_string_at(config, key, i);
        if (strcmp(text, "auto") != 0)
            status = table_parse(table, config, key, c, text, error);
    }
    table->end[c] = table->count;
    return status;
}

enum ker_status task_coll_table_init(struct task_coll_table *table, const struct ker_config *config,
                                     struct ker_error *error)
{
    struct task_coll_rules file = {0};
    *table = (struct task_coll_table){.shared = -1};
    enum ker_status status = file_read(&file, config, error);
    for (unsigned c = 0; status == KER_OK && c < TASK_COLL_COUNT; c++)
        status = table_collective(table, &file, c, config, error);
    free(file.rule);
    return status ?: task_coll_analytic_read(table, config, error);
}

void task_coll_table_release(struct task_coll_table *table)
{
    free(table->rule);
    free(table->analytic.point);
}

/* ---- the choice ---- */

static uint64_t choice_bytes(const struct task_coll_view *v)
{
    uint32_t own_counts = BIT(GATHERV) | BIT(SCATTERV) | BIT(ALLGATHERV) | BIT(ALLTOALLV) |
                          BIT(REDUCE_SCATTER) | BIT(COMM) | BIT(BARRIER);
    return own_counts & 1u << v->collective || task_coll_among_neighbours(v->collective) ? 0 : v->bytes;
}

/* What Open MPI 4.1 compares with the sizes of its rule files: all blocks together, of Allgatherv their mean.
 */
static uint64_t choice_total(const struct task_coll_view *v)
{
    const uint32_t blocks =
        BIT(GATHER) | BIT(SCATTER) | BIT(ALLGATHER) | BIT(ALLTOALL) | BIT(REDUCE_SCATTER_BLOCK);
    bool gathers = v->collective == TASK_COLL_ALLGATHERV;
    if ((gathers || v->collective == TASK_COLL_REDUCE_SCATTER) && v->receive_bytes) {
        uint64_t sum = 0;
        for (int32_t i = 0; i < v->size; i++)
            sum += v->receive_bytes[i];
        return gathers ? sum / (uint64_t)v->size : sum;
    }
    if (v->collective == TASK_COLL_REDUCE_SCATTER)
        return v->bytes;
    return blocks & 1u << v->collective ? v->bytes * (uint64_t)v->size : choice_bytes(v);
}

const struct ker_kind *task_coll_choose(const struct task_coll_table *table, struct task_coll_view *v)
{
    uint64_t bytes = choice_bytes(v);
    bool usual = false; /* a rule says that the built-in ones count */
    if (v->first)
        return &task_coll_kind_between;
    for (uint32_t c = v->collective, i = table->end[c], from = c ? table->end[c - 1] : 0; i-- > from;) {
        const struct task_coll_rule *rule = &table->rule[i];
        if ((__builtin_expect(rule->total, 0) ? choice_total(v) : bytes) < rule->min_bytes ||
            v->size < rule->min_tasks ||
            (__builtin_expect(rule->inside, 0) && !task_coll_inside(v->layout)) ||
            (__builtin_expect(usual, 0) && !rule->usual))
            continue;
        if (__builtin_expect(rule->choice.algorithm != NULL, 1))
            return task_coll_take(&rule->choice, v);
        usual = true;
    }
    return table->first[v->collective];
}

const struct task_coll_combination *task_coll_combination_of(const struct task_coll_table *table,
                                                             const struct ker_kind *algorithm)
{
    for (uint32_t i = 0; i < table->combinations; i++)
        if (&table->combination[i].kind == algorithm)
            return &table->combination[i];
    return NULL;
}
