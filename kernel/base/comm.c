/* comm.c - ranks by MPI, or one rank without it.
 *
 * A comm whose `mpi` is MPI_COMM_NULL is alone: every collective is the identity and MPI is never called.
 * Ranks of one host exchange everything in memory that they share (comm_shared.c), and who waits
 * sleeps. On several hosts it uses MPI, in pieces of at most PIECE_BYTES, since MPI counts with int.
 * There gathers go from each rank to rank 0 in rank order: they happen at set-up and at the end, where the
 * volume is what costs, not the number of messages.
 *
 * Comms of all ranks use MPI_COMM_WORLD and one block of shared memory, both of the process: making others
 * would cost more than many a run.
 */
#include "kernel/base/comm_mpi.h"
#include "kernel/base/comm_shared.h"
#include "kernel/base/segment.h"

#include "kernel/base/error.h"
#include "kernel/base/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PIECE_BYTES ((size_t)1 << 30)

struct ker_comm {
    MPI_Comm mpi;
    int rank, size, host_size;
    struct comm_shared *shared; /* NULL: alone, or on several hosts */
    bool ends_mpi;              /* this one started it */
    bool counted;               /* among the world's users */
    bool owns;                  /* `mpi` and `shared`, which are the world's otherwise */
};

/* Of all ranks, as long as a comm uses it. */
static struct world {
    int users, host_size;
    struct comm_shared *shared;
} world;

/* Set by launchers (mpirun of Open MPI, MPICH and Intel MPI, srun with its MPI plugins) for the processes
 * they start, and by nobody else; SLURM_PROCID alone is no sign: a batch script has it, too. */
static const char *const launcher_signs[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"};

static bool launched(void)
{
    for (size_t i = 0; i < sizeof launcher_signs / sizeof *launcher_signs; i++)
        if (getenv(launcher_signs[i]))
            return true;
    return false;
}

struct ker_comm *ker_comm_alone(void)
{
    struct ker_comm *comm = ker_alloc(sizeof *comm);
    *comm = (struct ker_comm){.mpi = MPI_COMM_NULL, .rank = 0, .size = 1, .host_size = 1};
    return comm;
}

static int host_size(MPI_Comm mpi, int rank)
{
    int size;
    MPI_Comm host;
    MPI_Comm_split_type(mpi, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &size);
    MPI_Comm_free(&host);
    return size;
}

void *ker_comm_share(struct ker_comm *comm, size_t bytes)
{
    struct segment_name name = {""};
    void *block = NULL;
    if (comm->host_size != comm->size) /* the same on all ranks, or it fails below */
        return NULL;
    if (comm->rank == 0)
        block = segment_make(bytes, &name);
    ker_comm_broadcast(comm, &name, sizeof name);
    if (comm->rank != 0)
        block = segment_open(bytes, &name);
    enum ker_status worst = ker_comm_worst(comm, block ? KER_OK : KER_RUN_FAILED);
    if (comm->rank == 0)
        segment_forget(&name);
    if (worst == KER_OK)
        return block;
    segment_close(block, bytes);
    return NULL;
}

void ker_comm_unshare(void *block, size_t bytes)
{
    segment_close(block, bytes);
}

/* Memory for the collectives of the first `count` ranks; NULL on the others, too. */
static struct comm_shared *shared_new(struct ker_comm *comm, int count)
{
    size_t bytes = comm_shared_bytes(count);
    void *block = ker_comm_share(comm, bytes);
    if (block && comm->rank < count)
        return comm_shared_new(block, comm->rank, count);
    segment_close(block, bytes);
    return NULL;
}

static void shared_free(struct comm_shared *shared, int count)
{
    if (shared)
        segment_close(comm_shared_block(shared), comm_shared_bytes(count));
    comm_shared_free(shared);
}

enum ker_status ker_comm_init(struct ker_comm **comm, int *argc, char ***argv, struct ker_error *error)
{
    *comm = NULL;
    if (!launched()) {
        *comm = ker_comm_alone();
        return KER_OK;
    }
    int running; /* a test may run several simulations in one process */
    MPI_Initialized(&running);
    if (!running && MPI_Init(argc, argv) != MPI_SUCCESS)
        return ker_fail(error, KER_RUN_FAILED, "MPI could not be started (MPI_Init failed)");
    struct ker_comm *made = ker_alloc(sizeof *made);
    *made = (struct ker_comm){.mpi = MPI_COMM_WORLD, .ends_mpi = !running};
    MPI_Comm_rank(made->mpi, &made->rank);
    MPI_Comm_size(made->mpi, &made->size);
    if (world.users++ == 0) {
        made->host_size = world.host_size = host_size(made->mpi, made->rank);
        world.shared = shared_new(made, made->size);
    }
    made->host_size = world.host_size;
    made->shared = world.shared;
    made->counted = true;
    *comm = made;
    return KER_OK;
}

struct ker_comm *ker_comm_first(struct ker_comm *comm, int count)
{
    if (count == 1)
        return comm->rank == 0 ? ker_comm_alone() : NULL;
    struct ker_comm *made = ker_alloc(sizeof *made);
    *made = *comm;
    made->ends_mpi = made->counted = false;
    if (count == comm->size) /* what one waits for, the other does: they never meet in between */
        return made;
    made->owns = true;
    made->size = count;
    MPI_Comm_split(comm->mpi, comm->rank < count ? 0 : MPI_UNDEFINED, comm->rank, &made->mpi);
    made->shared = comm->shared ? shared_new(comm, count) : NULL;
    if (made->mpi == MPI_COMM_NULL) {
        free(made);
        return NULL;
    }
    made->host_size = comm->shared ? count : host_size(made->mpi, made->rank);
    return made;
}

struct ker_comm *ker_comm_here(struct ker_comm *comm)
{
    struct ker_comm *made = ker_alloc(sizeof *made);
    *made = *comm;
    made->ends_mpi = made->counted = made->owns = false;
    if (comm->host_size == comm->size)
        return made;
    made->owns = true;
    MPI_Comm_split_type(comm->mpi, MPI_COMM_TYPE_SHARED, comm->rank, MPI_INFO_NULL, &made->mpi);
    MPI_Comm_rank(made->mpi, &made->rank);
    MPI_Comm_size(made->mpi, &made->size);
    made->host_size = made->size;
    made->shared = shared_new(made, made->size);
    return made;
}

void ker_comm_apart(struct ker_comm *comm)
{
    ker_assert(!comm->owns);
    comm->shared = NULL;
    comm->host_size = 1;
}

struct napping {
    struct ker_comm *comm;
    void (*nap)(struct ker_comm *);
};

static void nap_once(void *argument)
{
    const struct napping *napping = argument;
    napping->nap(napping->comm);
}

/* By MPI, which knows no sleep. */
static void meet_by_messages(struct ker_comm *comm, void (*nap)(struct ker_comm *))
{
    const struct timespec while_asleep = {0, 2000000};
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(comm->mpi, &request);
    for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) {
        nanosleep(&while_asleep, NULL);
        if (nap)
            nap(comm);
    }
}

