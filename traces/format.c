/* format.c - which format a trace has: that whose score is highest. */
#include "traces/traces.h"

#include <string.h>
#include <sys/stat.h>

const struct ker_option trace_unknown_options[] = {
    {"jobs[].unknown", KER_TYPE_CHOICE, "error", NULL, NULL, "error|compute",
     "trace (mars, otf2): calls that cannot be replayed, or of which the archive says too little, are "
     "refused, or taken as computation of the time that they took."},
    {0},
};

bool trace_named(const char *path, const char *suffix)
{
    size_t length = strlen(path), own = strlen(suffix);
    struct stat is;
    return length > own && strcmp(path + length - own, suffix) == 0 &&
           !(stat(path, &is) == 0 && S_ISDIR(is.st_mode));
}

static const struct ker_kind *refuse(struct ker_error *error, const char *path, const char *why)
{
    ker_fail(error, KER_BAD_INPUT, "%s %s", path, why);
    return NULL;
}

const struct ker_kind *trace_format_find(const struct ker_registry *registry, const char *path,
                                         struct ker_error *error)
{
    const struct ker_kind *kind, *best = NULL, *equal = NULL;
    int most = TRACE_SCORE_NONE;
    struct stat is;
    if (stat(path, &is) == 0 && !S_ISREG(is.st_mode) && !S_ISDIR(is.st_mode))
        return refuse(error, path, "is no regular file (a device or a pipe)");
    for (size_t i = 0; (kind = ker_registry_kind(registry, "jobs[].format", i)); i++) {
        const struct trace_format *format = kind->operations;
        int score = format->score ? format->score(path) : TRACE_SCORE_NONE;
        equal = score > most ? NULL : score == most ? kind : equal;
        best = score > most ? kind : best;
        most = score > most ? score : most;
    }
    if (!best)
        return refuse(error, path,
                      "begins as no trace that is known; jobs[].format names its reader, which says what is "
                      "wrong with it");
    if (equal)
        ker_fail(error, KER_BAD_INPUT,
                 "%s may be a trace of the format \"%s\" as well as of \"%s\"; jobs[].format says which",
                 path, best->name, equal->name);
    return equal ? NULL : best;
}
