/* request.c - what the variables of requests hold, and what tests found.
 *
 * A request is known by its variable's address; the replay names it by a number that is used once. For each
 * variable this table knows the number it holds (0: MPI_REQUEST_NULL, as far as is known) and the last
 * test or Waitany
 * ("open call") that asked for it without its outcome being known.
 *
 * The trace does not say what a test found; what follows shows it:
 * - Test, Testall: the last one before the variable is used for a new request, or is never asked for again,
 *   completed; those before did not.
 * - Testany, Testsome, Waitany, Waitsome: a variable of the array that gets a new request without another
 * call on the array in between was completed; so was one when the status is looked at right after the test.
 *   Otherwise a test completed nothing, and a Waitany completed one that the replay may choose.
 * - Of equal receives (communicator, source, tag, size) in one array the oldest is completed in the place of
 * the one that the trace shows, and the two change places: MPI matches messages to receives in the order in
 * which they were posted, so this is the one that the replay will complete, whichever message comes first
 * there.
 * - A variable that gets a new request while it holds one and nobody asked for it: the old one lives on
 * unnamed (REQUEST_FREE). HPCC does so because its MPI_Test is not traced.
 *
 * Here it is known which receive is cancelled and which message is started, so both are counted here, for
 * scan.c.
 *
 * Invariant: a call that is open at a variable lies in the code, and its outcome can still be decided.
 */
#include "traces/allprof/allprof.h"

#include <stdlib.h>
#include <string.h>

struct variable {
    uint64_t address; /* 0: free place */
    struct trace_held held;
    uint64_t open; /* base address of the open call that asked for it, 0: none */
    /* As the base of an array. */
    uint64_t at; /* where the open call lies in the code */
    uint64_t status;
    uint32_t count,
        completed;        /* variables; certain completions of one each since the last post in the array */
    uint8_t apart;        /* bytes to the next variable of its array */
    uint8_t stride, kind; /* enum task_op_kind */
    bool counted;         /* its message is, and it may still be outstanding */
    struct allprof_count message;
};

struct allprof_requests {
    struct trace_code *code;
    struct allprof_tallies *tallies;
    struct variable *variable;
    size_t places, used; /* a power of two; at most half are used */
    uint64_t next_id, last_status;
    uint64_t last_base; /* of the last test, for allprof_requests_status */
    uint64_t *list;
    size_t room;
};

struct allprof_requests *allprof_requests_new(struct trace_code *code, struct allprof_tallies *tallies)
{
    struct allprof_requests *requests = ker_alloc(sizeof *requests);
    requests->code = code;
    requests->tallies = tallies;
    requests->places = 64;
    requests->variable = ker_alloc(requests->places * sizeof *requests->variable);
    return requests;
}

void allprof_requests_free(struct allprof_requests *requests)
{
    if (!requests)
        return;
    free(requests->variable);
    free(requests->list);
    free(requests);
}

static struct variable *variable_place(const struct allprof_requests *requests, uint64_t address)
{
    size_t at = (size_t)((address * 0x9e3779b97f4a7c15u) >> 20);
    for (;; at++) {
        struct variable *variable = &requests->variable[at & (requests->places - 1)];
        if (variable->address == address || variable->address == 0)
            return variable;
    }
}

/* NULL: never held a request. */
static struct variable *variable_find(const struct allprof_requests *requests, uint64_t address)
{
    struct variable *variable = variable_place(requests, address);
    return address != 0 && variable->address ? variable : NULL;
}

static struct variable *variable_make(struct allprof_requests *requests, uint64_t address)
{
    struct variable *variable = variable_place(requests, address);
    if (variable->address)
        return variable;
    if (++requests->used * 2 > requests->places) {
        struct variable *old = requests->variable;
        size_t places = requests->places;
        requests->places *= 2;
        requests->variable = ker_alloc(requests->places * sizeof *old);
        for (size_t i = 0; i < places; i++)
            if (old[i].address)
                *variable_place(requests, old[i].address) = old[i];
        free(old);
        variable = variable_place(requests, address);
    }
    variable->address = address;
    return variable;
}

static bool is_test(unsigned kind)
{
    return kind == TASK_OP_TEST || kind == TASK_OP_TESTALL || kind == TASK_OP_TESTANY ||
           kind == TASK_OP_TESTSOME;
}

/* Where one completion of unknown place is meant. */
static bool is_choice(unsigned kind)
{
    return kind == TASK_OP_WAITANY || kind == TASK_OP_WAITSOME || kind == TASK_OP_TESTANY ||
           kind == TASK_OP_TESTSOME;
}

