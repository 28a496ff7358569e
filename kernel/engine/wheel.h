/* wheel.h - the future of one rank: a wheel of windows, and a heap for what lies beyond it. Private to
 * kernel/.
 *
 * Time is cut into grid slots of equal length; the wheel holds the next `slots` of them. A bucket is one slot
 * of one block of consecutive components and holds chunks of 1 KiB: events (64 bytes) and notes (16 bytes)
 * apart. Chunks come from one arena by a last-in-first-out free list, so that nothing is allocated per
 * record; where most of a large arena is free, its upper part is emptied and given back. Records beyond the
 * horizon wait in a binary heap and move into the wheel when it has come near enough. Order inside a bucket
 * means nothing: the window sorts.
 */
#pragma once

#include "kernel/engine/record.h"

#include <stddef.h>

#define WHEEL_CHUNK 1024u
#define WHEEL_UNIT 16u /* references count 16-byte units from the arena's base: 64 GiB */
#define WHEEL_CHUNK_EVENTS (WHEEL_CHUNK / 64 - 1)
#define WHEEL_CHUNK_NOTES (WHEEL_CHUNK / 16 - 1)
#define WHEEL_TRIM_LEAST ((32u << 20) / WHEEL_CHUNK) /* free chunks; of fewer none are given back */

/* A note in the wheel: its time counts from the start of its slot. */
struct wheel_note {
    uint32_t offset;
    uint32_t component;
    uint16_t port;
    uint8_t channel;
    uint8_t kind;
    uint32_t amount;
};
_Static_assert(sizeof(struct wheel_note) == 16, "a note is 16 bytes");

struct wheel_bucket {
    uint32_t events, notes;           /* newest chunk, 0: none; older ones are full */
    uint16_t events_left, notes_left; /* room in the newest chunk */
};

struct wheel_far { /* heap entry */
    ker_time time;
    struct wheel_note note; /* of an event: KER_ARRIVAL, the amount is its index in far_event */
};

struct wheel_free { /* chunks */
    uint32_t first, count;
};

struct wheel {
    char *arena;
    uint32_t chunks_used;
    uint32_t high;             /* chunks from here on are being emptied; UINT32_MAX: none are */
    uint32_t trim_least;       /* as many must be free: twice as many after each time that they were needed */
    struct wheel_free free[2]; /* below `high`, and from there on */
    uint64_t chunk_limit;
    ker_time grid;        /* slot length */
    ker_time base;        /* start of the slot that is first[] now; everything pending is >= base */
    int64_t base_slot;    /* base / grid */
    ker_time horizon;     /* base + slots x grid */
    uint64_t reciprocal;  /* 2^(63 + reciprocal_shift) / grid, rounded up */
    int reciprocal_shift; /* so that 2^shift is at most grid */
    uint32_t slots;       /* power of two */
    uint32_t blocks, block_shift;
    struct wheel_bucket *bucket; /* [slot][block] */
    uint64_t *busy;              /* bitmap of slots with anything in them */
    uint64_t *busy_block;        /* per slot a bitmap of blocks */
    uint32_t block_words;
    struct wheel_far *far;
    size_t far_count, far_room;
    KER_POOL(struct ker_event) far_event;
    size_t arena_bytes;
};

/* arena_bytes: at most so much for records; 0: as much as there is, up to 64 GiB. */
void wheel_init(struct wheel *, uint32_t components, uint32_t block_shift, ker_time grid, ker_time reach,
                size_t arena_bytes);
void wheel_release(struct wheel *);
/* Gives the memory of all records back: from now on it may only be released. */
void wheel_abandon(struct wheel *);

uint32_t wheel_chunk_new(struct wheel *, uint32_t next);
static inline char *wheel_chunk(const struct wheel *w, uint32_t chunk)
{
    return w->arena + (size_t)chunk * WHEEL_CHUNK;
}
/* The records of a chunk, from number 1 on: where the first would be its head is. They are filled from the
 * last to the first, so that who fetches the next one fetches the head behind the last: a full chunk's is
 * read when its bucket gets another. */
static inline struct ker_event *wheel_events(const struct wheel *w, uint32_t chunk)
{
    return (struct ker_event *)(void *)wheel_chunk(w, chunk);
}
static inline struct wheel_note *wheel_notes(const struct wheel *w, uint32_t chunk)
{
    return (struct wheel_note *)(void *)wheel_chunk(w, chunk);
}
/* At the beginning of a chunk; of a free one there is only `next`. */
struct wheel_head {
    uint32_t next;  /* the one before it in the bucket, or the next free one; 0: none */
    uint32_t then;  /* the one before that */
    uint32_t older; /* how many follow */
};
static inline struct wheel_head *wheel_head(const struct wheel *w, uint32_t chunk)
{
    return (struct wheel_head *)(void *)wheel_chunk(w, chunk);
}
static inline void wheel_chunk_free(struct wheel *w, uint32_t chunk)
{
    struct wheel_free *list = &w->free[chunk >= w->high];
    wheel_head(w, chunk)->next = list->first;
    list->first = chunk;
    list->count++;
}

