/* allprof_file.c - lines of a trace file, plain or compressed with zstd.
 *
 * A window of the text lies in one buffer; a line is handed out where it lies, its line end overwritten by 0. When
 * the window holds no whole line its rest moves to the front and the buffer is filled up, or grows when one line
 * fills it. Memory does not depend on the size of the file.
 *
 * Invariant: text[begin..end) has not been handed out yet, and text[end] may be written.
 */
#include "tasks/allprof.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define WINDOW_BYTES ((size_t)256 << 10)
#define LINE_LIMIT ((size_t)64 << 20) /* no call has arguments that long */
#define NAME_PREFIX "pmpi-trace-rank-"

struct allprof_file {
    char *path, *text;
    size_t begin, end, room;
    uint32_t number;
    int descriptor;
    bool drained;
    ZSTD_DStream *stream; /* NULL: plain */
    ZSTD_inBuffer packed;
    void *packed_bytes;
    size_t pending; /* zstd: not 0 inside a frame */
};

enum ker_status allprof_file_fail(const struct allprof_file *file, struct ker_error *error, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (file->number == 0) /* nothing could be read */
        return ker_fail(error, KER_BAD_INPUT, "%s: %s", file->path, text);
    return ker_fail(error, KER_BAD_INPUT, "%s:%u: %s", file->path, file->number, text);
}

uint32_t allprof_file_number(const struct allprof_file *file)
{
    return file->number;
}

enum ker_status allprof_file_open(struct allprof_file **opened, const char *folder, uint32_t task,
                                  struct ker_error *error)
{
    struct allprof_file *file = ker_alloc(sizeof *file);
    file->path = ker_format("%s/" NAME_PREFIX "%u.txt", folder, task);
    file->room = WINDOW_BYTES;
    file->text = ker_alloc(file->room);
    file->descriptor = open(file->path, O_RDONLY);
    if (file->descriptor < 0 && errno == ENOENT) {
        char *packed = ker_format("%s.zst", file->path);
        file->descriptor = open(packed, O_RDONLY);
        if (file->descriptor >= 0) {
            free(file->path);
            file->path = packed;
            file->stream = ZSTD_createDStream();
            ker_assert(file->stream);
            file->packed_bytes = ker_alloc(WINDOW_BYTES);
            file->packed.src = file->packed_bytes;
        } else {
            free(packed);
        }
    }
    *opened = file;
    if (file->descriptor < 0) {
        enum ker_status status = ker_fail(error, KER_BAD_INPUT, "%s: cannot be read: %s", file->path, strerror(errno));
        allprof_file_close(file);
        *opened = NULL;
        return status;
    }
    return KER_OK;
}

void allprof_file_close(struct allprof_file *file)
{
    if (!file)
        return;
    if (file->descriptor >= 0)
        close(file->descriptor);
    ZSTD_freeDStream(file->stream);
    free(file->packed_bytes);
    free(file->text);
    free(file->path);
    free(file);
}

/* Reads up to `bytes`; *got 0 at the end of the file. */
static enum ker_status file_read(struct allprof_file *file, void *buffer, size_t bytes, size_t *got,
                                 struct ker_error *error)
{
    ssize_t result;
    do
        result = read(file->descriptor, buffer, bytes);
    while (result < 0 && errno == EINTR);
    if (result < 0)
        return ker_fail(error, KER_BAD_INPUT, "%s: cannot be read: %s", file->path, strerror(errno));
    *got = (size_t)result;
    return KER_OK;
}

static enum ker_status file_unpack(struct allprof_file *file, void *buffer, size_t bytes, size_t *got,
                                   struct ker_error *error)
{
    ZSTD_outBuffer out = {buffer, bytes, 0};
    while (out.pos == 0) {
        if (file->packed.pos == file->packed.size) {
            enum ker_status status = file_read(file, file->packed_bytes, WINDOW_BYTES, &file->packed.size, error);
            if (status != KER_OK)
                return status;
            file->packed.pos = 0;
            if (file->packed.size == 0) {
                *got = 0;
                return file->pending == 0 ? KER_OK
                                          : allprof_file_fail(file, error, "the compressed file ends too early");
            }
        }
        file->pending = ZSTD_decompressStream(file->stream, &out, &file->packed);
        if (ZSTD_isError(file->pending))
            return allprof_file_fail(file, error, "not a good zstd file: %s", ZSTD_getErrorName(file->pending));
    }
    *got = out.pos;
    return KER_OK;
}

