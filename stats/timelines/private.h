/* private.h - the state behind timeline.h. Inside stats/timelines/. */
#pragma once

#include "stats/timelines/format.h"
#include "stats/timelines/names.h"
#include "stats/timelines/store.h"
#include "stats/timelines/timeline.h"

#define LINE_FORMATS 8

/* What the keys say. */
struct line_settings {
    const struct ker_kind *format[LINE_FORMATS];
    int formats;
    ker_time from, to;
    uint64_t bytes;
    bool messages, inner; /* those of programs; of collectives, too */
    struct line_group *group;
    uint32_t groups, tasks;
    uint32_t links;   /* the number of the first link; there is none: of all tasks */
    uint64_t *chosen; /* a bit for each task */
};
enum ker_status line_settings_read(struct line_settings *, const struct ker_config *,
                                   const struct stats_group *, uint32_t groups, struct ker_error *);
void line_settings_release(struct line_settings *);

struct stats_timeline {
    struct line_settings set;
    struct line_store store;
    struct line_names names;
    uint32_t streams; /* most of a task, so far */
    uint64_t records; /* all that have been recorded here, those that were dropped included */
};

/* This many records may be kept for a budget: each takes at least 16 bytes in any format. */
static inline uint64_t line_records_most(uint64_t bytes)
{
    return bytes / 16;
}
