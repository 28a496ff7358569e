/* comm.c - ranks by MPI, or one rank without it.
 *
 * A comm whose `mpi` is MPI_COMM_NULL is alone: every collective is the identity and MPI is never called.
 * Otherwise bytes are moved in pieces of at most PIECE_BYTES, since MPI counts with int. Gathers go from each
 * rank to rank 0 in rank order: they happen at set-up and at the end, where the volume is what costs, not the
 * number of messages.
 */
#include "kernel/base/comm_mpi.h"

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
    bool ends_mpi; /* this one started it */
};

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
    made->ends_mpi = !running;
    MPI_Comm host;
    MPI_Comm_dup(MPI_COMM_WORLD, &made->mpi);
    MPI_Comm_rank(made->mpi, &made->rank);
    MPI_Comm_size(made->mpi, &made->size);
    MPI_Comm_split_type(made->mpi, MPI_COMM_TYPE_SHARED, made->rank, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &made->host_size);
    MPI_Comm_free(&host);
    *comm = made;
    return KER_OK;
}

struct ker_comm *ker_comm_first(struct ker_comm *comm, int count)
{
    if (comm->mpi == MPI_COMM_NULL)
        return ker_comm_alone();
    MPI_Comm first, host;
    MPI_Comm_split(comm->mpi, comm->rank < count ? 0 : MPI_UNDEFINED, comm->rank, &first);
    if (first == MPI_COMM_NULL)
        return NULL;
    struct ker_comm *made = ker_alloc(sizeof *made);
    *made = (struct ker_comm){.mpi = first, .rank = comm->rank, .size = count};
    MPI_Comm_split_type(first, MPI_COMM_TYPE_SHARED, made->rank, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &made->host_size);
    MPI_Comm_free(&host);
    return made;
}

void ker_comm_meet(struct ker_comm *comm, void (*nap)(struct ker_comm *))
{
    const struct timespec while_asleep = {0, 2000000};
    MPI_Request request;
    int done = 0;
    if (comm->mpi == MPI_COMM_NULL)
        return;
    MPI_Ibarrier(comm->mpi, &request);
    for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) {
        nanosleep(&while_asleep, NULL);
        if (nap)
            nap(comm);
    }
}

void ker_comm_release(struct ker_comm *comm)
{
    if (!comm)
        return;
    if (comm->mpi != MPI_COMM_NULL) {
        MPI_Comm_free(&comm->mpi);
        if (comm->ends_mpi)
            MPI_Finalize();
    }
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
    struct {
        int status, rank;
    } worst = {error ? (int)error->status : KER_OK, comm->rank};
    if (comm->mpi != MPI_COMM_NULL) /* MAXLOC: of equal statuses the lowest rank */
        MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_2INT, MPI_MAXLOC, comm->mpi);
    if (error && worst.status != KER_OK && worst.rank == comm->rank) {
        size_t length = strlen(error->text);
        bool ended = length > 0 && error->text[length - 1] == '\n';
        fprintf(stderr, "marssim: error: %s%s", error->text, ended ? "" : "\n");
        fflush(stderr);
    }
    return (enum ker_status)worst.status;
}

static void reduce(struct ker_comm *comm, void *values, size_t count, MPI_Datatype type, MPI_Op op)
{
    size_t piece = PIECE_BYTES / 8;
    if (comm->mpi == MPI_COMM_NULL)
        return;
    for (size_t at = 0; at < count; at += piece) {
        size_t now = count - at < piece ? count - at : piece;
        MPI_Allreduce(MPI_IN_PLACE, (char *)values + at * 8, (int)now, type, op, comm->mpi);
    }
}

enum ker_status ker_comm_worst(struct ker_comm *comm, enum ker_status status)
{
    int64_t worst = status;
    ker_comm_max_i64(comm, &worst, 1);
    return (enum ker_status)worst;
}

void ker_comm_sum_u64(struct ker_comm *comm, uint64_t *values, size_t count)
{
    reduce(comm, values, count, MPI_UINT64_T, MPI_SUM);
}

void ker_comm_max_i64(struct ker_comm *comm, int64_t *values, size_t count)
{
    reduce(comm, values, count, MPI_INT64_T, MPI_MAX);
}

void ker_comm_min_i64(struct ker_comm *comm, int64_t *values, size_t count)
{
    reduce(comm, values, count, MPI_INT64_T, MPI_MIN);
}

void ker_comm_broadcast(struct ker_comm *comm, void *data, size_t bytes)
{
    if (comm->mpi == MPI_COMM_NULL)
        return;
    for (size_t at = 0; at < bytes; at += PIECE_BYTES) {
        size_t now = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        MPI_Bcast((char *)data + at, (int)now, MPI_BYTE, 0, comm->mpi);
    }
}

void ker_comm_put(struct ker_comm *comm, const void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += PIECE_BYTES) {
        size_t now = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        MPI_Send((const char *)data + at, (int)now, MPI_BYTE, 0, KER_COMM_TAG, comm->mpi);
    }
}

void ker_comm_take(struct ker_comm *comm, int rank, void *data, size_t bytes)
{
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
    if (comm->mpi == MPI_COMM_NULL)
        offset[1] = bytes;
    else
        MPI_Allgather(&own, 1, MPI_UINT64_T, offset + 1, 1, MPI_UINT64_T, comm->mpi);
    for (int r = 0; r < comm->size; r++)
        offset[r + 1] += offset[r];
    return offset;
}

static void collect(struct ker_comm *comm, const void *data, size_t bytes, char *all, const size_t *offset)
{
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
    ker_comm_broadcast(comm, *all, (*offset)[comm->size]);
}
