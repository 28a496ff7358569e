/* clock.h - the machine's clocks; simulated time is in units.h. */
#pragma once

#include <stdint.h>
#include <time.h>

/* Nanoseconds of a clock: CLOCK_MONOTONIC for real time, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID.
 * May be called by a signal handler. */
static inline int64_t ker_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Seconds of real time, from some beginning. */
static inline double ker_clock_s(void)
{
    return 1e-9 * (double)ker_clock_ns(CLOCK_MONOTONIC);
}
