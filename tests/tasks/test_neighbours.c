/* test_neighbours.c - schedules of collectives among neighbours, without a network: every message that a task
 * sends is received by the entry of the other that it belongs to, with the bytes that this one expects.
 *
 * Grids: a task has two neighbours in each dimension, the one below first; the one below hears from it as
 * from its neighbour above. So the tag of a message is the number of the sender's entry, and the receiver's
 * entry i hears tag i with its lowest bit turned over. Graphs: any number of edges between two tasks; the
 * k-th that one lists as going out is the k-th that the other lists as coming in.
 */
#include "kernel/base/random.h"
#include "tasks/mpi/collectives/collective.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TASKS 30
#define DEGREE 64

struct member {
    struct task_neighbours n;
    int32_t source[DEGREE], source_tag[DEGREE], destination[DEGREE], destination_tag[DEGREE];
    uint64_t sends[DEGREE], receives[DEGREE];
};

struct message {
    int32_t from, to, tag;
    uint64_t bytes;
    bool taken;
};

static const struct ker_kind *linear(void)
{
    for (const struct ker_kind *const *a = task_collectives.list; *a; a++)
        if (strstr((*a)->of, "neighbor_alltoallv"))
            return *a;
    return NULL;
}

static void ready(struct member *m)
{
    m->n.source = m->source;
    m->n.source_tag = m->source_tag;
    m->n.destination = m->destination;
    m->n.destination_tag = m->destination_tag;
}

static bool turn(const struct member *m, int32_t rank, int32_t tasks, uint32_t round,
                 struct task_coll_round *r)
{
    struct task_coll_view view = {.rank = rank,
                                  .size = tasks,
                                  .send_bytes = m->sends,
                                  .receive_bytes = m->receives,
                                  .neighbours = &m->n,
                                  .collective = TASK_COLL_NEIGHBOR_ALLTOALLV};
    return task_coll_round_of(linear(), &view, round, r);
}

static void take(struct message *message, size_t messages, int32_t rank, const struct task_coll_round *r)
{
    for (size_t i = 0; i < messages; i++) {
        struct message *m = &message[i];
        if (!m->taken && m->from == r->receive_from && m->to == rank && m->tag == r->receive_tag) {
            assert_int_equal(m->bytes, r->receive_bytes);
            m->taken = true;
            return;
        }
    }
    fail_msg("nothing for %d from %d", rank, r->receive_from);
}

/* Returns how many messages there were; all are received. */
static size_t play(struct member *member, int32_t tasks)
{
    static struct message message[TASKS * DEGREE];
    struct task_coll_round r;
    size_t messages = 0, taken = 0;
    for (int32_t t = 0; t < tasks; t++) {
        ready(&member[t]);
        for (uint32_t round = 0; turn(&member[t], t, tasks, round, &r); round++) {
            assert_false(r.fence); /* nobody waits before all has been sent */
            if (r.send_to == TASK_COLL_NOBODY)
                continue;
            for (size_t i = 0; i < messages; i++)
                assert_false(message[i].from == t && message[i].to == r.send_to &&
                             message[i].tag == r.send_tag);
            message[messages++] =
                (struct message){.from = t, .to = r.send_to, .tag = r.send_tag, .bytes = r.send_bytes};
        }
    }
    for (int32_t t = 0; t < tasks; t++)
        for (uint32_t round = 0; turn(&member[t], t, tasks, round, &r); round++)
            if (r.receive_from != TASK_COLL_NOBODY) {
                take(message, messages, t, &r);
                taken++;
            }
    assert_int_equal(taken, messages);
    return messages;
}

/* What goes over the edge of this tag. */
static uint64_t edge_bytes(int32_t from, int32_t to, int32_t tag)
{
    return (uint64_t)from * 10007 + (uint64_t)to * 101 + (uint64_t)tag;
}

static void bytes_set(struct member *m, int32_t rank)
{
    for (uint32_t i = 0; i < m->n.in; i++)
        m->receives[i] = m->source[i] < 0 ? 0 : edge_bytes(m->source[i], rank, m->source_tag[i]);
    for (uint32_t i = 0; i < m->n.out; i++)
        m->sends[i] = m->destination[i] < 0 ? 0 : edge_bytes(rank, m->destination[i], m->destination_tag[i]);
}

