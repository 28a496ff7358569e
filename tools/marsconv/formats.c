/* formats.c - the formats, and what all of them have in common. */
#include "tools/marsconv/conv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct conv_format *const formats[] = {&conv_mars,    &conv_allprof,  &conv_simgrid, &conv_otf2,
                                                    &conv_dimemas, &conv_schedule, NULL};

const struct conv_format *conv_format_get(unsigned number)
{
    return formats[number];
}

const struct conv_format *conv_format_of(const char *path)
{
    for (unsigned i = 0; formats[i]; i++)
        if (formats[i]->known(path))
            return formats[i];
    return NULL;
}

bool conv_open(struct conv_source *source, const char *path, const struct conv_options *options,
               struct mars_error *error)
{
    *source = (struct conv_source){.path = path, .options = options, .format = conv_format_of(path)};
    if (!source->format)
        return access(path, F_OK) != 0
                   ? mars_fail(error, "%s: %s", path, strerror(errno))
                   : mars_fail(error,
                               "%s: it is no trace of a known format (or no regular file at all); marsconv "
                               "--help lists them",
                               path);
    bool fine = !options->keys || source->format->keys
                    ? source->format->open(source, error)
                    : mars_fail(error, "%s: --key %s means nothing in a trace of the format %s", path,
                                options->key[0], source->format->name);
    if (!fine) {
        source->format->close(source);
        source->format = NULL;
        return false;
    }
    const char *warning;
    for (uint32_t i = 0; (warning = source->format->warning(source, i)); i++)
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

bool conv_fail(const struct conv_task *task, const struct conv_record *record, struct mars_error *error,
               const char *format, ...)
{
    char text[256], place[CONV_PLACE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return mars_fail(error, "%s (%s): %s", conv_place(task, record->number, place),
                     record->call.function->name, text);
}
