/* lines.c - a buffer before a stream: a row of a table is some sixty bytes, for which a call of stdio costs
 * as much as making them. */
#include "stats/lines.h"

#include "kernel/base/base.h"

#include <stdlib.h>
#include <string.h>

void stats_lines_init(struct stats_lines *l, FILE *stream)
{
    *l = (struct stats_lines){.stream = stream};
    l->buffer = ker_alloc(STATS_LINES_ROOM + STATS_LINES_MOST);
}

void stats_lines_release(struct stats_lines *l)
{
    free(l->buffer);
    *l = (struct stats_lines){0};
}

void stats_lines_flush(struct stats_lines *l)
{
    fwrite_unlocked(l->buffer, 1, l->used, l->stream);
    l->used = 0;
    l->flushes++;
}

void stats_lines_text(struct stats_lines *l, const char *text)
{
    for (size_t left = strlen(text); left;) {
        size_t here = left < STATS_LINES_MOST ? left : STATS_LINES_MOST;
        char *at = stats_lines_at(l);
        memcpy(at, text, here);
        stats_lines_end(l, at + here);
        text += here;
        left -= here;
    }
}

void stats_lines_quoted(struct stats_lines *l, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        stats_lines_text(l, text);
        return;
    }
    stats_lines_text(l, "\"");
    for (; *text; text++) {
        char letter[3] = {*text, *text == '"' ? '"' : '\0', '\0'};
        stats_lines_text(l, letter);
    }
    stats_lines_text(l, "\"");
}
