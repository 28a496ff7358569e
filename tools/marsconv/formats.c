/* formats.c - the formats, and what all of them have in common. */
#include "tools/marsconv/conv.h"

#include "tasks/jobs/jobs.h"
#include "traces/foreign/foreign.h"

#include <stdio.h>
#include <string.h>

#define FAMILY "jobs[].format"

/* Those with readers of their own, which know more of a call than the simulator needs. */
static const struct conv_format *const formats[] = {&conv_mars, &conv_schedule, NULL};

static const struct conv_format *reader_of(const struct ker_kind *kind)
{
    const struct conv_format *const *format = formats;
    if (((const struct trace_format *)kind->operations)->foreign)
        return &conv_foreign;
    while (*format && strcmp((*format)->name, kind->name) != 0)
        format++;
    return *format;
}

static struct ker_registry *registry_new(void)
{
    return ker_registry_new((const struct ker_option *const[]){task_job_options, NULL});
}

void conv_formats_list(FILE *to)
{
    struct ker_registry *registry = registry_new();
    const struct ker_kind *kind;
    for (size_t i = 0; (kind = ker_registry_kind(registry, FAMILY, i)); i++)
        if (reader_of(kind))
            fprintf(to, "  %-12s%s\n", kind->name, kind->meaning);
    ker_registry_free(registry);
}

bool conv_find(struct conv_source *source, const char *path, const struct conv_options *options,
               struct mars_error *error)
{
    struct ker_registry *registry = registry_new();
    struct ker_error wrong = {.status = KER_OK};
    const char *name = NULL;
    for (unsigned i = 0; i < options->keys; i++)
        if (strncmp(options->key[i], "format=", 7) == 0)
            name = options->key[i] + 7;
    const struct ker_kind *kind =
        name ? ker_registry_find(registry, FAMILY, name, NULL) : trace_format_find(registry, path, &wrong);
    *source = (struct conv_source){.path = path, .options = options};
    if (kind) {
        source->name = kind->name;
        source->foreign = ((const struct trace_format *)kind->operations)->foreign;
        source->format = reader_of(kind);
    }
    ker_registry_free(registry);
    if (!kind && !name)
        return mars_fail(error, "%s", wrong.text);
    if (!source->format)
        return mars_fail(error, "%s: marsconv reads no traces of the format %s", path,
                         name ? name : source->name);
    source->untimed = source->foreign ? !source->foreign->times : source->format->untimed;
    return true;
}

bool conv_open(struct conv_source *source, const char *path, const struct conv_options *options,
               struct mars_error *error)
{
    if (!conv_find(source, path, options, error))
        return false;
    bool keyed = options->keys && strncmp(options->key[0], "format=", 7) != 0;
    bool fine = !keyed || source->format->keys
                    ? source->format->open(source, error)
                    : mars_fail(error, "%s: --key %s means nothing in a trace of the format %s", path,
                                options->key[0], source->name);
    if (!fine) {
        source->format->close(source);
        source->format = NULL;
        return false;
    }
    const char *warning;
    for (uint32_t i = 0; source->format->warning && (warning = source->format->warning(source, i)); i++)
        fprintf(stderr, "marsconv: warning: %s\n", warning);
    return true;
}

void conv_close(struct conv_source *source)
{
    if (source->format)
        source->format->close(source);
}

bool conv_task_open(struct conv_task *task, struct conv_source *source, uint32_t number,
                    struct mars_error *error)
{
    *task = (struct conv_task){.source = source};
    return source->format->task_open(task, number, error);
}

void conv_task_close(struct conv_task *task)
{
    if (task->source)
        task->source->format->task_close(task);
    *task = (struct conv_task){0};
}

bool conv_thread_open(struct conv_task *task, uint32_t thread, struct mars_error *error)
{
    task->thread = thread == CONV_ALL ? 0 : thread;
    task->number = 0;
    return task->source->format->thread_open(task, thread, error);
}

bool conv_next(struct conv_task *task, struct conv_record *record, struct mars_error *error)
{
    record->added = record->assumed = false;
    record->over_ns = 0;
    record->thread = task->thread;
    if (!task->source->format->next(task, record, error))
        return false;
    task->thread = record->thread;
    task->number = record->number;
    return true;
}

const char *conv_place(const struct conv_task *task, uint64_t number, char room[CONV_PLACE])
{
    task->source->format->place(task, number, room, CONV_PLACE);
    return room;
}
