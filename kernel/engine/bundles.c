/* bundles.c - see bundles.h.
 *
 * The shared memory has a slot for each rank: two rooms for what it sends, used in rounds of one parity, with
 * an equal part for each other host; and room for the messages that it bears. A rank writes a part in the
 * round after the next at the earliest, when all have agreed twice, and so have seen it; a message is
 * overwritten when all have agreed once more, after they have taken theirs.
 *
 * Of a pair of hosts, numbered X and Y, rank Y mod (ranks of X) bears on X, and vice versa.
 *
 * A part is a sequence of pieces: a head and a batch. A message has the pieces of all ranks of a host by
 * their receivers, and in front where those of each receiver begin.
 */
#include "kernel/engine/bundles.h"

#include "kernel/base/base.h"
#include "kernel/base/comm_mpi.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TAG_BUNDLE 80
#define LINE 64
#define LOOKS 16 /* before the first nap */

struct piece {
    uint32_t place, from; /* the receiver on its host; the rank that sends */
    uint64_t bytes;       /* of the batch behind it; 0: it comes by a message of its own */
};

struct part {
    _Alignas(LINE) uint64_t used;
    char data[];
};

/* A message that has come: what is here, and the pieces. */
struct mail {
    _Alignas(LINE) struct ker_flag round; /* it is of this round */
    uint32_t begin[];                     /* per receiver, and the end; in bytes behind them */
};

struct remote { /* another host */
    uint32_t number, ranks;
    uint32_t bearer;       /* its rank that carries what is sent to this host and from it */
    uint32_t place, borne; /* who does here; the how-manieth that this is of all it bears */
    bool own;              /* this rank has neighbours there */
    uint32_t *message;     /* that this rank bears there: as in struct mail */
    MPI_Request request;
};

struct bundles {
    MPI_Comm mpi;
    uint32_t rank, place, size; /* of this host's ranks */
    bool sleep, naps, sent;
    uint32_t round;
    struct remote *remote;
    uint32_t remotes;
    uint32_t *remote_of, *place_of; /* per neighbour: its host, by `remote`, and its place there */
    char *block, *slots;            /* of all that can share memory; of this host */
    size_t block_bytes, slot_bytes, part_bytes, mail_bytes;
    size_t told_bytes;  /* of a part are kept for pieces without batches */
    uint32_t at_remote; /* bundles_next: where it is */
    const char *next, *end;
};

/* ---- who is where ---- */

struct where {
    uint32_t host, place;
};

/* Where all ranks are. */
static struct where *where_learn(struct ker_comm *all, const struct hosts *hosts)
{
    struct where own = {(uint32_t)hosts->number, (uint32_t)hosts->group.place}, *where;
    size_t *offset;
    ker_comm_allgather(all, &own, sizeof own, (void **)&where, &offset);
    free(offset);
    return where;
}

/* The rank at a place of a host. */
static uint32_t rank_at(const struct where *where, uint32_t ranks, uint32_t host, uint32_t place)
{
    uint32_t r = 0;
    while (r < ranks && (where[r].host != host || where[r].place != place))
        r++;
    return r;
}

/* To which hosts any rank of this one has a neighbour: a bit for each. */
static uint8_t *remotes_mark(const struct hosts *hosts, const struct channels *c, const struct where *where)
{
    size_t bytes = (size_t)hosts->count, *offset;
    uint8_t *own = ker_alloc(bytes), *all;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->neighbour[i].place < 0)
            own[where[c->neighbour[i].rank].host] = 1;
    ker_comm_allgather(hosts->here, own, bytes, (void **)&all, &offset);
    memset(own, 0, bytes);
    for (int r = hosts->group.from; r < hosts->group.from + hosts->group.size; r++)
        for (size_t i = 0; i < bytes; i++)
            own[i] |= all[offset[r] + i];
    free(all);
    free(offset);
    return own;
}

/* The other hosts that this one exchanges with; returns how many of them one rank bears at most. */
static uint32_t remotes_make(struct bundles *b, const struct hosts *hosts, const struct channels *c,
                             const struct where *where, uint32_t ranks)
{
    uint8_t *marked = remotes_mark(hosts, c, where);
    uint32_t *index = ker_alloc((size_t)hosts->count * sizeof *index), most = 0;
    uint32_t *borne = ker_alloc(b->size * sizeof *borne);
    for (uint32_t h = 0; h < (uint32_t)hosts->count; h++) {
        if (!marked[h])
            continue;
        struct remote r = {.number = h, .place = h % b->size, .request = MPI_REQUEST_NULL};
        for (uint32_t k = 0; k < ranks; k++)
            r.ranks += where[k].host == h;
        ker_assert(r.ranks > 0); /* it is marked */
        r.bearer = rank_at(where, ranks, h, (uint32_t)hosts->number % r.ranks);
        r.borne = borne[r.place]++;
        most = borne[r.place] > most ? borne[r.place] : most;
        index[h] = b->remotes;
        *KER_APPEND(b->remote, b->remotes) = r;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        struct where w = where[c->neighbour[i].rank];
        b->place_of[i] = w.place;
        b->remote_of[i] = c->neighbour[i].place < 0 ? index[w.host] : 0;
        if (c->neighbour[i].place < 0)
            b->remote[index[w.host]].own = true;
    }
    free(marked);
    free(index);
    free(borne);
    return most;
}

