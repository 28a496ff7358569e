/* test_allprof_requests.c - the reader of liballprof traces: which request a wait or test is about. */
#include "tests/traces/allprof_bench.h"

static void test_strides(void **state)
{
    struct bench b;
    bench_init(&b);
    /* C: 8 bytes apart; 808 was never used and counts as a null request. */
    bench_task(
        &b,
        IRECV("-1", "800") IRECV(
            "0",
            "816") "MPI_Waitall:200:3:800:1:200\n"
                   "MPI_Wait:200:800:1:200\n"
                   /* Fortran: the handle is small, 4 bytes apart. */
                   "MPI_Irecv:200:1:4:1,4,4:0:5:0,0,1:900:200\nMPI_Irecv:200:1:4:1,4,4:0:5:0,0,1:904:200\n"
                   "MPI_Waitall:200:2:900:1:200\n" LOOSE);
    /* Both handles name the world: a program in two languages. It has one task, so rank and size fit
     * MPI_COMM_SELF too. */
    bench_good(&b);
    assert_int_equal(next_call(&b, 0, TASK_OP_IRECV).request, 1);
    assert_int_equal(next_call(&b, 0, TASK_OP_IRECV).request, 2);
    struct task_op op = next_call(&b, 0, TASK_OP_WAITALL);
    assert_int_equal(op.request_count, 2);
    assert_int_equal(op.requests[0], 1);
    assert_int_equal(op.requests[1], 2);
    /* The Wait on 800, which is null now, is gone. */
    next_call(&b, 0, TASK_OP_IRECV);
    next_call(&b, 0, TASK_OP_IRECV);
    op = next_call(&b, 0, TASK_OP_WAITALL);
    assert_int_equal(op.request_count, 2);
    assert_int_equal(op.requests[1], 4);
    expect_end(&b, 0);
    bench_close(&b);
}

static void test_persistent(void **state)
{
    struct bench b;
    bench_init(&b);
    bench_task(&b, "MPI_Recv_init:200:1:4:1,4,4:0:5:" WORLD ":800:200\n"
                   "MPI_Send_init:200:1:4:1,4,4:0:5:" WORLD ":808:200\n"
                   "MPI_Startall:200:2:800:200\nMPI_Waitall:200:2:800:1:200\n"
                   "MPI_Start:200:808:200\nMPI_Request_free:200:800:200\n"
                   /* overwritten while active: lives on unnamed */
                   "MPI_Isend:200:1:4:1,4,4:0:5:" WORLD ":900:200\nMPI_Isend:200:1:4:1,4,4:0:5:" WORLD
                   ":900:200\n"
                   "MPI_Cancel:200:900:200\n");
    bench_good(&b);
    next_call(&b, 0, TASK_OP_RECV_INIT);
    next_call(&b, 0, TASK_OP_SEND_INIT);
    assert_int_equal(next_call(&b, 0, TASK_OP_START).request, 1);
    assert_int_equal(next_call(&b, 0, TASK_OP_START).request, 2);
    assert_int_equal(next_call(&b, 0, TASK_OP_WAITALL).request_count, 2);
    assert_int_equal(next_call(&b, 0, TASK_OP_START).request, 2);
    assert_int_equal(next_call(&b, 0, TASK_OP_REQUEST_FREE).request, 1);
    assert_int_equal(next_call(&b, 0, TASK_OP_ISEND).request, 3);
    assert_int_equal(next_call(&b, 0, TASK_OP_REQUEST_FREE).request, 3);
    assert_int_equal(next_call(&b, 0, TASK_OP_ISEND).request, 4);
    assert_int_equal(next_call(&b, 0, TASK_OP_CANCEL).request, 4);
    expect_end(&b, 0);
    bench_close(&b);
}

#define TESTANY(start, end) "MPI_Testany:" start ":2:800:1:2:55:" end "\n"

