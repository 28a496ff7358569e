/* state.c - the records of an engine in chunks; see engine.h.
 *
 * A chunk "records" begins with the names of the classes that it speaks of; each record is a class, the id of
 * the component, and the event or note. What means something on this rank only is left out: local indices of
 * components and of extensions (whose bytes follow).
 */
#include "kernel/state/state.h"
#include "kernel/engine/engine_private.h"

#include <stdio.h>
#include <string.h>

#define VERSION 1
#define RECORDS_VERSION 2
#define CLASSES 8
#define CHUNK_BYTES (256u << 10)

enum what { WHAT_NOTE, WHAT_EVENT, WHAT_EXTENDED };

/* The classes that a chunk speaks of. */
struct classes {
    uint32_t count;
    char name[CLASSES][KER_CHUNK_NAME];
};

static void classes_state(struct ker_chunk *c, struct classes *classes)
{
    classes->count = ker_chunk_below(c, classes->count, CLASSES + 1);
    for (uint32_t i = 0; i < classes->count; i++)
        ker_chunk_text(c, classes->name[i]);
}

/* The low half of an event's last word names its extension. */
static uint32_t extension_of(const struct ker_event *event)
{
    return (uint32_t)event->payload[5];
}

static void extension_set(struct ker_event *event, uint32_t index)
{
    event->payload[5] = (event->payload[5] >> 32 << 32) | index;
}

/* ---- saving ---- */

struct saving {
    struct ker_engine *engine;
    struct ker_state_writer *writer;
    struct ker_chunk *chunk; /* NULL: none is begun */
    const struct ker_class *class[CLASSES];
    struct classes classes;
    uint64_t chunks;
};

static void chunk_end(struct saving *s)
{
    if (s->chunk)
        ker_state_end(s->writer);
    s->chunk = NULL;
}

static uint32_t class_number(struct saving *s, const struct ker_class *class)
{
    for (uint32_t i = 0; i < s->classes.count; i++)
        if (s->class[i] == class)
            return i;
    ker_assert(s->classes.count < CLASSES && class->id);
    chunk_end(s); /* its head does not have this one */
    s->class[s->classes.count] = class;
    snprintf(s->classes.name[s->classes.count], KER_CHUNK_NAME, "%s", class->name);
    return s->classes.count++;
}

/* Begins a record; everything of it is put into the chunk that is returned. */
static struct ker_chunk *record_begin(struct saving *s, enum what what, uint32_t component)
{
    const struct ker_component *to = &s->engine->component[component];
    uint32_t class = class_number(s, to->class);
    if (s->chunk && s->chunk->at > CHUNK_BYTES)
        chunk_end(s);
    if (!s->chunk) {
        s->chunk = ker_state_begin(s->writer, "records", RECORDS_VERSION, s->chunks++);
        classes_state(s->chunk, &s->classes);
    }
    ker_chunk_u8(s->chunk, (uint8_t)what);
    ker_chunk_u8(s->chunk, (uint8_t) class);
    ker_chunk_u32(s->chunk, to->class->id(to->state));
    return s->chunk;
}

static void event_save(void *context, const struct ker_event *event)
{
    struct saving *s = context;
    bool extended = event->flags & KER_FLAG_EXTENSION;
    struct ker_chunk *c = record_begin(s, extended ? WHAT_EXTENDED : WHAT_EVENT, event->component);
    struct ker_event copy = *event;
    copy.component = 0;
    if (extended)
        extension_set(&copy, 0);
    KER_CHUNK(c, copy);
    if (extended) {
        char extension[KER_EXTENSION_BYTES];
        ker_extension_read(s->engine, extension_of(event), extension);
        ker_chunk_bytes(c, extension, sizeof extension);
    }
}

static void note_state(struct ker_chunk *c, ker_time *time, struct wheel_note *n)
{
    KER_CHUNK(c, *time, n->port, n->channel, n->kind, n->amount);
}

static void note_save(void *context, ker_time time, const struct wheel_note *note)
{
    struct saving *s = context;
    struct wheel_note copy = *note;
    note_state(record_begin(s, WHAT_NOTE, note->component), &time, &copy);
}

void ker_engine_save(struct ker_engine *e, struct ker_state_writer *writer)
{
    struct saving s = {.engine = e, .writer = writer};
    const struct wheel_visitor visitor = {event_save, note_save, &s};
    ker_assert(e->inner_count == 0 && exchange_sent(e->exchange) == KER_TIME_MAX);
    struct ker_chunk *c = ker_state_begin(writer, "engine", VERSION, e->rank);
    KER_CHUNK(c, e->last_action);
    ker_state_end(writer);
    wheel_visit(&e->wheel, &visitor);
    chunk_end(&s);
}

/* ---- loading ---- */

static void engine_load(void *context, struct ker_chunk *c)
{
    struct ker_engine_loading *l = context;
    ker_time last = 0;
    KER_CHUNK(c, last);
    ker_touch(l->engine, last);
}

static void event_load(struct ker_engine_loading *l, struct ker_chunk *c, bool here, uint32_t index,
                       bool extended)
{
    struct ker_event event = {0};
    char extension[KER_EXTENSION_BYTES];
    KER_CHUNK(c, event);
    if (extended)
        ker_chunk_bytes(c, extension, sizeof extension);
    if (c->bad || event.time < l->at || extended != ((event.flags & KER_FLAG_EXTENSION) != 0)) {
        c->bad = true;
        return;
    }
    if (!here)
        return;
    event.component = index;
    if (extended)
        extension_set(&event, ker_extension_new(l->engine, extension));
    *wheel_event(&l->engine->wheel, event.time, index) = event;
}

static void note_load(struct ker_engine_loading *l, struct ker_chunk *c, bool here, uint32_t index)
{
    ker_time time = 0;
    struct wheel_note note = {.component = index};
    note_state(c, &time, &note);
    if (c->bad || time < l->at || note.kind > KER_WAKE || note.kind == KER_ARRIVAL)
        c->bad = true;
    else if (here)
        wheel_note_put(&l->engine->wheel, time, note);
}

static void records_load(void *context, struct ker_chunk *c)
{
    struct ker_engine_loading *l = context;
    struct classes classes = {0};
    classes_state(c, &classes);
    while (c->at < c->bytes && !c->bad) {
        uint32_t index = 0;
        uint8_t what = ker_chunk_u8(c, 0), class = ker_chunk_u8(c, 0);
        uint32_t id = ker_chunk_u32(c, 0);
        if (class >= classes.count || what > WHAT_EXTENDED) {
            c->bad = true;
            return;
        }
        bool here = l->find(l->context, classes.name[class], id, &index);
        if (what == WHAT_EVENT || what == WHAT_EXTENDED)
            event_load(l, c, here, index, what == WHAT_EXTENDED);
        else
            note_load(l, c, here, index);
    }
}

void ker_engine_restart(struct ker_engine *e, ker_time at)
{
    struct engine_private *p = e->private;
    wheel_restart(&e->wheel, at);
    p->done_until = p->final = p->checked = at;
}

void ker_engine_loaders(struct ker_engine_loading *l, struct ker_state_loader *loaders)
{
    loaders[0] = (struct ker_state_loader){"engine", VERSION, engine_load, l};
    loaders[1] = (struct ker_state_loader){"records", RECORDS_VERSION, records_load, l};
}
