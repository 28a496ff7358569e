/* text.h - a text file line by line, of which only a piece is in memory. Zero bytes and lines of more than a
 * MiB are refused. */
#ifndef TASKS_GRAPH_TEXT_H
#define TASKS_GRAPH_TEXT_H

#include "kernel/kernel.h"

struct graph_text {
    struct ker_lines in; /* the line at hand */
    enum ker_status status;
    uint64_t bytes; /* of the file, when it was opened */
    struct ker_inputs *inputs;
    struct ker_digest digest;
    char *piece, *end; /* what is read of it ends here, perhaps within a line */
    int file;
    bool ended;
};

/* To be closed, whatever it returns. inputs may be NULL. */
enum ker_status graph_text_open(struct graph_text *, const char *path, struct ker_inputs *inputs,
                                struct ker_error *);
/* Goes to the next line; false at the end, and when the file cannot be read on: then there is a status. */
bool graph_text_next(struct graph_text *);
/* Registers what was read and, when all: the rest of the file, too. */
void graph_text_close(struct graph_text *, bool all);

#endif
