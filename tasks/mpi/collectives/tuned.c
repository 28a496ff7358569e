/* tuned.c - rule files of Open MPI's component tuned (coll_tuned_dynamic_rules_filename), as versions 4 and 5
 * read them: whole numbers between blanks and line ends, # begins a comment.
 *
 *   number of collectives, and for each
 *     its number in the table below, number of communicator sizes, and for each, ascending,
 *       tasks, number of message sizes, and for each, ascending from 0,
 *         bytes, number of the algorithm (0: the built-in rules), fan-out, bytes of a segment (0: one)
 *
 * A call takes the last communicator size that it is not below, or the first one, and there the last message
 * size that it is not below. Which size is meant is rules.c's matter: all blocks together where there are
 * any; of Allgatherv the mean block; of Barrier and Alltoallv 0; of Scan and Exscan a datatype's bytes times
 * the tasks, which is not known here, so one message size is all they may have. Later formats (a fifth column
 * behind "rule-file-version-2", JSON) are refused.
 */
#include "tasks/mpi/collectives/collective.h"

#include <string.h>

#define MOST 9
#define COLLECTIVES 22

/* By Open MPI's number: "THEIRS=OURS", or "THEIRS" where there is no such schedule here. */
static const struct tuned {
    const char *name; /* of a collective that is none of ours, or has no algorithms there */
    int collective;   /* enum task_collective; -1 */
    const char *algorithm[MOST];
} tuned[COLLECTIVES] = {
    {NULL,
     TASK_COLL_ALLGATHER,
     {"linear (gather and bcast)", "bruck=bruck", "recursive_doubling=recursive_doubling", "ring=ring",
      "neighbor=neighbor", "two_proc=recursive_doubling"}},
    {NULL, TASK_COLL_ALLGATHERV, {"default", "bruck", "ring=ring", "neighbor=neighbor", "two_proc=ring"}},
    {NULL,
     TASK_COLL_ALLREDUCE,
     {"basic_linear=linear", "nonoverlapping", "recursive_doubling=recursive_doubling", "ring=ring",
      "segmented_ring", "rabenseifner=rabenseifner"}},
    {NULL,
     TASK_COLL_ALLTOALL,
     {"linear=linear", "pairwise=pairwise", "modified_bruck=bruck", "linear_sync=linear",
      "two_proc=pairwise"}},
    {NULL, TASK_COLL_ALLTOALLV, {"basic_linear=linear", "pairwise=pairwise"}},
    {"alltoallw", -1, {0}},
    {NULL,
     TASK_COLL_BARRIER,
     {"linear=linear", "double_ring", "recursive_doubling=recursive_doubling", "bruck=dissemination",
      "two_proc=recursive_doubling", "tree=binomial"}},
    {NULL,
     TASK_COLL_BCAST,
     {"basic_linear=linear", "chain=chain", "pipeline=chain", "split_binary_tree", "binary_tree=binary",
      "binomial=binomial", "knomial=knomial", "scatter_allgather=scatter_allgather",
      "scatter_allgather_ring=scatter_allgather_ring"}},
    {NULL, TASK_COLL_EXSCAN, {"linear=linear", "recursive_doubling=recursive_doubling"}},
    {NULL, TASK_COLL_GATHER, {"basic_linear=linear_blocking", "binomial=binomial", "linear_sync"}},
    {"gatherv", -1, {0}},
    {NULL,
     TASK_COLL_REDUCE,
     {"linear=linear_blocking", "chain=chain", "pipeline=chain", "binary=binary", "binomial=binomial",
      "in-order_binary=in_order_binary", "rabenseifner=rabenseifner"}},
    {NULL,
     TASK_COLL_REDUCE_SCATTER,
     {"non-overlapping", "recursive_halving=recursive_halving", "ring=ring", "butterfly"}},
    {NULL,
     TASK_COLL_REDUCE_SCATTER_BLOCK,
     {"basic_linear", "recursive_doubling", "recursive_halving=recursive_halving", "butterfly"}},
    {NULL, TASK_COLL_SCAN, {"linear=linear", "recursive_doubling=recursive_doubling"}},
    {NULL, TASK_COLL_SCATTER, {"basic_linear=linear_blocking", "binomial=binomial", "linear_nb=linear"}},
    {"scatterv", -1, {0}},
    {"neighbor_allgather", -1, {0}},
    {"neighbor_allgatherv", -1, {0}},
    {"neighbor_alltoall", -1, {0}},
    {"neighbor_alltoallv", -1, {0}},
    {"neighbor_alltoallw", -1, {0}},
};

