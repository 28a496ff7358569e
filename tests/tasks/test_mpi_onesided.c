/* test_mpi_onesided.c - one-sided communication over a network made of a list of events (fake_net.h).
 *
 * A message of n bytes leaves after (n + 32) x 40 ps and arrives 1 us later; the network sends at once,
 * whatever else is in flight. WAY(n) is the time from a call to the arrival.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_net.h"
#include "tasks/mpi/state.h"
#include "tests/tasks/task_rows.h"

#define WAY(bytes) ((ker_time)((bytes) + 32) * 40 + KER_US)
/* clang-format off */
#define END {.kind = TASK_OP_FINALIZE}
#define COMPUTE(t) {.kind = TASK_OP_COMPUTE, .time = t}
#define ON(k, p) {.kind = k, .peer = p, .tag = 1, .call = "MPI_Win_something"}
#define PUT(p, n) {.kind = TASK_OP_PUT, .peer = p, .tag = 1, .bytes = n}
#define RPUT(p, n, r) {.kind = TASK_OP_PUT, .peer = p, .tag = 1, .bytes = n, .request = r}
#define GET(p, n) {.kind = TASK_OP_GET, .peer = p, .tag = 1, .bytes = n}
#define RGET(p, n, r) {.kind = TASK_OP_GET, .peer = p, .tag = 1, .bytes = n, .request = r}
#define ACCUMULATE(p, n) {.kind = TASK_OP_PUT, .peer = p, .tag = 1, .bytes = n, .mode = TASK_WINDOW_SOFTWARE}
#define FETCH(p, n, b) {.kind = TASK_OP_FETCH, .peer = p, .tag = 1, .bytes = n, .bytes2 = b}
#define LOCK(p, m) {.kind = TASK_OP_WIN_LOCK, .peer = p, .tag = 1, .mode = m, .call = "MPI_Win_lock"}
#define UNLOCK(p) ON(TASK_OP_WIN_UNLOCK, p)
#define FLUSH(p) ON(TASK_OP_WIN_FLUSH, p)
#define FLUSH_ALL ON(TASK_OP_WIN_FLUSH_ALL, 0)
#define GROUP(k, list, n) {.kind = k, .tag = 1, .requests = list, .request_count = n, .call = "MPI_Win_group"}
#define COMPLETE ON(TASK_OP_WIN_COMPLETE, 0)
#define WIN_WAIT ON(TASK_OP_WIN_WAIT, 0)
#define BARRIER {.kind = TASK_OP_COLLECTIVE, .collective = TASK_COLL_BARRIER}
#define WAIT(r) {.kind = TASK_OP_WAIT, .request = r}
/* clang-format on */
#define EXCLUSIVE TASK_WINDOW_EXCLUSIVE
#define UNCHECKED TASK_WINDOW_UNCHECKED

static void assert_clean(const struct fake_net *net)
{
    int64_t open;
    uint64_t unfinished;
    task_mpi_job(net->mpi, 0, &open, &unfinished);
    assert_int_equal(open, 0);
    assert_int_equal(unfinished, 0);
    assert_int_equal(net->mpi->request.live, 0);
    assert_int_equal(net->mpi->message.live, 0);
    for (uint32_t i = 0; i < net->mpi->tasks; i++) {
        const struct task_onesided *o = net->mpi->task[i].onesided;
        const struct task_target *t = NULL;
        const struct task_window *w = NULL;
        while (o && (t = ker_table_next(&task_target_kind, &o->targets, t)))
            assert_true(t->delayed.count == 0 && t->open == 0 && t->posts == 0 && t->lock == 0 &&
                        !t->awaited);
        while (o && (w = ker_table_next(&task_window_kind, &o->windows, w)))
            assert_true(w->open == 0 && w->missing == 0 && w->exposed == 0 && w->completed == 0 &&
                        w->shared == 0 && w->locks.count == 0 && w->starters.count == 0 && !w->exclusive &&
                        !w->all);
    }
}

