/* test_replay.c - the replay of marstrace's traces: what a request of the trace is in the replay. */
#define _GNU_SOURCE
#include "storage/storage.h"
#include "tasks/jobs/jobs.h"
#include "tasks/mpi/mpi.h"
#include "tests/refusal.h"
#include "tests/traces/mars_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct task_program_class task_replay_class;
static const struct task_program_class *class = &task_replay_class;

enum {
    INIT = 1,
    IRECV,
    ISEND,
    WAITSOME,
    CANCEL,
    FINALIZE,
    RECV,
    SEND_INIT,
    START,
    REQUEST_FREE,
    PSEND_INIT,
    PRECV_INIT,
    PREADY,
    PREADY_RANGE,
    PREADY_LIST,
    PARRIVED
};

static const char *const functions[] = {
    [INIT] = "MPI_Init",
    [IRECV] = "MPI_Irecv recvbytes source tag comm request",
    [ISEND] = "MPI_Isend bytes dest tag comm request",
    [WAITSOME] = "MPI_Waitsome requests[] done[]",
    [CANCEL] = "MPI_Cancel request",
    [FINALIZE] = "MPI_Finalize",
    [RECV] = "MPI_Recv recvbytes source tag comm from got_tag got",
    [SEND_INIT] = "MPI_Send_init bytes dest tag comm request",
    [START] = "MPI_Start requests[]",
    [REQUEST_FREE] = "MPI_Request_free request",
    [PSEND_INIT] = "MPI_Psend_init partitions bytes dest tag comm request",
    [PRECV_INIT] = "MPI_Precv_init partitions recvbytes source tag comm request",
    [PREADY] = "MPI_Pready partition request",
    [PREADY_RANGE] = "MPI_Pready_range partition partition_last request",
    [PREADY_LIST] = "MPI_Pready_list values[] request",
    [PARRIVED] = "MPI_Parrived request partition flag",
};

static void trace_begin(struct trace *t)
{
    trace_defines(t, functions, sizeof functions / sizeof *functions);
    trace_calls(t);
    call(t, INIT, 0, NULL);
}

static void receive(struct trace *t, int64_t tag, int64_t request)
{
    CALL(t, IRECV, 8, -2, tag, 1, request);
}

/* Of the requests 1 to `most` the one with this number, where its message came from. */
static void completed(struct trace *t, int64_t most, int64_t request, int64_t from)
{
    uint8_t shape[400], *at = mars_put(shape, WAITSOME << 1);
    int64_t done[4] = {request - 1, from, 0, 8}, last = 0;
    at = mars_put(at, (uint64_t)most);
    for (int64_t i = 1; i <= most; i++)
        at = mars_put_signed(at, 1);
    at = mars_put(at, 4);
    for (int i = 0; i < 4; last = done[i++])
        at = mars_put_signed(at, done[i] - last);
    static const struct mars_times times;
    mars_writer_call(t->writer, shape, (size_t)(at - shape), &times, NULL, time_of_day);
}

struct bench {
    struct ker_comm *comm;
    struct ker_config *config;
    struct task_program *program;
    struct ker_error error;
};

static enum ker_status bench_try(struct bench *b, struct trace *t, const char *keys)
{
    const struct ker_option *tables[] = {task_job_options, mpi_options, store_options, NULL};
    *b = (struct bench){.comm = ker_comm_alone()};
    call(t, FINALIZE, 0, NULL);
    trace_end(t);
    char *text = ker_format("jobs = ( { program = \"trace\"; trace = \"%s\"; %s } );", t->path, keys);
    assert_int_equal(ker_config_parse(&b->config, "test.cfg", text, NULL, 0, tables, &b->error), KER_OK);
    free(text);
    enum ker_status status = class->open(&b->program, b->config, "jobs[0]", b->comm, &b->error);
    if (status == KER_OK)
        status = class->hand(b->program, &(uint32_t){0}, 1, b->comm, &b->error);
    if (status == KER_OK)
        status = class->prepare(b->program, &(uint32_t){0}, 1, &b->error);
    return status;
}

static void bench_open(struct bench *b, struct trace *t, const char *keys)
{
    enum ker_status status = bench_try(b, t, keys);
    if (status)
        print_error("%s\n", b->error.text);
    assert_int_equal(status, KER_OK);
}

static void bench_close(struct bench *b, const struct trace *t)
{
    class->close(b->program);
    ker_comm_release(b->comm);
    ker_config_free(b->config);
    unlink(t->path);
}

