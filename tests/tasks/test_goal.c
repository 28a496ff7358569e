/* test_goal.c - GOAL schedules as text: what is read, and what is refused with which words. */
#include "tests/tasks/goal_files.h"

/* The message behind "PATH:LINE: " is the one expected. */
static void expect_refused(const char *text, size_t bytes, uint32_t line, const char *expected)
{
    int file;
    struct graph *graph;
    char *path = text_file(text, bytes, &file);
    assert_int_equal(read_unit(&graph, path, 1, 0, 1), KER_BAD_INPUT);
    assert_null(graph);
    char *begin = ker_format("%s:%u: ", path, line);
    if (strncmp(error.text, begin, strlen(begin)) != 0 || strcmp(error.text + strlen(begin), expected) != 0)
        print_error("\"%s\"\ngives     %s\ninstead of %s%s\n", text, error.text, begin, expected);
    assert_int_equal(strncmp(error.text, begin, strlen(begin)), 0);
    assert_string_equal(error.text + strlen(begin), expected);
    close(file);
    free(begin);
    free(path);
}

/* What is in the block of rank 0 of 2, from line 3 on. */
static void expect_block_refused(const char *statements, uint32_t line, const char *expected)
{
    char *text = ker_format("num_ranks 2\nrank 0 {\n%s\n}\nrank 1 {\nother: calc 1\n}\n", statements);
    expect_refused(text, strlen(text), line, expected);
    free(text);
}

/* tests/tasks/goal/all.goal with 1 ns as its unit; the numbers are the file's. */
static void test_everything(void **state)
{
    uint32_t tasks = 0;
    assert_int_equal(graph_goal_tasks("tests/tasks/goal/all.goal", &tasks, &error), KER_OK);
    assert_int_equal(tasks, 3);
    struct graph *g = read_good("tests/tasks/goal/all.goal", 1000, 0, 3);
    assert_int_equal(g->tasks, 3);
    assert_int_equal(g->cpus, 256);
    assert_int_equal(g->nics, 255);
    assert_true(g->longest == UINT64_MAX);
    const struct graph_task *t = &g->task[0];
    assert_int_equal(t->ops, 5);
    expect_op(t, 0, &(struct graph_op){12500, .kind = GRAPH_CALCULATION, .cpu = 1, .on_done = 2, .line = 8});
    expect_op(t, 1,
              &(struct graph_op){.amount = 4096,
                                 .peer = 1,
                                 .tag = 7,
                                 .kind = GRAPH_SEND,
                                 .cpu = 1,
                                 .nic = 2,
                                 .on_begin = 1,
                                 .on_done = 1,
                                 .line = 9});
    expect_op(t, 2,
              &(struct graph_op){.amount = 10,
                                 .peer = GRAPH_ANY,
                                 .tag = GRAPH_ANY,
                                 .kind = GRAPH_RECEIVE,
                                 .before = 4,
                                 .line = 10});
    expect_op(t, 3, &(struct graph_op){.kind = GRAPH_CALCULATION, .line = 11});
    expect_op(t, 4, &(struct graph_op){.amount = 99000, .kind = GRAPH_CALCULATION, .line = 12});
    for (uint32_t i = 0; i < 4; i++) /* all dependents are operation 2 */
        assert_int_equal(t->dependent[i], 2);
    assert_int_equal(g->task[1].ops, 0);
    assert_int_equal(g->task[2].ops, 1);
    expect_op(&g->task[2], 0,
              &(struct graph_op){.amount = UINT64_MAX,
                                 .peer = 0,
                                 .tag = UINT32_MAX - 1,
                                 .cpu = 255,
                                 .nic = 254,
                                 .kind = GRAPH_RECEIVE,
                                 .line = 19});
    graph_free(g);
}

