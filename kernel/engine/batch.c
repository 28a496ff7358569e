/* batch.c - see batch.h. */
#include "kernel/engine/batch.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(KER_EXTENSION_BYTES == 2 * KER_SLAB_UNIT, "half of an extension is a unit");

uint32_t extension_put(struct ker_slabs *s, const void *bytes)
{
    uint64_t upper[KER_SLAB_UNIT / sizeof(uint64_t)], any = 0;
    memcpy(upper, (const char *)bytes + KER_SLAB_UNIT, sizeof upper);
    for (unsigned i = 0; i < sizeof upper / sizeof *upper; i++)
        any |= upper[i];
    uint32_t index = ker_slabs_take(s, any ? 2 : 1);
    char *at = ker_slabs_at(s, index);
    memcpy(at, bytes, KER_SLAB_UNIT);
    if (any)
        memcpy(at + KER_SLAB_UNIT, upper, sizeof upper);
    return index;
}

void extension_read(const struct ker_slabs *s, uint32_t index, void *bytes)
{
    const char *at = ker_slabs_at(s, index);
    memcpy(bytes, at, KER_SLAB_UNIT);
    if (ker_slabs_units(s, index) == 2)
        memcpy((char *)bytes + KER_SLAB_UNIT, at + KER_SLAB_UNIT, KER_SLAB_UNIT);
    else
        memset((char *)bytes + KER_SLAB_UNIT, 0, KER_SLAB_UNIT);
}

void outbox_release(struct outbox *o)
{
    free(o->buffer);
    free(o->note);
}

static uint32_t *event_extension(struct ker_event *event)
{
    return (uint32_t *)&event->payload[5];
}

size_t outbox_seal(struct outbox *o, struct ker_slabs *own)
{
    size_t notes_at = sizeof(struct batch_header) + sizeof(struct ker_event) * (size_t)o->events;
    size_t extensions_at = notes_at + sizeof(struct remote_note) * (size_t)o->notes;
    size_t most = extensions_at + KER_EXTENSION_BYTES * (size_t)o->events;
    KER_RESERVE(o->buffer, o->room, most);
    struct ker_event *event = (struct ker_event *)(void *)(o->buffer + sizeof(struct batch_header));
    uint32_t extensions = 0;
    for (uint32_t i = 0; i < o->events; i++) {
        if (!(event[i].flags & KER_FLAG_EXTENSION))
            continue;
        uint32_t index = *event_extension(&event[i]);
        extension_read(own, index, o->buffer + extensions_at + KER_EXTENSION_BYTES * (size_t)extensions);
        ker_slabs_give(own, index);
        extensions++;
    }
    if (o->notes)
        memcpy(o->buffer + notes_at, o->note, sizeof *o->note * o->notes);
    struct batch_header header = {
        extensions_at + KER_EXTENSION_BYTES * (size_t)extensions, o->events, o->notes, {0}};
    memcpy(o->buffer, &header, sizeof header);
    o->events = o->notes = 0;
    o->earliest = KER_TIME_MAX;
    return header.bytes;
}

void batch_open(const char *batch, ker_time done, struct wheel *wheel, struct ker_slabs *own)
{
    struct batch_header header;
    memcpy(&header, batch, sizeof header);
    const char *events = batch + sizeof header;
    const char *notes = events + sizeof(struct ker_event) * (size_t)header.events;
    const char *extensions = notes + sizeof(struct remote_note) * (size_t)header.notes;
    for (uint32_t i = 0; i < header.events; i++) {
        struct ker_event event;
        memcpy(&event, events + sizeof event * (size_t)i, sizeof event);
        ker_assert(event.time >= done);
        if (event.flags & KER_FLAG_EXTENSION) {
            *event_extension(&event) = extension_put(own, extensions);
            extensions += KER_EXTENSION_BYTES;
        }
        *wheel_event(wheel, event.time, event.component) = event;
    }
    for (uint32_t i = 0; i < header.notes; i++) {
        struct remote_note note;
        memcpy(&note, notes + sizeof note * (size_t)i, sizeof note);
        ker_assert(note.time >= done);
        wheel_note_put(wheel, note.time, note.note);
    }
}
