/* waits_table.c - the tables of waits: by task, and by job and function; and the sums of each job. */
#include "tasks/mpi/state.h"

#include <stdlib.h>

static const char *const part_names[TASK_PARTS] = {
    "late_sender_ps", "late_receiver_ps", "late_participants_ps", "collective_steps_ps",
    "handshake_ps",   "contention_ps",    "transfer_ps",          "sending_ps",
    "matching_ps",    "one_sided_ps",     "service_ps",           "other_ps"};

struct context {
    const struct task_mpi_names *names;
    const struct task_names *functions;
};

struct rate_row {
    uint32_t job;
    struct task_rate rate;
};

struct row {
    uint32_t job, task, function;
    struct task_waited_in waited;
};

static const char *job_text(const void *from, uint32_t job)
{
    const struct task_mpi_outside *outside = ((const struct context *)from)->names->outside;
    return outside->job(outside->jobs, job)->name;
}

static bool calls_services(const void *from)
{
    return ((const struct context *)from)->names->services;
}

static const char *function_text(const void *from, uint32_t function)
{
    const char *name = ((const struct context *)from)->functions->name[function];
    return *name ? name : "threads";
}

static uint64_t waited_time(const struct row *row)
{
    uint64_t sum = 0;
    for (int i = 0; i < TASK_PARTS; i++)
        sum += row->waited.parts.part[i];
    return sum;
}

/* clang-format off */
#define PART(row, name) (row)->waited.parts.part[TASK_PART_##name]
#define PART_COLUMNS(COLUMN) \
    COLUMN(waits, "", U64, SUM, row->waited.parts.waits, "how often tasks were blocked") \
    COLUMN(wait_ps, "ps", U64, SUM, waited_time(row), "how long: the sum of all that follow") \
    COLUMN(late_sender_ps, "ps", U64, SUM, PART(row, LATE_SENDER), \
           "of receives: until the message was sent") \
    COLUMN(late_receiver_ps, "ps", U64, SUM, PART(row, LATE_RECEIVER), \
           "of sends by rendezvous: until the receive was there") \
    COLUMN(late_participants_ps, "ps", U64, SUM, PART(row, LATE_PARTICIPANTS), \
           "in collectives: until the last task, as far as is known, had entered") \
    COLUMN(collective_steps_ps, "ps", U64, SUM, PART(row, COLLECTIVE_STEPS), \
           "in collectives: from then until the message that ended the wait was sent, or received") \
    COLUMN(handshake_ps, "ps", U64, SUM, PART(row, HANDSHAKE), "control messages of rendezvous") \
    COLUMN(contention_ps, "ps", U64, SUM, PART(row, CONTENTION), \
           "what messages took longer than in an empty network") \
    COLUMN(transfer_ps, "ps", U64, SUM, PART(row, TRANSFER), "messages in transit in an empty network") \
    COLUMN(sending_ps, "ps", U64, SUM, PART(row, SENDING), "of sends: until the last byte had left") \
    COLUMN(matching_ps, "ps", U64, SUM, PART(row, MATCHING), \
           "`mpi.match_time`: searches at the receiver before it answered") \
    COLUMN(one_sided_ps, "ps", U64, SUM, PART(row, ONE_SIDED), \
           "one-sided: until the message of the other side was sent") \
    COLUMN(service_ps, "ps", U64, SUM, PART(row, SERVICE), \
           "until a service of the node had answered a call; only where jobs call some", \
           .wanted = calls_services) \
    COLUMN(other_ps, "ps", U64, SUM, PART(row, OTHER), \
           "other threads, requests of the program's own, and what the end of the run has cut")
#define TASK_COLUMNS(COLUMN) \
    COLUMN(job, "", TEXT, SAME, row->job, "the job's name", .text = job_text) \
    COLUMN(task, "", U32, SAME, row->task, "the task's number in it (its rank in MPI_COMM_WORLD)") \
    PART_COLUMNS(COLUMN)
