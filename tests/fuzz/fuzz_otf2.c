/* fuzz_otf2.c - archives in OTF2, as the library hands them out: whatever definitions and events there are,
 * they are refused with a message, or become operations whose communicators, ranks, roots and sizes are such.
 * The bytes are definitions, then events: a kind and small numbers. */
#include "tests/fuzz/foreign_check.h"
#include "traces/otf2/otf2.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
    const uint8_t *at, *end;
};

static uint8_t take(struct bytes *b)
{
    return b->at < b->end ? *b->at++ : 0;
}

/* Mostly small, sometimes as large as can be. */
static uint64_t number(struct bytes *b)
{
    uint8_t byte = take(b);
    return byte < 240 ? byte : UINT64_MAX >> (byte - 240) * 4;
}

static void group_take(struct otf2_trace *trace, struct bytes *b)
{
    struct otf2_group group = {.id = take(b) % 8, .type = take(b) % 4, .count = take(b) % 9};
    group.member = ker_alloc((group.count + 1) * sizeof *group.member);
    for (uint32_t i = 0; i < group.count; i++)
        group.member[i] = number(b);
    *KER_APPEND(trace->group, trace->groups) = group;
}

static void definition_take(struct otf2_trace *trace, struct bytes *b)
{
    static const char *const name[] = {"MPI_Send",  "MPI_Init",  "MPI_Finalize",    "MPI_Sendrecv",
                                       "main",      "mpi_test_", "MPI_Allreduce",   "MPI_Put",
                                       "MPI_Wtime", "MPI_Isend", "EZTrace finalize"};
    uint32_t id = take(b) % 16;
    switch (take(b) % 5) {
    case 0:
        *KER_APPEND(trace->location, trace->locations) =
            (struct otf2_location){.id = id, .events = 1, .process = take(b), .thread = true};
        break;
    case 1:
        *KER_APPEND(trace->text, trace->texts) =
            (struct otf2_text){id, ker_format("%s", name[take(b) % (sizeof name / sizeof *name)])};
        break;
    case 2:
        *KER_APPEND(trace->region, trace->regions) =
            (struct otf2_region){.id = id, .name = take(b) % 16, .mpi = id % 7 == 1};
        break;
    case 3:
        group_take(trace, b);
        break;
    default:
        *KER_APPEND(trace->comm, trace->comms) = (struct otf2_comm){
            .id = id % 8, .group = take(b) % 8, .kind = id == 15 ? OTF2_COMM_BETWEEN : OTF2_COMM_RANKS};
    }
}

static struct otf2_event event_take(struct bytes *b, uint64_t *time, uint64_t count)
{
    struct otf2_event e = {.kind = take(b) % (OTF2_REFUSED + 1), .number = count};
    e.collective = take(b) % (OTF2_COLL_UNKNOWN + 1);
    e.comm = take(b) % 8;
    e.peer = (uint32_t)number(b);
    e.root = e.region = e.peer;
    e.tag = (uint32_t)number(b);
    e.sent = number(b);
    e.received = number(b);
    e.request = take(b) % 8;
    *time += number(b) >> 2;
    e.time = *time;
    return e;
}

static void op_check(const struct task_op *op, const struct foreign_trace *of)
{
    ker_assert(op->kind < TASK_OP_COUNT && op->call && op->comm >= 0 && op->comm < of->comms);
    int32_t tasks = of->comm[op->comm].size;
    ker_assert(op->peer >= TASK_PROC_NULL && op->peer < tasks && op->peer2 >= TASK_PROC_NULL &&
               op->peer2 < tasks);
    ker_assert(op->bytes <= FOREIGN_BYTES_MOST && op->bytes2 <= FOREIGN_BYTES_MOST);
    ker_assert(op->time >= 0 && op->time <= TRACE_GAP_MOST);
    if (op->kind == TASK_OP_COLLECTIVE || op->kind == TASK_OP_ICOLLECTIVE)
        ker_assert(op->collective < TASK_COLL_COUNT && op->peer >= 0);
}

static void task_check(const struct otf2_trace *trace, const struct foreign_trace *of, uint32_t task,
                       struct bytes b)
{
    struct foreign_check c;
    foreign_begin(&c, of, task, of->comm, 1 << 20, false);
    struct otf2_task t = {.trace = trace, .out = &c.out, .error = &c.error};
    bool more = true;
    for (int pass = 0; pass < 2; pass++) {
        struct bytes rest = b;
        uint64_t time = 0;
        for (uint64_t n = 1; more && rest.at < rest.end; n++) {
            struct otf2_event e = event_take(&rest, &time, n);
            if (pass == 0)
                otf2_ahead_add(&t.ahead, &e);
            else
                more = otf2_task_event(&t, &e);
        }
    }
    enum ker_status status = otf2_task_end(&t);
    ker_assert(status == KER_OK ? c.error.text[0] == 0 : status == KER_BAD_INPUT && c.error.text[0] != 0);
    otf2_task_release(&t);
    foreign_end(&c, status, op_check);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes b = {data, data + size};
    struct ker_error error = {0};
    struct otf2_trace trace = {.path = "archive", .resolution = number(&b), .sizes = take(&b) % 3};
    struct foreign_trace of = {.counts = true, .comms = 1};
    trace.polls = trace.resolution % 2;
    for (unsigned definitions = take(&b); definitions > 0 && b.at < b.end; definitions--)
        definition_take(&trace, &b);
    enum ker_status status = otf2_define(&trace, &of, &error);
    ker_assert(status == KER_OK || (status == KER_BAD_INPUT && error.text[0]));
    for (uint32_t i = 0; status == KER_OK && i < of.tasks && i < 3; i++)
        task_check(&trace, &of, i, b);
    otf2_release(&trace);
    free(of.comm);
    free(of.members);
    return 0;
}
