/* expand.h - records in the order in which they begin become points in the order of time (format.h). Inside
 * stats/timelines/.
 */
#ifndef STATS_TIMELINES_EXPAND_H
#define STATS_TIMELINES_EXPAND_H

#include "stats/timelines/format.h"

struct line_expansion {
    const struct line_format *format;
    struct line_writer *writer;
    struct line_record *open; /* a heap of those that have not ended, by their end */
    size_t opens, room;
};
void line_expand(struct line_expansion *, const struct line_record *);
/* All that is open ends; frees. */
void line_expand_end(struct line_expansion *);

#endif