static void test_testany(void **state)
{
    struct bench b;
    bench_init(&b);
    bench_task(&b, IRECV("-1", "800") IRECV("-1", "808")                          /* lines 5, 6 */
               TESTANY("210", "220") TESTANY("221", "230") TESTANY("232", "240")  /* 7, 8: nothing; 9: one */
               "MPI_Get_count:240:55:1,4,4:9:240\n" IRECV("-1", "808")            /* 10, 11 */
               TESTANY("243", "244") "MPI_Send:245:1:4:1,4,4:0:5:" WORLD ":246\n" /* 12: nothing */
               TESTANY("250", "250") "MPI_Waitall:255:2:800:1:256\n" LOOSE);      /* 14: nothing */
    bench_good(&b);
    next_call(&b, 0, TASK_OP_IRECV);
    next_call(&b, 0, TASK_OP_IRECV);
    /* Of the gaps 200-210, 220-221, 230-232 before the successful test, the last two lie between tests:
     * waiting. */
    assert_int_equal(next_op(&b, 0).time, 10 * KER_US);
    /* 808 gets a new request, so 808 was completed; but both receives are equal, and the older one, 1, is
     * first. */
    struct task_op op = next_op(&b, 0);
    assert_int_equal(op.kind, TASK_OP_WAIT);
    assert_int_equal(op.request, 1);
    assert_int_equal(op.line, 9);
    assert_int_equal(next_call(&b, 0, TASK_OP_IRECV).request, 3);
    next_call(&b, 0, TASK_OP_SEND);
    /* 800 has the younger of the first two now. */
    op = next_call(&b, 0, TASK_OP_WAITALL);
    assert_int_equal(op.requests[0], 2);
    assert_int_equal(op.requests[1], 3);
    expect_end(&b, 0);
    bench_close(&b);
}

static void test_test(void **state)
{
    struct bench b;
    bench_init(&b);
    bench_task(
        &b,
        IRECV("-1", "800") "MPI_Test:210:800:1:2:220\nMPI_Test:220:800:1:2:220\n" /* not yet; completed, for
                                                                                     800 is used again */
        IRECV("-1",
              "800") "MPI_Test:220:800:1:2:220\nMPI_Wait:220:800:1:230\n" /* not yet, for it is waited for */
        IRECV("-1", "800") IRECV(
            "-1", "808") "MPI_Testall:240:2:800:1:2:240\nMPI_Send:240:1:4:1,4,4:0:5:" WORLD
                         ":240\n" /* not yet */
                         "MPI_Testall:240:2:800:1:2:240\n" /* completed: never asked for again */ LOOSE);
    bench_good(&b);
    next_call(&b, 0, TASK_OP_IRECV);
    struct task_op op = next_call(&b, 0, TASK_OP_WAIT);
    assert_int_equal(op.request, 1);
    assert_int_equal(op.line, 7);
    next_call(&b, 0, TASK_OP_IRECV);
    assert_int_equal(next_call(&b, 0, TASK_OP_WAIT).line, 10);
    next_call(&b, 0, TASK_OP_IRECV);
    next_call(&b, 0, TASK_OP_IRECV);
    next_call(&b, 0, TASK_OP_SEND);
    op = next_call(&b, 0, TASK_OP_WAITALL);
    assert_int_equal(op.line, 15);
    assert_int_equal(op.request_count, 2);
    expect_end(&b, 0);
    bench_close(&b);
}

#define WAITANY "MPI_Waitany:230:2:800:1:55:230\n"

static void test_waitany(void **state)
{
    struct bench b;
    bench_init(&b);
    bench_task(&b, IRECV("0", "800") IRECV("-2", "808") WAITANY WAITANY /* all, in any order */
                       IRECV("0", "800") IRECV("-1", "808")
                           WAITANY IRECV("-1", "808") /* it was 808, unlike 800 */
               "MPI_Waitsome:240:2:800:1:2:3:240\n" IRECV("-1", "800") IRECV("-1", "808") /* both */
               "MPI_Waitall:250:2:800:1:250\n" LOOSE);
    bench_good(&b);
    next_call(&b, 0, TASK_OP_IRECV);
    next_call(&b, 0, TASK_OP_IRECV);
    assert_int_equal(next_call(&b, 0, TASK_OP_WAITANY).request_count, 2);
    assert_int_equal(next_call(&b, 0, TASK_OP_WAITANY).request_count, 2);
    /* Two Waitany for two requests: both are null, nothing is given up when they are used again. */
    assert_int_equal(next_call(&b, 0, TASK_OP_IRECV).request, 3);
    assert_int_equal(next_call(&b, 0, TASK_OP_IRECV).request, 4);
    assert_int_equal(next_call(&b, 0, TASK_OP_WAIT).request, 4);
    assert_int_equal(next_call(&b, 0, TASK_OP_IRECV).request, 5);
    assert_int_equal(next_call(&b, 0, TASK_OP_WAIT).request, 3);
    assert_int_equal(next_call(&b, 0, TASK_OP_IRECV).request, 6);
    assert_int_equal(next_call(&b, 0, TASK_OP_WAIT).request, 5);
    assert_int_equal(next_call(&b, 0, TASK_OP_IRECV).request, 7);
    struct task_op op = next_call(&b, 0, TASK_OP_WAITALL);
    assert_int_equal(op.requests[0], 6);
    assert_int_equal(op.requests[1], 7);
    expect_end(&b, 0);
    bench_close(&b);
}

