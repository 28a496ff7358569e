/* shared.c - slots in memory that ranks share; see shared.h.
 *
 * To agree takes stages. In stage s a rank publishes what it knows, and merges what the ranks 1, 2, ... 7
 * times 8^s places before it have published in the same stage; after the last one it knows of all
 * (dissemination; Hensgen, Finkel and Manber 1988). Up to 8 ranks read each other's slots, and 64 take two
 * stages.
 */
#include "kernel/engine/shared.h"

#include "kernel/base/base.h"
#include "kernel/base/comm_mpi.h"

#include <stdlib.h>
#include <string.h>

#define RADIX 8
#define LINE 64
#define DATA_ALIGN 16
#define ELSEWHERE UINT64_MAX

struct parcel {
    uint64_t bytes, at; /* at: from the beginning of the slot, or ELSEWHERE */
};

/* What is published in a stage. Without messages between hosts it is one line. */
struct published {
    _Alignas(LINE) struct ker_flag round;
    struct agreement said;
};

/* A slot: what is published in each stage, and to all in the end; parcels by receiver; data. */
struct shared {
    void *block; /* two slots for each rank of the host */
    size_t block_bytes, slot_bytes;
    char *slots; /* of the first place */
    int place, size;
    int stages;
    bool look; /* for a moment before sleeping */
    uint32_t round;
    size_t room, used; /* of this rank's data in this round */
};

static char *slot_of(const struct shared *s, int place)
{
    return s->slots + (2 * (size_t)place + (s->round & 1)) * s->slot_bytes;
}

static struct published *published_of(const struct shared *s, int place, int stage)
{
    return (struct published *)(void *)slot_of(s, place) + stage;
}

static struct parcel *parcels_of(const struct shared *s, int place)
{
    return (struct parcel *)(void *)published_of(s, place, s->stages + 1);
}

static size_t data_at(const struct shared *s)
{
    size_t at = sizeof(struct published) * ((size_t)s->stages + 1) + sizeof(struct parcel) * (size_t)s->size;
    return (at + LINE - 1) / LINE * LINE;
}

static int stages_of(int size)
{
    int stages = 1;
    for (int reached = RADIX; reached < size; reached *= RADIX)
        stages++;
    return stages;
}

struct shared *shared_new(struct ker_comm *host, const struct shared_group *group, size_t room, bool sleep)
{
    struct shared *s = ker_alloc(sizeof *s);
    *s = (struct shared){.place = group->place,
                         .size = group->size,
                         .stages = stages_of(group->size),
                         .look = !sleep,
                         .room = room};
    int64_t slot = (int64_t)(data_at(s) + (room + LINE - 1) / LINE * LINE);
    ker_comm_max_i64(host, &slot, 1);    /* groups may differ by a rank */
    s->slot_bytes = (size_t)slot + LINE; /* neighbours share no line, nor a pair of them */
    s->block_bytes = 2 * s->slot_bytes * (size_t)ker_comm_size(host);
    s->block = ker_comm_share(host, s->block_bytes);
    s->slots = (char *)s->block + 2 * s->slot_bytes * (size_t)group->from;
    if (s->block)
        return s;
    shared_free(s);
    return NULL;
}

void shared_free(struct shared *s)
{
    if (s)
        ker_comm_unshare(s->block, s->block_bytes);
    free(s);
}

/* ---- rounds ---- */

static void publish(struct shared *s, int stage, const struct agreement *a)
{
    struct published *mine = published_of(s, s->place, stage);
    memcpy(&mine->said, a, agreement_bytes(a));
    ker_flag_set(&mine->round, s->round);
}

static void published_wait(const struct shared *s, struct published *t)
{
    ker_flag_wait(&t->round, s->round, s->look, 0);
}

void shared_begin(struct shared *s)
{
    s->round++;
    s->used = data_at(s);
    memset(parcels_of(s, s->place), 0, sizeof(struct parcel) * (size_t)s->size);
}

void *shared_room(struct shared *s, int receiver, size_t bytes)
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
            struct published *other = published_of(s, (s->place - k * stride + s->size) % s->size, stage);
            published_wait(s, other);
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
    struct published *first = published_of(s, 0, s->stages);
    published_wait(s, first);
    memcpy(a, &first->said, agreement_bytes(&first->said));
}

struct shared_parcel shared_parcel(const struct shared *s, int place)
{
    const struct parcel *p = &parcels_of(s, place)[s->place];
    return (struct shared_parcel){p->bytes, p->at == ELSEWHERE ? NULL : slot_of(s, place) + p->at};
}
