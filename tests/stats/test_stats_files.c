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

/* ---- a table of every type of column ---- */

struct row {
    uint64_t key, text, small, number, time, part, sum, count;
};

static const char *const texts[] = {"node", "level 1, \"fast\""};

static const char *row_text(const void *context, uint32_t id)
{
    return texts[id];
}

static bool never(const void *context)
{
    return false;
}

#define COLUMNS(COLUMN)                                                                                      \
    COLUMN(class, "", TEXT, SAME, row->text, "a text", .text = row_text)                                     \
    COLUMN(small, "", U8, SUM, row->small, "one byte")                                                       \
    COLUMN(port, "", U16, MOST, row->small, "two")                                                           \
    COLUMN(id, "", U32, SUM, row->small, "four")                                                             \
    COLUMN(bytes, "bytes", U64, SUM, row->number, "eight")                                                   \
    COLUMN(finish_ps, "ps", TIME, MOST, row->time, "may be empty")                                           \
    COLUMN(use, "", SHARE, SUM, row->part, "of the span")                                                    \
    COLUMN(hidden, "", U64, SUM, row->number, "not in this table", .wanted = never)                          \
    COLUMN(mean_ps, "ps", MEAN, SUM, (stats_cell)row->sum << 8, "of 16 bytes", .by = "count")                \
    COLUMN(count, "", U64, SUM, row->count, "what the mean is of")

static uint64_t row_key(const void *row)
{
    return ((const struct row *)row)->key;
}

STATS_OWN_SCHEMA(things, struct row, COLUMNS, row_key, "things", "One row per thing.")
static const struct stats_schema *const none[] = {NULL}, *const all[] = {&things, NULL};

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
    assert_int_equal(stats_folder_open(deep, none, NULL, &error), KER_OK);
    assert_int_equal(stats_folder_open(deep, none, NULL, &error), KER_OK); /* there already */
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
    assert_int_equal(stats_folder_open(below, none, NULL, &error), KER_BAD_INPUT);
    assert_non_null(strstr(error.text, below));
    assert_non_null(strstr(error.text, "Not a directory"));
    error = (struct ker_error){0};
    assert_int_equal(stats_folder_open(itself, none, NULL, &error), KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "Not a directory"));
    error = (struct ker_error){0};
    assert_int_equal(stats_folder_open("", none, NULL, &error), KER_BAD_INPUT);
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
    temporary = (free(temporary), ker_format("%s/things.csv.tmp", (char *)*state));
    assert_int_equal(symlink("/dev/full", temporary), 0);
    struct stats_table *table = stats_table_new(&things, NULL, 0);
    for (uint64_t i = 0; i < 10000; i++)
        stats_table_add(table, &(struct row){.key = i});
    assert_int_equal(stats_table_write(table, &(struct stats_folder){*state, false}, &error), KER_RUN_FAILED);
    assert_non_null(strstr(error.text, "things.csv: No space left on device"));
    stats_table_free(table);
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

/* Over 3000 ps: 1000 are a third; 4500 are 1.5; 2000 are two thirds, rounded up in the sixth decimal; what
 * needs 128 bits, (2^62 x 2 x 10^6 + 3000) / 6000, is not cut off. The largest counter there is must come out
 * whole. Means: 256 x 5 / 3 = 426.67; 256 x 2^60 / 2^8 = 2^60; none of nothing. */
static struct stats_table *things_table(uint64_t span)
{
    const struct row rows[] = {
        {0, 0, 200, 640, 1000, 1000, 5, 3},
        {1, 1, 255, UINT64_MAX, KER_TIME_MAX, 4500, 1, 0},
        {2, 0, 0, 0, 0, 2000, UINT64_C(1) << 60, 256},
        {3, 0, 1, 7, 8, UINT64_C(1) << 62, 0, 1},
    };
    struct stats_table *table = stats_table_new(&things, NULL, span);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        stats_table_add(table, &rows[i]);
    return table;
}

