/* test_mpi_random.c - random programs of many tasks must end, with every message matched and nothing left.
 *
 * A program is drawn in rounds. In a round random messages are drawn; each destination either names the
 * source of each receive or takes them all with MPI_ANY_SOURCE; the tag is the round, so that wildcards
 * cannot take other rounds' messages. Receives are posted before or after the sends, some as blocking calls
 * after all sends are in progress, and waited for in several ways. Between rounds there are collectives on
 * the world and on a communicator of the odd tasks. The network delays messages at random so that they
 * overtake, tasks share nodes, sizes lie on both sides of the eager limit.
 *
 * In programs of ordered messages each message has a size of its own, and all are answered (synchronous or
 * rendezvous), so that who matched whom can be seen on the wire: MPI's order per pair of tasks, communicator
 * and tag, whatever overtakes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_net.h"
#include "tasks/mpi/state.h"
#include "tests/tasks/task_rows.h"

#define TASKS_MOST 24
#define ROUNDS 6
#define OPS_MOST 4096

struct script {
    struct task_op op[OPS_MOST];
    uint64_t names[ROUNDS][256];
    uint32_t ops, name;
};

struct drawing {
    struct ker_stream stream;
    struct script script[TASKS_MOST];
    uint32_t tasks;
    uint64_t messages, bytes;
};

static uint32_t draw(struct drawing *d, uint32_t n)
{
    return ker_stream_below(&d->stream, n);
}

static struct task_op *add(struct drawing *d, uint32_t task, unsigned kind)
{
    struct script *s = &d->script[task];
    assert_true(s->ops < OPS_MOST);
    s->op[s->ops] = (struct task_op){.kind = (uint8_t)kind, .call = "MPI_Something"};
    return &s->op[s->ops++];
}

/* A request's name; addresses are used again and again in real programs, so names are, too. Three each have
 * the same lower half. */
static uint64_t name_next(struct drawing *d, uint32_t task, int round)
{
    struct script *s = &d->script[task];
    assert_true(s->name < 256);
    s->names[round][s->name] = (uint64_t)(s->name % 3) << 32 | (0x7ffe0000 + 8 * (s->name / 3));
    return s->names[round][s->name++];
}

struct pair {
    uint32_t from, to;
    uint64_t bytes;
};

static void draw_send(struct drawing *d, const struct pair *p, int round)
{
    struct task_op *op = add(d, p->from, TASK_OP_ISEND);
    op->peer = (int32_t)p->to;
    op->tag = round;
    op->bytes = p->bytes;
    op->mode = draw(d, 8) ? TASK_MODE_STANDARD : draw(d, 2) ? TASK_MODE_SYNCHRONOUS : TASK_MODE_BUFFERED;
    op->request = name_next(d, p->from, round);
}

static void draw_receive(struct drawing *d, const struct pair *p, int round, bool any, bool blocking)
{
    struct task_op *op = add(d, p->to, blocking ? TASK_OP_RECV : TASK_OP_IRECV);
    op->peer = any ? TASK_ANY : (int32_t)p->from;
    op->tag = round;
    op->bytes = p->bytes;
    op->request = blocking ? 0 : name_next(d, p->to, round);
}

static void draw_waits(struct drawing *d, uint32_t task, int round)
{
    struct script *s = &d->script[task];
    const uint64_t *names = s->names[round];
    uint32_t count = s->name, form = draw(d, 4);
    for (uint32_t i = 0; form == 1 && i < count; i++)
        add(d, task, TASK_OP_WAIT)->request = names[(i * 7 + 3) % count];
    for (uint32_t i = 0; form >= 2 && i < count; i++) {
        struct task_op *op = add(d, task, form == 2 ? TASK_OP_WAITANY : TASK_OP_TESTSOME);
        op->requests = names;
        op->request_count = count;
        op->outcome = draw(d, 2) ? 1 : -1;
    }
    struct task_op *all = add(d, task, TASK_OP_WAITALL);
    all->requests = names;
    all->request_count = count;
}

static void draw_collective(struct drawing *d, bool world)
{
    unsigned collective = draw(d, TASK_COLL_NEIGHBOR_ALLGATHER);
    uint32_t size = world ? d->tasks : d->tasks / 2, root = draw(d, size);
    uint64_t bytes = draw(d, 2) ? draw(d, 100) : draw(d, 100000);
    for (uint32_t i = 0; i < d->tasks; i++) {
        if (!world && i % 2 == 0)
            continue;
        struct task_op *op = add(d, i, TASK_OP_COLLECTIVE);
        op->collective = (uint8_t)collective;
        op->comm = !world;
        op->peer = (int32_t)root;
        op->bytes = op->bytes2 = bytes;
    }
}

