/* record.h - a record of a timeline, and the order of all records. Inside stats/timelines/.
 *
 * Tasks are numbered over all groups: the first one of a group has the number of all tasks of the groups
 * before it. So are links, whose group is the last one.
 */
#pragma once

#include "stats/timelines/timeline.h"

/* What begins at one instant at a task is in the stream by the number of its call, each in this order;
 * behind it the messages. */
enum line_kind { LINE_COMPUTE, LINE_CALL, LINE_WAIT, LINE_MESSAGE, LINE_STATE, LINE_KINDS };

#define LINE_NOBODY STATS_CALL_NOBODY

/* A message begins at its sender, `task`, and ends at its receiver, `peer`. STATE: `task` is a link, `tag` an
 * enum stats_link_state. */
struct line_record {
    int64_t begin, end;
    int64_t next; /* CALL: where its first wait begins, or its end; WAIT: likewise the next one's; MESSAGE:
                     when it arrived */
    uint64_t bytes : 48, stream : 16; /* WAIT: its task << 8 | its cause; stream: messages have none */
    uint32_t task, number;
    int32_t peer, tag, comm; /* CALL: as in struct stats_call */
    uint16_t name;           /* CALL: of the function */
    uint8_t kind, level;
};
_Static_assert(sizeof(struct line_record) == 56, "records are written as they are");

/* The order of the stream, of two records that begin at one instant. */
static inline bool line_ties(const struct line_record *a, const struct line_record *b)
{
    if (a->task != b->task)
        return a->task < b->task;
    if ((a->kind == LINE_MESSAGE) != (b->kind == LINE_MESSAGE))
        return b->kind == LINE_MESSAGE;
    if (a->number != b->number)
        return a->number < b->number;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    return a->peer < b->peer;
}

/* The order of the stream; the same only of one record. */
static inline bool line_before(const struct line_record *a, const struct line_record *b)
{
    return a->begin != b->begin ? a->begin < b->begin : line_ties(a, b);
}

/* Up to which level a record is kept: log2 of its duration, and one more with probability 1/2, and so on. */
static inline uint8_t line_level(int64_t duration, uint32_t task, uint32_t number, unsigned kind)
{
    uint64_t drawn = ker_hash(ker_hash((uint64_t)task << 32 | number) + kind);
    int longest = 63 - __builtin_clzll((uint64_t)duration | 1);
    return (uint8_t)(longest + __builtin_clzll(drawn | 1));
}
#define LINE_LEVELS 128
