/* test_files.c - maps of datatypes, views of files, and what calls on files are in the replay. */
#define _GNU_SOURCE
#include "storage/storage.h"
#include "tasks/jobs/jobs.h"
#include "tasks/mpi/mpi.h"
#include "tests/refusal.h"
#include "tests/traces/mars_bench.h"
#include "traces/replay/files.h"

/* ---- maps: against lists of all bytes ---- */

#define MOST 4000
struct bytes {
    int64_t at[MOST];
    size_t count;
};

static void run_list(const struct mars_map_run *r, struct bytes *b)
{
    for (uint64_t o = 0; o < r->outer; o++)
        for (uint64_t i = 0; i < r->count; i++)
            for (uint64_t j = 0; j < r->bytes; j++)
                b->at[b->count++] =
                    r->offset + (int64_t)o * r->outer_stride + (int64_t)i * r->stride + (int64_t)j;
}

static void map_list(const struct mars_map *map, struct bytes *b)
{
    b->count = 0;
    for (uint32_t i = 0; i < map->runs; i++)
        run_list(&map->run[i], b);
}

/* A map as datatypes make one, ascending, and its bytes; it ends below the result. */
static int64_t map_random(struct mars_map *map, struct bytes *b)
{
    static struct bytes one;
    int64_t bytes = 1 + rand() % 4, extent = bytes;
    assert_true(mars_map_add(map, &(struct mars_map_run){.bytes = (uint64_t)bytes, .count = 1, .outer = 1}));
    b->count = (size_t)bytes;
    for (int64_t i = 0; i < bytes; i++)
        b->at[i] = i;
    for (int level = rand() % 4; level > 0 && b->count < 100; level--) {
        int64_t count = 1 + rand() % 4, stride = extent + rand() % 3 * (rand() % 5);
        one = *b;
        b->count = 0;
        if (rand() % 2) { /* at equal distances */
            assert_true(mars_map_repeat(map, (uint64_t)count, stride));
            for (int64_t i = 0; i < count; i++)
                for (size_t j = 0; j < one.count; j++)
                    b->at[b->count++] = one.at[j] + i * stride;
            extent += (count - 1) * stride;
            continue;
        }
        struct mars_map old = *map;
        int64_t place = 0;
        *map = (struct mars_map){0};
        for (int64_t i = 0; i < count; i++, place += extent + rand() % 4) {
            assert_true(mars_map_append(map, &old, place));
            for (size_t j = 0; j < one.count; j++)
                b->at[b->count++] = one.at[j] + place;
        }
        mars_map_release(&old);
        extent = b->at[b->count - 1] + 1;
    }
    return extent;
}

static void equal(const struct bytes *a, const struct bytes *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->at, b->at, a->count * sizeof *a->at);
}

static void test_maps(void **state)
{
    static struct bytes wanted, got;
    static uint8_t data[1 << 16];
    (void)state;
    srand(7);
    for (int trial = 0; trial < 3000; trial++) {
        struct mars_map map = {0}, back;
        (void)map_random(&map, &wanted);
        map_list(&map, &got);
        equal(&wanted, &got);
        struct mars_bytes from = {data, mars_map_put(data, &map), false};
        assert_true(mars_map_get(&back, &from) && from.at == from.end);
        map_list(&back, &got);
        equal(&wanted, &got);
        mars_map_release(&map);
        mars_map_release(&back);
    }
}

/* A vector of 64 blocks, a column, a block of a cube; one run each. */
static void test_maps_are_short(void **state)
{
    struct mars_map map = {0};
    (void)state;
    assert_true(mars_map_add(&map, &(struct mars_map_run){.bytes = 8, .count = 1, .outer = 1}));
    assert_true(mars_map_repeat(&map, 512, 8)); /* 4 KiB of doubles */
    assert_true(mars_map_repeat(&map, 64, 8192));
    assert_true(mars_map_repeat(&map, 1000000, 1 << 20));
    assert_int_equal(map.runs, 1);
    assert_int_equal(map.run->bytes, 4096);
    assert_int_equal(map.run->count, 64);
    assert_int_equal(map.run->outer, 1000000);
    assert_false(mars_map_repeat(&map, 1000000, (int64_t)1 << 50)); /* a third stride is a list */
    mars_map_release(&map);
}

/* ---- views: against all bytes of several copies of the filetype ---- */

