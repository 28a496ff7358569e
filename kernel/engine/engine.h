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
 *
 * What a component posts it posts by post.h.
 */
#pragma once

#include "kernel/base/base.h"
#include "kernel/engine/record.h"
#include "kernel/engine/request.h"

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
    /* Optional: called for the notes. May fetch what lies elsewhere, and changes nothing. */
    void (*foresee)(const struct ker_class *, void *self);
    bool repeats; /* arrivals of equal key may come, and commute */
    /* What of the state to fetch ahead: with a stride 128 bytes, and for a record at port p 64 to 128 at
     * head + p x stride; else the head. */
    uint32_t head_bytes, port_stride;
    /* For checkpoints: what a component is called, whatever rank it lives on. */
    uint32_t (*id)(const void *self);
};

struct ker_component {
    void *state;
    const struct ker_class *class;
};

enum ker_cell_order { KER_ORDER_FORWARD, KER_ORDER_BACKWARD, KER_ORDER_SHUFFLED };

#define KER_CHECK_INTERVALS 6

/* Sets of blocks: an engine with a lot to do handles several windows of one, then of the next, so that it
 * finds its state in a cache. Either they reach each other only after `delay`, longer than the lookahead; or
 * they are in a row, and only neighbours reach each other, but for tiles that are open to others, on this
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
    uint64_t seed;      /* of the shuffled order */
    int hosts;          /* > 0: as if the ranks were on n hosts, consecutive ones on each (a test of that) */
    bool trial;         /* find out whether one rank would be faster: KER_END_TRIAL at the beginning, later
                           `requested` with KER_REQUEST_ALONE, which may end the run */
    bool yield;         /* ranks outnumber cores: give the core away while waiting */
    size_t arena_bytes; /* for records in flight; 0: as much as there is (a test of less) */
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
    uint64_t critical; /* records of the rank that had most, epoch by epoch: the same on all ranks */
    struct ker_sent sent;
};

enum ker_end { KER_END_DRAINED, KER_END_TIME, KER_END_CHECK, KER_END_REQUEST, KER_END_MEMORY, KER_END_TRIAL };

struct ker_engine *ker_engine_new(const struct ker_engine_setup *);
/* When no run continues: gives back what is in flight. Counts may be asked for, and nothing else. */
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

/* At a check, on all ranks alike: components have posted something to themselves, at the time of the check or
 * later. */
void ker_engine_posted(struct ker_engine *);
/* In a check: nothing happens on any rank before this time, and checks before it may be left out. */
ker_time ker_engine_quiet(const struct ker_engine *);
/* On all ranks, before the run: it does not end by draining before a check has seen that nothing is left. */
void ker_engine_hold(struct ker_engine *);

/* Collective. Runs to the end and says why it ended; *at is the time of the end condition (for DRAINED, and
 * for MEMORY, which leaves ranks where they are: the last action that the model can see). */
enum ker_end ker_engine_run(struct ker_engine *, ker_time *at);

/* This rank, and the slot of the wheel: the length of a window where tiles and waves do not join several. */
uint32_t ker_engine_rank(const struct ker_engine *);
ker_time ker_engine_window(const struct ker_engine *);
/* No component of this rank has anything to do before it. */
ker_time ker_engine_handled(const struct ker_engine *);
const struct ker_counts *ker_engine_counts(const struct ker_engine *);
/* The state of a component of this rank. */
void *ker_engine_component(const struct ker_engine *, uint32_t index);

/* Saving what is pending.
 *
 * It can be saved where all ranks are at one simulated time: in ker_engine_setup.check and .requested. All
 * batches between ranks have arrived then, and no cell runs, so that everything lies in the wheel. Each
 * record is written for the component that it is addressed to, by class and id (ker_class.id), with the
 * extension of its event. Any number of ranks can load them in any order: a record is known by its time and
 * where it arrives, never by when it was posted.
 */
struct ker_state_writer;
struct ker_state_loader;
#define KER_ENGINE_STATES 2 /* loaders of an engine */

/* Of this rank: everything that is pending, and when the model was last seen to do something. */
void ker_engine_save(struct ker_engine *, struct ker_state_writer *);

/* Where a component lives, for loading; false: on another rank. `class` is ker_class.name. */
typedef bool ker_engine_find(void *context, const char *class, uint32_t id, uint32_t *index);

struct ker_engine_loading {
    struct ker_engine *engine;
    ker_engine_find *find;
    void *context;
    ker_time at;
};

/* The engine, whose components have been set, begins at `at`: what is pending so far is dropped. Then the
 * files of all ranks are read, by every rank, with these among the loaders. */
void ker_engine_restart(struct ker_engine *, ker_time at);
void ker_engine_loaders(struct ker_engine_loading *, struct ker_state_loader *loaders);
