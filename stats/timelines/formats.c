/* formats.c - the table of formats. */
#include "stats/timelines/format.h"

#define FORMATS(KIND)                                                                                        \
    KIND(line_kind_none)                                                                                     \
    KIND(line_kind_perfetto) KIND(line_kind_paraver) KIND(line_kind_otf2)
KER_KINDS_TABLE(formats, FORMATS);

const struct ker_kind line_kind_none = {"none", "no timeline is written"};

const struct ker_kinds stats_timelines = {"output.timeline", "formats of timelines",
                                          sizeof(struct line_format), formats};

const char *const stats_timeline_files[] = {"timeline.json", "timeline.prv", "timeline.pcf", "timeline.row",
                                            NULL};

void stats_timeline_clear(const char *folder)
{
    for (size_t i = 0; formats[i]; i++) {
        const struct line_format *format = formats[i]->operations;
        if (format && format->clear)
            format->clear(folder);
    }
}
