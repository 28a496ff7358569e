/* completion.c - requests by number, what completed, and what came: from where, with which tag, how many
 * bytes. */
#include "call.h"

#include <string.h>

static int64_t bytes_got(const MPI_Status *status)
{
    MPI_Count count = 0;
    if (PMPI_Get_elements_x((MPI_Status *)status, MPI_BYTE, &count) != MPI_SUCCESS || count < 0)
        return 0;
    return count;
}

/* What did not fit into a buffer was lost: it is full, whatever the library says came. */
static int64_t bytes_received(const struct trc_call *c, const MPI_Status *status, int64_t room)
{
    int class = MPI_SUCCESS;
    if (status->MPI_SOURCE == MPI_PROC_NULL)
        return 0;
    if (c->in_status && status->MPI_ERROR != MPI_SUCCESS)
        PMPI_Error_class(status->MPI_ERROR, &class);
    return c->truncated || class == MPI_ERR_TRUNCATE ? room : bytes_got(status);
}

static void found(struct trc_call *c, const MPI_Status *status)
{
    if (c->failed || !status) {
        trc_put(c, MARS_FROM_NOBODY);
        trc_put(c, 0);
        trc_put(c, 0);
        return;
    }
    trc_put(c, trc_peer(status->MPI_SOURCE));
    trc_put(c, status->MPI_TAG);
    trc_put(c, bytes_received(c, status, c->t->received));
}

/* Has a request that the call says is complete become so? One that is gone, or not known, has no number; MPI
 * says so of an inactive one as well. Where errors are in the statuses, some may not have come to an end. */
static bool is_done(const struct trc_call *c, int index, const MPI_Status *status)
{
    uint32_t number = c->t->number[index];
    return number && (!trc_request_at(number)->persistent || trc_request_at(number)->started) &&
           !(c->in_status && status->MPI_ERROR == MPI_ERR_PENDING);
}

/* One completed request: where in the list, and what it received. */
static void done(struct trc_call *c, int64_t *last, int index, const MPI_Status *status)
{
    uint32_t number = c->t->number[index];
    int64_t value[4] = {index, MARS_FROM_SEND, 0, 0};
    int cancelled = 0;
    if (!is_done(c, index, status))
        return;
    struct trc_request *request = trc_request_at(number);
    if (request->cancelled)
        PMPI_Test_cancelled((MPI_Status *)status, &cancelled);
    if (cancelled) {
        value[1] = MARS_CANCELLED;
    } else if (request->unsaid) {
        value[1] = MARS_FROM_UNKNOWN;
    } else if (request->receives) {
        value[1] = trc_peer(status->MPI_SOURCE);
        value[2] = status->MPI_TAG;
        value[3] = bytes_received(c, status, request->room);
    }
    for (int i = 0; i < 4; i++) {
        trc_put(c, value[i] - *last);
        *last = value[i];
    }
    request->cancelled = request->started = false;
    c->t->number[index] = 0; /* not to be given back */
    if (request->persistent)
        trc_request_give(number);
    else
        trc_request_freed(number);
}

static uint32_t completed_count(const struct trc_call *c, int outcome, const MPI_Status *status)
{
    const int *indices = c->indices >= 0 ? (const int *)c->a[c->indices] : NULL;
    int most = indices ? outcome : (int)c->t->numbers;
    uint32_t count = 0;
    for (int i = 0; i < most; i++)
        count += is_done(c, indices ? indices[i] : i, status + i);
    return count;
}

/* What a completion did. Whichever argument says how many: nout, index, flag, or none (all). */
static void all_done(struct trc_call *c, const MPI_Status *status)
{
    struct trc_thread *t = c->t;
    int outcome = c->found >= 0 ? *(const int *)c->a[c->found] : (int)t->numbers;
    int64_t last = 0;
    bool nothing = c->failed || outcome == MPI_UNDEFINED || !c->flag || t->numbers == 0;
    c->t->nothing = !c->failed && (!c->flag || (c->indices >= 0 && outcome == 0));
    if (nothing) {
        t->at = mars_put(t->at, 0);
    } else if (c->index >= 0) {
        bool one = outcome >= 0 && (uint32_t)outcome < t->numbers && is_done(c, outcome, status);
        t->at = mars_put(t->at, one ? 4 : 0);
        if (one)
            done(c, &last, outcome, status);
    } else {
        t->at = mars_put(t->at, 4 * (uint64_t)completed_count(c, outcome, status));
        const int *indices = c->indices >= 0 ? (const int *)c->a[c->indices] : NULL;
        for (int i = 0; i < outcome; i++)
            done(c, &last, indices ? indices[i] : i, status + i);
    }
    for (uint32_t i = t->numbers; i-- > 0;) /* the oldest of a handle comes first again */
        trc_request_give(t->number[i]);
    t->numbers = 0;
}

