/* list.c - a trace as text. */
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

static void map_print(FILE *to, uint32_t task, uint32_t number, const struct mars_map *map)
{
    fprintf(to, "%u map of datatype %u:", task, number);
    for (uint32_t i = 0; i < map->runs; i++) {
        const struct mars_map_run *r = &map->run[i];
        fprintf(to, " %llu at %lld", (unsigned long long)r->bytes, (long long)r->offset);
        if (r->count > 1)
            fprintf(to, " x %llu by %lld", (unsigned long long)r->count, (long long)r->stride);
        if (r->outer > 1)
            fprintf(to, " x %llu by %lld", (unsigned long long)r->outer, (long long)r->outer_stride);
    }
    fputc('\n', to);
}

static void definitions_print(FILE *to, const struct mars_task *task)
{
    for (uint32_t i = 0; i < task->infos; i++)
        fprintf(to, "%u %s=%s\n", task->number, task->info[i].key, task->info[i].value);
    for (uint32_t i = 0; i < task->comms; i++)
        if (task->comm[i])
            comm_print(to, task->number, i, task->comm[i]);
    for (uint32_t i = 0; i < task->types; i++)
        if (task->type[i])
            fprintf(to, "%u datatype %u size=%llu extent=%lld combiner=%d %s\n", task->number, i,
                    (unsigned long long)task->type[i]->size, (long long)task->type[i]->extent,
                    task->type[i]->combiner, task->type[i]->name);
    for (uint32_t i = 0; i < task->maps; i++)
        if (task->map[i])
            map_print(to, task->number, i, task->map[i]);
    for (uint32_t i = 0; i < task->ops; i++)
        if (task->op[i])
            fprintf(to, "%u operation %u%s %s\n", task->number, i,
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

static void record_print(FILE *to, const struct mars_task *task, uint32_t thread, uint64_t start_ns,
                         const struct mars_record *record)
{
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

static void task_print(FILE *to, struct mars_trace *trace, uint32_t number, struct mars_error *error)
{
    struct mars_task *task;
    struct mars_record record;
    if (!mars_task_open(&task, trace, number, error))
        return;
    definitions_print(to, task);
    for (uint32_t thread = 0; thread < task->threads && !error->text[0]; thread++) {
        struct mars_stream *stream;
        if (!mars_stream_open(&stream, task, thread, error))
            break;
        uint64_t start = 0;
        while (mars_stream_next(stream, &record, error)) {
            record_print(to, task, thread, start + record.gap_ns, &record);
            start = mars_stream_elapsed_ns(stream);
        }
        mars_stream_close(stream);
    }
    mars_task_close(task);
}

int trc_list(const char *path, const char *to)
{
    struct mars_error error = {0};
    struct mars_trace *trace = NULL;
    FILE *file = NULL;
    if (mars_trace_open(&trace, path, &error) && !(file = to ? fopen(to, "w") : stdout))
        mars_fail(&error, "%s: %s", to, strerror(errno));
    if (file) {
        fputs("# task.thread, ns since the first computation, call; gap: ns of computation before it, away: "
              "of\n"
              "# that not on a processor, time: ns of the call; polls: calls folded, rest: ns between them\n",
              file);
        for (uint32_t i = 0; i < mars_trace_tasks(trace) && !error.text[0]; i++)
            task_print(file, trace, i, &error);
        if (fflush(file) != 0 || ferror(file))
            mars_fail(&error, "%s: %s", to ? to : "standard output", strerror(errno));
        if (to)
            fclose(file);
    }
    return trc_end(trace, &error);
}
