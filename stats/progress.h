/* progress.h - inside stats/: the text of the progress line, apart from terminal and clock so that it can be
 * tested. */
#pragma once

#include "kernel/base/base.h"

#include <stddef.h>

struct stats_pace {
    ker_time now, end; /* simulated; end KER_TIME_MAX: unknown */
    double done;       /* of all that has to be done; below 0: unknown */
    double begun;      /* that of the start: a run may be resumed */
    double elapsed_s;  /* wall clock since the start */
    double events_per_s;
};

/* At most 79 characters: "  12.5 us of 100 us  12 %  3.21 M events/s  about 2 min 5 s left". */
char *stats_progress_line(char *buffer, size_t size, const struct stats_pace *);
