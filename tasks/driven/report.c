/* report.c - what cores and entry methods have done, and which objects have not finished. */
#include "tasks/driven/model.h"

#include <stdlib.h>

static ker_time cut(ker_time time, ker_time end)
{
    return time < end ? time : end;
}

/* Of messages; with outside.turn all that has been until `end`, else of the blocks that have ended. */
static ker_time messages(const struct driven_core *core, ker_time end)
{
    const struct task_driven *d = core->driven;
    return d->outside.messages && core->home->net ? d->outside.messages(core->home->net, end)
                                                  : core->overhead;
}

/* What has passed of the block that runs at the end: computation, and overheads of its messages, which are
 * taken as if they came first. So neither is ever less than it was before. */
static void running(const struct driven_core *core, ker_time end, ker_time *busy, ker_time *overhead)
{
    ker_time passed = core->runs && end > core->begun ? end - core->begun : 0;
    *overhead = core->driven->outside.turn || !passed ? 0 : cut(passed, driven_overhead(core));
    if (core->driven->outside.turn && passed)
        passed = cut(passed - cut(passed, messages(core, end) - core->before), core->length);
    *busy = passed - *overhead;
}

/* Computation until the end, and overheads of messages: at most what is no computation. */
static void shares(const struct driven_core *core, ker_time elapsed, ker_time end, ker_time *busy,
                   ker_time *overhead)
{
    running(core, end, busy, overhead);
    *busy += core->busy;
    *overhead = cut(*overhead + messages(core, end), elapsed - *busy);
}

/* ---- tasks.csv ---- */

void task_driven_results(const struct task_driven *d, struct stats_table *table, const bool *done,
                         ker_time end)
{
    for (uint32_t i = 0; i < d->cores; i++) {
        const struct driven_core *core = &d->core[i];
        ker_time until = done[core->job_number] ? core->finish : end, start = cut(core->begins, until), busy,
                 overhead;
        shares(core, until - start, until, &busy, &overhead);
        struct task_mpi_result row = {.job = core->job_number,
                                      .task = core->task,
                                      .place = task_outside_place(&d->outside, core->job_number, core->task,
                                                                  core->home->node, core->core),
                                      .finish = done[core->job_number] ? core->finish : KER_TIME_MAX,
                                      .compute = busy,
                                      .wait = until - start - busy - overhead,
                                      .messages_sent = core->sent_messages,
                                      .bytes_sent = core->sent_bytes,
                                      .messages_received = core->received_messages,
                                      .bytes_received = core->received_bytes,
                                      .passes = done[core->job_number]};
        stats_table_add(table, &row);
    }
}

/* ---- driven_cores.csv, driven_entries.csv ---- */

struct core_row {
    const struct driven_core *core;
    ker_time elapsed, busy, overhead;
};

struct entry_row {
    const struct driven_sum *sum;
    uint32_t job, entry, number; /* number: of all jobs' entries */
};

static const char *job_text(const void *context, uint32_t job)
{
    return ((const struct task_driven *)context)->job[job].job->name;
}

static const char *entry_text(const void *context, uint32_t number)
{
    const struct task_driven *d = context;
    uint32_t job = 0;
    for (; !d->job[job].program || number >= d->job[job].program->entries; job++)
        number -= d->job[job].program ? d->job[job].program->entries : 0;
    return d->job[job].program->entry[number].name;
}

