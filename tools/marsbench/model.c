/* model.c - parameters, and what a message costs by them. */
#include "tools/marsbench/model.h"

#include <math.h>
#include <string.h>

void bench_knots_choose(struct bench_knots *k, const double *bytes, size_t count, double apart, double last)
{
    k->count = 1;
    k->bytes[0] = 0;
    double next = apart > 1 ? 100 : 1;
    for (size_t i = 0; i < count && k->count < BENCH_KNOTS; i++)
        if (bytes[i] >= next && bytes[i] <= last) {
            k->bytes[k->count++] = bytes[i];
            next = bytes[i] * apart;
        }
}

static size_t param_add(struct bench_model *m, const char *name, double value, double least, double most,
                        bool rate)
{
    struct bench_param *p = &m->param[m->params];
    *p =
        (struct bench_param){.value = value, .least = least, .most = most, .state = BENCH_FREE, .rate = rate};
    snprintf(p->name, sizeof p->name, "%s", name);
    return m->params++;
}

static void rates_add(struct bench_model *m, struct bench_knots *k, const char *what, double least)
{
    char name[40], size[32];
    k->first = m->params;
    k->count = k->count ? k->count : 1;
    for (size_t i = 0; i < k->count; i++) {
        snprintf(name, sizeof name, i ? "%s from %s" : "%s", what, ker_print_bytes(size, k->bytes[i]));
        param_add(m, name, 1e-4, least, 0.1, true);
    }
}

static void knots_add(struct bench_model *m, struct bench_knots *k, const char *what)
{
    char name[40], size[32];
    k->first = m->params;
    for (size_t i = 0; i < k->count; i++) {
        snprintf(name, sizeof name, "%s at %s", what, ker_print_bytes(size, k->bytes[i]));
        param_add(m, name, 1 + k->bytes[i] * 1e-4, 0, 1e5, false);
    }
}

/* Rates are bounded by what any machine has: GB/s are 1e-3 us per byte. */
void bench_model_init(struct bench_model *m, bool tied)
{
    m->params = 0;
    knots_add(m, &m->send, tied ? "send or receive" : "send");
    if (tied)
        m->receive = m->send;
    else
        knots_add(m, &m->receive, "receive");
    knots_add(m, &m->memory, "memory");
    m->latency = param_add(m, "latency", 1, 0, 1e5, false);
    rates_add(m, &m->rate, "rate", 1e-5);
    rates_add(m, &m->reduce, "reduce rate", 2e-6);
    m->copy = param_add(m, "copy rate", 1e-4, 2e-6, 0.1, true);
    m->memory_latency = param_add(m, "memory latency", 0.2, 0, 1e4, false);
    m->memory_rate = param_add(m, "memory rate", 1e-4, 1e-6, 0.1, true);
    m->socket_latency = param_add(m, "socket latency", 0.1, 0, 1e4, false);
}

size_t bench_rate_at(const struct bench_knots *k, double bytes)
{
    size_t i = k->count - 1;
    while (i > 0 && k->bytes[i] > bytes)
        i--;
    return k->first + i;
}

void bench_time_overhead(const struct bench_model *m, struct bench_time *t, const struct bench_knots *k,
                         double bytes)
{
    size_t i = 0;
    while (i + 1 < k->count && k->bytes[i + 1] <= bytes)
        i++;
    if (i + 1 == k->count) {
        bench_time_add(m, t, k->first + i, 1);
        return;
    }
    double part = (bytes - k->bytes[i]) / (k->bytes[i + 1] - k->bytes[i]);
    bench_time_add(m, t, k->first + i, 1 - part);
    bench_time_add(m, t, k->first + i + 1, part);
}
