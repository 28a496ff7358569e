/* comm_shared.c - collectives in shared memory; see comm_shared.h.
 *
 * Everything is made of rounds. In a round each rank fills its room, reports, and sleeps until the last one
 * has reported; then it reads the rooms of the others. The room of round k is filled again in round k + 2,
 * which begins when all have reported in round k + 1, and so have read what was published in round k: two
 * rooms for each rank suffice and no lock is needed. What is longer than a room takes several rounds.
 *
 * What is sent from one rank to rank 0 alone lies in that rank's box, a piece at a time: it is filled when
 * the piece before has been taken.
 */
#include "kernel/base/comm_shared.h"

#include "kernel/base/flag.h"
#include "kernel/base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOM_BYTES ((size_t)16 << 10)
#define ROOM_WORDS (ROOM_BYTES / sizeof(uint64_t))
#define NAP_NS 2000000

struct head {
    struct ker_flag round;       /* that is complete */
    _Atomic uint32_t arrived[2]; /* ranks that have reported, by parity of the round */
    char unused[112];
};
_Static_assert(sizeof(struct head) == 128, "neighbours share no line, nor a pair of them");

struct box {
    struct ker_flag put, taken; /* pieces */
    char unused[112], piece[ROOM_BYTES];
};
_Static_assert(sizeof(struct box) == 128 + ROOM_BYTES, "as above");

struct comm_shared {
    struct head *head; /* then two rooms for each rank, then a box for each */
    int rank, ranks;
    bool look; /* ranks do not outnumber cores */
    uint32_t round;
};

size_t comm_shared_bytes(int ranks)
{
    return sizeof(struct head) + (2 * ROOM_BYTES + sizeof(struct box)) * (size_t)ranks;
}

struct comm_shared *comm_shared_new(void *block, int rank, int ranks)
{
    struct comm_shared *s = ker_alloc(sizeof *s);
    *s = (struct comm_shared){block, rank, ranks, ranks <= sysconf(_SC_NPROCESSORS_ONLN), 0};
    return s;
}

void *comm_shared_block(const struct comm_shared *s)
{
    return s->head;
}

void comm_shared_free(struct comm_shared *s)
{
    free(s);
}

/* ---- a round ---- */

static void *room_of(const struct comm_shared *s, int rank)
{
    return (char *)(s->head + 1) + ROOM_BYTES * (2 * (size_t)rank + (s->round & 1));
}

static void *round_begin(struct comm_shared *s)
{
    s->round++;
    return room_of(s, s->rank);
}

static void report(struct comm_shared *s)
{
    _Atomic uint32_t *arrived = &s->head->arrived[s->round & 1];
    if (atomic_fetch_add(arrived, 1) + 1 == (uint32_t)s->ranks) {
        atomic_store(arrived, 0);
        ker_flag_set(&s->head->round, s->round);
    }
}

static void round_end(struct comm_shared *s)
{
    report(s);
    ker_flag_wait(&s->head->round, s->round, s->look, 0);
}

/* The next of the pieces that `left` of something are cut into. */
static inline size_t piece(size_t left, size_t room)
{
    return left < room ? left : room;
}

/* ---- collectives ---- */

void comm_shared_reduce(struct comm_shared *s, uint64_t *values, size_t count, comm_merge *merge)
{
    for (size_t at = 0; at < count; at += ROOM_WORDS) {
        size_t now = piece(count - at, ROOM_WORDS);
        memcpy(round_begin(s), values + at, now * sizeof *values);
        round_end(s);
        for (int r = 0; r < s->ranks; r++)
            if (r != s->rank)
                merge(values + at, room_of(s, r), now);
    }
}

void comm_shared_broadcast(struct comm_shared *s, void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += ROOM_BYTES) {
        size_t now = piece(bytes - at, ROOM_BYTES);
        void *room = round_begin(s);
        if (s->rank == 0)
            memcpy(room, (char *)data + at, now);
        round_end(s);
        if (s->rank != 0)
            memcpy((char *)data + at, room_of(s, 0), now);
    }
}

static inline size_t part_piece(const size_t *offset, int rank, size_t at)
{
    size_t bytes = offset[rank + 1] - offset[rank];
    return bytes > at ? piece(bytes - at, ROOM_BYTES) : 0;
}

void comm_shared_gather(struct comm_shared *s, const void *data, char *all, const size_t *offset)
{
    size_t longest = 0;
    for (int r = 0; r < s->ranks; r++)
        if (offset[r + 1] - offset[r] > longest)
            longest = offset[r + 1] - offset[r];
    for (size_t at = 0; at < longest; at += ROOM_BYTES) {
        size_t own = part_piece(offset, s->rank, at);
        void *room = round_begin(s);
        if (own)
            memcpy(room, (const char *)data + at, own);
        round_end(s);
        for (int r = 0; all && r < s->ranks; r++)
            if (part_piece(offset, r, at))
                memcpy(all + offset[r] + at, room_of(s, r), part_piece(offset, r, at));
    }
}

void comm_shared_meet(struct comm_shared *s, void (*nap)(void *), void *argument)
{
    round_begin(s);
    report(s);
    while (!ker_flag_wait(&s->head->round, s->round, false, nap ? NAP_NS : 0))
        if (nap) /* without it the wait has no end */
            nap(argument);
}

/* ---- to rank 0 ---- */

static struct box *box_of(const struct comm_shared *s, int rank)
{
    char *boxes = (char *)(s->head + 1) + 2 * ROOM_BYTES * (size_t)s->ranks;
    return (struct box *)(void *)boxes + rank;
}

void comm_shared_put(struct comm_shared *s, const void *data, size_t bytes)
{
    struct box *box = box_of(s, s->rank);
    for (size_t at = 0; at < bytes; at += ROOM_BYTES) {
        uint32_t before = atomic_load(&box->put.number);
        ker_flag_wait(&box->taken, before, s->look, 0);
        memcpy(box->piece, (const char *)data + at, piece(bytes - at, ROOM_BYTES));
        ker_flag_set(&box->put, before + 1);
    }
}

void comm_shared_take(struct comm_shared *s, int rank, void *data, size_t bytes)
{
    struct box *box = box_of(s, rank);
    for (size_t at = 0; at < bytes; at += ROOM_BYTES) {
        uint32_t next = atomic_load(&box->taken.number) + 1;
        ker_flag_wait(&box->put, next, s->look, 0);
        memcpy((char *)data + at, box->piece, piece(bytes - at, ROOM_BYTES));
        ker_flag_set(&box->taken, next);
    }
}
