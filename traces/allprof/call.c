/* call.c - a line of a trace: one MPI call with its arguments.
 *
 * The call's layout (calls.c) says where the arguments stand. A colon-separated field is taken apart as its
 * letter says; what the replay does not need is skipped unread. Count lists follow their address as a field
 * of their own, or are missing: the number of fields shows which.
 *
 * A line is split into its fields, but for those that are like one before (again.h), which nearly all are.
 */
#define _GNU_SOURCE
#include "traces/allprof/again.h"
#include "traces/allprof/allprof.h"
#include "traces/allprof/number.h"
#include "traces/traces.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* "id,size,extent": the size, whatever it is. */
static bool field_type(const char **field, int64_t *size, struct allprof_type *type)
{
    return allprof_number(field, &type->id) && *(*field)++ == ',' && allprof_number(field, size) &&
           *(*field)++ == ',' && allprof_number(field, &type->extent);
}

static bool field_group(const char **field, struct allprof_group *group)
{
    int64_t handle, rank, size;
    if (!allprof_number(field, &handle) || *(*field)++ != ',' || !allprof_number(field, &rank) ||
        *(*field)++ != ',' || !allprof_number(field, &size) || rank < 0 || size > INT_MAX || rank >= size)
        return false;
    *group = (struct allprof_group){(uint64_t)handle, (int32_t)rank, (int32_t)size};
    return true;
}

#define FIELDS 40

struct split { /* the fields of a line */
    char *field[FIELDS];
    int count;
};

/* A letter whose value is a number of any size; false: it is another letter. */
static bool argument_number(struct allprof_args *args, char letter, int64_t number)
{
    switch (letter) {
    case 'v':
        args->variable = (uint64_t)number;
        return true;
    case 'x':
        args->status = (uint64_t)number;
        return true;
    case 'o':
        args->reduction = number;
        return true;
    case 'n':
        args->count = number;
        return true;
    case 'N':
        args->count2 = number;
        return true;
    case 'b':
        args->in_place = number == 1 || number == -1; /* Open MPI, MPICH */
        return true;
    default:
        return false;
    }
}

/* Where the value of a letter is kept that is an int; NULL: of other letters nothing is. */
static int32_t *argument_int(struct allprof_args *args, char letter)
{
    switch (letter) {
    case 'd':
    case 's':
    case 'R':
        return &args->peer;
    case 'S':
        return &args->peer2;
    case 'g':
        return &args->tag;
    case 'G':
        return &args->tag2;
    case 'k':
        return &args->colour;
    case 'y':
        return &args->key;
    case 'a':
        return &args->variables;
    default:
        return NULL;
    }
}

/* The field of one letter, up to where it should end; *why says what was expected. */
static bool argument_read(struct allprof_args *args, char letter, const char **field, const char **why)
{
    int64_t number = 0;
    switch (letter) {
    case '.':
        *field += strlen(*field);
        return true;
    case 't':
    case 'T':
        *why = "a datatype (id,size,extent)";
        return letter == 't' ? field_type(field, &args->size, &args->type)
                             : field_type(field, &args->size2, &args->type2);
    case 'c':
        *why = "a communicator (handle,rank,size)";
        args->has_group = true;
        return field_group(field, &args->group);
    default:
        break;
    }
    *why = "a number";
    if (!allprof_number(field, &number))
        return false;
    if (argument_number(args, letter, number))
        return true;
    *why = "an int";
    if (number < INT_MIN || number > INT_MAX)
        return false;
    int32_t *kept = argument_int(args, letter);
    if (kept)
        *kept = (int32_t)number;
    if (letter != 'a')
        return true;
    *why = "a number of requests (0 to 16777216)";
    return number >= 0 && number <= 1 << 24;
}

static bool is_list(char letter)
{
    return letter == 'l' || letter == 'L' || letter == 'm';
}

