/* report.c - what came out of a fit: parameters with how sure they are, and residuals curve by curve, worst
 * first. */
#include "tools/marsbench/fit.h"

#include <math.h>
#include <stdlib.h>

static void param_show(const struct bench_param *p, FILE *out)
{
    static const char *const state[] = {"",
                                        "",
                                        "given, or measured apart",
                                        "not determined by the points: assumed",
                                        "at its lower bound",
                                        "at its upper bound"};
    char value[32], spread[48] = "";
    if (p->state == BENCH_UNUSED)
        return;
    if (p->rate)
        ker_print_rate(value, 1e6 / p->value);
    else
        ker_print_time(value, (ker_time)llround(p->value * 1e6));
    double part = p->value > 0 ? p->error / p->value : 0;
    if (p->state == BENCH_FREE)
        snprintf(spread, sizeof spread, "+- %.1f %%%s", 100 * part, part > 0.3 ? " (poorly determined)" : "");
    const char *said = p->state == BENCH_AT_LEAST && p->rate  ? "as fast as its bound"
                       : p->state == BENCH_AT_MOST && p->rate ? "as slow as its bound"
                                                              : state[p->state];
    fprintf(out, "  %-28s %12s  %s%s\n", p->name, value, spread, said);
}

/* Those of one state in one warning: their names, of many the first ones. */
static void params_warn(const struct bench_model *m, bool (*is)(const struct bench_param *), const char *what)
{
    size_t found = 0;
    for (size_t p = 0; p < m->params; p++) {
        if (!is(&m->param[p]))
            continue;
        if (found == 0)
            fprintf(stderr, "marsbench: warning: %s: ", what);
        if (found < 6)
            fprintf(stderr, "%s%s", found ? ", " : "", m->param[p].name);
        found++;
    }
    if (found > 6)
        fprintf(stderr, " and %zu more", found - 6);
    if (found)
        fputc('\n', stderr);
}

static bool is_undetermined(const struct bench_param *p)
{
    return p->state == BENCH_UNDETERMINED;
}

static bool is_poor(const struct bench_param *p)
{
    return p->state == BENCH_FREE && p->error > 0.3 * p->value;
}

static bool is_left_out(const struct bench_param *p)
{
    return p->state == BENCH_AT_LEAST && p->rate;
}

static bool is_at_bound(const struct bench_param *p)
{
    return p->state == BENCH_AT_MOST || (p->state == BENCH_AT_LEAST && !p->rate);
}

static void fit_warn(const struct bench_fit *f)
{
    const struct bench_model *m = &f->model;
    if (f->tied && f->known.latency_us <= 0 && m->param[m->send.first].state != BENCH_UNUSED)
        fprintf(stderr,
                "marsbench: warning: the overheads have the network's latency in them, as the points do not "
                "part the two: give --latency or --system\n");
    params_warn(m, is_undetermined, "not determined by the points, but assumed");
    params_warn(m, is_poor, "poorly determined (standard error above 30 %)");
    params_warn(m, is_left_out, "as fast as its bound, so that by the points it costs nothing");
    params_warn(m, is_at_bound, "at its bound");
}

struct curve {
    size_t from, to, points, worst;
    double sum, most, simulated_sum, simulated_most;
    size_t simulated;
};

static struct curve curve_sum(const struct bench_fit *f, size_t from)
{
    struct curve c = {.from = from, .to = from, .worst = from};
    while (c.to < f->count && bench_curve_order(f->at[from].point, f->at[c.to].point) == 0) {
        const struct bench_fitted *at = &f->at[c.to];
        double error = fabs(at->predicted_us / at->point->min_us - 1);
        if (at->used) {
            c.points++;
            c.sum += error;
            c.worst = error > c.most ? c.to : c.worst;
            c.most = fmax(c.most, error);
        }
        if (at->simulated_us > 0) {
            double off = fabs(at->simulated_us / at->point->min_us - 1);
            c.simulated++;
            c.simulated_sum += off;
            c.simulated_most = fmax(c.simulated_most, off);
        }
        c.to++;
    }
    return c;
}

