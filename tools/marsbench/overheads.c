/* overheads.c - the processor's time for a send and for a receive, apart, and the eager limit.
 *
 * A send: the call that begins it, and the one that waits for it when it has long been done. A receive: the
 * one that waits for a message that has long been there. In between both do nothing, outside of MPI, for as
 * long as a message of this size takes there and back (a method of LogP's measurements: Culler et al., IEEE
 * Micro 16(1), 1996). Above the eager limit a library without progress of its own moves the data in the
 * waiting call, so that no overhead can be told from the transfer: it is measured up to the limit. That is
 * the largest size of which a blocking send returns while its receiver stays away.
 */
#include "tools/marsbench/measure.h"

#include <math.h>
#include <string.h>

#define TAG 2
#define WORDS 5
#define TURNS 60

static void go(const struct bench_run *r, int peer, bool receive)
{
    char nothing = 0;
    if (receive)
        MPI_Recv(&nothing, 1, MPI_BYTE, peer, TAG + 1, r->comm, MPI_STATUS_IGNORE);
    else
        MPI_Send(&nothing, 1, MPI_BYTE, peer, TAG + 1, r->comm);
}

/* Is a send complete while its receiver, which is in MPI, has not posted the receive? Both call it. A word to
 * and fro some times makes sure that the receiver has seen what came, however late it gets a core. */
static int send_alone(const struct bench_run *r, int peer, bool first, int bytes)
{
    MPI_Request request;
    int done = 0;
    if (first)
        MPI_Isend(r->from, bytes, MPI_BYTE, peer, TAG, r->comm, &request);
    for (int i = 0; i < WORDS; i++) {
        go(r, peer, !first);
        go(r, peer, first);
        for (int tests = 0; first && !done && tests < 10; tests++)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    if (first) {
        MPI_Send(&done, 1, MPI_INT, peer, TAG + 1, r->comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&done, 1, MPI_INT, peer, TAG + 1, r->comm, MPI_STATUS_IGNORE);
        MPI_Recv(r->to, bytes, MPI_BYTE, peer, TAG, r->comm, MPI_STATUS_IGNORE);
    }
    return done;
}

static int eager_find(const struct bench_run *r, int peer, bool first)
{
    int low = 0, high = (int)r->settings->most + 1; /* low is eager, high is not */
    while (high - low > 1) {
        int bytes = low + (high - low) / 2;
        *(send_alone(r, peer, first, bytes) ? &low : &high) = bytes;
    }
    return low;
}

static double send_once(const struct bench_run *r, int peer, bool first, int bytes, double pause)
{
    MPI_Request request;
    if (!first) {
        MPI_Irecv(r->to, bytes, MPI_BYTE, peer, TAG, r->comm, &request);
        go(r, peer, false);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return 0;
    }
    go(r, peer, true);
    bench_spin(pause);
    double begin = MPI_Wtime();
    MPI_Isend(r->from, bytes, MPI_BYTE, peer, TAG, r->comm, &request);
    double called = MPI_Wtime();
    bench_spin(pause);
    double again = MPI_Wtime();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return called - begin + (MPI_Wtime() - again);
}

static double receive_once(const struct bench_run *r, int peer, bool first, int bytes, double pause)
{
    MPI_Request request;
    if (!first) {
        go(r, peer, true);
        MPI_Send(r->from, bytes, MPI_BYTE, peer, TAG, r->comm);
        return 0;
    }
    double begin = MPI_Wtime();
    MPI_Irecv(r->to, bytes, MPI_BYTE, peer, TAG, r->comm, &request);
    double called = MPI_Wtime();
    go(r, peer, false);
    bench_spin(pause);
    double again = MPI_Wtime();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return called - begin + (MPI_Wtime() - again);
}

/* How long a message takes, both ways and with much to spare. */
static double pause_find(const struct bench_run *r, int peer, bool first, int bytes)
{
    double took = INFINITY;
    for (int i = 0; i < 5; i++) {
        double begin = MPI_Wtime();
        go(r, peer, !first);
        if (first)
            MPI_Send(r->from, bytes, MPI_BYTE, peer, TAG, r->comm);
        else
            MPI_Recv(r->to, bytes, MPI_BYTE, peer, TAG, r->comm, MPI_STATUS_IGNORE);
        go(r, peer, first);
        took = fmin(took, MPI_Wtime() - begin);
    }
    return 2 * took + 5e-6;
}

/* What reading the clock four times takes itself: two readings are in the time that is measured. */
static double clock_cost(void)
{
    double least = INFINITY;
    for (int i = 0; i < 200; i++) {
        double begin = MPI_Wtime();
        least = fmin(least, MPI_Wtime() - begin);
    }
    return 2 * least;
}

static void pair_measure(struct bench_run *run, struct bench_point point, int peer, bool first)
{
    double sample[TURNS], cost = clock_cost();
    int eager = eager_find(run, peer, first);
    double limit = 0;
    run->eager[point.where] = (uint64_t)eager;
    point.quantity = BENCH_EAGER;
    point.bytes = (uint64_t)eager;
    if (first && run->rank == 0)
        bench_take(run, &point, &limit, 1);
    for (int q = BENCH_SEND; q <= BENCH_RECEIVE; q++)
        for (uint32_t i = 0; (point.bytes = bench_size(run->settings, i)) > 0; i++) {
            point.quantity = (enum bench_quantity)q;
            if (point.bytes > (uint64_t)eager)
                break;
            int bytes = (int)point.bytes;
            double pause = pause_find(run, peer, first, bytes);
            for (int t = 0; t < TURNS; t++)
                sample[t] =
                    fmax((q == BENCH_SEND ? send_once : receive_once)(run, peer, first, bytes, pause) - cost,
                         1e-9) *
                    1e6;
            if (first && run->rank == 0)
                bench_take(run, &point, sample, TURNS);
        }
}

/* Only where rank 0 is one of the two: a pair without it is left out. */
void bench_overheads(struct bench_run *run, enum bench_where where)
{
    const int *pair = run->pair[where];
    struct bench_point point = {.where = where, .nodes = where == BENCH_NODE ? 2 : 1};
    point.per_node = 2 / point.nodes;
    if (pair[0] == 0 && (run->rank == 0 || run->rank == pair[1]))
        pair_measure(run, point, run->rank == 0 ? pair[1] : 0, run->rank == 0);
}