/* The target computes all the time, and has no part in it. Its bytes count at both. */
static void test_operations(void **state)
{
    (void)state;
    const struct {
        struct task_op op;
        ker_time time;
        uint64_t sent, received, messages_back;
    } cases[] = {
        {PUT(1, 1000), WAY(1000) + WAY(0), 1000, 0, 0},
        {PUT(1, 0), WAY(0) + WAY(0), 0, 0, 0},
        {PUT(1, 1 << 20), WAY(1 << 20) + WAY(0), 1 << 20, 0, 0}, /* there is no rendezvous */
        {GET(1, 1000), WAY(0) + WAY(1000), 0, 1000, 1},
        {GET(1, (UINT64_C(1) << 32) + 5), WAY(0) + WAY((UINT64_C(1) << 32) + 5), 0, (UINT64_C(1) << 32) + 5,
         1},
        {FETCH(1, 16, 8), WAY(16) + WAY(8), 16, 8, 1},
        {FETCH(1, 0, (UINT64_C(3) << 32) + 1), WAY(0) + WAY((UINT64_C(3) << 32) + 1), 0,
         (UINT64_C(3) << 32) + 1, 1},
        {PUT(TASK_PROC_NULL, 1000), 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake_net net;
        fake_open(&net, 2, 1, "");
        const struct task_op a[] = {cases[i].op, FLUSH(1), END}, b[] = {COMPUTE(KER_MS), END};
        fake_play(&net, (const struct task_op *const[]){a, b});
        assert_int_equal(fake_row(&net, 0).finish, cases[i].time);
        assert_int_equal(fake_row(&net, 0).bytes_sent, cases[i].sent);
        assert_int_equal(fake_row(&net, 1).bytes_received, cases[i].sent);
        assert_int_equal(fake_row(&net, 0).bytes_received, cases[i].received);
        assert_int_equal(fake_row(&net, 1).bytes_sent, cases[i].received);
        assert_int_equal(fake_row(&net, 1).messages_sent, cases[i].messages_back);
        assert_int_equal(fake_row(&net, 0).messages_received, cases[i].messages_back);
        assert_int_equal(fake_row(&net, 1).finish, KER_MS);
        assert_clean(&net);
        fake_close(&net);
    }
}

/* The target computes for C. An accumulate arrives after WAY(1000) and waits for the target's next call, or
 * for nobody, or for a thread, which takes 300 ns from the computation; its DONE takes WAY(0). Put, get and
 * an atomic operation of one element are the adapter's, whatever the target does; so is what comes back:
 * the task that waits in MPI_Win_flush computes for nothing. In another call than the computation the target
 * does it at once. */
static void test_progress(void **state)
{
    (void)state;
    const ker_time c = 50 * KER_US, by_adapter = WAY(1000) + WAY(0), cost = 300 * KER_NS;
    const struct {
        const char *config;
        struct task_op op, second;
        ker_time time, target;
    } cases[] = {
        {"", ACCUMULATE(1, 1000), COMPUTE(c), by_adapter, 2 * c},
        /* Combined at 1 GB/s: 1 us, by the target, which pays with what it does next. */
        {"mpi: { reduce_rate = \"1 GB/s\"; };", ACCUMULATE(1, 1000), COMPUTE(c), by_adapter + KER_US,
         2 * c + KER_US},
        {"mpi: { reduce_rate = [\"1 GB/s\", \"2 GB/s:max\"]; };",
         {.kind = TASK_OP_PUT,
          .peer = 1,
          .tag = 1,
          .bytes = 1000,
          .mode = TASK_WINDOW_SOFTWARE,
          .combine = TASK_COMBINE_MAX},
         COMPUTE(c),
         by_adapter + KER_US / 2,
         2 * c + KER_US / 2},
        {"mpi: { reduce_rate = \"1 GB/s\"; };", PUT(1, 1000), COMPUTE(c), by_adapter, 2 * c},
        {"mpi: { reduce_rate = \"1 GB/s\"; progress = \"calls\"; };", ACCUMULATE(1, 1000),
         ON(TASK_OP_WIN_FLUSH_ALL, 0), c + KER_US + WAY(0), c + KER_US},
        {"mpi: { progress = \"calls\"; };", ACCUMULATE(1, 1000), COMPUTE(c), 2 * c + WAY(0), 2 * c},
        {"mpi: { progress = \"calls\"; };", ACCUMULATE(1, 1000), ON(TASK_OP_WIN_FLUSH_ALL, 0), c + WAY(0), c},
        {"mpi: { progress = \"calls\"; };", PUT(1, 1000), COMPUTE(c), by_adapter, 2 * c},
        {"mpi: { progress = \"calls\"; };", GET(1, 1000), COMPUTE(c), by_adapter, 2 * c},
        {"mpi: { progress = \"calls\"; };", FETCH(1, 1000, 0), COMPUTE(c), by_adapter, 2 * c},
        {"mpi: { progress = \"thread\"; progress_cost = \"300 ns\"; };", ACCUMULATE(1, 1000), COMPUTE(c),
         by_adapter, 2 * c + cost},
        {"mpi: { progress = \"thread\"; progress_cost = \"300 ns\"; };", PUT(1, 1000), COMPUTE(c), by_adapter,
         2 * c},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake_net net;
        fake_open(&net, 2, 1, cases[i].config);
        const struct task_op a[] = {cases[i].op, FLUSH(1), END}, b[] = {COMPUTE(c), cases[i].second, END};
        fake_play(&net, (const struct task_op *const[]){a, b});
        assert_int_equal(fake_row(&net, 0).finish, cases[i].time);
        assert_int_equal(fake_row(&net, 1).finish, cases[i].target);
        assert_clean(&net);
        fake_close(&net);
    }
}

/* Accumulates under a lock, answers of FETCH among them, while the target computes from 0 to C and waits from
 * then on: all are done at C, in their order. */
static void test_progress_order(void **state)
{
    (void)state;
    const ker_time c = 50 * KER_US;
    struct fake_net net;
    fake_open(&net, 2, 1, "mpi: { progress = \"calls\"; };");
    struct task_op fetch = FETCH(1, 10, 4000);
    fetch.mode = TASK_WINDOW_SOFTWARE;
    const struct task_op a[] = {LOCK(1, EXCLUSIVE), ACCUMULATE(1, 10), fetch,
                                ACCUMULATE(1, 20),  UNLOCK(1),         END};
    const struct task_op b[] = {COMPUTE(c), END};
    fake_play(&net, (const struct task_op *const[]){a, b});
    assert_int_equal(fake_row(&net, 0).finish, c + WAY(4000));
    assert_int_equal(fake_row(&net, 1).finish, c);
    assert_int_equal(fake_row(&net, 1).messages_received, 3);
    assert_clean(&net);
    fake_close(&net);
}

/* Locks of two windows of one task, asked for by 3,000 tasks in turn, and operations that wait for as many
 * targets' locks: none is searched for. */
static void test_many_waiting(void **state)
{
    (void)state;
    enum { TASKS = 3000 };
    static struct task_op op[TASKS][6], all[TASKS + 3];
    static const struct task_op *ops[TASKS];
    struct fake_net net;
    fake_open(&net, TASKS, 1, "");
    all[0] = (struct task_op)ON(TASK_OP_WIN_LOCK_ALL, 0);
    for (int32_t i = 1; i < TASKS; i++) {
        all[i] = (struct task_op)PUT(i, 100);
        const struct task_op one[] = {LOCK(0, EXCLUSIVE), LOCK(0, EXCLUSIVE), PUT(0, 8),
                                      UNLOCK(0),          UNLOCK(0),          END};
        memcpy(op[i], one, sizeof one);
        op[i][1].tag = op[i][4].tag = 2;
        ops[i] = op[i];
    }
    all[TASKS] = (struct task_op)ON(TASK_OP_WIN_UNLOCK_ALL, 0);
    all[TASKS + 1] = (struct task_op)END;
    ops[0] = all;
    fake_play(&net, ops);
    assert_int_equal(net.mpi->steps, 0);
    assert_int_equal(net.mpi->task[0].messages_received, TASKS - 1);
    assert_int_equal(net.mpi->task[0].messages_sent, TASKS - 1);
    assert_clean(&net);
    fake_close(&net);
}

/* Overheads: 300 ns for each operation, which are one behind the other; the adapter knows 100 ns later;
 * answers need neither. */
static void test_overheads(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1,
              "node: { send_overhead = \"300 ns\"; receive_overhead = \"200 ns\"; doorbell = \"100 ns\"; };");
    const struct task_op a[] = {PUT(1, 10), GET(1, 20), FLUSH_ALL, END}, b[] = {END};
    fake_play(&net, (const struct task_op *const[]){a, b});
    assert_int_equal(fake_row(&net, 0).finish, 600 * KER_NS + 100 * KER_NS + WAY(0) + WAY(20));
    assert_clean(&net);
    fake_close(&net);
    /* By size: of 10 bytes 300 ns, of the request of a GET 100 ns. */
    fake_open(&net, 2, 1, "node: { send_overhead = [\"100 ns\", \"300 ns:10 B\"]; };");
    fake_play(&net, (const struct task_op *const[]){a, b});
    assert_int_equal(fake_row(&net, 0).finish, 400 * KER_NS + WAY(0) + WAY(20));
    assert_clean(&net);
    fake_close(&net);
    /* Two accumulates come together (the second 1,032 x 40 ps later, so both are sent at once here): combined
     * one after the other. */
    fake_open(&net, 2, 1, "mpi: { reduce_rate = \"1 GB/s\"; };");
    const struct task_op two[] = {ACCUMULATE(1, 1000), ACCUMULATE(1, 1000), FLUSH_ALL, END};
    fake_play(&net, (const struct task_op *const[]){two, b});
    assert_int_equal(fake_row(&net, 0).finish, WAY(1000) + 2 * KER_US + WAY(0));
    assert_clean(&net);
    fake_close(&net);
}

