/* fuzz_simgrid.c - traces of SimGrid: whatever the bytes of a file of all tasks, they are refused with a
 * message, or become operations whose ranks, roots and sizes are such. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/fuzz/foreign_check.h"
#include "traces/simgrid/simgrid.h"
#include "traces/traces.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void peer_check(int32_t peer, uint32_t tasks)
{
    ker_assert(peer >= TASK_PROC_NULL && peer < (int32_t)tasks);
}

static void op_check(const struct task_op *op, const struct foreign_trace *of)
{
    uint32_t tasks = of->tasks;
    ker_assert(op->kind < TASK_OP_COUNT && op->call && op->comm == 0);
    peer_check(op->peer, tasks);
    peer_check(op->peer2, tasks);
    if (op->kind == TASK_OP_COLLECTIVE || op->kind == TASK_OP_ICOLLECTIVE) {
        ker_assert(op->collective < TASK_COLL_COUNT && op->peer >= 0);
        ker_assert(op->request_count == (op->send_bytes || op->receive_bytes ? tasks : 0));
        for (uint32_t i = 0; i < op->request_count; i++)
            ker_assert((!op->send_bytes || op->send_bytes[i] <= FOREIGN_BYTES_MOST) &&
                       (!op->receive_bytes || op->receive_bytes[i] <= FOREIGN_BYTES_MOST));
    } else {
        ker_assert(op->bytes <= FOREIGN_BYTES_MOST && op->bytes2 <= FOREIGN_BYTES_MOST);
    }
    ker_assert(op->time >= 0 && op->time <= TRACE_GAP_MOST);
}

static void task_check(const struct simgrid_trace *trace, const struct foreign_trace *of, uint32_t task)
{
    struct task_comm world = {.size = (int32_t)of->tasks};
    struct foreign_check c;
    foreign_begin(&c, of, task, &world, task % 2 ? 0 : 1 << 20, true);
    foreign_end(&c, simgrid_task_read(trace, &c.out, NULL, &c.error), op_check);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file = memfd_create("simgrid", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    struct simgrid_trace trace = {.flop_rate = size % 5 ? 1e9 : 1, .derived_bytes = size % 3};
    struct ker_error error = {0};
    struct foreign_trace of = {.path = ker_format("/proc/self/fd/%d", file), .counts = true, .comms = 1};
    simgrid_trace_known(of.path);
    enum ker_status status = simgrid_files_find(&trace, &of, &error);
    ker_assert(status == KER_OK || (status == KER_BAD_INPUT && error.text[0]));
    for (uint32_t i = 0; status == KER_OK && i < of.tasks && i < 4; i++)
        task_check(&trace, &of, of.tasks - 1 - i);
    simgrid_files_release(&trace);
    free(of.path);
    close(file);
    return 0;
}
