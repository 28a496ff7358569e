/* again.h - lines that come again: the same call with the same arguments, at another time.
 *
 * Most lines of a trace are those of the loop's last pass but for their times. So what a line was read as is
 * kept, with its text from behind the start up to the end. The next line is likely the one that followed the
 * last time: it is compared with that, and read at once, if it is. Otherwise its text is looked for by its
 * hash; a line with the same call and text is not taken apart again, and the lines behind its last occurrence
 * are those to be expected.
 */
#pragma once

#include "traces/allprof/allprof.h"
#include "traces/allprof/number.h"

#define AGAIN_LINES 256u
#define AGAIN_PLACES_LOG2 10
#define AGAIN_HISTORY 1024u
#define AGAIN_MOST 112u /* bytes of a text */
#define AGAIN_ROOM 256u /* more than a line whose text is kept */

struct again_line {
    struct allprof_args args;
    uint64_t head, tail; /* of the name and its colon, of 8 to 16 bytes: the first eight and the last */
    uint32_t name_bytes; /* 0: none is kept */
    uint32_t bytes;      /* of the text */
    uint32_t last;       /* in the history: where it stood last */
    uint64_t text[AGAIN_MOST / 8 + 1]; /* filled up with 0 */
};

struct again_parts { /* of a line that may be kept */
    uint64_t head, tail;
    size_t name_bytes, bytes;
    const char *text; /* between start and end, with both colons but for the first */
    int64_t start_us, end_us;
};

struct allprof_again {
    uint64_t when; /* a task and its communicators: what was made of lines holds while it is the same */
    uint32_t used; /* lines, of which the oldest is given up for the next */
    uint32_t next,
        expected; /* in the history: the next line's, and the one of the past that it may be like */
    uint16_t history[AGAIN_HISTORY];
    uint16_t place[1 << AGAIN_PLACES_LOG2];  /* by hash; or another's */
    struct again_line line[AGAIN_LINES + 1]; /* the last is that of a line that is not kept */
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

/* Where the line has its place. */
static inline uint16_t *again_place(struct allprof_again *again, const struct again_parts *parts)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    const char *text = parts->text;
    size_t bytes = parts->bytes;
    uint64_t hash = bytes ^ parts->tail * odd;
    for (; bytes >= 8; bytes -= 8, text += 8)
        hash = (hash ^ allprof_word(text)) * odd;
    hash = (hash ^ (allprof_word(text) & again_mask(bytes))) * odd;
    return &again->place[(hash ^ hash >> 29) * odd >> (64 - AGAIN_PLACES_LOG2)];
}

static inline bool again_named(const struct again_line *line, const struct again_parts *parts)
{
    return line->name_bytes == parts->name_bytes && line->head == parts->head && line->tail == parts->tail;
}

static inline bool again_is(const struct again_line *line, const struct again_parts *parts)
{
    return again_named(line, parts) && line->bytes == parts->bytes && again_same(line, parts->text);
}

/* The call, if it is that of the line that is expected; NULL: it is to be looked up. */
static inline const struct allprof_call *again_call(const struct allprof_again *again,
                                                    const struct again_parts *parts)
{
    const struct again_line *line = &again->line[again->history[again->expected % AGAIN_HISTORY]];
    return again_named(line, parts) ? line->args.call : NULL;
}

/* Its arguments are to be filled in. Returns its number. */
static inline uint32_t again_keep(struct allprof_again *again, uint16_t *place,
                                  const struct again_parts *parts)
{
    *place = (uint16_t)(again->used++ % AGAIN_LINES);
    struct again_line *line = &again->line[*place];
    line->head = parts->head;
    line->tail = parts->tail;
    line->name_bytes = (uint32_t)parts->name_bytes;
    line->bytes = (uint32_t)parts->bytes;
    line->text[parts->bytes / 8] = 0;
    memcpy(line->text, parts->text, parts->bytes);
    return *place;
}

/* May the line be kept? Lists lie in its text; what begins and ends a trace is checked each time. */
static inline bool again_may(const struct allprof_args *args)
{
    return !args->counts && !args->counts2 && args->call->kind != ALLPROF_INIT &&
           args->call->kind != ALLPROF_FINALIZE;
}
