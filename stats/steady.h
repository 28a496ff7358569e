/* steady.h - the mean of values that follow each other, seen in windows, and how wrong it may be. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How many of n values to leave out at the beginning, at most half: MSER, the marginal standard error rule
 * (White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69, 1997):
 * what makes the sum of squares about the mean of those that are left, over the square of their number,
 * least. */
uint32_t stats_mser(const double *value, uint32_t n);

/* Values in windows, one after the other: window w has those from begin[w] to begin[w + 1] - 1. */
struct stats_windows {
    uint32_t windows, room;
    uint32_t *begin; /* windows + 1 */
    double *value;
    uint32_t values;
};

struct stats_steady {
    double mean, deviation; /* of the values */
    /* As if they were independent: the mean of n further values deviates by this over the square root of n.
     * The larger of what batches and windows say. */
    double sigma;
    double half;        /* of the mean's interval, the larger of two; infinite: with one window */
    double apart;       /* that of the windows' means */
    uint32_t batch;     /* values in one */
    uint32_t batches;   /* 0: with 10 of them they depend on each other, so that there are too few values */
    double correlation; /* of successive batches */
    bool trend;         /* batches grow or shrink along the values, at 99 % */
};

/* Batch means: batches are doubled until their correlation at lag 1 is below 0.2 (Law & Kelton, "Simulation
 * modeling and analysis", 9.5.3), as long as there are 10, and while it is below -0.2, as long as there are
 * 20; of still larger ones the widest interval counts. Windows: of their means by Student. */
struct stats_steady stats_steady(const struct stats_windows *, double level);

/* Of two values for the degrees of freedom, Student's: half of the interval is this many standard errors. */
double stats_student(double level, uint32_t freedom);