/* clang-format off */
#define CORE_COLUMNS(COLUMN) \
    COLUMN(job, "", TEXT, SAME, row->core->job_number, "the job's name", .text = job_text) \
    COLUMN(task, "", U32, SAME, row->core->task, "the task of the job that this core is") \
    COLUMN(elapsed_ps, "ps", U64, SAME, row->elapsed, "from the start of the job to the end of the run") \
    COLUMN(busy_ps, "ps", U64, SAME, row->busy, "of it, time in blocks, without overheads of messages") \
    COLUMN(overhead_ps, "ps", U64, SAME, row->overhead, "of it, overheads of messages") \
    COLUMN(blocks, "", U64, SAME, row->core->blocks, "blocks that it has run") \
    COLUMN(queue_max, "blocks", U32, SAME, row->core->most, "the longest its queue has been") \
    COLUMN(queue_mean, "blocks", RATIO, SAME, row->core->queued, \
           "its mean length: the time that blocks were in it, summed, over `elapsed_ps`", \
           .by = "elapsed_ps") \
    COLUMN(local_messages, "messages", U64, SAME, row->core->local, \
           "messages of its objects to each other") \
    COLUMN(passed_on, "messages", U64, SAME, row->core->passed_on, \
           "messages for objects that had left, handed on") \
    COLUMN(objects, "", U32, SAME, row->core->here, "objects on it at the end") \
    COLUMN(objects_came, "", U64, SAME, row->core->came, "objects that moved to it") \
    COLUMN(objects_went, "", U64, SAME, row->core->went, "objects that moved away")
#define ENTRY_COLUMNS(COLUMN) \
    COLUMN(job, "", TEXT, SAME, row->job, "the job's name", .text = job_text) \
    COLUMN(entry, "", TEXT, SAME, row->number, "the entry method", .text = entry_text) \
    COLUMN(count, "", U64, SUM, row->sum->count, "blocks of it that have run") \
    COLUMN(messages, "messages", U64, SUM, row->sum->messages, "messages that these took") \
    COLUMN(time_mean_ps, "ps", MEAN, SUM, row->sum->time, "how long one took, overheads included", \
           .by = "count") \
    COLUMN(time_max_ps, "ps", U64, MOST, row->sum->longest, "the longest") \
    COLUMN(queue_mean_ps, "ps", MEAN, SUM, row->sum->queued, \
           "how long one that was ready waited for its core", .by = "count") \
    COLUMN(queue_max_ps, "ps", U64, MOST, row->sum->queued_longest, "the longest")
/* clang-format on */

static uint64_t core_key(const void *from)
{
    const struct core_row *row = from;
    return (uint64_t)row->core->job_number << 32 | row->core->task;
}

static uint64_t entry_key(const void *from)
{
    const struct entry_row *row = from;
    return (uint64_t)row->job << 32 | row->entry;
}

STATS_SCHEMA(task_driven_cores_schema, struct core_row, CORE_COLUMNS, core_key, "driven_cores",
             "One row for each core of a message-driven job, by job and task.")
STATS_SCHEMA(task_driven_entries_schema, struct entry_row, ENTRY_COLUMNS, entry_key, "driven_entries",
             "One row for each entry method of a message-driven job, by job and entry method.")

static void cores_add(const struct task_driven *d, struct stats_table *table, ker_time end)
{
    for (uint32_t i = 0; i < d->cores; i++) {
        const struct driven_core *core = &d->core[i];
        struct core_row row = {core, end - cut(core->begins, end), 0, 0};
        shares(core, row.elapsed, end, &row.busy, &row.overhead);
        stats_table_add(table, &row);
    }
}

static void entries_add(const struct task_driven *d, struct stats_table *table)
{
    uint32_t number = 0;
    for (uint32_t job = 0; job < d->jobs; job++)
        for (uint32_t e = 0; d->job[job].program && e < d->job[job].program->entries; e++) {
            struct entry_row row = {&d->job[job].entry[e], job, e, number++};
            stats_table_add(table, &row);
        }
}

struct writing {
    struct stats_writer *writer;
};

static void row_write(void *context, const struct stats_table *table, size_t row)
{
    stats_writer_row(((struct writing *)context)->writer, table, row);
}

