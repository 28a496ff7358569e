/* test_stats_files.c - result files written and read back, what cannot be written, and the texts people read.
 */
#include "stats/progress.h"
#include "stats/stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int folder_setup(void **state)
{
    char *folder = ker_format("/tmp/marssim-test-XXXXXX");
    *state = mkdtemp(folder);
    return *state ? 0 : -1;
}

static int folder_teardown(void **state)
{
    char *command = ker_format("rm -r %s", (char *)*state);
    int failed = system(command);
    free(command);
    free(*state);
    return failed;
}

/* Malloc'ed. */
static char *file_read(const char *folder, const char *name)
{
    char *path = ker_format("%s/%s", folder, name), *text = ker_alloc(1 << 16);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_true(fread(text, 1, (1 << 16) - 1, in) > 0);
    fclose(in);
    free(path);
    return text;
}

static void file_expect(const char *folder, const char *name, const char *expected)
{
    char *text = file_read(folder, name);
    assert_string_equal(text, expected);
    free(text);
}

static void folder_is_made_with_parents(void **state)
{
    struct ker_error error = {0};
    struct stat status;
    char *deep = ker_format("%s/a/b//c/", (char *)*state);
    assert_int_equal(stats_folder_open(deep, NULL, &error), KER_OK);
    assert_int_equal(stats_folder_open(deep, NULL, &error), KER_OK); /* there already */
    assert_int_equal(stat(deep, &status), 0);
    assert_true(S_ISDIR(status.st_mode));
    assert_int_equal(rmdir(deep), 0); /* the trial file is gone */
    free(deep);
}

/* Root may write everywhere, so the obstacle is a regular file where a folder would be. */
static void folder_that_cannot_be(void **state)
{
    struct ker_error error = {0};
    assert_int_equal(stats_text_write(*state, "links.csv", "x", &error), KER_OK);
    char *below = ker_format("%s/links.csv/results", (char *)*state),
         *itself = ker_format("%s/links.csv", (char *)*state);
    assert_int_equal(stats_folder_open(below, NULL, &error), KER_BAD_INPUT);
    assert_non_null(strstr(error.text, below));
    assert_non_null(strstr(error.text, "Not a directory"));
    error = (struct ker_error){0};
    assert_int_equal(stats_folder_open(itself, NULL, &error), KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "Not a directory"));
    error = (struct ker_error){0};
    assert_int_equal(stats_folder_open("", NULL, &error), KER_BAD_INPUT);
    free(below);
    free(itself);
}

static void missing_folder_is_named(void **state)
{
    struct ker_error error = {0};
    char *gone = ker_format("%s/gone", (char *)*state);
    assert_int_equal(stats_text_write(gone, "summary.txt", "x", &error), KER_RUN_FAILED);
    assert_non_null(strstr(error.text, gone));
    assert_non_null(strstr(error.text, "summary.txt"));
    assert_non_null(strstr(error.text, "No such file or directory"));
    free(gone);
}

/* /dev/full refuses every write; the temporary file is made to lead there. What was there before stays. */
static void full_disk_keeps_the_old_file(void **state)
{
    struct ker_error error = {0};
    if (access("/dev/full", W_OK))
        skip();
    assert_int_equal(stats_text_write(*state, "summary.txt", "old\n", &error), KER_OK);
    char *temporary = ker_format("%s/summary.txt.tmp", (char *)*state);
    assert_int_equal(symlink("/dev/full", temporary), 0);
    assert_int_equal(stats_text_write(*state, "summary.txt", "new\n", &error), KER_RUN_FAILED);
    assert_non_null(strstr(error.text, "summary.txt: No space left on device"));
    assert_int_equal(access(temporary, F_OK), -1);
    file_expect(*state, "summary.txt", "old\n");

    /* The same through the writer of rows, with more than a buffer full. */
    error = (struct ker_error){0};
    temporary = (free(temporary), ker_format("%s/links.csv.tmp", (char *)*state));
    assert_int_equal(symlink("/dev/full", temporary), 0);
    struct stats_link *links = ker_alloc(10000 * sizeof *links);
    const char *const names[] = {"x"};
    assert_int_equal(stats_links_write(*state, links, 10000, names, 1, (struct stats_names){0}, &error),
                     KER_RUN_FAILED);
    assert_non_null(strstr(error.text, "links.csv: No space left on device"));
    free(links);
    free(temporary);
}

static void json_comes_back(void **state)
{
    struct ker_error error = {0};
    json_error_t where;
    /* 0.1 has no short binary form: 17 digits bring back the same double. */
    json_t *object = json_pack("{s:{s:f, s:I, s:s}, s:{}}", "result", "mean", 0.1, "count",
                               (json_int_t)9007199254740993, "end_reason", "time \"up\"", "run");
    assert_non_null(object);
    assert_int_equal(stats_json_write(*state, "summary.json", object, &error), KER_OK);
    char *path = ker_format("%s/summary.json", (char *)*state);
    json_t *back = json_load_file(path, 0, &where);
    assert_non_null(back);
    assert_true(json_equal(object, back));
    json_decref(object);
    json_decref(back);
    free(path);
    /* Sorted keys, two blanks of indentation, an end of line at the end; 0.1 = 0.1000000000000000055. */
    file_expect(
        *state, "summary.json",
        "{\n  \"result\": {\n    \"count\": 9007199254740993,\n    \"end_reason\": \"time \\\"up\\\"\",\n"
        "    \"mean\": 0.10000000000000001\n  },\n  \"run\": {}\n}\n");
}

