/* collective.c - the table of algorithms and the rules by which one is chosen.
 *
 * A rule is (collective, smallest size, fewest tasks, algorithm); the last fitting one counts. Size and
 * number of tasks are the same for all tasks of a call, so that all choose alike; calls with counts of their
 * own per task (gatherv, scatterv, allgatherv, alltoallv, reduce_scatter) have size 0 here, because their
 * tasks know different totals. The built-in sizes follow MPICH's (Thakur, Rabenseifner, Gropp, 2005), in
 * bytes of struct task_op.bytes.
 */
#include "tasks/mpi/collectives/collective.h"

#include <stdlib.h>
#include <string.h>

#define BIT(name) (1u << TASK_COLL_##name)

const struct task_coll_algorithm task_coll_algorithms[] = {
    {"linear", "the root sends to everybody, one after the other", task_coll_linear_from,
     BIT(BCAST) | BIT(SCATTER) | BIT(SCATTERV)},
    {"linear", "everybody sends to the root", task_coll_linear_to, BIT(REDUCE) | BIT(GATHER) | BIT(GATHERV)},
    {"linear", "everybody sends to rank 0, which answers everybody", task_coll_linear_both,
     BIT(BARRIER) | BIT(ALLREDUCE)},
    {"linear", "everybody sends to everybody, all at once", task_coll_linear_alltoall,
     BIT(ALLTOALL) | BIT(ALLTOALLV)},
    {"linear", "everybody sends its block to everybody, all at once", task_coll_linear_allgather,
     BIT(ALLGATHER) | BIT(ALLGATHERV) | BIT(COMM)},
    {"linear", "from rank to rank", task_coll_chain_scan, BIT(SCAN) | BIT(EXSCAN)},
    {"binomial", "binomial tree from the root", task_coll_binomial_from, BIT(BCAST)},
    {"binomial", "binomial tree to the root", task_coll_binomial_to, BIT(REDUCE)},
    {"binomial", "binomial tree to rank 0 and back", task_coll_binomial_both, BIT(BARRIER) | BIT(ALLREDUCE)},
    {"binomial", "binomial tree to the root, blocks add up", task_coll_binomial_gather, BIT(GATHER)},
    {"binomial", "binomial tree from the root, blocks split", task_coll_binomial_scatter, BIT(SCATTER)},
    {"scatter_allgather", "binomial scatter, then ring allgather", task_coll_scatter_allgather, BIT(BCAST)},
    {"recursive_doubling", "partners at doubling distances exchange everything", task_coll_doubling_allreduce,
     BIT(ALLREDUCE) | BIT(BARRIER)},
    {"recursive_doubling", "partners at doubling distances exchange their blocks",
     task_coll_doubling_allgather, BIT(ALLGATHER) | BIT(COMM)},
    {"recursive_doubling", "partners at doubling distances exchange partial sums", task_coll_doubling_scan,
     BIT(SCAN) | BIT(EXSCAN)},
    {"recursive_halving", "halves of halves of the vector at halving distances",
     task_coll_halving_reduce_scatter, BIT(REDUCE_SCATTER) | BIT(REDUCE_SCATTER_BLOCK)},
    {"rabenseifner", "reduce-scatter by halving, allgather by doubling", task_coll_rabenseifner,
     BIT(ALLREDUCE)},
    {"rabenseifner", "reduce-scatter by halving, gather to the root", task_coll_rabenseifner_reduce,
     BIT(REDUCE)},
    {"ring", "reduce-scatter and allgather round the ring", task_coll_ring_allreduce, BIT(ALLREDUCE)},
    {"ring", "blocks go round the ring", task_coll_ring_allgather,
     BIT(ALLGATHER) | BIT(ALLGATHERV) | BIT(COMM)},
    {"dissemination", "everybody tells rank + 2^i", task_coll_dissemination, BIT(BARRIER)},
    {"pairwise", "in step s with rank + s and rank - s", task_coll_pairwise_alltoall,
     BIT(ALLTOALL) | BIT(ALLTOALLV)},
    {"pairwise", "in step s the block of rank + s goes there", task_coll_pairwise_reduce_scatter,
     BIT(REDUCE_SCATTER) | BIT(REDUCE_SCATTER_BLOCK)},
    {"bruck", "log2 steps, blocks by the bits of their distance", task_coll_bruck_alltoall, BIT(ALLTOALL)},
    {"bruck", "log2 steps for any number of tasks", task_coll_bruck_allgather, BIT(ALLGATHER) | BIT(COMM)},
    {0},
};

struct default_rule {
    uint8_t collective;
    int32_t min_tasks;
    uint64_t min_bytes;
    const char *algorithm;
};

static const struct default_rule default_rules[] = {
    {TASK_COLL_BARRIER, 0, 0, "dissemination"},
    {TASK_COLL_BCAST, 0, 0, "binomial"},
    {TASK_COLL_BCAST, 8, 512 << 10, "scatter_allgather"},
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
};

const char *task_coll_name(unsigned collective)
{
    static const char *const names[TASK_COLL_COUNT] = {"barrier",        "bcast",
                                                       "reduce",         "allreduce",
                                                       "gather",         "gatherv",
                                                       "scatter",        "scatterv",
                                                       "allgather",      "allgatherv",
                                                       "alltoall",       "alltoallv",
                                                       "reduce_scatter", "reduce_scatter_block",
                                                       "scan",           "exscan",
                                                       "comm_create"};
    return collective < TASK_COLL_COUNT ? names[collective] : "?";
}

