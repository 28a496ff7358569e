/* tracer.c - a tracer of MPI that writes OTF2 as Score-P does, for tests/traces/otf2.sh: functions that
 * simgrid/ring.c calls, no others, and MPI_COMM_WORLD only. Linked with the program. A tick is a nanosecond.
 * The archive is otf2-archive/traces.otf2. */
#include <mpi.h>
#include <otf2/OTF2_MPI_Collectives.h>
#include <otf2/otf2.h>
#include <stdlib.h>
#include <time.h>

#define FUNCTIONS(F)                                                                                         \
    F(Init)                                                                                                  \
    F(Finalize)                                                                                              \
    F(Send)                                                                                                  \
    F(Recv)                                                                                                  \
    F(Isend)                                                                                                 \
    F(Issend)                                                                                                \
    F(Irecv)                                                                                                 \
    F(Sendrecv)                                                                                              \
    F(Wait)                                                                                                  \
    F(Waitall)                                                                                               \
    F(Waitany)                                                                                               \
    F(Barrier)                                                                                               \
    F(Bcast)                                                                                                 \
    F(Reduce)                                                                                                \
    F(Allreduce)                                                                                             \
    F(Gather)                                                                                                \
    F(Gatherv)                                                                                               \
    F(Scatter)                                                                                               \
    F(Scatterv)                                                                                              \
    F(Allgather)                                                                                             \
    F(Allgatherv)                                                                                            \
    F(Alltoall)                                                                                              \
    F(Alltoallv)                                                                                             \
    F(Reduce_scatter)                                                                                        \
    F(Reduce_scatter_block) F(Scan) F(Exscan) F(Ibarrier) F(Iallreduce) F(Ibcast) F(Ialltoall)
#define NUMBER(name) R_##name,
#define TEXT(name) "MPI_" #name,
enum { FUNCTIONS(NUMBER) REGIONS };
static const char *const region_name[] = {FUNCTIONS(TEXT)};

static OTF2_Archive *archive;
static OTF2_EvtWriter *events;
static int rank, size;

/* What is in flight: of a send, a receive or a collective. */
static struct {
    MPI_Request request;
    uint64_t id;
    int kind; /* 0: free, 1: send, 2: receive, 3: collective */
    OTF2_CollectiveOp op;
    uint32_t root;
    uint64_t sent, received;
} active[64];
static uint64_t ids;

/* The library calls functions of MPI itself when it opens and closes: there is nothing to write to then. */
static OTF2_ErrorCode error_keep(void *context, const char *file, uint64_t line, const char *function,
                                 OTF2_ErrorCode code, const char *format, va_list arguments)
{
    return code;
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t bytes_of(int count, MPI_Datatype type)
{
    int each;
    PMPI_Type_size(type, &each);
    return (uint64_t)count * (uint64_t)each;
}

static uint64_t sum_of(const int *counts, MPI_Datatype type)
{
    uint64_t sum = 0;
    for (int i = 0; i < size; i++)
        sum += bytes_of(counts[i], type);
    return sum;
}

static void enter(uint32_t region)
{
    OTF2_EvtWriter_Enter(events, NULL, now(), region);
}

static int leave(uint32_t region, int status)
{
    OTF2_EvtWriter_Leave(events, NULL, now(), region);
    return status;
}

static int active_new(MPI_Request request, int kind)
{
    int i = 0;
    while (active[i].kind)
        i++;
    active[i].request = request;
    active[i].kind = kind;
    active[i].id = ++ids;
    return i;
}

static int active_find(MPI_Request request)
{
    for (int i = 0; i < 64; i++)
        if (active[i].kind && active[i].request == request)
            return i;
    return -1;
}

static void completed(int i, const MPI_Status *status)
{
    int count;
    if (i < 0)
        return;
    if (active[i].kind == 1)
        OTF2_EvtWriter_MpiIsendComplete(events, NULL, now(), active[i].id);
    if (active[i].kind == 2) {
        PMPI_Get_count(status, MPI_BYTE, &count);
        OTF2_EvtWriter_MpiIrecv(events, NULL, now(), (uint32_t)status->MPI_SOURCE, 0,
                                (uint32_t)status->MPI_TAG, (uint64_t)count, active[i].id);
    }
    if (active[i].kind == 3)
        OTF2_EvtWriter_NonBlockingCollectiveComplete(events, NULL, now(), active[i].op, 0, active[i].root,
                                                     active[i].sent, active[i].received, active[i].id);
    active[i].kind = 0;
}

/* ---- the archive ---- */

static OTF2_FlushType flush_before(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                                   bool final)
{
    return OTF2_FLUSH;
}
static OTF2_TimeStamp flush_behind(void *user, OTF2_FileType type, OTF2_LocationRef location)
{
    return now();
}
static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = flush_before, .otf2_post_flush = flush_behind};

