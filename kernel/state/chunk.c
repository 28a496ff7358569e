/* chunk.c - the rare cases of chunk.h: a chunk grows while it is saved, and ends while it is loaded. */
#include "kernel/state/state.h"

#include <stdio.h>
#include <stdlib.h>

void ker_chunk_begin(struct ker_chunk *c, const char *name, uint32_t version, uint64_t id)
{
    ker_assert(strlen(name) < KER_CHUNK_NAME);
    c->loads = c->bad = false;
    snprintf(c->name, sizeof c->name, "%s", name);
    c->version = version;
    c->id = id;
    c->at = 0;
}

void ker_chunk_release(struct ker_chunk *c)
{
    free(c->data);
    *c = (struct ker_chunk){0};
}

void ker_chunk_slow(struct ker_chunk *c, void *data, size_t bytes)
{
    if (c->loads) {
        memset(data, 0, bytes);
        c->at = c->bytes;
        c->bad = true;
        return;
    }
    ker_assert(bytes < KER_CHUNK_MOST && c->at < KER_CHUNK_MOST - bytes);
    c->bytes = 2 * c->bytes + bytes + 4096;
    c->data = ker_realloc(c->data, c->bytes);
    memcpy(c->data + c->at, data, bytes);
    c->at += bytes;
}

uint32_t ker_chunk_count(struct ker_chunk *c, uint32_t count, size_t least_bytes)
{
    count = ker_chunk_u32(c, count);
    if (!c->loads || count <= (c->bytes - c->at) / least_bytes)
        return count;
    c->bad = true;
    return 0;
}

void ker_chunk_text(struct ker_chunk *c, char text[KER_CHUNK_NAME])
{
    uint8_t length = (uint8_t)strnlen(text, KER_CHUNK_NAME - 1);
    length = ker_chunk_u8(c, length);
    if (length >= KER_CHUNK_NAME) {
        c->bad = true;
        length = 0;
    }
    ker_chunk_bytes(c, text, length);
    text[length] = 0;
}
