/* test_wheel.c - the wheel of a rank by itself: what a burst took is given back when it has passed, and what
 * comes out is what went in, at its time, whether anything was given back or not.
 */
#define _GNU_SOURCE /* mincore */
#include "kernel/base/error.h"
#include "kernel/base/memory.h"
#include "kernel/engine/engine.h"
#include "kernel/engine/wheel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define GRID 1000
#define COMPONENTS 4096u
#define BURST 800000u /* events: 50 MiB */

/* Bytes of the arena's first part that are in memory. */
static size_t arena_resident(const struct wheel *w, size_t bytes)
{
    size_t pages = bytes / KER_PAGE, there = 0;
    unsigned char *in = ker_alloc(pages);
    assert_int_equal(mincore(w->arena, pages * KER_PAGE, in), 0);
    for (size_t i = 0; i < pages; i++)
        there += in[i] & 1;
    free(in);
    return there * KER_PAGE;
}

static void event_put(struct wheel *w, ker_time time, uint32_t component, uint64_t value)
{
    struct ker_event *event = wheel_event(w, time, component);
    *event = (struct ker_event){.time = time, .component = component, .payload = {value, ~value}};
}

/* What a slot of a block holds: order means nothing inside. */
struct heap {
    uint64_t sum, count;
    ker_time from, to;
};

static void heap_event(void *context, const struct ker_event *event)
{
    struct heap *h = context;
    if (event->time < h->from || event->time >= h->to)
        return;
    assert_int_equal(event->payload[1], ~event->payload[0]);
    h->sum += (event->payload[0] * 2 + 1) * (uint64_t)(event->time + event->component);
    h->count++;
}

static void heap_note(void *context, ker_time time, const struct wheel_note *note)
{
    struct heap *h = context;
    if (time < h->from || time >= h->to)
        return;
    h->sum += (uint64_t)time * 3 + note->component + note->amount;
    h->count++;
}

/* The slot that begins at `start` is handled: what was in it, and its chunks are given back. */
static struct heap slot_drain(struct wheel *w, ker_time start)
{
    struct heap h = {.from = start, .to = start + GRID};
    const struct wheel_visitor visitor = {heap_event, heap_note, &h};
    wheel_advance(w, start);
    wheel_visit(w, &visitor);
    uint32_t s = (uint32_t)w->base_slot & (w->slots - 1);
    for (uint32_t b = 0; b < w->blocks; b++) {
        struct wheel_bucket *bucket = &w->bucket[(size_t)s * w->blocks + b];
        for (uint32_t chunk = bucket->events, next; chunk; chunk = next) {
            next = *(uint32_t *)wheel_chunk(w, chunk);
            wheel_chunk_free(w, chunk);
        }
        for (uint32_t chunk = bucket->notes, next; chunk; chunk = next) {
            next = *(uint32_t *)wheel_chunk(w, chunk);
            wheel_chunk_free(w, chunk);
        }
        *bucket = (struct wheel_bucket){0};
    }
    w->busy[s >> 6] &= ~(1ull << (s & 63));
    memset(w->busy_block + (size_t)s * w->block_words, 0, sizeof *w->busy_block * w->block_words);
    return h;
}

static unsigned interrupted; /* second bursts that came while the upper part was being emptied */

/* Each slot that is handled puts a few records into later ones; a burst is at `burst`, unless 0. Digests
 * of the slots go to `digest`; returns bytes of the burst's memory that are resident at the end. */
static size_t run(ker_time burst, ker_time again, uint64_t *digest, uint32_t slots, size_t *most)
{
    struct wheel w;
    wheel_init(&w, COMPONENTS, 8, GRID, 64 * GRID, 0);
    event_put(&w, 5, 1, 7);
    *most = 0;
    for (uint32_t i = 0; i < slots; i++) {
        ker_time start = (ker_time)i * GRID;
        assert_int_equal(wheel_next(&w), start);
        struct heap h = slot_drain(&w, start);
        digest[i] = h.sum * 31 + h.count;
        for (uint32_t k = 0; k < 40; k++) {
            ker_time time = start + GRID + (ker_time)((h.sum + k) * 2654435761u % (50 * GRID));
            event_put(&w, time, (i * 37 + k * 101) % COMPONENTS, i + k);
            wheel_note_put(&w, time, (struct wheel_note){.component = k * 97 % COMPONENTS, .amount = i});
        }
        event_put(&w, start + GRID, 1, i);
        interrupted += start && start == again && w.high != UINT32_MAX;
        for (uint32_t k = 0; (start == burst || start == again) && start && k < BURST; k++)
            event_put(&w, start + GRID * (1 + (ker_time)(k % 40)), k % COMPONENTS, k);
        size_t used = (size_t)w.chunks_used * WHEEL_CHUNK;
        *most = used > *most ? used : *most;
    }
    size_t left = arena_resident(&w, *most);
    wheel_release(&w);
    return left;
}

static void burst_is_given_back(void **state)
{
    enum { SLOTS = 150 };
    static uint64_t digest[SLOTS];
    size_t most, left = run(50 * GRID, 0, digest, SLOTS, &most);
    assert_true(most > (size_t)BURST * 64);
    assert_true(left < most * 2 / 3); /* the upper half, at least once */
}

/* While the upper part is being emptied a second burst comes: it is used again. */
static void second_burst_is_kept_whole(void **state)
{
    enum { SLOTS = 150 };
    static uint64_t once[SLOTS], twice[SLOTS];
    size_t most, most_again;
    run(50 * GRID, 0, once, SLOTS, &most);
    for (ker_time again = 66; again < 96; again += 6) {
        run(50 * GRID, again * GRID, twice, SLOTS, &most_again);
        for (ker_time i = 0; i <= again; i++)
            assert_int_equal(once[i], twice[i]);
        assert_true(most_again < 2 * most + (64u << 20));
    }
    assert_true(interrupted > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(burst_is_given_back),
                                       cmocka_unit_test(second_burst_is_kept_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
