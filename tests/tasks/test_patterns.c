/* Patterns of schedules: equal to schedgen's files where they are available, and to small ones written down
 * here; and each of them, of many sizes, is a schedule whose parts fit each other. */
#include "goal_files.h"
#include "tasks/graphs/pattern.h"
#include "tasks/jobs/jobs.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const struct ker_option seedless[] = {{0}};
static const struct ker_option *const tables[] = {task_job_options, seedless, NULL};

/* parameters: "pattern=gather commsize=3", keys of a job. */
static enum ker_status open_pattern(struct graph_pattern **p, const char *parameters)
{
    struct ker_config *config;
    char *words = ker_format("%s", parameters), *given[16], *rest = words;
    int count = 0;
    for (char *word; (word = strtok_r(rest, " \n", &rest)) != NULL;)
        given[count++] = ker_format("jobs[0].%s", word);
    memset(&error, 0, sizeof error);
    *p = NULL;
    enum ker_status status = ker_config_parse(&config, "test", "jobs = ( { program = \"schedule\"; } );",
                                              (const char *const *)given, count, tables, &error);
    while (count)
        free(given[--count]);
    free(words);
    if (status != KER_OK)
        return status;
    status = graph_pattern_open(p, config, "jobs[0]", 7, true, &error);
    ker_config_free(config);
    return status;
}

static struct graph *make(const char *parameters)
{
    struct graph_pattern *p;
    enum ker_status status = open_pattern(&p, parameters);
    if (status != KER_OK)
        print_error("%s: %s\n", parameters, error.text);
    assert_int_equal(status, KER_OK);
    struct graph *graph = graph_pattern_graph(p, NULL, 0, p->tasks);
    graph_pattern_close(p);
    return graph;
}

static void expect_refused(const char *parameters, const char *why)
{
    struct graph_pattern *p;
    if (open_pattern(&p, parameters) != KER_BAD_INPUT)
        fail_msg("%s: is not refused", parameters);
    if (!strstr(error.text, why))
        print_error("%s\n", error.text);
    assert_non_null(strstr(error.text, why));
    graph_pattern_close(p);
}

/* Operations, their order and what they wait for. calculations: their lengths, too. */
static void expect_same(const struct graph *a, const struct graph *b, bool calculations)
{
    assert_int_equal(a->tasks, b->tasks);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->longest, b->longest);
    for (uint32_t t = 0; t < a->count; t++) {
        const struct graph_task *x = &a->task[t], *y = &b->task[t];
        assert_int_equal(x->ops, y->ops);
        for (uint32_t i = 0; i < x->ops; i++) {
            const struct graph_op *p = &x->op[i], *q = &y->op[i];
            assert_int_equal(p->kind, q->kind);
            if (calculations || p->kind != GRAPH_CALCULATION)
                assert_int_equal(p->amount, q->amount);
            assert_int_equal(p->peer, q->peer);
            assert_int_equal(p->tag, q->tag);
            assert_int_equal(p->before, q->before);
            assert_int_equal(p->on_begin, q->on_begin);
            assert_int_equal(p->on_done, q->on_done);
            assert_true(p->cpu == q->cpu && p->nic == 0 && q->nic == 0);
            assert_memory_equal(x->dependent + p->first, y->dependent + q->first,
                                p->on_done * sizeof *x->dependent);
        }
    }
}

/* These are not schedgen's. Their calculations differ from task to task, which is not compared. */
static const struct {
    const char *file, *parameters;
} stencils[] = {
    {"st1d_32_np_100k", "sides=[32] grid_periodic=false datasize=100000"},
    {"st2d_4x4_p_1k", "sides=[4,4] datasize=1024"},
    {"st3d_4x4x4_p_8k", "sides=[4,4,4] datasize=8192"},
};

static struct graph *reference(const char *name)
{
    char *path = ker_format("../shared/reference/loggopsim/goal/%s.goal", name);
    uint32_t tasks;
    assert_int_equal(graph_goal_tasks(path, &tasks, &error), KER_OK);
    struct graph *graph = read_good(path, 1000, 0, tasks);
    free(path);
    return graph;
}

