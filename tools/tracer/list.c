/* list.c - a trace as text, and as a profile. */
#define _GNU_SOURCE
#include "tools/tracer/marstrace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int trc_end(struct mars_trace *trace, const struct mars_error *error)
{
    const char *warning;
    for (uint32_t i = 0; trace && (warning = mars_trace_warning(trace, i)); i++)
        fprintf(stderr, "marstrace: warning: %s\n", warning);
    mars_trace_close(trace);
    if (!error->text[0])
        return 0;
    fprintf(stderr, "marstrace: error: %s\n", error->text);
    return 2;
}

static FILE *output(const char *to, struct mars_error *error)
{
    FILE *file = to ? fopen(to, "w") : stdout;
    if (!file)
        mars_fail(error, "%s: %s", to, strerror(errno));
    return file;
}

static void output_end(FILE *file, const char *to, struct mars_error *error)
{
    if (file && (fflush(file) != 0 || ferror(file)))
        mars_fail(error, "%s: %s", to ? to : "standard output", strerror(errno));
    if (file && file != stdout)
        fclose(file);
}

/* What is done with each record of a task. */
struct walk {
    FILE *to;
    struct sum {
        const struct mars_function *function;
        uint64_t calls, bytes, ns;
    } * sum;
    uint32_t sums;
    void (*begin)(struct walk *, const struct mars_task *);
    void (*each)(struct walk *, const struct mars_task *, uint32_t thread, uint64_t start_ns,
                 const struct mars_record *);
    void (*end)(struct walk *, const struct mars_task *);
};

static bool walk_task(struct walk *walk, struct mars_trace *trace, uint32_t number, struct mars_error *error)
{
    struct mars_task *task;
    struct mars_record record;
    if (!mars_task_open(&task, trace, number, error))
        return false;
    if (walk->begin)
        walk->begin(walk, task);
    for (uint32_t thread = 0; thread < task->threads && !error->text[0]; thread++) {
        struct mars_stream *stream;
        if (!mars_stream_open(&stream, task, thread, error))
            break;
        uint64_t start = 0;
        while (mars_stream_next(stream, &record, error)) {
            walk->each(walk, task, thread, start + record.gap_ns, &record);
            start = mars_stream_elapsed_ns(stream);
        }
        mars_stream_close(stream);
    }
    if (walk->end && !error->text[0])
        walk->end(walk, task);
    mars_task_close(task);
    return !error->text[0];
}

static int walk_all(struct walk *walk, const char *path, const char *to, const char *first)
{
    struct mars_error error = {0};
    struct mars_trace *trace = NULL;
    if (mars_trace_open(&trace, path, &error) && (walk->to = output(to, &error))) {
        fputs(first, walk->to);
        for (uint32_t i = 0; i < mars_trace_tasks(trace) && walk_task(walk, trace, i, &error); i++)
            ;
        output_end(walk->to, to, &error);
    }
    free(walk->sum);
    return trc_end(trace, &error);
}

/* ---- as text ---- */

static void ranks_print(FILE *to, const char *name, const struct mars_ranks *ranks)
{
    fprintf(to, " %s=[", name);
    for (uint32_t i = 0; i < ranks->runs; i++) {
        uint32_t end = i + 1 < ranks->runs ? ranks->run[i + 1].start : ranks->count;
        uint32_t count = end - ranks->run[i].start;
        fprintf(to, "%s%d", i ? "," : "", ranks->run[i].first);
        if (count > 1)
            fprintf(to, "..%d", mars_rank_at(ranks, end - 1));
        if (count > 1 && ranks->run[i].step != 1)
            fprintf(to, ":%d", ranks->run[i].step);
    }
    fputc(']', to);
}

static void comm_print(FILE *to, uint32_t task, uint32_t number, const struct mars_comm *comm)
{
    static const char *const topologies[] = {"", " cart", " graph", " dist_graph"};
    fprintf(to, "%u communicator %u id=%016llx size=%u rank=%d from=%u%s%s", task, number,
            (unsigned long long)comm->id, comm->member.count, comm->rank, comm->parent,
            topologies[comm->topology & 3], comm->inter ? " inter" : "");
    ranks_print(to, "members", &comm->member);
    if (comm->inter)
        ranks_print(to, "remote", &comm->remote);
    if (comm->topology != MARS_PLAIN) {
        fprintf(to, " in=%u out=%u", comm->in, comm->out);
        ranks_print(to, "neighbours", &comm->neighbour);
        ranks_print(to, "dims", &comm->dims);
    }
    fputc('\n', to);
}

