/* test_mpi_nonblocking.c - collectives that do not block, and mpi.progress: times by hand on a network of
 * constant latency, and random programs with many calls in flight, which must send what their blocking forms
 * send.
 *
 * A message of 8 bytes takes T = 1 us + (8 + 32) x 40 ps to arrive (fake_net.h). An Allreduce of 8 bytes on 4
 * tasks is two exchanges, one after the other; all tasks do the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_net.h"
#include "tasks/mpi/state.h"
#include "tests/tasks/task_rows.h"

#define MOST 12
#define T (KER_US + 40 * 40)
#define C (10 * KER_US)

static struct task_op op_of(unsigned kind)
{
    return (struct task_op){.kind = (uint8_t)kind, .call = "MPI_Something"};
}

/* When the tasks end, all at the same time; 0: not all at the same time. */
static ker_time play_alike(uint32_t tasks, const struct task_op *ops, const char *settings)
{
    struct fake_net net;
    struct task_row rows[MOST];
    fake_open(&net, tasks, 1, settings);
    for (uint32_t t = 0; t < tasks; t++)
        net.program.ops[t] = ops;
    fake_start(&net);
    fake_run(&net, UINT64_MAX);
    assert_int_equal(task_mpi_unfinished(net.mpi), 0);
    assert_int_equal(net.mpi->request.live, 0);
    assert_int_equal(net.mpi->run.live, 0);
    task_rows(net.mpi, net.now, rows);
    ker_time finish = rows[0].finish;
    for (uint32_t t = 1; t < tasks; t++)
        finish = rows[t].finish == finish ? finish : 0;
    fake_close(&net);
    return finish;
}

/* Iallreduce, computation C, Wait. */
static void ops_overlap(struct task_op ops[4])
{
    ops[0] = op_of(TASK_OP_ICOLLECTIVE);
    ops[0].collective = TASK_COLL_ALLREDUCE;
    ops[0].bytes = 8;
    ops[0].request = 5;
    ops[1] = op_of(TASK_OP_COMPUTE);
    ops[1].time = C;
    ops[2] = op_of(TASK_OP_WAIT);
    ops[2].request = 5;
    ops[3] = op_of(TASK_OP_FINALIZE);
}

/* The adapter: both exchanges are over long before the computation. Calls: the first message leaves in the
 * call and waits for the Wait at C, which makes the second exchange. A thread: acts twice, 300 ns each. */
static void test_progress(void **state)
{
    struct task_op ops[4];
    (void)state;
    ops_overlap(ops);
    assert_int_equal(play_alike(4, ops, ""), C);
    assert_int_equal(play_alike(4, ops, "mpi: { progress = \"calls\"; };"), C + T);
    assert_int_equal(play_alike(4, ops, "mpi: { progress = \"thread\"; };"), C);
    assert_int_equal(play_alike(4, ops, "mpi: { progress = \"thread\"; progress_cost = \"300 ns\"; };"),
                     C + 2 * 300 * KER_NS);
}

/* A call of MPI in the middle of the computation, though it finds nothing, continues with the second
 * exchange.
 */
static void test_polls(void **state)
{
    struct task_op ops[6];
    (void)state;
    ops_overlap(ops);
    ops[5] = ops[3];
    ops[4] = ops[2];
    ops[1].time = C / 2;
    ops[3] = ops[1];
    ops[2] = op_of(TASK_OP_POLL);
    assert_int_equal(play_alike(4, ops, "mpi: { progress = \"calls\"; };"), C);
}

/* Overheads of 70 ns to send and 50 ns to receive. The adapter: the call, 70. Calls: 70 for the first message
 * in the call; in the Wait 50 and 70 for the second exchange, and 50 when it is over. A thread: 70 in the
 * call, and what it does from then on, 50 + 70 + 50 and twice its cost, is taken from the computation. */
static void test_overheads(void **state)
{
    struct task_op ops[4];
    (void)state;
    ops_overlap(ops);
#define NODE "node: { send_overhead = \"70 ns\"; receive_overhead = \"50 ns\"; };"
    assert_int_equal(play_alike(4, ops, NODE), C + 70 * KER_NS);
    assert_int_equal(play_alike(4, ops, NODE "mpi: { progress = \"calls\"; };"),
                     70 * KER_NS + C + 120 * KER_NS + T + 50 * KER_NS);
    assert_int_equal(play_alike(4, ops, NODE "mpi: { progress = \"thread\"; progress_cost = \"300 ns\"; };"),
                     70 * KER_NS + C + 170 * KER_NS + 600 * KER_NS);
}

