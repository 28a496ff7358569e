/* call.c - a line of a trace: one MPI call with its arguments.
 *
 * The call's layout (calls.c) says where the arguments stand. A colon-separated field is taken apart as its
 * letter says; what the replay does not need is skipped unread. Count lists follow their address as a field
 * of their own, or are missing: the number of fields shows which.
 *
 * Nearly all lines are read from left to right without looking at them twice. What that does not take (lists,
 * a time that is "-", anything wrong) is split into its fields first.
 */
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

/* A letter whose value is an int; of other letters nothing is kept. */
static void argument_int(struct allprof_args *args, char letter, int32_t number)
{
    switch (letter) {
    case 'd':
    case 's':
    case 'R':
        args->peer = number;
        break;
    case 'S':
        args->peer2 = number;
        break;
    case 'g':
        args->tag = number;
        break;
    case 'G':
        args->tag2 = number;
        break;
    case 'k':
        args->colour = number;
        break;
    case 'y':
        args->key = number;
        break;
    case 'a':
        args->variables = number;
        break;
    default:
        break;
    }
}

/* Nearly always an address, of up to 16 digits. */
static inline const char *field_skip(const char *at)
{
    unsigned digits = allprof_word_digits(allprof_word(at));
    at += digits;
    if (digits == 8)
        at += allprof_word_digits(allprof_word(at));
    return *at == ':' ? at : at + strcspn(at, ":");
}

