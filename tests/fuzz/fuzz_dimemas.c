/* fuzz_dimemas.c - text traces of Dimemas: whatever the bytes, they are refused with a message, or become
 * operations whose communicators, ranks, roots and sizes are such. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/fuzz/foreign_check.h"
#include "traces/dimemas/dimemas.h"
#include "traces/traces.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern const struct ker_kind trace_format_dimemas;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void op_check(const struct task_op *op, const struct foreign_trace *of)
{
    ker_assert(op->kind < TASK_OP_COUNT && op->call && op->comm >= 0 && op->comm < of->comms);
    ker_assert(op->peer >= TASK_PROC_NULL && op->peer < of->comm[op->comm].size);
    ker_assert(op->bytes <= FOREIGN_BYTES_MOST && op->bytes2 <= FOREIGN_BYTES_MOST);
    ker_assert(op->time >= 0 && op->time <= TRACE_GAP_MOST);
    if (op->kind == TASK_OP_COLLECTIVE)
        ker_assert(op->collective <= TASK_COLL_SCAN && op->peer >= 0);
}

static void task_check(const struct dimemas_trace *trace, const struct foreign_trace *of, uint32_t task)
{
    struct foreign_check c;
    foreign_begin(&c, of, task, of->comm, 1 << 20, true);
    foreign_end(&c, dimemas_task_read(trace, &c.out, &c.error), op_check);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file = memfd_create("dimemas", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    struct dimemas_trace trace = {0};
    struct ker_error error = {0};
    struct foreign_trace of = {.path = ker_format("/proc/self/fd/%d", file), .counts = true, .comms = 1};
    ((const struct trace_format *)trace_format_dimemas.operations)->score(of.path);
    enum ker_status status = dimemas_index(&trace, &of, &error);
    ker_assert(status == KER_OK || (status == KER_BAD_INPUT && error.text[0]));
    for (uint32_t i = 0; status == KER_OK && i < of.tasks && i < 4; i++)
        task_check(&trace, &of, of.tasks - 1 - i);
    dimemas_index_release(&trace, of.comms);
    free(of.comm);
    free(of.members);
    free(of.path);
    close(file);
    return 0;
}
