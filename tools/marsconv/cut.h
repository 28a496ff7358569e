/* cut.h - what the parts of --cut share: cut.c (the command), cut_events.c (the messages and collectives of a
 * task), cut_count.c (which of them are whole inside of the part),
 * cut_record.c (where a record lies and what it concerns), cut_any.c (which message a receive of any
 * got), cut_write.c (records as they are in the part), cut_about.c (definitions).
 *
 * A trace that was cut can be replayed when each message is sent and received in it, and each collective made
 * by all: what is left of a run's order is still an order in which it can run. A message has the same number
 * among those of its communicator, tasks and tag where it is sent and where it is received; so of each such
 * channel a range of numbers is kept, and so it is with the collectives of a communicator, and with the
 * starts of a persistent one.
 */
#pragma once

#include "tools/marsconv/walk.h"

struct waits;

struct cut {
    bool by_time;
    uint64_t from_ns, to_ns; /* since MPI_Init returned; a call belongs to when it begins */
    uint32_t first, last;    /* by_time is false: tasks */
    struct ker_table channels, comms, anys;
    struct waits *waits; /* of CUT_TIMES, CUT_WAITS */
    struct conv_losses *losses;
};

enum cut_place { CUT_BEFORE, CUT_INSIDE, CUT_AFTER };

void cut_release(struct cut *);

/* Does the part have this task of the trace? */
static inline bool cut_has(const struct cut *cut, int64_t task)
{
    return cut->by_time || (task >= cut->first && task <= cut->last);
}

/* ---- cut_record.c ---- */

struct cut_clock { /* of a task */
    uint64_t zero_ns;
    bool begun;
    enum cut_place place;
};
/* Where the next of a task's records is: what comes behind another is not before that. at_ns: since
 * MPI_Init. */
enum cut_place cut_place_of(const struct cut *, struct cut_clock *, const struct conv_task *,
                            const struct conv_record *, uint64_t *at_ns);
/* A collective of a communicator, of a window's too. */
bool cut_is_collective(const struct conv_function *, const struct mars_record *);
/* A call that makes a communicator, and that only its members make. */
bool cut_makes_of_group(const struct mars_record *);

/* ---- cut_count.c ---- */

struct cut_channel { /* messages of a communicator (its id), from a task to another, with a tag */
    uint64_t comm;
    uint32_t from, to;
    int64_t tag;
};
void cut_message_count(struct cut *, const struct cut_channel *, bool sends, enum cut_place);
/* Once all are counted: is the next message of the channel that is sent (or received) inside kept? */
bool cut_message_kept(struct cut *, const struct cut_channel *, bool sends);
/* Once all are counted: will its next receive get one that is kept? */
bool cut_message_next(const struct cut *, const struct cut_channel *);
/* A task makes a number of collectives on a communicator; which: 0, or its which-th persistent collective, of
 * which these are the starts, or CUT_MADE: the calls that make it. */
#define CUT_MADE UINT64_MAX
void cut_collectives_add(struct cut *, uint64_t id, uint64_t which, uint64_t before, uint64_t inside);
/* Is number `sequence` of them kept? creates: what later calls need is kept though it is before the part. */
bool cut_collective(const struct cut *, uint64_t comm, uint64_t which, uint64_t sequence, bool creates);

/* ---- cut_any.c ---- */

/* Where a trace does not say what a receive of any source or tag got, the messages of its task and
 * communicator are matched as MPI would if all sends arrived at once. Is there such a receive? */
void cut_any_mark(struct cut *, uint64_t comm, uint32_t task);
/* A send, or a receive: from, tag may be -1, any. The receive's number; ignored unless marked. */
size_t cut_any_note(struct cut *, const struct cut_channel *, int64_t from, bool sends, uint64_t at_ns);
/* The receive got a message. */
void cut_any_came(struct cut *, uint64_t comm, uint32_t task, size_t number);
/* All that, where the trace needs it. */
bool cut_any_prepare(struct cut *, struct conv_source *, struct mars_error *);
/* All are noted. */
void cut_any_match(struct cut *);
/* What the next receive of any of the task got, in the order in which they were noted; pass: they are asked
 * for from the first one on again. False: nothing. */
bool cut_any_next(struct cut *, uint64_t comm, uint32_t task, unsigned pass, uint32_t *from, int64_t *tag);
void cut_any_release(struct cut *);

/* ---- cut_events.c ---- */

struct cut_kept { /* what is kept of a task: a byte for each send and receive inside, in order */
    uint8_t *message;
    size_t messages, room;
};

/* The passes over all tasks. The first two are for traces that do not say what receives of any got, the last
 * two for --no-waits. */
enum cut_pass { CUT_MARK, CUT_NOTE, CUT_COUNT, CUT_DECIDE, CUT_TIMES, CUT_WAITS };
/* kept: of CUT_DECIDE, which of a task's messages are kept. */
bool cut_walk(struct cut *, struct conv_source *, uint32_t task, enum cut_pass, struct cut_kept *kept,
              struct mars_error *);

/* ---- cut_write.c ---- */

bool cut_task_write(struct cut *, struct conv_source *, struct conv_sink *, uint32_t task,
                    const struct cut_kept *, struct mars_error *);