/* Requests end with the operation; a flush of one target does not wait for another, one of all does. */
static void test_requests(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 3, 1, "");
    const struct task_op a[] = {RPUT(1, 50000, 1), RGET(2, 100, 2), FLUSH(2), COMPUTE(1),
                                WAIT(2),           WAIT(1),         END};
    const struct task_op b[] = {PUT(0, 50000), GET(2, 100), FLUSH(2), COMPUTE(1), FLUSH_ALL, END};
    const struct task_op c[] = {RPUT(TASK_PROC_NULL, 7, 5), WAIT(5), END};
    fake_play(&net, (const struct task_op *const[]){a, b, c});
    assert_int_equal(fake_row(&net, 0).finish, WAY(50000) + WAY(0));
    assert_int_equal(fake_row(&net, 1).finish, WAY(50000) + WAY(0));
    assert_int_equal(fake_row(&net, 0).compute, 1);
    assert_int_equal(fake_row(&net, 0).wait, WAY(50000) + WAY(0) - 1);
    assert_int_equal(fake_row(&net, 2).finish, 0);
    assert_clean(&net);
    fake_close(&net);
}

/* A fence is a flush and a barrier: nobody is out before the slowest operation of anybody is done. The
 * barrier of three tasks takes two rounds of control messages at most; all that is checked is that nobody
 * left before. */