static void test_files(void **state)
{
    if (access("../shared/reference/loggopsim/goal", R_OK) != 0)
        skip();
    char line[256], name[64];
    int used;
    FILE *list = fopen("tests/tasks/goal/schedgen.txt", "r");
    assert_non_null(list);
    while (fgets(line, sizeof line, list)) {
        assert_int_equal(sscanf(line, "%63s %n", name, &used), 1);
        struct graph *file = reference(name), *made = make(line + used);
        expect_same(file, made, true);
        graph_free(file);
        graph_free(made);
    }
    fclose(list);
    for (size_t i = 0; i < LENGTH(stencils); i++) {
        struct graph *file = reference(stencils[i].file);
        uint32_t steps = 0;
        for (uint32_t n = 0; n < file->task->ops; n++)
            steps += file->task->op[n].kind == GRAPH_CALCULATION;
        char *parameters = ker_format("pattern=stencil timesteps=%u %s", steps, stencils[i].parameters);
        struct graph *made = make(parameters);
        expect_same(file, made, false);
        free(parameters);
        graph_free(file);
        graph_free(made);
    }
}

/* Written by hand, as schedgen's description has them. */
static const struct {
    const char *parameters, *text;
} small[] = {
    /* Of tasks 0 to 4 task 1 has the child 3 in round 1 and none in round 2: that dependency comes twice.
     */
    {"pattern=binomialtreebcast commsize=5 datasize=3",
     "num_ranks 5\nrank 0 {\nsend 3b to 1\nsend 3b to 2\nsend 3b to 4\n}\n"
     "rank 1 {\na: recv 3b from 0\nb: send 3b to 3\nb requires a\nb requires a\n}\n"
     "rank 2 {\nrecv 3b from 0\n}\nrank 3 {\nrecv 3b from 1\n}\nrank 4 {\nrecv 3b from 0\n}\n"},
    {"pattern=binomialtreereduce commsize=4 datasize=3 root=2",
     "num_ranks 4\nrank 0 {\nsend 3b to 2\n}\n"
     "rank 1 {\na: send 3b to 2\nb: recv 3b from 3\na requires b\n}\n"
     "rank 2 {\nrecv 3b from 1\nrecv 3b from 0\n}\nrank 3 {\nsend 3b to 1\n}\n"},
    {"pattern=nwaydissemination commsize=3 nway=1 datasize=5",
     "num_ranks 3\n"
     "rank 0 {\na: send 5b to 1\nb: recv 5b from 2\nc: send 5b to 2\nd: calc 5\ne: recv 5b from 1\n"
     "d requires b\nc requires b\nc requires d\n}\n"
     "rank 1 {\na: send 5b to 2\nb: recv 5b from 0\nc: send 5b to 0\nd: calc 5\ne: recv 5b from 2\n"
     "d requires b\nc requires b\nc requires d\n}\n"
     "rank 2 {\na: send 5b to 0\nb: recv 5b from 1\nc: send 5b to 1\nd: calc 5\ne: recv 5b from 0\n"
     "d requires b\nc requires b\nc requires d\n}\n"},
    {"pattern=pipelinedringdep commsize=3 datasize=5 segmentsize=3",
     "num_ranks 3\nrank 0 {\nsend 3b to 1\nsend 2b to 1\n}\n"
     "rank 1 {\na: recv 3b from 0\nb: send 3b to 2\nb requires a\nc: recv 2b from 0\nd: send 2b to 2\n"
     "d requires c\nc requires b\n}\nrank 2 {\nrecv 3b from 1\nrecv 2b from 1\n}\n"},
    {"pattern=linbarrier commsize=3",
     "num_ranks 3\nrank 0 {\na: calc 0\nb: recv 1b from 1\nc: send 1b to 1\na requires b\nc requires a\n"
     "d: recv 1b from 2\ne: send 1b to 2\na requires d\ne requires a\n}\n"
     "rank 1 {\nsend 1b to 0\nrecv 1b from 0\n}\nrank 2 {\nsend 1b to 0\nrecv 1b from 0\n}\n"},
    {"pattern=allreduce_recdoub commsize=2 datasize=9 rpl_dep_cmp=7",
     "num_ranks 2\nrank 0 {\nsend 4b to 1\nrecv 4b from 1\na: calc 7\nb: send 4b to 1\nb requires a\n"
     "recv 4b from 1\n}\n"
     "rank 1 {\nsend 4b to 0\nrecv 4b from 0\na: calc 7\nb: send 4b to 0\nb requires a\n"
     "recv 4b from 0\n}\n"},
    {"pattern=dissemination commsize=2 nb=9 nb_poll=4 cpu=3",
     "num_ranks 2\n"
     "rank 0 {\na: calc 4 cpu 3\nb: calc 4 cpu 3\nb requires a\nc: calc 4 cpu 3\nc requires b\n"
     "send 1b to 1\nrecv 1b from 1\n}\n"
     "rank 1 {\na: calc 4 cpu 3\nb: calc 4 cpu 3\nb requires a\nc: calc 4 cpu 3\nc requires b\n"
     "send 1b to 0\nrecv 1b from 0\n}\n"},
    {"pattern=gather commsize=2 nb=9 datasize=2",
     "num_ranks 2\nrank 0 {\ncalc 9\nrecv 2b from 1\n}\nrank 1 {\ncalc 9\nsend 2b to 0\n}\n"},
    {"pattern=stencil sides=[3] grid_periodic=false timesteps=2 datasize=6 "
     "timestep=4ns",
     "num_ranks 3\n"
     "rank 0 {\na: calc 4\nb: recv 6b from 1 tag 0\nb requires a\nc: send 6b to 1 tag 1\nc requires a\n"
     "d: calc 4\nd requires b\nd requires c\ne: recv 6b from 1 tag 8\ne requires d\n"
     "f: send 6b to 1 tag 9\nf requires d\n}\n"
     "rank 1 {\na: calc 4\nb: recv 6b from 0 tag 1\nb requires a\nc: recv 6b from 2 tag 0\nc requires a\n"
     "d: send 6b to 0 tag 0\nd requires a\ne: send 6b to 2 tag 1\ne requires a\n"
     "f: calc 4\nf requires b\nf requires c\nf requires d\nf requires e\n"
     "g: recv 6b from 0 tag 9\ng requires f\nh: recv 6b from 2 tag 8\nh requires f\n"
     "i: send 6b to 0 tag 8\ni requires f\nj: send 6b to 2 tag 9\nj requires f\n}\n"
     "rank 2 {\na: calc 4\nb: recv 6b from 1 tag 1\nb requires a\nc: send 6b to 1 tag 0\nc requires a\n"
     "d: calc 4\nd requires b\nd requires c\ne: recv 6b from 1 tag 9\ne requires d\n"
     "f: send 6b to 1 tag 8\nf requires d\n}\n"},
};

