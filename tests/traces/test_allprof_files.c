/* test_allprof_files.c - the reader of liballprof traces: files, what is wrong in them, and real ones. */
#include "tests/refusal.h"
#include "tests/traces/allprof_bench.h"

static void expect_refused(struct bench *b, const char *more, const char *text)
{
    assert_refused(bench_open(b, b->folder, more), &b->error, text);
    bench_close(b);
}

static void test_bad_lines(void **state)
{
    static const struct {
        const char *lines, *text;
    } bad[] = {
        {"MPI_Send:1:1:4:1,4,4:0:5:2\n", ":5: MPI_Send has 5 arguments here, 6 would be right"},
        {"MPI_Send:1:1:x:1,4,4:0:5:" WORLD ":2\n", ":5: argument 2 of MPI_Send is \"x\", expected a number"},
        {"MPI_Send:1:1:4:1,4:0:5:" WORLD ":2\n", "expected a datatype"},
        {"MPI_Send:1:1:4:1,4,4:1:5:" WORLD ":2\n", "names rank 1 of a communicator of 1"},
        {"MPI_Send:1:1:4:1,4,4:0:-3:" WORLD ":2\n", "tag -3"},
        {"MPI_Send:1:1:-1:1,4,4:0:3:" WORLD ":2\n",
         ":5: MPI_Send with a count of -1: MPI's counts are ints, 0 to 2147483647"},
        {"MPI_Send:1:1:2147483648:1,4,4:0:3:" WORLD ":2\n", "with a count of 2147483648"},
        {"MPI_Isend:1:1:1099511627776:1,4,4:0:3:" WORLD ":99:2\n", "with a count of 1099511627776"},
        {"MPI_Bsend:1:1:4611686018427387904:1,4,4:0:3:" WORLD ":2\n", "with a count of 4611686018427387904"},
        {"MPI_Send:1:1:18446744073709551621:1,4,4:0:3:" WORLD ":2\n",
         ":5: argument 2 of MPI_Send is \"18446744073709551621\", expected a number"},
        {"MPI_Bcast:1:1:-1:1,4,4:0:" WORLD ":2\n", "MPI_Bcast with a count of -1"},
        {"MPI_Sendrecv:1:1:2:4,8,8:0:5:9:-3:4,4,4:-1:-1:" WORLD ":99:2\n", "MPI_Sendrecv with a count of -3"},
        {"MPI_Send:1:1:2147483647:1,1024,1024:0:3:" WORLD ":2\n", "a message can have 1 TiB at most"},
        {"MPI_Send:1:1:4:1,-4,4:0:3:" WORLD ":2\n", "with a datatype of -4 bytes"},
        {"MPI_Alltoallv:160:77:2:2147483647:9:0:1,1024,4:1:2:5:9:0:2,8,8:" WORLD ":161\n",
         "entry 0 of a list of counts is 2147483647, of 1024 bytes each: a message can have 1 TiB at most"},
        {"MPI_Alltoallv:160:77:2:18446744073709551621:9:0:1,4,4:1:2:5:9:0:2,8,8:" WORLD ":161\n",
         "a list of counts"},
        {"MPI_Send:x:1:4:1,4,4:0:5:" WORLD ":2\n", "start \"x\""},
        {"MPI_Bcast:1:1:4:1,4,4:2:" WORLD ":2\n", "root of MPI_Bcast is 2"},
        {"MPI_Frobnicate:1:2\n", "MPI_Frobnicate is not known"},
        {"MPI_Win_fence:1:1:2:2\n", "one-sided"},
        {"MPI_Intercomm_create:1:2\n", "intercommunicators"},
        {"printf\n", "is no MPI call"},
        {"MPI_Barrier:1:7000,0,2:2\n", "a communicator of 2 tasks, but there are 1 trace files"},
        {"MPI_Init:-:1:2:100\n", "second MPI_Init"},
        {"MPI_Alltoallv:160:77:2:3,4:9:0:1,4,4:1:2:5:9:0:2,8,8:" WORLD ":161\n", "a list of counts"},
        {"MPI_Waitall:160:-1:800:1:161\n", "a number of requests"},
        {TAIL "MPI_Barrier:1:" WORLD ":2\n", "after MPI_Finalize"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct bench b;
        bench_init(&b);
        bench_task(&b, bad[i].lines);
        expect_refused(&b, "", bad[i].text);
    }
}

static void test_bad_files(void **state)
{
    static const struct {
        const char *text, *error;
    } bad[] = {
        {"", "pmpi-trace-rank-0.txt: not a liballprof trace"},
        {"#! /bin/sh\n", ":1: not a liballprof trace"},
        {HEAD, ":4: the file ends without MPI_Finalize"},
        {HEAD "MPI_Barrier:1:" WORLD ":2\nMPI_Barr", ":6: the call MPI_Barr is not known"},
        {BANNER "MPI_Barrier:1:" WORLD ":2\n" TAIL, ":2: MPI_Barrier before MPI_Init"},
    };
    struct bench b;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bench_init(&b);
        bench_raw(&b, bad[i].text);
        expect_refused(&b, "", bad[i].error);
    }
    bench_init(&b);
    expect_refused(&b, "", "no trace here");
    bench_init(&b); /* tasks 0 and 2 */
    bench_task(&b, "");
    b.files = 2;
    bench_task(&b, "");
    expect_refused(&b, "", "pmpi-trace-rank-1.txt is missing, but there is one of task 2");
    bench_init(&b); /* the same task twice */
    bench_task(&b, "");
    char *padded = ker_format("%s/pmpi-trace-rank-00.txt", b.folder);
    text_write(padded, "", 0);
    assert_int_equal(bench_open(&b, b.folder, ""), KER_BAD_INPUT);
    assert_non_null(strstr(b.error.text, "pmpi-trace-rank-0.txt and pmpi-trace-rank-00.txt are both there"));
    unlink(padded);
    free(padded);
    bench_close(&b);
    bench_init(&b); /* a pipe, which nobody writes */
    char *pipe = bench_path(&b, b.files++, "");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    free(pipe);
    expect_refused(&b, "", "pmpi-trace-rank-0.txt: is no regular file");
    bench_init(&b);
    assert_int_equal(bench_open(&b, "/nowhere/at/all", ""), KER_BAD_INPUT);
    assert_non_null(strstr(b.error.text, "/nowhere/at/all: cannot be read"));
    bench_close(&b);
}

