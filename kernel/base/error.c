/* error.c - the text of the first error, warnings, and the end of a run whose invariant broke.
 *
 * A struct ker_error holds KER_OK or the first failure; a second failure never overwrites it, since what
 * broke first explains what broke later. Only who checks many things that do not depend on each other, as the
 * configuration's reader does, adds up several.
 */
#include "kernel/base/error.h"

#include "kernel/base/end.h"
#include "kernel/base/hash.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SAID 64

enum ker_status ker_fail(struct ker_error *error, enum ker_status status, const char *format, ...)
{
    if (error && error->status == KER_OK) {
        KER_FORMATTED(error->text, format);
        for (char *c = error->text; *c;
             c++) /* of a quoted file, say, that is no text: it must not reach the terminal */
            if ((unsigned char)*c < ' ' && *c != '\n' && *c != '\t')
                *c = '?';
        error->status = status;
    }
    return status;
}

#define LINE "\nmarssim: error: " /* the first gets it when it is printed */
#define REST_BYTES 64

void ker_error_add(struct ker_error *error, const struct ker_error *another)
{
    size_t used = strlen(error->text), wanted = strlen(another->text) + sizeof LINE + REST_BYTES;
    if (another->status == KER_OK)
        return;
    error->status = error->status == KER_OK ? another->status : error->status;
    error->count++;
    if (error->printed == error->count - 1 && error->printed < KER_MAX_ERRORS &&
        wanted < sizeof error->text - used) {
        snprintf(error->text + used, sizeof error->text - used, "%s%s", used ? LINE : "", another->text);
        error->printed++;
    }
}

enum ker_status ker_error_close(struct ker_error *error)
{
    size_t used = strlen(error->text);
    if (error->count > error->printed)
        snprintf(error->text + used, sizeof error->text - used, LINE "and %d more",
                 error->count - error->printed);
    return error->status;
}

/* Has it been said before? A run that begins again reads everything again. */
static bool said_before(const char *text)
{
    static uint64_t said[MOST_SAID]; /* hashes */
    static uint32_t count;
    uint64_t hash = ker_hash_bytes(text, strlen(text));
    for (uint32_t i = 0; i < count && i < MOST_SAID; i++)
        if (said[i] == hash)
            return true;
    said[count++ % MOST_SAID] = hash;
    return false;
}

void ker_warn(const char *format, ...)
{
    char text[2048];
    KER_FORMATTED(text, format);
    if (said_before(text))
        return;
    fprintf(stderr, "marssim: warning: %s\n", text); /* one call, so that ranks do not mix inside a line */
}

void ker_give_up(const char *format, ...)
{
    char text[2048];
    KER_FORMATTED(text, format);
    fprintf(stderr, "marssim: error: %s\n", text);
    fflush(NULL);
    ker_end_all(KER_RUN_FAILED);
}

void ker_broken(const char *condition, const char *file, int line)
{
    fprintf(stderr, "marssim: internal error at %s:%d: \"%s\" does not hold; this is a bug of marssim\n",
            file, line, condition);
    fflush(NULL);
    ker_end_all(-1);
}
