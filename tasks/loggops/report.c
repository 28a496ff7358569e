/* report.c - what processes have done, and what they still wait for. */
#include "tasks/loggops/model.h"

#include <stdlib.h>
#include <string.h>

/* ---- tasks.csv ---- */

struct row {
    struct loggops_system *system;
    const struct loggops_process *process;
    uint32_t job;
    struct {
        uint64_t count, amount;
    } of[3]; /* its program, by enum graph_kind */
};

static const char *job_text(const void *context, uint32_t job)
{
    return ((const struct loggops_system *)context)->job[job].name;
}

static uint32_t task_of(const struct row *row)
{
    return loggops_rank(row->system, row->process) - row->system->job[row->job].first;
}

static struct row row_of(struct loggops_system *s, const struct loggops_process *p)
{
    struct row row = {s, p, p->job, {{0, 0}}};
    uint32_t ops = loggops_ops(s, p);
    for (uint32_t i = 0; i < ops; i++) {
        struct graph_op room;
        const struct graph_op *op = loggops_op(s, p, i, &room);
        row.of[op->kind].count++;
        row.of[op->kind].amount += op->amount;
    }
    return row;
}

/* clang-format off */
#define PROCESS_COLUMNS(COLUMN) \
    COLUMN(job, "", TEXT, SAME, row->job, "the job's name", .text = job_text) \
    COLUMN(task, "", U32, SAME, task_of(row), "the task's number in it") \
    COLUMN(finish_ps, "ps", TIME, SAME, loggops_finish(row->system, row->process), \
           "when the last of its cpus became free; empty when not all operations are done") \
    COLUMN(compute_ps, "ps", U64, SUM, row->of[GRAPH_CALCULATION].amount, "calculations of its program") \
    COLUMN(messages_sent, "messages", U64, SUM, row->of[GRAPH_SEND].count, "sends of its program") \
    COLUMN(bytes_sent, "bytes", U64, SUM, row->of[GRAPH_SEND].amount, "their payload") \
    COLUMN(messages_received, "messages", U64, SUM, row->of[GRAPH_RECEIVE].count, "the same, received") \
    COLUMN(bytes_received, "bytes", U64, SUM, row->of[GRAPH_RECEIVE].amount, "their payload")
/* clang-format on */

static uint64_t row_key(const void *from)
{
    const struct row *row = from;
    return (uint64_t)row->job << 32 | task_of(row);
}

STATS_SCHEMA(task_loggops_schema, struct row, PROCESS_COLUMNS, row_key, "tasks",
             "One row per task, by job and task.")

/* What its cpus have computed by then: of what they do beyond that, not the rest. */
static ker_time computed(const struct loggops_system *s, uint32_t index, ker_time at)
{
    ker_time compute = s->records->of[index].compute;
    for (unsigned cpu = 0; cpu < s->cpus; cpu++) {
        const struct loggops_record_cpu *c = &s->records->cpu[(size_t)index * s->cpus + cpu];
        compute -= c->computes && c->until > at ? c->until - at : 0;
    }
    return compute;
}

void loggops_results(struct loggops_system *s, struct stats_table *table, ker_time at)
{
    for (uint32_t i = 0; s->process && i < s->count; i++) {
        const struct loggops_process *p = &s->process[i];
        if (loggops_is_program(s, p))
            continue;
        const struct loggops_record *own = &s->records->of[i];
        uint32_t task = loggops_rank(s, p) - s->job[p->job].first;
        struct task_mpi_result result = {.job = p->job,
                                         .task = task,
                                         .place = task_jobs_place(s->all, p->job, task),
                                         .finish = loggops_finish(s, p),
                                         .compute = computed(s, i, at),
                                         .wait = own->wait,
                                         .messages_sent = own->messages_sent,
                                         .bytes_sent = own->bytes_sent,
                                         .messages_received = own->messages_received,
                                         .bytes_received = own->bytes_received};
        result.passes = result.finish < KER_TIME_MAX;
        stats_table_add(table, &result);
    }
}

