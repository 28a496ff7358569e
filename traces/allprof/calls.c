/* calls.c - the MPI calls of a trace and where their arguments stand.
 *
 * One table drives everything: a call's layout has one letter per argument of the C binding (Fortran is
 * traced in the same order).
 */
#include "traces/allprof/allprof.h"
#include "traces/traces.h"

#include <string.h>

/* Letters: . skip, * skip the rest, n N counts, t T datatypes, d s destination and source (D S of the second
 * half), g G tags, R root, c communicator, v variable (of a request or a communicator), a array length, x
 * status address, k colour, y key, b the address of a send buffer that may be MPI_IN_PLACE, o a reduction, i
 * a boring number, l L counts lists, m displacements (also a list). */
#define LOCAL(name, layout)                                                                                  \
    {                                                                                                        \
        name, ALLPROF_LOCAL, 0, 0, layout                                                                    \
    }
#define STATUS(name)                                                                                         \
    {                                                                                                        \
        name, ALLPROF_STATUS, 0, 0, "x*"                                                                     \
    }
#define SENDS(letter, mode)                                                                                  \
    {"MPI_" letter "send", ALLPROF_SEND, TASK_OP_SEND, mode, ".ntdgc"},                                      \
    {                                                                                                        \
        "MPI_" letter "send_init", ALLPROF_SEND_INIT, TASK_OP_SEND_INIT, mode, ".ntdgcv"                     \
    }
#define COLLECTIVE(name, which, layout)                                                                      \
    {                                                                                                        \
        name, ALLPROF_COLLECTIVE, TASK_OP_COLLECTIVE, which, layout                                          \
    }
#define NEW(name, how, layout)                                                                               \
    {                                                                                                        \
        name, ALLPROF_COMM_NEW, TASK_OP_COLLECTIVE, how, layout                                              \
    }