int MPI_Init(int *count, char ***words)
{
    int status = PMPI_Init(count, words);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    OTF2_Error_RegisterCallback(error_keep, NULL);
    archive = OTF2_Archive_Open("otf2-archive", "traces", OTF2_FILEMODE_WRITE, 1 << 20, 1 << 20,
                                OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL);
    OTF2_MPI_Archive_SetCollectiveCallbacks(archive, MPI_COMM_WORLD, MPI_COMM_NULL);
    OTF2_Archive_SetCreator(archive,
                            getenv("OTF2_TEST_CREATOR") ? getenv("OTF2_TEST_CREATOR") : "Score-P test");
    OTF2_Archive_OpenEvtFiles(archive);
    events = OTF2_Archive_GetEvtWriter(archive, (uint64_t)rank);
    enter(R_Init);
    return leave(R_Init, status);
}

static void define(const uint64_t *counts, uint64_t begin, uint64_t end)
{
    OTF2_GlobalDefWriter *g = OTF2_Archive_GetGlobalDefWriter(archive);
    uint64_t *members = malloc((size_t)size * sizeof *members);
    OTF2_GlobalDefWriter_WriteClockProperties(g, 1000000000, begin, end - begin + 1, 0);
    OTF2_GlobalDefWriter_WriteString(g, 0, "");
    for (uint32_t i = 0; i < REGIONS; i++) {
        OTF2_GlobalDefWriter_WriteString(g, i + 1, region_name[i]);
        OTF2_GlobalDefWriter_WriteRegion(g, i, i + 1, i + 1, 0, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI,
                                         OTF2_REGION_FLAG_NONE, 0, 0, 0);
    }
    OTF2_GlobalDefWriter_WriteSystemTreeNode(g, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (int i = 0; i < size; i++) {
        OTF2_GlobalDefWriter_WriteLocationGroup(g, (uint32_t)i, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
        OTF2_GlobalDefWriter_WriteLocation(g, (uint64_t)i, 0, OTF2_LOCATION_TYPE_CPU_THREAD, counts[i],
                                           (uint32_t)i);
        members[i] = (uint64_t)i;
    }
    OTF2_GlobalDefWriter_WriteGroup(g, 0, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, (uint32_t)size, members);
    OTF2_GlobalDefWriter_WriteGroup(g, 1, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, (uint32_t)size, members);
    OTF2_GlobalDefWriter_WriteComm(g, 0, 0, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    OTF2_Archive_CloseGlobalDefWriter(archive, g);
    free(members);
}

int MPI_Finalize(void)
{
    uint64_t count, time, begin, end, *counts = malloc((size_t)size * sizeof *counts);
    enter(R_Finalize);
    leave(R_Finalize, 0);
    time = now();
    OTF2_EvtWriter_GetNumberOfEvents(events, &count);
    OTF2_Archive_CloseEvtWriter(archive, events);
    events = NULL;
    OTF2_Archive_CloseEvtFiles(archive);
    OTF2_Archive_OpenDefFiles(archive);
    OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, (uint64_t)rank));
    OTF2_Archive_CloseDefFiles(archive);
    PMPI_Gather(&count, 1, MPI_UINT64_T, counts, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    PMPI_Reduce(&time, &begin, 1, MPI_UINT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
    PMPI_Reduce(&time, &end, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        define(counts, 0, end);
    OTF2_Archive_Close(archive);
    free(counts);
    return PMPI_Finalize();
}

/* ---- messages ---- */

int MPI_Send(const void *a, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    enter(R_Send);
    OTF2_EvtWriter_MpiSend(events, NULL, now(), (uint32_t)to, 0, (uint32_t)tag, bytes_of(count, type));
    return leave(R_Send, PMPI_Send(a, count, type, to, tag, comm));
}

static void received(const MPI_Status *status)
{
    int count;
    PMPI_Get_count(status, MPI_BYTE, &count);
    OTF2_EvtWriter_MpiRecv(events, NULL, now(), (uint32_t)status->MPI_SOURCE, 0, (uint32_t)status->MPI_TAG,
                           (uint64_t)count);
}

int MPI_Recv(void *a, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *out)
{
    MPI_Status own, *status = out == MPI_STATUS_IGNORE ? &own : out;
    enter(R_Recv);
    int result = PMPI_Recv(a, count, type, from, tag, comm, status);
    received(status);
    return leave(R_Recv, result);
}

int MPI_Sendrecv(const void *a, int count, MPI_Datatype type, int to, int tag, void *b, int count2,
                 MPI_Datatype type2, int from, int tag2, MPI_Comm comm, MPI_Status *out)
{
    MPI_Status own, *status = out == MPI_STATUS_IGNORE ? &own : out;
    enter(R_Sendrecv);
    OTF2_EvtWriter_MpiSend(events, NULL, now(), (uint32_t)to, 0, (uint32_t)tag, bytes_of(count, type));
    int result = PMPI_Sendrecv(a, count, type, to, tag, b, count2, type2, from, tag2, comm, status);
    received(status);
    return leave(R_Sendrecv, result);
}

#define ISEND(name)                                                                                          \
    int MPI_##name(const void *a, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,              \
                   MPI_Request *request)                                                                     \
    {                                                                                                        \
        enter(R_##name);                                                                                     \
        int result = PMPI_##name(a, count, type, to, tag, comm, request), i = active_new(*request, 1);       \
        OTF2_EvtWriter_MpiIsend(events, NULL, now(), (uint32_t)to, 0, (uint32_t)tag, bytes_of(count, type),  \
                                active[i].id);                                                               \
        return leave(R_##name, result);                                                                      \
    }
ISEND(Isend)
ISEND(Issend)

int MPI_Irecv(void *a, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    enter(R_Irecv);
    int result = PMPI_Irecv(a, count, type, from, tag, comm, request);
    OTF2_EvtWriter_MpiIrecvRequest(events, NULL, now(), active[active_new(*request, 2)].id);
    return leave(R_Irecv, result);
}

int MPI_Wait(MPI_Request *request, MPI_Status *out)
{
    MPI_Status status;
    enter(R_Wait);
    int i = active_find(*request), result = PMPI_Wait(request, &status);
    completed(i, &status);
    return leave(R_Wait, result);
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *out)
{
    MPI_Status status[64];
    int at[64];
    enter(R_Waitall);
    for (int i = 0; i < count; i++)
        at[i] = active_find(requests[i]);
    int result = PMPI_Waitall(count, requests, status);
    for (int i = 0; i < count; i++)
        completed(at[i], &status[i]);
    return leave(R_Waitall, result);
}

int MPI_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *out)
{
    MPI_Status status;
    int at[64];
    enter(R_Waitany);
    for (int i = 0; i < count; i++)
        at[i] = active_find(requests[i]);
    int result = PMPI_Waitany(count, requests, index, &status);
    if (*index != MPI_UNDEFINED)
        completed(at[*index], &status);
    return leave(R_Waitany, result);
}

/* ---- collectives: what Score-P counts ---- */

#define N ((uint64_t)size)
#define ME ((uint64_t)rank)
#define NO_ROOT OTF2_UNDEFINED_UINT32
#define COLLECTIVE(name, OP, root, sends, receives, parameters, arguments)                                   \
    int MPI_##name parameters                                                                                \
    {                                                                                                        \
        enter(R_##name);                                                                                     \
        OTF2_EvtWriter_MpiCollectiveBegin(events, NULL, now());                                              \
        int result = PMPI_##name arguments;                                                                  \
        OTF2_EvtWriter_MpiCollectiveEnd(events, NULL, now(), OTF2_COLLECTIVE_OP_##OP, 0, (uint32_t)(root),   \
                                        sends, receives);                                                    \
        return leave(R_##name, result);                                                                      \
    }
#define STARTED(name, OP, roots, sends, receives, parameters, arguments)                                     \
    int MPI_##name parameters                                                                                \
    {                                                                                                        \
        enter(R_##name);                                                                                     \
        int result = PMPI_##name arguments, i = active_new(*request, 3);                                     \
        if (getenv("OTF2_TEST_SILENT")) {                                                                    \
            active[i].kind = 0;                                                                              \
            return leave(R_##name, result);                                                                  \
        }                                                                                                    \
        active[i].op = OTF2_COLLECTIVE_OP_##OP;                                                              \
        active[i].root = (uint32_t)(roots);                                                                  \
        active[i].sent = sends;                                                                              \
        active[i].received = receives;                                                                       \
        OTF2_EvtWriter_NonBlockingCollectiveRequest(events, NULL, now(), active[i].id);                      \
        return leave(R_##name, result);                                                                      \
    }
#define V bytes_of(count, type)
#define V2 bytes_of(count2, type2)
#define PLACE (a == MPI_IN_PLACE)

COLLECTIVE(Barrier, BARRIER, NO_ROOT, 0, 0, (MPI_Comm comm), (comm))
COLLECTIVE(Bcast, BCAST, root, rank == root ? N * V : 0, V,
           (void *a, int count, MPI_Datatype type, int root, MPI_Comm comm), (a, count, type, root, comm))
COLLECTIVE(Reduce, REDUCE, root, V, rank == root ? N * V : 0,
           (const void *a, void *b, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
           (a, b, count, type, op, root, comm))
COLLECTIVE(Allreduce, ALLREDUCE, NO_ROOT, N *V, N *V,
           (const void *a, void *b, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (a, b, count, type, op, comm))
COLLECTIVE(Scan, SCAN, NO_ROOT, (N - ME) * V, (ME + 1) * V,
           (const void *a, void *b, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (a, b, count, type, op, comm))
COLLECTIVE(Exscan, EXSCAN, NO_ROOT, (N - ME - 1) * V, ME *V,
           (const void *a, void *b, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (a, b, count, type, op, comm))
COLLECTIVE(Gather, GATHER, root, PLACE ? 0 : V, rank == root ? (PLACE ? N - 1 : N) * V2 : 0,
           (const void *a, int count, MPI_Datatype type, void *b, int count2, MPI_Datatype type2, int root,
            MPI_Comm comm),
           (a, count, type, b, count2, type2, root, comm))
COLLECTIVE(Scatter, SCATTER, root, rank == root ? N * V : 0, V2,
           (const void *a, int count, MPI_Datatype type, void *b, int count2, MPI_Datatype type2, int root,
            MPI_Comm comm),
           (a, count, type, b, count2, type2, root, comm))
COLLECTIVE(Allgather, ALLGATHER, NO_ROOT, N *V, N *V2,
           (const void *a, int count, MPI_Datatype type, void *b, int count2, MPI_Datatype type2,
            MPI_Comm comm),
           (a, count, type, b, count2, type2, comm))
COLLECTIVE(Alltoall, ALLTOALL, NO_ROOT, N *V, N *V2,
           (const void *a, int count, MPI_Datatype type, void *b, int count2, MPI_Datatype type2,
            MPI_Comm comm),
           (a, count, type, b, count2, type2, comm))
COLLECTIVE(Gatherv, GATHERV, root, V, rank == root ? sum_of(counts, type2) : 0,
           (const void *a, int count, MPI_Datatype type, void *b, const int *counts, const int *places,
            MPI_Datatype type2, int root, MPI_Comm comm),
           (a, count, type, b, counts, places, type2, root, comm))
COLLECTIVE(Scatterv, SCATTERV, root, rank == root ? sum_of(counts, type) : 0, V2,
           (const void *a, const int *counts, const int *places, MPI_Datatype type, void *b, int count2,
            MPI_Datatype type2, int root, MPI_Comm comm),
           (a, counts, places, type, b, count2, type2, root, comm))
COLLECTIVE(Allgatherv, ALLGATHERV, NO_ROOT, N *V, sum_of(counts, type2),
           (const void *a, int count, MPI_Datatype type, void *b, const int *counts, const int *places,
            MPI_Datatype type2, MPI_Comm comm),
           (a, count, type, b, counts, places, type2, comm))
COLLECTIVE(Alltoallv, ALLTOALLV, NO_ROOT, sum_of(counts, type), sum_of(counts2, type2),
           (const void *a, const int *counts, const int *places, MPI_Datatype type, void *b,
            const int *counts2, const int *places2, MPI_Datatype type2, MPI_Comm comm),
           (a, counts, places, type, b, counts2, places2, type2, comm))
COLLECTIVE(Reduce_scatter, REDUCE_SCATTER, NO_ROOT, sum_of(counts, type), N *bytes_of(counts[rank], type),
           (const void *a, void *b, const int *counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (a, b, counts, type, op, comm))
COLLECTIVE(Reduce_scatter_block, REDUCE_SCATTER_BLOCK, NO_ROOT, N *V, N *V,
           (const void *a, void *b, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (a, b, count, type, op, comm))
STARTED(Ibarrier, BARRIER, NO_ROOT, 0, 0, (MPI_Comm comm, MPI_Request *request), (comm, request))
STARTED(Ibcast, BCAST, root, rank == root ? N * V : 0, V,
        (void *a, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request),
        (a, count, type, root, comm, request))
STARTED(Iallreduce, ALLREDUCE, NO_ROOT, N *V, N *V,
        (const void *a, void *b, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
         MPI_Request *request),
        (a, b, count, type, op, comm, request))
STARTED(Ialltoall, ALLTOALL, NO_ROOT, N *V, N *V2,
        (const void *a, int count, MPI_Datatype type, void *b, int count2, MPI_Datatype type2, MPI_Comm comm,
         MPI_Request *request),
        (a, count, type, b, count2, type2, comm, request))
