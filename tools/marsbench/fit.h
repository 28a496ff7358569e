/* fit.h - marsbench --fit: the parameters of a machine's ends from measured points. */
#pragma once

#include "tools/marsbench/model.h"

/* What the user knows; 0, NULL: it is to be found, or left out. */
struct bench_known {
    double latency_us, rate; /* bytes per second */
    double eager;            /* bytes */
    uint32_t adapters;       /* of each node */
    struct bench_list {
        double *at; /* sizes of knots, ascending */
        size_t count;
    } knot, rate_knot, reduce_knot; /* of overheads, of the rates of messages, and of reductions */
    const char *system;             /* a configuration with the network, to simulate in */
    char **keys;                    /* more keys for the check, KEY=VALUE */
    size_t key_count;
    int rounds; /* of fits corrected by simulation */
};

/* A point in the fit. */
struct bench_fitted {
    const struct bench_point *point;
    double predicted_us, simulated_us; /* simulated: 0: it was not */
    bool used;                         /* false: the model has no such algorithm */
};

struct bench_fit {
    struct bench_known known;
    struct bench_model model;
    struct bench_fitted *at; /* in the order of curves */
    size_t count, used;
    bool tied; /* send and receive are one */
    double condition;
};

/* Points of one curve follow each other in fit->at, by size. */
enum ker_status bench_fit_make(struct bench_fit *, const struct bench_points *, const struct bench_known *,
                               struct ker_error *);
void bench_fit_release(struct bench_fit *);

/* report.c: parameters, what was not determined, residuals of each curve; warnings go to standard error. */
void bench_fit_report(const struct bench_fit *, FILE *);

/* machine.c: keys of marssim, "node.send_overhead" and its like, one after the other; false: the last was
 * said. */
struct bench_key {
    char name[40];
    char value[640]; /* in libconfig's language */
};
#define BENCH_KEYS 16
size_t bench_machine_keys(const struct bench_fit *, struct bench_key key[BENCH_KEYS]);
bool bench_machine_write(const struct bench_fit *, const char *from, FILE *);

/* check.c: marssim's times of the points that it can run in known.system; sets simulated_us. */
enum ker_status bench_check(struct bench_fit *, struct ker_error *);
/* The network's own latency and rate, from its times with ends that cost nothing. */
enum ker_status bench_network_find(struct bench_known *, struct ker_error *);