static void test_fence(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 3, 1, "");
    const struct task_op a[] = {PUT(1, 100000), FLUSH_ALL, BARRIER, END}, b[] = {FLUSH_ALL, BARRIER, END};
    fake_play(&net, (const struct task_op *const[]){a, b, b});
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(fake_row(&net, i).finish > WAY(100000) + WAY(0));
        assert_true(fake_row(&net, i).finish <= WAY(100000) + WAY(0) + 2 * WAY(0));
    }
    assert_clean(&net);
    fake_close(&net);
}

/* Task 0 puts to 1 and 2, which post at 0 and at 5 us. Start ends when the second post is there; complete
 * when both operations are done; wait when complete is there, an empty message. */
static void test_groups(void **state)
{
    (void)state;
    const uint64_t both[] = {1, 2}, zero[] = {0};
    struct fake_net net;
    fake_open(&net, 3, 1, "");
    const struct task_op a[] = {GROUP(TASK_OP_WIN_START, both, 2), PUT(1, 10), PUT(2, 3000), COMPLETE, END};
    const struct task_op b[] = {GROUP(TASK_OP_WIN_POST, zero, 1), COMPUTE(2 * KER_US), WIN_WAIT, END};
    const struct task_op c[] = {COMPUTE(5 * KER_US), GROUP(TASK_OP_WIN_POST, zero, 1), WIN_WAIT, END};
    fake_play(&net, (const struct task_op *const[]){a, b, c});
    ker_time started = 5 * KER_US + WAY(0), done = started + WAY(3000) + WAY(0);
    assert_int_equal(fake_row(&net, 0).finish, done);
    assert_int_equal(fake_row(&net, 1).finish, done + WAY(0));
    assert_int_equal(fake_row(&net, 2).finish, done + WAY(0));
    assert_int_equal(fake_row(&net, 0).messages_sent, 2);
    assert_clean(&net);
    fake_close(&net);
}

