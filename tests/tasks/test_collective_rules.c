/* test_collective_rules.c - which algorithm a collective call takes: built-in rules, and those of the keys
 * mpi.collectives.*. */
#include "tasks/mpi/collectives/collective.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct ker_option option_table[] = {
    {"mpi.collectives.rules", KER_TYPE_FILE, NULL, NULL, NULL, NULL, "x"},
    {"mpi.collectives.latency", KER_TYPE_TIME, NULL, NULL, NULL, NULL, "x"},
    {"mpi.collectives.bandwidth", KER_TYPE_RATE, NULL, NULL, NULL, NULL, "x"},
    {"mpi.collectives.table", KER_TYPE_FILE, NULL, NULL, NULL, NULL, "x"},
    {"mpi.collectives.bcast", KER_TYPE_STRING | KER_TYPE_LIST, "auto", NULL, NULL, NULL, "x"},
#define KEY(name)                                                                                            \
    {                                                                                                        \
        .key = "mpi.collectives." name, .type = KER_TYPE_STRING | KER_TYPE_LIST, .fallback = "auto",         \
        .meaning = "x", .kinds = &task_collectives                                                           \
    }
    KEY("barrier"),
    KEY("reduce"),
    KEY("allreduce"),
    KEY("gather"),
    KEY("gatherv"),
    KEY("scatter"),
    KEY("scatterv"),
    KEY("allgather"),
    KEY("allgatherv"),
    KEY("alltoall"),
    KEY("alltoallv"),
    KEY("reduce_scatter"),
    KEY("reduce_scatter_block"),
    KEY("scan"),
    KEY("exscan"),
    KEY("comm_create"),
    KEY("neighbor_allgather"),
    KEY("neighbor_allgatherv"),
    KEY("neighbor_alltoall"),
    KEY("neighbor_alltoallv"),
    {0},
};

static struct task_coll_table table; /* of the last rules */

static enum ker_status rules(const char *text, struct ker_error *error)
{
    task_coll_table_release(&table);
    const struct ker_option *const tables[] = {option_table, NULL};
    struct ker_config *config = NULL;
    *error = (struct ker_error){0};
    assert_int_equal(ker_config_parse(&config, "test.cfg", text, NULL, 0, tables, error), KER_OK);
    enum ker_status status = task_coll_table_init(&table, config, error);
    ker_config_free(config);
    return status;
}

static const char *chosen(unsigned collective, uint64_t bytes, int32_t size)
{
    struct task_coll_view v = {.collective = (uint8_t)collective, .bytes = bytes, .size = size};
    return task_coll_choose(&table, &v)->name;
}

static void test_rules(void **state)
{
    (void)state;
    struct ker_error error;
    assert_int_equal(rules("", &error), KER_OK);
    assert_string_equal(chosen(TASK_COLL_ALLREDUCE, 2047, 64), "recursive_doubling");
    assert_string_equal(chosen(TASK_COLL_ALLREDUCE, 2048, 64), "rabenseifner");
    assert_string_equal(chosen(TASK_COLL_ALLREDUCE, 2048, 2), "recursive_doubling");
    assert_string_equal(chosen(TASK_COLL_ALLTOALL, 100, 8), "bruck");
    assert_string_equal(chosen(TASK_COLL_ALLTOALL, 256, 8), "linear");
    assert_string_equal(chosen(TASK_COLL_GATHERV, 1 << 30, 8), "linear");
    assert_int_equal(rules("mpi: { collectives: { allreduce = [\"binomial\", \"ring:1 MiB\", "
                           "\"rabenseifner:1 MiB:64\"]; }; };",
                           &error),
                     KER_OK);
    assert_string_equal(chosen(TASK_COLL_ALLREDUCE, 1000000, 100), "binomial");
    assert_string_equal(chosen(TASK_COLL_ALLREDUCE, 1 << 20, 63), "ring");
    assert_string_equal(chosen(TASK_COLL_ALLREDUCE, 1 << 20, 64), "rabenseifner");
}

/* Ranks 0 and 1 of three on one node, or all; shared memory fits only then, and otherwise the built-in rules
 * count, which are before it. */
