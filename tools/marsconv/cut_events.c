/* cut_events.c - the messages and collectives of a task: counted first, decided on once all tasks are
 * counted.
 *
 * A receive belongs to where it is posted, a matched message to its probe; but which message it got may only
 * be known where its request completes, perhaps behind the part. So a task is read to its end, and decisions
 * lie in a row of bytes, in the order in which sends, receives and starts of collectives inside the part
 * begin.
 */
#include "tools/marsconv/waits.h"

#include <stdlib.h>
#include <string.h>

struct message { /* of one direction, as far as it is known */
    const struct mars_comm *comm;
    int64_t peer, tag; /* task; -1: any source, or any tag */
    int64_t begun;     /* the send, or the posting */
    bool is;
};

struct request {
    struct message send, receive;
    enum cut_place place;
    size_t slot;                        /* of the receive, when it is inside; CUT_NOTE: its number */
    size_t persistent_collective;       /* 1 + which of the task's; 0: it is none */
    size_t sent;                        /* CUT_WAITS: the send's number in its channel */
    struct waits_collective collective; /* comm 0: it is none */
    bool active, persistent, cancelled;
    bool asked; /* a wait for any may have completed it */
};

struct walk {
    struct cut *cut;
    struct conv_walk at;
    uint64_t at_ns; /* of the record, since MPI_Init */
    struct waits_call call;
    size_t sent; /* CUT_WAITS: the last send's number in its channel */
    struct cut_clock clock;
    struct request *request;
    size_t requests;
    struct sum {
        uint64_t before, inside, persistent; /* of the latter, how many were made */
        uint64_t made[2];                    /* calls that made it: before, inside */
    } * sum;                                 /* collectives, by communicator */
    uint32_t sums;
    struct starts { /* of a persistent collective */
        uint64_t comm, which, before, inside;
    } * starts;
    uint32_t persistents;
    enum cut_pass pass;
    struct cut_kept *kept;
};

/* ---- messages ---- */

static uint64_t id_of(const struct mars_comm *comm)
{
    return comm->id ? comm->id : 1;
}

static struct cut_channel channel_of(const struct walk *w, const struct message *m, bool sends)
{
    uint32_t me = w->at.task.about->number, peer = (uint32_t)m->peer;
    return (struct cut_channel){id_of(m->comm), sends ? me : peer, sends ? peer : me, m->tag};
}

/* A send or receive whose partner is known. */
static void message_is(struct walk *w, const struct message *m, bool sends, enum cut_place place, size_t slot)
{
    struct cut_channel channel = channel_of(w, m, sends);
    if (w->pass >= CUT_TIMES)
        w->sent = waits_message(w->cut->waits, w->pass, &channel, sends, m->begun, &w->call);
    if (w->pass == CUT_COUNT)
        cut_message_count(w->cut, &channel, sends, place);
    else if (w->pass == CUT_DECIDE && place == CUT_INSIDE)
        w->kept->message[slot] =
            w->cut->by_time ? cut_message_kept(w->cut, &channel, sends) : cut_has(w->cut, m->peer);
}

/* A byte for a message that begins here. */
static size_t slot_new(struct walk *w, enum cut_place place)
{
    if (w->pass != CUT_DECIDE || place != CUT_INSIDE)
        return 0;
    *KER_PUSH(w->kept->message, w->kept->messages, w->kept->room) = 0;
    return w->kept->messages - 1;
}

/* As the record says it; is: there is one. */
static struct message message_get(const struct walk *w, const struct mars_comm *comm, bool sends,
                                  bool exchange)
{
    const struct mars_record *r = &w->at.record.call;
    int64_t rank = mars_number(r, sends ? MARS_FIELD_dest : MARS_FIELD_source, MARS_PROC_NULL);
    const struct mars_ranks *ranks = mars_comm_peers(comm);
    struct message m = {.comm = comm, .peer = -1, .begun = w->call.enter};
    m.tag = mars_number(r, exchange && !sends ? MARS_FIELD_recvtag : MARS_FIELD_tag, -1);
    m.is = rank == MARS_ANY_SOURCE || (rank >= 0 && (uint64_t)rank < ranks->count);
    if (rank >= 0 && m.is)
        m.peer = mars_rank_at(ranks, (uint32_t)rank);
    return m;
}

