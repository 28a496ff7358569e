/* writer.c - chunks into frames, frames into a file; see file.h.
 *
 * A frame is filled with the bytes of chunks, whatever chunk they are of, and compressed when it is full: so
 * the memory it takes is that of two frames and one chunk. Level 1 of zstd: state is mostly zeros and small
 * numbers, and a checkpoint holds up the run.
 */
#include "kernel/state/format.h"
#include "kernel/state/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#define LEVEL 1

struct ker_state_writer {
    FILE *out;
    char *path;
    ZSTD_CCtx *compressor;
    uint8_t *frame, *stored;
    size_t used, stored_room;
    struct ker_chunk chunk;
    struct ker_state_size size;
    int why; /* errno of the first failure */
};

struct ker_state_writer *ker_state_create(const char *path, struct ker_error *error)
{
    FILE *out = fopen(path, "wb");
    struct state_head head = {STATE_MAGIC, STATE_FORMAT};
    if (!out) {
        ker_fail(error, KER_RUN_FAILED, "cannot write %s: %s", path, strerror(errno));
        return NULL;
    }
    struct ker_state_writer *w = ker_alloc(sizeof *w);
    w->out = out;
    w->path = ker_format("%s", path);
    w->compressor = ZSTD_createCCtx();
    ker_assert(w->compressor != NULL);
    w->frame = ker_alloc(STATE_FRAME_BYTES);
    w->stored_room = ZSTD_compressBound(STATE_FRAME_BYTES);
    w->stored = ker_alloc(w->stored_room);
    w->size.stored = sizeof head;
    if (fwrite(&head, sizeof head, 1, out) != 1)
        w->why = errno ? errno : EIO;
    return w;
}

static void frame_put(struct ker_state_writer *w, const struct state_frame *frame)
{
    w->size.stored += sizeof *frame + frame->stored;
    if (w->why)
        return;
    errno = 0;
    if (fwrite(frame, sizeof *frame, 1, w->out) != 1 ||
        fwrite(w->stored, 1, frame->stored, w->out) != frame->stored)
        w->why = errno ? errno : EIO;
}

static void frame_write(struct ker_state_writer *w)
{
    size_t stored = ZSTD_compressCCtx(w->compressor, w->stored, w->stored_room, w->frame, w->used, LEVEL);
    ker_assert(!ZSTD_isError(stored));
    struct state_frame frame = {.bytes = (uint32_t)w->used, .stored = (uint32_t)stored};
    struct ker_digest digest = {0};
    ker_digest_add(&digest, w->stored, stored);
    ker_digest_sum(&digest, frame.digest);
    frame_put(w, &frame);
    w->used = 0;
}

static void write_bytes(struct ker_state_writer *w, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    w->size.bytes += bytes;
    while (bytes) {
        size_t now = STATE_FRAME_BYTES - w->used < bytes ? STATE_FRAME_BYTES - w->used : bytes;
        memcpy(w->frame + w->used, at, now);
        w->used += now;
        at += now;
        bytes -= now;
        if (w->used == STATE_FRAME_BYTES)
            frame_write(w);
    }
}

struct ker_chunk *ker_state_begin(struct ker_state_writer *w, const char *name, uint32_t version, uint64_t id)
{
    ker_chunk_begin(&w->chunk, name, version, id);
    return &w->chunk;
}

void ker_state_end(struct ker_state_writer *w)
{
    const struct ker_chunk *c = &w->chunk;
    struct state_chunk head = {c->id, c->version, (uint32_t)c->at, (uint8_t)strlen(c->name)};
    write_bytes(w, &head, STATE_CHUNK_BYTES);
    write_bytes(w, c->name, head.name_bytes);
    write_bytes(w, c->data, c->at);
    w->size.chunks++;
}

static void end_write(struct ker_state_writer *w)
{
    struct state_frame frame = {0};
    struct ker_digest digest = {0};
    if (w->used)
        frame_write(w);
    ker_digest_add(&digest, &w->size.bytes, sizeof w->size.bytes);
    ker_digest_sum(&digest, frame.digest);
    frame_put(w, &frame);
}

enum ker_status ker_state_close(struct ker_state_writer *w, struct ker_state_size *size,
                                struct ker_error *error)
{
    enum ker_status status = KER_OK;
    end_write(w);
    if ((fflush(w->out) || fdatasync(fileno(w->out))) && !w->why)
        w->why = errno;
    if (fclose(w->out) && !w->why)
        w->why = errno;
    if (w->why)
        status = ker_fail(error, KER_RUN_FAILED, "cannot write %s: %s", w->path, strerror(w->why));
    *size = w->size;
    ZSTD_freeCCtx(w->compressor);
    ker_chunk_release(&w->chunk);
    KER_FREE(w->frame, w->stored, w->path, w);
    return status;
}
