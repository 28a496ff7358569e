/* schedule.c - GOAL schedules, for --stats and --check: each operation as the call that it is most like. What
 * of a task comes before what is not in them, so they become no traces: operations stand in the order of the
 * file, and a calculation belongs to the next message.
 */
#include "tools/marsconv/about.h"

#include "tasks/graphs/graph.h"

#include <stdlib.h>

struct schedule {
    struct graph *graph;
    bool tags; /* they are compared: no send is for receives of any tag */
    struct task_comm world;
};

struct reading { /* of a task */
    const struct schedule *schedule;
    const struct graph_task *task;
    uint32_t at; /* operations that were read; one more: the end, too */
    struct conv_about about;
    struct conv_made made;
    uint64_t now_ns;
};

static bool schedule_open(struct conv_source *source, struct mars_error *error)
{
    struct schedule *s = source->own = ker_alloc(sizeof *s);
    struct ker_error wrong = {.status = KER_OK};
    const struct graph_form form = {.path = "", .unit = 1000};
    if (graph_goal_tasks(source->path, &source->tasks, &wrong) != KER_OK ||
        graph_goal_read(&s->graph, source->path, &form, 0, source->tasks, &wrong) != KER_OK)
        return mars_fail(error, "%s", wrong.text);
    s->tags = true;
    s->world.size = (int32_t)source->tasks;
    for (uint32_t i = 0; i < source->tasks; i++)
        for (uint32_t j = 0; j < s->graph->task[i].ops; j++) {
            const struct graph_op *op = &s->graph->task[i].op[j];
            s->tags &= op->kind != GRAPH_SEND || op->tag != GRAPH_ANY;
        }
    return true;
}

static void schedule_close(struct conv_source *source)
{
    struct schedule *s = source->own;
    if (s)
        graph_free(s->graph);
    free(s);
    source->own = NULL;
}

static bool schedule_task_open(struct conv_task *task, uint32_t number, struct mars_error *error)
{
    const struct schedule *s = task->source->own;
    struct reading *r = task->own = ker_alloc(sizeof *r);
    r->schedule = s;
    r->task = &s->graph->task[number];
    (void)error;
    conv_about_begin(&r->about, number, task->source->tasks, &s->world, 1, 1, "goal");
    task->about = r->about.task;
    return true;
}

static void schedule_task_close(struct conv_task *task)
{
    struct reading *r = task->own;
    if (!r)
        return;
    conv_made_release(&r->made);
    conv_about_end(&r->about);
    mars_task_close(task->about);
    free(r);
}

static bool schedule_thread_open(struct conv_task *task, uint32_t thread, struct mars_error *error)
{
    struct reading *r = task->own;
    r->at = 0;
    r->now_ns = 0;
    (void)thread; /* tasks have one */
    (void)error;
    return true;
}

static int64_t number_of(uint32_t number, int64_t any)
{
    return number == GRAPH_ANY ? any : (int64_t)number;
}

static void message_make(struct reading *r, const struct graph_op *op, struct mars_record *call)
{
    bool sends = op->kind == GRAPH_SEND;
    conv_made_number(&r->made, sends ? MARS_FIELD_bytes : MARS_FIELD_recvbytes, (int64_t)op->amount);
    conv_made_number(&r->made, sends ? MARS_FIELD_dest : MARS_FIELD_source,
                     number_of(op->peer, MARS_ANY_SOURCE));
    conv_made_number(&r->made, MARS_FIELD_tag, r->schedule->tags ? number_of(op->tag, MARS_ANY_TAG) : 0);
    conv_made_number(&r->made, MARS_FIELD_comm, conv_about_comm(&r->about, 0));
    conv_made_record(&r->made, &r->about, call, sends ? "MPI_Send" : "MPI_Recv",
                     sends ? "bytes dest tag comm" : "recvbytes source tag comm");
}

/* The next message with the calculations before it; at last MPI_Finalize, with those that are left. */
static bool schedule_next(struct conv_task *task, struct conv_record *record, struct mars_error *error)
{
    struct reading *r = task->own;
    uint64_t computed = 0;
    (void)error;
    if (r->at > r->task->ops)
        return false;
    for (; r->at < r->task->ops && r->task->op[r->at].kind == GRAPH_CALCULATION; r->at++)
        computed += r->task->op[r->at].amount;
    record->call = (struct mars_record){.polls = 1, .gap_ns = computed / 1000};
    record->number = r->at + 1;
    record->first = false;
    record->start_ns = r->now_ns += computed / 1000;
    if (r->at < r->task->ops)
        message_make(r, &r->task->op[r->at], &record->call);
    else
        conv_made_record(&r->made, &r->about, &record->call, "MPI_Finalize", "");
    r->at++;
    return true;
}

static void schedule_place(const struct conv_task *task, uint64_t number, char *text, size_t room)
{
    const struct schedule *s = task->source->own;
    const struct graph_task *of = &s->graph->task[task->about->number];
    if (number >= 1 && number <= of->ops && !s->graph->numbered)
        snprintf(text, room, "%s:%u", task->source->path, of->op[number - 1].line);
    else
        snprintf(text, room, "%s: task %u, operation %llu", task->source->path, task->about->number,
                 (unsigned long long)number);
}

const struct conv_format conv_schedule = {
    .name = "goal",
    .untimed = true,
    .sums = true,
    .open = schedule_open,
    .close = schedule_close,
    .task_open = schedule_task_open,
    .task_close = schedule_task_close,
    .thread_open = schedule_thread_open,
    .next = schedule_next,
    .place = schedule_place,
};
