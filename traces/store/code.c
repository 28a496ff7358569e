/* code.c - operations as bytes: about ten per operation in memory instead of a line of text.
 *
 * An operation is: its call's number, the distance to the last operation's line (where the trace has lines),
 * its kind and mode, then what its kind has (`parts`), all as varints (7 bits a byte, lowest first; signed
 * numbers zigzag). 0 in the place of the call is a computation of which its time is all there is. Operations
 * whose outcome the trace shows only later (tests, Waitany, Waitsome) have the outcome and a chosen request
 * as 9 fixed bytes, which are decided in place. A test that completed nothing is skipped by the reader, and
 * taken back altogether when nothing was written after it: a million of them are one computation.
 *
 * What a reader has put again and again (struct trace_again) is decoded once for its task, and written as
 * KNOWN in the place of the call, the line, its number, and its request if it has one.
 *
 * Invariant: gap is the computation since the last operation that is written.
 */
#include "traces/store/later.h"
#include "traces/store/store.h"

#include <stdlib.h>
#include <string.h>

/* What an operation has besides call, line, kind and mode. */
#define DECIDED 1u   /* outcome, chosen request: fixed bytes */
#define MESSAGE 2u   /* comm, peer, tag, bytes */
#define OTHER 4u     /* peer2, tag2, bytes2 */
#define REQUEST 8u   /* request */
#define REQUESTS 16u /* request_count, requests */
#define COLLECTIVE 32u
#define FLAG 64u     /* outcome */
#define TIME 128u    /* time */
#define HANDLE 256u  /* message */
#define COMBINE 512u /* combine */
#define WORDS 1024u  /* words */
#define LAST 2048u   /* nothing: it ends what a program reads */

static const uint16_t parts[] = {
    [TASK_OP_COMPUTE] = TIME,
    [TASK_OP_SEND] = MESSAGE,
    [TASK_OP_ISEND] = MESSAGE | REQUEST,
    [TASK_OP_RECV] = MESSAGE,
    [TASK_OP_IRECV] = MESSAGE | REQUEST,
    [TASK_OP_SENDRECV] = MESSAGE | OTHER,
    [TASK_OP_SEND_INIT] = MESSAGE | REQUEST,
    [TASK_OP_RECV_INIT] = MESSAGE | REQUEST,
    [TASK_OP_START] = REQUEST,
    [TASK_OP_STARTALL] = REQUESTS,
    [TASK_OP_REQUEST_FREE] = REQUEST,
    [TASK_OP_CANCEL] = REQUEST,
    [TASK_OP_WAIT] = REQUEST,
    [TASK_OP_WAITALL] = REQUESTS,
    [TASK_OP_WAITANY] = DECIDED | REQUESTS,
    [TASK_OP_WAITSOME] = DECIDED | REQUESTS,
    [TASK_OP_TEST] = DECIDED | REQUEST,
    [TASK_OP_TESTALL] = DECIDED | REQUESTS,
    [TASK_OP_TESTANY] = DECIDED | REQUESTS,
    [TASK_OP_TESTSOME] = DECIDED | REQUESTS,
    [TASK_OP_PROBE] = MESSAGE,
    [TASK_OP_IPROBE] = MESSAGE | FLAG,
    [TASK_OP_MPROBE] = MESSAGE | FLAG | HANDLE,
    [TASK_OP_MRECV] = MESSAGE | HANDLE,
    [TASK_OP_IMRECV] = MESSAGE | HANDLE | REQUEST,
    [TASK_OP_STATUS] = REQUEST,
    [TASK_OP_POLL] = 0,
    [TASK_OP_MARK] = DECIDED,
    [TASK_OP_TAKES] = TIME,
    [TASK_OP_GREQUEST] = REQUEST,
    [TASK_OP_GREQUEST_COMPLETE] = REQUEST,
    [TASK_OP_PSEND_INIT] = MESSAGE | OTHER | REQUEST,
    [TASK_OP_PRECV_INIT] = MESSAGE | OTHER | REQUEST,
    [TASK_OP_PREADY] = OTHER | REQUEST,
    [TASK_OP_PARRIVED] = OTHER | REQUEST | FLAG,
    [TASK_OP_PUT] = MESSAGE | REQUEST | COMBINE,
    [TASK_OP_GET] = MESSAGE | REQUEST,
    [TASK_OP_FETCH] = MESSAGE | OTHER | REQUEST | COMBINE,
    [TASK_OP_WIN_LOCK] = MESSAGE,
    [TASK_OP_WIN_UNLOCK] = MESSAGE,
    [TASK_OP_WIN_LOCK_ALL] = MESSAGE,
    [TASK_OP_WIN_UNLOCK_ALL] = MESSAGE,
    [TASK_OP_WIN_FLUSH] = MESSAGE,
    [TASK_OP_WIN_FLUSH_ALL] = MESSAGE,
    [TASK_OP_WIN_POST] = MESSAGE | REQUESTS,
    [TASK_OP_WIN_START] = MESSAGE | REQUESTS,
    [TASK_OP_WIN_COMPLETE] = MESSAGE,
    [TASK_OP_WIN_WAIT] = MESSAGE,
    [TASK_OP_WIN_FREE] = MESSAGE,
    [TASK_OP_COLLECTIVE] = COLLECTIVE | COMBINE,
    [TASK_OP_ICOLLECTIVE] = COLLECTIVE | REQUEST | COMBINE,
    [TASK_OP_COLLECTIVE_INIT] = COLLECTIVE | REQUEST | COMBINE,
    [TASK_OP_CALL] = REQUEST | WORDS,
    [TASK_OP_FINALIZE] = 0,
    [TASK_OP_ABORT] = MESSAGE | FLAG,
    [TASK_OP_AFTER] = MESSAGE,
    [TASK_OP_END] = LAST,
};
_Static_assert(sizeof parts / sizeof *parts == TASK_OP_COUNT, "a kind of operation that traces cannot keep");
#define KIND_BITS 6 /* the mode above them */
#define KNOWN (TRACE_NAMES + 1)
_Static_assert(TASK_OP_COUNT <= 1 << KIND_BITS, "kinds have more bits");

