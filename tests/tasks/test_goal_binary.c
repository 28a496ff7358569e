/* test_goal_binary.c - GOAL schedules in LogGOPSim's binary form: a writer of it, after the layout that
 * goal_binary.c describes, and what is refused; and graphs written as text. */
#include "tests/tasks/goal_files.h"

#include <glob.h>

struct bytes {
    char *text;
    size_t used;
    FILE *out;
};

static void put(struct bytes *b, uint64_t number, size_t bytes)
{
    assert_int_equal(fwrite(&number, bytes, 1, b->out), 1); /* little-endian, as this test's machine */
}

static size_t task_dependents(const struct graph_task *t)
{
    const struct graph_op *last = t->ops ? &t->op[t->ops - 1] : NULL;
    return last ? last->first + last->on_begin + last->on_done : 0;
}

/* What LogGOPSim's text converter makes of a task: those that wait for the end are before those that wait
 * for the begin. */
static void put_task(struct bytes *b, const struct graph_task *t, size_t more)
{
    uint32_t roots = 0, at = 0;
    for (uint32_t i = 0; i < t->ops; i++)
        roots += t->op[i].before == 0;
    put(b, t->ops, 4);
    put(b, roots, 4);
    for (uint32_t i = 0; i < t->ops; i++)
        if (t->op[i].before == 0)
            put(b, i, 4);
    for (const struct graph_op *op = t->op; op < t->op + t->ops; op++) {
        put(b, op->before, 4);
        put(b, op->kind + 1u, 1);
        put(b, op->peer, 4);
        put(b, op->amount, 8);
        put(b, op->tag, 4);
        put(b, op->cpu, 1);
        put(b, op->nic, 1);
        put(b, op->on_done, 4);
        put(b, at, 4);
        put(b, op->on_begin, 4);
        put(b, at += op->on_done, 4);
        at += op->on_begin;
        for (size_t i = 0; i < more; i++)
            put(b, 0, 1);
    }
    for (const struct graph_op *op = t->op; op < t->op + t->ops; op++) {
        for (uint32_t i = 0; i < op->on_done; i++)
            put(b, t->dependent[op->first + op->on_begin + i], 4);
        for (uint32_t i = 0; i < op->on_begin; i++)
            put(b, t->dependent[op->first + i], 4);
    }
}

/* more: bytes of an operation behind those of LogGOPSim. */
static struct bytes binary_of(const struct graph *g, size_t more)
{
    struct bytes b = {.text = NULL};
    b.out = open_memstream(&b.text, &b.used);
    put(&b, 4223, 8);
    put(&b, g->tasks, 4);
    put(&b, g->cpus - 1, 1);
    put(&b, g->nics - 1, 1);
    uint64_t at = 6 + 16 * (uint64_t)g->tasks;
    for (uint32_t i = 0; i < g->tasks; i++) {
        const struct graph_task *t = &g->task[i];
        uint32_t roots = 0;
        for (uint32_t o = 0; o < t->ops; o++)
            roots += t->op[o].before == 0;
        put(&b, at, 8);
        put(&b, at += 8 + 4 * roots + (39 + more) * t->ops + 4 * task_dependents(t), 8);
    }
    for (uint32_t i = 0; i < g->tasks; i++)
        put_task(&b, &g->task[i], more);
    fclose(b.out);
    return b;
}

static void expect_equal_tasks(const struct graph_task *one, const struct graph_task *other)
{
    assert_int_equal(one->ops, other->ops);
    for (uint32_t i = 0; i < one->ops; i++) {
        struct graph_op expected = other->op[i];
        expected.line = i;
        expect_op(one, i, &expected);
    }
    if (task_dependents(one))
        assert_memory_equal(one->dependent, other->dependent, task_dependents(one) * sizeof *one->dependent);
}

/* What is written of a graph gives the same graph. */
static void text_check(const struct graph *g)
{
    struct bytes b = {.text = NULL};
    b.out = open_memstream(&b.text, &b.used);
    graph_goal_write(b.out, g, 1);
    fclose(b.out);
    struct graph *again = read_text(b.text, 1, g->tasks);
    assert_int_equal(again->cpus, g->cpus);
    for (uint32_t i = 0; i < g->tasks; i++) {
        for (uint32_t o = 0; o < again->task[i].ops; o++)
            again->task[i].op[o].line = o; /* the lines are others */
        expect_equal_tasks(&again->task[i], &g->task[i]);
    }
    graph_free(again);
    free(b.text);
}

/* A text, and its binary form: the same graph, of which any part can be kept. */
static void binary_check(const char *path)
{
    int file;
    uint32_t tasks, count = 0;
    assert_int_equal(graph_goal_tasks(path, &tasks, &error), KER_OK);
    struct graph *text = read_good(path, 1, 0, tasks);
    struct bytes b = binary_of(text, 0);
    char *binary_path = text_file(b.text, b.used, &file);
    assert_int_equal(graph_goal_tasks(binary_path, &count, &error), KER_OK);
    assert_int_equal(count, tasks);
    struct graph *binary = read_good(binary_path, 1, tasks / 3, tasks - tasks / 3);
    assert_true(binary->numbered && !text->numbered);
    assert_int_equal(binary->cpus, text->cpus);
    assert_int_equal(binary->nics, text->nics);
    assert_true(binary->longest == text->longest);
    for (uint32_t i = 0; i < binary->count; i++)
        expect_equal_tasks(&binary->task[i], &text->task[tasks / 3 + i]);
    text_check(text);
    graph_free(binary);
    graph_free(text);
    close(file);
    free(binary_path);
    free(b.text);
}

