/* line.c - a line of a trace: the number of a task, an action, numbers. */
#include "traces/simgrid/simgrid.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum ker_status simgrid_fail(const struct simgrid_line *line, const char *format, ...)
{
    char text[512];
    KER_FORMATTED(text, format);
    return ker_lines_fail(&line->text->in, "%s: %s", line->action, text);
}

/* SimGrid itself does not distinguish large letters from small ones. */
static bool action_take(struct simgrid_line *line)
{
    struct ker_lines *in = &line->text->in;
    const char *word;
    size_t length;
    if (!ker_take_text(in, &word, &length) || length >= sizeof line->action)
        return false;
    for (size_t i = 0; i < length; i++)
        line->action[i] = (char)tolower((unsigned char)word[i]);
    line->action[length] = 0;
    return true;
}

static bool number_take(struct ker_lines *in, double *number)
{
    const char *word;
    char copy[64], *end;
    size_t length;
    if (!ker_take_text(in, &word, &length) || length >= sizeof copy)
        return false;
    memcpy(copy, word, length);
    copy[length] = 0;
    *number = strtod(copy, &end);
    return *end == 0 && end != copy && isfinite(*number);
}

static enum ker_status line_read(struct simgrid_line *line)
{
    struct ker_lines *in = &line->text->in;
    if (!ker_take_u32(in, &line->task) || !ker_at_gap(in))
        return ker_lines_fail(in, "the number of a task is expected, not \"%.*s\"", KER_LINE_REST(in));
    ker_take_blanks(in);
    if (!action_take(line))
        return ker_lines_fail(in, "an action is expected (compute, isend, allreduce, ...), not \"%.*s\"",
                              KER_LINE_REST(in));
    line->numbers = 0;
    if (strcmp(line->action, "location") == 0) /* a place in the program */
        return KER_OK;
    while (in->p < in->stop) {
        KER_RESERVE(line->number, line->room, line->numbers + 1);
        if (!number_take(in, &line->number[line->numbers++]))
            return simgrid_fail(line, "its word %zu is no number; numbers have at most 63 characters",
                                line->numbers);
    }
    return KER_OK;
}

bool simgrid_line_next(struct simgrid_line *line)
{
    struct ker_lines *in = &line->text->in;
    while (ker_text_next(line->text)) {
        ker_take_blanks(in);
        if (in->p == in->stop || *in->p == '#')
            continue;
        line->text->status = line_read(line);
        return line->text->status == KER_OK;
    }
    return false;
}

enum ker_status simgrid_whole(const struct simgrid_line *line, size_t index, const char *what, int64_t least,
                              int64_t most, int64_t *value)
{
    double number = line->number[index];
    if (number != floor(number) || number < (double)least || number > (double)most)
        return simgrid_fail(line, "%s is %g; a whole number from %lld to %lld is expected", what, number,
                            (long long)least, (long long)most);
    *value = (int64_t)number;
    return KER_OK;
}
