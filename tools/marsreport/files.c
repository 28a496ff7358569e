/* files.c - the files of a result folder, and the notes on what is wrong with them. */
#define _GNU_SOURCE
#include "tools/marsreport/report.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

FILE *rep_file_open(struct rep_folder *f, const char *name)
{
    char *path = ker_format("%s/%s", f->path, name);
    struct stat is;
    bool found = stat(path, &is) == 0; /* first: to open a pipe may wait for ever, and a device has no end */
    FILE *file = found && S_ISREG(is.st_mode) ? fopen(path, "rb") : NULL;
    if (found && !file)
        rep_note(f, true, "%s: %s; it is left out", name,
                 S_ISREG(is.st_mode) ? strerror(errno) : "is no regular file");
    free(path);
    return file;
}

char *rep_file_read(struct rep_folder *f, const char *name, size_t *length)
{
    char *text = NULL;
    FILE *file = rep_file_open(f, name);
    struct stat is;
    if (file && fstat(fileno(file), &is) == 0) {
        text = ker_alloc((size_t)is.st_size + 1);
        *length = fread(text, 1, (size_t)is.st_size, file);
        text[*length] = '\0';
    }
    if (file)
        fclose(file);
    return text;
}

void rep_note(struct rep_folder *f, bool damage, const char *format, ...)
{
    char text[1024];
    KER_FORMATTED(text, format);
    for (size_t i = 0; i < json_array_size(f->notes); i++)
        if (strcmp(json_string_value(json_array_get(f->notes, i)), text) == 0)
            return; /* a table may be read more than once */
    json_array_append_new(f->notes, stats_text_json(text));
    if (damage)
        fprintf(stderr, "%s: warning: %s/%s\n", program_invocation_short_name, f->path, text);
    else if (f->tells)
        fprintf(stderr, "%s: note: %s\n", program_invocation_short_name, text);
    f->damaged |= damage;
}
