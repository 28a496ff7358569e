/* fuzz_mars.c - libFuzzer target for traces of marstrace: whatever the bytes, the reader returns an error
 * with a text, or hands out calls whose communicators, datatypes and lists are there. So that more than
 * checksums is tried, the bytes are also put into blocks whose checksums are right: definitions first, then
 * each section of a block of calls.
 */
#include "kernel/kernel.h"
#include "tasks/traces/mars/pieces.h"
#include "tasks/traces/mars/reader.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RECORDS_MOST 100000 /* a few bytes may say that there are millions */

static uint64_t walk_record(const struct mars_task *task, const struct mars_record *record)
{
    uint64_t sum = mars_record_bytes(record) + record->gap_ns + record->polls;
    for (uint32_t i = 0; i < task->counters; i++)
        sum += record->counted[i];
    int64_t comm = mars_number(record, MARS_FIELD_comm, 0), type = mars_number(record, MARS_FIELD_type, 0);
    if (comm > 0)
        sum += (uint64_t)mars_rank_at(&task->comm[comm]->member, (uint32_t)task->comm[comm]->rank);
    if (type > 0)
        sum += task->type[type]->size;
    for (uint32_t i = 0; i < record->function->fields; i++) {
        const struct mars_value *value = &record->value[i];
        unsigned storage = record->function->field[i].storage;
        for (uint32_t j = 0; storage == MARS_LIST && j < value->count; j++)
            sum += (uint64_t)value->list[j];
        for (uint32_t j = 0; storage == MARS_TEXT && j < value->count; j++)
            sum += (unsigned char)value->text[j];
    }
    return sum;
}

static bool walk_task(struct mars_trace *trace, uint32_t number, struct mars_error *error)
{
    static volatile uint64_t sink;
    struct mars_task *task;
    struct mars_stream *stream;
    struct mars_record record;
    if (!mars_task_open(&task, trace, number, error))
        return false;
    for (uint32_t i = 0; i < task->threads && i < 4 && !error->text[0]; i++) {
        if (!mars_stream_open(&stream, task, i, error))
            break;
        for (uint32_t j = 0; j < RECORDS_MOST && mars_stream_next(stream, &record, error); j++)
            sink = sink + walk_record(task, &record);
        mars_stream_close(stream);
    }
    mars_task_close(task);
    return !error->text[0];
}

static void walk(const uint8_t *data, size_t size)
{
    struct mars_error error = {0};
    struct mars_trace *trace = NULL;
    bool fine = mars_trace_open_memory(&trace, "input", data, size, &error);
    ker_assert(fine == (error.text[0] == 0));
    for (uint32_t i = 0; fine && i < mars_trace_tasks(trace) && i < 16; i++)
        fine = walk_task(trace, i, &error);
    ker_assert(fine == (error.text[0] == 0));
    mars_trace_close(trace);
}

/* A part of the input: its length stands before it. */
static const uint8_t *part(const uint8_t **data, size_t *size, size_t *bytes)
{
    const uint8_t *at = *data;
    *bytes = 0;
    if (*size < 2)
        return at;
    *bytes = (size_t)at[0] + 256u * (at[1] & 15u);
    at += 2;
    *size -= 2;
    *bytes = *bytes < *size ? *bytes : *size;
    *data = at + *bytes;
    *size -= *bytes;
    return at;
}

static size_t block_add(uint8_t *file, size_t at, struct mars_payload *payload, struct mars_block *block)
{
    if (mars_payload_end(payload, block)) {
        memcpy(file + at, payload->data, payload->bytes);
        at += payload->bytes;
    }
    return at;
}

static void walk_framed(const uint8_t *data, size_t size)
{
    static uint8_t file[1 << 20];
    static struct mars_payload payload = {.level = 1}; /* making one takes longer than all the rest */
    struct mars_block block = {.kind = MARS_BLOCK_DEFINITIONS, .thread = 0xffff, .records = 1};
    size_t at = MARS_HEAD_BYTES, bytes;
    if (size < 2 || size > 65536)
        return;
    block.payload_bytes = 0;
    uint32_t records = data[0];
    data++, size--;
    mars_head_put(file, MARS_FILE_TASK);
    mars_payload_begin(&payload);
    const uint8_t *from = part(&data, &size, &bytes);
    mars_payload_section(&payload, MARS_SECTION_DEFINITIONS, from, bytes);
    at = block_add(file, at, &payload, &block);
    block = (struct mars_block){.kind = MARS_BLOCK_CALLS, .records = records};
    mars_payload_begin(&payload);
    for (int kind = MARS_SECTION_SHAPES; kind <= MARS_SECTION_DURATION_BITS; kind++) {
        from = part(&data, &size, &bytes);
        mars_payload_section(&payload, (enum mars_section_kind)kind, from, bytes);
    }
    at = block_add(file, at, &payload, &block);
    walk(file, at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mars_piece *piece;
    size_t count;
    walk(data, size);
    walk_framed(data, size);
    if (mars_index_decode(data, size, &piece, &count))
        free(piece);
    return 0;
}
