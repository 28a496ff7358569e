/* exchange.c - rounds between ranks; see exchange.h.
 *
 * Invariant: what a rank publishes covers everything it knows of: pending and sent in this round, credits
 * too. Every rank publishes before it receives, so that no message can wait for one that waits for it.
 */
#include "kernel/engine/exchange.h"
#include "kernel/base/array.h"
#include "kernel/base/comm_mpi.h"
#include "kernel/base/pool.h"
#include "kernel/engine/shared.h"
#include "kernel/engine/wheel.h"

#include <stdlib.h>
#include <string.h>

#define TAG_BATCH 77
#define EXTENSION_BYTES (sizeof(struct extension))
#define SHARED_ROOM ((size_t)64 << 10) /* of a rank in a round; what is longer goes by messages */

struct extension {
    char byte[64];
};

struct remote_note {
    ker_time time;
    struct wheel_note note;
};

/* What goes to one rank. The buffer holds a header, then the events; notes and extensions are appended when
 * it is sent. */
struct outbox {
    char *buffer;
    size_t room;
    uint32_t events, notes, extensions, reserved;
    struct remote_note *note;
    size_t note_room;
};

struct batch_header {
    uint32_t events, notes, extensions, reserved[13];
};

struct exchange {
    struct ker_comm *comm;
    MPI_Comm mpi;
    int rank, ranks;
    bool broken;
    struct outbox *outbox;
    ker_time sent;
    struct shared *shared; /* NULL: ranks on several hosts */
    size_t part_bytes;
    uint64_t *incoming, *outgoing; /* bytes per rank */
    const void **parcel;           /* per rank, what is here already; NULL: comes as a message */
    MPI_Request *request;
    int requests, request_room;
    char *inbox;
    size_t inbox_room;
    KER_POOL(struct extension) extension;
};

struct exchange *exchange_new(struct ker_comm *comm, bool yield, bool force_messages, size_t part_bytes)
{
    struct exchange *x = ker_alloc(sizeof *x);
    x->comm = comm;
    x->rank = ker_comm_rank(comm);
    x->ranks = ker_comm_size(comm);
    x->part_bytes = part_bytes ? part_bytes : EXCHANGE_PART;
    x->sent = KER_TIME_MAX;
    x->extension.free = KER_NONE;
    if (x->ranks == 1)
        return x;
    x->mpi = ker_comm_mpi(comm);
    x->outbox = ker_alloc(sizeof *x->outbox * (size_t)x->ranks);
    x->incoming = ker_alloc(sizeof *x->incoming * (size_t)x->ranks);
    x->outgoing = ker_alloc(sizeof *x->outgoing * (size_t)x->ranks);
    x->parcel = ker_alloc(sizeof *x->parcel * (size_t)x->ranks);
    if (!force_messages && ker_comm_host_size(comm) == x->ranks)
        x->shared = shared_new(x->mpi, x->part_bytes < SHARED_ROOM ? x->part_bytes : SHARED_ROOM, yield);
    return x;
}

void exchange_free(struct exchange *x)
{
    for (int r = 0; x->outbox && r < x->ranks; r++) {
        free(x->outbox[r].buffer);
        free(x->outbox[r].note);
    }
    shared_free(x->shared);
    free(x->outbox);
    free(x->parcel);
    free(x->incoming);
    free(x->outgoing);
    free(x->request);
    free(x->inbox);
    KER_POOL_RELEASE(&x->extension);
    free(x);
}

struct ker_event *exchange_event(struct exchange *x, uint32_t rank, ker_time time)
{
    struct outbox *o = &x->outbox[rank];
    size_t at = sizeof(struct batch_header) + sizeof(struct ker_event) * (size_t)o->events;
    KER_RESERVE(o->buffer, o->room, at + sizeof(struct ker_event));
    o->events++;
    if (time < x->sent)
        x->sent = time;
    return (struct ker_event *)(void *)(o->buffer + at);
}

void exchange_note(struct exchange *x, uint32_t rank, ker_time time, struct wheel_note note)
{
    struct outbox *o = &x->outbox[rank];
    *KER_PUSH(o->note, o->notes, o->note_room) = (struct remote_note){time, note};
    if (time < x->sent)
        x->sent = time;
}

ker_time exchange_sent(const struct exchange *x)
{
    return x->sent;
}

static uint32_t *event_extension(struct ker_event *event)
{
    return (uint32_t *)&event->payload[5];
}

/* Completes the batch: notes and the events' extensions behind the events. Returns its length, 0 for nothing
 * to send. */
