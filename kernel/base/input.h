/* input.h - what a run reads: regular files of a bounded size, and the same on every rank.
 *
 * Whoever reads a file that the configuration names does it by ker_input_read, or, when it reads piece by
 * piece, by ker_input_open and a ker_digest of what it has read, handed to ker_input_add. Both register the
 * file's digest; ker_inputs_agree compares what several ranks have registered under one name. Stale copies on
 * some hosts of a cluster are seen in this way.
 */
#pragma once

#include "kernel/base/comm.h"

#include <stdbool.h>
#include <sys/types.h>

#define KER_INPUT_MOST ((uint64_t)64 << 30) /* bytes of a file that is read piece by piece */
#define KER_INPUT_WHOLE ((uint64_t)4 << 30) /* of one that ker_input_read holds in memory */

/* 128 bits of what was read: not against an adversary. Zero is a good start. */
struct ker_digest {
    uint64_t lane[2], bytes;
    uint8_t rest[32]; /* what did not fill a block yet */
};
void ker_digest_add(struct ker_digest *, const void *data, size_t bytes);
/* Of all that was added, its length included. */
void ker_digest_sum(const struct ker_digest *, uint64_t sum[2]);

struct ker_inputs; /* what this rank has read */
struct ker_inputs *ker_inputs_new(void);
void ker_inputs_free(struct ker_inputs *);

/* A file descriptor, of a regular file only, of at most `most` bytes; -1 on failure. *bytes: its size now,
 * may be NULL.
 */
enum ker_status ker_input_open(const char *path, uint64_t most, int *file, uint64_t *bytes,
                               struct ker_error *);
/* Up to `bytes` of it, fewer at its end only; -1 on failure. */
ssize_t ker_input_piece(int file, char *to, size_t bytes);
/* The whole file, malloc'ed, with a 0 behind it that does not count; NULL on failure. Registered; inputs may
 * be NULL. */
enum ker_status ker_input_read(struct ker_inputs *, const char *path, char **text, size_t *length,
                               struct ker_error *);
/* The same as lines, before the first, of a text without zero bytes; *text is to be freed, on failure,
 * too. */
struct ker_lines;
enum ker_status ker_input_lines(struct ker_inputs *, const char *path, struct ker_lines *, char **text,
                                struct ker_error *);
/* Something was read to its end: the name under which other ranks know it, too. inputs may be NULL. */
void ker_input_add(struct ker_inputs *, const char *name, const struct ker_digest *);
/* The same of a short text, which the message shows. */
void ker_input_add_text(struct ker_inputs *, const char *name, const char *text);

/* Whether a file is one of those registered, under whatever name: what is written must not take its place.
 * inputs may be NULL. */
bool ker_inputs_have(const struct ker_inputs *inputs, const char *path);

/* Everything that is registered, as bytes to be kept with what was made of it; the inputs' own, until the
 * next is added. Files have their absolute names, since a run may continue in another folder. */
const void *ker_inputs_packed(struct ker_inputs *, size_t *bytes);
/* Fails when something was registered under one name here and there (packed bytes of one or several ranks,
 * one behind the other), and is not the same; a file that has changed is named before a folder. */
enum ker_status ker_inputs_since(struct ker_inputs *, const void *packed, size_t bytes, struct ker_error *);

/* Collective: what was registered under one name is the same on all ranks that have it; else rank 0 has the
 * error, in place of any other, which says whose is different, and returns it; the other ranks return KER_OK
 * and learn of it by ker_comm_agree or ker_comm_worst. Rank 0 then has all that any of them has. */
enum ker_status ker_inputs_agree(struct ker_inputs *, struct ker_comm *, struct ker_error *);