static int curve_order(const void *left, const void *right)
{
    const struct curve *a = left, *b = right;
    double x = a->points ? a->sum / (double)a->points : -1, y = b->points ? b->sum / (double)b->points : -1;
    return x != y ? (x < y) - (x > y) : (a->from > b->from) - (a->from < b->from);
}

static void curve_show(const struct bench_fit *f, const struct curve *c, FILE *out)
{
    const struct bench_point *p = f->at[c->from].point;
    char name[120], size[32];
    if (p->quantity == BENCH_COLLECTIVE)
        snprintf(name, sizeof name, "%s %s, %u x %u", p->collective, p->algorithm, p->nodes, p->per_node);
    else
        snprintf(name, sizeof name, "%s, %s", bench_quantity_names[p->quantity], bench_where_names[p->where]);
    fprintf(out, "  %-52s %6zu", name, c->to - c->from);
    if (!c->points)
        fprintf(out, "  not in the fit");
    else
        fprintf(out, "  %6.1f %%  %6.1f %% at %s", 100 * c->sum / (double)c->points, 100 * c->most,
                ker_print_bytes(size, (double)f->at[c->worst].point->bytes));
    if (c->simulated)
        fprintf(out, "; simulated %.1f %%, worst %.1f %%", 100 * c->simulated_sum / (double)c->simulated,
                100 * c->simulated_most);
    fputc('\n', out);
}

static void points_show(const struct bench_fit *f, FILE *out)
{
    fprintf(out, "simulated beside measured:\n  %-14s %-26s %-9s %10s %12s %12s %12s  error\n", "what",
            "algorithm", "nodes", "bytes", "measured us", "model us", "simulated us");
    for (size_t i = 0; i < f->count; i++) {
        const struct bench_fitted *at = &f->at[i];
        const struct bench_point *p = at->point;
        if (at->simulated_us > 0)
            fprintf(out, "  %-14s %-26s %4u x %-2u %10llu %12.6g %12.6g %12.6g  %+.1f %%\n",
                    p->quantity == BENCH_COLLECTIVE ? p->collective : bench_quantity_names[p->quantity],
                    p->quantity == BENCH_COLLECTIVE ? p->algorithm : bench_where_names[p->where], p->nodes,
                    p->per_node, (unsigned long long)p->bytes, p->min_us, at->predicted_us, at->simulated_us,
                    100 * (at->simulated_us / p->min_us - 1));
    }
}

void bench_fit_report(const struct bench_fit *f, FILE *out)
{
    fprintf(out, "parameters of %zu points, condition %.3g%s:\n", f->used, f->condition,
            f->condition > 1e3 ? " (poor)" : "");
    for (size_t p = 0; p < f->model.params; p++)
        param_show(&f->model.param[p], out);
    fit_warn(f);
    struct curve *curve = ker_alloc((f->count + 1) * sizeof *curve), all = {0};
    size_t curves = 0;
    for (size_t i = 0; i < f->count; i = curve[curves++].to) {
        curve[curves] = curve_sum(f, i);
        all.sum += curve[curves].sum;
        all.simulated += curve[curves].simulated;
        all.simulated_sum += curve[curves].simulated_sum;
    }
    qsort(curve, curves, sizeof *curve, curve_order);
    fprintf(out, "residuals, the worst curve first:\n  %-52s points    mean     worst\n", "curve");
    for (size_t i = 0; i < curves; i++)
        curve_show(f, &curve[i], out);
    fprintf(out, "mean error %.1f %% of %zu points", 100 * all.sum / (double)f->used, f->used);
    if (all.simulated)
        fprintf(out, "; simulated %.1f %% of %zu", 100 * all.simulated_sum / (double)all.simulated,
                all.simulated);
    fputc('\n', out);
    if (all.simulated)
        points_show(f, out);
    free(curve);
}