/* Two epochs, one after the other; the second post may be there before the first start. Without checks no
 * post is sent, and start waits for none. */
static void test_epochs(void **state)
{
    (void)state;
    const uint64_t zero[] = {0}, one[] = {1};
    struct fake_net net;
    fake_open(&net, 2, 1, "");
    struct task_op start = GROUP(TASK_OP_WIN_START, one, 1), post = GROUP(TASK_OP_WIN_POST, zero, 1);
    struct task_op free_start = start, free_post = post;
    free_start.mode = free_post.mode = UNCHECKED;
    const struct task_op a[] = {COMPUTE(9 * KER_US), start,    COMPLETE, start, PUT(1, 8), COMPLETE,
                                free_start,          COMPLETE, END};
    const struct task_op b[] = {post, WIN_WAIT, post, WIN_WAIT, free_post, WIN_WAIT, END};
    fake_play(&net, (const struct task_op *const[]){a, b});
    ker_time first = 9 * KER_US, second = first + WAY(0) + WAY(0), third = second + WAY(8) + WAY(0);
    assert_int_equal(fake_row(&net, 0).finish, third);
    assert_int_equal(fake_row(&net, 1).finish, third + WAY(0)); /* of both: they are in transit together */
    assert_clean(&net);
    fake_close(&net);
}

/* Tasks 1 and 2 lock task 0 for themselves at once. The first has it after a message in each direction, and
 * puts; UNLOCK goes when its operation is done, and so much later the second has it. Task 3 shares, and comes
 * third. */
static void test_locks(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 4, 1, "");
    const struct task_op a[] = {END}, b[] = {LOCK(0, EXCLUSIVE), PUT(0, 1000), UNLOCK(0), END};
    const struct task_op c[] = {COMPUTE(1), LOCK(0, EXCLUSIVE), PUT(0, 1000), UNLOCK(0), END};
    const struct task_op d[] = {COMPUTE(2), LOCK(0, 0), GET(0, 1000), UNLOCK(0), END};
    fake_play(&net, (const struct task_op *const[]){a, b, c, d});
    ker_time first = 2 * WAY(0) + WAY(1000) + WAY(0), turn = WAY(0) + WAY(0); /* UNLOCK, GRANT */
    ker_time second = first + turn + WAY(1000) + WAY(0), third = second + turn + WAY(0) + WAY(1000);
    assert_int_equal(fake_row(&net, 1).finish, first);
    assert_int_equal(fake_row(&net, 2).finish, second);
    assert_int_equal(fake_row(&net, 3).finish, third);
    assert_int_equal(fake_row(&net, 0).finish, 0);
    assert_clean(&net);
    fake_close(&net);
}

/* Shared locks are held together; an exclusive one waits for both, and a shared one behind it waits for that;
 * those who ask nobody wait for nobody. */