static void definitions_print(struct walk *walk, const struct mars_task *task)
{
    for (uint32_t i = 0; i < task->infos; i++)
        fprintf(walk->to, "%u %s=%s\n", task->number, task->info[i].key, task->info[i].value);
    for (uint32_t i = 0; i < task->comms; i++)
        if (task->comm[i])
            comm_print(walk->to, task->number, i, task->comm[i]);
    for (uint32_t i = 0; i < task->types; i++)
        if (task->type[i])
            fprintf(walk->to, "%u datatype %u size=%llu extent=%lld combiner=%d %s\n", task->number, i,
                    (unsigned long long)task->type[i]->size, (long long)task->type[i]->extent,
                    task->type[i]->combiner, task->type[i]->name);
    for (uint32_t i = 0; i < task->ops; i++)
        if (task->op[i])
            fprintf(walk->to, "%u operation %u%s %s\n", task->number, i,
                    task->op[i]->commutes ? "" : " does not commute", task->op[i]->name);
}

static void value_print(FILE *to, const struct mars_function_field *field, const struct mars_value *value)
{
    if (field->storage == MARS_TEXT) {
        fprintf(to, " %s=\"", field->name);
        for (uint32_t i = 0; i < value->count; i++)
            fputc((unsigned char)value->text[i] < ' ' ? '?' : value->text[i], to);
        fputc('"', to);
    } else if (field->storage == MARS_LIST) {
        fprintf(to, " %s=[", field->name);
        for (uint32_t i = 0; i < value->count; i++)
            fprintf(to, i ? ",%lld" : "%lld", (long long)value->list[i]);
        fputc(']', to);
    } else {
        fprintf(to, " %s=%lld", field->name, (long long)value->number);
    }
}

static void record_print(struct walk *walk, const struct mars_task *task, uint32_t thread, uint64_t start_ns,
                         const struct mars_record *record)
{
    FILE *to = walk->to;
    fprintf(to, "%u.%u %llu %s gap=%llu", task->number, thread, (unsigned long long)start_ns,
            record->function->name, (unsigned long long)record->gap_ns);
    if (record->away_ns)
        fprintf(to, " away=%llu", (unsigned long long)record->away_ns);
    fprintf(to, " time=%llu", (unsigned long long)record->duration_ns);
    if (record->polls > 1)
        fprintf(to, " polls=%llu rest=%llu", (unsigned long long)record->polls,
                (unsigned long long)record->rest_ns);
    for (uint32_t i = 0; i < task->counters; i++)
        fprintf(to, i ? ",%llu" : " counted=%llu", (unsigned long long)record->counted[i]);
    for (uint32_t i = 0; i < record->function->fields; i++)
        value_print(to, &record->function->field[i], &record->value[i]);
    fputc('\n', to);
}

int trc_list(const char *trace, const char *to)
{
    struct walk walk = {.begin = definitions_print, .each = record_print};
    return walk_all(
        &walk, trace, to,
        "# task.thread, ns since the first computation, call; gap: ns of computation before it, away: of\n"
        "# that not on a processor, time: ns of the call; polls: calls folded, rest: ns between them\n");
}

/* ---- as a profile ---- */

/* Refused calls are of functions of their own, with the same names. */
static bool same_name(const struct mars_function *one, const struct mars_function *other)
{
    return one == other ||
           (one->at[MARS_FIELD_error] != other->at[MARS_FIELD_error] && strcmp(one->name, other->name) == 0);
}

static void record_count(struct walk *walk, const struct mars_task *task, uint32_t thread, uint64_t start_ns,
                         const struct mars_record *record)
{
    uint32_t i = 0;
    (void)thread;
    (void)start_ns;
    if (!walk->sum) {
        walk->sum = calloc(task->functions + 1, sizeof *walk->sum);
        if (!walk->sum)
            return;
    }
    while (i < walk->sums && !same_name(walk->sum[i].function, record->function))
        i++;
    if (i == walk->sums)
        walk->sum[walk->sums++].function = record->function;
    walk->sum[i].calls += record->polls;
    walk->sum[i].bytes += record->polls * mars_record_bytes(record);
    walk->sum[i].ns += record->duration_ns;
}

static void profile_print(struct walk *walk, const struct mars_task *task)
{
    for (uint32_t i = 0; i < walk->sums; i++) {
        const struct sum *sum = &walk->sum[i];
        fprintf(walk->to, "%u,%s,%llu,%llu,%llu\n", task->number, sum->function->name,
                (unsigned long long)sum->calls, (unsigned long long)sum->bytes, (unsigned long long)sum->ns);
    }
    free(walk->sum);
    walk->sum = NULL;
    walk->sums = 0;
}

int trc_profile(const char *trace, const char *to)
{
    struct walk walk = {.each = record_count, .end = profile_print};
    return walk_all(&walk, trace, to, "task,function,calls,bytes,time_ns\n");
}
