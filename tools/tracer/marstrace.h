/* marstrace.h - what marstrace does with traces. All return the program's exit status: 0, or 2 with a
 * message. */
#pragma once

#include "traces/mars/mars.h"

int trc_merge(const char *folder, const char *to, int jobs, int level);
int trc_list(const char *trace, const char *to);

/* Prints warnings and, when it failed, the error; the exit status. */
int trc_end(struct mars_trace *, const struct mars_error *);