/* Every part of the tasks is what it is in the whole; also no task at all. */
static void test_parts(void **state)
{
    struct graph *all = read_good("tests/tasks/goal/all.goal", 1, 0, 3);
    for (uint32_t first = 0; first <= 3; first++)
        for (uint32_t count = 0; first + count <= 3; count++) {
            struct graph *part = read_good("tests/tasks/goal/all.goal", 1, first, count);
            assert_int_equal(part->first, first);
            assert_int_equal(part->tasks, 3);
            assert_int_equal(part->cpus, all->cpus);
            assert_true(part->longest == all->longest);
            for (uint32_t i = 0; i < count; i++) {
                const struct graph_task *one = &part->task[i], *other = &all->task[first + i];
                assert_int_equal(one->ops, other->ops);
                if (one->ops)
                    assert_memory_equal(one->op, other->op, one->ops * sizeof *one->op);
            }
            graph_free(part);
        }
    graph_free(all);
}

/* Dependents are in the order of the lines that name them, those on begin first: of a, on begin 3 and 1,
 * when done 4, 2, 2. */
static void test_order_of_dependents(void **state)
{
    static const uint32_t expected[] = {3, 1, 4, 2, 2};
    struct graph *g =
        read_text("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\nc: calc 1\nd: calc 1\ne: calc 1\n"
                  "e requires a\nd irequires a\nc requires a\nb irequires a\nc requires a\n}\n",
                  1, 1);
    const struct graph_op *a = g->task[0].op;
    assert_int_equal(a->on_begin, 2);
    assert_int_equal(a->on_done, 3);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(g->task[0].dependent[a->first + i], expected[i]);
    assert_int_equal(a[2].before, 2);
    graph_free(g);
}

/* The text of a calculation's time, its unit, and the picoseconds that it is, rounded half up. */
static void test_times(void **state)
{
    static const struct {
        const char *text;
        uint64_t unit, ps;
    } times[] = {
        {"0", 1000, 0},
        {"0.0004", 1000, 0},
        {"0.0005", 1000, 1},
        {"1.5", 1, 2},
        {"1.4999", 1, 1},
        {"1.", 7, 7},
        {"1.49999999999999999999999999999999", 1, 1},
        {"1.5e+06", 1000, 1500000000},
        {"25e-1", 2, 5},
        {"2E3", 1, 2000},
        {"1e-400", UINT32_MAX, 0},
        {"0e999999999999999999999", 5, 0},
        {"9223372036854775807", 1, INT64_MAX},
        {"9223372036854.775807", 1000000, INT64_MAX},
        {"123456789012345678901234567890e-20", 1000, 1234567890123},
        {"00000000000000000000000000000000000012", 3, 36},
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char *text = ker_format("num_ranks 1\nrank 0 {\ncalc %s\n}\n", times[i].text);
        struct graph *g = read_text(text, times[i].unit, 1);
        if (g->task[0].op[0].amount != times[i].ps)
            print_error("calc %s gives %llu\n", times[i].text, (unsigned long long)g->task[0].op[0].amount);
        assert_true(g->task[0].op[0].amount == times[i].ps);
        graph_free(g);
        free(text);
    }
}

/* As text is written elsewhere: line ends of Windows, no blanks, many blanks, no last newline, one line. */
static void test_forms(void **state)
{
    static const char *const forms[] = {
        "num_ranks 1\r\n\r\nrank 0 {\r\na: calc 5 cpu 2\r\nb: send 8b to 0 tag 1\r\nb requires a\r\n}\r\n",
        "num_ranks 1\nrank 0{\na:calc 5 cpu2\nb:send 8bto0tag1\nb\trequires\ta}",
        "\n\n \t num_ranks\t1 /* x */ // y\n  rank  0  {  \n\ta : calc  5  cpu  2 \n b: send 8 b to 0 tag "
        "1// z\n"
        "b requires a /* a */ // b\n  }  ",
        "num_ranks 1 rank 0 { a: calc 5 cpu 2 /**/ b: send 8b to 0 tag 1 /*\n\n*/ b requires a }",
        "num_ranks 1\nrank 0 {\nrank: calc 5 cpu 2\nsend: send 8b to 0 tag 1\nsend requires rank\n}",
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct graph *g = read_text(forms[i], 1, 1);
        assert_int_equal(g->task[0].ops, 2);
        assert_int_equal(g->task[0].op[0].amount, 5);
        assert_int_equal(g->task[0].op[0].cpu, 2);
        assert_int_equal(g->task[0].op[0].on_done, 1);
        assert_int_equal(g->task[0].op[1].tag, 1);
        assert_int_equal(g->task[0].op[1].before, 1);
        graph_free(g);
    }
}