static void runs_list(const struct replay_runs *runs, struct bytes *b)
{
    b->count = 0;
    for (size_t i = 0; i < runs->count; i++)
        for (uint32_t j = 0; j < runs->run[i].count; j++)
            for (uint64_t k = 0; k < runs->run[i].bytes; k++)
                b->at[b->count++] = (int64_t)(runs->run[i].offset + j * runs->run[i].stride + k);
}

/* What is said of each place x, of all runs. */
static void places_check(const struct replay_runs *runs, const struct bytes *b)
{
    for (int64_t x = 0; x < b->at[b->count - 1] + 3; x++) {
        uint64_t below = 0, first = UINT64_MAX, last = 0, wanted = 0, after = UINT64_MAX, before = 0;
        for (size_t i = 0; i < runs->count; i++) {
            uint64_t f = replay_run_first(&runs->run[i], (uint64_t)x),
                     l = replay_run_last(&runs->run[i], (uint64_t)x);
            below += store_run_below(&runs->run[i], (uint64_t)x);
            first = f < first ? f : first;
            last = l > last ? l : last;
        }
        for (size_t i = 0; i < b->count; i++) {
            wanted += b->at[i] < x;
            if (b->at[i] >= x && (uint64_t)b->at[i] < after)
                after = (uint64_t)b->at[i];
            if (b->at[i] < x)
                before = (uint64_t)b->at[i] + 1;
        }
        assert_int_equal(below, wanted);
        assert_int_equal(first, after);
        assert_int_equal(last, before);
    }
}

static void test_views(void **state)
{
    static struct bytes tile, wanted, got;
    struct replay_runs runs = {0};
    (void)state;
    srand(8);
    for (int trial = 0; trial < 3000; trial++) {
        struct mars_map map = {0};
        int64_t extent = map_random(&map, &tile) + rand() % 5;
        struct replay_view view = {.displacement = (uint64_t)(rand() % 20),
                                   .unit = 1,
                                   .size = tile.count,
                                   .extent = (uint64_t)extent,
                                   .map = &map};
        uint64_t at = (uint64_t)rand() % (3 * tile.count), bytes = (uint64_t)rand() % (3 * tile.count) + 1;
        wanted.count = 0;
        for (uint64_t i = at; i < at + bytes; i++)
            wanted.at[wanted.count++] =
                (int64_t)view.displacement + (int64_t)(i / tile.count) * extent + tile.at[i % tile.count];
        assert_true(replay_view_runs(&view, at, bytes, &runs));
        runs_list(&runs, &got);
        equal(&wanted, &got);
        assert_false(replay_runs_overlap(&runs));
        if (trial % 20 == 0)
            places_check(&runs, &wanted);
        mars_map_release(&map);
    }
    free(runs.run);
}

/* ---- the replay ---- */

enum {
    INIT = 1,
    FINALIZE,
    OPEN,
    VIEW,
    WRITE,
    WRITE_AT,
    READ_AT,
    IWRITE_AT,
    CLOSE,
    SEEK,
    WAIT,
    WRITE_ALL,
    SYNC,
    OPEN_OLD
};
static const char *const functions[] = {
    [INIT] = "MPI_Init",
    [FINALIZE] = "MPI_Finalize",
    [OPEN] = "MPI_File_open comm name$ value hints$ newfile position",
    [OPEN_OLD] = "MPI_File_open comm name$ value newfile",
    [VIEW] = "MPI_File_set_view file offset etype filetype",
    [WRITE] = "MPI_File_write file bytes got",
    [WRITE_AT] = "MPI_File_write_at file offset bytes got",
    [READ_AT] = "MPI_File_read_at file offset recvbytes got",
    [IWRITE_AT] = "MPI_File_iwrite_at file offset bytes request",
    [CLOSE] = "MPI_File_close file",
    [SEEK] = "MPI_File_seek file offset value",
    [WAIT] = "MPI_Wait requests[] done[]",
    [WRITE_ALL] = "MPI_File_write_all file bytes got",
    [SYNC] = "MPI_File_sync file",
};

/* Datatypes: 1 a byte, 2 of four bytes, 3 of 10 bytes at 0 and 20 at 40 of a hundred, whose map is known, 4
 * likewise, but unknown, 5 whose map overlaps, 6 whose map has too few bytes. */
