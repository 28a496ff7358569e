/* solve.c - linear least squares that few wrong points do not spoil, with bounds.
 *
 * First the free columns are scaled to one
 * length; as long as the smallest singular value is as good as nothing, the parameter with the largest part
 * in its vector is not determined and stays where it is. Then GSL's robust fit; the parameter that is the
 * farthest beyond a bound is put there and the rest fitted again, until none is beyond (an active set that
 * only grows, which is exact for one bound and near enough for several: what is at a bound is reported).
 */
#include "tools/marsbench/solve.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdlib.h>

#define NOTHING 1e-5 /* smallest singular value / largest that is still something */

struct system {
    gsl_matrix *a;
    gsl_vector *b;
    size_t *param; /* of each column */
    size_t columns;
};

static void system_free(struct system *s)
{
    gsl_matrix_free(s->a);
    gsl_vector_free(s->b);
    free(s->param);
}

/* The free columns, and what is left when the others are at their values. */
static struct system system_make(const struct bench_model *m, const struct bench_equation *e, size_t count)
{
    struct system s = {.param = ker_alloc((m->params + 1) * sizeof *s.param)};
    for (size_t p = 0; p < m->params; p++)
        if (m->param[p].state == BENCH_FREE)
            s.param[s.columns++] = p;
    s.a = gsl_matrix_alloc(count, s.columns ? s.columns : 1);
    s.b = gsl_vector_alloc(count);
    for (size_t i = 0; i < count; i++) {
        double left = e[i].us, scale = e[i].weight;
        for (size_t p = 0; p < m->params; p++)
            if (m->param[p].state != BENCH_FREE)
                left -= e[i].row[p] * m->param[p].value;
        gsl_vector_set(s.b, i, left * scale);
        for (size_t c = 0; c < s.columns; c++)
            gsl_matrix_set(s.a, i, c, e[i].row[s.param[c]] * scale);
    }
    return s;
}

/* Columns of length 1: *worst is the parameter with the largest part in the smallest singular vector. */
static double condition_find(const struct system *s, size_t rows, size_t *worst)
{
    gsl_matrix *a = gsl_matrix_alloc(rows > s->columns ? rows : s->columns, s->columns);
    gsl_matrix *v = gsl_matrix_alloc(s->columns, s->columns);
    gsl_vector *singular = gsl_vector_alloc(s->columns), *work = gsl_vector_alloc(s->columns);
    gsl_matrix_set_zero(a);
    for (size_t c = 0; c < s->columns; c++) {
        double length = 0;
        for (size_t i = 0; i < rows; i++)
            length = hypot(length, gsl_matrix_get(s->a, i, c));
        for (size_t i = 0; i < rows && length > 0; i++)
            gsl_matrix_set(a, i, c, gsl_matrix_get(s->a, i, c) / length);
    }
    gsl_linalg_SV_decomp(a, v, singular, work);
    size_t last = s->columns - 1, at = 0;
    for (size_t c = 0; c < s->columns; c++)
        if (fabs(gsl_matrix_get(v, c, last)) > fabs(gsl_matrix_get(v, at, last)) + 1e-9)
            at = c;
    *worst = s->param[at];
    double condition = gsl_vector_get(singular, 0) / fmax(gsl_vector_get(singular, last), 1e-300);
    gsl_matrix_free(a);
    gsl_matrix_free(v);
    gsl_vector_free(singular);
    gsl_vector_free(work);
    return condition;
}

/* Fits the free columns; the values go to the model, in and beyond their bounds. */
static void columns_fit(struct bench_model *m, const struct system *s, size_t rows)
{
    gsl_vector *c = gsl_vector_alloc(s->columns);
    gsl_matrix *cov = gsl_matrix_alloc(s->columns, s->columns);
    int status;
    if (rows == s->columns) { /* nothing is left to be robust by */
        double squares;
        gsl_multifit_linear_workspace *w = gsl_multifit_linear_alloc(rows, rows);
        status = gsl_multifit_linear(s->a, s->b, c, cov, &squares, w);
        gsl_multifit_linear_free(w);
        gsl_matrix_set_zero(cov);
    } else {
        gsl_multifit_robust_workspace *w =
            gsl_multifit_robust_alloc(gsl_multifit_robust_bisquare, rows, s->columns);
        gsl_multifit_robust_maxiter(200, w);
        status = gsl_multifit_robust(s->a, s->b, c, cov, w); /* GSL_EMAXITER: as near as it comes */
        gsl_multifit_robust_free(w);
    }
    bool sound = status == GSL_SUCCESS || status == GSL_EMAXITER;
    for (size_t i = 0; i < s->columns && sound; i++) {
        struct bench_param *p = &m->param[s->param[i]];
        if (isfinite(gsl_vector_get(c, i)))
            p->value = gsl_vector_get(c, i);
        p->error = sqrt(fmax(gsl_matrix_get(cov, i, i), 0));
    }
    gsl_matrix_free(cov);
    gsl_vector_free(c);
}

/* Puts the one that is the farthest beyond at its bound; false: none is beyond. */
static bool bound_take(struct bench_model *m)
{
    double most = 0;
    struct bench_param *worst = NULL;
    for (size_t i = 0; i < m->params; i++) {
        struct bench_param *p = &m->param[i];
        double beyond = fmax(p->least - p->value, p->value - p->most) / (fabs(p->value) + p->least + 1e-12);
        if (p->state == BENCH_FREE && beyond > most) {
            most = beyond;
            worst = p;
        }
    }
    if (!worst)
        return false;
    worst->state = worst->value < worst->least ? BENCH_AT_LEAST : BENCH_AT_MOST;
    worst->value = worst->value < worst->least ? worst->least : worst->most;
    worst->error = 0;
    return true;
}

enum ker_status bench_solve(struct bench_model *m, const struct bench_equation *e, size_t count,
                            double *condition, struct ker_error *error)
{
    gsl_error_handler_t *before = gsl_set_error_handler_off();
    enum ker_status status = KER_OK;
    *condition = 1;
    for (bool again = true; again && status == KER_OK;) {
        struct system s = system_make(m, e, count);
        size_t worst;
        if (s.columns == 0)
            again = false;
        else if (count < s.columns)
            status = ker_fail(error, KER_BAD_INPUT,
                              "%zu points for %zu parameters: at least as many points as parameters are "
                              "needed; fewer knots "
                              "(--knots), or what is known (--latency, --rate), make them fewer",
                              count, s.columns);
        else if ((*condition = condition_find(&s, count, &worst)) > 1 / NOTHING)
            m->param[worst].state = BENCH_UNDETERMINED;
        else {
            columns_fit(m, &s, count);
            again = bound_take(m);
        }
        system_free(&s);
    }
    gsl_set_error_handler(before);
    return status;
}