static void test_shared(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 6, 1, "");
    const struct task_op none[] = {END}, a[] = {LOCK(0, 0), COMPUTE(10 * KER_US), UNLOCK(0), END},
                         b[] = {COMPUTE(1), LOCK(0, 0), COMPUTE(20 * KER_US), UNLOCK(0), END},
                         c[] = {COMPUTE(2), LOCK(0, EXCLUSIVE), COMPUTE(KER_US), UNLOCK(0), END},
                         d[] = {COMPUTE(3), LOCK(0, 0), UNLOCK(0), END},
                         e[] = {LOCK(0, UNCHECKED | EXCLUSIVE), PUT(0, 8), UNLOCK(0), END};
    fake_play(&net, (const struct task_op *const[]){none, a, b, c, d, e});
    ker_time shared = 1 + 2 * WAY(0) + 20 * KER_US, alone = shared + 2 * WAY(0) + KER_US;
    assert_int_equal(fake_row(&net, 1).finish, 2 * WAY(0) + 10 * KER_US);
    assert_int_equal(fake_row(&net, 2).finish, shared);
    assert_int_equal(fake_row(&net, 3).finish, alone);
    assert_int_equal(fake_row(&net, 4).finish, alone + 2 * WAY(0));
    assert_int_equal(fake_row(&net, 5).finish, WAY(8) + WAY(0));
    assert_clean(&net);
    fake_close(&net);
}

/* lock_all asks a target when it is first used: two puts to task 0 wait for the lock, that to task 2 does not
 * wait for them; later ones go at once. Task 0 is locked by task 2 for 10 us. */
static void test_lock_all(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 3, 1, "");
    const struct task_op none[] = {END};
    const struct task_op a[] = {COMPUTE(KER_US),
                                ON(TASK_OP_WIN_LOCK_ALL, 0),
                                PUT(0, 100),
                                PUT(0, 900),
                                PUT(2, 10),
                                FLUSH(2),
                                COMPUTE(1),
                                FLUSH(0),
                                PUT(0, 8),
                                FLUSH_ALL,
                                ON(TASK_OP_WIN_UNLOCK_ALL, 0),
                                END};
    const struct task_op b[] = {LOCK(0, EXCLUSIVE), COMPUTE(10 * KER_US), UNLOCK(0), END};
    fake_play(&net, (const struct task_op *const[]){none, a, b});
    ker_time granted = 2 * WAY(0) + 10 * KER_US + 2 * WAY(0);
    assert_int_equal(fake_row(&net, 1).finish, granted + WAY(900) + WAY(0) + WAY(8) + WAY(0));
    assert_int_equal(fake_row(&net, 1).messages_sent, 4);
    assert_clean(&net);
    fake_close(&net);
}

/* Whoever waits for a lock that is never given back, or for a post that never comes, says so. */
static void test_waiting(void **state)
{
    (void)state;
    const uint64_t two[] = {2};
    struct fake_net net;
    fake_open(&net, 3, 1, "");
    const struct task_op a[] = {LOCK(2, EXCLUSIVE), END}, b[] = {COMPUTE(1), LOCK(2, 0), END},
                         c[] = {GROUP(TASK_OP_WIN_START, two, 1), COMPLETE, END};
    fake_play(&net, (const struct task_op *const[]){a, b, c});
    struct task_mpi_wait rows[3];
    assert_int_equal(task_mpi_waiting(net.mpi, NULL, rows, 3), 2);
    assert_string_equal(rows[0].awaited, "the lock of task 2, window 1");
    assert_string_equal(rows[1].awaited, "MPI_Win_post of 1 tasks, window 1");
    fake_close(&net);
}

/* ---- programs drawn at random ---- */

#define TASKS_MOST 8

struct script {
    struct task_op op[600];
    uint64_t others[TASKS_MOST];
    uint32_t ops;
};

static void add(struct script *s, struct task_op op)
{
    assert_true(s->ops < sizeof s->op / sizeof *s->op);
    s->op[s->ops++] = op;
}

enum form { ALL, GROUPS, EACH, FENCES, FORMS };