static void type_define(struct trace *t, uint64_t number, uint64_t size, int64_t extent)
{
    uint8_t data[100], *at = mars_put(mars_put(data, number), size);
    at = mars_put(mars_put_signed(mars_put_signed(at, 0), extent), 5);
    memcpy(at, "pieces", 6);
    mars_writer_define(t->writer, MARS_DEFINE_TYPE, data, (size_t)(at + 6 - data));
}

static void map_define(struct trace *t, uint64_t number, int64_t second)
{
    uint8_t data[200];
    struct mars_map map = {0};
    (void)mars_map_add(&map, &(struct mars_map_run){.bytes = 10, .count = 1, .outer = 1});
    (void)mars_map_add(&map, &(struct mars_map_run){.offset = second, .bytes = 20, .count = 1, .outer = 1});
    mars_writer_define(t->writer, MARS_DEFINE_MAP, data,
                       (size_t)(mars_map_put(mars_put(data, number), &map) - data));
    mars_map_release(&map);
}

static void text_call(struct trace *t, unsigned function, const char *name, int64_t mode, const char *hints,
                      int64_t file)
{
    static const struct mars_times times;
    uint8_t shape[400], *at = mars_put_signed(mars_put(shape, function << 1), 1);
    at = mars_put(at, strlen(name));
    at = (uint8_t *)mempcpy(at, name, strlen(name));
    at = mars_put_signed(at, mode);
    if (function == OPEN) {
        at = mars_put(at, strlen(hints));
        at = (uint8_t *)mempcpy(at, hints, strlen(hints));
    }
    at = mars_put_signed(at, file);
    if (function == OPEN)
        at = mars_put_signed(at, mode & 256 ? 77 : -1);
    mars_writer_call(t->writer, shape, (size_t)(at - shape), &times, NULL, time_of_day);
}

static void wait_call(struct trace *t, int64_t request)
{
    static const struct mars_times times;
    uint8_t shape[60], *at = mars_put_signed(mars_put(mars_put(shape, WAIT << 1), 1), request);
    at = mars_put(at, 4); /* index 0, from -5, 0, 0: as differences */
    for (int i = 0; i < 4; i++)
        at = mars_put_signed(at, (int[]){0, -5, 5, 0}[i]);
    mars_writer_call(t->writer, shape, (size_t)(at - shape), &times, NULL, time_of_day);
}

static void trace_begin(struct trace *t)
{
    trace_defines(t, functions, sizeof functions / sizeof *functions);
    type_define(t, 1, 1, 1);
    type_define(t, 2, 4, 4);
    for (uint64_t i = 3; i <= 6; i++)
        type_define(t, i, i == 6 ? 31 : 30, 100);
    map_define(t, 3, 40);
    map_define(t, 5, 5);
    map_define(t, 6, 40);
    trace_calls(t);
    call(t, INIT, 0, NULL);
}

struct bench {
    struct ker_comm *comm;
    struct ker_config *config;
    struct task_program *program;
    struct ker_error error;
};
static const struct task_program_class *class = &task_replay_class;

static enum ker_status bench_try(struct bench *b, struct trace *t, const char *keys)
{
    const struct ker_option *tables[] = {task_job_options, mpi_options, store_options,
                                         trace_two_phase_options, NULL};
    *b = (struct bench){.comm = ker_comm_alone()};
    call(t, FINALIZE, 0, NULL);
    trace_end(t);
    char *text = ker_format("jobs = ( { program = \"trace\"; trace = \"%s\"; %s } ); "
                            "storage = { servers = { count = 2; }; device = { rate = \"1 GB/s\"; }; "
                            "files = ( { name = \"g\"; bytes = \"77 B\"; } ); };",
                            t->path, keys);
    assert_int_equal(ker_config_parse(&b->config, "test.cfg", text, NULL, 0, tables, &b->error), KER_OK);
    free(text);
    enum ker_status status = class->open(&b->program, b->config, "jobs[0]", b->comm, &b->error);
    if (status == KER_OK)
        status = class->hand(b->program, &(uint32_t){0}, 1, b->comm, &b->error);
    if (status == KER_OK)
        status = class->prepare(b->program, &(uint32_t){0}, 1, &b->error);
    return status;
}

static void bench_close(struct bench *b, const struct trace *t)
{
    class->close(b->program);
    ker_comm_release(b->comm);
    ker_config_free(b->config);
    unlink(t->path);
}

