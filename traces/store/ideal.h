/* ideal.h - a run of traced tasks over an ideal network: messages take no time, so that tasks only compute,
 * and wait for each other (Dimemas calls it an ideal network, Scalasca the waits of it late senders).
 *
 * Each task has events, in their order: it sends, receives, or begins a step, after it has computed. The
 * keys of messages say who sends to whom, by which communicator and tag; those of one key arrive in order. A
 * send never waits. What is received from anywhere is no event, and collectives are messages to and from one
 * of their members. So the times are those of all causes of waiting but for the network and for these.
 *
 * Invariant: each task reads its messages in its own order, and none is lost or overtaken, so that times do
 * not depend on the order in which tasks are run, nor on how many events are given at once.
 */
#pragma once

#include "kernel/base/base.h"

#include <stdbool.h>

enum trace_event_kind { TRACE_SENDS, TRACE_RECEIVES, TRACE_BEGINS, TRACE_ENDS };
struct trace_event {
    uint64_t key; /* BEGINS, ENDS: number of the step that begins, or would */
    uint64_t at;  /* TRACE_EVENT_AT: the kind, and what the task has computed by then, in ps */
};
#define TRACE_EVENT_AT(kind, computed) ((uint64_t)(computed) << 2 | (uint64_t)(kind))

struct trace_events {
    struct trace_event *event; /* malloc'ed */
    size_t count, room;
};
static inline void trace_event_add(struct trace_events *e, uint64_t key, enum trace_event_kind kind,
                                   ker_time computed)
{
    *KER_PUSH(e->event, e->count, e->room) = (struct trace_event){key, TRACE_EVENT_AT(kind, computed)};
}

struct trace_ideal;
/* factor: what each task computes takes so many times as long; NULL: once. begun, zeroed, becomes when the
 * last task has begun each step, or ended, in ps. */
struct trace_ideal *trace_ideal_new(uint32_t tasks, const double *factor, int64_t *begun);
/* The task has used up what it had. */
void trace_ideal_give(struct trace_ideal *, uint32_t task, const struct trace_event *, size_t count);
/* Runs all tasks as far as they get; wants[task]: it is to be given more. False: all have ended. */
bool trace_ideal_run(struct trace_ideal *, uint8_t *wants);
void trace_ideal_release(struct trace_ideal *);
