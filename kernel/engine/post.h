/* post.h - what a component posts: events and notes. Inside the engine's other files and here only is known
 * what an engine is made of: what is posted on the hot path has to be inlined.
 */
#pragma once

#include "kernel/engine/engine.h"
#include "kernel/engine/exchange.h"
#include "kernel/engine/wheel.h"

/* An item of the running cell's own queue. */
struct ker_item {
    uint64_t key;  /* place of the cell << 48 | (time - window start) << 16 | component in cell */
    uint32_t rank; /* kind, port, channel */
    uint32_t reference;
};

struct ker_engine {
    struct wheel wheel;
    ker_time window_start, window_end;
    ker_time handled; /* no component of this rank has anything to do before it */
    uint32_t rank;
    uint64_t running; /* key of the item that is handled */
    struct ker_component *component;
    struct ker_item *inner; /* records the running cell posts to itself inside the window, latest first */
    uint32_t inner_count, inner_room;
    uint32_t inner_chunk, inner_used; /* where its events lie until the cell is done */
    struct exchange *exchange;
    ker_time hold;        /* see ker_hold */
    ker_time last_action; /* latest model-visible action of this rank */
    struct ker_counts counts;
    struct engine_private *private;
};

/* Extensions of events, of KER_EXTENSION_BYTES. */
static inline uint32_t ker_extension_new(struct ker_engine *e, const void *bytes)
{
    return exchange_extension_new(e->exchange, bytes);
}
static inline void ker_extension_read(struct ker_engine *e, uint32_t index, void *bytes)
{
    exchange_extension_read(e->exchange, index, bytes);
}
/* The first half. */
static inline const void *ker_extension_head(struct ker_engine *e, uint32_t index)
{
    return exchange_extension_head(e->exchange, index);
}
static inline void ker_extension_free(struct ker_engine *e, uint32_t index)
{
    exchange_extension_free(e->exchange, index);
}

struct ker_event *ker_inner_event(struct ker_engine *, ker_time time, uint32_t component, uint16_t port,
                                  uint8_t channel);
void ker_inner_note(struct ker_engine *, ker_time time, uint32_t component, enum ker_record_kind,
                    uint16_t port, uint8_t channel, uint32_t amount);

/* Room for an event that arrives at `to` at `time`: everything but time, component, port and channel is the
 * caller's to fill at once. time must be at least the promised lookahead ahead. */
static inline struct ker_event *ker_post_event(struct ker_engine *e, struct ker_address to, ker_time time,
                                               uint16_t port, uint8_t channel)
{
    struct ker_event *event;
    if (__builtin_expect(to.rank != e->rank, 0))
        event = exchange_event(e->exchange, to.rank, time);
    else if (__builtin_expect(time < e->window_end, 0))
        event = ker_inner_event(e, time, to.index, port, channel);
    else
        event = wheel_event(&e->wheel, time, to.index);
    event->time = time;
    event->component = to.index;
    event->port = port;
    event->channel = channel;
    return event;
}

/* A credit, timer or wake-up. Timers and wake-ups are addressed to the component itself, at a later time than
 * now. */
static inline void ker_post_note(struct ker_engine *e, struct ker_address to, ker_time time,
                                 enum ker_record_kind kind, uint16_t port, uint8_t channel, uint32_t amount)
{
    struct wheel_note note = {0, to.index, port, channel, (uint8_t)kind, amount};
    if (__builtin_expect(to.rank != e->rank, 0))
        exchange_note(e->exchange, to.rank, time, note);
    else if (time < e->window_end)
        ker_inner_note(e, time, to.index, kind, port, channel, amount);
    else
        wheel_note_put(&e->wheel, time, note);
}

/* Something will be due at `when` of which there is no record: the run continues at least until then. */
static inline void ker_hold(struct ker_engine *e, ker_time when)
{
    if (when > e->hold)
        e->hold = when;
}

/* Something visible in the model happened. */
static inline void ker_touch(struct ker_engine *e, ker_time when)
{
    if (when > e->last_action)
        e->last_action = when;
}
