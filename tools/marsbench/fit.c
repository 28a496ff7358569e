/* fit.c - from measured points to parameters.
 *
 * What a point takes is linear in the parameters along its critical path; which path that is depends on them.
 * So: walk all points, fit, and walk again with what came out, until the predictions stay where they are.
 * With a system to simulate in, the fit is made again with each time divided by what the simulator takes
 * longer than the walk: by then the network's own contention, packets and headers are in it, without a search
 * by simulation.
 */
#include "tools/marsbench/fit.h"
#include "tools/marsbench/solve.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WALKS 12
#define LARGE 131072. /* bytes: a message whose time is mostly its length */

static int fitted_order(const void *left, const void *right)
{
    const struct bench_point *a = ((const struct bench_fitted *)left)->point,
                             *b = ((const struct bench_fitted *)right)->point;
    int order = bench_curve_order(a, b);
    order = order ? order : (a->bytes > b->bytes) - (a->bytes < b->bytes);
    return order ? order : (a > b) - (a < b); /* as they were read */
}

/* How much an equation counts. What calls took apart is in none: it says how a message's time divides, which
 * ping-pongs have as a whole (latency_part, parts_add). */
static double weight_of(const struct bench_point *p)
{
    switch (p->quantity) {
    case BENCH_SEND:
    case BENCH_RECEIVE:
        return 0;
    case BENCH_COPY:
    case BENCH_REDUCE: /* Small ones are the call; caches: they are no measure of how exact the others are. */
        return p->bytes < 4096 ? 0 : 0.1;
    case BENCH_STREAM: /* of small ones several overlap in ways that no overhead has */
        return p->where == BENCH_NODE && (double)p->bytes >= LARGE ? 1 : 0;
    default:
        return 1;
    }
}

/* The shortest time of the largest size up to `bytes`; 0: it was not measured. */
static double shortest(const struct bench_fit *f, enum bench_quantity quantity, enum bench_where where,
                       double bytes)
{
    double us = 0;
    uint64_t at = 0;
    for (size_t i = 0; i < f->count; i++) { /* in the order of their sizes */
        const struct bench_point *p = f->at[i].point;
        if (p->quantity != quantity || p->where != where || (double)p->bytes > bytes)
            continue;
        us = us == 0 || p->bytes > at || p->min_us < us ? p->min_us : us;
        at = p->bytes;
    }
    return us;
}

/* A ping-pong has a time of its own for each size, of which each is a knot: libraries change from one way of
 * sending to another between two of them. Collectives have messages of many sizes; behind 128 KiB the rate
 * says all, where it is to be found from them. */
static void knots_of(const struct bench_fit *f, struct bench_knots *k, const struct bench_sizes *sizes,
                     bool inside)
{
    const struct bench_known *known = &f->known;
    double own[4 * BENCH_KNOTS];
    size_t count = 0;
    for (size_t i = 0; i < f->count && count < sizeof own / sizeof *own;
         i++) { /* in the order of their sizes */
        const struct bench_point *p = f->at[i].point;
        bool other = p->quantity != BENCH_PINGPONG || p->where != (inside ? BENCH_CORE : BENCH_NODE);
        if (!other && (!count || (double)p->bytes > own[count - 1]))
            own[count++] = (double)p->bytes;
    }
    double last = known->rate > 0 || (inside && count) ? 1e15 : LARGE;
    if (known->knot.count)
        bench_knots_choose(k, known->knot.at, known->knot.count, 1, 1e15);
    else if (count)
        bench_knots_choose(k, own, count, 1, last);
    else
        bench_knots_choose(k, sizes->bytes, sizes->count, 8, last);
}

static enum ker_status knots_make(struct bench_fit *f, struct ker_error *error)
{
    struct bench_model *m = &f->model;
    struct bench_sizes sizes[2] = {{0}};
    struct bench_time t;
    m->send.count = m->receive.count = m->memory.count = 1;
    bench_knots_choose(&m->rate, f->known.rate_knot.at, f->known.rate_knot.count, 1, 1e15);
    bench_knots_choose(&m->reduce, f->known.reduce_knot.at, f->known.reduce_knot.count, 1, 1e15);
    m->adapters = f->known.adapters;
    bench_model_init(m, f->tied);
    f->used = 0;
    for (size_t i = 0; i < f->count; i++) {
        struct bench_fitted *at = &f->at[i];
        at->used = weight_of(at->point) > 0 && bench_walk(m, at->point, &t, sizes);
        f->used += at->used;
    }
    for (int s = 0; s < 2; s++) {
        if (sizes[s].count)
            gsl_sort(sizes[s].bytes, 1, sizes[s].count);
        knots_of(f, s ? &m->memory : &m->send, &sizes[s], s);
        free(sizes[s].bytes);
    }
    m->receive = m->send;
    bench_model_init(m, f->tied);
    return f->used
               ? KER_OK
               : ker_fail(error, KER_BAD_INPUT,
                          "none of the %zu points has an algorithm that can be fitted (marssim --list names "
                          "algorithms)",
                          f->count);
}

