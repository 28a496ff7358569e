/* counts.c - what is in flight in each job, counted by this rank.
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

void task_mpi_sent_collect(struct task_mpi *mpi, uint32_t jobs)
{
    mpi->sends_counted = true;
    if (!mpi->sent)
        mpi->sent = ker_alloc(sizeof *mpi->sent * TASK_SENT * (jobs + 1u));
}

struct task_mpi_sent *task_mpi_sent(struct task_mpi *mpi, uint32_t job)
{
    return mpi->sent ? mpi->sent + job * TASK_SENT : NULL;
}

void task_mpi_sent_add(struct task_mpi *mpi, const struct task_mpi_message *m)
{
    if (mpi->pairs && m->kind != TASK_SENT_BALANCING)
        stats_matrix_add(mpi->pairs, mpi->first[m->job] + m->from, mpi->first[m->job] + m->to, 1, m->bytes);
    if (!mpi->sent)
        return;
    struct task_mpi_sent *s = &mpi->sent[m->job * TASK_SENT + 2u * m->kind + m->leaves];
    s->messages++;
    s->bytes += m->bytes;
    s->squares += (unsigned __int128)m->bytes * m->bytes;
}

void task_mpi_pairs_collect(struct task_mpi *mpi, struct stats_matrix *pairs, const uint32_t *first)
{
    mpi->sends_counted = true;
    mpi->pairs = pairs;
    mpi->first = first;
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

void task_mpi_done(struct task_mpi *mpi, const struct task_state *task)
{
    mpi->job[task->job].unfinished--;
    mpi->job[task->job].aborted += task_abort_of(task) != NULL;
    if (!task_job_of(mpi, task)->background)
        mpi->unfinished--;
}

uint64_t task_mpi_aborted(const struct task_mpi *mpi, uint32_t job)
{
    return job < mpi->job_room ? mpi->job[job].aborted : 0;
}

/* Ends a stream where it began to wait; the task ends when the last one does. */
static void stream_cut(struct task_mpi *mpi, struct task_state *task, uint32_t stream)
{
    task_stream_select(task, stream);
    if (task->stage == TASK_STAGE_DONE)
        return;
    ker_assert(task->blocked);
    if (task->calls)
        task_calls_end(task->calls, task->blocked_since);
    if (task->line)
        task_line_end(mpi, task, task->blocked_since);
    task->finish = task->blocked_since > task->finish ? task->blocked_since : task->finish;
    task->blocked = false;
    task->stage = TASK_STAGE_DONE;
    if (task->streams)
        task->streams->unfinished--;
}

void task_mpi_end(struct task_mpi *mpi, uint32_t job)
{
    for (uint32_t i = 0; i < mpi->tasks; i++) {
        struct task_state *task = &mpi->task[i];
        if (task->job != job || task_is_done(task))
            continue;
        task->finish = 0;
        for (uint32_t s = 0; s < task_stream_count(task); s++)
            stream_cut(mpi, task, s);
        if (task->calls)
            task_calls_cut(task);
        task_mpi_done(mpi, task);
    }
}

/* Those that have called MPI_Abort first, then by time and task. */
static bool abort_before(const struct task_mpi_abort *a, const struct task_mpi_abort *b)
{
    if (a->called != b->called)
        return a->called;
    return a->time != b->time ? a->time < b->time : a->task < b->task;
}

void task_mpi_abort_join(struct task_mpi_abort *to, const struct task_mpi_abort *from)
{
    if (from->there && (!to->there || abort_before(from, to)))
        *to = *from;
}

void task_mpi_aborts(const struct task_mpi *mpi, struct task_mpi_abort *first)
{
    for (uint32_t i = 0; i < mpi->tasks; i++) {
        const struct task_state *task = &mpi->task[i];
        const struct task_op *op = task_abort_of(task);
        if (!op)
            continue;
        struct task_mpi_abort one = {.there = true,
                                     .called = op->outcome == 1,
                                     .task = task->task,
                                     .code = op->tag,
                                     .time = task->finish};
        task_mpi_abort_join(&first[task->job], &one);
    }
}

void task_mpi_files(const struct task_mpi *mpi, uint64_t *sum)
{
    for (uint32_t i = 0; i < mpi->tasks; i++) {
        const struct task_state *task = &mpi->task[i];
        const struct task_job *job = task_job_of(mpi, task);
        if (job->class->taken)
            sum[task->job] += (uint64_t)job->class->taken(job->program, task->own).files;
    }
}

void task_mpi_io_join(struct task_mpi_io *to, const struct task_mpi_io *from)
{
    if (from->calls && (to->calls == 0 || from->first < to->first))
        to->first = from->first;
    if (from->last > to->last)
        to->last = from->last;
    to->calls += from->calls;
    to->bytes += from->bytes;
    to->time += from->time;
}

struct task_mpi_io *task_mpi_io(struct task_mpi *mpi, uint32_t job)
{
    task_mpi_job_room(mpi, job);
    if (!mpi->job[job].io)
        mpi->job[job].io = ker_alloc(STORE_OPS * sizeof *mpi->job[job].io);
    return mpi->job[job].io;
}

static void io_state(struct task_mpi *mpi, uint32_t job, struct ker_chunk *c)
{
    if (!ker_chunk_bool(c, mpi->job[job].io != NULL))
        return;
    struct task_mpi_io *of = task_mpi_io(mpi, job);
    for (uint32_t op = 0; op < STORE_OPS && !c->bad; op++) {
        struct task_mpi_io io = of[op];
        KER_CHUNK(c, io.calls, io.bytes, io.time, io.first, io.last);
        if (c->loads && !c->bad)
            task_mpi_io_join(&of[op], &io);
    }
}

void task_mpi_counts_state(struct task_mpi *mpi, uint32_t jobs, struct ker_chunk *c)
{
    jobs = ker_chunk_count(c, jobs, sizeof(int64_t));
    for (uint32_t job = 0; job < jobs; job++) {
        task_mpi_job_room(mpi, job);
        uint64_t open = ker_chunk_u64(c, (uint64_t)mpi->job[job].open);
        if (c->loads)
            mpi->job[job].open += (int64_t)open;
        io_state(mpi, job, c);
    }
}
