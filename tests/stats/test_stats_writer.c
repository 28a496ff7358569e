/* Tables as files: which are written, and how large they may be. */
#include "stats/stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char *wide_text(const void *context, uint32_t id)
{
    return context;
}

static uint64_t wide_key(const void *row)
{
    return *(const uint64_t *)row;
}

#define WIDE(COLUMN) COLUMN(wide, "", TEXT, SAME, *row, "", .text = wide_text)
STATS_OWN_SCHEMA(schema, uint64_t, WIDE, wide_key, "wide", "")

/* 12,000 rows of 10,001 bytes are 120 MB: a table that nobody has asked for is given up at 100 MB and leaves
 * no file behind; asked for, it is written. */
static void large_tables_are_asked_for(void **state)
{
    char folder[] = "/tmp/marssim-test-XXXXXX";
    assert_non_null(mkdtemp(folder));
    struct ker_error error = {0};
    char *text = ker_alloc(10001);
    memset(text, 'x', 10000);
    for (int asked = 0; asked < 2; asked++) {
        struct stats_table *table = stats_table_new(&schema, text, 0);
        struct stats_writer *writer = stats_writer_open(table, &(struct stats_folder){folder, false},
                                                        asked ? NULL : "output.wide", &error);
        stats_table_add(table, &(uint64_t){0});
        for (uint64_t i = 0; i < 12000; i++)
            stats_writer_row(writer, table, 0);
        assert_int_equal(stats_writer_close(writer, &error), KER_OK);
        stats_table_free(table);
        char *path = ker_format("%s/wide.csv", folder), *part = ker_format("%s.tmp", path);
        struct stat at;
        assert_int_equal(stat(path, &at), asked ? 0 : -1);
        assert_int_equal(stat(part, &at), -1);
        if (asked) {
            assert_int_equal(stat(path, &at), 0);
            assert_int_equal(at.st_size, 5 + 12000 * 10001);
            assert_int_equal(unlink(path), 0);
        }
        free(path);
        free(part);
    }
    free(text);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(large_tables_are_asked_for)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
