/* cut_events.c - the messages and collectives of a task: counted first, decided on once all tasks are
 * counted.
 *
 * A receive belongs to where it is posted, but which message it got may only be known where its request
 * completes, perhaps behind the part. So a task is read to its end, and decisions lie in a row of bytes, in
 * the order in which sends and receives inside the part begin.
 */
#include "tools/marsconv/cut.h"

#include <stdlib.h>
#include <string.h>

#define REQUESTS_MOST ((int64_t)1 << 24)

struct channel {
    uint64_t comm;
    uint32_t from, to;
    int64_t tag;
    uint64_t sent[2], received[2];      /* before, inside */
    uint64_t sends_seen, receives_seen; /* inside, while it is decided */
};

static uint64_t channel_hash(const void *key)
{
    const struct channel *c = key;
    return ker_hash(c->comm ^ ker_hash((uint64_t)c->from << 32 ^ c->to) ^ (uint64_t)c->tag << 7);
}

static bool channel_same(const void *entry, const void *key)
{
    const struct channel *a = entry, *b = key;
    return a->comm == b->comm && a->from == b->from && a->to == b->to && a->tag == b->tag;
}

static const struct ker_table_kind channel_kind = {sizeof(struct channel), channel_hash, channel_same};

struct comm { /* the range of its collectives that all make inside */
    uint64_t id, low, high;
    bool told;
};

static uint64_t comm_hash(const void *key)
{
    return ker_hash(*(const uint64_t *)key);
}

static bool comm_same(const void *entry, const void *key)
{
    return *(const uint64_t *)entry == *(const uint64_t *)key;
}

static const struct ker_table_kind comm_kind = {sizeof(struct comm), comm_hash, comm_same};

struct sender { /* the only one of messages to a task with a tag, or with any */
    uint64_t comm;
    int64_t to, tag; /* the key; tag -1: any */
    uint32_t from;
    int64_t sends; /* with this tag */
    bool many;
};

static uint64_t sender_hash(const void *key)
{
    const struct sender *s = key;
    return ker_hash(s->comm ^ ker_hash((uint64_t)s->to << 32 ^ (uint64_t)s->tag));
}

static bool sender_same(const void *entry, const void *key)
{
    const struct sender *a = entry, *b = key;
    return a->comm == b->comm && a->to == b->to && a->tag == b->tag;
}

static const struct ker_table_kind sender_kind = {sizeof(struct sender), sender_hash, sender_same};

struct message { /* of one direction, as far as it is known */
    const struct mars_comm *comm;
    int64_t peer, tag; /* task; -1: any source, or any tag */
    bool is;
};

struct request {
    struct message send, receive;
    enum cut_place place;
    size_t slot; /* of the receive, when it is inside */
    bool active, persistent;
};

struct walk {
    struct cut *cut;
    struct conv_task *task;
    const struct conv_record *record;
    struct conv_functions functions;
    struct cut_clock clock;
    struct cut_windows windows;
    struct request *request;
    size_t requests;
    struct sum {
        uint64_t before, inside;
    } * sum; /* collectives, by communicator */
    uint32_t sums;
    bool senders;          /* only to whom it sends */
    struct cut_kept *kept; /* NULL: it is counted */
    struct mars_error *error;
};

void cut_release(struct cut *cut)
{
    ker_table_release(&cut->channels);
    ker_table_release(&cut->comms);
    ker_table_release(&cut->senders);
}

enum cut_place cut_place_of(const struct cut *cut, struct cut_clock *clock, const struct conv_record *record)
{
    if (!clock->begun) { /* MPI_Init */
        clock->begun = true;
        clock->zero_ns = record->start_ns + record->call.duration_ns;
        return CUT_BEFORE;
    }
    uint64_t at = record->start_ns - clock->zero_ns;
    if (!cut->by_time)
        return CUT_INSIDE;
    return at < cut->from_ns ? CUT_BEFORE : at < cut->to_ns ? CUT_INSIDE : CUT_AFTER;
}

/* ---- messages ---- */

