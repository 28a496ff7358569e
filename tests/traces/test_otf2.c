/* Events of an OTF2 archive by hand, as the library hands them out: what they become, and what is refused.
 *
 * Three tasks, at locations 10, 20, 30. Communicator 0: all; 1: tasks 2 and 0, in this order; 2: each by
 * itself.
 */
#include "traces/otf2/otf2.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const functions[] = {"MPI_Init",      "MPI_Finalize", "MPI_Irecv", "MPI_Wait", "MPI_Send",
                                        "MPI_Allreduce", "MPI_Sendrecv", "main",      "mpi_test_"};
enum { INIT, FINALIZE, IRECV, WAIT, SEND, ALLREDUCE, SENDRECV, MAIN, TEST, REGIONS };

#define ENTERS(at, r)                                                                                        \
    {                                                                                                        \
        .kind = OTF2_ENTER, .time = at, .region = r                                                          \
    }
#define LEAVES(at, r)                                                                                        \
    {                                                                                                        \
        .kind = OTF2_LEAVE, .time = at, .region = r                                                          \
    }

static struct otf2_trace trace;
static struct foreign_trace of;

static void group_add(uint32_t id, uint8_t type, uint32_t count, const uint64_t *members)
{
    struct otf2_group group = {.id = id, .type = type, .count = count};
    group.member = ker_alloc((count + 1) * sizeof *members);
    if (count)
        memcpy(group.member, members, count * sizeof *members);
    *KER_APPEND(trace.group, trace.groups) = group;
}

static int archive_make(void **state)
{
    struct ker_error error = {0};
    trace = (struct otf2_trace){.path = "archive", .resolution = 1000000, .sizes = OTF2_SIZES_TOTAL};
    of = (struct foreign_trace){.comms = 1};
    for (uint32_t i = 0; i < 3; i++)
        *KER_APPEND(trace.location, trace.locations) = (struct otf2_location){10 * (i + 1), 1, i, true};
    for (uint32_t i = 0; i < REGIONS; i++) {
        *KER_APPEND(trace.text, trace.texts) = (struct otf2_text){i, ker_format("%s", functions[i])};
        *KER_APPEND(trace.region, trace.regions) = (struct otf2_region){.id = i, .name = i};
    }
    group_add(0, OTF2_GROUP_LOCATIONS, 3, (const uint64_t[]){10, 20, 30});
    group_add(1, OTF2_GROUP_RANKS, 3, (const uint64_t[]){0, 1, 2});
    group_add(2, OTF2_GROUP_RANKS, 2, (const uint64_t[]){2, 0});
    group_add(3, OTF2_GROUP_SELF, 0, NULL);
    for (uint32_t i = 0; i < 3; i++)
        *KER_APPEND(trace.comm, trace.comms) = (struct otf2_comm){.id = i, .group = i + 1};
    return otf2_define(&trace, &of, &error) == KER_OK ? 0 : -1;
}

static int archive_free(void **state)
{
    otf2_release(&trace);
    free(of.comm);
    free(of.members);
    return 0;
}

/* The operations of a task, at most `room`; without any, the error has the text. */
static uint32_t read_all(uint32_t task, const struct otf2_event *event, uint32_t events, struct task_op *op,
                         uint32_t room, struct ker_error *error)
{
    struct trace_store store;
    struct replay_order order = {0};
    trace_store_init(&store, 1 << 20, (struct trace_form){.unit = 1});
    replay_order_init(&order, of.comms);
    replay_order_begin(&order, task, of.comm);
    struct trace_code code = {.store = &store};
    struct foreign_task out = {.trace = &of, .task = task, .code = &code, .order = &order};
    struct otf2_task t = {.trace = &trace, .out = &out, .error = error, .location = 10 * (task + 1)};
    uint32_t count = 0;
    for (uint32_t i = 0; i < events; i++)
        otf2_ahead_add(&t.ahead, &event[i]);
    for (uint32_t i = 0; i < events; i++) {
        struct otf2_event e = event[i];
        e.number = i + 1;
        if (!otf2_task_event(&t, &e))
            break;
    }
    enum ker_status status = otf2_task_end(&t);
    trace_code_end(&code);
    struct trace_reader reader = {.code = &code};
    trace_reader_seek(&reader, 0, 0);
    while (status == KER_OK && count < room && trace_reader_next(&reader, &op[count]))
        count++;
    trace_reader_release(&reader);
    otf2_task_release(&t);
    trace_code_release(&code);
    replay_order_release(&order);
    trace_store_release(&store);
    return count;
}

