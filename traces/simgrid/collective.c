/* collective.c - collectives, which name no communicator: they are taken as those of MPI_COMM_WORLD.
 *
 * Without its "i" an action is one of the list below. What follows it is named by letters: s, r: sends
 * and receives a number of elements; S, R: the same, a number for each task; c: computes a number of flops;
 * x: a number that means nothing here; g: the root; t, u: datatypes of what is sent and received. SimGrid
 * leaves out an r of 0, and hand-made traces leave out the datatypes, both of them, and then the root.
 */
#include "traces/simgrid/simgrid.h"

#include <string.h>

static const struct kind {
    const char *name, *call, *icall, *form;
    int32_t tag; /* of those that do not block: what waits name */
    uint8_t collective;
} kinds[] = {
    {"barrier", "MPI_Barrier", "MPI_Ibarrier", "", -779, TASK_COLL_BARRIER},
    {"bcast", "MPI_Bcast", "MPI_Ibcast", "sgt", -3335, TASK_COLL_BCAST},
    {"reduce", "MPI_Reduce", "MPI_Ireduce", "scgt", -113, TASK_COLL_REDUCE},
    {"allreduce", "MPI_Allreduce", "MPI_Iallreduce", "sct", -4446, TASK_COLL_ALLREDUCE},
    {"gather", "MPI_Gather", "MPI_Igather", "srgtu", -446, TASK_COLL_GATHER},
    {"gatherv", "MPI_Gatherv", "MPI_Igatherv", "sRgtu", -2224, TASK_COLL_GATHERV},
    {"scatter", "MPI_Scatter", "MPI_Iscatter", "srgtu", -224, TASK_COLL_SCATTER},
    {"scatterv", "MPI_Scatterv", "MPI_Iscatterv", "Srgtu", -335, TASK_COLL_SCATTERV},
    {"allgather", "MPI_Allgather", "MPI_Iallgather", "srtu", -557, TASK_COLL_ALLGATHER},
    {"allgatherv", "MPI_Allgatherv", "MPI_Iallgatherv", "sRtu", -668, TASK_COLL_ALLGATHERV},
    {"alltoall", "MPI_Alltoall", "MPI_Ialltoall", "srtu", -1113, TASK_COLL_ALLTOALL},
    {"alltoallv", "MPI_Alltoallv", "MPI_Ialltoallv", "xSxRtu", -1001, TASK_COLL_ALLTOALLV},
    {"reducescatter", "MPI_Reduce_scatter", "MPI_Ireduce_scatter", "Rct", -890, TASK_COLL_REDUCE_SCATTER},
    {"scan", "MPI_Scan", "MPI_Iscan", "sct", -889, TASK_COLL_SCAN},
    {"exscan", "MPI_Exscan", "MPI_Iexscan", "sct", -889, TASK_COLL_EXSCAN},
};

/* Where the parts of the form stand among the numbers, SIZE_MAX: they are left out. */
struct parts {
    size_t send, receive, flops, root, type, type2;
    bool sends, receives; /* a number for each task */
};

static size_t numbers_of(const char *form, size_t tasks, const char *without)
{
    size_t numbers = 0;
    for (; *form; form++)
        if (!strchr(without, *form))
            numbers += *form == 'S' || *form == 'R' ? tasks : 1;
    return numbers;
}

static void parts_place(struct parts *parts, const char *form, size_t tasks, const char *without)
{
    size_t at = 0;
    *parts = (struct parts){SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, false, false};
    for (; *form; form++) {
        size_t *part = *form == 's' || *form == 'S'   ? &parts->send
                       : *form == 'r' || *form == 'R' ? &parts->receive
                       : *form == 'c'                 ? &parts->flops
                       : *form == 'g'                 ? &parts->root
                       : *form == 't'                 ? &parts->type
                       : *form == 'u'                 ? &parts->type2
                                                      : NULL;
        parts->sends |= *form == 'S';
        parts->receives |= *form == 'R';
        if (strchr(without, *form))
            continue;
        if (part)
            *part = at;
        at += *form == 'S' || *form == 'R' ? tasks : 1;
    }
}

/* Which of the forms the line has; NULL: none. */
static const char *form_find(const struct simgrid_task *t, const struct kind *kind)
{
    static const char *const without[] = {"", "r", "tu", "tug"};
    for (int i = 0; i < 4; i++)
        if (t->line.numbers == numbers_of(kind->form, t->out->trace->tasks, without[i]))
            return without[i];
    return NULL;
}

static enum ker_status list_read(struct simgrid_task *t, size_t at, size_t type, int which,
                                 const uint64_t **list, uint64_t *sum)
{
    uint32_t tasks = t->out->trace->tasks;
    *sum = 0;
    for (uint32_t i = 0; i < tasks; i++) {
        enum ker_status status = simgrid_bytes(t, at + i, type, &t->bytes[which][i]);
        if (status != KER_OK)
            return status;
        *sum += t->bytes[which][i];
    }
    *list = t->bytes[which];
    return KER_OK;
}

