/* fuzz_state.c - libFuzzer target for files of saved state: whatever the bytes, the reader returns an error
 * with a text, or hands out chunks that lie in the file. So that more than checksums is tried, the bytes are
 * also put into the frames of a file whose checksums are right, and read as a chunk by every kind of reading
 * there is. */
#include "kernel/state/format.h"
#include "kernel/state/state.h"

#include <stdlib.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void chunk_read(void *context, struct ker_chunk *c)
{
    uint64_t *sum = context;
    char text[KER_CHUNK_NAME];
    while (c->at < c->bytes && !c->bad) {
        uint32_t count = ker_chunk_count(c, 0, 4);
        for (uint32_t i = 0; i < count && i < 8; i++)
            *sum += ker_chunk_below(c, 0, 1 + i);
        *sum += ker_chunk_bool(c, false);
        ker_chunk_text(c, text);
        *sum += strlen(text);
    }
    ker_assert(c->at <= c->bytes);
}

static uint8_t *put(uint8_t *at, const void *data, size_t bytes)
{
    memcpy(at, data, bytes);
    return at + bytes;
}

static uint8_t *frame_put(uint8_t *at, const void *data, uint32_t bytes, const void *digested, size_t length)
{
    static uint8_t stored[STATE_FRAME_BYTES + 4096];
    struct state_frame frame = {.bytes = bytes};
    struct ker_digest digest = {0};
    if (bytes)
        frame.stored = (uint32_t)ZSTD_compress(stored, sizeof stored, data, bytes, 1);
    ker_digest_add(&digest, bytes ? stored : digested, bytes ? frame.stored : length);
    ker_digest_sum(&digest, frame.digest);
    return put(put(at, &frame, sizeof frame), stored, frame.stored);
}

/* The bytes as the chunks of a file, in two frames. */
static enum ker_status framed_parse(const uint8_t *data, size_t size, const struct ker_state_loader *loaders,
                                    struct ker_error *error)
{
    static uint8_t file[2 * STATE_FRAME_BYTES + 8192];
    struct state_head head = {STATE_MAGIC, STATE_FORMAT};
    struct ker_state_size read;
    uint64_t total = size;
    uint32_t first = (uint32_t)(size / 2);
    uint8_t *at = put(file, &head, sizeof head);
    if (size > STATE_FRAME_BYTES)
        return KER_OK;
    if (first)
        at = frame_put(at, data, first, NULL, 0);
    if (size)
        at = frame_put(at, data + first, (uint32_t)size - first, NULL, 0);
    at = frame_put(at, NULL, 0, &total, sizeof total);
    return ker_state_parse("framed", file, (size_t)(at - file), loaders, &read, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t sum = 0;
    struct ker_error error = {0};
    struct ker_state_size read;
    struct ker_state_loader loaders[] = {{"thing", 3, chunk_read, &sum}, {0}};
    enum ker_status status = ker_state_parse("input", data, size, loaders, &read, &error);
    ker_assert(status == error.status && (status == KER_OK) == (error.text[0] == 0));
    error = (struct ker_error){0};
    status = framed_parse(data, size, loaders, &error);
    ker_assert(status == error.status && (status == KER_OK) == (error.text[0] == 0));
    struct ker_chunk c = {.loads = true, .data = (uint8_t *)data, .bytes = size};
    chunk_read(&sum, &c);
    return 0;
}