void ker_comm_meet(struct ker_comm *comm, void (*nap)(struct ker_comm *))
{
    struct napping napping = {comm, nap};
    if (comm->shared)
        comm_shared_meet(comm->shared, nap ? nap_once : NULL, &napping);
    else if (comm->mpi != MPI_COMM_NULL)
        meet_by_messages(comm, nap);
}

void ker_comm_release(struct ker_comm *comm)
{
    if (!comm)
        return;
    if (comm->owns) {
        shared_free(comm->shared, comm->size);
        MPI_Comm_free(&comm->mpi);
    } else if (comm->counted && --world.users == 0) {
        shared_free(world.shared, comm->size);
        world.shared = NULL;
    }
    if (comm->ends_mpi)
        MPI_Finalize();
    free(comm);
}

int ker_comm_rank(const struct ker_comm *comm)
{
    return comm->rank;
}

int ker_comm_size(const struct ker_comm *comm)
{
    return comm->size;
}

int ker_comm_host_size(const struct ker_comm *comm)
{
    return comm->host_size;
}

MPI_Comm ker_comm_mpi(const struct ker_comm *comm)
{
    return comm->mpi;
}

enum ker_status ker_comm_agree(struct ker_comm *comm, const struct ker_error *error)
{
    int64_t status = error ? (int)error->status : KER_OK;
    int64_t own = status * comm->size + (comm->size - 1 - comm->rank); /* of equal ones the lowest rank's */
    int64_t worst = own;
    ker_comm_max_i64(comm, &worst, 1);
    if (error && status != KER_OK && worst == own) {
        size_t length = strlen(error->text);
        bool ended = length > 0 && error->text[length - 1] == '\n';
        fprintf(stderr, "marssim: error: %s%s", error->text, ended ? "" : "\n");
        fflush(stderr);
    }
    return (enum ker_status)(worst / comm->size);
}