static const struct {
    const char *text;
    uint32_t line;
    const char *expected;
} bad_files[] = {
    {"", 1, "the file has no statement; a GOAL schedule begins with \"num_ranks N\""},
    {"\n// nothing\n", 2, "the file has no statement; a GOAL schedule begins with \"num_ranks N\""},
    {"rank 0 {\n}\n", 1, "a GOAL schedule begins with \"num_ranks N\"; here is \"rank 0 {\""},
    {"num_ranks x\n", 1, "the number of ranks is expected before \"x\""},
    {"num_ranks -1\n", 1, "the number of ranks is expected before \"-1\""},
    {"num_ranks 0\n", 1, "num_ranks is 0; a schedule has one rank or more"},
    {"num_ranks 4294967295\n", 1, "the number of ranks \"4294967295\" is too large; the most is 2147483647"},
    {"num_ranks 4\nrank 0{}", 1, "num_ranks is 4, more than a file of 20 bytes can have blocks for"},
    {"num_ranks 1\nnum_ranks 1\nrank 0 {\n}\n", 2, "num_ranks is in line 1 already"},
    {"num_ranks 2\ncalc 5\nrank 0 { }", 2,
     "\"calc 5\" is outside of the ranks' blocks; \"rank 0 {\" is expected"},
    {"num_ranks 2\nrank 1 {\n}\nrank 0 {\n}\n", 2,
     "rank 0 is expected before rank 1; each has a block, in ascending order, an idle one \"rank 0 { "
     "}\""},
    {"num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n", 4,
     "rank 0 comes behind rank 0; each has one block, in ascending order"},
    {"num_ranks 2\nrank 0 {\n}\nrank 2 {\n}\n", 4,
     "there is no rank 2: num_ranks in line 1 makes them 0 to 1"},
    {"num_ranks 2\nrank 0 {\n}\n", 3,
     "the file ends before rank 1; num_ranks in line 1 is 2, and each rank has a block"},
    {"num_ranks 1\nrank 0 {\ncalc 1\n", 3,
     "the file ends within the block of rank 0, which begins in line 2 and has no }"},
    {"num_ranks 2\nrank 0 {\ncalc 1\nrank 1 {\n}\n", 4,
     "the block of rank 0, which begins in line 2, has no } before this line"},
    {"num_ranks 1\nrank 0\n{\n}\n", 2, "{ is expected behind \"rank 0\""},
    {"num_ranks 1\nrank 0 {\n}\n/* open\n\n", 4, "the comment that begins here has no end, */"},
};

static void test_refused_files(void **state)
{
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++)
        expect_refused(bad_files[i].text, strlen(bad_files[i].text), bad_files[i].line,
                       bad_files[i].expected);
    expect_refused("num_ranks 1\nrank 0 {\n\0}\n", 24, 1, "this is no text file: it holds a zero byte");
}

