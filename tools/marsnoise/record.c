/* record.c - the loop that notices detours.
 *
 * Ticks become nanoseconds when it is over, by CLOCK_MONOTONIC before and after; the threshold needs their
 * rate before, roughly, and a hundredth of a second to find it. Memory for the detours has been touched
 * before: a page that comes with the first write would be a detour of our own.
 */
#define _GNU_SOURCE
#include "tools/marsnoise/record.h"

#include "kernel/base/base.h"

#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <x86intrin.h>
#endif

static bool counter; /* chosen once, before the threads */

const char *noise_clock_choose(void)
{
#ifdef __x86_64__
    unsigned a, b, c, d;
    counter = __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1); /* invariant TSC */
#endif
    return counter ? "processor's counter" : "CLOCK_MONOTONIC";
}

static inline uint64_t ticks_by(bool by_counter)
{
#ifdef __x86_64__
    if (by_counter)
        return __rdtsc();
#endif
    return (uint64_t)ker_clock_ns(CLOCK_MONOTONIC);
}

/* Both clocks at one time: of some pairs that which was read within the fewest ticks. */
static uint64_t both_read(int64_t *ns)
{
    uint64_t best = UINT64_MAX, at = 0;
    for (int i = 0; i < 10; i++) {
        uint64_t before = ticks_by(counter);
        int64_t now = ker_clock_ns(CLOCK_MONOTONIC);
        uint64_t took = ticks_by(counter) - before;
        if (took < best) {
            best = took;
            at = before + took / 2;
            *ns = now;
        }
    }
    return at;
}

static double tick_measure(void)
{
    int64_t begin_ns, end_ns;
    uint64_t begin = both_read(&begin_ns);
    while (ker_clock_ns(CLOCK_MONOTONIC) < begin_ns + 10000000) {
    }
    uint64_t end = both_read(&end_ns);
    return (double)(end_ns - begin_ns) / (double)(end - begin);
}

/* Once for each clock, so that a turn does not ask which. */
static inline __attribute__((always_inline)) void turns(struct noise_record *r, bool by_counter,
                                                        uint64_t threshold, uint64_t most)
{
    uint64_t begin = ticks_by(by_counter), before = begin, end = begin + most, least = UINT64_MAX, done = 0;
    uint32_t count = 0;
    while (before < end && count < r->room) {
        uint64_t now = ticks_by(by_counter), took = now - before;
        done++;
        least = took < least ? took : least;
        if (__builtin_expect(took > threshold, 0))
            r->detour[count++] = (struct noise_detour){before - begin, took};
        before = now;
    }
    r->count = count;
    r->turns = done;
    r->least = least;
    r->span = before - begin;
}

/* Of a turn that was interrupted, its own work is no detour. */
static void own_work_less(struct noise_record *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        r->detour[i].length -= r->least;
}

void noise_record(struct noise_record *r)
{
    double tick = tick_measure();
    uint64_t threshold = (uint64_t)(r->threshold_ns / tick), most = (uint64_t)(r->seconds * 1e9 / tick);
    int64_t begin_ns, end_ns;
    memset(r->detour, 1, r->room * sizeof *r->detour);
    uint64_t begin = both_read(&begin_ns);
    if (counter)
        turns(r, true, threshold, most);
    else
        turns(r, false, threshold, most);
    uint64_t end = both_read(&end_ns);
    r->ns = (double)(end_ns - begin_ns) / (double)(end - begin);
    own_work_less(r);
}