/* ---- where a trace does not say what came ---- */

/* A receive begins: its number, when it is noted. One of any gets its message, if there was one for it. */
static size_t receive_begin(struct walk *w, struct message *m)
{
    uint64_t comm = id_of(m->comm);
    uint32_t me = w->at.task.about->number, from;
    bool any = m->peer < 0 || m->tag < 0;
    if (w->pass == CUT_MARK && any)
        cut_any_mark(w->cut, comm, me);
    if (w->pass == CUT_NOTE)
        return cut_any_note(w->cut, &(struct cut_channel){comm, 0, me, m->tag}, m->peer, false, w->at_ns);
    if (w->pass >= CUT_COUNT && any && cut_any_next(w->cut, comm, me, w->pass, &from, &m->tag))
        m->peer = from;
    return 0;
}

/* What came; else m->is becomes false. */
static void message_came(const struct walk *w, struct message *m, int64_t from, int64_t tag)
{
    const struct mars_ranks *ranks = mars_comm_peers(m->comm);
    if (from >= 0 && (uint64_t)from < ranks->count) { /* what was asked for is certain (MPICH's statuses) */
        m->peer = m->peer < 0 ? mars_rank_at(ranks, (uint32_t)from) : m->peer;
        m->tag = m->tag < 0 ? tag : m->tag;
    } else if (from != MARS_FROM_UNKNOWN) {
        m->is = false;
    }
    m->is = m->is && m->peer >= 0 && (uint32_t)m->peer < w->at.task.source->tasks;
}

/* It is over. number: that of CUT_NOTE, or the slot. */
static void receive_end(struct walk *w, struct message m, int64_t from, int64_t tag, enum cut_place place,
                        size_t number)
{
    if (w->pass == CUT_NOTE) {
        if (from != MARS_CANCELLED)
            cut_any_came(w->cut, id_of(m.comm), w->at.task.about->number, number);
        return;
    }
    message_came(w, &m, from, tag);
    if (m.is)
        message_is(w, &m, false, place, number);
}

/* ---- requests ---- */

static struct request *request_at(struct walk *w, int64_t number)
{
    return CONV_REQUEST_AT(w->request, w->requests, number);
}

static void send_begin(struct walk *w, const struct message *m, enum cut_place place)
{
    if (!m->is)
        return;
    size_t slot = slot_new(w, place);
    if (m->peer < 0 || (uint32_t)m->peer >= w->at.task.source->tasks)
        return;
    struct cut_channel channel = channel_of(w, m, true);
    if (w->pass == CUT_NOTE)
        cut_any_note(w->cut, &channel, channel.from, true, w->at_ns);
    message_is(w, m, true, place, slot);
}

static void request_begin(struct walk *w, struct request *r, enum cut_place place)
{
    r->active = true;
    r->cancelled = false;
    r->place = place;
    r->send.begun = r->receive.begun = w->call.enter;
    w->sent = SIZE_MAX;
    send_begin(w, &r->send, place);
    r->sent = w->sent;
    if (!r->receive.is)
        return;
    size_t slot = slot_new(w, place), number = receive_begin(w, &r->receive);
    r->slot = w->pass == CUT_NOTE ? number : slot;
}

static void send_end(struct walk *w, const struct request *r)
{
    if (w->pass != CUT_WAITS || !r->send.is || r->sent == SIZE_MAX)
        return;
    struct cut_channel channel = channel_of(w, &r->send, true);
    waits_sent(w->cut->waits, w->pass, &channel, r->sent, &w->call);
}

