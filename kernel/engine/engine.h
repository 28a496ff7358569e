/* engine.h - conservative parallel discrete-event simulation by cells and windows.
 *
 * A component (a switch, a node) reads and writes only its own state. Components meet by events, which need
 * at least the lookahead between their cells, and by notes, small records for credits and timers. In a
 * window no cell can affect another, so a rank takes one active cell after the other and handles all its
 * records of the window in the order (time, component, kind, port, channel). For each instant of a component
 * the engine first hands over all records of the instant, then calls act() once.
 *
 * Nothing a model can observe depends on the number of ranks, on the partition, on the window length, or on
 * the order of the cells.
 */
#ifndef KERNEL_ENGINE_H
#define KERNEL_ENGINE_H

#include "kernel/base/comm.h"
#include "kernel/base/error.h"
#include "kernel/engine/exchange.h"
#include "kernel/engine/record.h"
#include "kernel/engine/wheel.h"
#include "kernel/state/chunk.h"

#include <stdbool.h>
#include <stdint.h>

/* Where a component lives. */
struct ker_address {
    uint32_t index; /* local at its rank */
    uint32_t rank;
};

struct ker_engine;

/* What a class of components does. All are given the component's state. */
struct ker_class {
    const char *name;
    /* The event stays valid until this component's next act() has returned. */
    void (*arrival)(void *self, struct ker_engine *, const struct ker_event *);
    /* credits, timers and wake-ups, as posted */
    void (*note)(void *self, struct ker_engine *, ker_time now, enum ker_record_kind, uint16_t port,
                 uint8_t channel, uint32_t amount);
    void (*act)(void *self, struct ker_engine *, ker_time now);
    /* Short cuts for an instant with one record only: must do what arrival() or note() and then act() would.
     */
    void (*arrival_alone)(void *self, struct ker_engine *, const struct ker_event *);
    void (*note_alone)(void *self, struct ker_engine *, ker_time now, enum ker_record_kind, uint16_t port,
                       uint8_t channel, uint32_t amount);
    /* Optional: called for the arrivals of a window a little before the cell runs. May fetch ahead, and may
     * write into the event what does not depend on any state that changes. */
    void (*prepare)(void *self, struct ker_event *);
    bool repeats; /* arrivals of equal key may come, and commute */
    /* What of the state to fetch ahead: with a stride 128 bytes, and for a record at port p 64 to 128 at
     * head + p x stride; else the head. */
    uint32_t head_bytes, port_stride;
    /* For checkpoints (state.h): what a component is called, whatever rank it lives on. */
    uint32_t (*id)(const void *self);
};

struct ker_component {
    void *state;
    const struct ker_class *class;
};

enum ker_cell_order { KER_ORDER_FORWARD, KER_ORDER_BACKWARD, KER_ORDER_SHUFFLED };

#define KER_CHECK_INTERVALS 4

/* Sets of blocks: an engine with a lot to do handles several windows of one, then of the next, so that it
 * finds its state in a cache. Either they reach each other only after `delay`, longer than the lookahead; or
 * they stand in a row, and only neighbours reach each other, but for tiles that are open to others, on this
 * rank or another. Results do not depend on them. */
struct ker_tiles {
    const uint32_t *tile; /* of each block, 0 to count - 1; the caller's */
    uint32_t count;       /* below 2: there are none */
    ker_time delay;
    uint32_t block;   /* components of a block, as by ker_engine_block() or a larger power of two */
    const bool *open; /* of each tile of a row; NULL: they are none. The caller's */
    bool always;      /* however small the system is: a test */
};