static void csv_table(void **state)
{
    struct ker_error error = {0};
    struct stats_table *table = things_table(3000);
    assert_int_equal(stats_table_write(table, &(struct stats_folder){*state, false}, &error), KER_OK);
    file_expect(*state, "things.csv",
                "class,small,port,id,bytes,finish_ps,use,mean_ps,count\n"
                "node,200,200,200,640,1000,0.333333,427,3\n"
                "\"level 1, \"\"fast\"\"\",255,255,255,18446744073709551615,,1.500000,,0\n"
                "node,0,0,0,0,0,0.666667,1152921504606846976,256\n"
                "node,1,1,1,7,8,1537228672809129.301333,0,1\n");
    /* A span of nothing divides nothing: no share is known. */
    stats_table_free(table);
    table = things_table(0);
    assert_int_equal(stats_table_write(table, &(struct stats_folder){*state, false}, &error), KER_OK);
    char *text = file_read(*state, "things.csv");
    assert_non_null(strstr(text, "\nnode,200,200,200,640,1000,,427,3\n"));
    free(text);
    stats_table_free(table);
}

static void json_table(void **state)
{
    struct ker_error error = {0};
    struct stats_table *table = things_table(3000);
    assert_int_equal(stats_table_write(table, &(struct stats_folder){*state, true}, &error), KER_OK);
    stats_table_free(table);
    char *text = file_read(*state, "things.json");
    json_t *json = json_loads(text, JSON_DECODE_INT_AS_REAL, NULL), *column, *row;
    assert_non_null(json);
    assert_int_equal(json_array_size(json_object_get(json, "columns")), 9);
    assert_int_equal(json_array_size(json_object_get(json, "rows")), 4);
    column = json_array_get(json_object_get(json, "columns"), 4);
    assert_string_equal(json_string_value(json_object_get(column, "name")), "bytes");
    assert_string_equal(json_string_value(json_object_get(column, "unit")), "bytes");
    assert_string_equal(json_string_value(json_object_get(column, "type")), "integer");
    assert_string_equal(json_string_value(json_object_get(column, "meaning")), "eight");
    row = json_array_get(json_object_get(json, "rows"), 1);
    assert_int_equal(json_array_size(row), 9);
    assert_string_equal(json_string_value(json_array_get(row, 0)), texts[1]);
    assert_true(json_is_null(json_array_get(row, 5)));
    assert_true(json_number_value(json_array_get(row, 6)) == 1.5);
    assert_true(json_is_null(json_array_get(row, 7)));
    json_decref(json);
    free(text);
}

/* What an earlier run left of a table goes, in either form; nothing else does. */
static void old_tables_go(void **state)
{
    struct ker_error error = {0};
    static const char *const names[] = {"things.csv", "things.json", "others.csv"};
    for (int i = 0; i < 3; i++)
        assert_int_equal(stats_text_write(*state, names[i], "old", &error), KER_OK);
    assert_int_equal(stats_folder_open(*state, all, NULL, &error), KER_OK);
    for (int i = 0; i < 3; i++) {
        char *path = ker_format("%s/%s", (char *)*state, names[i]);
        assert_int_equal(access(path, F_OK) == 0, i == 2);
        free(path);
    }
}

