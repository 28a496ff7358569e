/* trace.c - which blocks a trace has, and where.
 *
 * A folder's task files, or a file given by name, are gone through header by header; of a merged file the
 * index at its end says the same, and without it (the file was cut) its headers do. Then the blocks are
 * sorted, and each (task, kind, thread) must have its sequence numbers from 0 without gaps. What cannot be
 * read at the end of a task's file is a warning, since a task may have died while it wrote; everything else
 * is an error.
 */
#define _GNU_SOURCE
#include "traces/mars/pieces.h"

#include "traces/mars/varint.h"
#include "traces/mars/writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TASKS_MOST ((uint32_t)1 << 24)
#define ENDING ".mars"

void mars_trace_warn(struct mars_trace *trace, const char *format, ...)
{
    char **more = realloc(trace->warning, (trace->warnings + 1) * sizeof *more), *text;
    va_list arguments;
    va_start(arguments, format);
    if (more) {
        trace->warning = more;
        if (vasprintf(&text, format, arguments) >= 0)
            more[trace->warnings++] = text;
    }
    va_end(arguments);
}

const char *mars_trace_cut(const struct mars_trace *trace)
{
    return trace->cuts ? trace->warning[0] : NULL; /* files are read before it is seen which tasks died */
}

const char *mars_trace_warning(const struct mars_trace *trace, uint32_t number)
{
    return number < trace->warnings ? trace->warning[number] : NULL;
}

uint32_t mars_trace_tasks(const struct mars_trace *trace)
{
    return trace->tasks;
}

uint64_t mars_trace_digest(const struct mars_trace *trace, uint64_t *bytes)
{
    uint64_t digest = trace->pieces, word;
    uint8_t header[MARS_BLOCK_BYTES];
    *bytes = 0;
    for (size_t i = 0; i < trace->pieces; i++) {
        mars_block_put(header, &trace->piece[i].block);
        for (size_t at = 0; at < sizeof header; at += sizeof word) {
            memcpy(&word, header + at, sizeof word);
            digest = (digest ^ word) * 0xbf58476d1ce4e5b9u;
            digest ^= digest >> 29;
        }
        *bytes += sizeof header + trace->piece[i].block.payload_bytes;
    }
    return digest;
}

/* ---- what there is ---- */

static bool piece_add(struct mars_trace *trace, const struct mars_piece *piece, struct mars_error *error)
{
    if (piece->block.kind > MARS_BLOCK_END) /* of a later version, or the index */
        return true;
    if (piece->block.task >= TASKS_MOST)
        return mars_piece_fail(trace, piece, error, "there is no such task");
    if (trace->pieces == trace->room) {
        size_t room = 2 * trace->room + 64;
        struct mars_piece *larger = realloc(trace->piece, room * sizeof *larger);
        if (!larger)
            return mars_fail(error, "%s: no memory for its %zu blocks", trace->file[0], trace->pieces);
        trace->piece = larger;
        trace->room = room;
    }
    trace->piece[trace->pieces++] = *piece;
    return true;
}

/* The headers one after the other. *end: what follows the last whole block. */
static bool headers_read(struct mars_trace *trace, const struct mars_source *source, uint64_t *end,
                         struct mars_error *error)
{
    struct mars_piece piece = {.offset = MARS_HEAD_BYTES, .file = source->file};
    uint8_t header[MARS_BLOCK_BYTES];
    for (;;) {
        *end = piece.offset;
        if (mars_source_read(source, piece.offset, header, sizeof header) < sizeof header ||
            !mars_block_get(header, sizeof header, &piece.block) ||
            source->bytes - piece.offset - MARS_BLOCK_BYTES < piece.block.payload_bytes)
            return true;
        if (!piece_add(trace, &piece, error))
            return false;
        piece.offset += MARS_BLOCK_BYTES + piece.block.payload_bytes;
    }
}

