/* check_calls.c - the calls of a task: what each needs to make sense, and what becomes of its requests.
 *
 * A receive counts when the trace says what came: at the call, or where its request completes. Where it does
 * not say that, it counts as what was asked for.
 */
#include "tools/marsconv/check.h"

#include "traces/replay/found.h"

#include <stdlib.h>
#include <string.h>

enum {
    NONE,
    ACTIVE,
    READY,
    STARTED,
    PERHAPS
}; /* READY, STARTED: persistent; PERHAPS: it may have completed */

struct request {
    uint8_t state;
    bool sends, receives, cancelled;
    const char *name; /* of the call that made it */
    uint64_t made;
    struct check_message send, receive;
    const struct mars_comm *comm; /* of the receive */
};

struct calls {
    struct check *check;
    struct conv_walk at;
    struct request *request;
    size_t requests;
    uint32_t comms;        /* added so far */
    struct check_sum *sum; /* by communicator */
    uint32_t sums;
    bool finalised, tests;
    struct check_windows windows;
    struct conv_probed probed; /* the message that the record receives */
    struct replay_found found;
};

#define FOUND(calls, format, ...)                                                                            \
    do {                                                                                                     \
        if ((calls)->check->first)                                                                           \
            check_found((calls)->check, (calls)->at.task.about->number,                                      \
                        check_at(&(calls)->at.task, (calls)->at.record.number), "%s: " format,               \
                        (calls)->at.record.call.function->name, __VA_ARGS__);                                \
    } while (0)

static int64_t number_of(const struct calls *k, enum mars_field field, int64_t absent)
{
    return mars_number(&k->at.record.call, field, absent);
}

/* ---- requests ---- */

static struct request *request_at(struct calls *k, int64_t number)
{
    return CONV_REQUEST_AT(k->request, k->requests, number);
}

static unsigned long long call_number(uint64_t at)
{
    return at & (((uint64_t)1 << 48) - 1);
}

static struct request *request_make(struct calls *k, const struct conv_function *is)
{
    int64_t number = number_of(k, MARS_FIELD_request, 0);
    struct request *r = request_at(k, number);
    if (!r) {
        if (number != 0)
            FOUND(k, "request %lld is no number of one", (long long)number);
        return NULL;
    }
    if (r->state != NONE && r->state != PERHAPS)
        FOUND(k, "request %lld is made again; %s made it at %llu, and it has not completed",
              (long long)number, r->name, call_number(r->made));
    if (r->state == PERHAPS && r->receives) /* it has completed, since its number was free */
        check_receive(k->check, &r->receive, false);
    *r = (struct request){.state = is->persistent ? READY : ACTIVE,
                          .name = k->at.record.call.function->name,
                          .made = check_at(&k->at.task, k->at.record.number)};
    return r;
}

static void request_start(struct calls *k, int64_t number)
{
    struct request *r = request_at(k, number);
    if (!r || r->state == NONE || r->state == ACTIVE) {
        FOUND(k, "request %lld is started, but it is no persistent one", (long long)number);
        return;
    }
    if (r->state == STARTED)
        FOUND(k, "request %lld is started again before it has completed", (long long)number);
    r->state = STARTED;
    r->send.at = r->receive.at = check_at(&k->at.task, k->at.record.number);
    if (r->sends)
        check_send(k->check, &r->send, false);
}

/* came: from where, its tag, its bytes. */
static void request_done(struct calls *k, int64_t number, const int64_t *came)
{
    struct request *r = request_at(k, number);
    if (r && r->state == READY) /* inactive: MPI says of it that it is complete */
        return;
    if (!r || r->state == NONE) {
        FOUND(k, "request %lld completes, but there is none that is active", (long long)number);
        return;
    }
    if (came[0] == MARS_CANCELLED && r->sends)
        check_send(k->check, &r->send, true);
    if (r->receives && came[0] != MARS_CANCELLED) {
        struct check_message m = r->receive;
        bool other = came[0] >= 0 && r->receive.tag != CHECK_ANY && came[1] != r->receive.tag;
        if (came[0] >= 0 && !other) { /* MPICH 4.0 has another message's status for MPI_Isendrecv */
            m.from = conv_task_of(k->check->source, r->comm, came[0]);
            m.tag = came[1];
            if ((uint64_t)came[2] > m.bytes)
                FOUND(k, "request %lld receives %lld bytes, and has room for %llu", (long long)number,
                      (long long)came[2], (unsigned long long)m.bytes);
            m.bytes = (uint64_t)came[2];
            m.certain = true;
        }
        if (other || (came[0] < 0 ? came[0] == MARS_FROM_UNKNOWN : m.from >= 0))
            check_receive(k->check, &m, r->cancelled && came[0] == MARS_FROM_UNKNOWN);
    }
    r->state = r->state == STARTED ? READY : NONE;
}

