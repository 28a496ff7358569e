/* save.c - the MPI model, saved and loaded. */
#include "tasks/mpi/state.h"

void task_mpi_counts_state(struct task_mpi *mpi, uint32_t jobs, struct ker_chunk *c)
{
    jobs = ker_chunk_count(c, jobs, sizeof(int64_t));
    for (uint32_t job = 0; job < jobs; job++) {
        task_mpi_job_room(mpi, job);
        uint64_t open = ker_chunk_u64(c, (uint64_t)mpi->job[job].open);
        if (c->loads)
            mpi->job[job].open += (int64_t)open;
    }
}
