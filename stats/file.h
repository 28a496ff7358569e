/* file.h - inside stats/: result files that are whole or not there, and rows of numbers.
 *
 * A file is written under NAME.tmp and renamed when all of it is on its way to the disk: a reader never sees
 * half a file, and an old one survives a failed run. Errors of single writes need no check: the stream
 * remembers them until commit.
 */
#ifndef STATS_FILE_H
#define STATS_FILE_H

#include "kernel/kernel.h"

#include <stdio.h>

struct stats_file {
    FILE *stream;
    char *path, *temporary;
};

/* Is it in the list of the files that a run may write? A new one is to be added there. */
bool stats_file_own(const char *name);
enum ker_status stats_file_open(struct stats_file *, const char *folder, const char *name,
                                struct ker_error *);
/* Closes and renames; on failure removes the temporary file. Frees in any case. */
enum ker_status stats_file_commit(struct stats_file *, struct ker_error *);
/* "cannot write PATH: why", KER_RUN_FAILED. */
enum ker_status stats_file_fail(const char *path, int why, struct ker_error *);

/* Numbers without printf: links.csv of a large system has millions of them. `end` follows: ',' or '\n'. */
void stats_write_u64(FILE *, uint64_t value, char end);
/* numerator / denominator with six decimals, rounded half up in integers; 0 when the denominator is 0. */
void stats_write_ratio(FILE *, uint64_t numerator, uint64_t denominator, char end);
/* Quoted when needed (RFC 4180). */
void stats_write_text(FILE *, const char *text, char end);

#endif