static void completions(struct calls *k)
{
    const struct mars_value *list = mars_list(&k->at.record.call, MARS_FIELD_requests),
                            *done = mars_list(&k->at.record.call, MARS_FIELD_done);
    for (struct mars_done d = {0}; mars_done_next(&k->at.record.call, &d);) {
        if (d.index == MARS_ONE_OF && done->count == 4) { /* unknown which */
            for (uint32_t j = 0; j < list->count; j++) {
                struct request *r = request_at(k, list->list[j]);
                if (r && r->state == ACTIVE)
                    r->state = PERHAPS;
            }
        } else if (d.index < 0 || d.index >= list->count) {
            FOUND(k, "it completes request %lld of %u", (long long)d.index, list->count);
        } else if (d.request != 0) {
            request_done(k, d.request, d.came);
        }
    }
}

static void request_named(struct calls *k, const char *name)
{
    struct request *r = request_at(k, number_of(k, MARS_FIELD_request, 0));
    if (!r)
        return;
    if (strcmp(name, "MPI_Cancel") == 0)
        r->cancelled = true;
    if (strcmp(name, "MPI_Request_free") != 0)
        return;
    if (r->state == NONE && !k->at.record.added)
        FOUND(k, "request %lld is freed, but there is none", (long long)number_of(k, MARS_FIELD_request, 0));
    if (r->state == ACTIVE && k->at.record.added && (r->receives || k->tests))
        FOUND(k,
              "its variable gets another request; it holds that of line %llu (%s), which has not completed",
              call_number(r->made), r->name);
    else if (r->state == ACTIVE && k->at.record.added)
        k->check->untested += k->check->first;
    if ((r->state == ACTIVE || r->state == STARTED) && r->receives)
        check_receive(k->check, &r->receive, true);
    r->state = NONE;
}

static void requests_end(struct calls *k)
{
    for (size_t i = 1; i < k->requests; i++) {
        const struct request *r = &k->request[i];
        if ((r->state == ACTIVE || r->state == STARTED || r->state == PERHAPS) && r->receives)
            check_receive(k->check, &r->receive, r->state != PERHAPS || r->receive.from == CHECK_ANY);
        if ((r->state == ACTIVE || r->state == STARTED) && k->check->first)
            check_found(k->check, k->at.task.about->number, r->made, "%s: its request, %zu, never completes",
                        r->name, i);
    }
}

/* ---- messages ---- */

/* Of the record's communicator. False: there is nothing to compare with, or it cannot be. */
static bool peer_of(struct calls *k, const struct mars_comm *comm, enum mars_field field, int64_t *task)
{
    int64_t rank = number_of(k, field, MARS_PROC_NULL);
    uint32_t size = comm->inter ? comm->remote.count : comm->member.count;
    if (rank == MARS_PROC_NULL)
        return false;
    if (field == MARS_FIELD_source && rank == MARS_ANY_SOURCE) {
        *task = CHECK_ANY;
        return true;
    }
    if (rank < 0 || rank >= size) {
        FOUND(k, "rank %lld in a communicator of %u", (long long)rank, size);
        return false;
    }
    *task = conv_task_of(k->check->source, comm, rank);
    return *task >= 0;
}

static uint64_t bytes_of(const struct calls *k, enum mars_field field)
{
    int64_t bytes = number_of(k, field, 0);
    return bytes > 0 ? (uint64_t)bytes : 0;
}

static void send_check(struct calls *k, const struct mars_comm *comm, struct request *r)
{
    struct check_message m = {.comm = comm->id,
                              .from = k->at.task.about->number,
                              .tag = number_of(k, MARS_FIELD_tag, 0),
                              .bytes = bytes_of(k, MARS_FIELD_bytes),
                              .at = check_at(&k->at.task, k->at.record.number)};
    if (!peer_of(k, comm, MARS_FIELD_dest, &m.to))
        return;
    if (m.tag < 0)
        FOUND(k, "it is sent with tag %lld", (long long)m.tag);
    if (r) {
        r->sends = true;
        r->send = m;
    }
    if (!r || r->state == ACTIVE)
        check_send(k->check, &m, false);
}

static void receive_check(struct calls *k, const struct mars_comm *comm, struct request *r, bool exchange)
{
    int64_t from = number_of(k, MARS_FIELD_from, MARS_FROM_UNKNOWN), got = number_of(k, MARS_FIELD_got, 0);
    struct check_message m = {.comm = comm->id,
                              .to = k->at.task.about->number,
                              .tag = number_of(k, exchange ? MARS_FIELD_recvtag : MARS_FIELD_tag, CHECK_ANY),
                              .bytes = bytes_of(k, MARS_FIELD_recvbytes),
                              .at = check_at(&k->at.task, k->at.record.number)};
    bool asked = k->at.record.call.function->at[MARS_FIELD_source] >= 0; /* else it is of MPI_Mprobe */
    if (asked && !peer_of(k, comm, MARS_FIELD_source, &m.from))
        return;
    if (!asked) {
        m.tag = k->probed.tag;
        m.from = k->probed.from < 0 ? -1 : conv_task_of(k->check->source, comm, k->probed.from);
        if (m.from < 0)
            return;
    }
    if (r) {
        r->receives = true;
        r->receive = m;
        r->comm = comm;
        return;
    }
    if (from >= 0) {
        m.from = conv_task_of(k->check->source, comm, from);
        m.tag = number_of(k, MARS_FIELD_got_tag, 0);
        if (got > 0 && (uint64_t)got > m.bytes)
            FOUND(k, "it receives %lld bytes, and has room for %llu", (long long)got,
                  (unsigned long long)m.bytes);
        m.bytes = got > 0 ? (uint64_t)got : 0;
        m.certain = true;
    }
    if (from >= 0 ? m.from >= 0 : from == MARS_FROM_UNKNOWN)
        check_receive(k->check, &m, false);
}

