/* measure.h - measuring this machine, by all tasks of an MPI program together. */
#pragma once

#include "tools/marsbench/points.h"

#include <mpi.h>

enum bench_part { BENCH_MESSAGES, BENCH_OVERHEADS, BENCH_COLLECTIVES, BENCH_LOCAL, BENCH_PARTS };
extern const char *const bench_part_names[BENCH_PARTS];

struct bench_settings {
    uint32_t starts;
    double seconds;       /* for each point of each start */
    uint64_t least, most; /* bytes */
    bool part[BENCH_PARTS];
    char *const *algorithm; /* "allreduce=ring": what the user's environment makes of a collective */
    size_t algorithms;
};

/* A point and all its samples. */
struct bench_series {
    struct bench_point point;
    double *sample; /* us */
    size_t samples;
    double least, most; /* smallest and largest minimum of a start */
};

struct bench_run {
    const struct bench_settings *settings;
    MPI_Comm world, comm; /* comm: of this start */
    int rank, size;
    int *node, *socket; /* of each task */
    uint32_t nodes, per_node;
    int pair[BENCH_WHERES][2];    /* tasks so far apart; [0] < 0: there are none */
    uint64_t eager[BENCH_WHERES]; /* of the start before; 0: not known */
    char *from, *to;              /* buffers of this start */
    struct bench_series *series;  /* on rank 0 */
    size_t count;
};

/* Measures; points on rank 0 only. false: it cannot be, and rank 0 has said why. Collective. */
bool bench_measure(const struct bench_settings *, struct bench_points *);

/* series.c. Rank 0: samples of a start. Of one with the same key all are one point. */
void bench_take(struct bench_run *, const struct bench_point *, const double *sample, size_t samples);
/* The points of all starts; the samples are freed. */
void bench_points_make(struct bench_run *, struct bench_points *);
/* The sizes to measure: 1 and powers of two from 8 on; 0 behind the last. */
uint64_t bench_size(const struct bench_settings *, uint32_t index);
/* How many turns of this length are measured in a start. */
size_t bench_turns(const struct bench_run *, double seconds);
/* Does nothing for so long. */
void bench_spin(double seconds);
#define BENCH_MOST_TURNS 1000

/* messages.c, overheads.c: between the two tasks of a pair; others do nothing. A start's share of a point. */
void bench_messages(struct bench_run *, enum bench_where);
void bench_overheads(struct bench_run *, enum bench_where);
/* collectives.c, local.c: all tasks. */
void bench_collectives(struct bench_run *);
void bench_local(struct bench_run *);
