/* mars_frames.h - for fuzzers: the file of a task made of any bytes, with right checksums, so that more than
 * these is tried: definitions first, then each section of a block of calls; what is left are calls of
 * further threads, each a number of records and its sections, one that is refused included. */
#pragma once

#include "traces/mars/block.h"

#include <string.h>

/* A part of the input: its length is before it. */
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

#define FRAMED_BYTES ((size_t)1 << 20)

#define FRAMED_THREADS 4

/* A block of calls of `records`, with its sections up to `last`. */
static size_t frames_calls(uint8_t file[FRAMED_BYTES], size_t at, struct mars_payload *payload,
                           struct mars_block *block, const uint8_t **data, size_t *size,
                           enum mars_section_kind last)
{
    size_t bytes;
    mars_payload_begin(payload);
    for (int kind = MARS_SECTION_SHAPES; kind <= (int)last; kind++) {
        const uint8_t *from = part(data, size, &bytes);
        mars_payload_section(payload, (enum mars_section_kind)kind, from, bytes);
    }
    return block_add(file, at, payload, block);
}

/* Appends a task's blocks to the file; the input has not less than two bytes. Returns the file's bytes. */
static size_t frames_task(uint8_t file[FRAMED_BYTES], size_t at, uint32_t task, const uint8_t *data,
                          size_t size)
{
    static struct mars_payload payload = {.level = 1}; /* making one takes longer than all the rest */
    struct mars_block block = {.kind = MARS_BLOCK_DEFINITIONS, .task = task, .thread = 0xffff, .records = 1};
    uint32_t records = data[0];
    size_t bytes;
    data++, size--;
    mars_payload_begin(&payload);
    const uint8_t *from = part(&data, &size, &bytes);
    mars_payload_section(&payload, MARS_SECTION_DEFINITIONS, from, bytes);
    at = block_add(file, at, &payload, &block);
    block = (struct mars_block){.kind = MARS_BLOCK_CALLS, .task = task, .records = records};
    at = frames_calls(file, at, &payload, &block, &data, &size, MARS_SECTION_DURATION_BITS);
    for (uint16_t thread = 1; size > 2 && thread < FRAMED_THREADS; thread++) {
        block = (struct mars_block){.kind = MARS_BLOCK_CALLS,
                                    .task = task,
                                    .thread = thread,
                                    .records = data[0],
                                    .start_ns = data[1]};
        data += 2, size -= 2;
        at = frames_calls(file, at, &payload, &block, &data, &size, MARS_SECTION_PACKED);
    }
    return at;
}

/* A file of one task. Returns its bytes; 0: the input is too short or too long for one. */
static size_t frames_make(uint8_t file[FRAMED_BYTES], const uint8_t *data, size_t size)
{
    if (size < 2 || size > 65536)
        return 0;
    mars_head_put(file, MARS_FILE_TASK);
    return frames_task(file, MARS_HEAD_BYTES, 0, data, size);
}
