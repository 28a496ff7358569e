/* Programs as GOAL: each operation waits for what the task has waited for by then. After an operation that
 * blocks that is its end; after one that does not, its begin, and its end joins in where the task waits for
 * the request.
 *
 * A tag of GOAL says also which communicator, and which call of a collective, a message belongs to:
 *
 *     without other communicators than the world   the tag
 *     with others                                  communicator (11 bits), tag (20)
 *     messages of collectives                      1, communicator (7), call (4), tag of the algorithm (20)
 *
 * Calls 16 apart have one tag, and are distinguished by their order as everything of one tag is.
 */
#include "tasks/graphs/goal_out.h"
#include "tasks/graphs/graphs.h"

#include <stdlib.h>
#include <string.h>

#define TAG_BITS 20
#define TAG_COMMS 2047
#define COLLECTIVE_COMMS 127
#define COLLECTIVE_CALLS 16
#define NO_OP UINT32_MAX

struct request {
    uint64_t id; /* never 0 */
    uint32_t op; /* what is waited for; NO_OP: it is not active */
    bool persistent;
    struct task_op made; /* of persistent ones */
};

struct writer {
    struct goal_out out;
    const struct task_program_class *class;
    struct task_program *program;
    const struct task_comm *comm;
    int32_t comms;
    const struct task_coll_table *collectives;
    struct goal_losses *losses;
    struct ker_error *error;
    uint32_t task;
    uint32_t *open; /* messages of a collective since its last fence */
    uint32_t opens, open_room;
    struct ker_table requests;
    int32_t *rank;   /* of the task, by communicator, and 1; 0: not looked for */
    uint32_t *calls; /* of collectives, by communicator */
};

static const struct ker_table_kind request_kind = KER_TABLE_U64(struct request);

static enum ker_status refuse(struct writer *w, const struct task_op *op, const char *why)
{
    return ker_fail(w->error, KER_BAD_INPUT, "task %u: %s cannot be said in GOAL: %s", w->task,
                    op->call ? op->call : "a call", why);
}

/* ---- messages ---- */

static int32_t context_of(const struct writer *w, int32_t comm)
{
    int32_t remote = w->comm[comm].remote;
    return remote && remote < comm ? remote : comm;
}

/* Of one message; *op is NO_OP when there is nobody to send to or receive from. */
static enum ker_status message(struct writer *w, const struct task_op *call, bool sends, int32_t peer,
                               int32_t tag, uint64_t bytes, uint32_t *op)
{
    const struct task_comm *comm = &w->comm[call->comm];
    int32_t context = context_of(w, call->comm);
    int64_t full = tag;
    *op = NO_OP;
    if (peer == TASK_PROC_NULL)
        return KER_OK;
    if (sends && call->mode == TASK_MODE_SYNCHRONOUS)
        w->losses->synchronous++;
    if (tag == TASK_ANY)
        w->losses->any_tags++;
    else if (w->comms > 1 && (context > TAG_COMMS || tag >> TAG_BITS))
        return refuse(w, call, "a tag of 2^20 or more, or more than 2048 communicators");
    else if (w->comms > 1)
        full = (int64_t)context << TAG_BITS | tag;
    if (comm->remote)
        comm = &w->comm[comm->remote];
    *op = goal_out_message(&w->out, sends, bytes, peer < 0 ? peer : task_comm_task(comm, peer), full);
    return KER_OK;
}

static enum ker_status sendrecv(struct writer *w, const struct task_op *call)
{
    uint32_t receive, send;
    enum ker_status status = message(w, call, false, call->peer2, call->tag2, call->bytes2, &receive);
    status = status ?: message(w, call, true, call->peer, call->tag, call->bytes, &send);
    if (status == KER_OK && (receive != NO_OP || send != NO_OP)) {
        w->out.waits = 0;
        if (receive != NO_OP)
            goal_out_wait(&w->out, receive);
        if (send != NO_OP)
            goal_out_wait(&w->out, send);
    }
    return status;
}

/* ---- collectives ---- */