/* Numbers with leading zeros, as the tracer writes them from 10 tasks on; calls younger than the tracer. */
static void test_padded_names(void **state)
{
    struct bench b;
    bench_init(&b);
    for (int task = 0; task < 11; task++) {
        char *lines =
            ker_format("MPI_Get_library_version:110:7:8:111\nMPI_Comm_set_info:112:7000,%d,11:8:113\n"
                       "MPI_Aint_add:114:7:8:115\nMPI_Get_elements_x:116:7:1,4,4:8:117\n"
                       "MPI_Barrier:118:7000,%d,11:119\n",
                       task, task);
        bench_task(&b, lines);
        char *plain = bench_path(&b, (uint32_t)task, ""),
             *padded = ker_format("%s/pmpi-trace-rank-%02d.txt", b.folder, task);
        assert_int_equal(rename(plain, padded), 0);
        free(plain);
        free(padded);
        free(lines);
    }
    bench_good(&b);
    assert_int_equal(class->tasks(b.program), 11);
    assert_int_equal(next_call(&b, 10, TASK_OP_COLLECTIVE).collective, TASK_COLL_BARRIER);
    expect_end(&b, 10);
    for (int task = 0; task < 11; task++) {
        char *padded = ker_format("%s/pmpi-trace-rank-%02d.txt", b.folder, task);
        unlink(padded);
        free(padded);
    }
    bench_close(&b);
}

/* Files of different runs: a communicator that the others never make. */
static void test_bad_groups(void **state)
{
    struct bench b;
    bench_init(&b);
    bench_task(&b, SPLIT("7000,0,2", "0", "0", "10"));
    bench_task(&b, BARRIER("7000,1,2"));
    expect_refused(&b, "", "-0.txt:5: the other tasks of this communicator never make the matching call");
    bench_init(&b);
    bench_task(&b, SPLIT("7000,0,2", "0", "0", "10"));
    bench_task(&b, "MPI_Comm_dup:300:7000,1,2:10:301\n");
    expect_refused(&b, "", "by another call");
    bench_init(&b);
    bench_task(&b, BARRIER("7000,1,2"));
    bench_task(&b, BARRIER("7000,0,2"));
    expect_refused(&b, "", "neither the world");
    bench_init(&b); /* MPICH: -1 is MPI_PROC_NULL, so this receive is none */
    bench_task(&b, "MPI_Recv:300:1:4:1,4,4:-1:5:" WORLD ":9:301\n");
    assert_int_equal(bench_open(&b, b.folder, "mpi_library = \"mpich\";"), KER_OK);
    assert_int_equal(next_call(&b, 0, TASK_OP_RECV).peer, TASK_PROC_NULL);
    bench_close(&b);
}

