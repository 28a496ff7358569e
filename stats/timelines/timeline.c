/* timeline.c - what happens becomes records of this rank.
 *
 * What overlaps the span of output.timeline_from and _to is recorded, whole; what does not is not there.
 */
#include "stats/timelines/private.h"

#include <stdlib.h>
#include <string.h>

enum ker_status stats_timeline_new(struct stats_timeline **out, const struct ker_config *config,
                                   const struct stats_group *group, uint32_t groups, struct ker_error *error)
{
    struct stats_timeline *t = ker_alloc(sizeof *t);
    enum ker_status status = line_settings_read(&t->set, config, group, groups, error);
    line_store_init(&t->store, line_records_most(t->set.bytes));
    *out = t;
    if (status == KER_OK)
        return KER_OK;
    stats_timeline_free(t);
    *out = NULL;
    return status;
}

void stats_timeline_free(struct stats_timeline *t)
{
    if (!t)
        return;
    line_settings_release(&t->set);
    line_store_release(&t->store);
    line_names_release(&t->names);
    free(t);
}

uint64_t stats_timeline_cost(const struct stats_timeline *t, uint64_t *file)
{
    return line_store_bytes(&t->store, file);
}

bool stats_timeline_has(const struct stats_timeline *t, uint32_t group, uint32_t task)
{
    uint64_t at = (uint64_t)t->set.group[group].first + task;
    return t->set.chosen[at / 64] >> at % 64 & 1;
}

bool stats_timeline_messages(const struct stats_timeline *t, bool inner)
{
    return inner ? t->set.inner : t->set.messages;
}

#define LINE_MOST_BYTES (((uint64_t)1 << 48) - 1)

static bool in_span(const struct stats_timeline *t, ker_time begin, ker_time end)
{
    return begin < t->set.to && end >= t->set.from;
}

/* Where a record is to be written; NULL: it is not kept. */
static inline struct line_record *record_room(struct stats_timeline *t, uint8_t level)
{
    t->records++;
    return line_store_room(&t->store, level);
}

/* A computation is a record of its own: it may be long where its call is short. */
static void computation_add(struct stats_timeline *t, const struct stats_call *call, uint32_t task)
{
    uint8_t level = line_level(call->begin - call->before, task, call->number, LINE_COMPUTE);
    struct line_record *r = record_room(t, level);
    if (r)
        *r = (struct line_record){.begin = call->before,
                                  .end = call->begin,
                                  .task = task,
                                  .number = call->number,
                                  .stream = (uint16_t)call->stream,
                                  .name = LINE_NO_NAME,
                                  .kind = LINE_COMPUTE,
                                  .level = level};
}

static void call_add(struct stats_timeline *t, const struct stats_call *call, uint32_t task)
{
    uint8_t level = line_level(call->end - call->begin, task, call->number, LINE_CALL);
    struct line_record *r = record_room(t, level);
    if (!r) { /* nor are its waits kept */
        t->records += call->waits;
        return;
    }
    uint16_t name = line_name_of(&t->names, call->function);
    struct line_record one = {.begin = call->begin,
                              .end = call->end,
                              .next = call->waits ? call->wait[0].begin : call->end,
                              .bytes = call->bytes & LINE_MOST_BYTES,
                              .stream = (uint16_t)call->stream,
                              .task = task,
                              .number = call->number,
                              .peer = call->peer,
                              .tag = call->tag,
                              .comm = call->comm,
                              .name = name,
                              .kind = LINE_CALL,
                              .level = level};
    *r = one;
    one.kind = LINE_WAIT;
    for (uint32_t i = 0; i < call->waits; i++) {
        struct line_record *wait = record_room(t, level);
        one.begin = call->wait[i].begin;
        one.end = call->wait[i].end;
        one.next = i + 1 < call->waits ? call->wait[i + 1].begin : call->end;
        one.bytes = (uint64_t)call->wait[i].task << 8 | call->wait[i].cause;
        if (wait)
            *wait = one;
    }
}

void stats_timeline_call(struct stats_timeline *t, const struct stats_call *call)
{
    uint32_t task = t->set.group[call->group].first + call->task;
    bool computed = call->begin > call->before && in_span(t, call->before, call->begin),
         called = call->function && in_span(t, call->begin, call->end);
    if ((computed || called) && call->stream >= t->streams)
        t->streams = call->stream + 1;
    if (computed)
        computation_add(t, call, task);
    if (called)
        call_add(t, call, task);
}

void stats_timeline_message(struct stats_timeline *t, const struct stats_message *m)
{
    uint32_t first = t->set.group[m->group].first;
    if (!in_span(t, m->sent, m->received))
        return;
    uint8_t level = line_level(m->received - m->sent, first + m->destination, m->number, LINE_MESSAGE);
    struct line_record *r = record_room(t, level);
    t->streams += t->streams == 0;
    if (r)
        *r = (struct line_record){.begin = m->sent,
                                  .end = m->received,
                                  .next = m->arrived,
                                  .bytes = m->bytes & LINE_MOST_BYTES,
                                  .task = first + m->source,
                                  .number = m->number,
                                  .peer = (int32_t)(first + m->destination),
                                  .tag = m->tag,
                                  .comm = m->comm,
                                  .name = LINE_NO_NAME,
                                  .kind = LINE_MESSAGE,
                                  .level = level};
}

