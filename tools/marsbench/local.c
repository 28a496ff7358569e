/* local.c - what a task does alone: copies, McCalpin's triad, and combining as MPI does it. Task 0 by itself;
 * the triad also by all tasks at once, whose slowest counts, as they share memory. */
#include "tools/marsbench/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void copy(struct bench_run *run, size_t bytes)
{
    memcpy(run->to, run->from, bytes);
    __asm__ volatile("" ::: "memory"); /* each copy is made */
}

static void combine(struct bench_run *run, size_t bytes)
{
    MPI_Reduce_local(run->from, run->to, (int)(bytes / sizeof(int32_t)), MPI_INT32_T, MPI_SUM);
}

static void triad(struct bench_run *run, size_t bytes)
{
    size_t count = bytes / (3 * sizeof(double));
    double *a = (void *)run->to, *b = (void *)run->from, *c = b + count;
    for (size_t i = 0; i < count; i++)
        a[i] = b[i] + 3.0 * c[i];
    __asm__ volatile("" ::: "memory");
}

static void size_measure(struct bench_run *run, struct bench_point *point,
                         void (*work)(struct bench_run *, size_t), size_t turns)
{
    double sample[BENCH_MOST_TURNS];
    work(run, point->bytes);
    double begin = MPI_Wtime();
    work(run, point->bytes);
    double once = fmax(MPI_Wtime() - begin, 1e-8);
    int repeats = once < 5e-6 ? (int)(5e-6 / once) + 1 : 1;
    turns = turns ? turns : bench_turns(run, once * repeats);
    for (size_t i = 0; i < turns; i++) {
        begin = MPI_Wtime();
        for (int k = 0; k < repeats; k++)
            work(run, point->bytes);
        sample[i] = (MPI_Wtime() - begin) / repeats * 1e6;
    }
    if (point->per_node > 1) {
        double slowest[BENCH_MOST_TURNS];
        MPI_Reduce(sample, slowest, (int)turns, MPI_DOUBLE, MPI_MAX, 0, run->comm);
        memcpy(sample, slowest, turns * sizeof *sample);
    }
    bench_take(run, point, sample, turns);
}

void bench_local(struct bench_run *run)
{
    struct bench_point point = {.where = BENCH_CORE, .nodes = 1, .per_node = 1};
    for (uint32_t i = 0; run->rank == 0 && (point.bytes = bench_size(run->settings, i)) > 0; i++) {
        if (point.bytes < 64)
            continue;
        point.quantity = BENCH_COPY;
        size_measure(run, &point, copy, 0);
        point.quantity = BENCH_REDUCE;
        size_measure(run, &point, combine, 0);
    }
    point.quantity = BENCH_TRIAD;
    point.bytes = run->settings->most / 48 * 48;
    if (run->rank == 0 && point.bytes)
        size_measure(run, &point, triad, 0);
    MPI_Barrier(run->comm);
    point.per_node = run->per_node;
    point.nodes = run->nodes;
    if (point.bytes && point.per_node > 1)
        size_measure(run, &point, triad, 10);
}
