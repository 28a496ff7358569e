/* repeat_walk.c - what a task posts, which requests it has open, and how long it computes. */
#include "traces/store/repeat_walk.h"

#include <stdlib.h>
#include <string.h>

/* What a call, or the wait for its request, waits for. */
struct awaited {
    uint64_t key;       /* of the message that it receives; 0: none, or it may come from anywhere */
    uint64_t sent;      /* of a persistent request: of the message that it sends */
    uint8_t collective; /* + 1; 0: it is none */
    int32_t comm, root;
};

/* A request that is open or persistent, by its number + 1. */
struct request {
    uint64_t number;
    bool persistent, open;
    uint64_t hash, bytes, pairs, receivers; /* of a persistent one: each time that it is started */
    struct awaited awaited;
};
static const struct ker_table_kind requests = KER_TABLE_U64(struct request);

static uint64_t mix(uint64_t a, uint64_t b, uint64_t c)
{
    return ker_hash(ker_hash(ker_hash(a + 1) + b) + c);
}

/* ---- what tasks wait for (ideal.h) ---- */

/* A member's message to the member by which a collective is done, or back; no tag is as large. */
static void hub_event(struct trace_walk *w, int32_t member, int32_t hub, bool to_hub, int32_t comm)
{
    uint64_t key =
        mix((uint64_t)(uint32_t)member << 32 | (uint32_t)hub, UINT64_C(1) << 32 | to_hub, (uint64_t)comm);
    enum trace_event_kind kind = to_hub == (w->task != hub) ? TRACE_SENDS : TRACE_RECEIVES;
    trace_event_add(&w->events, key, kind, w->computed);
}

static void collective_await(struct trace_walk *w, const struct awaited *a)
{
    const struct task_comm *comm = &w->comms[a->comm];
    unsigned which = a->collective - 1u;
    bool gathers = which != TASK_COLL_BCAST && which != TASK_COLL_SCATTER && which != TASK_COLL_SCATTERV,
         spreads = which != TASK_COLL_REDUCE && which != TASK_COLL_GATHER && which != TASK_COLL_GATHERV;
    if (comm->remote || task_coll_among_neighbours(which)) /* who waits for whom is not known here */
        return;
    int32_t hub = task_comm_task(comm, gathers && spreads ? 0 : a->root);
    for (int to_hub = 1; to_hub >= 0; to_hub--) {
        if (!(to_hub ? gathers : spreads))
            continue;
        if (w->task != hub)
            hub_event(w, w->task, hub, to_hub, a->comm);
        for (int32_t i = 0; w->task == hub && i < comm->size; i++)
            if (task_comm_task(comm, i) != hub)
                hub_event(w, task_comm_task(comm, i), hub, to_hub, a->comm);
    }
}

static void wait_note(struct trace_walk *w, const struct awaited *a)
{
    if (w->waits && a->collective)
        collective_await(w, a);
    else if (w->waits && a->key)
        trace_event_add(&w->events, a->key, TRACE_RECEIVES, w->computed);
}

static void send_note(struct trace_walk *w, uint64_t key)
{
    if (w->waits && key)
        trace_event_add(&w->events, key, TRACE_SENDS, w->computed);
}

/* ---- requests ---- */

static struct request *request_make(struct trace_walk *w, uint64_t number)
{
    bool is_new;
    struct request *r =
        ker_table_add(&requests, &w->requests, &(struct request){.number = number + 1}, &is_new);
    w->open -= r->open;
    *r = (struct request){.number = number + 1};
    return r;
}

static void request_open(struct trace_walk *w, uint64_t number, const struct awaited *awaited)
{
    struct request *r = request_make(w, number);
    r->open = true;
    r->awaited = *awaited;
    w->open++;
}

