/* stream.c - the calls of a thread, block by block.
 *
 * A block's shapes are decoded once when it is read; then each call is a step in the order, and its times,
 * which are decoded for some calls at once: one kind of times after the other. Two decoded blocks are kept in
 * turn, so that what the last call of one block handed out is still there with the first of the next.
 */
#define _GNU_SOURCE
#include "traces/mars/pieces.h"
#include "traces/mars/times.h"
#include "traces/mars/varint.h"
#include "traces/mars/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS_MOST ((uint32_t)1 << 22) /* of a block */
#define TIME_MOST ((uint64_t)1 << 62)    /* ns, so that sums of a few do not overflow */
#define TIMED 32u                        /* records whose times are decoded at once */

struct shape {
    const struct mars_function *function;
    bool polled;
    uint32_t value;                 /* index of its first */
    const struct mars_value *first; /* NULL: it has none; when all shapes are read */
};

struct chunk { /* a decoded block */
    struct mars_sections sections;
    struct shape *shape;
    uint32_t shapes, shapes_room;
    struct mars_value *value;
    size_t values, values_room;
    int64_t *number; /* of lists */
    size_t numbers, numbers_room;
};

enum { GAP, AWAY, DURATION, KINDS }; /* as they are in a record */

struct mars_stream {
    const struct mars_task *task;
    const struct mars_piece *piece;
    uint32_t pieces, next; /* block */
    struct chunk chunk[2], *current;
    uint8_t *payload;
    size_t payload_room;
    uint32_t *order; /* shapes of the block's records */
    uint32_t order_room, records, record, known;
    uint32_t timed;      /* the times of records below are decoded, */
    bool damaged;        /* and those of the next cannot be */
    uint32_t plain_from; /* of records from here on nothing else is to be read, unless they are polled */
    uint64_t time_ns[TIMED][KINDS]; /* of the last that are decoded, by number of the record modulo TIMED */
    struct mars_bytes polls, counters, owns;
    struct times {
        const uint8_t *class; /* of each record; NULL: all are 0 */
        bool some;            /* of those decoded last */
        struct mars_bits bits;
    } times[KINDS];
    uint64_t resolution_ns, time_most; /* the latter in units of the former */
    unsigned class_most;               /* of time_most */
    bool has_counters, has_owns;
    uint64_t counted[MARS_COUNTERS];
    uint64_t elapsed;
    uint64_t begun, own; /* of the block: elapsed when it began; what the tracer has taken so far */
    uint64_t jump;       /* from the end of the block before to its begin */
};

static bool grow(void *array, size_t *room, size_t wanted, size_t bytes)
{
    void **pointer = array;
    if (wanted <= *room)
        return true;
    size_t more = 2 * *room > wanted ? 2 * *room : wanted + 16;
    void *larger = realloc(*pointer, more * bytes);
    if (!larger)
        return false;
    *pointer = larger;
    *room = more;
    return true;
}

/* ---- shapes ---- */

static bool list_get(struct chunk *chunk, struct mars_bytes *from, struct mars_value *value)
{
    uint64_t count = mars_get(from);
    int64_t last = 0;
    if (from->bad || count > (uint64_t)(from->end - from->at) ||
        !grow(&chunk->number, &chunk->numbers_room, chunk->numbers + count, sizeof *chunk->number))
        return false;
    value->count = (uint32_t)count;
    value->number = (int64_t)chunk->numbers; /* where they are, until all shapes are read */
    for (uint64_t i = 0; i < count; i++) {
        last = (int64_t)((uint64_t)last + (uint64_t)mars_get_signed(from));
        chunk->number[chunk->numbers++] = last;
    }
    return !from->bad;
}

static bool value_get(struct chunk *chunk, struct mars_bytes *from, unsigned storage,
                      struct mars_value *value)
{
    *value = (struct mars_value){0};
    if (storage == MARS_LIST)
        return list_get(chunk, from, value);
    if (storage == MARS_TEXT) {
        uint64_t bytes = mars_get(from);
        value->text = (const char *)mars_get_bytes(from, bytes);
        value->count = (uint32_t)bytes;
        return !from->bad;
    }
    value->number = mars_get_signed(from);
    return !from->bad;
}

