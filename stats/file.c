/* file.c - result files that are whole or not there; see file.h. */
#include "stats/file.h"
#include "stats/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum ker_status stats_file_fail(const char *path, int why, struct ker_error *error)
{
    return ker_fail(error, KER_RUN_FAILED, "cannot write %s: %s", path, strerror(why));
}

enum ker_status stats_file_open(struct stats_file *file, const char *folder, const char *name,
                                struct ker_error *error)
{
    file->path = ker_format("%s/%s", folder, name);
    file->temporary = ker_format("%s.tmp", file->path);
    file->stream = fopen(file->temporary, "w");
    file->why = 0;
    if (file->stream) {
        errno = 0; /* see stream_close */
        return KER_OK;
    }
    stats_file_fail(file->path, errno, error);
    free(file->path);
    free(file->temporary);
    return KER_RUN_FAILED;
}

void stats_file_look(struct stats_file *file)
{
    if (!file->why && ferror(file->stream))
        file->why = errno ? errno : EIO;
}

/* 0, or why not all of the stream could be written. A write that failed before has left its reason in `why`,
 * or in errno, which open had cleared: then nothing but writes to this stream happens in between. */
static int stream_close(FILE *stream, int before)
{
    bool failed = ferror(stream) || fflush(stream);
    int why = before ? before : errno;
    if (fclose(stream) && !failed) {
        failed = true;
        why = errno;
    }
    return !failed ? 0 : why ? why : EIO;
}

enum ker_status stats_file_commit(struct stats_file *file, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    int why = stream_close(file->stream, file->why);
    if (!why && rename(file->temporary, file->path))
        why = errno;
    if (why) {
        status = stats_file_fail(file->path, why, error);
        unlink(file->temporary);
    }
    free(file->path);
    free(file->temporary);
    *file = (struct stats_file){0};
    return status;
}

void stats_file_drop(struct stats_file *file)
{
    fclose(file->stream);
    unlink(file->temporary);
    free(file->path);
    free(file->temporary);
    *file = (struct stats_file){0};
}

static int json_to_stream(const char *data, size_t bytes, void *stream)
{
    return fwrite(data, 1, bytes, stream) == bytes ? 0 : -1;
}

enum ker_status stats_json_write(const char *folder, const char *name, const json_t *object,
                                 struct ker_error *error)
{
    struct stats_file file;
    enum ker_status status = stats_file_open(&file, folder, name, error);
    if (status)
        return status;
    size_t flags = JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(17);
    int failed = json_dump_callback(object, json_to_stream, file.stream, flags);
    ker_assert(!failed || ferror(file.stream)); /* else the object itself is broken */
    putc('\n', file.stream);
    return stats_file_commit(&file, error);
}

enum ker_status stats_text_write(const char *folder, const char *name, const char *text,
                                 struct ker_error *error)
{
    struct stats_file file;
    enum ker_status status = stats_file_open(&file, folder, name, error);
    if (status)
        return status;
    fputs(text, file.stream);
    return stats_file_commit(&file, error);
}
