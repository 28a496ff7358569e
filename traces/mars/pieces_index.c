/* pieces_index.c - the index of a merged file: the headers of its blocks, as differences. */
#include "traces/mars/pieces.h"

#include "traces/mars/varint.h"

#include <stdlib.h>

#define ENTRY_MOST (11 * MARS_VARINT_MOST)

bool mars_index_encode(const struct mars_piece *piece, size_t count, struct mars_payload *payload)
{
    uint8_t *room = malloc((count + 1) * ENTRY_MOST), *at = room;
    struct mars_piece last = {0};
    if (!room)
        return false;
    at = mars_put(at, count);
    for (size_t i = 0; i < count; last = piece[i++]) {
        const struct mars_block *block = &piece[i].block;
        *at++ = block->kind;
        at = mars_put_signed(at, (int64_t)(piece[i].offset - last.offset));
        at = mars_put_signed(at, (int64_t)block->task - last.block.task);
        at = mars_put(at, block->thread);
        at = mars_put(at, block->sequence);
        at = mars_put(at, block->records);
        at = mars_put(at, block->payload_bytes);
        at = mars_put_signed(at, (int64_t)(block->start_ns - last.block.start_ns));
        at = mars_put(at, block->before);
        at = mars_put(at, block->elapsed);
        at = mars_put(at, block->calls);
    }
    struct mars_block block = {.kind = MARS_BLOCK_INDEX, .records = (uint32_t)count};
    mars_payload_begin(payload);
    mars_payload_section(payload, MARS_SECTION_INDEX, room, (size_t)(at - room));
    free(room);
    return mars_payload_end(payload, &block);
}

bool mars_index_decode(const uint8_t *data, size_t bytes, struct mars_piece **result, size_t *count)
{
    struct mars_bytes from = {data, data + bytes, false};
    struct mars_piece *piece, last = {0};
    uint64_t wanted = mars_get(&from);
    if (from.bad || wanted > bytes) /* an entry takes more than a byte */
        return false;
    piece = calloc(wanted + 1, sizeof *piece);
    if (!piece)
        return false;
    for (size_t i = 0; i < wanted; last = piece[i++]) {
        const uint8_t *kind = mars_get_bytes(&from, 1);
        struct mars_block *block = &piece[i].block;
        if (!kind) {
            from.bad = true;
            break;
        }
        block->kind = *kind;
        piece[i].offset = last.offset + (uint64_t)mars_get_signed(&from);
        block->task = (uint32_t)(last.block.task + (uint64_t)mars_get_signed(&from));
        block->thread = (uint16_t)mars_get(&from);
        block->sequence = (uint32_t)mars_get(&from);
        block->records = (uint32_t)mars_get(&from);
        block->payload_bytes = (uint32_t)mars_get(&from);
        block->start_ns = last.block.start_ns + (uint64_t)mars_get_signed(&from);
        block->before = mars_get(&from);
        block->elapsed = mars_get(&from);
        block->calls = mars_get(&from);
        if (block->payload_bytes > MARS_PAYLOAD_MOST)
            from.bad = true;
    }
    if (from.bad || from.at != from.end) {
        free(piece);
        return false;
    }
    *result = piece;
    *count = wanted;
    return true;
}