struct sums {
    uint64_t messages, bytes;
};

static json_t *jobs_json(const struct loggops_system *s, const struct sums *sum, const ker_time *finish)
{
    json_t *jobs = json_array();
    for (uint32_t i = 0; i < s->jobs; i++)
        json_array_append_new(
            jobs, json_pack("{s:s, s:I, s:o, s:I, s:I}", "name", s->job[i].name, "tasks",
                            (json_int_t)s->job[i].tasks, "finish_ps",
                            finish[i] == KER_TIME_MAX ? json_null() : json_integer(finish[i]), "messages",
                            (json_int_t)sum[i].messages, "bytes", (json_int_t)sum[i].bytes));
    return jobs;
}

json_t *task_loggops_report(struct loggops_system *s, const struct route_topology *topology,
                            struct ker_comm *comm, const struct stats_folder *folder, bool tasks,
                            const char *key, struct ker_error *error)
{
    if (!s->programs && !s->records) /* nothing looks at events any more, and the table wants their memory */
        KER_POOL_RELEASE(&s->events);
    struct stats_table *table = stats_table_new(&task_loggops_schema, s, 0);
    struct sums *sum = ker_alloc(s->jobs * sizeof *sum);
    ker_time *finish = ker_alloc(s->jobs * sizeof *finish);
    for (uint32_t i = 0; s->process && i < s->count; i++) {
        struct row row = row_of(s, &s->process[i]);
        sum[row.job].messages += row.of[GRAPH_SEND].count;
        sum[row.job].bytes += row.of[GRAPH_SEND].amount;
        finish[row.job] = loggops_later(finish[row.job], loggops_finish(s, row.process));
        if (tasks)
            stats_table_add(table, &row);
    }
    ker_comm_sum_u64(comm, &sum->messages, 2 * (size_t)s->jobs);
    ker_comm_max_i64(comm, finish, s->jobs);
    if (tasks)
        stats_table_show_file(table, comm, folder, key, error);
    stats_table_free(table);
    json_t *jobs = ker_comm_rank(comm) == 0 ? jobs_json(s, sum, finish) : NULL;
    if (s->records && s->records->most)
        loggops_path(s, topology, comm, folder, jobs, error);
    free(sum);
    free(finish);
    return jobs;
}

json_t *task_loggops_unlike(const struct loggops_system *s, struct ker_comm *comm)
{
    uint64_t count[LOGGOPS_FAULTS];
    memcpy(count, s->unlike, sizeof count);
    ker_comm_sum_u64(comm, count, LOGGOPS_FAULTS);
    if (ker_comm_rank(comm) != 0 || s->programs || s->set.rendezvous != LOGGOPS_INSTANT)
        return NULL;
    json_t *unlike = NULL;
    for (int i = 0; i < LOGGOPS_FAULTS; i++) {
        if (count[i] && !unlike)
            unlike = json_object();
        if (count[i])
            json_object_set_new(unlike, loggops_faults[i], json_integer((json_int_t)count[i]));
    }
    return unlike;
}

/* ---- what cannot continue ---- */

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

/* Operations that still wait for others. Of a pattern those are known of which something has been done. */
static void never_add(struct loggops_system *s, const struct loggops_process *p, struct stuck *rows,
                      uint64_t *count)
{
    uint32_t process = loggops_rank(s, p);
    for (uint32_t i = 0; p->task && p->done < p->task->ops && i < p->task->ops; i++) {
        const struct graph_op *op = &p->task->op[i];
        struct stuck row = {process, op->line, op->peer, op->tag, op->amount, STUCK_NEVER};
        if (op->before > 0)
            stuck_add(rows, count, &row);
    }
    for (uint32_t i = p->left; i != KER_NONE; i = s->left.at[i].next) {
        struct stuck row = {.process = process, .line = s->left.at[i].op, .what = STUCK_NEVER};
        stuck_add(rows, count, &row);
    }
}

