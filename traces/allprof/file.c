/* file.c - lines of a trace file, plain or compressed with zstd.
 *
 * A window of the text lies in one buffer; a line is handed out where it lies, its line end overwritten by 0.
 * When the window holds no whole line its rest moves to the front and the buffer is filled up, or grows when
 * one line fills it. Memory does not depend on the size of the file.
 *
 * Invariant: text[begin..end) has not been handed out yet, text[end] may be written, and ALLPROF_SLACK bytes
 * behind it may be read.
 */
#include "traces/allprof/again.h"
#include "traces/allprof/allprof.h"
#include "traces/allprof/number.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define WINDOW_BYTES ((size_t)64 << 10) /* what has just been unpacked is read from the cache */
#define LINE_LIMIT ((size_t)64 << 20)   /* no call has arguments that long */
#define NAME_PREFIX "pmpi-trace-rank-"
#define NUMBER_DIGITS 10 /* of a task in a name, leading zeros included */

struct allprof_file {
    struct allprof_rest rest;
    char *path;
    size_t room;
    int descriptor;
    bool drained;
    bool zeros; /* there are bytes 0 in text[begin..end) */
    bool compressed;
    ZSTD_DStream *stream; /* NULL: none was compressed */
    ZSTD_inBuffer packed;
    void *packed_bytes;
    size_t pending; /* zstd: not 0 inside a frame */
    struct ker_inputs *inputs;
    struct allprof_file **spare;
    struct ker_digest digest; /* of the bytes as they lie in the file */
    struct allprof_again *again;
};

enum ker_status allprof_file_fail(const struct allprof_file *file, struct ker_error *error,
                                  const char *format, ...)
{
    char text[1024];
    KER_FORMATTED(text, format);
    if (file->rest.number == 0) /* nothing could be read */
        return ker_fail(error, KER_BAD_INPUT, "%s: %s", file->path, text);
    return ker_fail(error, KER_BAD_INPUT, "%s:%u: %s", file->path, file->rest.number, text);
}

struct allprof_rest *allprof_file_rest(struct allprof_file *file)
{
    return &file->rest;
}

uint32_t allprof_file_number(const struct allprof_file *file)
{
    return file->rest.number;
}

struct allprof_again *allprof_file_again(const struct allprof_file *file)
{
    return file->again;
}

/* The tracer pads the number to the width of the largest, or not: the file is looked for under all widths. */
char *allprof_file_path(const char *folder, uint32_t task)
{
    static const char *const suffixes[] = {".txt", ".txt.zst"};
    for (int i = 0; i < 2; i++)
        for (int width = 1; width <= NUMBER_DIGITS; width++) {
            char *path = ker_format("%s/" NAME_PREFIX "%0*u%s", folder, width, task, suffixes[i]);
            if (access(path, F_OK) == 0)
                return path;
            free(path);
        }
    return ker_format("%s/" NAME_PREFIX "%u.txt", folder, task);
}

enum ker_status allprof_line_fail(const char *folder, uint32_t task, uint32_t line, struct ker_error *error,
                                  const char *format, ...)
{
    char text[1024], *path = allprof_file_path(folder, task);
    KER_FORMATTED(text, format);
    enum ker_status status = ker_fail(error, KER_BAD_INPUT, "%s:%u: %s", path, line, text);
    free(path);
    return status;
}

/* With the buffers of the file before, if there was one. */
static struct allprof_file *file_new(const struct allprof_rules *rules)
{
    struct allprof_file *file = rules->spare ? *rules->spare : NULL;
    if (file)
        *rules->spare = NULL;
    else
        file = ker_alloc(sizeof *file);
    struct allprof_file kept = *file;
    *file = (struct allprof_file){.rest.text = kept.rest.text,
                                  .room = kept.room,
                                  .stream = kept.stream,
                                  .packed_bytes = kept.packed_bytes,
                                  .again = kept.again,
                                  .inputs = rules->inputs,
                                  .spare = rules->spare};
    if (!file->rest.text) {
        file->room = WINDOW_BYTES;
        file->rest.text = ker_realloc(NULL, file->room + ALLPROF_SLACK);
    }
    if (!file->again)
        file->again = ker_alloc(sizeof *file->again);
    return file;
}

