/* The words of GOAL's text. */
#include "tasks/graphs/goal.h"

#include <string.h>

/* The comment that begins here ends in this line or a later one. */
static bool comment_skip(struct graph_text *t)
{
    uint32_t from = t->in.line;
    t->in.p += 2;
    while (!ker_take_until(&t->in, "*/"))
        if (!graph_text_next(t)) {
            if (t->status == KER_OK)
                t->status = ker_lines_fail_at(&t->in, from, "the comment that begins here has no end, */");
            return false;
        }
    return true;
}

bool goal_next(struct graph_text *t)
{
    struct ker_lines *l = &t->in;
    for (;;) {
        ker_take_blanks(l);
        bool slash = l->stop - l->p >= 2 && *l->p == '/';
        if (slash && l->p[1] == '*') {
            if (!comment_skip(t))
                return false;
        } else if (l->p < l->stop && !(slash && l->p[1] == '/'))
            return true;
        else if (!graph_text_next(t))
            return false;
    }
}

bool goal_take_label(struct ker_lines *l, const char **label, size_t *length)
{
    const char *p = l->p;
    *label = p;
    while (p < l->stop && ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_' ||
                           (*p >= '0' && *p <= '9' && p > l->p)))
        p++;
    *length = (size_t)(p - l->p);
    l->p = p;
    return *length > 0;
}

bool goal_take_key(struct ker_lines *l, const char *word)
{
    ker_take_blanks(l);
    if (!ker_take(l, word))
        return false;
    ker_take_blanks(l);
    return true;
}

enum ker_status goal_number(struct ker_lines *l, const char *what, uint64_t most, uint64_t *number)
{
    const char *from = l->p;
    uint64_t value = 0;
    bool fits = true;
    for (; l->p < l->stop && *l->p >= '0' && *l->p <= '9'; l->p++) {
        uint64_t digit = (uint64_t)(*l->p - '0');
        fits = fits && !__builtin_mul_overflow(value, 10, &value) &&
               !__builtin_add_overflow(value, digit, &value);
    }
    *number = value;
    if (l->p == from)
        return ker_lines_fail(l, "%s is expected before \"%.*s\"", what, KER_LINE_REST(l));
    if (fits && value <= most)
        return KER_OK;
    l->p = from;
    return ker_lines_fail(l, "%s \"%.*s\" is too large; the most is %llu", what, KER_LINE_REST(l),
                          (unsigned long long)most);
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

enum ker_status goal_time(struct ker_lines *l, uint64_t unit, uint64_t *ps)
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