/* Arguments between the start and the end, whose fields are split->field[2 .. count - 2]. */
static enum ker_status arguments_read(struct allprof_args *args, const struct split *split,
                                      const struct allprof_file *file, struct ker_error *error)
{
    const char *layout = args->call->layout;
    int lists = 0, letters = (int)strlen(layout), fields = split->count - 3;
    bool open_end = letters > 0 && layout[letters - 1] == '*';
    for (const char *letter = layout; *letter; letter++)
        lists += is_list(*letter);
    bool listed = lists > 0 && fields == letters + lists;
    if (open_end ? fields < letters - 1 : (fields != letters && !listed))
        return allprof_file_fail(file, error,
                                 "%s has %d arguments here, %d would be right: damaged or truncated line?",
                                 args->call->name, fields, letters);
    int at = 2;
    for (const char *letter = layout; *letter && *letter != '*'; letter++, at++) {
        const char *why = "", *field = split->field[at];
        ker_assert(field);
        if (is_list(*letter)) {
            at += listed;
            if (*letter == 'l' && listed)
                args->counts = split->field[at];
            if (*letter == 'L' && listed)
                args->counts2 = split->field[at];
            /* fields are filled up to count: NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
        } else if (!argument_read(args, *letter, &field, &why) || *field != 0) {
            return allprof_file_fail(file, error, "argument %d of %s is \"%.40s\", expected %s", at - 1,
                                     args->call->name, split->field[at], why);
        }
    }
    if (!strchr(layout, 'T'))
        args->size2 = args->size; /* Reduce_scatter has one datatype */
    return KER_OK;
}

static bool time_read(const char *field, int64_t *time_us)
{
    *time_us = INT64_MIN;
    return strcmp(field, "-") == 0 || (again_time(&field, time_us) && *field == 0);
}

static enum ker_status line_split(struct split *split, char *line, const struct allprof_file *file,
                                  struct ker_error *error)
{
    split->count = 0;
    for (char *at = line;; at++) {
        if (split->count == FIELDS)
            return allprof_file_fail(file, error, "more arguments than any MPI call has");
        split->field[split->count++] = at;
        at = strchr(at, ':');
        if (!at)
            return KER_OK;
        *at = 0;
    }
}

/* By fields: any line, and what is wrong with it. call: NULL, it is not known yet. */
static enum ker_status line_read(struct allprof_args *args, const struct allprof_call *call, char *line,
                                 const struct allprof_file *file, struct ker_error *error)
{
    struct split split = {.count = 0};
    *args = (struct allprof_args){.call = NULL};
    enum ker_status status = line_split(&split, line, file, error);
    if (status != KER_OK)
        return status;
    const char *name = split.field[0];
    size_t length = strlen(name);
    if (length < 6 || strncmp(name, "MPI_", 4) != 0)
        return allprof_file_fail(file, error,
                                 "\"%.40s\" is no MPI call: MPI_Name:start:arguments:end expected", name);
    args->call = call ? call : allprof_call_find(name, length);
    if (!args->call)
        return allprof_file_fail(file, error,
                                 trace_function_find(name)
                                     ? "%.60s cannot be replayed: of these traces one-sided communication, "
                                       "MPI-IO, intercommunicators, started processes, generalised requests, "
                                       "MPI_Alltoallw and MPI_Abort are not"
                                     : "the call %.60s is not known, so it cannot be replayed",
                                 name);
    if (split.count < 3)
        return allprof_file_fail(file, error, "%.60s without start and end: damaged or truncated line?",
                                 name);
    if (!time_read(split.field[1], &args->start_us) ||
        !time_read(split.field[split.count - 1], &args->end_us))
        return allprof_file_fail(file, error,
                                 "%.60s: start \"%.24s\" or end \"%.24s\" is no time in microseconds", name,
                                 split.field[1], split.field[split.count - 1]);
    if (args->call->kind != ALLPROF_INIT && args->start_us == INT64_MIN)
        return allprof_file_fail(file, error, "%.60s has no start time; only MPI_Init starts with -", name);
    if (args->call->kind != ALLPROF_FINALIZE && args->end_us == INT64_MIN)
        return allprof_file_fail(file, error, "%.60s has no end time; only MPI_Finalize ends with -", name);
    return arguments_read(args, &split, file, error);
}

/* The name with its colon, the start, the text between them and the end of a line; false: it is another sort
 * of line, which is not kept. */
static bool parts_find(struct again_parts *parts, const char *line, size_t length)
{
    const char *start = memchr(line, ':', length), *last = memrchr(line, ':', length), *end;
    parts->name_bytes = start ? (size_t)(start + 1 - line) : 0;
    if (parts->name_bytes < 8 || parts->name_bytes > 16)
        return false;
    start++;
    end = last + 1;
    parts->head = allprof_word(line);
    parts->tail = allprof_word(start - 8);
    if (!again_time(&start, &parts->start_us) || start >= last || *start != ':' ||
        !again_time(&end, &parts->end_us) || end != line + length)
        return false;
    parts->text = start + 1;
    parts->bytes = (size_t)(last + 1 - parts->text);
    return parts->bytes <= AGAIN_MOST;
}

/* A line that is like one that is kept is not taken apart; others are, and are kept but for those with lists.
 */
static enum ker_status line_take(struct allprof_frame *frame, struct allprof_args **args, char *line,
                                 size_t length, const struct allprof_file *file, struct ker_error *error)
{
    struct allprof_again *again = frame->again;
    struct again_parts parts;
    uint16_t *place = parts_find(&parts, line, length) ? again_place(again, &parts) : NULL;
    if (place && again_is(&again->line[*place], &parts)) {
        again_note(again, *place, again->line[*place].last + 1);
        *args = &again->line[*place].args;
        (*args)->start_us = parts.start_us;
        (*args)->end_us = parts.end_us;
        (*args)->name = line;
        return KER_OK;
    }
    const struct allprof_call *call = place ? again_call(again, &parts) : NULL;
    uint32_t kept = place ? again_keep(again, place, &parts) : AGAIN_LINES;
    *args = &again->line[kept].args;
    enum ker_status status = line_read(*args, call, line, file, error);
    (*args)->name = line;
    if (place && status == KER_OK && !again_may(*args))
        again->line[kept].name_bytes = 0;
    again_note(again, kept, again->expected + 1);
    return status;
}

#define BANNER "# htor's PMPI Tracer"

static enum ker_status frame_check(struct allprof_frame *frame, struct allprof_file *file,
                                   const struct allprof_args *args, struct ker_error *error)
{
    ker_assert(args->call);
    unsigned kind = args->call->kind;
    if (kind == ALLPROF_INIT && frame->initialised)
        return allprof_file_fail(file, error, "a second MPI_Init: two traces in one file?");
    if (kind == ALLPROF_INIT)
        frame->initialised = true;
    if (kind != ALLPROF_LOCAL && !frame->initialised)
        return allprof_file_fail(file, error, "%s before MPI_Init: the beginning of the trace is missing",
                                 args->call->name);
    if (kind != ALLPROF_LOCAL && frame->finalised)
        return allprof_file_fail(file, error, "%s after MPI_Finalize", args->call->name);
    if (kind == ALLPROF_FINALIZE)
        frame->finalised = true;
    return KER_OK;
}

enum ker_status allprof_frame_next(struct allprof_frame *frame, struct allprof_file *file,
                                   struct allprof_args **args, bool *ended, struct ker_error *error)
{
    char *line;
    size_t length;
    *ended = false;
    if (frame->initialised && !frame->finalised && (*args = again_expected(frame->again, frame->rest)))
        return KER_OK; /* it was read before, and neither MPI_Init nor MPI_Finalize can be */
    enum ker_status status = allprof_file_line(file, &line, &length, error);
    *args = NULL;
    if (status != KER_OK)
        return status;
    if (!frame->banner && (!line || strncmp(line, BANNER, strlen(BANNER)) != 0))
        return allprof_file_fail(file, error,
                                 "not a liballprof trace: the first line must begin with \"" BANNER "\"");
    if (!frame->banner) {
        frame->rest = allprof_file_rest(file);
        frame->again = allprof_file_again(file);
    }
    frame->banner = true;
    if (!line) {
        *ended = true;
        return frame->finalised
                   ? KER_OK
                   : allprof_file_fail(file, error, "the file ends without MPI_Finalize: truncated?");
    }
    if (line[0] == '#' || line[0] == 0)
        return KER_OK;
    status = line_take(frame, args, line, length, file, error);
    return status == KER_OK ? frame_check(frame, file, *args, error) : status;
}
