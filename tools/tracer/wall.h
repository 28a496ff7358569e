/* wall.h - wall time in nanoseconds, from the processor's counter or from the system (wall.c). */
#pragma once

#include <stdint.h>

int64_t trc_system_ns(void);
#ifdef __x86_64__
#define TRC_SCALE_BITS 32
extern struct trc_counter {
    uint64_t scale; /* ns a tick, in 2^-32; 0: the processor's counter is not used */
    uint64_t ticks; /* at one moment */
    int64_t ns;     /* at the same */
} trc_counter;
static inline int64_t trc_counter_ns(uint64_t ticks)
{
    return trc_counter.ns +
           (int64_t)((unsigned __int128)(ticks - trc_counter.ticks) * trc_counter.scale >> TRC_SCALE_BITS);
}
static inline int64_t trc_wall(void) /* ns since some time */
{
    return trc_counter.scale ? trc_counter_ns(__builtin_ia32_rdtsc()) : trc_system_ns();
}
#else
static inline int64_t trc_wall(void)
{
    return trc_system_ns();
}
#endif
/* MPI_Init is over: from now on wall time is read from the processor's counter, of n ticks a second; 0:
 * it is not. To be called once, before anything is recorded. */
uint64_t trc_wall_begin(void);
int64_t trc_wall_off(void); /* ns by which it is later than the system's clock */