/* A send or receive whose partner is known. */
static void message_is(struct walk *w, const struct message *m, bool sends, enum cut_place place, size_t slot)
{
    uint32_t me = w->task->about->number, peer = (uint32_t)m->peer;
    struct channel key = {.comm = m->comm->id ? m->comm->id : 1,
                          .from = sends ? me : peer,
                          .to = sends ? peer : me,
                          .tag = m->tag};
    bool is_new;
    if (place == CUT_AFTER || (w->kept && place == CUT_BEFORE) || w->senders)
        return;
    if (!w->cut->by_time) {
        if (w->kept)
            w->kept->message[slot] = cut_has(w->cut, m->peer);
        return;
    }
    struct channel *c = ker_table_add(&channel_kind, &w->cut->channels, &key, &is_new);
    if (is_new)
        *c = key;
    if (!w->kept) {
        ++*(sends ? &c->sent[place] : &c->received[place]);
        return;
    }
    uint64_t number = sends ? c->sent[0] + c->sends_seen++ : c->received[0] + c->receives_seen++;
    w->kept->message[slot] = number >= c->sent[0] && number >= c->received[0] &&
                             number < c->sent[0] + c->sent[1] && number < c->received[0] + c->received[1];
}

/* A byte for a message that begins here. */
static size_t slot_new(struct walk *w, enum cut_place place)
{
    if (!w->kept || place != CUT_INSIDE)
        return 0;
    *KER_PUSH(w->kept->message, w->kept->messages, w->kept->room) = 0;
    return w->kept->messages - 1;
}

/* As the record says it; is: there is one. */
static struct message message_get(const struct walk *w, const struct mars_comm *comm, bool sends,
                                  bool exchange)
{
    const struct mars_record *r = &w->record->call;
    int64_t rank = mars_number(r, sends ? MARS_FIELD_dest : MARS_FIELD_source, -1);
    const struct mars_ranks *ranks = comm->inter ? &comm->remote : &comm->member;
    struct message m = {.comm = comm, .peer = -1};
    m.tag = mars_number(r, exchange && !sends ? MARS_FIELD_recvtag : MARS_FIELD_tag, -1);
    m.is = rank == -2 || (rank >= 0 && (uint64_t)rank < ranks->count);
    if (rank >= 0 && m.is)
        m.peer = mars_rank_at(ranks, (uint32_t)rank);
    return m;
}

static void sender_note(struct walk *w, const struct message *m)
{
    for (int any = 0; any < 2; any++) {
        struct sender key = {.comm = m->comm->id ? m->comm->id : 1, .to = m->peer, .tag = any ? -1 : m->tag};
        uint32_t me = w->task->about->number;
        bool is_new;
        struct sender *s = ker_table_add(&sender_kind, &w->cut->senders, &key, &is_new);
        if (is_new) {
            *s = key;
            s->from = me;
            s->sends = m->tag;
        }
        s->many = s->many || s->from != me || s->sends != m->tag;
    }
}

/* Is there only one that it can be? */
static bool sender_find(const struct walk *w, struct message *m)
{
    struct sender key = {.comm = m->comm->id ? m->comm->id : 1, .to = w->task->about->number, .tag = m->tag};
    const struct sender *s = ker_table_find(&sender_kind, &w->cut->senders, &key);
    if (!s || s->many || (m->peer >= 0 && m->peer != s->from))
        return false;
    m->peer = s->from;
    m->tag = s->sends;
    return true;
}

/* What came. False: an error. from -7: the trace does not say it. */
static bool message_came(struct walk *w, struct message *m, int64_t from, int64_t tag)
{
    const struct mars_ranks *ranks = m->comm->inter ? &m->comm->remote : &m->comm->member;
    if (from >= 0 && (uint64_t)from < ranks->count) {
        m->peer = mars_rank_at(ranks, (uint32_t)from);
        m->tag = tag;
    } else if (from != -7) {
        m->is = false;
    } else if ((m->peer < 0 || (m->tag < 0 && w->cut->by_time)) && !w->senders && !sender_find(w, m)) {
        return conv_fail(
            w->task, w->record, w->error,
            "the trace does not say which message this receive of any got, so that it cannot be cut");
    }
    m->is = m->is && m->peer >= 0 && (uint32_t)m->peer < w->task->source->tasks;
    return true;
}

static struct request *request_at(struct walk *w, int64_t number)
{
    size_t old = w->requests;
    if (number <= 0 || number > REQUESTS_MOST)
        return NULL;
    if ((size_t)number >= old) {
        KER_RESERVE(w->request, w->requests, (size_t)number + 1);
        memset(w->request + old, 0, (w->requests - old) * sizeof *w->request);
    }
    return &w->request[number];
}