static void given_set(struct bench_model *m, size_t param, double value)
{
    m->param[param].value = value;
    m->param[param].state = BENCH_GIVEN;
}

static const struct bench_point *pingpong_first(const struct bench_fit *f, enum bench_where where)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->at[i].point->quantity == BENCH_PINGPONG && f->at[i].point->where == where)
            return f->at[i].point;
    return NULL;
}

/* What of the smallest message is not in its two calls is latency, where that is not given. */
static void latency_part(struct bench_fit *f, enum bench_where where, size_t param)
{
    const struct bench_point *first = pingpong_first(f, where);
    double bytes = first ? (double)first->bytes : 0, send = shortest(f, BENCH_SEND, where, bytes),
           receive = shortest(f, BENCH_RECEIVE, where, bytes);
    if (first && send > 0 && receive > 0 && f->model.param[param].state != BENCH_GIVEN)
        given_set(&f->model, param, fmax(first->min_us - send - receive, 0));
}

/* Inside a node every size of a ping-pong is a knot, so that overheads could stand for the rate as well: it
 * is the slowest with which no overhead of a large message is negative, or smaller than that of the size
 * before. */
static void memory_rate_part(struct bench_fit *f)
{
    struct bench_model *m = &f->model;
    const struct bench_point *before = NULL;
    double least = INFINITY;                /* us per byte */
    for (size_t i = 0; i < f->count; i++) { /* in the order of their sizes */
        const struct bench_point *p = f->at[i].point;
        double bytes = (double)p->bytes, latencies = bytes > m->eager ? 3 : 1;
        if (p->quantity != BENCH_PINGPONG || p->where != BENCH_CORE || bytes < 4096)
            continue;
        least = fmin(least, (p->min_us - latencies * m->param[m->memory_latency].value) / bytes);
        if (before && bytes > (double)before->bytes && (double)before->bytes >= LARGE)
            least = fmin(least, (p->min_us - before->min_us) / (bytes - (double)before->bytes));
        before = p;
    }
    struct bench_param *rate = &m->param[m->memory_rate];
    if (isfinite(least))
        given_set(m, m->memory_rate, fmin(fmax(least, rate->least), rate->most));
}

static void known_set(struct bench_fit *f)
{
    struct bench_model *m = &f->model;
    m->eager = f->known.eager;
    m->adapters = f->known.adapters;
    /* Messages of collectives have overhead and latency in one sum. */
    if (f->known.latency_us > 0 || f->tied)
        given_set(m, m->latency, f->known.latency_us);
    latency_part(f, BENCH_NODE, m->latency);
    latency_part(f, BENCH_CORE, m->memory_latency);
    memory_rate_part(f);
    if (f->known.rate <= 0)
        return;
    given_set(m, m->rate.first, 1e6 / f->known.rate);
    for (size_t i = 1; i < m->rate.count; i++) /* adapters may be slower than the network */
        m->param[m->rate.first + i].value = m->param[m->rate.first + i].least = 1e6 / f->known.rate;
}

/* The equations of the used points by the parameters of now; *moved: the largest relative change of a
 * prediction. */
static size_t equations_make(struct bench_fit *f, struct bench_time *time, struct bench_equation *e,
                             double *moved)
{
    size_t count = 0;
    struct bench_model *m = &f->model;
    *moved = 0;
    for (size_t i = 0; i < f->count; i++) {
        struct bench_fitted *at = &f->at[i];
        if (!at->used)
            continue;
        struct bench_time *t = &time[count];
        bench_walk(m, at->point, t, NULL);
        *moved = fmax(*moved, fabs(at->predicted_us / t->us - 1));
        double measured = at->point->min_us;
        if (at->simulated_us > 0)
            measured *= t->us / at->simulated_us;
        at->predicted_us = t->us;
        e[count++] = (struct bench_equation){t->row, measured, weight_of(at->point) / measured};
    }
    return count;
}

/* Send and receive at a knot are to each other as they were measured apart, where nothing else parts them:
 * equations of little weight. */