static enum ker_status round_put(struct writer *w, const struct task_op *call,
                                 const struct task_coll_round *round, bool sends, uint32_t base)
{
    int32_t peer = sends ? round->send_to : round->receive_from,
            tag = sends ? round->send_tag : round->receive_tag;
    if (peer == TASK_COLL_NOBODY)
        return KER_OK;
    if (tag < 0 || tag >= (1 << TAG_BITS) - 1)
        return refuse(w, call, "its algorithm has a tag of 2^20 or more");
    if (peer >= 0)
        peer = task_comm_task(&w->comm[call->comm], peer);
    *KER_PUSH(w->open, w->opens, w->open_room) = goal_out_message(
        &w->out, sends, sends ? round->send_bytes : round->receive_bytes, peer, base | (uint32_t)tag);
    return KER_OK;
}

static void round_fence(struct writer *w)
{
    w->out.waits = w->opens ? 0 : w->out.waits;
    for (uint32_t i = 0; i < w->opens; i++)
        goal_out_wait(&w->out, w->open[i]);
    w->opens = 0;
}

static struct task_coll_view view_of(struct writer *w, const struct task_op *call)
{
    if (!w->rank[call->comm])
        w->rank[call->comm] = task_comm_rank(&w->comm[call->comm], (int32_t)w->task) + 1;
    ker_assert(w->rank[call->comm] > 0); /* programs let only members call */
    struct task_coll_view view = {.rank = w->rank[call->comm] - 1,
                                  .size = w->comm[call->comm].size,
                                  .root = call->peer,
                                  .bytes = call->collective == TASK_COLL_BARRIER ? 0
                                           : call->collective == TASK_COLL_COMM  ? 8
                                                                                 : call->bytes,
                                  .bytes2 = call->bytes2,
                                  .send_bytes = call->send_bytes,
                                  .receive_bytes = call->receive_bytes,
                                  .collective = call->collective};
    if (task_coll_among_neighbours(call->collective))
        view.neighbours = w->class->neighbours(w->program, w->task, call->comm);
    return view;
}

/* The next operation waits for its end. */
static enum ker_status collective(struct writer *w, const struct task_op *call)
{
    struct task_coll_view view = view_of(w, call);
    const struct ker_kind *algorithm = task_coll_choose(w->collectives, &view);
    struct task_coll_round round;
    enum ker_status status = KER_OK;
    if (task_coll_asks(algorithm) & ~(unsigned)TASK_COLL_ASKS_NOTHING)
        return refuse(w, call, "a collective by a formula, which sends no messages");
    if (call->comm > COLLECTIVE_COMMS)
        return refuse(w, call, "a collective of more than 128 communicators");
    uint32_t number = w->calls[call->comm]++ % COLLECTIVE_CALLS;
    uint32_t base = TRACE_COLLECTIVE_TAG | (uint32_t)call->comm << 24 | number << TAG_BITS;
    for (uint32_t i = 0; status == KER_OK && task_coll_round_of(algorithm, &view, i, &round); i++) {
        status = round_put(w, call, &round, false, base);
        status = status ?: round_put(w, call, &round, true, base);
        if (round.fence)
            round_fence(w);
    }
    round_fence(w);
    return status;
}

/* ---- requests ---- */

static struct request *request_find(struct writer *w, uint64_t id)
{
    return id ? ker_table_find(&request_kind, &w->requests, &id) : NULL;
}

/* The name is given, perhaps again; NULL when it is none. */
static struct request *request_set(struct writer *w, uint64_t id, uint32_t op, bool persistent)
{
    bool is_new;
    if (!id)
        return NULL;
    struct request *r = ker_table_add(&request_kind, &w->requests, &id, &is_new);
    r->id = id;
    r->op = op;
    r->persistent = persistent;
    return r;
}

static void request_make(struct writer *w, const struct task_op *call)
{
    struct request *r = request_set(w, call->request, NO_OP, true);
    if (r)
        r->made = *call;
}

