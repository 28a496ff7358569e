/* test_stats_ranks.c - merging over ranks. Alone it tests one rank; under mpirun -n N the same values are
 * dealt out to N ranks and must come out the same. */
#include "stats/stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define VALUES 5000

/* Values above 2^60, so that sums and squares carry through all their limbs. */
static uint64_t large(uint64_t counter)
{
    struct ker_bits bits = ker_random_bits(3, KER_PURPOSE_TEST, 1, counter);
    return (UINT64_C(1) << 60) + ((uint64_t)bits.word[0] << 28) + bits.word[1];
}

/* Dealt unevenly: of three ranks the last gets nothing. */
static bool is_mine(struct ker_comm *comm, uint64_t i)
{
    int dealt_to = ker_comm_size(comm) > 2 ? ker_comm_size(comm) - 1 : ker_comm_size(comm);
    return (int)(i * i % 7 % (unsigned)dealt_to) == ker_comm_rank(comm);
}

static void merge_equals_one_rank(void **state)
{
    struct ker_comm *comm = *state;
    struct stats_quantity *own = ker_alloc(sizeof *own), *whole = ker_alloc(sizeof *whole);
    stats_quantity_init(own);
    stats_quantity_init(whole);
    stats_quantity_merge(own, comm); /* nothing anywhere */
    assert_int_equal(own->count, 0);
    for (uint64_t i = 0; i < VALUES; i++) {
        uint64_t value = i % 10 ? large(i) : i;
        stats_quantity_add(whole, value);
        if (is_mine(comm, i))
            stats_quantity_add(own, value);
    }
    uint64_t count = own->count;
    stats_quantity_merge(own, comm);
    if (ker_comm_rank(comm) == 0)
        assert_memory_equal(own, whole, sizeof *whole);
    else
        assert_int_equal(own->count, count);
    free(own);
    free(whole);
}

/* ---- rows of all ranks ---- */

struct thing {
    uint64_t number, count, most;
};

#define COLUMNS(COLUMN)                                                                                      \
    COLUMN(number, "", U32, SAME, row->number, "")                                                           \
    COLUMN(count, "", U64, SUM, row->count, "")                                                              \
    COLUMN(most, "", U16, MOST, row->most, "")                                                               \
    COLUMN(mean, "", MEAN, SUM, (stats_cell)row->count << 64, "", .by = "count")

static uint64_t thing_key(const void *row)
{
    return ((const struct thing *)row)->number;
}

STATS_OWN_SCHEMA(things, struct thing, COLUMNS, thing_key, "things", "")

/* Row i of 300 is thing (299 - i) / 3: each comes three times, with counts i and mosts i mod 7. On rank 0 the
 * things are in order, each once: counts 3 i + ... are sums, mosts the largest of the three. */
static void rows_come_sorted_and_merged(void **state)
{
    struct ker_comm *comm = *state;
    struct stats_table *table = stats_table_new(&things, NULL, 0);
    for (uint64_t i = 0; i < 300; i++)
        if (is_mine(comm, i))
            stats_table_add(table, &(struct thing){(299 - i) / 3, i, i % 7});
    stats_table_gather(table, comm);
    assert_int_equal(stats_table_rows(table), ker_comm_rank(comm) == 0 ? 100 : 0);
    for (size_t row = 0; row < stats_table_rows(table); row++) {
        uint64_t count = 0, most = 0;
        for (uint64_t i = 297 - 3 * row; i < 300 - 3 * row; i++) {
            count += i;
            most = i % 7 > most ? i % 7 : most;
        }
        assert_int_equal(stats_table_key(table, row), row);
        assert_int_equal(stats_table_cell(table, row, 0), row);
        assert_int_equal(stats_table_cell(table, row, 1), count);
        assert_int_equal(stats_table_cell(table, row, 2), most);
        assert_int_equal(stats_table_cell(table, row, 3) >> 64, count);
    }
    stats_table_free(table);
}

/* The same things shown one after the other, this many that no batch holds them: every rank makes every third
 * call's rows in pieces of 1 to 5 rows. */
#define MANY 100000u

