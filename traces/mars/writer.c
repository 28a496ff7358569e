/* writer.c - fills an open block, and appends it to the file when it is full.
 *
 * A shape is looked for in a hash table of the block's shapes; a block ends when rows, shapes, polls or bytes
 * of shapes are used up. The open block keeps its address while it grows for a shape longer than its room.
 */
#define _GNU_SOURCE
#include "traces/mars/writer.h"

#include "traces/mars/open.h"
#include "traces/mars/varint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM ((size_t)96 << 10)       /* bytes of shapes, at first */
#define DEFINITIONS ((size_t)1 << 18) /* bytes of them in a block, when there are several */
#define TABLE (2 * MARS_SHAPES)

struct entry {
    uint32_t hash;
    uint32_t shape; /* 1 + number; 0: free */
};

struct mars_writer {
    struct mars_open *open;
    size_t mapped;
    struct mars_writer_setup setup;
    int map;    /* the open block's file; -1: it lies in memory only */
    char *path; /* of that file */
    bool failed;
    uint64_t line, away; /* of all times so far, ns */
    struct mars_payload payload;
    struct entry table[TABLE];
};

static size_t mapped_bytes(size_t room)
{
    return (sizeof(struct mars_open) + room + 4095) & ~(size_t)4095;
}

/* Where the open block lies when its file cannot be made: it is then lost with the process. */
static void *map_block(struct mars_writer *writer)
{
    writer->mapped = mapped_bytes(ROOM);
    if (asprintf(&writer->path, "%s.open-%u", writer->setup.path, writer->setup.thread) < 0)
        return MAP_FAILED;
    writer->map = open(writer->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (writer->map >= 0 && ftruncate(writer->map, (off_t)writer->mapped) == 0) {
        void *map = mmap(NULL, writer->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, writer->map, 0);
        if (map != MAP_FAILED)
            return map;
    }
    if (writer->map >= 0)
        close(writer->map);
    writer->map = -1;
    return mmap(NULL, writer->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

struct mars_writer *mars_writer_new(const struct mars_writer_setup *setup)
{
    struct mars_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return NULL;
    writer->setup = *setup;
    mars_payload_init(&writer->payload, setup->level);
    writer->open = map_block(writer);
    if (writer->open == MAP_FAILED) {
        free(writer->path);
        free(writer);
        return NULL;
    }
    memcpy(writer->open->magic, MARS_OPEN_MAGIC, sizeof writer->open->magic);
    writer->open->kind = setup->thread == MARS_DEFINITIONS ? MARS_BLOCK_DEFINITIONS : MARS_BLOCK_CALLS;
    writer->open->task = setup->task;
    writer->open->thread = setup->thread;
    writer->open->counters = setup->counters;
    writer->open->room = writer->mapped - sizeof(struct mars_open);
    return writer;
}

/* One write, so that blocks of several threads do not mix. */
static bool append(int file, const uint8_t *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t written = write(file, data, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        data += written;
        bytes -= (size_t)written;
    }
    return true;
}

bool mars_writer_flush(struct mars_writer *writer)
{
    struct mars_open *open = writer->open;
    if (open->records == 0)
        return !writer->failed;
    if (!mars_open_block(open, &writer->payload) ||
        !append(writer->setup.file, writer->payload.data, writer->payload.bytes))
        writer->failed = true;
    uint64_t elapsed = writer->line / writer->setup.resolution_ns;
    open->records = 0; /* from here on nothing of it would be read twice */
    open->sequence++;
    open->before += open->calls;
    open->elapsed = elapsed;
    open->calls = 0;
    open->shapes = 0;
    open->polled = 0;
    open->owns = 0;
    open->bytes = 0;
    memset(writer->table, 0, sizeof writer->table);
    return !writer->failed;
}

bool mars_writer_close(struct mars_writer *writer)
{
    bool fine = mars_writer_flush(writer);
    munmap(writer->open, writer->mapped);
    if (writer->map >= 0) {
        close(writer->map);
        unlink(writer->path);
    }
    free(writer->path);
    mars_payload_release(&writer->payload);
    free(writer);
    return fine;
}

bool mars_writer_full(const struct mars_writer *writer, size_t bytes)
{
    const struct mars_open *open = writer->open;
    return open->records > 0 &&
           (open->records == MARS_ROWS || open->shapes == MARS_SHAPES || open->polled == MARS_POLLED ||
            open->room - open->bytes < bytes + MARS_VARINT_MOST);
}

/* Room for more bytes behind those there are. */
static bool reserve(struct mars_writer *writer, size_t bytes)
{
    struct mars_open *open = writer->open;
    if (open->room - open->bytes >= bytes)
        return true;
    size_t wanted = mapped_bytes(2 * (open->bytes + bytes));
    if (writer->map >= 0 && ftruncate(writer->map, (off_t)wanted) != 0)
        return false;
    void *moved = mremap(open, writer->mapped, wanted, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED)
        return false;
    writer->open = moved;
    writer->mapped = wanted;
    writer->open->room = wanted - sizeof(struct mars_open);
    return true;
}

static uint32_t hash_of(const uint8_t *data, size_t bytes)
{
    uint64_t hash = bytes * 0x9e3779b97f4a7c15u, word;
    for (; bytes >= 8; bytes -= 8, data += 8) {
        memcpy(&word, data, 8);
        hash = (hash ^ word) * 0xbf58476d1ce4e5b9u;
        hash ^= hash >> 29;
    }
    word = 0;
    for (size_t i = 0; i < bytes; i++)
        word |= (uint64_t)data[i] << 8 * i;
    hash = (hash ^ word) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(hash >> 32) | 1;
}

static bool shape_is(const struct mars_open *open, uint32_t shape, const uint8_t *data, size_t bytes)
{
    uint32_t start = shape ? open->end[shape - 1] : 0;
    return open->end[shape] - start == bytes && memcmp(open->data + start, data, bytes) == 0;
}

/* The number of a shape, a new one if need be; UINT32_MAX: no memory. */
static uint32_t shape_find(struct mars_writer *writer, const uint8_t *data, size_t bytes)
{
    struct mars_open *open = writer->open;
    uint32_t hash = hash_of(data, bytes), at = hash / 2 % TABLE;
    for (; writer->table[at].shape; at = (at + 1) % TABLE)
        if (writer->table[at].hash == hash && shape_is(open, writer->table[at].shape - 1, data, bytes))
            return writer->table[at].shape - 1;
    if (!reserve(writer, bytes))
        return UINT32_MAX;
    open = writer->open;
    memcpy(open->data + open->bytes, data, bytes);
    open->bytes += bytes;
    open->end[open->shapes] = (uint32_t)open->bytes;
    writer->table[at] = (struct entry){hash, ++open->shapes};
    return open->shapes - 1;
}

/* The part of a sum that grows by `ns` in units of the resolution, without drift. */
static uint64_t units(uint64_t *sum, uint64_t ns, uint64_t resolution)
{
    uint64_t before = *sum / resolution;
    *sum += ns;
    return *sum / resolution - before;
}

/* Gaps, durations and what lies between polls are parts of one time line; what the thread was away is a sum
 * of its own. */
static void row_times(struct mars_writer *writer, struct mars_row *row, const struct mars_times *times)
{
    uint64_t unit = writer->setup.resolution_ns;
    if (unit == 1) {
        row->gap = times->gap;
        row->duration = times->duration;
        row->away = times->away;
        writer->line += times->gap + times->duration;
        return;
    }
    row->gap = units(&writer->line, times->gap, unit);
    row->duration = units(&writer->line, times->duration, unit);
    row->away = units(&writer->away, times->away, unit);
}

void mars_writer_call(struct mars_writer *writer, const uint8_t *shape, size_t bytes,
                      const struct mars_times *times, const struct mars_polls *polls, mars_time_of_day *now)
{
    if (mars_writer_full(writer, bytes))
        mars_writer_flush(writer);
    uint32_t number = shape_find(writer, shape, bytes);
    struct mars_open *open = writer->open;
    if (number == UINT32_MAX) {
        writer->failed = true;
        return;
    }
    if (open->records == 0)
        open->start_ns = now() - times->gap - times->duration;
    struct mars_row *row = &open->row[open->records];
    row_times(writer, row, times);
    for (unsigned i = 0; i < writer->setup.counters; i++)
        open->counted[open->records][i] = times->counted[i];
    if (times->own && !open->owns && open->records > 0) /* of the first one nobody asks */
        open->owns = open->records + 1;
    if (open->owns)
        open->own[open->records] = times->own;
    row->shape = number;
    row->polls = 0;
    if (polls) {
        open->poll[open->polled].count = polls->count;
        open->poll[open->polled].rest = units(&writer->line, polls->rest, writer->setup.resolution_ns);
        row->polls = ++open->polled;
    }
    open->calls += polls ? polls->count : 1;
    __atomic_store_n(&open->records, open->records + 1, __ATOMIC_RELEASE);
}

void mars_writer_define(struct mars_writer *writer, unsigned kind, const uint8_t *data, size_t bytes)
{
    if (!reserve(writer, bytes + 2 * MARS_VARINT_MOST)) {
        writer->failed = true;
        return;
    }
    struct mars_open *open = writer->open;
    if (open->bytes > 0 && open->bytes + bytes > DEFINITIONS)
        mars_writer_flush(writer);
    uint8_t *at = mars_put(mars_put(open->data + open->bytes, kind), bytes);
    memcpy(at, data, bytes);
    open->bytes = (uint64_t)(at + bytes - open->data);
    __atomic_store_n(&open->records, open->records + 1, __ATOMIC_RELEASE);
}
