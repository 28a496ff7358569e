/* store.c - operations that have no room in memory, in a temporary file that has no name any more.
 *
 * As long as all tasks of a rank together stay below a limit, operations remain where they were written;
 * whatever comes after that is written to the file, and comes back when it is replayed. The last operation
 * stays in memory while more can follow, because it may be taken back.
 *
 * Invariant: what lies in the file of one task are its first bytes, code->begin of them, one behind the
 * other: so a position is a place, and no index is needed.
 */
#include "traces/store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEP ((size_t)1 << 10) /* bytes of a task that are written at once, at least */
#define STEP_LEAST ((size_t)128)
#define WINDOW ((size_t)640) /* 60 calls: reading them costs each of them next to nothing */

const struct ker_option trace_store_options[] = {
    {"jobs[].trace_memory", KER_TYPE_BYTES, "1 MiB", NULL, "1 TiB", NULL,
     "trace: memory of each rank for the operations of the job, about 10 bytes a call; what is beyond lies "
     "in a temporary file, in the folder that TMPDIR names, or in /var/tmp."},
    {0},
};

void trace_store_init(struct trace_store *store, uint64_t most, struct trace_form form)
{
    *store = (struct trace_store){.form = form,
                                  .gap_most = (uint64_t)(TRACE_GAP_MOST / form.unit),
                                  .most = most,
                                  .step = most < STEP ? STEP_LEAST : STEP,
                                  .file = -1};
}

void trace_store_release(struct trace_store *store)
{
    if (store->step && store->file >= 0)
        close(store->file);
    ker_free_all(store->other, store->others);
    ker_free_all(store->functions.name, store->functions.count);
    *store = (struct trace_store){.file = -1};
}

enum ker_status trace_store_status(const struct trace_store *store, struct ker_error *error)
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
static void file_make(struct trace_store *store)
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

/* After a failure nothing is written: trace_store_status() reports it, before anything is read. */
static void file_write(struct trace_store *store, uint64_t place, const uint8_t *byte, size_t bytes)
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
static void file_read(const struct trace_store *store, uint64_t place, uint8_t *byte, size_t bytes)
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
static void code_spill(struct trace_code *code, size_t bytes)
{
    struct trace_store *store = code->store;
    if (!bytes)
        return;
    if (!code->begin)
        code->place = store->end;
    ker_assert(code->place + code->begin == store->end); /* tasks are written one after the other */
    file_write(store, store->end, code->byte, bytes);
    store->end += bytes;
    memmove(code->byte, code->byte + bytes, code->used - bytes);
    code->used -= bytes;
    code->begin += bytes;
}

void trace_code_cut(struct trace_code *code)
{
    struct trace_store *store = code->store;
    if (code->beside) {
        code->cut = SIZE_MAX;
        return;
    }
    if (store->held + code->used > store->most && store->file < 0)
        file_make(store);
    if (store->held + code->used > store->most)
        code_spill(code, (size_t)(code->last_begin - code->begin));
    code->cut = code->used + store->step;
}

uint64_t trace_code_append(struct trace_code *code, const struct trace_code *other)
{
    uint64_t at = code->begin + code->used;
    KER_RESERVE(code->byte, code->room, code->used + other->used + TRACE_OP_BYTES);
    if (other->used)
        memcpy(code->byte + code->used, other->byte, other->used);
    code->used += other->used;
    code->last_begin = code->begin + code->used;
    code->last_op = UINT64_MAX; /* it is not taken back */
    if (code->used >= code->cut)
        trace_code_cut(code);
    return at;
}

void trace_code_end(struct trace_code *code)
{
    code->total = code->begin + code->used;
    code->name = code->store->name;
    trace_called_fit(&code->called);
    KER_FREE(code->known_as, code->known_place);
    code->known_as = NULL;
    code->known_place = NULL;
    if (code->knowns)
        code->known = ker_realloc(code->known, code->knowns * sizeof *code->known);
    if (code->begin) {
        code_spill(code, code->used);
        code->room = 0;
        free(code->byte);
        code->byte = NULL;
        return;
    }
    code->room = code->used;
    code->byte = ker_realloc(code->byte, code->used ? code->used : 1);
    code->store->held += code->used;
}

void trace_code_expect(struct trace_code *code, uint64_t total)
{
    struct trace_store *store = code->store;
    code->total = total;
    if (store->held + total > store->most && store->file < 0)
        file_make(store);
    if (store->held + total > store->most) {
        code->place = store->end;
        store->end += total;
        return;
    }
    code->room = (size_t)total;
    code->byte = ker_alloc(code->room);
    store->held += total;
}

void trace_code_fill(struct trace_code *code, const uint8_t *byte, size_t bytes)
{
    if (code->byte) {
        memcpy(code->byte + code->used, byte, bytes);
        code->used += bytes;
    } else {
        file_write(code->store, code->place + code->begin, byte, bytes);
        code->begin += bytes;
    }
}

void trace_code_release(struct trace_code *code)
{
    if (code->total && code->byte)
        code->store->held -= code->total;
    KER_FREE(code->byte, code->known, code->known_as, code->known_place);
    trace_called_release(&code->called);
    *code = (struct trace_code){0};
}

/* -- looking -- */

void trace_code_peek(const struct trace_code *code, uint64_t at, uint8_t *byte, size_t bytes)
{
    file_read(code->store, code->place + at, byte, bytes);
}

void trace_code_copy(const struct trace_code *code, uint64_t at, uint8_t *byte, size_t bytes)
{
    if (code->byte)
        memcpy(byte, code->byte + at, bytes);
    else
        trace_code_peek(code, at, byte, bytes);
}

void trace_code_poke(struct trace_code *code, uint64_t at, const uint8_t *byte, size_t bytes)
{
    file_write(code->store, code->place + at, byte, bytes);
}

/* -- reading -- */

static void window_fill(struct trace_reader *reader, uint64_t at)
{
    const struct trace_code *code = reader->code;
    uint64_t rest = code->total - at;
    size_t bytes = rest < WINDOW ? (size_t)rest : WINDOW;
    if (!reader->window)
        reader->window = ker_alloc(WINDOW);
    file_read(code->store, code->place + at, reader->window, bytes);
    reader->at = reader->window;
    reader->origin = at - (uintptr_t)reader->at;
    reader->low = reader->window + bytes - (rest > bytes ? TRACE_OP_BYTES : 0);
}

bool trace_reader_more(struct trace_reader *reader)
{
    uint64_t at = trace_reader_position(reader);
    if (at >= reader->code->total)
        return false;
    window_fill(reader, at);
    return true;
}

void trace_reader_seek(struct trace_reader *reader, uint64_t at, uint32_t line)
{
    const struct trace_code *code = reader->code;
    reader->form = code->store->form;
    reader->line = line;
    if (code->begin) {
        window_fill(reader, at);
        return;
    }
    reader->at = code->byte + at;
    reader->origin = 0 - (uintptr_t)code->byte;
    reader->low = code->byte + code->used;
}

void trace_reader_release(struct trace_reader *reader)
{
    free(reader->window);
    free(reader->scratch);
    *reader = (struct trace_reader){0};
}