/* A collective that had a request is over. */
static void collective_end(struct walk *w, struct request *r)
{
    if (w->pass >= CUT_TIMES && r->collective.comm)
        waits_leave(w->cut->waits, w->pass, &r->collective, &w->call);
    if (!r->persistent)
        r->collective.comm = 0;
}

static void request_end(struct walk *w, struct request *r, int64_t from, int64_t tag)
{
    collective_end(w, r);
    if (!r->active)
        return;
    r->active = r->asked = false;
    send_end(w, r);
    if (r->receive.is)
        receive_end(w, r->receive, r->cancelled && from == MARS_FROM_UNKNOWN ? MARS_CANCELLED : from, tag,
                    r->place, r->slot);
}

/* One of which it was not known whether it had completed: it has. */
static void asked_end(struct walk *w, struct request *r)
{
    if (r->asked && w->pass < CUT_TIMES) /* but not when */
        request_end(w, r, MARS_FROM_UNKNOWN, MARS_ANY_TAG);
}

/* That which the record makes, in place of one that is over; NULL: it makes none. */
static struct request *request_made(struct walk *w)
{
    struct request *r = request_at(w, mars_number(&w->at.record.call, MARS_FIELD_request, 0));
    if (r)
        asked_end(w, r);
    return r;
}

static void messages_begin(struct walk *w, const struct conv_function *is, const struct mars_comm *comm,
                           enum cut_place place)
{
    const struct mars_record *record = &w->at.record.call;
    bool exchange = is->sort == CONV_EXCHANGE;
    struct request own = {.persistent = is->persistent}, *r = &own;
    if (is->sort == CONV_SEND || exchange)
        own.send = message_get(w, comm, true, exchange);
    if (is->sort == CONV_RECV || exchange)
        own.receive = message_get(w, comm, false, exchange);
    if (is->request) {
        r = request_made(w);
        if (!r)
            return;
        *r = own;
    }
    if (!is->persistent)
        request_begin(w, r, place);
    if (!is->request)
        send_end(w, r);
    if (!is->request && own.receive.is)
        receive_end(w, own.receive, mars_number(record, MARS_FIELD_from, MARS_FROM_UNKNOWN),
                    mars_number(record, MARS_FIELD_got_tag, -1), place, own.slot);
}

/* A probe that takes a message. */
static void matched_begin(struct walk *w, const struct mars_comm *comm, enum cut_place place)
{
    const struct mars_record *r = &w->at.record.call;
    struct message m = {.comm = comm, .peer = -1, .tag = -1, .begun = w->call.enter, .is = true};
    size_t slot = slot_new(w, place);
    message_came(w, &m, mars_number(r, MARS_FIELD_from, MARS_PROC_NULL),
                 mars_number(r, MARS_FIELD_got_tag, -1));
    if (m.is)
        message_is(w, &m, false, place, slot);
    else if (w->pass == CUT_DECIDE && place == CUT_INSIDE) /* of MPI_PROC_NULL it needs no other task */
        w->kept->message[slot] = mars_number(r, MARS_FIELD_from, 0) == MARS_PROC_NULL;
}

static void completions(struct walk *w)
{
    const struct mars_value *list = mars_list(&w->at.record.call, MARS_FIELD_requests);
    for (struct mars_done d = {0}; mars_done_next(&w->at.record.call, &d);) {
        struct request *r = request_at(w, d.request);
        if (r)
            request_end(w, r, d.came[0], d.came[1]);
        for (uint32_t j = 0; d.index == MARS_ONE_OF && j < list->count; j++)
            if ((r = request_at(w, list->list[j])))
                r->asked = r->active;
    }
}

/* A receive of which it is not known whether it was cancelled is taken for that. */
static void cancel(struct walk *w)
{
    struct request *r = request_at(w, mars_number(&w->at.record.call, MARS_FIELD_request, 0));
    if (r)
        r->cancelled = true;
}

