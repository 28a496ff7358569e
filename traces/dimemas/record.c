/* record.c - a line of a trace as numbers. */
#include "traces/dimemas/dimemas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum ker_status dimemas_fail(const struct dimemas_record *r, const char *format, ...)
{
    char text[512];
    KER_FORMATTED(text, format);
    return ker_lines_fail(&r->text->in, "%s", text);
}

enum ker_status dimemas_whole(const struct dimemas_record *r, size_t index, const char *what, int64_t least,
                              int64_t most, int64_t *value)
{
    double number = r->number[index];
    if (number != floor(number) || number < (double)least || number > (double)most)
        return dimemas_fail(r, "%s is %g; a whole number from %lld to %lld is expected", what, number,
                            (long long)least, (long long)most);
    *value = (int64_t)number;
    return KER_OK;
}

uint64_t dimemas_place(const struct ker_text *text)
{
    off_t read = lseek(text->file, 0, SEEK_CUR);
    return (uint64_t)read - (uint64_t)(text->end - text->in.at);
}

/* All numbers up to `end`, between colons, commas, braces and blanks. */
static enum ker_status numbers_take(struct dimemas_record *r, const char *end)
{
    struct ker_lines *in = &r->text->in;
    r->numbers = 0;
    while (in->p < end) {
        if (strchr(" \t:,{}[]();", *in->p)) {
            in->p++;
            continue;
        }
        char copy[64], *stop;
        size_t length = 0;
        while (in->p + length < end && !strchr(" \t:,{}[]();", in->p[length]))
            length++;
        KER_RESERVE(r->number, r->room, r->numbers + 1);
        if (length >= sizeof copy)
            return dimemas_fail(r, "a word of %zu characters where a number is expected", length);
        memcpy(copy, in->p, length);
        copy[length] = 0;
        r->number[r->numbers] = strtod(copy, &stop);
        if (*stop || !isfinite(r->number[r->numbers++]))
            return dimemas_fail(r, "\"%s\" is no number", copy);
        in->p += length;
    }
    return KER_OK;
}

/* #DIMEMAS:"name":1,offset:TASKS(threads, ...),communicators */
static enum ker_status header_take(struct dimemas_record *r)
{
    struct ker_lines *in = &r->text->in;
    const char *open = in->stop;
    while (open > in->p && *open != '(')
        open--;
    const char *digit = open;
    while (digit > in->p && digit[-1] >= '0' && digit[-1] <= '9')
        digit--;
    in->p = digit;
    r->kind = DIMEMAS_HEADER;
    enum ker_status status = numbers_take(r, open);
    if (status == KER_OK && r->numbers != 1)
        return dimemas_fail(
            r, "the header \"#DIMEMAS:NAME:1,OFFSET:TASKS(THREADS,...),COMMUNICATORS\" is expected");
    return status;
}

/* The thread is not looked at further; a partner's thread, which newer versions write, is left out. */
static enum ker_status record_check(struct dimemas_record *r)
{
    static const struct {
        uint8_t kind, least, most;
        const char *form;
    } forms[] = {
        {DIMEMAS_BURST, 3, 3, "1:TASK:THREAD:SECONDS"},
        {DIMEMAS_SEND, 7, 8, "2:TASK:THREAD:TO[:THREAD]:SIZE:TAG:COMMUNICATOR:SYNCHRONISM"},
        {DIMEMAS_RECEIVE, 7, 8, "3:TASK:THREAD:FROM[:THREAD]:SIZE:TAG:COMMUNICATOR:TYPE"},
        {DIMEMAS_GLOBAL, 8, 9,
         "10:TASK:THREAD:OPERATION:COMMUNICATOR:ROOT:THREAD:SENT:RECEIVED[:SYNCHRONISM]"},
    };
    int64_t task = 0, thread = 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].kind == r->kind && (r->numbers < forms[i].least || r->numbers > forms[i].most))
            return dimemas_fail(r, "a record of %zu numbers where \"%s\" is expected", r->numbers,
                                forms[i].form);
    enum ker_status status = dimemas_whole(r, 0, "the task", 0, FOREIGN_TASKS_MOST - 1, &task);
    status = status ?: dimemas_whole(r, 1, "the thread", 0, 0, &thread);
    if (status != KER_OK)
        return status;
    r->task = (uint32_t)task;
    if ((r->kind == DIMEMAS_SEND || r->kind == DIMEMAS_RECEIVE) && r->numbers == 8) {
        memmove(r->number + 3, r->number + 4, 4 * sizeof *r->number);
        r->numbers--;
    }
    return KER_OK;
}