static void expect(struct bench *b, unsigned kind, uint64_t request)
{
    struct task_op op;
    assert_true(class->next(b->program, 0, &op));
    assert_int_equal(op.kind, kind);
    assert_int_equal(op.request, request);
}

/* Three receives from any source; the trace shows the third completed first, which is posted again. */
static void equal_expect(const char *wildcards, const char *wanted)
{
    for (int i = 0; i < 2; i++) {
        char keys[80], got[200] = "";
        struct trace t;
        struct bench b;
        struct task_op op = {0};
        trace_begin(&t);
        for (int64_t request = 1; request <= 3; request++)
            receive(&t, 5, request);
        completed(&t, 3, 3, 0);
        receive(&t, 5, 3);
        completed(&t, 3, 2, 0); /* the oldest now */
        completed(&t, 3, 3, 0); /* the first receive's variable has the third one's name */
        CALL(&t, CANCEL, 1);
        completed(&t, 3, 1, -6);
        snprintf(keys, sizeof keys, "%s trace_memory = \"%s\";", wildcards, i ? "0 B" : "1 MiB");
        bench_open(&b, &t, keys);
        while (class->next(b.program, 0, &op))
            snprintf(got + strlen(got), sizeof got - strlen(got),
                     op.kind == TASK_OP_IRECV ? "%s%llu<%d " : "%s%llu ", strchr(op.call, '_') + 1,
                     (unsigned long long)op.request, op.peer);
        assert_string_equal(got, wanted);
        bench_close(&b, &t);
    }
}

/* By default each takes the source and tag that it had, and is waited for where it was; the one that is
 * cancelled has none. Else the oldest is completed, and the third, which is posted again, has its name. */
static void test_equal_receives(void **state)
{
    (void)state;
    equal_expect(
        "",
        "Irecv1<-1 Irecv2<0 Irecv3<0 Waitsome3 Irecv3<0 Waitsome2 Waitsome3 Cancel1 Waitsome1 Finalize0 ");
    equal_expect("wildcards = \"simulated\";", "Irecv1<-1 Irecv2<-1 Irecv3<-1 Waitsome1 Irecv1<-1 Waitsome2 "
                                               "Waitsome3 Cancel1 Waitsome1 Finalize0 ");
}

/* Another tag, a cancelled receive, a send: what the trace shows is what is waited for. */
static void test_others(void **state)
{
    struct trace t;
    struct bench b;
    trace_begin(&t);
    receive(&t, 5, 1);
    receive(&t, 6, 2);
    completed(&t, 2, 2, 0);
    receive(&t, 5, 2);
    CALL(&t, CANCEL, 2);
    completed(&t, 2, 2, -6);
    CALL(&t, ISEND, 8, 0, 5, 1, 2);
    completed(&t, 2, 2, -5);
    completed(&t, 1, 1, 0);
    bench_open(&b, &t, "");
    expect(&b, TASK_OP_IRECV, 1);
    expect(&b, TASK_OP_IRECV, 2);
    expect(&b, TASK_OP_WAIT, 2);
    expect(&b, TASK_OP_IRECV, 2);
    expect(&b, TASK_OP_CANCEL, 2);
    expect(&b, TASK_OP_WAIT, 2);
    expect(&b, TASK_OP_ISEND, 2);
    expect(&b, TASK_OP_WAIT, 2);
    expect(&b, TASK_OP_WAIT, 1);
    expect(&b, TASK_OP_FINALIZE, 0);
    bench_close(&b, &t);
}

static void start(struct trace *t, int64_t request)
{
    static const struct mars_times times;
    uint8_t shape[40], *at = mars_put_signed(mars_put(mars_put(shape, START << 1), 1), request);
    mars_writer_call(t->writer, shape, (size_t)(at - shape), &times, NULL, time_of_day);
}

/* Each letter and digit a call with this request: r Irecv, s Isend, i Send_init, b Start, f Request_free, w a
 * completion with a message of 8 bytes, R Recv of 8 bytes and L of more. */
static void calls_write(struct trace *t, const char *calls)
{
    for (; *calls; calls += 2) {
        int64_t request = calls[1] - '0';
        switch (calls[0]) {
        case 'r':
            receive(t, 5, request);
            break;
        case 's':
            CALL(t, ISEND, 8, 0, 5, 1, request);
            break;
        case 'i':
            CALL(t, SEND_INIT, 8, 0, 5, 1, request);
            break;
        case 'b':
            start(t, request);
            break;
        case 'f':
            CALL(t, REQUEST_FREE, request);
            break;
        case 'w':
            completed(t, request, request, 0);
            break;
        default:
            CALL(t, RECV, 8, 0, 5, 1, 0, 5, calls[0] == 'L' ? 9 : 8);
        }
    }
}

