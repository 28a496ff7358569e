/* allprof_read.c - traces of liballprof, read: a folder with one text file per task.
 *
 * All files are read once to know the communicators, which only all of them together tell; what their lines
 * become in the replay is kept in a few bytes each, beyond 64 MiB in a temporary file. Then each is read
 * again, line by line.
 */
#include "tools/marsconv/allprof.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY (UINT64_C(64) << 20)
#define POLL_GAP (10 * KER_US) /* as jobs[].poll_gap is by default */

static enum ker_status files_read(struct conv_source *source, struct allprof_events *events,
                                  struct allprof_tallies *tallies)
{
    struct apc_trace *trace = source->own;
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; i < source->tasks && status == KER_OK; i++) {
        struct allprof_scan scan = {0};
        struct task_taken taken;
        trace->file[i].code.store = &trace->store;
        status =
            allprof_parse(&trace->file[i].code, &taken, &scan, &trace->rules, source->path, i, &trace->error);
        events[i] = scan.events;
        tallies[i] = scan.tallies;
        trace->file[i].event = scan.events.event;
        trace->file[i].events = scan.events.count;
    }
    return status ? status : trace_store_status(&trace->store, &trace->error);
}

static enum ker_status comms_find(struct conv_source *source, struct allprof_events *events,
                                  const struct allprof_tallies *tallies)
{
    struct apc_trace *trace = source->own;
    bool lacks = false;
    enum ker_status status = allprof_comms_resolve(&trace->comms, events, NULL, source->tasks, source->path,
                                                   &lacks, &trace->error);
    if (lacks)
        status = allprof_comms_resolve(&trace->comms, events, tallies, source->tasks, source->path, &lacks,
                                       &trace->error);
    source->found = status != KER_OK;
    return status;
}

static bool allprof_open(struct conv_source *source, struct mars_error *error)
{
    struct apc_trace *trace = ker_alloc(sizeof *trace);
    source->own = trace;
    trace->rules = (struct allprof_rules){.mpich = source->options->mpich, .poll_gap = POLL_GAP};
    trace_store_init(&trace->store, MEMORY, allprof_form);
    enum ker_status status = allprof_folder_count(source->path, &source->tasks, &trace->error);
    if (status != KER_OK)
        return mars_fail(error, "%s", trace->error.text);
    trace->file = ker_alloc(source->tasks * sizeof *trace->file);
    struct allprof_events *events = ker_alloc(source->tasks * sizeof *events);
    struct allprof_tallies *tallies = ker_alloc(source->tasks * sizeof *tallies);
    status = files_read(source, events, tallies);
    if (status == KER_OK)
        status = comms_find(source, events, tallies);
    for (uint32_t i = 0; i < source->tasks; i++)
        allprof_tallies_release(&tallies[i]);
    free(events);
    free(tallies);
    if (status == KER_OK && trace->comms.doubts)
        snprintf(trace->doubt, sizeof trace->doubt, "%s: %s", source->path, trace->comms.doubt);
    return status == KER_OK || mars_fail(error, "%s", trace->error.text);
}

static void allprof_close(struct conv_source *source)
{
    struct apc_trace *trace = source->own;
    if (!trace)
        return;
    if (trace->unlisted[0])
        conv_warn("%s: %s", source->path, trace->unlisted);
    for (uint32_t i = 0; trace->file && i < source->tasks; i++) {
        trace_code_release(&trace->file[i].code);
        free(trace->file[i].event);
    }
    free(trace->file);
    trace_store_release(&trace->store);
    allprof_comms_release(&trace->comms);
    free(trace);
    source->own = NULL;
}

static const char *allprof_warning(const struct conv_source *source, uint32_t number)
{
    const struct apc_trace *trace = source->own;
    return number == 0 && trace->doubt[0] ? trace->doubt : NULL;
}

/* ---- a task ---- */

