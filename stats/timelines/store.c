/* store.c - records of this rank, in sorted runs of a temporary file that has no name any more.
 *
 * Records come nearly in the order of their time: cells are visited one after the other in short windows. A
 * full buffer is sorted by time, by its digits, which costs the same for any order; the few of one time are
 * then put into order by the rest of their keys. The runs are merged when they are read, with a block of each
 * in memory.
 *
 * More records than `most` are of no use to any writer: then those of the lowest levels are dropped, from the
 * file, too. Since a rank drops only what all ranks together would have to drop, what is left at a level does
 * not depend on the ranks.
 */
#include "stats/timelines/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER 32768u /* records: 1.8 MB, and twice 0.5 MB for sorting */
#define BLOCK 256u    /* records of a run, while it is read */
#define DIGIT 11

void line_store_init(struct line_store *s, uint64_t most)
{
    *s = (struct line_store){.file = -1, .most = most};
    s->record = ker_alloc(BUFFER * sizeof *s->record);
}

void line_store_release(struct line_store *s)
{
    if (s->file >= 0)
        close(s->file);
    free(s->record);
    free(s->key);
    free(s->other);
    free(s->run);
    *s = (struct line_store){.file = -1};
}

uint64_t line_store_bytes(const struct line_store *s, uint64_t *file)
{
    *file = s->most * sizeof *s->record;
    return BUFFER * (2 * sizeof *s->record + 2 * sizeof *s->key);
}

/* ---- sorting ---- */

/* By one digit, stable. */
static void digit_sort(const struct line_key *from, struct line_key *to, uint32_t count, int shift)
{
    uint32_t place[1 << DIGIT] = {0}, sum = 0, mask = (1 << DIGIT) - 1;
    for (uint32_t i = 0; i < count; i++)
        place[from[i].time >> shift & mask]++;
    for (uint32_t digit = 0; digit <= mask; digit++) {
        uint32_t here = place[digit];
        place[digit] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < count; i++)
        to[place[from[i].time >> shift & mask]++] = from[i];
}

/* Of one time there are few, and mostly they stand in order. */
static void ties_sort(const struct line_record *record, struct line_key *key, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct line_key one = key[i];
        uint32_t at = i;
        for (; at && key[at - 1].time == one.time &&
               line_before(&record[one.index], &record[key[at - 1].index]);
             at--)
            key[at] = key[at - 1];
        key[at] = one;
    }
}

static int record_compare(const void *a, const void *b)
{
    return line_before(a, b) ? -1 : line_before(b, a);
}

/* Many of one time, as at the beginning of a run of many tasks, would take the square of their number. */
static bool ties_long(const struct line_key *key, uint32_t count)
{
    uint32_t same = 0;
    for (uint32_t i = 1; i < count; i++) {
        same = key[i].time == key[i - 1].time ? same + 1 : 0;
        if (same > 64)
            return true;
    }
    return false;
}

static void buffer_sort(struct line_store *s)
{
    uint32_t count = s->count;
    struct line_record *record = s->record;
    if (!s->key) {
        s->key = ker_alloc(2 * BUFFER * sizeof *s->key);
        s->other = ker_alloc(BUFFER * sizeof *s->other);
    }
    struct line_key *key = s->key, *other = key + BUFFER;
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t time = (uint64_t)record[i].begin;
        least = time < least ? time : least;
        most = time > most ? time : most;
        key[i] = (struct line_key){time, i};
    }
    for (uint32_t i = 0; i < count; i++)
        key[i].time -= least;
    struct line_key *from = key, *to = other;
    for (int shift = 0; shift < 64 && (most - least) >> shift; shift += DIGIT) {
        digit_sort(from, to, count, shift);
        struct line_key *swap = from;
        from = to;
        to = swap;
    }
    if (ties_long(from, count)) {
        qsort(record, count, sizeof *record, record_compare);
        return;
    }
    ties_sort(record, from, count);
    for (uint32_t i = 0; i < count; i++)
        s->other[i] = record[from[i].index];
    s->record = s->other;
    s->other = record;
}

