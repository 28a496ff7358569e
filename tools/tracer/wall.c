/* wall.c - wall time: the processor's own counter where it can be trusted, else CLOCK_MONOTONIC.
 *
 * A call is stamped three times, and clock_gettime() takes 20 ns where reading the counter takes 8. The
 * counter is taken where it runs at one rate whatever the processor does (cpuid's "invariant TSC") and the
 * kernel keeps time by it, which it does only as long as all processors' counters agree. Its rate is measured
 * from when the library was loaded to the end of MPI_Init, against CLOCK_MONOTONIC; from then on it gives the
 * nanoseconds since. How far it was off at the end is said in the trace.
 */
#define _GNU_SOURCE
#include "trc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t trc_system_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#ifdef __x86_64__
#include <cpuid.h>

#define BASELINE_NS 20000000 /* at least: two readings of 50 ns each then make an error of 5 ppm at most */

struct trc_counter trc_counter;
static struct moment {
    uint64_t ticks;
    int64_t ns;
} loaded;

/* Both clocks at one time: of a few readings the one that took least. */
static struct moment moment_take(void)
{
    struct moment best = {0, 0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t before = __builtin_ia32_rdtsc();
        int64_t ns = trc_system_ns();
        uint64_t took = __builtin_ia32_rdtsc() - before;
        if (took < least) {
            least = took;
            best = (struct moment){before + took / 2, ns};
        }
    }
    return best;
}

__attribute__((constructor)) static void library_loaded(void)
{
    loaded = moment_take();
}

static bool counter_trusted(void)
{
    unsigned a, b, c, d = 0;
    if (getenv("MARSTRACE_NO_TSC") || !__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d >> 8 & 1))
        return false;
    char text[32] = "";
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");
    bool read = file && fgets(text, sizeof text, file);
    if (file)
        fclose(file);
    return read && strcmp(text, "tsc\n") == 0;
}

uint64_t trc_wall_begin(void)
{
    if (trc_counter.scale || !counter_trusted())
        return 0;
    int64_t rest = loaded.ns + BASELINE_NS - trc_system_ns();
    if (rest > 0)
        nanosleep(&(struct timespec){.tv_nsec = rest}, NULL);
    struct moment now = moment_take();
    uint64_t ticks = now.ticks - loaded.ticks, ns = (uint64_t)(now.ns - loaded.ns);
    if (now.ticks <= loaded.ticks || now.ns <= loaded.ns)
        return 0;
    trc_counter = (struct trc_counter){(uint64_t)(((unsigned __int128)ns << TRC_SCALE_BITS) / ticks),
                                       now.ticks, now.ns};
    return (uint64_t)((unsigned __int128)ticks * 1000000000 / ns);
}

int64_t trc_wall_off(void)
{
    if (!trc_counter.scale)
        return 0;
    struct moment now = moment_take();
    return trc_counter_ns(now.ticks) - now.ns;
}
#else
uint64_t trc_wall_begin(void)
{
    return 0;
}
int64_t trc_wall_off(void)
{
    return 0;
}
#endif