/* ---- memory ---- */

static struct part *part_of(const struct bundles *b, uint32_t place, uint32_t remote)
{
    size_t room = (size_t)b->remotes * b->part_bytes;
    return (struct part *)(void *)(b->slots + place * b->slot_bytes + (b->round & 1) * room +
                                   remote * b->part_bytes);
}

static struct mail *mail_of(const struct bundles *b, const struct remote *r)
{
    size_t rooms = 2 * (size_t)b->remotes * b->part_bytes;
    return (struct mail *)(void *)(b->slots + r->place * b->slot_bytes + rooms + r->borne * b->mail_bytes);
}

/* Parts are equal on all hosts: what is sent from one has room on another. */
static void memory_share(struct bundles *b, const struct hosts *hosts, struct ker_comm *all, size_t room,
                         uint32_t most_borne)
{
    int64_t most[] = {b->size, hosts->count - 1};
    ker_comm_max_i64(all, most, 2);
    size_t ranks = (size_t)most[0], part = room / (size_t)most[1] / LINE * LINE;
    b->told_bytes = ranks * sizeof(struct piece);
    size_t least = (sizeof(struct part) + b->told_bytes + LINE - 1) / LINE * LINE;
    b->part_bytes = part > least ? part : least;
    b->mail_bytes = (sizeof(struct mail) + sizeof(uint32_t) * (ranks + 1) + LINE - 1) / LINE * LINE;
    b->mail_bytes += b->part_bytes * ranks;
    int64_t slot = (int64_t)(2 * b->remotes * b->part_bytes + most_borne * b->mail_bytes);
    ker_comm_max_i64(hosts->here, &slot, 1);
    b->slot_bytes = (size_t)slot + LINE;
    b->block_bytes = b->slot_bytes * (size_t)ker_comm_size(hosts->here);
    b->block = ker_comm_share(hosts->here, b->block_bytes);
    b->slots = b->block ? b->block + b->slot_bytes * (size_t)hosts->group.from : NULL;
}

struct bundles *bundles_new(struct ker_comm *all, const struct hosts *hosts, const struct channels *c,
                            size_t room, bool sleep, bool naps)
{
    uint32_t ranks = (uint32_t)ker_comm_size(all);
    struct bundles *b = ker_alloc(sizeof *b);
    *b = (struct bundles){.mpi = ker_comm_mpi(all),
                          .rank = (uint32_t)ker_comm_rank(all),
                          .place = (uint32_t)hosts->group.place,
                          .size = (uint32_t)hosts->group.size,
                          .sleep = sleep,
                          .naps = naps,
                          .remote_of = ker_alloc((c->count + 1ull) * sizeof *b->remote_of),
                          .place_of = ker_alloc((c->count + 1ull) * sizeof *b->place_of)};
    struct where *where = where_learn(all, hosts);
    uint32_t most_borne = remotes_make(b, hosts, c, where, ranks);
    free(where);
    memory_share(b, hosts, all, room, most_borne);
    for (uint32_t i = 0; i < b->remotes; i++)
        if (b->remote[i].place == b->place)
            b->remote[i].message = ker_alloc(b->mail_bytes);
    if (ker_comm_worst(all, b->block ? KER_OK : KER_RUN_FAILED) == KER_OK)
        return b;
    bundles_free(b);
    return NULL;
}

void bundles_free(struct bundles *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; i < b->remotes; i++)
        free(b->remote[i].message);
    if (b->block)
        ker_comm_unshare(b->block, b->block_bytes);
    free(b->remote);
    free(b->remote_of);
    free(b->place_of);
    free(b);
}

/* ---- what is sent ---- */

void bundles_begin(struct bundles *b)
{
    b->round++;
    b->sent = false;
    for (uint32_t i = 0; i < b->remotes; i++)
        part_of(b, b->place, i)->used = 0;
    b->at_remote = 0;
    b->next = b->end = NULL;
}

