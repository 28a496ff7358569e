/* calls.c - what a recorded call is in the replay.
 *
 * The table names the calls that pass something between tasks and that can be replayed. A call that is not in
 * it is known by its fields: one that names requests, windows, other tasks or new communicators cannot be
 * replayed; one that names a file costs the time it took; all others are local.
 *
 * What a program did next depended on which of its requests completed. So a call that completed some of
 * several is replayed as a wait for those, and a test that completed nothing as nothing. The arguments of a
 * call are read in arguments.c.
 */
#include "traces/replay/arguments.h"

#include <stdlib.h>
#include <string.h>

enum sort {
    LOCAL,
    BEGIN, /* MPI_Init */
    END,   /* MPI_Finalize */
    ABORT,
    MESSAGE,  /* one way */
    EXCHANGE, /* both */
    PAIR,     /* both, and one request for them */
    MATCHED,  /* a message that a probe has found */
    NAMED,    /* a request is named */
    COMPLETE,
    STATUS,      /* of a request, which stays */
    GENERALISED, /* a request of the program's own is made */
    PROBE,
    PARTITIONED, /* makes a partitioned request, or says or asks for what its partitions are */
    COLLECTIVE,
    CREATE,       /* a communicator, by all of the old one */
    CREATE_GROUP, /* by the members of the new one */
    WINDOW_MAKE,
    WINDOW,         /* a call on a window */
    WINDOW_BARRIER, /* and a barrier of its tasks */
    FILES,
    UNKNOWN,
};

struct replay_call {
    const char *name;
    uint8_t sort, op, more; /* enum task_op_kind; enum task_send_mode, or enum task_collective */
};

