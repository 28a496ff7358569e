/* solve.h - linear least squares that few wrong points do not spoil, with bounds. */
#pragma once

#include "tools/marsbench/model.h"

/* One equation: the parameters' parts in a time, and the time (without what is in no parameter). */
struct bench_equation {
    const double *row; /* of model->params */
    double us, weight; /* weight: of the error, 1 / us: relative ones */
};

/* Finds the free parameters: relative errors, robust (bisquare weights: GSL's multifit_robust). A parameter
 * beyond its bound is put there, and what the equations do not determine stays at its value; their states say
 * so. *condition: of the equations with columns of equal length. KER_BAD_INPUT: fewer equations than
 * parameters. */
enum ker_status bench_solve(struct bench_model *, const struct bench_equation *, size_t count,
                            double *condition, struct ker_error *);