/* p Psend_init of 4 partitions and o Precv_init of 3, 24 bytes; y Pready of request 1, and the digit is the
 * partition, Y Pready_range from there to 3, l Pready_list of it and 2; a Parrived of request 2. */
static void partitioned_write(struct trace *t, const char *calls)
{
    for (; *calls; calls += 2) {
        int64_t number = calls[1] - '0';
        switch (calls[0]) {
        case 'p':
            CALL(t, PSEND_INIT, 4, 24, 0, 5, 1, number);
            break;
        case 'o':
            CALL(t, PRECV_INIT, 3, 24, 0, 5, 1, number);
            break;
        case 'y':
            CALL(t, PREADY, number, 1);
            break;
        case 'Y':
            CALL(t, PREADY_RANGE, number, 3, 1);
            break;
        case 'l': /* the length of a list is not signed: 2 */
            CALL(t, PREADY_LIST, 1, number, 2 - number, 1);
            break;
        case 'a':
            CALL(t, PARRIVED, 2, number, 1);
            break;
        default:
            calls_write(t, (const char[]){calls[0], calls[1], 0});
        }
    }
}

static void assert_replayed(const char *calls, const char *wrong, void (*write)(struct trace *, const char *))
{
    struct trace t;
    struct bench b;
    trace_begin(&t);
    write(&t, calls);
    enum ker_status status = bench_try(&b, &t, "");
    if (status == KER_OK)
        status = class->agree(b.program, b.comm, &b.error);
    if (wrong ? !strstr(b.error.text, wrong) : status != KER_OK)
        fail_msg("%s: %s", calls, b.error.text);
    assert_int_equal(status != KER_OK, wrong != NULL);
    bench_close(&b, &t);
}