#define FUNCTION_COLUMNS(COLUMN) \
    COLUMN(job, "", TEXT, SAME, row->job, "the job's name", .text = job_text) \
    COLUMN(function, "", TEXT, SAME, row->function, \
           "the MPI function; `threads`: of threads for each other", .text = function_text) \
    PART_COLUMNS(COLUMN) \
    COLUMN(skew_ps, "ps", U64, SUM, row->waited.skew, \
           "of collectives that block: from each task's entry to the last one known to it") \
    COLUMN(skew_max_ps, "ps", U64, MOST, row->waited.skew_most, "the longest")

#define RATE_COLUMNS(COLUMN) \
    COLUMN(job, "", TEXT, SAME, row->job, "the job's name", .text = job_text) \
    COLUMN(size_bytes, "bytes", U64, SAME, row->rate.class ? UINT64_C(1) << (row->rate.class - 1) : 0, \
           "the smallest size of the class; the next one begins at twice that") \
    COLUMN(messages, "messages", U64, SUM, row->rate.messages, "messages with payload that have come") \
    COLUMN(bytes, "bytes", U64, SUM, row->rate.bytes, "their payload") \
    COLUMN(time_ps, "ps", U64, SUM, row->rate.time, \
           "how long they were in transit, summed: of a rendezvous the data itself") \
    COLUMN(rate_bytes_per_s, "bytes/s", MEAN, SUM, (stats_cell)row->rate.bytes * KER_S, \
           "what a message had on average: bytes over time", .by = "time_ps")
/* clang-format on */

static uint64_t rate_key(const void *from)
{
    const struct rate_row *row = from;
    return (uint64_t)row->job << 32 | row->rate.class;
}

STATS_SCHEMA(task_rates_schema, struct rate_row, RATE_COLUMNS, rate_key, "message_rates",
             "One row per job and class of sizes of which messages have come.")

static uint64_t row_key(const void *from)
{
    const struct row *row = from;
    return (uint64_t)row->job << 32 | row->task;
}

static uint64_t function_key(const void *from)
{
    const struct row *row = from;
    return (uint64_t)row->job << 32 | row->function;
}

STATS_SCHEMA(task_waits_schema, struct row, TASK_COLUMNS, row_key, "waits",
             "One row per task, by job and task.")
STATS_SCHEMA(
    task_wait_functions_schema, struct row, FUNCTION_COLUMNS, function_key, "wait_functions",
    "One row per MPI function in which tasks of a job have waited: the sums over the tasks, by job and "
    "function.")

bool task_mpi_waits_split(const struct task_mpi *mpi)
{
    return mpi->waits_split;
}

/* ---- rows ---- */

static void functions_collect(struct task_names *functions, struct task_mpi *mpi, ker_time end,
                              struct ker_comm *comm)
{
    for (uint32_t i = 0; i < mpi->tasks; i++) {
        uint32_t count;
        struct task_waited_in *own = task_waits_sorted(mpi, &mpi->task[i], end, &count);
        for (uint32_t k = 0; k < count; k++)
            task_names_add(functions, own[k].function ? own[k].function : "");
        free(own);
    }
    task_names_share(functions, comm);
}

static void rows_add(struct task_mpi *mpi, struct task_state *task, ker_time end,
                     const struct task_names *functions, struct stats_table *tasks,
                     struct stats_table *by_function)
{
    uint32_t count;
    struct task_waited_in *own = task_waits_sorted(mpi, task, end, &count);
    struct row sum = {.job = task->job, .task = task->task};
    for (uint32_t k = 0; k < count; k++) {
        struct row row = {.job = task->job, .waited = own[k]};
        row.function = task_names_place(functions, own[k].function ? own[k].function : "");
        stats_table_add(by_function, &row);
        task_waits_join(&sum.waited, &own[k]);
    }
    stats_table_add(tasks, &sum);
    free(own);
}

/* ---- rank 0 ---- */

struct sums {
    struct stats_growth *growth;
    struct stats_writer *writer;
    int job, count, wait, part[TASK_PARTS];
    struct job_sum {
        uint64_t count, wait, part[TASK_PARTS];
    } * job_sum;
};