struct reader {
    struct ker_lines in;
    const struct ker_config *config;
    struct task_coll_rules *rules;
    const struct tuned *of;
};

/* The next number, on this line or a later one. */
static enum ker_status number_take(struct reader *r, const char *what, uint64_t most, uint64_t *number)
{
    const char *text;
    size_t length;
    while (r->in.p == r->in.stop)
        if (!ker_lines_next_full(&r->in))
            return ker_lines_fail_at(&r->in, r->in.line ? r->in.line : 1, "the file ends; here should be %s",
                                     what);
    ker_take_text(&r->in, &text, &length);
    *number = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return ker_lines_fail(&r->in, "\"%.*s\" is no whole number; here should be %s",
                                  (int)(length < 40 ? length : 40), text, what);
        *number = *number > most / 10 ? most + 1 : *number * 10 + (uint64_t)(text[i] - '0');
    }
    if (*number > most)
        return ker_lines_fail(&r->in, "%s is %.*s; at most %llu makes sense", what,
                              (int)(length < 40 ? length : 40), text, (unsigned long long)most);
    return KER_OK;
}

/* Number `number` from 1 on, and its parameters. */
static enum ker_status algorithm_set(struct reader *r, struct task_coll_choice *choice, uint64_t number,
                                     uint64_t fanout, uint64_t segment)
{
    const char *theirs = number <= MOST ? r->of->algorithm[number - 1] : NULL;
    const char *collective = task_coll_name((unsigned)r->of->collective);
    if (!theirs)
        return ker_lines_fail(&r->in, "%s has no algorithm %llu in Open MPI 4.1", collective,
                              (unsigned long long)number);
    const char *ours = strchr(theirs, '=');
    if (!ours)
        return ker_lines_fail(&r->in, "algorithm %llu of %s, %s, has no schedule here (docs/mpi-model.md)",
                              (unsigned long long)number, collective, theirs);
    *choice = task_coll_find(r->config, (unsigned)r->of->collective, ours + 1);
    ker_assert(choice->algorithm);
    const struct task_coll_algorithm *a = choice->algorithm->operations;
    if (strncmp(theirs, "chain=", 6) == 0 && fanout) /* the radix of knomial is another parameter there */
        choice->fanout = (uint32_t)fanout;
    choice->segment = a->segments ? segment : 0;
    return KER_OK;
}

static enum ker_status rule_take(struct reader *r, uint64_t tasks, uint64_t number, uint64_t *before)
{
    uint64_t bytes, algorithm, fanout, segment;
    struct task_coll_rule rule = {
        .min_tasks = (int32_t)tasks, .collective = (uint8_t)r->of->collective, .total = true};
    enum ker_status status = number_take(r, "a message size", INT64_MAX, &bytes);
    if (status == KER_OK && number == 0 && bytes != 0)
        return ker_lines_fail(&r->in, "the first message size is 0, not %llu", (unsigned long long)bytes);
    if (status == KER_OK && number > 0 && bytes <= *before)
        return ker_lines_fail(&r->in, "message sizes ascend: %llu is behind %llu", (unsigned long long)bytes,
                              (unsigned long long)*before);
    bool scan = r->of->collective == TASK_COLL_SCAN || r->of->collective == TASK_COLL_EXSCAN;
    if (status == KER_OK && scan && bytes)
        return ker_lines_fail(
            &r->in,
            "Open MPI compares a message size of %s with that of a datatype times the tasks, "
            "which is not known here; leave one of 0",
            task_coll_name((unsigned)r->of->collective));
    *before = rule.min_bytes = bytes;
    status = status ?: number_take(r, "the number of an algorithm", 1000, &algorithm);
    status = status ?: number_take(r, "a fan-out", TASK_COLL_FANOUT_MOST, &fanout);
    status = status ?: number_take(r, "a segment size", INT64_MAX, &segment);
    if (status == KER_OK && algorithm)
        status = algorithm_set(r, &rule.choice, algorithm, fanout, segment);
    if (status == KER_OK)
        *KER_PUSH(r->rules->rule, r->rules->count, r->rules->room) = rule;
    return status;
}