/* Both sides, as the line says them. */
static enum ker_status sizes_read(struct simgrid_task *t, const struct parts *p, struct task_op *op)
{
    size_t type2 = p->type2 == SIZE_MAX ? p->type : p->type2;
    enum ker_status status = KER_OK;
    if (p->sends)
        status = list_read(t, p->send, p->type, 0, &op->send_bytes, &op->bytes);
    else if (p->send != SIZE_MAX)
        status = simgrid_bytes(t, p->send, p->type, &op->bytes);
    if (status != KER_OK)
        return status;
    if (p->receives)
        status = list_read(t, p->receive, type2, 1, &op->receive_bytes, &op->bytes2);
    else if (p->receive != SIZE_MAX)
        status = simgrid_bytes(t, p->receive, type2, &op->bytes2);
    if (op->send_bytes || op->receive_bytes)
        op->request_count = t->out->trace->tasks;
    return status;
}

/* What counts of them: with MPI_IN_PLACE one side is not said, and at one side of gather and scatter alone
 * there are lists that mean something. */
static void sizes_decide(struct simgrid_task *t, struct task_op *op)
{
    bool root = op->peer == (int32_t)t->out->task;
    switch (op->collective) {
    case TASK_COLL_GATHER:
        op->bytes = root ? op->bytes2 : op->bytes;
        op->bytes2 = 0;
        break;
    case TASK_COLL_SCATTER:
        op->bytes = root ? op->bytes : op->bytes2;
        op->bytes2 = 0;
        break;
    case TASK_COLL_ALLGATHER:
    case TASK_COLL_ALLTOALL:
        op->bytes = op->bytes2 ? op->bytes2 : op->bytes;
        op->bytes2 = 0;
        break;
    case TASK_COLL_GATHERV:
        if (root && op->receive_bytes) {
            op->bytes = op->receive_bytes[t->out->task];
        } else {
            op->receive_bytes = NULL;
            op->bytes2 = 0;
        }
        break;
    case TASK_COLL_SCATTERV:
        if (root && op->send_bytes) {
            op->bytes2 = op->send_bytes[t->out->task];
        } else {
            op->send_bytes = NULL;
            op->bytes = 0;
        }
        break;
    case TASK_COLL_ALLGATHERV:
        op->bytes = op->receive_bytes ? op->receive_bytes[t->out->task] : op->bytes;
        break;
    case TASK_COLL_REDUCE_SCATTER:
        op->bytes = op->bytes2;
        break;
    default:
        break;
    }
    if (!op->send_bytes && !op->receive_bytes)
        op->request_count = 0;
}

/* SimGrid writes as many zeros as a block of Reduce_scatter_block has elements, and the datatype. */
static bool block_read(struct simgrid_task *t, struct task_op *op, enum ker_status *status)
{
    size_t zeros = 0;
    while (zeros + 1 < t->line.numbers && t->line.number[zeros] == 0)
        zeros++;
    if (t->line.numbers < 1 || zeros + 1 != t->line.numbers)
        return false;
    double last = t->line.number[0];
    t->line.number[0] = (double)zeros;
    *status = zeros ? simgrid_bytes(t, 0, zeros, &op->bytes) : KER_OK;
    t->line.number[0] = last;
    op->collective = TASK_COLL_REDUCE_SCATTER_BLOCK;
    op->call = op->kind == TASK_OP_COLLECTIVE ? "MPI_Reduce_scatter_block" : "MPI_Ireduce_scatter_block";
    return true;
}

static enum ker_status arguments_read(struct simgrid_task *t, const struct kind *kind, struct parts *parts,
                                      struct task_op *op)
{
    enum ker_status status;
    int64_t root = 0;
    const char *without = form_find(t, kind);
    if (!without && kind->collective == TASK_COLL_REDUCE_SCATTER && block_read(t, op, &status))
        return status;
    if (!without)
        return simgrid_fail(
            &t->line, "%zu numbers; with %u tasks it has %zu of them with datatypes, or %zu without",
            t->line.numbers, t->out->trace->tasks, numbers_of(kind->form, t->out->trace->tasks, ""),
            numbers_of(kind->form, t->out->trace->tasks, "tu"));
    parts_place(parts, kind->form, t->out->trace->tasks, without);
    if (parts->root != SIZE_MAX) {
        status = simgrid_whole(&t->line, parts->root, "the root", 0, t->out->trace->tasks - 1, &root);
        if (status != KER_OK)
            return status;
    }
    op->peer = (int32_t)root;
    status = sizes_read(t, parts, op);
    if (status == KER_OK)
        sizes_decide(t, op);
    return status;
}

bool simgrid_collective(struct simgrid_task *t, enum ker_status *status)
{
    const char *name = t->line.action;
    const struct kind *kind = NULL;
    bool waits = true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !kind; i++) {
        waits = strcmp(name, kinds[i].name) == 0;
        if (waits || (*name == 'i' && strcmp(name + 1, kinds[i].name) == 0))
            kind = &kinds[i];
    }
    if (!kind)
        return false;
    struct parts parts = {.flops = SIZE_MAX};
    struct task_op op = {.kind = waits ? TASK_OP_COLLECTIVE : TASK_OP_ICOLLECTIVE,
                         .collective = kind->collective,
                         .call = waits ? kind->call : kind->icall,
                         .line = t->line.text->in.line};
    *status = arguments_read(t, kind, &parts, &op);
    if (*status != KER_OK)
        return true;
    if (!waits)
        op.request = foreign_request_new(&t->requests, t->out, SIMGRID_NOBODY, SIMGRID_NOBODY, kind->tag);
    t->out->doubts |= 1u << SIMGRID_DOUBT_COMM;
    foreign_put(t->out, &op);
    foreign_count(t->out, op.call, op.bytes, 0);
    if (parts.flops != SIZE_MAX)
        *status = simgrid_flops(t, parts.flops);
    return true;
}
