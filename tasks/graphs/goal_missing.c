/* What to say of a label that is not there: the file is read once more, for its labels only. */
#include "tasks/graphs/goal.h"

#include <string.h>

struct seeker {
    const char *label; /* the characters are the caller's line */
    size_t length;
    uint32_t rank;
    uint32_t later;             /* line where the same rank defines it */
    uint32_t other, other_line; /* the first other rank that does, and where; line 0: none */
};

static void statement_look(struct seeker *s, struct ker_lines *l, uint32_t *rank)
{
    const char *word;
    size_t length;
    if (!goal_take_label(l, &word, &length))
        return;
    ker_take_blanks(l);
    if (length == 4 && memcmp(word, "rank", 4) == 0 && ker_take_u32(l, rank))
        return;
    if (length != s->length || memcmp(word, s->label, length) != 0 || !ker_take(l, ":"))
        return;
    if (*rank == s->rank && !s->later)
        s->later = l->line;
    else if (*rank != s->rank && !s->other_line) {
        s->other = *rank;
        s->other_line = l->line;
    }
}

/* Up to where another statement or a comment may begin. */
static void rest_skip(struct ker_lines *l)
{
    while (l->p < l->stop && *l->p != '{' && *l->p != '/')
        l->p++;
    if (l->p < l->stop && (*l->p == '{' || l->stop - l->p < 2 || (l->p[1] != '/' && l->p[1] != '*')))
        l->p++;
}

enum ker_status goal_label_missing(struct ker_lines *at, const char *label, size_t length, uint32_t rank)
{
    struct seeker s = {.label = label, .length = length, .rank = rank};
    struct ker_error ignored = {.status = KER_OK};
    struct ker_text text;
    uint32_t block = UINT32_MAX;
    int shown = length > 40 ? 40 : (int)length;
    if (ker_text_open(&text, at->file, NULL, &ignored) == KER_OK)
        while (!s.later && goal_next(&text)) {
            statement_look(&s, &text.in, &block);
            rest_skip(&text.in);
        }
    ker_text_close(&text, false);
    if (s.later)
        return ker_lines_fail(
            at, "the label \"%.*s\" is defined in line %u only; labels are defined before they are used",
            shown, label, s.later);
    if (s.other_line)
        return ker_lines_fail(at,
                              "rank %u has no label \"%.*s\"; rank %u has one in line %u, but dependencies "
                              "are between operations of one rank",
                              rank, shown, label, s.other, s.other_line);
    return ker_lines_fail(at, "rank %u has no label \"%.*s\"", rank, shown, label);
}
