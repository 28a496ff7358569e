/* flag.c - waiting for a number in shared memory; see flag.h.
 *
 * A sleeper is counted before the kernel looks at the number, and the number is written before the sleepers
 * are counted: one of the two sees the other.
 */
#define _GNU_SOURCE
#include "kernel/base/flag.h"

#include "kernel/base/clock.h"

#include <limits.h>
#include <sched.h>
#include <stddef.h>
#include <time.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#define LOOKS 1000
#define YIELDS 20
#define YIELDS_NS 500000 /* no more of them when they have taken so long */

#ifdef __linux__
/* While the number is as it was seen. */
static void number_sleep(_Atomic uint32_t *number, uint32_t seen, int64_t at_most_ns)
{
    struct timespec most = {at_most_ns / 1000000000, at_most_ns % 1000000000};
    syscall(SYS_futex, number, FUTEX_WAIT, seen, at_most_ns ? &most : NULL, NULL, 0);
}

static void number_wake(_Atomic uint32_t *number)
{
    syscall(SYS_futex, number, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
#else
static void number_sleep(_Atomic uint32_t *number, uint32_t seen, int64_t at_most_ns)
{
    sched_yield();
}

static void number_wake(_Atomic uint32_t *number)
{
}
#endif

static inline void pause_briefly(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

static inline bool is_set(struct ker_flag *flag, uint32_t number)
{
    return atomic_load_explicit(&flag->number, memory_order_acquire) == number;
}

/* The core goes to who sets the number, if that one has none. */
static bool yields_see(struct ker_flag *flag, uint32_t number)
{
    int64_t begin = ker_clock_ns(CLOCK_MONOTONIC);
    for (unsigned yields = 0; yields < YIELDS && ker_clock_ns(CLOCK_MONOTONIC) - begin < YIELDS_NS;
         yields++) {
        if (is_set(flag, number))
            return true;
        sched_yield();
    }
    return is_set(flag, number);
}

void ker_flag_set(struct ker_flag *flag, uint32_t number)
{
    atomic_store(&flag->number, number);
    if (atomic_load(&flag->sleepers))
        number_wake(&flag->number);
}

bool ker_flag_wait(struct ker_flag *flag, uint32_t number, bool look, int64_t at_most_ns)
{
    for (unsigned looks = look ? LOOKS : 0; looks > 0; looks--) {
        if (is_set(flag, number))
            return true;
        pause_briefly();
    }
    if (!look && !at_most_ns && yields_see(flag, number))
        return true;
    for (uint32_t seen; (seen = atomic_load(&flag->number)) != number;) {
        atomic_fetch_add(&flag->sleepers, 1);
        number_sleep(&flag->number, seen, at_most_ns);
        atomic_fetch_sub(&flag->sleepers, 1);
        if (at_most_ns && atomic_load(&flag->number) != number)
            return false;
    }
    return true;
}