/* What it does is done whenever it is started. */
static void request_keep(struct trace_walk *w, uint64_t number, const struct awaited *awaited)
{
    struct request *r = request_make(w, number);
    r->persistent = true;
    r->awaited = *awaited;
    r->hash = w->hash;
    r->bytes = w->bytes;
    r->pairs = w->pairs;
    r->receivers = w->receivers;
    w->hash = w->bytes = w->pairs = w->receivers = 0;
    w->posts = false;
}

static void request_start(struct trace_walk *w, uint64_t number)
{
    struct request *r = ker_table_find(&requests, &w->requests, &(struct request){.number = number + 1});
    if (!r || !r->persistent)
        return;
    w->open += !r->open;
    r->open = true;
    w->posts = true;
    w->hash += r->hash;
    w->bytes += r->bytes;
    w->pairs += r->pairs;
    w->receivers += r->receivers;
    send_note(w, r->awaited.sent);
}

static void request_close(struct trace_walk *w, uint64_t number, bool frees)
{
    struct request *r = ker_table_find(&requests, &w->requests, &(struct request){.number = number + 1});
    if (!r)
        return;
    if (r->open && !frees)
        wait_note(w, &r->awaited);
    w->open -= r->open;
    r->open = false;
    if (frees || !r->persistent)
        ker_table_drop(&requests, &w->requests, r);
}

/* ---- what is posted ---- */

/* What tells its messages from others; 0: it is from anywhere, or to nobody. */
static uint64_t message_add(struct trace_walk *w, const struct task_op *op, bool sends)
{
    bool second = op->kind == TASK_OP_SENDRECV && !sends;
    int32_t peer = second ? op->peer2 : op->peer, tag = second ? op->tag2 : op->tag;
    const struct task_comm *comm = &w->comms[op->comm];
    w->posts = true;
    /* collectives that became messages have other tags from call to call */
    uint32_t compared = w->graph ? 0 : (uint32_t)tag;
    uint64_t hash = mix(sends ? 1 : 2, (uint64_t)(uint32_t)peer << 32 | compared, (uint64_t)op->comm);
    bool collective = w->graph && (uint32_t)tag & TRACE_COLLECTIVE_TAG && tag != TASK_ANY;
    w->hash += hash;
    w->messages += collective ? 0 : hash;
    w->bytes += second ? op->bytes2 : op->bytes;
    if (peer == TASK_PROC_NULL)
        return 0;
    bool any = peer < 0 || (!sends && tag == TASK_ANY);
    w->unknown |= sends && any; /* whoever was found */
    w->any |= any;
    if (!w->waits)
        return 0;
    comm = comm->remote ? &w->comms[comm->remote] : comm;
    int32_t other = any || peer >= comm->size ? 0 : task_comm_task(comm, peer), to = sends ? other : w->task,
            from = sends ? w->task : other;
    uint64_t sign = sends ? 1 : UINT64_MAX,
             where = comm->remote ? 0 : (uint64_t)op->comm; /* the other side has another number */
    uint64_t key = mix((uint64_t)(uint32_t)to << 32 | (uint32_t)from, (uint32_t)tag, where);
    w->pairs += sign * key;
    w->receivers += sign * mix((uint32_t)to, 3, where);
    return any ? 0 : key;
}

static struct awaited collective_add(struct trace_walk *w, const struct task_op *op)
{
    const struct task_comm *comm = &w->comms[op->comm];
    uint64_t hash = mix(op->collective, (uint64_t)(uint32_t)op->peer, (uint64_t)op->comm);
    w->posts = w->collective = true;
    w->hash += hash;
    w->bytes += op->bytes;
    w->full += comm->size == w->all && !comm->remote;
    struct awaited awaited = {
        .collective = (uint8_t)(op->collective + 1), .comm = op->comm, .root = op->peer};
    if (comm->remote) /* not all of which are in it */
        return awaited;
    hash = mix(op->collective, 5, (uint64_t)op->comm);
    hash -= task_comm_task(comm, 0) == w->task ? hash * (uint64_t)comm->size : 0;
    w->pairs += hash;
    w->receivers += hash;
    return awaited;
}

