/* large-trace.c - writes a merged trace of marstrace with very many calls: large-trace FILE TASKS CALLS
 *
 * Tasks in a ring: each step is MPI_Irecv from the left, MPI_Isend of 64 bytes to the right, and MPI_Wait for
 * both, four calls of 100 ns with 100 ns of computation before each. One block, of 16,384 calls at most, is
 * encoded by the tracer's own writer; all others are its bytes again, under headers of their own. CALLS is of
 * all tasks together and is rounded up to whole steps and blocks; MPI_Init and MPI_Finalize come besides.
 */
#define _GNU_SOURCE
#include "traces/mars/mars.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEP_CALLS 4
#define CALL_NS 200

enum { INIT = 1, IRECV, ISEND, WAIT, FINALIZE };

static const char *path;
static int out;
static uint64_t end;
static struct mars_piece *piece;
static size_t pieces, room;
static uint64_t rows; /* of a block of steps */

static void demand(bool fine, const char *what)
{
    if (fine)
        return;
    perror(what);
    exit(1);
}

static uint64_t time_of_day(void)
{
    return 0;
}

static void call(struct mars_writer *writer, unsigned function, unsigned count, const int64_t *field)
{
    static const struct mars_times times = {.gap = 100, .duration = 100};
    uint8_t shape[100], *at = mars_put(shape, function << 1);
    for (unsigned i = 0; i < count; i++)
        at = mars_put_signed(at, field[i]);
    mars_writer_call(writer, shape, (size_t)(at - shape), &times, NULL, time_of_day);
}
#define CALL(writer, function, ...)                                                                          \
    call(writer, function, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

/* One request, which is complete: where its message came from (-5: nowhere), and its bytes. */
static void waited(struct mars_writer *writer, int64_t request, int64_t from, int64_t bytes)
{
    static const struct mars_times times = {.gap = 100, .duration = 100};
    uint8_t shape[100], *at = mars_put(mars_put(shape, WAIT << 1), 1);
    at = mars_put(mars_put_signed(at, request), 4);
    int64_t done[4] = {0, from, 0, bytes}, last = 0;
    for (int i = 0; i < 4; last = done[i++]) /* lists are differences */
        at = mars_put_signed(at, done[i] - last);
    mars_writer_call(writer, shape, (size_t)(at - shape), &times, NULL, time_of_day);
}

static void define(struct mars_writer *writer, unsigned kind, unsigned number, const char *text)
{
    uint8_t data[200], *at = number ? mars_put(data, number) : data;
    memcpy(at, text, strlen(text));
    mars_writer_define(writer, kind, data, (size_t)(at + strlen(text) - data));
}

static void definitions(struct mars_writer *writer, uint32_t task, uint32_t tasks)
{
    uint8_t *comm = malloc(100 + MARS_RANKS_MOST(tasks)), *at = mars_put(comm, 1);
    int32_t *rank = malloc(tasks * sizeof *rank);
    demand(comm && rank, "memory");
    define(writer, MARS_DEFINE_INFO, 0, "resolution_ns=1");
    define(writer, MARS_DEFINE_FUNCTION, INIT, "MPI_Init");
    define(writer, MARS_DEFINE_FUNCTION, IRECV, "MPI_Irecv recvbytes source tag comm request");
    define(writer, MARS_DEFINE_FUNCTION, ISEND, "MPI_Isend bytes dest tag comm request");
    define(writer, MARS_DEFINE_FUNCTION, WAIT, "MPI_Wait requests[] done[]");
    define(writer, MARS_DEFINE_FUNCTION, FINALIZE, "MPI_Finalize");
    for (uint32_t i = 0; i < tasks; i++)
        rank[i] = (int32_t)i;
    mars_store(at, 7, 8); /* the world */
    at = mars_put_signed(mars_put(mars_put(at + 8, 0), 0), task);
    at = mars_ranks_put(at, rank, tasks);
    mars_writer_define(writer, MARS_DEFINE_COMM, comm, (size_t)(at - comm));
    free(comm);
    free(rank);
}

static struct mars_writer *writer_new(int file, const char *name, uint32_t task, unsigned thread)
{
    struct mars_writer *writer = mars_writer_new(&(struct mars_writer_setup){.file = file,
                                                                             .path = name,
                                                                             .task = task,
                                                                             .thread = (uint16_t)thread,
                                                                             .resolution_ns = 1,
                                                                             .level = 19});
    demand(writer, name);
    return writer;
}

/* A task's blocks as its file has them: definitions, MPI_Init, a block of steps, MPI_Finalize. */
static uint8_t *blocks_make(uint32_t task, uint32_t tasks)
{
    char *name = NULL;
    demand(asprintf(&name, "%s.part", path) > 0, "memory");
    int file = open(name, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0666);
    demand(file >= 0, name);
    struct mars_writer *defines = writer_new(file, name, task, MARS_DEFINITIONS);
    definitions(defines, task, tasks);
    demand(mars_writer_close(defines), name);
    struct mars_writer *writer = writer_new(file, name, task, 0);
    call(writer, INIT, 0, NULL);
    demand(mars_writer_flush(writer), name);
    for (uint64_t i = 0; i < rows / STEP_CALLS; i++) {
        CALL(writer, IRECV, 64, (task + tasks - 1) % tasks, 0, 1, 1);
        CALL(writer, ISEND, 64, (task + 1) % tasks, 0, 1, 2);
        waited(writer, 1, (task + tasks - 1) % tasks, 64);
        waited(writer, 2, -5, 0);
    }
    demand(mars_writer_flush(writer), name);
    call(writer, FINALIZE, 0, NULL);
    demand(mars_writer_close(writer), name);
    off_t bytes = lseek(file, 0, SEEK_END);
    uint8_t *data = malloc((size_t)bytes);
    demand(data && pread(file, data, (size_t)bytes, 0) == bytes, name);
    close(file);
    unlink(name);
    free(name);
    return data;
}

static void write_all(const void *data, size_t bytes)
{
    demand(write(out, data, bytes) == (ssize_t)bytes, path);
    end += bytes;
}

static void block_write(struct mars_block block, const uint8_t *payload)
{
    uint8_t header[MARS_BLOCK_BYTES];
    if (pieces == room)
        piece = realloc(piece, (room = 2 * room + 64) * sizeof *piece);
    demand(piece, "memory");
    piece[pieces++] = (struct mars_piece){.offset = end, .block = block};
    mars_block_put(header, &block);
    write_all(header, sizeof header);
    write_all(payload, block.payload_bytes);
}

static void task_write(uint32_t task, uint32_t tasks, uint64_t repeats)
{
    uint8_t *data = blocks_make(task, tasks), *at = data;
    struct mars_block block[4];
    const uint8_t *payload[4];
    for (int i = 0; i < 4; i++) {
        demand(mars_block_get(at, MARS_BLOCK_BYTES, &block[i]), "a block's header");
        payload[i] = at + MARS_BLOCK_BYTES;
        at += MARS_BLOCK_BYTES + block[i].payload_bytes;
    }
    block_write(block[0], payload[0]);
    block_write(block[1], payload[1]);
    for (uint64_t i = 0; i < repeats; i++) {
        block_write(block[2], payload[2]);
        block[2].sequence++;
        block[2].before += rows;
        block[2].elapsed += rows * CALL_NS;
        block[2].start_ns += rows * CALL_NS;
    }
    block[3].sequence = block[2].sequence;
    block[3].before = block[2].before;
    block[3].elapsed = block[2].elapsed;
    block_write(block[3], payload[3]);
    block_write((struct mars_block){.kind = MARS_BLOCK_END, .task = task}, NULL);
    free(data);
}

int main(int argc, char **argv)
{
    uint8_t head[MARS_HEAD_BYTES], foot[16];
    if (argc != 4 || atoi(argv[2]) < 2 || atoll(argv[3]) < 1) {
        fprintf(stderr, "large-trace FILE TASKS CALLS\n");
        return 2;
    }
    path = argv[1];
    uint32_t tasks = (uint32_t)atoi(argv[2]);
    uint64_t each = (strtoull(argv[3], NULL, 10) / tasks + STEP_CALLS - 1) / STEP_CALLS * STEP_CALLS;
    rows = each < MARS_ROWS ? each : MARS_ROWS;
    uint64_t repeats = (each + rows - 1) / rows;
    out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    demand(out >= 0, path);
    mars_head_put(head, MARS_FILE_MERGED);
    write_all(head, sizeof head);
    for (uint32_t task = 0; task < tasks; task++)
        task_write(task, tasks, repeats);
    struct mars_payload payload;
    mars_payload_init(&payload, 3);
    demand(mars_index_encode(piece, pieces, &payload), "memory");
    mars_store(foot, end, 8);
    memcpy(foot + 8, "marsend\n", 8);
    write_all(payload.data, payload.bytes);
    write_all(foot, sizeof foot);
    demand(close(out) == 0, path);
    printf("%llu calls\n", (unsigned long long)(repeats * rows * tasks + 2ull * tasks));
    return 0;
}
