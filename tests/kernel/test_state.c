/* test_state.c - files of saved state: what was written is read; what is damaged is refused with a text. */
#include "kernel/state/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct thing {
    uint32_t first;
    uint64_t list[700];
    uint32_t count;
    bool flag;
    char kind[KER_CHUNK_NAME];
};

static void thing_state(struct ker_chunk *c, struct thing *t)
{
    KER_CHUNK(c, t->first);
    t->count = ker_chunk_count(c, t->count, sizeof *t->list);
    for (uint32_t i = 0; i < t->count && i < 700; i++)
        KER_CHUNK(c, t->list[i]);
    t->flag = ker_chunk_bool(c, t->flag);
    ker_chunk_text(c, t->kind);
}

struct found {
    uint64_t things, sum;
    struct thing last;
};

static void thing_load(void *context, struct ker_chunk *c)
{
    struct found *f = context;
    f->last = (struct thing){0};
    thing_state(c, &f->last);
    f->things++;
    f->sum += f->last.list[0] + c->id;
}

static enum ker_status file_read(const char *path, uint32_t version, struct found *f, struct ker_error *error)
{
    struct ker_state_loader loaders[] = {{"thing", version, thing_load, f}, {0}};
    struct ker_state_size size;
    *f = (struct found){0};
    *error = (struct ker_error){0};
    return ker_state_read(path, loaders, &size, error);
}

/* Thing i has the id 5 i, the list i, i + 1, ... of i % 700 + 1 numbers. */
static void file_write(const char *path, uint32_t things)
{
    struct ker_error error = {0};
    struct ker_state_size size;
    struct ker_state_writer *w = ker_state_create(path, &error);
    assert_non_null(w);
    for (uint32_t i = 0; i < things; i++) {
        struct thing t = {.first = i, .count = i % 700 + 1, .flag = i & 1, .kind = "round_robin"};
        for (uint32_t k = 0; k < t.count; k++)
            t.list[k] = i + k;
        thing_state(ker_state_begin(w, "thing", 3, 5 * (uint64_t)i), &t);
        ker_state_end(w);
    }
    assert_int_equal(ker_state_close(w, &size, &error), KER_OK);
    assert_int_equal(size.chunks, things);
}

static char path[] = "/tmp/test-state-XXXXXX";

static int path_make(void **state)
{
    int file = mkstemp(path);
    return file < 0 || close(file);
}

static int path_remove(void **state)
{
    return unlink(path);
}

/* 5,000 things of 2.8 KiB in the mean are 14 MB, several frames: sum over i of (i + 5 i) = 6 x 12,497,500. */
static void read_as_written(void **state)
{
    struct found f;
    struct ker_error error;
    file_write(path, 5000);
    assert_int_equal(file_read(path, 3, &f, &error), KER_OK);
    assert_int_equal(f.things, 5000);
    assert_int_equal(f.sum, 74985000);
    assert_int_equal(f.last.count, 4999 % 700 + 1);
    assert_int_equal(f.last.list[f.last.count - 1], 4999 + 4999 % 700);
    assert_true(f.last.flag);
    assert_string_equal(f.last.kind, "round_robin");
    file_write(path, 0);
    assert_int_equal(file_read(path, 3, &f, &error), KER_OK);
    assert_int_equal(f.things, 0);
}

static void other_versions_refused(void **state)
{
    struct found f;
    struct ker_error error;
    struct ker_state_loader none[] = {{0}};
    struct ker_state_size size;
    file_write(path, 3);
    assert_int_equal(file_read(path, 4, &f, &error), KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "\"thing\" in version 3"));
    assert_int_equal(f.things, 0);
    error = (struct ker_error){0};
    assert_int_equal(ker_state_read(path, none, &size, &error), KER_BAD_INPUT);
    error = (struct ker_error){0};
    assert_int_equal(ker_state_read("/nonexistent", none, &size, &error), KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "/nonexistent"));
}

static char *file_bytes(size_t *bytes)
{
    char *text = malloc(1 << 20);
    FILE *in = fopen(path, "rb");
    *bytes = fread(text, 1, 1 << 20, in);
    fclose(in);
    return text;
}

static enum ker_status parse(const char *data, size_t bytes, struct found *f, struct ker_error *error)
{
    struct ker_state_loader loaders[] = {{"thing", 3, thing_load, f}, {0}};
    struct ker_state_size size;
    *f = (struct found){0};
    *error = (struct ker_error){0};
    enum ker_status status = ker_state_parse("memory", data, bytes, loaders, &size, error);
    assert_int_equal(status == KER_OK, error->text[0] == 0);
    return status;
}

/* Every length but the whole one, and every bit. */
static void damage_refused(void **state)
{
    struct found f;
    struct ker_error error;
    size_t bytes;
    file_write(path, 4);
    char *data = file_bytes(&bytes);
    assert_int_equal(parse(data, bytes, &f, &error), KER_OK);
    for (size_t n = 0; n < bytes; n++)
        assert_int_equal(parse(data, n, &f, &error), KER_BAD_INPUT);
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        data[bit / 8] ^= (char)(1 << bit % 8);
        assert_int_equal(parse(data, bytes, &f, &error), KER_BAD_INPUT);
        data[bit / 8] ^= (char)(1 << bit % 8);
    }
    char *longer = calloc(1, bytes + 1);
    memcpy(longer, data, bytes);
    assert_int_equal(parse(longer, bytes + 1, &f, &error), KER_BAD_INPUT);
    assert_int_equal(parse("topology: { kind = \"torus\"; };\n", 31, &f, &error), KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "no state of marssim"));
    free(longer);
    free(data);
}

/* A chunk that says that it has more items than bytes, or an index beyond its table, is bad and does no harm.
 */
static void reading_is_bounded(void **state)
{
    uint8_t data[] = {0xff, 0xff, 0xff, 0xff, 9, 0, 0, 0, 2};
    struct ker_chunk c = {.loads = true, .data = data, .bytes = sizeof data};
    assert_int_equal(ker_chunk_count(&c, 0, 1), 0);
    assert_true(c.bad);
    c.bad = false;
    assert_int_equal(ker_chunk_below(&c, 0, 9), 0);
    assert_true(c.bad);
    c.bad = false;
    ker_chunk_bool(&c, false);
    assert_true(c.bad);
    c.bad = false;
    assert_int_equal(ker_chunk_u64(&c, 77), 0);
    assert_true(c.bad);
}

static void unwritable_refused(void **state)
{
    struct ker_error error = {0};
    assert_null(ker_state_create("/nonexistent/state", &error));
    assert_int_equal(error.status, KER_RUN_FAILED);
    if (access("/dev/full", W_OK) == 0) {
        struct ker_state_size size;
        error = (struct ker_error){0};
        struct ker_state_writer *w = ker_state_create("/dev/full", &error);
        assert_int_equal(ker_state_close(w, &size, &error), KER_RUN_FAILED);
        assert_non_null(strstr(error.text, "/dev/full"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_as_written),    cmocka_unit_test(other_versions_refused),
        cmocka_unit_test(damage_refused),     cmocka_unit_test(reading_is_bounded),
        cmocka_unit_test(unwritable_refused),
    };
    return cmocka_run_group_tests(tests, path_make, path_remove);
}