static void test_places(void **state)
{
    (void)state;
    struct ker_error error;
    struct task_coll_layout two = {0}, one = {0};
    task_coll_layout_make(&two, (const struct task_coll_spot[]){{4, 0}, {4, 1}, {2, 0}}, 3);
    task_coll_layout_make(&one, (const struct task_coll_spot[]){{4, 0}, {4, 1}, {4, 0}}, 3);
    assert_int_equal(rules("mpi: { collectives: { bcast = \"shared_memory:100\"; reduce = [\"linear\", "
                           "\"shared_memory/linear/rabenseifner:1 KiB:3\"]; }; };",
                           &error),
                     KER_OK);
    assert_true(table.placed);
    assert_int_equal(table.shared, TASK_COLL_REDUCE);
    struct task_coll_view v = {.collective = TASK_COLL_BCAST, .bytes = 100, .size = 3, .layout = &one};
    assert_string_equal(task_coll_choose(&table, &v)->name, "shared_memory");
    v.bytes = 99;
    assert_string_equal(task_coll_choose(&table, &v)->name, "binomial");
    v.bytes = 100;
    v.layout = &two;
    assert_string_equal(task_coll_choose(&table, &v)->name, "binomial");
    v.collective = TASK_COLL_REDUCE;
    assert_string_equal(task_coll_choose(&table, &v)->name, "linear");
    v.bytes = 1024;
    const struct ker_kind *algorithm = task_coll_choose(&table, &v);
    assert_string_equal(algorithm->name, "shared_memory/linear/rabenseifner");
    const struct task_coll_combination *c = task_coll_combination_of(&table, algorithm);
    assert_int_equal(c->levels, 2);
    assert_string_equal(c->up[0].algorithm->name, "shared_memory");
    assert_string_equal(c->up[1].algorithm->name, "linear");
    assert_null(c->down[0].algorithm);
    assert_string_equal(c->top.algorithm->name, "rabenseifner");
    v.collective = TASK_COLL_ALLREDUCE;
    assert_null(task_coll_combination_of(&table, task_coll_choose(&table, &v)));
    task_coll_layout_release(&two);
    task_coll_layout_release(&one);
}

static void test_bad_rules(void **state)
{
    (void)state;
    const char *bad[] = {"ringg", "ring:", "ring:12 apples", "ring:1 KiB:x", "ring:1 KiB:-3", "bruck", ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ker_error error;
        char text[128];
        snprintf(text, sizeof text, "mpi: { collectives: { allreduce = \"%s\"; }; };", bad[i]);
        assert_int_equal(rules(text, &error), KER_BAD_INPUT);
        assert_non_null(strstr(error.text, "mpi.collectives.allreduce"));
        assert_non_null(strstr(error.text, "recursive_doubling"));
    }
    const char *levels[] = {
        "linear/shared_memory",        "ring/ring",    "/ring", "linear/", "linear+/ring", "a/b/c/d",
        "linear+binomial+linear/ring", "linear/ring:x"};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        struct ker_error error;
        char text[128];
        snprintf(text, sizeof text, "mpi: { collectives: { allreduce = \"%s\"; }; };", levels[i]);
        assert_int_equal(rules(text, &error), KER_BAD_INPUT);
        assert_non_null(strstr(error.text, "mpi.collectives.allreduce"));
        assert_non_null(strstr(error.text, "linear"));
    }
}

/* ---- Open MPI's rule files ---- */

static enum ker_status tuned(struct task_coll_rules *out, const char *text, struct ker_error *error)
{
    const struct ker_option *const tables[] = {option_table, NULL};
    struct ker_config *config = NULL;
    *out = (struct task_coll_rules){0};
    *error = (struct ker_error){0};
    assert_int_equal(ker_config_parse(&config, "test.cfg", "", NULL, 0, tables, error), KER_OK);
    enum ker_status status = task_coll_tuned_parse(out, config, "r.conf", text, strlen(text), error);
    ker_config_free(config);
    return status;
}