static const struct allprof_call calls[] = {
    /* sorted by hand: frequent ones first, looked up by hash */
    {"MPI_Send", ALLPROF_SEND, TASK_OP_SEND, TASK_MODE_STANDARD, ".ntdgc"},
    {"MPI_Send_init", ALLPROF_SEND_INIT, TASK_OP_SEND_INIT, TASK_MODE_STANDARD, ".ntdgcv"},
    SENDS("S", TASK_MODE_SYNCHRONOUS),
    SENDS("B", TASK_MODE_BUFFERED),
    SENDS("R", TASK_MODE_READY),
    {"MPI_Isend", ALLPROF_ISEND, TASK_OP_ISEND, TASK_MODE_STANDARD, ".ntdgcv"},
    {"MPI_Issend", ALLPROF_ISEND, TASK_OP_ISEND, TASK_MODE_SYNCHRONOUS, ".ntdgcv"},
    {"MPI_Ibsend", ALLPROF_ISEND, TASK_OP_ISEND, TASK_MODE_BUFFERED, ".ntdgcv"},
    {"MPI_Irsend", ALLPROF_ISEND, TASK_OP_ISEND, TASK_MODE_READY, ".ntdgcv"},
    {"MPI_Recv", ALLPROF_RECV, TASK_OP_RECV, 0, ".ntsgcx"},
    {"MPI_Irecv", ALLPROF_IRECV, TASK_OP_IRECV, 0, ".ntsgcv"},
    {"MPI_Recv_init", ALLPROF_RECV_INIT, TASK_OP_RECV_INIT, 0, ".ntsgcv"},
    {"MPI_Sendrecv", ALLPROF_SENDRECV, TASK_OP_SENDRECV, 0, ".ntdg.NTSGcx"},
    {"MPI_Sendrecv_replace", ALLPROF_SENDRECV, TASK_OP_SENDRECV, 1, ".ntdgSGcx"},
    {"MPI_Probe", ALLPROF_PROBE, TASK_OP_PROBE, 0, "sgcx"},
    {"MPI_Iprobe", ALLPROF_IPROBE, TASK_OP_IPROBE, 0, "sgc.x"},
    {"MPI_Start", ALLPROF_START, TASK_OP_START, 0, "v"},
    {"MPI_Startall", ALLPROF_START, TASK_OP_STARTALL, 0, "av"},
    {"MPI_Cancel", ALLPROF_CANCEL, TASK_OP_CANCEL, 0, "v"},
    {"MPI_Request_free", ALLPROF_REQUEST_FREE, TASK_OP_REQUEST_FREE, 0, "v"},
    {"MPI_Wait", ALLPROF_WAIT, TASK_OP_WAIT, 0, "vx"},
    {"MPI_Waitall", ALLPROF_WAIT, TASK_OP_WAITALL, 0, "av*"},
    {"MPI_Waitany", ALLPROF_WAIT_SOME, TASK_OP_WAITANY, 0, "av.x"},
    {"MPI_Waitsome", ALLPROF_WAIT_SOME, TASK_OP_WAITSOME, 0, "av*"},
    {"MPI_Test", ALLPROF_TEST, TASK_OP_TEST, 0, "v.x"},
    {"MPI_Testall", ALLPROF_TEST, TASK_OP_TESTALL, 0, "av*"},
    {"MPI_Testany", ALLPROF_TEST_SOME, TASK_OP_TESTANY, 0, "av..x"},
    {"MPI_Testsome", ALLPROF_TEST_SOME, TASK_OP_TESTSOME, 0, "av*"},
    COLLECTIVE("MPI_Barrier", TASK_COLL_BARRIER, "c"),
    COLLECTIVE("MPI_Bcast", TASK_COLL_BCAST, ".ntRc"),
    COLLECTIVE("MPI_Reduce", TASK_COLL_REDUCE, "..ntoRc"),
    COLLECTIVE("MPI_Allreduce", TASK_COLL_ALLREDUCE, "..ntoc"),
    COLLECTIVE("MPI_Scan", TASK_COLL_SCAN, "..ntoc"),
    COLLECTIVE("MPI_Exscan", TASK_COLL_EXSCAN, "..ntoc"),
    COLLECTIVE("MPI_Gather", TASK_COLL_GATHER, ".nt.NTRc"),
    COLLECTIVE("MPI_Scatter", TASK_COLL_SCATTER, ".nt.NTRc"),
    COLLECTIVE("MPI_Allgather", TASK_COLL_ALLGATHER, ".nt.NTc"),
    COLLECTIVE("MPI_Alltoall", TASK_COLL_ALLTOALL, ".nt.NTc"),
    COLLECTIVE("MPI_Gatherv", TASK_COLL_GATHERV, ".nt.LmTRc"),
    COLLECTIVE("MPI_Scatterv", TASK_COLL_SCATTERV, ".lmt.NTRc"),
    COLLECTIVE("MPI_Allgatherv", TASK_COLL_ALLGATHERV, "bnt.LmTc"),
    COLLECTIVE("MPI_Alltoallv", TASK_COLL_ALLTOALLV, "blmt.LmTc"),
    COLLECTIVE("MPI_Reduce_scatter", TASK_COLL_REDUCE_SCATTER, "..Ltoc"),
    COLLECTIVE("MPI_Reduce_scatter_block", TASK_COLL_REDUCE_SCATTER_BLOCK, "..ntoc"),
    NEW("MPI_Comm_split", ALLPROF_SPLIT, "ckyv"),
    NEW("MPI_Comm_dup", ALLPROF_DUP, "cv"),
    NEW("MPI_Comm_dup_with_info", ALLPROF_DUP, "c.v"),
    NEW("MPI_Comm_split_type", ALLPROF_CREATE, "c.y.v"),
    NEW("MPI_Comm_create", ALLPROF_CREATE, "c.v"),
    NEW("MPI_Cart_create", ALLPROF_CART, "ci..iv"),
    NEW("MPI_Graph_create", ALLPROF_CART, "ci..iv"),
    NEW("MPI_Cart_sub", ALLPROF_CART_SUB, "c.v"),
    {"MPI_Comm_free", ALLPROF_COMM_FREE, 0, 0, "v"},
    {"MPI_Comm_disconnect", ALLPROF_COMM_FREE, 0, 0, "v"},
    {"MPI_Init", ALLPROF_INIT, 0, 0, "*"},
    {"MPI_Init_thread", ALLPROF_INIT, 0, 0, "*"},
    {"MPI_Finalize", ALLPROF_FINALIZE, TASK_OP_FINALIZE, 0, ""},
    STATUS("MPI_Get_count"),
    STATUS("MPI_Get_elements"),
    LOCAL("MPI_Comm_rank", "c."),
    LOCAL("MPI_Comm_size", "c."),
    LOCAL("MPI_Comm_group", "c."),
    LOCAL("MPI_Cart_rank", "c*"),
    LOCAL("MPI_Cart_coords", "c*"),
    LOCAL("MPI_Cart_get", "c*"),
    LOCAL("MPI_Cart_shift", "c*"),
    LOCAL("MPI_Cartdim_get", "c*"),
    LOCAL("MPI_Comm_get_parent", "*"),
    LOCAL("MPI_Wtime", "*"),
    {"MPI_Pcontrol", ALLPROF_MARK, TASK_OP_MARK, 0, "k*"},
    LOCAL("MPI_Request_get_status", "*"),
    STATUS("MPI_Get_elements_x"),
    STATUS("MPI_Get_count_c"),
};
#define CALLS (sizeof calls / sizeof *calls)
_Static_assert(CALLS < 250, "numbers of calls are stored in a byte");

