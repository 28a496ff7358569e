/* store.h - the records of one rank: kept in a temporary file, in sorted runs, thinned where there are more
 * than can be of use. Inside stats/timelines/.
 */
#ifndef STATS_TIMELINES_STORE_H
#define STATS_TIMELINES_STORE_H

#include "stats/timelines/record.h"

struct line_run {
    uint64_t place, count; /* where it begins in the file, in records; how many there are */
};

/* For sorting. */
struct line_key {
    uint64_t time;
    uint32_t index;
};

struct line_store {
    struct line_record *record; /* not sorted yet */
    struct line_record *other;  /* as much room, once it is needed */
    struct line_key *key;       /* twice as many */
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
void line_store_add(struct line_store *, const struct line_record *);
/* Memory at most, without what reading takes; and of the temporary file. */
uint64_t line_store_bytes(const struct line_store *, uint64_t *file);
/* The least level from `level` on of which there are at most so many records. */
uint8_t line_level_fitting(const uint64_t held[LINE_LEVELS], uint8_t level, uint64_t most);

/* All records from `level` on, in their order. Nothing may be added meanwhile. */
struct line_cursor;
struct line_cursor *line_cursor_new(struct line_store *, uint8_t level);
bool line_cursor_next(struct line_cursor *, struct line_record *);
void line_cursor_free(struct line_cursor *);

#endif