/* A collective that does not block continues by itself: what comes next waits for what it has waited for. */
static enum ker_status collective_request(struct writer *w, const struct task_op *call)
{
    goal_out_join(&w->out);
    struct goal_wait before = w->out.waits ? w->out.wait[0] : (struct goal_wait){NO_OP, false};
    uint32_t ops = w->out.ops;
    enum ker_status status = collective(w, call);
    goal_out_join(&w->out);
    request_set(w, call->request, w->out.ops > ops ? w->out.wait[0].op : NO_OP, false);
    if (before.op == NO_OP)
        w->out.waits = 0;
    else
        goal_out_wait_only(&w->out, before.op, before.begin);
    return status;
}

static enum ker_status message_request(struct writer *w, const struct task_op *call, bool sends)
{
    uint32_t op;
    enum ker_status status = message(w, call, sends, call->peer, call->tag, call->bytes, &op);
    request_set(w, call->request, op, false);
    return status;
}

static enum ker_status start(struct writer *w, const struct task_op *call, uint64_t id)
{
    struct request *r = request_find(w, id);
    if (!r || !r->persistent)
        return refuse(w, call, "a request that is none of a persistent message");
    const struct task_op *made = &r->made;
    return message(w, made, made->kind == TASK_OP_SEND_INIT, made->peer, made->tag, made->bytes, &r->op);
}

static uint64_t request_id(const struct task_op *call, uint32_t number)
{
    return call->requests ? call->requests[number] : call->request;
}

static uint32_t request_count(const struct task_op *call)
{
    bool one = call->kind == TASK_OP_WAIT || call->kind == TASK_OP_TEST || call->kind == TASK_OP_START;
    return one ? 1 : call->request_count;
}

static void request_wait(struct writer *w, uint64_t id, bool stays)
{
    struct request *r = request_find(w, id);
    if (!r || r->op == NO_OP)
        return;
    goal_out_wait(&w->out, r->op);
    if (stays)
        return;
    r->op = NO_OP;
    if (!r->persistent)
        ker_table_drop(&request_kind, &w->requests, r);
}

static void wait_all(struct writer *w, const struct task_op *call)
{
    for (uint32_t i = 0; i < request_count(call); i++)
        request_wait(w, request_id(call, i), false);
}

static enum ker_status wait_any(struct writer *w, const struct task_op *call)
{
    uint32_t active = 0;
    for (uint32_t i = 0; i < request_count(call); i++) {
        const struct request *r = request_find(w, request_id(call, i));
        active += r && r->op != NO_OP;
    }
    if (active > 1)
        return refuse(w, call, "the trace does not say which of the requests completed");
    wait_all(w, call);
    return KER_OK;
}

/* ---- calls ---- */

static enum ker_status complete(struct writer *w, const struct task_op *call)
{
    bool test = call->kind >= TASK_OP_TEST && call->kind <= TASK_OP_TESTSOME;
    if (test && call->outcome <= 0) {
        w->losses->tests += call->outcome < 0;
        return KER_OK;
    }
    if (call->kind == TASK_OP_WAITANY || call->kind == TASK_OP_WAITSOME || call->kind == TASK_OP_TESTANY ||
        call->kind == TASK_OP_TESTSOME)
        return wait_any(w, call);
    wait_all(w, call);
    return KER_OK;
}

/* Send and Recv. */
static enum ker_status block(struct writer *w, const struct task_op *call)
{
    uint32_t op;
    enum ker_status status =
        message(w, call, call->kind == TASK_OP_SEND, call->peer, call->tag, call->bytes, &op);
    if (status == KER_OK && op != NO_OP)
        goal_out_wait_only(&w->out, op, call->kind == TASK_OP_SEND && call->mode == TASK_MODE_BUFFERED);
    return status;
}

static enum ker_status start_all(struct writer *w, const struct task_op *call)
{
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; status == KER_OK && i < request_count(call); i++)
        status = start(w, call, request_id(call, i));
    return status;
}

static void request_free(struct writer *w, uint64_t id)
{
    struct request *r = request_find(w, id);
    if (r)
        ker_table_drop(&request_kind, &w->requests, r);
}

static bool is_partitioned(const struct task_op *call)
{
    return call->kind == TASK_OP_PSEND_INIT || call->kind == TASK_OP_PRECV_INIT ||
           call->kind == TASK_OP_PREADY || call->kind == TASK_OP_PARRIVED;
}

