/* matching.c - the table of queues: how long those of posted receives and of unexpected messages were that
 * each task's searches met.
 */
#include "tasks/mpi/state.h"

static const char *job_text(const void *context, uint32_t job)
{
    const struct task_mpi_names *names = context;
    return names->outside->job(names->outside->jobs, job)->name;
}

/* clang-format off */
#define MATCHING_COLUMNS(COLUMN) \
    COLUMN(job, "", TEXT, SAME, row->job, "the job's name", .text = job_text) \
    COLUMN(task, "", U32, SAME, row->task, "the task's number in it") \
    COLUMN(posted_searches, "", U64, SUM, row->search[TASK_QUEUE_POSTED].searches, \
           "messages that looked for their receive") \
    COLUMN(posted_mean, "receives", RATIO, SUM, row->search[TASK_QUEUE_POSTED].lengths, \
           "how many receives were posted then", .by = "posted_searches") \
    COLUMN(posted_max, "receives", U32, MOST, row->longest[TASK_QUEUE_POSTED], \
           "the most there were at once") \
    COLUMN(unexpected_searches, "", U64, SUM, row->search[TASK_QUEUE_UNEXPECTED].searches, \
           "receives and probes that looked for their message") \
    COLUMN(unexpected_mean, "messages", RATIO, SUM, row->search[TASK_QUEUE_UNEXPECTED].lengths, \
           "how many messages had arrived without a receive then", .by = "unexpected_searches") \
    COLUMN(unexpected_max, "messages", U32, MOST, row->longest[TASK_QUEUE_UNEXPECTED], \
           "the most there were at once")
/* clang-format on */

static uint64_t row_key(const void *from)
{
    const struct task_state *row = from;
    return (uint64_t)row->job << 32 | row->task;
}

STATS_SCHEMA(task_matching_schema, struct task_state, MATCHING_COLUMNS, row_key, "matching",
             "One row per task, by job and task.")

enum ker_status task_mpi_matching(const struct task_mpi *mpi, const struct task_mpi_names *names,
                                  struct ker_comm *comm, const struct stats_folder *folder, const char *key,
                                  struct ker_error *error)
{
    struct stats_table *table = stats_table_new(&task_matching_schema, names, 0);
    stats_table_reserve(table, mpi->tasks);
    for (uint32_t i = 0; i < mpi->tasks; i++)
        stats_table_add(table, &mpi->task[i]);
    enum ker_status status = stats_table_show_file(table, comm, folder, key, error);
    stats_table_free(table);
    return status;
}
