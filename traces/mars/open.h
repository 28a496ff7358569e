/* open.h - the block that is being filled, as it lies in memory and in the file "NAME.open-THREAD".
 *
 * It is of this machine's byte order and read back on the same kind of machine only. `records` is raised
 * after everything a record needs has been stored.
 */
#pragma once

#include "traces/mars/writer.h"

#define MARS_OPEN_MAGIC "marsopn1"
#define MARS_SHAPES 4096 /* of a block, at most */
#define MARS_POLLED 1024

struct mars_row { /* times in units of the resolution */
    uint64_t gap, away, duration;
    uint32_t shape;
    uint32_t polls; /* 1 + index, 0: none */
};

struct mars_open {
    char magic[8];
    uint32_t kind, task, thread, sequence;
    uint32_t records, shapes, polled, counters;
    uint64_t start_ns, before, elapsed, calls;
    uint64_t owns;        /* times of the tracer's own are recorded: from this record on, + 1 */
    uint64_t bytes, room; /* of shapes or definitions, behind this structure */
    struct mars_row row[MARS_ROWS];
    struct mars_polls poll[MARS_POLLED];
    uint64_t counted[MARS_ROWS][MARS_COUNTERS];
    uint64_t own[MARS_ROWS];   /* if `owns` */
    uint32_t end[MARS_SHAPES]; /* of each shape in `data`; it begins where the one before ends */
    uint8_t data[];
};

/* Makes the block of it. */
bool mars_open_block(const struct mars_open *, struct mars_payload *);
