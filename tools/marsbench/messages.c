/* messages.c - messages between two tasks: to and fro, and one after the other in a stream.
 *
 * The first task of a pair measures and says how many turns there are; its samples go to rank 0.
 */
#include "tools/marsbench/measure.h"

#include <stdlib.h>

#define TAG 1
#define WINDOW 32 /* messages of a stream that are under way */

struct pair {
    struct bench_run *run;
    int peer;
    bool first;
};

/* Half a round trip, of `trips` in a row. */
static double pingpong(const struct pair *p, int bytes, int trips)
{
    const struct bench_run *r = p->run;
    double begin = MPI_Wtime();
    for (int i = 0; i < trips; i++) {
        if (p->first)
            MPI_Send(r->from, bytes, MPI_BYTE, p->peer, TAG, r->comm);
        MPI_Recv(r->to, bytes, MPI_BYTE, p->peer, TAG, r->comm, MPI_STATUS_IGNORE);
        if (!p->first)
            MPI_Send(r->from, bytes, MPI_BYTE, p->peer, TAG, r->comm);
    }
    return (MPI_Wtime() - begin) / (2 * trips);
}

/* Of one message of a window; the receiver answers at its end. */
static double stream(const struct pair *p, int bytes, int windows)
{
    const struct bench_run *r = p->run;
    MPI_Request request[WINDOW];
    double begin = MPI_Wtime();
    for (int w = 0; w < windows; w++) {
        for (int i = 0; i < WINDOW; i++)
            if (p->first)
                MPI_Isend(r->from, bytes, MPI_BYTE, p->peer, TAG, r->comm, &request[i]);
            else
                MPI_Irecv(r->to, bytes, MPI_BYTE, p->peer, TAG, r->comm, &request[i]);
        MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
        if (p->first)
            MPI_Recv(r->to, 0, MPI_BYTE, p->peer, TAG, r->comm, MPI_STATUS_IGNORE);
        else
            MPI_Send(r->from, 0, MPI_BYTE, p->peer, TAG, r->comm);
    }
    return (MPI_Wtime() - begin) / (windows * WINDOW);
}

/* Samples of a size. Turns of some microseconds: long enough for the clock, short enough that some are
 * disturbed by nothing. */
static void size_measure(const struct pair *p, struct bench_point *point,
                         double (*turn)(const struct pair *, int, int))
{
    struct bench_run *run = p->run;
    int plan[2], bytes = (int)point->bytes, in_turn = point->quantity == BENCH_STREAM ? 2 * WINDOW : 2;
    turn(p, bytes, 2);
    double once = turn(p, bytes, 2) * in_turn;
    plan[0] = once < 10e-6 ? (int)(10e-6 / once) + 1 : 1;
    plan[1] = (int)bench_turns(run, once * plan[0]);
    if (p->first)
        MPI_Send(plan, 2, MPI_INT, p->peer, TAG, run->comm);
    else
        MPI_Recv(plan, 2, MPI_INT, p->peer, TAG, run->comm, MPI_STATUS_IGNORE);
    double sample[BENCH_MOST_TURNS];
    for (int i = 0; i < plan[1]; i++)
        sample[i] = turn(p, bytes, plan[0]) * 1e6;
    if (p->first && run->rank != 0)
        MPI_Send(sample, plan[1], MPI_DOUBLE, 0, TAG, run->comm);
    bench_take(run, point, sample, (size_t)plan[1]);
}

/* The sizes, and then the eager limit and one byte more, where a library changes the way of sending. */
static uint64_t message_size(const struct bench_run *run, enum bench_where where, uint32_t index)
{
    uint32_t sizes = 0;
    while (bench_size(run->settings, sizes) > 0)
        sizes++;
    uint64_t eager = run->eager[where], most = run->settings->most;
    if (index < sizes)
        return bench_size(run->settings, index);
    return index - sizes < 2 && eager >= run->settings->least && eager && eager < most
               ? eager + (index - sizes)
               : 0;
}

/* Rank 0 where it is not the one that measures. */
static void size_receive(struct bench_run *run, const struct bench_point *point, int from)
{
    double sample[BENCH_MOST_TURNS];
    MPI_Status status;
    int count;
    MPI_Recv(sample, BENCH_MOST_TURNS, MPI_DOUBLE, from, TAG, run->comm, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    bench_take(run, point, sample, (size_t)count);
}

void bench_messages(struct bench_run *run, enum bench_where where)
{
    const int *pair = run->pair[where];
    bool member = run->rank == pair[0] || run->rank == pair[1];
    struct pair p = {run, run->rank == pair[0] ? pair[1] : pair[0], run->rank == pair[0]};
    struct bench_point point = {.where = where, .nodes = where == BENCH_NODE ? 2 : 1};
    point.per_node = 2 / point.nodes;
    for (int q = BENCH_PINGPONG; q <= BENCH_STREAM; q++)
        for (uint32_t i = 0; (point.bytes = message_size(run, where, i)) > 0; i++) {
            point.quantity = (enum bench_quantity)q;
            if (member)
                size_measure(&p, &point, q == BENCH_PINGPONG ? pingpong : stream);
            else if (run->rank == 0)
                size_receive(run, &point, pair[0]);
        }
}