static enum ker_status call_refuse(struct writer *w, const struct task_op *call)
{
    return refuse(w, call,
                  task_op_onesided(call)                  ? "one-sided communication"
                  : call->kind == TASK_OP_CANCEL          ? "a cancelled request"
                  : call->kind == TASK_OP_COLLECTIVE_INIT ? "a persistent collective"
                  : is_partitioned(call)                  ? "a partitioned message"
                                                          : "a matched probe");
}

static enum ker_status call_write(struct writer *w, const struct task_op *call)
{
    if (call->kind == TASK_OP_COMPUTE) {
        w->out.computed += (uint64_t)call->time;
        return KER_OK;
    }
    goal_out_compute(&w->out);
    switch (call->kind) {
    case TASK_OP_SEND:
    case TASK_OP_RECV:
        return block(w, call);
    case TASK_OP_ISEND:
    case TASK_OP_IRECV:
        return message_request(w, call, call->kind == TASK_OP_ISEND);
    case TASK_OP_SENDRECV:
        return sendrecv(w, call);
    case TASK_OP_SEND_INIT:
    case TASK_OP_RECV_INIT:
        request_make(w, call);
        return KER_OK;
    case TASK_OP_START:
    case TASK_OP_STARTALL:
        return start_all(w, call);
    case TASK_OP_REQUEST_FREE:
        request_free(w, call->request);
        return KER_OK;
    case TASK_OP_STATUS:
        request_wait(w, call->request, true);
        return KER_OK;
    case TASK_OP_COLLECTIVE:
        return collective(w, call);
    case TASK_OP_ICOLLECTIVE:
        return collective_request(w, call);
    case TASK_OP_PROBE:
    case TASK_OP_IPROBE:
        w->losses->probes += call->kind == TASK_OP_PROBE || call->outcome > 0;
        return KER_OK;
    case TASK_OP_POLL:
    case TASK_OP_GREQUEST:
    case TASK_OP_GREQUEST_COMPLETE: /* these concern no other task */
    case TASK_OP_FINALIZE:
    case TASK_OP_ABORT:
        return KER_OK;
    default:
        return call->kind >= TASK_OP_WAIT && call->kind <= TASK_OP_TESTSOME ? complete(w, call)
                                                                            : call_refuse(w, call);
    }
}

/* ---- tasks ---- */

static enum ker_status task_write(struct writer *w)
{
    struct task_op call;
    uint32_t further;
    enum ker_status status = KER_OK;
    w->out.ops = w->out.waits = 0;
    w->out.computed = 0;
    ker_table_clear(&request_kind, &w->requests);
    memset(w->rank, 0, (size_t)w->comms * sizeof *w->rank);
    memset(w->calls, 0, (size_t)w->comms * sizeof *w->calls);
    if (w->class->streams && w->class->streams(w->program, w->task, &further) > 1)
        return ker_fail(w->error, KER_BAD_INPUT, "task %u has several threads, which cannot be said in GOAL",
                        w->task);
    fprintf(w->out.to, "\nrank %u {\n", w->task);
    while (status == KER_OK && w->class->next(w->program, w->task, &call))
        status = call_write(w, &call);
    goal_out_compute(&w->out);
    fprintf(w->out.to, "}\n");
    return status;
}

enum ker_status goal_write(FILE *to, const struct task_program_class *class, struct task_program *program,
                           const struct task_coll_table *collectives, struct goal_losses *losses,
                           struct ker_error *error)
{
    struct writer w = {.out = {.to = to},
                       .class = class,
                       .program = program,
                       .collectives = collectives,
                       .losses = losses,
                       .error = error};
    uint32_t tasks = class->tasks(program);
    enum ker_status status = KER_OK;
    w.comm = class->comms(program, &w.comms);
    w.rank = ker_alloc((size_t)w.comms * sizeof *w.rank);
    w.calls = ker_alloc((size_t)w.comms * sizeof *w.calls);
    *losses = (struct goal_losses){0};
    fprintf(to, "num_ranks %u\n", tasks);
    for (; status == KER_OK && w.task < tasks; w.task++)
        status = task_write(&w);
    ker_table_release(&w.requests);
    KER_FREE(w.out.wait, w.open, w.rank, w.calls);
    return status;
}