static void reduce(struct ker_comm *comm, void *values, size_t count, MPI_Datatype type, MPI_Op op,
                   comm_merge *merge)
{
    size_t most = PIECE_BYTES / 8;
    if (comm->shared)
        comm_shared_reduce(comm->shared, values, count, merge);
    else if (comm->mpi != MPI_COMM_NULL)
        for (size_t at = 0; at < count; at += most)
            MPI_Allreduce(MPI_IN_PLACE, (char *)values + at * 8, (int)(count - at < most ? count - at : most),
                          type, op, comm->mpi);
}

static void merge_sum(uint64_t *into, const uint64_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        into[i] += from[i];
}

static void merge_max(uint64_t *into, const uint64_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((int64_t)from[i] > (int64_t)into[i])
            into[i] = from[i];
}

static void merge_min(uint64_t *into, const uint64_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((int64_t)from[i] < (int64_t)into[i])
            into[i] = from[i];
}

static void merge_or(uint64_t *into, const uint64_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        into[i] |= from[i];
}

enum ker_status ker_comm_worst(struct ker_comm *comm, enum ker_status status)
{
    int64_t worst = status;
    ker_comm_max_i64(comm, &worst, 1);
    return (enum ker_status)worst;
}

void ker_comm_sum_u64(struct ker_comm *comm, uint64_t *values, size_t count)
{
    reduce(comm, values, count, MPI_UINT64_T, MPI_SUM, merge_sum);
}

void ker_comm_or_u64(struct ker_comm *comm, uint64_t *values, size_t count)
{
    reduce(comm, values, count, MPI_UINT64_T, MPI_BOR, merge_or);
}

void ker_comm_max_i64(struct ker_comm *comm, int64_t *values, size_t count)
{
    reduce(comm, values, count, MPI_INT64_T, MPI_MAX, merge_max);
}

void ker_comm_min_i64(struct ker_comm *comm, int64_t *values, size_t count)
{
    reduce(comm, values, count, MPI_INT64_T, MPI_MIN, merge_min);
}

void ker_comm_broadcast(struct ker_comm *comm, void *data, size_t bytes)
{
    if (comm->shared)
        comm_shared_broadcast(comm->shared, data, bytes);
    if (comm->shared || comm->mpi == MPI_COMM_NULL)
        return;
    for (size_t at = 0; at < bytes; at += PIECE_BYTES) {
        size_t now = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        MPI_Bcast((char *)data + at, (int)now, MPI_BYTE, 0, comm->mpi);
    }
}

void ker_comm_put(struct ker_comm *comm, const void *data, size_t bytes)
{
    if (comm->shared) {
        comm_shared_put(comm->shared, data, bytes);
        return;
    }
    for (size_t at = 0; at < bytes; at += PIECE_BYTES) {
        size_t now = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        MPI_Send((const char *)data + at, (int)now, MPI_BYTE, 0, KER_COMM_TAG, comm->mpi);
    }
}

void ker_comm_take(struct ker_comm *comm, int rank, void *data, size_t bytes)
{
    if (comm->shared) {
        comm_shared_take(comm->shared, rank, data, bytes);
        return;
    }
    for (size_t at = 0; at < bytes; at += PIECE_BYTES) {
        size_t now = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        MPI_Recv((char *)data + at, (int)now, MPI_BYTE, rank, KER_COMM_TAG, comm->mpi, MPI_STATUS_IGNORE);
    }
}

/* offset[r + 1] is first the size of rank r's part, then the running sum. On all ranks. */
static size_t *offsets(const struct ker_comm *comm, size_t bytes)
{
    size_t *offset = ker_alloc(((size_t)comm->size + 1) * sizeof *offset);
    uint64_t own = bytes;
    _Static_assert(sizeof(size_t) == sizeof(uint64_t), "sizes travel as 64 bits");
    offset[comm->rank + 1] = bytes;
    if (comm->shared)
        comm_shared_reduce(comm->shared, offset + 1, (size_t)comm->size, merge_sum);
    else if (comm->mpi != MPI_COMM_NULL)
        MPI_Allgather(&own, 1, MPI_UINT64_T, offset + 1, 1, MPI_UINT64_T, comm->mpi);
    for (int r = 0; r < comm->size; r++)
        offset[r + 1] += offset[r];
    return offset;
}