struct ker_engine_setup {
    struct ker_comm *comm;
    uint32_t components;   /* length of this rank's index space */
    uint32_t largest_cell; /* components in the largest cell */
    struct ker_tiles tiles;
    ker_time lookahead;                /* smallest delay from a cell of this rank to another, > 0 */
    const struct ker_channel *channel; /* of this rank to all others that it sends anything to, each once */
    uint32_t channels;
    ker_time reach; /* most records lie at most this far ahead (sizes the wheel) */
    ker_time end;   /* events at this time and later are not handled; KER_TIME_MAX: none */
    ker_time check_interval[KER_CHECK_INTERVALS]; /* of the global conditions; 0: unused */
    bool check_every[KER_CHECK_INTERVALS];        /* also at multiples between which nothing happened */
    const ker_time *check_at; /* further times of checks, increasing; the caller's, to the end */
    uint32_t check_at_count;
    enum ker_cell_order order;
    uint64_t seed; /* of the shuffled order */
    int hosts;     /* > 0: as if the ranks were on so many hosts, consecutive ones on each (a test of that) */
    bool trial;    /* find out at the beginning whether one rank would be faster (KER_END_TRIAL) */
    bool yield;    /* ranks outnumber cores: give the core away while waiting */
    size_t arena_bytes; /* for records under way; 0: as much as there is (a test of less) */
    size_t part_bytes;  /* longest message between ranks; 0: as long as MPI can (a test of longer ones) */
    /* At every multiple of any check_interval, on all ranks at the same simulated time, everything before
     * `at` handled: true ends the run there. Must decide the same on all ranks (sum over them). May be NULL.
     */
    bool (*check)(void *context, ker_time at);
    /* On every rank by itself, before it handles anything from the last such time on: what the components may
     * count ahead lies before `until`. No end of the run cuts off what lies before it; what they do later may
     * have to be left out. May be NULL. */
    void (*settle)(void *context, ker_time until);
    /* Requests from outside (request.h) take effect at a multiple of this, > 0 where `requested` is given, or
     * at a check before that. */
    ker_time request_interval;
    /* Like check, at the first such time that no rank has passed, bits: what was asked of any rank. Without
     * it nothing is asked. */
    bool (*requested)(void *context, unsigned bits, ker_time at);
    /* Now and then, on every rank, for a progress line. May be NULL. */
    void (*progress)(void *context, ker_time at, uint64_t records);
    void *context;
};

struct ker_counts {
    uint64_t records, events, notes, wakes; /* handled */
    uint64_t windows, cells, epochs;
    struct exchange_cost sent;
};

enum ker_end { KER_END_DRAINED, KER_END_TIME, KER_END_CHECK, KER_END_REQUEST, KER_END_MEMORY, KER_END_TRIAL };

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

struct ker_engine *ker_engine_new(const struct ker_engine_setup *);
/* When no run goes on: gives back what is under way. Counts may be asked for, and nothing else. */
void ker_engine_abandon(struct ker_engine *);
void ker_engine_free(struct ker_engine *);

/* Places a component at a local index. Components of a cell have consecutive indices; a cell must not cross a
 * multiple of ker_engine_block(largest_cell): ker_engine_place finds the index for the next cell. */
/* Components of a block where tiles are to be made: a tile of a few blocks should fit into a cache. 0: so
 * small a system does so as a whole. */
uint32_t ker_engine_tile_block(uint32_t components);
#define KER_LEAST_BLOCK 8u /* components, where a block is given */
/* Those of a block without tiles, where cells are components. Smaller ones make a row of tiles slower. */
uint32_t ker_engine_usual_block(uint32_t components);
uint32_t ker_engine_block(uint32_t largest_cell);
static inline uint32_t ker_engine_place(uint32_t next, uint32_t cell_size, uint32_t block)
{
    return next % block + cell_size > block ? next + block - next % block : next;
}
/* How many tiles there are, of how many windows; 0: none are made. */
uint32_t ker_engine_tiles(const struct ker_engine *, uint32_t *windows);
void ker_engine_set(struct ker_engine *, uint32_t index, const struct ker_class *, void *state,
                    bool begins_cell);

/* Collective. Runs to the end and says why it ended; *at is the time of the end condition (for DRAINED, and
 * for MEMORY, which leaves ranks where they are: the last action that the model can see). */
enum ker_end ker_engine_run(struct ker_engine *, ker_time *at);

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

/* A credit, timer or wake-up. Timers and wake-ups go to the component itself, at a later time than now. */
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

/* Something will be due at `when` of which no record tells: the run goes on at least until then. */
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

#endif
