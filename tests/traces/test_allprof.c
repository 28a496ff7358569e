/* test_allprof.c - the reader of liballprof traces: calls to operations, times, communicators. */
#include "tests/traces/allprof_bench.h"

static void test_calls(void **state)
{
    struct bench b;
    bench_init(&b);
    bench_task(&b, "MPI_Send:130:1:3:4,8,8:0:7:7000000,0,2:140\n"
                   "MPI_Wtime:150:150\n"
                   "MPI_Ssend:151:1:3:4,8,8:-2:7:7000000,0,2:152\n"
                   "MPI_Sendrecv:152:1:2:4,8,8:1:5:9:3:4,4,4:-1:-1:7000000,0,2:99:160\n"
                   "MPI_Sendrecv_replace:160:1:2:4,8,8:1:5:0:6:7000000,0,2:99:160\n"
                   "MPI_Reduce:160:1:2:10:4,8,8:3:1:7000000,0,2:161\n"
                   "MPI_Gather:160:1:2:4,8,8:1:3:4,8,8:1:7000000,0,2:161\n"
                   "MPI_Scatter:160:1:2:4,8,8:1:3:4,8,8:0:7000000,0,2:161\n"
                   "MPI_Allgather:160:1:2:4,8,8:1:3:4,4,8:7000000,0,2:161\n");
    bench_task(&b, "MPI_Send:150:1:3:4,8,8:0:7:7000000,1,2:151\n"
                   "MPI_Reduce:160:1:2:10:4,8,8:3:1:7000000,1,2:161\n"
                   "MPI_Gather:160:1:2:4,8,8:1:3:4,8,8:1:7000000,1,2:161\n"
                   "MPI_Scatter:160:1:2:4,8,8:1:3:4,8,8:0:7000000,1,2:161\n"
                   "MPI_Allgather:160:1:2:4,8,8:1:3:4,4,8:7000000,1,2:161\n");
    bench_good(&b);
    assert_int_equal(class->tasks(b.program), 2);
    /* Init ends at 100, the send begins at 130: 30 us of computation; 3 elements of 8 bytes. */
    struct task_op op = next_op(&b, 0);
    assert_int_equal(op.kind, TASK_OP_COMPUTE);
    assert_int_equal(op.time, 30 * KER_US);
    op = next_op(&b, 0);
    assert_int_equal(op.kind, TASK_OP_SEND);
    assert_int_equal(op.peer, 0);
    assert_int_equal(op.tag, 7);
    assert_int_equal(op.bytes, 24);
    assert_int_equal(op.line, 5);
    assert_string_equal(op.call, "MPI_Send");
    /* 140 to 150 and 150 to 151: the local call between makes no difference: 11 us. */
    assert_int_equal(next_op(&b, 0).time, 11 * KER_US);
    op = next_call(&b, 0, TASK_OP_SEND);
    assert_int_equal(op.peer, TASK_PROC_NULL);
    assert_int_equal(op.mode, TASK_MODE_SYNCHRONOUS);
    op = next_call(&b, 0, TASK_OP_SENDRECV);
    assert_int_equal(op.peer, 1);
    assert_int_equal(op.bytes, 16);
    assert_int_equal(op.peer2, TASK_ANY);
    assert_int_equal(op.tag2, TASK_ANY);
    assert_int_equal(op.bytes2, 12);
    op = next_call(&b, 0, TASK_OP_SENDRECV);
    assert_int_equal(op.bytes2, 16);
    assert_int_equal(op.peer2, 0);
    assert_int_equal(op.tag2, 6);
    op = next_call(&b, 0, TASK_OP_COLLECTIVE);
    assert_int_equal(op.collective, TASK_COLL_REDUCE);
    assert_int_equal(op.bytes, 80);
    assert_int_equal(op.peer, 1);
    /* Task 0 is no root of the gather and sends 2 x 8; it is the root of the scatter and sends 2 x 8 to each;
     * in an allgather the receiving side counts: 3 x 4. */
    assert_int_equal(next_call(&b, 0, TASK_OP_COLLECTIVE).bytes, 16);
    assert_int_equal(next_call(&b, 0, TASK_OP_COLLECTIVE).bytes, 16);
    assert_int_equal(next_call(&b, 0, TASK_OP_COLLECTIVE).bytes, 12);
    expect_end(&b, 0);
    next_call(&b, 1, TASK_OP_SEND);
    next_call(&b, 1, TASK_OP_COLLECTIVE);
    /* The root of a gather knows the block by its receive arguments (3 x 8), a member of a scatter likewise.
     */
    assert_int_equal(next_call(&b, 1, TASK_OP_COLLECTIVE).bytes, 24);
    assert_int_equal(next_call(&b, 1, TASK_OP_COLLECTIVE).bytes, 24);
    assert_int_equal(next_call(&b, 1, TASK_OP_COLLECTIVE).bytes, 12);
    expect_end(&b, 1);
    bench_close(&b);
}

