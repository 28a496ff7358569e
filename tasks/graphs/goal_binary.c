/* GOAL schedules in the binary form of LogGOPSim's text converter, which its later users have kept. All
 * numbers are little-endian and lie without gaps:
 *
 *     u64 4223; u32 ranks; u8 largest cpu; u8 largest nic
 *     per rank  u64 begin, u64 end: of its part, counted from byte 8 of the file
 *     per rank  u32 operations; u32 roots; u32 number of an operation without dependencies [roots]
 *               per operation  u32 dependencies; u8 kind (1 send, 2 receive, 3 calculation); u32 peer;
 *                              u64 size or time; u32 tag; u8 cpu; u8 nic;
 *                              u32 waiters, u32 first of them; u32 waiters for its begin, u32 first of them
 *               u32 number of an operation that waits [all of them]
 *
 * The writer puts the ranks one behind the other, and so the waiters: nothing else is read here. One pass
 * over the file, besides which the table of begins and ends is read.
 *
 * Invariant: what the file says twice is the same both times.
 */
#include "tasks/graphs/build.h"
#include "tasks/graphs/goal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER_BYTES 14
#define TABLE_BYTES 16 /* of a rank */
#define OP_BYTES 39
#define OP_BEGIN_WAITERS 31 /* where they are in an operation */
#define OP_BYTES_OF_2 104   /* LogGOPSim 2: 65 more behind these */
#define PIECE_BYTES ((size_t)1 << 18)

/* A part of a file, read piece by piece. */
struct stream {
    int file;
    uint64_t at; /* of the next byte that is taken */
    struct ker_digest *digest;
    char *piece;
    size_t used, got;
};

struct waiters {
    uint32_t done, begin; /* this many */
    uint32_t before;      /* dependencies that are still to be found */
};

struct binary {
    const char *name;
    struct ker_error *error;
    struct ker_digest digest;
    struct stream data, table;
    struct graph_build build;
    uint64_t bytes, unit, end; /* of the file; of a time; where the rank ends */
    bool checked;              /* the layout */
    uint32_t ranks, rank;
    uint8_t cpu, nic; /* the largest */
    struct waiters *waiters;
    size_t ops, room;
};

#define binary_fail(b, ...) ker_fail((b)->error, KER_BAD_INPUT, __VA_ARGS__)

static uint32_t u32_at(const char *bytes)
{
    uint32_t number;
    memcpy(&number, bytes, sizeof number);
    return number;
}

static uint64_t u64_at(const char *bytes)
{
    uint64_t number;
    memcpy(&number, bytes, sizeof number);
    return number;
}

static bool stream_more(struct stream *s)
{
    ssize_t got;
    do
        got = pread(s->file, s->piece, PIECE_BYTES, (off_t)s->at);
    while (got < 0 && errno == EINTR);
    s->used = 0;
    s->got = got > 0 ? (size_t)got : 0;
    if (s->digest)
        ker_digest_add(s->digest, s->piece, s->got);
    return got > 0;
}

static bool stream_take(struct stream *s, char *to, size_t bytes)
{
    while (bytes > 0) {
        if (s->used == s->got && !stream_more(s))
            return false;
        size_t now = s->got - s->used < bytes ? s->got - s->used : bytes;
        if (to)
            memcpy(to, s->piece + s->used, now);
        to = to ? to + now : NULL;
        s->used += now;
        s->at += now;
        bytes -= now;
    }
    return true;
}

static enum ker_status take(struct binary *b, char *to, size_t bytes)
{
    return stream_take(&b->data, to, bytes) ? KER_OK
                                            : binary_fail(b, "%s: the file ends at byte %llu, within rank %u",
                                                          b->name, (unsigned long long)b->data.at, b->rank);
}

/* ---- a rank ---- */

static enum ker_status op_check(struct binary *b, const struct graph_op *op, unsigned kind)
{
    const char *what = NULL;
    if (kind < 1 || kind > 3)
        return binary_fail(
            b, "%s: operation %u of rank %u is of kind %u; there are 1, send, 2, receive, and 3, calculation",
            b->name, op->line, b->rank, kind);
    if (op->cpu > b->cpu || op->nic > b->nic)
        what = "a cpu or nic above the largest that the file's header names";
    else if (op->kind == GRAPH_CALCULATION && op->amount > KER_TIME_MAX / b->unit)
        what = "a time of more than 106 days";
    else if (op->kind != GRAPH_CALCULATION && op->peer >= b->ranks &&
             !(op->kind == GRAPH_RECEIVE && op->peer == GRAPH_ANY))
        return binary_fail(b, "%s: operation %u of rank %u has the peer %u; there are the ranks 0 to %u",
                           b->name, op->line, b->rank, op->peer, b->ranks - 1);
    return what ? binary_fail(b, "%s: operation %u of rank %u has %s", b->name, op->line, b->rank, what)
                : KER_OK;
}

