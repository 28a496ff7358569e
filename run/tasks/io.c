/* io.c - jobs[].io of summary.json: what jobs have had done on files that are in the system. */
#include "run/tasks/system.h"

#include <stdlib.h>

static json_t *op_json(const struct task_mpi_io *io, bool moves)
{
    json_t *object = json_pack("{s:I, s:I}", "calls", (json_int_t)io->calls, "time_ps", (json_int_t)io->time);
    if (!moves)
        return object;
    ker_time span = io->last - io->first;
    unsigned __int128 second = KER_S;
    json_object_set_new(object, "bytes", json_integer((json_int_t)io->bytes));
    json_object_set_new(object, "span_ps", json_integer(span));
    json_object_set_new(object, "bytes_per_s",
                        span ? json_integer((json_int_t)(io->bytes * second / (unsigned __int128)span))
                             : json_null());
    return object;
}

void task_io_report(const struct task_system *system, struct ker_comm *comm, json_t *jobs)
{
    uint32_t count = task_jobs_count(system->jobs);
    if (!task_jobs_call_services(system->jobs))
        return;
    struct task_mpi_io *own = ker_alloc(count * STORE_OPS * sizeof *own), *io;
    for (uint32_t job = 0; job < count; job++)
        for (uint32_t op = 0; op < STORE_OPS; op++)
            own[job * STORE_OPS + op] = task_mpi_io(system->mpi, job)[op];
    void *all;
    size_t *offset, rows = (size_t)count * STORE_OPS;
    ker_comm_gather(comm, own, rows * sizeof *own, &all, &offset);
    for (io = all; ker_comm_rank(comm) == 0 && io < (struct task_mpi_io *)all + rows; io++)
        for (int rank = 1; rank < ker_comm_size(comm); rank++)
            task_mpi_io_join(io, io + (size_t)rank * rows);
    for (uint32_t job = 0; ker_comm_rank(comm) == 0 && job < count; job++) {
        json_t *object = json_object();
        io = (struct task_mpi_io *)all + (size_t)job * STORE_OPS;
        for (uint32_t op = 0; op < STORE_OPS; op++)
            if (io[op].calls)
                json_object_set_new(object, store_op_name((enum store_op)op),
                                    op_json(&io[op], op == STORE_READ || op == STORE_WRITE));
        if (json_object_size(object))
            json_object_set(json_array_get(jobs, job), "io", object);
        json_decref(object);
    }
    free(own);
    free(all);
    free(offset);
}