static bool shape_get(const struct mars_task *task, struct chunk *chunk, struct mars_bytes *all,
                      const char **why)
{
    uint64_t bytes = mars_get(all);
    const uint8_t *data = mars_get_bytes(all, bytes);
    size_t room = chunk->shapes_room;
    *why = "a call in it is damaged";
    if (!data || !grow(&chunk->shape, &room, chunk->shapes + 1u, sizeof *chunk->shape))
        return false;
    chunk->shapes_room = (uint32_t)room;
    struct mars_bytes from = {data, data + bytes, false};
    uint64_t head = mars_get(&from), number = head >> 1;
    if (number >= task->functions || !task->function[number]) {
        *why = "a function in it has not been defined";
        return false;
    }
    const struct mars_function *function = task->function[number];
    if (!grow(&chunk->value, &chunk->values_room, chunk->values + function->fields, sizeof *chunk->value))
        return false;
    chunk->shape[chunk->shapes++] = (struct shape){function, head & 1, (uint32_t)chunk->values, NULL};
    for (uint32_t i = 0; i < function->fields; i++)
        if (!value_get(chunk, &from, function->field[i].storage, &chunk->value[chunk->values++]))
            return false;
    return from.at == from.end;
}

/* What a call names must have been defined. */
static bool shape_check(const struct mars_task *task, const struct chunk *chunk, const struct shape *shape,
                        const char **why)
{
    for (uint32_t i = 0; i < shape->function->fields; i++) {
        int64_t number = chunk->value[shape->value + i].number;
        switch (shape->function->field[i].field) {
        case MARS_FIELD_comm:
        case MARS_FIELD_comm2:
        case MARS_FIELD_newcomm:
            *why = "a call in it has a communicator that is not defined";
            if (number < 0 || (number > 0 && (number >= task->comms || !task->comm[number])))
                return false;
            break;
        case MARS_FIELD_type:
        case MARS_FIELD_recvtype:
        case MARS_FIELD_target_type:
        case MARS_FIELD_etype:
        case MARS_FIELD_filetype:
            *why = "a call in it has a datatype that is not defined";
            if (number < 0 || (number > 0 && (number >= task->types || !task->type[number])))
                return false;
            break;
        case MARS_FIELD_op:
            *why = "a call in it has an operation that is not defined";
            if (number < 0 || (number > 0 && (number >= task->ops || !task->op[number])))
                return false;
            break;
        case MARS_FIELD_done:
            *why = "a call in it has a damaged list of completed requests";
            if (chunk->value[shape->value + i].count % 4 != 0)
                return false;
            break;
        default:
            break;
        }
    }
    return true;
}

static bool shapes_get(const struct mars_task *task, struct chunk *chunk, const char **why)
{
    size_t bytes;
    const uint8_t *data = mars_section(&chunk->sections, MARS_SECTION_SHAPES, &bytes);
    struct mars_bytes from = {data, data + bytes, false};
    chunk->shapes = 0;
    chunk->values = chunk->numbers = 0;
    while (from.at < from.end)
        if (!shape_get(task, chunk, &from, why))
            return false;
    for (uint32_t i = 0; i < chunk->shapes; i++) {
        struct shape *shape = &chunk->shape[i];
        shape->first = shape->function->fields ? chunk->value + shape->value : NULL;
        for (uint32_t j = 0; j < shape->function->fields; j++)
            if (shape->function->field[j].storage == MARS_LIST) {
                struct mars_value *value = &chunk->value[shape->value + j];
                value->list = value->count ? chunk->number + value->number : NULL;
                value->number = 0;
            }
        if (!shape_check(task, chunk, shape, why))
            return false;
    }
    return true;
}

/* ---- blocks ---- */