static void test_partitioned(void **state)
{
    (void)state;
    static const struct {
        const char *calls, *error; /* NULL: as it should be */
    } cases[] = {
        {"p1o2b1b2y0Y1a0a2w1w2f1f2", NULL},
        {"o2p1b1b2y3l0y1w2w1b2b1Y0w1w2", NULL},
        {"p1o2a0f1f2", NULL},
        {"p1o2p3o4f1f2f3f4", NULL}, /* two of one tag: the second belongs to the second */
        {"p1o2b1y0y0", "call 6 (MPI_Pready): partition 0 is ready twice"},
        {"p1o2b1y2Y1", "call 6 (MPI_Pready_range): partition 2 is ready twice"},
        {"p1o2b1y2l0", "call 6 (MPI_Pready_list): partition 2 is ready twice"},
        {"p1o2b1y4", "call 5 (MPI_Pready): partition 4 of 4"},
        {"p1o2b1Y4", "call 5 (MPI_Pready_range): partitions 4 to 3"},
        {"p1o2b1b2y0a3", "call 7 (MPI_Parrived): partition 3 of 3"},
        {"p1o2y0", "call 4 (MPI_Pready): request 1 is not started"},
        {"p1o2b1Y1w1", "call 6 (MPI_Waitsome): request 1 completes, and 3 of its 4 partitions are ready"},
        {"p1o2b1Y0w1b1w1", "call 8 (MPI_Waitsome): request 1 completes, and 0 of its 4 partitions are ready"},
        {"o1b1y0", "call 4 (MPI_Pready): request 1 is no partitioned send"},
        {"i1b1y0", "call 4 (MPI_Pready): request 1 is no partitioned send"},
        {"p2a0", "call 3 (MPI_Parrived): request 2 is no partitioned receive"},
        {"p1p1", "call 3 (MPI_Psend_init): request 1 is made twice"},
        {"p1", "not every MPI_Psend_init on the world, of which task 0 is the first, has its MPI_Precv_init"},
        {"p1o2p3o4o5", "not every MPI_Psend_init on the world"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_replayed(cases[i].calls, cases[i].error, partitioned_write);
}

/* What the arguments of MPI_Psend_init may be. */
static void test_partitioned_arguments(void **state)
{
    (void)state;
    static const struct {
        int64_t partitions, bytes, source, tag;
        const char *error;
    } cases[] = {
        {0, 24, 0, 5, "0 partitions; there can be 1 to 1048576"},
        {-1, 24, 0, 5, "-1 partitions; there can be 1 to 1048576"},
        {1048577, 0, 0, 5, "1048577 partitions; there can be 1 to 1048576"},
        {5, 24, 0, 5, "24 bytes in 5 partitions of one size"},
        {3, 24, -2, 5, "a partitioned receive from any task, or with any tag"},
        {3, 24, 0, -1, "a partitioned receive from any task, or with any tag"},
        {3, 24, 1, 5, "rank 1 in a communicator of 1"},
        {3, 23, 0, 5, "23 bytes in 3 partitions"},
        {3, 27, 0, 5, "not every MPI_Psend_init on the world"},
        {1048576, 0, -1, 5, "not every MPI_Psend_init on the world"}, /* from nobody */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace t;
        struct bench b;
        trace_begin(&t);
        CALL(&t, PSEND_INIT, 4, 24, 0, 5, 1, 1);
        CALL(&t, PRECV_INIT, cases[i].partitions, cases[i].bytes, cases[i].source, cases[i].tag, 1, 2);
        enum ker_status status = bench_try(&b, &t, "");
        if (status == KER_OK)
            status = class->agree(b.program, b.comm, &b.error);
        assert_refused(status, &b.error, cases[i].error);
        bench_close(&b, &t);
    }
}

/* 16 requests of 2^20 partitions can be there at a time. */
static void test_partitions_most(void **state)
{
    (void)state;
    for (int64_t most = 16; most <= 17; most++) {
        struct trace t;
        struct bench b;
        trace_begin(&t);
        for (int64_t i = 1; i <= most; i++) {
            CALL(&t, PSEND_INIT, 1 << 20, 0, -1, 5, 1, i);
            if (i == 1) { /* that of call 2 is gone */
                CALL(&t, REQUEST_FREE, i);
                CALL(&t, PSEND_INIT, 1 << 20, 0, -1, 5, 1, i);
            }
        }
        enum ker_status status = bench_try(&b, &t, "");
        assert_int_equal(status, most == 16 ? KER_OK : KER_BAD_INPUT);
        if (status)
            assert_non_null(strstr(b.error.text, "call 20 (MPI_Psend_init): more than 16777216 partitions"));
        bench_close(&b, &t);
    }
}

/* Calls are counted from 1, MPI_Init. */
static void test_requests_used(void **state)
{
    (void)state;
    static const struct {
        const char *calls, *error; /* NULL: as it should be */
    } cases[] = {
        {"r1w1r1w1s1w1", NULL},
        {"r1r2w2s2w1w2", NULL},
        {"i1b1w1b1w1f1s1w1", NULL},
        {"s1f1s1w1", NULL},
        {"R0", NULL},
        {"i1w1b1w1w1f1", NULL}, /* MPI says of an inactive one that it is complete */
        {"i1f1w1", "task 0, call 4 (MPI_Waitsome): request 1 completes, and none of this number is active"},
        {"r1r1", "task 0, call 3 (MPI_Irecv): request 1 is made twice: that of call 2 has not completed"},
        {"s2r1s2", "task 0, call 4 (MPI_Isend): request 2 is made twice: that of call 2 has not completed"},
        {"i1s1", "task 0, call 3 (MPI_Isend): request 1 is made twice: that of call 2 has not completed"},
        {"r1w1w1", "task 0, call 4 (MPI_Waitsome): request 1 completes, and none of this number is active"},
        {"b1", "task 0, call 2 (MPI_Start): request 1 is started, and is no persistent one"},
        {"s1b1", "task 0, call 3 (MPI_Start): request 1 is started, and is no persistent one"},
        {"i1b1b1",
         "task 0, call 4 (MPI_Start): request 1 is started twice: it has not completed since call 3"},
        {"i1f1b1", "task 0, call 4 (MPI_Start): request 1 is started, and is no persistent one"},
        {"L0", "task 0, call 2 (MPI_Recv): it has received 9 bytes, and has room for 8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_replayed(cases[i].calls, cases[i].error, calls_write);
}

/* A receive with room for 8 bytes that got 9. */
static void test_truncated(void **state)
{
    (void)state;
    struct trace t;
    struct bench b;
    trace_begin(&t);
    CALL(&t, IRECV, 7, -2, 5, 1, 1);
    completed(&t, 1, 1, 0);
    assert_int_equal(bench_try(&b, &t, ""), KER_BAD_INPUT);
    assert_non_null(
        strstr(b.error.text, "call 3 (MPI_Waitsome): request 1 has received 8 bytes, and has room for 7"));
    bench_close(&b, &t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_receives),  cmocka_unit_test(test_others),
        cmocka_unit_test(test_requests_used),   cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_partitioned),     cmocka_unit_test(test_partitioned_arguments),
        cmocka_unit_test(test_partitions_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
