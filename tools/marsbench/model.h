/* model.h - the ends of a machine's messages as parameters, and times that are linear in them.
 *
 * A time is a number and the row of a matrix: how much of each parameter is in it. So what a benchmark takes
 * by the parameters of now is also the equation that better ones are fitted by. A message of n bytes from
 * node to node takes
 *
 *     send(n) of processor time, latency + n / rate, receive(n) of processor time
 *
 * and above the eager limit two latencies more before the data (the receiver reads), and one behind for the
 * sender. In a node it takes memory(n) at both ends, and memory latency + n / memory rate. send, receive and
 * memory are straight lines between knots, and level behind the last one. Combining and copying take bytes /
 * rate of processor time. Parameters are microseconds, or microseconds per byte.
 */
#pragma once

#include "tools/marsbench/points.h"

#define BENCH_MOST 84 /* parameters */
#define BENCH_KNOTS 25

enum bench_state {
    BENCH_UNUSED, /* no point has it */
    BENCH_FREE,
    BENCH_GIVEN,
    BENCH_UNDETERMINED, /* the points fit as well with any other value */
    BENCH_AT_LEAST,
    BENCH_AT_MOST, /* it is at its bound */
};

struct bench_param {
    char name[40];
    double value, least, most;
    double error; /* standard error */
    enum bench_state state;
    bool rate; /* value: the inverse of a rate */
};

struct bench_knots {
    size_t first, count; /* of its parameters */
    double bytes[BENCH_KNOTS];
};

struct bench_model {
    struct bench_param param[BENCH_MOST];
    size_t params;
    struct bench_knots send, receive, memory; /* receive.first == send.first: they are one */
    struct bench_knots rate, reduce; /* each from its size on: of a message, of a reduction's vector */
    size_t latency, copy, memory_latency, memory_rate, socket_latency;
    double eager;      /* bytes */
    uint32_t adapters; /* of each node */
};

struct bench_time {
    double us;
    double row[BENCH_MOST + 1]; /* the last of params + 1: what is in no parameter */
};

/* Knots from the sizes of messages (ascending, distinct): the first is 0, each following one at
 * least `apart` times as large, none beyond `last`. */
void bench_knots_choose(struct bench_knots *, const double *bytes, size_t count, double apart, double last);
/* With all parameters at the values that a search may begin with; knots are chosen, eager and bounds are set.
 */
void bench_model_init(struct bench_model *, bool tied);

static inline void bench_time_add(const struct bench_model *m, struct bench_time *t, size_t param,
                                  double amount)
{
    t->us += amount * m->param[param].value;
    t->row[param] += amount;
}
void bench_time_overhead(const struct bench_model *, struct bench_time *, const struct bench_knots *,
                         double bytes);
/* The parameter of such a rate. */
size_t bench_rate_at(const struct bench_knots *, double bytes);

/* walk.c: what a point takes. false: its collective or algorithm is none that the simulator has, or has too
 * many tasks. With `sizes` it says of what sizes messages are: [0] between nodes, [1] in a node. */
struct bench_sizes {
    double *bytes;
    size_t count;
};
bool bench_walk(const struct bench_model *, const struct bench_point *, struct bench_time *,
                struct bench_sizes *sizes);
/* The simulator's name of a point's algorithm, whatever others call it; the same text where it has none. */
const char *bench_algorithm_name(const struct bench_point *, char *buffer, size_t room);
/* What jobs[].bytes and MPI count of a point's vector. */
uint64_t bench_call_bytes(const struct bench_point *);