/* A computation that is over before the messages come: the Wait continues with them in every mode, at 2 T. */
static void test_short_computation(void **state)
{
    struct task_op ops[4];
    (void)state;
    ops_overlap(ops);
    ops[1].time = 1;
    assert_int_equal(play_alike(4, ops, ""), 2 * T);
    assert_int_equal(play_alike(4, ops, "mpi: { progress = \"calls\"; };"), 2 * T);
    assert_int_equal(play_alike(4, ops, "mpi: { progress = \"thread\"; progress_cost = \"300 ns\"; };"),
                     2 * T);
}

/* An inactive persistent request is complete; each start makes the call again: 2 T each, and what it has made
 * waits for nobody's computation. */
static void test_persistent(void **state)
{
    struct task_op ops[9];
    (void)state;
    ops_overlap(ops);
    ops[0].kind = TASK_OP_COLLECTIVE_INIT;
    ops[1] = ops[2];
    ops[2] = op_of(TASK_OP_START);
    ops[2].request = 5;
    ops[3] = ops[1];
    ops[4] = ops[2];
    ops[5] = op_of(TASK_OP_COMPUTE);
    ops[5].time = C;
    ops[6] = ops[1];
    ops[7] = op_of(TASK_OP_REQUEST_FREE);
    ops[7].request = 5;
    ops[8] = op_of(TASK_OP_FINALIZE);
    assert_int_equal(play_alike(4, ops, ""), 2 * T + C);
    assert_int_equal(play_alike(4, ops, "mpi: { progress = \"calls\"; };"), 2 * T + C + T);
}

/* Two tasks: a barrier that does not block, and PUT of 100 bytes to the other, flushed. The barrier's message
 * is here after 1 us and 32 x 40 ps, which ends nothing that the flush waits for: PUT, and DONE of no bytes.
 */
static void test_beside_a_flush(void **state)
{
    struct task_op ops[2][5];
    struct task_row rows[2];
    struct fake_net net;
    (void)state;
    fake_open(&net, 2, 1, "");
    for (int t = 0; t < 2; t++) {
        ops[t][0] = op_of(TASK_OP_ICOLLECTIVE);
        ops[t][0].collective = TASK_COLL_BARRIER;
        ops[t][0].request = 5;
        ops[t][1] = op_of(TASK_OP_PUT);
        ops[t][1].peer = 1 - t;
        ops[t][1].tag = 1;
        ops[t][1].bytes = 100;
        ops[t][2] = ops[t][1];
        ops[t][2].kind = TASK_OP_WIN_FLUSH;
        ops[t][3] = op_of(TASK_OP_WAIT);
        ops[t][3].request = 5;
        ops[t][4] = op_of(TASK_OP_FINALIZE);
        net.program.ops[t] = ops[t];
    }
    fake_start(&net);
    fake_run(&net, UINT64_MAX);
    task_rows(net.mpi, net.now, rows);
    assert_int_equal(rows[0].finish, 2 * KER_US + (132 + 32) * 40);
    assert_int_equal(rows[1].finish, rows[0].finish);
    fake_close(&net);
}

/* ---- random programs ---- */

#define CALLS 40
#define OPS_MOST (8 * CALLS)

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

struct call {
    uint8_t collective, form;
    int32_t comm, root;
    uint64_t bytes;
};

struct drawing {
    struct ker_stream stream;
    uint32_t tasks;
    struct call call[CALLS];
    struct task_op op[MOST][OPS_MOST];
    uint32_t ops[MOST];
    uint64_t open[MOST][CALLS];            /* requests of a task that it has not waited for */
    uint64_t list[MOST][4 * CALLS][CALLS]; /* what it names in a call */
    uint32_t opens[MOST], lists[MOST];
    uint64_t counts[CALLS][MOST][2][MOST];
};

static uint32_t draw(struct drawing *d, uint32_t n)
{
    return ker_stream_below(&d->stream, n);
}

