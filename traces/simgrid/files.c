/* files.c - the files of a trace.
 *
 * smpirun -trace-ti writes a list of files, one for each task, in the order of their ranks. Their names are
 * relative to where it ran: they are looked for beside the list as well. A list of one file, or that file in
 * place of a list, has the lines of all tasks.
 */
#include "traces/simgrid/simgrid.h"
#include "traces/traces.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void simgrid_files_release(struct simgrid_trace *trace)
{
    ker_free_all(trace->file, trace->files);
}

/* The last `parts` parts of a path. */
static const char *path_tail(const char *path, int parts)
{
    const char *at = path + strlen(path);
    while (at > path && (at[-1] != '/' || --parts > 0))
        at--;
    return at;
}

/* Where the file of an entry lies: as it is named, beside the list, or in a folder beside it, which is what
 * smpirun makes. */
static char *entry_path(const char *list, const char *entry, size_t length)
{
    char *name = ker_format("%.*s", (int)length, entry), *path = NULL;
    const char *slash = strrchr(list, '/');
    int folder = slash ? (int)(slash - list + 1) : 0;
    for (int parts = 0; parts <= 2 && !path; parts++) {
        const char *tail = parts ? path_tail(name, parts) : name;
        path = ker_format("%.*s%s", *tail == '/' ? 0 : folder, list, tail);
        if (access(path, F_OK) != 0) {
            free(path);
            path = NULL;
        }
    }
    free(name);
    return path;
}

/* Does the current line begin with the number of a task and an action? */
static bool line_known(struct ker_lines *in)
{
    static const char *const actions[] = {"init",   "compute",  "comm_size", "send",     "recv",
                                          "isend",  "irecv",    "barrier",   "bcast",    "sleep",
                                          "reduce", "location", "allreduce", "finalize", NULL};
    uint32_t task;
    const char *word;
    size_t length;
    ker_take_blanks(in);
    if (!ker_take_u32(in, &task) || !ker_at_gap(in))
        return false;
    ker_take_blanks(in);
    if (!ker_take_text(in, &word, &length))
        return false;
    for (int i = 0; actions[i]; i++)
        if (strlen(actions[i]) == length && strncasecmp(actions[i], word, length) == 0)
            return true;
    return false;
}

static bool first_line(struct ker_text *text)
{
    while (ker_text_next(text)) {
        ker_take_blanks(&text->in);
        if (text->in.p < text->in.stop && *text->in.p != '#')
            return true;
    }
    return false;
}

static bool file_known(const char *path)
{
    struct ker_error ignored = {.status = KER_OK};
    struct ker_text text;
    bool known =
        ker_text_open(&text, path, NULL, &ignored) == KER_OK && first_line(&text) && line_known(&text.in);
    ker_text_close(&text, false);
    return known;
}

bool simgrid_trace_known(const char *path)
{
    struct ker_error ignored = {.status = KER_OK};
    struct ker_text text;
    bool known = ker_text_open(&text, path, NULL, &ignored) == KER_OK && first_line(&text);
    const char *entry = text.in.p;
    if (known && !line_known(&text.in)) {
        size_t length = (size_t)(text.in.stop - entry);
        char *file = length < 4096 ? entry_path(path, entry, length) : NULL;
        known = file && file_known(file);
        free(file);
    }
    ker_text_close(&text, false);
    return known;
}

static enum ker_status entry_add(struct simgrid_trace *trace, struct ker_text *text)
{
    struct ker_lines *in = &text->in;
    size_t length = (size_t)(in->stop - in->p);
    char *path = length < 4096 ? entry_path(in->file, in->p, length) : NULL;
    if (!path)
        return ker_lines_fail(
            in,
            "there is no file \"%.*s\", neither as it is named nor beside this list; a list "
            "of SimGrid has the name of one file in each line",
            KER_LINE_REST(in));
    *KER_APPEND(trace->file, trace->files) = path;
    return KER_OK;
}

/* Such a file is read once for each task. */
#define TASKS_OF_ONE_FILE 4096

/* How many tasks a file of all has. */
static enum ker_status tasks_count(struct foreign_trace *trace, const char *path, struct ker_error *error)
{
    struct ker_text text;
    struct simgrid_line line = {.text = &text};
    enum ker_status status = ker_text_open(&text, path, trace->inputs, error);
    while (status == KER_OK && simgrid_line_next(&line)) {
        if (line.task >= TASKS_OF_ONE_FILE)
            status = simgrid_fail(&line,
                                  "task %u in the one file of all tasks, which can have %u; a list names a "
                                  "file for each task",
                                  line.task, TASKS_OF_ONE_FILE);
        else if (line.task >= trace->tasks)
            trace->tasks = line.task + 1;
    }
    status = status ?: text.status;
    ker_text_close(&text, status == KER_OK);
    free(line.number);
    return status;
}

/* Their sizes, under the name of the list: so hosts see the same trace, though each file is read by one
 * rank. */
static enum ker_status sizes_register(const struct simgrid_trace *trace, struct foreign_trace *to,
                                      struct ker_error *error)
{
    uint64_t sum = 0, all = 0, bytes;
    for (uint32_t i = 0; i < trace->files; i++) {
        int file;
        enum ker_status status = ker_input_open(trace->file[i], KER_INPUT_MOST, &file, &bytes, error);
        if (status != KER_OK)
            return status;
        close(file);
        all += bytes;
        sum = ker_mix(sum + bytes + 1);
    }
    char text[96];
    snprintf(text, sizeof text, "%u files, %llu bytes, sizes %016llx", trace->files, (unsigned long long)all,
             (unsigned long long)sum);
    ker_input_add_text(to->inputs, to->path, text);
    return KER_OK;
}

enum ker_status simgrid_files_find(struct simgrid_trace *trace, struct foreign_trace *to,
                                   struct ker_error *error)
{
    struct ker_text text;
    enum ker_status status = ker_text_open(&text, to->path, NULL, error);
    bool more = status == KER_OK && first_line(&text);
    const char *begin = text.in.p;
    if (more && line_known(&text.in)) {
        *KER_APPEND(trace->file, trace->files) = ker_format("%s", to->path);
    } else {
        text.in.p = begin;
        for (; more && status == KER_OK; more = first_line(&text))
            status = entry_add(trace, &text);
        status = status ?: text.status;
    }
    ker_text_close(&text, false);
    if (status == KER_OK && trace->files == 0)
        status =
            ker_fail(error, KER_BAD_INPUT,
                     "%s: neither a list of files of a SimGrid trace, one a line, nor such a file", to->path);
    if (status == KER_OK && strcmp(trace->file[0], to->path) != 0)
        status = sizes_register(trace, to, error);
    to->tasks = trace->files;
    if (status == KER_OK && trace->files == 1)
        status = tasks_count(to, trace->file[0], error);
    return status;
}