/* waiters: how many there are of the operations before it. */
static enum ker_status op_read(struct binary *b, uint32_t *waiters)
{
    static const uint8_t kinds[] = {0, GRAPH_SEND, GRAPH_RECEIVE, GRAPH_CALCULATION};
    char text[OP_BYTES];
    enum ker_status status = take(b, text, sizeof text);
    if (status != KER_OK)
        return status;
    unsigned kind = (uint8_t)text[4];
    struct graph_op op = {.amount = u64_at(text + 9),
                          .peer = u32_at(text + 5),
                          .tag = u32_at(text + 17),
                          .line = (uint32_t)b->ops,
                          .kind = kinds[kind & 3],
                          .cpu = (uint8_t)text[21],
                          .nic = (uint8_t)text[22]};
    status = op_check(b, &op, kind);
    if (status != KER_OK)
        return status;
    struct waiters w = {u32_at(text + 23), u32_at(text + 31), u32_at(text)};
    uint64_t behind = (uint64_t)*waiters + w.done;
    if (behind + w.begin > UINT32_MAX || u32_at(text + 27) != *waiters || u32_at(text + 35) != behind)
        return binary_fail(
            b,
            "%s: the operations that wait for operation %u of rank %u are not behind those of the one before",
            b->name, op.line, b->rank);
    *waiters = (uint32_t)(behind + w.begin);
    if (kind == 3) {
        op.amount *= b->unit;
        op.peer = op.tag = 0;
    }
    *KER_PUSH(b->waiters, b->ops, b->room) = w;
    graph_build_op(&b->build, &op);
    return KER_OK;
}

/* `count` operations wait for operation `on`. */
static enum ker_status waiters_read(struct binary *b, size_t on, uint32_t count, bool begin)
{
    char text[4];
    for (; count; count--) {
        enum ker_status status = take(b, text, sizeof text);
        uint32_t op = u32_at(text);
        if (status != KER_OK)
            return status;
        if (op >= b->ops || b->waiters[op].before == 0)
            return binary_fail(
                b,
                op >= b->ops
                    ? "%s: operation %u of rank %u does not exist, but waits for operation %zu"
                    : "%s: operation %u of rank %u waits for more than it says, for operation %zu, too",
                b->name, op, b->rank, on);
        b->waiters[op].before--;
        graph_build_edge(&b->build, (struct graph_edge){(uint32_t)on, op, begin});
    }
    return KER_OK;
}

static enum ker_status edges_read(struct binary *b)
{
    enum ker_status status = KER_OK;
    for (size_t i = 0; i < b->ops && status == KER_OK; i++) {
        status = waiters_read(b, i, b->waiters[i].done, false);
        status = status ?: waiters_read(b, i, b->waiters[i].begin, true);
    }
    for (size_t i = 0; i < b->ops && status == KER_OK; i++)
        if (b->waiters[i].before)
            status = binary_fail(b, "%s: operation %zu of rank %u waits for %u more than the file names",
                                 b->name, i, b->rank, b->waiters[i].before);
    return status;
}

/* Whether operations of this many bytes fill the part of a rank, which begins at `from`: the waiters that its
 * last operation counts end where the part does. */
static bool rank_fits(const struct binary *b, uint64_t from, uint64_t end, uint32_t ops, uint32_t roots,
                      unsigned bytes)
{
    char text[8];
    uint64_t waiters = from + 8 + 4 * (uint64_t)roots + (uint64_t)bytes * ops;
    if (waiters > end ||
        pread(b->data.file, text, sizeof text, (off_t)(waiters - bytes + OP_BEGIN_WAITERS)) != sizeof text)
        return false;
    return waiters + 4 * ((uint64_t)u32_at(text) + u32_at(text + 4)) == end;
}

static enum ker_status layout_check(struct binary *b, uint64_t from, uint64_t end, uint32_t ops,
                                    uint32_t roots)
{
    if (rank_fits(b, from, end, ops, roots, OP_BYTES))
        return KER_OK;
    if (rank_fits(b, from, end, ops, roots, OP_BYTES_OF_2))
        return binary_fail(
            b,
            "%s: is of LogGOPSim 2, whose operations have %d bytes; those of LogGOPSim, %d bytes, are "
            "read, and the text",
            b->name, OP_BYTES_OF_2, OP_BYTES);
    return binary_fail(
        b,
        "%s: rank %u, bytes %llu to %llu by the file's table, is not filled by its %u operations of %d bytes",
        b->name, b->rank, (unsigned long long)from, (unsigned long long)end, ops, OP_BYTES);
}

/* The list of operations without dependencies is passed over: the operations say it. */
static enum ker_status rank_begin(struct binary *b, uint32_t *ops)
{
    char entry[TABLE_BYTES], text[8];
    uint64_t from = b->data.at;
    *ops = 0;
    if (!stream_take(&b->table, entry, sizeof entry))
        return binary_fail(b, "%s: the file ends within its table of ranks", b->name);
    if (u64_at(entry) + 8 != from)
        return binary_fail(
            b, "%s: rank %u begins at byte %llu by the file's table, but what is before it ends at byte %llu",
            b->name, b->rank, (unsigned long long)u64_at(entry) + 8, (unsigned long long)from);
    b->end = u64_at(entry + 8) + 8;
    enum ker_status status = take(b, text, sizeof text);
    if (status != KER_OK)
        return status;
    *ops = u32_at(text);
    if (*ops && !b->checked)
        status = layout_check(b, from, b->end, *ops, u32_at(text + 4));
    b->checked |= *ops != 0; /* the others are of the same layout */
    return status == KER_OK ? take(b, NULL, 4 * (size_t)u32_at(text + 4)) : status;
}

