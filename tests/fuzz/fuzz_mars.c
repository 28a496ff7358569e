/* fuzz_mars.c - libFuzzer target for traces of marstrace: whatever the bytes, the reader returns an error
 * with a text, or hands out calls whose communicators, datatypes and lists are there. The bytes are also put
 * into blocks whose checksums are right (mars_frames.h).
 */
#include "kernel/base/base.h"
#include "tests/fuzz/mars_frames.h"
#include "traces/mars/mars.h"

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

/* All threads in one order: as many records, each thread's in its order. */
static bool walk_threads(const struct mars_task *task, const uint64_t records[4], struct mars_error *error)
{
    struct mars_threads all;
    uint64_t seen[4] = {0}, sum = 0;
    bool fine = task->threads <= 4 && mars_threads_open(&all, task, error);
    for (uint32_t i = 0; fine && i < RECORDS_MOST && mars_threads_next(&all, error); i++) {
        ker_assert(all.thread[all.now].records == seen[all.now]);
        sum += walk_record(task, &all.thread[all.now].record) & 1;
        seen[all.now]++;
    }
    ker_assert(sum <= seen[0] + seen[1] + seen[2] + seen[3]);
    for (uint32_t i = 0; fine && !error->text[0] && i < task->threads; i++)
        ker_assert(seen[i] == records[i] || seen[0] + seen[1] + seen[2] + seen[3] == RECORDS_MOST);
    if (task->threads <= 4)
        mars_threads_close(&all);
    return !error->text[0];
}

static bool walk_task(struct mars_trace *trace, uint32_t number, struct mars_error *error)
{
    static volatile uint64_t sink;
    struct mars_task *task;
    struct mars_stream *stream;
    struct mars_record record;
    uint64_t records[4] = {0};
    if (!mars_task_open(&task, trace, number, error))
        return false;
    for (uint32_t i = 0; i < task->threads && i < 4 && !error->text[0]; i++) {
        if (!mars_stream_open(&stream, task, i, error))
            break;
        for (uint32_t j = 0; j < RECORDS_MOST && mars_stream_next(stream, &record, error); j++, records[i]++)
            sink = sink + walk_record(task, &record);
        mars_stream_close(stream);
    }
    if (!error->text[0])
        walk_threads(task, records, error);
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

static void walk_framed(const uint8_t *data, size_t size)
{
    static uint8_t file[FRAMED_BYTES];
    size_t bytes = frames_make(file, data, size);
    if (bytes)
        walk(file, bytes);
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
