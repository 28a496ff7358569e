/* repeat_walk.c - what a task posts, which requests it has open, and how long it computes. */
#include "traces/store/repeat_walk.h"

#include <string.h>

/* A request that is open or persistent, by its number + 1. */
struct request {
    uint64_t number;
    bool persistent, open;
    uint64_t hash, bytes, pairs, receivers; /* of a persistent one: each time that it is started */
};
static const struct ker_table_kind requests = KER_TABLE_U64(struct request);

static uint64_t mix(uint64_t a, uint64_t b, uint64_t c)
{
    return ker_hash(ker_hash(ker_hash(a + 1) + b) + c);
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

static void request_open(struct trace_walk *w, uint64_t number)
{
    request_make(w, number)->open = true;
    w->open++;
}

/* What it does is done whenever it is started. */
static void request_keep(struct trace_walk *w, uint64_t number)
{
    struct request *r = request_make(w, number);
    r->persistent = true;
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
}

static void request_close(struct trace_walk *w, uint64_t number, bool frees)
{
    struct request *r = ker_table_find(&requests, &w->requests, &(struct request){.number = number + 1});
    if (!r)
        return;
    w->open -= r->open;
    r->open = false;
    if (frees || !r->persistent)
        ker_table_drop(&requests, &w->requests, r);
}

/* ---- what is posted ---- */

static void message_add(struct trace_walk *w, const struct task_op *op, bool sends)
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
        return;
    bool any = peer < 0 || (!sends && tag == TASK_ANY);
    w->unknown |= sends && any; /* whoever was found */
    w->any |= any;
    comm = comm->remote ? &w->comms[comm->remote] : comm;
    int32_t other = any || peer >= comm->size ? 0 : task_comm_task(comm, peer), to = sends ? other : w->task,
            from = sends ? w->task : other;
    uint64_t sign = sends ? 1 : UINT64_MAX,
             where = comm->remote ? 0 : (uint64_t)op->comm; /* the other side has another number */
    w->pairs += sign * mix((uint64_t)(uint32_t)to << 32 | (uint32_t)from, (uint32_t)tag, where);
    w->receivers += sign * mix((uint32_t)to, 3, where);
}

static void collective_add(struct trace_walk *w, const struct task_op *op)
{
    const struct task_comm *comm = &w->comms[op->comm];
    uint64_t hash = mix(op->collective, (uint64_t)(uint32_t)op->peer, (uint64_t)op->comm);
    w->posts = w->collective = true;
    w->hash += hash;
    w->bytes += op->bytes;
    w->full += comm->size == w->all && !comm->remote;
    if (comm->remote) /* not all of which are in it */
        return;
    hash = mix(op->collective, 5, (uint64_t)op->comm);
    hash -= task_comm_task(comm, 0) == w->task ? hash * (uint64_t)comm->size : 0;
    w->pairs += hash;
    w->receivers += hash;
}

static void requests_see(struct trace_walk *w, const struct task_op *op)
{
    switch (op->kind) {
    case TASK_OP_ISEND:
    case TASK_OP_IRECV:
    case TASK_OP_IMRECV:
    case TASK_OP_ICOLLECTIVE:
        request_open(w, op->request);
        break;
    case TASK_OP_SEND_INIT:
    case TASK_OP_RECV_INIT:
    case TASK_OP_COLLECTIVE_INIT:
        request_keep(w, op->request);
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

static void op_see(struct trace_walk *w, const struct task_op *op)
{
    switch (op->kind) {
    case TASK_OP_SEND:
    case TASK_OP_ISEND:
    case TASK_OP_SEND_INIT:
        message_add(w, op, true);
        break;
    case TASK_OP_SENDRECV:
        message_add(w, op, true);
        message_add(w, op, false);
        break;
    case TASK_OP_RECV:
    case TASK_OP_IRECV:
    case TASK_OP_RECV_INIT:
    case TASK_OP_MRECV:
    case TASK_OP_IMRECV:
        message_add(w, op, false);
        break;
    case TASK_OP_COLLECTIVE:
    case TASK_OP_ICOLLECTIVE:
    case TASK_OP_COLLECTIVE_INIT:
        collective_add(w, op);
        break;
    case TASK_OP_MARK:
        w->mark = true;
        break;
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
    requests_see(w, op);
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
            w->collective = w->messages == 0;
            if (w->posts)
                return true;
            longest = 0;
            memset(cpu, 0, sizeof cpu);
            w->begin = here(w);
        }
        w->line = op.line;
        if (more && op.kind != TASK_OP_COMPUTE)
            message_add(w, &op, op.kind == TASK_OP_GRAPH_SEND);
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

void trace_walk_end(struct trace_walk *w)
{
    ker_table_release(&w->requests);
    trace_reader_release(&w->reader);
}
