/* expand.h - records in the order in which they begin become points in the order of time (format.h). Inside
 * stats/timelines/.
 */
#pragma once

#include "stats/timelines/format.h"

struct line_open; /* what has begun at a task */
struct line_expansion {
    const struct line_format *format;
    struct line_writer *writer;
    struct line_record *record; /* in the order in which they begin: `open` that have begun, then others */
    uint32_t open, records, room;
    uint64_t *key; /* of those that end next, ascending; room for twice as many */
    uint32_t at, keys;
    unsigned index;         /* bits of a key that say which record */
    struct line_open *task; /* of formats by task; then what is above is not there */
    uint32_t tasks;
    int64_t until; /* no record that ends by then is without a key */
};
void line_expand_begin(struct line_expansion *, const struct line_format *, struct line_writer *,
                       uint32_t tasks);
void line_expand(struct line_expansion *, const struct line_record *);
/* All that is open ends; frees. */
void line_expand_end(struct line_expansion *);