static void file_unpacks(struct allprof_file *file)
{
    file->compressed = true;
    if (!file->stream) {
        file->stream = ZSTD_createDStream();
        ker_assert(file->stream);
        file->packed_bytes = ker_realloc(NULL, WINDOW_BYTES);
    }
    ZSTD_DCtx_reset(file->stream, ZSTD_reset_session_only);
    file->packed.src = file->packed_bytes;
}

enum ker_status allprof_file_open(struct allprof_file **opened, const char *folder, uint32_t task,
                                  const struct allprof_rules *rules, struct ker_error *error)
{
    struct allprof_file *file = file_new(rules);
    file->path = allprof_file_path(folder, task);
    enum ker_status status = ker_input_open(file->path, KER_INPUT_MOST, &file->descriptor, NULL, error);
    size_t length = strlen(file->path);
    if (status == KER_OK && strcmp(file->path + length - 4, ".zst") == 0)
        file_unpacks(file);
    *opened = file;
    if (status != KER_OK) {
        allprof_file_close(file);
        *opened = NULL;
    }
    return status;
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
    ker_digest_add(&file->digest, buffer, *got);
    return KER_OK;
}

void allprof_file_close(struct allprof_file *file)
{
    if (!file)
        return;
    struct ker_error ignored = {.status = KER_OK};
    size_t got = 1;
    if (file->descriptor >= 0) {
        while (got > 0 && file_read(file, file->rest.text, file->room, &got, &ignored) == KER_OK)
            ; /* what was not looked at counts, too: a rank may have failed because it has another file */
        ker_input_add(file->inputs, file->path, &file->digest);
        close(file->descriptor);
    }
    free(file->path);
    file->path = NULL;
    if (file->spare && !*file->spare)
        *file->spare = file;
    else
        allprof_file_free(file);
}

void allprof_file_free(struct allprof_file *file)
{
    if (!file)
        return;
    ZSTD_freeDStream(file->stream);
    KER_FREE(file->again, file->packed_bytes, file->rest.text, file);
}

static enum ker_status file_unpack(struct allprof_file *file, void *buffer, size_t bytes, size_t *got,
                                   struct ker_error *error)
{
    ZSTD_outBuffer out = {buffer, bytes, 0};
    while (out.pos == 0) {
        if (file->packed.pos == file->packed.size) {
            enum ker_status status =
                file_read(file, file->packed_bytes, WINDOW_BYTES, &file->packed.size, error);
            if (status != KER_OK)
                return status;
            file->packed.pos = 0;
            if (file->packed.size == 0) {
                *got = 0;
                return file->pending == 0
                           ? KER_OK
                           : allprof_file_fail(file, error, "the compressed file ends too early");
            }
        }
        file->pending = ZSTD_decompressStream(file->stream, &out, &file->packed);
        if (ZSTD_isError(file->pending))
            return allprof_file_fail(file, error, "not a good zstd file: %s",
                                     ZSTD_getErrorName(file->pending));
    }
    *got = out.pos;
    return KER_OK;
}

/* Makes room behind the rest of the window and reads more. */
static enum ker_status file_fill(struct allprof_file *file, struct ker_error *error)
{
    size_t rest = file->rest.end - file->rest.begin;
    if (file->rest.begin > 0)
        memmove(file->rest.text, file->rest.text + file->rest.begin, rest);
    file->rest.begin = 0;
    file->rest.end = rest;
    if (rest + 1 >= file->room) {
        if (rest >= LINE_LIMIT)
            return allprof_file_fail(file, error, "the next line is longer than any call can be");
        file->room *= 2;
        file->rest.text = ker_realloc(file->rest.text, file->room + ALLPROF_SLACK);
    }
    size_t got = 0, wanted = file->room - rest - 1;
    enum ker_status status = file->compressed ? file_unpack(file, file->rest.text + rest, wanted, &got, error)
                                              : file_read(file, file->rest.text + rest, wanted, &got, error);
    file->rest.end += got;
    file->drained = got == 0;
    file->zeros = memchr(file->rest.text, 0, file->rest.end) != NULL;
    memset(file->rest.text + file->rest.end, 0, ALLPROF_SLACK);
    return status;
}