char *bundles_room(struct bundles *b, uint32_t neighbour, size_t bytes)
{
    struct part *p = part_of(b, b->place, b->remote_of[neighbour]);
    struct piece head = {b->place_of[neighbour], b->rank, bytes};
    if (sizeof *p + p->used + sizeof head + bytes + b->told_bytes > b->part_bytes)
        head.bytes = 0;
    memcpy(p->data + p->used, &head, sizeof head);
    p->used += sizeof head + head.bytes;
    return head.bytes ? p->data + p->used - bytes : NULL;
}

/* Visits the pieces from `at` up to `end`. */
static const char *piece_read(const char *at, struct piece *head)
{
    memcpy(head, at, sizeof *head);
    return at + sizeof *head + head->bytes;
}

/* Puts the parts of all ranks together, by receivers. Returns the length of the message. */
static size_t message_make(struct bundles *b, uint32_t remote)
{
    struct remote *r = &b->remote[remote];
    uint32_t *begin = r->message;
    char *pieces = (char *)(begin + r->ranks + 1);
    struct piece head;
    memset(begin, 0, sizeof *begin * (r->ranks + 1));
    for (uint32_t place = 0; place < b->size; place++) {
        const struct part *p = part_of(b, place, remote);
        for (const char *at = p->data, *next; at < p->data + p->used; at = next) {
            next = piece_read(at, &head);
            begin[head.place + 1] += (uint32_t)(next - at);
        }
    }
    for (uint32_t place = 0; place < r->ranks; place++)
        begin[place + 1] += begin[place];
    for (uint32_t place = 0; place < b->size; place++) {
        const struct part *p = part_of(b, place, remote);
        for (const char *at = p->data, *next; at < p->data + p->used; at = next) {
            next = piece_read(at, &head);
            memcpy(pieces + begin[head.place], at, (size_t)(next - at));
            begin[head.place] += (uint32_t)(next - at);
        }
    }
    for (uint32_t place = r->ranks; place > 0; place--) /* each is where the next begins */
        begin[place] = begin[place - 1];
    begin[0] = 0;
    return (size_t)(pieces - (char *)begin) + begin[r->ranks];
}

uint64_t bundles_send(struct bundles *b)
{
    uint64_t messages = 0;
    for (uint32_t i = 0; i < b->remotes && !b->sent; i++) {
        struct remote *r = &b->remote[i];
        if (r->place != b->place)
            continue;
        size_t bytes = message_make(b, i);
        MPI_Isend(r->message, (int)bytes, MPI_BYTE, (int)r->bearer, TAG_BUNDLE, b->mpi, &r->request);
        messages++;
    }
    b->sent = true;
    return messages;
}

/* ---- what is received ---- */

static void mail_await(const struct bundles *b, const struct remote *r, struct mail *m)
{
    const struct timespec moment = {0, 20000};
    MPI_Request request;
    int room = (int)(b->mail_bytes - sizeof *m);
    if (!b->naps) {
        MPI_Recv(m->begin, room, MPI_BYTE, (int)r->bearer, TAG_BUNDLE, b->mpi, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Irecv(m->begin, room, MPI_BYTE, (int)r->bearer, TAG_BUNDLE, b->mpi, &request);
    for (int looks = 0, done = 0; !done; looks++) {
        if (looks > LOOKS)
            nanosleep(&moment, NULL);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

void bundles_receive(struct bundles *b)
{
    for (uint32_t i = 0; i < b->remotes; i++) {
        struct remote *r = &b->remote[i];
        if (r->place != b->place)
            continue;
        struct mail *m = mail_of(b, r);
        mail_await(b, r, m);
        ker_flag_set(&m->round, b->round);
    }
}

/* What the next host with neighbours has for this rank. */
static bool remote_open(struct bundles *b)
{
    while (b->at_remote < b->remotes && !b->remote[b->at_remote].own)
        b->at_remote++;
    if (b->at_remote == b->remotes)
        return false;
    struct mail *m = mail_of(b, &b->remote[b->at_remote++]);
    ker_flag_wait(&m->round, b->round, !b->sleep, 0);
    const char *pieces = (const char *)(m->begin + b->size + 1);
    b->next = pieces + m->begin[b->place];
    b->end = pieces + m->begin[b->place + 1];
    return true;
}

bool bundles_next(struct bundles *b, struct bundle *bundle)
{
    struct piece head;
    while (b->next == b->end)
        if (!remote_open(b))
            return false;
    const char *data = b->next + sizeof head;
    b->next = piece_read(b->next, &head);
    *bundle = (struct bundle){head.from, head.bytes ? data : NULL};
    return true;
}

void bundles_end(struct bundles *b)
{
    for (uint32_t i = 0; i < b->remotes; i++)
        if (b->remote[i].place == b->place)
            MPI_Wait(&b->remote[i].request, MPI_STATUS_IGNORE);
}
