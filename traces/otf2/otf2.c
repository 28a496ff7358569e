/* otf2.c - traces in the format "otf2": archives of the Open Trace Format 2. */
#include "traces/otf2/otf2.h"
#include "traces/traces.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files ---- */

static bool has_magic(const char *path)
{
    struct ker_error error = {.status = KER_OK};
    char begin[6] = {0};
    int file;
    bool known = ker_input_open(path, UINT64_MAX, &file, NULL, &error) == KER_OK &&
                 ker_input_piece(file, begin, sizeof begin) == sizeof begin &&
                 memcmp(begin + 2, "OTF2", 4) == 0;
    if (file >= 0)
        close(file);
    return known;
}

/* The anchor file: the file, or the one file NAME.otf2 of a folder; malloc'ed. NULL: there are several. */
static char *anchor_find(const char *path)
{
    DIR *list = opendir(path);
    char *anchor = NULL;
    bool several = false;
    if (!list)
        return ker_format("%s", path);
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 5, ".otf2") != 0)
            continue;
        several = several || anchor;
        free(anchor);
        anchor = ker_format("%s/%s", path, entry->d_name);
    }
    closedir(list);
    if (several) {
        free(anchor);
        return NULL;
    }
    return anchor ? anchor : ker_format("%s", path);
}

/* A folder with several is left to the reader, which says so. */
static int score(const char *path)
{
    char *anchor = anchor_find(path);
    int found =
        anchor ? trace_score(anchor, has_magic(anchor), TRACE_SCORE_MAGIC, ".otf2") : TRACE_SCORE_NAME;
    free(anchor);
    return found;
}

/* ---- the archive ---- */

struct opened {
    struct otf2_trace trace;
    char *anchor;
};

static enum ker_status file_try(const char *path, struct ker_error *error)
{
    int file;
    enum ker_status status = ker_input_open(path, UINT64_MAX, &file, NULL, error);
    if (file >= 0)
        close(file);
    return status;
}

/* The library opens the files of an archive itself, and would wait for ever for one that is a pipe. What is
 * missing it says. */
static enum ker_status files_try(const char *anchor, struct ker_error *error)
{
    int length = (int)strlen(anchor) - (int)strlen(".otf2");
    char *folder = ker_format("%.*s", length > 0 ? length : 0, anchor), *file = ker_format("%s.def", folder);
    enum ker_status status = access(file, F_OK) == 0 ? file_try(file, error) : KER_OK;
    DIR *list = opendir(folder);
    for (struct dirent *entry; !status && list && (entry = readdir(list)) != NULL;) {
        free(file);
        file = ker_format("%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            status = file_try(file, error);
    }
    if (list)
        closedir(list);
    free(file);
    free(folder);
    return status;
}

static enum ker_status archive_open(struct opened *o, struct foreign_trace *to, struct ker_error *error)
{
    o->anchor = anchor_find(to->path);
    if (!o->anchor || !has_magic(o->anchor))
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: neither the anchor file of an OTF2 archive (NAME.otf2) nor a folder with one; "
                        "an anchor file begins with two bytes and \"OTF2\": is it damaged?",
                        to->path);
    o->trace.path = o->anchor;
    enum ker_status status = files_try(o->anchor, error);
    status = status ?: otf2_archive_read(&o->trace, error);
    return status ?: otf2_define(&o->trace, to, error);
}

static void inputs_add(const struct opened *o, const struct foreign_trace *to)
{
    char text[128];
    uint64_t events = 0;
    for (uint32_t i = 0; i < o->trace.locations; i++)
        events += o->trace.location[i].events;
    snprintf(text, sizeof text, "archive %016llx, %u locations, %llu events, %u tasks",
             (unsigned long long)o->trace.id, o->trace.locations, (unsigned long long)events, to->tasks);
    ker_input_add_text(to->inputs, to->path, text);
}

