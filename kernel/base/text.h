/* text.h - a text file line by line, of which only a piece is in memory. Zero bytes and lines of more than a
 * MiB are refused. */
#pragma once

#include "kernel/base/input.h"
#include "kernel/base/lines.h"

struct ker_text {
    struct ker_lines in; /* the current line */
    enum ker_status status;
    uint64_t bytes; /* of the file, when it was opened */
    struct ker_inputs *inputs;
    struct ker_digest digest;
    char *piece, *end; /* what is read of it ends here, perhaps within a line */
    int file;
    bool ended;
};

/* To be closed, whatever it returns. inputs may be NULL. */
enum ker_status ker_text_open(struct ker_text *, const char *path, struct ker_inputs *inputs,
                              struct ker_error *);
/* Goes to the next line; false at the end, and when the file cannot be read on: then there is a status. */
bool ker_text_next(struct ker_text *);
/* Registers what was read and, when all: the rest of the file, too. */
void ker_text_close(struct ker_text *, bool all);
