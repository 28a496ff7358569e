/* again.h - lines that come again: the same call with the same arguments, at another time.
 *
 * Most lines of a trace are those of the loop's last pass but for their times. So what a line was read as is
 * kept, with its text from behind the start up to the end; a line with the same call and text is not taken
 * apart again. A place is the last line's whose text has its hash.
 */
#ifndef TASKS_ALLPROF_AGAIN_H
#define TASKS_ALLPROF_AGAIN_H

#include "tasks/traces/allprof/allprof.h"
#include "tasks/traces/allprof/number.h"

#define AGAIN_PLACES_LOG2 8
#define AGAIN_LEAST 8 /* bytes of a text */
#define AGAIN_MOST 112

struct allprof_again {
    struct again_line {
        struct allprof_args args; /* call NULL: free */
        uint32_t bytes;
        char text[AGAIN_MOST];
    } line[1 << AGAIN_PLACES_LOG2];
};

/* Where this text has its place; NULL: it is too short or too long for one. */
static inline struct again_line *again_place(struct allprof_again *again, const char *text, size_t bytes)
{
    if (bytes < AGAIN_LEAST || bytes > AGAIN_MOST)
        return NULL;
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = bytes;
    for (size_t at = 0; at + 8 < bytes; at += 8)
        hash = (hash ^ allprof_word(text + at)) * odd;
    hash = (hash ^ allprof_word(text + bytes - 8)) * odd;
    return &again->line[(hash ^ hash >> 29) * odd >> (64 - AGAIN_PLACES_LOG2)];
}

static inline bool again_is(const struct again_line *line, const struct allprof_call *call, const char *text,
                            size_t bytes)
{
    return line->args.call == call && line->bytes == bytes && memcmp(line->text, text, bytes) == 0;
}

static inline void again_keep(struct again_line *line, const struct allprof_args *args, const char *text,
                              size_t bytes)
{
    line->args = *args;
    line->bytes = (uint32_t)bytes;
    memcpy(line->text, text, bytes);
}

#endif
