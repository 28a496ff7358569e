/* points.h - measured points: what marsbench writes, and what --fit reads.
 *
 * A point is a time for a size. Sizes of collectives are those of the full vector: what every task holds
 * (allreduce, reduce, bcast), the gathered result (allgather), what one task sends (alltoall), the root's
 * buffer (gather, scatter), a task's input (reduce_scatter); so a block is bytes / tasks. Three forms of text
 * are read: our own CSV, CSV with the columns of PICO's curves (collectives only), and what OSU's benchmarks
 * print.
 */
#pragma once

#include "kernel/base/base.h"

#include <stdio.h>

enum bench_quantity {
    BENCH_COLLECTIVE,
    BENCH_PINGPONG, /* half a round trip */
    BENCH_STREAM,   /* of one message in a stream of many */
    BENCH_SEND,     /* the processor's time for a send; for a receive */
    BENCH_RECEIVE,
    BENCH_COPY,   /* memcpy() of this many bytes */
    BENCH_TRIAD,  /* a = b + s c, of three vectors with this many bytes together */
    BENCH_REDUCE, /* this many bytes of a vector combined with another */
    BENCH_EAGER,  /* the largest message that a send does not wait for its receiver with; no time */
    BENCH_QUANTITIES
};

/* How far apart the two tasks of a point are; of collectives always BENCH_NODE. */
enum bench_where { BENCH_CORE, BENCH_SOCKET, BENCH_NODE, BENCH_WHERES };

struct bench_point {
    enum bench_quantity quantity;
    enum bench_where where;
    char collective[24], algorithm[40];
    char key[256]; /* KEY=VALUE for its simulation; "": none */
    uint32_t nodes, per_node;
    uint64_t bytes, iterations;
    double min_us, median_us, p90_us; /* of all starts; the latter two may be 0: not known */
    double spread;                    /* largest minimum of a start / smallest - 1 */
    uint32_t starts;
};

struct bench_points {
    struct bench_point *point;
    size_t count, room;
};

/* Which rows of a CSV file are taken: those with this text in this column. */
struct bench_select {
    const char *column, *value;
};

/* What is in no file of OSU: FILE@nodes=16,ranks_per_node=1,algorithm=ring,where=node. */
struct bench_facts {
    uint32_t nodes, per_node;
    char algorithm[40];
    enum bench_where where;
};

extern const char *const bench_quantity_names[BENCH_QUANTITIES];
extern const char *const bench_where_names[BENCH_WHERES];

/* "FILE@KEY=VALUE,..." in place; *file ends where the facts begin. */
enum ker_status bench_facts_read(char *file, struct bench_facts *, struct ker_error *);
/* Adds the points of a text, of whichever form. KER_BAD_INPUT with file, line and what would be right. */
enum ker_status bench_points_parse(struct bench_points *, const char *file, const char *text, size_t length,
                                   const struct bench_select *, size_t selects, const struct bench_facts *,
                                   struct ker_error *);
enum ker_status bench_csv_parse(struct bench_points *, const struct ker_lines *, const struct bench_select *,
                                size_t selects);
/* 0: of one curve: same quantity, place, collective, algorithm and tasks. */
int bench_curve_order(const struct bench_point *, const struct bench_point *);
/* Our own CSV; false: it could not be written. */
bool bench_points_write(const struct bench_points *, FILE *);
void bench_points_release(struct bench_points *);