/* Times with a fraction keep it. */
static void test_fractions(void **state)
{
    struct graph *g = read_text("num_ranks 1\nrank 0 {\ncalc 12.05\ncalc 7\ncalc 0.001 cpu 3\n}\n", 1000, 1);
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    graph_goal_write(out, g, 1000);
    fclose(out);
    assert_string_equal(text,
                        "num_ranks 1\n\nrank 0 {\nl1: calc 12.05\nl2: calc 7\nl3: calc 0.001 cpu 3\n}\n");
    graph_free(g);
    free(text);
}

static void test_binary(void **state)
{
    int file;
    binary_check("tests/tasks/goal/all.goal");
    /* Times are multiplied by the unit. */
    struct graph *text = read_text("num_ranks 1\nrank 0 { calc 7 }", 1, 1);
    struct bytes b = binary_of(text, 0);
    char *path = text_file(b.text, b.used, &file);
    struct graph *binary = read_good(path, 1000, 0, 1);
    assert_int_equal(binary->task[0].op[0].amount, 7000);
    graph_free(binary);
    graph_free(text);
    close(file);
    free(path);
    free(b.text);
}

/* The file of two ranks, a calculation before a send and a receive, with some bytes from `at` on changed. */
static void expect_binary_refused(size_t at, uint64_t number, size_t bytes, const char *expected)
{
    int file;
    struct graph *g,
        *text = read_text(
            "num_ranks 2\nrank 0 { a: calc 7\nb: send 8b to 1\nb requires a\n}\nrank 1 { recv 8b from 0 }", 1,
            2);
    struct bytes b = binary_of(text, 0);
    memcpy(b.text + at, &number, bytes);
    char *path = text_file(b.text, b.used, &file);
    assert_int_equal(read_unit(&g, path, 1, 0, 2), KER_BAD_INPUT);
    assert_null(g);
    assert_int_equal(strncmp(error.text, path, strlen(path)), 0);
    assert_string_equal(error.text + strlen(path), expected);
    graph_free(text);
    close(file);
    free(path);
    free(b.text);
}

/* Rank 0 begins at byte 46: 2 operations, 1 root, its number; operations at 58 and 97, one waiter at 136;
 * rank 1 at 140: 1 operation, 1 root, its number, the operation at 152, up to 191. */
static void test_binary_refused(void **state)
{
    expect_binary_refused(
        8, 0, 4,
        ": the header says 0 ranks; 1 to 2147483647 are possible, and a file of 191 bytes has up to 7");
    expect_binary_refused(
        8, 8, 4,
        ": the header says 8 ranks; 1 to 2147483647 are possible, and a file of 191 bytes has up to 7");
    expect_binary_refused(
        14, 39, 8, ": rank 0 begins at byte 47 by the file's table, but what is before it ends at byte 46");
    expect_binary_refused(
        22, 131, 8,
        ": rank 0, bytes 46 to 139 by the file's table, is not filled by its 2 operations of 39 bytes");
    expect_binary_refused(38, 184, 8,
                          ": rank 1 ends at byte 192 by the file's table, at byte 191 by what it has");
    expect_binary_refused(46, UINT32_MAX, 4,
                          ": rank 0, bytes 46 to 140 by the file's table, is not filled by its 4294967295 "
                          "operations of 39 bytes");
    expect_binary_refused(
        62, 4, 1, ": operation 0 of rank 0 is of kind 4; there are 1, send, 2, receive, and 3, calculation");
    expect_binary_refused(67, UINT64_MAX, 8, ": operation 0 of rank 0 has a time of more than 106 days");
    expect_binary_refused(
        79, 1, 1, ": operation 0 of rank 0 has a cpu or nic above the largest that the file's header names");
    expect_binary_refused(102, 2, 4, ": operation 1 of rank 0 has the peer 2; there are the ranks 0 to 1");
    expect_binary_refused(
        85, 1, 4,
        ": the operations that wait for operation 0 of rank 0 are not behind those of the one before");
    expect_binary_refused(97, 2, 4, ": operation 1 of rank 0 waits for 1 more than the file names");
    expect_binary_refused(97, 0, 4,
                          ": operation 1 of rank 0 waits for more than it says, for operation 0, too");
    expect_binary_refused(136, 2, 4, ": operation 2 of rank 0 does not exist, but waits for operation 0");
    struct graph *g, *text = read_good("tests/tasks/goal/all.goal", 1, 0, 3);
    struct bytes b = binary_of(text, 65);
    for (size_t bytes = b.used; bytes > 0; bytes--) { /* LogGOPSim 2's, and all its beginnings */
        int file;
        char *path = text_file(b.text, bytes, &file);
        assert_int_equal(read_unit(&g, path, 1, 0, 1), KER_BAD_INPUT);
        if (bytes == b.used)
            assert_non_null(strstr(error.text, ": is of LogGOPSim 2, whose operations have 104 bytes"));
        close(file);
        free(path);
    }
    graph_free(text);
    free(b.text);
}

/* Everything of LogGOPSim's examples is read, also in the other form. */
static void test_examples(void **state)
{
    glob_t files;
    if (glob("../shared/reference/loggopsim/goal/*.goal", 0, NULL, &files) != 0)
        skip();
    for (size_t i = 0; i < files.gl_pathc; i++)
        binary_check(files.gl_pathv[i]);
    globfree(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_fractions),
        cmocka_unit_test(test_binary_refused),
        cmocka_unit_test(test_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
