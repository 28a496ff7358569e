/* channels.c - hosts, and the neighbours of a rank; see channels.h.
 *
 * A rank announces itself to those that it sends to. Nobody knows how many will announce themselves: whose
 * messages have all been taken (they are synchronous) enters a barrier that does not block, and when that is
 * complete nothing is in flight any more (Hoefler, Siebert and Lumsdaine 2010). Then neighbours, who know
 * each other now, announce where they are. On one host it is simpler.
 */
#include "kernel/engine/channels.h"

#include "kernel/base/comm_mpi.h"

#include <stdbool.h>
#include <stdlib.h>

#define TAG_CHANNEL 78
#define TAG_PLACE 79

/* Consecutive ranks on each host. */
static void hosts_number(struct hosts *h, int rank, int ranks, int groups)
{
    int64_t group = (int64_t)rank * groups / ranks, all = ranks;
    h->first = (int)((group * all + groups - 1) / groups);
    h->group.from = h->first;
    h->group.place = rank - h->first;
    h->group.size = (int)(((group + 1) * all + groups - 1) / groups) - h->first;
    h->count = groups;
    h->number = (int)group;
}

static void hosts_find(struct hosts *h, struct ker_comm *all)
{
    h->group = (struct shared_group){0, ker_comm_rank(h->here), ker_comm_size(h->here)};
    uint64_t hosts = h->group.place == 0;
    ker_comm_sum_u64(all, &hosts, 1);
    h->count = (int)hosts;
    h->first = ker_comm_rank(all);
    ker_comm_broadcast(h->here, &h->first, sizeof h->first);
}

void hosts_make(struct hosts *h, struct ker_comm *all, int groups)
{
    int rank = ker_comm_rank(all), ranks = ker_comm_size(all);
    bool found = groups < ranks && ker_comm_host_size(all) < ranks;
    h->here = ker_comm_here(all);
    h->leaders = MPI_COMM_NULL;
    if (found)
        hosts_find(h, all);
    else
        hosts_number(h, rank, ranks, groups < 1 ? 1 : groups < ranks ? groups : ranks);
    if (h->count > 1)
        MPI_Comm_split(ker_comm_mpi(all), h->group.place == 0 ? 0 : MPI_UNDEFINED, rank, &h->leaders);
    if (!found)
        return;
    if (h->leaders != MPI_COMM_NULL)
        MPI_Comm_rank(h->leaders, &h->number);
    ker_comm_broadcast(h->here, &h->number, sizeof h->number);
}

void hosts_release(struct hosts *h)
{
    ker_comm_release(h->here);
    if (h->leaders != MPI_COMM_NULL)
        MPI_Comm_free(&h->leaders);
}

/* ---- who ---- */

static void neighbour_add(struct channels *c, uint32_t rank)
{
    if (c->number[rank] == CHANNELS_NONE)
        *KER_APPEND(c->neighbour, c->count) = (struct neighbour){.rank = rank};
    c->number[rank] = 0; /* for now: some */
}

/* One that announces its channel to this rank, if any does now. */
static void channel_hear(struct channels *c, MPI_Comm all)
{
    int there = 0;
    int64_t delay;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, TAG_CHANNEL, all, &there, &status);
    if (!there)
        return;
    MPI_Recv(&delay, 1, MPI_INT64_T, status.MPI_SOURCE, TAG_CHANNEL, all, MPI_STATUS_IGNORE);
    neighbour_add(c, (uint32_t)status.MPI_SOURCE);
    c->into = ker_time_min(c->into, delay);
}

static void channels_tell(struct channels *c, MPI_Comm all, const struct ker_channel *channel, uint32_t count)
{
    MPI_Request *sent = ker_alloc(sizeof *sent * (count + 1u)), *barrier = sent + count;
    for (uint32_t i = 0; i < count; i++) {
        ker_assert(channel[i].delay > 0);
        neighbour_add(c, channel[i].rank);
        MPI_Issend(&channel[i].delay, 1, MPI_INT64_T, (int)channel[i].rank, TAG_CHANNEL, all, &sent[i]);
    }
    for (int taken = 0, done = 0; !done;) {
        channel_hear(c, all);
        if (taken) {
            MPI_Test(barrier, &done, MPI_STATUS_IGNORE);
            continue;
        }
        MPI_Testall((int)count, sent, &taken, MPI_STATUSES_IGNORE);
        if (taken)
            MPI_Ibarrier(all, barrier);
    }
    free(sent);
}

KER_ORDER_BY(by_rank, struct neighbour, rank)

/* ---- where ---- */

struct place {
    int first, place; /* of its host; there */
};

static void places_learn(struct channels *c, MPI_Comm all, const struct hosts *hosts)
{
    struct place own = {hosts->first, hosts->group.place},
                 *other = ker_alloc(sizeof *other * (c->count + 1u));
    MPI_Request *request = ker_alloc(sizeof *request * (2u * c->count + 1u));
    for (uint32_t i = 0; i < c->count; i++) {
        int rank = (int)c->neighbour[i].rank;
        MPI_Irecv(&other[i], sizeof *other, MPI_BYTE, rank, TAG_PLACE, all, &request[i]);
        MPI_Isend(&own, sizeof own, MPI_BYTE, rank, TAG_PLACE, all, &request[c->count + i]);
    }
    MPI_Waitall((int)(2 * c->count), request, MPI_STATUSES_IGNORE);
    for (uint32_t i = 0; i < c->count; i++)
        c->neighbour[i].place = other[i].first == hosts->first ? other[i].place : -1;
    free(other);
    free(request);
}

/* ---- on one host ---- */

/* All hear of all channels: there are not many ranks. */
static void channels_gather(struct channels *c, struct ker_comm *all, const struct ker_channel *channel,
                            uint32_t count)
{
    uint32_t rank = (uint32_t)ker_comm_rank(all);
    struct ker_channel *announced;
    size_t *offset;
    ker_comm_allgather(all, channel, sizeof *channel * count, (void **)&announced, &offset);
    for (uint32_t r = 0; r < (uint32_t)ker_comm_size(all); r++)
        for (size_t i = offset[r] / sizeof *announced; i < offset[r + 1] / sizeof *announced; i++) {
            ker_assert(announced[i].delay > 0);
            if (r == rank)
                neighbour_add(c, announced[i].rank);
            if (announced[i].rank != rank)
                continue;
            neighbour_add(c, r);
            c->into = ker_time_min(c->into, announced[i].delay);
        }
    for (uint32_t i = 0; i < c->count; i++)
        c->neighbour[i].place = (int)c->neighbour[i].rank;
    free(announced);
    free(offset);
}

void channels_make(struct channels *c, struct ker_comm *all, const struct hosts *hosts,
                   const struct ker_channel *channel, uint32_t count)
{
    int ranks = ker_comm_size(all);
    *c = (struct channels){.number = ker_alloc(sizeof *c->number * (size_t)ranks), .into = KER_TIME_MAX};
    for (int r = 0; r < ranks; r++)
        c->number[r] = CHANNELS_NONE;
    if (hosts->count == 1)
        channels_gather(c, all, channel, count);
    else
        channels_tell(c, ker_comm_mpi(all), channel, count);
    if (c->count)
        qsort(c->neighbour, c->count, sizeof *c->neighbour, by_rank);
    for (uint32_t i = 0; i < c->count; i++)
        c->number[c->neighbour[i].rank] = i;
    if (hosts->count > 1)
        places_learn(c, ker_comm_mpi(all), hosts);
}

void channels_release(struct channels *c)
{
    free(c->neighbour);
    free(c->number);
}
