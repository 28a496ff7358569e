/* call.h - a call that is being recorded, and how its fields are appended to its shape. Private to record.c,
 * sides.c and completion.c. */
#pragma once

#include "trc.h"

#define TRC_SHAPE_SPARE 512 /* bytes: what the fields of one function take, but for lists and texts */

struct trc_call {
    struct trc_thread *t;
    const struct trc_function *function;
    const intptr_t *a;
    const struct trc_comm *comm;
    bool at_root, other_group; /* this task is the root; the root is MPI_ROOT */
    int64_t n, rn, tn, parts, rparts, length;
    const void *buffer, *rbuffer;
    intptr_t counts, rcounts; /* addresses */
    bool large, rlarge;
    bool flag, failed;
    bool in_status, truncated; /* errors are in the statuses; the error is that the message was too long */
    int found, indices;        /* which arguments index, nout, and indices are; -1 */
    int requests, index;
};

static inline void trc_put(struct trc_call *c, int64_t value)
{
    c->t->at = mars_put_signed(c->t->at, value);
}

/* Room for this many more numbers. */
static inline bool trc_room(struct trc_call *c, uint64_t numbers)
{
    struct trc_thread *t = c->t;
    size_t used = (size_t)(t->at - t->key), wanted = used + TRC_SHAPE_SPARE + numbers * MARS_VARINT_MOST;
    if (wanted <= t->key_room)
        return true;
    t->key = trc_grow(t->key, &t->key_room, wanted);
    t->at = t->key + used;
    return t->key_room >= wanted;
}

static inline int64_t trc_peer(int rank)
{
    if (rank >= 0)
        return rank;
    return rank == MPI_PROC_NULL ? MARS_PROC_NULL : rank == MPI_ANY_SOURCE ? MARS_ANY_SOURCE : MARS_ROOT;
}

/* sides.c: the word that closes a side of a message: bytes, datatype, buffer. */
void trc_side(struct trc_call *, unsigned role, intptr_t argument);
int64_t trc_page_of(const void *address);
/* completion.c: requests, flags and what has come; false: the word is none of these. */
bool trc_completion(struct trc_call *, unsigned role, intptr_t argument);
void trc_text_put(struct trc_call *, const char *text);
/* hints.c: what is recorded of an info object; and where the program's own pointer into a file is, -1: nobody
 * knows. */
void trc_hints_put(struct trc_call *, MPI_Info);
int64_t trc_file_position(MPI_File);
/* constants.c: constants of MPI, whose values differ between libraries, by numbers of our own. */
int64_t trc_constant(unsigned role, intptr_t value);
