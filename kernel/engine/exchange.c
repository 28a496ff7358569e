/* exchange.c - rounds between ranks; see exchange.h.
 *
 * Invariant: what a rank says in the agreement covers everything it knows of: pending and sent in this round,
 * credits too. Every rank sends before it agrees, and agrees before it receives, so that no message can wait
 * for one that waits for it.
 */
#include "kernel/engine/exchange.h"
#include "kernel/base/array.h"
#include "kernel/base/comm_mpi.h"
#include "kernel/base/pool.h"
#include "kernel/engine/channels.h"
#include "kernel/engine/shared.h"
#include "kernel/engine/wheel.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TAG_BATCH 77
#define EXTENSION_BYTES (sizeof(struct extension))
#define LOOKS 16                       /* before the first nap */
#define SHARED_ROOM ((size_t)64 << 10) /* of a rank in a round; what is longer goes by messages */

struct extension {
    char byte[64];
};

struct remote_note {
    ker_time time;
    struct wheel_note note;
};

/* What goes to one neighbour. The buffer holds a header, then the events; notes and extensions are appended
 * when it is sent. */
struct outbox {
    char *buffer;
    size_t room;
    uint32_t events, notes;
    struct remote_note *note;
    size_t note_room;
    ker_time earliest; /* of them */
};

struct batch_header {
    uint64_t bytes; /* with the header */
    uint32_t events, notes, reserved[12];
};
_Static_assert(sizeof(struct batch_header) == 64, "events behind it are aligned");

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
    struct outbox *outbox; /* by neighbour */
    bool *filled;          /* in this round */
    ker_time sent;         /* the earliest of all of them */
    struct shared *shared; /* NULL: this rank is alone on its host */
    MPI_Datatype agreement;
    MPI_Op merge;
    size_t part_bytes;
    MPI_Request *request;
    int requests, request_room;
    struct exchange_cost *cost;
    char *inbox;
    size_t inbox_room;
    KER_POOL(struct extension) extension;
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
    x->extension.free = KER_NONE;
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
    for (uint32_t i = 0; i < x->channels.count; i++) {
        free(x->outbox[i].buffer);
        free(x->outbox[i].note);
    }
    if (x->ranks > 1) {
        shared_free(x->shared);
        channels_release(&x->channels);
        hosts_release(&x->hosts);
        MPI_Type_free(&x->agreement);
        MPI_Op_free(&x->merge);
    }
    free(x->outbox);
    free(x->filled);
    free(x->request);
    free(x->inbox);
    KER_POOL_RELEASE(&x->extension);
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
    struct outbox *o = &x->outbox[x->channels.number[rank]];
    o->earliest = ker_time_min(o->earliest, time);
    x->sent = ker_time_min(x->sent, time);
    return o;
}

struct ker_event *exchange_event(struct exchange *x, uint32_t rank, ker_time time)
{
    struct outbox *o = outbox_of(x, rank, time);
    size_t at = sizeof(struct batch_header) + sizeof(struct ker_event) * (size_t)o->events;
    KER_RESERVE(o->buffer, o->room, at + sizeof(struct ker_event));
    o->events++;
    return (struct ker_event *)(void *)(o->buffer + at);
}

void exchange_note(struct exchange *x, uint32_t rank, ker_time time, struct wheel_note note)
{
    struct outbox *o = outbox_of(x, rank, time);
    *KER_PUSH(o->note, o->notes, o->note_room) = (struct remote_note){time, note};
}

ker_time exchange_sent(const struct exchange *x)
{
    return x->sent;
}

static uint32_t *event_extension(struct ker_event *event)
{
    return (uint32_t *)&event->payload[5];
}

/* Completes the batch: notes and the events' extensions behind the events. Returns its length. */
static size_t outbox_seal(struct exchange *x, struct outbox *o)
{
    size_t notes_at = sizeof(struct batch_header) + sizeof(struct ker_event) * (size_t)o->events;
    size_t extensions_at = notes_at + sizeof(struct remote_note) * (size_t)o->notes;
    size_t most = extensions_at + EXTENSION_BYTES * (size_t)o->events;
    KER_RESERVE(o->buffer, o->room, most);
    struct ker_event *event = (struct ker_event *)(void *)(o->buffer + sizeof(struct batch_header));
    uint32_t extensions = 0;
    for (uint32_t i = 0; i < o->events; i++) {
        if (!(event[i].flags & KER_FLAG_EXTENSION))
            continue;
        uint32_t index = *event_extension(&event[i]);
        memcpy(o->buffer + extensions_at + EXTENSION_BYTES * (size_t)extensions, exchange_extension(x, index),
               EXTENSION_BYTES);
        exchange_extension_free(x, index);
        extensions++;
    }
    if (o->notes)
        memcpy(o->buffer + notes_at, o->note, sizeof *o->note * o->notes);
    struct batch_header header = {
        extensions_at + EXTENSION_BYTES * (size_t)extensions, o->events, o->notes, {0}};
    memcpy(o->buffer, &header, sizeof header);
    o->events = o->notes = 0;
    o->earliest = KER_TIME_MAX;
    return header.bytes;
}

