/* path_walk.c - walks the critical path: see path.h.
 *
 * The walk is at a task and a time. What the task did until then says where it is sent: of a busy piece
 * to its begin; of a wait to the task that sent what has ended it, when it sent it; so, too, of an act, by
 * which something went out for a task that did something else. A message is found again at its sender by its
 * time, its kind and where it went. The rank that has the task walks until the path leaves for a task of
 * another rank; then all learn where it is.
 */
#include "tasks/mpi/path.h"

#include <stdlib.h>

#define STILL_MOST                                                                                           \
    10000 /* steps without progress in time: a circle, which only a message of 0 ps could make */

struct walk {
    struct task_path_result result;
    ker_time at;
    uint64_t still;
    uint32_t job, task, stream;
    uint32_t to;              /* of the message that the walk has come by */
    uint32_t waiter, waiting; /* the last wait on the path: whose, in which function */
    uint8_t sends;            /* the kind of the message; 0: it has come by none */
    bool begins, over;
};

/* Of a job: when it ended, or the run has cut it off; the task with which the path ends. */
struct job_end {
    int64_t at, active, task; /* active: until when a task was seen to act; -1: none was */
    bool finished;
};

/* What a rank walks with. */
struct walker {
    const struct task_path_source *source;
    const struct task_names *functions;
    const struct task_path_visitor *visitor;
    struct walk walk;
};

static void step_tell(struct walker *r, struct task_path_step step, enum task_path_kind kind, ker_time begin,
                      ker_time end)
{
    struct walk *w = &r->walk;
    if (end == begin)
        return;
    w->still = 0;
    step.number = w->result.steps++;
    step.begin = begin;
    step.end = end;
    step.job = w->job;
    step.kind = (uint8_t)kind;
    r->visitor->step(r->visitor->context, &step);
}

/* ---- in a ring ---- */

/* How many pieces were known by then. */
static uint32_t pieces_until(const struct task_ring *ring, ker_time at)
{
    return KER_BISECT(i, 0, ring->count, task_piece_key(task_ring_at(ring, i)) <= at);
}

/* The act by which the message went out; NULL: the task itself sent it. */
static const struct task_piece *act_find(const struct task_ring *ring, const struct walk *w)
{
    for (uint32_t i = pieces_until(ring, w->at); i-- > 0;) {
        const struct task_piece *p = task_ring_at(ring, i);
        if (task_piece_key(p) < w->at - ring->longest)
            return NULL;
        if (p->kind == TASK_PIECE_ACT && p->end == w->at && p->to == w->to && p->sends == w->sends)
            return p;
    }
    return NULL;
}

/* What the stream did just before, or, where a message went out of which no act is recorded, the wait that it
 * was in then; NULL: not known any more. */
static const struct task_piece *piece_before(const struct task_ring *ring, const struct walk *w)
{
    uint32_t known = pieces_until(ring, w->at);
    for (uint32_t i = known; i-- > 0;) {
        const struct task_piece *p = task_ring_at(ring, i);
        if (p->kind == TASK_PIECE_ACT || p->stream != w->stream || p->begin >= w->at)
            continue;
        if (p->end >= w->at)
            return p;
        break;
    }
    for (uint32_t i = known; i < ring->count; i++) {
        const struct task_piece *p = task_ring_at(ring, i);
        if (p->kind != TASK_PIECE_ACT && p->stream == w->stream)
            return p->begin < w->at ? p : NULL;
    }
    return NULL;
}

/* ---- steps ---- */

static enum task_path_kind kind_of(const struct task_hop *hop)
{
    struct task_wire wire = {.kind = hop->kind};
    if (hop->left)
        return TASK_PATH_SENDING;
    if (hop->near)
        return TASK_PATH_IN_NODE;
    return task_wire_carries(&wire) ? TASK_PATH_TRANSFER : TASK_PATH_HANDSHAKE;
}

