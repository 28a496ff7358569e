/* Text files in pieces: what is in memory ends with a whole line, or with the file; the beginning of the line
 * behind it is moved to the front when more is read. */
#define _GNU_SOURCE
#include "kernel/base/text.h"

#include "kernel/base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)1 << 20)

enum ker_status ker_text_open(struct ker_text *t, const char *path, struct ker_inputs *inputs,
                              struct ker_error *error)
{
    *t = (struct ker_text){.inputs = inputs, .file = -1};
    t->piece = t->end = ker_realloc(NULL, PIECE_BYTES);
    ker_lines_init(&t->in, path, t->piece, 0, error);
    return t->status = ker_input_open(path, KER_INPUT_MOST, &t->file, &t->bytes, error);
}

/* Reads up to `bytes` behind the end; false: nothing came. */
static bool text_read(struct ker_text *t, size_t bytes)
{
    ssize_t got;
    do
        got = read(t->file, t->end, bytes);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        t->status =
            ker_fail(t->in.error, KER_BAD_INPUT, "%s: cannot be read: %s", t->in.file, strerror(errno));
    if (got <= 0)
        return false;
    ker_digest_add(&t->digest, t->end, (size_t)got);
    t->end += got;
    return true;
}

/* The next whole lines. */
static bool text_more(struct ker_text *t)
{
    size_t held = (size_t)(t->end - t->in.at);
    char *newline = NULL;
    memmove(t->piece, t->in.at, held);
    t->end = t->piece + held;
    while (!newline && !t->ended) {
        char *from = t->end;
        size_t room = PIECE_BYTES - (size_t)(t->end - t->piece);
        if (room == 0)
            t->status =
                ker_lines_fail_at(&t->in, t->in.line + 1, "the line is longer than %zu bytes", PIECE_BYTES);
        if (room == 0 || (!text_read(t, room) && t->status))
            return false;
        t->ended = t->end == from;
        newline = memrchr(from, '\n', (size_t)(t->end - from));
    }
    t->in.at = t->piece;
    t->in.end = newline ? newline + 1 : t->end;
    t->status = ker_lines_check(&t->in);
    return t->status == KER_OK && t->in.end > t->in.at;
}

bool ker_text_next(struct ker_text *t)
{
    if (t->in.at == t->in.end && (t->status || !text_more(t)))
        return false;
    return ker_lines_next(&t->in);
}

void ker_text_close(struct ker_text *t, bool all)
{
    struct ker_error ignored = {.status = KER_OK};
    t->in.error = &ignored;
    if (t->file >= 0) {
        do
            t->end = t->piece;
        while (all && text_read(t, PIECE_BYTES));
        if (all)
            ker_input_add(t->inputs, t->in.file, &t->digest);
        close(t->file);
    }
    free(t->piece);
    t->piece = NULL;
    t->file = -1;
}