/* The index that a merged file ends with; *found: there is one. */
static bool index_read(struct mars_trace *trace, const struct mars_source *source, bool *found,
                       struct mars_error *error)
{
    uint8_t foot[16], *data = NULL;
    size_t room = 0, bytes;
    struct mars_piece piece = {.file = source->file}, *pieces = NULL;
    struct mars_sections sections = {0};
    *found = false;
    if (source->bytes < MARS_HEAD_BYTES + MARS_BLOCK_BYTES + sizeof foot ||
        mars_source_read(source, source->bytes - sizeof foot, foot, sizeof foot) < sizeof foot ||
        memcmp(foot + 8, "marsend\n", 8) != 0)
        return true;
    piece.offset = mars_load(foot, 8);
    uint8_t header[MARS_BLOCK_BYTES];
    if (mars_source_read(source, piece.offset, header, sizeof header) < sizeof header ||
        !mars_block_get(header, sizeof header, &piece.block) || piece.block.kind != MARS_BLOCK_INDEX)
        return mars_piece_fail(trace, &piece, error, "it is no index, though the file's end says so");
    size_t count = 0;
    struct mars_error why = {0};
    bool fine = mars_piece_read(trace, &piece, &data, &room, error) &&
                (mars_sections_get(&sections, data, piece.block.payload_bytes, &why) ||
                 mars_piece_fail(trace, &piece, error, why.text));
    if (fine) {
        const uint8_t *index = mars_section(&sections, MARS_SECTION_INDEX, &bytes);
        fine = mars_index_decode(index, bytes, &pieces, &count) ||
               mars_piece_fail(trace, &piece, error, "the index is damaged");
    }
    for (size_t i = 0; fine && i < count; i++) {
        fine = pieces[i].offset < piece.offset &&
               pieces[i].block.payload_bytes <= piece.offset - pieces[i].offset;
        if (!fine)
            mars_piece_fail(trace, &pieces[i], error, "the index has a block that is not in the file");
        pieces[i].file = source->file;
        fine = fine && piece_add(trace, &pieces[i], error);
    }
    free(pieces);
    free(data);
    mars_sections_release(&sections);
    *found = fine;
    return fine;
}

static bool file_scan(struct mars_trace *trace, uint32_t file, struct mars_error *error)
{
    struct mars_source source;
    uint8_t head[MARS_HEAD_BYTES];
    enum mars_file_kind kind;
    bool found = false, fine;
    uint64_t end = 0;
    if (!mars_source_open(&source, trace, file, error))
        return false;
    size_t got = mars_source_read(&source, 0, head, sizeof head);
    fine = mars_head_get(head, got, &kind, trace->file[file], error);
    if (fine && kind == MARS_FILE_MERGED)
        fine = index_read(trace, &source, &found, error);
    if (fine && !found) {
        fine = headers_read(trace, &source, &end, error);
        if (fine && kind == MARS_FILE_MERGED)
            mars_trace_warn(trace, "%s: it was cut: it has no index; read up to byte %llu of %llu",
                            trace->file[file], (unsigned long long)end, (unsigned long long)source.bytes);
        else if (fine && end < source.bytes)
            mars_trace_warn(trace, "%s: cut or damaged at byte %llu of %llu; read up to there",
                            trace->file[file], (unsigned long long)end, (unsigned long long)source.bytes);
        trace->cuts = trace->warnings;
    }
    mars_source_close(&source);
    return fine;
}

/* ---- a folder ---- */

static bool file_add(struct mars_trace *trace, const char *path, struct mars_error *error)
{
    if (trace->files == trace->files_room) {
        uint32_t room = 2 * trace->files_room + 16;
        char **larger = realloc(trace->file, room * sizeof *larger);
        if (larger) {
            trace->file = larger;
            trace->files_room = room;
        }
    }
    char *copy = trace->files < trace->files_room ? strdup(path) : NULL;
    if (!copy) {
        mars_fail(error, "%s: no memory", path);
        return false;
    }
    trace->file[trace->files++] = copy;
    return true;
}

/* Keeps a block that has been made. */
static bool made_add(struct mars_trace *trace, uint8_t *block)
{
    uint8_t **larger = realloc(trace->made, (trace->made_count + 1) * sizeof *larger);
    if (!larger)
        return false;
    trace->made = larger;
    trace->made[trace->made_count++] = block;
    return true;
}