/* Back over what has ended a wait, or led to an act. */
static void hop_follow(struct walker *r, const struct task_hop *hop)
{
    struct walk *w = &r->walk;
    w->sends = 0;
    w->stream = hop->kind == TASK_HOP_STREAM ? hop->from : hop->stream;
    if (hop->kind == TASK_HOP_STREAM)
        return;
    if (hop->kind == TASK_WIRE_SERVICE) {
        struct task_path_step called = {
            .task = w->task, .from = w->task, .to = w->task, .function = w->waiting};
        step_tell(r, called, TASK_PATH_SERVICE, hop->sent, w->at);
        w->at = hop->sent;
        return;
    }
    ker_time contention = 0;
    if (!hop->left && !hop->near)
        contention =
            (ker_time)hop->contention < w->at - hop->sent ? (ker_time)hop->contention : w->at - hop->sent;
    struct task_path_step step = {
        .task = w->waiter, .from = hop->from, .to = hop->left ? hop->from : hop->to, .function = w->waiting};
    step_tell(r, step, TASK_PATH_CONTENTION, w->at - contention, w->at);
    step_tell(r, step, kind_of(hop), hop->sent, w->at - contention);
    w->result.messages += !hop->left;
    w->at = hop->sent;
    w->task = hop->from;
    w->to = hop->to;
    w->sends = hop->kind;
}

static void act_step(struct walker *r, const struct task_piece *act)
{
    struct walk *w = &r->walk;
    struct task_path_step step = {.task = w->waiter, .from = w->task, .to = w->task, .function = w->waiting};
    step_tell(r, step, TASK_PATH_MATCHING, act->begin, w->at);
    w->at = act->begin;
    hop_follow(r, &act->hop);
}

static void piece_step(struct walker *r, const struct task_piece *p)
{
    struct walk *w = &r->walk;
    uint32_t function = task_names_place(r->functions, p->function ? p->function : "");
    w->sends = 0;
    if (p->kind == TASK_PIECE_WAIT && p->hop.kind && p->end == w->at) {
        w->waiter = w->task;
        w->waiting = function;
        hop_follow(r, &p->hop);
        return;
    }
    enum task_path_kind kind = p->kind == TASK_PIECE_WAIT ? TASK_PATH_OTHER
                               : p->function              ? TASK_PATH_CALL
                                                          : TASK_PATH_COMPUTATION;
    struct task_path_step step = {.task = w->task, .from = w->task, .to = w->task, .function = function};
    step_tell(r, step, kind, p->begin, w->at);
    w->at = p->begin;
}

/* -1: it has ended, or nothing is known of it. */
static ker_time active_until(const struct task_path_own *task, ker_time end)
{
    return task->finish != KER_TIME_MAX || !task->ring->count ? -1 : ker_time_min(task->active, end);
}

/* At the run's end, with what the task does or waits for. */
static void unfinished_begin(struct walker *r, const struct task_path_own *task)
{
    struct walk *w = &r->walk;
    ker_time active = active_until(task, w->at);
    uint32_t function = task_names_place(r->functions, task->function ? task->function : "");
    struct task_path_step step = {.task = w->task, .from = w->task, .to = w->task, .function = function};
    step_tell(r, step, TASK_PATH_OTHER, active, w->at);
    w->at = active;
    w->stream = task->stream;
}

static void step(struct walker *r, const struct task_path_own *task)
{
    struct walk *w = &r->walk;
    const struct task_ring *ring = task->ring;
    if (w->begins && w->result.finished)
        w->stream = ring->last;
    else if (w->begins)
        unfinished_begin(r, task);
    w->begins = false;
    w->result.whole = w->at <= task->started;
    const struct task_piece *act = w->sends ? act_find(ring, w) : NULL,
                            *before = act ? NULL : piece_before(ring, w);
    if (w->result.whole || (!act && !before) || ++w->still > STILL_MOST)
        w->over = true;
    else if (act)
        act_step(r, act);
    else
        piece_step(r, before);
    w->result.from = w->at;
}

/* ---- ranks ---- */

