/* expand.h - records in the order in which they begin become points in the order of time (format.h). Inside
 * stats/timelines/.
 */
#ifndef STATS_TIMELINES_EXPAND_H
#define STATS_TIMELINES_EXPAND_H

#include "stats/timelines/format.h"

struct line_open {
    int64_t end;
    uint32_t slot, class; /* of what ends at one instant the lower class comes first */
};
struct line_expansion {
    const struct line_format *format;
    struct line_writer *writer;
    struct line_record
        *record;            /* those that have not ended, in slots; behind `opens` open[] has free slots */
    struct line_open *open; /* a heap of them, by their end */
    uint32_t opens, room, slots;
};
void line_expand(struct line_expansion *, const struct line_record *);
/* All that is open ends; frees. */
void line_expand_end(struct line_expansion *);

#endif