/* A line of `extent` tasks, open or a ring; a ring of two has two messages in each direction, of one each
 * task sends itself two. */
static size_t line(int32_t extent, bool periodic)
{
    static struct member member[TASKS];
    memset(member, 0, sizeof member);
    for (int32_t t = 0; t < extent; t++) {
        struct member *m = &member[t];
        int32_t below = t > 0      ? t - 1
                        : periodic ? extent - 1
                                   : TASK_PROC_NULL,
                above = t + 1 < extent ? t + 1
                        : periodic     ? 0
                                       : TASK_PROC_NULL;
        m->n.in = m->n.out = 2;
        for (int32_t i = 0; i < 2; i++) {
            m->source[i] = m->destination[i] = i ? above : below;
            m->destination_tag[i] = i;
            m->source_tag[i] = i ^ 1;
        }
        bytes_set(m, t);
    }
    return play(member, extent);
}

static void test_lines(void **state)
{
    (void)state;
    for (int32_t extent = 1; extent <= TASKS; extent++) {
        assert_int_equal(line(extent, false), 2 * (extent - 1));
        assert_int_equal(line(extent, true), 2 * extent);
    }
}

/* Edges drawn at random, some twice and some to the task itself; some tasks have none. */
static void test_graphs(void **state)
{
    static struct member member[TASKS];
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct ker_stream stream;
        ker_stream_init(&stream, seed, KER_PURPOSE_TEST, 0);
        int32_t tasks = (int32_t)(1 + ker_stream_below(&stream, TASKS));
        uint32_t edges = ker_stream_below(&stream, (uint32_t)tasks * 8), made = 0;
        memset(member, 0, sizeof member);
        for (uint32_t e = 0; e < edges; e++) {
            int32_t from = (int32_t)ker_stream_below(&stream, (uint32_t)tasks),
                    to = (int32_t)ker_stream_below(&stream, (uint32_t)tasks), tag = 0;
            struct member *a = &member[from], *b = &member[to];
            if (a->n.out == DEGREE || b->n.in == DEGREE)
                continue;
            for (uint32_t i = 0; i < a->n.out; i++)
                tag += a->destination[i] == to;
            a->destination[a->n.out] = to;
            a->destination_tag[a->n.out++] = tag;
            b->source[b->n.in] = from;
            b->source_tag[b->n.in++] = tag;
            made++;
        }
        for (int32_t t = 0; t < tasks; t++)
            bytes_set(&member[t], t);
        assert_int_equal(play(member, tasks), made);
    }
}

/* Without counts each gets the same; nobody means nothing to do, and in and out may differ. */
static void test_blocks(void **state)
{
    (void)state;
    const int32_t ranks[3] = {4, TASK_PROC_NULL, 6}, tags[3] = {0};
    const struct task_neighbours n = {1, 3, ranks, tags, ranks, tags}, none = {0};
    struct task_coll_view view = {.rank = 0,
                                  .size = 7,
                                  .bytes = 10,
                                  .bytes2 = 20,
                                  .collective = TASK_COLL_NEIGHBOR_ALLGATHER,
                                  .neighbours = &n};
    struct task_coll_round r;
    assert_true(task_coll_round_of(linear(), &view, 0, &r));
    assert_int_equal(r.receive_from, 4);
    assert_int_equal(r.receive_bytes, 20);
    assert_int_equal(r.send_to, 4);
    assert_int_equal(r.send_bytes, 10);
    assert_true(task_coll_round_of(linear(), &view, 1, &r));
    assert_int_equal(r.receive_from, TASK_COLL_NOBODY);
    assert_int_equal(r.send_to, TASK_COLL_NOBODY);
    assert_true(task_coll_round_of(linear(), &view, 2, &r));
    assert_int_equal(r.receive_from, TASK_COLL_NOBODY);
    assert_int_equal(r.send_to, 6);
    assert_false(task_coll_round_of(linear(), &view, 3, &r));
    view.neighbours = &none;
    assert_false(task_coll_round_of(linear(), &view, 0, &r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