struct maker {
    struct ker_comm *comm;
    uint64_t next;
};

static bool rows_make(void *context, struct stats_table *table)
{
    struct maker *m = context;
    uint64_t wanted = 1 + m->next % 5;
    while (wanted && m->next < 3 * MANY) {
        uint64_t i = m->next++;
        if (is_mine(m->comm, i)) {
            stats_table_add(table, &(struct thing){i / 3, i, i % 7});
            wanted--;
        }
    }
    return m->next < 3 * MANY;
}

struct seen {
    uint64_t rows;
    bool wrong;
};

/* Thing n is rows 3 n, 3 n + 1, 3 n + 2: the sum of their counts is 9 n + 3. */
static void row_look(void *context, const struct stats_table *table, size_t row)
{
    struct seen *seen = context;
    uint64_t n = seen->rows++, most = 0;
    for (uint64_t i = 3 * n; i < 3 * n + 3; i++)
        most = i % 7 > most ? i % 7 : most;
    seen->wrong = seen->wrong || stats_table_key(table, row) != n || stats_table_cell(table, row, 0) != n ||
                  stats_table_cell(table, row, 1) != 9 * n + 3 || stats_table_cell(table, row, 2) != most;
}

static void many_rows_go_by(void **state)
{
    struct ker_comm *comm = *state;
    struct stats_table *table = stats_table_new(&things, NULL, 0);
    struct maker maker = {comm, 0};
    struct seen seen = {0};
    uint64_t before = ker_peak_rss();
    stats_table_stream(table, comm, &(struct stats_rows){rows_make, &maker},
                       &(struct stats_visitor){row_look, &seen});
    assert_int_equal(seen.rows, ker_comm_rank(comm) == 0 ? MANY : 0);
    assert_false(seen.wrong);
    assert_int_equal(stats_table_rows(table), 0);
    stats_table_free(table);
    /* A row takes 36 bytes, all of them 10 MB; what is held are some batches of 64 KiB. What is freed
     * AddressSanitizer keeps for a while. */
#ifndef __SANITIZE_ADDRESS__
    assert_in_range(ker_peak_rss() - before, 0, (3u << 20));
#else
    (void)before;
#endif
}

/* Rows that a rank holds, in any order. */
static void held_rows_go_by(void **state)
{
    struct ker_comm *comm = *state;
    struct stats_table *table = stats_table_new(&things, NULL, 0);
    struct seen seen = {0};
    for (uint64_t i = 0; i < 3 * 5000; i++)
        if (is_mine(comm, i))
            stats_table_add(
                table, &(struct thing){(3 * 5000 - 1 - i) / 3, 3 * 5000 - 1 - i, (3 * 5000 - 1 - i) % 7});
    stats_table_show(table, comm, &(struct stats_visitor){row_look, &seen});
    assert_int_equal(seen.rows, ker_comm_rank(comm) == 0 ? 5000 : 0);
    assert_false(seen.wrong);
    stats_table_free(table);
}

static void read_file(const char *folder, const char *name, char *text, size_t room)
{
    char *path = ker_format("%s/%s", folder, name);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    text[fread(text, 1, room - 1, in)] = '\0';
    fclose(in);
    assert_int_equal(unlink(path), 0);
    free(path);
}