static size_t outbox_seal(struct exchange *x, struct outbox *o)
{
    if (o->events == 0 && o->notes == 0)
        return 0;
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
    struct batch_header header = {o->events, o->notes, extensions, {0}};
    memcpy(o->buffer, &header, sizeof header);
    o->events = o->notes = 0;
    return extensions_at + EXTENSION_BYTES * (size_t)extensions;
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
        wheel_note_put(wheel, note.time, note.note);
    }
}

static void bounds_add(struct exchange_bounds *b, bool other, const struct exchange_own *own, ker_time sent)
{
    if (other && own->pending < b->others)
        b->others = own->pending;
    if (sent < b->sent)
        b->sent = sent;
    if (own->settled > b->settled)
        b->settled = own->settled;
    b->requests |= own->requests;
    b->worked += own->worked;
    b->since = own->since > b->since ? own->since : b->since;
}

static void agree_by_memory(struct exchange *x, struct exchange_own own, struct exchange_bounds *b)
{
    shared_publish(x->shared, own, x->sent);
    for (int r = 0; r < x->ranks; r++) {
        struct shared_told told = shared_wait(x->shared, r);
        bounds_add(b, r != x->rank, &told.own, told.sent);
        x->incoming[r] = told.bytes;
        x->parcel[r] = told.data;
    }
}

static void agree_by_messages(struct exchange *x, struct exchange_own own, struct exchange_bounds *b)
{
    struct {
        struct exchange_own own;
        ker_time sent;
    } mine = {own, x->sent}, *all = ker_alloc(sizeof *all * (size_t)x->ranks);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, x->mpi);
    MPI_Alltoall(x->outgoing, 1, MPI_UINT64_T, x->incoming, 1, MPI_UINT64_T, x->mpi);
    for (int r = 0; r < x->ranks; r++)
        bounds_add(b, r != x->rank, &all[r].own, all[r].sent);
    free(all);
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

/* The next of the messages that `left` bytes are cut into. */
static inline int part_of(const struct exchange *x, size_t left)
{
    return (int)(left < x->part_bytes ? left : x->part_bytes);
}

static void send_to(struct exchange *x, int rank, const char *data, size_t bytes)
{
    void *room = x->shared && bytes ? shared_room(x->shared, rank, bytes) : NULL;
    if (room) {
        memcpy(room, data, bytes);
        return;
    }
    for (size_t at = 0; at < bytes; at += x->part_bytes)
        MPI_Isend(data + at, part_of(x, bytes - at), MPI_BYTE, rank, TAG_BATCH, x->mpi,
                  KER_PUSH(x->request, x->requests, x->request_room));
}

static void receive_from(struct exchange *x, struct wheel *wheel, int rank)
{
    size_t bytes = x->incoming[rank];
    if (x->parcel[rank]) {
        batch_take(x, wheel, x->parcel[rank]);
        return;
    }
    KER_RESERVE(x->inbox, x->inbox_room, bytes);
    for (size_t at = 0; at < bytes; at += x->part_bytes)
        MPI_Recv(x->inbox + at, part_of(x, bytes - at), MPI_BYTE, rank, TAG_BATCH, x->mpi, MPI_STATUS_IGNORE);
    batch_take(x, wheel, x->inbox);
}

uint64_t exchange_round(struct exchange *x, struct wheel *wheel, struct exchange_own own,
                        struct exchange_bounds *b)
{
    *b = (struct exchange_bounds){.others = KER_TIME_MAX,
                                  .own = own.pending,
                                  .sent = KER_TIME_MAX,
                                  .all = own.pending,
                                  .settled = own.settled,
                                  .requests = own.requests};
    if (x->ranks == 1)
        return 0;
    uint64_t bytes = 0;
    x->requests = 0;
    if (x->shared)
        shared_begin(x->shared);
    for (int r = 0; r < x->ranks; r++) {
        x->outgoing[r] = outbox_seal(x, &x->outbox[r]);
        bytes += x->outgoing[r];
        send_to(x, r, x->outbox[r].buffer, x->outgoing[r]);
    }
    if (x->shared)
        agree_by_memory(x, own, b);
    else
        agree_by_messages(x, own, b);
    for (int k = 1; k < x->ranks; k++) {
        int r = (x->rank + k) % x->ranks;
        if (x->incoming[r])
            receive_from(x, wheel, r);
    }
    if (x->requests)
        MPI_Waitall(x->requests, x->request, MPI_STATUSES_IGNORE);
    x->sent = KER_TIME_MAX;
    b->all = b->others < b->own ? b->others : b->own;
    b->all = b->sent < b->all ? b->sent : b->all;
    return bytes;
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
