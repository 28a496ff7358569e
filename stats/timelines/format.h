/* format.h - what a format of timelines is: a kind of the family "output.timeline", in a file of its own.
 *
 * A writer gets all that is to be known beforehand when it is opened, then points in the order of their time:
 * each record once where it begins and, if the format wants that, once where it ends. At one instant ends
 * come before the computations and calls that begin, but a call that takes no time begins before it ends;
 * waits end before their call, and messages are received before the call in which that happens ends. Inside
 * stats/timelines/.
 */
#pragma once

#include "stats/file.h"
#include "stats/timelines/record.h"

struct line_group {
    char *name;
    uint32_t first, tasks;
    bool traced;
    const char *const *link; /* names of links, which are in the place of tasks; NULL: it is of tasks */
};

struct line_plan {
    const struct line_group *group;
    uint32_t groups, tasks; /* tasks: of all groups */
    uint32_t streams;       /* most of any task, at least 1 */
    const uint64_t *chosen; /* a bit for each of them */
    char *const *name;      /* of the functions, ascending */
    uint32_t names;
    ker_time from, to, end; /* what was recorded; end: nothing ends later */
    uint8_t level;
    uint64_t records, of; /* that are written; that there were */
    const char *folder;
    uint64_t bytes; /* at most, of all files of the format */
};

static inline bool line_chosen(const struct line_plan *plan, uint32_t task)
{
    return plan->chosen[task / 64] >> task % 64 & 1;
}
/* Of each task of the group; links have one. */
static inline uint32_t line_streams(const struct line_plan *plan, const struct line_group *group)
{
    return group->link ? 1 : plan->streams;
}
static inline bool line_has_links(const struct line_plan *plan)
{
    return plan->groups && plan->group[plan->groups - 1].link;
}
/* The group of a task. */
const struct line_group *line_group_of(const struct line_plan *, uint32_t task);
/* What has become of the records, as a sentence; malloc'ed. */
char *line_plan_note(const struct line_plan *);

#define LINE_ALL_END ((1u << LINE_KINDS) - 1)

struct line_writer;
struct line_format {
    const char *file; /* which a reader opens */
    /* How long the files are without any record, nearly. */
    uint64_t (*least)(const struct line_plan *);
    struct line_writer *(*open)(const struct line_plan *, struct ker_error *); /* NULL with the error */
    void (*point)(struct line_writer *, const struct line_record *, bool end);
    uint32_t ends; /* the kinds of which it wants points where they end, a bit for each */
    bool by_task;  /* the points of each task in the order of time are enough */
    /* Frees. Returns how many bytes the files have, or would have: with more than plan->bytes, or an error,
     * there is none. */
    uint64_t (*close)(struct line_writer *, struct ker_error *);
    /* Removes what an earlier run left that is no regular file; NULL: nothing. */
    void (*clear)(const char *folder);
    const char *missing; /* not NULL: this build cannot write it, and why */
};
extern const struct ker_kinds stats_timelines;
