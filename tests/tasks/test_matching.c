/* test_matching.c - what searching queues and copying messages costs, by hand; and how searches grow.
 *
 * The network is that of fake_net.h: a message of n bytes leaves after (n + 32) x 40 ps and arrives 1 us
 * later.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_net.h"
#include "tasks/mpi/state.h"
#include "tests/tasks/task_rows.h"

#define WIRE(bytes) ((ker_time)((bytes) + 32) * 40)
#define HEADER WIRE(0)

static const struct task_op end = {.kind = TASK_OP_FINALIZE, .call = "MPI_Finalize"};

static struct task_op make(unsigned kind, int32_t peer, int32_t tag, uint64_t bytes, uint64_t request)
{
    return (struct task_op){
        .kind = (uint8_t)kind, .peer = peer, .tag = tag, .bytes = bytes, .request = request, .call = "MPI"};
}

static struct task_op compute(ker_time time)
{
    return (struct task_op){.kind = TASK_OP_COMPUTE, .time = time};
}

static void play(struct fake_net *net, const struct task_op *const *ops)
{
    fake_play(net, ops);
    assert_int_equal(task_mpi_unfinished(net->mpi), 0);
    assert_int_equal(net->mpi->message.live, 0);
    assert_int_equal(net->mpi->lookup.live, 0);
}

/* 10 ns an entry. Task 0 sends n + 1 messages of tags 0 to n, which are all there when task 1 has computed 1
 * ms. It receives tag n first, behind n entries: (n + 1) x 10 ns; then the others in order, 10 ns each. The
 * messages found no receive posted: nothing to look at. The same for short and for long queues. */
static void unexpected(uint32_t n)
{
    struct fake_net net;
    struct task_op *a = ker_alloc((n + 2) * sizeof *a), *b = ker_alloc((n + 3) * sizeof *b);
    fake_open(&net, 2, 1, "mpi: { match_time = \"10 ns\"; };");
    for (uint32_t i = 0; i <= n; i++) {
        a[i] = make(TASK_OP_SEND, 1, (int32_t)i, 8, 0);
        b[i + 1] = make(TASK_OP_RECV, 0, (int32_t)(i ? i - 1 : n), 8, 0);
    }
    b[0] = compute(KER_MS);
    a[n + 1] = b[n + 2] = end;
    play(&net, (const struct task_op *const[]){a, b});
    assert_int_equal(fake_row(&net, 1).finish, KER_MS + (ker_time)(n + 1 + n) * 10 * KER_NS);
    assert_int_equal(fake_row(&net, 1).compute, KER_MS);
    assert_int_equal(net.mpi->task[1].longest[TASK_QUEUE_UNEXPECTED], n + 1);
    assert_int_equal(net.mpi->task[1].search[TASK_QUEUE_UNEXPECTED].lengths, (n + 1) * (n + 2) / 2);
    free(a);
    free(b);
    fake_close(&net);
}

/* Task 1 posts n + 1 receives of tags 0 to n. One message of tag n: it arrives when it has left and crossed,
 * and is found behind n others; the Wait continues (n + 1) x 10 ns later. By rendezvous the READ leaves so
 * much later, and nothing else is paid. */
static void posted(uint32_t n, uint64_t bytes)
{
    struct fake_net net;
    struct task_op *b = ker_alloc((2 * (size_t)n + 4) * sizeof *b);
    const struct task_op a[] = {make(TASK_OP_SEND, 1, (int32_t)n, bytes, 0), end};
    size_t at = 0;
    fake_open(&net, 2, 1, "mpi: { match_time = \"10 ns\"; };");
    for (uint32_t i = 0; i <= n; i++)
        b[at++] = make(TASK_OP_IRECV, 0, (int32_t)i, bytes, i + 1);
    b[at++] = make(TASK_OP_WAIT, 0, 0, 0, n + 1);
    for (uint32_t i = 0; i < n; i++)
        b[at++] = make(TASK_OP_CANCEL, 0, 0, 0, i + 1);
    b[at++] = end;
    play(&net, (const struct task_op *const[]){a, b});
    ker_time search = (ker_time)(n + 1) * 10 * KER_NS;
    bool eager = bytes <= 8192;
    ker_time there = eager ? WIRE(bytes) + KER_US + search
                           : HEADER + KER_US + search + HEADER + KER_US + WIRE(bytes) + KER_US;
    assert_int_equal(fake_row(&net, 1).finish, there);
    assert_int_equal(fake_row(&net, 1).wait, eager ? there - search : there);
    free(b);
    fake_close(&net);
}

static void test_search_time(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {0, 1, 15, 16, 17, 63, 64, 65, 66, 1000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        unexpected(lengths[i]);
        posted(lengths[i], 8);
        posted(lengths[i], 100000);
    }
}

/* Two messages of 8 bytes for the second of two receives, sent at once by two tasks: they arrive together,
 * are searched for one after the other (2 and 1 entries), and the call continues when both searches are over.
 */
