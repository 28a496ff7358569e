/* report.c - what processes have done, and what they still wait for. */
#include "tasks/loggops/model.h"

#include <stdlib.h>
#include <string.h>

/* ---- tasks.csv ---- */

struct row {
    struct loggops_system *system;
    const struct loggops_process *process;
    uint32_t job;
};

static const char *job_text(const void *context, uint32_t job)
{
    return ((const struct loggops_system *)context)->job[job].name;
}

static ker_time finish_of(struct loggops_system *s, const struct loggops_process *p)
{
    ker_time finish = s->job[loggops_job_of(s, loggops_rank(s, p))].start;
    for (unsigned cpu = 0; cpu < s->cpus; cpu++)
        finish = *loggops_cpu(s, p, cpu) > finish ? *loggops_cpu(s, p, cpu) : finish;
    return p->done < p->task->ops ? KER_TIME_MAX : finish;
}

static uint32_t task_of(const struct row *row)
{
    return loggops_rank(row->system, row->process) - row->system->job[row->job].first;
}

static uint64_t bytes_of(const struct row *row, enum graph_kind kind, uint64_t *messages)
{
    uint64_t bytes = 0;
    *messages = 0;
    for (uint32_t i = 0; i < row->process->task->ops; i++)
        if (row->process->task->op[i].kind == kind) {
            bytes += row->process->task->op[i].amount;
            ++*messages;
        }
    return bytes;
}

static uint64_t amount_of(const struct row *row, enum graph_kind kind)
{
    uint64_t messages;
    return bytes_of(row, kind, &messages);
}

static uint64_t count_of(const struct row *row, enum graph_kind kind)
{
    uint64_t messages;
    bytes_of(row, kind, &messages);
    return messages;
}

/* clang-format off */
#define PROCESS_COLUMNS(COLUMN) \
    COLUMN(job, "", TEXT, SAME, row->job, "the job's name", .text = job_text) \
    COLUMN(task, "", U32, SAME, task_of(row), "the task's number in it") \
    COLUMN(finish_ps, "ps", TIME, SAME, finish_of(row->system, row->process), \
           "when the last of its cpus became free; empty when not all operations are done") \
    COLUMN(compute_ps, "ps", U64, SUM, amount_of(row, GRAPH_CALCULATION), "calculations of its program") \
    COLUMN(messages_sent, "messages", U64, SUM, count_of(row, GRAPH_SEND), "sends of its program") \
    COLUMN(bytes_sent, "bytes", U64, SUM, amount_of(row, GRAPH_SEND), "their payload") \
    COLUMN(messages_received, "messages", U64, SUM, count_of(row, GRAPH_RECEIVE), "the same, received") \
    COLUMN(bytes_received, "bytes", U64, SUM, amount_of(row, GRAPH_RECEIVE), "their payload")

#define VALUE(name, unit, type, merge, value, ...) STATS_VALUE(struct row, name, value)
PROCESS_COLUMNS(VALUE)
static const struct stats_column columns[] = {PROCESS_COLUMNS(STATS_COLUMN)};
/* clang-format on */

static uint64_t row_key(const void *from)
{
    const struct row *row = from;
    return (uint64_t)row->job << 32 | task_of(row);
}

const struct stats_schema task_loggops_schema = {"tasks", "One row per task, by job and task.", columns,
                                                 sizeof columns / sizeof *columns, row_key};

struct sums {
    int job, finish, messages, bytes; /* columns */
    struct {
        ker_time finish;
        uint64_t messages, bytes;
    } * job_sum;
    struct stats_writer *writer; /* NULL: no file */
};

static void row_show(void *context, const struct stats_table *table, size_t row)
{
    struct sums *sums = context;
    uint32_t job = (uint32_t)stats_table_cell(table, row, sums->job);
    ker_time finish = (ker_time)stats_table_cell(table, row, sums->finish);
    if (finish > sums->job_sum[job].finish)
        sums->job_sum[job].finish = finish;
    sums->job_sum[job].messages += (uint64_t)stats_table_cell(table, row, sums->messages);
    sums->job_sum[job].bytes += (uint64_t)stats_table_cell(table, row, sums->bytes);
    stats_writer_row(sums->writer, table, row);
}

static json_t *jobs_json(const struct loggops_system *s, const struct sums *sums)
{
    json_t *jobs = json_array();
    for (uint32_t i = 0; i < s->jobs; i++)
        json_array_append_new(jobs, json_pack("{s:s, s:I, s:o, s:I, s:I}", "name", s->job[i].name, "tasks",
                                              (json_int_t)s->job[i].tasks, "finish_ps",
                                              sums->job_sum[i].finish == KER_TIME_MAX
                                                  ? json_null()
                                                  : json_integer(sums->job_sum[i].finish),
                                              "messages", (json_int_t)sums->job_sum[i].messages, "bytes",
                                              (json_int_t)sums->job_sum[i].bytes));
    return jobs;
}