static struct task_op *add(struct drawing *d, uint32_t task, unsigned kind)
{
    assert_true(d->ops[task] < OPS_MOST);
    d->op[task][d->ops[task]] = op_of(kind);
    return &d->op[task][d->ops[task]++];
}

/* Communicator 1 has the tasks of odd numbers. */
static bool has(int32_t comm, uint32_t task)
{
    return comm == 0 || task % 2;
}

static struct task_neighbours ring[2][MOST];

/* Rings of the world and of the odd tasks, as grids of one dimension. */
static void rings_make(uint32_t tasks)
{
    static int32_t ranks[2][MOST][2], to_tag[] = {0, 1}, from_tag[] = {1, 0};
    for (int32_t comm = 0; comm < 2; comm++)
        for (uint32_t t = 0; t < tasks; t++) {
            int32_t size = (int32_t)(comm ? tasks / 2 : tasks), rank = (int32_t)(comm ? t / 2 : t);
            ranks[comm][t][0] = (rank + size - 1) % (size ? size : 1);
            ranks[comm][t][1] = (rank + 1) % (size ? size : 1);
            ring[comm][t] = (struct task_neighbours){2, 2, ranks[comm][t], from_tag, ranks[comm][t], to_tag};
        }
}

static const struct task_neighbours *neighbours(uint32_t task, int32_t comm)
{
    return &ring[comm][task];
}

static void call_draw(struct drawing *d, uint32_t number)
{
    struct call *c = &d->call[number];
    c->collective = (uint8_t)draw(d, TASK_COLL_COUNT);
    c->form = (uint8_t)draw(d, FORMS);
    c->comm = d->tasks > 3 ? (int32_t)draw(d, 2) : 0;
    c->root = (int32_t)draw(d, c->comm ? d->tasks / 2 : d->tasks);
    c->bytes = draw(d, 2) ? draw(d, 100) : draw(d, 50000);
    for (uint32_t i = 0; i < MOST; i++)
        for (uint32_t k = 0; k < MOST; k++) {
            d->counts[number][i][0][k] = i * 100 + k; /* what i sends to k */
            d->counts[number][i][1][k] = k * 100 + i;
        }
}

/* The call, or the start of a persistent one, as long as it blocks nobody. */
static void call_add(struct drawing *d, uint32_t task, uint32_t number, bool blocks)
{
    const struct call *c = &d->call[number];
    unsigned kind = blocks || c->form == BLOCKING ? TASK_OP_COLLECTIVE
                    : c->form == NONBLOCKING      ? TASK_OP_ICOLLECTIVE
                                                  : TASK_OP_COLLECTIVE_INIT;
    struct task_op *op = add(d, task, kind);
    op->collective = c->collective;
    op->comm = c->comm;
    op->peer = c->root;
    op->bytes = op->bytes2 = c->bytes;
    op->request = 100 + number;
    if (c->collective == TASK_COLL_ALLTOALLV) {
        op->request_count = d->tasks;
        op->send_bytes = d->counts[number][c->comm ? task / 2 : task][0];
        op->receive_bytes = d->counts[number][c->comm ? task / 2 : task][1];
    }
    if (kind == TASK_OP_COLLECTIVE_INIT)
        add(d, task, TASK_OP_START)->request = 100 + number;
    if (kind != TASK_OP_COLLECTIVE)
        d->open[task][d->opens[task]++] = 100 + number;
}

/* Waits for some of a task's requests, in any order, and tests others; all when `all`. */
static void waits_add(struct drawing *d, uint32_t task, bool all)
{
    uint64_t *open = d->open[task], *list = d->list[task][d->lists[task]++];
    uint32_t some = all ? d->opens[task] : draw(d, d->opens[task] + 1);
    for (uint32_t i = 0; i < some; i++) {
        uint32_t at = draw(d, d->opens[task]);
        list[i] = open[at];
        open[at] = open[--d->opens[task]];
    }
    struct task_op *op = add(d, task, TASK_OP_WAITALL);
    op->requests = list;
    op->request_count = some;
    if (d->opens[task] == 0)
        return;
    op = add(d, task, TASK_OP_TEST); /* what is complete is taken; a wait for it later finds nothing */
    op->request = open[draw(d, d->opens[task])];
    op->outcome = -1;
}

