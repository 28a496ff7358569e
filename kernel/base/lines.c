/* lines.c - a text line by line.
 *
 * The text is never changed and need not end with a zero, so that a file may be mapped: a line is two
 * pointers into it.
 */
#include "kernel/base/lines.h"

#include "kernel/base/units.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

void ker_lines_init(struct ker_lines *l, const char *file, const char *text, size_t length,
                    struct ker_error *error)
{
    *l = (struct ker_lines){
        .file = file, .error = error, .at = text, .end = text + length, .p = text, .stop = text};
}

bool ker_lines_next(struct ker_lines *l)
{
    if (l->at >= l->end)
        return false;
    const char *newline = memchr(l->at, '\n', (size_t)(l->end - l->at));
    l->p = l->at;
    l->stop = newline ? newline : l->end;
    l->at = newline ? newline + 1 : l->end;
    l->line++;
    while (l->stop > l->p && (is_blank(l->stop[-1]) || l->stop[-1] == '\r'))
        l->stop--;
    return true;
}

bool ker_lines_next_full(struct ker_lines *l)
{
    while (ker_lines_next(l)) {
        const char *comment = memchr(l->p, '#', (size_t)(l->stop - l->p));
        l->stop = comment ? comment : l->stop;
        while (l->stop > l->p && (is_blank(l->stop[-1]) || l->stop[-1] == '\r'))
            l->stop--;
        ker_take_blanks(l);
        if (l->p < l->stop)
            return true;
    }
    return false;
}

enum ker_status ker_lines_check(const struct ker_lines *l)
{
    size_t length = (size_t)(l->end - l->at);
    return length && memchr(l->at, 0, length)
               ? ker_fail(l->error, KER_BAD_INPUT, "%s:1: this is no text file: it holds a zero byte",
                          l->file)
               : KER_OK;
}

static enum ker_status fail(struct ker_lines *l, uint32_t line, const char *format, va_list arguments)
{
    char text[sizeof l->error->text];
    vsnprintf(text, sizeof text, format, arguments);
    return ker_fail(l->error, KER_BAD_INPUT, "%s:%u: %s", l->file, line, text);
}

enum ker_status ker_lines_fail(struct ker_lines *l, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    enum ker_status status = fail(l, l->line, format, arguments);
    va_end(arguments);
    return status;
}

enum ker_status ker_lines_fail_at(struct ker_lines *l, uint32_t line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    enum ker_status status = fail(l, line, format, arguments);
    va_end(arguments);
    return status;
}

void ker_take_blanks(struct ker_lines *l)
{
    while (l->p < l->stop && is_blank(*l->p))
        l->p++;
}

bool ker_at_gap(const struct ker_lines *l)
{
    return l->p == l->stop || is_blank(*l->p);
}

enum ker_status ker_lines_end(struct ker_lines *l)
{
    ker_take_blanks(l);
    return l->p == l->stop ? KER_OK
                           : ker_lines_fail(l, "the line should end before \"%.*s\"", KER_LINE_REST(l));
}

bool ker_take_text(struct ker_lines *l, const char **text, size_t *length)
{
    *text = l->p;
    while (!ker_at_gap(l))
        l->p++;
    *length = (size_t)(l->p - *text);
    ker_take_blanks(l);
    return *length > 0;
}

