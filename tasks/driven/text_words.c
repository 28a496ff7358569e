/* text_words.c - the words of message-driven programs as text. */
#include "tasks/driven/text.h"

#include <string.h>

#define MOST_TIME ((ker_time)1000000 * KER_S)
#define MOST_BYTES (UINT64_C(1) << 40)

enum ker_status driven_word_take(struct ker_lines *l, const char *what, struct driven_word *word)
{
    size_t length;
    if (!ker_take_text(l, &word->at, &length))
        return ker_lines_fail(l, "%s is expected at the end of the line", what);
    word->length = (uint32_t)(length <= DRIVEN_NAME ? length : DRIVEN_NAME);
    if (length > DRIVEN_NAME)
        return ker_lines_fail(l, "\"%.40s...\" is too long for %s: %d characters at most", word->at, what,
                              DRIVEN_NAME);
    return KER_OK;
}

enum ker_status driven_name_take(struct ker_lines *l, const char *what, struct driven_word *word)
{
    enum ker_status status = driven_word_take(l, what, word);
    if (status == KER_OK && memchr(word->at, '.', word->length))
        return ker_lines_fail(l, "%s has no dot in it: OBJECT.LABEL is how messages name a block", what);
    return status;
}

enum ker_status driven_number_take(struct ker_lines *l, const char *what, uint32_t least, uint32_t most,
                                   uint32_t *number)
{
    const char *from = l->p;
    bool taken = ker_take_u32(l, number) && ker_at_gap(l);
    if (!taken || *number < least || *number > most) {
        l->p = from;
        return ker_lines_fail(l, "%s is expected before \"%.*s\": a whole number of %u to %u", what,
                              KER_LINE_REST(l), least, most);
    }
    ker_take_blanks(l);
    return KER_OK;
}

/* A value with its unit in one word; NUL-terminated for the parsers. */
static enum ker_status value_take(struct ker_lines *l, const char *what, char text[DRIVEN_NAME + 1])
{
    struct driven_word word;
    enum ker_status status = driven_word_take(l, what, &word);
    if (status == KER_OK) {
        memcpy(text, word.at, word.length);
        text[word.length] = 0;
    }
    return status;
}

enum ker_status driven_time_take(struct ker_lines *l, ker_time *time)
{
    char text[DRIVEN_NAME + 1];
    const char *why;
    enum ker_status status = value_take(l, "a time, as in 10us,", text);
    if (status)
        return status;
    if (ker_parse_time(text, time, &why))
        return ker_lines_fail(l, "the time \"%s\": %s (no blank before the unit)", text, why);
    if (*time > MOST_TIME)
        return ker_lines_fail(l, "the time \"%s\" is too long; the longest is 1000000 s", text);
    return KER_OK;
}

enum ker_status driven_bytes_take(struct ker_lines *l, uint64_t *bytes)
{
    char text[DRIVEN_NAME + 1];
    const char *why;
    enum ker_status status = value_take(l, "a size, as in 4KiB,", text);
    if (status)
        return status;
    if (ker_parse_bytes(text, bytes, &why))
        return ker_lines_fail(l, "the size \"%s\": %s (no blank before the unit)", text, why);
    if (*bytes > MOST_BYTES)
        return ker_lines_fail(l, "the size \"%s\" is too large; the largest is 1 TiB", text);
    return KER_OK;
}
