/* table.c - the table of tasks: one row for each task of each job, what it has done until the end of the run.
 *
 * For a task that has not finished, the call or computation in which the end finds it counts up to the end.
 */
#include "tasks/mpi/state.h"

static const char *job_text(const void *context, uint32_t job)
{
    const struct task_mpi_names *names = context;
    return names->outside->job(names->outside->jobs, job)->name;
}

static const char *node_text(const void *context, uint32_t node)
{
    return route_name(((const struct task_mpi_names *)context)->topology, true, node);
}

static bool named(const void *context)
{
    const struct task_mpi_names *names = context;
    return names->topology && route_name(names->topology, true, 0);
}

static bool works(const void *context)
{
    return ((const struct task_mpi_names *)context)->works;
}

static bool system_measured(const void *context)
{
    return ((const struct task_mpi_names *)context)->system;
}

/* clang-format off */
#define TASK_COLUMNS(COLUMN) \
    COLUMN(job, "", TEXT, SAME, row->job, "the job's name", .text = job_text) \
    COLUMN(task, "", U32, SAME, row->task, "the task's number in it (its rank in MPI_COMM_WORLD)") \
    COLUMN(node, "", U32, SAME, row->place.node, "where it ran") \
    COLUMN(core, "", U32, SAME, row->place.core, "the core of that node") \
    COLUMN(finish_ps, "ps", TIME, SAME, row->finish, \
           "when it ended (of a job that restarts: its last complete pass); empty when it never did", \
           .ends = true) \
    COLUMN(compute_ps, "ps", U64, SUM, row->compute, "time spent computing") \
    COLUMN(wait_ps, "ps", U64, SUM, row->wait, "time blocked in all MPI calls but blocking sends") \
    COLUMN(send_wait_ps, "ps", U64, SUM, row->send_wait, \
           "time blocked in blocking sends, which is not a part of `wait_ps`") \
    COLUMN(messages_sent, "messages", U64, SUM, row->messages_sent, \
           "messages of the application sent, those inside collectives included") \
    COLUMN(bytes_sent, "bytes", U64, SUM, row->bytes_sent, "their payload") \
    COLUMN(messages_received, "messages", U64, SUM, row->messages_received, "the same, received") \
    COLUMN(bytes_received, "bytes", U64, SUM, row->bytes_received, "their payload") \
    COLUMN(passes, "", U64, SUM, row->passes, \
           "how often its program was run to its end: 0 or 1, more for jobs that restart or are repeated", \
           .fixed = true) \
    COLUMN(poll_gap_ps, "ps", U64, SUM, row->taken.poll_gap, \
           "replays of traces: time between tests that was left out of each pass, on the traced machine " \
           "([traces.md](traces.md))") \
    COLUMN(finalize_gap_ps, "ps", U64, SUM, row->taken.finalize_gap, "the same before MPI_Finalize") \
    COLUMN(stalled_ps, "ps", U64, SUM, row->stalled, \
           "where nodes have more than the simple model ([node.md](node.md)): time that computations took " \
           "longer than their compute part, waiting for memory; it is no part of `compute_ps`", \
           .wanted = works) \
    COLUMN(overhead_ps, "ps", U64, SUM, row->overhead, \
           "the same: processor time that was no computation", .wanted = works) \
    COLUMN(away_ps, "ps", U64, SUM, row->away, \
           "the same: noise had taken the core away", .wanted = works) \
    COLUMN(preempted_ps, "ps", U64, SUM, row->preempted, \
           "the same: it waited for a core, or for one that turned to it: a task's time is the sum of " \
           "`compute_ps`, `stalled_ps`, `overhead_ps`, `away_ps`, this, `wait_ps` and `send_wait_ps`", \
           .wanted = works) \
    COLUMN(system_ps, "ps", U64, SUM, row->system, \
           "only with `node.system_factor` or `node.system_latency`: it was in calls that the operating " \
           "system serves, which is one more part of the sum", .wanted = system_measured) \
    COLUMN(node_name, "", TEXT, SAME, row->place.node, "only where the topology has names", \
           .text = node_text, .wanted = named)
/* clang-format on */

static uint64_t row_key(const void *from)
{
    const struct task_mpi_result *row = from;
    return (uint64_t)row->job << 32 | row->task;
}

STATS_SCHEMA(task_mpi_schema, struct task_mpi_result, TASK_COLUMNS, row_key, "tasks",
             "One row per task, by job and task.")

/* What the task has done of the operation in which `end` finds it. */
static void row_cut(const struct task_mpi *mpi, struct task_mpi_result *row, const struct task_state *task,
                    ker_time end)
{
    if (task->blocked && end > task->blocked_since && !task_op_begins(&task->op)) {
        if (task->op.kind == TASK_OP_SEND)
            row->send_wait += end - task->blocked_since;
        else
            row->wait += end - task->blocked_since;
    }
    if (task_mpi_works(mpi)) {
        task_work_cut(mpi, task, end, row);
    } else if (task->busy && task->op.kind == TASK_OP_COMPUTE && task->paid_until > end) {
        ker_time rest = task->paid_until - end;
        row->compute -= rest < row->compute ? rest : row->compute;
    }
}

struct stats_table *task_mpi_results(const struct task_mpi *mpi, const struct task_mpi_names *names,
                                     ker_time end)
{
    struct stats_table *table = stats_table_new(&task_mpi_schema, names, 0);
    for (uint32_t i = 0; mpi && i < mpi->tasks; i++) {
        struct task_state *task = &mpi->task[i];
        const struct task_job *job = task_job_of(mpi, task);
        uint32_t node = task_node_of(mpi, task)->node;
        struct task_mpi_result row = {
            .job = task->job,
            .task = task->task,
            .place = task_outside_place(&mpi->outside, task->job, task->task, node, task->core),
            .finish = task->finish,
            .compute = task->compute,
            .wait = task->wait,
            .send_wait = task->send_wait,
            .messages_sent = task->messages_sent,
            .bytes_sent = task->bytes_sent,
            .messages_received = task->messages_received,
            .bytes_received = task->bytes_received,
            .passes = task_passes(job, task)};
        task_work_result(mpi, task, &row);
        for (uint32_t s = 0; s < task_stream_count(task); s++) {
            task_stream_select(task, s);
            row_cut(mpi, &row, task, end);
        }
        task_stream_select(task, 0); /* what the program knows the task by */
        if (job->class->taken)
            row.taken = job->class->taken(job->program, task->own);
        stats_table_add(table, &row);
    }
    return table;
}
