/* store.c - records of this rank, in sorted runs of a temporary file that has no name any more.
 *
 * Records come nearly in the order of their time: cells are visited one after the other in short windows. A
 * full buffer is sorted by time (sort.c); the few of one time are then put into order by the rest of their
 * keys. The runs are merged when they are read, with a block of each
 * in memory.
 *
 * More records than `most` are of no use to any writer: then those of the lowest levels are dropped, from the
 * file, too. Since a rank drops only what all ranks together would have to drop, what is left at a level does
 * not depend on the ranks.
 */
#include "stats/timelines/store.h"

#include "stats/timelines/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER LINE_STORE_BUFFER
#define BLOCK 256u /* records of a run, while it is read */

void line_store_init(struct line_store *s, uint64_t most)
{
    *s = (struct line_store){.file = -1, .most = most};
    s->record = ker_alloc(BUFFER * sizeof *s->record);
}

void line_store_release(struct line_store *s)
{
    if (s->file >= 0)
        close(s->file);
    KER_FREE(s->record, s->key, s->other, s->run);
    *s = (struct line_store){.file = -1};
}

uint64_t line_store_bytes(const struct line_store *s, uint64_t *file)
{
    *file = s->most * sizeof *s->record;
    return BUFFER * (2 * sizeof *s->record + 2 * sizeof *s->key);
}

/* ---- sorting ---- */

/* Keys are a time, and behind it the place in the buffer. */
#define INDEX 15u
_Static_assert(BUFFER == 1u << INDEX, "a place has this many bits");

static const struct line_record *key_record(const struct line_record *record, uint64_t key)
{
    return &record[key & (BUFFER - 1)];
}

/* Of one time there are few, and mostly they are in order; false: there are many that do not. */
static bool ties_sort(const struct line_record *record, uint64_t *key, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint64_t one = key[i], time = one >> INDEX;
        const struct line_record *r = key_record(record, one);
        uint32_t at = i;
        if (key[i - 1] >> INDEX != time || line_ties(key_record(record, key[i - 1]), r))
            continue;
        for (; at && key[at - 1] >> INDEX == time && !line_ties(key_record(record, key[at - 1]), r); at--)
            key[at] = key[at - 1];
        key[at] = one;
        if (i - at > 64)
            return false;
    }
    return true;
}

static int record_compare(const void *a, const void *b)
{
    return line_before(a, b) ? -1 : line_before(b, a);
}

/* false: their times are too far apart, or too many are of one time. */
static bool keys_sort(struct line_store *s, uint64_t *key)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        uint64_t time = (uint64_t)s->record[i].begin;
        least = time < least ? time : least;
        most = time > most ? time : most;
    }
    unsigned bits = (s->count ? line_bits(most - least) : 0) + INDEX;
    if (bits > 64)
        return false;
    for (uint32_t i = 0; i < s->count; i++)
        key[i] = ((uint64_t)s->record[i].begin - least) << INDEX | i;
    line_sort(key, key + BUFFER, s->count, bits);
    return ties_sort(s->record, key, s->count);
}

