/* batch.c - see batch.h. */
#include "kernel/engine/batch.h"

#include <stdlib.h>
#include <string.h>

#define EXTENSION_BYTES (sizeof(struct extension))

void outbox_release(struct outbox *o)
{
    free(o->buffer);
    free(o->note);
}

static uint32_t *event_extension(struct ker_event *event)
{
    return (uint32_t *)&event->payload[5];
}

size_t outbox_seal(struct outbox *o, struct extensions *own)
{
    size_t notes_at = sizeof(struct batch_header) + sizeof(struct ker_event) * (size_t)o->events;
    size_t extensions_at = notes_at + sizeof(struct remote_note) * (size_t)o->notes;
    size_t most = extensions_at + EXTENSION_BYTES * (size_t)o->events;
    KER_RESERVE(o->buffer, o->room, most);
    struct ker_event *event = (struct ker_event *)(void *)(o->buffer + sizeof(struct batch_header));
    uint32_t extensions = 0;
    for (uint32_t i = 0; i < o->events; i++) {
        if (!(event[i].flags & KER_FLAG_EXTENSION))
            continue;
        uint32_t index = *event_extension(&event[i]);
        memcpy(o->buffer + extensions_at + EXTENSION_BYTES * (size_t)extensions, &own->pool.at[index],
               EXTENSION_BYTES);
        KER_POOL_GIVE(&own->pool, index);
        extensions++;
    }
    if (o->notes)
        memcpy(o->buffer + notes_at, o->note, sizeof *o->note * o->notes);
    struct batch_header header = {
        extensions_at + EXTENSION_BYTES * (size_t)extensions, o->events, o->notes, {0}};
    memcpy(o->buffer, &header, sizeof header);
    o->events = o->notes = 0;
    o->earliest = KER_TIME_MAX;
    return header.bytes;
}

void batch_open(const char *batch, ker_time done, struct wheel *wheel, struct extensions *own)
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
            uint32_t index = KER_POOL_TAKE(&own->pool, NULL);
            memcpy(&own->pool.at[index], extensions, EXTENSION_BYTES);
            extensions += EXTENSION_BYTES;
            *event_extension(&event) = index;
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
