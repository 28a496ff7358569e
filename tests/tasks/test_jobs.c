/* Jobs: placements in both directions, several jobs on one system, placement files, conflicts. */
#include "nodes/nodes.h"
#include "routing/routing.h"
#include "run/tasks/tasks.h"
#include "tasks/jobs/jobs.h"
#include "tasks/jobs/placement.h"
#include "tasks/mpi/mpi.h"
#include "tasks/traffic/traffic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define STAR(nodes)                                                                                          \
    "topology = { kind = \"star\"; nodes = " #nodes "; bandwidth = \"25 GB/s\"; latency = \"30 ns\"; };\n"

struct bench {
    const struct ker_option *tables[16];
    struct ker_config *config;
    struct route_topology *topology;
    struct ker_comm *comm;
    struct node_kinds *kinds;
    struct task_jobs *jobs;
    struct ker_error error;
    enum ker_status status;
};

/* The adapter's keys that the load of traffic is computed from; the network has the real ones. */
static const struct ker_option adapter_options[] = {
    {.key = "switch.classes", .type = KER_TYPE_INT, .fallback = "1", .meaning = "priority classes"},
    {.key = "adapter.packet_size",
     .type = KER_TYPE_BYTES,
     .fallback = "512 B",
     .meaning = "payload of a packet"},
    {.key = "adapter.header", .type = KER_TYPE_BYTES, .fallback = "0 B", .meaning = "header of a packet"},
    {.key = "adapter.headers",
     .type = KER_TYPE_CHOICE,
     .fallback = "plain",
     .choices = "plain|infiniband",
     .meaning = "what they are"},
    {.key = NULL},
};

static void bench_open_topology(struct bench *b, const char *text)
{
    *b = (struct bench){.tables = {route_options, adapter_options, stats_options}, .comm = ker_comm_alone()};
    for (int i = 0; task_option_tables[i]; i++)
        b->tables[i + 3] = task_option_tables[i];
    b->status = ker_config_parse(&b->config, "test.cfg", text, NULL, 0, b->tables, &b->error);
    if (!b->status)
        b->status = route_new(&b->topology, b->config, 4, &b->error);
}

static void bench_open(struct bench *b, const char *text)
{
    bench_open_topology(b, text);
    if (!b->status)
        b->status =
            node_kinds_new(&b->kinds, b->config, route_hosts(route_summarise(b->topology)), 1, &b->error);
    if (!b->status)
        b->status = task_jobs_new(&b->jobs, b->config, b->topology, b->kinds, b->comm, 11, &b->error);
}

static void bench_close(struct bench *b)
{
    task_jobs_free(b->jobs);
    node_kinds_free(b->kinds);
    if (b->topology)
        route_free(b->topology);
    if (b->config)
        ker_config_free(b->config);
    ker_comm_release(b->comm);
}

static void bench_good(struct bench *b, const char *text)
{
    bench_open(b, text);
    if (b->status)
        print_error("%s\n", b->error.text);
    assert_int_equal(b->status, KER_OK);
}

/* Both directions agree: each task is found where it is placed, and nothing else is. */
static void check_inverse(const struct task_jobs *jobs, uint32_t nodes)
{
    uint32_t found = 0, tasks = 0;
    for (uint32_t node = 0; node < nodes; node++) {
        struct task_seat id[64];
        uint32_t count = task_jobs_at(jobs, node, id, 64);
        for (uint32_t i = 0; i < count; i++, found++) {
            struct task_place place = task_jobs_place(jobs, id[i].job, id[i].task);
            assert_int_equal(place.node, node);
            assert_int_equal(place.core, id[i].core);
            if (i > 0)
                assert_true(id[i - 1].job < id[i].job ||
                            (id[i - 1].job == id[i].job && id[i - 1].task < id[i].task));
        }
    }
    for (uint32_t job = 0; job < task_jobs_count(jobs); job++)
        tasks += task_jobs_get(jobs, job)->tasks;
    assert_int_equal(found, tasks);
}

#define JOB(keys) "{ program = \"stencil\"; steps = 1; bytes = 8; " keys " }"

static void test_sequential(void **state)
{
    struct bench b;
    bench_good(&b, STAR(20) "node = { cores = 2; };\njobs = ( " JOB(
                       "extents = [6]; first_node = 5; tasks_per_node = 2;") " );\n");
    /* 6 tasks, 2 a node from node 5 on. */
    for (uint32_t task = 0; task < 6; task++) {
        struct task_place place = task_jobs_place(b.jobs, 0, task);
        assert_int_equal(place.node, 5 + task / 2);
        assert_int_equal(place.core, task % 2);
    }
    assert_string_equal(task_jobs_get(b.jobs, 0)->name, "job0");
    check_inverse(b.jobs, 20);
    bench_close(&b);
}