/* To rank 0; in shared memory to whoever gives `all`. */
static void collect(struct ker_comm *comm, const void *data, size_t bytes, char *all, const size_t *offset)
{
    if (comm->shared) {
        comm_shared_gather(comm->shared, data, all, offset);
        return;
    }
    if (comm->rank != 0) {
        ker_comm_put(comm, data, bytes);
        return;
    }
    if (bytes)
        memcpy(all, data, bytes);
    for (int r = 1; r < comm->size; r++)
        ker_comm_take(comm, r, all + offset[r], offset[r + 1] - offset[r]);
}

void ker_comm_gather(struct ker_comm *comm, const void *data, size_t bytes, void **all, size_t **offset)
{
    size_t *at = offsets(comm, bytes);
    *all = comm->rank == 0 ? ker_alloc(at[comm->size]) : NULL;
    collect(comm, data, bytes, *all, at);
    if (comm->rank != 0) {
        free(at);
        at = NULL;
    }
    *offset = at;
}

void ker_comm_allgather(struct ker_comm *comm, const void *data, size_t bytes, void **all, size_t **offset)
{
    *offset = offsets(comm, bytes);
    *all = ker_alloc((*offset)[comm->size]);
    collect(comm, data, bytes, *all, *offset);
    if (!comm->shared)
        ker_comm_broadcast(comm, *all, (*offset)[comm->size]);
}

/* One after the other gets what all have for it. */
static void exchange_shared(struct ker_comm *comm, const char *data, const size_t *offset, void **all,
                            size_t **from)
{
    for (int to = 0; to < comm->size; to++) {
        size_t *at = offsets(comm, offset[to + 1] - offset[to]);
        if (to == comm->rank)
            *all = ker_alloc(at[comm->size]);
        comm_shared_gather(comm->shared, data + offset[to], to == comm->rank ? *all : NULL, at);
        if (to == comm->rank)
            *from = at;
        else
            free(at);
    }
}

static int piece_of(const size_t *offset, int rank, size_t at)
{
    size_t bytes = offset[rank + 1] - offset[rank];
    return (int)(at >= bytes ? 0 : bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES);
}

/* In each step to the rank so far behind this one, from the one so far before it. */
static void exchange_pieces(struct ker_comm *comm, const char *data, const size_t *offset, char *all,
                            const size_t *from)
{
    for (int step = 1; step < comm->size; step++) {
        int to = (comm->rank + step) % comm->size, of = (comm->rank - step + comm->size) % comm->size;
        for (size_t at = 0; piece_of(offset, to, at) || piece_of(from, of, at); at += PIECE_BYTES) {
            int out = piece_of(offset, to, at), in = piece_of(from, of, at);
            MPI_Sendrecv(data + offset[to] + at, out, MPI_BYTE, out ? to : MPI_PROC_NULL, KER_COMM_TAG,
                         all + from[of] + at, in, MPI_BYTE, in ? of : MPI_PROC_NULL, KER_COMM_TAG, comm->mpi,
                         MPI_STATUS_IGNORE);
        }
    }
}

void ker_comm_exchange(struct ker_comm *comm, const void *data, const size_t *offset, void **all,
                       size_t **from)
{
    if (comm->shared) {
        exchange_shared(comm, data, offset, all, from);
        return;
    }
    size_t size = (size_t)comm->size, own = offset[comm->rank + 1] - offset[comm->rank];
    uint64_t *bytes = ker_alloc(size * sizeof *bytes);
    *from = ker_alloc((size + 1) * sizeof **from);
    for (size_t r = 0; r < size; r++)
        bytes[r] = (*from)[r + 1] = offset[r + 1] - offset[r];
    if (comm->mpi != MPI_COMM_NULL)
        MPI_Alltoall(bytes, 1, MPI_UINT64_T, *from + 1, 1, MPI_UINT64_T, comm->mpi);
    for (size_t r = 0; r < size; r++)
        (*from)[r + 1] += (*from)[r];
    *all = ker_alloc((*from)[size]);
    if (own)
        memcpy((char *)*all + (*from)[comm->rank], (const char *)data + offset[comm->rank], own);
    exchange_pieces(comm, data, offset, *all, *from);
    free(bytes);
}
