/* pieces.h - the blocks of a trace: which there are, and getting one. Private to the readers. */
#pragma once

#include "traces/mars/reader.h"

struct mars_piece {
    uint64_t offset; /* of the header in its file */
    uint32_t file;
    struct mars_block block;
};

/* A piece of an open block: it lies in memory whole, header and payload. */
#define MARS_PIECE_OPEN ((uint32_t)1 << 31)

struct mars_trace {
    char **file; /* paths */
    uint32_t files, files_room;
    const uint8_t *data; /* instead of one file: it lies in memory */
    size_t bytes;
    uint8_t **made; /* blocks made of open ones: piece.offset is the index */
    size_t *made_bytes;
    uint32_t made_count;
    struct mars_piece *piece; /* by task, kind, thread, sequence */
    size_t pieces, room;
    uint32_t tasks;
    bool *ended; /* by task */
    char **warning;
    uint32_t warnings, cuts; /* cuts: how many of them are about files that were cut, the first */
};

void mars_trace_warn(struct mars_trace *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The pieces of a kind, task and thread lie side by side: the first and how many. */
const struct mars_piece *mars_pieces_find(const struct mars_trace *, enum mars_block_kind, uint32_t task,
                                          uint32_t thread, uint32_t *count);
/* Is its header in the file as it should be? */
bool mars_piece_check(const struct mars_trace *, const struct mars_piece *, struct mars_error *);
/* The same, and reads the payload of a piece into *data, which grows (free() at the end). */
bool mars_piece_read(const struct mars_trace *, const struct mars_piece *, uint8_t **data, size_t *room,
                     struct mars_error *);
/* "FILE, block at byte N: " and what is wrong with it. */
bool mars_piece_fail(const struct mars_trace *, const struct mars_piece *, struct mars_error *,
                     const char *what);

/* source.c: a file being read. */
struct mars_source {
    const struct mars_trace *trace;
    uint32_t file;
    int handle; /* -1: it lies in memory */
    uint64_t bytes;
};
/* Of a regular file; -1 on failure. */
int mars_file_open(const char *path, uint64_t *bytes, struct mars_error *);
bool mars_source_open(struct mars_source *, const struct mars_trace *, uint32_t file, struct mars_error *);
void mars_source_close(struct mars_source *);
/* How many of `bytes` there are from `offset` on. */
size_t mars_source_read(const struct mars_source *, uint64_t offset, void *to, size_t bytes);

/* pieces_index.c: of a merged file. */
bool mars_index_encode(const struct mars_piece *, size_t count, struct mars_payload *);
bool mars_index_decode(const uint8_t *data, size_t bytes, struct mars_piece **, size_t *count);