/* By name. */
static const struct replay_call calls[] = {
    {"MPI_Abort", ABORT, TASK_OP_ABORT},
    {"MPI_Accumulate", WINDOW, TASK_OP_PUT, TASK_WINDOW_SOFTWARE},
    {"MPI_Allgather", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_ALLGATHER},
    {"MPI_Allgather_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_ALLGATHER},
    {"MPI_Allgatherv", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_ALLGATHERV},
    {"MPI_Allgatherv_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_ALLGATHERV},
    {"MPI_Allreduce", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_ALLREDUCE},
    {"MPI_Allreduce_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_ALLREDUCE},
    {"MPI_Alltoall", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_ALLTOALL},
    {"MPI_Alltoall_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_ALLTOALL},
    {"MPI_Alltoallv", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_ALLTOALLV},
    {"MPI_Alltoallv_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_ALLTOALLV},
    {"MPI_Alltoallw", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_ALLTOALLV},
    {"MPI_Alltoallw_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_ALLTOALLV},
    {"MPI_Barrier", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_BARRIER},
    {"MPI_Barrier_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_BARRIER},
    {"MPI_Bcast", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_BCAST},
    {"MPI_Bcast_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_BCAST},
    {"MPI_Bsend", MESSAGE, TASK_OP_SEND, TASK_MODE_BUFFERED},
    {"MPI_Bsend_init", MESSAGE, TASK_OP_SEND_INIT, TASK_MODE_BUFFERED},
    {"MPI_Cancel", NAMED, TASK_OP_CANCEL},
    {"MPI_Cart_create", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Cart_sub", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_accept", CREATE_GROUP, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_connect", CREATE_GROUP, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_create", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_create_from_group", CREATE_GROUP, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_create_group", CREATE_GROUP, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_dup", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_dup_with_info", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_get_parent", LOCAL},
    {"MPI_Comm_idup", CREATE, TASK_OP_ICOLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_idup_with_info", CREATE, TASK_OP_ICOLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_join", CREATE_GROUP, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_spawn", CREATE_GROUP, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_spawn_multiple", CREATE_GROUP, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_split", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_split_type", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Compare_and_swap", WINDOW, TASK_OP_FETCH},
    {"MPI_Dist_graph_create", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Dist_graph_create_adjacent", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Exscan", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_EXSCAN},
    {"MPI_Exscan_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_EXSCAN},
    {"MPI_Fetch_and_op", WINDOW, TASK_OP_FETCH},
    {"MPI_Finalize", END, TASK_OP_FINALIZE},
    {"MPI_Gather", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_GATHER},
    {"MPI_Gather_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_GATHER},
    {"MPI_Gatherv", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_GATHERV},
    {"MPI_Gatherv_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_GATHERV},
    {"MPI_Get", WINDOW, TASK_OP_GET},
    {"MPI_Get_accumulate", WINDOW, TASK_OP_FETCH, TASK_WINDOW_SOFTWARE},
    {"MPI_Graph_create", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Grequest_complete", NAMED, TASK_OP_GREQUEST_COMPLETE},
    {"MPI_Grequest_start", GENERALISED, TASK_OP_GREQUEST},
    {"MPI_Iallgather", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_ALLGATHER},
    {"MPI_Iallgatherv", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_ALLGATHERV},
    {"MPI_Iallreduce", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_ALLREDUCE},
    {"MPI_Ialltoall", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_ALLTOALL},
    {"MPI_Ialltoallv", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_ALLTOALLV},
    {"MPI_Ialltoallw", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_ALLTOALLV},
    {"MPI_Ibarrier", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_BARRIER},
    {"MPI_Ibcast", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_BCAST},
    {"MPI_Ibsend", MESSAGE, TASK_OP_ISEND, TASK_MODE_BUFFERED},
    {"MPI_Iexscan", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_EXSCAN},
    {"MPI_Igather", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_GATHER},
    {"MPI_Igatherv", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_GATHERV},
    {"MPI_Improbe", PROBE, TASK_OP_MPROBE},
    {"MPI_Imrecv", MATCHED, TASK_OP_IMRECV},
    {"MPI_Ineighbor_allgather", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_NEIGHBOR_ALLGATHER},
    {"MPI_Ineighbor_allgatherv", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_NEIGHBOR_ALLGATHERV},
    {"MPI_Ineighbor_alltoall", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_NEIGHBOR_ALLTOALL},
    {"MPI_Ineighbor_alltoallv", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_NEIGHBOR_ALLTOALLV},
    {"MPI_Ineighbor_alltoallw", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_NEIGHBOR_ALLTOALLV},
    {"MPI_Init", BEGIN, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Init_thread", BEGIN, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Intercomm_create", CREATE_GROUP, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Intercomm_create_from_groups", CREATE_GROUP, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Intercomm_merge", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Iprobe", PROBE, TASK_OP_IPROBE},
    {"MPI_Irecv", MESSAGE, TASK_OP_IRECV},
    {"MPI_Ireduce", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_REDUCE},
    {"MPI_Ireduce_scatter", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_REDUCE_SCATTER},
    {"MPI_Ireduce_scatter_block", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_REDUCE_SCATTER_BLOCK},
    {"MPI_Irsend", MESSAGE, TASK_OP_ISEND, TASK_MODE_READY},
    {"MPI_Iscan", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_SCAN},
    {"MPI_Iscatter", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_SCATTER},
    {"MPI_Iscatterv", COLLECTIVE, TASK_OP_ICOLLECTIVE, TASK_COLL_SCATTERV},
    {"MPI_Isend", MESSAGE, TASK_OP_ISEND},
    {"MPI_Isendrecv", PAIR},
    {"MPI_Isendrecv_replace", PAIR},
    {"MPI_Issend", MESSAGE, TASK_OP_ISEND, TASK_MODE_SYNCHRONOUS},
    {"MPI_Mprobe", PROBE, TASK_OP_MPROBE},
    {"MPI_Mrecv", MATCHED, TASK_OP_MRECV},
    {"MPI_Neighbor_allgather", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_NEIGHBOR_ALLGATHER},
    {"MPI_Neighbor_allgather_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_NEIGHBOR_ALLGATHER},
    {"MPI_Neighbor_allgatherv", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_NEIGHBOR_ALLGATHERV},
    {"MPI_Neighbor_allgatherv_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_NEIGHBOR_ALLGATHERV},
    {"MPI_Neighbor_alltoall", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_NEIGHBOR_ALLTOALL},
    {"MPI_Neighbor_alltoall_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_NEIGHBOR_ALLTOALL},
    {"MPI_Neighbor_alltoallv", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_NEIGHBOR_ALLTOALLV},
    {"MPI_Neighbor_alltoallv_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_NEIGHBOR_ALLTOALLV},
    {"MPI_Neighbor_alltoallw", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_NEIGHBOR_ALLTOALLV},
    {"MPI_Neighbor_alltoallw_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_NEIGHBOR_ALLTOALLV},
    {"MPI_Parrived", PARTITIONED, TASK_OP_PARRIVED},
    {"MPI_Pready", PARTITIONED, TASK_OP_PREADY},
    {"MPI_Pready_list", PARTITIONED, TASK_OP_PREADY},
    {"MPI_Pready_range", PARTITIONED, TASK_OP_PREADY},
    {"MPI_Precv_init", PARTITIONED, TASK_OP_PRECV_INIT},
    {"MPI_Probe", PROBE, TASK_OP_PROBE},
    {"MPI_Psend_init", PARTITIONED, TASK_OP_PSEND_INIT},
    {"MPI_Put", WINDOW, TASK_OP_PUT},
    {"MPI_Raccumulate", WINDOW, TASK_OP_PUT, TASK_WINDOW_SOFTWARE},
    {"MPI_Recv", MESSAGE, TASK_OP_RECV},
    {"MPI_Recv_init", MESSAGE, TASK_OP_RECV_INIT},
    {"MPI_Reduce", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_REDUCE},
    {"MPI_Reduce_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_REDUCE},
    {"MPI_Reduce_scatter", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_REDUCE_SCATTER},
    {"MPI_Reduce_scatter_block", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_REDUCE_SCATTER_BLOCK},
    {"MPI_Reduce_scatter_block_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_REDUCE_SCATTER_BLOCK},
    {"MPI_Reduce_scatter_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_REDUCE_SCATTER},
    {"MPI_Request_free", NAMED, TASK_OP_REQUEST_FREE},
    {"MPI_Request_get_status", STATUS, TASK_OP_STATUS},
    {"MPI_Rget", WINDOW, TASK_OP_GET},
    {"MPI_Rget_accumulate", WINDOW, TASK_OP_FETCH, TASK_WINDOW_SOFTWARE},
    {"MPI_Rput", WINDOW, TASK_OP_PUT},
    {"MPI_Rsend", MESSAGE, TASK_OP_SEND, TASK_MODE_READY},
    {"MPI_Rsend_init", MESSAGE, TASK_OP_SEND_INIT, TASK_MODE_READY},
    {"MPI_Scan", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_SCAN},
    {"MPI_Scan_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_SCAN},
    {"MPI_Scatter", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_SCATTER},
    {"MPI_Scatter_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_SCATTER},
    {"MPI_Scatterv", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_SCATTERV},
    {"MPI_Scatterv_init", COLLECTIVE, TASK_OP_COLLECTIVE_INIT, TASK_COLL_SCATTERV},
    {"MPI_Send", MESSAGE, TASK_OP_SEND},
    {"MPI_Send_init", MESSAGE, TASK_OP_SEND_INIT},
    {"MPI_Sendrecv", EXCHANGE, TASK_OP_SENDRECV},
    {"MPI_Sendrecv_replace", EXCHANGE, TASK_OP_SENDRECV},
    {"MPI_Ssend", MESSAGE, TASK_OP_SEND, TASK_MODE_SYNCHRONOUS},
    {"MPI_Ssend_init", MESSAGE, TASK_OP_SEND_INIT, TASK_MODE_SYNCHRONOUS},
    {"MPI_Start", NAMED, TASK_OP_STARTALL},
    {"MPI_Startall", NAMED, TASK_OP_STARTALL},
    {"MPI_Test", COMPLETE, TASK_OP_TEST},
    {"MPI_Testall", COMPLETE, TASK_OP_TESTALL},
    {"MPI_Testany", COMPLETE, TASK_OP_TESTANY},
    {"MPI_Testsome", COMPLETE, TASK_OP_TESTSOME},
    {"MPI_Wait", COMPLETE, TASK_OP_WAIT},
    {"MPI_Waitall", COMPLETE, TASK_OP_WAITALL},
    {"MPI_Waitany", COMPLETE, TASK_OP_WAITANY},
    {"MPI_Waitsome", COMPLETE, TASK_OP_WAITSOME},
    {"MPI_Win_allocate", WINDOW_MAKE, TASK_OP_COLLECTIVE},
    {"MPI_Win_allocate_shared", WINDOW_MAKE, TASK_OP_COLLECTIVE},
    {"MPI_Win_attach", LOCAL},
    {"MPI_Win_complete", WINDOW, TASK_OP_WIN_COMPLETE},
    {"MPI_Win_create", WINDOW_MAKE, TASK_OP_COLLECTIVE},
    {"MPI_Win_create_dynamic", WINDOW_MAKE, TASK_OP_COLLECTIVE},
    {"MPI_Win_detach", LOCAL},
    {"MPI_Win_fence", WINDOW_BARRIER, TASK_OP_WIN_FLUSH_ALL},
    {"MPI_Win_flush", WINDOW, TASK_OP_WIN_FLUSH},
    {"MPI_Win_flush_all", WINDOW, TASK_OP_WIN_FLUSH_ALL},
    {"MPI_Win_flush_local", WINDOW, TASK_OP_WIN_FLUSH},
    {"MPI_Win_flush_local_all", WINDOW, TASK_OP_WIN_FLUSH_ALL},
    {"MPI_Win_free", WINDOW_BARRIER, TASK_OP_WIN_FREE},
    {"MPI_Win_lock", WINDOW, TASK_OP_WIN_LOCK},
    {"MPI_Win_lock_all", WINDOW, TASK_OP_WIN_LOCK_ALL},
    {"MPI_Win_post", WINDOW, TASK_OP_WIN_POST},
    {"MPI_Win_shared_query", LOCAL},
    {"MPI_Win_start", WINDOW, TASK_OP_WIN_START},
    {"MPI_Win_sync", LOCAL},
    {"MPI_Win_test", WINDOW, TASK_OP_WIN_WAIT},
    {"MPI_Win_unlock", WINDOW, TASK_OP_WIN_UNLOCK},
    {"MPI_Win_unlock_all", WINDOW, TASK_OP_WIN_UNLOCK_ALL},
    {"MPI_Win_wait", WINDOW, TASK_OP_WIN_WAIT},
};

static int call_compare(const void *name, const void *call)
{
    return strcmp(name, ((const struct replay_call *)call)->name);
}

static const struct replay_call *call_by_fields(const struct mars_function *f)
{
    static const struct replay_call sorts[] = {
        [LOCAL] = {"", LOCAL}, [FILES] = {"", FILES}, [UNKNOWN] = {"", UNKNOWN}};
    static const enum mars_field passes[] = {
        MARS_FIELD_dest, MARS_FIELD_source, MARS_FIELD_root,       MARS_FIELD_request,  MARS_FIELD_requests,
        MARS_FIELD_win,  MARS_FIELD_target, MARS_FIELD_message,    MARS_FIELD_newcomm,  MARS_FIELD_newwin,
        MARS_FIELD_done, MARS_FIELD_bytes,  MARS_FIELD_bytes_each, MARS_FIELD_recvbytes};
    if (replay_has(f, MARS_FIELD_file) || replay_has(f, MARS_FIELD_newfile))
        return &sorts[FILES];
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        if (replay_has(f, passes[i]))
            return &sorts[strcmp(f->name, "MPI_Reduce_local") == 0 ? LOCAL : UNKNOWN];
    return &sorts[LOCAL];
}

/* The functions of large counts, NAME_c, are as those without. */
static const struct replay_call *call_by_name(const char *name)
{
    char base[64];
    const struct replay_call *call =
        bsearch(name, calls, sizeof calls / sizeof *calls, sizeof *calls, call_compare);
    size_t length = strlen(name);
    if (call || length < 3 || length >= sizeof base || strcmp(name + length - 2, "_c") != 0)
        return call;
    memcpy(base, name, length - 2);
    base[length - 2] = 0;
    return bsearch(base, calls, sizeof calls / sizeof *calls, sizeof *calls, call_compare);
}

static bool has_sort(const struct mars_task *task, enum sort sort)
{
    for (uint32_t i = 0; i < task->functions; i++) {
        const struct replay_call *call = task->function[i] ? call_by_name(task->function[i]->name) : NULL;
        if (call && call->sort == sort)
            return true;
    }
    return false;
}

bool replay_pairs(const struct mars_task *task)
{
    return has_sort(task, PAIR);
}

bool replay_generalises(const struct mars_task *task)
{
    return has_sort(task, GENERALISED);
}

/* Former tracers did not say what the partitions are. */
static bool is_told(const struct replay_call *call, const struct mars_function *f)
{
    return call->sort != PARTITIONED || replay_has(f, MARS_FIELD_partitions) ||
           replay_has(f, MARS_FIELD_partition) || replay_has(f, MARS_FIELD_values);
}

/* A call that MPI refused did nothing. */
static const struct replay_call refused = {"", LOCAL};

static const struct replay_call *call_of(struct replay_task *t, const struct mars_function *f)
{
    size_t place = ker_hash((uintptr_t)f) >> 58; /* of 64 */
    if (t->known[place].function != f) {
        const struct replay_call *call = replay_has(f, MARS_FIELD_error) ? &refused : call_by_name(f->name);
        t->known[place].call = call && is_told(call, f) ? call : call_by_fields(f);
        t->known[place].function = f;
    }
    return t->known[place].call;
}

/* ---- the call ---- */

static ker_time picoseconds(uint64_t ns)
{
    return ns > (uint64_t)KER_TIME_MAX / 4000 ? KER_TIME_MAX / 4 : (ker_time)ns * 1000;
}

ker_time replay_gap(const struct replay_task *t)
{
    return picoseconds(replay_gap_ns(t));
}

ker_time replay_duration(const struct replay_task *t)
{
    const struct mars_record *r = &t->record;
    return replay_first(t) || r->polls > 1 || !mars_number(r, MARS_FIELD_flag, 1)
               ? 0
               : picoseconds(r->duration_ns);
}

static bool comm_is_elsewhere(const struct replay_task *t, enum mars_field field)
{
    int64_t number = mars_number(&t->record, field, 0);
    return number > 0 && (uint64_t)number < t->trace->comms && t->comm[number] < 0;
}

/* Is it a call on a communicator of which the replay knows nothing? */
static bool is_elsewhere(const struct replay_task *t, const struct replay_call *call)
{
    if (call->sort == LOCAL || call->sort == ABORT)
        return false;
    return comm_is_elsewhere(t, MARS_FIELD_comm) ||
           (call->sort == CREATE_GROUP && comm_is_elsewhere(t, MARS_FIELD_newcomm));
}

bool replay_is_constant(struct replay_task *t)
{
    const struct replay_call *call = call_of(t, t->record.function);
    return (call->sort == LOCAL || call->sort == MESSAGE || call->sort == EXCHANGE ||
            call->sort == COMPLETE) &&
           !is_elsewhere(t, call);
}

static enum ker_status file_translate(struct replay_task *t, struct task_op *op, bool *some)
{
    op->kind = TASK_OP_COMPUTE;
    op->time = picoseconds(t->record.duration_ns);
    *some = op->time > 0;
    return KER_OK;
}

static enum ker_status unknown_get(struct replay_task *t, const struct replay_call *call, struct task_op *op,
                                   bool *some, const struct replay_wrong *w)
{
    if (!t->rules->unknown)
        return replay_fail(
            w,
            "%s cannot be replayed; jobs[].unknown = \"compute\" takes such calls as computation of "
            "the time they took",
            call->sort != UNKNOWN ? "a call with tasks that are not in the trace" : "it");
    return file_translate(t, op, some);
}

static enum ker_status message_translate(struct replay_task *t, const struct replay_call *call,
                                         struct task_op *op, const struct replay_wrong *w)
{
    switch (call->sort) {
    case MESSAGE:
        op->mode = call->more;
        return replay_message_get(t, op, w);
    case EXCHANGE:
        return replay_exchange_get(t, op, w);
    case PAIR:
        t->parts = 2;
        return replay_pair_get(t, op, w);
    case MATCHED:
        return replay_matched_get(t, op, w);
    default:
        return replay_probe_get(t, op, w);
    }
}

static enum ker_status request_translate(struct replay_task *t, const struct replay_call *call,
                                         struct task_op *op, bool *some, const struct replay_wrong *w)
{
    bool each = t->pairs && (call->sort == STATUS || call->op == TASK_OP_REQUEST_FREE);
    enum ker_status status = KER_OK;
    if (call->sort == COMPLETE) {
        status = replay_complete_get(t, op, some, w);
    } else {
        t->parts = each ? 2 : 1;
        replay_named_get(t, op);
        *some = call->sort != STATUS || mars_number(&t->record, MARS_FIELD_flag, 0) != 0;
    }
    if (status == KER_OK && !*some && t->rules->polls) {
        *op = (struct task_op){.kind = TASK_OP_POLL, .call = call->name};
        *some = true;
    }
    return status;
}

static enum ker_status collective_translate(struct replay_task *t, struct task_op *op, bool *some,
                                            const struct replay_wrong *w)
{
    enum ker_status status = replay_comm_get(t, MARS_FIELD_comm, &op->comm, w);
    if (status == KER_OK && t->comms[op->comm].remote)
        return op->kind == TASK_OP_COLLECTIVE ? replay_between_get(t, op, some, w)
                                              : replay_between_request_get(t, op, w);
    return status == KER_OK ? replay_collective_get(t, op, w) : status;
}

static enum ker_status create_translate(struct replay_task *t, const struct replay_call *call,
                                        struct task_op *op, bool *some, const struct replay_wrong *w)
{
    op->collective = call->more;
    op->bytes = 8;
    op->request = (uint64_t)mars_number(&t->record, MARS_FIELD_request, 0);
    *some = call->sort == CREATE || mars_number(&t->record, MARS_FIELD_newcomm, 0) != 0;
    enum mars_field field = call->sort == CREATE ? MARS_FIELD_comm : MARS_FIELD_newcomm;
    enum ker_status status = *some ? replay_comm_get(t, field, &op->comm, w) : KER_OK;
    if (status == KER_OK) /* of an intercommunicator the tasks of both groups */
        op->comm = replay_whole(t->comms, op->comm);
    return status;
}

/* A task that has been spawned begins with its part in what makes the communicator with those who spawn it.
 */
static enum ker_status begin_translate(struct replay_task *t, struct task_op *op, bool *some,
                                       const struct replay_wrong *w)
{
    const char *parent = mars_task_info(t->trace, "parent");
    uint64_t number = parent ? strtoull(parent, NULL, 10) : 0;
    *some = parent != NULL;
    if (!parent)
        return KER_OK;
    if (number < 1 || number >= t->trace->comms || t->comm[number] < 0 || !t->comms[t->comm[number]].remote)
        return replay_fail(w, "it has been spawned by tasks that are not in the trace");
    op->collective = TASK_COLL_COMM;
    op->mode = TASK_COLLECTIVE_BEGINS;
    op->bytes = 8;
    op->comm = replay_whole(t->comms, t->comm[number]);
    return KER_OK;
}

/* Calls of which there is no operation, but perhaps computation. They may make requests. */
static enum ker_status apart_translate(struct replay_task *t, const struct replay_call *call,
                                       struct task_op *op, bool *some, const struct replay_wrong *w)
{
    replay_active_unknown(t);
    *some = false;
    if (is_elsewhere(t, call) || call->sort == UNKNOWN)
        return unknown_get(t, call, op, some, w);
    if (call->sort != FILES)
        return KER_OK;
    op->mode = TASK_COMPUTE_SYSTEM;
    return file_translate(t, op, some);
}

static enum ker_status translate(struct replay_task *t, const struct replay_call *call, struct task_op *op,
                                 bool *some, const struct replay_wrong *w)
{
    *op = (struct task_op){.kind = call->op, .call = call->name};
    *some = true;
    t->parts = 1;
    switch (is_elsewhere(t, call) ? UNKNOWN : (enum sort)call->sort) {
    case BEGIN:
        return begin_translate(t, op, some, w);
    case END:
        return KER_OK;
    case ABORT:
        op->tag = (int32_t)mars_number(&t->record, MARS_FIELD_value, 0);
        op->outcome = 1;
        return KER_OK;
    case MESSAGE:
    case EXCHANGE:
    case PAIR:
    case MATCHED:
    case PROBE:
        return message_translate(t, call, op, w);
    case PARTITIONED:
        return replay_partitioned_get(t, op, some, w);
    case GENERALISED:
    case NAMED:
    case STATUS:
    case COMPLETE:
        return request_translate(t, call, op, some, w);
    case COLLECTIVE:
        op->collective = call->more;
        return collective_translate(t, op, some, w);
    case CREATE:
    case CREATE_GROUP:
        return create_translate(t, call, op, some, w);
    case WINDOW_MAKE:
        return replay_window_make(t, op, w);
    case WINDOW:
    case WINDOW_BARRIER:
        op->mode = call->more;
        return replay_window_get(t, op, some, call->sort == WINDOW_BARRIER, w);
    default:
        return apart_translate(t, call, op, some, w);
    }
}

enum ker_status replay_translate(struct replay_task *t, struct task_op *op, bool *some, const char *path,
                                 struct ker_error *error)
{
    const struct replay_wrong w = {t, path, error};
    enum ker_status status = translate(t, call_of(t, t->record.function), op, some, &w);
    return status == KER_OK && *some ? replay_active_check(t, op, &w) : status;
}