/* A computation with the bytes that it moved, behind its time. */
static inline bool moves(const struct task_op *op)
{
    return op->kind == TASK_OP_COMPUTE && op->mode == TASK_COMPUTE_MOVES;
}

/* ---- written ---- */

static inline uint8_t *put(uint8_t *at, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        *at++ = (uint8_t)(value | 128);
    *at++ = (uint8_t)value;
    return at;
}

static inline uint8_t *put_signed(uint8_t *at, int64_t value)
{
    return put(at, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static uint8_t *put_list(uint8_t *at, const uint64_t *list, uint64_t count)
{
    uint64_t last = 0;
    for (uint64_t i = 0; i < count; i++) {
        at = put_signed(at, (int64_t)(list[i] - last));
        last = list[i];
    }
    return at;
}

static inline uint8_t *put_message(uint8_t *at, const struct task_op *op)
{
    at = put(at, (uint32_t)op->comm);
    at = put_signed(at, op->peer);
    at = put_signed(at, op->tag);
    return put(at, op->bytes);
}

#define LISTS_SEND 1u
#define LISTS_RECEIVE 2u

static uint8_t *put_collective(uint8_t *at, const struct task_op *op)
{
    uint64_t size = op->request_count; /* of the communicator, when there are lists */
    unsigned lists = (op->send_bytes ? LISTS_SEND : 0) | (op->receive_bytes ? LISTS_RECEIVE : 0);
    *at++ = op->collective;
    at = put(at, (uint32_t)op->comm);
    at = put_signed(at, op->peer);
    at = put(at, op->bytes);
    at = put(at, op->bytes2);
    at = put(at, lists);
    if (lists)
        at = put(at, size);
    if (op->send_bytes)
        at = put_list(at, op->send_bytes, size);
    if (op->receive_bytes)
        at = put_list(at, op->receive_bytes, size);
    return at;
}

/* Longer ones are cut. */
static uint8_t *put_time(const struct trace_code *code, uint8_t *at, uint64_t units)
{
    return put(at, units < code->store->gap_most ? units : code->store->gap_most);
}

static inline uint8_t *put_body(const struct trace_code *code, uint8_t *at, unsigned has,
                                const struct task_op *op)
{
    if (has & DECIDED) {
        *at++ = (uint8_t)op->outcome;
        memset(at, 0, sizeof op->request);
        at += sizeof op->request;
    }
    if (has & MESSAGE && op->kind == TASK_OP_IRECV && op->mode == TASK_RECEIVE_LATER)
        at = put(trace_put_wide(trace_put_wide(put(at, (uint32_t)op->comm), op->peer), op->tag), op->bytes);
    else if (has & MESSAGE)
        at = put_message(at, op);
    if (has & REQUEST)
        at = put(at, op->request);
    if (has & OTHER) {
        at = put_signed(at, op->peer2);
        at = put_signed(at, op->tag2);
        at = put(at, op->bytes2);
    }
    if (has & REQUESTS)
        at = put_list(put(at, op->request_count), op->requests, op->request_count);
    if (has & COLLECTIVE)
        at = put_collective(at, op);
    if (has & FLAG)
        *at++ = (uint8_t)op->outcome;
    if (has & HANDLE)
        at = put(at, op->message);
    if (has & COMBINE)
        *at++ = op->combine;
    if (has & TIME)
        at = put_time(code, at, (uint64_t)(op->time / code->store->form.unit));
    for (unsigned i = 0; has & WORDS && i < TASK_CALL_WORDS; i++)
        at = put(at, op->words[i]);
    if (moves(op))
        at = put(at, op->bytes);
    return at;
}

/* Names are static texts, so that their addresses distinguish them. */
static uint8_t name_number(struct trace_store *store, const char *name)
{
    size_t place = ker_hash((uintptr_t)name) >> 55; /* of 512 */
    for (; store->place[place]; place = (place + 1) & 511)
        if (store->name[store->place[place]] == name)
            return store->place[place];
    ker_assert(store->names < TRACE_NAMES);
    store->name[++store->names] = name;
    return store->place[place] = (uint8_t)store->names;
}

#define NUMBER_BYTES 10u /* most of a varint */

/* Room for an operation. */
static inline void code_reserve(struct trace_code *code, size_t lists)
{
    if (code->used < code->free_to && !lists)
        return;
    if (code->used >= code->cut)
        trace_code_cut(code);
    KER_RESERVE(code->byte, code->room, code->used + TRACE_OP_BYTES + lists);
    size_t full = code->room - TRACE_OP_BYTES + 1;
    code->free_to = full < code->cut ? full : code->cut;
}

/* Where it begins can be gone back to. */
static inline uint8_t *code_begin(struct trace_code *code)
{
    code->last_begin = code->begin + code->used;
    code->last_line = code->line;
    code->last_gap = code->gap;
    return code->byte + code->used;
}

/* What precedes an operation's kind. */
static inline uint8_t *put_front(struct trace_code *code, uint8_t *at, uint8_t call, uint32_t line)
{
    if (code->gap) {
        *at++ = 0;
        at = put(at, code->gap);
        code->gap = 0;
    }
    code->last_op = code->begin + (uint64_t)(at - code->byte);
    *at++ = call;
    if (code->store->form.lines) {
        at = put(at, line - code->line);
        code->line = line;
    }
    return at;
}

#define KNOWN_AFTER 16 /* times, which take as much memory as what is known then */
#define KNOWN_PLACES 512

/* In task_op.request of what is known: it is all there, its line or communicator is to be read, and those and
 * a request. */
enum { KNOWN_WHOLE, KNOWN_PART, KNOWN_REQUEST };

static uint8_t kind_byte(const struct task_op *op)
{
    return (uint8_t)(op->kind | op->mode << KIND_BITS);
}

uint64_t trace_code_put(struct trace_code *code, const struct task_op *op)
{
    code_reserve(code, (size_t)op->request_count * 2 * NUMBER_BYTES);
    uint8_t *at = put_front(code, code_begin(code), name_number(code->store, op->call), op->line);
    *at++ = kind_byte(op);
    code->used = (size_t)(put_body(code, at, parts[op->kind], op) - code->byte);
    return code->last_op;
}

bool trace_again_make(struct trace_again *again, const struct trace_code *code, const struct task_op *op)
{
    unsigned has = parts[op->kind];
    if (has & ~(MESSAGE | OTHER | REQUEST) || (has & OTHER && has & REQUEST) ||
        (op->kind == TASK_OP_IRECV && op->mode == TASK_RECEIVE_LATER))
        return false;
    uint8_t body[TRACE_OP_BYTES] = {0}, *at = body;
    *at++ = kind_byte(op);
    at = put_body(code, at, has & ~REQUEST, op);
    again->whole = KNOWN_AFTER;
    again->plain = false;
    memset(again->known, 0, sizeof again->known);
    again->call = name_number(code->store, op->call);
    again->has_request = has & REQUEST;
    again->bytes = (uint8_t)(at - body);
    memcpy(again->body, body, sizeof again->body);
    return again->bytes <= sizeof again->body;
}

bool trace_code_undo(struct trace_code *code, uint64_t at)
{
    uint64_t end = code->begin + code->used;
    if (end == 0 || at != code->last_op || code->last_begin == end)
        return false;
    code->used = (size_t)(code->last_begin - code->begin);
    code->line = code->last_line;
    trace_code_compute(code, code->last_gap);
    code->last_op = UINT64_MAX; /* only one can be taken back */
    return true;
}

/* ---- read ---- */

static inline uint64_t get_at(const uint8_t **at)
{
    uint64_t value = *(*at)++;
    if (__builtin_expect(value < 128, 1))
        return value;
    value &= 127;
    for (unsigned shift = 7;; shift += 7) {
        uint64_t byte = *(*at)++;
        value |= (byte & 127) << shift;
        if (byte < 128)
            return value;
    }
}

static inline int64_t get_signed_at(const uint8_t **at)
{
    uint64_t value = get_at(at);
    return (int64_t)((value >> 1) ^ (0 - (value & 1)));
}

static inline uint64_t get(struct trace_reader *reader)
{
    return get_at(&reader->at);
}

static inline int64_t get_signed(struct trace_reader *reader)
{
    return get_signed_at(&reader->at);
}

/* There are no more of them than a window of the file may begin with. */
static uint64_t *get_list(struct trace_reader *reader, uint64_t count, uint64_t offset)
{
    uint64_t last = 0, *list = count ? reader->scratch + offset : NULL;
    for (uint64_t i = 0; i < count; i++) {
        if (reader->at >= reader->low)
            trace_reader_more(reader);
        list[i] = last += (uint64_t)get_signed(reader);
    }
    return list;
}

#define SCRATCH_KEPT 16 /* numbers; one long list does not keep its room */

static void scratch_reserve(struct trace_reader *reader, uint64_t count)
{
    if (count <= reader->room && (reader->room <= SCRATCH_KEPT || count >= reader->room / 4))
        return;
    reader->room = count > SCRATCH_KEPT ? (uint32_t)count : SCRATCH_KEPT;
    count = reader->room;
    free(reader->scratch);
    reader->scratch = ker_alloc(count * sizeof *reader->scratch);
}

static inline int32_t comm_of(const struct trace_reader *reader, uint64_t comm)
{
    if (!reader->form.events)
        return (int32_t)comm;
    return reader->comm ? reader->comm[comm] : 0;
}

static inline void get_message(struct trace_reader *reader, struct task_op *op)
{
    const uint8_t *at = reader->at;
    op->comm = comm_of(reader, get_at(&at));
    op->peer = (int32_t)get_signed_at(&at);
    op->tag = (int32_t)get_signed_at(&at);
    op->bytes = get_at(&at);
    reader->at = at;
}

static void get_collective(struct trace_reader *reader, struct task_op *op)
{
    op->collective = *reader->at++;
    op->comm = comm_of(reader, get(reader));
    op->peer = (int32_t)get_signed(reader);
    op->bytes = get(reader);
    op->bytes2 = get(reader);
    uint64_t lists = get(reader);
    if (!lists)
        return;
    uint64_t size = get(reader);
    op->request_count = (uint32_t)size;
    scratch_reserve(reader, 2 * size);
    if (lists & LISTS_SEND)
        op->send_bytes = get_list(reader, size, 0);
    if (lists & LISTS_RECEIVE)
        op->receive_bytes = get_list(reader, size, size);
}

static void get_words(struct trace_reader *reader, struct task_op *op)
{
    scratch_reserve(reader, TASK_CALL_WORDS);
    for (unsigned i = 0; i < TASK_CALL_WORDS; i++)
        reader->scratch[i] = get(reader);
    op->words = reader->scratch;
}

static inline ker_time get_time(struct trace_reader *reader)
{
    return (ker_time)get(reader) * reader->form.unit;
}

static bool reader_end(struct trace_reader *reader)
{
    if (reader->repeats)
        trace_reader_seek(reader, reader->start, 0);
    return false;
}

/* What most operations have not, or only. Apart, so that those need no room for what it calls. */
static __attribute__((noinline)) bool get_rest(struct trace_reader *reader, struct task_op *op, unsigned has)
{
    if (has & LAST && reader->repeats)
        return reader_end(reader);
    if (has & OTHER) {
        op->peer2 = (int32_t)get_signed(reader);
        op->tag2 = (int32_t)get_signed(reader);
        op->bytes2 = get(reader);
    }
    if (has & REQUESTS) {
        op->request_count = (uint32_t)get(reader);
        scratch_reserve(reader, op->request_count);
        op->requests = get_list(reader, op->request_count, 0);
    }
    if (has & COLLECTIVE)
        get_collective(reader, op);
    if (has & FLAG)
        op->outcome = (int8_t)*reader->at++;
    if (has & HANDLE)
        op->message = (uint32_t)get(reader);
    if (has & COMBINE)
        op->combine = *reader->at++;
    if (has & TIME)
        op->time = get_time(reader);
    if (has & WORDS)
        get_words(reader, op);
    if (moves(op))
        op->bytes = get(reader);
    return true;
}

/* True. */
static inline bool get_body(struct trace_reader *reader, struct task_op *op, unsigned has)
{
    if (has & MESSAGE)
        get_message(reader, op);
    if (has & REQUEST)
        op->request = get(reader);
    return has & ~(MESSAGE | REQUEST | DECIDED) ? get_rest(reader, op, has) : true;
}

/* In pieces: for one of that size compilers take a string instruction, which costs twice as much. */
typedef uint64_t piece __attribute__((vector_size(32), aligned(8), may_alias));
enum { PIECES = sizeof(struct task_op) / sizeof(piece), TAIL = PIECES * sizeof(piece) };
_Static_assert(sizeof(struct task_op) == TAIL + sizeof(uint64_t), "pieces and a word");

static inline void op_copy(struct task_op *op, const struct task_op *from)
{
    piece *to = (void *)op;
    for (unsigned i = 0; i < PIECES; i++)
        to[i] = ((const piece *)(const void *)from)[i];
    memcpy((char *)op + TAIL, (const char *)from + TAIL, sizeof *op - TAIL);
}

static inline void op_begin(struct task_op *op, enum task_op_kind kind, uint32_t line, const char *call)
{
    static const struct task_op none;
    op_copy(op, &none);
    op->kind = kind;
    op->line = line;
    op->call = call;
}

/* What each has but a computation: returns what it has besides. */
static inline unsigned get_kind(struct trace_reader *reader, struct task_op *op, const char *call)
{
    unsigned kind = *reader->at++;
    op_begin(op, kind & ((1u << KIND_BITS) - 1), reader->line, call);
    op->mode = (uint8_t)(kind >> KIND_BITS);
    op->outcome = 1;
    op->is_call = !moves(op);
    return parts[op->kind];
}

/* What is known of the outcome makes a test a wait; false: nothing completed, nothing to do. */
static bool outcome_apply(struct task_op *op, uint64_t chosen)
{
    static const uint8_t as_wait[] = {
        [TASK_OP_TEST] = TASK_OP_WAIT,       [TASK_OP_TESTALL] = TASK_OP_WAITALL,
        [TASK_OP_TESTANY] = TASK_OP_WAITANY, [TASK_OP_TESTSOME] = TASK_OP_WAITSOME,
        [TASK_OP_WAITANY] = TASK_OP_WAITANY, [TASK_OP_WAITSOME] = TASK_OP_WAITSOME,
    };
    op->kind = as_wait[op->kind];
    if (chosen) {
        op->kind = TASK_OP_WAIT;
        op->request = chosen;
    }
    return op->outcome == 1;
}

/* An operation that is decided after it is written: it begins behind its kind. False: the next is read. */
static bool get_decided(struct trace_reader *reader, struct task_op *op)
{
    uint64_t chosen;
    op->outcome = (int8_t)*reader->at++;
    memcpy(&chosen, reader->at, sizeof chosen);
    reader->at += sizeof chosen;
    if (op->kind == TASK_OP_MARK)
        return reader->marks;
    get_body(reader, op, parts[op->kind]);
    return outcome_apply(op, chosen);
}

static __attribute__((noinline)) bool decided_next(struct trace_reader *reader, struct task_op *op)
{
    return get_decided(reader, op) || trace_reader_next(reader, op);
}

static __attribute__((noinline)) bool more_next(struct trace_reader *reader, struct task_op *op)
{
    return trace_reader_more(reader) ? trace_reader_next(reader, op) : reader_end(reader);
}

ker_time trace_reader_computes(const struct trace_reader *reader)
{
    const uint8_t *at = reader->at;
    if (at >= reader->low || *at++ != 0)
        return 0;
    return (ker_time)get_at(&at) * reader->form.unit;
}

/* What is left of one that is known. True. */
static __attribute__((noinline)) bool known_rest(struct trace_reader *reader, struct task_op *op)
{
    op->line = reader->line;
    if (reader->form.events)
        op->comm = comm_of(reader, (uint32_t)op->comm);
    op->request = op->request == KNOWN_REQUEST ? get(reader) : 0;
    return true;
}

/* One that is known. */
static inline bool known_next(struct trace_reader *reader, struct task_op *op)
{
    if (reader->form.lines)
        reader->line += (uint32_t)get(reader);
    const struct task_op *known = &reader->code->known[*reader->at++];
    op_copy(op, known);
    return __builtin_expect(op->request != KNOWN_WHOLE, 0) ? known_rest(reader, op) : true;
}

/* Calls nothing but at its end. */
bool trace_reader_next(struct trace_reader *reader, struct task_op *op)
{
    if (__builtin_expect(reader->at >= reader->low, 0))
        return more_next(reader, op);
    unsigned call = *reader->at++;
    if (call == 0) {
        op_begin(op, TASK_OP_COMPUTE, reader->line, "computation");
        op->time = get_time(reader);
        return true;
    }
    if (call == KNOWN)
        return known_next(reader, op);
    if (reader->form.lines)
        reader->line += (uint32_t)get(reader);
    unsigned has = get_kind(reader, op, reader->code->name[call]);
    return __builtin_expect(has & DECIDED, 0) ? decided_next(reader, op) : get_body(reader, op, has);
}

/* ---- written again and again ---- */

/* The operation as it will be read. */
static struct task_op known_make(const struct trace_code *code, const struct trace_again *again)
{
    const struct trace_form *form = &code->store->form;
    struct trace_reader reader = {.at = again->body};
    struct task_op op;
    get_body(&reader, &op, get_kind(&reader, &op, code->store->name[again->call]));
    op.request = again->has_request ? KNOWN_REQUEST : form->lines | form->events ? KNOWN_PART : KNOWN_WHOLE;
    return op;
}

/* Makes it known to the task, if there is room. Its like may have come before, in another block of a trace.
 */
static void known_find(struct trace_code *code, struct trace_again *again)
{
    enum { WORDS_SAME = offsetof(struct trace_again, has_request) / sizeof(uint64_t) };
    uint64_t hash = 0, word[WORDS_SAME];
    memcpy(word, again, sizeof word);
    for (size_t i = 0; i < WORDS_SAME; i++)
        hash = ker_hash(hash ^ word[i]);
    if (!code->known_place)
        code->known_place = ker_alloc(KNOWN_PLACES);
    uint8_t *place = &code->known_place[hash % KNOWN_PLACES];
    while (*place && memcmp(&code->known_as[*place - 1], word, sizeof word) != 0)
        place = &code->known_place[++hash % KNOWN_PLACES];
    if (!*place) {
        uint32_t count = code->knowns;
        if (count == TRACE_KNOWN)
            return;
        *KER_APPEND(code->known_as, count) = *again;
        *KER_APPEND(code->known, code->knowns) = known_make(code, again);
        *place = (uint8_t)count;
    }
    again->known[0] = KNOWN;
    again->known[1] = (uint8_t)(*place - 1);
    again->plain = !again->has_request && !code->store->form.lines;
}

/* Whole, or with a line or a request. */
static __attribute__((noinline)) uint64_t again_put(struct trace_code *code, struct trace_again *again,
                                                    uint32_t line, uint64_t request)
{
    bool known = again->known[0];
    code_reserve(code, 0);
    uint8_t *at = put_front(code, code_begin(code), known ? KNOWN : again->call, line);
    if (known) {
        *at++ = again->known[1];
    } else {
        memcpy(at, again->body, sizeof again->body);
        at += again->bytes;
    }
    if (again->has_request)
        at = put(at, request);
    code->used = (size_t)(at - code->byte);
    if (!known && again->whole && --again->whole == 0 && !code->beside) /* another one has its numbers */
        known_find(code, again);
    return code->last_op;
}

/* Calls nothing but at its end, and what bytes are written to is not looked at behind them. */
uint64_t trace_code_put_again(struct trace_code *code, struct trace_again *again, uint32_t line,
                              uint64_t request)
{
    size_t used = code->used;
    if (__builtin_expect(!again->plain || used >= code->free_to, 0))
        return again_put(code, again, line, request);
    uint8_t *byte = code->byte, *at = byte + used;
    uint64_t begin = code->begin, gap = code->gap;
    uint16_t known;
    memcpy(&known, again->known, sizeof known);
    code->last_begin = begin + used;
    code->last_gap = gap;
    code->gap = 0;
    if (gap) {
        *at++ = 0;
        at = put(at, gap);
    }
    memcpy(at, &known, sizeof known);
    used = (size_t)(at - byte);
    code->used = used + sizeof known;
    return code->last_op = begin + used;
}
