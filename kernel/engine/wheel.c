/* wheel.c - slots, chunks and the heap of the far future; see wheel.h.
 *
 * Invariant: every pending record with time < horizon is in the bucket of its slot and block; all others are
 * in the heap. wheel_advance keeps it by moving the heap's top into the wheel as the horizon moves.
 */
#include "kernel/engine/wheel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void wheel_init(struct wheel *w, uint32_t components, uint32_t block_shift, ker_time grid, ker_time reach,
                size_t arena_bytes)
{
    memset(w, 0, sizeof *w);
    w->grid = grid;
    w->block_shift = block_shift;
    w->blocks = (components >> block_shift) + 1;
    w->block_words = (w->blocks + 63) / 64;
    w->slots = 64;
    while (w->slots < 4096 && (ker_time)w->slots * grid < reach)
        w->slots *= 2;
    w->reciprocal_shift = 63 - __builtin_clzll((uint64_t)grid);
    w->reciprocal = (uint64_t)((((unsigned __int128)1 << (63 + w->reciprocal_shift)) + (uint64_t)grid - 1) /
                               (uint64_t)grid);
    w->horizon = (ker_time)w->slots * grid;
    w->bucket = ker_reserve(sizeof *w->bucket * w->slots * w->blocks);
    w->busy = ker_alloc(sizeof *w->busy * w->slots / 64);
    w->busy_block = ker_alloc(sizeof *w->busy_block * w->slots * w->block_words);
    w->arena = ker_reserve_range(&w->arena_bytes);
    w->far_event.free = KER_NONE;
    w->chunks_used = 1; /* 0 means none */
    w->high = UINT32_MAX;
    w->trim_least = WHEEL_TRIM_LEAST;
    w->chunk_limit =
        (arena_bytes && arena_bytes < w->arena_bytes ? arena_bytes : w->arena_bytes) / WHEEL_CHUNK;
}

void wheel_abandon(struct wheel *w)
{
    if (w->arena)
        munmap(w->arena, w->arena_bytes);
    w->arena = NULL;
}

void wheel_release(struct wheel *w)
{
    wheel_abandon(w);
    ker_release(w->bucket, sizeof *w->bucket * w->slots * w->blocks);
    free(w->busy);
    free(w->busy_block);
    free(w->far);
    KER_POOL_RELEASE(&w->far_event);
}

/* ---- chunks ---- */

#define TRIM_STEP ((2u << 20) / WHEEL_CHUNK) /* whole pages, also huge ones */

/* More is in flight again: the upper part is used like the rest. */
static void trim_cancel(struct wheel *w)
{
    w->free[0] = w->free[1];
    w->free[1] = (struct wheel_free){0};
    w->high = UINT32_MAX;
    w->trim_least *= 2;
}

/* The upper half is taken no more. */
static void trim_begin(struct wheel *w)
{
    uint32_t chunk = w->free[0].first;
    w->high = (w->chunks_used / 2 + TRIM_STEP) / TRIM_STEP * TRIM_STEP;
    w->free[0] = (struct wheel_free){0};
    while (chunk) {
        uint32_t next = wheel_head(w, chunk)->next;
        wheel_chunk_free(w, chunk);
        chunk = next;
    }
}

/* The upper part is empty. */
static void trim_end(struct wheel *w)
{
    size_t bytes = (size_t)(w->chunks_used - w->high) * WHEEL_CHUNK;
    madvise(wheel_chunk(w, w->high), bytes, MADV_DONTNEED); /* a wish */
    w->chunks_used = w->high;
    w->free[1] = (struct wheel_free){0};
    w->high = UINT32_MAX;
}

/* A burst leaves chunks that later ones may never need. Those in use lie anywhere among them, but none is for
 * long: when no new ones are taken from the upper part, it is soon empty. */
void wheel_trim(struct wheel *w)
{
    if (__builtin_expect(w->high != UINT32_MAX, 0)) {
        if (w->free[1].count == w->chunks_used - w->high)
            trim_end(w);
    } else if (__builtin_expect(w->free[0].count > w->trim_least, 0) &&
               w->free[0].count > w->chunks_used / 2) {
        trim_begin(w);
    }
}

uint32_t wheel_chunk_new(struct wheel *w, uint32_t next)
{
    if (w->free[0].count == 0 && w->free[1].count)
        trim_cancel(w);
    uint32_t chunk = w->free[0].first;
    if (chunk) {
        w->free[0].first = wheel_head(w, chunk)->next;
        w->free[0].count--;
    } else {
        if (w->chunks_used >= w->chunk_limit)
            ker_memory_out(
                "what is in flight on one rank fills the %llu MiB that there are for it; use more ranks",
                (unsigned long long)(w->chunk_limit * WHEEL_CHUNK >> 20));
        chunk = w->chunks_used++;
    }
    __builtin_prefetch(wheel_chunk(w, w->free[0].first), 1);
    struct wheel_head *head = wheel_head(w, chunk);
    *head = (struct wheel_head){.next = next};
    if (next) {
        head->then = wheel_head(w, next)->next;
        head->older = wheel_head(w, next)->older + 1;
    }
    return chunk;
}

