/* again.h - lines that come again: the same call with the same arguments, at another time.
 *
 * Most lines of a trace are those of the loop's last pass but for their times. So what a line was read as is
 * kept, with its text from behind the start up to the end. The next line is likely the one that followed the
 * last time: it is compared with that, and read at once, if it is. Otherwise its text is looked for by its
 * hash; a line with the same call and text is not taken apart again, and the lines behind its last occurrence
 * are those to be expected.
 */
#ifndef TASKS_ALLPROF_AGAIN_H
#define TASKS_ALLPROF_AGAIN_H

#include "traces/allprof/allprof.h"
#include "traces/allprof/number.h"

#define AGAIN_LINES 256u
#define AGAIN_PLACES_LOG2 10
#define AGAIN_HISTORY 1024u
#define AGAIN_MOST 112u /* bytes of a text */
#define AGAIN_ROOM 256u /* more than a line whose text is kept */

struct again_line {
    struct allprof_args args; /* call NULL: free */
    uint64_t head, tail;      /* of the name and its colon, of 8 to 16 bytes: the first eight and the last */
    uint32_t name_bytes;      /* 0: it is longer, and not expected */
    uint32_t bytes;           /* of the text */
    uint32_t last;            /* in the history: where it stood last */
    uint64_t text[AGAIN_MOST / 8 + 1]; /* filled up with 0 */
};

struct allprof_again {
    uint64_t when; /* a task and its communicators: what was made of lines holds while it is the same */
    uint32_t used; /* lines, of which the oldest is given up for the next */
    uint32_t next,
        expected; /* in the history: the next line's, and the one of the past that it may be like */
    uint16_t history[AGAIN_HISTORY];
    uint16_t place[1 << AGAIN_PLACES_LOG2];  /* by hash; or another's */
    struct again_line line[AGAIN_LINES + 1]; /* the last is none */
};

static inline bool again_time(const char **field, int64_t *time_us)
{
    uint64_t word = allprof_word(*field);
    unsigned digits = allprof_word_digits(word);
    if (__builtin_expect(digits > 0 && digits < 8, 1)) { /* less than ten seconds: most are */
        *time_us = (int64_t)allprof_word_value(word, digits);
        *field += digits;
        return true;
    }
    return allprof_number(field, time_us) && *time_us > -(INT64_C(1) << 52) &&
           *time_us < INT64_C(1) << 52; /* 142 years: differences cannot overflow */
}

static inline uint64_t again_mask(size_t bytes)
{
    return (UINT64_C(1) << 8 * (bytes % 8)) - 1;
}

static inline bool again_same(const struct again_line *line, const char *text)
{
    uint32_t words = line->bytes / 8;
    uint64_t other = (allprof_word(text + 8 * (size_t)words) ^ line->text[words]) & again_mask(line->bytes);
    for (uint32_t i = 0; i < words; i++)
        other |= allprof_word(text + 8 * (size_t)i) ^ line->text[i];
    return !other;
}

/* The line with this number is the next of the history. */
static inline void again_note(struct allprof_again *again, uint32_t line, uint32_t expected)
{
    again->line[line].last = again->next;
    again->history[again->next++ % AGAIN_HISTORY] = (uint16_t)line;
    again->expected = expected;
}

/* The next line, when it is the one that is expected; NULL: to be read otherwise. */
static inline struct allprof_args *again_expected(struct allprof_again *again, struct allprof_rest *rest)
{
    uint32_t number = again->history[again->expected % AGAIN_HISTORY];
    struct again_line *line = &again->line[number];
    const char *from = rest->text + rest->begin, *at = from + line->name_bytes;
    int64_t start, stop;
    if (rest->end - rest->begin < AGAIN_ROOM || !line->name_bytes || allprof_word(from) != line->head ||
        allprof_word(at - 8) != line->tail || !again_time(&at, &start) || *at++ != ':' ||
        !again_same(line, at))
        return NULL;
    at += line->bytes;
    if (!again_time(&at, &stop) || *at != '\n')
        return NULL;
    rest->begin = (size_t)(at + 1 - rest->text);
    rest->number++;
    line->args.name = from;
    line->args.start_us = start;
    line->args.end_us = stop;
    again_note(again, number, again->expected + 1);
    return &line->args;
}

/* Where the line with this name (and its colon) and text has its place. */
static inline uint16_t *again_place(struct allprof_again *again, const char *name, size_t name_bytes,
                                    const char *text, size_t bytes)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = bytes ^ (name_bytes < 8 ? 0 : allprof_word(name + name_bytes - 8) * odd);
    for (; bytes >= 8; bytes -= 8, text += 8)
        hash = (hash ^ allprof_word(text)) * odd;
    hash = (hash ^ (allprof_word(text) & again_mask(bytes))) * odd;
    return &again->place[(hash ^ hash >> 29) * odd >> (64 - AGAIN_PLACES_LOG2)];
}

static inline bool again_is(const struct again_line *line, const struct allprof_call *call, const char *text,
                            size_t bytes)
{
    return line->args.call == call && line->bytes == bytes && again_same(line, text);
}

/* Returns its number. */
static inline uint32_t again_keep(struct allprof_again *again, uint16_t *place,
                                  const struct allprof_args *args, const char *name, size_t name_bytes,
                                  const char *text, size_t bytes)
{
    *place = (uint16_t)(again->used++ % AGAIN_LINES);
    struct again_line *line = &again->line[*place];
    bool expected = name_bytes >= 8 && name_bytes <= 16;
    line->args = *args;
    line->name_bytes = expected ? (uint32_t)name_bytes : 0;
    line->head = expected ? allprof_word(name) : 0;
    line->tail = expected ? allprof_word(name + name_bytes - 8) : 0;
    line->bytes = (uint32_t)bytes;
    line->text[bytes / 8] = 0;
    memcpy(line->text, text, bytes);
    return *place;
}

#endif
