/* record.h - what passes between components: events, and the kinds of records; and between ranks. */
#pragma once

#include "kernel/base/base.h"

/* Record kinds order the records of one instant: credits first, then news from other components, then
 * arrivals, then timers. A record's key is (time, component, kind, port, channel). Records of equal key must
 * commute; timers of equal key must be identical, so that no payload outside the key decides anything (debug
 * builds assert it). */
enum ker_record_kind {
    KER_CREDIT = 0,  /* note */
    KER_NOTICE = 1,  /* note; several may share one key, and then must commute */
    KER_ARRIVAL = 2, /* event */
    KER_TIMER = 3,   /* note */
    KER_WAKE = 4,    /* note; may be spurious, never observable */
};

/* One cache line, ready to be sent to another rank. Two events of one instant, component, port and channel
 * must not exist (a link delivers one head at a time). */
struct ker_event {
    ker_time time;
    uint32_t component; /* local index at its rank */
    uint16_t port;
    uint8_t channel;
    uint8_t flags; /* the model's; KER_FLAG_EXTENSION is known to the engine */
    uint64_t payload[6];
};
_Static_assert(sizeof(struct ker_event) == 64, "an event is one cache line");

/* Events may carry an extension: 64 bytes with the rank, named by the low 32 bits of payload[5]; an event
 * that crosses to another rank takes its extension along. Where the second half is zero it is not kept. */
#define KER_FLAG_EXTENSION 0x80
#define KER_EXTENSION_BYTES 64u

/* To another rank: whatever is sent there arrives at least `delay` later. */
struct ker_channel {
    uint32_t rank;
    ker_time delay;
};

/* What a rank has sent to others. */
struct ker_sent {
    uint64_t bytes, messages; /* messages: by MPI, of neighbours, empty ones included */
};