static void links_table(void **state)
{
    struct ker_error error = {0};
    const char *const names[] = {"node", "level 1, \"fast\""};
    /* Over 3000 ps: 1000 busy is a third; 4500 packet-ps in the queue is a mean of 1.5; 2000 in the input
     * buffer is two thirds, rounded up in the sixth decimal. The largest counter there is must come out
     * whole. */
    const struct stats_link links[] = {
        {.from = 3,
         .from_is_node = 1,
         .to = 7,
         .to_port = 2,
         .packets = 5,
         .bytes = 640,
         .busy_ps = 1000,
         .queue_ps = 4500,
         .queue_max_bytes = 256,
         .input_ps = 2000},
        {.from = 7,
         .from_port = 1,
         .to = 8,
         .to_port = 65535,
         .link_class = 1,
         .order = 1,
         .packets = UINT64_MAX,
         .busy_ps = 3000},
    };
    assert_int_equal(stats_links_write(*state, links, 2, names, 3000, (struct stats_names){0}, &error),
                     KER_OK);
    file_expect(*state, "links.csv",
                "from_kind,from,from_port,to_kind,to,to_port,class,packets,bytes,busy_ps,utilisation,"
                "queue_mean_packets,queue_max_bytes,input_mean_packets\n"
                "node,3,0,switch,7,2,node,5,640,1000,0.333333,1.500000,256,0.666667\n"
                "switch,7,1,switch,8,65535,\"level 1, \"\"fast\"\"\",18446744073709551615,0,3000,1.000000,"
                "0.000000,0,0.000000\n");
    /* A span of nothing divides nothing. */
    assert_int_equal(stats_links_write(*state, links, 0, names, 0, (struct stats_names){0}, &error), KER_OK);
}

static void tasks_table(void **state)
{
    struct ker_error error = {0};
    const char *const names[] = {"lammps"};
    const struct stats_task tasks[] = {
        {0, 0, 12, 3, 1000, 600, 300, 100, 4, 4096, 5, 5120, 2, 70, 80},
        {0, 1, 13, 0, KER_TIME_MAX, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0}, /* never finished: empty */
    };
    assert_int_equal(stats_tasks_write(*state, tasks, 2, names, (struct stats_names){0}, &error), KER_OK);
    file_expect(*state, "tasks.csv",
                "job,task,node,core,finish_ps,compute_ps,wait_ps,send_wait_ps,messages_sent,bytes_sent,"
                "messages_received,bytes_received,passes,poll_gap_ps,finalize_gap_ps\n"
                "lammps,0,12,3,1000,600,300,100,4,4096,5,5120,2,70,80\n"
                "lammps,1,13,0,,1,2,3,4,5,6,7,0,0,0\n");
}

static void histogram_table(void **state)
{
    struct ker_error error = {0};
    struct stats_quantity *q = ker_alloc(sizeof *q);
    stats_quantity_init(q);
    /* 1024 and 1039 share the bin 1024..1039 (see test_stats.c); the last bin begins at 127 x 2^57 and has no
     * end. */
    const uint64_t value[] = {1039, 5, 1024, 5, UINT64_MAX, 1024};
    for (int i = 0; i < 6; i++)
        stats_quantity_add(q, value[i]);
    assert_int_equal(stats_histogram_write(*state, "message_size.csv", "size_bytes", q, &error), KER_OK);
    file_expect(*state, "message_size.csv",
                "size_bytes_from,size_bytes_below,count,count_up_to_here\n"
                "5,6,2,2\n"
                "1024,1040,3,5\n"
                "18302628885633695744,18446744073709551615,1,6\n");
    free(q);
}

static json_t *summary_example(void)
{
    json_t *latency = json_pack("{s:I, s:f, s:f, s:I, s:I, s:I, s:I}", "count", (json_int_t)10, "mean",
                                2500.4, "deviation", 100.0, "min", (json_int_t)2000, "max", (json_int_t)4000,
                                "p50", (json_int_t)2400, "p99", (json_int_t)3900);
    json_t *job =
        json_pack("{s:s, s:i, s:I}", "name", "a job with a name that is much too long for its column",
                  "tasks", 32, "finish_ps", (json_int_t)5000000);
    json_t *stuck = json_pack("{s:s, s:i, s:n}", "name", "stuck", "tasks", 1, "finish_ps");
    json_t *result = json_pack(
        "{s:s, s:s, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:o, s:{s:f, s:i}, s:f, s:f, s:[o, o]}",
        "network", "torus 8x8x8, 512 nodes, 512 switches", "end_reason", "all jobs finished", "nodes", 512,
        "switches", 512, "links", 2048, "simulated_time_ps", (json_int_t)5000000, "packets_injected",
        (json_int_t)1234567, "packets_delivered", (json_int_t)1234560, "bytes_delivered", (json_int_t)4096,
        "messages_delivered", (json_int_t)999, "packet_latency_ps", latency, "hops", "mean", 7.96, "max", 14,
        "offered_load", 0.6, "accepted_load", 0.5871, "jobs", job, stuck);
    json_t *run = json_pack("{s:i, s:f, s:f, s:I, s:I, s:f, s:I, s:I, s:I, s:f}", "ranks", 2, "wall_s", 2.0,
                            "cpu_s", 3.9, "events", (json_int_t)6420000, "packet_hops", (json_int_t)9827100,
                            "packet_hops_per_s", 4913550.0, "peak_rss_bytes", (json_int_t)(8 << 20),
                            "windows", (json_int_t)1000, "epochs", (json_int_t)500, "imbalance", 1.02);
    return json_pack("{s:o, s:o}", "result", result, "run", run);
}

