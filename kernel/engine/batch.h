/* batch.h - what one rank sends another in a round, as it travels. Private to kernel/engine.
 *
 * A batch is a header, the events, the notes, and the extensions of those events that have one, in their
 * order.
 */
#pragma once

#include "kernel/engine/wheel.h"

struct remote_note {
    ker_time time;
    struct wheel_note note;
};

/* What is sent to one neighbour. The buffer holds a header, then the events; notes and extensions are
 * appended when it is sent. */
struct outbox {
    char *buffer;
    size_t room;
    uint32_t events, notes;
    struct remote_note *note;
    size_t note_room;
    ker_time earliest; /* of them */
};

struct batch_header {
    uint64_t bytes; /* with the header */
    uint32_t events, notes, reserved[12];
};
_Static_assert(sizeof(struct batch_header) == 64, "events behind it are aligned");

/* Adds to what is sent to a neighbour; the event is to be filled. */
static inline struct ker_event *outbox_event(struct outbox *o, ker_time time)
{
    size_t at = sizeof(struct batch_header) + sizeof(struct ker_event) * (size_t)o->events;
    o->earliest = ker_time_min(o->earliest, time);
    KER_RESERVE(o->buffer, o->room, at + sizeof(struct ker_event));
    o->events++;
    return (struct ker_event *)(void *)(o->buffer + at);
}

static inline void outbox_note(struct outbox *o, ker_time time, struct wheel_note note)
{
    o->earliest = ker_time_min(o->earliest, time);
    *KER_PUSH(o->note, o->notes, o->note_room) = (struct remote_note){time, note};
}

/* Completes the batch in the outbox's buffer, and returns its length; then the outbox is empty. */
size_t outbox_seal(struct outbox *, struct ker_slabs *own);
void outbox_release(struct outbox *);
/* Puts a batch into the wheel; nothing in it is earlier than `done`. */
void batch_open(const char *batch, ker_time done, struct wheel *, struct ker_slabs *own);

/* Extensions with this rank: one unit where the second half is zero, else two. */
uint32_t extension_put(struct ker_slabs *, const void *bytes);
void extension_read(const struct ker_slabs *, uint32_t index, void *bytes);
