/* waits.h - what calls have waited for other tasks (--no-waits): waits.c (the command), waits_found.c (when
 * messages and collectives began and ended, and who waited for whom). Times are ns, int64_t, since MPI_Init
 * returned, or of the day where all tasks say that.
 */
#pragma once

#include "tools/marsconv/cut.h"

struct waits;
struct waits *waits_new(uint32_t tasks, bool time_of_day);
void waits_free(struct waits *);

struct waits_call {
    uint32_t task, thread;
    uint64_t number; /* of its record */
    int64_t enter, over;
};
/* The record as a call; at_ns: since MPI_Init. */
struct waits_call waits_call_of(const struct waits *, const struct conv_task *, const struct conv_record *,
                                uint64_t at_ns);

/* The next message of a channel: its send begins, or its receive, posted at `begun`, is over; in this call.
 * Its number in the channel. */
size_t waits_message(struct waits *, enum cut_pass, const struct cut_channel *, bool sends, int64_t begun,
                     const struct waits_call *);
/* A send is over by this call. */
void waits_sent(struct waits *, enum cut_pass, const struct cut_channel *, size_t number,
                const struct waits_call *);

enum waits_for { WAITS_NOBODY, WAITS_ROOT, WAITS_ALL };
struct waits_collective { /* as cut_collective has it */
    uint64_t comm, which, sequence;
    uint8_t waits_for; /* of this task, enum waits_for */
    bool root;
};
/* Whom a task of the communicator waits for in a collective. */
void waits_collective_of(struct waits_collective *, const struct conv_function *, const struct mars_comm *,
                         const struct mars_record *);
void waits_enter(struct waits *, enum cut_pass, const struct waits_collective *, const struct waits_call *);
void waits_leave(struct waits *, enum cut_pass, const struct waits_collective *, const struct waits_call *);

/* All has been noted (CUT_TIMES): the tasks' clocks are moved until nothing comes before what it waits for.
 */
void waits_align(struct waits *);
/* How long the call waited; those of a task are forgotten when the next one's are found (CUT_WAITS). */
uint64_t waits_of(const struct waits *, uint32_t thread, uint64_t number);
void waits_forget(struct waits *);