static size_t parts_add(const struct bench_fit *f, struct bench_time *time, struct bench_equation *e,
                        size_t count)
{
    const struct bench_model *m = &f->model;
    for (size_t k = 0; !f->tied && k < m->send.count; k++) {
        double bytes = fmax(m->send.bytes[k], 1), send = shortest(f, BENCH_SEND, BENCH_NODE, bytes),
               receive = shortest(f, BENCH_RECEIVE, BENCH_NODE, bytes), both = send + receive;
        time[count] = (struct bench_time){.us = 0};
        time[count].row[m->send.first + k] = both > 0 ? receive / both : 0.5;
        time[count].row[m->receive.first + k] = both > 0 ? -send / both : -0.5;
        e[count] = (struct bench_equation){time[count].row, 0, 0.01 / (1 + bytes * 1e-4)};
        count++;
    }
    return count;
}

static void states_reset(struct bench_model *m, const struct bench_equation *e, size_t count)
{
    for (size_t p = 0; p < m->params; p++) {
        double most = 0;
        for (size_t i = 0; i < count; i++)
            most = fmax(most, fabs(e[i].row[p]));
        if (m->param[p].state != BENCH_GIVEN)
            m->param[p].state = most > 0 ? BENCH_FREE : BENCH_UNUSED;
    }
}

/* simulated_us, where it is not 0, belongs to predicted_us; ratios stay as they are during the walks. */
static enum ker_status walks_fit(struct bench_fit *f, struct ker_error *error)
{
    struct bench_time *time = ker_alloc((f->used + BENCH_KNOTS) * sizeof *time);
    struct bench_equation *e = ker_alloc((f->used + BENCH_KNOTS) * sizeof *e);
    double *ratio = ker_alloc(f->count * sizeof *ratio), moved = 1;
    for (size_t i = 0; i < f->count; i++)
        ratio[i] = f->at[i].simulated_us > 0 ? f->at[i].simulated_us / f->at[i].predicted_us : 0;
    enum ker_status status = KER_OK;
    for (int walk = 0; walk <= WALKS && status == KER_OK; walk++) {
        size_t count = equations_make(f, time, e, &moved);
        if (walk == WALKS || (walk > 0 && moved <= 1e-4))
            break;
        states_reset(&f->model, e, count);
        count = parts_add(f, time, e, count);
        status = bench_solve(&f->model, e, count, &f->condition, error);
        for (size_t i = 0; i < f->count; i++) {
            struct bench_time t;
            if (f->at[i].used && ratio[i] > 0 && bench_walk(&f->model, f->at[i].point, &t, NULL))
                f->at[i].simulated_us = ratio[i] * t.us;
        }
    }
    free(time);
    free(e);
    free(ratio);
    return status;
}

static enum ker_status simulations_fit(struct bench_fit *f, struct ker_error *error)
{
    enum ker_status status = bench_check(f, error);
    for (int round = 0; round < f->known.rounds && status == KER_OK; round++)
        if ((status = walks_fit(f, error)) == KER_OK)
            status = bench_check(f, error);
    return status;
}

enum ker_status bench_fit_make(struct bench_fit *f, const struct bench_points *points,
                               const struct bench_known *known, struct ker_error *error)
{
    *f = (struct bench_fit){
        .known = *known, .at = ker_alloc((points->count + 1) * sizeof *f->at), .tied = true};
    bool send = false, receive = false;
    for (size_t i = 0; i < points->count; i++) {
        const struct bench_point *p = &points->point[i];
        if (p->quantity == BENCH_EAGER) {
            if (known->eager <= 0 && (f->known.eager <= 0 || p->where == BENCH_NODE))
                f->known.eager = (double)p->bytes;
            continue;
        }
        f->at[f->count++].point = p;
        send |= p->quantity == BENCH_SEND && p->where == BENCH_NODE;
        receive |= p->quantity == BENCH_RECEIVE && p->where == BENCH_NODE;
    }
    f->tied = !(send && receive);
    if (f->known.eager <= 0)
        f->known.eager = 8192; /* mpi.eager_limit's default */
    qsort(f->at, f->count, sizeof *f->at, fitted_order);
    if (f->count == 0)
        return ker_fail(error, KER_BAD_INPUT, "there are no points to fit; --select may have left none");
    if (f->known.system && f->known.latency_us <= 0 && bench_network_find(&f->known, error) != KER_OK)
        return KER_BAD_INPUT;
    enum ker_status status = knots_make(f, error);
    if (status == KER_OK) {
        known_set(f);
        status = walks_fit(f, error);
    }
    if (status == KER_OK && f->known.system)
        status = simulations_fit(f, error);
    return status;
}

void bench_fit_release(struct bench_fit *f)
{
    free(f->at);
    f->at = NULL;
}
