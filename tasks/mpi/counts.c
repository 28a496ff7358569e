/* counts.c - what is under way in each job, counted by this rank.
 *
 * Jobs are met in any order, and many ranks meet few of them: there is room for those up to the largest
 * number met so far, and a job without room has counted nothing.
 */
#include "tasks/mpi/state.h"

#include <string.h>

void task_mpi_job_room(struct task_mpi *mpi, uint32_t job)
{
    uint32_t before = mpi->job_room;
    KER_RESERVE(mpi->job, mpi->job_room, (size_t)job + 1);
    if (mpi->job_room > before)
        memset(mpi->job + before, 0, (mpi->job_room - before) * sizeof *mpi->job);
}

uint64_t task_mpi_unfinished(const struct task_mpi *mpi)
{
    return mpi->unfinished;
}

void task_mpi_job(const struct task_mpi *mpi, uint32_t job, int64_t *open, uint64_t *unfinished)
{
    *open = job < mpi->job_room ? mpi->job[job].open : 0;
    *unfinished = job < mpi->job_room ? mpi->job[job].unfinished : 0;
}

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