static void test_strided(void **state)
{
    struct bench b;
    bench_good(&b,
               STAR(12) "jobs = ( " JOB(
                   "extents = [7]; first_node = 2; nodes = 7; placement = \"strided\"; stride = 3;") " );\n");
    /* Range 2..8, stride 3: 2 5 8, then 3 6, then 4 7. */
    static const uint32_t expected[7] = {2, 5, 8, 3, 6, 4, 7};
    for (uint32_t task = 0; task < 7; task++)
        assert_int_equal(task_jobs_place(b.jobs, 0, task).node, expected[task]);
    check_inverse(b.jobs, 12);
    bench_close(&b);
}

static void test_random(void **state)
{
    struct bench b;
    bench_good(&b, STAR(50) "jobs = ( " JOB(
                       "extents = [30]; first_node = 10; last_node = 45; placement = \"random\";") " );\n");
    bool used[50] = {false}, sequential = true;
    for (uint32_t task = 0; task < 30; task++) {
        uint32_t node = task_jobs_place(b.jobs, 0, task).node;
        assert_in_range(node, 10, 45);
        assert_false(used[node]);
        used[node] = true;
        sequential &= node == 10 + task;
    }
    assert_false(sequential);
    check_inverse(b.jobs, 50);
    bench_close(&b);
}

static void test_side_by_side(void **state)
{
    struct bench b;
    bench_good(
        &b,
        STAR(8) "node = { cores = 3; };\n"
                "jobs = ( " JOB("name = \"a\"; extents = [8]; tasks_per_node = 2; first_node = 0;") ",\n" JOB(
                    "name = \"b\"; extents = [4]; first_node = 2; background = true; "
                    "processor_factor = 0.0;") " );\n");
    /* a has cores 0 and 1 of nodes 0..3; b core 2 of nodes 2, 3 and core 0 of 4, 5. */
    assert_int_equal(task_jobs_place(b.jobs, 1, 0).core, 2);
    assert_int_equal(task_jobs_place(b.jobs, 1, 1).core, 2);
    assert_int_equal(task_jobs_place(b.jobs, 1, 2).core, 0);
    assert_true(task_jobs_get(b.jobs, 1)->background);
    assert_true(task_jobs_get(b.jobs, 1)->processor_factor == 0);
    struct task_seat id[2];
    assert_int_equal(task_jobs_at(b.jobs, 2, id, 2), 3); /* two fit, three are there */
    assert_int_equal(id[1].task, 5);
    check_inverse(b.jobs, 8);
    bench_close(&b);
}

/* Five jobs of two tasks on every two of 40,000 nodes: 100,000 jobs. What goes through all jobs for each of
 * them would need minutes; processor time is limited, not real time, since the machine may be busy. */
static void test_many(void **state)
{
    enum { JOBS = 100000 };
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    fputs(STAR(40000) "node = { cores = 5; };\njobs = (", out);
    for (int i = 0; i < JOBS; i++)
        fprintf(out, "%s{ program = \"pingpong\"; first_node = %d; }", i ? ",\n" : "", i % 20000 * 2);
    fputs(");\n", out);
    fclose(out);
    struct rlimit before, limit;
    getrlimit(RLIMIT_CPU, &before);
    limit = before;
    /* The work must not grow with jobs x nodes, which would take hours; where all is made slower on purpose,
     * too. */
    limit.rlim_cur = (rlim_t)(clock() / CLOCKS_PER_SEC) + 1200;
    setrlimit(RLIMIT_CPU, &limit);
    struct bench b;
    bench_good(&b, text);
    check_inverse(b.jobs, 40000);
    for (uint32_t job = 0; job < JOBS; job += 777) {
        struct task_place place = task_jobs_place(b.jobs, job, 1);
        assert_int_equal(place.node, job % 20000 * 2 + 1);
        assert_int_equal(place.core, job / 20000);
    }
    bench_close(&b);
    setrlimit(RLIMIT_CPU, &before);
    free(text);
}

static void expect_refused(const char *text, const char *const *words)
{
    struct bench b;
    bench_open(&b, text);
    assert_int_equal(b.status, KER_BAD_INPUT);
    assert_null(b.jobs);
    for (int i = 0; words[i]; i++) {
        if (!strstr(b.error.text, words[i]))
            print_error("no \"%s\" in: %s\n", words[i], b.error.text);
        assert_non_null(strstr(b.error.text, words[i]));
    }
    bench_close(&b);
}
#define WORDS(...)                                                                                           \
    (const char *const[])                                                                                    \
    {                                                                                                        \
        __VA_ARGS__, NULL                                                                                    \
    }

