/* active.c - are the requests of a task used as MPI allows?
 *
 * A number that is given to a request must not be that of one that is active; what completes must be active
 * or persistent; what is started must be persistent. A message must fit the room of its receive, where the
 * trace says what came. Of a call that completes one of several requests, unknown which, each may have
 * completed: PERHAPS; so may those of calls that are not replayed (MPI-IO).
 *
 * A task with several threads is not looked at, as its threads are read one after the other; nor are numbers
 * above NUMBER_MOST.
 */
#include "traces/replay/arguments.h"

#include <stdlib.h>
#include <string.h>

enum { NONE, PERHAPS, READY, STARTED, ACTIVE }; /* READY, STARTED: persistent */
#define NUMBER_MOST ((uint64_t)1 << 21)         /* a bad trace must not ask for more memory than that */

static struct replay_request *request_at(struct replay_task *t, uint64_t number)
{
    return TRACE_AT(t->request, t->requests, number);
}

/* Of the two numbers of a request for a send and a receive the lower one is looked at; 0 is a null request.
 */
static bool is_one(uint64_t number)
{
    return number > 0 && number <= NUMBER_MOST;
}

static void forget(struct replay_task *t, struct replay_request *r)
{
    t->partitions -= r->partitions;
    free(r->is_ready);
    *r = (struct replay_request){.state = NONE};
}

static enum ker_status made(struct replay_task *t, uint64_t number, unsigned state, uint64_t room,
                            const struct replay_wrong *w)
{
    if (!is_one(number))
        return KER_OK;
    struct replay_request *r = request_at(t, number);
    if (r->state >= READY)
        return replay_fail(w, "request %llu is made twice: that of call %llu has not completed",
                           (unsigned long long)number, (unsigned long long)r->made);
    forget(t, r);
    *r = (struct replay_request){.state = (uint8_t)state, .room = room, .made = t->read};
    return KER_OK;
}

static enum ker_status started(struct replay_task *t, uint64_t number, const struct replay_wrong *w)
{
    if (!is_one(number))
        return KER_OK;
    struct replay_request *r = request_at(t, number);
    if (r->state == STARTED)
        return replay_fail(w, "request %llu is started twice: it has not completed since call %llu",
                           (unsigned long long)number, (unsigned long long)r->made);
    if (r->state == NONE || r->state == ACTIVE)
        return replay_fail(w, "request %llu is started, and is no persistent one",
                           (unsigned long long)number);
    if (r->state == READY)
        r->state = STARTED;
    replay_partitions_begin(r);
    r->made = t->read;
    return KER_OK;
}

/* bytes: what came, -1: nothing, or unknown. */
static enum ker_status completed(struct replay_task *t, uint64_t number, int64_t bytes,
                                 const struct replay_wrong *w)
{
    if (!is_one(number))
        return KER_OK;
    struct replay_request *r = request_at(t, number);
    if (r->state == READY) /* inactive: MPI says of it that it is complete */
        return KER_OK;
    if (r->state == NONE)
        return replay_fail(w, "request %llu completes, and none of this number is active",
                           (unsigned long long)number);
    if (r->receives && bytes > 0 && (uint64_t)bytes > r->room)
        return replay_fail(w, "request %llu has received %lld bytes, and has room for %llu",
                           (unsigned long long)number, (long long)bytes, (unsigned long long)r->room);
    if (replay_partitions_completed(r, number, w) != KER_OK)
        return KER_BAD_INPUT;
    r->state = r->state == STARTED ? READY : r->state == PERHAPS ? PERHAPS : NONE;
    return KER_OK;
}

static enum ker_status completions(struct replay_task *t, const struct replay_wrong *w)
{
    const struct mars_value *list = mars_list(&t->record, MARS_FIELD_requests);
    enum ker_status status = KER_OK;
    struct mars_done d = {0};
    while (status == KER_OK && mars_done_next(&t->record, &d))
        if (d.request >= 0) /* checked: the index of one */
            status = completed(t, (uint64_t)d.request, d.came[0] >= 0 ? d.came[2] : -1, w);
    for (uint32_t i = 0; d.next == 4 && d.index == MARS_ONE_OF && i < list->count; i++)
        if (is_one((uint64_t)list->list[i]) && request_at(t, (uint64_t)list->list[i])->state == ACTIVE)
            request_at(t, (uint64_t)list->list[i])->state = PERHAPS;
    return status;
}