static void message_check(struct calls *k, const struct conv_function *is, struct request *r)
{
    bool matched = conv_walk_matched(&k->at), exchange = is->sort == CONV_EXCHANGE;
    int64_t number = number_of(k, MARS_FIELD_comm, 0);
    if (matched)
        number = conv_walk_receives(&k->at, &k->probed) ? k->probed.comm : 0;
    const struct mars_comm *comm = mars_comm_at(k->at.task.about, number);
    if (!comm)
        return;
    if (is->sort == CONV_SEND || exchange)
        send_check(k, comm, r);
    if (is->sort == CONV_RECV || exchange || matched)
        receive_check(k, comm, r, exchange);
    else if (number_of(k, MARS_FIELD_message, 0) > 0)
        conv_walk_probed(&k->at, number);
}

/* ---- a call ---- */

/* Readers may add communicators with each record. */
static void comms_add(struct calls *k)
{
    (void)TRACE_AT(k->sum, k->sums, k->at.task.about->comms);
    if (k->check->first)
        check_comms_add(k->check, &k->at.task, &k->comms);
}

static void comm_check(struct calls *k, const struct conv_function *is)
{
    const char *name = k->at.record.call.function->name;
    int64_t number = number_of(k, MARS_FIELD_comm, 0);
    bool collective = is->sort == CONV_COLLECTIVE || is->sort == CONV_CREATE;
    if (!mars_comm_at(k->at.task.about, number)) {
        if (collective || is->sort == CONV_SEND || is->sort == CONV_RECV || is->sort == CONV_EXCHANGE)
            FOUND(k, "it names communicator %lld, which does not exist", (long long)number);
        return;
    }
    if (k->sum[number].freed)
        FOUND(k, "communicator %lld has been freed", (long long)number);
    if (strcmp(name, "MPI_Comm_free") == 0 || strcmp(name, "MPI_Comm_disconnect") == 0)
        k->sum[number].freed = true;
    if (collective && k->check->first)
        check_collective(k->check, &k->at.task, &k->at.record, is, &k->sum[number]);
}

static void call_check(struct calls *k)
{
    const struct conv_record *record = &k->at.record;
    const struct mars_function *f = record->call.function;
    const struct conv_function *is = k->at.is;
    struct request *r = NULL;
    int64_t started;
    comms_add(k);
    if (k->check->first && k->at.task.about->threads <= 1)
        replay_found_next(&k->found, &record->call);
    if (f->at[MARS_FIELD_comm] >= 0)
        comm_check(k, is);
    if (k->check->first && (f->at[MARS_FIELD_win] >= 0 || f->at[MARS_FIELD_newwin] >= 0))
        check_window(&k->windows, k->check, &k->at);
    if (is->request)
        r = request_make(k, is);
    switch (is->sort) {
    case CONV_COMPLETE:
        completions(k);
        break;
    case CONV_START:
        for (uint32_t i = 0; conv_walk_started(&k->at, &i, &started);)
            request_start(k, started);
        break;
    case CONV_SEND:
    case CONV_RECV:
    case CONV_EXCHANGE:
        message_check(k, is, r);
        break;
    default:
        if (f->at[MARS_FIELD_message] >= 0)
            message_check(k, is, r);
        else if (!is->request && f->at[MARS_FIELD_request] >= 0)
            request_named(k, f->name);
    }
    k->tests = k->tests || strcmp(f->name, "MPI_Test") == 0;
    k->finalised = k->finalised || strcmp(f->name, "MPI_Finalize") == 0;
}

static void task_end(struct calls *k)
{
    struct check *c = k->check;
    const struct mars_task *about = k->at.task.about;
    if (k->finalised)
        requests_end(k);
    if (!c->first)
        return;
    c->defined_partly = c->defined_partly || mars_task_info(about, "tracer"); /* it was converted */
    check_sums_end(c, &k->at.task, k->sum, k->sums);
    if (!k->finalised)
        check_found(c, about->number, check_at(&k->at.task, k->at.task.number),
                    "the task did not come to MPI_Finalize; this is its last call");
}

bool check_task(struct check *check, uint32_t number, struct mars_error *error)
{
    struct calls k = {.check = check};
    bool fine = conv_walk_begin(&k.at, check->source, number, CONV_ALL, error);
    while (fine && conv_walk_next(&k.at, error))
        call_check(&k);
    fine = fine && !error->text[0];
    if (fine) {
        comms_add(&k);
        task_end(&k);
    }
    check_windows_join(&k.windows, check, number);
    check->finds += k.found.finds;
    check->depends += replay_found_depends(&k.found);
    replay_found_release(&k.found);
    free(k.request);
    free(k.sum);
    conv_walk_end(&k.at);
    return fine;
}