static void send_begin(struct walk *w, const struct message *m, enum cut_place place)
{
    if (!m->is)
        return;
    if (w->senders)
        sender_note(w, m);
    size_t slot = slot_new(w, place);
    if (m->peer >= 0 && (uint32_t)m->peer < w->task->source->tasks)
        message_is(w, m, true, place, slot);
}

static void request_begin(struct walk *w, struct request *r, enum cut_place place)
{
    r->active = true;
    r->place = place;
    send_begin(w, &r->send, place);
    if (r->receive.is)
        r->slot = slot_new(w, place);
}

static bool messages_begin(struct walk *w, const struct conv_function *is, const struct mars_comm *comm,
                           enum cut_place place)
{
    const struct mars_record *record = &w->record->call;
    bool exchange = is->sort == CONV_EXCHANGE;
    struct message send = {0}, receive = {0};
    if (is->sort == CONV_SEND || exchange)
        send = message_get(w, comm, true, exchange);
    if (is->sort == CONV_RECV || exchange)
        receive = message_get(w, comm, false, exchange);
    if (is->request) {
        struct request *r = request_at(w, mars_number(record, MARS_FIELD_request, 0));
        if (!r)
            return true;
        *r = (struct request){.send = send, .receive = receive, .persistent = is->persistent};
        if (!is->persistent)
            request_begin(w, r, place);
        return true;
    }
    send_begin(w, &send, place);
    if (!receive.is)
        return true;
    size_t slot = slot_new(w, place);
    if (!message_came(w, &receive, mars_number(record, MARS_FIELD_from, -7),
                      mars_number(record, MARS_FIELD_got_tag, -1)))
        return false;
    if (receive.is)
        message_is(w, &receive, false, place, slot);
    return true;
}

static bool completions(struct walk *w)
{
    const struct mars_value *list = mars_list(&w->record->call, MARS_FIELD_requests),
                            *done = mars_list(&w->record->call, MARS_FIELD_done);
    for (uint32_t i = 0; i + 3 < done->count; i += 4) {
        int64_t index = done->list[i];
        struct request *r = index >= 0 && index < list->count ? request_at(w, list->list[index]) : NULL;
        if (!r || !r->active)
            continue;
        r->active = false;
        struct message m = r->receive;
        if (!m.is)
            continue;
        if (!message_came(w, &m, done->list[i + 1], done->list[i + 2]))
            return false;
        if (m.is)
            message_is(w, &m, false, r->place, r->slot);
    }
    return true;
}

static void starts(struct walk *w, enum cut_place place)
{
    const struct mars_value *list = mars_list(&w->record->call, MARS_FIELD_requests);
    uint32_t count = list ? list->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        struct request *r =
            request_at(w, list ? list->list[i] : mars_number(&w->record->call, MARS_FIELD_request, 0));
        if (r && r->persistent)
            request_begin(w, r, place);
    }
}

/* ---- collectives ---- */

int64_t cut_comm_of(struct cut_windows *windows, const struct mars_record *r)
{
    int64_t comm = mars_number(r, MARS_FIELD_comm, 0), made = mars_number(r, MARS_FIELD_newwin, 0);
    int64_t win = mars_number(r, MARS_FIELD_win, 0);
    size_t old = windows->room;
    if (made > 0 && made < REQUESTS_MOST) {
        KER_RESERVE(windows->comm, windows->room, (size_t)made + 1);
        memset(windows->comm + old, 0, (windows->room - old) * sizeof *windows->comm);
        windows->comm[made] = (uint32_t)comm;
    }
    return comm > 0 || win <= 0 || (uint64_t)win >= windows->room ? comm : windows->comm[win];
}

bool cut_is_collective(const struct conv_function *is, const struct mars_record *r)
{
    return is->sort == CONV_COLLECTIVE || is->sort == CONV_CREATE ||
           strcmp(r->function->name, "MPI_Win_fence") == 0 || strcmp(r->function->name, "MPI_Win_free") == 0;
}

