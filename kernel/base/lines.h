/* lines.h - a text line by line, and the words and numbers of a line: what readers of input files share.
 *
 * A reader holds a struct ker_lines over a text in memory and calls ker_lines_next until it returns false.
 * Each of the ker_take functions takes what it stands for from the front of the line's rest and returns true,
 * or returns false and takes nothing, unless it says otherwise. Blanks are spaces and tabs.
 */
#pragma once

#include "kernel/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ker_lines {
    const char *file; /* for messages */
    struct ker_error *error;
    const char *at, *end; /* what follows the line */
    const char *p, *stop; /* the rest of the line, without the blanks and the carriage return at its end */
    uint32_t line;        /* its number; 0 before the first */
};

/* What is left of the line, up to 40 characters, for "%.*s". */
#define KER_LINE_REST(l) ((l)->stop - (l)->p > 40 ? 40 : (int)((l)->stop - (l)->p)), (l)->p

void ker_lines_init(struct ker_lines *, const char *file, const char *text, size_t length,
                    struct ker_error *);
/* Goes to the next line, which may be empty; false: there is none. */
bool ker_lines_next(struct ker_lines *);
/* The same, but # begins a comment, and lines with nothing else are passed over, and blanks at the beginning.
 */
bool ker_lines_next_full(struct ker_lines *);
/* Refuses a text with a zero byte in it, which is none. */
enum ker_status ker_lines_check(const struct ker_lines *);
/* KER_BAD_INPUT with "FILE:LINE: " and the text, for the current line, or another one. */
enum ker_status ker_lines_fail(struct ker_lines *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum ker_status ker_lines_fail_at(struct ker_lines *, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void ker_take_blanks(struct ker_lines *);
/* A blank or the end of the line comes next. */
bool ker_at_gap(const struct ker_lines *);
/* The end of the line is reached; else KER_BAD_INPUT. */
enum ker_status ker_lines_end(struct ker_lines *);
bool ker_take(struct ker_lines *, const char *text);
/* A word, which a blank or the end of the line follows, and those blanks. */
bool ker_take_word(struct ker_lines *, const char *word);
/* What is up to the next blank, and the blanks behind it. */
bool ker_take_text(struct ker_lines *, const char **text, size_t *length);
/* A whole number up to 2^32 - 1, all its digits. */
bool ker_take_u32(struct ker_lines *, uint32_t *number);
/* Decimal digits; what does not fit becomes 999999999. */
bool ker_take_number(struct ker_lines *, uint32_t *number);
/* 1 to 16 digits of a base up to 16; after a false some may have been passed over. */
bool ker_take_digits(struct ker_lines *, int base, uint64_t *number);
/* Digits with a fraction or a decimal exponent, times the unit, rounded half up; else KER_BAD_INPUT. */
enum ker_status ker_lines_time(struct ker_lines *, uint64_t unit, uint64_t *ps);
/* Goes behind the next occurrence of the text in the line. */
bool ker_take_until(struct ker_lines *, const char *text);

/* Where `wanted` begins in a text, or NULL. */
const char *ker_text_find(const char *text, size_t length, const char *wanted);