static void collective_start(struct walk *w, struct request *r, enum cut_place place)
{
    struct starts *s = &w->starts[r->persistent_collective - 1];
    r->collective.sequence = s->before + s->inside;
    if (w->pass >= CUT_TIMES)
        waits_enter(w->cut->waits, w->pass, &r->collective, &w->call);
    size_t slot = slot_new(w, place);
    if (w->pass == CUT_DECIDE && place == CUT_INSIDE)
        w->kept->message[slot] = cut_collective(w->cut, s->comm, s->which, s->before + s->inside, false);
    if (place != CUT_AFTER)
        ++*(place == CUT_BEFORE ? &s->before : &s->inside);
}

static void starts(struct walk *w, enum cut_place place)
{
    int64_t number;
    for (uint32_t i = 0; conv_walk_started(&w->at, &i, &number);) {
        struct request *r = request_at(w, number);
        if (r && r->persistent_collective)
            collective_start(w, r, place);
        else if (r && r->persistent)
            request_begin(w, r, place);
    }
}

/* ---- collectives ---- */

/* Is one, or makes a request of one. */
static void collective_begin(struct walk *w, const struct conv_function *is, uint32_t comm,
                             enum cut_place place)
{
    const struct mars_record *record = &w->at.record.call;
    struct request *r = is->request ? request_made(w) : NULL;
    struct sum *sum = &w->sum[comm];
    const struct mars_comm *of = w->at.task.about->comm[comm];
    struct waits_collective c = {.comm = id_of(of), .sequence = sum->before + sum->inside};
    if (place != CUT_AFTER)
        ++*(place == CUT_BEFORE ? &sum->before : &sum->inside);
    waits_collective_of(&c, is, of, record);
    if (w->pass >= CUT_TIMES && !is->persistent) {
        waits_enter(w->cut->waits, w->pass, &c, &w->call);
        if (!is->request)
            waits_leave(w->cut->waits, w->pass, &c, &w->call);
    }
    c.which = is->persistent ? sum->persistent + 1 : 0;
    if (r)
        *r = (struct request){.persistent = is->persistent, .collective = c};
    if (!is->persistent)
        return;
    *KER_APPEND(w->starts, w->persistents) = (struct starts){.comm = c.comm, .which = ++sum->persistent};
    if (r)
        r->persistent_collective = w->persistents;
}

static void sums_add(struct walk *w)
{
    (void)TRACE_AT(w->sum, w->sums, w->at.task.about->comms);
    for (uint32_t i = 1; i < w->sums && i < w->at.task.about->comms; i++) {
        const struct mars_comm *c = w->at.task.about->comm[i];
        if (!c)
            continue;
        cut_collectives_add(w->cut, id_of(c), 0, w->sum[i].before, w->sum[i].inside);
        cut_collectives_add(w->cut, id_of(c), CUT_MADE, w->sum[i].made[0], w->sum[i].made[1]);
    }
    for (uint32_t i = 0; i < w->persistents; i++) {
        const struct starts *s = &w->starts[i];
        cut_collectives_add(w->cut, s->comm, s->which, s->before, s->inside);
    }
}

/* ---- a task ---- */

/* A probe that found a message, which is still to be received. */
static void probe(struct walk *w, const struct mars_comm *comm, enum cut_place place)
{
    const struct mars_record *r = &w->at.record.call;
    struct message m = {.comm = comm, .peer = -1, .tag = -1, .is = true};
    size_t slot = slot_new(w, place);
    message_came(w, &m, mars_number(r, MARS_FIELD_from, MARS_PROC_NULL),
                 mars_number(r, MARS_FIELD_got_tag, -1));
    if (w->pass != CUT_DECIDE || place != CUT_INSIDE || !m.is)
        return;
    struct cut_channel channel = channel_of(w, &m, false);
    w->kept->message[slot] = w->cut->by_time ? cut_message_next(w->cut, &channel) : cut_has(w->cut, m.peer);
}