#define READ(task, events)                                                                                   \
    (error = (struct ker_error){0}, read_all(task, events, sizeof(events) / sizeof *(events), op, 16, &error))

static void calls_become_operations(void **state)
{
    struct task_op op[16];
    struct ker_error error = {0};
    const struct otf2_event events[] = {
        ENTERS(5, MAIN),
        ENTERS(10, INIT),
        LEAVES(20, INIT),
        ENTERS(25, IRECV), /* 5 us of computation */
        {.kind = OTF2_IRECV_REQUEST, .time = 25, .request = 7},
        LEAVES(26, IRECV),
        ENTERS(29, TEST), /* 3 us, found nothing */
        {.kind = OTF2_TESTED, .time = 30, .request = 7},
        LEAVES(30, TEST),
        ENTERS(32, WAIT), /* 2 us */
        {.kind = OTF2_IRECV, .time = 40, .peer = 1, .comm = 1, .tag = 3, .sent = 99, .request = 7},
        LEAVES(41, WAIT),
        ENTERS(41, SENDRECV),
        {.kind = OTF2_RECEIVE, .time = 42, .peer = 0, .comm = 1, .tag = 4, .sent = 8},
        LEAVES(43, SENDRECV),
        ENTERS(50, FINALIZE),
        LEAVES(60, FINALIZE),
        LEAVES(70, MAIN),
    };
    assert_int_equal(READ(2, events), 7);
    assert_int_equal(op[0].kind, TASK_OP_COMPUTE);
    assert_int_equal(op[0].time, 5 * KER_US);
    assert_int_equal(op[1].kind, TASK_OP_IRECV);
    assert_int_equal(op[1].peer, 1); /* task 0, in communicator 1 */
    assert_int_equal(of.comm[op[1].comm].size, 2);
    assert_int_equal(op[1].bytes, 99);
    assert_int_equal(op[2].time, 5 * KER_US); /* both pieces */
    assert_int_equal(op[3].kind, TASK_OP_WAIT);
    assert_int_equal(op[3].request, op[1].request);
    assert_int_equal(op[4].kind, TASK_OP_SENDRECV);
    assert_int_equal(op[4].peer, TASK_PROC_NULL);
    assert_int_equal(op[4].peer2, 0);
    assert_int_equal(op[5].time, 7 * KER_US);
    assert_int_equal(op[6].kind, TASK_OP_FINALIZE);
}