static enum ker_status trace_open(struct foreign_trace *to, struct ker_error *error)
{
    struct opened *o = ker_alloc(sizeof *o);
    const char *sizes = TASK_KEY(to->job, "collective_sizes");
    to->own = o;
    o->trace.polls = !ker_config_is(to->config, "mpi.progress", "adapter");
    o->trace.sizes = ker_config_is(to->config, sizes, "total")  ? OTF2_SIZES_TOTAL
                     : ker_config_is(to->config, sizes, "each") ? OTF2_SIZES_EACH
                                                                : OTF2_SIZES_UNKNOWN;
    o->trace.unknown = ker_config_is(to->config, TASK_KEY(to->job, "unknown"), "compute");
    enum ker_status status = archive_open(o, to, error);
    if (status == KER_OK)
        inputs_add(o, to);
    return status;
}

static void trace_close(struct foreign_trace *to)
{
    struct opened *o = to->own;
    otf2_release(&o->trace);
    free(o->anchor);
    free(o);
}

/* ---- a task ---- */

static bool ahead_show(void *task, const struct otf2_event *event)
{
    otf2_ahead_add(&((struct otf2_task *)task)->ahead, event);
    return true;
}

/* Threads but the one that talks by MPI must not. */
static bool other_show(void *task, const struct otf2_event *event)
{
    struct otf2_task *t = task;
    if (event->kind > OTF2_LEAVE)
        otf2_task_fail(t, event,
                       "this thread calls MPI as well as location %llu: several threads of a task that do "
                       "are not read from archives",
                       (unsigned long long)t->trace->task[t->out->task]);
    return t->status == KER_OK;
}

static enum ker_status others_read(struct otf2_task *t, const struct otf2_location *own)
{
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; i < t->trace->locations && status == KER_OK; i++) {
        const struct otf2_location *other = &t->trace->location[i];
        if (other == own || other->process != own->process || !other->thread || other->events == 0)
            continue;
        t->location = other->id;
        status = otf2_archive_events(t->trace, other, other_show, t, t->error);
        status = status ?: t->status;
    }
    t->location = own->id;
    return status;
}

static enum ker_status task_read(const struct foreign_trace *to, struct foreign_task *task,
                                 struct ker_error *error)
{
    const struct opened *o = to->own;
    struct otf2_task t = {.trace = &o->trace, .out = task, .error = error};
    const struct otf2_location *own = otf2_location_find(&o->trace, o->trace.task[task->task]);
    enum ker_status status = others_read(&t, own);
    status = status ?: otf2_archive_events(&o->trace, own, ahead_show, &t, error);
    status = status ?: otf2_archive_events(&o->trace, own, otf2_task_event, &t, error);
    status = status ?: otf2_task_end(&t);
    otf2_task_release(&t);
    return status;
}

static const char *const doubts[] = {
    [OTF2_DOUBT_COUNTS] = "archives have the sums of MPI_Alltoallv and other collectives with counts, not "
                          "the counts; they are taken as equal",
    [OTF2_DOUBT_SENDS] = "sends are never completed (MPI_ISEND_COMPLETE is missing, as EZTrace leaves it "
                         "out); the end of the task waits for them",
    [OTF2_DOUBT_UNKNOWN] = "calls that cannot be read are taken as computation (jobs[].unknown)",
    [OTF2_DOUBTS] = NULL,
};

static const struct foreign_reader reader = {
    .name = "otf2",
    .form = {.unit = 1},
    .doubt = doubts,
    .advice = "if each task has communicators of its own in the archive (as EZTrace may define them), they "
              "cannot be known to be one",
    .times = true,
    .open = trace_open,
    .read = task_read,
    .close = trace_close,
};

static const struct ker_option options[] = {
    {"jobs[].collective_sizes", KER_TYPE_CHOICE, "auto", NULL, NULL, "auto|total|each",
     "trace (otf2): what the sizes of collectives in the archive are: what a task sends to all and receives "
     "from all (total, as Score-P writes it), or the size that it called with (each, as EZTrace does); auto: "
     "what the writer does, if it is one of these."},
    {0},
};

FOREIGN_CLASS(static, class, reader);

const struct ker_kind trace_format_otf2 = {
    .name = "otf2",
    .meaning = "OTF2 archives, as Score-P writes them: the anchor file NAME.otf2, or its folder",
    .operations = &(const struct trace_format){&class, score, &reader},
    .options = KER_OPTIONS(options, trace_unknown_options, trace_store_options)};