static enum ker_status rank_read(struct binary *b)
{
    uint32_t ops, waiters = 0;
    enum ker_status status = rank_begin(b, &ops);
    b->ops = 0;
    while (status == KER_OK && b->ops < ops)
        status = op_read(b, &waiters);
    if (status == KER_OK && b->end != b->data.at + 4 * (uint64_t)waiters)
        status = binary_fail(
            b, "%s: rank %u ends at byte %llu by the file's table, at byte %llu by what it has", b->name,
            b->rank, (unsigned long long)b->end, (unsigned long long)(b->data.at + 4 * (uint64_t)waiters));
    status = status ?: edges_read(b);
    return status == KER_OK ? graph_build_task(&b->build) : status;
}

/* ---- files ---- */

static enum ker_status header_read(struct binary *b)
{
    char text[HEADER_BYTES];
    if (!stream_take(&b->data, text, sizeof text))
        return binary_fail(b, "%s: the file ends within its header", b->name);
    b->ranks = u32_at(text + 8);
    b->cpu = (uint8_t)text[12];
    b->nic = (uint8_t)text[13];
    uint64_t least = HEADER_BYTES + (uint64_t)b->ranks * (TABLE_BYTES + 8);
    if (b->ranks == 0 || b->ranks > GOAL_MOST_RANKS || b->bytes < least)
        return binary_fail(
            b, "%s: the header says %u ranks; 1 to %u are possible, and a file of %llu bytes has up to %llu",
            b->name, b->ranks, GOAL_MOST_RANKS, (unsigned long long)b->bytes,
            (unsigned long long)(b->bytes - HEADER_BYTES) / (TABLE_BYTES + 8));
    return KER_OK;
}

static enum ker_status binary_open(struct binary *b, const char *name, int file, uint64_t bytes,
                                   struct ker_error *error)
{
    *b = (struct binary){.name = name, .error = error, .bytes = bytes};
    b->data = (struct stream){.file = file, .digest = &b->digest, .piece = ker_realloc(NULL, PIECE_BYTES)};
    b->table = (struct stream){.file = file, .at = HEADER_BYTES, .piece = ker_realloc(NULL, PIECE_BYTES)};
    return header_read(b);
}

static void binary_close(struct binary *b)
{
    free(b->data.piece);
    free(b->table.piece);
    free(b->waiters);
}

bool goal_is_binary(int file)
{
    static const char magic[8] = {0x7f, 0x10}; /* 4223 */
    char text[8];
    return pread(file, text, sizeof text, 0) == sizeof text && memcmp(text, magic, sizeof text) == 0;
}

enum ker_status goal_binary_tasks(const char *name, int file, uint64_t bytes, uint32_t *tasks,
                                  struct ker_error *error)
{
    struct binary b;
    enum ker_status status = binary_open(&b, name, file, bytes, error);
    *tasks = b.ranks;
    binary_close(&b);
    return status;
}

static enum ker_status ranks_read(struct binary *b)
{
    enum ker_status status = take(b, NULL, (size_t)b->ranks * TABLE_BYTES);
    for (; status == KER_OK && b->rank < b->ranks; b->rank++)
        status = rank_read(b);
    if (status == KER_OK && (b->data.used < b->data.got || stream_more(&b->data)))
        status = binary_fail(b, "%s: the file continues behind its last rank, which ends at byte %llu",
                             b->name, (unsigned long long)b->data.at);
    return status;
}

enum ker_status goal_binary_read(struct graph **graph, const char *name, int file, uint64_t bytes,
                                 const struct graph_form *form, uint32_t first, uint32_t count,
                                 struct ker_error *error)
{
    struct binary b;
    enum ker_status status = binary_open(&b, name, file, bytes, error);
    b.unit = form->unit;
    if (status == KER_OK && (first > b.ranks || count > b.ranks - first))
        status = binary_fail(&b, "%s: has %u ranks, not what it had when it was read before", name, b.ranks);
    if (status == KER_OK) {
        graph_build_begin(&b.build, name, b.ranks, first, count, error);
        b.build.list = form->list;
        b.build.graph->numbered = true;
        status = ranks_read(&b);
        if (status == KER_OK) {
            struct graph *g = b.build.graph;
            g->cpus = b.cpu + 1u;
            g->nics = b.nic + 1u;
        }
        graph_build_end(&b.build, status == KER_OK ? graph : NULL);
    }
    do /* what was not looked at counts, too: a rank may have failed because it has another file */
        b.data.at += b.data.got - b.data.used;
    while (stream_more(&b.data));
    ker_input_add(form->inputs, name, &b.digest);
    binary_close(&b);
    return status;
}
