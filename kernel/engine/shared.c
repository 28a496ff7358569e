/* shared.c - slots in a shared window of MPI; see shared.h.
 *
 * Who waits spins for a moment, since ranks of equal work are ready at nearly the same time, and then sleeps
 * in the kernel (futex) until the other publishes. A rank that gave its core away by sched_yield instead had
 * it back only after every busy process on it had used up its share: with other work on the machine a round
 * took milliseconds.
 */
#define _GNU_SOURCE
#include "kernel/engine/shared.h"

#include "kernel/base/memory.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <sched.h>
#endif

#define SPINS 1000
#define DATA_ALIGN 16
#define ELSEWHERE UINT64_MAX

struct parcel {
    uint64_t bytes, at; /* at: in the slot's data, or ELSEWHERE */
};

struct slot {
    _Atomic uint32_t round, sleepers;
    struct exchange_own own;
    ker_time sent;
    struct parcel to[]; /* by rank; then the data */
};

struct shared {
    MPI_Win window;
    int rank, ranks;
    bool sleep;
    uint32_t round;
    char **part; /* of the window by rank: two slots */
    size_t data_at, slot_bytes;
    size_t room, used; /* of this rank's data in this round */
};

static struct slot *slot_of(const struct shared *s, int rank)
{
    return (struct slot *)(void *)(s->part[rank] + (s->round & 1) * s->slot_bytes);
}

struct shared *shared_new(MPI_Comm comm, size_t room, bool sleep)
{
    struct shared *s = ker_alloc(sizeof *s);
    char *own;
    MPI_Comm_rank(comm, &s->rank);
    MPI_Comm_size(comm, &s->ranks);
    s->sleep = sleep;
    s->room = room;
    s->data_at = (sizeof(struct slot) + sizeof(struct parcel) * (size_t)s->ranks + 63) / 64 * 64;
    s->slot_bytes =
        s->data_at + (room + 63) / 64 * 64 + 64; /* neighbours share no line, nor a pair of them */
    MPI_Win_allocate_shared((MPI_Aint)(2 * s->slot_bytes), 1, MPI_INFO_NULL, comm, &own, &s->window);
    for (int parity = 0; parity < 2; parity++)
        memset(own + (size_t)parity * s->slot_bytes, 0, s->data_at);
    s->part = ker_alloc(sizeof *s->part * (size_t)s->ranks);
    for (int r = 0; r < s->ranks; r++) {
        MPI_Aint bytes;
        int unit;
        MPI_Win_shared_query(s->window, r, &bytes, &unit, &s->part[r]);
    }
    MPI_Barrier(comm);
    return s;
}

void shared_free(struct shared *s)
{
    if (!s)
        return;
    MPI_Win_free(&s->window);
    free(s->part);
    free(s);
}

/* ---- waiting ---- */

#ifdef __linux__
/* While the word is as it was seen. */
static void word_sleep(_Atomic uint32_t *word, uint32_t seen)
{
    syscall(SYS_futex, word, FUTEX_WAIT, seen, NULL, NULL, 0);
}

static void word_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
#else
static void word_sleep(_Atomic uint32_t *word, uint32_t seen)
{
    sched_yield();
}

static void word_wake(_Atomic uint32_t *word)
{
}
#endif

/* A sleeper is counted before the kernel looks at the word, and the word is written before the sleepers are
 * counted: one of the two sees the other. */
static void slot_wait(const struct shared *s, struct slot *slot)
{
    for (unsigned spins = s->sleep ? SPINS : 0; spins < SPINS; spins++) {
        if (atomic_load_explicit(&slot->round, memory_order_acquire) == s->round)
            return;
        __builtin_ia32_pause();
    }
    for (uint32_t seen; (seen = atomic_load(&slot->round)) != s->round;) {
        atomic_fetch_add(&slot->sleepers, 1);
        word_sleep(&slot->round, seen);
        atomic_fetch_sub(&slot->sleepers, 1);
    }
}

/* ---- rounds ---- */

void shared_begin(struct shared *s)
{
    s->round++;
    s->used = 0;
    struct slot *mine = slot_of(s, s->rank);
    memset(mine->to, 0, sizeof *mine->to * (size_t)s->ranks);
}

void *shared_room(struct shared *s, int rank, size_t bytes)
{
    struct slot *mine = slot_of(s, s->rank);
    size_t at = (s->used + DATA_ALIGN - 1) / DATA_ALIGN * DATA_ALIGN;
    bool fits = bytes <= s->room && at <= s->room - bytes;
    mine->to[rank] = (struct parcel){bytes, fits ? at : ELSEWHERE};
    if (!fits)
        return NULL;
    s->used = at + bytes;
    return (char *)mine + s->data_at + at;
}

void shared_publish(struct shared *s, struct exchange_own own, ker_time sent)
{
    struct slot *mine = slot_of(s, s->rank);
    mine->own = own;
    mine->sent = sent;
    atomic_store(&mine->round, s->round);
    if (atomic_load(&mine->sleepers))
        word_wake(&mine->round);
}

struct shared_told shared_wait(const struct shared *s, int rank)
{
    struct slot *slot = slot_of(s, rank);
    if (rank != s->rank)
        slot_wait(s, slot);
    const struct parcel *p = &slot->to[s->rank];
    return (struct shared_told){slot->own, slot->sent, p->bytes,
                                p->at == ELSEWHERE ? NULL : (char *)slot + s->data_at + p->at};
}
