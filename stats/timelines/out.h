/* out.h - text files of a format, which together keep its budget. Inside stats/timelines/. */
#pragma once

#include "stats/file.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LINE_OUT_MOST 1024   /* bytes that are put at once */
#define LINE_OUT_ROOM 65536u /* bytes that are written at once, or a few more */

struct line_out {
    struct stats_file file;
    char *buffer;
    size_t used;
    uint64_t bytes, most; /* what has been put, and what may be; more is counted, and goes nowhere */
};

/* NAME in the folder; false with the error. */
bool line_out_open(struct line_out *, const char *folder, const char *name, uint64_t most,
                   struct ker_error *);
/* The bytes of what would be written. */
struct line_plan;
uint64_t line_out_counted(void (*write)(struct line_out *, const struct line_plan *),
                          const struct line_plan *);
/* Keeps the file unless it is too long or !keep. Returns its bytes. */
uint64_t line_out_close(struct line_out *, bool keep, struct ker_error *);

void line_out_bytes(struct line_out *, const char *, size_t);
void line_out_text(struct line_out *, const char *);
/* Less than LINE_OUT_MOST bytes. */
void line_out_format(struct line_out *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void line_out_json(struct line_out *, const char *); /* quoted */
void line_out_flush(struct line_out *);
/* Room for LINE_OUT_MOST bytes, which are to be written there and ended by line_out_put. */
static inline char *line_out_at(struct line_out *out)
{
    if (__builtin_expect(out->used > LINE_OUT_ROOM, 0))
        line_out_flush(out);
    return out->buffer + out->used;
}
static inline void line_out_put(struct line_out *out, const char *end)
{
    out->used = (size_t)(end - out->buffer);
}

/* What follows writes text at `at`, and returns where it ends. A text that is known at compile time: */
#define LINE_PUT(at, text) ((char *)memcpy((at), (text), sizeof(text) - 1) + (sizeof(text) - 1))
static inline char *line_put_text(char *at, const char *text)
{
    while (*text)
        *at++ = *text++;
    return at;
}
static inline char *line_put_i64(char *at, int64_t value)
{
    if (value < 0)
        *at++ = '-';
    return stats_put_u64(at, value < 0 ? -(uint64_t)value : (uint64_t)value);
}
/* A time as microseconds, with as many decimals as it needs. */
char *line_put_us(char *at, ker_time);
/* Numbers that nearly ascend mostly begin with the same digits as the one before. */
struct line_clock {
    uint64_t high;
    uint32_t bytes; /* 0: there is none so far */
    char text[STATS_MOST_DIGITS];
};
char *line_put_ordered(char *at, struct line_clock *, uint64_t value); /* below 10^19 */
/* A name in quotes, as line_out_json writes it; malloc'ed. */
char *line_json(const char *);
