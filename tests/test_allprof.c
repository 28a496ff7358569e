/* The reader of liballprof traces: calls to operations, request variables, tests, communicators, bad files,
 * real traces. */
#include "tasks/jobs/jobs.h"
#include "tests/replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

extern const struct ker_kind task_program_allprof;
static const struct task_program_class *class; /* of it */

struct bench {
    char folder[64];
    uint32_t files;
    struct ker_comm *comm;
    struct ker_config *config;
    struct task_program *program;
    struct ker_error error;
    enum ker_status status;
};

static void bench_init(struct bench *b)
{
    *b = (struct bench){0};
    strcpy(b->folder, P_tmpdir "/test_allprof.XXXXXX");
    assert_non_null(mkdtemp(b->folder));
}

static char *bench_path(const struct bench *b, uint32_t task, const char *suffix)
{
    return ker_format("%s/pmpi-trace-rank-%u.txt%s", b->folder, task, suffix);
}

static void text_write(const char *path, const void *text, size_t bytes)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    fclose(file);
}

static void bench_raw(struct bench *b, const char *text)
{
    char *path = bench_path(b, b->files++, "");
    text_write(path, text, strlen(text));
    free(path);
}

#define BANNER "# htor's PMPI Tracer 1.0 Output File\n"
#define HEAD BANNER "# time: then\n\nMPI_Init:-:1:2:100\n"
#define TAIL "MPI_Finalize:100000:-\n"

/* The trace of the next task, between MPI_Init (line 4, ends at 100 us) and MPI_Finalize. */
static void bench_task(struct bench *b, const char *lines)
{
    char *text = ker_format(HEAD "%s" TAIL, lines);
    bench_raw(b, text);
    free(text);
}

static enum ker_status bench_open(struct bench *b, const char *folder, const char *more)
{
    const struct ker_option *tables[] = {task_job_options, NULL};
    char *text = ker_format("jobs = ( { program = \"trace\"; trace = \"%s\"; %s } );", folder, more);
    assert_int_equal(ker_config_parse(&b->config, "test.cfg", text, NULL, 0, tables, &b->error), KER_OK);
    free(text);
    b->comm = ker_comm_alone();
    b->status = class->open(&b->program, b->config, "jobs[0]", b->comm, &b->error);
    if (b->status != KER_OK)
        return b->status;
    uint32_t tasks = class->tasks(b->program), *own = ker_alloc(tasks * sizeof *own);
    for (uint32_t i = 0; i < tasks; i++)
        own[i] = i;
    b->status = class->prepare(b->program, own, tasks, &b->error);
    free(own);
    return b->status;
}

static void bench_good(struct bench *b)
{
    if (bench_open(b, b->folder, "") != KER_OK)
        print_error("%s\n", b->error.text);
    assert_int_equal(b->status, KER_OK);
}

static void bench_close(struct bench *b)
{
    class->close(b->program);
    if (b->comm)
        ker_comm_release(b->comm);
    ker_config_free(b->config);
    for (uint32_t i = 0; i < b->files; i++) {
        char *path = bench_path(b, i, ""), *packed = bench_path(b, i, ".zst");
        unlink(path);
        unlink(packed);
        free(path);
        free(packed);
    }
    rmdir(b->folder);
}

static struct task_op next_op(struct bench *b, uint32_t task)
{
    struct task_op op;
    assert_true(class->next(b->program, task, &op));
    return op;
}

/* The next operation that is no computation. */
static struct task_op next_call(struct bench *b, uint32_t task, unsigned kind)
{
    struct task_op op;
    do
        op = next_op(b, task);
    while (op.kind == TASK_OP_COMPUTE);
    if (op.kind != kind)
        print_error("line %u: %s\n", op.line, op.call);
    assert_int_equal(op.kind, kind);
    return op;
}

static void expect_end(struct bench *b, uint32_t task)
{
    struct task_op op;
    next_call(b, task, TASK_OP_FINALIZE);
    assert_false(class->next(b->program, task, &op));
}

static void expect_refused(struct bench *b, const char *more, const char *text)
{
    assert_int_equal(bench_open(b, b->folder, more), KER_BAD_INPUT);
    if (!strstr(b->error.text, text))
        print_error("got: %s\n", b->error.text);
    assert_non_null(strstr(b->error.text, text));
    bench_close(b);
}

#define WORLD "7000000,0,1"

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
    /* Own shares stand in the lists, whatever the other arguments say: 4 x 4 of rank 0, then 1 x 4. */
    assert_int_equal(next_call(&b, 0, TASK_OP_COLLECTIVE).bytes, 16);
    assert_int_equal(next_call(&b, 0, TASK_OP_COLLECTIVE).bytes2, 4);
    expect_end(&b, 0);
    next_call(&b, 1, TASK_OP_COLLECTIVE);
    next_call(&b, 1, TASK_OP_COLLECTIVE);
    /* The root's own share stands in its list, whatever the send arguments say: rank 1 has 6 x 4. */
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

/* These tests have receives without sends; where one is cancelled, that is not refused. Here it is a null
 * request's. */
#define LOOSE "MPI_Cancel:99000:4242:99000\n"
#define IRECV(peer, request) "MPI_Irecv:200:1:4:1,4,4:" peer ":5:" WORLD ":" request ":200\n"

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

#define BARRIER(group) "MPI_Barrier:300:" group ":301\n"
#define SPLIT(group, colour, key, variable)                                                                  \
    "MPI_Comm_split:300:" group ":" colour ":" key ":" variable ":301\n"
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
    class = task_program_allprof.operations;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),         cmocka_unit_test(test_counts),
        cmocka_unit_test(test_strides),       cmocka_unit_test(test_poll_gap),
        cmocka_unit_test(test_finalize_gap),  cmocka_unit_test(test_long_times),
        cmocka_unit_test(test_in_place),      cmocka_unit_test(test_padded_names),
        cmocka_unit_test(test_persistent),    cmocka_unit_test(test_testany),
        cmocka_unit_test(test_test),          cmocka_unit_test(test_waitany),
        cmocka_unit_test(test_many_tests),    cmocka_unit_test(test_split),
        cmocka_unit_test(test_handles_again), cmocka_unit_test(test_fortran_handles),
        cmocka_unit_test(test_grids),         cmocka_unit_test(test_bad_lines),
        cmocka_unit_test(test_bad_files),     cmocka_unit_test(test_bad_groups),
        cmocka_unit_test(test_bad_matches),   cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_real_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
