/* source.c - whom a task's receives from any source have found, for calls of its program that depend on it.
 */
#include "tasks/mpi/state.h"

struct task_sources {
    uint32_t count;                  /* so far; of the last ones: */
    int32_t source[TASK_FOUND_MOST]; /* tasks, by their numbers modulo the room */
};
_Static_assert((TASK_FOUND_MOST & (TASK_FOUND_MOST - 1)) == 0, "the count may pass 2^32");

void task_source_add(struct task_state *task, int32_t source)
{
    if (!task->sources)
        task->sources = ker_alloc(sizeof *task->sources);
    task->sources->source[task->sources->count++ % TASK_FOUND_MOST] = source;
}

static int32_t rank_of(const struct task_job *job, const struct task_state *task, int32_t peer)
{
    uint32_t back = (uint32_t)(TASK_FOUND - peer);
    const struct task_sources *s = task->sources;
    int32_t count, found = s ? s->source[(s->count - 1 - back) % TASK_FOUND_MOST] : 0;
    const struct task_comm *comm = job->class->comms(job->program, &count);
    const struct task_comm *own = &comm[task->op.comm];
    int32_t rank = task_comm_rank(own->remote ? &comm[own->remote] : own, found);
    return rank < 0 ? 0 : rank; /* only a bad trace names one of another communicator */
}

void task_source_name(const struct task_job *job, struct task_state *task)
{
    if (task->op.peer <= TASK_FOUND)
        task->op.peer = rank_of(job, task, task->op.peer);
    if (task->op.peer2 <= TASK_FOUND)
        task->op.peer2 = rank_of(job, task, task->op.peer2);
}

void task_sources_state(struct task_state *task, struct ker_chunk *c)
{
    if (!ker_chunk_bool(c, task->sources != NULL) || c->bad)
        return;
    if (c->loads)
        task->sources = ker_alloc(sizeof *task->sources);
    KER_CHUNK(c, task->sources->count, task->sources->source);
}