static void put_one(struct allprof_requests *requests, const struct allprof_call *call, unsigned kind,
                    uint64_t id, uint32_t line)
{
    struct task_op op = {.kind = (uint8_t)kind, .request = id, .line = line, .call = call->name};
    trace_code_put(requests->code, &op);
}

/* The number to wait for when this variable of the array was completed: that of the oldest equal one, whose
 * variable takes this one's number. */
static uint64_t completed_take(const struct allprof_requests *requests, const struct variable *base,
                               struct variable *completed)
{
    struct variable *oldest = completed;
    for (uint32_t i = 0; i < base->count; i++) {
        struct variable *other = variable_find(requests, base->address + (uint64_t)i * base->stride);
        if (other && other->held.id && other->held.age < oldest->held.age &&
            trace_held_equal(&other->held, &completed->held))
            oldest = other;
    }
    return trace_held_swap(&completed->held, &oldest->held);
}

/* A new request is made in a variable that holds one: was that completed by the open call? */
static void variable_vacate(struct allprof_requests *requests, struct variable *variable,
                            const struct allprof_call *call, uint32_t line)
{
    struct variable *base = variable->open ? variable_find(requests, variable->open) : NULL;
    variable->open = 0;
    if (!base || base->at == UINT64_MAX) {
        if (!variable->held.post.persistent)
            put_one(requests, call, TASK_OP_REQUEST_FREE, variable->held.id, line);
        return;
    }
    if (!is_choice(base->kind))
        return; /* Test, Testall: it stays completed */
    uint64_t chosen;
    trace_code_outcome(requests->code, base->at, &chosen);
    bool several = base->kind == TASK_OP_WAITSOME || base->kind == TASK_OP_TESTSOME;
    if (!chosen && (several || base->completed <= 1 || is_test(base->kind)))
        trace_code_decide(requests->code, base->at, 1, completed_take(requests, base, variable));
    else if (is_test(base->kind) || several)
        put_one(requests, call, TASK_OP_WAIT, completed_take(requests, base, variable), line);
    /* else several Waitany before: which one it was is for the replay to choose */
    base->completed = 0;
}

uint64_t allprof_requests_post(struct allprof_requests *requests, const struct allprof_call *call,
                               uint64_t address, uint32_t line, uint8_t stride, const struct trace_post *post,
                               const struct allprof_count *count)
{
    struct variable *variable = variable_make(requests, address);
    if (variable->held.id)
        variable_vacate(requests, variable, call, line);
    variable->open = 0;
    variable->completed = 0;
    variable->apart = stride;
    variable->held.id = variable->held.age = ++requests->next_id;
    variable->held.post = *post;
    variable->message = *count;
    variable->counted = !post->persistent;
    return variable->held.id;
}

/* Another call asks for this variable: the open one did not complete it. */
static void variable_ask(struct allprof_requests *requests, struct variable *variable)
{
    struct variable *base = variable->open ? variable_find(requests, variable->open) : NULL;
    variable->open = 0;
    if (!base || !is_test(base->kind) || base->at == UINT64_MAX)
        return;
    uint64_t chosen;
    int8_t outcome = trace_code_outcome(requests->code, base->at, &chosen);
    if (is_choice(base->kind) && outcome == 1)
        return;
    if (!trace_code_undo(requests->code, base->at))
        trace_code_decide(requests->code, base->at, 0, 0);
    base->at = UINT64_MAX; /* decided for all its variables */
}

static uint64_t *list_room(struct allprof_requests *requests, size_t count)
{
    KER_RESERVE(requests->list, requests->room, count);
    return requests->list;
}

/* The numbers that the call's variables hold; decides what was open there. */
static uint32_t call_collect(struct allprof_requests *requests, uint64_t address, int64_t count,
                             uint8_t stride)
{
    uint32_t held = 0;
    for (int64_t i = 0; i < count; i++) {
        struct variable *variable = variable_find(requests, address + (uint64_t)i * stride);
        if (!variable || !variable->held.id)
            continue;
        variable_ask(requests, variable);
        list_room(requests, held + 1u)[held] = variable->held.id;
        held++;
    }
    return held;
}

/* Completed: the variables are null again, but persistent requests stay. */
static void call_clear(struct allprof_requests *requests, uint64_t address, int64_t count, uint8_t stride)
{
    for (int64_t i = 0; i < count; i++) {
        struct variable *variable = variable_find(requests, address + (uint64_t)i * stride);
        if (variable && !variable->held.post.persistent)
            variable->held.id = 0;
        if (variable)
            variable->open = variable->completed = variable->counted = 0;
    }
}

