/* fuzz_state.c - libFuzzer target for files of saved state: whatever the bytes, the reader returns an error
 * with a text, or hands out chunks that lie in the file. So that more than checksums is tried, the bytes are
 * also made into a chunk by themselves, and read by every kind of reading there is. */
#include "kernel/kernel.h"

#include <stdlib.h>

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t sum = 0;
    struct ker_error error = {0};
    struct ker_state_size read;
    struct ker_state_loader loaders[] = {{"thing", 3, chunk_read, &sum}, {0}};
    enum ker_status status = ker_state_parse("input", data, size, loaders, &read, &error);
    ker_assert(status == error.status && (status == KER_OK) == (error.text[0] == 0));
    struct ker_chunk c = {.loads = true, .data = (uint8_t *)data, .bytes = size};
    chunk_read(&sum, &c);
    return 0;
}
