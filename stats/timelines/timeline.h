/* timeline.h - what tasks did when: recorded during the run, written at its end in the formats of
 * output.timeline.
 *
 * Every rank records what happens to its own tasks into a stream of its own (store.c). At the end the streams
 * are merged in the order (time, task, running number), which does not depend on the ranks (merge.c), and
 * handed record by record to the writer of each format (format.h) on rank 0. Nobody holds all records.
 *
 * Budget. No format's files are larger than output.timeline_bytes. Where there is too much for that, records
 * are sampled: of what lasts at least 2^level picoseconds all is kept, of what lasts d less than that a share
 * of about d / 2^level, chosen by a hash of task and running number: never by chance, and never by ranks. The
 * waits of a call share its fate.
 */
#pragma once

#include "kernel/config/config.h"
#include "kernel/state/state.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct stats_timeline;

/* A group of tasks: a job; or the same job as its trace recorded it. Or, behind all of these, of links. */
struct stats_group {
    const char *name;
    uint32_t tasks; /* or links */
    bool traced;
    const char *const *link; /* their names; NULL: it is of tasks */
};

/* Is any format asked for? */
bool stats_timeline_wanted(const struct ker_config *);
/* Reads output.timeline*; the groups are copied, their names stay the caller's; those of links are not
 * copied. Every rank alike. */
enum ker_status stats_timeline_new(struct stats_timeline **, const struct ker_config *,
                                   const struct stats_group *, uint32_t groups, struct ker_error *);
void stats_timeline_free(struct stats_timeline *); /* takes NULL */

/* Memory that a rank's records take at most, and the most of its temporary file; bytes. */
uint64_t stats_timeline_cost(const struct stats_timeline *, uint64_t *file);
/* Is this task one of those that were chosen? */
bool stats_timeline_has(const struct stats_timeline *, uint32_t group, uint32_t task);
/* Are the program's messages recorded (or, inner, those of collectives)? */
bool stats_timeline_messages(const struct stats_timeline *, bool inner);

#define STATS_CALL_NOBODY INT32_MIN

/* What most of a wait was, where that is known (output.waits), and, + 1, the task for whose message it was;
 * 0: not known. */
enum stats_wait_cause {
    STATS_WAIT_LATE_SENDER,
    STATS_WAIT_LATE_RECEIVER,
    STATS_WAIT_LATE_PARTICIPANTS,
    STATS_WAIT_COLLECTIVE_STEPS,
    STATS_WAIT_HANDSHAKE,
    STATS_WAIT_CONTENTION,
    STATS_WAIT_TRANSFER,
    STATS_WAIT_SENDING,
    STATS_WAIT_MATCHING,
    STATS_WAIT_ONE_SIDED,
    STATS_WAIT_SERVICE,
    STATS_WAIT_CAUSES,
};
/* A time in which a task waits. */
struct stats_wait {
    ker_time begin, end;
    uint32_t cause, task; /* cause: + 1, too */
};
/* A call of a task, when it is over, and the computation before it. */
struct stats_call {
    uint32_t group, task, stream; /* stream: a thread of the task; most have one, 0 */
    uint32_t number;              /* of the task's calls, counted from 0 */
    const char *function;         /* lives as long as the timeline; NULL: there was only the computation */
    ker_time before, begin, end;  /* it computes from `before` to `begin` */
    uint64_t bytes;
    int32_t peer, tag, comm;       /* STATS_CALL_NOBODY: it has none; comm: nor any of the others */
    const struct stats_wait *wait; /* within the call, ascending, apart from each other, none empty */
    uint32_t waits;
};
void stats_timeline_call(struct stats_timeline *, const struct stats_call *);

/* A message that has been received; both tasks are among the chosen ones. */
struct stats_message {
    uint32_t group, source, destination, number; /* of those that the destination has received, from 0 */
    ker_time sent, arrived, received;
    uint64_t bytes;
    int32_t tag, comm;
};
void stats_timeline_message(struct stats_timeline *, const struct stats_message *);

/* What a link did; what is not recorded, it was idle. Its states do not overlap. */
enum stats_link_state { STATS_LINK_BUSY, STATS_LINK_STALLED, STATS_LINK_DOWN, STATS_LINK_STATES };
extern const char *const stats_link_state_name[STATS_LINK_STATES];
/* link: its number in the group of links. */
void stats_timeline_link(struct stats_timeline *, uint32_t link, enum stats_link_state, ker_time begin,
                         ker_time end);

/* "FIRST", "FIRST-LAST", "FIRST-LAST/STEP", as in output.timeline_tasks; false: it is none. */
bool stats_range_parse(const char *text, uint64_t *first, uint64_t *last, uint64_t *step);

/* Collective: rank 0 writes the files and says of each what it holds: a list, NULL on other ranks. end: of
 * the run. */
json_t *stats_timeline_write(struct stats_timeline *, struct ker_comm *, const char *folder, ker_time end,
                             struct ker_error *);

/* Saved state: chunks "timeline" of this rank; and a chunk of any rank, which this one takes over. */
void stats_timeline_save(struct stats_timeline *, struct ker_state_writer *);
void stats_timeline_load(struct stats_timeline *, struct ker_chunk *);
#define STATS_TIMELINE_VERSION 3

extern const struct ker_option stats_timeline_options[]; /* output.timeline* */
extern const char *const stats_timeline_files[];         /* that a run may leave, NULL at the end */
/* Removes what else an earlier run has left. */
void stats_timeline_clear(const char *folder);