/* All operations: of calls what they ask for, "w 10+20" a run, "r 0+8/100*3" three pieces at distances of
 * 100; others by their kind; =N: request. */
static void ops_print(struct bench *b, char *to, size_t room)
{
    static const char letters[] = "ocsrw";
    struct task_op op;
    for (size_t used = 0; class->next(b->program, 0, &op);) {
        if (op.kind != TASK_OP_CALL) {
            used += (size_t)snprintf(to + used, room - used, "%s ",
                                     op.kind == TASK_OP_WAIT       ? "wait"
                                     : op.kind == TASK_OP_WAITALL  ? "waitall"
                                     : op.kind == TASK_OP_FINALIZE ? "end"
                                     : op.kind == TASK_OP_COMPUTE  ? "compute"
                                                                   : "collective");
            continue;
        }
        struct store_call c = store_call_of(op.words);
        used += (size_t)snprintf(to + used, room - used, "%c", letters[c.op]);
        if (c.op == STORE_READ || c.op == STORE_WRITE)
            used += (size_t)snprintf(to + used, room - used, "%llu+%llu", (unsigned long long)c.run.offset,
                                     (unsigned long long)c.run.bytes);
        if (c.run.count > 1)
            used += (size_t)snprintf(to + used, room - used, "/%llu*%u", (unsigned long long)c.run.stride,
                                     c.run.count);
        if (c.op == STORE_OPEN)
            used += (size_t)snprintf(to + used, room - used, "%llu", (unsigned long long)c.exists);
        used += (size_t)snprintf(to + used, room - used, op.request ? "= " : " ");
    }
}

static void expect(struct trace *t, const char *keys, const char *wanted)
{
    char got[2000] = "";
    struct bench b;
    if (bench_try(&b, t, keys) != KER_OK)
        fail_msg("%s", b.error.text);
    ops_print(&b, got, sizeof got);
    assert_string_equal(got, wanted);
    bench_close(&b, t);
}

static void refused(struct trace *t, const char *keys, const char *words)
{
    struct bench b;
    assert_refused(bench_try(&b, t, keys), &b.error, words);
    bench_close(&b, t);
}

/* Offsets are in units of the view; the file was as long as its furthest byte that was read: 30,002. */
static void test_offsets(void **state)
{
    struct trace t;
    (void)state;
    trace_begin(&t);
    text_call(&t, OPEN, "f", 2, "", 1);
    CALL(&t, WRITE, 1, 100, 100);
    CALL(&t, WRITE, 1, 50, 50);
    CALL(&t, SEEK, 1, 10, 1); /* from where it is */
    CALL(&t, WRITE, 1, 1, 1);
    CALL(&t, WRITE_AT, 1, 7, 3, 3);
    CALL(&t, VIEW, 1, 1000, 2, 2);
    CALL(&t, WRITE, 1, 8, 8);
    CALL(&t, WRITE, 1, 8, 8);
    CALL(&t, READ_AT, 1, 7250, 8, 2); /* two of these 8 bytes came */
    CALL(&t, SYNC, 1);
    CALL(&t, CLOSE, 1);
    expect(&t, "", "collective o30002 w0+100 w100+50 w160+1 w7+3 w1000+8 w1008+8 r30000+8 s c end ");
}

/* What the configuration says goes before what is read: 100 of its bytes are asked for, 77 are there. */
static void test_lengths(void **state)
{
    struct trace t;
    (void)state;
    trace_begin(&t);
    text_call(&t, OPEN, "g", 1, "", 1);
    CALL(&t, READ_AT, 1, 0, 100, 100);
    CALL(&t, CLOSE, 1);
    expect(&t, "", "collective o77 r0+100 c end ");
}

static void test_view_of_pieces(void **state)
{
    struct trace t;
    (void)state;
    trace_begin(&t);
    text_call(&t, OPEN, "f", 2, "", 1);
    CALL(&t, VIEW, 1, 1000, 1, 3);
    CALL(&t, WRITE, 1, 10, 10);        /* the first piece */
    CALL(&t, WRITE_AT, 1, 0, 60, 60);  /* two copies */
    CALL(&t, IWRITE_AT, 1, 25, 10, 1); /* two pieces of one size: a run */
    CALL(&t, IWRITE_AT, 1, 25, 12, 2);
    wait_call(&t, 1);
    wait_call(&t, 2);
    CALL(&t, CLOSE, 1);
    expect(&t, "",
           "collective o0 w1000+10 w1000+10= w1040+20= w1100+10= w1140+20= waitall w1055+5/45*2= w1055+5= "
           "w1100+7= wait wait waitall c end ");
}