/* A start or a post: to each member of the group like one side of a message. */
static void group(struct walk *w, const struct mars_comm *comm, bool starts, enum cut_place place)
{
    const struct mars_value *list = mars_list(&w->at.record.call, MARS_FIELD_members);
    int64_t win = mars_number(&w->at.record.call, MARS_FIELD_win, 0);
    struct mars_comm window = {0};
    if (win > 0 && (uint64_t)win < w->at.windows)
        window.id = ker_hash(id_of(comm) + ker_hash(w->at.window[win].made));
    for (uint32_t i = 0; list && w->pass < CUT_TIMES && i < list->count; i++) {
        struct message m = {.comm = &window, .peer = list->list[i], .tag = -1, .is = true};
        size_t slot = slot_new(w, place);
        if (m.peer >= 0 && m.peer < w->at.task.source->tasks)
            message_is(w, &m, starts, place, slot);
    }
}

static void other(struct walk *w, const struct mars_comm *comm, enum cut_place place)
{
    const struct mars_record *r = &w->at.record.call;
    const struct mars_function *f = r->function;
    if (strcmp(f->name, "MPI_Cancel") == 0)
        cancel(w);
    if (!comm)
        return;
    if (f->at[MARS_FIELD_message] >= 0 && mars_number(r, MARS_FIELD_message, 0) > 0)
        matched_begin(w, comm, place);
    else if (f->at[MARS_FIELD_source] >= 0 && f->at[MARS_FIELD_recvbytes] < 0 &&
             mars_number(r, MARS_FIELD_flag, 1) != 0)
        probe(w, comm, place);
    else if (strcmp(f->name, "MPI_Win_start") == 0 || strcmp(f->name, "MPI_Win_post") == 0)
        group(w, comm, strcmp(f->name, "MPI_Win_start") == 0, place);
}

static void made_count(struct walk *w, enum cut_place place)
{
    int64_t number = mars_number(&w->at.record.call, MARS_FIELD_newcomm, 0);
    if (number > 0 && (uint64_t)number < w->sums && place != CUT_AFTER)
        w->sum[number].made[place]++;
}

static void record_walk(struct walk *w)
{
    const struct conv_record *record = &w->at.record;
    const struct mars_record *r = &record->call;
    const struct conv_function *is = w->at.is;
    enum cut_place place = cut_place_of(w->cut, &w->clock, &w->at.task, record, &w->at_ns);
    int64_t number = conv_walk_comm(&w->at);
    if (w->pass >= CUT_TIMES)
        w->call = waits_call_of(w->cut->waits, &w->at.task, record, w->at_ns);
    (void)TRACE_AT(w->sum, w->sums, w->at.task.about->comms);
    const struct mars_comm *comm = mars_comm_at(w->at.task.about, number);
    made_count(w, place);
    if (comm && cut_is_collective(is, r))
        collective_begin(w, is, (uint32_t)number, place);
    switch (is->sort) {
    case CONV_SEND:
    case CONV_RECV:
    case CONV_EXCHANGE:
        if (comm)
            messages_begin(w, is, comm, place);
        break;
    case CONV_START:
        starts(w, place);
        break;
    case CONV_COMPLETE:
        completions(w);
        break;
    default:
        other(w, comm, place);
    }
}

bool cut_walk(struct cut *cut, struct conv_source *source, uint32_t number, enum cut_pass pass,
              struct cut_kept *kept, struct mars_error *error)
{
    struct walk *w = ker_alloc(sizeof *w);
    *w = (struct walk){.cut = cut, .pass = pass, .kept = kept};
    bool fine = conv_walk_begin(&w->at, source, number, CONV_ALL, error);
    while (fine && conv_walk_next(&w->at, error))
        record_walk(w);
    fine = fine && !error->text[0];
    for (size_t i = 0; fine && i < w->requests; i++)
        asked_end(w, &w->request[i]);
    if (fine && pass == CUT_COUNT)
        sums_add(w);
    conv_walk_end(&w->at);
    KER_FREE(w->request, w->sum, w->starts, w);
    return fine;
}
