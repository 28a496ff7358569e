/* The words of GOAL's text. */
#include "tasks/graphs/goal.h"

#include <string.h>

/* The comment that begins here ends in this line or a later one. */
static bool comment_skip(struct ker_text *t)
{
    uint32_t from = t->in.line;
    t->in.p += 2;
    while (!ker_take_until(&t->in, "*/"))
        if (!ker_text_next(t)) {
            if (t->status == KER_OK)
                t->status = ker_lines_fail_at(&t->in, from, "the comment that begins here has no end, */");
            return false;
        }
    return true;
}

bool goal_next(struct ker_text *t)
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
        else if (!ker_text_next(t))
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