static void test_searches_follow(void **state)
{
    (void)state;
    struct fake_net net;
    static const uint64_t both[] = {1, 2};
    fake_open(&net, 3, 1, "mpi: { match_time = \"10 ns\"; };");
    const struct task_op a[] = {make(TASK_OP_SEND, 2, 1, 8, 0), end},
                         c[] = {make(TASK_OP_SEND, 2, 0, 8, 0), end};
    const struct task_op b[] = {
        make(TASK_OP_IRECV, 1, 0, 8, 1),
        make(TASK_OP_IRECV, 0, 1, 8, 2),
        {.kind = TASK_OP_WAITALL, .requests = both, .request_count = 2, .call = "MPI_Waitall"},
        end};
    play(&net, (const struct task_op *const[]){a, c, b});
    assert_int_equal(fake_row(&net, 2).finish, WIRE(8) + KER_US + 3 * 10 * KER_NS);
    fake_close(&net);
}

/* node.memory_bandwidth is 10 GB/s: 100 ps a byte. A message that is there when it is received is copied, one
 * that comes to its receive, or by rendezvous, is not. */
static void test_unexpected_copy(void **state)
{
    (void)state;
    for (int copies = 0; copies < 2; copies++) {
        struct fake_net net;
        fake_open(&net, 2, 1, copies ? "mpi: { copies = \"unexpected\"; };" : "");
        const struct task_op a[] = {make(TASK_OP_SEND, 1, 0, 5000, 0), compute(20 * KER_US),
                                    make(TASK_OP_SEND, 1, 0, 6000, 0), make(TASK_OP_SEND, 1, 0, 9000, 0),
                                    end};
        const struct task_op b[] = {
            compute(10 * KER_US), make(TASK_OP_RECV, 0, 0, 5000, 0), make(TASK_OP_RECV, 0, 0, 6000, 0),
            compute(10 * KER_US), make(TASK_OP_RECV, 0, 0, 9000, 0), end};
        play(&net, (const struct task_op *const[]){a, b});
        ker_time sent = WIRE(5000) + 20 * KER_US + WIRE(6000), second = sent + KER_US; /* waited for */
        ker_time rest = second + 10 * KER_US + HEADER + KER_US + WIRE(9000) + KER_US;
        assert_int_equal(fake_row(&net, 1).finish, rest);
        assert_int_equal(fake_row(&net, 1).wait, rest - 20 * KER_US - (copies ? 500 * KER_NS : 0));
        fake_close(&net);
    }
}

/* Bsend copies 20,000 bytes before its RTS leaves; with eager_completion = "buffered" a small send does, too,
 * and ends then; a synchronous one does not. */
static void test_buffered_copy(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, "mpi: { copies = \"buffered\"; eager_completion = \"buffered\"; };");
    struct task_op a[] = {make(TASK_OP_SEND, 1, 0, 20000, 0), make(TASK_OP_SEND, 1, 1, 3000, 0),
                          make(TASK_OP_SEND, 1, 2, 4000, 0), end};
    a[0].mode = TASK_MODE_BUFFERED;
    a[2].mode = TASK_MODE_SYNCHRONOUS;
    const struct task_op b[] = {make(TASK_OP_RECV, 0, 0, 20000, 0), make(TASK_OP_RECV, 0, 1, 3000, 0),
                                make(TASK_OP_RECV, 0, 2, 4000, 0), end};
    play(&net, (const struct task_op *const[]){a, b});
    assert_int_equal(net.sent[0].time, 2 * KER_US);
    assert_int_equal(net.sent[1].time, 2 * KER_US + 300 * KER_NS);
    assert_int_equal(net.sent[2].time, 2 * KER_US + 300 * KER_NS);
    fake_close(&net);
}

/* Steps of all searches while a task takes n messages or receives in the worst order. */
static uint64_t steps_of(uint32_t n, bool early, const char *settings)
{
    struct fake_net net;
    struct task_op *a = ker_alloc((n + 2) * sizeof *a), *b = ker_alloc((2 * (size_t)n + 3) * sizeof *b);
    uint64_t *names = ker_alloc(n * sizeof *names);
    fake_open(&net, 2, 1, settings);
    for (uint32_t i = 0; i < n; i++) {
        names[i] = i + 1;
        a[i] = make(TASK_OP_ISEND, 1, (int32_t)i, 8, i + 1);
        b[i + early] = make(TASK_OP_IRECV, i % 3 ? 0 : TASK_ANY, (int32_t)(n - 1 - i), 8, i + 1);
    }
    a[n] = (struct task_op){
        .kind = TASK_OP_WAITALL, .requests = names, .request_count = n, .call = "MPI_Waitall"};
    if (early)
        b[0] = compute(KER_S);
    b[n + early] = a[n];
    a[n + 1] = b[n + early + 1] = end;
    play(&net, (const struct task_op *const[]){a, b});
    uint64_t steps = net.mpi->steps;
    assert_int_equal(net.mpi->task[1].longest[early], n);
    free(a);
    free(b);
    free(names);
    fake_close(&net);
    return steps;
}

/* 100,000 unexpected messages, or receives, at one task: a constant number of steps each; with places log n.
 */
static void test_growth(void **state)
{
    (void)state;
    for (int early = 0; early < 2; early++) {
        uint64_t few = steps_of(10000, early, ""), many = steps_of(100000, early, "");
        assert_true(many < 11 * few && many < 20 * 100000);
        assert_true(steps_of(100000, early, "mpi: { match_time = \"1 ps\"; };") < 90 * 100000ull);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search_time),     cmocka_unit_test(test_searches_follow),
        cmocka_unit_test(test_unexpected_copy), cmocka_unit_test(test_buffered_copy),
        cmocka_unit_test(test_growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
