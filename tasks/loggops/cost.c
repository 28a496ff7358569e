/* cost.c - what messages cost, and new events: what graphs and programs of MPI have in common.
 *
 * A message of s bytes that is sent at t takes the sender's cpu until t + o + (s-1) O and its adapter until t
 * + g + (s-1) G, and is at the receiver at t + o + L; from t' on, when cpu and adapter are free there, it
 * takes the cpu for o + (s-1) max(O, G) and the adapter for g + (s-1) G.
 */
#include "kernel/engine/post.h"
#include "tasks/loggops/model.h"

#include <string.h>

void loggops_cpu_take(struct loggops_system *s, struct loggops_process *p, unsigned cpu, ker_time until)
{
    *loggops_cpu(s, p, cpu) = until;
    ker_touch(s->engine, until);
}

static __attribute__((noinline)) ker_time watched(struct loggops_system *s, struct loggops_process *p,
                                                  unsigned cpu, ker_time from, ker_time time, ker_time until)
{
    if (s->noise.detours.count > 0)
        until += loggops_noise_delay(&s->noise, loggops_rank(s, p), from, time);
    if (s->records && !loggops_is_program(s, p))
        loggops_record_busy(s, p, cpu, from, until);
    return until;
}

void loggops_cpu_work(struct loggops_system *s, struct loggops_process *p, unsigned cpu, ker_time from,
                      ker_time time, ker_time further)
{
    ker_time until = from + time + further;
    if (__builtin_expect(s->watched, 0))
        until = watched(s, p, cpu, from, time, until);
    loggops_cpu_take(s, p, cpu, until);
}

uint32_t loggops_event_new(struct loggops_system *s, struct loggops_process *p, const ker_time *cause,
                           enum loggops_kind kind)
{
    uint32_t index = KER_POOL_TAKE(&s->events, NULL);
    struct loggops_event *e = loggops_event_at(s, index);
    memcpy(e->cause, cause, sizeof e->cause);
    if (__builtin_expect(s->counted, 0)) {
        e->cause[1] = cause[0];
        e->cause[loggops_serial_at(s)] = (ker_time)s->serial++;
    }
    e->origin = loggops_rank(s, p);
    e->number = p->number++;
    e->process = (uint32_t)(p - s->process);
    e->kind = (uint8_t)kind;
    e->heads = 0;
    return index;
}

/* All but the first byte; with LOGGOPS_ZERO_WRAPS of none one less than nothing. */
static inline ker_time further(struct loggops_system *s, const struct loggops_rate *rate, uint64_t bytes)
{
    if (__builtin_expect(bytes == 0, 0)) {
        if (s->set.faults & LOGGOPS_ZERO_WRAPS)
            return -(ker_time)rate->whole;
        s->unlike[1] += rate->whole > 0;
    }
    return loggops_bytes(rate, bytes);
}

ker_time loggops_transmit(struct loggops_system *s, struct loggops_process *p, unsigned cpu, unsigned nic,
                          ker_time now, uint64_t bytes, uint32_t to)
{
    const struct loggops_parameters *set = loggops_between(s, loggops_rank(s, p), to);
    loggops_cpu_work(s, p, cpu, now, set->overhead, further(s, &set->busy, bytes));
    *loggops_sending(s, p, nic) = now + set->gap + further(s, &set->per_byte, bytes);
    return now + set->overhead + set->latency;
}

void loggops_take_in(struct loggops_system *s, struct loggops_process *p, const struct loggops_event *e,
                     uint64_t bytes)
{
    const struct loggops_parameters *set = loggops_between(s, loggops_rank(s, p), e->origin);
    ker_time wire = further(s, &set->per_byte, bytes), own = further(s, &set->busy, bytes);
    loggops_cpu_work(s, p, e->cpu, e->time, set->overhead,
                     (uint64_t)own > (uint64_t)wire ? own : wire); /* so there, where they may be negative */
    *loggops_receiving(s, p, e->nic) = e->time + set->gap + wire;
}