static void process_stuck(struct loggops_system *s, const struct loggops_process *p, struct stuck *rows,
                          uint64_t *count)
{
    if (!loggops_unfinished(s, p) && s->set.faults & LOGGOPS_OWN_SIZES)
        return;
    uint32_t process = loggops_rank(s, p), count_of, *items = loggops_match_left(s, p, false, &count_of);
    for (uint32_t i = 0; i < count_of; i++) {
        const struct loggops_posted *r = &s->posted.at[items[i]];
        struct graph_op room;
        const struct graph_op *op = loggops_op(s, p, r->op, &room);
        struct stuck row = {process, op->line, op->peer, op->tag, op->amount, STUCK_RECEIVE};
        stuck_add(rows, count, &row);
    }
    free(items);
    items = loggops_match_left(s, p, true, &count_of);
    for (uint32_t i = 0; i < count_of; i++) {
        const struct loggops_event *m = loggops_event_at(s, items[i]);
        uint32_t source = m->origin - s->job[p->job].first;
        struct stuck row = {process, 0, source, m->tag, m->bytes, STUCK_MESSAGE};
        stuck_add(rows, count, &row);
    }
    free(items);
    never_add(s, p, rows, count);
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
        fprintf(out, !s->job[job].graph || s->job[job].graph->numbered ? " (%s, operation %u)" : " (%s:%u)",
                s->job[job].file ? s->job[job].file : "its pattern", row->line);
    fputc('\n', out);
}

/* Is it a task of a schedule that the run waits for? */
static bool schedule_counts(const struct loggops_system *s, const struct loggops_process *p)
{
    return !loggops_is_program(s, p) && !s->job[p->job].background;
}

struct moving {
    const struct loggops_system *system;
    uint64_t *by_job;
};

static void moving_add(void *context, uint32_t event)
{
    const struct moving *m = context;
    m->by_job[m->system->process[m->system->events.at[event].process].job]++;
}

uint32_t task_loggops_halted(struct loggops_system *s, struct ker_comm *comm)
{
    uint64_t *moving = ker_alloc(2 * (size_t)s->jobs * sizeof *moving), *unfinished = moving + s->jobs;
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->jobs; i++)
        moving[i] = s->job[i].under_way;
    for (uint32_t i = 0; s->process && i < s->count; i++) {
        const struct loggops_process *p = &s->process[i];
        if (schedule_counts(s, p))
            unfinished[p->job] += loggops_unfinished(s, p);
        if (i == 0 || !s->together)
            loggops_queue_each(s, s->group[i].queue, moving_add, &(struct moving){s, moving});
    }
    ker_comm_sum_u64(comm, moving, 2 * (size_t)s->jobs);
    for (uint32_t i = 0; i < s->jobs; i++) {
        s->job[i].halted = unfinished[i] > 0 && moving[i] == 0;
        count += s->job[i].halted;
    }
    free(moving);
    return count;
}

uint64_t task_loggops_unfinished(const struct loggops_system *s)
{
    uint64_t count = 0;
    for (uint32_t i = 0; s->process && i < s->count; i++)
        count += schedule_counts(s, &s->process[i]) && loggops_unfinished(s, &s->process[i]);
    return count;
}

char *task_loggops_stuck(struct loggops_system *s, struct ker_comm *comm, uint64_t *count)
{
    struct stuck rows[STUCK_ROWS];
    uint64_t found = 0, unfinished = 0;
    bool halted = false; /* then only what these have left */
    for (uint32_t i = 0; i < s->jobs; i++)
        halted |= s->job[i].halted;
    for (uint32_t i = 0; s->process && i < s->count; i++) {
        if (!schedule_counts(s, &s->process[i]) || (halted && !s->job[s->process[i].job].halted))
            continue;
        process_stuck(s, &s->process[i], rows, &found);
        unfinished += loggops_unfinished(s, &s->process[i]);
    }
    size_t own = found < STUCK_ROWS ? (size_t)found : STUCK_ROWS, *offset;
    uint64_t sums[] = {found, unfinished};
    ker_comm_sum_u64(comm, sums, 2);
    *count = sums[0] + sums[1];
    if (!*count)
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