/* ---- the file ---- */

static void file_make(struct line_store *s)
{
    const char *named = getenv("TMPDIR"), *folders[] = {named && *named ? named : "/var/tmp", "/tmp"};
    for (int i = 0; i < 2 && s->file < 0; i++) {
        char *path = ker_format("%s/marssim.XXXXXX", folders[i]);
        s->file = mkstemp(path);
        if (s->file >= 0)
            unlink(path);
        else
            s->why = errno;
        free(path);
    }
    if (s->file >= 0)
        s->why = 0;
}

/* After a failure nothing is written. */
static void file_write(struct line_store *s, uint64_t place, const struct line_record *record, size_t count)
{
    const char *byte = (const char *)record;
    size_t bytes = count * sizeof *record;
    off_t at = (off_t)(place * sizeof *record);
    while (bytes && !s->why) {
        ssize_t wrote = pwrite(s->file, byte, bytes, at);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            s->why = wrote < 0 ? errno : ENOSPC;
            return;
        }
        byte += wrote;
        at += wrote;
        bytes -= (size_t)wrote;
    }
}

/* How many of them could be read. */
static size_t file_read(const struct line_store *s, uint64_t place, struct line_record *record, size_t count)
{
    char *byte = (char *)record;
    size_t bytes = count * sizeof *record, had = 0;
    while (had < bytes) {
        ssize_t got = pread(s->file, byte + had, bytes - had, (off_t)(place * sizeof *record + had));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        had += (size_t)got;
    }
    return had / sizeof *record;
}

/* ---- thinning ---- */

uint8_t line_level_fitting(const uint64_t held[LINE_LEVELS], uint8_t level, uint64_t most)
{
    uint64_t above = 0;
    int at = LINE_LEVELS;
    while (at > level && above + held[at - 1] <= most)
        above += held[--at];
    return (uint8_t)(at < LINE_LEVELS ? at : LINE_LEVELS - 1);
}

static uint32_t records_thin(struct line_record *record, uint32_t count, uint8_t level)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (record[i].level >= level)
            record[kept++] = record[i];
    return kept;
}

/* Every run moves towards the beginning of the file; what is left of it is not read any more. */
static void runs_thin(struct line_store *s)
{
    struct line_record block[BLOCK];
    uint64_t end = 0;
    for (uint32_t i = 0; i < s->runs; i++) {
        struct line_run *run = &s->run[i];
        uint64_t begin = end;
        for (uint64_t at = 0; at < run->count; at += BLOCK) {
            uint32_t here = (uint32_t)(run->count - at < BLOCK ? run->count - at : BLOCK);
            here = records_thin(block, (uint32_t)file_read(s, run->place + at, block, here), s->level);
            file_write(s, end, block, here);
            end += here;
        }
        *run = (struct line_run){begin, end - begin};
    }
    s->end = end;
}

static void store_thin(struct line_store *s)
{
    uint64_t all = 0;
    for (int level = s->level; level < LINE_LEVELS; level++)
        all += s->held[level];
    if (all <= s->most)
        return;
    s->level = line_level_fitting(s->held, s->level, s->most);
    s->count = records_thin(s->record, s->count, s->level);
    runs_thin(s);
}

/* ---- adding ---- */

static void buffer_write(struct line_store *s)
{
    if (s->file < 0 && !s->why)
        file_make(s);
    buffer_sort(s);
    *KER_PUSH(s->run, s->runs, s->run_room) = (struct line_run){s->end, s->count};
    file_write(s, s->end, s->record, s->count);
    s->end += s->count;
    s->count = 0;
}

void line_store_add(struct line_store *s, const struct line_record *r)
{
    if (r->level < s->level)
        return;
    s->held[r->level]++;
    s->record[s->count++] = *r;
    if (s->count < BUFFER)
        return;
    store_thin(s);
    if (s->count > BUFFER / 2)
        buffer_write(s);
}