enum ker_status allprof_file_line(struct allprof_file *file, char **line, size_t *bytes,
                                  struct ker_error *error)
{
    size_t searched = 0;
    for (;;) {
        char *from = file->rest.text + file->rest.begin;
        size_t length = file->rest.end - file->rest.begin;
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
        file->rest.begin = (size_t)(stop - file->rest.text) + (stop < file->rest.text + file->rest.end);
        file->rest.number++;
        *stop = 0;
        if (file->zeros && strlen(from) != (size_t)(stop - from))
            return allprof_file_fail(file, error, "the line contains a byte 0: not a text file");
        if (stop > from && stop[-1] == '\r')
            *--stop = 0;
        *line = from;
        *bytes = (size_t)(stop - from);
        return KER_OK;
    }
}

struct found { /* a file of the folder */
    uint32_t task, digits;
};

/* false: not the name of a trace file. */
static bool name_read(struct found *found, const char *name)
{
    size_t prefix = strlen(NAME_PREFIX);
    if (strncmp(name, NAME_PREFIX, prefix) != 0 || !isdigit((unsigned char)name[prefix]))
        return false;
    char *rest;
    unsigned long task = strtoul(name + prefix, &rest, 10);
    *found = (struct found){(uint32_t)task, (uint32_t)(rest - (name + prefix))};
    if (found->digits > NUMBER_DIGITS || task > 1u << 30)
        return false;
    return strcmp(rest, ".txt") == 0 || strcmp(rest, ".txt.zst") == 0;
}

KER_ORDER_BY(found_compare, struct found, task, digits)

/* Every task from 0 on once; a plain and a compressed file of one name count once. */
static enum ker_status found_check(const struct found *found, uint32_t count, const char *folder,
                                   uint32_t *tasks, struct ker_error *error)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (found[i].task > next)
            break;
        if (found[i].task == next)
            next++;
        else if (found[i].digits != found[i - 1].digits)
            return ker_fail(error, KER_BAD_INPUT,
                            "%s: " NAME_PREFIX "%0*u.txt and " NAME_PREFIX "%0*u.txt are both there: "
                            "files of two runs?",
                            folder, (int)found[i - 1].digits, found[i].task, (int)found[i].digits,
                            found[i].task);
    }
    *tasks = next;
    if (count == 0)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: no trace here: there is no file " NAME_PREFIX "0.txt (or .txt.zst)", folder);
    if (found[count - 1].task >= next)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: " NAME_PREFIX "%u.txt is missing, but there is one of task %u", folder, next,
                        found[count - 1].task);
    return KER_OK;
}

enum ker_status allprof_folder_count(const char *folder, uint32_t *tasks, struct ker_error *error)
{
    DIR *directory = opendir(folder);
    if (!directory)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: cannot be read: %s; a trace is a folder, named as seen from the configuration "
                        "file, with one file " NAME_PREFIX "N.txt (or .txt.zst) per task",
                        folder, strerror(errno));
    struct found *found = NULL, one;
    uint32_t count = 0, room = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (!name_read(&one, entry->d_name))
            continue;
        *KER_PUSH(found, count, room) = one;
    }
    closedir(directory);
    if (count)
        qsort(found, count, sizeof *found, found_compare);
    enum ker_status status = found_check(found, count, folder, tasks, error);
    free(found);
    return status;
}

uint64_t allprof_folder_sizes(const char *folder, uint32_t tasks, uint64_t *bytes)
{
    uint64_t digest = tasks;
    *bytes = 0;
    for (uint32_t i = 0; i < tasks; i++) {
        char *path = allprof_file_path(folder, i);
        struct stat is;
        uint64_t size = stat(path, &is) == 0 ? (uint64_t)is.st_size : 0;
        digest = ker_mix(digest + size);
        *bytes += size;
        free(path);
    }
    return digest;
}