/* Makes room behind the rest of the window and reads more. */
static enum ker_status file_fill(struct allprof_file *file, struct ker_error *error)
{
    size_t rest = file->end - file->begin;
    if (file->begin > 0)
        memmove(file->text, file->text + file->begin, rest);
    file->begin = 0;
    file->end = rest;
    if (rest + 1 >= file->room) {
        if (rest >= LINE_LIMIT)
            return allprof_file_fail(file, error, "the next line is longer than any call can be");
        file->room *= 2;
        file->text = ker_realloc(file->text, file->room);
    }
    size_t got = 0, wanted = file->room - rest - 1;
    enum ker_status status = file->stream ? file_unpack(file, file->text + rest, wanted, &got, error)
                                          : file_read(file, file->text + rest, wanted, &got, error);
    file->end += got;
    file->drained = got == 0;
    return status;
}

enum ker_status allprof_file_line(struct allprof_file *file, char **line, struct ker_error *error)
{
    size_t searched = 0;
    for (;;) {
        char *from = file->text + file->begin;
        size_t length = file->end - file->begin;
        char *stop = length > searched ? memchr(from + searched, '\n', length - searched) : NULL;
        if (!stop && !file->drained) {
            searched = length;
            enum ker_status status = file_fill(file, error);
            if (status != KER_OK)
                return status;
            continue;
        }
        *line = NULL;
        if (!stop && length == 0)
            return KER_OK;
        if (!stop)
            stop = from + length;
        file->begin = (size_t)(stop - file->text) + (stop < file->text + file->end);
        file->number++;
        *stop = 0;
        if (strlen(from) != (size_t)(stop - from))
            return allprof_file_fail(file, error, "the line contains a byte 0: not a text file");
        if (stop > from && stop[-1] == '\r')
            stop[-1] = 0;
        *line = from;
        return KER_OK;
    }
}

/* -1: not the name of a trace file. */
static int64_t name_task(const char *name)
{
    size_t prefix = strlen(NAME_PREFIX);
    if (strncmp(name, NAME_PREFIX, prefix) != 0 || name[prefix] < '0' || name[prefix] > '9')
        return -1;
    char *rest;
    unsigned long task = strtoul(name + prefix, &rest, 10);
    if ((name[prefix] == '0' && rest != name + prefix + 1) || task > 1u << 30)
        return -1;
    return strcmp(rest, ".txt") == 0 || strcmp(rest, ".txt.zst") == 0 ? (int64_t)task : -1;
}

static int number_compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

enum ker_status allprof_folder_count(const char *folder, uint32_t *tasks, struct ker_error *error)
{
    DIR *directory = opendir(folder);
    if (!directory)
        return ker_fail(error, KER_BAD_INPUT, "%s: cannot be read: %s; a trace is a folder, named as seen from the configuration file, with one file "
                        NAME_PREFIX "N.txt (or .txt.zst) per task", folder, strerror(errno));
    uint32_t *found = NULL, count = 0, room = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        int64_t task = name_task(entry->d_name);
        if (task < 0)
            continue;
        if (count == room) {
            room = room ? 2 * room : 64;
            found = ker_realloc(found, room * sizeof *found);
        }
        found[count++] = (uint32_t)task;
    }
    closedir(directory);
    if (count)
        qsort(found, count, sizeof *found, number_compare);
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; i++)
        if (found[i] == next) /* a plain and a compressed file of one task count once */
            next++;
        else if (next == 0 || found[i] != next - 1)
            break;
    enum ker_status status = KER_OK;
    if (count == 0)
        status = ker_fail(error, KER_BAD_INPUT, "%s: no trace here: there is no file " NAME_PREFIX "0.txt (or .txt.zst)",
                          folder);
    else if (found[count - 1] >= next)
        status = ker_fail(error, KER_BAD_INPUT, "%s: " NAME_PREFIX "%u.txt is missing, but there is one of task %u",
                          folder, next, found[count - 1]);
    *tasks = next;
    free(found);
    return status;
}