static uint32_t one_taken(MPI_Request request)
{
    uint32_t number = trc_request_take(request);
    trc_request_give(number);
    return number || request == MPI_REQUEST_NULL ? number : trc_request_seek(request);
}

/* The requests of the call as a list of numbers. */
static void numbers_put(struct trc_call *c)
{
    int64_t last = 0;
    uint32_t count = trc_room(c, 5 * (uint64_t)c->t->numbers + 8) ? c->t->numbers : 0;
    c->t->at = mars_put(c->t->at, count);
    for (uint32_t i = 0; i < count; last = c->t->number[i++])
        trc_put(c, (int64_t)c->t->number[i] - last);
}

/* Of several threads a call ends after what it makes has its number: what another thread did with that number
 * was over before, however long this one had to wait for it, so the calls' ends show whose it was. */
static void number_put(struct trc_call *c, uint32_t number)
{
    trc_put(c, number);
    if (trc.thread_count > 1)
        c->t->returned = trc_wall();
}

/* MPICH 4.0 has the status of another message. */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
#define STATUS_IS_WRONG(name) (strncmp(name, "MPI_Isendrecv", 13) == 0)
#else
#define STATUS_IS_WRONG(name) false
#endif

/* Requests that are made. */
static bool made(struct trc_call *c, unsigned role, intptr_t argument)
{
    unsigned word = role & 0xff;
    bool receives = word == TRC_R_rreq || word == TRC_R_prreq,
         persistent = word == TRC_R_preq || word == TRC_R_prreq;
    if (!receives && !persistent && word != TRC_R_req && word != TRC_R_ioreq)
        return false;
    uint32_t number =
        c->failed ? 0
                  : trc_request_made(*(MPI_Request *)argument, receives ? c->t->received : -1, persistent);
    if (receives && number && STATUS_IS_WRONG(c->function->name))
        trc_request_at(number)->unsaid = true;
    number_put(c, number);
    return true;
}

/* Requests that are named, but not to be completed; or that may be. */
static bool used(struct trc_call *c, unsigned role, intptr_t argument)
{
    switch (role & 0xff) {
    case TRC_R_reqref:
    case TRC_R_reqval:
        trc_put(c,
                one_taken((role & 0xff) == TRC_R_reqval ? (MPI_Request)argument : *(MPI_Request *)argument));
        return true;
    case TRC_R_cancelreq:
        if (c->t->numbers && c->t->number[0])
            trc_request_at(c->t->number[0])->cancelled = true;
        trc_put(c, c->t->numbers ? c->t->number[0] : 0);
        trc_request_give(c->t->numbers ? c->t->number[0] : 0);
        return true;
    case TRC_R_freereq:
        trc_put(c, c->t->numbers ? c->t->number[0] : 0);
        trc_request_freed(c->t->numbers ? c->t->number[0] : 0);
        return true;
    case TRC_R_startreq:
    case TRC_R_startreqs:
        numbers_put(c);
        for (uint32_t i = c->t->numbers; i-- > 0;) {
            if (c->t->number[i] && !c->failed)
                trc_request_at(c->t->number[i])->started = true;
            trc_request_give(c->t->number[i]);
        }
        c->t->numbers = 0;
        return true;
    case TRC_R_reqio:
    case TRC_R_reqs:
        numbers_put(c);
        return true;
    default:
        return false;
    }
}

bool trc_completion(struct trc_call *c, unsigned role, intptr_t argument)
{
    if (made(c, role, argument) || used(c, role, argument))
        return true;
    switch (role & 0xff) {
    case TRC_R_flag:
        c->flag = !c->failed && *(const int *)argument;
        c->t->nothing = !c->failed && !c->flag;
        trc_put(c, c->flag);
        return true;
    case TRC_R_status:
        found(c, (const MPI_Status *)argument);
        return true;
    case TRC_R_fstatus:
        found(c, c->flag ? (const MPI_Status *)argument : NULL);
        return true;
    case TRC_R_wstatus:
    case TRC_R_statuses:
        all_done(c, (const MPI_Status *)argument);
        return true;
    case TRC_R_iostatus:
        trc_put(c, c->failed ? 0 : bytes_got((const MPI_Status *)argument));
        return true;
    case TRC_R_newmsg:
        number_put(c, c->failed || *(MPI_Message *)argument == MPI_MESSAGE_NULL
                          ? 0
                          : trc_thing_made(TRC_MESSAGES, (uintptr_t) * (MPI_Message *)argument));
        return true;
    default:
        return false;
    }
}