/* ---- reading ---- */

struct source {
    uint64_t place, left; /* in the file, in records */
    uint32_t at, count;
    struct line_record *record; /* BLOCK of them; of what is not in the file, all */
};

struct line_cursor {
    const struct line_store *store;
    uint8_t level;
    struct source *source;
    uint32_t *heap, sources;          /* of those that have records left */
    const struct line_record *second; /* of the heap; NULL: there is none */
    struct line_record *block;
};

/* Behind the current record, to one that is wanted; false: there is none. */
static bool source_advance(struct line_cursor *c, struct source *s)
{
    for (;;) {
        for (s->at++; s->at < s->count; s->at++)
            if (s->record[s->at].level >= c->level)
                return true;
        if (!s->left)
            return false;
        uint32_t count = (uint32_t)(s->left < BLOCK ? s->left : BLOCK);
        count = (uint32_t)file_read(c->store, s->place, s->record, count);
        if (count == 0)
            return false;
        s->place += count;
        s->left -= count;
        s->count = count;
        s->at = UINT32_MAX; /* before the first one */
    }
}

static const struct line_record *source_record(const struct line_cursor *c, uint32_t source)
{
    return &c->source[source].record[c->source[source].at];
}

static void heap_sink(struct line_cursor *c, uint32_t place)
{
    if (place >= c->sources)
        return;
    for (;;) {
        uint32_t least = place;
        for (uint32_t child = 2 * place + 1; child <= 2 * place + 2 && child < c->sources; child++)
            if (line_before(source_record(c, c->heap[child]), source_record(c, c->heap[least])))
                least = child;
        if (least == place)
            return;
        uint32_t source = c->heap[place];
        c->heap[place] = c->heap[least];
        c->heap[least] = source;
        place = least;
    }
}

/* The least of what is not the first of the heap. */
static void second_find(struct line_cursor *c)
{
    c->second = c->sources > 1 ? source_record(c, c->heap[1]) : NULL;
    if (c->sources > 2 && line_before(source_record(c, c->heap[2]), c->second))
        c->second = source_record(c, c->heap[2]);
}

struct line_cursor *line_cursor_new(struct line_store *s, uint8_t level)
{
    struct line_cursor *c = ker_alloc(sizeof *c);
    c->store = s;
    c->level = level;
    c->source = ker_alloc(((size_t)s->runs + 1) * sizeof *c->source);
    c->heap = ker_alloc(((size_t)s->runs + 1) * sizeof *c->heap);
    c->block = ker_alloc(((size_t)s->runs + 1) * BLOCK * sizeof *c->block);
    buffer_sort(s);
    for (uint32_t i = 0; i <= s->runs; i++) {
        struct source *source = &c->source[i];
        source->at = UINT32_MAX;
        if (i < s->runs) {
            source->record = c->block + (size_t)i * BLOCK;
            source->place = s->run[i].place;
            source->left = s->run[i].count;
        } else {
            source->record = s->record;
            source->count = s->count;
        }
        if (source_advance(c, source))
            c->heap[c->sources++] = i;
    }
    for (uint32_t place = c->sources; place-- > 0;)
        heap_sink(c, place);
    second_find(c);
    return c;
}

bool line_cursor_next(struct line_cursor *c, struct line_record *record)
{
    if (c->sources == 0)
        return false;
    uint32_t source = c->heap[0];
    struct source *s = &c->source[source];
    *record = s->record[s->at];
    if (!source_advance(c, s))
        c->heap[0] = c->heap[--c->sources];
    else if (!c->second || line_before(&s->record[s->at], c->second))
        return true; /* runs hardly overlap: mostly it goes on with the same one */
    heap_sink(c, 0);
    second_find(c);
    return true;
}

void line_cursor_free(struct line_cursor *c)
{
    free(c->source);
    free(c->heap);
    free(c->block);
    free(c);
}