/* Where the walk is now, from the rank that has walked. */
static void walk_share(struct walk *w, bool own, struct ker_comm *comm)
{
    void *all;
    size_t *offset;
    if (ker_comm_size(comm) == 1)
        return;
    ker_comm_allgather(comm, w, own ? sizeof *w : 0, &all, &offset);
    bool one = offset[ker_comm_size(comm)] == sizeof *w;
    ker_assert(one);
    if (one)
        *w = *(const struct walk *)all;
    free(all);
    free(offset);
}

static void job_walk(struct walker *r, struct ker_comm *comm)
{
    struct walk *w = &r->walk;
    while (!w->over) {
        struct task_path_own task;
        bool own = false;
        while (!w->over && r->source->find(r->source->context, w->job, w->task, &task)) {
            own = true;
            step(r, &task);
        }
        walk_share(w, own, comm);
    }
}

/* When each job ended, and the first of its tasks that did so then; of jobs that have not, the first of those
 * that were busy last. */
static void ends_find(const struct task_path_source *source, struct ker_comm *comm, struct job_end *ends)
{
    uint32_t jobs = source->jobs;
    int64_t *most = ker_alloc((2 * (size_t)jobs + 1) * sizeof *most), *active = most + jobs;
    struct task_path_own task;
    for (uint32_t job = 0; job < jobs; job++)
        active[job] = -1;
    for (uint32_t i = 0; source->own(source->context, i, &task); i++) {
        ker_time until = active_until(&task, source->end);
        most[task.job] = task.finish > most[task.job] ? task.finish : most[task.job];
        active[task.job] = until > active[task.job] ? until : active[task.job];
    }
    ker_comm_max_i64(comm, most, 2 * (size_t)jobs);
    for (uint32_t job = 0; job < jobs; job++) {
        bool finished = most[job] != KER_TIME_MAX;
        ends[job] = (struct job_end){finished ? most[job] : source->end, active[job], 0, finished};
        most[job] = INT64_MAX;
    }
    for (uint32_t i = 0; source->own(source->context, i, &task); i++) {
        const struct job_end *e = &ends[task.job];
        bool last = e->finished ? task.finish == e->at : active_until(&task, source->end) == e->active;
        if (last && task.task < most[task.job])
            most[task.job] = task.task;
    }
    ker_comm_min_i64(comm, most, jobs);
    for (uint32_t job = 0; job < jobs; job++)
        ends[job].task = most[job];
    free(most);
}

void task_path_walk(const struct task_path_source *source, struct ker_comm *comm,
                    const struct task_names *functions, const struct task_path_visitor *visitor,
                    struct task_path_result *result)
{
    struct job_end *ends = ker_alloc((source->jobs + (size_t)1) * sizeof *ends);
    ends_find(source, comm, ends);
    for (uint32_t job = 0; job < source->jobs; job++) {
        struct walker r = {.source = source, .functions = functions, .visitor = visitor};
        const struct job_end *e = &ends[job];
        r.walk = (struct walk){.at = e->at, .job = job, .task = (uint32_t)e->task, .begins = true};
        r.walk.result = (struct task_path_result){.finish = e->at,
                                                  .last = (uint32_t)e->task,
                                                  .finished = e->finished,
                                                  .there = e->finished || e->active >= 0};
        if (r.walk.result.there)
            job_walk(&r, comm);
        result[job] = r.walk.result;
    }
    free(ends);
}

void task_path_functions(const struct task_path_source *source, struct task_names *functions,
                         struct ker_comm *comm)
{
    const char *before = NULL;
    struct task_path_own task;
    task_names_add(functions, "");
    for (uint32_t i = 0; source->own(source->context, i, &task); i++) {
        if (task.finish == KER_TIME_MAX && task.function)
            task_names_add(functions, task.function);
        for (uint32_t k = 0; k < task.ring->count; k++) {
            const struct task_piece *p = task_ring_at(task.ring, k);
            if (p->kind == TASK_PIECE_ACT || !p->function || p->function == before)
                continue;
            task_names_add(functions, p->function);
            before = p->function;
        }
    }
    task_names_share(functions, comm);
}
