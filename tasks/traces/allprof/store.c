/* store.c - operations that have no room in memory, in a temporary file that has no name any more.
 *
 * A task's operations are cut into blocks of whole operations. As long as all tasks of a rank together stay
 * below a limit, they remain where they were written; whatever comes after that goes to the file, block by
 * block, and comes back when it is replayed. The last operation stays in memory while more can follow,
 * because it may be taken back.
 *
 * Invariant: what lies in the file of one task are its first bytes, code->begin of them.
 */
#include "tasks/traces/allprof/allprof.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK                                                                                                \
    ((size_t)1 << 10) /* a hundred calls: reading one more block costs each of them next to nothing */
#define BLOCK_LEAST ((size_t)128)

void allprof_store_init(struct allprof_store *store, uint64_t most)
{
    *store = (struct allprof_store){.most = most, .block = most < BLOCK ? BLOCK_LEAST : BLOCK, .file = -1};
}

void allprof_store_release(struct allprof_store *store)
{
    if (store->block && store->file >= 0)
        close(store->file);
    *store = (struct allprof_store){.file = -1};
}

enum ker_status allprof_store_status(const struct allprof_store *store, struct ker_error *error)
{
    if (!store->failure)
        return KER_OK;
    return ker_fail(
        error, KER_BAD_INPUT,
        "the operations of a trace need %.1f GiB, which cannot be written to a temporary file: %s; "
        "TMPDIR can name a folder with more room, jobs[].trace_memory allows more memory",
        (double)(store->held + store->end) / (1 << 30), strerror(store->failure));
}

/* -- the file -- */

/* Where there is no place for one, everything stays in memory. */
static void file_make(struct allprof_store *store)
{
    const char *named = getenv("TMPDIR"), *folders[] = {named && *named ? named : "/var/tmp", P_tmpdir};
    for (int i = 0; i < 2 && store->file < 0; i++) {
        char *path = ker_format("%s/marssim.XXXXXX", folders[i]);
        store->file = mkstemp(path);
        if (store->file >= 0)
            unlink(path);
        free(path);
    }
    if (store->file < 0)
        store->most = UINT64_MAX;
}

/* After a failure nothing is written: allprof_store_status() tells, before anything is read. */
static void file_write(struct allprof_store *store, uint64_t place, const uint8_t *byte, size_t bytes)
{
    while (bytes && !store->failure) {
        ssize_t wrote = pwrite(store->file, byte, bytes, (off_t)place);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            store->failure = wrote < 0 ? errno : ENOSPC;
            return;
        }
        byte += wrote;
        place += (uint64_t)wrote;
        bytes -= (size_t)wrote;
    }
}

/* What was written can be read; bytes behind the end are 0. */
static void file_read(const struct allprof_store *store, uint64_t place, uint8_t *byte, size_t bytes)
{
    while (bytes) {
        ssize_t got = pread(store->file, byte, bytes, (off_t)place);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            ker_assert(got == 0);
            memset(byte, 0, bytes);
            return;
        }
        byte += got;
        place += (uint64_t)got;
        bytes -= (size_t)got;
    }
}

/* -- writing -- */

/* The first `bytes` of what is in memory go to the file. */
static void code_spill(struct allprof_code *code, size_t bytes)
{
    struct allprof_store *store = code->store;
    file_write(store, store->end, code->byte, bytes);
    for (uint32_t i = code->blocks; i-- > 0 && code->block[i].first >= code->begin;)
        code->block[i].place = store->end + (code->block[i].first - code->begin);
    store->end += bytes;
    memmove(code->byte, code->byte + bytes, code->used - bytes);
    code->used -= bytes;
    code->begin += bytes;
}

void allprof_code_cut(struct allprof_code *code)
{
    struct allprof_store *store = code->store;
    if (!store) {
        code->cut = SIZE_MAX;
        return;
    }
    uint64_t last = code->blocks ? code->block[code->blocks - 1].first : 0;
    if (code->blocks == 0)
        *KER_APPEND(code->block, code->blocks) = (struct allprof_block){0};
    if (code->last_begin - last >= store->block) {
        if (store->held + code->used > store->most && store->file < 0)
            file_make(store);
        if (store->held + code->used > store->most)
            code_spill(code, (size_t)(code->last_begin - code->begin));
        *KER_APPEND(code->block, code->blocks) = (struct allprof_block){.first = code->last_begin};
    }
    code->cut = code->used + store->block;
}

void allprof_code_end(struct allprof_code *code)
{
    code->total = code->begin + code->used;
    if (code->begin) {
        code_spill(code, code->used);
        code->room = 0;
        free(code->byte);
        code->byte = NULL;
        return;
    }
    free(code->block);
    code->block = NULL;
    code->blocks = 0;
    code->room = code->used;
    code->byte = ker_realloc(code->byte, code->used ? code->used : 1);
    if (code->store)
        code->store->held += code->used;
}

void allprof_code_release(struct allprof_code *code)
{
    free(code->byte);
    free(code->block);
    *code = (struct allprof_code){0};
}

/* -- looking -- */

/* The block in which a position lies. */
static uint32_t block_at(const struct allprof_code *code, uint64_t at)
{
    uint32_t low = 0, high = code->blocks;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (code->block[middle].first <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void allprof_code_peek(const struct allprof_code *code, uint64_t at, uint8_t *byte, size_t bytes)
{
    const struct allprof_block *block = &code->block[block_at(code, at)];
    file_read(code->store, block->place + (at - block->first), byte, bytes);
}

void allprof_code_poke(struct allprof_code *code, uint64_t at, const uint8_t *byte, size_t bytes)
{
    const struct allprof_block *block = &code->block[block_at(code, at)];
    file_write(code->store, block->place + (at - block->first), byte, bytes);
}

/* -- reading -- */

static void window_fill(struct allprof_reader *reader, uint32_t number)
{
    const struct allprof_code *code = reader->code;
    const struct allprof_block *block = &code->block[number];
    uint64_t end = number + 1 < code->blocks ? block[1].first : code->total;
    size_t bytes = (size_t)(end - block->first);
    if (bytes > reader->window_bytes) {
        free(reader->window);
        reader->window = ker_realloc(NULL, bytes);
        reader->window_bytes = bytes;
    }
    file_read(code->store, block->place, reader->window, bytes);
    reader->first = block->first;
    reader->begin = reader->at = reader->window;
    reader->end = reader->window + bytes;
}

bool allprof_reader_more(struct allprof_reader *reader)
{
    uint64_t at = allprof_reader_position(reader);
    if (at >= reader->code->total)
        return false;
    window_fill(reader, block_at(reader->code, at));
    return true;
}

void allprof_reader_seek(struct allprof_reader *reader, uint64_t at, uint32_t line)
{
    const struct allprof_code *code = reader->code;
    reader->line = line;
    reader->first = 0;
    reader->begin = code->byte;
    reader->end = code->byte + code->used;
    if (code->begin)
        window_fill(reader, block_at(code, at));
    reader->at = reader->begin + (at - reader->first);
}

void allprof_reader_release(struct allprof_reader *reader)
{
    free(reader->window);
    free(reader->scratch);
    *reader = (struct allprof_reader){0};
}