static void matrix_is_sorted_and_summed(void **state)
{
    struct ker_comm *comm = *state;
    struct ker_error error = {0};
    char folder[] = "/tmp/marssim-test-XXXXXX";
    bool control = ker_comm_rank(comm) == 0;
    if (control)
        assert_non_null(mkdtemp(folder));
    struct stats_matrix *matrix = stats_matrix_new(&stats_matrix_kinds[STATS_MATRIX_NODE], NULL, true, false);
    /* 3000 additions over 1500 pairs: (i % 1500 / 5, i % 5) in a scrambled order, twice each, 1 message, i %
     * 1500 bytes. 7 has no factor in common with 3000. */
    for (uint64_t n = 0; n < 3000; n++) {
        uint64_t i = n * 7 % 3000;
        if (is_mine(comm, n))
            stats_matrix_add(matrix, (uint32_t)(i % 1500 / 5), (uint32_t)(i % 5), 1, i % 1500);
    }
    assert_int_equal(stats_matrix_write(matrix, comm, &(struct stats_folder){folder, false}, &error), KER_OK);
    stats_matrix_free(matrix);
    if (!control)
        return;
    char *text = ker_alloc(1 << 16), line[64];
    read_file(folder, "matrix.csv", text, 1 << 16);
    assert_int_equal(rmdir(folder), 0);
    const char *at = text;
    const char *head = "from_node,to_node,messages,bytes\n";
    assert_memory_equal(at, head, strlen(head));
    at += strlen(head);
    for (int pair = 0; pair < 1500; pair++) {
        snprintf(line, sizeof line, "%d,%d,2,%d\n", pair / 5, pair % 5, 2 * pair);
        assert_memory_equal(at, line, strlen(line));
        at += strlen(line);
    }
    assert_int_equal(*at, '\0');
    free(text);
}

static void periods_hold_differences(void **state)
{
    struct ker_comm *comm = *state;
    struct ker_error error = {0};
    char folder[] = "/tmp/marssim-test-XXXXXX";
    bool control = ker_comm_rank(comm) == 0;
    if (control)
        assert_non_null(mkdtemp(folder));
    struct stats_periods *periods;
    assert_int_equal(stats_periods_open(&periods, comm, folder, NULL, false, &error), KER_OK);
    /* Only the last rank counts: 10 injected, 5 delivered, 4 of them measured with 10 ps in all; then 2 more
     * with 5 ps each; then nothing; then this many that their sum needs more than 64 bits. */
    bool counts = ker_comm_rank(comm) == ker_comm_size(comm) - 1;
    unsigned __int128 base = (unsigned __int128)1 << 70;
    struct stats_period total = {.time = 1000};
    if (counts)
        total = (struct stats_period){1000, 10, 5, 2048, 10, 4};
    stats_periods_add(periods, &total);
    total.time = 2000;
    if (counts)
        total = (struct stats_period){2000, 10, 7, 3072, 20, 6};
    stats_periods_add(periods, &total);
    total.time = 3000;
    stats_periods_add(periods, &total);
    total.time = 4000;
    if (counts) /* 2^70 ps over 2^40 packets: 2^30 each */
        total = (struct stats_period){4000,      10 + (UINT64_C(1) << 40), 7 + (UINT64_C(1) << 40), 3072,
                                      20 + base, 6 + (UINT64_C(1) << 40)};
    stats_periods_add(periods, &total);
    assert_int_equal(stats_periods_close(periods, &error), KER_OK);
    if (!control)
        return;
    char text[1024];
    read_file(folder, "periods.csv", text, sizeof text);
    assert_int_equal(rmdir(folder), 0);
    /* Means: 10 / 4 = 2.5, half up: 3; (20 - 10) / 2 = 5; none; 2^30. */
    assert_string_equal(text, "time_ps,packets_injected,packets_delivered,packets_in_flight,bytes_delivered,"
                              "packets_measured,packet_latency_mean_ps\n"
                              "1000,10,5,5,2048,4,3\n"
                              "2000,0,2,3,1024,2,5\n"
                              "3000,0,0,3,0,0,\n"
                              "4000,1099511627776,1099511627776,3,0,1099511627776,1073741824\n");
}

int main(int argc, char **argv)
{
    struct ker_error error = {0};
    struct ker_comm *comm;
    if (ker_comm_init(&comm, &argc, &argv, &error) != KER_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(merge_equals_one_rank, comm),
        cmocka_unit_test_prestate(rows_come_sorted_and_merged, comm),
        cmocka_unit_test_prestate(many_rows_go_by, comm),
        cmocka_unit_test_prestate(held_rows_go_by, comm),
        cmocka_unit_test_prestate(matrix_is_sorted_and_summed, comm),
        cmocka_unit_test_prestate(periods_hold_differences, comm),
    };
    int failed = cmocka_run_group_tests_name("stats on ranks", tests, NULL, NULL);
    ker_comm_release(comm);
    return failed;
}