/* A column is a line of the list: it is in the file, in the help, and found by its name. */
static void column_is_one_line(void **state)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    stats_tables_help(all, out);
    fclose(out);
    assert_non_null(strstr(text, "things.csv\n  One row per thing.\n"));
    assert_non_null(strstr(text, "\n  bytes                   bytes         integer   sum   eight\n"));
    assert_non_null(strstr(text, "\n  port                    -             integer   most  two\n"));
    free(text);
    struct stats_table *table = things_table(1);
    assert_int_equal(stats_table_find(table, "port", false), 2);
    assert_int_equal(stats_table_find(table, "hidden", true), -1);
    assert_int_equal(stats_table_cell(table, 0, 2), 200);
    assert_string_equal(stats_table_text(table, 1, 0), texts[1]);
    stats_table_free(table);
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
    assert_int_equal(
        stats_histogram_write(&(struct stats_folder){*state, false}, &stats_message_size_schema, q, &error),
        KER_OK);
    file_expect(*state, "message_size.csv",
                "bytes_from,bytes_below,count,count_up_to_here\n"
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

static void widest_line_at_most(const char *text, size_t width_most)
{
    while (*text) {
        size_t width = strcspn(text, "\n");
        assert_true(width <= width_most);
        text += width + (text[width] == '\n');
    }
}

/* The columns of links.csv that the summary looks for. */
struct link {
    uint32_t from, number, busy, queue;
};

static const char *link_kind(const void *context, uint32_t id)
{
    return "switch";
}

static const char *link_class(const void *context, uint32_t id)
{
    return "a very long class";
}

#define LINK_COLUMNS(COLUMN)                                                                                 \
    COLUMN(from_kind, "", TEXT, SAME, 0, "", .text = link_kind)                                              \
    COLUMN(from, "", U32, SAME, row->from, "")                                                               \
    COLUMN(from_port, "", U16, SAME, 63, "")                                                                 \
    COLUMN(to_kind, "", TEXT, SAME, 0, "", .text = link_kind)                                                \
    COLUMN(to, "", U32, SAME, 1048575, "")                                                                   \
    COLUMN(busy_ps, "ps", U64, SUM, row->busy, "")                                                           \
    COLUMN(queue_mean_packets, "", SHARE, SUM, row->queue, "")                                               \
    COLUMN(class, "", TEXT, SAME, row->from, "", .text = link_class)

static uint64_t link_key(const void *row)
{
    return ((const struct link *)row)->number;
}

STATS_OWN_SCHEMA(links_schema, struct link, LINK_COLUMNS, link_key, "links", "")

static void summary_says_it_all(void **state)
{
    json_t *summary = summary_example();
    assert_non_null(summary);
    /* Twelve links, busy by 1..12 %; the two busiest are equal, and the lower order number goes first. */
    struct stats_table *links = stats_table_new(&links_schema, NULL, 1000);
    for (uint32_t i = 0; i < 12; i++)
        stats_table_add(links,
                        &(struct link){1048570 + i, i, i == 10 ? 120 : 10 * (i + 1), i % 2 ? 500 * i : 0});
    struct stats_busiest *busiest = stats_busiest_new(links);
    for (size_t row = 0; row < 12; row++)
        stats_busiest_add(busiest, links, row);
    char *text = stats_summary_text(summary, busiest, 1000);
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
    stats_busiest_free(busiest);
    stats_table_free(links);
    json_decref(summary);
}

/* A summary with nothing in it is short, not a crash. */
static void summary_of_nothing(void **state)
{
    json_t *summary = json_pack("{s:{}}", "result");
    struct stats_table *links = stats_table_new(&links_schema, NULL, 0);
    struct stats_busiest *busiest = stats_busiest_new(links);
    char *text = stats_summary_text(summary, busiest, 0);
    widest_line_at_most(text, 80);
    assert_null(strstr(text, "latency"));
    free(text);
    stats_busiest_free(busiest);
    stats_table_free(links);
    json_decref(summary);
}

static void progress_line_reads_well(void **state)
{
    char line[80];
    /* A quarter of the way after 30 s: 90 s are left. */
    struct stats_pace pace = {
        .now = 25 * KER_US, .end = 100 * KER_US, .done = 0.25, .elapsed_s = 30, .events_per_s = 3.21e6};
    assert_string_equal(stats_progress_line(line, sizeof line, &pace),
                        "  25 us of 100 us  25 %  3.21 M events/s  about 1 min 30 s left");
    /* Without an end, but with half of the steps done, a quarter of them since the run was resumed 30 s ago:
     * 60 s. */
    pace.end = KER_TIME_MAX;
    pace.done = 0.5;
    pace.begun = 0.25;
    assert_string_equal(stats_progress_line(line, sizeof line, &pace),
                        "  25 us simulated  50 %  3.21 M events/s  about 1 min 0 s left");
    pace.done = -1;
    pace.events_per_s = 5000;
    assert_string_equal(stats_progress_line(line, sizeof line, &pace), "  25 us simulated  5 k events/s");
    /* Standard error of a test is no terminal, or it is: neither may crash. */
    struct stats_progress *progress = stats_progress_new(true, KER_TIME_MAX, NULL, NULL);
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
        FOLDER_TEST(csv_table),
        FOLDER_TEST(json_table),
        FOLDER_TEST(old_tables_go),
        cmocka_unit_test(column_is_one_line),
        FOLDER_TEST(histogram_table),
        cmocka_unit_test(summary_says_it_all),
        cmocka_unit_test(summary_of_nothing),
        cmocka_unit_test(progress_line_reads_well),
    };
    return cmocka_run_group_tests_name("stats files", tests, NULL, NULL);
}