/* Slow paths: beyond the horizon. The event's memory may be filled until the next call. */
struct ker_event *wheel_far_event(struct wheel *, ker_time time);
void wheel_far_note(struct wheel *, ker_time time, const struct wheel_note *);

/* (time - base) / grid by a multiplication. Exact for offsets n below 2^62: the reciprocal times grid is e <
 * grid more than the power of two, 2^(63 + shift), which adds n e / grid / 2^(63 + shift) < 1 / grid to the
 * quotient. */
static inline uint64_t wheel_slot_of(const struct wheel *w, ker_time time)
{
    uint64_t offset = (uint64_t)(time - w->base);
    return (uint64_t)(((unsigned __int128)(2 * offset) * w->reciprocal) >> 64) >> w->reciprocal_shift;
}

/* A bucket gets its first chunk, or a further one. */
void wheel_event_chunk(struct wheel *, struct wheel_bucket *);
void wheel_note_chunk(struct wheel *, struct wheel_bucket *);

static inline struct wheel_bucket *wheel_bucket_at(struct wheel *w, uint64_t slot_from_base,
                                                   uint32_t component)
{
    uint32_t s = (uint32_t)((uint64_t)w->base_slot + slot_from_base) & (w->slots - 1);
    return &w->bucket[(size_t)s * w->blocks + (component >> w->block_shift)];
}

/* Room for one event at `time` of `component`; the caller fills all of it at once. */
static inline struct ker_event *wheel_event(struct wheel *w, ker_time time, uint32_t component)
{
    if (__builtin_expect(time >= w->horizon, 0))
        return wheel_far_event(w, time);
    struct wheel_bucket *b = wheel_bucket_at(w, wheel_slot_of(w, time), component);
    if (__builtin_expect(b->events_left == 0, 0))
        wheel_event_chunk(w, b);
    struct ker_event *event = wheel_events(w, b->events) + b->events_left--;
    __builtin_prefetch(event - 1, 1); /* the next one will be written long after: have its line by then */
    return event;
}

static inline void wheel_note_put(struct wheel *w, ker_time time, struct wheel_note note)
{
    if (__builtin_expect(time >= w->horizon, 0)) {
        wheel_far_note(w, time, &note);
        return;
    }
    uint64_t slot = wheel_slot_of(w, time);
    struct wheel_bucket *b = wheel_bucket_at(w, slot, note.component);
    if (__builtin_expect(b->notes_left == 0, 0))
        wheel_note_chunk(w, b);
    note.offset = (uint32_t)((uint64_t)(time - w->base) - slot * (uint64_t)w->grid);
    struct wheel_note *at = wheel_notes(w, b->notes) + b->notes_left--;
    *at = note;
    __builtin_prefetch(at - 2, 1);
}

/* Everything that is pending, in no particular order; nothing may be posted meanwhile. */
struct wheel_visitor {
    void (*event)(void *context, const struct ker_event *);
    void (*note)(void *context, ker_time, const struct wheel_note *); /* offset means nothing */
    void *context;
};
void wheel_visit(const struct wheel *, const struct wheel_visitor *);
/* Drops everything, and begins again with the slot of this time. */
void wheel_restart(struct wheel *, ker_time at);

/* Start of the first slot that holds anything, KER_TIME_MAX when nothing is pending. */
ker_time wheel_next_far(const struct wheel *); /* the slot is not in the word of the base */
static inline ker_time wheel_next(const struct wheel *w)
{
    uint32_t first = (uint32_t)w->base_slot & (w->slots - 1);
    uint64_t bits = w->busy[first / 64] >> (first & 63);
    return __builtin_expect(bits != 0, 1) ? w->base + __builtin_ctzll(bits) * w->grid : wheel_next_far(w);
}

/* Moves the base to the slot that begins at `start` (a multiple of grid); nothing earlier may be pending. */
void wheel_trim(struct wheel *);
void wheel_settle(struct wheel *);
static inline void wheel_advance(struct wheel *w, ker_time start)
{
    ker_check(start % w->grid == 0 && start >= w->base);
    /* Dividing takes as long as all the rest of a small window. */
    w->base_slot = start < w->horizon ? w->base_slot + (int64_t)wheel_slot_of(w, start) : start / w->grid;
    w->base = start;
    if (__builtin_expect(w->free[0].count > w->trim_least || w->high != UINT32_MAX, 0))
        wheel_trim(w);
    ker_time span = (ker_time)w->slots * w->grid;
    w->horizon = start > KER_TIME_MAX - span ? KER_TIME_MAX : start + span;
    if (w->far_count && w->far[0].time < w->horizon)
        wheel_settle(w);
}