static void requests_see(struct trace_walk *w, const struct task_op *op, const struct awaited *awaited)
{
    switch (op->kind) {
    case TASK_OP_ISEND:
    case TASK_OP_IRECV:
    case TASK_OP_IMRECV:
    case TASK_OP_ICOLLECTIVE:
        request_open(w, op->request, awaited);
        break;
    case TASK_OP_SEND_INIT:
    case TASK_OP_RECV_INIT:
    case TASK_OP_COLLECTIVE_INIT:
        request_keep(w, op->request, awaited);
        break;
    case TASK_OP_START:
        request_start(w, op->request);
        break;
    case TASK_OP_STARTALL:
        for (uint32_t i = 0; i < op->request_count; i++)
            request_start(w, op->requests[i]);
        break;
    case TASK_OP_WAIT:
    case TASK_OP_REQUEST_FREE:
        request_close(w, op->request, op->kind == TASK_OP_REQUEST_FREE);
        break;
    case TASK_OP_WAITALL:
        for (uint32_t i = 0; i < op->request_count; i++)
            request_close(w, op->requests[i], false);
        break;
    default:
        break;
    }
}

/* Messages and collectives: what the call, or its request, waits for. */
static struct awaited posts_see(struct trace_walk *w, const struct task_op *op)
{
    struct awaited awaited = {0};
    switch (op->kind) {
    case TASK_OP_SEND:
    case TASK_OP_ISEND:
        send_note(w, message_add(w, op, true));
        break;
    case TASK_OP_SEND_INIT:
        awaited.sent = message_add(w, op, true);
        break;
    case TASK_OP_SENDRECV:
        send_note(w, message_add(w, op, true));
        awaited.key = message_add(w, op, false);
        break;
    case TASK_OP_RECV:
    case TASK_OP_MRECV:
    case TASK_OP_IRECV:
    case TASK_OP_RECV_INIT:
    case TASK_OP_IMRECV:
        awaited.key = message_add(w, op, false);
        break;
    case TASK_OP_COLLECTIVE:
    case TASK_OP_ICOLLECTIVE:
    case TASK_OP_COLLECTIVE_INIT:
        awaited = collective_add(w, op);
        break;
    default:
        break;
    }
    return awaited;
}

static void op_see(struct trace_walk *w, const struct task_op *op)
{
    struct awaited awaited = posts_see(w, op);
    switch (op->kind) {
    case TASK_OP_SENDRECV:
    case TASK_OP_RECV:
    case TASK_OP_MRECV:
    case TASK_OP_COLLECTIVE:
        wait_note(w, &awaited);
        break;
    case TASK_OP_MARK:
        w->mark = true;
        break;
    case TASK_OP_SEND: /* posts_see */
    case TASK_OP_ISEND:
    case TASK_OP_SEND_INIT:
    case TASK_OP_IRECV:
    case TASK_OP_RECV_INIT:
    case TASK_OP_IMRECV:
    case TASK_OP_ICOLLECTIVE:
    case TASK_OP_COLLECTIVE_INIT:
    case TASK_OP_START: /* requests_see */
    case TASK_OP_STARTALL:
    case TASK_OP_WAIT:
    case TASK_OP_WAITALL:
    case TASK_OP_REQUEST_FREE:
    case TASK_OP_PROBE:
    case TASK_OP_IPROBE:
    case TASK_OP_MPROBE:
    case TASK_OP_STATUS:
    case TASK_OP_POLL:
    case TASK_OP_TAKES:
    case TASK_OP_FINALIZE:
        break;
    default: /* of WAITANY and WAITSOME it is not known which request completes */
        w->unknown = true;
        break;
    }
    requests_see(w, op, &awaited);
}