/* Five runs of two rounds, each behind a marker of the one before. */
static void test_chained(void **state)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    fputs("num_ranks 3\n", out);
    for (unsigned task = 0; task < 3; task++) {
        fprintf(out, "rank %u {\n", task);
        for (unsigned run = 0; run < 5; run++) {
            for (unsigned r = 0; r < 2; r++)
                fprintf(out, "s%u%u: send 10000b to %u tag %u\nr%u%u: recv 10000b from %u tag %u\n%s", run, r,
                        (task + (1u << r)) % 3, 16877216 + run, run, r, (task + 3 - (1u << r)) % 3,
                        16877216 + run, r ? "" : "\n");
            fprintf(out, "s%u1 requires r%u0\nm%u: calc 0\n", run, run, run);
            if (run)
                fprintf(out, "s%u0 requires m%u\nr%u0 requires m%u\nr%u1 requires m%u\n", run, run - 1, run,
                        run - 1, run, run - 1);
            fprintf(out, "m%u requires s%u0\nm%u requires s%u1\nm%u requires r%u1\n", run, run, run, run, run,
                    run);
        }
        fputs("}\n", out);
    }
    fclose(out);
    struct graph *made = make("pattern=chained_dissem commsize=3"), *read = read_text(text, 1000, 3);
    expect_same(read, made, true);
    graph_free(made);
    graph_free(read);
    free(text);
}

static void test_small(void **state)
{
    for (size_t i = 0; i < LENGTH(small); i++) {
        struct graph *made = make(small[i].parameters), *text = read_text(small[i].text, 1000, made->tasks);
        expect_same(text, made, true);
        graph_free(made);
        graph_free(text);
    }
}

