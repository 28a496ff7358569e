/* flag.c - waiting for a number in shared memory; see flag.h.
 *
 * A sleeper is counted before the kernel looks at the number, and the number is written before the sleepers
 * are counted: one of the two sees the other.
 */
#define _GNU_SOURCE
#include "kernel/base/flag.h"

#include <limits.h>
#include <stddef.h>
#include <time.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <sched.h>
#endif

#define LOOKS 1000

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

void ker_flag_set(struct ker_flag *flag, uint32_t number)
{
    atomic_store(&flag->number, number);
    if (atomic_load(&flag->sleepers))
        number_wake(&flag->number);
}

bool ker_flag_wait(struct ker_flag *flag, uint32_t number, bool look, int64_t at_most_ns)
{
    for (unsigned looks = look ? LOOKS : 0; looks > 0; looks--) {
        if (atomic_load_explicit(&flag->number, memory_order_acquire) == number)
            return true;
        pause_briefly();
    }
    for (uint32_t seen; (seen = atomic_load(&flag->number)) != number;) {
        atomic_fetch_add(&flag->sleepers, 1);
        number_sleep(&flag->number, seen, at_most_ns);
        atomic_fetch_sub(&flag->sleepers, 1);
        if (at_most_ns && atomic_load(&flag->number) != number)
            return false;
    }
    return true;
}