json_t *task_loggops_report(struct loggops_system *s, struct ker_comm *comm,
                            const struct stats_folder *folder, bool tasks, const char *key,
                            struct ker_error *error)
{
    struct stats_table *table = stats_table_new(&task_loggops_schema, s, 0);
    for (uint32_t i = 0; s->process && i < s->count; i++) {
        struct row row = {s, &s->process[i], loggops_job_of(s, s->first + i)};
        stats_table_add(table, &row);
    }
    bool control = ker_comm_rank(comm) == 0;
    struct sums sums = {.job = stats_table_find(table, "job", false),
                        .finish = stats_table_find(table, "finish_ps", false),
                        .messages = stats_table_find(table, "messages_sent", false),
                        .bytes = stats_table_find(table, "bytes_sent", false),
                        .job_sum = ker_alloc(s->jobs * sizeof *sums.job_sum)};
    if (control && tasks)
        sums.writer = stats_writer_open(table, folder, key, error);
    stats_table_show(table, comm, &(struct stats_visitor){row_show, &sums});
    stats_writer_close(sums.writer, error);
    stats_table_free(table);
    json_t *jobs = control ? jobs_json(s, &sums) : NULL;
    free(sums.job_sum);
    return jobs;
}

/* ---- what cannot go on ---- */

#define STUCK_ROWS 40

struct stuck {
    uint32_t process, line, peer, tag;
    uint64_t bytes;
    uint8_t what;
};
enum { STUCK_RECEIVE, STUCK_MESSAGE, STUCK_NEVER };

/* Adds a row while there is room; counts all. */
static void stuck_add(struct stuck *rows, uint64_t *count, const struct stuck *row)
{
    if (*count < STUCK_ROWS)
        rows[*count] = *row;
    ++*count;
}

static void process_stuck(struct loggops_system *s, const struct loggops_process *p, struct stuck *rows,
                          uint64_t *count)
{
    uint32_t process = loggops_rank(s, p);
    for (uint32_t i = p->posted.first; i != KER_NONE; i = s->events.at[i].next) {
        const struct graph_op *op = &p->task->op[s->events.at[i].op];
        struct stuck row = {process, op->line, op->peer, op->tag, op->amount, STUCK_RECEIVE};
        stuck_add(rows, count, &row);
    }
    for (uint32_t i = p->unexpected.first; i != KER_NONE; i = s->events.at[i].next) {
        const struct loggops_event *m = &s->events.at[i];
        uint32_t source = m->origin - s->job[loggops_job_of(s, m->origin)].first;
        struct stuck row = {process, 0, source, m->tag, m->bytes, STUCK_MESSAGE};
        stuck_add(rows, count, &row);
    }
    for (uint32_t i = 0; p->done < p->task->ops && i < p->task->ops; i++) {
        const struct graph_op *op = &p->task->op[i];
        struct stuck row = {process, op->line, op->peer, op->tag, op->amount, STUCK_NEVER};
        if (op->before > 0)
            stuck_add(rows, count, &row);
    }
}

static void number_print(FILE *out, const char *what, uint32_t number)
{
    if (number == GRAPH_ANY)
        fprintf(out, " any %s", what);
    else
        fprintf(out, " %s %u", what, number);
}

static void stuck_print(const struct loggops_system *s, const struct stuck *row, FILE *out)
{
    static const char *const begin[] = {
        [STUCK_RECEIVE] = "its receive got no message: from",
        [STUCK_MESSAGE] = "no receive took the message: from",
        [STUCK_NEVER] = "its operation never ran",
    };
    uint32_t job = loggops_job_of(s, row->process);
    fprintf(out, "  job %s, task %u: %s", s->job[job].name, row->process - s->job[job].first,
            begin[row->what]);
    if (row->what != STUCK_NEVER) {
        number_print(out, "task", row->peer);
        fputs(",", out);
        number_print(out, "tag", row->tag);
        fprintf(out, ", %llu bytes", (unsigned long long)row->bytes);
    }
    if (row->what != STUCK_MESSAGE) /* a message does not know who has sent it */
        fprintf(out, s->job[job].graph->numbered ? " (%s, operation %u)" : " (%s:%u)",
                s->job[job].file ? s->job[job].file : "its pattern", row->line);
    fputc('\n', out);
}

char *task_loggops_stuck(struct loggops_system *s, struct ker_comm *comm, uint64_t *most)
{
    struct stuck rows[STUCK_ROWS];
    uint64_t count = 0, unfinished = 0;
    for (uint32_t i = 0; s->process && i < s->count; i++) {
        process_stuck(s, &s->process[i], rows, &count);
        unfinished += s->process[i].done < s->process[i].task->ops;
    }
    size_t own = count < STUCK_ROWS ? (size_t)count : STUCK_ROWS, *offset;
    uint64_t sums[] = {count, unfinished};
    ker_comm_sum_u64(comm, sums, 2);
    *most = sums[0] + sums[1];
    if (!*most)
        return NULL;
    void *all;
    ker_comm_gather(comm, rows, own * sizeof *rows, &all, &offset);
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (ker_comm_rank(comm) == 0) {
        size_t there = offset[ker_comm_size(comm)] / sizeof *rows,
               shown = there < STUCK_ROWS ? there : STUCK_ROWS;
        for (size_t i = 0; i < shown; i++)
            stuck_print(s, (const struct stuck *)all + i, out);
        if (sums[0] > shown)
            fprintf(out, "  and %llu more\n", (unsigned long long)(sums[0] - shown));
    }
    fclose(out);
    free(all);
    free(offset);
    return text;
}