/* Of one task in rounds of 100 bytes, from the first byte to the last; holes are read before. */
static void test_collective(void **state)
{
    struct trace t;
    (void)state;
    trace_begin(&t);
    text_call(&t, OPEN, "f", 2, "cb_buffer_size=50;romio_cb_write=enable", 1);
    CALL(&t, VIEW, 1, 1000, 1, 3);
    CALL(&t, WRITE_ALL, 1, 40, 40); /* 1000+10, 1040+20, 1100+10: windows of 50 from 1000 on */
    CALL(&t, CLOSE, 1);
    expect(&t, "",
           "collective o0 collective collective r1000+50 w1000+50 collective r1050+50 w1050+50 collective "
           "w1100+10 "
           "c end ");
    trace_begin(&t);
    text_call(&t, OPEN, "f", 2, "", 1); /* one task's is not interleaved */
    CALL(&t, WRITE_ALL, 1, 40, 40);
    CALL(&t, CLOSE, 1);
    expect(&t, "", "collective o0 collective w0+40 c end ");
}

/* What it took on the traced machine is nothing here; and that is all where calls on files do not travel. */
static void test_traced(void **state)
{
    struct trace t;
    (void)state;
    trace_begin(&t);
    text_call(&t, OPEN, "f", 2, "", 1);
    CALL(&t, WRITE_AT, 1, -7, 3, 3);
    expect(&t, "io = \"traced\";", "end ");
}

static void view_refused(int64_t begin, int64_t type, const char *keys, const char *words)
{
    struct trace t;
    trace_begin(&t);
    text_call(&t, OPEN, "f", 2, "", 1);
    CALL(&t, VIEW, 1, begin, 1, type);
    CALL(&t, WRITE, 1, 30, 30);
    CALL(&t, CLOSE, 1);
    if (words)
        refused(&t, keys, words);
    else
        expect(&t, keys, "collective o0 w5+30 c end ");
}

static void test_refused(void **state)
{
    struct trace t;
    (void)state;
    trace_begin(&t);
    text_call(&t, OPEN, "f", 2, "", 1);
    CALL(&t, WRITE_AT, 1, -7, 3, 3);
    refused(&t, "", "task 0, call 3 (MPI_File_write_at): offset -7: at least 0");
    trace_begin(&t);
    text_call(&t, OPEN, "f", 2, "", 1);
    CALL(&t, CLOSE, 1);
    CALL(&t, WRITE, 1, 3, 3);
    refused(&t, "", "task 0, call 4 (MPI_File_write): file 1 is not open: it has been closed before");
    trace_begin(&t);
    CALL(&t, WRITE, 1, 3, 3);
    refused(&t, "", "file 1 is not open: the trace has no MPI_File_open of it");
    trace_begin(&t);
    text_call(&t, OPEN, "f", 2, "", 1);
    CALL(&t, SEEK, 1, -1, 0);
    refused(&t, "", "the pointer goes to -1: at least 0");
    trace_begin(&t);
    text_call(&t, OPEN, "f", 2, "", 1);
    CALL(&t, SEEK, 1, 0, 2); /* by a tracer that did not say where that is */
    refused(&t, "", "the trace does not say where that is");
    trace_begin(&t);
    text_call(&t, OPEN_OLD, "f", 2 | 256, "", 1);
    refused(&t, "", "the trace does not say how long it is");
    view_refused(-1, 3, "", "a view begins at -1: at least 0");
    view_refused(5, 4, "", "the view's datatype 4 (pieces) has holes, and the trace does not say where");
    view_refused(5, 4, "unknown_views = \"contiguous\";", NULL);
    view_refused(5, 5, "", "overlaps or goes back");
    view_refused(5, 6, "", "datatype 6 has 31 bytes, and places for 30");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maps),       cmocka_unit_test(test_maps_are_short),
        cmocka_unit_test(test_views),      cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_lengths),    cmocka_unit_test(test_view_of_pieces),
        cmocka_unit_test(test_collective), cmocka_unit_test(test_traced),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
