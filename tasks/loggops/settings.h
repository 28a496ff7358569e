/* settings.h - the parameters of LogGOPS, of its own model (model.h) and of endpoints above the packet
 * network (tasks/mpi/endpoint.c).
 */
#ifndef TASKS_LOGGOPS_SETTINGS_H
#define TASKS_LOGGOPS_SETTINGS_H

#include "kernel/base/base.h"

struct ker_config;

/* Time per byte, in picoseconds and millionths of them. */
struct loggops_rate {
    uint64_t whole, millionths;
};

enum loggops_rendezvous { LOGGOPS_INSTANT, LOGGOPS_READ, LOGGOPS_WRITE };

/* What LogGOPSim does wrong, for comparisons (loggops.faults). */
#define LOGGOPS_UNTIMED 1u    /* dependencies between cpus take no time, and may lead into the past */
#define LOGGOPS_ZERO_WRAPS 2u /* of 0 bytes all but the first are -1 */
#define LOGGOPS_OWN_SIZES 4u  /* a receive that finds its message decides by its own size, cpu and adapter */
#define LOGGOPS_FAULTS 3
extern const char *const loggops_faults[LOGGOPS_FAULTS]; /* their names, by bit */

struct loggops_parameters {
    ker_time latency, overhead, gap;    /* L, o, g */
    struct loggops_rate per_byte, busy; /* G of the network, O of the cpu */
    uint64_t eager;                     /* S: longer messages wait until they are matched */
    enum loggops_rendezvous rendezvous;
    unsigned faults;
};

/* All but the first byte. */
static inline ker_time loggops_bytes(const struct loggops_rate *rate, uint64_t bytes)
{
    uint64_t more = bytes ? bytes - 1 : 0, time = more * rate->whole;
    if (__builtin_expect(rate->millionths != 0, 0))
        time += (uint64_t)((unsigned __int128)more * rate->millionths / 1000000);
    return (ker_time)time;
}

enum ker_status loggops_rate_read(struct loggops_rate *, const struct ker_config *, const char *key,
                                  struct ker_error *);
enum ker_status loggops_settings(struct loggops_parameters *, const struct ker_config *, struct ker_error *);

#endif