static void widest_line_at_most(const char *text, size_t columns)
{
    while (*text) {
        size_t width = strcspn(text, "\n");
        assert_true(width <= columns);
        text += width + (text[width] == '\n');
    }
}

static void summary_says_it_all(void **state)
{
    json_t *summary = summary_example();
    assert_non_null(summary);
    const char *const names[] = {"node", "a very long class"};
    /* Twelve links, busy by 1..12 %; the two busiest are equal, and the lower order number goes first. */
    struct stats_link links[12] = {{0}};
    for (uint32_t i = 0; i < 12; i++)
        links[i] = (struct stats_link){.from = 1048570 + i,
                                       .from_port = 63,
                                       .to = 1048575,
                                       .link_class = 1,
                                       .order = i,
                                       .busy_ps = 10 * (i + 1),
                                       .queue_ps = i % 2 ? 500 * i : 0};
    links[10].busy_ps = 120;
    char *text = stats_summary_text(summary, links, 12, names, 1000, (struct stats_names){0});
    widest_line_at_most(text, 80);
    if (getenv("SHOW"))
        fputs(text, stdout);
    const char *const expected[] = {
        "torus 8x8x8", "1,234,567 injected, 1,234,560 delivered", "all jobs finished", "mean 7.96, max 14",
        "offered 60.00 %, accepted 58.71 %", "never", "2 ranks, 2.00 s wall, 3.90 s cpu",
        /* 6.42 million events in 2 s */
        "3.21 M events/s, 4.91 M packet-hops/s", "imbalance 1.02",
        /* 500 x 11 / 1000 packets */
        "5.5\n"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_non_null(strstr(text, expected[i]));
    const char *first = strstr(text, "s1048580.63 > s1048575"),
               *second = strstr(text, "s1048581.63 > s1048575");
    assert_true(first && second && first < second);
    assert_null(strstr(text, "s1048570.63")); /* eleventh and twelfth are left out */
    assert_null(strstr(text, "s1048571.63 > s1048575 a very  2.0 %"));
    free(text);
    json_decref(summary);
}

/* A summary with nothing in it is short, not a crash. */
static void summary_of_nothing(void **state)
{
    json_t *summary = json_pack("{s:{}}", "result");
    char *text = stats_summary_text(summary, NULL, 0, NULL, 0, (struct stats_names){0});
    widest_line_at_most(text, 80);
    assert_null(strstr(text, "latency"));
    free(text);
    json_decref(summary);
}

static void progress_line_reads_well(void **state)
{
    char line[80];
    /* A quarter of the way after 30 s: 90 s are left. */
    struct stats_pace pace = {
        .now = 25 * KER_US, .end = 100 * KER_US, .elapsed_s = 30, .events_per_s = 3.21e6};
    assert_string_equal(stats_progress_line(line, sizeof line, &pace),
                        "  25 us of 100 us  25 %  3.21 M events/s  about 1 min 30 s left");
    pace.end = KER_TIME_MAX;
    pace.events_per_s = 5000;
    assert_string_equal(stats_progress_line(line, sizeof line, &pace), "  25 us simulated  5 k events/s");
    /* Standard error of a test is no terminal, or it is: neither may crash. */
    struct stats_progress *progress = stats_progress_new(true, KER_TIME_MAX);
    stats_progress_show(progress, 1, 1);
    stats_progress_free(progress);
}

#define FOLDER_TEST(function) cmocka_unit_test_setup_teardown(function, folder_setup, folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(folder_is_made_with_parents),
        FOLDER_TEST(folder_that_cannot_be),
        FOLDER_TEST(missing_folder_is_named),
        FOLDER_TEST(full_disk_keeps_the_old_file),
        FOLDER_TEST(json_comes_back),
        FOLDER_TEST(links_table),
        FOLDER_TEST(tasks_table),
        FOLDER_TEST(histogram_table),
        cmocka_unit_test(summary_says_it_all),
        cmocka_unit_test(summary_of_nothing),
        cmocka_unit_test(progress_line_reads_well),
    };
    return cmocka_run_group_tests_name("stats files", tests, NULL, NULL);
}