static void what_is_missing_is_named(void **state)
{
    struct task_op op[16];
    struct ker_error error = {0};
    const struct otf2_event receive[] = {
        ENTERS(1, IRECV), {.kind = OTF2_IRECV_REQUEST, .time = 1, .request = 7}, LEAVES(2, IRECV)};
    assert_int_equal(READ(0, receive), 0);
    assert_non_null(strstr(error.text, "location 10 (task 0), event 2, MPI_Irecv: request 7 has no record"));
    const struct otf2_event cancelled[] = {ENTERS(1, IRECV),
                                           {.kind = OTF2_IRECV_REQUEST, .time = 1, .request = 7},
                                           {.kind = OTF2_CANCELLED, .time = 1, .request = 7},
                                           LEAVES(2, IRECV)};
    assert_int_equal(READ(0, cancelled), 1);
    const struct otf2_event open[] = {
        ENTERS(1, ALLREDUCE), {.kind = OTF2_COLLECTIVE_BEGIN, .time = 1}, LEAVES(2, ALLREDUCE)};
    assert_int_equal(READ(0, open), 0);
    assert_non_null(strstr(error.text, "MPI_COLLECTIVE_BEGIN without MPI_COLLECTIVE_END"));
    const struct otf2_event none[] = {ENTERS(1, ALLREDUCE), LEAVES(2, ALLREDUCE)};
    assert_int_equal(READ(0, none), 0);
    assert_non_null(strstr(error.text, "a collective without a record"));
    const struct otf2_event back[] = {ENTERS(5, SEND), LEAVES(4, SEND)};
    assert_int_equal(READ(0, back), 0);
    assert_non_null(strstr(error.text, "its time is 4, that of the event before 5"));
    const struct otf2_event cut[] = {ENTERS(1, INIT), LEAVES(2, INIT), ENTERS(3, SEND), LEAVES(4, SEND)};
    assert_int_equal(READ(0, cut), 0);
    assert_non_null(strstr(error.text, "end before MPI_Finalize"));
    const struct otf2_event stranger[] = {{.kind = OTF2_SEND, .time = 1, .peer = 0, .comm = 1, .sent = 1}};
    assert_int_equal(READ(1, stranger), 0);
    assert_non_null(strstr(error.text, "task 1 is no member of communicator 1"));
}

/* Totals as Score-P counts them, on all three tasks; what was called with. */
static void sizes_of_collectives(void **state)
{
    static const struct {
        uint8_t collective;
        uint32_t task;
        uint64_t sent, received, bytes;
    } rows[] = {
        {TASK_COLL_BCAST, 1, 300, 100, 100},     {TASK_COLL_BCAST, 0, 0, 100, 100},
        {TASK_COLL_REDUCE, 1, 100, 300, 100},    {TASK_COLL_REDUCE, 1, 0, 200, 100}, /* in place */
        {TASK_COLL_GATHER, 2, 100, 0, 100},      {TASK_COLL_SCATTER, 1, 200, 0, 100},
        {TASK_COLL_ALLREDUCE, 0, 300, 300, 100}, {TASK_COLL_ALLREDUCE, 0, 200, 200, 100},
        {TASK_COLL_ALLTOALL, 0, 300, 300, 100},  {TASK_COLL_SCAN, 2, 100, 300, 100},
        {TASK_COLL_SCAN, 0, 300, 100, 100},      {TASK_COLL_EXSCAN, 2, 0, 200, 100},
        {TASK_COLL_EXSCAN, 0, 200, 0, 100},      {TASK_COLL_ALLGATHERV, 0, 300, 777, 100},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct task_op op[16];
        struct ker_error error = {0};
        const struct otf2_event events[] = {{.kind = OTF2_COLLECTIVE_END,
                                             .collective = rows[i].collective,
                                             .root = 1,
                                             .sent = rows[i].sent,
                                             .received = rows[i].received}};
        assert_int_equal(READ(rows[i].task, events), 2);
        assert_int_equal(op[0].bytes, rows[i].bytes);
    }
    struct task_op op[16];
    struct ker_error error = {0};
    const struct otf2_event self[] = {{.kind = OTF2_COLLECTIVE_END,
                                       .collective = TASK_COLL_ALLREDUCE,
                                       .comm = 2,
                                       .sent = 5,
                                       .received = 5}};
    assert_int_equal(READ(0, self), 1);
    const struct otf2_event odd[] = {
        {.kind = OTF2_COLLECTIVE_END, .collective = TASK_COLL_ALLREDUCE, .sent = 7, .received = 7}};
    assert_int_equal(READ(0, odd), 0);
    assert_non_null(strstr(error.text, "no equal parts for 3 tasks"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_become_operations),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(sizes_of_collectives),
    };
    return cmocka_run_group_tests(tests, archive_make, archive_free);
}