/* A block that was being filled when its task died, beside the task's file. */
static bool open_add(struct mars_trace *trace, uint32_t file, const char *path, struct mars_error *error)
{
    uint64_t bytes;
    int handle = mars_file_open(path, &bytes, error);
    if (handle < 0)
        return false;
    void *data = malloc((size_t)bytes + 1);
    struct mars_payload payload;
    struct mars_piece piece = {.file = file | MARS_PIECE_OPEN, .offset = trace->made_count};
    mars_payload_init(&payload, 1);
    bool fine = true;
    if (data && pread(handle, data, (size_t)bytes, 0) == (ssize_t)bytes &&
        mars_open_encode(data, (size_t)bytes, &payload) &&
        mars_block_get(payload.data, payload.bytes, &piece.block)) {
        fine = made_add(trace, payload.data);
        if (fine) {
            payload.data = NULL;
            fine = piece_add(trace, &piece, error);
        }
    }
    mars_payload_release(&payload);
    free(data);
    close(handle);
    return fine || mars_fail(error, "%s: no memory", path);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int task_file(const struct dirent *entry)
{
    return strncmp(entry->d_name, "task-", 5) == 0 && strstr(entry->d_name, ENDING);
}

static bool folder_scan(struct mars_trace *trace, const char *folder, struct mars_error *error)
{
    struct dirent **entry;
    int count = scandir(folder, &entry, task_file, by_name);
    bool fine = count >= 0 || mars_fail(error, "%s: %s", folder, strerror(errno));
    for (int i = 0; fine && i < count; i++) {
        char *path;
        fine = asprintf(&path, "%s/%s", folder, entry[i]->d_name) >= 0;
        if (!fine)
            break;
        const char *rest = strstr(entry[i]->d_name, ENDING) + strlen(ENDING);
        if (*rest == 0)
            fine = file_add(trace, path, error) && file_scan(trace, trace->files - 1, error);
        else if (strncmp(rest, ".open-", 6) == 0 && trace->files > 0)
            fine = open_add(trace, trace->files - 1, path, error);
        free(path);
    }
    for (int i = 0; i < count; i++)
        free(entry[i]);
    if (count >= 0)
        free(entry);
    return fine &&
           (trace->files > 0 || mars_fail(error, "%s: no files task-*%s in this folder", folder, ENDING));
}

/* ---- all of it ---- */

static int64_t piece_order(const struct mars_piece *a, const struct mars_piece *b)
{
    if (a->block.task != b->block.task)
        return (int64_t)a->block.task - b->block.task;
    if (a->block.kind != b->block.kind)
        return a->block.kind - b->block.kind;
    if (a->block.thread != b->block.thread)
        return a->block.thread - b->block.thread;
    return (int64_t)a->block.sequence - b->block.sequence;
}

static int by_piece(const void *a, const void *b)
{
    int64_t order = piece_order(a, b);
    return order < 0 ? -1 : order > 0;
}

/* An open block whose task died between writing it and emptying it is there twice. */
static void doubles_drop(struct mars_trace *trace)
{
    size_t kept = 0;
    for (size_t i = 0; i < trace->pieces; i++) {
        bool twice = kept > 0 && piece_order(&trace->piece[kept - 1], &trace->piece[i]) == 0;
        if (twice && trace->piece[i].file & MARS_PIECE_OPEN)
            continue;
        if (twice && trace->piece[kept - 1].file & MARS_PIECE_OPEN)
            kept--;
        trace->piece[kept++] = trace->piece[i];
    }
    trace->pieces = kept;
}

static bool sequences_check(const struct mars_trace *trace, struct mars_error *error)
{
    for (size_t i = 0; i < trace->pieces; i++) {
        const struct mars_piece *piece = &trace->piece[i];
        bool first = i == 0 || piece_order(piece - 1, piece) == 0 ||
                     piece[-1].block.task != piece->block.task || piece[-1].block.kind != piece->block.kind ||
                     piece[-1].block.thread != piece->block.thread;
        if (i > 0 && piece_order(piece - 1, piece) == 0)
            return mars_piece_fail(trace, piece, error, "the same block is there twice");
        if (piece->block.sequence != (first ? 0 : piece[-1].block.sequence + 1))
            return mars_piece_fail(trace, piece, error, "the block before it is missing");
    }
    return true;
}

static bool is_empty(const char *file, struct mars_error *error)
{
    return mars_fail(error, "%s: there is no whole block in it", file);
}

/* The file of a task of which no block was found; NULL: there is none. */
static const char *file_of(const struct mars_trace *trace, uint32_t task)
{
    char name[32];
    snprintf(name, sizeof name, "task-%06u.mars", task);
    for (uint32_t i = 0; i < trace->files; i++) {
        size_t length = strlen(trace->file[i]);
        if (length >= strlen(name) && strcmp(trace->file[i] + length - strlen(name), name) == 0)
            return trace->file[i];
    }
    return NULL;
}

static bool tasks_check(struct mars_trace *trace, struct mars_error *error)
{
    if (trace->pieces == 0)
        return is_empty(trace->file[0], error);
    trace->tasks = trace->piece[trace->pieces - 1].block.task + 1;
    trace->ended = calloc(trace->tasks, sizeof *trace->ended);
    if (!trace->ended)
        return mars_fail(error, "%s: no memory for %u tasks", trace->file[0], trace->tasks);
    uint32_t next = 0;
    for (size_t i = 0; i < trace->pieces; i++) {
        const struct mars_block *block = &trace->piece[i].block;
        if (block->task > next && file_of(trace, next))
            return is_empty(file_of(trace, next), error);
        if (block->task > next)
            return mars_fail(error, "%s: task %u is missing (there is a task %u)", trace->file[0], next,
                             block->task);
        next = block->task + 1;
        trace->ended[block->task] |= block->kind == MARS_BLOCK_END;
    }
    if (trace->files > 1 && file_of(trace, next))
        return is_empty(file_of(trace, next), error);
    for (uint32_t i = 0; i < trace->tasks; i++)
        if (!trace->ended[i])
            mars_trace_warn(trace, "task %u did not come to its end: the trace has what it did up to then",
                            i);
    return true;
}

static bool trace_finish(struct mars_trace **result, struct mars_trace *trace, bool fine,
                         struct mars_error *error)
{
    if (fine) {
        if (trace->pieces > 1)
            qsort(trace->piece, trace->pieces, sizeof *trace->piece, by_piece);
        doubles_drop(trace);
        fine = sequences_check(trace, error) && tasks_check(trace, error);
    }
    if (!fine) {
        mars_trace_close(trace);
        return false;
    }
    *result = trace;
    return true;
}

bool mars_trace_open(struct mars_trace **result, const char *path, struct mars_error *error)
{
    struct stat stat_;
    struct mars_trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return mars_fail(error, "%s: no memory", path);
    bool fine = stat(path, &stat_) == 0 || mars_fail(error, "%s: %s", path, strerror(errno));
    if (fine && S_ISDIR(stat_.st_mode))
        fine = folder_scan(trace, path, error);
    else if (fine)
        fine = file_add(trace, path, error) && file_scan(trace, 0, error);
    return trace_finish(result, trace, fine, error);
}

bool mars_trace_open_memory(struct mars_trace **result, const char *name, const uint8_t *data, size_t bytes,
                            struct mars_error *error)
{
    struct mars_trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return mars_fail(error, "%s: no memory", name);
    trace->data = data;
    trace->bytes = bytes;
    bool fine = file_add(trace, name, error) && file_scan(trace, 0, error);
    return trace_finish(result, trace, fine, error);
}

void mars_trace_close(struct mars_trace *trace)
{
    if (!trace)
        return;
    for (uint32_t i = 0; i < trace->files; i++)
        free(trace->file[i]);
    for (uint32_t i = 0; i < trace->made_count; i++)
        free(trace->made[i]);
    for (uint32_t i = 0; i < trace->warnings; i++)
        free(trace->warning[i]);
    free(trace->file);
    free(trace->made);
    free(trace->warning);
    free(trace->piece);
    free(trace->ended);
    free(trace);
}

bool mars_trace_known(const char *path)
{
    struct stat stat_;
    uint8_t head[8];
    if (stat(path, &stat_) != 0)
        return false;
    if (S_ISDIR(stat_.st_mode)) {
        struct dirent **entry;
        int count = scandir(path, &entry, task_file, NULL);
        for (int i = 0; i < count; i++)
            free(entry[i]);
        if (count >= 0)
            free(entry);
        return count > 0;
    }
    struct mars_error error;
    uint64_t bytes;
    int handle = mars_file_open(path, &bytes, &error);
    bool known =
        handle >= 0 && read(handle, head, sizeof head) == sizeof head && mars_head_known(head, sizeof head);
    if (handle >= 0)
        close(handle);
    return known;
}

const struct mars_piece *mars_pieces_find(const struct mars_trace *trace, enum mars_block_kind kind,
                                          uint32_t task, uint32_t thread, uint32_t *count)
{
    struct mars_piece sought = {.block = {.kind = (uint8_t)kind, .task = task, .thread = (uint16_t)thread}};
    size_t low = 0, high = trace->pieces;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (piece_order(&trace->piece[middle], &sought) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct mars_piece *first = trace->piece + low;
    *count = 0;
    while (low + *count < trace->pieces && first[*count].block.task == task &&
           first[*count].block.kind == kind && first[*count].block.thread == thread)
        ++*count;
    return *count ? first : NULL;
}
