/* request.h - what is asked of a run from outside while it runs: by signals to any of its processes.
 *
 * A request is a bit. A signal sets it in the process that it reaches; the engine's ranks exchange their
 *  bits when they agree on time, and all act on them at one simulated time that none of them has passed
 * (engine.h). A rank that only sleeps passes its bits on to the control rank.
 *
 * SIGINT and SIGTERM: before ker_request_open the process ends at once with one line, since nothing was
 * simulated yet; afterwards the first asks for the end of the run, and a second one ends the process at once.
 * What comes within a fifth of a second of the first counts as the first: a terminal and a launcher may both
 * deliver the same wish.
 *
 * SIGUSR2 asks for a checkpoint, SIGUSR1 for a word on how the run is; both end nothing.
 */
#pragma once

#include "kernel/base/base.h"

#include <stdbool.h>

enum {
    KER_REQUEST_INTERRUPT = 1,  /* SIGINT: end */
    KER_REQUEST_TERMINATE = 2,  /* SIGTERM: end */
    KER_REQUEST_MEMORY = 4,     /* of the engine itself: memory is out on a rank, all end where they are */
    KER_REQUEST_CHECKPOINT = 8, /* SIGUSR2, or the program's own wish: save the state and continue */
    KER_REQUEST_ALONE = 32,     /* of the engine itself: one rank is to continue (engine.h, trial) */
    KER_REQUEST_STATUS = 16,    /* SIGUSR1: report how far the run is, and continue */
};

/* As the first thing of the program: a SIGUSR1 or SIGUSR2 that comes too early or too late does nothing, in
 * place of ending the process. */
void ker_request_early(void);
/* Takes the signals over, unless they are ignored (nohup), until ker_request_release. */
void ker_request_listen(struct ker_comm *);
void ker_request_release(void);
/* From now on signals are requests. */
void ker_request_open(void);
/* What is renamed when a second signal ends the process at once; both malloc'ed and taken over, or NULL. */
void ker_request_mark(char *from, char *to);

/* Is anything asked of this process? Costs no more than reading a variable. */
extern volatile unsigned ker_request_bits;
static inline bool ker_request_pending(void)
{
    return ker_request_bits != 0;
}
/* The same, from within. */
void ker_request_ask(unsigned bits);
/* What it is; from then on it is the caller's to see to. */
unsigned ker_request_take(void);
/* The exit status that a shell shows for the signals behind these bits; 0 for none. */
int ker_request_status(unsigned bits);

/* On a rank that sleeps: sends what is asked of it to the control rank. On the control rank: adds what has
 * come to its own. */
void ker_request_pass(struct ker_comm *);
void ker_request_hear(struct ker_comm *);
/* Collective, when all are awake again: no message is left over. */
void ker_request_settle(struct ker_comm *);