static const struct {
    const char *text;
    uint32_t line;
    const char *expected;
} bad_statements[] = {
    {"send 8b to 2", 3, "there is no rank 2: num_ranks in line 1 makes them 0 to 1"},
    {"recv 8b from 4294967295", 3, "there is no rank 4294967295: num_ranks in line 1 makes them 0 to 1"},
    {"send 8b to -1", 3, "a send has one destination, a rank of 0 to 1; -1, any, is for recv"},
    {"recv 8b from -2", 3, "a rank is expected before \"-2\""},
    {"send 8 to 1", 3, "a size is a whole number of bytes and ends with b, as in 8b, before \"to 1\""},
    {"send 8.5b to 1", 3, "a size is a whole number of bytes and ends with b, as in 8b, before \".5b to 1\""},
    {"send 18446744073709551616b to 1", 3,
     "a size \"18446744073709551616b to 1\" is too large; the most is 18446744073709551615"},
    {"send 8b from 1", 3, "\"to RANK\" is expected before \"from 1\""},
    {"recv 8b to 1", 3, "\"from RANK\" is expected before \"to 1\""},
    {"send 8b to 1 cpu 256", 3, "a cpu's number \"256\" is too large; the most is 255"},
    {"recv 8b from 1 nic 256", 3, "a nic's number \"256\" is too large; the most is 255"},
    {"send 8b to 1 tag 4294967296", 3, "a tag \"4294967296\" is too large; the most is 4294967295"},
    {"send 8b to 1 tag -2", 3, "a tag is expected before \"-2\""},
    {"send 8b to 1 cpu 0 tag 1", 3,
     "\"tag 1\" is too much; behind the rank there may be tag T, cpu C, nic K, in this order"},
    {"calc 5 nic 1", 3, "\"nic 1\" is too much; behind calc TIME there may be cpu C only"},
    {"calc -5", 3, "a time is expected before \"-5\""},
    {"calc", 3, "a time is expected before \"\""},
    {"calc 9223372036854775808", 3,
     "the time \"9223372036854775808\" is too long; the longest is 9223372036854775807 ps, about 106 "
     "days"},
    {"calc 1e19", 3, "the time \"1e19\" is too long; the longest is 9223372036854775807 ps, about 106 days"},
    {"a: b: calc 5", 3, "calc, send or recv is expected behind the label \"a\""},
    {"wait 5", 3,
     "\"wait 5\" is no statement of a rank; there are calc, send, recv (with or without \"LABEL:\" in "
     "front), \"LABEL requires LABEL\", irequires, and }"},
    {"a: calc 1\na requires b", 4, "rank 0 has no label \"b\""},
    {"a: calc 1\nb requires a\nc: calc 1\nb: calc 1", 4,
     "the label \"b\" is defined in line 6 only; labels are defined before they are used"},
    {"a: calc 1\na irequires other", 4,
     "rank 0 has no label \"other\"; rank 1 has one in line 7, but dependencies are between operations "
     "of one rank"},
    {"a: calc 1\na requires", 4, "a label is expected before \"\""},
    {"a: calc 1\na requires a a", 4, "\"a\" is too much; a dependency is between two labels"},
    {"a: calc 1\na requires a", 3,
     "operations of rank 0 wait for one another, a cycle of 1: line 3 waits for line 3"},
};

static void test_refused_statements(void **state)
{
    for (size_t i = 0; i < sizeof bad_statements / sizeof *bad_statements; i++)
        expect_block_refused(bad_statements[i].text, bad_statements[i].line, bad_statements[i].expected);
}

/* A label of an earlier rank is gone, though the same one was there; and the operation before the cycle and
 * the one behind it are none of it. */
static void test_refused_dependencies(void **state)
{
    struct graph *g;
    const char *text =
        "num_ranks 2\nrank 0 {\na: calc 1\nb: calc 1\n}\nrank 1 {\nb: calc 1\nb requires a\n}\n";
    expect_refused(text, strlen(text), 8,
                   "rank 1 has no label \"a\"; rank 0 has one in line 3, but dependencies are between "
                   "operations of one rank");
    for (uint32_t first = 0; first < 2; first++) { /* whoever keeps the rank or does not */
        assert_int_equal(read_unit(&g, "tests/tasks/goal/cycle.goal", 1, first, 1), KER_BAD_INPUT);
        assert_string_equal(
            error.text,
            "tests/tasks/goal/cycle.goal:4: operations of rank 0 wait for one another, a cycle of "
            "3: line 4 waits for line 6, line 6 waits for line 5, line 5 waits for line 4");
    }
    assert_int_equal(read_unit(&g, "tests/tasks/goal/none.goal", 1, 0, 1), KER_BAD_INPUT);
    assert_string_equal(error.text, "tests/tasks/goal/none.goal: cannot be read: No such file or directory");
    assert_int_equal(read_unit(&g, "tests/tasks/goal", 1, 0, 1), KER_BAD_INPUT);
    assert_true(graph_goal_known("tests/tasks/goal/all.goal") &&
                graph_goal_known("tests/fuzz/corpus/goal/two.bin"));
    assert_false(graph_goal_known("tests/tasks/goal") || graph_goal_known("tests/tasks/goal/none.goal") ||
                 graph_goal_known("tests/tasks/test_goal.c"));
    /* The file has become another one since its tasks were counted. */
    assert_int_equal(read_unit(&g, "tests/tasks/goal/all.goal", 1, 2, 2), KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "all.goal:2: num_ranks is 3, not what it was"));
}