/* A million tests that found nothing are one computation. */
static void test_many_tests(void **state)
{
    struct bench b;
    enum { TESTS = 1000000 };
    bench_init(&b);
    size_t room = (size_t)TESTS * 64, used = 0;
    char *lines = ker_alloc(room);
    used += (size_t)snprintf(lines, room, IRECV("-1", "800"));
    for (int i = 0; i < TESTS; i++)
        used += (size_t)snprintf(lines + used, room - used, "MPI_Testany:%d:1:800:1:2:55:%d\n", 201 + 2 * i,
                                 202 + 2 * i);
    snprintf(lines + used, room - used, "MPI_Wait:%d:800:1:%d\n" LOOSE, 201 + 2 * TESTS, 202 + 2 * TESTS);
    bench_task(&b, lines);
    free(lines);
    bench_good(&b);
    next_call(&b, 0, TASK_OP_IRECV);
    /* One microsecond before the first test and one before the wait; those between tests are waiting. */
    assert_int_equal(next_op(&b, 0).time, 2 * KER_US);
    assert_int_equal(class->taken(b.program, 0).poll_gap, (TESTS - 1) * KER_US);
    struct task_op op = next_op(&b, 0);
    assert_int_equal(op.kind, TASK_OP_WAIT);
    assert_int_equal(op.line, TESTS + 6);
    bench_close(&b);
}

/* A Testany at the beginning, of which the end tells what it found; between them computations, and tests that
 * are taken back. Many blocks of operations, of 128 bytes. */
static void long_task_write(struct bench *b)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    fprintf(out, "MPI_Irecv:200:1:4:1,4,4:-1:5:" WORLD ":5000:200\nMPI_Testany:201:1:5000:1:2:55:202\n");
    for (int i = 0, at = 203; i < 500; i++, at += 20) {
        fprintf(out, "MPI_Irecv:%d:1:%d:1,4,4:0:5:" WORLD ":800:%d\n", at, i, at + 1);
        for (int test = 0; test < i % 7; test++)
            fprintf(out, "MPI_Test:%d:800:1:2:%d\n", at + 3 + 2 * test, at + 4 + 2 * test);
        fprintf(out, "MPI_Wait:%d:800:1:%d\n", at + 17, at + 19);
    }
    fprintf(out, "MPI_Irecv:20300:1:4:1,4,4:-1:5:" WORLD ":5000:20300\n" LOOSE);
    fclose(out);
    bench_task(b, text);
    free(text);
}

/* Operations that lie in a temporary file are the same, in a second pass, too. */
static void test_memory(void **state)
{
    struct bench b, other;
    bench_init(&b);
    long_task_write(&b);
    other = b;
    bench_good(&b);
    assert_int_equal(bench_open(&other, other.folder, "trace_memory = \"0 B\";"), KER_OK);
    for (int pass = 0; pass < 2; pass++) {
        struct task_op op = {0}, same = {0};
        uint32_t ops = 0;
        for (; class->next(b.program, 0, &op); ops++) {
            assert_true(class->next(other.program, 0, &same));
            op.requests = same.requests = NULL;
            assert_memory_equal(&op, &same, sizeof op);
            /* Line 6 is found to have completed request 1. */
            assert_true(op.line != 6 || op.kind == TASK_OP_COMPUTE ||
                        (op.kind == TASK_OP_WAIT && op.request == 1));
        }
        assert_false(class->next(other.program, 0, &same));
        assert_in_range(ops, 1000, 3000);
    }
    class->close(other.program);
    ker_comm_release(other.comm);
    ker_config_free(other.config);
    bench_close(&b);
}

int main(void)
{
    class = &task_allprof_class;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),     cmocka_unit_test(test_strides), cmocka_unit_test(test_persistent),
        cmocka_unit_test(test_testany),    cmocka_unit_test(test_test),    cmocka_unit_test(test_waitany),
        cmocka_unit_test(test_many_tests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
