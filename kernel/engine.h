/* engine.h - conservative parallel discrete-event simulation by cells and windows.
 *
 * A component (a switch, a node) reads and writes only its own state. Components meet by events, which need
 * at least the lookahead between their cells, and by notes, small records for credits and timers. In a
 * window no cell can affect another, so a rank takes one active cell after the other and handles all its
 * records of the window in the order (time, component, kind, port, channel). For each instant of a component the
 * engine first hands over all records of the instant, then calls act() once.
 *
 * Nothing a model can observe depends on the number of ranks, on the partition, on the window length, or on
 * the order of the cells.
 */
#ifndef KERNEL_ENGINE_H
#define KERNEL_ENGINE_H

#include "kernel/comm.h"
#include "kernel/error.h"
#include "kernel/units.h"

#include <stdbool.h>
#include <stdint.h>

/* Record kinds order the records of one instant: credits first, then arrivals, then timers. */
enum ker_kind {
    KER_CREDIT = 0,  /* note */
    KER_ARRIVAL = 1, /* event */
    KER_TIMER = 2,   /* note */
    KER_WAKE = 3,    /* note; may be spurious, never observable */
};

/* One cache line, ready to be sent to another rank. Two events of one instant, component, port and channel must not
 * exist (a link delivers one head at a time). */
struct ker_event {
    ker_time time;
    uint32_t component; /* local index at its rank */
    uint16_t port;
    uint8_t channel;
    uint8_t flags; /* the model's; KER_FLAG_EXTENSION is known to the engine */
    uint64_t payload[6];
};
_Static_assert(sizeof(struct ker_event) == 64, "an event is one cache line");

/* Events may carry an extension: 64 bytes in a pool of the rank, named by the low 32 bits of payload[5]; an event
 * that crosses to another rank takes its extension along. */
#define KER_FLAG_EXTENSION 0x80

/* Where a component lives. */
struct ker_address {
    uint32_t index; /* local at its rank */
    uint32_t rank;
};

struct ker_engine;

/* What a class of components does. All are given the component's state. */
struct ker_class {
    const char *name;
    void (*arrival)(void *self, struct ker_engine *, const struct ker_event *);
    /* credits and timers: amount and port as posted */
    void (*note)(void *self, struct ker_engine *, ker_time now, enum ker_kind, uint16_t port, uint8_t channel,
                 uint32_t amount);
    void (*act)(void *self, struct ker_engine *, ker_time now);
};

#endif