static struct mars_bytes bytes_of(const struct chunk *chunk, enum mars_section_kind kind)
{
    size_t bytes;
    const uint8_t *data = mars_section(&chunk->sections, kind, &bytes);
    return (struct mars_bytes){data, data + bytes, false};
}

/* The shape of each record. False: the order is damaged. */
static bool order_get(const struct chunk *chunk, uint32_t records, uint32_t *shape)
{
    struct mars_bytes from = bytes_of(chunk, MARS_SECTION_ORDER);
    uint32_t known = 0;
    for (uint32_t i = 0; i < records;) {
        uint64_t token = mars_get(&from), distance = 0, count = 1;
        if (token == 1) {
            distance = mars_get(&from);
            count = mars_get(&from);
            if (distance == 0 || distance > i || count == 0 || count > records - i)
                return false;
        } else if (token >= 2 && token - 2 >= known) {
            return false;
        }
        if (from.bad)
            return false;
        for (uint64_t end = i + count; i < end; i++)
            shape[i] = distance ? shape[i - distance] : (token ? (uint32_t)(token - 2) : known++);
    }
    return known <= chunk->shapes;
}

/* False: there is no class for each record. */
static bool times_of(const struct chunk *chunk, uint32_t records, enum mars_section_kind classes,
                     enum mars_section_kind further, struct times *times)
{
    struct mars_bytes class = bytes_of(chunk, classes), bits = bytes_of(chunk, further);
    bool any = class.at < class.end;
    *times = (struct times){.class = any ? class.at : NULL,
                            .bits = {(uint8_t *)bits.at, (size_t)(bits.end - bits.at), 0, false}};
    return !any || class.end - class.at >= records;
}

static bool block_read(struct mars_stream *stream, struct mars_error *error)
{
    const struct mars_piece *piece = &stream->piece[stream->next];
    const struct mars_trace *trace = stream->task->trace;
    struct chunk *chunk = &stream->chunk[stream->next & 1];
    struct mars_error own = {0};
    const char *why = NULL;
    size_t room = stream->order_room;
    if (!mars_piece_read(trace, piece, &stream->payload, &stream->payload_room, error))
        return false;
    if (piece->block.records > RECORDS_MOST ||
        !grow(&stream->order, &room, piece->block.records, sizeof *stream->order))
        return mars_piece_fail(trace, piece, error, "it has too many records");
    stream->order_room = (uint32_t)room;
    if (!mars_sections_get(&chunk->sections, stream->payload, piece->block.payload_bytes, &own))
        return mars_piece_fail(trace, piece, error, own.text);
    if (!shapes_get(stream->task, chunk, &why))
        return mars_piece_fail(trace, piece, error, why);
    stream->current = chunk;
    stream->records = piece->block.records;
    if (!order_get(chunk, stream->records, stream->order))
        return mars_piece_fail(trace, piece, error, "the order of its calls is damaged");
    if (!times_of(chunk, stream->records, MARS_SECTION_GAP, MARS_SECTION_GAP_BITS, &stream->times[GAP]) ||
        !times_of(chunk, stream->records, MARS_SECTION_AWAY, MARS_SECTION_AWAY_BITS, &stream->times[AWAY]) ||
        !times_of(chunk, stream->records, MARS_SECTION_DURATION, MARS_SECTION_DURATION_BITS,
                  &stream->times[DURATION]))
        return mars_piece_fail(trace, piece, error, "the times of its calls are damaged");
    stream->polls = bytes_of(chunk, MARS_SECTION_POLLS);
    stream->counters = bytes_of(chunk, MARS_SECTION_COUNTERS);
    stream->owns = bytes_of(chunk, MARS_SECTION_OWN);
    stream->has_counters = stream->counters.at < stream->counters.end;
    stream->has_owns = stream->owns.at < stream->owns.end;
    stream->plain_from = stream->has_counters || stream->has_owns ? UINT32_MAX : 1;
    stream->record = stream->known = stream->timed = 0;
    memset(stream->time_ns, 0, sizeof stream->time_ns);
    uint64_t before = stream->next ? mars_stream_now_ns(stream) : UINT64_MAX, start = piece->block.start_ns;
    stream->jump = stream->task->threads > 1 && start > before ? start - before : 0;
    stream->next++;
    stream->begun = stream->elapsed;
    stream->own = 0;
    return true;
}

