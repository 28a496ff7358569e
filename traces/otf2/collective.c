/* collective.c - collectives: from what a task has sent and received to what a call was called with.
 *
 * Writers differ. Score-P (and what it documents: `total`) counts what is sent to each task, the own one
 * included unless MPI_IN_PLACE is given, which the archive does not say: a sum that can be divided by the
 * number of tasks is taken as one without it. EZTrace (`each`) gives the count of the call.
 */
#include "traces/otf2/otf2.h"

/* What a task sends and receives, in a communicator of n, of which it is number me. */
struct sizes {
    uint64_t sent, received, n, me;
    bool root, each;
    bool odd; /* a sum that cannot be divided */
};

/* One of n equal parts, or of n - 1 with MPI_IN_PLACE. */
static uint64_t part(struct sizes *s, uint64_t sum)
{
    if (s->each || sum == 0)
        return sum;
    if (sum % s->n == 0)
        return sum / s->n;
    if (s->n > 1 && sum % (s->n - 1) == 0)
        return sum / (s->n - 1);
    s->odd = true;
    return 0;
}

/* Of the side with the root's own share, or, if it is in place, of what it has of the others. */
static uint64_t rooted(struct sizes *s, uint64_t own, uint64_t all)
{
    if (own || !s->root || all == 0)
        return own;
    if (s->each || s->n == 1)
        return all;
    s->odd |= all % (s->n - 1) != 0;
    return all / (s->n - 1);
}

/* Of n - me, or of me + 1: what of these is said. */
static uint64_t scanned(struct sizes *s, bool exclusive)
{
    uint64_t after = s->n - s->me - exclusive, before = s->me + !exclusive;
    uint64_t parts = after ? after : before, sum = after ? s->sent : s->received;
    if (s->each || sum == 0 || parts == 0)
        return s->sent ? s->sent : s->received;
    if (sum % parts == 0)
        return sum / parts;
    if (!exclusive && parts > 1 && sum % (parts - 1) == 0) /* in place */
        return sum / (parts - 1);
    s->odd = true;
    return 0;
}

static void sizes_settle(struct sizes *s, struct task_op *op)
{
    switch (op->collective) {
    case TASK_COLL_BCAST:
        op->bytes = s->received ? s->received : s->sent;
        break;
    case TASK_COLL_SCATTER:
        op->bytes = rooted(s, s->received, s->sent);
        break;
    case TASK_COLL_REDUCE:
    case TASK_COLL_GATHER:
        op->bytes = rooted(s, s->sent, s->received);
        break;
    case TASK_COLL_ALLREDUCE:
    case TASK_COLL_ALLGATHER:
    case TASK_COLL_ALLTOALL:
    case TASK_COLL_REDUCE_SCATTER_BLOCK:
        op->bytes = part(s, s->received);
        break;
    case TASK_COLL_GATHERV:
        op->bytes = s->sent;
        break;
    case TASK_COLL_SCATTERV:
        op->bytes = s->root ? s->sent : 0;
        op->bytes2 = s->received;
        break;
    case TASK_COLL_ALLGATHERV:
        op->bytes = part(s, s->sent);
        break;
    case TASK_COLL_ALLTOALLV:
        op->bytes = s->sent;
        op->bytes2 = s->received;
        break;
    case TASK_COLL_REDUCE_SCATTER:
        op->bytes = op->bytes2 = s->sent;
        break;
    case TASK_COLL_SCAN:
    case TASK_COLL_EXSCAN:
        op->bytes = scanned(s, op->collective == TASK_COLL_EXSCAN);
        break;
    default:
        break;
    }
}

static bool has_root(unsigned collective)
{
    return collective == TASK_COLL_BCAST || collective == TASK_COLL_REDUCE ||
           collective == TASK_COLL_GATHER || collective == TASK_COLL_GATHERV ||
           collective == TASK_COLL_SCATTER || collective == TASK_COLL_SCATTERV;
}

static enum ker_status comm_check(struct otf2_task *t, const struct otf2_event *event,
                                  const struct otf2_comm *comm)
{
    if (!comm)
        return otf2_task_fail(t, event, "communicator %u, of which there is no definition", event->comm);
    if (comm->kind == OTF2_COMM_BETWEEN)
        return otf2_task_fail(t, event,
                              "a collective between the groups of intercommunicator %u: these are "
                              "not read from archives",
                              event->comm);
    return comm->kind == OTF2_COMM_OTHER
               ? otf2_task_fail(t, event, "communicator %u has no group of tasks of MPI", event->comm)
               : KER_OK;
}

/* Is what the record says possible? */
static enum ker_status record_check(struct otf2_task *t, const struct otf2_event *event,
                                    const struct task_comm *of)
{
    const char *name = trace_collective_name(event->collective);
    if (task_comm_rank(of, (int32_t)t->out->task) < 0)
        return otf2_task_fail(t, event, "task %u is no member of communicator %u", t->out->task, event->comm);
    if (has_root(event->collective) && event->root >= (uint32_t)of->size)
        return otf2_task_fail(t, event, "the root of %s is %u in a communicator of %d", name, event->root,
                              of->size);
    if (event->sent > FOREIGN_BYTES_MOST || event->received > FOREIGN_BYTES_MOST)
        return otf2_task_fail(t, event, "%s sends %llu bytes and receives %llu; more than 1 TiB is none",
                              name, (unsigned long long)event->sent, (unsigned long long)event->received);
    if (t->trace->sizes == OTF2_SIZES_UNKNOWN && (event->sent || event->received))
        return otf2_task_fail(
            t, event,
            "what the sizes of %s mean depends on who has written the archive, which it does not say; "
            "jobs[].collective_sizes = \"total\" (as Score-P) or \"each\" (as EZTrace) does",
            name);
    return KER_OK;
}

enum ker_status otf2_collective(struct otf2_task *t, const struct otf2_event *event, struct task_op *op,
                                bool *some)
{
    const struct otf2_comm *comm = otf2_comm_find(t->trace, event->comm);
    *some = false;
    if (event->collective == OTF2_COLL_NOTHING)
        return KER_OK;
    if (event->collective > TASK_COLL_COMM)
        return otf2_task_fail(t, event, "a collective that is not known here (Alltoallw is not)");
    enum ker_status status = comm_check(t, event, comm);
    if (status != KER_OK || comm->kind == OTF2_COMM_SELF)
        return status;
    const struct task_comm *of = &t->out->trace->comm[comm->index];
    status = record_check(t, event, of);
    if (status != KER_OK)
        return status;
    op->collective = event->collective;
    op->comm = comm->index;
    op->peer = has_root(event->collective) ? (int32_t)event->root : 0;
    op->call = trace_collective_name(event->collective);
    struct sizes s = {.sent = event->sent,
                      .received = event->received,
                      .n = (uint64_t)of->size,
                      .me = (uint64_t)task_comm_rank(of, (int32_t)t->out->task),
                      .each = t->trace->sizes == OTF2_SIZES_EACH};
    s.root = (uint64_t)op->peer == s.me;
    sizes_settle(&s, op);
    if (s.odd)
        return otf2_task_fail(t, event,
                              "%s sends %llu bytes and receives %llu, which are no equal parts for %d "
                              "tasks; jobs[].collective_sizes says what sizes mean",
                              op->call, (unsigned long long)event->sent, (unsigned long long)event->received,
                              of->size);
    if (foreign_has_counts(event->collective))
        t->out->doubts |= 1u << OTF2_DOUBT_COUNTS;
    *some = true;
    return KER_OK;
}