static void draw_round(struct drawing *d, int round)
{
    struct pair pair[4 * TASKS_MOST];
    uint32_t count = draw(d, 4 * d->tasks);
    bool any[TASKS_MOST], late[TASKS_MOST];
    for (uint32_t i = 0; i < d->tasks; i++) {
        any[i] = draw(d, 2);
        late[i] = draw(d, 3) == 0;
        d->script[i].name = 0;
        if (draw(d, 3) == 0)
            add(d, i, TASK_OP_COMPUTE)->time = draw(d, 20000000);
    }
    for (uint32_t i = 0; i < count; i++) {
        pair[i] =
            (struct pair){draw(d, d->tasks), draw(d, d->tasks), draw(d, 3) ? draw(d, 3000) : draw(d, 100000)};
        d->messages++;
        d->bytes += pair[i].bytes;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!late[pair[i].to])
            draw_receive(d, &pair[i], round, any[pair[i].to], false);
        draw_send(d, &pair[i], round);
    }
    for (uint32_t i = 0; i < count; i++)
        if (late[pair[i].to])
            draw_receive(d, &pair[i], round, any[pair[i].to], draw(d, 2));
    for (uint32_t i = 0; i < d->tasks; i++)
        draw_waits(d, i, round);
}

static void draw_program(struct drawing *d, uint64_t seed)
{
    memset(d, 0, sizeof *d);
    ker_stream_init(&d->stream, seed, KER_PURPOSE_TEST, 0);
    d->tasks = 2 + draw(d, TASKS_MOST - 1);
    for (int round = 0; round < ROUNDS; round++) {
        draw_round(d, round);
        for (uint32_t i = draw(d, 3); i > 0; i--)
            draw_collective(d, draw(d, 2));
    }
    for (uint32_t i = 0; i < d->tasks; i++)
        add(d, i, TASK_OP_FINALIZE);
}

static void assert_results(const struct fake_net *net, const struct drawing *d)
{
    struct task_row rows[TASKS_MOST];
    uint64_t sent = 0, received = 0, sent_bytes = 0, received_bytes = 0;
    task_rows(net->mpi, net->now, rows);
    for (uint32_t i = 0; i < d->tasks; i++) {
        sent += rows[i].messages_sent;
        received += rows[i].messages_received;
        sent_bytes += rows[i].bytes_sent;
        received_bytes += rows[i].bytes_received;
        /* Nothing costs processor time but computation. */
        assert_int_equal(rows[i].finish, rows[i].compute + rows[i].wait + rows[i].send_wait);
    }
    assert_int_equal(sent, received);
    assert_int_equal(sent_bytes, received_bytes);
    assert_true(sent >= d->messages && sent_bytes >= d->bytes);
}

static void play(struct drawing *d, uint64_t seed, const char *settings)
{
    static int32_t odd[TASKS_MOST / 2];
    struct fake_net net;
    for (int32_t i = 0; i < TASKS_MOST / 2; i++)
        odd[i] = 2 * i + 1;
    fake_open(&net, d->tasks, 1 + (uint32_t)(seed % 4), settings);
    net.jitter = seed % 2 ? 10 * KER_US : 0;
    net.control_latency =
        seed % 3 ? 0 : 1 + 2 * KER_US * (ker_time)(seed / 3 % 2); /* control faster, or slower than data */
    net.program.comm[1] = (struct task_comm){.size = (int32_t)d->tasks / 2, .member = odd};
    net.program.comms = 2;
    for (uint32_t i = 0; i < d->tasks; i++)
        net.program.ops[i] = d->script[i].op;
    fake_start(&net);
    fake_run(&net, UINT64_MAX);
    struct task_mpi_wait row;
    if (task_mpi_waiting(net.mpi, NULL, &row, 1))
        fail_msg("seed %llu: task %u waits in %s: %s", (unsigned long long)seed, row.task, row.call,
                 row.awaited);
    assert_int_equal(net.mpi->request.live, 0);
    assert_int_equal(net.mpi->message.live, 0);
    assert_int_equal(net.mpi->run.live, 0);
    assert_results(&net, d);
    fake_close(&net);
}

static void test_random_programs(void **state)
{
    static struct drawing d;
    (void)state;
    for (uint64_t seed = 0; seed < 120; seed++) {
        draw_program(&d, seed);
        play(&d, seed, "");
        play(&d, seed, "mpi: { eager_limit = 0; };");
        play(&d, seed, "mpi: { eager_limit = 1000; rendezvous = \"write\"; };");
    }
}

/* The same with the first and the last algorithm of each collective's list that can do it, processor time
 * aside. */
static void test_other_algorithms(void **state)
{
    static struct drawing d;
    (void)state;
    for (uint64_t seed = 200; seed < 240; seed++) {
        draw_program(&d, seed);
        play(
            &d, seed,
            "mpi: { eager_completion = \"buffered\"; collectives: { barrier = \"linear\"; bcast = "
            "\"linear\"; "
            "reduce = \"linear\"; allreduce = \"linear\"; gather = \"linear\"; scatter = \"linear\"; "
            "allgather = \"linear\"; allgatherv = \"linear\"; alltoall = \"linear\"; alltoallv = \"linear\"; "
            "scan = \"linear\"; exscan = \"linear\"; reduce_scatter = \"pairwise\"; }; };");
        play(&d, seed,
             "mpi: { collectives: { barrier = \"binomial\"; bcast = \"scatter_allgather_ring\"; reduce = "
             "\"rabenseifner\"; "
             "allreduce = \"ring\"; allgather = \"recursive_doubling\"; alltoall = \"pairwise\"; "
             "comm_create = \"ring\"; }; };");
    }
}