static void batch_open(struct exchange *x, struct wheel *wheel, const char *batch)
{
    struct batch_header header;
    memcpy(&header, batch, sizeof header);
    const char *events = batch + sizeof header;
    const char *notes = events + sizeof(struct ker_event) * (size_t)header.events;
    const char *extensions = notes + sizeof(struct remote_note) * (size_t)header.notes;
    for (uint32_t i = 0; i < header.events; i++) {
        struct ker_event event;
        memcpy(&event, events + sizeof event * (size_t)i, sizeof event);
        ker_assert(event.time >= x->done);
        if (event.flags & KER_FLAG_EXTENSION) {
            uint32_t index = exchange_extension_new(x);
            memcpy(exchange_extension(x, index), extensions, EXTENSION_BYTES);
            extensions += EXTENSION_BYTES;
            *event_extension(&event) = index;
        }
        *wheel_event(wheel, event.time, event.component) = event;
    }
    for (uint32_t i = 0; i < header.notes; i++) {
        struct remote_note note;
        memcpy(&note, notes + sizeof note * (size_t)i, sizeof note);
        ker_assert(note.time >= x->done);
        wheel_note_put(wheel, note.time, note.note);
    }
}

/* The same, unless memory is out: then this rank still takes part in the round, and says so in the next. */
static void batch_take(struct exchange *x, struct wheel *wheel, const char *batch)
{
    jmp_buf refuge;
    if (x->broken)
        return;
    if (setjmp(refuge) == 0) {
        ker_memory_refuge(&refuge);
        batch_open(x, wheel, batch);
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

/* The first part tells how much there is. */
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

/* What goes to a neighbour is on its way, or lies where the neighbour will look. */
static void batch_send(struct exchange *x, uint32_t number, struct agreement *a)
{
    const struct neighbour *n = &x->channels.neighbour[number];
    struct outbox *o = &x->outbox[number];
    agreement_time(a, o->earliest, n->rank);
    size_t bytes = outbox_seal(x, o);
    x->cost->bytes += bytes;
    if (n->place < 0)
        agreement_message(a, x->rank, n->rank);
    void *room = n->place < 0 ? NULL : shared_room(x->shared, n->place, bytes);
    if (room)
        memcpy(room, o->buffer, bytes);
    else
        message_send(x, n->rank, o->buffer, bytes);
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

static void agree(struct exchange *x, struct agreement *a)
{
    if (x->shared)
        shared_agree(x->shared, a);
    if (x->hosts.count == 1)
        return;
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

/* Many messages go between hosts: there is one from each neighbour there. */
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
                                  .settled = a->settled,
                                  .requests = a->requests,
                                  .since = a->since};
}

void exchange_round(struct exchange *x, struct wheel *wheel, const struct exchange_own *own,
                    struct exchange_bounds *b, struct exchange_cost *cost)
{
    struct agreement a = {.least = own->pending,
                          .second = KER_TIME_MAX,
                          .settled = own->settled,
                          .since = own->since,
                          .whose = x->rank,
                          .requests = own->requests};
    x->cost = cost;
    x->done = own->done;
    x->requests = 0;
    x->sent = KER_TIME_MAX;
    if (x->shared)
        shared_begin(x->shared);
    for (uint32_t i = 0; i < x->channels.count; i++) {
        x->filled[i] = x->outbox[i].earliest != KER_TIME_MAX;
        if (x->filled[i])
            batch_send(x, i, &a);
    }
    if (x->ranks > 1)
        agree(x, &a);
    receive_here(x, wheel);
    if (a.messages > AGREEMENT_MESSAGES)
        receive_all(x, wheel);
    else
        receive_listed(x, wheel, &a);
    if (x->requests)
        MPI_Waitall(x->requests, x->request, MPI_STATUSES_IGNORE);
    agreement_read(x, &a, b);
}

void *exchange_extension(struct exchange *x, uint32_t index)
{
    return &x->extension.at[index];
}

uint32_t exchange_extension_new(struct exchange *x)
{
    return KER_POOL_TAKE(&x->extension, NULL);
}

void exchange_extension_free(struct exchange *x, uint32_t index)
{
    KER_POOL_GIVE(&x->extension, index);
}
