/* exchange.c - rounds between ranks; see exchange.h.
 *
 * Invariant: what a rank says in the agreement covers everything it knows of: pending and sent in this round,
 * credits too. Every rank sends before it agrees, and agrees before it receives, so that no message can wait
 * for one that waits for it.
 */
#include "kernel/engine/exchange.h"
#include "kernel/base/comm_mpi.h"
#include "kernel/engine/batch.h"
#include "kernel/engine/bundles.h"
#include "kernel/engine/channels.h"
#include "kernel/engine/shared.h"
#include "kernel/engine/wheel.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TAG_BATCH 77
#define LOOKS 16                        /* before the first nap */
#define SHARED_ROOM ((size_t)64 << 10)  /* of a rank in a round; what is longer is sent as messages */
#define BUNDLE_ROOM ((size_t)256 << 10) /* the same for what is sent to other hosts */
#define FEW 2                           /* batches to other hosts that are not worth a bundle */

struct exchange {
    struct ker_comm *comm;
    MPI_Comm mpi;
    uint32_t rank;
    int ranks;
    bool broken;
    bool naps;     /* while it waits for other hosts: ranks outnumber cores on any of them */
    ker_time done; /* exchange_own */
    struct hosts hosts;
    struct channels channels;
    struct outbox *outbox;   /* by neighbour */
    bool *filled;            /* in this round */
    ker_time sent;           /* the earliest of all of them */
    struct shared *shared;   /* NULL: this rank is alone on its host */
    struct bundles *bundles; /* NULL: every batch to another host is a message */
    MPI_Datatype agreement;
    MPI_Op merge;
    size_t part_bytes;
    MPI_Request *request;
    int requests, request_room;
    struct ker_sent *cost;
    char *inbox;
    size_t inbox_room;
    struct ker_slabs extension;
};

/* An MPI_User_function. */
static void agreements_merge(void *in, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < *count; i++)
        agreement_merge((struct agreement *)inout + i, (const struct agreement *)in + i);
}

/* False on all ranks: a host has no memory to share. */
static bool memory_share(struct exchange *x, size_t room, bool yield)
{
    if (x->hosts.count == x->ranks)
        return true;
    x->shared = shared_new(x->hosts.here, &x->hosts.group, room, yield);
    if (ker_comm_worst(x->comm, x->shared ? KER_OK : KER_RUN_FAILED) == KER_OK)
        return true;
    shared_free(x->shared);
    x->shared = NULL;
    return false;
}

/* The ranks of a host share memory; the first ones of several hosts reduce. */
static void places_take(struct exchange *x, const struct exchange_setup *setup)
{
    size_t room = x->part_bytes < SHARED_ROOM ? x->part_bytes : SHARED_ROOM;
    hosts_make(&x->hosts, x->comm, setup->hosts);
    if (!memory_share(x, room, setup->yield)) {
        hosts_release(&x->hosts);
        hosts_make(&x->hosts, x->comm, x->ranks);
    }
    channels_make(&x->channels, x->comm, &x->hosts, setup->channel, setup->channels);
    if (x->shared && x->hosts.count > 1)
        x->bundles =
            bundles_new(x->comm, &x->hosts, &x->channels,
                        x->part_bytes < BUNDLE_ROOM ? x->part_bytes : BUNDLE_ROOM, setup->yield, x->naps);
    x->outbox = ker_alloc(sizeof *x->outbox * (x->channels.count + 1u));
    x->filled = ker_alloc(sizeof *x->filled * (x->channels.count + 1u));
    for (uint32_t i = 0; i < x->channels.count; i++)
        x->outbox[i].earliest = KER_TIME_MAX;
    MPI_Type_contiguous(sizeof(struct agreement), MPI_BYTE, &x->agreement);
    MPI_Type_commit(&x->agreement);
    MPI_Op_create(agreements_merge, 1, &x->merge);
}