/* What an operation says of what it waits for is what the others say. */
static void counts_check(const struct graph_pattern *p, const struct graph *graph)
{
    for (uint32_t t = 0; t < p->tasks; t++) {
        struct graph_op op;
        for (uint32_t i = 0; i < graph->task[t].ops; i++) {
            graph_pattern_op(p, t, i, &op);
            assert_int_equal(op.before, graph->task[t].op[i].before);
            assert_int_equal(op.on_done, graph->task[t].op[i].on_done);
            assert_true(op.on_begin == 0 &&
                        op.amount <= (op.kind == GRAPH_CALCULATION ? UINT64_MAX : p->longest));
            assert_true(op.before > 0 || i < graph_pattern_first(p, graph->task[t].ops));
        }
    }
}

/* Every message is received: sums over all operations of what a message says of its ends, in each direction.
 */
static void messages_check(const struct graph_pattern *p, const struct graph *graph)
{
    uint64_t sum = 0;
    for (uint32_t t = 0; t < p->tasks; t++)
        for (uint32_t i = 0; i < graph->task[t].ops; i++) {
            const struct graph_op *op = &graph->task[t].op[i];
            bool sends = op->kind == GRAPH_SEND;
            if (op->kind == GRAPH_CALCULATION)
                continue;
            assert_true(op->peer < p->tasks);
            uint64_t ends = sends ? (uint64_t)t << 32 | op->peer : (uint64_t)op->peer << 32 | t;
            uint64_t message = ker_hash(ends ^ ker_hash(op->tag ^ ker_hash(op->amount)));
            sum += sends ? message : -message;
        }
    assert_int_equal(sum, 0);
}

/* One that is a text of its own, which is freed. */
static void pattern_check(char *parameters)
{
    struct graph_pattern *p;
    assert_int_equal(open_pattern(&p, parameters), KER_OK);
    struct graph *graph = make(parameters);
    counts_check(p, graph);
    messages_check(p, graph);
    graph_free(graph);
    graph_pattern_close(p);
    free(parameters);
}

static void test_all(void **state)
{
    static const char *const more[] = {
        "pattern=binomialtreebcast root=1",
        "pattern=binomialtreereduce root=2",
        "pattern=binarytreebcast root=2",
        "pattern=nwaydissemination nway=1",
        "pattern=nwaydissemination nway=2",
        "pattern=nwaydissemination nway=5",
        "pattern=pipelinedring datasize=10 segmentsize=4 root=1",
        "pattern=pipelinedringdep datasize=10 segmentsize=4 root=1",
        "pattern=doublering",
        "pattern=gather root=1",
        "pattern=scatter root=2",
        "pattern=linbarrier",
        "pattern=dissemination",
        "pattern=random_bisect",
        "pattern=random_bisect_fd_sym",
        "pattern=linear_alltoall",
        "pattern=linear_alltoallv datasize=1000 root=1",
        "pattern=linear_alltoallv datasize=1000 outcast=true a2av_skew_ratio=7",
        "pattern=allreduce_ring datasize=100",
        "pattern=resnet",
        "pattern=chained_dissem",
        "pattern=resnet nb=10 nb_poll=3 cpu=1",
        "pattern=scatter nb=10 nb_poll=5 root=1",
        "pattern=chained_dissem nb=0",
    };
    for (size_t i = 0; i < LENGTH(more); i++)
        for (uint32_t size = strstr(more[i], "root") || strstr(more[i], "bisect") ? 3 : 1; size < 70;
             size++) {
            pattern_check(ker_format("%s commsize=%u", more[i], size));
        }
}

static void test_grids(void **state)
{
    static const char *const grids[] = {"[1]",     "[2]",       "[7]",       "[1,1,1]", "[2,3]",
                                        "[5,1,4]", "[2,2,2,2]", "[3,1,4,2]", "[4,4,4]", "[1,6]"};
    for (size_t i = 0; i < 2 * LENGTH(grids); i++) {
        pattern_check(ker_format("pattern=stencil timesteps=3 datasize=12 sides=%s "
                                 "grid_periodic=%s",
                                 grids[i / 2], i % 2 ? "true" : "false"));
    }
    for (uint32_t k = 0; k < 7; k++)
        for (int gap = -1; gap < 2; gap++) {
            pattern_check(ker_format("pattern=allreduce_recdoub commsize=%u datasize=100 %s", 1u << k,
                                     gap < 0 ? "" : "rpl_dep_cmp=3"));
        }
}

