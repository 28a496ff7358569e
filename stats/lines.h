/* lines.h - inside stats/: rows of text in transit to a stream, many with one call of stdio. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define STATS_LINES_ROOM 16384u    /* bytes that are kept, */
#define STATS_LINES_MOST 2048      /* and that are put at once */
#define STATS_LINES_PREFIX 32      /* bytes of cells whose text is kept, */
#define STATS_LINES_PREFIX_TEXT 96 /* and of this text */

struct stats_lines {
    FILE *stream;
    char *buffer;
    size_t used;
    uint64_t flushes;
    /* of the table's row that was written last: its first cells, and their text */
    struct {
        char cells[STATS_LINES_PREFIX], text[STATS_LINES_PREFIX_TEXT];
        size_t length; /* of the text; 0: there is none */
    } last;
};

void stats_lines_init(struct stats_lines *, FILE *);
void stats_lines_release(struct stats_lines *); /* what is in it is gone; the stream stays */
/* Hands over what is there. Errors are the stream's (ferror). */
void stats_lines_flush(struct stats_lines *);

/* Room for STATS_LINES_MOST bytes, which are to be written there and ended by stats_lines_end; what lay
 * before has been handed over when it returns the buffer's beginning. */
static inline char *stats_lines_at(struct stats_lines *l)
{
    if (__builtin_expect(l->used > STATS_LINES_ROOM, 0))
        stats_lines_flush(l);
    return l->buffer + l->used;
}
static inline void stats_lines_end(struct stats_lines *l, const char *end)
{
    l->used = (size_t)(end - l->buffer);
}
/* A text of any length: as it is; and quoted when it needs to be (RFC 4180). */
void stats_lines_text(struct stats_lines *, const char *);
void stats_lines_quoted(struct stats_lines *, const char *);
