/* file.h - inside stats/: result files that are whole or not there.
 *
 * A file is written under NAME.tmp and renamed when all of it is on its way to the disk: a reader never sees
 * half a file, and an old one survives a failed run. Errors of single writes need no check: the stream
 * remembers them until commit.
 */
#ifndef STATS_FILE_H
#define STATS_FILE_H

#include "kernel/base/base.h"

#include <jansson.h>
#include <stdio.h>

struct stats_file {
    FILE *stream;
    char *path, *temporary;
    int why; /* a write has failed, and why: stats_file_look */
};

enum ker_status stats_file_open(struct stats_file *, const char *folder, const char *name,
                                struct ker_error *);
/* To be called behind writes where something else may set errno before the next. */
void stats_file_look(struct stats_file *);
/* Closes and renames; on failure removes the temporary file. Frees in any case. */
enum ker_status stats_file_commit(struct stats_file *, struct ker_error *);
/* The same without a file in the end. */
void stats_file_drop(struct stats_file *);
/* "cannot write PATH: why", KER_RUN_FAILED. */
enum ker_status stats_file_fail(const char *path, int why, struct ker_error *);

#endif