const struct task_coll_algorithm *task_coll_find(unsigned collective, const char *name)
{
    for (const struct task_coll_algorithm *a = task_coll_algorithms; a->name; a++)
        if (a->collectives & 1u << collective && strcmp(a->name, name) == 0)
            return a;
    return NULL;
}

static bool table_add(struct task_coll_table *table, unsigned collective,
                      const struct task_coll_algorithm *algorithm, uint64_t min_bytes, int32_t min_tasks)
{
    if (table->count == TASK_COLL_RULES)
        return false;
    table->rule[table->count++] = (struct task_coll_rule){min_bytes, min_tasks, (uint8_t)collective,
                                                          (uint8_t)(algorithm - task_coll_algorithms)};
    return true;
}

static enum ker_status table_names(const struct ker_config *config, const char *key, unsigned collective,
                                   const char *text, struct ker_error *error)
{
    char names[256] = "";
    for (const struct task_coll_algorithm *a = task_coll_algorithms; a->name; a++)
        if (a->collectives & 1u << collective)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *names ? ", " : "",
                     a->name);
    return ker_config_fail(config, error, key,
                           "\"%s\" is no rule; right would be \"auto\", \"ALGORITHM\", \"ALGORITHM:SIZE\" or "
                           "\"ALGORITHM:SIZE:TASKS\" (from this size and number of tasks on) with one of %s",
                           text, names);
}

/* "NAME", "NAME:512 KiB", "NAME:0:64". */
static enum ker_status table_parse(struct task_coll_table *table, const struct ker_config *config,
                                   const char *key, unsigned collective, const char *text,
                                   struct ker_error *error)
{
    char copy[128], *rest = copy;
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return table_names(config, key, collective, text, error);
    const char *name = strsep(&rest, ":"), *size = strsep(&rest, ":"), *tasks = rest, *why;
    uint64_t min_bytes = 0;
    long min_tasks = 0;
    char *end = copy;
    const struct task_coll_algorithm *algorithm = task_coll_find(collective, name);
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

static void table_defaults(struct task_coll_table *table, unsigned collective)
{
    for (size_t i = 0; i < sizeof default_rules / sizeof *default_rules; i++) {
        const struct default_rule *d = &default_rules[i];
        if (d->collective != collective)
            continue;
        const struct task_coll_algorithm *algorithm = task_coll_find(collective, d->algorithm);
        ker_assert(algorithm && table_add(table, collective, algorithm, d->min_bytes, d->min_tasks));
    }
}

enum ker_status task_coll_table_init(struct task_coll_table *table, const struct ker_config *config,
                                     struct ker_error *error)
{
    table->count = 0;
    for (unsigned c = 0; c < TASK_COLL_COUNT; c++) {
        char key[64];
        snprintf(key, sizeof key, "mpi.collectives.%s", task_coll_name(c));
        int count = ker_config_has(config, key) ? ker_config_count(config, key) : 0;
        bool defaults = count == 0;
        for (int i = 0; i < count; i++)
            defaults |= strcmp(ker_config_string_at(config, key, i), "auto") == 0;
        if (defaults)
            table_defaults(table, c);
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
    return own_counts & 1u << v->collective ? 0 : v->bytes;
}

const struct task_coll_algorithm *task_coll_choose(const struct task_coll_table *table,
                                                   const struct task_coll_view *v)
{
    uint64_t bytes = choice_bytes(v);
    for (uint32_t i = table->count; i-- > 0;) {
        const struct task_coll_rule *rule = &table->rule[i];
        if (rule->collective == v->collective && bytes >= rule->min_bytes && v->size >= rule->min_tasks)
            return &task_coll_algorithms[rule->algorithm];
    }
    /* Given rules may leave small sizes open: the first algorithm that can do it. */
    for (const struct task_coll_algorithm *a = task_coll_algorithms;; a++) {
        ker_assert(a->name);
        if (a->collectives & 1u << v->collective)
            return a;
    }
}

uint64_t task_coll_span(uint64_t bytes, uint64_t parts, uint64_t from, uint64_t to)
{
    unsigned __int128 all = bytes;
    return (uint64_t)(all * to / parts) - (uint64_t)(all * from / parts);
}

static uint64_t equal_share(const struct task_coll_view *v, uint64_t total, int32_t rank)
{
    return task_coll_span(total, (uint64_t)v->size, (uint64_t)rank, (uint64_t)rank + 1);
}

uint64_t task_coll_send_count(const struct task_coll_view *v, int32_t rank)
{
    if (v->send_bytes)
        return v->send_bytes[rank];
    bool total = v->collective == TASK_COLL_ALLTOALLV || v->collective == TASK_COLL_SCATTERV;
    return total ? equal_share(v, v->bytes, rank) : v->bytes;
}

uint64_t task_coll_receive_count(const struct task_coll_view *v, int32_t rank)
{
    if (v->receive_bytes)
        return v->receive_bytes[rank];
    if (v->collective == TASK_COLL_REDUCE_SCATTER)
        return equal_share(v, v->bytes, rank);
    return v->collective == TASK_COLL_ALLTOALLV ? equal_share(v, v->bytes2, rank) : v->bytes;
}

void task_coll_list(FILE *out)
{
    for (unsigned c = 0; c < TASK_COLL_COUNT; c++)
        for (const struct task_coll_algorithm *a = task_coll_algorithms; a->name; a++)
            if (a->collectives & 1u << c)
                fprintf(out, "  %-22s %-20s %s\n", task_coll_name(c), a->name, a->meaning);
}
