/* file.h - files of chunks: written by one rank, read by any.
 *
 * A file is a head, then frames of compressed bytes, each with its length and the digest of what is stored,
 * and a last frame that says so. The bytes of all frames together are chunks, one after the other. A file
 * that was cut short, changed, or is something else is refused with its path; what is told of one frame is
 * checked before any of it is used.
 */
#ifndef KERNEL_STATE_FILE_H
#define KERNEL_STATE_FILE_H

#include "kernel/base/error.h"
#include "kernel/base/input.h"
#include "kernel/state/chunk.h"

struct ker_state_writer;

/* Makes the file; it is the caller's to remove when anything fails. NULL with the error. */
struct ker_state_writer *ker_state_create(const char *path, struct ker_error *);
/* A chunk to be filled, until ker_state_end. Failures of writing wait until ker_state_close. */
struct ker_chunk *ker_state_begin(struct ker_state_writer *, const char *name, uint32_t version, uint64_t id);
void ker_state_end(struct ker_state_writer *);

struct ker_state_size {
    uint64_t chunks, bytes, stored; /* before compression, and as they lie in the file */
};
/* Everything is on the disk; frees in any case. */
enum ker_status ker_state_close(struct ker_state_writer *, struct ker_state_size *, struct ker_error *);

/* Who loads chunks of a name. Chunks of another version, or with something left over, are refused. */
struct ker_state_loader {
    const char *name;
    uint32_t version;
    void (*load)(void *context, struct ker_chunk *);
    void *context;
};
/* Hands every chunk of the file to its loader. The table ends with a name NULL. */
enum ker_status ker_state_read(const char *path, const struct ker_state_loader *loaders,
                               struct ker_state_size *, struct ker_error *);
/* The same of a file in memory; `name` stands for it in messages. */
enum ker_status ker_state_parse(const char *name, const void *data, size_t bytes,
                                const struct ker_state_loader *loaders, struct ker_state_size *,
                                struct ker_error *);

#endif