/* The bucket is not empty any more: the windows will look at it. */
static void bucket_mark(struct wheel *w, const struct wheel_bucket *b)
{
    size_t at = (size_t)(b - w->bucket);
    uint32_t s = (uint32_t)at, block = 0;
    if (w->blocks > 1) {
        s = (uint32_t)(at / w->blocks);
        block = (uint32_t)(at % w->blocks);
    }
    w->busy[s >> 6] |= 1ull << (s & 63);
    w->busy_block[(size_t)s * w->block_words + (block >> 6)] |= 1ull << (block & 63);
}

void wheel_event_chunk(struct wheel *w, struct wheel_bucket *b)
{
    if (b->events == 0)
        bucket_mark(w, b);
    b->events = wheel_chunk_new(w, b->events);
    b->events_left = WHEEL_CHUNK_EVENTS;
}

void wheel_note_chunk(struct wheel *w, struct wheel_bucket *b)
{
    if (b->notes == 0)
        bucket_mark(w, b);
    b->notes = wheel_chunk_new(w, b->notes);
    b->notes_left = WHEEL_CHUNK_NOTES;
}

#define EARLIER(a, b) ((a)->time < (b)->time)

void wheel_far_note(struct wheel *w, ker_time time, const struct wheel_note *note)
{
    KER_HEAP_PUT(w->far, w->far_count, w->far_room, ((struct wheel_far){time, *note}), EARLIER);
}

struct ker_event *wheel_far_event(struct wheel *w, ker_time time)
{
    uint32_t record = KER_POOL_TAKE(&w->far_event, NULL);
    wheel_far_note(w, time, &(struct wheel_note){.kind = KER_ARRIVAL, .amount = record});
    return &w->far_event.at[record];
}

ker_time wheel_next_far(const struct wheel *w)
{
    uint32_t first = (uint32_t)w->base_slot & (w->slots - 1), words = w->slots / 64;
    /* the slots in order from the base: the rest of its word, the other words, the part of the word before
     * the base */
    for (uint32_t k = 0; k <= words; k++) {
        uint32_t word = (first / 64 + k) & (words - 1); /* a power of two */
        uint64_t bits = w->busy[word];
        if (k == 0)
            bits &= ~0ull << (first & 63);
        else if (k == words)
            bits &= (1ull << (first & 63)) - 1;
        if (bits) {
            uint32_t s = word * 64 + (uint32_t)__builtin_ctzll(bits);
            return w->base + (ker_time)((s - first) & (w->slots - 1)) * w->grid;
        }
    }
    return w->far_count ? w->far[0].time / w->grid * w->grid : KER_TIME_MAX;
}

static void far_settle(struct wheel *w, struct wheel_far entry)
{
    if (entry.note.kind == KER_ARRIVAL) {
        const struct ker_event *event = &w->far_event.at[entry.note.amount];
        *wheel_event(w, entry.time, event->component) = *event;
        KER_POOL_GIVE(&w->far_event, entry.note.amount);
    } else {
        wheel_note_put(w, entry.time, entry.note);
    }
}

/* What the wheel reaches by now. */
void wheel_settle(struct wheel *w)
{
    while (w->far_count && w->far[0].time < w->horizon)
        far_settle(w, KER_HEAP_TAKE(w->far, w->far_count, EARLIER));
}

/* ---- everything at once ---- */

static void bucket_visit(const struct wheel *w, const struct wheel_bucket *b, ker_time slot,
                         const struct wheel_visitor *v)
{
    uint32_t left = b->events_left;
    for (uint32_t chunk = b->events; chunk; left = 0) {
        for (uint32_t i = left + 1; i <= WHEEL_CHUNK_EVENTS; i++)
            v->event(v->context, wheel_events(w, chunk) + i);
        chunk = wheel_head(w, chunk)->next;
    }
    left = b->notes_left;
    for (uint32_t chunk = b->notes; chunk; left = 0) {
        for (uint32_t i = left + 1; i <= WHEEL_CHUNK_NOTES; i++) {
            const struct wheel_note *note = wheel_notes(w, chunk) + i;
            v->note(v->context, slot + note->offset, note);
        }
        chunk = wheel_head(w, chunk)->next;
    }
}

void wheel_visit(const struct wheel *w, const struct wheel_visitor *v)
{
    for (uint32_t k = 0; k < w->slots; k++) {
        uint32_t s = (uint32_t)((uint64_t)w->base_slot + k) & (w->slots - 1);
        if (w->busy[s >> 6] >> (s & 63) & 1)
            for (uint32_t block = 0; block < w->blocks; block++)
                bucket_visit(w, &w->bucket[(size_t)s * w->blocks + block], w->base + (ker_time)k * w->grid,
                             v);
    }
    for (size_t i = 0; i < w->far_count; i++) {
        if (w->far[i].note.kind == KER_ARRIVAL)
            v->event(v->context, &w->far_event.at[w->far[i].note.amount]);
        else
            v->note(v->context, w->far[i].time, &w->far[i].note);
    }
}

void wheel_restart(struct wheel *w, ker_time at)
{
    memset(w->bucket, 0, sizeof *w->bucket * w->slots * w->blocks);
    memset(w->busy, 0, sizeof *w->busy * w->slots / 64);
    memset(w->busy_block, 0, sizeof *w->busy_block * w->slots * w->block_words);
    w->chunks_used = 1;
    w->high = UINT32_MAX;
    memset(w->free, 0, sizeof w->free);
    w->far_count = 0;
    KER_POOL_RELEASE(&w->far_event);
    w->base = w->base_slot = 0;
    w->horizon = (ker_time)w->slots * w->grid;
    wheel_advance(w, at / w->grid * w->grid);
}