bool ker_take_u32(struct ker_lines *l, uint32_t *number)
{
    uint64_t value = 0;
    const char *p = l->p;
    for (; p < l->stop && *p >= '0' && *p <= '9' && value <= UINT32_MAX; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    if (p == l->p || value > UINT32_MAX)
        return false;
    l->p = p;
    *number = (uint32_t)value;
    return true;
}

bool ker_take(struct ker_lines *l, const char *text)
{
    size_t length = strlen(text);
    if ((size_t)(l->stop - l->p) < length || memcmp(l->p, text, length) != 0)
        return false;
    l->p += length;
    return true;
}

bool ker_take_word(struct ker_lines *l, const char *word)
{
    const char *from = l->p;
    if (ker_take(l, word) && (l->p == l->stop || is_blank(*l->p))) {
        ker_take_blanks(l);
        return true;
    }
    l->p = from;
    return false;
}

bool ker_take_number(struct ker_lines *l, uint32_t *number)
{
    const char *from = l->p;
    *number = 0;
    for (; l->p < l->stop && *l->p >= '0' && *l->p <= '9'; l->p++)
        *number = *number > 99999999 ? 999999999 : *number * 10 + (uint32_t)(*l->p - '0');
    return l->p > from;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

bool ker_take_digits(struct ker_lines *l, int base, uint64_t *number)
{
    const char *from = l->p;
    *number = 0;
    for (; l->p < l->stop && l->p - from < 17 && digit_of(*l->p) < base; l->p++)
        *number = *number * (uint64_t)base + (uint64_t)digit_of(*l->p);
    return l->p > from && l->p - from <= 16;
}

const char *ker_text_find(const char *text, size_t length, const char *wanted)
{
    size_t size = strlen(wanted);
    for (const char *end = text + length, *p = text; (p = memchr(p, *wanted, (size_t)(end - p))); p++)
        if ((size_t)(end - p) < size)
            return NULL;
        else if (memcmp(p, wanted, size) == 0)
            return p;
    return NULL;
}

bool ker_take_until(struct ker_lines *l, const char *text)
{
    const char *found = ker_text_find(l->p, (size_t)(l->stop - l->p), text);
    if (found)
        l->p = found + strlen(text);
    return found != NULL;
}

/* ---- times ---- */

/* Digits go into the number while it has room, the others count in *dropped. */
static int digits_take(struct ker_lines *l, uint64_t *number, int *dropped)
{
    int count = 0;
    for (; l->p < l->stop && *l->p >= '0' && *l->p <= '9'; l->p++, count++)
        if (*number < UINT64_MAX / 10 - 1)
            *number = *number * 10 + (uint64_t)(*l->p - '0');
        else
            ++*dropped;
    return count;
}

/* "e", a sign or none, digits: what follows a number; nothing else is taken. */
static int exponent_take(struct ker_lines *l)
{
    const char *from = l->p;
    uint64_t value = 0;
    int dropped = 0;
    if (!ker_take(l, "e") && !ker_take(l, "E"))
        return 0;
    bool negative = ker_take(l, "-");
    if (!negative)
        ker_take(l, "+");
    if (!digits_take(l, &value, &dropped)) {
        l->p = from;
        return 0;
    }
    int exponent = value > 1000 || dropped ? 1000 : (int)value;
    return negative ? -exponent : exponent;
}

enum ker_status ker_lines_time(struct ker_lines *l, uint64_t unit, uint64_t *ps)
{
    const char *from = l->p;
    uint64_t number = 0;
    int whole = 0, dropped = 0;
    if (!digits_take(l, &number, &whole))
        return ker_lines_fail(l, "a time is expected before \"%.*s\"", KER_LINE_REST(l));
    if (ker_take(l, "."))
        whole -= digits_take(l, &number, &dropped);
    int power = whole + dropped + exponent_take(l);
    unsigned __int128 value = (unsigned __int128)number * unit, divisor = 1;
    const unsigned __int128 value_most = (unsigned __int128)-1 / 2;
    for (; power > 0 && value && value <= KER_TIME_MAX; power--)
        value *= 10;
    for (; power < 0 && divisor <= value && divisor < value_most / 10; power++)
        divisor *= 10;
    value = power < 0 ? 0 : (value + divisor / 2) / divisor; /* less than a tenth and a tenth of that: 0 */
    *ps = (uint64_t)value;
    if (value <= KER_TIME_MAX)
        return KER_OK;
    l->p = from;
    return ker_lines_fail(l, "the time \"%.*s\" is too long; the longest is %llu ps, about 106 days",
                          KER_LINE_REST(l), (unsigned long long)KER_TIME_MAX);
}
