/* channels.c - hosts, and the neighbours of a rank; see channels.h.
 *
 * A rank tells those that it sends to. Nobody knows how many will tell it: whose messages have all been taken
 * (they are synchronous) enters a barrier that does not block, and when that is complete nothing is under way
 * any more (Hoefler, Siebert and Lumsdaine 2010). Then neighbours, who know each other now, tell where they
 * are and which number the other has.
 */
#include "kernel/engine/channels.h"

#include "kernel/base/array.h"

#include <stdbool.h>
#include <stdlib.h>

#define TAG_CHANNEL 78
#define TAG_PLACE 79

void hosts_make(struct hosts *h, MPI_Comm all, int groups)
{
    int rank, ranks;
    MPI_Comm here;
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &ranks);
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &here);
    if (groups > ranks)
        groups = ranks;
    int group = groups ? (int)((int64_t)rank * groups / ranks) : 0;
    MPI_Comm_split(here, group, rank, &h->here);
    MPI_Comm_free(&here);
    MPI_Comm_rank(h->here, &h->place);
    MPI_Comm_size(h->here, &h->size);
    MPI_Comm_split(all, h->place == 0 ? 0 : MPI_UNDEFINED, rank, &h->leaders);
    int known[] = {rank, 0};
    if (h->leaders != MPI_COMM_NULL)
        MPI_Comm_size(h->leaders, &known[1]);
    MPI_Bcast(known, 2, MPI_INT, 0, h->here);
    h->first = known[0];
    h->count = known[1];
}

void hosts_release(struct hosts *h)
{
    MPI_Comm_free(&h->here);
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

/* One that tells of its channel to this rank, if any does now. */
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

static int by_rank(const void *a, const void *b)
{
    const struct neighbour *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* ---- where ---- */

struct place {
    int first, place; /* of its host; there */
    uint32_t number;
};

static void places_learn(struct channels *c, MPI_Comm all, const struct hosts *hosts)
{
    struct place *own = ker_alloc(sizeof *own * (2u * c->count + 1u)), *other = own + c->count;
    MPI_Request *request = ker_alloc(sizeof *request * (2u * c->count + 1u));
    for (uint32_t i = 0; i < c->count; i++) {
        int rank = (int)c->neighbour[i].rank;
        own[i] = (struct place){hosts->first, hosts->place, i};
        MPI_Irecv(&other[i], sizeof *other, MPI_BYTE, rank, TAG_PLACE, all, &request[i]);
        MPI_Isend(&own[i], sizeof *own, MPI_BYTE, rank, TAG_PLACE, all, &request[c->count + i]);
    }
    MPI_Waitall((int)(2 * c->count), request, MPI_STATUSES_IGNORE);
    for (uint32_t i = 0; i < c->count; i++) {
        c->neighbour[i].number = other[i].number;
        c->neighbour[i].place = other[i].first == hosts->first ? other[i].place : -1;
    }
    free(own);
    free(request);
}

void channels_make(struct channels *c, MPI_Comm all, const struct hosts *hosts,
                   const struct ker_channel *channel, uint32_t count)
{
    int ranks;
    MPI_Comm_size(all, &ranks);
    *c = (struct channels){.number = ker_alloc(sizeof *c->number * (size_t)ranks), .into = KER_TIME_MAX};
    for (int r = 0; r < ranks; r++)
        c->number[r] = CHANNELS_NONE;
    channels_tell(c, all, channel, count);
    if (c->count)
        qsort(c->neighbour, c->count, sizeof *c->neighbour, by_rank);
    for (uint32_t i = 0; i < c->count; i++)
        c->number[c->neighbour[i].rank] = i;
    places_learn(c, all, hosts);
}

void channels_release(struct channels *c)
{
    free(c->neighbour);
    free(c->number);
}