/* Of huge ones single tasks are looked at. */
static void test_huge(void **state)
{
    struct graph_pattern *p;
    struct graph_op op;
    assert_int_equal(open_pattern(&p, "pattern=dissemination commsize=2147483647"), KER_OK);
    assert_int_equal(graph_pattern_ops(p, 5), 62);
    graph_pattern_op(p, 2147483646, 60, &op); /* 2^30 further than the last */
    assert_int_equal(op.peer, (1u << 30) - 1);
    graph_pattern_close(p);
    assert_int_equal(open_pattern(&p, "pattern=nwaydissemination commsize=2147483647 nway=1000000"), KER_OK);
    graph_pattern_op(p, 3, 2000000, &op); /* round 1: 1000001 away */
    assert_int_equal(op.peer, 1000004);
    graph_pattern_close(p);
    assert_int_equal(open_pattern(&p, "pattern=stencil sides=[2048,1024,1023] timesteps=9"), KER_OK);
    assert_int_equal(p->tasks, 2048u * 1024 * 1023);
    graph_pattern_op(p, p->tasks - 1, 8 * 13 + 12, &op); /* the last step's send to the upper in x0 */
    assert_int_equal(op.peer, p->tasks - 2048);
    graph_pattern_close(p);
    assert_int_equal(open_pattern(&p, "pattern=random_bisect commsize=2000000001"), KER_OK);
    graph_pattern_op(p, 77, 0, &op);
    struct graph_op other;
    graph_pattern_op(p, op.peer, 0, &other);
    assert_true(other.peer == 77 && op.kind != other.kind);
    graph_pattern_close(p);
}

static void test_refused(void **state)
{
    expect_refused("", "jobs[0].pattern: is missing; it is one of binomialtreebcast, ");
    expect_refused("pattern=chained_dissem datasize=5", "jobs[0].datasize");
    expect_refused("pattern=gather cpu=1", "jobs[0].cpu: means nothing without jobs[].nb");
    expect_refused("pattern=gather nb=5 cpu=256", "jobs[0].cpu");
    expect_refused("pattern=gather nb=1000000000000 nb_poll=7", "jobs[0].nb_poll: makes 142857142858");
    expect_refused("pattern=gather nb=1000000000000 time_unit=1ms", "jobs[0].time_unit: makes");
    expect_refused("pattern=pipelinedring commsize=3 datasize=2000000000 nb=1000000000 nb_poll=1",
                   "makes more than 2^32 operations");
    expect_refused("pattern=gather root=8", "jobs[0].root: there are tasks 0 to 7 only");
    expect_refused("pattern=allreduce_recdoub commsize=12", "a power of two would be right");
    expect_refused("pattern=dissemination commsize=0", "jobs[0].commsize");
    expect_refused("pattern=dissemination root=1", "jobs[0].root");
    expect_refused("pattern=random_bisect commsize=1", "at least two tasks");
    expect_refused("pattern=pipelinedring datasize=8 segmentsize=0", "jobs[0].segmentsize");
    expect_refused("pattern=pipelinedring datasize=1TiB", "makes more than");
    expect_refused("pattern=linear_alltoallv commsize=20000 datasize=5", "at most 16384 tasks");
    expect_refused("pattern=linear_alltoallv datasize=5 a2av_skew_ratio=6", "no size is left");
    expect_refused("pattern=linear_alltoallv datasize=4GiB", "at most 2^31 - 1 bytes");
    expect_refused("pattern=stencil", "jobs[0].sides: is missing");
    expect_refused("pattern=stencil sides=[1,2,3,4,5]", "1 to 4 dimensions");
    expect_refused("pattern=stencil sides=[65536,65536]", "more than 2^31 - 1 tasks");
    expect_refused("pattern=stencil sides=[4] timestep=1000000s processor_factor=9.0", "26 days");
    expect_refused("pattern=nwaydissemination datasize=1TiB time_unit=1s", "26 days");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),   cmocka_unit_test(test_small), cmocka_unit_test(test_chained),
        cmocka_unit_test(test_all),     cmocka_unit_test(test_grids), cmocka_unit_test(test_huge),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