struct exchange *exchange_new(const struct exchange_setup *setup)
{
    struct exchange *x = ker_alloc(sizeof *x);
    x->comm = setup->comm;
    x->rank = (uint32_t)ker_comm_rank(setup->comm);
    x->ranks = ker_comm_size(setup->comm);
    x->part_bytes = setup->part_bytes ? setup->part_bytes : EXCHANGE_PART;
    ker_assert(x->part_bytes >= sizeof(struct batch_header));
    x->sent = x->channels.into = KER_TIME_MAX;
    if (x->ranks == 1)
        return x;
    int64_t naps = setup->yield;
    ker_comm_max_i64(setup->comm, &naps, 1);
    x->naps = naps;
    x->mpi = ker_comm_mpi(setup->comm);
    places_take(x, setup);
    return x;
}

void exchange_free(struct exchange *x)
{
    for (uint32_t i = 0; i < x->channels.count; i++)
        outbox_release(&x->outbox[i]);
    if (x->ranks > 1) {
        shared_free(x->shared);
        bundles_free(x->bundles);
        channels_release(&x->channels);
        hosts_release(&x->hosts);
        MPI_Type_free(&x->agreement);
        MPI_Op_free(&x->merge);
    }
    free(x->outbox);
    free(x->filled);
    free(x->request);
    free(x->inbox);
    ker_slabs_release(&x->extension);
    free(x);
}

ker_time exchange_lookahead(const struct exchange *x)
{
    return x->channels.into;
}

/* ---- what is sent ---- */

static inline struct outbox *outbox_of(struct exchange *x, uint32_t rank, ker_time time)
{
    ker_assert(x->channels.number[rank] != CHANNELS_NONE);
    x->sent = ker_time_min(x->sent, time);
    return &x->outbox[x->channels.number[rank]];
}

struct ker_event *exchange_event(struct exchange *x, uint32_t rank, ker_time time)
{
    return outbox_event(outbox_of(x, rank, time), time);
}

void exchange_note(struct exchange *x, uint32_t rank, ker_time time, struct wheel_note note)
{
    outbox_note(outbox_of(x, rank, time), time, note);
}

ker_time exchange_sent(const struct exchange *x)
{
    return x->sent;
}

/* Opens a batch, unless memory is out: then this rank still takes part in the round, and says so in the next.
 */
static void batch_take(struct exchange *x, struct wheel *wheel, const char *batch)
{
    jmp_buf refuge;
    if (x->broken)
        return;
    if (setjmp(refuge) == 0) {
        ker_memory_refuge(&refuge);
        batch_open(batch, x->done, wheel, &x->extension);
    } else {
        x->broken = true;
    }
    ker_memory_refuge(NULL);
}

void exchange_break(struct exchange *x)
{
    x->broken = true;
}

bool exchange_broken(const struct exchange *x)
{
    return x->broken;
}

/* ---- messages ---- */

/* The next of the messages that `left` bytes are cut into. */
static inline int part_of(const struct exchange *x, size_t left)
{
    return (int)(left < x->part_bytes ? left : x->part_bytes);
}

static void message_send(struct exchange *x, uint32_t rank, const char *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += x->part_bytes) {
        MPI_Isend(data + at, part_of(x, bytes - at), MPI_BYTE, (int)rank, TAG_BATCH, x->mpi,
                  KER_PUSH(x->request, x->requests, x->request_room));
        x->cost->messages++;
    }
}

/* MPI waits polling. Where ranks outnumber cores those that wait would keep them from those that work. */
static void nap(int looks)
{
    const struct timespec moment = {0, 20000};
    if (looks > LOOKS)
        nanosleep(&moment, NULL);
}

static void message_await(const struct exchange *x, uint32_t rank, MPI_Message *message, MPI_Status *status)
{
    if (!x->naps) {
        MPI_Mprobe((int)rank, TAG_BATCH, x->mpi, message, status);
        return;
    }
    for (int looks = 0, there = 0; !there; looks++) {
        nap(looks);
        MPI_Improbe((int)rank, TAG_BATCH, x->mpi, &there, message, status);
    }
}