/* Files of different runs, found by their calls. */
static void test_bad_matches(void **state)
{
    struct bench b;
    bench_init(&b); /* one barrier more */
    bench_task(&b, BARRIER("7000,0,2") BARRIER("7000,0,2"));
    bench_task(&b, BARRIER("7500,1,2"));
    expect_refused(
        &b, "",
        "-1.txt:5: on the communicator of 2 tasks first used here, task 1 makes 1 collective calls, but "
        "task 0 2: the files");
    bench_init(&b); /* another root */
    bench_task(&b, "MPI_Bcast:300:1:1:1,4,4:0:7000,0,2:301\n");
    bench_task(&b, "MPI_Bcast:300:1:1:1,4,4:1:7500,1,2:301\n");
    expect_refused(&b, "", "1 others, or in another order");
    bench_init(&b); /* the same calls, cut by a creation at different places: good */
    bench_task(&b, BARRIER("7000,0,2") "MPI_Comm_free:302:77:303\n"
                                       "MPI_Bcast:304:1:1:1,4,4:0:7000,0,2:305\n");
    bench_task(&b, BARRIER("7500,1,2") "MPI_Bcast:304:1:1:1,4,4:0:7500,1,2:305\n");
    bench_good(&b);
    bench_close(&b);
    bench_init(&b); /* two receives, one send */
    bench_task(&b, "MPI_Send:300:1:1:1,4,4:1:7:7000,0,2:301\n");
    bench_task(&b, "MPI_Recv:300:1:1:1,4,4:0:7:7500,1,2:9:301\nMPI_Recv:302:1:1:1,4,4:-1:7:7500,1,2:9:303\n");
    expect_refused(&b, "", "-1.txt:6: task 1 receives 2 messages from all tasks");
    bench_init(&b);
    bench_task(&b, "MPI_Send:300:1:1:1,4,4:0:7:7000,0,2:301\n");
    bench_task(&b, "MPI_Recv:300:1:1:1,4,4:0:7:7500,1,2:9:301\n");
    expect_refused(
        &b, "",
        "-1.txt:5: task 1 receives 1 messages from task 0 on a communicator of 2 tasks (the last one "
        "here), but only 0 are sent");
}

static void test_compressed(void **state)
{
    struct bench b;
    bench_init(&b);
    const char *text = HEAD BARRIER(WORLD) TAIL;
    size_t bytes = strlen(text), room = ZSTD_compressBound(bytes);
    char *packed = ker_alloc(room), *path = bench_path(&b, 0, ".zst");
    room = ZSTD_compress(packed, room, text, bytes, 3);
    text_write(path, packed, room);
    b.files = 1;
    bench_good(&b);
    next_call(&b, 0, TASK_OP_COLLECTIVE);
    expect_end(&b, 0);
    bench_close(&b);
    bench_init(&b);
    free(path);
    path = bench_path(&b, 0, ".zst");
    text_write(path, packed, room - 3);
    b.files = 1;
    expect_refused(&b, "", "ends too early");
    free(packed);
    free(path);
}

/* A whole trace, eager and with rendezvous, forward and backward. */
static void trace_replay(const char *folder, uint32_t tasks, uint64_t messages, struct replay_result *result)
{
    struct bench b = {0};
    if (bench_open(&b, folder, "") != KER_OK)
        print_error("%s\n", b.error.text);
    assert_int_equal(b.status, KER_OK);
    assert_int_equal(class->tasks(b.program), tasks);
    for (int mode = 0; mode < 4; mode++) {
        replay_run(result, class, b.program, mode & 1 ? 1024 : UINT64_MAX, mode >> 1);
        if (!result->ended)
            print_error("%s\n", result->waiting);
        assert_true(result->ended);
        assert_int_equal(result->messages, messages);
        assert_int_equal(result->unreceived, 0);
        assert_int_equal(result->left, 0);
        assert_int_equal(result->tests, 0);
    }
    class->close(b.program);
    ker_comm_release(b.comm);
    ker_config_free(b.config);
}

/* Numbers of calls are counted in the files with grep. */
static void test_real_traces(void **state)
{
    struct replay_result result;
    trace_replay("tests/traces/npb-is.S-8", 8, 7, &result);
    assert_int_equal(result.collectives[TASK_COLL_ALLTOALLV], 88);
    assert_int_equal(result.collectives[TASK_COLL_ALLREDUCE], 88);
    trace_replay("tests/traces/npb-ft.S-4", 4, 0, &result);
    assert_int_equal(result.collectives[TASK_COLL_ALLTOALL], 32);
    assert_int_equal(result.collectives[TASK_COLL_COMM], 8);
    /* 39,744 sends and 2,112 Sendrecv. */
    trace_replay("configs/traces/lammps-lj-32", 32, 41856, &result);
    assert_int_equal(result.collectives[TASK_COLL_ALLREDUCE], 2400);
}

int main(void)
{
    class = &task_allprof_class;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_padded_names), cmocka_unit_test(test_bad_lines),
        cmocka_unit_test(test_bad_files),    cmocka_unit_test(test_bad_groups),
        cmocka_unit_test(test_bad_matches),  cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_real_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