static void call_open(struct allprof_requests *requests, const struct allprof_args *args, uint64_t at,
                      int64_t count, uint8_t stride)
{
    struct variable *base = variable_make(requests, args->variable);
    base->at = at;
    base->status = args->status;
    base->count = (uint32_t)count;
    base->stride = stride;
    base->kind = args->call->op;
    for (int64_t i = 0; i < count; i++) {
        struct variable *variable = variable_find(requests, args->variable + (uint64_t)i * stride);
        if (variable && variable->held.id)
            variable->open = args->variable;
    }
    requests->last_base = args->variable;
}

/* A Waitany completes one for certain; when that makes all, all variables are null. */
static void call_count(struct allprof_requests *requests, const struct allprof_args *args, uint32_t held,
                       int64_t count, uint8_t stride)
{
    struct variable *base = variable_find(requests, args->variable);
    if (base && args->call->op == TASK_OP_WAITANY && ++base->completed >= held) {
        call_clear(requests, args->variable, count, stride);
        base->completed = 0;
    }
}

static void start_all(struct allprof_requests *requests, const struct allprof_args *args, uint32_t line,
                      int64_t count, uint8_t stride)
{
    for (int64_t i = 0; i < count; i++) {
        struct variable *variable = variable_find(requests, args->variable + (uint64_t)i * stride);
        if (!variable || !variable->held.id) {
            requests->tallies->unknown = true;
            continue;
        }
        if (variable->message.tally)
            allprof_count_again(requests->tallies, &variable->message, line);
        variable->counted = true;
        if (variable->open)
            variable_vacate(requests, variable, args->call, line);
        put_one(requests, args->call, TASK_OP_START, variable->held.id, line);
    }
}

/* A receive that is cancelled or freed may not get its message. */
static void variable_give_up(struct allprof_requests *requests, struct variable *variable)
{
    if (!variable || !variable->held.id)
        requests->tallies->unknown = true;
    else if (variable->counted && variable->message.tally && variable->message.receive)
        allprof_traffic_count(&requests->tallies->entry[variable->message.tally - 1].given_up,
                              &variable->message);
    if (variable)
        variable->counted = false;
}

/* One operation for one request, whatever the call was; arrays otherwise. */
static uint64_t call_put(struct allprof_requests *requests, const struct allprof_args *args, uint32_t line,
                         uint32_t held)
{
    struct task_op op = {.kind = args->call->op,
                         .line = line,
                         .requests = requests->list,
                         .request_count = held,
                         .call = args->call->name};
    op.request = requests->list[0];
    op.outcome = op.kind != TASK_OP_TESTANY && op.kind != TASK_OP_TESTSOME;
    return trace_code_put(requests->code, &op);
}

bool allprof_requests_call(struct allprof_requests *requests, const struct allprof_args *args, uint32_t line,
                           uint8_t stride)
{
    bool array = args->call->layout[0] == 'a';
    int64_t count = array ? args->variables : 1;
    struct variable *first = variable_find(requests, args->variable);
    if (first && first->apart)
        stride = first->apart;
    requests->last_base = 0;
    if (args->call->kind == ALLPROF_CANCEL || args->call->kind == ALLPROF_REQUEST_FREE)
        variable_give_up(requests, first);
    if (args->call->kind == ALLPROF_START) {
        start_all(requests, args, line, count, stride);
        return true;
    }
    uint32_t held = call_collect(requests, args->variable, count, stride);
    if (!held)
        return false; /* null requests only: nothing happens */
    uint64_t at = call_put(requests, args, line, held);
    switch (args->call->kind) {
    case ALLPROF_WAIT:
        call_clear(requests, args->variable, count, stride);
        break;
    case ALLPROF_REQUEST_FREE:
        first->held.id = 0;
        break;
    case ALLPROF_TEST:
    case ALLPROF_TEST_SOME:
    case ALLPROF_WAIT_SOME:
        call_open(requests, args, at, count, stride);
        call_count(requests, args, held, count, stride);
        break;
    default:
        break;
    }
    return true;
}

void allprof_requests_status(struct allprof_requests *requests, uint64_t status)
{
    struct variable *base = requests->last_base ? variable_find(requests, requests->last_base) : NULL;
    if (base && base->at == requests->code->last_op && base->kind == TASK_OP_TESTANY &&
        base->status == status)
        trace_code_decide(requests->code, base->at, 1, 0);
}