/* The first part says how much there is. */
static void message_receive(struct exchange *x, struct wheel *wheel, uint32_t rank)
{
    MPI_Message message;
    MPI_Status status;
    int first;
    struct batch_header header;
    message_await(x, rank, &message, &status);
    MPI_Get_count(&status, MPI_BYTE, &first);
    KER_RESERVE(x->inbox, x->inbox_room, (size_t)first);
    MPI_Mrecv(x->inbox, first, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    memcpy(&header, x->inbox, sizeof header);
    KER_RESERVE(x->inbox, x->inbox_room, header.bytes);
    for (size_t at = (size_t)first; at < header.bytes; at += x->part_bytes)
        MPI_Recv(x->inbox + at, part_of(x, header.bytes - at), MPI_BYTE, (int)rank, TAG_BATCH, x->mpi,
                 MPI_STATUS_IGNORE);
    batch_take(x, wheel, x->inbox);
}

/* ---- rounds ---- */

/* Where a batch for another rank is put; NULL: it is sent as a message. */
static char *batch_room(struct exchange *x, uint32_t number, size_t bytes, bool few)
{
    const struct neighbour *n = &x->channels.neighbour[number];
    if (n->place >= 0)
        return shared_room(x->shared, n->place, bytes);
    return x->bundles ? bundles_room(x->bundles, number, few ? 0 : bytes) : NULL;
}

/* What is sent to a neighbour is in transit, or lies where it is looked for. `few`: are sent to other hosts.
 */
static void batch_send(struct exchange *x, uint32_t number, bool few, struct agreement *a)
{
    const struct neighbour *n = &x->channels.neighbour[number];
    struct outbox *o = &x->outbox[number];
    agreement_time(a, o->earliest, n->rank);
    size_t bytes = outbox_seal(o, &x->extension);
    x->cost->bytes += bytes;
    char *room = batch_room(x, number, bytes, few);
    if (room)
        memcpy(room, o->buffer, bytes);
    else
        message_send(x, n->rank, o->buffer, bytes);
    if (n->place < 0 && few)
        agreement_message(a, x->rank, n->rank);
    else if (n->place < 0)
        a->messages = AGREEMENT_MESSAGES + 1;
}

/* Sends all that there is. */
static void batches_send(struct exchange *x, struct agreement *a)
{
    uint32_t far = 0;
    if (x->shared)
        shared_begin(x->shared);
    if (x->bundles)
        bundles_begin(x->bundles);
    for (uint32_t i = 0; i < x->channels.count; i++) {
        x->filled[i] = x->outbox[i].earliest != KER_TIME_MAX;
        far += x->filled[i] && x->channels.neighbour[i].place < 0;
    }
    for (uint32_t i = 0; i < x->channels.count; i++)
        if (x->filled[i])
            batch_send(x, i, !x->bundles || far <= FEW, a);
}

static void hosts_agree(const struct exchange *x, struct agreement *a)
{
    MPI_Request request;
    if (!x->naps) {
        MPI_Allreduce(MPI_IN_PLACE, a, 1, x->agreement, x->merge, x->hosts.leaders);
        return;
    }
    MPI_Iallreduce(MPI_IN_PLACE, a, 1, x->agreement, x->merge, x->hosts.leaders, &request);
    for (int looks = 0, done = 0; !done; looks++) {
        nap(looks);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

/* Are many messages sent between hosts? */
static inline bool is_many(const struct agreement *a)
{
    return a->messages > AGREEMENT_MESSAGES;
}

static void agree(struct exchange *x, struct agreement *a)
{
    if (x->shared)
        shared_agree(x->shared, a);
    if (x->hosts.count == 1)
        return;
    if (x->bundles && is_many(a))
        x->cost->messages += bundles_send(x->bundles);
    if (x->hosts.leaders == MPI_COMM_NULL) {
        shared_hear(x->shared, a);
        return;
    }
    hosts_agree(x, a);
    if (x->shared)
        shared_tell(x->shared, a);
}

static void receive_here(struct exchange *x, struct wheel *wheel)
{
    for (uint32_t i = 0; i < x->channels.count; i++) {
        const struct neighbour *n = &x->channels.neighbour[i];
        if (n->place < 0)
            continue;
        struct shared_parcel p = shared_parcel(x->shared, n->place);
        if (p.bytes && p.data)
            batch_take(x, wheel, p.data);
        else if (p.bytes)
            message_receive(x, wheel, n->rank);
    }
}

/* Many messages are sent between hosts: there is one from each host with neighbours. */
static void receive_bundles(struct exchange *x, struct wheel *wheel)
{
    struct bundle b;
    x->cost->messages += bundles_send(x->bundles);
    bundles_receive(x->bundles);
    while (bundles_next(x->bundles, &b))
        if (b.data)
            batch_take(x, wheel, b.data);
        else
            message_receive(x, wheel, b.from);
    bundles_end(x->bundles);
}

/* The same without bundles: there is one from each neighbour there. */
static void receive_all(struct exchange *x, struct wheel *wheel)
{
    static const struct batch_header empty = {.bytes = sizeof empty};
    for (uint32_t i = 0; i < x->channels.count; i++)
        if (x->channels.neighbour[i].place < 0 && !x->filled[i])
            message_send(x, x->channels.neighbour[i].rank, (const char *)&empty, sizeof empty);
    for (uint32_t i = 0; i < x->channels.count; i++)
        if (x->channels.neighbour[i].place < 0)
            message_receive(x, wheel, x->channels.neighbour[i].rank);
}

static void receive_listed(struct exchange *x, struct wheel *wheel, const struct agreement *a)
{
    for (uint32_t i = 0; i < a->messages; i++)
        if (a->message[i].to == x->rank)
            message_receive(x, wheel, a->message[i].from);
}

static void agreement_read(const struct exchange *x, const struct agreement *a, struct exchange_bounds *b)
{
    *b = (struct exchange_bounds){.others = a->whose == x->rank ? a->second : a->least,
                                  .all = a->least,
                                  .final = a->final,
                                  .requests = a->requests,
                                  .round = a->round};
}

void exchange_round(struct exchange *x, struct wheel *wheel, const struct exchange_own *own,
                    struct exchange_bounds *b, struct ker_sent *cost)
{
    struct agreement a = {.least = own->pending,
                          .second = KER_TIME_MAX,
                          .final = own->final,
                          .round = own->round,
                          .whose = x->rank,
                          .requests = own->requests};
    x->cost = cost;
    x->done = own->done;
    x->requests = 0;
    x->sent = KER_TIME_MAX;
    batches_send(x, &a);
    if (x->ranks > 1)
        agree(x, &a);
    receive_here(x, wheel);
    if (!is_many(&a))
        receive_listed(x, wheel, &a);
    else if (x->bundles)
        receive_bundles(x, wheel);
    else
        receive_all(x, wheel);
    if (x->requests)
        MPI_Waitall(x->requests, x->request, MPI_STATUSES_IGNORE);
    agreement_read(x, &a, b);
}

void exchange_abandon(struct exchange *x)
{
    ker_slabs_release(&x->extension);
}

uint32_t exchange_extension_new(struct exchange *x, const void *bytes)
{
    return extension_put(&x->extension, bytes);
}

void exchange_extension_read(const struct exchange *x, uint32_t index, void *bytes)
{
    extension_read(&x->extension, index, bytes);
}

const void *exchange_extension_head(const struct exchange *x, uint32_t index)
{
    return ker_slabs_at(&x->extension, index);
}

void exchange_extension_free(struct exchange *x, uint32_t index)
{
    ker_slabs_give(&x->extension, index);
}
