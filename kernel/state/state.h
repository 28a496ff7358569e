/* state.h - saved state: files of chunks, written by one rank and read by any.
 *
 * A file is a head, then frames of compressed bytes, each with its length and the digest of what is stored,
 * and a last frame that says so. The bytes of all frames together are chunks, one after the other. A file
 * that was cut short, changed, or is something else is refused with its path; what is reported of one frame
 * is checked before any of it is used.
 *
 * A chunk has a name (what kind of thing it is of), a version (of how it is written), and a global id (which
 * of them). The function that saves a thing also loads it: it visits the thing's fields in one order,
 * and each call copies a field into the chunk or out of it. What depends on the direction asks `loads`.
 *
 * Nothing that is local to a rank is put into a chunk: no pointers, no indices of pools, no local numbers of
 * components. Kinds are written by their names.
 *
 * Reading is checked: beyond the chunk's end there are zeros, and `bad` says that something did not fit. A
 * loader continues with what it has as long as that is safe (a value that is an index is read by
 * ker_chunk_below), and the reader of the file refuses it afterwards.
 */
#pragma once

#include "kernel/base/base.h"

#include <string.h>

#define KER_CHUNK_NAME 32 /* bytes, with the 0 */
#define KER_CHUNK_MOST ((uint32_t)1 << 30)

struct ker_chunk {
    bool loads; /* else it saves */
    bool bad;   /* loading: cut short, or a value is out of its range */
    char name[KER_CHUNK_NAME];
    uint32_t version;
    uint64_t id;
    uint8_t *data;
    size_t at, bytes; /* loading: next byte, end; saving: end, room */
};

/* To be given back by ker_chunk_release. Mostly the files do it: ker_state_begin, ker_state_read. */
void ker_chunk_begin(struct ker_chunk *, const char *name, uint32_t version, uint64_t id);
void ker_chunk_release(struct ker_chunk *);
/* Out of line: more room, or the end of what there is. */
void ker_chunk_slow(struct ker_chunk *, void *data, size_t bytes);

static inline void ker_chunk_bytes(struct ker_chunk *c, void *data, size_t bytes)
{
    if (__builtin_expect(bytes > c->bytes - c->at, 0)) {
        ker_chunk_slow(c, data, bytes);
        return;
    }
    if (bytes == 0)
        return; /* nor has either side to be there */
    ker_assert(data);
    if (c->loads)
        memcpy(data, c->data + c->at, bytes);
    else
        memcpy(c->data + c->at, data, bytes);
    c->at += bytes;
}

/* A field of the thing, or up to twelve, in this order. Bit-fields and bools that are read from elsewhere go
 * through a variable. */
#define KER_CHUNK_1(chunk, field) ker_chunk_bytes((chunk), &(field), sizeof(field))
#define KER_CHUNK_2(chunk, field, ...) KER_CHUNK_1(chunk, field), KER_CHUNK_1(chunk, __VA_ARGS__)
#define KER_CHUNK_3(chunk, field, ...) KER_CHUNK_1(chunk, field), KER_CHUNK_2(chunk, __VA_ARGS__)
#define KER_CHUNK_4(chunk, field, ...) KER_CHUNK_1(chunk, field), KER_CHUNK_3(chunk, __VA_ARGS__)
#define KER_CHUNK_5(chunk, field, ...) KER_CHUNK_1(chunk, field), KER_CHUNK_4(chunk, __VA_ARGS__)
#define KER_CHUNK_6(chunk, field, ...) KER_CHUNK_1(chunk, field), KER_CHUNK_5(chunk, __VA_ARGS__)
#define KER_CHUNK_7(chunk, field, ...) KER_CHUNK_1(chunk, field), KER_CHUNK_6(chunk, __VA_ARGS__)
#define KER_CHUNK_8(chunk, field, ...) KER_CHUNK_1(chunk, field), KER_CHUNK_7(chunk, __VA_ARGS__)
#define KER_CHUNK_9(chunk, field, ...) KER_CHUNK_1(chunk, field), KER_CHUNK_8(chunk, __VA_ARGS__)
#define KER_CHUNK_10(chunk, field, ...) KER_CHUNK_1(chunk, field), KER_CHUNK_9(chunk, __VA_ARGS__)
#define KER_CHUNK_11(chunk, field, ...) KER_CHUNK_1(chunk, field), KER_CHUNK_10(chunk, __VA_ARGS__)
#define KER_CHUNK_12(chunk, field, ...) KER_CHUNK_1(chunk, field), KER_CHUNK_11(chunk, __VA_ARGS__)
#define KER_CHUNK_OF(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, of, ...) of
#define KER_CHUNK(chunk, ...)                                                                                \
    KER_CHUNK_OF(__VA_ARGS__, KER_CHUNK_12, KER_CHUNK_11, KER_CHUNK_10, KER_CHUNK_9, KER_CHUNK_8,            \
                 KER_CHUNK_7, KER_CHUNK_6, KER_CHUNK_5, KER_CHUNK_4, KER_CHUNK_3, KER_CHUNK_2, KER_CHUNK_1,  \
                 0)                                                                                          \
    (chunk, __VA_ARGS__)

static inline uint8_t ker_chunk_u8(struct ker_chunk *c, uint8_t value)
{
    KER_CHUNK(c, value);
    return value;
}
static inline uint32_t ker_chunk_u32(struct ker_chunk *c, uint32_t value)
{
    KER_CHUNK(c, value);
    return value;
}
static inline uint64_t ker_chunk_u64(struct ker_chunk *c, uint64_t value)
{
    KER_CHUNK(c, value);
    return value;
}
/* A byte of another value than 0 and 1 is no bool. */
static inline bool ker_chunk_bool(struct ker_chunk *c, bool value)
{
    uint8_t byte = ker_chunk_u8(c, value);
    c->bad |= byte > 1;
    return byte & 1;
}
/* A value below `end` > 0, e.g. an index; 0 when it is not. */
static inline uint32_t ker_chunk_below(struct ker_chunk *c, uint32_t value, uint32_t end)
{
    value = ker_chunk_u32(c, value);
    if (value < end)
        return value;
    c->bad = true;
    return 0;
}
/* How many items follow, each of at least this many bytes > 0: never more than there can be. */
uint32_t ker_chunk_count(struct ker_chunk *, uint32_t count, size_t least_bytes);
/* Must be the same when it is loaded as it was when it was saved: `bad` otherwise. */
static inline void ker_chunk_same(struct ker_chunk *c, uint64_t value)
{
    c->bad |= ker_chunk_u64(c, value) != value;
}
/* A short text (with its 0 at most KER_CHUNK_NAME bytes); loading, into `text`. */
void ker_chunk_text(struct ker_chunk *, char text[KER_CHUNK_NAME]);

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
