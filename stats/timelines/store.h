/* store.h - the records of one rank: kept in a temporary file, in sorted runs, thinned where there are more
 * than can be of use. Inside stats/timelines/.
 */
#pragma once

#include "stats/timelines/record.h"

struct line_run {
    uint64_t place, count; /* where it begins in the file, in records; how many there are */
};

#define LINE_STORE_BUFFER 32768u /* records: 1.8 MB, and twice 0.25 MB for sorting */

struct line_store {
    struct line_record *record; /* not sorted yet */
    struct line_record *other;  /* as much room, once it is needed */
    uint64_t *key;              /* twice as many: for sorting */
    uint32_t count;
    int file; /* -1: none so far */
    struct line_run *run;
    uint32_t runs, run_room;
    uint64_t end;               /* of the file, in records */
    uint64_t most;              /* records of all levels that are kept */
    uint64_t held[LINE_LEVELS]; /* records by level */
    uint8_t level;              /* what is below has been dropped */
    int why;                    /* errno of the first failure of the file */
};

void line_store_init(struct line_store *, uint64_t most);
void line_store_release(struct line_store *);
void line_store_clear(struct line_store *); /* of a full buffer, at least half */
/* Where a record of this level is to be written before anything else happens to the store; NULL: it is not
 * wanted. */
static inline struct line_record *line_store_room(struct line_store *s, uint8_t level)
{
    if (__builtin_expect(s->count == LINE_STORE_BUFFER, 0))
        line_store_clear(s);
    if (level < s->level)
        return NULL;
    s->held[level]++;
    return &s->record[s->count++];
}
static inline void line_store_add(struct line_store *s, const struct line_record *r)
{
    struct line_record *room = line_store_room(s, r->level);
    if (room)
        *room = *r;
}
/* Memory at most, without what reading takes; and of the temporary file. */
uint64_t line_store_bytes(const struct line_store *, uint64_t *file);
/* The least level from `level` on of which there are at most this many records. */
uint8_t line_level_fitting(const uint64_t held[LINE_LEVELS], uint8_t level, uint64_t most);

/* All records from `level` on, in their order. Nothing may be added meanwhile. rename: functions by the
 * store's numbers -> those wanted; NULL: the same. A record stays until the next one is asked for; NULL:
 * there is none. */
struct line_cursor;
struct line_cursor *line_cursor_new(struct line_store *, uint8_t level, const uint16_t *rename);
const struct line_record *line_cursor_next(struct line_cursor *);
void line_cursor_free(struct line_cursor *);
