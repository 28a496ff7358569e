/* flag.h - a number in memory that processes of one host share: one process sets it, others wait for it.
 *
 * Who waits looks for a moment, since processes of equal work are ready at nearly the same time, and then
 * sleeps in the kernel until the number is set. Processes that share cores do not look, but yield their core
 * a few times before they sleep: to sleep and to be woken takes many times as long as to yield, above all on
 * a virtual machine. They yield for a bounded time, since a core that other work has comes back only when
 * that work has used up its share, which can take milliseconds.
 *
 * A process that ends without setting the number leaves the others asleep: it is the launcher's task to end
 * them all (mpirun, srun), as it is with ranks that wait in MPI.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ker_flag { /* all 0 at the beginning */
    _Atomic uint32_t number, sleepers;
};

/* What was written before it is seen by those who have waited. */
void ker_flag_set(struct ker_flag *, uint32_t number);
/* Waits until the number is that one; it must not change again before all have seen it. look: for a moment
 * before sleeping, for processes that have a core each. at_most_ns > 0: false when it has not come by then,
 * or a signal has. */
bool ker_flag_wait(struct ker_flag *, uint32_t number, bool look, int64_t at_most_ns);
