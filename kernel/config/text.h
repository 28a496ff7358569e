/* text.h - the text of a configuration, made ready for libconfig. Inside kernel/ only. */
#pragma once

#include "kernel/base/base.h"

#include <stddef.h>

/* Where a line of the joined text came from. */
struct ker_config_origin {
    const char *file;
    int line;
};

struct ker_config_text {
    char *text; /* of the file and all it includes */
    size_t length, room;
    struct ker_config_origin *origin; /* of line i + 1 */
    size_t lines, line_room;
    char **file; /* names, owned: origins and nodes point to them */
    int files;
};

/* The whole file, malloc'ed, NULL with the error; a pipe will do. */
enum ker_status ker_config_text_read(char **text, const char *path, struct ker_error *error);
/* Reads a file; `path` is in messages. */
enum ker_status ker_config_text_load(struct ker_config_text *, const char *path, struct ker_error *error);
/* The same from memory; includes are relative to the folder of `name`. */
enum ker_status ker_config_text_parse(struct ker_config_text *, const char *name, const char *text,
                                      struct ker_error *error);
void ker_config_text_release(struct ker_config_text *);
/* The origin of a line counted from 1 (libconfig's count), never NULL once something was read. */
struct ker_config_origin ker_config_text_origin(const struct ker_config_text *, unsigned line);

/* `path` as seen from the file `base`: malloc'ed. */
char *ker_config_path_join(const char *base, const char *path);