/* A link has one state that begins at a time, which is as good as a number. */
void stats_timeline_link(struct stats_timeline *t, uint32_t link, enum stats_link_state state, ker_time begin,
                         ker_time end)
{
    uint32_t number = (uint32_t)((uint64_t)begin >> 32 ^ (uint64_t)begin);
    if (!in_span(t, begin, end))
        return;
    uint8_t level = line_level(end - begin, link, number, LINE_STATE);
    struct line_record *r = record_room(t, level);
    t->streams += t->streams == 0;
    if (r)
        *r = (struct line_record){.begin = begin,
                                  .end = end,
                                  .task = t->set.links + link,
                                  .number = number,
                                  .tag = (int32_t)state,
                                  .name = LINE_NO_NAME,
                                  .kind = LINE_STATE,
                                  .level = level};
}

/* ---- saved state ---- */

#define PIECE 16384u /* records */

/* The names are there with each piece: whoever takes it over need not know of the others. */
static void names_state(struct line_names *names, uint16_t *rename, struct ker_chunk *c)
{
    uint32_t count = ker_chunk_count(c, names->count, 2);
    rename[LINE_NO_NAME] = LINE_NO_NAME;
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        uint32_t length = ker_chunk_count(c, c->loads ? 0 : (uint32_t)strlen(names->text[i]), 1);
        char *text = ker_alloc((size_t)length + 1);
        if (!c->loads)
            memcpy(text, names->text[i], length);
        ker_chunk_bytes(c, text, length);
        if (c->loads && !c->bad && i < LINE_NO_NAME)
            rename[i] = line_name_add(names, text);
        free(text);
    }
    c->bad |= count >= LINE_NO_NAME;
    for (uint32_t i = count; c->loads && i < LINE_NO_NAME; i++)
        rename[i] = LINE_NO_NAME;
}

/* Links are behind all tasks, of which a fork may add some. */
static void record_state(const struct stats_timeline *t, struct line_record *r, struct ker_chunk *c)
{
    uint32_t links = t->set.links, first = r->kind == LINE_STATE ? links : 0;
    r->task -= c->loads ? 0 : first;
    KER_CHUNK(c, *r);
    if (!c->loads)
        return;
    bool state = r->kind == LINE_STATE;
    c->bad |= r->task >= (state ? t->set.tasks - links : links) || r->end < r->begin || r->begin < 0;
    c->bad |= r->kind >= LINE_KINDS || r->level >= LINE_LEVELS;
    c->bad |= r->kind == LINE_MESSAGE && (uint32_t)r->peer >= links;
    c->bad |= state && (uint32_t)r->tag >= STATS_LINK_STATES;
    r->task += state ? links : 0;
}

static void piece_state(struct stats_timeline *t, struct line_record *record, uint32_t count, uint64_t all,
                        struct ker_chunk *c)
{
    uint16_t *rename = ker_alloc(((size_t)UINT16_MAX + 1) * sizeof *rename);
    names_state(&t->names, rename, c);
    t->records += ker_chunk_u64(c, all) * c->loads;
    uint8_t level = (uint8_t)ker_chunk_below(c, t->store.level, LINE_LEVELS);
    if (c->loads && level > t->store.level)
        t->store.level = level;
    count = ker_chunk_count(c, count, sizeof *record);
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        struct line_record one = {0};
        if (record)
            one = record[i];
        record_state(t, &one, c);
        if (!c->loads || c->bad)
            continue;
        one.name = rename[one.name];
        t->streams = one.stream >= t->streams ? one.stream + 1u : t->streams;
        line_store_add(&t->store, &one);
    }
    free(rename);
}

void stats_timeline_save(struct stats_timeline *t, struct ker_state_writer *writer)
{
    struct line_record *piece = ker_alloc(PIECE * sizeof *piece);
    struct line_cursor *cursor = line_cursor_new(&t->store, t->store.level, NULL);
    const struct line_record *next;
    uint64_t number = 0;
    uint32_t count;
    do {
        count = 0;
        while (count < PIECE && (next = line_cursor_next(cursor)) != NULL)
            piece[count++] = *next;
        piece_state(t, piece, count, number ? 0 : t->records,
                    ker_state_begin(writer, "timeline", STATS_TIMELINE_VERSION, number));
        ker_state_end(writer);
        number++;
    } while (count);
    line_cursor_free(cursor);
    free(piece);
}

void stats_timeline_load(struct stats_timeline *t, struct ker_chunk *c)
{
    piece_state(t, NULL, 0, 0, c);
}
