/* allprof_scan.c - what a file says about communicators: the calls that make and free them, and between two of these the
 * first use of each handle. That is all that is needed to tell which handle is which communicator, and little enough
 * to be sent to every rank.
 */
#include "tasks/allprof.h"

#include <stdlib.h>
#include <string.h>

uint32_t allprof_seen_find(struct allprof_seen *seen, const struct allprof_group *group, bool *is_new)
{
    *is_new = false;
    for (uint32_t i = 0; i < seen->count; i++) {
        const struct allprof_group *known = &seen->group[i];
        if (known->handle != group->handle || known->rank != group->rank || known->size != group->size)
            continue;
        if (i > 0) { /* frequent ones move to the front */
            struct allprof_group other = seen->group[i - 1];
            uint32_t mark = seen->mark[i];
            seen->group[i - 1] = *group;
            seen->group[i] = other;
            seen->mark[i] = seen->mark[i - 1];
            seen->mark[i - 1] = mark;
            return i - 1;
        }
        return i;
    }
    if (seen->count == seen->room) {
        seen->room = seen->room ? 2 * seen->room : 8;
        seen->group = ker_realloc(seen->group, seen->room * sizeof *seen->group);
        seen->mark = ker_realloc(seen->mark, seen->room * sizeof *seen->mark);
    }
    *is_new = true;
    seen->group[seen->count] = *group;
    seen->mark[seen->count] = 0;
    return seen->count++;
}

static struct allprof_event *event_add(struct allprof_events *events, unsigned kind, uint32_t line)
{
    if (events->count == events->room) {
        events->room = events->room ? 2 * events->room : 16;
        events->event = ker_realloc(events->event, events->room * sizeof *events->event);
    }
    struct allprof_event *event = &events->event[events->count++];
    memset(event, 0, sizeof *event);
    event->kind = (uint8_t)kind;
    event->line = line;
    event->comm = -1;
    return event;
}

static void line_scan(struct allprof_events *events, struct allprof_seen *seen, const struct allprof_args *args,
                      uint32_t line)
{
    if (args->call->kind == ALLPROF_COMM_NEW || args->call->kind == ALLPROF_COMM_FREE) {
        bool is_free = args->call->kind == ALLPROF_COMM_FREE;
        struct allprof_event *event = event_add(events, is_free ? ALLPROF_EVENT_FREE : ALLPROF_EVENT_NEW, line);
        event->variable = args->variable;
        event->group = args->group;
        event->colour = (int32_t)args->colour;
        event->key = (int32_t)args->key;
        event->create = args->call->mode;
        seen->count = 0;
    } else if (args->has_group) {
        bool is_new;
        allprof_seen_find(seen, &args->group, &is_new);
        if (is_new)
            event_add(events, ALLPROF_EVENT_USE, line)->group = args->group;
    }
}

enum ker_status allprof_scan(struct allprof_events *events, const char *folder, uint32_t task, struct ker_error *error)
{
    struct allprof_file *file;
    enum ker_status status = allprof_file_open(&file, folder, task, error);
    if (status != KER_OK)
        return status;
    struct allprof_seen seen = {0};
    struct allprof_frame frame = {0};
    struct allprof_args args;
    bool filled, ended = false;
    while (status == KER_OK && !ended) {
        status = allprof_frame_next(&frame, file, &args, &filled, &ended, error);
        if (status == KER_OK && filled)
            line_scan(events, &seen, &args, allprof_file_number(file));
    }
    allprof_file_close(file);
    free(seen.group);
    free(seen.mark);
    return status;
}