/* Time of the computation before the next call. */
static ker_time pinned_before(struct bench *b, uint32_t task)
{
    struct task_op op = next_op(b, task);
    ker_time time = op.kind == TASK_OP_COMPUTE ? op.time : 0;
    if (op.kind == TASK_OP_COMPUTE)
        next_op(b, task);
    return time;
}

/* 100 ns a buffer of which something is new, 3 ns each new byte. All calls begin when the one before ends. */
static void test_pinning(void **state)
{
    struct bench b;
    bench_init(&b);
    bench_task(&b, "MPI_Send:100:100000:25:4,4,4:1:0:7000000,0,2:100\n"
                   "MPI_Send:100:100000:24:4,4,4:1:0:7000000,0,2:100\n"
                   "MPI_Send:100:99980:25:4,4,4:1:0:7000000,0,2:100\n"
                   "MPI_Send:100:200000:25:4,4,4:1:0:7000000,0,2:100\n"
                   "MPI_Recv:100:100090:25000:4,4,4:1:0:7000000,0,2:1:100\n"
                   "MPI_Send:100:300000:25:4,4,4:-2:0:7000000,0,2:100\n"
                   "MPI_Sendrecv:100:300000:2:4,8,8:1:5:400000:3:4,4,4:1:0:7000000,0,2:99:100\n"
                   "MPI_Allgather:100:1:2:4,8,8:500000:10:4,4,8:7000000,0,2:100\n"
                   "MPI_Gather:100:600000:1:4,4,4:700000:1:4,4,4:0:7000000,0,2:100\n"
                   "MPI_Alltoallv:100:800000:2:1,2:9:0,3:1,4,4:900000:2:3,4:9:0,5:2,8,8:7000000,0,2:100\n"
                   "MPI_Reduce:100:610000:620000:1:4,4,4:3:1:7000000,0,2:100\n"
                   "MPI_Barrier:100:7000000,0,2:100\n");
    bench_task(&b, "MPI_Recv:100:100000:25000:4,4,4:0:-1:7000000,1,2:1:100\n"
                   "MPI_Allgather:100:-1:2:4,8,8:500000:10:4,4,8:7000000,1,2:100\n"
                   "MPI_Gather:100:600000:1:4,4,4:700000:1:4,4,4:0:7000000,1,2:100\n"
                   "MPI_Alltoallv:100:800000:2:1,2:9:0,3:1,4,4:900000:2:3,4:9:0,5:2,8,8:7000000,1,2:100\n"
                   "MPI_Reduce:100:610000:620000:1:4,4,4:3:1:7000000,1,2:100\n"
                   "MPI_Barrier:100:7000000,1,2:100\n"
                   "MPI_Send:100:600000:3:4,4,4:0:0:7000000,1,2:100\n"
                   "MPI_Send:100:600000:3:4,4,4:0:0:7000000,1,2:100\n");
    bench_open(&b, b.folder, "pinning_time = \"100 ns\"; pinning_per_byte = \"3 ns\"; poll_gap = \"0 us\";");
    assert_int_equal(b.status, KER_OK);
    const int64_t want[] = {
        100 + 300, /* all is new */
        0,
        100 + 60, /* 20 bytes in front */
        100 + 300,
        100 + 3 * (100000 - 10 - 90), /* between the first two buffers, and behind the second */
        0,                            /* to nobody */
        200 + 3 * (16 + 12),
        100 + 3 * 80, /* in place; ten for each of two tasks */
        200 + 3 * (4 + 8),
        200 + 3 * (12 + 56),
        100 + 12, /* not the root: it receives nothing */
        0,
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_int_equal(pinned_before(&b, 0), want[i] * KER_NS);
    const int64_t other[] = {
        100 + 300000, 100 + 240, 100 + 12 /* a member's */, 200 + 204, 200 + 24 /* the root */, 0, 100 + 24};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_int_equal(pinned_before(&b, 1), other[i] * KER_NS);
    bench_close(&b);
}

static void test_counts(void **state)
{
    struct bench b;
    bench_init(&b);
    bench_task(&b, "MPI_Alltoallv:160:77:2:3,4:9:0,3:1,4,4:1:2:5,6:9:0,5:2,8,8:7000000,0,2:161\n"
                   "MPI_Alltoallv:162:77:2:9:1,4,4:1:2:9:2,8,8:7000000,0,2:163\n"
                   "MPI_Gatherv:164:1:4:1,4,4:1:2:-7,99999999999:9:0,5:2,8,8:1:7000000,0,2:165\n"
                   "MPI_Reduce_scatter:166:1:2:9:3,4:1,4,4:3:7000000,0,2:167\n"
                   "MPI_Allgatherv:166:1:77:1,4,4:1:2:4,6:9:0,5:2,4,4:7000000,0,2:167\n"
                   "MPI_Scatterv:166:1:2:1,4:9:0,5:2,4,4:1:3:1,4,4:0:7000000,0,2:167\n");
    bench_task(&b, "MPI_Alltoallv:162:77:2:9:1,4,4:1:2:9:2,8,8:7000000,1,2:163\n"
                   "MPI_Alltoallv:162:77:2:9:1,4,4:1:2:9:2,8,8:7000000,1,2:163\n"
                   "MPI_Gatherv:164:1:0:1,4,4:1:2:4,6:9:0,5:2,4,4:1:7000000,1,2:165\n"
                   "MPI_Reduce_scatter:166:1:2:9:3,4:1,4,4:3:7000000,1,2:167\n"
                   "MPI_Allgatherv:166:1:77:1,4,4:1:2:4,6:9:0,5:2,4,4:7000000,1,2:167\n"
                   "MPI_Scatterv:166:1:2:1,4:9:0,5:2,4,4:1:3:1,4,4:0:7000000,1,2:167\n");
    assert_int_equal(bench_open(&b, b.folder, "unlisted_bytes = 100;"), KER_OK);
    struct task_op op = next_call(&b, 0, TASK_OP_COLLECTIVE);
    assert_int_equal(op.bytes, (3 + 4) * 4);
    assert_int_equal(op.bytes2, (5 + 6) * 8);
    assert_int_equal(op.send_bytes[1], 4 * 4);
    assert_int_equal(op.receive_bytes[0], 5 * 8);
    /* Counts that are not listed: 100 bytes for each of the two. */
    op = next_call(&b, 0, TASK_OP_COLLECTIVE);
    assert_null(op.send_bytes);
    assert_int_equal(op.bytes, 200);
    assert_int_equal(op.bytes2, 200);
    /* Not the root: the list is rubbish and is not looked at; 4 x 4 bytes are sent. */
    op = next_call(&b, 0, TASK_OP_COLLECTIVE);
    assert_null(op.receive_bytes);
    assert_int_equal(op.bytes, 16);
    op = next_call(&b, 0, TASK_OP_COLLECTIVE);
    assert_int_equal(op.bytes, (3 + 4) * 4);
    assert_int_equal(op.receive_bytes[1], 4 * 4);
    /* Own shares are in the lists, whatever the other arguments say: 4 x 4 of rank 0, then 1 x 4. */
    assert_int_equal(next_call(&b, 0, TASK_OP_COLLECTIVE).bytes, 16);
    assert_int_equal(next_call(&b, 0, TASK_OP_COLLECTIVE).bytes2, 4);
    expect_end(&b, 0);
    next_call(&b, 1, TASK_OP_COLLECTIVE);
    next_call(&b, 1, TASK_OP_COLLECTIVE);
    /* The root's own share is in its list, whatever the send arguments say: rank 1 has 6 x 4. */
    op = next_call(&b, 1, TASK_OP_COLLECTIVE);
    assert_int_equal(op.receive_bytes[0], 16);
    assert_int_equal(op.bytes, 24);
    next_call(&b, 1, TASK_OP_COLLECTIVE);
    op = next_call(&b, 1, TASK_OP_COLLECTIVE);
    assert_int_equal(op.bytes, 24);
    /* Not the root: 3 x 4 bytes are received. */
    op = next_call(&b, 1, TASK_OP_COLLECTIVE);
    assert_null(op.send_bytes);
    assert_int_equal(op.bytes2, 12);
    expect_end(&b, 1);
    bench_close(&b);
}

/* MPI_IN_PLACE: an Alltoallv sends what it receives. */
static void test_in_place(void **state)
{
    static const char *const buffers[] = {"1", "-1", "18446744073709551615", "77", "77"};
    static const char *const counts[] = {"7,7", "5,5", "0,0", "-1,-1", "0,0"};
    for (int i = 0; i < 5; i++) {
        struct bench b;
        bench_init(&b);
        for (int task = 0; task < 2; task++) {
            char *lines =
                ker_format("MPI_Alltoallv:160:%s:2:%s:9:0,3:1,-4,4:1:2:5,6:9:0,5:2,8,8:7000,%d,2:161\n"
                           "MPI_Allgatherv:166:1:-3:1,4,4:1:2:4,6:9:0,5:2,4,4:7000,%d,2:167\n"
                           "MPI_Allgatherv:166:1:-3:1,4,4:1:2:9:2,4,4:7000,%d,2:167\n"
                           "MPI_Alltoall:168:1:-3:1,4,4:1:2:2,4,4:7000,%d,2:169\n",
                           buffers[i], counts[i], task, task, task, task);
            bench_task(&b, lines);
            free(lines);
        }
        assert_int_equal(bench_open(&b, b.folder, "unlisted_bytes = 100;"), KER_OK);
        for (uint32_t task = 0; task < 2; task++) {
            struct task_op op = next_call(&b, task, TASK_OP_COLLECTIVE);
            assert_int_equal(op.send_bytes[0], 5 * 8);
            assert_int_equal(op.send_bytes[1], 6 * 8);
            assert_int_equal(op.bytes, 11 * 8);
            assert_int_equal(op.bytes2, 11 * 8);
            assert_int_equal(next_call(&b, task, TASK_OP_COLLECTIVE).bytes, (task ? 6 : 4) * 4);
            assert_int_equal(next_call(&b, task, TASK_OP_COLLECTIVE).bytes, 100);
            assert_int_equal(next_call(&b, task, TASK_OP_COLLECTIVE).bytes, 2 * 4);
        }
        bench_close(&b);
    }
    /* Nothing sent and nothing received from itself: a task that only receives. */
    struct bench b;
    bench_init(&b);
    bench_task(&b, "MPI_Alltoallv:160:77:2:0,0:9:0,3:1,4,4:1:2:0,6:9:0,5:2,8,8:7000,0,2:161\n");
    bench_task(&b, "MPI_Alltoallv:160:77:2:6,0:9:0,3:1,8,8:1:2:0,0:9:0,5:2,8,8:7000,1,2:161\n");
    bench_good(&b);
    assert_int_equal(next_call(&b, 0, TASK_OP_COLLECTIVE).bytes, 0);
    bench_close(&b);
}

/* Short gaps between a test that found nothing and the same test again are waiting. */
static void test_poll_gap(void **state)
{
#define POLL_TEST(variable, start, end) "MPI_Test:" start ":" variable ":1:2:" end "\n"
#define POLL_PROBE(tag, start, end) "MPI_Iprobe:" start ":-1:" tag ":" WORLD ":8:9:" end "\n"
    static const char lines[] = IRECV("-1", "800") IRECV("-1", "900") /* both end at 200 */
        POLL_TEST("800", "201", "202") POLL_TEST("800", "212", "213") /* 10 us: waiting */
        POLL_TEST("800", "224", "225")                                /* 11 us: computation */
        "MPI_Wtime:227:228\n" POLL_TEST("800", "230", "231") /* 2 + 2 us, a local call between: waiting */
        POLL_TEST("900", "234", "235")                       /* 3 us, another request: computation */
        "MPI_Wait:239:900:1:240\n"                           /* 4 us, no test: computation */
        POLL_PROBE("5", "245", "246") POLL_PROBE("5", "252", "253") /* 5 us computation, 6 us waiting */
        POLL_PROBE("6", "260", "261")                               /* 7 us, another tag: computation */
        "MPI_Wait:269:800:1:270\n" LOOSE;                           /* 8 us */
    static const struct {
        const char *keys;
        int compute_us, poll_us;
    } expected[] = {
        /* 1 + 11 + 3 + 4 + 5 + 7 + 8 us of computation before the last wait; 10 + 4 + 6 us taken out. */
        {"", 39, 20},
        {"poll_gap = \"5 us\";", 39 + 16, 4},
        {"poll_gap = \"0 us\";", 39 + 20, 0},
        {"poll_gap = \"1 s\";", 39 - 11, 31},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct bench b;
        bench_init(&b);
        bench_task(&b, lines);
        assert_int_equal(bench_open(&b, b.folder, expected[i].keys), KER_OK);
        ker_time compute = 0;
        struct task_op op = {0};
        for (int waits = 0; waits < 2;) {
            op = next_op(&b, 0);
            compute += op.kind == TASK_OP_COMPUTE ? op.time : 0;
            waits += op.kind == TASK_OP_WAIT;
        }
        /* 100 us from MPI_Init to the first receive. */
        assert_int_equal(compute, (100 + expected[i].compute_us) * KER_US);
        assert_int_equal(class->taken(b.program, 0).poll_gap, expected[i].poll_us * KER_US);
        bench_close(&b);
    }
}

/* The tracer's shutdown before MPI_Finalize is no computation; a key brings it back. */
static void test_finalize_gap(void **state)
{
    for (int kept = 0; kept < 2; kept++) {
        struct bench b;
        bench_init(&b);
        bench_task(&b, "MPI_Barrier:130:" WORLD ":140\nMPI_Wtime:150:151\n# Finalize clockdiff: 3.1\n");
        assert_int_equal(bench_open(&b, b.folder, kept ? "finalize_gap = true;" : ""), KER_OK);
        next_call(&b, 0, TASK_OP_COLLECTIVE);
        struct task_op op = next_op(&b, 0); /* 140 to 150, and 151 to 100000 when it is kept */
        assert_int_equal(op.kind, TASK_OP_COMPUTE);
        assert_int_equal(op.time, (10 + (kept ? 100000 - 151 : 0)) * KER_US);
        assert_int_equal(class->taken(b.program, 0).finalize_gap, kept ? 0 : (100000 - 151) * KER_US);
        expect_end(&b, 0);
        bench_close(&b);
    }
}

/* Times of a clock that counts from 1970, and a gap that no simulation can last: cut, not wrapped. */
static void test_long_times(void **state)
{
    struct bench b;
    bench_init(&b);
    bench_task(&b, "MPI_Barrier:1796000000000000:" WORLD
                   ":1796000000000001\nMPI_Barrier:1796000000000004:" WORLD ":1796000000000005\n");
    bench_good(&b);
    assert_true(next_op(&b, 0).time > 8000000 * KER_S);
    next_call(&b, 0, TASK_OP_COLLECTIVE);
    assert_int_equal(next_op(&b, 0).time, 3 * KER_US);
    bench_close(&b);
}

#define FREE(variable) "MPI_Comm_free:300:" variable ":301\n"

static void test_split(void **state)
{
    struct bench b;
    bench_init(&b);
    /* Colours 1 0 1, keys 0 0 -1: {1} and {2, 0}: task 2 is rank 0, for its key is smaller. */
    bench_task(&b, SPLIT("7000,0,3", "1", "0", "10") BARRIER("7100,1,2"));
    bench_task(&b, SPLIT("7500,1,3", "0", "0", "10") BARRIER("7600,0,1"));
    bench_task(&b, SPLIT("7700,2,3", "1", "-1", "10") BARRIER("7800,0,2"));
    bench_good(&b);
    int32_t count;
    const struct task_comm *comms = class->comms(b.program, &count);
    assert_int_equal(count, 3);
    assert_int_equal(next_call(&b, 0, TASK_OP_COLLECTIVE).collective, TASK_COLL_COMM);
    struct task_op op = next_call(&b, 0, TASK_OP_COLLECTIVE);
    assert_int_equal(comms[op.comm].size, 2);
    assert_int_equal(task_comm_task(&comms[op.comm], 0), 2);
    assert_int_equal(task_comm_task(&comms[op.comm], 1), 0);
    assert_int_equal(task_comm_rank(&comms[op.comm], 0), 1);
    assert_int_equal(task_comm_rank(&comms[op.comm], 1), -1);
    next_call(&b, 1, TASK_OP_COLLECTIVE);
    op = next_call(&b, 1, TASK_OP_COLLECTIVE);
    assert_int_equal(task_comm_task(&comms[op.comm], 0), 1);
    bench_close(&b);
}

/* Handles that are used again, with the variable of the free known (first round) and unknown (second round).
 */
static void test_handles_again(void **state)
{
    struct bench b;
    static const char *const free_of[] = {FREE("10") FREE("18"), FREE("910") FREE("918")};
    for (int round = 0; round < 2; round++) {
        bench_init(&b);
        for (int task = 0; task < 2; task++) {
            /* Two duplicates, used, freed; then a split whose handle is that of a freed duplicate. */
            char *lines =
                ker_format("MPI_Comm_dup:300:7000,%d,2:10:301\nMPI_Comm_dup:300:7000,%d,2:18:301\n"
                           "MPI_Barrier:300:7100,%d,2:301\nMPI_Barrier:300:7200,%d,2:301\n%s"
                           "MPI_Comm_split:300:7000,%d,2:0:%d:10:301\nMPI_Barrier:300:7100,%d,2:301\n",
                           task, task, task, task, free_of[round], task, 1 - task, 1 - task);
            bench_task(&b, lines);
            free(lines);
        }
        bench_good(&b);
        int32_t count;
        const struct task_comm *comms = class->comms(b.program, &count);
        assert_int_equal(count, 4);
        for (int i = 0; i < 2; i++)
            next_call(&b, 0, TASK_OP_COLLECTIVE);
        /* The first handle that is used is the first duplicate. */
        assert_int_equal(next_call(&b, 0, TASK_OP_COLLECTIVE).comm, 1);
        assert_int_equal(next_call(&b, 0, TASK_OP_COLLECTIVE).comm, 2);
        next_call(&b, 0, TASK_OP_COLLECTIVE);
        struct task_op op = next_call(&b, 0, TASK_OP_COLLECTIVE);
        assert_int_equal(op.comm, 3);
        assert_int_equal(task_comm_task(&comms[op.comm], 0), 1);
        expect_end(&b, 0);
        bench_close(&b);
    }
}

#define PASSES 2000

static bool odd_pass(int i)
{
    return i % 97 == 5;
}

/* Of task t; begin: of the loop, us. */
static void loop_write(FILE *file, int t, int begin)
{
    fprintf(file, "MPI_Comm_dup:100:7000000,%d,2:88:101\n", t);
    for (int i = 0; i < PASSES; i++) {
        int at = begin + 20 * i, count = odd_pass(i) ? 4 : 3;
        fprintf(file, "MPI_Irecv:%d:1:%d:4,8,8:%d:7:9000000,%d,2:99:%d\n", at, count, 1 - t, t, at + 1);
        fprintf(file, "MPI_Wtime:%d:%d\n", at + 3, at + 3);
        fprintf(file, "MPI_Send:%d:1:%d:4,8,8:%d:7:9000000,%d,2:%d%s\n", at + 3, count, 1 - t, t, at + 5,
                i % 50 == 7 ? "\r" : "");
        fprintf(file, "MPI_Wait:%d:99:0:%d\n", at + 9, at + 10 + i % 3);
    }
    fprintf(file, "MPI_Comm_free:%d:88:%d\n", begin + 20 * PASSES, begin + 20 * PASSES);
}

static void loop_expect(struct bench *b, uint32_t t, int32_t comm, uint32_t line)
{
    next_call(b, t, TASK_OP_COLLECTIVE);
    for (int i = 0; i < PASSES; i++, line += 4) {
        uint64_t bytes = odd_pass(i) ? 32 : 24;
        struct task_op receive = next_call(b, t, TASK_OP_IRECV);
        assert_int_equal(next_op(b, t).time, 2 * KER_US);
        struct task_op send = next_op(b, t);
        assert_int_equal(next_op(b, t).time, 4 * KER_US);
        struct task_op wait = next_op(b, t);
        assert_true(send.kind == TASK_OP_SEND && wait.kind == TASK_OP_WAIT);
        assert_true(receive.line == line && send.line == line + 2 && wait.line == line + 3);
        assert_true(receive.comm == comm && send.comm == comm);
        assert_true(receive.bytes == bytes && send.bytes == bytes);
        assert_int_equal(wait.request, receive.request);
        if (i + 1 < PASSES)
            assert_int_equal(next_op(b, t).time, (10 - i % 3) * KER_US);
    }
}

/* A loop whose lines are the same from pass to pass, so that they are expected, but for some that differ:
 * what is read is what is there. Then the communicator is made again under the same handle: the same lines
 * mean another. */
static void test_loops(void **state)
{
    struct bench b;
    bench_init(&b);
    for (int t = 0; t < 2; t++) {
        char *text;
        size_t bytes;
        FILE *file = open_memstream(&text, &bytes);
        loop_write(file, t, 1000);
        loop_write(file, t, 50000);
        fclose(file);
        bench_task(&b, text);
        free(text);
    }
    bench_good(&b);
    for (uint32_t t = 0; t < 2; t++) {
        loop_expect(&b, t, 1, 6);
        loop_expect(&b, t, 2, 6 + 4 * PASSES + 2);
        expect_end(&b, t);
    }
    bench_close(&b);
}

/* Fortran: two splits with the same rank and size, used in the other order: the smaller handle is the older
 * one. */
static void test_fortran_handles(void **state)
{
    struct bench b;
    bench_init(&b);
    bench_task(&b, SPLIT("0,0,2", "0", "0", "10") SPLIT("0,0,2", "0", "0", "14") BARRIER("4,0,2")
                       BARRIER("3,0,2"));
    bench_task(&b, SPLIT("0,1,2", "0", "0", "10") SPLIT("0,1,2", "0", "0", "14") BARRIER("4,1,2")
                       BARRIER("3,1,2"));
    bench_good(&b);
    next_call(&b, 1, TASK_OP_COLLECTIVE);
    next_call(&b, 1, TASK_OP_COLLECTIVE);
    assert_int_equal(next_call(&b, 1, TASK_OP_COLLECTIVE).comm, 2);
    assert_int_equal(next_call(&b, 1, TASK_OP_COLLECTIVE).comm, 1);
    bench_close(&b);
}

/* A grid of 2 x 2 and its rows and columns, and a communicator by group, known by their use only. */
static void test_grids(void **state)
{
    struct bench b;
    bench_init(&b);
    for (int task = 0; task < 4; task++) {
        char *lines =
            ker_format("MPI_Cart_create:300:7000,%d,4:2:1:1:0:10:301\nMPI_Comm_rank:302:7100,%d,4:1:302\n"
                       "MPI_Cart_sub:303:7100,%d,4:1:18:304\nMPI_Barrier:305:7200,%d,2:306\n"
                       "MPI_Cart_sub:307:7100,%d,4:1:26:308\nMPI_Barrier:309:7300,%d,2:310\n"
                       "MPI_Comm_create:311:7000,%d,4:1:34:312\n%s",
                       task, task, task, task % 2, task, task / 2, task,
                       task == 3   ? "MPI_Barrier:313:7400,0,2:314\n"
                       : task == 1 ? "MPI_Barrier:313:7400,1,2:314\n"
                                   : "");
        bench_task(&b, lines);
        free(lines);
    }
    bench_good(&b);
    int32_t count;
    const struct task_comm *comms = class->comms(b.program, &count), *comm;
    assert_int_equal(count, 7); /* world, grid, two rows, two columns, {3, 1} */
    for (int i = 0; i < 2; i++)
        next_call(&b, 3, TASK_OP_COLLECTIVE);
    comm = &comms[next_call(&b, 3, TASK_OP_COLLECTIVE).comm]; /* the row of task 3 is {2, 3} */
    assert_int_equal(task_comm_task(comm, 0), 2);
    assert_int_equal(task_comm_task(comm, 1), 3);
    next_call(&b, 3, TASK_OP_COLLECTIVE);
    comm = &comms[next_call(&b, 3, TASK_OP_COLLECTIVE).comm]; /* the column is {1, 3} */
    assert_int_equal(task_comm_task(comm, 0), 1);
    next_call(&b, 3, TASK_OP_COLLECTIVE);
    comm = &comms[next_call(&b, 3, TASK_OP_COLLECTIVE).comm];
    assert_int_equal(task_comm_task(comm, 0), 3);
    assert_int_equal(task_comm_task(comm, 1), 1);
    bench_close(&b);
}

int main(void)
{
    class = &task_allprof_class;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),         cmocka_unit_test(test_pinning),
        cmocka_unit_test(test_counts),        cmocka_unit_test(test_poll_gap),
        cmocka_unit_test(test_finalize_gap),  cmocka_unit_test(test_long_times),
        cmocka_unit_test(test_in_place),      cmocka_unit_test(test_split),
        cmocka_unit_test(test_handles_again), cmocka_unit_test(test_fortran_handles),
        cmocka_unit_test(test_grids),         cmocka_unit_test(test_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