/* The file as the table would have it behind the built-in rules. */
static const char *tuned_choice(const char *text, struct task_coll_view v, uint32_t *fanout,
                                uint64_t *segment)
{
    struct task_coll_rules file;
    struct ker_error error;
    assert_int_equal(tuned(&file, text, &error), KER_OK);
    assert_int_equal(rules("", &error), KER_OK);
    uint32_t end = table.end[v.collective], more = 0;
    table.rule = ker_realloc(table.rule, (table.count + file.count + 1) * sizeof *table.rule);
    for (uint32_t i = 0; i < file.count; i++)
        more += file.rule[i].collective == v.collective;
    memmove(table.rule + end + more, table.rule + end, (table.count - end) * sizeof *table.rule);
    for (uint32_t i = 0, at = end; i < file.count; i++)
        if (file.rule[i].collective == v.collective)
            table.rule[at++] = file.rule[i];
    for (unsigned c = v.collective; c < TASK_COLL_COUNT; c++)
        table.end[c] += more;
    table.count += more;
    const struct ker_kind *algorithm = task_coll_choose(&table, &v);
    free(file.rule);
    if (fanout)
        *fanout = v.fanout;
    if (segment)
        *segment = v.segment;
    return algorithm->name;
}

static const char FILE_OF_RULES[] = "rule-file-version-1 # optional\n"
                                    "4 # collectives\n"
                                    "7 2 # bcast\n"
                                    "  8 2  0 1 0 0  4096 7 0 1000\n"
                                    " 64 1  0 2 3 8192\n"
                                    "0 1 # allgather: all blocks together\n"
                                    "2 3\n0 2 0 0\n80000 5 0 0\n1600000 0 0 0\n"
                                    "1 1 2 2 0 4 0 0 5000 3 0 0\n"
                                    "12 1\n"
                                    "2 2 0 2 0 0 1000 3 0 0\n";

static void test_tuned(void **state)
{
    (void)state;
    uint32_t fanout;
    uint64_t segment, counts[4] = {400, 300, 200, 100}, more[4] = {20000, 0, 0, 0};
    struct task_coll_view v = {.collective = TASK_COLL_BCAST, .bytes = 4095, .size = 2};
    /* Fewer tasks than the first communicator size: its rules, as in Open MPI (seen by its monitoring). */
    assert_string_equal(tuned_choice(FILE_OF_RULES, v, NULL, NULL), "linear");
    v.bytes = 4096;
    assert_string_equal(tuned_choice(FILE_OF_RULES, v, &fanout, &segment), "knomial");
    assert_int_equal(fanout, 4);
    assert_int_equal(segment, 1000);
    v.size = 63;
    assert_string_equal(tuned_choice(FILE_OF_RULES, v, NULL, NULL), "knomial");
    v.size = 64;
    assert_string_equal(tuned_choice(FILE_OF_RULES, v, &fanout, &segment), "chain");
    assert_int_equal(fanout, 3);
    assert_int_equal(segment, 8192);
    /* 8 blocks of 9,999 and of 10,000 bytes; from 200,000 on the built-in rules, a ring from 32 KiB. */
    v = (struct task_coll_view){.collective = TASK_COLL_ALLGATHER, .bytes = 9999, .size = 8};
    assert_string_equal(tuned_choice(FILE_OF_RULES, v, NULL, NULL), "bruck");
    v.bytes = 10000;
    assert_string_equal(tuned_choice(FILE_OF_RULES, v, NULL, NULL), "neighbor");
    v.bytes = 200000;
    assert_string_equal(tuned_choice(FILE_OF_RULES, v, NULL, NULL), "ring");
    /* The mean of 20,000, 0, 0, 0 is 5,000; the sum of 400 to 100 is 1,000. */
    v = (struct task_coll_view){.collective = TASK_COLL_ALLGATHERV, .size = 4, .receive_bytes = more};
    assert_string_equal(tuned_choice(FILE_OF_RULES, v, NULL, NULL), "ring");
    more[0]--;
    assert_string_equal(tuned_choice(FILE_OF_RULES, v, NULL, NULL), "neighbor");
    v = (struct task_coll_view){.collective = TASK_COLL_REDUCE_SCATTER, .size = 4, .receive_bytes = counts};
    assert_string_equal(tuned_choice(FILE_OF_RULES, v, NULL, NULL), "ring");
    counts[3]--;
    assert_string_equal(tuned_choice(FILE_OF_RULES, v, NULL, NULL), "recursive_halving");
    v = (struct task_coll_view){.collective = TASK_COLL_BARRIER, .size = 4}; /* none: as without a file */
    assert_string_equal(tuned_choice(FILE_OF_RULES, v, NULL, NULL), "dissemination");
}

