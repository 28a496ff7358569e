/* cut.h - what the parts of --cut share: cut.c (the command), cut_events.c (which messages and collectives
 * are whole inside of the part), cut_write.c (records as they are in it).
 *
 * A trace that was cut can be replayed when each message is sent and received in it, and each collective made
 * by all: what is left of a run's order is still an order in which it can run. A message has the same number
 * among those of its communicator, tasks and tag where it is sent and where it is received; so of each such
 * channel a range of numbers is kept, and so it is with the collectives of a communicator.
 */
#ifndef CONV_CUT_H
#define CONV_CUT_H

#include "tools/marsconv/conv.h"

#include "kernel/kernel.h"

struct cut {
    bool by_time;
    uint64_t from_ns, to_ns; /* since MPI_Init returned; a call belongs to when it begins */
    uint32_t first, last;    /* by_time is false: tasks */
    struct ker_table channels, comms, senders;
    struct conv_losses *losses;
};

enum cut_place { CUT_BEFORE, CUT_INSIDE, CUT_AFTER };

bool cut_parse(struct cut *, const char *text, struct mars_error *);
void cut_release(struct cut *);

/* Does the part have this task of the trace? */
static inline bool cut_has(const struct cut *cut, int64_t task)
{
    return cut->by_time || (task >= cut->first && task <= cut->last);
}

/* ---- cut_events.c ---- */

struct cut_kept { /* what is kept of a task: a byte for each send and receive inside, in order */
    uint8_t *message;
    size_t messages, room;
};

/* Notes to whom a task sends, with which tags: where a trace does not say what a receive of any source got,
 * it can only be what one task sends. Before all others. */
bool cut_senders(struct cut *, struct conv_source *, uint32_t task, struct mars_error *);
/* Counts what a task does in each channel and on each communicator. */
bool cut_count(struct cut *, struct conv_source *, uint32_t task, struct mars_error *);
/* Once all are counted: which of a task's messages are kept. */
bool cut_decide(struct cut *, struct conv_source *, uint32_t task, struct cut_kept *, struct mars_error *);
/* Is number `sequence` of the collectives on the communicator kept? creates: what later calls need is kept
 * though it is before the part. */
bool cut_collective(const struct cut *, uint64_t comm, uint64_t sequence, bool creates);

struct cut_clock { /* of a task */
    uint64_t zero_ns;
    bool begun;
};
enum cut_place cut_place_of(const struct cut *, struct cut_clock *, const struct conv_record *);
/* The window of a one-sided call belongs to a communicator: its number, 0 if unknown. */
struct cut_windows {
    uint32_t *comm;
    size_t room;
};
int64_t cut_comm_of(struct cut_windows *, const struct mars_record *);
/* A collective of a communicator, of a window's too. */
bool cut_is_collective(const struct conv_function *, const struct mars_record *);

/* ---- cut_write.c ---- */

bool cut_task_write(struct cut *, struct conv_source *, struct conv_sink *, uint32_t task,
                    const struct cut_kept *, struct mars_error *);

#endif