/* Of which nothing is needed: those by whatever they begin with, and calls of functions.def that are local,
 * which wrappers that were added to the tracer may write. */
static const struct allprof_call other = LOCAL("MPI_", "*");
static const char *const families[] = {"MPI_Type_",       "MPI_Group_", "MPI_Attr_", "MPI_Keyval_",
                                       "MPI_Errhandler_", "MPI_Error_", "MPI_Info_", "MPI_Op_",
                                       "MPI_Status_",     "MPI_Aint_",  "MPI_T_",    "MPI_Add_error_"};

unsigned allprof_call_number(const struct allprof_call *call)
{
    return (unsigned)(call - calls);
}

bool allprof_call_listed(const struct allprof_call *call)
{
    return (uintptr_t)call >= (uintptr_t)calls && (uintptr_t)call < (uintptr_t)(calls + CALLS);
}

/* The table is short and the frequent calls stand first; a comparison of lengths and of the fifth letter on
 * is cheap. */
const struct allprof_call *allprof_call_find(const char *name, size_t length)
{
    char whole[64] = "";
    for (size_t i = 0; i < CALLS; i++)
        if (calls[i].name[4] == name[4] && strncmp(calls[i].name + 4, name + 4, length - 4) == 0 &&
            calls[i].name[length] == 0)
            return &calls[i];
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strncmp(families[i], name, strlen(families[i])) == 0)
            return &other;
    if (length >= sizeof whole)
        return NULL;
    memcpy(whole, name, length);
    const struct trace_function *function = trace_function_find(whole);
    bool refused = strncmp(whole, "MPI_File_", 9) == 0 || strncmp(whole, "MPI_Win_", 8) == 0;
    return function && function->sort == TRACE_OTHER && !refused ? &other : NULL;
}

int allprof_bytes_which(const struct allprof_args *args)
{
    bool at_root = args->peer == args->group.rank;
    switch (args->call->mode) {
    case TASK_COLL_BARRIER:
    case TASK_COLL_ALLTOALLV:
    case TASK_COLL_REDUCE_SCATTER:
    case TASK_COLL_COMM:
        return 0;
    case TASK_COLL_GATHERV: /* the root's own share is in its list and is not sent */
        return at_root ? 0 : 1;
    case TASK_COLL_ALLGATHERV:
        return args->counts2 || args->in_place ? 0 : 1;
    case TASK_COLL_SCATTERV:
        return at_root ? 0 : 2;
    case TASK_COLL_GATHER:
        return at_root ? 2 : 1;
    case TASK_COLL_SCATTER:
        return at_root ? 1 : 2;
    case TASK_COLL_ALLGATHER:
    case TASK_COLL_ALLTOALL:
        return 2; /* the receiving side is right with MPI_IN_PLACE, too */
    default:
        return 1;
    }
}
