/* check.c - whether a trace can be that of an MPI program, without a simulation.
 *
 * The trace is read task by task. Where two tasks' collectives differ, the two are read again side by side
 * (check_again.c) to tell which call it is.
 */
#include "tools/marsconv/check.h"

#include <stdarg.h>
#include <stdlib.h>

#define SHOWN 1000 /* findings; of the rest only how many they are */

void check_found(struct check *c, uint32_t task, uint64_t at, const char *format, ...)
{
    char place[CONV_PLACE], text[512];
    struct mars_task about = {.number = task, .threads = at >> 48 ? 2 : 1};
    struct conv_task where = {.source = c->source, .about = &about, .thread = (uint32_t)(at >> 48)};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (c->findings++ < SHOWN)
        fprintf(c->to, "%s: %s\n", conv_place(&where, at & (((uint64_t)1 << 48) - 1), place), text);
}

/* A part of the receivers; when their channels are too many, parts of it. */
static bool part_check(struct check *c, uint32_t part, uint32_t parts, struct mars_error *error)
{
    c->part = part;
    c->parts = parts;
    c->overflow = false;
    for (uint32_t i = 0; i < c->source->tasks && !(c->overflow && !c->first); i++)
        if (!check_task(c, i, error))
            return false;
    if (c->first)
        check_comms_end(c);
    if (c->first)
        check_windows_end(c);
    c->first = false;
    if (!c->overflow || parts > UINT32_MAX / 4) {
        check_messages_end(c);
        return true;
    }
    ker_table_release(&c->channels);
    ker_table_release(&c->wild);
    for (uint32_t i = 0; i < 4; i++)
        if (!part_check(c, part + i * parts, 4 * parts, error))
            return false;
    return true;
}

bool conv_check_of(struct conv_source *source, FILE *to, uint64_t *findings, struct mars_error *error)
{
    struct check c = {.source = source, .to = to, .first = true};
    bool fine = part_check(&c, 0, 1, error) && check_again(&c, error);
    if (fine && c.untested)
        conv_warn("%s: %llu times a variable gets another request while it holds that of a send; liballprof "
                  "does not record MPI_Test, which may have completed it",
                  source->path, (unsigned long long)c.untested);
    if (fine && c.findings > SHOWN)
        fprintf(to, "and %llu more\n", (unsigned long long)(c.findings - SHOWN));
    if (fine && c.finds)
        fprintf(to, "%llu calls take what any source sends; %llu calls depend on whom they found\n",
                (unsigned long long)c.finds, (unsigned long long)c.depends);
    if (fine && c.findings == 0)
        fprintf(to, "nothing found\n");
    if (fine && (fflush(to) != 0 || ferror(to)))
        fine = mars_fail(error, "standard output: it cannot be written");
    ker_table_release(&c.channels);
    ker_table_release(&c.wild);
    ker_table_release(&c.comms);
    free(c.differ);
    *findings = c.findings;
    return fine;
}

int conv_check(const char *path, const struct conv_options *options)
{
    struct mars_error error = {0};
    struct conv_source source;
    uint64_t findings = 0;
    bool fine = conv_open(&source, path, options, &error);
    bool told = !fine && source.found; /* communicators can only be told when their calls fit */
    if (told)
        printf("%s\n", error.text);
    fine = fine && conv_check_of(&source, stdout, &findings, &error);
    conv_close(&source);
    if (!fine && !told)
        fprintf(stderr, "marsconv: error: %s\n", error.text);
    return told || (fine && findings) ? 1 : fine ? 0 : 2;
}