static void sums_reserve(struct walk *w)
{
    uint32_t comms = w->task->about->comms;
    if (comms <= w->sums)
        return;
    w->sum = ker_realloc(w->sum, comms * sizeof *w->sum);
    memset(w->sum + w->sums, 0, (comms - w->sums) * sizeof *w->sum);
    w->sums = comms;
}

static void sums_tell(struct walk *w)
{
    for (uint32_t i = 1; i < w->sums && i < w->task->about->comms; i++) {
        const struct mars_comm *c = w->task->about->comm[i];
        bool is_new;
        if (!c)
            continue;
        uint64_t id = c->id ? c->id : 1, low = w->sum[i].before, high = low + w->sum[i].inside;
        struct comm *comm = ker_table_add(&comm_kind, &w->cut->comms, &id, &is_new);
        if (is_new)
            *comm = (struct comm){id, low, high, true};
        comm->low = low > comm->low ? low : comm->low;
        comm->high = high < comm->high ? high : comm->high;
    }
}

bool cut_collective(const struct cut *cut, uint64_t id, uint64_t sequence, bool creates)
{
    id = id ? id : 1;
    const struct comm *comm = ker_table_find(&comm_kind, &cut->comms, &id);
    if (!cut->by_time)
        return true;
    return comm && sequence < comm->high && (creates || sequence >= comm->low);
}

/* ---- a task ---- */

static bool record_walk(struct walk *w, const struct conv_record *record)
{
    const struct mars_record *r = &record->call;
    const struct mars_task *about = w->task->about;
    const struct conv_function *is = conv_function(&w->functions, r->function);
    enum cut_place place = cut_place_of(w->cut, &w->clock, record);
    int64_t number = cut_comm_of(&w->windows, r);
    w->record = record;
    sums_reserve(w);
    const struct mars_comm *comm = number > 0 && (uint64_t)number < about->comms ? about->comm[number] : NULL;
    if (is->sort == CONV_COLLECTIVE && is->persistent)
        return conv_fail(w->task, record, w->error, "persistent collectives cannot be cut");
    if (comm && cut_is_collective(is, r) && place != CUT_AFTER)
        ++*(place == CUT_BEFORE ? &w->sum[number].before : &w->sum[number].inside);
    switch (is->sort) {
    case CONV_SEND:
    case CONV_RECV:
    case CONV_EXCHANGE:
        return !comm || messages_begin(w, is, comm, place);
    case CONV_START:
        starts(w, place);
        return true;
    case CONV_COMPLETE:
        return completions(w);
    default:
        if (r->function->at[MARS_FIELD_message] >= 0 && mars_number(r, MARS_FIELD_message, 0) > 0)
            return conv_fail(w->task, record, w->error, "matched probes cannot be cut");
        return true;
    }
}

static bool task_walk(struct cut *cut, struct conv_source *source, uint32_t number, bool senders,
                      struct cut_kept *kept, struct mars_error *error)
{
    struct conv_task task;
    struct conv_record record;
    struct walk *w = ker_alloc(sizeof *w);
    *w = (struct walk){.cut = cut, .task = &task, .senders = senders, .kept = kept, .error = error};
    bool fine = conv_task_open(&task, source, number, error) &&
                (task.about->threads <= 1 ||
                 mars_fail(error, "%s: task %u has calls of %u threads; such a trace cannot be cut",
                           source->path, number, task.about->threads)) &&
                conv_thread_open(&task, 0, error);
    while (fine && conv_next(&task, &record, error))
        fine = record_walk(w, &record);
    fine = fine && !error->text[0];
    if (fine && !kept && !senders) {
        sums_reserve(w);
        sums_tell(w);
    }
    conv_task_close(&task);
    free(w->request);
    free(w->windows.comm);
    free(w->sum);
    free(w);
    return fine;
}

bool cut_senders(struct cut *cut, struct conv_source *source, uint32_t task, struct mars_error *error)
{
    return task_walk(cut, source, task, true, NULL, error);
}

bool cut_count(struct cut *cut, struct conv_source *source, uint32_t task, struct mars_error *error)
{
    return task_walk(cut, source, task, false, NULL, error);
}

bool cut_decide(struct cut *cut, struct conv_source *source, uint32_t task, struct cut_kept *kept,
                struct mars_error *error)
{
    kept->messages = 0;
    return task_walk(cut, source, task, false, kept, error);
}