static void program_draw(struct drawing *d, uint64_t seed, bool blocks)
{
    memset(d, 0, sizeof *d);
    ker_stream_init(&d->stream, seed, KER_PURPOSE_TEST, 0);
    d->tasks = 1 + draw(d, MOST);
    for (uint32_t i = 0; i < CALLS; i++)
        call_draw(d, i);
    for (uint32_t i = 0; i < CALLS; i++)
        for (uint32_t t = 0; t < d->tasks; t++) {
            if (draw(d, 3) == 0)
                add(d, t, TASK_OP_COMPUTE)->time = draw(d, 20000000);
            if (has(d->call[i].comm, t))
                call_add(d, t, i, blocks);
            if (draw(d, 4) == 0)
                waits_add(d, t, false);
        }
    for (uint32_t t = 0; t < d->tasks; t++) {
        waits_add(d, t, true);
        for (uint32_t i = 0; i < CALLS; i++)
            if (!blocks && d->call[i].form == PERSISTENT && has(d->call[i].comm, t))
                add(d, t, TASK_OP_REQUEST_FREE)->request = 100 + i;
        add(d, t, TASK_OP_FINALIZE);
    }
}

static void play(const struct drawing *d, uint64_t seed, const char *settings, struct task_row *rows)
{
    static int32_t odd[MOST / 2];
    struct fake_net net;
    for (int32_t i = 0; i < MOST / 2; i++)
        odd[i] = 2 * i + 1;
    fake_open(&net, d->tasks, 1 + (uint32_t)(seed % 4), settings);
    net.jitter = seed % 2 ? 10 * KER_US : 0;
    net.control_latency = seed % 3 ? 0 : 1 + 2 * KER_US * (ker_time)(seed / 3 % 2);
    net.program.comm[1] = (struct task_comm){.size = (int32_t)d->tasks / 2, .member = odd};
    net.program.comms = 2;
    net.program.neighbours = neighbours;
    rings_make(d->tasks);
    for (uint32_t t = 0; t < d->tasks; t++)
        net.program.ops[t] = d->op[t];
    fake_start(&net);
    fake_run(&net, UINT64_MAX);
    struct task_mpi_wait row;
    if (task_mpi_waiting(net.mpi, NULL, &row, 1))
        fail_msg("seed %llu: task %u waits in %s: %s", (unsigned long long)seed, row.task, row.call,
                 row.awaited);
    assert_int_equal(net.mpi->request.live, 0);
    assert_int_equal(net.mpi->message.live, 0);
    assert_int_equal(net.mpi->run.live, 0);
    task_rows(net.mpi, net.now, rows);
    fake_close(&net);
}

static void test_random_programs(void **state)
{
    static struct drawing d;
    static const char *const settings[] = {
        "",
        "mpi: { eager_limit = 0; };",
        "mpi: { eager_limit = 1000; rendezvous = \"write\"; };",
        "mpi: { progress = \"calls\"; };",
        "mpi: { eager_limit = 100; progress = \"calls\"; rendezvous = \"write\"; };",
        "mpi: { progress = \"thread\"; progress_cost = \"300 ns\"; eager_completion = \"buffered\"; };",
        "mpi: { eager_limit = 0; progress = \"thread\"; }; node: { send_overhead = \"7 ns\"; "
        "receive_overhead = \"1 us\"; };",
        "mpi: { progress = \"calls\"; eager_limit = 10; }; node: { send_overhead = \"1 us\"; "
        "receive_overhead = \"1 ps\"; };"};
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct task_row blocking[MOST], rows[MOST];
        program_draw(&d, seed, true);
        play(&d, seed, "", blocking);
        program_draw(&d, seed, false);
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
            play(&d, seed, settings[i], rows);
            for (uint32_t t = 0; t < d.tasks; t++) {
                assert_int_equal(rows[t].messages_sent, blocking[t].messages_sent);
                assert_int_equal(rows[t].bytes_sent, blocking[t].bytes_sent);
                assert_int_equal(rows[t].messages_received, blocking[t].messages_received);
                assert_int_equal(rows[t].bytes_received, blocking[t].bytes_received);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_progress),        cmocka_unit_test(test_polls),
        cmocka_unit_test(test_overheads),       cmocka_unit_test(test_short_computation),
        cmocka_unit_test(test_persistent),      cmocka_unit_test(test_beside_a_flush),
        cmocka_unit_test(test_random_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