/* Of collective number *id. */
static enum ker_status collective_take(struct reader *r, uint32_t *seen)
{
    uint64_t id, communicators, sizes, tasks, before_tasks = 0, before = 0;
    enum ker_status status = number_take(r, "the number of a collective", COLLECTIVES - 1, &id);
    if (status != KER_OK)
        return status;
    r->of = &tuned[id];
    if (*seen & 1u << id)
        return ker_lines_fail(&r->in, "collective %llu is here twice", (unsigned long long)id);
    *seen |= 1u << id;
    status = number_take(r, "the number of communicator sizes", INT32_MAX, &communicators);
    if (status == KER_OK && r->of->name && communicators)
        return ker_lines_fail(&r->in, "Open MPI has no choice of algorithms for collective %llu, %s",
                              (unsigned long long)id, r->of->name);
    for (uint64_t c = 0; status == KER_OK && c < communicators; c++) {
        status = number_take(r, "a communicator size", INT32_MAX, &tasks);
        if (status == KER_OK && c && tasks <= before_tasks)
            return ker_lines_fail(&r->in, "communicator sizes ascend: %llu is behind %llu",
                                  (unsigned long long)tasks, (unsigned long long)before_tasks);
        before_tasks = tasks;
        status = status ?: number_take(r, "the number of message sizes", INT32_MAX, &sizes);
        if (status == KER_OK && sizes == 0) /* as algorithm 0 */
            *KER_PUSH(r->rules->rule, r->rules->count, r->rules->room) = (struct task_coll_rule){
                .min_tasks = c ? (int32_t)tasks : 0, .collective = (uint8_t)r->of->collective};
        for (uint64_t s = 0; status == KER_OK && s < sizes; s++)
            status = rule_take(r, c ? tasks : 0, s, &before);
    }
    return status;
}

static enum ker_status version_check(struct reader *r, const char *text, size_t bytes)
{
    static const char mark[] = "rule-file-version-";
    size_t length = sizeof mark - 1;
    size_t blanks = 0;
    while (blanks < bytes && strchr(" \t\r\n", text[blanks]))
        blanks++;
    if (blanks < bytes && text[blanks] == '{')
        return ker_lines_fail_at(
            &r->in, 1, "this is a rule file in JSON, of Open MPI 6; right would be one of four columns");
    if (bytes <= length || strncmp(text, mark, length) != 0)
        return KER_OK;
    uint32_t version;
    ker_lines_next_full(&r->in);
    ker_take(&r->in, mark);
    if (ker_take_number(&r->in, &version) && version == 1)
        return KER_OK;
    return ker_lines_fail(
        &r->in, "this is no rule file of version 1, which has four columns and may begin with \"%s1\"", mark);
}

enum ker_status task_coll_tuned_parse(struct task_coll_rules *rules, const struct ker_config *config,
                                      const char *name, const char *text, size_t bytes,
                                      struct ker_error *error)
{
    struct reader r = {.config = config, .rules = rules};
    uint64_t collectives = 0;
    uint32_t seen = 0;
    ker_lines_init(&r.in, name, text, bytes, error);
    enum ker_status status = ker_lines_check(&r.in);
    status = status ?: version_check(&r, text, bytes);
    status = status ?: number_take(&r, "the number of collectives", COLLECTIVES, &collectives);
    for (uint64_t i = 0; status == KER_OK && i < collectives; i++)
        status = collective_take(&r, &seen);
    if (status == KER_OK && (r.in.p < r.in.stop || ker_lines_next_full(&r.in)))
        status = ker_lines_fail(&r.in, "the file continues behind the last one of %llu collectives",
                                (unsigned long long)collectives);
    return status;
}