/* Many messages between few tasks with few tags. A receive names source and tag, so it is clear which message
 * it must take: the first of that source and tag that no receive before it takes. Its room is that message's
 * size. */
static void draw_ordered(struct drawing *d, uint64_t seed)
{
    memset(d, 0, sizeof *d);
    ker_stream_init(&d->stream, seed, KER_PURPOSE_TEST, 1);
    d->tasks = 2 + draw(d, 3);
    uint32_t count = 1 + draw(d, 200), largest = draw(d, 2) ? 300 : 100000;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = draw(d, d->tasks), to = (from + 1 + draw(d, d->tasks - 1)) % d->tasks;
        int32_t tag = (int32_t)draw(d, 3), comm = (int32_t)draw(d, 2);
        struct task_op *send = add(d, from, TASK_OP_ISEND), *receive;
        send->peer = (int32_t)to;
        send->mode = TASK_MODE_SYNCHRONOUS;
        send->request = name_next(d, from, 0);
        send->bytes = (uint64_t)draw(d, largest) * 1000 + i;
        if (draw(d, 10) == 0)
            add(d, to, TASK_OP_COMPUTE)->time = draw(d, 3) ? draw(d, 1000) : draw(d, 20000000);
        receive = add(d, to, TASK_OP_IRECV);
        receive->peer = (int32_t)from;
        receive->bytes = send->bytes;
        receive->request = name_next(d, to, 0);
        send->tag = receive->tag = tag;
        send->comm = receive->comm = comm;
    }
    for (uint32_t i = 0; i < d->tasks; i++) {
        draw_waits(d, i, 0);
        add(d, i, TASK_OP_FINALIZE);
    }
}

/* At the answer to a message the receive it has been matched with still has its room. */
static uint64_t answers;
static void look_at_answer(struct fake_net *net, const struct net_envelope *envelope)
{
    struct task_wire wire;
    memcpy(&wire, envelope, sizeof wire);
    if (wire.kind != TASK_WIRE_CTS && wire.kind != TASK_WIRE_READ && wire.kind != TASK_WIRE_ACK)
        return;
    const struct task_state *task = &net->mpi->task[wire.destination]; /* one to a node, in their order */
    assert_int_equal(task->task, wire.destination);
    uint32_t request = task_request_numbered(task, wire.receiver);
    assert_int_equal(task_request_at(net->mpi, request)->bytes, wire.bytes);
    answers++;
}

/* Control and data of extreme and equal speeds, either faster. */
static void play_ordered(const struct drawing *d, uint64_t seed, const char *settings)
{
    static const ker_time latencies[] = {1, 1000, KER_US, 300 * KER_US},
                          jitters[] = {0, 1, KER_US, 100 * KER_US};
    struct fake_net net;
    fake_open(&net, d->tasks, 1, settings);
    net.latency = latencies[seed % 4];
    net.control_latency = seed / 4 % 5 ? latencies[seed / 4 % 5 - 1] : 0;
    net.jitter = jitters[seed / 20 % 4];
    net.look = look_at_answer;
    net.program.comm[1] = (struct task_comm){.size = (int32_t)d->tasks};
    net.program.comms = 2;
    for (uint32_t i = 0; i < d->tasks; i++)
        net.program.ops[i] = d->script[i].op;
    fake_start(&net);
    fake_run(&net, UINT64_MAX);
    assert_int_equal(task_mpi_unfinished(net.mpi), 0);
    assert_int_equal(net.mpi->request.live, 0);
    fake_close(&net);
}

static void test_order(void **state)
{
    static struct drawing d;
    (void)state;
    for (uint64_t seed = 1000; seed < 1160; seed++) {
        draw_ordered(&d, seed);
        uint64_t sends = 0;
        for (uint32_t i = 0; i < d.tasks; i++)
            for (uint32_t k = 0; k < d.script[i].ops; k++)
                sends += d.script[i].op[k].kind == TASK_OP_ISEND;
        static const char *const settings[] = {"", "mpi: { rendezvous = \"write\"; };",
                                               "mpi: { eager_limit = 10000000; };",
                                               "mpi: { eager_limit = 0; };"};
        for (int i = 0; i < 4; i++) {
            answers = 0;
            play_ordered(&d, seed, settings[i]);
            assert_int_equal(answers, sends);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_programs),
                                       cmocka_unit_test(test_other_algorithms), cmocka_unit_test(test_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
