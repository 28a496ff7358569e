/* call.c - a line of a trace: one MPI call with its arguments.
 *
 * The call's layout (calls.c) says where the arguments stand. A colon-separated field is taken apart as its
 * letter says; what the replay does not need is skipped unread. Count lists follow their address as a field
 * of their own, or are missing: the number of fields tells.
 */
#include "tasks/traces/allprof/allprof.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A whole field or the part up to a comma; false: no number. Unsigned addresses wrap into the same 64 bits.
 */
static bool number_read(const char **text, int64_t *number)
{
    const char *at = *text;
    bool negative = *at == '-', fits = true;
    at += negative;
    uint64_t value = 0;
    const char *first = at;
    for (; *at >= '0' && *at <= '9'; at++) {
        unsigned digit = (unsigned)(*at - '0');
        fits = fits && value <= (UINT64_MAX - digit) / 10;
        value = value * 10 + digit;
    }
    *number = (int64_t)(negative ? 0 - value : value);
    *text = at;
    return at > first && fits;
}

static bool field_number(const char *field, int64_t *number)
{
    return number_read(&field, number) && *field == 0;
}

/* "id,size,extent": the size, whatever it is. */
static bool field_type(const char *field, int64_t *size)
{
    int64_t skipped;
    if (!number_read(&field, &skipped) || *field++ != ',' || !number_read(&field, size) || *field++ != ',')
        return false;
    return number_read(&field, &skipped) && *field == 0;
}

static bool field_group(const char *field, struct allprof_group *group)
{
    int64_t handle, rank, size;
    if (!number_read(&field, &handle) || *field++ != ',' || !number_read(&field, &rank) || *field++ != ',' ||
        !number_read(&field, &size) || *field != 0 || rank < 0 || size > INT_MAX || rank >= size)
        return false;
    *group = (struct allprof_group){(uint64_t)handle, (int32_t)rank, (int32_t)size};
    return true;
}

struct split { /* the fields of a line */
    char *field[40];
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
static void argument_int(struct allprof_args *args, char letter, int64_t number)
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

/* The field of one letter; *why tells what was expected. */
static bool argument_read(struct allprof_args *args, char letter, char *field, const char **why)
{
    int64_t number = 0;
    switch (letter) {
    case '.':
        return true;
    case 't':
    case 'T':
        *why = "a datatype (id,size,extent)";
        return field_type(field, letter == 't' ? &args->size : &args->size2);
    case 'c':
        *why = "a communicator (handle,rank,size)";
        args->has_group = true;
        return field_group(field, &args->group);
    default:
        break;
    }
    *why = "a number";
    if (!field_number(field, &number))
        return false;
    if (argument_number(args, letter, number))
        return true;
    *why = "an int";
    if (number < INT_MIN || number > INT_MAX)
        return false;
    argument_int(args, letter, number);
    if (letter != 'a')
        return true;
    *why = "a number of requests (0 to 16777216)";
    return number >= 0 && number <= 1 << 24;
}

bool allprof_bytes(int64_t count, int64_t size, uint64_t *bytes)
{
    if (count < 0 || count > INT_MAX || size < 0 || size > INT_MAX)
        return false;
    *bytes = (uint64_t)count * (uint64_t)size;
    return *bytes <= ALLPROF_BYTES_MAX;
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
        const char *why = "";
        if (is_list(*letter)) {
            at += listed;
            if (*letter == 'l' && listed)
                args->counts = split->field[at];
            if (*letter == 'L' && listed)
                args->counts2 = split->field[at];
            /* fields are filled up to count: NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
        } else if (!argument_read(args, *letter, split->field[at], &why)) {
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
    return strcmp(field, "-") == 0 ||
           (field_number(field, time_us) && *time_us > -(INT64_C(1) << 52) &&
            *time_us < INT64_C(1) << 52); /* 142 years: differences cannot overflow */
}

static enum ker_status line_split(struct split *split, char *line, const struct allprof_file *file,
                                  struct ker_error *error)
{
    split->count = 0;
    for (char *at = line;; at++) {
        if (split->count == (int)(sizeof split->field / sizeof *split->field))
            return allprof_file_fail(file, error, "more arguments than any MPI call has");
        split->field[split->count++] = at;
        at = strchr(at, ':');
        if (!at)
            return KER_OK;
        *at = 0;
    }
}

enum ker_status allprof_call_parse(struct allprof_args *args, char *line, const struct allprof_file *file,
                                   struct ker_error *error)
{
    struct split split;
    memset(args, 0, sizeof *args);
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
        return allprof_file_fail(file, error, "the call %.60s is not known, so it cannot be replayed", name);
    if (args->call->kind == ALLPROF_UNSUPPORTED)
        return allprof_file_fail(file, error, "%.60s cannot be replayed: %s", name, args->call->layout);
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

int allprof_bytes_which(const struct allprof_args *args)
{
    bool at_root = args->peer == args->group.rank;
    switch (args->call->mode) {
    case TASK_COLL_BARRIER:
    case TASK_COLL_ALLTOALLV:
    case TASK_COLL_REDUCE_SCATTER:
    case TASK_COLL_COMM:
        return 0;
    case TASK_COLL_GATHERV: /* the root's own share stands in its list and is not sent */
        return at_root ? 0 : 1;
    case TASK_COLL_ALLGATHERV:
        return args->counts2 || args->in_place ? 0 : 1;
    case TASK_COLL_SCATTERV:
        return at_root ? 0 : 2;
    case TASK_COLL_GATHER:
        return at_root ? 2 : 1;
    case TASK_COLL_SCATTER:
        return at_root ? 1 : 2;
    case TASK_COLL_ALLGATHER:
    case TASK_COLL_ALLTOALL:
        return 2; /* the receiving side is right with MPI_IN_PLACE, too */
    default:
        return 1;
    }
}

#define BANNER "# htor's PMPI Tracer"

static enum ker_status frame_check(struct allprof_frame *frame, struct allprof_file *file,
                                   const struct allprof_args *args, struct ker_error *error)
{
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
                                   struct allprof_args *args, bool *args_filled, bool *ended,
                                   struct ker_error *error)
{
    char *line;
    *args_filled = *ended = false;
    enum ker_status status = allprof_file_line(file, &line, error);
    if (status != KER_OK)
        return status;
    if (!frame->banner && (!line || strncmp(line, BANNER, strlen(BANNER)) != 0))
        return allprof_file_fail(file, error,
                                 "not a liballprof trace: the first line must begin with \"" BANNER "\"");
    frame->banner = true;
    if (!line) {
        *ended = true;
        return frame->finalised
                   ? KER_OK
                   : allprof_file_fail(file, error, "the file ends without MPI_Finalize: truncated?");
    }
    if (line[0] == '#' || line[0] == 0)
        return KER_OK;
    status = allprof_call_parse(args, line, file, error);
    *args_filled = true;
    return status == KER_OK ? frame_check(frame, file, args, error) : status;
}