static void buffer_sort(struct line_store *s)
{
    struct line_record *record = s->record;
    if (!s->key) {
        s->key = ker_alloc(2 * BUFFER * sizeof *s->key);
        s->other = ker_alloc(BUFFER * sizeof *s->other);
    }
    if (!keys_sort(s, s->key)) {
        qsort(record, s->count, sizeof *record, record_compare);
        return;
    }
    for (uint32_t i = 0; i < s->count; i++)
        s->other[i] = *key_record(record, s->key[i]);
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

void line_store_clear(struct line_store *s)
{
    store_thin(s);
    if (s->count > BUFFER / 2)
        buffer_write(s);
}

/* ---- reading ---- */

struct source {
    uint64_t place, left; /* in the file, in records; of what is not in the file, in the buffer */
    bool stored;          /* in the file */
    uint32_t at, count;
    struct line_record *record; /* BLOCK of them */
};

struct line_cursor {
    const struct line_store *store;
    const uint16_t *rename; /* NULL: names stay */
    uint8_t level;
    struct source *source, *first;    /* the one that has the current record; NULL before it */
    uint32_t *heap, sources;          /* of those that have records left */
    const struct line_record *second; /* of the heap; NULL: there is none */
    int64_t until;                    /* when it begins; INT64_MAX */
    struct line_record *block;
};

/* To the next record that is wanted; false: there is none. */
static bool source_fill(const struct line_cursor *c, struct source *s)
{
    for (s->at = s->count = 0; s->left && !s->count;) {
        uint32_t count = (uint32_t)(s->left < BLOCK ? s->left : BLOCK);
        if (s->stored)
            count = (uint32_t)file_read(c->store, s->place, s->record, count);
        else
            memcpy(s->record, c->store->record + s->place, count * sizeof *s->record);
        s->place += count;
        s->left = count ? s->left - count : 0;
        s->count = c->level ? records_thin(s->record, count, c->level) : count;
    }
    for (uint32_t i = 0; c->rename && i < s->count; i++)
        s->record[i].name = c->rename[s->record[i].name];
    return s->count > 0;
}

static const struct line_record *source_record(const struct line_cursor *c, uint32_t source)
{
    return &c->source[source].record[c->source[source].at];
}

/* Of the cursor c. */
#define SOONER(a, b) line_before(source_record(c, *(a)), source_record(c, *(b)))

/* The first of the heap may have changed. */
static void first_find(struct line_cursor *c)
{
    c->second = NULL;
    if (c->sources == 0)
        return;
    KER_HEAP_SINK(c->heap, c->sources, 0, c->heap[0], SOONER);
    c->first = &c->source[c->heap[0]];
    for (uint32_t child = 1; child <= 2 && child < c->sources; child++)
        if (!c->second || line_before(source_record(c, c->heap[child]), c->second))
            c->second = source_record(c, c->heap[child]);
    c->until = c->second ? c->second->begin : INT64_MAX;
}

struct line_cursor *line_cursor_new(struct line_store *s, uint8_t level, const uint16_t *rename)
{
    struct line_cursor *c = ker_alloc(sizeof *c);
    *c = (struct line_cursor){.store = s, .level = level, .rename = rename};
    c->source = ker_alloc(((size_t)s->runs + 1) * sizeof *c->source);
    c->heap = ker_alloc(((size_t)s->runs + 1) * sizeof *c->heap);
    c->block = ker_alloc(((size_t)s->runs + 1) * BLOCK * sizeof *c->block);
    buffer_sort(s);
    for (uint32_t i = 0; i <= s->runs; i++) {
        struct source *source = &c->source[i];
        *source = (struct source){.left = s->count, .record = c->block + (size_t)i * BLOCK};
        if (i < s->runs) {
            source->stored = true;
            source->place = s->run[i].place;
            source->left = s->run[i].count;
        }
        if (source_fill(c, source))
            c->heap[c->sources++] = i;
    }
    KER_HEAP_MAKE(c->heap, c->sources, SOONER);
    return c;
}

/* Runs hardly overlap: mostly it continues with the same one. */
const struct line_record *line_cursor_next(struct line_cursor *c)
{
    struct source *s = c->first;
    if (!s) {
        first_find(c);
    } else if (++s->at < s->count || source_fill(c, s)) {
        const struct line_record *r = &s->record[s->at];
        if (r->begin < c->until || (r->begin == c->until && line_before(r, c->second)))
            return r;
        first_find(c);
    } else {
        c->heap[0] = c->heap[c->sources -= c->sources > 0];
        first_find(c);
    }
    return c->sources ? source_record(c, c->heap[0]) : NULL;
}

void line_cursor_free(struct line_cursor *c)
{
    KER_FREE(c->source, c->heap, c->block, c);
}
