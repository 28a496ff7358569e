/* writer.h - writes the calls of one thread of a task, or the definitions of a task, as blocks of a trace
 * file.
 *
 * A call's *shape* is what is called and with what: all but its times. Each shape is stored once a block.
 * Times are given in nanoseconds and become multiples of the resolution without drift.
 *
 * The block that is not full yet lies in a file of its own beside the trace ("NAME.open-THREAD"), mapped into
 * memory: when the task is killed it survives, and readers take it as the last block. One thread uses a
 * writer at a time; writers of one file may be used by several threads at the same time, since blocks are
 * appended by one write each.
 */
#pragma once

#include "traces/mars/block.h"

#define MARS_DEFINITIONS 0xffff /* the thread number of definitions */
#define MARS_ROWS 16384         /* records of a block */
#define MARS_COUNTERS 4         /* hardware counters, at most */

struct mars_writer_setup {
    int file;         /* open for appending; the head is written */
    const char *path; /* of the file */
    uint32_t task;
    uint16_t thread;
    uint64_t resolution_ns; /* at least 1 */
    unsigned counters;      /* hardware counters of each computation */
    int level;              /* of zstd */
};

struct mars_writer;

/* NULL and errno set: no memory, or the open block cannot be made. */
struct mars_writer *mars_writer_new(const struct mars_writer_setup *);
/* Writes what is left, removes the open block's file, frees the writer. False: something could not be
 * written. */
bool mars_writer_close(struct mars_writer *);
/* Writes the block as it is. */
bool mars_writer_flush(struct mars_writer *);
/* Will the next call with a shape of this many bytes first have the block written? For who keeps own time
 * apart. */
bool mars_writer_full(const struct mars_writer *, size_t bytes);

struct mars_times {
    uint64_t gap;      /* computation before the call: wall time, ns */
    uint64_t away;     /* of that, the thread was not on a processor; 0 when there is one clock */
    uint64_t duration; /* of the call: wall time */
    uint64_t own; /* since the call before was over: what is in no other time; 0 where that does not matter */
    const uint64_t *
        counted; /* setup.counters numbers: what the computation counted (polls: with what is between them) */
};

struct mars_polls {
    uint64_t count; /* calls, at least 2 */
    uint64_t rest;  /* ns between the first and the last of them outside MPI */
};

/* The time of day when the first computation of the block begins is asked for by this, once a block. */
typedef uint64_t mars_time_of_day(void);

/* Adds a call; `shape` is as in docs/trace-format.md; its flag of polls says whether there are `polls`, else
 * NULL. The calls of folded polls all have the same shape: duration is the sum of theirs, gap is that before
 * the first. */
void mars_writer_call(struct mars_writer *, const uint8_t *shape, size_t bytes, const struct mars_times *,
                      const struct mars_polls *polls, mars_time_of_day *);
/* Adds a definition (only to a writer of definitions). */
void mars_writer_define(struct mars_writer *, unsigned kind, const uint8_t *data, size_t bytes);

/* What the open block in `map` would be as a block: appended to `payload`'s start like any. False: there is
 * nothing in it, or it is damaged. */
bool mars_open_encode(const void *map, size_t bytes, struct mars_payload *payload);