static void task_show(void *context, const struct stats_table *table, size_t row)
{
    const struct sums *s = context;
    table = stats_growth_row(s->growth, table, &row);
    struct job_sum *sum = &s->job_sum[(uint32_t)stats_table_cell(table, row, s->job)];
    sum->count += (uint64_t)stats_table_cell(table, row, s->count);
    sum->wait += (uint64_t)stats_table_cell(table, row, s->wait);
    for (int i = 0; i < TASK_PARTS; i++)
        sum->part[i] += s->part[i] < 0 ? 0 : (uint64_t)stats_table_cell(table, row, s->part[i]);
    stats_writer_row(s->writer, table, row);
}

static json_t *sums_json(const struct sums *s, const struct job_sum *sum, uint32_t jobs)
{
    json_t *all = json_array();
    for (uint32_t job = 0; job < jobs; job++) {
        json_t *one = json_pack("{s:I, s:I}", "count", (json_int_t)sum[job].count, "wait_ps",
                                (json_int_t)sum[job].wait);
        for (int i = 0; i < TASK_PARTS; i++)
            if (s->part[i] >= 0)
                json_object_set_new(one, part_names[i], json_integer((json_int_t)sum[job].part[i]));
        json_array_append_new(all, one);
    }
    return all;
}

static enum ker_status tasks_write(struct stats_table *table, uint32_t jobs, struct ker_comm *comm,
                                   const struct stats_folder *folder, json_t **sums, struct ker_error *error)
{
    struct sums s = {.growth = folder->growth,
                     .job = stats_table_find(table, "job", false),
                     .count = stats_table_find(table, "waits", false),
                     .wait = stats_table_find(table, "wait_ps", false),
                     .job_sum = ker_alloc((jobs + (size_t)1) * sizeof *s.job_sum)};
    bool control = ker_comm_rank(comm) == 0;
    stats_table_find_all(table, part_names, TASK_PARTS, s.part);
    s.writer = control ? stats_writer_open(table, folder, NULL, error) : NULL;
    stats_table_show(table, comm, &(struct stats_visitor){task_show, &s});
    enum ker_status status = control && !s.writer ? KER_RUN_FAILED : stats_writer_close(s.writer, error);
    *sums = control ? sums_json(&s, s.job_sum, jobs) : NULL;
    free(s.job_sum);
    return status;
}

static enum ker_status rates_write(const struct task_mpi *mpi, const struct context *context,
                                   struct ker_comm *comm, const struct stats_folder *folder,
                                   struct ker_error *error)
{
    struct stats_table *table = stats_table_new(&task_rates_schema, context, 0);
    for (uint32_t i = 0; i < mpi->tasks; i++)
        for (uint32_t k = 0; k < mpi->waited[i].rates; k++)
            stats_table_add(table, &(struct rate_row){mpi->task[i].job, mpi->waited[i].rate[k]});
    stats_table_gather(table, comm);
    enum ker_status status = ker_comm_rank(comm) == 0 ? stats_table_write(table, folder, error) : KER_OK;
    stats_table_free(table);
    return status;
}

enum ker_status task_mpi_waits(struct task_mpi *mpi, const struct task_mpi_names *names, uint32_t jobs,
                               struct ker_comm *comm, ker_time end, const struct stats_folder *folder,
                               json_t **sums, struct ker_error *error)
{
    struct task_names functions = {0};
    struct context context = {names, &functions};
    functions_collect(&functions, mpi, end, comm);
    struct stats_table *tasks = stats_table_new(&task_waits_schema, &context, 0),
                       *by_function = stats_table_new(&task_wait_functions_schema, &context, 0);
    for (uint32_t i = 0; i < mpi->tasks; i++)
        rows_add(mpi, &mpi->task[i], end, &functions, tasks, by_function);
    enum ker_status status = tasks_write(tasks, jobs, comm, folder, sums, error), written = KER_OK;
    stats_table_gather(by_function, comm);
    if (ker_comm_rank(comm) == 0)
        written = stats_table_write(by_function, folder, error);
    enum ker_status rated = rates_write(mpi, &context, comm, folder, error);
    stats_table_free(tasks);
    stats_table_free(by_function);
    task_names_release(&functions);
    return status ?: written ? written : rated;
}
