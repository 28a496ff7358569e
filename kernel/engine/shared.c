/* shared.c - slots in a shared window of MPI; see shared.h.
 *
 * To agree takes stages. In stage s a rank publishes what it knows, and merges what the ranks 1, 2, ... 7
 * times 8^s places before it have published in the same stage; after the last one it knows of all
 * (dissemination; Hensgen, Finkel and Manber 1988). Up to 8 ranks read each other's slots, and 64 take two
 * stages.
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
#define RADIX 8
#define LINE 64
#define DATA_ALIGN 16
#define ELSEWHERE UINT64_MAX

struct parcel {
    uint64_t bytes, at; /* at: from the beginning of the slot, or ELSEWHERE */
};

/* What is told in a stage. Without messages between hosts it is one line. */
struct told {
    _Alignas(LINE) _Atomic uint32_t round;
    _Atomic uint32_t sleepers;
    struct agreement said;
};

/* A slot: what is told in each stage, and to all in the end; parcels by receiver; data. */
struct shared {
    MPI_Win window;
    int place, size;
    int stages;
    bool sleep;
    uint32_t round, receivers;
    char **part;       /* of the window by place: two slots */
    size_t *bytes;     /* of each of them */
    size_t room, used; /* of this rank's data in this round */
};

static char *slot_of(const struct shared *s, int place)
{
    return s->part[place] + (s->round & 1) * s->bytes[place];
}

static struct told *told_of(const struct shared *s, int place, int stage)
{
    return (struct told *)(void *)slot_of(s, place) + stage;
}

static struct parcel *parcels_of(const struct shared *s, int place)
{
    return (struct parcel *)(void *)told_of(s, place, s->stages + 1);
}

static size_t data_at(const struct shared *s)
{
    size_t at = sizeof(struct told) * ((size_t)s->stages + 1) + sizeof(struct parcel) * s->receivers;
    return (at + LINE - 1) / LINE * LINE;
}

static int stages_of(int size)
{
    int stages = 1;
    for (int reached = RADIX; reached < size; reached *= RADIX)
        stages++;
    return stages;
}

struct shared *shared_new(MPI_Comm here, uint32_t receivers, size_t room, bool sleep)
{
    struct shared *s = ker_alloc(sizeof *s);
    char *own;
    MPI_Comm_rank(here, &s->place);
    MPI_Comm_size(here, &s->size);
    *s = (struct shared){.place = s->place,
                         .size = s->size,
                         .stages = stages_of(s->size),
                         .sleep = sleep,
                         .receivers = receivers,
                         .room = room};
    /* neighbours share no line, nor a pair of them */
    size_t slot = data_at(s) + (room + LINE - 1) / LINE * LINE + LINE;
    MPI_Win_allocate_shared((MPI_Aint)(2 * slot), 1, MPI_INFO_NULL, here, &own, &s->window);
    for (int parity = 0; parity < 2; parity++)
        memset(own + (size_t)parity * slot, 0, data_at(s));
    s->part = ker_alloc(sizeof *s->part * (size_t)s->size);
    s->bytes = ker_alloc(sizeof *s->bytes * (size_t)s->size);
    for (int r = 0; r < s->size; r++) {
        MPI_Aint bytes;
        int unit;
        MPI_Win_shared_query(s->window, r, &bytes, &unit, &s->part[r]);
        s->bytes[r] = (size_t)bytes / 2;
    }
    MPI_Barrier(here);
    return s;
}

void shared_free(struct shared *s)
{
    if (!s)
        return;
    MPI_Win_free(&s->window);
    free(s->part);
    free(s->bytes);
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
static void told_wait(const struct shared *s, struct told *t)
{
    for (unsigned spins = s->sleep ? SPINS : 0; spins < SPINS; spins++) {
        if (atomic_load_explicit(&t->round, memory_order_acquire) == s->round)
            return;
        __builtin_ia32_pause();
    }
    for (uint32_t seen; (seen = atomic_load(&t->round)) != s->round;) {
        atomic_fetch_add(&t->sleepers, 1);
        word_sleep(&t->round, seen);
        atomic_fetch_sub(&t->sleepers, 1);
    }
}

static void publish(struct shared *s, int stage, const struct agreement *a)
{
    struct told *mine = told_of(s, s->place, stage);
    memcpy(&mine->said, a, agreement_bytes(a));
    atomic_store(&mine->round, s->round);
    if (atomic_load(&mine->sleepers))
        word_wake(&mine->round);
}

/* ---- rounds ---- */

void shared_begin(struct shared *s)
{
    s->round++;
    s->used = data_at(s);
    memset(parcels_of(s, s->place), 0, sizeof(struct parcel) * s->receivers);
}

void *shared_room(struct shared *s, uint32_t receiver, size_t bytes)
{
    size_t at = (s->used + DATA_ALIGN - 1) / DATA_ALIGN * DATA_ALIGN, end = data_at(s) + s->room;
    bool fits = at <= end && bytes <= end - at;
    parcels_of(s, s->place)[receiver] = (struct parcel){bytes, fits ? at : ELSEWHERE};
    if (!fits)
        return NULL;
    s->used = at + bytes;
    return slot_of(s, s->place) + at;
}

void shared_agree(struct shared *s, struct agreement *a)
{
    for (int stage = 0, stride = 1; stage < s->stages; stage++, stride *= RADIX) {
        publish(s, stage, a);
        for (int k = 1; k < RADIX && k * stride < s->size; k++) {
            struct told *other = told_of(s, (s->place - k * stride + s->size) % s->size, stage);
            told_wait(s, other);
            agreement_merge(a, &other->said);
        }
    }
}

void shared_tell(struct shared *s, const struct agreement *a)
{
    publish(s, s->stages, a);
}

void shared_hear(struct shared *s, struct agreement *a)
{
    struct told *first = told_of(s, 0, s->stages);
    told_wait(s, first);
    memcpy(a, &first->said, agreement_bytes(&first->said));
}

struct shared_parcel shared_parcel(const struct shared *s, int place, uint32_t receiver)
{
    const struct parcel *p = &parcels_of(s, place)[receiver];
    return (struct shared_parcel){p->bytes, p->at == ELSEWHERE ? NULL : slot_of(s, place) + p->at};
}