static void draw_operations(struct script *s, struct ker_stream *stream, int32_t to, enum form form)
{
    if (form == EACH)
        add(s, (struct task_op)LOCK(to, (uint8_t)ker_stream_below(stream, 2)));
    for (uint32_t i = 1 + ker_stream_below(stream, 3); i; i--) {
        add(s, (struct task_op)PUT(to, ker_stream_below(stream, 20000)));
        add(s, (struct task_op)FETCH(to, ker_stream_below(stream, 100), ker_stream_below(stream, 100)));
        add(s, (struct task_op)GET(to, ker_stream_below(stream, 20000)));
    }
    if (ker_stream_below(stream, 2))
        add(s, (struct task_op)FLUSH(to));
    if (form == EACH)
        add(s, (struct task_op)UNLOCK(to));
}

static void draw_round(struct script *s, struct ker_stream *stream, uint32_t tasks, enum form form)
{
    if (form == ALL)
        add(s, (struct task_op)ON(TASK_OP_WIN_LOCK_ALL, 0));
    if (form == GROUPS) { /* each with all others */
        add(s, (struct task_op)GROUP(TASK_OP_WIN_POST, s->others, tasks - 1));
        add(s, (struct task_op)GROUP(TASK_OP_WIN_START, s->others, tasks - 1));
    }
    for (uint32_t i = ker_stream_below(stream, 6); i; i--)
        draw_operations(s, stream, (int32_t)s->others[ker_stream_below(stream, tasks - 1)], form);
    if (form == ALL)
        add(s, (struct task_op)ON(TASK_OP_WIN_UNLOCK_ALL, 0));
    if (form == GROUPS) { /* rounds of them follow one another without a barrier */
        add(s, (struct task_op)COMPLETE);
        add(s, (struct task_op)WIN_WAIT);
    } else {
        add(s, (struct task_op)FLUSH_ALL);
        add(s, (struct task_op)BARRIER);
    }
}

static void draw(struct script *script, uint32_t tasks, struct ker_stream *stream)
{
    for (uint32_t t = 0; t < tasks; t++) {
        script[t].ops = 0;
        for (uint32_t other = 0, n = 0; other < tasks; other++)
            if (other != t)
                script[t].others[n++] = other;
    }
    for (int round = 0; round < 5; round++) {
        enum form form = (enum form)ker_stream_below(stream, FORMS);
        for (uint32_t t = 0; t < tasks; t++)
            draw_round(&script[t], stream, tasks, form);
    }
    for (uint32_t t = 0; t < tasks; t++) {
        add(&script[t], (struct task_op)ON(TASK_OP_WIN_FREE, 0));
        add(&script[t], (struct task_op)END);
    }
}

/* Programs of up to 8 tasks, with messages that overtake each other: all end, as many bytes are received as
 * are sent, and nothing is left. */
static void test_random(void **state)
{
    (void)state;
    static struct script script[TASKS_MOST];
    for (uint32_t seed = 0; seed < 300; seed++) {
        struct ker_stream stream;
        ker_stream_init(&stream, seed, KER_PURPOSE_TEST, 0);
        uint32_t tasks = 2 + ker_stream_below(&stream, TASKS_MOST - 1);
        struct fake_net net;
        fake_open(&net, tasks, 1 + seed % 2,
                  seed % 3 ? "node: { send_overhead = \"50 ns\"; doorbell = \"20 ns\"; };" : "");
        net.jitter = seed % 4 ? 3 * KER_US : 0;
        draw(script, tasks, &stream);
        const struct task_op *ops[TASKS_MOST];
        for (uint32_t t = 0; t < tasks; t++)
            ops[t] = script[t].op;
        fake_play(&net, ops);
        uint64_t missing = 0;
        for (uint32_t t = 0; t < tasks; t++)
            missing += fake_row(&net, t).bytes_sent - fake_row(&net, t).bytes_received;
        assert_int_equal(missing, 0);
        assert_clean(&net);
        fake_close(&net);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),     cmocka_unit_test(test_overheads),
        cmocka_unit_test(test_requests),       cmocka_unit_test(test_fence),
        cmocka_unit_test(test_groups),         cmocka_unit_test(test_epochs),
        cmocka_unit_test(test_locks),          cmocka_unit_test(test_shared),
        cmocka_unit_test(test_lock_all),       cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_random),         cmocka_unit_test(test_progress),
        cmocka_unit_test(test_progress_order), cmocka_unit_test(test_many_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