/* TYPE:TASK:THREAD:... */
static enum ker_status colons_take(struct dimemas_record *r)
{
    struct ker_lines *in = &r->text->in;
    uint32_t type;
    if (!ker_take_u32(in, &type))
        return dimemas_fail(r, "a record of Dimemas is expected (1:, 2:, 3:, 10:, 20:, d:, s:), not \"%.*s\"",
                            KER_LINE_REST(in));
    if (type == 0 || type == 20) /* nothing, an event */
        return KER_OK;
    if (type != DIMEMAS_BURST && type != DIMEMAS_SEND && type != DIMEMAS_RECEIVE && type != DIMEMAS_GLOBAL)
        return dimemas_fail(
            r,
            "records of type %u are not read; CPU bursts (1), sends (2), receives (3), global "
            "operations (10) and events (20) are",
            type);
    r->kind = (uint8_t)type;
    enum ker_status status = numbers_take(r, in->stop);
    return status ?: record_check(r);
}

/* "NAME" { ... };; */
static enum ker_status braces_take(struct dimemas_record *r)
{
    static const struct {
        const char *name;
        uint8_t kind;
    } names[] = {
        {"\"CPU burst\"", DIMEMAS_BURST},           {"\"NX send\"", DIMEMAS_SEND},
        {"\"NX recv\"", DIMEMAS_RECEIVE},           {"\"global OP\"", DIMEMAS_GLOBAL},
        {"\"communicator\"", DIMEMAS_COMMUNICATOR}, {"\"communicator definition\"", DIMEMAS_COMMUNICATOR}};
    struct ker_lines *in = &r->text->in;
    if (in->stop - in->p < 3 || memcmp(in->stop - 3, "};;", 3) != 0) /* the beginning of a definition */
        return KER_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!ker_take(in, names[i].name))
            continue;
        r->kind = names[i].kind;
        enum ker_status status = numbers_take(r, in->stop);
        if (status == KER_OK && r->kind == DIMEMAS_COMMUNICATOR &&
            r->numbers > 1) /* without how many they are */
            memmove(r->number + 1, r->number + 2, (--r->numbers - 1) * sizeof *r->number);
        return status || r->kind == DIMEMAS_COMMUNICATOR ? status : record_check(r);
    }
    return KER_OK;
}

static enum ker_status line_take(struct dimemas_record *r)
{
    struct ker_lines *in = &r->text->in;
    enum ker_status status;
    r->kind = DIMEMAS_NOTHING;
    if (ker_take(in, "#DIMEMAS:"))
        return header_take(r);
    if (*in->p == '"')
        return braces_take(r);
    if (ker_take(in, "d:1:")) { /* id:members:task:... */
        r->kind = DIMEMAS_COMMUNICATOR;
        status = numbers_take(r, in->stop);
        if (status == KER_OK && (r->numbers < 2 || r->number[1] != (double)(r->numbers - 2)))
            return dimemas_fail(r, "a communicator of %g members with %zu of them",
                                r->numbers > 1 ? r->number[1] : 0, r->numbers > 2 ? r->numbers - 2 : 0);
        if (status == KER_OK)
            memmove(r->number + 1, r->number + 2, (--r->numbers - 1) * sizeof *r->number);
        return status;
    }
    if (strchr("#ds/%}", *in->p) || ker_take(in, "int ") || ker_take(in, "double ") || ker_take(in, "char "))
        return KER_OK; /* definitions, offsets */
    return colons_take(r);
}

bool dimemas_record_next(struct dimemas_record *r)
{
    struct ker_lines *in = &r->text->in;
    while (ker_text_next(r->text)) {
        ker_take_blanks(in);
        if (in->p == in->stop)
            continue;
        r->text->status = line_take(r);
        if (r->text->status != KER_OK)
            return false;
        if (r->kind != DIMEMAS_NOTHING)
            return true;
    }
    return false;
}