/* The field of one letter, up to where it should end; *why says what was expected. */
static inline bool argument_read(struct allprof_args *args, char letter, const char **field, const char **why)
{
    int64_t number = 0;
    switch (letter) {
    case '.':
        *field = field_skip(*field);
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
    argument_int(args, letter, (int32_t)number);
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

/* By fields: any line, and what is wrong with it. */
static enum ker_status line_read(struct allprof_args *args, char *line, const struct allprof_file *file,
                                 struct ker_error *error)
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
    args->call = allprof_call_find(name, length);
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

/* The call of this name, which is remembered for the lines to come. */
static inline const struct allprof_call *name_find(struct allprof_frame *frame, const char *name,
                                                   size_t length)
{
    if (length < 6)
        return NULL;
    uint64_t head = allprof_word(name), tail = length < 8 ? 0 : allprof_word(name + length - 8);
    if (length < 8)
        head &= UINT64_MAX >> (64 - 8 * length);
    uint64_t place = ((head >> 32 | tail << 32) + (tail >> 32) + length) * UINT64_C(0x9e3779b97f4a7c15);
    struct allprof_named *known = &frame->known[place >> 58];
    bool is = known->head == head && known->tail == tail && known->length == length;
    if (__builtin_expect(!is || (length > 16 && strncmp(known->call->name, name, length) != 0), 0)) {
        const struct allprof_call *call =
            strncmp(name, "MPI_", 4) == 0 ? allprof_call_find(name, length) : NULL;
        if (!call)
            return NULL;
        *known = (struct allprof_named){call, head, tail, length};
    }
    return known->call;
}

/* A field that stood in one of the last lines is not taken apart again: which of the two it is, or NULL. */
static inline struct allprof_field *field_find(struct allprof_field field[2], const char *at)
{
    for (int i = 0; i < 2; i++)
        if (field[i].length && memcmp(at, field[i].text, field[i].length) == 0 && at[field[i].length] == ':')
            return &field[i];
    return NULL;
}

/* In the place of the older one. */
static struct allprof_field *field_keep(struct allprof_field field[2], const char *from, const char *to)
{
    if (to - from >= (ptrdiff_t)sizeof field->text)
        return NULL;
    field[1] = field[0];
    memcpy(field->text, from, (size_t)(to - from));
    field->length = (uint8_t)(to - from);
    return field;
}

static inline bool group_read(struct allprof_frame *frame, struct allprof_args *args, const char **at)
{
    const char *from = *at;
    struct allprof_field *field = field_find(frame->group, from);
    args->has_group = true;
    if (field) {
        args->group = field->group;
        *at += field->length;
        return true;
    }
    if (!field_group(at, &args->group))
        return false;
    field = field_keep(frame->group, from, *at);
    if (field)
        field->group = args->group;
    return true;
}

static inline bool type_read(struct allprof_frame *frame, int64_t *size, struct allprof_type *type,
                             const char **at)
{
    const char *from = *at;
    struct allprof_field *field = field_find(frame->type, from);
    if (field) {
        *size = field->size;
        *type = field->type;
        *at += field->length;
        return true;
    }
    if (!field_type(at, size, type))
        return false;
    field = field_keep(frame->type, from, *at);
    if (field) {
        field->size = *size;
        field->type = *type;
    }
    return true;
}

/* One argument; false: to be read by fields. */
static inline bool argument_read_short(struct allprof_frame *frame, struct allprof_args *args, char letter,
                                       const char **at)
{
    const char *why;
    switch (letter) {
    case 'c':
        return group_read(frame, args, at);
    case 't':
        return type_read(frame, &args->size, &args->type, at);
    case 'T':
        return type_read(frame, &args->size2, &args->type2, at);
    case 'l':
    case 'L':
    case 'm':
        return false;
    default:
        return argument_read(args, letter, at, &why);
    }
}

/* The last field of a line; NULL: it has more than are allowed. */
static const char *last_field(const char *at, const char *end)
{
    int fields = 2; /* name and start */
    for (const char *colon; (colon = memchr(at, ':', (size_t)(end - at))); at = colon + 1)
        fields++;
    return fields < FIELDS ? at : NULL;
}

/* The arguments of args->call from *at on; *at is then where the end is. */
static bool arguments_read_short(struct allprof_args *args, const char **at, const char *end,
                                 struct allprof_frame *frame)
{
    bool second = false;
    for (const char *letter = args->call->layout; *letter; letter++) {
        if (*letter == '*') {
            *at = last_field(*at, end);
            break;
        }
        if (!argument_read_short(frame, args, *letter, at) || *(*at)++ != ':')
            return false;
        second = second || *letter == 'T';
    }
    if (!second)
        args->size2 = args->size;
    return *at != NULL;
}

/* What the line's times are, and its text between them; false: to be read by fields. */
static inline bool line_times(const char *line, size_t length, const char **at, const char **last,
                              int64_t *start, int64_t *stop)
{
    const char *end = line + length;
    if (!again_time(at, start) || *(*at)++ != ':')
        return false;
    *last = length < 16 ? NULL : allprof_last_number(end, stop);
    if (*last)
        return true;
    for (*last = end - 1; **last != ':'; --*last) /* there are two before it */
        ;
    const char *stops = *last + 1;
    return again_time(&stops, stop) && stops == end;
}

/* Without fields: from left to right and at once, what nearly all lines are. NULL: to be read by fields,
 * which may find that it is wrong. */
static struct allprof_args *line_read_short(const char *line, size_t length, struct allprof_frame *frame)
{
    struct allprof_again *again = frame->again;
    const char *at = memchr(line, ':', length), *last;
    const struct allprof_call *call = at ? name_find(frame, line, (size_t)(at - line)) : NULL;
    int64_t start, stop;
    if (!call)
        return NULL;
    size_t name_bytes = (size_t)(++at - line);
    if (!line_times(line, length, &at, &last, &start, &stop))
        return NULL;
    const char *text = at;
    size_t bytes = (size_t)(last + 1 - at);
    uint32_t kept = AGAIN_LINES, expected = again->expected + 1;
    uint16_t *place = bytes <= AGAIN_MOST && call->kind != ALLPROF_INIT && call->kind != ALLPROF_FINALIZE
                          ? again_place(again, line, name_bytes, text, bytes)
                          : NULL;
    struct allprof_args *args = &frame->args;
    if (place && again_is(&again->line[*place], call, text, bytes)) {
        kept = *place;
        expected = again->line[kept].last + 1;
        args = &again->line[kept].args;
    } else {
        *args = (struct allprof_args){.call = call};
        if (!arguments_read_short(args, &at, line + length, frame) || at != last + 1)
            return NULL;
        if (place) {
            kept = again_keep(again, place, args, line, name_bytes, text, bytes);
            args = &again->line[kept].args;
        }
    }
    again_note(again, kept, expected);
    args->name = line;
    args->start_us = start;
    args->end_us = stop;
    return args;
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
    *args = line_read_short(line, length, frame);
    if (!*args) {
        *args = &frame->args;
        status = line_read(*args, line, file, error);
        (*args)->name = line;
        again_note(frame->again, AGAIN_LINES, frame->again->expected + 1);
    }
    return status == KER_OK ? frame_check(frame, file, *args, error) : status;
}
