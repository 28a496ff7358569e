/* source.c - bytes of a trace's files, or of one that lies in memory. */
#define _GNU_SOURCE
#include "traces/mars/pieces.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* O_NONBLOCK: a pipe that nobody writes to is not waited for. */
int mars_file_open(const char *path, uint64_t *bytes, struct mars_error *error)
{
    struct stat stat;
    int handle = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool fine = handle >= 0 && fstat(handle, &stat) == 0;
    if (fine && S_ISREG(stat.st_mode)) {
        *bytes = (uint64_t)stat.st_size;
        return handle;
    }
    mars_fail(error, "%s: %s", path, fine ? "is no regular file" : strerror(errno));
    if (handle >= 0)
        close(handle);
    return -1;
}

bool mars_source_open(struct mars_source *source, const struct mars_trace *trace, uint32_t file,
                      struct mars_error *error)
{
    *source = (struct mars_source){trace, file, -1, trace->bytes};
    if (trace->data)
        return true;
    source->handle = mars_file_open(trace->file[file], &source->bytes, error);
    return source->handle >= 0;
}

void mars_source_close(struct mars_source *source)
{
    if (source->handle >= 0)
        close(source->handle);
}

size_t mars_source_read(const struct mars_source *source, uint64_t offset, void *to, size_t bytes)
{
    size_t got = 0;
    if (source->handle < 0) {
        if (bytes > 0 && offset < source->bytes) {
            got = source->bytes - offset < bytes ? (size_t)(source->bytes - offset) : bytes;
            memcpy(to, source->trace->data + offset, got);
        }
        return got;
    }
    while (got < bytes) {
        ssize_t part = pread(source->handle, (char *)to + got, bytes - got, (off_t)(offset + got));
        if (part <= 0)
            break;
        got += (size_t)part;
    }
    return got;
}

bool mars_piece_fail(const struct mars_trace *trace, const struct mars_piece *piece, struct mars_error *error,
                     const char *what)
{
    return mars_fail(error, "%s, block at byte %llu (task %u): %s",
                     trace->file[piece->file & ~MARS_PIECE_OPEN], (unsigned long long)piece->offset,
                     piece->block.task, what);
}

/* Is the header there the piece's? An index says where blocks are, too, and so does not need it.
 */
static bool header_check(const struct mars_source *source, const struct mars_piece *piece,
                         struct mars_error *error)
{
    uint8_t header[MARS_BLOCK_BYTES], wanted[MARS_BLOCK_BYTES];
    mars_block_put(wanted, &piece->block);
    return (mars_source_read(source, piece->offset, header, sizeof header) == sizeof header &&
            memcmp(header, wanted, sizeof header) == 0) ||
           mars_piece_fail(source->trace, piece, error, "its header is damaged");
}

bool mars_piece_check(const struct mars_trace *trace, const struct mars_piece *piece,
                      struct mars_error *error)
{
    struct mars_source source;
    if (piece->file & MARS_PIECE_OPEN)
        return true;
    if (!mars_source_open(&source, trace, piece->file, error))
        return false;
    bool fine = header_check(&source, piece, error);
    mars_source_close(&source);
    return fine;
}

bool mars_piece_read(const struct mars_trace *trace, const struct mars_piece *piece, uint8_t **data,
                     size_t *room, struct mars_error *error)
{
    struct mars_source source;
    size_t bytes = piece->block.payload_bytes;
    if (bytes > *room) {
        uint8_t *larger = realloc(*data, bytes);
        if (!larger)
            return mars_piece_fail(trace, piece, error, "no memory for it");
        *data = larger;
        *room = bytes;
    }
    if (piece->file & MARS_PIECE_OPEN) {
        if (bytes > 0)
            memcpy(*data, trace->made[piece->offset] + MARS_BLOCK_BYTES, bytes);
        return true;
    }
    if (!mars_source_open(&source, trace, piece->file, error))
        return false;
    bool fine = header_check(&source, piece, error);
    if (fine && mars_source_read(&source, piece->offset + MARS_BLOCK_BYTES, *data, bytes) != bytes)
        fine = mars_piece_fail(trace, piece, error, "the file ends inside it");
    mars_source_close(&source);
    return fine;
}