static void test_tuned_bad(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"", "r.conf:1: the file ends"},
        {"# nothing\n\n", "r.conf:2: the file ends"},
        {"1\n7\n1\n4\n1\n0 6 0", "r.conf:6: the file ends; here should be a segment size"},
        {"rule-file-version-2\n1", "r.conf:1: this is no rule file of version 1"},
        {"\n {\"rule_file_version\": 3}", "in JSON"},
        {"1\n99", "r.conf:2: the number of a collective is 99; at most 21"},
        {"1\nbcast", "r.conf:2: \"bcast\" is no whole number"},
        {"1\n-7", "\"-7\" is no whole number"},
        {"2\n7 1 4 1 0 6 0 0\n7 1 4 1 0 6 0 0", "r.conf:3: collective 7 is here twice"},
        {"1 7 1 4 1\n5 6 0 0", "r.conf:2: the first message size is 0, not 5"},
        {"1 7 1 4 2 0 6 0 0\n0 6 0 0", "r.conf:2: message sizes ascend: 0 is behind 0"},
        {"1 7 2 4 1 0 6 0 0\n4 1 0 6 0 0", "r.conf:2: communicator sizes ascend: 4 is behind 4"},
        {"1 7 1 4 1 0 10 0 0", "bcast has no algorithm 10"},
        {"1 7 1 4 1 0 4 0 0", "algorithm 4 of bcast, split_binary_tree, has no schedule here"},
        {"1 14 1 4 2 0 1 0 0 8 2 0 0", "datatype times the tasks"},
        {"1 10 1 4 1 0 1 0 0", "no choice of algorithms for collective 10, gatherv"},
        {"1 7 1 4 1 0 6 0 0\n7", "r.conf:2: the file continues behind"},
        {"1 7 1 4 1 0 6 0 99999999999999999999999", "a segment size is 99999999999999999999999"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct task_coll_rules file;
        struct ker_error error;
        assert_int_equal(tuned(&file, bad[i][0], &error), KER_BAD_INPUT);
        if (!strstr(error.text, bad[i][1]))
            fail_msg("%s\n-> %s", bad[i][0], error.text);
        free(file.rule);
    }
}

/* Parameters in a key; what is none, or none of this algorithm. */
static void test_parameters(void **state)
{
    (void)state;
    struct ker_error error;
    assert_int_equal(rules("mpi: { collectives: { bcast = [\"knomial\", \"knomial(radix=8, segment=64 KiB):1 "
                           "MiB:3\"]; reduce = \"binary/chain(chains=2)\"; }; };",
                           &error),
                     KER_OK);
    struct task_coll_view v = {.collective = TASK_COLL_BCAST, .bytes = 1 << 20, .size = 3};
    task_coll_choose(&table, &v);
    assert_int_equal(v.fanout, 8);
    assert_int_equal(v.segment, 65536);
    v.bytes--;
    task_coll_choose(&table, &v);
    assert_int_equal(v.fanout, 4);
    assert_int_equal(v.segment, 0);
    v.collective = TASK_COLL_REDUCE;
    assert_int_equal(task_coll_combination_of(&table, task_coll_choose(&table, &v))->top.fanout, 2);
    static const char *const bad[][2] = {{"knomial(radix=1)", "radix=2 or more"},
                                         {"knomial(radius=3)", "\"radius=3\" is no parameter of knomial"},
                                         {"knomial(radix=)", "radix=2 or more"},
                                         {"chain(chains=3,)", "\"\" is no parameter of chain"},
                                         {"binary(segment=0)", "which has segment=SIZE"},
                                         {"linear(segment=8)", "linear, which has none"},
                                         {"knomial(radix=3", "is no rule"},
                                         {"linear/knomial(radix=x)", "radix=2 or more"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[128];
        snprintf(text, sizeof text, "mpi: { collectives: { bcast = \"%s\"; }; };", bad[i][0]);
        assert_int_equal(rules(text, &error), KER_BAD_INPUT);
        if (!strstr(error.text, bad[i][1]))
            fail_msg("%s: %s", bad[i][0], error.text);
    }
}

static int release(void **state)
{
    (void)state;
    task_coll_table_release(&table);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules), cmocka_unit_test(test_places),    cmocka_unit_test(test_bad_rules),
        cmocka_unit_test(test_tuned), cmocka_unit_test(test_tuned_bad), cmocka_unit_test(test_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