/* More than a piece of the file, with lines and comments over their borders; a rank of many labels before
 * many ranks of few. Rank 0 is a chain of 60000, the others a send that waits for a calculation. */
static void test_long(void **state)
{
    enum { CHAIN = 60000, RANKS = 20000 };
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    fprintf(out, "num_ranks %d\nrank 0 {\n", RANKS);
    for (int i = 0; i < CHAIN; i++) {
        fprintf(out, "label_%d: calc %d /* a comment\nof two lines */\n", i, i);
        if (i)
            fprintf(out, "label_%d requires label_%d\n", i, i - 1);
    }
    fprintf(out, "}\n");
    for (int i = 1; i < RANKS; i++)
        fprintf(out, "rank %d {\nl: calc 1\nm: send 1b to %d\nm requires l\n}\n", i, i - 1);
    fclose(out);
    struct graph *g = read_text(text, 1, RANKS);
    assert_int_equal(g->task[0].ops, CHAIN);
    for (uint32_t i = 0; i + 1 < CHAIN; i++) {
        assert_int_equal(g->task[0].op[i].amount, i);
        assert_int_equal(g->task[0].dependent[g->task[0].op[i].first], i + 1);
        assert_int_equal(g->task[0].op[i].line, i ? 3 * i + 2 : 3);
    }
    for (uint32_t t = 1; t < RANKS; t++) {
        assert_int_equal(g->task[t].op[1].peer, t - 1);
        assert_int_equal(g->task[t].dependent[0], 1);
    }
    graph_free(g);
    free(text);
    char *line = ker_alloc(3 << 20);
    memset(line, ' ', 3 << 20);
    memcpy(line, "num_ranks 1\n", 12);
    expect_refused(line, 3 << 20, 2, "the line is longer than 1048576 bytes");
    free(line);
}

/* Ranks that have read different files of one name are distinguished, wherever they differ. */
static void test_registered(void **state)
{
    struct graph *g;
    int file;
    struct ker_inputs *first = ker_inputs_new(), *second = ker_inputs_new();
    char *path = text_file("num_ranks 1\nrank 0 { }", 22, &file);
    struct graph_form form = {.path = "jobs[0]", .inputs = first, .unit = 1};
    memset(&error, 0, sizeof error);
    assert_int_equal(graph_goal_read(&g, path, &form, 0, 1, &error), KER_OK);
    graph_free(g);
    assert_int_equal(write(file, " ", 1), 1);
    form.inputs = second;
    assert_int_equal(graph_goal_read(&g, path, &form, 0, 1, &error), KER_OK);
    graph_free(g);
    size_t bytes;
    const void *packed = ker_inputs_packed(first, &bytes);
    assert_int_equal(ker_inputs_since(first, packed, bytes, &error), KER_OK);
    assert_int_not_equal(ker_inputs_since(second, packed, bytes, &error), KER_OK);
    ker_inputs_free(first);
    ker_inputs_free(second);
    close(file);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_order_of_dependents),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_refused_files),
        cmocka_unit_test(test_refused_statements),
        cmocka_unit_test(test_refused_dependencies),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_registered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