static void test_refused(void **state)
{
    expect_refused(STAR(8) "jobs = ( " JOB("name = \"a\"; extents = [4]; first_node = 0;") ", " JOB(
                       "name = \"b\"; extents = [4]; first_node = 3;") " );\n",
                   WORDS("'a'", "'b'", "node 3", "jobs[1]"));
    expect_refused(STAR(8) "jobs = ( " JOB("extents = [4]; tasks_per_node = 4;") " );\n",
                   WORDS("node 0", "node.cores is 1"));
    expect_refused(STAR(8) "jobs = ( " JOB("extents = [9];") " );\n", WORDS("9 tasks", "only 8"));
    expect_refused(STAR(8) "jobs = ( " JOB("extents = [4]; tasks = 5;") " );\n",
                   WORDS("jobs[0].tasks", "4 tasks, not 5"));
    expect_refused(STAR(8) "jobs = ( " JOB("extents = [4]; first_node = 8;") " );\n", WORDS("0 to 7"));
    expect_refused(STAR(8) "jobs = ( " JOB("extents = [4]; nodes = 4; last_node = 4;") " );\n",
                   WORDS("not both"));
    expect_refused(
        STAR(8) "jobs = ( " JOB("extents = [4]; nodes = 4; placement = \"strided\"; stride = 5;") " );\n",
        WORDS("4 nodes"));
    expect_refused(STAR(8) "jobs = ( " JOB("extents = [4]; placement = \"file\";") " );\n",
                   WORDS("placement_file"));
    expect_refused(STAR(8) "jobs = ( " JOB(
                       "extents = [4]; placement = \"file\"; placement_file = \"/nowhere/at.all\";") " );\n",
                   WORDS("/nowhere/at.all", "No such file"));
    expect_refused(STAR(8) "jobs = ( " JOB("extents = [4]; restart = true;") " );\n", WORDS("background"));
    expect_refused(STAR(8) "jobs = ( { steps = 1; } );\n",
                   WORDS("jobs[0].steps: means nothing without jobs[0].program"));
}

static void expect_bad_file(const char *text, const char *word)
{
    struct task_place *places;
    uint32_t count;
    bool has_cores;
    struct ker_error error = {0};
    assert_int_equal(
        task_placement_parse("p.txt", text, strlen(text), 10, &places, &count, &has_cores, &error),
        KER_BAD_INPUT);
    if (!strstr(error.text, word))
        print_error("no \"%s\" in: %s\n", word, error.text);
    assert_non_null(strstr(error.text, word));
}

static void test_file_text(void **state)
{
    struct task_place *places;
    uint32_t count;
    bool has_cores;
    struct ker_error error = {0};
    static const char text[] = "# node core\n3 1\n\n  4\t0 # last\r\n9 65535";
    assert_int_equal(
        task_placement_parse("p.txt", text, strlen(text), 10, &places, &count, &has_cores, &error), KER_OK);
    assert_int_equal(count, 3);
    assert_true(has_cores);
    assert_int_equal(places[0].node, 3);
    assert_int_equal(places[0].core, 1);
    assert_int_equal(places[1].node, 4);
    assert_int_equal(places[2].core, 65535);
    free(places);

    expect_bad_file("", "names no node");
    expect_bad_file("# nothing\n", "names no node");
    expect_bad_file("1\n10\n", "p.txt:2: there is no node 10; they go from 0 to 9");
    expect_bad_file("99999999999999999999999\n", "p.txt:1: there is no node");
    expect_bad_file("1\nfoo 2\n", "p.txt:2: \"foo\"");
    expect_bad_file("-1\n", "p.txt:1: \"-1\"");
    expect_bad_file("1x\n", "p.txt:1: \"1x\"");
    expect_bad_file("1 2 3\n", "p.txt:1: more than two");
    expect_bad_file("1 65536\n", "p.txt:1: there is no core 65536");
    expect_bad_file("1 0\n\n2\n", "p.txt:3: has not a core");
    expect_bad_file("1\n2 0\n", "p.txt:2: has a core");
}