void trace_walk_begin(struct trace_walk *w, const struct trace_repeat *r,
                      const struct trace_repeat_task *task, const struct task_comm *comms, uint32_t all)
{
    *w = (struct trace_walk){.reader = {.code = task->code, .comm = task->comm, .marks = true},
                             .repeat = r,
                             .graph = r->graph != NULL,
                             .own = (uint32_t)(task - r->task),
                             .comms = comms,
                             .task = (int32_t)task->task,
                             .all = (int32_t)all};
    if (!w->graph)
        trace_reader_seek(&w->reader, 0, 0);
}

static struct trace_place here(const struct trace_walk *w)
{
    return w->graph ? (struct trace_place){.at = w->number}
                    : (struct trace_place){trace_reader_position(&w->reader), w->reader.line};
}

static void last_clear(struct trace_walk *w)
{
    w->mark = w->posts = w->collective = w->unknown = w->any = false;
    w->hash = w->messages = w->bytes = w->pairs = w->receivers = 0;
    w->events.count = 0;
}

/* Of a graph: a message leaves when its cpu has computed what precedes it, and all have come by the next
 * place, when the longest of the cpus has. */
static void graph_message(struct trace_walk *w, const struct task_op *op, ker_time computed)
{
    bool sends = op->kind == TASK_OP_GRAPH_SEND;
    uint64_t key = message_add(w, op, sends);
    if (w->waits && key)
        trace_event_add(&w->events, key, sends ? TRACE_SENDS : TRACE_RECEIVES,
                        sends ? w->computed + computed : 0);
}

KER_ORDER_BY(event_compare, struct trace_event, at)

static void graph_receives(struct trace_walk *w)
{
    for (size_t i = 0; i < w->events.count; i++)
        if (w->events.event[i].at == TRACE_EVENT_AT(TRACE_RECEIVES, 0))
            w->events.event[i].at = TRACE_EVENT_AT(TRACE_RECEIVES, w->computed);
    if (w->events.count > 1)
        qsort(w->events.event, w->events.count, sizeof *w->events.event, event_compare);
}

/* What cpus compute side by side takes as long as the longest of them. */
static bool graph_next(struct trace_walk *w)
{
    ker_time cpu[TRACE_CPUS] = {0}, longest = 0;
    struct task_op op;
    bool more = true, cut;
    uint32_t on;
    last_clear(w);
    for (; more; w->number += more) {
        more = w->repeat->graph(w->repeat->program, w->own, w->number, &op, &cut, &on);
        if (!more || (cut && w->number > w->begin.at)) {
            w->computed += longest;
            graph_receives(w);
            w->collective = w->messages == 0;
            if (w->posts)
                return true;
            longest = 0;
            memset(cpu, 0, sizeof cpu);
            w->begin = here(w);
        }
        w->line = op.line;
        if (more && op.kind != TASK_OP_COMPUTE)
            graph_message(w, &op, cpu[on]);
        else if (more && (cpu[on] += op.time) > longest)
            longest = cpu[on];
    }
    return false;
}

bool trace_walk_next(struct trace_walk *w)
{
    struct task_op op;
    w->begin = w->before = here(w);
    w->computed_before = w->computed;
    if (w->graph)
        return graph_next(w);
    for (; trace_reader_next(&w->reader, &op) && op.kind != TASK_OP_END; w->begin = here(w)) {
        if (op.kind == TASK_OP_COMPUTE) {
            w->computed += op.time;
            continue;
        }
        w->line = w->reader.line;
        last_clear(w);
        op_see(w, &op);
        return true;
    }
    return false;
}

void trace_walk_seek(struct trace_walk *w, struct trace_place place, ker_time computed)
{
    w->computed = computed;
    w->number = place.at;
    if (!w->graph)
        trace_reader_seek(&w->reader, place.at, place.line);
}

void trace_walk_end(struct trace_walk *w)
{
    free(w->events.event);
    ker_table_release(&w->requests);
    trace_reader_release(&w->reader);
}
