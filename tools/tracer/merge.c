/* merge.c - one file of a folder's. */
#define _GNU_SOURCE
#include "tools/tracer/marstrace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Threads take one block after the other, unpack it (which checks it), compress it harder, and append it to
 * the file; where blocks lie does not matter, since the index that follows them says it. */
struct merge {
    const struct mars_trace *trace;
    int file;
    const char *path;
    int level;
    size_t next;               /* block to be taken */
    uint64_t end;              /* of the file */
    struct mars_piece *placed; /* where each has come to lie */
    struct mars_error error;
    pthread_mutex_t lock;
};

struct repacker { /* a thread's */
    struct mars_sections sections;
    struct mars_payload payload;
    uint8_t *data; /* as it was read */
    size_t room;
};

static bool write_at(struct merge *merge, const uint8_t *data, size_t bytes, uint64_t at)
{
    while (bytes > 0) {
        ssize_t written = pwrite(merge->file, data, bytes, (off_t)at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        data += written;
        bytes -= (size_t)written;
        at += (uint64_t)written;
    }
    return true;
}

/* The block again, in `payload`. */
static bool repack(struct merge *merge, const struct mars_piece *piece, struct repacker *repacker,
                   struct mars_error *error)
{
    struct mars_block block = piece->block;
    struct mars_sections *sections = &repacker->sections;
    struct mars_error why = {0};
    if (!mars_piece_read(merge->trace, piece, &repacker->data, &repacker->room, error))
        return false;
    if (!mars_sections_get(sections, repacker->data, block.payload_bytes, &why))
        return mars_piece_fail(merge->trace, piece, error, why.text);
    mars_payload_begin(&repacker->payload);
    for (uint32_t i = 0; i < sections->count; i++)
        mars_payload_section(&repacker->payload, (enum mars_section_kind)sections->section[i].kind,
                             sections->data + sections->section[i].at, sections->section[i].bytes);
    return mars_payload_end(&repacker->payload, &block) ||
           mars_piece_fail(merge->trace, piece, error, "no memory for it");
}

static void *work(void *argument)
{
    struct merge *merge = argument;
    struct repacker repacker = {0};
    struct mars_payload *payload = &repacker.payload;
    struct mars_error error = {0};
    mars_payload_init(payload, merge->level);
    while (!error.text[0]) {
        size_t mine = __atomic_fetch_add(&merge->next, 1, __ATOMIC_RELAXED);
        if (mine >= merge->trace->pieces)
            break;
        const struct mars_piece *piece = &merge->trace->piece[mine];
        if (!repack(merge, piece, &repacker, &error))
            break;
        pthread_mutex_lock(&merge->lock);
        uint64_t at = merge->end;
        merge->end += payload->bytes;
        pthread_mutex_unlock(&merge->lock);
        merge->placed[mine] = *piece;
        merge->placed[mine].offset = at;
        merge->placed[mine].block.payload_bytes = (uint32_t)(payload->bytes - MARS_BLOCK_BYTES);
        if (!write_at(merge, payload->data, payload->bytes, at)) {
            mars_fail(&error, "%s: %s", merge->path, strerror(errno));
            break;
        }
    }
    if (error.text[0]) {
        pthread_mutex_lock(&merge->lock);
        mars_fail(&merge->error, "%s", error.text);
        pthread_mutex_unlock(&merge->lock);
        __atomic_store_n(&merge->next, merge->trace->pieces, __ATOMIC_RELAXED);
    }
    mars_sections_release(&repacker.sections);
    mars_payload_release(payload);
    free(repacker.data);
    return NULL;
}

static bool index_write(struct merge *merge)
{
    struct mars_payload payload;
    uint8_t foot[16];
    mars_payload_init(&payload, merge->level);
    bool fine = mars_index_encode(merge->placed, merge->trace->pieces, &payload);
    mars_store(foot, merge->end, 8);
    memcpy(foot + 8, "marsend\n", 8);
    fine = fine && write_at(merge, payload.data, payload.bytes, merge->end) &&
           write_at(merge, foot, sizeof foot, merge->end + payload.bytes);
    mars_payload_release(&payload);
    return fine || mars_fail(&merge->error, "%s: %s", merge->path, strerror(errno));
}

static void all_work(struct merge *merge, int jobs)
{
    pthread_t thread[64];
    int started = 0;
    while (started < jobs - 1 && started < 64 && pthread_create(&thread[started], NULL, work, merge) == 0)
        started++;
    work(merge);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}

int trc_merge(const char *folder, const char *to, int jobs, int level)
{
    struct mars_trace *trace = NULL;
    struct merge merge = {.file = -1, .path = to, .level = level, .end = MARS_HEAD_BYTES};
    uint8_t head[MARS_HEAD_BYTES];
    if (!to)
        mars_fail(&merge.error, "--merge needs -o FILE, the file to write");
    else if (level < 1 || level > 19)
        mars_fail(&merge.error, "--level %d: expected 1 to 19", level);
    else
        mars_trace_open(&trace, folder, &merge.error);
    if (trace) {
        pthread_mutex_init(&merge.lock, NULL);
        merge.trace = trace;
        merge.placed = calloc(trace->pieces + 1, sizeof *merge.placed);
        merge.file = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        mars_head_put(head, MARS_FILE_MERGED);
        if (!merge.placed || merge.file < 0 || !write_at(&merge, head, sizeof head, 0))
            mars_fail(&merge.error, "%s: %s", to, strerror(errno));
        else
            all_work(&merge, jobs > 0 ? jobs : (int)sysconf(_SC_NPROCESSORS_ONLN));
        if (!merge.error.text[0])
            index_write(&merge);
        if (merge.file >= 0 && close(merge.file) != 0)
            mars_fail(&merge.error, "%s: %s", to, strerror(errno));
        if (merge.file >= 0 && merge.error.text[0])
            unlink(to);
    }
    free(merge.placed);
    return trc_end(trace, &merge.error);
}
