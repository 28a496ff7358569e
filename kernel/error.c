/* error.c - the text of the first error, warnings, and the end of a run whose invariant broke.
 *
 * A struct ker_error holds KER_OK or the first failure; a second failure never overwrites it, since what
 * broke first explains what broke later.
 */
#include "kernel/error.h"

#include "kernel/comm_mpi.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum ker_status ker_fail(struct ker_error *error, enum ker_status status, const char *format, ...)
{
    if (error && error->status == KER_OK) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
        for (char *c = error->text; *c; c++) /* of a quoted file, say, that is no text: it must not reach the terminal */
            if ((unsigned char)*c < ' ' && *c != '\n' && *c != '\t')
                *c = '?';
        error->status = status;
    }
    return status;
}

void ker_warn(const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "marssim: warning: %s\n", text); /* one call, so that ranks do not mix inside a line */
}

void ker_broken(const char *condition, const char *file, int line)
{
    fprintf(stderr, "marssim: internal error at %s:%d: \"%s\" does not hold; this is a bug of marssim\n",
            file, line, condition);
    fflush(NULL);
    ker_comm_end_all(-1);
}