/* Collective. A table with a key that nobody has asked for may be left out when it is large. */
static enum ker_status table_write(struct stats_table *table, struct ker_comm *comm,
                                   const struct stats_folder *folder, const char *key,
                                   struct ker_error *error)
{
    struct writing to = {NULL};
    enum ker_status status = KER_OK;
    bool control = ker_comm_rank(comm) == 0;
    if (control && !(to.writer = stats_writer_open(table, folder, key, error)))
        status = KER_RUN_FAILED;
    stats_table_show(table, comm, &(struct stats_visitor){row_write, &to});
    enum ker_status closed = stats_writer_close(to.writer, error);
    stats_table_free(table);
    return status ?: closed;
}

enum ker_status task_driven_report(const struct task_driven *d, struct ker_comm *comm, ker_time end,
                                   const struct stats_folder *folder, bool cores, const char *key,
                                   struct ker_error *error)
{
    struct stats_table *table = stats_table_new(&task_driven_entries_schema, d, 0);
    entries_add(d, table);
    enum ker_status status = table_write(table, comm, folder, NULL, error), other = KER_OK;
    if (cores) {
        table = stats_table_new(&task_driven_cores_schema, d, 0);
        cores_add(d, table, end);
        other = table_write(table, comm, folder, key, error);
    }
    return status ?: other;
}

/* ---- what has not finished ---- */

static void open_describe(const struct driven_core *core, const struct driven_record *r,
                          const struct driven_open *o, struct task_mpi_wait *row)
{
    const struct driven_class *class = core->program->class;
    struct driven_block block;
    char buffer[64];
    class->block(core->program, r->object, o->block, o->iteration, &block);
    const char *label = class->label(core->program, r->object, o->block, buffer, sizeof buffer, &row->line);
    snprintf(row->awaited, sizeof row->awaited,
             "block %.60s, iteration %u: %u of %u messages have come, %u of the %u blocks before it are done",
             label, o->iteration, o->arrived, block.messages, o->after, block.after);
}

static void record_describe(const struct driven_core *core, const struct driven_record *r,
                            struct task_mpi_wait *row)
{
    uint32_t blocks = core->program->class->blocks(core->program, r->object), i = r->open;
    while (i && driven_open_at(core->driven, i)->iteration != r->iteration)
        i = driven_open_at(core->driven, i)->next;
    struct driven_open first = {.iteration = r->iteration};
    if (r->waits && core->started)
        snprintf(row->awaited, sizeof row->awaited, "the balance step before iteration %u", r->iteration);
    else if (r->waits)
        snprintf(row->awaited, sizeof row->awaited, "the start of the job");
    else if (i || r->done == 0)
        open_describe(core, r, i ? driven_open_at(core->driven, i) : &first, row);
    else
        snprintf(row->awaited, sizeof row->awaited,
                 "iteration %u: %u of %u blocks are done, nothing has come for the others", r->iteration,
                 r->done, blocks);
}

static bool unfinished(const struct driven_core *core, const struct driven_record *r)
{
    return r->state == DRIVEN_HERE && r->iteration < core->program->iterations;
}

uint64_t task_driven_waiting(const struct task_driven *d, const bool *stuck, struct task_mpi_wait *rows,
                             uint64_t room)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < d->cores; i++) {
        const struct driven_core *core = &d->core[i];
        if (core->job->background || (stuck && !stuck[core->job_number]))
            continue;
        for (uint32_t at = core->first; at; at = driven_record_at(d, at)->next) {
            const struct driven_record *r = driven_record_at(d, at);
            if (!unfinished(core, r) || count++ >= room)
                continue;
            struct task_mpi_wait *row = &rows[count - 1];
            char name[64];
            *row = (struct task_mpi_wait){.job = core->job_number,
                                          .task = core->task,
                                          .node = core->home->node,
                                          .number = r->object,
                                          .since = core->finish};
            snprintf(row->call, sizeof row->call, "%.31s",
                     core->program->class->name(core->program, r->object, name, sizeof name));
            record_describe(core, r, row);
        }
    }
    return count;
}