/* Of a blocking receive the trace may say what came. */
static enum ker_status received(const struct replay_task *t, uint64_t room, const struct replay_wrong *w)
{
    int64_t got = mars_number(&t->record, MARS_FIELD_got, 0);
    if (mars_number(&t->record, MARS_FIELD_from, MARS_FROM_UNKNOWN) < 0 || got <= 0 || (uint64_t)got <= room)
        return KER_OK;
    return replay_fail(w, "it has received %lld bytes, and has room for %llu", (long long)got,
                       (unsigned long long)room);
}

static enum ker_status startall(struct replay_task *t, const struct task_op *op, const struct replay_wrong *w)
{
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; i < op->request_count && status == KER_OK; i++)
        status = started(t, op->requests[i], w);
    return status;
}

/* MPICH 4.0 has no status of MPI_Isendrecv. */
static enum ker_status receives(struct replay_task *t, const struct task_op *op, const struct replay_wrong *w)
{
    unsigned state = op->kind == TASK_OP_RECV_INIT ? READY : ACTIVE;
    enum ker_status status = made(t, op->request, state, op->bytes, w);
    if (status == KER_OK && is_one(op->request))
        request_at(t, op->request)->receives = t->parts == 1;
    return status;
}

static enum ker_status partitioned(struct replay_task *t, const struct task_op *op,
                                   const struct replay_wrong *w)
{
    bool makes = op->kind == TASK_OP_PSEND_INIT || op->kind == TASK_OP_PRECV_INIT;
    enum ker_status status = makes ? made(t, op->request, READY, op->bytes, w) : KER_OK;
    if (status != KER_OK || !is_one(op->request))
        return status;
    struct replay_request *r = request_at(t, op->request);
    if (r->state == PERHAPS)
        return KER_OK;
    if (op->kind == TASK_OP_PREADY && r->state != STARTED)
        return replay_fail(w, "request %llu is not started", (unsigned long long)op->request);
    if (makes)
        t->partitions += op->bytes2;
    if (t->partitions > REPLAY_PARTITIONS_MOST)
        return replay_fail(w, "more than %d partitions at a time", REPLAY_PARTITIONS_MOST);
    return replay_partitions_check(r, op, w);
}

void replay_active_release(struct replay_task *t)
{
    for (size_t i = 0; i < t->requests; i++)
        free(t->request[i].is_ready);
    free(t->request);
}

enum ker_status replay_active_check(struct replay_task *t, const struct task_op *op,
                                    const struct replay_wrong *w)
{
    if (t->trace->threads > 1 || (t->part && op->kind != TASK_OP_PREADY))
        return KER_OK;
    switch (op->kind) {
    case TASK_OP_RECV:
    case TASK_OP_MRECV:
        return received(t, op->bytes, w);
    case TASK_OP_SENDRECV:
        return received(t, op->bytes2, w);
    case TASK_OP_IRECV:
    case TASK_OP_IMRECV:
    case TASK_OP_RECV_INIT:
        return receives(t, op, w);
    case TASK_OP_ISEND:
    case TASK_OP_ICOLLECTIVE:
    case TASK_OP_GREQUEST:
    case TASK_OP_PUT:
    case TASK_OP_GET:
    case TASK_OP_FETCH:
        return made(t, op->request, ACTIVE, 0, w);
    case TASK_OP_SEND_INIT:
    case TASK_OP_COLLECTIVE_INIT:
        return made(t, op->request, READY, 0, w);
    case TASK_OP_PSEND_INIT:
    case TASK_OP_PRECV_INIT:
    case TASK_OP_PREADY:
    case TASK_OP_PARRIVED:
        return partitioned(t, op, w);
    case TASK_OP_START:
        return started(t, op->request, w);
    case TASK_OP_STARTALL:
        return startall(t, op, w);
    case TASK_OP_WAIT:
    case TASK_OP_WAITALL:
    case TASK_OP_WAITANY:
        return mars_list(&t->record, MARS_FIELD_done) ? completions(t, w) : KER_OK;
    case TASK_OP_REQUEST_FREE:
        if (is_one(op->request))
            forget(t, request_at(t, op->request));
        return KER_OK;
    default:
        return KER_OK;
    }
}

void replay_active_unknown(struct replay_task *t)
{
    uint64_t number = (uint64_t)mars_number(&t->record, MARS_FIELD_request, 0);
    if (is_one(number))
        request_at(t, number)->state = PERHAPS;
}
