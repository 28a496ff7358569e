/* check.c - whether a trace can be that of an MPI program, without a simulation.
 *
 * The trace is read task by task. Where two tasks' collectives differ, the two are read again side by side
 * (check_again.c) to find which call it is.
 */
#include "tools/marsconv/check.h"

#include <stdlib.h>

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
    fine = fine && check_found_end(&c, error);
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
    bool misfit = !fine && source.found; /* communicators are known only when their calls fit */
    if (misfit)
        printf("%s\n", error.text);
    fine = fine && conv_check_of(&source, stdout, &findings, &error);
    conv_close(&source);
    if (!fine && !misfit)
        fprintf(stderr, "marsconv: error: %s\n", error.text);
    return misfit || (fine && findings) ? 1 : fine ? 0 : 2;
}