static bool allprof_task_open(struct conv_task *task, uint32_t number, struct mars_error *error)
{
    struct apc_reading *r = ker_alloc(sizeof *r);
    struct apc_trace *trace = task->source->own;
    const struct apc_file *file = &trace->file[number];
    task->own = r;
    r->trace = trace;
    r->folder = task->source->path;
    r->comm = ker_alloc(file->events * sizeof *r->comm);
    for (size_t i = 0; i < file->events; i++)
        r->comm[i] = file->event[i].comm;
    conv_about_begin(&r->about, number, task->source->tasks, trace->comms.comm, trace->comms.count, 1000,
                     conv_allprof.name);
    task->about = r->about.task;
    (void)error;
    return true;
}

static void reading_stop(struct apc_reading *r)
{
    if (r->file) {
        allprof_file_close(r->file);
        allprof_scan_end(&r->scan);
        allprof_scan_release(&r->scan);
        trace_reader_release(&r->ops);
        conv_held_free(r->held);
    }
    r->file = NULL;
    r->held = NULL;
    r->scan = (struct allprof_scan){0};
}

static void allprof_task_close(struct conv_task *task)
{
    struct apc_reading *r = task->own;
    if (!r)
        return;
    reading_stop(r);
    conv_about_end(&r->about);
    mars_task_close(task->about);
    free(r->comm);
    conv_made_release(&r->made);
    free(r);
}

static bool allprof_thread_open(struct conv_task *task, uint32_t thread, struct mars_error *error)
{
    struct apc_reading *r = task->own;
    reading_stop(r);
    r->frame = (struct allprof_frame){0};
    r->scan.rules = &r->trace->rules;
    r->has_op = r->begun = r->ended = r->pending = false;
    r->tested = false;
    r->computed_us = r->clock_us = 0;
    r->last_end_us = INT64_MIN;
    r->stride = 8;
    if (allprof_file_open(&r->file, r->folder, task->about->number, &r->trace->rules, &r->error) != KER_OK) {
        r->file = NULL;
        return mars_fail(error, "%s", r->error.text);
    }
    r->held = conv_held_new();
    r->ops.code = &r->trace->file[task->about->number].code;
    r->ops.comm = r->comm;
    trace_reader_seek(&r->ops, 0, 0);
    apc_op_next(r);
    return true;
}

/* The next line that is a call; false: at the end, or an error. */
static bool line_next(struct apc_reading *r)
{
    bool ended = false;
    enum ker_status status = KER_OK;
    r->args = NULL;
    while (status == KER_OK && !r->args && !ended)
        status = allprof_frame_next(&r->frame, r->file, &r->args, &ended, &r->error);
    if (status != KER_OK || ended)
        return false;
    r->line = allprof_file_number(r->file);
    r->line_comm = -1;
    if (r->args->has_group || r->args->call->kind == ALLPROF_COMM_FREE)
        r->line_comm = (int32_t)allprof_scan_line(&r->scan, r->args, r->line);
    if (r->args->has_group)
        r->stride = r->trace->rules.mpich || r->args->group.handle < 65536 ? 4 : 8;
    size_t events = r->trace->file[r->about.task->number].events;
    if (r->line_comm >= 0 && (size_t)r->line_comm >= events) {
        allprof_line_fail(r->folder, r->about.task->number, r->line, &r->error,
                          "the file has changed while it was read");
        return false;
    }
    return true;
}

static bool allprof_next(struct conv_task *task, struct conv_record *record, struct mars_error *error)
{
    struct apc_reading *r = task->own;
    if (!r->pending && !line_next(r))
        return r->error.text[0] && mars_fail(error, "%s", r->error.text);
    record->first = !r->begun;
    r->begun = true;
    apc_line(r, record);
    return true;
}

static void allprof_place(const struct conv_task *task, uint64_t number, char *text, size_t room)
{
    char *path = allprof_file_path(task->source->path, task->about->number);
    snprintf(text, room, "%s:%llu", path, (unsigned long long)number);
    free(path);
}

const struct conv_format conv_allprof = {
    .name = "liballprof",
    .open = allprof_open,
    .close = allprof_close,
    .warning = allprof_warning,
    .task_open = allprof_task_open,
    .task_close = allprof_task_close,
    .thread_open = allprof_thread_open,
    .next = allprof_next,
    .place = allprof_place,
};
