/* engine_private.h - what engine.c and window.c share. */
#pragma once

#include "kernel/engine/post.h"
#include "kernel/engine/tiles.h"

struct engine_private {
    struct ker_engine_setup setup;
    uint32_t block_shift;
    ker_time into;                       /* what another rank does reaches this one so much later at least */
    ker_time done_until;                 /* everything before is handled */
    ker_time final;                      /* components may count up to here; a window never crosses it */
    ker_time checked;                    /* the last time that was checked; where a resumed run begins */
    ker_time quiet;                      /* in a check: nothing happens on any rank before */
    ker_time check[KER_CHECK_INTERVALS]; /* the next check of each interval */
    struct trial trial;
    struct tiles tiles;
    ker_time ahead; /* some tiles of a row may have been handled up to here */
    struct {
        ker_time time;
        uint64_t records;
    } waves;             /* when it was last asked whether a wave pays, and what had been handled then */
    uint32_t check_at;   /* the next of setup.check_at */
    ker_time request_at; /* requests take effect; KER_TIME_MAX: none is open */
    unsigned requests;
    uint64_t told; /* records, in earlier rounds */
    uint32_t span; /* windows that are run as one where little happens, see whole.c; 0: they never are */
    bool thin;     /* little happened in the last window */
    bool foresees; /* a class does */
    bool whole;    /* it is so that the present one is run */
    uint32_t first, list_most; /* then: the earliest of engine->inner; how long a list it may be, 0: a heap */
    bool posted;               /* at the check that is being done */
    bool broken;               /* memory is out: nothing can be handled any more */
    uint8_t *begins;           /* per component: begins a cell; NULL: each does */
    uint32_t *count;           /* per cell of a block */
    uint32_t whole_chunks;     /* of the wheel: events of a window that is run as one */
    struct ker_item *item, *spare;
    size_t item_room;
    int64_t *order; /* of the items, see items_rank_sort */
    size_t order_room;
    struct { /* the cell c of a block is the one at place (c ^ flip) x factor */
        uint32_t flip, factor, inverse;
    } turn;
    uint64_t shuffles, progress_countdown;
};

/* window.c: handles everything from start, which begins a slot of the wheel, to the end of the slot, or of
 * several that end before `limit`; at most to `boundary`. */
void engine_windows_run(struct ker_engine *, ker_time start, ker_time limit, ker_time boundary);

/* whole.c */
uint32_t engine_whole_span(const struct ker_engine_setup *, ker_time grid);
/* Everything in the wheel before the window's end, and what comes of it inside the window. */
void engine_whole_run(struct ker_engine *);
/* One more of those that come of it, when there are more than a list should have. Returns where the record of
 * an event lies. */
struct ker_event *engine_whole_heap(struct ker_engine *, struct ker_item);