bool mars_stream_open(struct mars_stream **result, const struct mars_task *task, uint32_t thread,
                      struct mars_error *error)
{
    struct mars_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return mars_fail(error, "%s: no memory for the calls of task %u", task->trace->file[0], task->number);
    stream->task = task;
    stream->resolution_ns = task->resolution_ns;
    stream->time_most = TIME_MOST / task->resolution_ns;
    stream->class_most = mars_time_class(stream->time_most);
    stream->piece = mars_pieces_find(task->trace, MARS_BLOCK_CALLS, task->number, thread, &stream->pieces);
    *result = stream;
    return true;
}

void mars_stream_close(struct mars_stream *stream)
{
    if (!stream)
        return;
    for (int i = 0; i < 2; i++) {
        mars_sections_release(&stream->chunk[i].sections);
        free(stream->chunk[i].shape);
        free(stream->chunk[i].value);
        free(stream->chunk[i].number);
    }
    free(stream->payload);
    free(stream->order);
    free(stream);
}

static uint64_t stream_start_ns(const struct mars_stream *stream)
{
    return stream->next ? stream->piece[stream->next - 1].block.start_ns : 0;
}

uint64_t mars_stream_elapsed_ns(const struct mars_stream *stream)
{
    return stream->elapsed;
}

uint64_t mars_stream_now_ns(const struct mars_stream *stream)
{
    return stream_start_ns(stream) + (stream->elapsed - stream->begun) + stream->own;
}

static inline uint64_t scaled(const struct mars_stream *stream, uint64_t value, bool *bad)
{
    *bad |= value > stream->time_most;
    return value * stream->resolution_ns;
}

static __attribute__((noinline)) uint64_t time_long(const struct mars_stream *stream, struct mars_bits *bits,
                                                    unsigned class, bool *bad)
{
    *bad |= class > MARS_CLASS_MOST;
    return *bad ? 0 : scaled(stream, mars_time_of(class, mars_bits_get(bits, mars_time_bits(class))), bad);
}

static bool times_fail(const struct mars_stream *stream, struct mars_error *error)
{
    return mars_piece_fail(stream->task->trace, &stream->piece[stream->next - 1], error,
                           "the times of its calls are damaged");
}

static inline bool classes_some(const uint8_t *class, uint32_t count)
{
    uint8_t some = 0;
    for (uint32_t i = 0; i < count; i++)
        some |= class[i];
    return some;
}

/* Of one kind of the records from `first` on: how many of them are not damaged. */
static uint32_t times_get(struct mars_stream *stream, unsigned kind, uint32_t first, uint32_t count)
{
    struct times *times = &stream->times[kind];
    const uint8_t *class = times->class ? times->class + first : NULL;
    bool some = classes_some(class, class ? count : 0);
    const uint64_t resolution_ns = stream->resolution_ns;
    uint64_t *time = stream->time_ns[0] + kind;
    bool bad = false, same = !some && !times->some;
    times->some = some;
    for (uint32_t i = 0; !same && i < count; i++, time += KINDS) {
        if (class[i] < 4) {
            *time = class[i] * resolution_ns;
            continue;
        }
        if (__builtin_expect(class[i] >= stream->class_most, 0))
            *time = time_long(stream, &times->bits, class[i], &bad);
        else
            *time =
                mars_time_of(class[i], mars_bits_get(&times->bits, mars_time_bits(class[i]))) * resolution_ns;
        if (__builtin_expect(bad | times->bits.bad, 0))
            return i;
    }
    return count;
}