static char *write_file(const char *text)
{
    char *path = ker_format("/tmp/test_jobs.%ld.txt", (long)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static void test_file(void **state)
{
    /* No cores named: tasks 0 and 2 share node 6 and take cores 0 and 1 in the order of the tasks. */
    char *path = write_file("6\n1\n6\n0\n");
    char *text = ker_format(STAR(8) "node = { cores = 2; };\njobs = ( " JOB(
                                "extents = [4]; placement = \"file\"; placement_file = \"%s\";") " );\n",
                            path);
    struct bench b;
    bench_good(&b, text);
    assert_int_equal(task_jobs_place(b.jobs, 0, 0).node, 6);
    assert_int_equal(task_jobs_place(b.jobs, 0, 0).core, 0);
    assert_int_equal(task_jobs_place(b.jobs, 0, 2).core, 1);
    assert_int_equal(task_jobs_place(b.jobs, 0, 3).node, 0);
    check_inverse(b.jobs, 8);
    bench_close(&b);
    /* Three on a node of two cores; a core named twice; a core that is not there; a line too few. */
    free(write_file("6\n6\n6\n0\n"));
    expect_refused(text, WORDS("3 tasks on node 6", "node.cores is 2"));
    free(write_file("6 0\n5 0\n6 0\n0 1\n"));
    expect_refused(text, WORDS("core 0 of node 6 is taken twice", "task 0", "task 2"));
    free(write_file("6 0\n5 0\n6 2\n0 1\n"));
    expect_refused(text, WORDS("task 2", "core 2 of node 6"));
    free(write_file("6\n5\n4\n"));
    expect_refused(text, WORDS("places 3 tasks, the job has 4"));
    unlink(path);
    free(path);
    free(text);
}

/* Every strided placement is a bijection: all ranges up to 40 nodes, all strides. */
static void test_strided_is_bijection(void **state)
{
    assert_string_equal(task_placements.list[1]->name, "strided");
    const struct task_placement_law *law = task_placements.list[1]->operations;
    for (uint32_t nodes = 1; nodes <= 40; nodes++)
        for (uint32_t stride = 1; stride <= nodes; stride++) {
            struct task_placement p = {.law = law, .nodes = nodes, .stride = stride};
            for (uint32_t seat = 0; seat < nodes; seat++) {
                assert_true(law->place(&p, seat) < nodes);
                assert_int_equal(law->seat(&p, law->place(&p, seat)), seat);
            }
        }
}

static void test_attach(void **state)
{
    /* A job on nodes 0..3, traffic on 2..5, nothing on 6 and 7. */
    struct bench b;
    bench_open_topology(
        &b,
        STAR(8) "jobs = ( " JOB(
            "extents = [4]; placement = \"random\"; nodes = 4;") " );\n"
                                                                 "traffic = { pattern = \"uniform\"; load = "
                                                                 "0.5; first_node = 2; last_node = 5; };\n");
    assert_int_equal(b.status, KER_OK);
    struct task_system *system;
    struct node_services services = {0};
    assert_int_equal(node_kinds_new(&b.kinds, b.config, 8, 1, &b.error), KER_OK);
    struct node_model model = {.cores = 1, .kinds = b.kinds};
    assert_int_equal(task_system_new(&system, b.config, b.topology, &model, &services, b.comm, 3, &b.error),
                     KER_OK);
    assert_int_equal(services.count, 2);
    assert_ptr_equal(services.at[0].service, &task_mpi_service);
    static const uint32_t nodes[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    void *node_state[8][2] = {{NULL}};
    assert_int_equal(task_system_prepare(system, nodes, 8, b.comm, &b.error), KER_OK);
    task_system_attach(system, nodes, 8, node_state[0]);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(node_state[i][0] != NULL, i < 4);
        assert_int_equal(node_state[i][1] != NULL, i >= 2 && i < 6);
        if (node_state[i][1]) {
            struct net_offer offer; /* traffic stays in its group */
            assert_true(services.at[1].service->offer(node_state[i][1], &offer));
            assert_in_range(offer.destination, 2, 5);
        }
    }
    assert_int_equal(task_system_unfinished(system), 4);
    assert_int_equal(task_system_jobs(system), 1);
    /* Half the bandwidth of 4 of 8 nodes. */
    assert_true(task_system_offered(system, 25000000000u) > 0.2499 &&
                task_system_offered(system, 25000000000u) < 0.2501);
    task_system_free(system);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequential), cmocka_unit_test(test_strided),
        cmocka_unit_test(test_random),     cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_many),       cmocka_unit_test(test_refused),
        cmocka_unit_test(test_file_text),  cmocka_unit_test(test_attach),
        cmocka_unit_test(test_file),       cmocka_unit_test(test_strided_is_bijection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
