/* reader.c - a file of chunks, frame by frame; see file.h.
 *
 * A frame is uncompressed behind what is left of the one before, then all chunks that are whole are handed
 * out. Invariant: nothing of a frame is looked at before its digest has been compared.
 */
#include "kernel/state/format.h"
#include "kernel/state/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

struct reader {
    const char *path;
    FILE *in;
    const struct ker_state_loader *loaders;
    uint8_t *stored, *bytes; /* of a frame; what is not handed out yet */
    size_t stored_room, used, room;
    uint64_t total;
    struct ker_state_size *size;
    struct ker_error *error;
};

static bool refuse(struct reader *r, const char *what)
{
    ker_fail(r->error, KER_BAD_INPUT, "%s: %s", r->path, what);
    return false;
}

/* ---- chunks ---- */

static const struct ker_state_loader *loader_find(const struct reader *r, const char *name)
{
    for (const struct ker_state_loader *l = r->loaders; l->name; l++)
        if (strcmp(l->name, name) == 0)
            return l;
    return NULL;
}

static bool chunk_load(struct reader *r, struct ker_chunk *c)
{
    const struct ker_state_loader *l = loader_find(r, c->name);
    if (!l || l->version != c->version) {
        ker_fail(r->error, KER_BAD_INPUT,
                 "%s: holds state of \"%.31s\" in version %u, which this marssim cannot read: use the one "
                 "that has written it",
                 r->path, c->name, c->version);
        return false;
    }
    l->load(l->context, c);
    r->size->chunks++;
    if (!c->bad && c->at == c->bytes)
        return true;
    ker_fail(r->error, KER_BAD_INPUT, "%s: the state of \"%.31s\" %llu does not fit this system", r->path,
             c->name, (unsigned long long)c->id);
    return false;
}

static bool name_good(const char *name, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (name[i] <= ' ' || name[i] > '~')
            return false;
    return bytes > 0;
}

/* Hands out the chunk at `at`; *next: behind it, or the same when it is not whole yet. */
static bool chunk_take(struct reader *r, size_t at, size_t *next)
{
    struct state_chunk head = {0};
    struct ker_chunk c = {.loads = true};
    *next = at;
    if (r->used - at < STATE_CHUNK_BYTES)
        return true;
    memcpy(&head, r->bytes + at, STATE_CHUNK_BYTES);
    if (head.name_bytes >= KER_CHUNK_NAME || head.bytes > KER_CHUNK_MOST)
        return refuse(r, "is damaged: a chunk that cannot be");
    if (r->used - at - STATE_CHUNK_BYTES < (size_t)head.name_bytes + head.bytes)
        return true;
    at += STATE_CHUNK_BYTES;
    memcpy(c.name, r->bytes + at, head.name_bytes);
    if (!name_good(c.name, head.name_bytes))
        return refuse(r, "is damaged: a chunk without a name");
    c.id = head.id;
    c.version = head.version;
    c.data = r->bytes + at + head.name_bytes;
    c.bytes = head.bytes;
    *next = at + head.name_bytes + head.bytes;
    return chunk_load(r, &c);
}

static bool chunks_take(struct reader *r)
{
    size_t at = 0, next = 0;
    do {
        at = next;
        if (!chunk_take(r, at, &next))
            return false;
    } while (next > at);
    memmove(r->bytes, r->bytes + at, r->used - at);
    r->used -= at;
    return true;
}

/* ---- frames ---- */

static bool frame_read(struct reader *r, const struct state_frame *frame)
{
    uint64_t digest[2];
    struct ker_digest d = {0};
    if (frame->bytes > STATE_FRAME_BYTES || frame->stored > r->stored_room)
        return refuse(r, "is damaged: a frame that cannot be");
    if (fread(r->stored, 1, frame->stored, r->in) != frame->stored)
        return refuse(r, "has been cut short");
    ker_digest_add(&d, r->stored, frame->stored);
    ker_digest_sum(&d, digest);
    if (memcmp(digest, frame->digest, sizeof digest) != 0)
        return refuse(r, "is damaged: a checksum is wrong");
    KER_RESERVE(r->bytes, r->room, r->used + frame->bytes);
    if (ZSTD_decompress(r->bytes + r->used, frame->bytes, r->stored, frame->stored) != frame->bytes)
        return refuse(r, "is damaged: a frame cannot be uncompressed");
    r->used += frame->bytes;
    r->total += frame->bytes;
    r->size->stored += sizeof *frame + frame->stored;
    return chunks_take(r);
}

static bool end_check(struct reader *r, const struct state_frame *frame)
{
    uint64_t digest[2];
    struct ker_digest d = {0};
    ker_digest_add(&d, &r->total, sizeof r->total);
    ker_digest_sum(&d, digest);
    if (frame->stored || r->used || memcmp(digest, frame->digest, sizeof digest) != 0)
        return refuse(r, "is damaged: its end does not fit");
    if (fgetc(r->in) != EOF)
        return refuse(r, "is damaged: something is behind its end");
    r->size->bytes = r->total;
    return true;
}

static bool frames_read(struct reader *r)
{
    struct state_head head;
    struct state_frame frame;
    if (fread(&head, sizeof head, 1, r->in) != 1 || memcmp(head.magic, STATE_MAGIC, sizeof head.magic) != 0)
        return refuse(r, "is no state of marssim");
    if (head.format != STATE_FORMAT)
        return refuse(r, "was written by another version of marssim, or a machine of another byte order");
    r->size->stored += sizeof head;
    for (;;) {
        if (fread(&frame, sizeof frame, 1, r->in) != 1)
            return refuse(r, "has been cut short");
        if (frame.bytes == 0)
            return end_check(r, &frame);
        if (!frame_read(r, &frame))
            return false;
    }
}

static enum ker_status stream_read(struct reader *r)
{
    *r->size = (struct ker_state_size){0};
    r->stored_room = ZSTD_compressBound(STATE_FRAME_BYTES);
    r->stored = ker_alloc(r->stored_room);
    bool good = frames_read(r);
    free(r->stored);
    free(r->bytes);
    fclose(r->in);
    return good ? KER_OK : r->error->status;
}

enum ker_status ker_state_read(const char *path, const struct ker_state_loader *loaders,
                               struct ker_state_size *size, struct ker_error *error)
{
    struct reader r = {.path = path, .loaders = loaders, .size = size, .error = error};
    int file;
    enum ker_status status = ker_input_open(path, UINT64_MAX, &file, NULL, error);
    if (status != KER_OK)
        return status;
    r.in = fdopen(file, "rb");
    if (!r.in) {
        close(file);
        return ker_fail(error, KER_BAD_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    }
    return stream_read(&r);
}

enum ker_status ker_state_parse(const char *name, const void *data, size_t bytes,
                                const struct ker_state_loader *loaders, struct ker_state_size *size,
                                struct ker_error *error)
{
    struct reader r = {.path = name, .loaders = loaders, .size = size, .error = error};
    r.in = bytes ? fmemopen((void *)data, bytes, "rb") : fopen("/dev/null", "rb");
    ker_assert(r.in != NULL);
    return stream_read(&r);
}