/* Of the next records, as far as they are not damaged. */
static bool times_next(struct mars_stream *stream, struct mars_error *error)
{
    uint32_t first = stream->record, rest = stream->records - first, count = rest < TIMED ? rest : TIMED;
    if (stream->damaged)
        return times_fail(stream, error);
    stream->timed = first + count;
    for (unsigned kind = 0; kind < KINDS; kind++)
        count = times_get(stream, kind, first, count);
    stream->damaged = first + count < stream->timed;
    stream->timed = first + count;
    return count || times_fail(stream, error);
}

/* When all of it has been read. */
static inline bool record_end(struct mars_stream *stream, const struct mars_record *record)
{
    stream->elapsed += record->gap_ns + record->duration_ns + record->rest_ns;
    return true;
}

/* The first record of a block, and what few have. */
static __attribute__((noinline)) bool record_more(struct mars_stream *stream, struct mars_record *record,
                                                  bool polled, struct mars_error *error)
{
    bool bad = false;
    if (polled) {
        record->polls = mars_get(&stream->polls);
        record->rest_ns = scaled(stream, mars_get(&stream->polls), &bad);
    }
    for (uint32_t i = 0; stream->has_counters && i < stream->task->counters; i++)
        stream->counted[i] = mars_get(&stream->counters);
    if (stream->owns.at < stream->owns.end)
        record->own_ns = mars_get(&stream->owns);
    if (stream->record == 1) /* the header says when it began */
        record->own_ns = stream->jump;
    else
        stream->own += record->own_ns;
    if (bad || stream->polls.bad || stream->counters.bad || stream->owns.bad)
        return times_fail(stream, error);
    return record_end(stream, record);
}

/* Continues where the block has no more records, or no more times are decoded. */
static __attribute__((noinline)) bool more_next(struct mars_stream *stream, struct mars_record *record,
                                                struct mars_error *error)
{
    while (stream->record == stream->records)
        if (stream->next == stream->pieces || !block_read(stream, error))
            return false;
    return times_next(stream, error) && mars_stream_next(stream, record, error);
}

/* Calls nothing but at its end. */
bool mars_stream_next(struct mars_stream *stream, struct mars_record *record, struct mars_error *error)
{
    const uint32_t i = stream->record;
    if (__builtin_expect(i == stream->timed, 0))
        return more_next(stream, record, error);
    stream->record = i + 1;
    const uint32_t number = stream->order[i];
    const struct shape *shape = &stream->current->shape[number];
    record->function = shape->function;
    record->value = shape->first;
    record->shape = number;
    record->fresh = number == stream->known;
    stream->known += record->fresh;
    const uint64_t *time_ns = stream->time_ns[i % TIMED];
    record->gap_ns = time_ns[GAP];
    record->away_ns = time_ns[AWAY];
    record->duration_ns = time_ns[DURATION];
    record->polls = 1;
    record->rest_ns = record->own_ns = 0;
    record->counted = stream->counted;
    if (__builtin_expect(shape->polled | (i < stream->plain_from), 0))
        return record_more(stream, record, shape->polled, error);
    return record_end(stream, record);
}

static uint64_t sum_of(const struct mars_record *record, enum mars_field one, enum mars_field each, bool *any)
{
    const struct mars_value *list = mars_list(record, each);
    int64_t number = mars_number(record, one, -1);
    uint64_t sum = number > 0 ? (uint64_t)number : 0;
    *any = number >= 0 || (list && list->count > 0);
    for (uint32_t i = 0; list && i < list->count; i++)
        sum += list->list[i] > 0 ? (uint64_t)list->list[i] : 0;
    return sum;
}

uint64_t mars_record_bytes(const struct mars_record *record)
{
    bool any;
    uint64_t sum = sum_of(record, MARS_FIELD_bytes, MARS_FIELD_bytes_each, &any);
    return any ? sum : sum_of(record, MARS_FIELD_recvbytes, MARS_FIELD_recvbytes_each, &any);
}
